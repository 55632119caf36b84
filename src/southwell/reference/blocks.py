"""Block coordinate methods, and the duality gap of problems of blocks from its formulas.

    P(X)   = sum_i s_i phi_i(m_i) + sum_g g_g(X_g)                     M = A X
    D(Y)   = - sum_i s_i phi_i*(y_i) - sum_g g_g*(-Z_g)                Z = A'(s o Y)
    g(X)   = strength N(X) + l1 ||X||_1 + (l2/2) ||X||^2               over the rows X_g of a group of features

Feasible means: sum_i s_i y_i = 0 if there is an intercept (a last column of ones in A), and
N*(soft(Z_g, l1)) <= strength if l2 = 0, for the dual N* of the norm N (``NORMS``). Losses are those of
``southwell.losses``, over classes, or of one margin and then summed over the columns of M.

Paper      Qin, Scheinberg, Goldfarb, "Efficient block-coordinate descent algorithms for the group lasso", Mathematical
           Programming Computation 5, 2013: a proximal step for each block, with the block's own Lipschitz constant.

           Shalev-Shwartz, Zhang, "Accelerated proximal stochastic dual coordinate ascent for regularized loss
           minimization", Mathematical Programming 155, 2016, Prox-SDCA with option I, X = grad g*(-Z):

               y_i^+ = argmax_y  <y, a_i'X> - phi_i*(y) - (q/2) ||y - y_i||^2    q = s_i ||a_i||^2 / l2

           Yu, Lin, Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem", 2015,
           section 5.1: dspdc.py with a row of Y for each sample i in I, and the rows of X of each group in J.

               y_i^+ = argmax_y  <y, a_i'XE> - phi_i*(y) - (n / (2 sigma)) ||y - y_i||^2                          (28)
               X_g^+ = argmin_X  <X, A_g'(s o YE)> + g_g(X) + ||X - X_g||^2 / (2 tau)                             (29)
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._typing import Numbers
from ..losses import ClassLoss, Loss


def _clipped(U: Numbers, by: float) -> Numbers:
    """The prox of ``by`` times the maximum norm: U less its projection on the l1 ball of radius ``by`` (Duchi,
    Shalev-Shwartz, Singer and Chandra 2008)."""
    sizes = np.sort(np.abs(U), axis=None)[::-1]
    levels = (np.cumsum(sizes) - by) / np.arange(1, sizes.size + 1)
    level = max(levels.max(), 0.0) if by > 0 else np.inf
    return np.clip(U, -level, level)


def _shrunk(U: Numbers, by: float) -> Numbers:
    size = np.sqrt((U**2).sum())
    return max(1 - by / size, 0.0) * U if size > 0 else U


NORMS: dict[str, tuple[Any, Any, Any]] = {
    "euclidean": (lambda X: np.sqrt((X**2).sum()), lambda W: np.sqrt((W**2).sum()), _shrunk),
    "maximum": (lambda X: np.abs(X).max(), lambda W: np.abs(W).sum(), _clipped),
}
"""Of each norm: its value, its dual norm, and its prox with a given factor."""


@dataclass(frozen=True)
class Block:
    """A group of features and its penalty, perhaps on numbers between ``lower`` and ``upper``; zero is one of them, and
    where there is a norm, ends are zero or infinite."""

    features: np.ndarray
    strength: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    norm: str = "euclidean"
    lower: float = -np.inf
    upper: float = np.inf

    def value(self, X: Numbers) -> float:
        X = X[self.features]
        if (self.lower > X).any() or (self.upper < X).any():
            return np.inf
        size = NORMS[self.norm][0](X)
        return float(self.strength * size + self.l1 * np.abs(X).sum() + self.l2 / 2 * (X**2).sum())

    def _soft(self, V: Numbers, by: float) -> Numbers:
        U = np.sign(V) * np.maximum(np.abs(V) - by, 0)
        return np.where((U > 0) & (self.upper == 0) | (U < 0) & (self.lower == 0), 0.0, U)

    def prox(self, V: Numbers, step: float) -> Numbers:
        U = self._soft(V, step * self.l1)
        return np.clip(NORMS[self.norm][2](U, step * self.strength) / (1 + step * self.l2), self.lower, self.upper)

    def conjugate_gradient(self, V: Numbers) -> Numbers:
        """argmax_X  <V, X> - g(X): a prox of the penalty without l2, with step 1 / l2."""
        return replace(self, l2=0.0).prox(V / self.l2, 1 / self.l2)

    @property
    def _capped(self) -> bool:
        """Whether an end other than zero stops numbers; then nothing joins the numbers of a block."""
        return any(np.isfinite(end) and end != 0 for end in (self.lower, self.upper))

    def excess(self, V: Numbers) -> float:
        """N*(soft(V, l1)) - strength: where positive, V violates the constraint of l2 = 0."""
        return float(NORMS[self.norm][1](self._soft(V[self.features], self.l1)) - self.strength)

    def conjugate(self, V: Numbers) -> float:
        if self._capped:
            W = self._soft(V[self.features], self.l1)
            with np.errstate(divide="ignore", invalid="ignore"):
                X = np.clip(np.where(W == 0, 0.0, W / self.l2 if self.l2 > 0 else W * np.inf), self.lower, self.upper)
            return np.inf if np.isinf(X).any() else float((W * X - self.l2 / 2 * X**2).sum())
        if self.l2 > 0:  # by Moreau's identity, the squared distance of soft(V, l1) from the dual ball
            W = self._soft(V[self.features], self.l1)
            return float((NORMS[self.norm][2](W, self.strength) ** 2).sum() / (2 * self.l2))
        return np.inf if self.excess(V) > 1e-12 * (self.strength + self.l1) else 0.0

    def feasible_scale(self, V: Numbers) -> float:
        """The largest t <= 1 with N*(soft(t V, l1)) <= strength; finite ends ask nothing of their side."""
        if self._capped:
            W = V[self.features]
            return replace(self, lower=-np.inf, upper=np.inf, features=np.arange(len(W))).feasible_scale(
                np.where((W > 0) & np.isfinite(self.upper) | (W < 0) & np.isfinite(self.lower), 0.0, W)
            )
        if self.excess(V) <= 0:
            return 1.0
        if self.strength == 0:
            return float(self.l1 / np.abs(self._soft(V[self.features], 0.0)).max())
        return float(brentq(lambda t: self.excess(t * V), 0.0, 1.0, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def blocks_of(penalty: Any, n_features: int) -> list[Block]:
    """The blocks of a penalty on groups, or of ``ElasticNet``."""
    if not hasattr(penalty, "groups"):
        w = np.ones(n_features) if penalty.weights is None else np.broadcast_to(penalty.weights, n_features)
        bounds = np.stack(penalty.bounds(n_features), axis=1)
        return [
            Block(np.array([j]), 0.0, penalty.l1 * w[j], penalty.l2 * w[j], "euclidean", *bounds[j])
            for j in range(n_features)
        ]
    group_of = penalty.group_of(n_features)
    members = [np.flatnonzero(group_of == g) for g in range(group_of.max() + 1)]
    roots = np.sqrt([len(features) for features in members])
    w = roots if isinstance(penalty.weights, str) else np.ones(len(members)) * (
        1.0 if penalty.weights is None else penalty.weights
    )  # fmt: skip
    own = {"norm": penalty.norm, "lower": penalty.lower}
    return [Block(g, penalty.strength * v, penalty.l1, penalty.l2, **own) for g, v in zip(members, w, strict=True)]


def block_objective(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], X: Numbers) -> float:
    return float(s @ _per_sample(loss, "value", A @ X, b) + sum(g.value(X) for g in blocks))


def block_coordinate_descent(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], epochs: int,
                             X: Numbers = None, intercept: bool = False) -> Numbers:  # fmt: skip
    """Move each block in turn by a proximal step with its Lipschitz constant; an intercept is a block of its own."""
    X = np.zeros((A.shape[1], width(loss, b))) if X is None else np.array(X, dtype=float)
    blocks = [*blocks, *([Block(np.array([A.shape[1] - 1]))] * intercept)]
    roots = np.sqrt(s)[:, None] * A
    norms = [np.linalg.norm(roots[:, g.features], 2) ** 2 for g in blocks]
    for _ in range(epochs):
        for g, norm in zip(blocks, norms, strict=True):
            own = X[g.features]
            if norm == 0:  # empty columns: X_g minimises the penalty alone
                X[g.features] = 0.0
                continue
            M = A @ X
            slope = A[:, g.features].T @ (s[:, None] * _derivative(loss, M, b))
            here, L = s @ _per_sample(loss, "value", M, b), norm * min(loss.smoothness, 1.0)
            while True:  # with the smoothness of the loss, or a constant found by backtracking
                X[g.features] = g.prox(own - slope / L, float(1 / L))
                move = X[g.features] - own
                if np.isfinite(loss.smoothness) and norm * loss.smoothness <= L:
                    break
                if s @ _per_sample(loss, "value", A @ X, b) <= here + (slope * move).sum() + L / 2 * (move**2).sum():
                    break
                L *= 2
    return X


def block_proximal_descent(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], order: Iterable[Any],
                           steep: Numbers, X: Numbers) -> Numbers:  # fmt: skip
    """Move these blocks, one after the other, by proximal steps of length 1 / steep_g."""
    X = np.array(X, dtype=float)
    for g in order:
        J = blocks[g].features
        slope = A[:, J].T @ (s[:, None] * _derivative(loss, A @ X, b))
        X[J] = blocks[g].prox(X[J] - slope / steep[g], 1 / steep[g])
    return X


def block_dual_ascent(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], order: Iterable[Any],
                      Y: Numbers) -> Numbers:  # fmt: skip
    """Move the rows of Y that belong to these samples, one after the other (SDCA); returns X and Y. Needs l2 > 0."""
    Y, q = np.array(Y, dtype=float), s * (A**2).sum(axis=1) / min(g.l2 for g in blocks)
    for i in order:
        Y[[i]] = _maximise(loss, A[[i]] @ _best(A, s, blocks, Y), Y[[i]], q[i], b[[i]])
    return _best(A, s, blocks, Y), Y


def block_dspdc(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], moves: Iterable[Any],
                steps: Numbers, X: Numbers, Y: Numbers, perturb: tuple[float, float] = (0.0, 0.0),
                centre: tuple[np.ndarray, np.ndarray] | None = None) -> Numbers:  # fmt: skip
    """Move the samples I and then the blocks J of each pair (I, J) in ``moves``; returns X and Y. Perturbed as in
    spdc.py."""
    (tau, sigma, theta), (dx, dy), n = steps, perturb, A.shape[0]
    X, Y = np.array(X, dtype=float), np.array(Y, dtype=float)
    C, E = (np.zeros_like(X), np.zeros_like(Y)) if centre is None else centre
    XE = X
    for I, J in moves:
        q = n / sigma
        after = _maximise(loss, A[I] @ XE, (dy * E[I] + q * Y[I]) / (dy + q), dy + q, b[I])
        YE = Y.copy()
        YE[I] += n / len(I) * (after - Y[I])
        Y[I] = after
        before, X = X, X.copy()
        for g in (blocks[j] for j in J):
            slope = A[:, g.features].T @ (s[:, None] * YE) - dx * C[g.features]
            X[g.features] = replace(g, l2=g.l2 + dx).prox(X[g.features] - tau * slope, tau)
        XE = before + (theta + 1) * (X - before)
    return X, Y


def block_certificate(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, blocks: list[Block], X: Numbers,
                      Y: Numbers = None, intercept: bool = False) -> tuple[float, float, float]:  # fmt: skip
    """P(X), the best D(t Y) and their difference; without Y, Y = phi'(A X)."""
    Y = _derivative(loss, A @ X, b) if Y is None else np.asarray(Y, dtype=float).reshape(len(s), -1)
    Y = balanced(b, s, loss, Y) if intercept else Y
    Z = A.T @ (s[:, None] * Y)
    t = [min([1.0, *(g.feasible_scale(-Z) for g in blocks if tight or g.l2 == 0)]) for tight in (False, True)]
    P = block_objective(A, b, s, loss, blocks, X)
    D = max(-s @ _per_sample(loss, "conjugate", v * Y, b) - sum(g.conjugate(-v * Z) for g in blocks) for v in t)
    return P, D, P - D


