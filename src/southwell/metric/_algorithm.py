"""The base of the algorithms over matrices: the current point and its certificate.

The certificate is that of the full problem, in float64, from newly computed products:

    P(X) = sum_i s_i phi(m_i; b_i) + sum_j g_j(X_j),          m_i = sum_j <D_i^j, X_j>
    D(y) = - sum_i s_i phi*(y_i; b_i) - sum_j g_j*(-W_j),     W_j = sum_i s_i y_i D_i^j

Two more candidates are tried: X = grad g*(-W), which comes free with D(y), and y = phi'(m), which costs a product and
eigenvalues. The certificate takes the better X and the better y. In the first passes over many samples phi'(m) is a
hundred times nearer to the optimum than the y of the algorithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ._workers import Workers

BEYOND_NUMBERS = (np.linalg.LinAlgError, FloatingPointError, OverflowError, ZeroDivisionError)


class MatrixAlgorithm(ABC):
    """``southwell._core.outside`` calls ``unit``, ``stored``, ``epoch``, ``locate`` and ``resync``."""

    description: str

    def __init__(self, risk, workers: Workers, x: np.ndarray, y: np.ndarray):
        self.risk, self.workers = risk, workers
        self.data, self.loss, self.penalty = risk.data, risk.loss, risk.penalty
        self.s, self.b, self.n, self.p = risk.weights, risk.targets, risk.n_samples, risk.n_blocks
        self.x, self.y = x, y
        self.lost = False  # whether numbers have overflowed
        self.eigendecompositions = 0  # those of moves, without certificates

    def unit(self) -> tuple[float, float]:
        """P(0) - D(0), and its rounding error."""
        with np.errstate(all="ignore"):
            return self.risk.unit(self.workers)

    def stored(self) -> int:
        """Half of the least cost of a certificate, in entries."""
        return self._entries(1.0, self.p) // 2

    def _entries(self, share: float, blocks: int) -> int:
        """The cost, in entries, of products with a share of the data, both ways, and of eigendecompositions."""
        return int(2 * share * self.data.stored) + blocks * self.x.shape[-1] ** 3 // 2

    def _rounds(self, rows: int, blocks: int) -> int:
        """The iterations of an epoch: enough for every sample and every block to move, but at most ten for every block,
        so that certificates are not too rare."""
        return int(np.ceil(min(max(self.n / rows, self.p / blocks), 10 * self.p / blocks)))

    def epoch(self, beat) -> None:
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
    def standing(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The current x and y; None for one that follows from the other. The caller must not change them."""

    @abstractmethod
    def resync(self) -> None:
        """Adopt ``fresh``, the A x and A'(s o y) of the last certificate."""

    def locate(self):
        """The point and its certificate; NaN after an overflow, which the loop treats as divergence."""
        with np.errstate(all="ignore"):
            if not self.lost:
                try:
                    return self._located()
                except BEYOND_NUMBERS:
                    self.lost = True
        return np.full(self.x.size, np.nan), np.full(self.n, np.nan), np.nan, np.nan, np.nan, 0

    def _located(self):
        (x, y), risk = self.standing(), self.risk
        primals, duals, fresh_m, fresh_W = [], [], None, None
        if y is not None:
            fresh_W = self._slopes(y)
            peak = self.penalty.peak(-fresh_W, workers=self.workers)
            conjugate = self.penalty.conjugate_at(peak)
            duals.append((risk.dual(y, conjugate), y, conjugate))
            primals.append(self._valued(peak))
        if x is not None:
            primals.append(self._valued(x))
            fresh_m = primals[-1][2]
        self.fresh = fresh_m, fresh_W
        primal, x, m = min(primals, key=lambda one: one[0])
        if primal == np.inf:
            raise FloatingPointError
        y = risk.feasible(self.loss.derivative(m, self.b))
        conjugate = self.penalty.conjugate(-self._slopes(y), self.workers)
        duals.append((risk.dual(y, conjugate), y, conjugate))
        told = (one for one in duals if np.isfinite(one[0]))
        dual, y, conjugate = max(told, key=lambda one: one[0], default=duals[-1])
        terms = risk.cancelling(y, m) + abs(conjugate) + abs(primal) + abs(dual)
        return x.ravel(), y, primal, dual, terms, int(np.count_nonzero(x))

    def _valued(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """P(x), x and its margins."""
        m = self.data.apply(x, exact=True, workers=self.workers)
        primal = self.risk.primal(x, m)
        return primal if np.isfinite(primal) else np.inf, x, m

    def _slopes(self, y: np.ndarray) -> np.ndarray:
        return self.data.adjoint(self.s * y, exact=True, workers=self.workers)
