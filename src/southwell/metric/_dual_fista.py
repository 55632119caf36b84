"""FISTA on the dual: all samples move together, with momentum.

    v   = y + momentum (y - y_old)
    y^+ = argmax over y of  y m_i - phi*(y) - (weight_i / 2) (y - v_i)^2,       m = A X,  X = grad g*(-A'(s o v))

The weights are those of SDCA with all samples in a batch, beta ||a_i||^2 s_i. If rows are nearly orthogonal, as
random matrices are, beta is near one and a few iterations are enough. Losses with kinks are allowed. Momentum restarts
when it is a descent direction of the dual (O'Donoghue and Candes 2015).

Kept: A'(s o y) and A'(s o y_old), so that A'(s o v) is free. An iteration costs one product each way and an
eigendecomposition of every block.
"""

from __future__ import annotations

import numpy as np

from ._algorithm import MatrixAlgorithm


class DualFISTA(MatrixAlgorithm):
    iterations = 1

    def __init__(self, risk, workers, x, y, weights: np.ndarray):
        super().__init__(risk, workers, x, y)
        self.weights, self.age = weights, 1.0
        self.work = self._entries(1.0, self.p)
        self.W = self.data.adjoint(self.s * y, workers=workers)
        self.old, self.W_old = self.y, self.W
        root = np.sqrt(1 / (1 + self.loss.smoothness * weights.max()))  # from the strong convexity of phi*
        self.most = (1 - root) / (1 + root)

    def step(self) -> None:
        before, self.age = self.age, (1 + np.sqrt(1 + 4 * self.age**2)) / 2
        beta = min((before - 1) / self.age, self.most)
        v, W = self.y + beta * (self.y - self.old), self.W + beta * (self.W - self.W_old)
        x = self.penalty.peak(-W, workers=self.workers)
        self.eigendecompositions += self.p
        new = self.loss.maximise(self.data.apply(x, workers=self.workers), v, self.weights, self.b)
        if (self.s * self.weights) @ ((v - new) * (new - self.y)) > 0:
            self.age = 1.0
        self.old, self.W_old = self.y, self.W
        self.y, self.W = new, self.data.adjoint(self.s * new, workers=self.workers)

    def standing(self):
        return None, self.y

    def resync(self) -> None:
        self.W = self.fresh[1]
