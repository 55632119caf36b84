"""Doubly greedy primal-dual coordinates: the features, then the samples, with the largest scores move.

Problem    that of spdc.py, with its weights; l2 > 0.

Paper      Lei, Yen, Wu, Dhillon, Ravikumar, "Doubly Greedy Primal-Dual Coordinate Descent for Sparse Empirical Risk
           Minimization", ICML 2017, algorithm 1, with any number of picks and q = n / eta:

               xbar  = argmin_x L(x, y) = grad g*(-z),  z = A'(s o y)                                            (4)
               J     : the largest falls of L,  g_j(x_j) + g_j*(-z_j) + z_j x_j;   x_J = xbar_J                  (5)
               y_i^+ = argmax_y  y <a_i, x> - phi_i*(y) - (q/2)(y - y_i)^2                                       (8)
               I     : the longest steps sqrt(w_i) |y_i^+ - y_i|, in the place of (7);   y_I = y_I^+

           Misprints: (7) has an old w and a spare 1/n, (8) lacks 1/n at phi*, (16) has 5 R^2 where (27) has 10.

Rate       Theorem 4.2: let q >= S (10 R^2 + n gamma l2) / (2 n l2), S the number of j with x_j != xbar_j, and Delta the
           sum of L(x, y) - D(y), where x has moved and y not yet, and D* - D(y). Then (15) at every iteration

               Delta^+ <= Delta / (1 + gamma / (2 q)).

           This does not hold: if A is small and S = 1, q is near gamma/2, and a step on one of n equal samples cannot
           halve Delta. Lemma A.3 assumes that D is gamma-strongly concave, but the constant is gamma/n; and it assumes
           that the residual of the moved sample is the largest, but its own step has multiplied it by
           rho = q / (q + gamma) if phi*'' = gamma. The corrected proof gives, for the squared loss,

               Delta^+ <= Delta / (1 + rho^2 gamma / (2 n q)),

           and for it 10 R^2 + gamma l2 is enough. It holds with weights too, since sqrt(w_i) y_i are the paper's duals;
           if samples were picked by |y_i^+ - y_i| alone, the fraction would have a further factor min w / max w, and
           samples of weight zero would be picked. S should be counted after the step that uses q; here it is counted
           before, and d is always enough. (24) holds with the opposite sign, but its sum with (23) holds.

           With several picks A.1 has S over the picks of features, and A.3 as many errors of x as there are samples.

Adapted    The safe q is far too large in practice. What the theorem lets fall is, but for the constant D*,

               V = L(x, y) - 2 D(y) = 2 sum_j (the score of j) - L(x, y)

           A check compares V with that of the last check once the iterations since then have touched n + d entries. If
           V has fallen, ease is divided by 1.5, but not below a limit, which falls by a fifth; if it has risen, x and y
           go back to the last check, ease is multiplied by 4, and the limit is twice the ease that failed. q is ease
           times the safe q: of S at the check, and then twice that of S whenever S has outgrown q.

Kept       x, y; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet
from .spdc import begin


def dgpd_weight(norms: Numbers, n: int, l2: float, gamma: float, misplaced: int, picks: Numbers = (1, 1)) -> float:
    """The safe q. ``norms`` are sqrt(w_i) ||a_i||, ``misplaced`` is S, ``picks`` of features and of samples."""
    primal, dual = picks
    return float(dual * max(misplaced / primal, 1.0) * (10 * np.max(norms) ** 2 + n * gamma * l2) / (2 * n * l2))


def largest(scores: Numbers, k: int) -> list[int]:
    """The k largest, the first of equals, none that are 0."""
    return [int(i) for i in np.argsort(-scores, kind="stable")[:k] if scores[i] > 0]


def dgpd(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, iterations: int, *,
         picks: Numbers = (1, 1), q: float | None = None, x: Numbers = None, y: Numbers = None) -> Numbers:  # fmt: skip
    """Returns x, y and for each iteration the features and the samples that moved, best first; q is safe by default."""
    n = A.shape[0]
    x, y, _, _ = begin(A, net, x, y)
    norms, picked = np.sqrt(n * s) * np.linalg.norm(A, axis=1), []
    for _ in range(iterations):
        z = A.T @ (s * y)
        xbar = net.conjugate_gradient(-z)
        J = largest(net.value(x) + net.conjugate(-z) + z * x, picks[0])
        misplaced = int(np.count_nonzero(x != xbar))
        x[J] = xbar[J]
        weight = dgpd_weight(norms, n, net.l2.min(), 1 / loss.smoothness, misplaced, picks) if q is None else q
        after = loss.maximise(A @ x, y, weight, b)
        I = largest(np.sqrt(n * s) * np.abs(after - y), picks[1])
        y[I] = after[I]
        picked.append((J, I))
    return x, y, picked


def dgpd_adapted(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, iterations: int, *,
                 picks: Numbers = (1, 1), x: Numbers = None, y: Numbers = None,
                 sizes: Numbers = None) -> Numbers:  # fmt: skip
    """Returns x, y and q after each iteration. ``sizes``: the stored entries of each row, and of each column."""
    n, d = A.shape
    x, y, _, _ = begin(A, net, x, y)
    rows, columns = (np.full(n, d), np.full(d, n)) if sizes is None else sizes
    norms, weights = np.sqrt(n * s) * np.linalg.norm(A, axis=1), []
    safe, least, ease, limit, spent = (x.copy(), y.copy()), np.inf, 1.0, 0.0, 0

    def scores() -> np.ndarray:
        z = A.T @ (s * y)
        return np.asarray(net.value(x) + net.conjugate(-z) + z * x)

    def safe_weight() -> float:
        xbar = net.conjugate_gradient(-A.T @ (s * y))
        misplaced = int(np.count_nonzero(np.abs(x - xbar) > 1e-12))  # less is rounding
        return dgpd_weight(norms, n, net.l2.min(), 1 / loss.smoothness, misplaced, picks)

    q = safe_weight()
    for _ in range(iterations):
        J = largest(scores(), picks[0])
        x[J] = net.conjugate_gradient(-A.T @ (s * y))[J]
        spent += columns[J].sum()
        if ease * safe_weight() > q:
            q = 2 * ease * safe_weight()
            spent += n
        after = loss.maximise(A @ x, y, q, b)
        I = largest(np.sqrt(n * s) * np.abs(after - y), picks[1])
        y[I] = after[I]
        spent += rows[I].sum()
        if spent >= n + d:
            saddle = net.value(x).sum() + s @ (y * (A @ x) - loss.conjugate(y, b))
            now, spent = 2 * scores().sum() - saddle, 0
            if now < least or ease == 1:
                safe, least = (x.copy(), y.copy()), now
                ease, limit = max(ease / 1.5, limit), 0.8 * limit
            else:
                x, y = safe[0].copy(), safe[1].copy()
                limit, ease = min(2 * ease, 1.0), min(4 * ease, 1.0)
            q = ease * safe_weight()
        weights.append(q)
    return x, y, weights
