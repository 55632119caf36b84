"""How a solve ended."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a solve ended; the value is a sentence for users."""

    CONVERGED = "The duality gap is within the tolerance: the answer is proven."
    MAX_EPOCHS = "The epochs ran out before the gap reached the tolerance."
    MAX_SECONDS = "The time ran out before the gap reached the tolerance."
    STOPPED = "The callback asked to stop."
    INTERRUPTED = "Interrupted; the best certified point so far is kept."
    DIVERGED = "The iterates grow without end; the best certified point is kept."
    PRECISION = "The gap is at the limit of double precision, and above the tolerance."
    NOT_BEGUN = "The time ran out before its turn came: its coefficients are zero, and nothing is proven."

    def __bool__(self) -> bool:
        """True if the solve converged."""
        return self is Status.CONVERGED

    def __reduce__(self) -> tuple[type[Status], tuple[str]]:
        """Made again from its value: skops, which saves pipelines, asks for this, and copies and pickles agree."""
        return Status, (self.value,)

    def __repr__(self) -> str:
        return f"Status.{self.name}"
