"""FISTA: full gradients, momentum, and a line search (Beck and Teboulle 2009).

    v   = x + momentum (x - x_old)
    x^+ = argmin over Q of <A'(s o phi'(A v)), Q> + g(Q) + sum_j (l2_j / (2 t)) ||Q - v||^2

The step t grows a little every time and is halved until the loss lies below its model: at v and x^+ the excess
sum_i s_i [phi(m^+) - phi(m) - phi'(m)(m^+ - m)] must be at most ||x^+ - v||^2 / (2 t). Momentum is that of a strongly
convex problem with the condition number that the step implies, and restarts when it is an ascent direction (O'Donoghue
and Candes 2015).

Kept: A x and A x_old, so that A v is free. An iteration costs one product each way and an eigendecomposition of every
block; a halved step one eigendecomposition and one product more.
"""

from __future__ import annotations

import numpy as np

from ._algorithm import MatrixAlgorithm


class FISTA(MatrixAlgorithm):
    iterations = 1
    GROWTH = 1.2
    FLOOR = 1e-300

    def __init__(self, risk, workers, x, y):
        super().__init__(risk, workers, x, y)
        self.work = self._entries(1.0, self.p)
        self.old = self.x
        self.m = self.m_old = self.data.apply(x, workers=workers)
        self.t, self.age = None, 1.0

    def step(self) -> None:
        v, m = self._ahead()
        if not np.isfinite(m).all():
            raise FloatingPointError("Margins overflow.")
        y = self.loss.derivative(m, self.b)
        W = self.data.adjoint(self.s * y, workers=self.workers)
        self.t = self._first_step(W) if self.t is None else self.t * self.GROWTH
        while True:
            new = self.penalty.prox(v, W, self.t, workers=self.workers)
            self.eigendecompositions += self.p
            m_new = self.data.apply(new, workers=self.workers)
            allowed = self._square(new - v) / (2 * self.t)
            if self._excess(m_new, m, y) <= allowed:
                break
            if self.t < self.FLOOR:
                raise FloatingPointError("No step is small enough.")
            if allowed <= self._noise(m, y):  # within rounding errors: accept the step
                self.t /= self.GROWTH
                break
            self.t /= 2
        if np.sum(self.penalty.l2[:, None, None] * (v - new) * (new - self.x)) > 0:
            self.age = 1.0
        self.old, self.x, self.m_old, self.m = self.x, new, self.m, m_new

    def _ahead(self) -> tuple[np.ndarray, np.ndarray]:
        """v and A v. In these units the problem is 1-strongly convex, so sqrt(t) replaces sqrt(mu / L)."""
        before, self.age = self.age, (1 + np.sqrt(1 + 4 * self.age**2)) / 2
        root = np.sqrt(self.t / (1 + self.t)) if self.t is not None else 1.0
        beta = min((before - 1) / self.age, (1 - root) / (1 + root))
        return self.x + beta * (self.x - self.old), self.m + beta * (self.m - self.m_old)

    def _first_step(self, W: np.ndarray) -> float:
        """The inverse of the curvature along the gradient."""
        W = W / (np.abs(W).max() or 1.0)  # does not change the step, and avoids overflow
        along = self.data.apply(W / self.penalty.l2[:, None, None], workers=self.workers)
        bend = self.s @ along**2 * (self.loss.smoothness if np.isfinite(self.loss.smoothness) else 1.0)
        size = np.sum(W**2 / self.penalty.l2[:, None, None])
        return float(size / bend) if bend > 0 else 1.0

    def _square(self, stack: np.ndarray) -> float:
        return float(self.penalty.l2 @ np.sum(stack**2, axis=(1, 2)))

    def _excess(self, m_new: np.ndarray, m: np.ndarray, y: np.ndarray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            each = self.loss.value(m_new, self.b) - self.loss.value(m, self.b) - y * (m_new - m)
            total = self.s @ np.maximum(each, 0.0)
        return float(total) if np.isfinite(total) else np.inf

    def _noise(self, m: np.ndarray, y: np.ndarray) -> float:
        """The rounding error of the excess."""
        return 4 * self.data.precision * float(self.s @ (np.abs(y * m) + np.abs(self.loss.value(m, self.b))))

    def standing(self):
        return self.x, None

    def resync(self) -> None:
        self.m = self.fresh[0]
