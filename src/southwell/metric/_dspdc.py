"""Doubly stochastic primal-dual coordinates over blocks: m samples move, then q matrices.

Paper      Yu, Lin, Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem", 2015,
           section 5: (28) and (29) in algorithm 1, algorithm 3 for metric learning. ``reference.matrix_dspdc`` is the
           plain transcription. With all blocks it is SPDC (Zhang and Xiao 2015, mini-batches).

Symbols    (I, J) the samples and blocks of an iteration; x, y and xe = x + theta (x - x_old); ye = y_old + (n/m)(y -
           y_old) differs from y on I alone.

Kept       Either W = A'(s o y): an iteration costs the m samples, all blocks. Or A x: it costs the q blocks, all
           samples. The cheaper one is chosen. Both need q eigendecompositions.
"""

from __future__ import annotations

import numpy as np

from ._algorithm import MatrixAlgorithm
from ._draws import drawn


class DSPDC(MatrixAlgorithm):
    """``tau`` is in units of 1 / l2_j; ``weight`` is the weight of the dual proximal term."""

    def __init__(self, risk, workers, x, y, seed: int, rows: int, blocks: int, tau: float, weight: float, theta: float):
        super().__init__(risk, workers, x, y)
        self.rows, self.blocks, self.tau, self.weight, self.theta = rows, blocks, tau, weight, theta
        self.rng = np.random.default_rng(seed)
        self.by_blocks = rows * self.p > blocks * self.n
        self.xe = x.copy()
        self.iterations = self._rounds(rows, blocks)
        share = blocks / self.p if self.by_blocks else rows / self.n
        self.work = self._entries(share, blocks)
        if self.by_blocks:
            self.m = self.me = self.data.apply(x, workers=workers)
        else:
            self.W = self.data.adjoint(self.s * y, workers=workers)

    def step(self) -> None:
        self.move(drawn(self.rng, self.rows, self.n), drawn(self.rng, self.blocks, self.p))

    def move(self, I, J) -> None:
        """The samples I, then the blocks J; None: all."""
        at, own = slice(None) if I is None else I, slice(None) if J is None else J
        before = self.y[at].copy()
        margins = self.me[at] if self.by_blocks else self.data.apply(self.xe, I, workers=self.workers)
        self.y[at] = self.loss.maximise(margins, before, self.weight, self.b[at])
        slopes = self._extrapolated(I, at, J, own, self.y[at] - before)
        old = self.x[own].copy()
        new = self.penalty.prox(old, slopes, self.tau, own, self.workers)
        self.eigendecompositions += len(new)
        self._moved(J, own, old, new)

    def _extrapolated(self, I, at, J, own, change: np.ndarray) -> np.ndarray:
        """Blocks J of A'(s o ye)."""
        if self.by_blocks:
            ye = self.y.copy()
            ye[at] += (self.n / self.rows - 1) * change
            return self.data.adjoint(self.s * ye, blocks=J, workers=self.workers)
        added = self.data.adjoint(self.s[at] * change, I, workers=self.workers)
        self.W += added
        return self.W[own] + (self.n / self.rows - 1) * added[own]

    def _moved(self, J, own, old: np.ndarray, new: np.ndarray) -> None:
        if self.by_blocks:
            change = self.data.apply(new - old, blocks=J, workers=self.workers)
            self.m = self.m + change
            self.me = self.m + self.theta * change
        else:
            if J is not None:
                np.copyto(self.xe, self.x)
            self.xe[own] = new + self.theta * (new - old)
        self.x[own] = new

    def standing(self):
        return self.x.copy(), self.y.copy()

    def resync(self) -> None:
        m, W = self.fresh
        if self.by_blocks:
            self.m, self.me = m, self.me + (m - self.m)
        else:
            self.W = W
