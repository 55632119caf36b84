"""Stochastic dual coordinate ascent in mini-batches (Shalev-Shwartz and Zhang 2013; Takac et al. 2013).

An iteration forms X = grad g*(-W), one eigendecomposition for every block, and m samples maximise

    y m_i - phi*(y) - (beta ||a_i||^2 s_i / 2) (y - y_i)^2,         m_i = <a_i, X>, a_i scaled as in _norms.py.

beta makes simultaneous moves safe. Kept: y and W = A'(s o y). The loss need not be smooth.
"""

from __future__ import annotations

import numpy as np

from ._algorithm import MatrixAlgorithm
from ._draws import drawn


class SDCA(MatrixAlgorithm):
    """``weights`` are the weights of the proximal terms, one for each sample."""

    def __init__(self, risk, workers, x, y, seed: int, rows: int, weights: np.ndarray):
        super().__init__(risk, workers, x, y)
        self.rows, self.weight = rows, weights
        self.rng = np.random.default_rng(seed)
        self.iterations = self._rounds(rows, self.p)
        self.work = self._entries(rows / self.n, self.p)
        self.W = self.data.adjoint(self.s * y, workers=workers)

    def step(self) -> None:
        I = drawn(self.rng, self.rows, self.n)
        at = slice(None) if I is None else I
        x = self.penalty.peak(-self.W, workers=self.workers)
        self.eigendecompositions += self.p
        margins, before = self.data.apply(x, I, workers=self.workers), self.y[at].copy()
        self.y[at] = self.loss.maximise(margins, before, self.weight[at], self.b[at])
        self.W += self.data.adjoint(self.s[at] * (self.y[at] - before), I, workers=self.workers)

    def standing(self):
        return None, self.y.copy()

    def resync(self) -> None:
        self.W = self.fresh[1]
