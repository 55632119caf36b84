"""Scores: measures of how far each coordinate is from its optimum, for selection rules.

Problem    min over alpha of f(A alpha) + sum_k h_k(alpha_k), which is either side; see coordinate_descent.py.

Papers     Perekrestenko, Cevher, Jaggi, "Faster Coordinate Descent via Adaptive Importance Sampling", AISTATS 2017:
           reach, residual, bracket. Nutini, Schmidt, Laradji, Friedlander, Koepke, "Coordinate Descent Converges Faster
           with the Gauss-Southwell Rule than Random Selection", ICML 2015: gs, gs-s, gs-r, gs-q.

           kind      in the papers           primal here                       dual here
           reach     L_i ||a_i||             max |x_j|  sqrt(N_j)              max |y_i|  sqrt(s_i q_i)
           residual  |kappa_i| ||a_i||       |x_j - dg_j*(-z_j)|  sqrt(N_j)    |y_i - dphi_i(m_i)|  sqrt(s_i q_i)
           bracket   G_i, eq. (4)            g_j(x_j) + g_j*(-z_j) + z_j x_j   s_i (phi_i(m_i) + phi_i*(y_i) - y_i m_i)
           gs, gs-s  shortest subgradient    |z_j + dg_j(x_j)|                 s_i |m_i - dphi_i*(y_i)|
           gs-r      longest proximal step   |x_j^+ - x_j|                     |y_i^+ - y_i|
           gs-q      most certain progress   by the bound with L_j             by the bound with s_i q_i

           d is the subdifferential, |u - set| the distance, x_j^+ and y_i^+ what a step leads to;
           N_j = sum_i s_i a_ij^2, L_j = N_j / gamma, q_i = s_i sum_j a_ij^2 / l2_j.
           In the first three g_j is bounded if l2_j = 0 (bounded.py). An empty row or column counts as long as the
           longest; a sample of weight zero has score 0.

Rounding   The residual of an exact optimum must be 0, so kinks have a tolerance of 1e-12: dg_j*(v) is taken over
           |v + z_j| <= 1e-12 (l1_j + sqrt(N_j level)) if l2_j = 0, dphi_i(m) over |m - m_i| <= 1e-12 (|b_i| + |m_i|).
"""  # fmt: skip

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .bounded import bounded, maximisers, radii
from .conjugates import farthest, subdifferential

KINDS = ("reach", "residual", "bracket", "gs", "gs-s", "gs-r", "gs-q")


def distance(point, low, high):
    return np.maximum(np.maximum(low - point, point - high), 0.0)


def primal_scores(kind: str, A, b, s, loss, net, x, level: float = 0.0) -> np.ndarray:
    """The score of each feature at x. ``level`` (bounded.py) is for reach, and where l2 = 0 for residual, bracket."""
    z, norms = A.T @ (s * loss.derivative(A @ x, b)), s @ A**2
    size = np.sqrt(np.where(norms > 0, norms, norms.max()))
    L = norms * loss.smoothness if np.isfinite(loss.smoothness) else norms
    R = radii(net, norms, level)
    g = bounded(net, x, R, np.abs(z) / np.where(L > 0, L, np.inf))
    minimiser = np.clip(np.where((net.l1 > 0) | (net.l2 > 0), 0.0, x), net.lo, net.hi)  # of g_j, for empty columns
    if kind == "reach":
        content = (norms == 0) & (minimiser == x)  # an empty column at its optimum
        return np.where(content, 0.0, size * np.abs(np.clip([-R, R], net.lo, net.hi)).max(axis=0))
    if kind == "residual":
        return size * distance(x, *maximisers(g, -z, 1e-12 * (net.l1 + np.sqrt(norms) * np.sqrt(level))))
    if kind == "bracket":
        return np.maximum(g.value(x) + g.conjugate(-z) + z * x, 0.0)
    if kind in ("gs", "gs-s"):
        low = np.where(x <= net.lo, -np.inf, net.l2 * x + np.where(x > 0, net.l1, -net.l1))
        high = np.where(x >= net.hi, np.inf, net.l2 * x + np.where(x < 0, -net.l1, net.l1))
        return distance(-z, low, high)
    if kind not in KINDS or not np.isfinite(loss.smoothness):
        raise ValueError(f"no score {kind!r} on the primal side for the {loss.name} loss")
    with np.errstate(divide="ignore", invalid="ignore"):
        after = net.prox(x - z / L, 1 / L)
    d = np.where(L > 0, after, minimiser) - x
    return np.abs(d) if kind == "gs-r" else np.maximum(net.value(x) - net.value(x + d) - z * d - L / 2 * d**2, 0.0)


def dual_scores(kind: str, A, b, s, loss, net, y, mu=0.0, centre=0.0) -> np.ndarray:
    """The score of each sample at y; needs l2 > 0, or a proximal term: (mu_j/2)(x_j - centre_j)^2 is added to g_j."""
    strong = replace(net, l2=net.l2 + mu)
    m = A @ strong.conjugate_gradient(mu * centre - A.T @ (s * y))
    q = s * (A**2 @ (1 / strong.l2))
    size = np.where(q > 0, np.sqrt(s * q), np.sqrt(s * q).max())
    weight = np.where(s > 0, s, 1.0)
    if kind == "reach":
        total = s @ (loss.value(0 * b, b) + loss.conjugate(0 * b, b))
        scores = size * [farthest(loss, b_i, total / s_i) if s_i > 0 else 0.0 for b_i, s_i in zip(b, s, strict=True)]
    elif kind == "residual":
        e = 1e-12 * (np.abs(b) + np.abs(m))
        scores = size * distance(y, loss.derivative(m - e, b), loss.derivative(m + e, b))
    elif kind == "bracket":
        scores = weight * np.maximum(loss.value(m, b) + loss.conjugate(y, b) - y * m, 0.0)
    elif kind in ("gs", "gs-s"):
        scores = weight * distance(m, *subdifferential(loss, y, b))
    elif kind in KINDS:
        after = loss.maximise(m, y, q, b)
        d = after - y
        progress = loss.conjugate(y, b) - loss.conjugate(after, b) + d * m - q / 2 * d**2
        scores = np.abs(d) if kind == "gs-r" else weight * np.maximum(progress, 0.0)
    else:
        raise ValueError(f"no score {kind!r}")
    return np.where(s > 0, scores, 0.0)
