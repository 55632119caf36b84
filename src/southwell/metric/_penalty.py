"""The penalty of a stack of matrices: the squared distance from a centre, a linear term, and the cone.

g_j(X) = (l2_j / 2) ||X - centre_j||^2 + <linear_j, X>   for positive semi-definite X, else infinity.

With T = centre + (V - linear) / l2, the supremum of <V, X> - g(X) is at the projection of T, and is
(l2 / 2) (||project(T)||^2 - ||centre||^2): conjugates need eigenvalues only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _cone
from ._workers import ALONE, Workers

ALL = slice(None)


@dataclass(frozen=True, eq=False)
class ConePenalty:
    """``l2`` of shape (p,); ``centre`` and ``linear`` of shape (p, d, d)."""

    l2: np.ndarray
    centre: np.ndarray
    linear: np.ndarray

    def value(self, X: np.ndarray) -> float:
        """g at matrices in the cone."""
        apart = np.sum((X - self.centre) ** 2, axis=(1, 2))
        return float(self.l2 @ apart / 2 + np.vdot(self.linear, X))

    def target(self, V: np.ndarray, blocks=ALL) -> np.ndarray:
        """T above."""
        return self.centre[blocks] + (V - self.linear[blocks]) / self.l2[blocks, None, None]

    def conjugate(self, V: np.ndarray, workers: Workers = ALONE) -> float:
        """g*(V), over all blocks."""
        return float(self.l2 @ (_cone.positive_squares(self.target(V), workers) - self._centred_at) / 2)

    def conjugate_at(self, peak: np.ndarray) -> float:
        """g*(V), given ``peak(V)``."""
        return float(self.l2 @ (np.sum(peak**2, axis=(1, 2)) - self._centred_at) / 2)

    def peak(self, V: np.ndarray, blocks=ALL, workers: Workers = ALONE) -> np.ndarray:
        """grad g*(V): where <V, X> - g(X) is largest."""
        return _cone.project(self.target(V, blocks), workers)

    def prox(self, X: np.ndarray, V: np.ndarray, step: float, blocks=ALL, workers: Workers = ALONE) -> np.ndarray:
        """argmin over Q of <V, Q> + g(Q) + (l2 / (2 step)) ||Q - X||^2.

        The step is in units of 1 / l2: if blocks have different l2, the same step is used for the variables
        sqrt(l2_j) X_j."""
        return _cone.project((step * self.target(-V, blocks) + X) / (1 + step), workers)

    @property
    def _centred_at(self) -> np.ndarray:
        return np.sum(self.centre**2, axis=(1, 2))

    @property
    def at_zero(self) -> float:
        """g(0), which is also the size of what cancels in values and conjugates."""
        return float(self.l2 @ self._centred_at / 2)