def balanced(b: Numbers, s: Numbers, loss: Loss, Y: Numbers) -> Numbers:
    """Y with sum_i s_i y_i = 0: the larger part of each column is scaled or, over classes, mixed with as little as
    necessary of p - e_b, p a probability vector."""
    off = s @ Y
    if isinstance(loss, ClassLoss):
        own = np.eye(Y.shape[1])[b]
        shares = s @ own
        ratio = (off / shares).max()
        if ratio <= 1e-15:
            return Y
        t = ratio / (1 + ratio)
        return (1 - t) * Y + t * (shares - off / ratio - own)
    up, down = s @ np.maximum(Y, 0), s @ np.maximum(-Y, 0)
    less = np.minimum(up, down)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(Y > 0, Y * np.where(up > 0, less / up, 1), Y * np.where(down > 0, less / down, 1))


def width(loss: Loss, b: Numbers) -> int:
    """The number of columns of X."""
    return int(np.max(b)) + 1 if isinstance(loss, ClassLoss) else 1 if np.ndim(b) == 1 else b.shape[1]


def _per_sample(loss: Loss, name: str, M: Numbers, b: Numbers) -> Numbers:
    """Value or conjugate of each sample."""
    if isinstance(loss, ClassLoss):
        return getattr(loss, name)(M, b)
    return getattr(loss, name)(M, np.reshape(b, M.shape)).sum(axis=1)


def _derivative(loss: Loss, M: Numbers, b: Numbers) -> Numbers:
    return loss.derivative(M, b if isinstance(loss, ClassLoss) else np.reshape(b, M.shape))


def _maximise(loss: Loss, M: Numbers, Y: Numbers, q: float, b: Numbers) -> Numbers:
    return loss.maximise(M, Y, q, b if isinstance(loss, ClassLoss) else np.reshape(b, M.shape))


def _best(A: np.ndarray, s: Numbers, blocks: list[Block], Y: Numbers) -> Numbers:
    """X = grad g*(-Z)."""
    Z = A.T @ (s[:, None] * Y)
    X = np.zeros_like(Z)
    for g in blocks:
        X[g.features] = g.conjugate_gradient(-Z[g.features])
    return X
