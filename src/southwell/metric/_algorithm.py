"""What the algorithms over matrices share: where they stand, and the proof of it.

The certificate of the full problem, in float64 from fresh products, whatever an algorithm keeps:

    P(X) = sum_i s_i phi(m_i; b_i) + sum_j g_j(X_j),          m_i = sum_j <D_i^j, X_j>
    D(y) = - sum_i s_i phi*(y_i; b_i) - sum_j g_j*(-W_j),     W_j = sum_i s_i y_i D_i^j
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ._workers import Workers

BEYOND_NUMBERS = (np.linalg.LinAlgError, FloatingPointError, OverflowError, ZeroDivisionError)


class MatrixAlgorithm(ABC):
    """Held and driven by ``southwell._core.outside``: ``unit``, ``stored``, ``epoch``, ``locate`` and ``resync``."""

    description: str

    def __init__(self, risk, workers: Workers, x: np.ndarray, y: np.ndarray):
        self.risk, self.workers = risk, workers
        self.data, self.loss, self.penalty = risk.data, risk.loss, risk.penalty
        self.s, self.b, self.n, self.p = risk.weights, risk.targets, risk.n_samples, risk.n_blocks
        self.x, self.y = x, y
        self.lost = False  # beyond what floating point numbers can say
        self.eigendecompositions = 0  # of moves, not of certificates

    def unit(self) -> tuple[float, float]:
        """P(0) - D(0), and what rounding makes of it."""
        with np.errstate(all="ignore"):
            return self.risk.unit(self.workers)

    def stored(self) -> int:
        return self.data.stored

    def epoch(self, beat) -> None:
        """About as many moves as there are samples, or blocks if those are more."""
        with np.errstate(all="ignore"):
            for _ in range(self.iterations):
                try:
                    self.step()
                except BEYOND_NUMBERS:
                    self.lost = True
                if beat(self.work) or self.lost:
                    return

    iterations: int
    work: int

    @abstractmethod
    def step(self) -> None:
        """One iteration."""

    @abstractmethod
    def point(self, apply, adjoint) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x, y, A x and A'(s o y), from fresh products."""

    @abstractmethod
    def resync(self) -> None:
        """Take over the products of the last certificate."""

    def locate(self):
        """NaN where numbers end: the loop stops there, as for all that grows without end."""
        with np.errstate(all="ignore"):
            if not self.lost:
                try:
                    return self._located()
                except BEYOND_NUMBERS:
                    self.lost = True
        return np.full(self.x.size, np.nan), np.full(self.n, np.nan), np.nan, np.nan, np.nan, 0

    def _located(self):
        x, y, m, W = self.fresh = self.point(
            lambda x: self.data.apply(x, exact=True, workers=self.workers),
            lambda y: self.data.adjoint(self.s * y, exact=True, workers=self.workers),
        )
        primal, dual, terms = self.risk.values(x, y, m, W, self.workers)
        if not np.isfinite(primal):
            raise FloatingPointError
        return x.ravel(), y, primal, dual, terms, int(np.count_nonzero(x))


def drawn(rng: np.random.Generator, size: int, among: int) -> np.ndarray | None:
    """A uniform subset in order, or None for all."""
    if size == among:
        return None
    return np.sort(rng.choice(among, size, replace=False, shuffle=False))
