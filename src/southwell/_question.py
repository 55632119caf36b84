"""What ``run`` and ``drive`` (southwell.solve) ask of a problem, whatever its coordinates are.

``Problem``, ``BlockProblem`` and ``metric.MatrixRisk`` answer: numbers, blocks and matrices. What the compiled loop
asks is in core/question.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ._words import Words

if TYPE_CHECKING:
    from .proof import Proof
    from .result import Result


@dataclass(frozen=True)
class Start:
    """Where to begin: coefficients as the core holds them, and a dual point if there is one."""

    x: np.ndarray
    y: np.ndarray | None = None


class Question(Protocol):
    """A problem, as far as a solve, its callbacks and its result need to know it."""

    @property
    def words(self) -> Words:
        """What messages call its parts."""

    @property
    def n_samples(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients and intercept as users hold them, from those of the core."""

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        """A dual point as users hold it, from that of the core."""

    def remarks(self, result: Result) -> list[str]:
        """What a user should be warned of, beside a gap that is too large."""

    def prove(self, x: Any, y: Any = None, intercept: Any = 0.0, *, feasible: bool = False) -> Proof:
        """Bounds that hold in exact arithmetic, or a ValueError if they cannot be had."""
