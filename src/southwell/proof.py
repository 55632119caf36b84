"""Bounds that hold in exact arithmetic."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .problem import Problem


class Certificate(NamedTuple):
    """P(x), D(y) and the gap between them, which bounds the error of x."""

    primal: float
    dual: float
    gap: float


@dataclass(frozen=True)
class Proof:
    """An upper bound of P(x) and a lower bound of the optimum, including every rounding error.

    ``P(x) <= primal`` and ``min P >= dual`` hold in exact arithmetic on the stored numbers; see the page on proofs in
    the documentation. ``southwell.check`` verifies them without any code of the solver.

    Attributes
    ----------
    x, intercept
        The point.
    y : array
        A dual point that is feasible up to rounding; ``dual`` bounds the value of an exactly feasible point nearby.
    primal, dual : float
        The bounds. If rounding errors are too large, primal is infinity or dual is the value at y = 0.
    """

    problem: Problem = field(repr=False)
    x: np.ndarray = field(repr=False)
    intercept: float | np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """An upper bound of ``P(x) - min P``, rounded up."""
        return float(np.nextafter(self.primal - self.dual, np.inf))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that ``southwell check`` verifies: data hashes, x, y and the bounds.

        Raises
        ------
        ValueError
            If there is no finite bound to write.
        """
        from .proof_files import write_proof

        if not np.isfinite([self.primal, self.dual]).all():
            raise ValueError(
                f"There is no finite bound to save: P(x) is at most {self.primal}, the optimum at least {self.dual}. "
                "Scale the data to moderate size."
            )
        write_proof(path, self.problem, self.x, self.intercept, self.y, self.primal, self.dual)
