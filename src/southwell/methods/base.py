"""The base class of methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from .. import _core
from .._empty_columns import Compact
from .._question import Start
from ..problem import Problem

__all__ = ["Method", "Prepared", "Start"]


@dataclass(frozen=True)
class Prepared:
    """A compiled algorithm at its start, a description of the choices made, and the seconds spent on set-up by part.

    ``remark`` is called when the solve has ended, and added to the description; ``close`` is called then, also after an
    error. With ``compact`` the algorithm works on the problem without its empty columns."""

    algorithm: _core.Algorithm
    description: str
    setup: dict[str, float] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None
    remark: Callable[[], str] = lambda: ""
    compact: Compact | None = None

    def whole(self, inner: np.ndarray) -> np.ndarray:
        """Coefficients of the algorithm, over all columns."""
        return inner if self.compact is None else self.compact.whole(inner)

    def screened(self, mask: bytes) -> bytes:
        """Which features are proved to be zero, over all columns."""
        return mask if self.compact is None else self.compact.screened(mask)

    def repenalised(self, problem: Problem) -> Prepared | None:
        """The same algorithm where it stands, for this problem, which has another penalty; None if it cannot go on."""
        compact = None if self.compact is None else self.compact.repenalised(problem.penalty)
        core = (problem if compact is None else compact.problem).core()
        return replace(self, compact=compact) if self.algorithm.repenalise(core) else None


class Method(ABC):
    """Base of all methods."""

    name: ClassVar[str]
    takes_factors: ClassVar[bool] = False  # whether it works without stored rows and columns of A
    takes_parts: ClassVar[bool] = False  # whether it supports rows that stay in files
    takes_blocks: ClassVar[bool] = False  # whether it supports problems of blocks
    takes_own_losses: ClassVar[bool] = False  # whether it asks a loss for all samples at once, and for no dual steps

    @abstractmethod
    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        """The compiled algorithm, ready to go."""
