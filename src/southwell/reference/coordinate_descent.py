"""Coordinate descent on either side of the saddle.

Problem    min_x  sum_i s_i phi_i(a_i'x) + sum_j g_j(x_j)            (primal, coordinates are features)
           max_y  -sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j)          (dual, coordinates are samples),  z = A'(s o y)

Paper      Perekrestenko, Cevher, Jaggi, "Faster Coordinate Descent via Adaptive Importance Sampling", AISTATS 2017,
           Algorithm 1, for min over alpha of f(A alpha) + sum_i g_i(alpha_i). Both problems have this form:

           paper     primal here            dual here
           alpha_i   x_j                    y_i
           A alpha   margins A x            slopes z
           f         sum_i s_i phi_i        sum_j g_j*(-.)
           g_i       g_j                    s_i phi_i*
           w         s o phi'(A x)          -x, with x = grad g*(-z)
           -a_i'w    minus the slope of j   s_i times the margin of i

           The dual side is SDCA: Shalev-Shwartz and Zhang, "Stochastic Dual Coordinate Ascent Methods for Regularized
           Loss Minimization", JMLR 14, 2013, with lambda -> l2, alpha_i -> -y_i, 1/(lambda n) sum alpha_i x_i -> x.

Kept       nothing: every product is recomputed, so a move costs a pass over the data.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet


def primal_coordinate_descent(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, order: Iterable[int],
                              x: Numbers = None, concordance: float = 0.0, reach: Numbers = None,
                              largest: bool = False) -> Numbers:  # fmt: skip
    """Move the features in ``order``, each by a proximal step with a curvature that bounds its scalar problem.

    ``concordance`` is M with |phi'''| <= M phi'' (1 for logistic and Poisson); then the true curvature is used, with a
    safeguard. ``reach`` bounds M |a_ij| over the samples i, by default exactly. With ``largest`` every step has the
    curvature L_max = max_j L_j.
    """
    x = np.zeros(A.shape[1]) if x is None else np.array(x, dtype=float)
    norms = s @ A**2
    reach = concordance * np.abs(A).max(axis=0) if reach is None else reach
    bounds = np.array([norm * loss.smoothness if norm > 0 else 0.0 for norm in norms])  # L_j = sum_i s_i a_ij^2 / gamma
    bounds = np.full_like(bounds, bounds.max()) if largest else bounds
    for j in order:
        m = A @ x
        slope = A[:, j] @ (s * loss.derivative(m, b))
        bound = bounds[j]
        if bound == 0:  # an empty column: x_j minimises the penalty alone
            x[j] = np.clip(0.0 if net.l1[j] > 0 or net.l2[j] > 0 else x[j], net.lo[j], net.hi[j])
        elif concordance > 0:
            h = (s * A[:, j] ** 2) @ loss.second_derivative(m, b)
            x[j] = np.clip(x[j] + _safe_newton(slope, h, bound, reach[j], net[j], x[j]), net.lo[j], net.hi[j])
        else:
            x[j] = net[j].prox(x[j] - slope / bound, 1 / bound)
    return x


def _safe_newton(slope: float, h: float, bound: float, reach: float, g: Numbers, x: float) -> float:
    """The step with curvature kappa(r) h, which bounds f along |d| <= r / reach (Bach 2010, lemma 1)."""

    def step(curvature: Numbers) -> Numbers:
        return g.prox(x - slope / curvature, 1 / curvature) - x

    widest = 2.0
    if h > 0:
        # The step with curvature h is at least as long as the result, so it determines r.
        longest = abs(step(h)) * reach
        r = min(longest, widest)
        kappa = 1 + r / 3 + r * r / 10 if r < 1e-3 else 2 * (np.exp(r) - r - 1) / r**2
        if kappa * h < bound:
            d = step(kappa * h)
            return float(np.clip(d, -widest / reach, widest / reach) if longest > widest else d)
    elif np.isinf(bound):  # curvature 0 up to rounding, and no bound: the longest safe step downhill
        return float(np.clip(-np.sign(slope) * widest / reach, g.lo - x, g.hi - x))
    return float(step(bound))


def dual_coordinate_ascent(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, order: Iterable[int],
                           y: Numbers = None) -> Numbers:  # fmt: skip
    """Move the samples in ``order``, each to the maximiser of y m_i - phi_i*(y) - (q_i/2)(y - y_i)^2; needs l2 > 0.

    Returns y and x = grad g*(-z).
    """
    y = np.zeros(A.shape[0]) if y is None else np.array(y, dtype=float)
    q = s * (A**2 @ (1 / net.l2))
    for i in order:
        x = net.conjugate_gradient(-A.T @ (s * y))
        y[i] = loss.maximise(A[i] @ x, y[i], q[i], b[i])
    return y, net.conjugate_gradient(-A.T @ (s * y))
