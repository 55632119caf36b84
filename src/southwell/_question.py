"""The interface of a problem that ``run`` and ``drive`` (southwell.solve) use, whatever its coordinates are.

``Problem`` (numbers), ``BlockProblem`` (blocks) and ``metric.MatrixRisk`` (matrices) implement it. The interface that
the compiled loop uses is in core/question.hpp.
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
    """A starting point: coefficients in the coordinates of the core, and a dual point if there is one."""

    x: np.ndarray
    y: np.ndarray | None = None


class Question(Protocol):
    """The part of a problem that a solve, its callbacks and its result use."""

    @property
    def words(self) -> Words:
        """The names of its parts in messages."""

    @property
    def n_samples(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients and intercept in the shape that users see, from those of the core."""

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        """A dual point in the shape that users see, from that of the core."""

    def remarks(self, result: Result) -> list[str]:
        """Warnings about a result, other than that its gap is too large."""

    def examine_at(self, inner: np.ndarray) -> None:
        """Refuse a loss of one's own that is wrong at the margins of these coefficients."""

    def prove(self, x: Any, y: Any = None, intercept: Any = 0.0, *, feasible: bool = False) -> Proof:
        """Bounds that hold in exact arithmetic; a ValueError if there are none."""
