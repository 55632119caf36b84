"""Accelerated coordinate descent, at O(d) a step.

Problem    min over alpha of f(A alpha) + sum_k h_k(alpha_k), which is either side; see coordinate_descent.py.
           d is the number of coordinates, L_k bounds the curvature of f along k, and gradients are taken at v:

               v = (1 - theta) x + theta z,    r_k = df/dalpha_k at v,    then theta: (1 - theta')/theta'^2 = 1/theta^2

Papers     One candidate j: APPROX. Fercoq and Richtarik, "Accelerated, Parallel, and Proximal Coordinate Descent", SIAM
           J. Optim. 25, 2015, with tau = 1. Any h; theta_0 <= 1/d keeps x an average of points z, hence in dom h:

               z_j^+ = argmin_u  r_j u + (d theta L_j / 2)(u - z_j)^2 + h_j(u),     x^+ = v + d theta (z^+ - z)

           Several: Fang, Fang, Yu, Li, "Efficient Greedy Coordinate Descent via Variable Partitioning", UAI 2021,
           algorithm 3, which has theta_0 = 1 (the core takes 1/d by default). Smooth h only, as a part of f. Each
           coordinate has its own curvature, as in Lu, Freund, Mirrokni, "Accelerating Greedy Coordinate Descent
           Methods", 2018; with ``largest`` it is L_max, the largest C_k (L_k for one candidate), as printed. Without
           ``scaled`` candidates are compared by |G_k|, as printed; with L_max that is the same:

               G_k = r_k + h_k'(v_k),   C_k = L_k + h_k'',   j1 = argmax over candidates of |G_k| / sqrt(C_k)
               x^+ = v - G_j1 / C_j1 e_j1,     z^+ = z - G_j2 / (d theta C_j2) e_j2,     j2 uniform over all coordinates

           paper     primal here                      dual here
           x         x                                y
           y         v                                v
           L_k       L_j = sum_i s_i a_ij^2 / gamma   s_i q_i,  q_i = s_i sum_j a_ij^2 / l2_j
           r_k       slope of j at v                  -s_i times the margin of i, x = grad g*(-A'(s o v))

Kept       x, z, theta; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet


def accelerated_primal(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, moves: Iterable[Any],
                       theta0: float, x: Numbers = None, restarts: Collection[int] = (), largest: bool = False,
                       scaled: bool = True) -> Numbers:  # fmt: skip
    """Features; needs a bounded phi''; returns x, z and the next theta. The arguments are those of ``accelerate``."""
    L = s @ A**2 * loss.smoothness
    C = L + net.l2
    if largest:
        L, C = np.full_like(L, L.max()), np.full_like(C, C.max())
    smooth = not net.l1.any() and not np.isfinite([net.lo, net.hi]).any()

    def gradient(v: Numbers) -> Numbers:
        r = A.T @ (s * loss.derivative(A @ v, b))
        return r, r + net.l2 * v, C

    def step(j: Numbers, r: Numbers, z: Numbers, scale: Numbers) -> Numbers:
        if L[j] == 0:  # an empty column: x_j minimises the penalty alone
            return np.clip(0.0 if net.l1[j] > 0 or net.l2[j] > 0 else z, net.lo[j], net.hi[j])
        return net[j].prox(z - r / (scale * L[j]), 1 / (scale * L[j]))

    start = np.zeros(A.shape[1]) if x is None else np.array(x, dtype=float)
    return accelerate(gradient, step, smooth, moves, theta0, start, restarts, scaled)


def accelerated_dual(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, moves: Iterable[Any],
                     theta0: float, y: Numbers = None, restarts: Collection[int] = (),
                     scaled: bool = True) -> Numbers:  # fmt: skip
    """Samples; needs l2 > 0; returns y, z and the next theta. h is smooth for the squared loss: h' = s (y + b)."""
    q = s * (A**2 @ (1 / net.l2))

    def gradient(v: Numbers) -> Numbers:
        m = A @ net.conjugate_gradient(-A.T @ (s * v))
        return -s * m, s * (v + b - m), s * (q + 1)

    def step(i: Numbers, r: Numbers, z: Numbers, scale: Numbers) -> Numbers:
        return loss.maximise(-r / s[i], z, scale * q[i], b[i]) if s[i] > 0 else z

    start = np.zeros(A.shape[0]) if y is None else np.array(y, dtype=float)
    return accelerate(gradient, step, loss.quadratic, moves, theta0, start, restarts, scaled)


def accelerate(gradient: Callable[..., Any], step: Callable[..., Any], smooth: bool, moves: Iterable[Any],
               theta0: float, x: Numbers, restarts: Numbers = (), scaled: bool = True) -> Numbers:  # fmt: skip
    """``moves`` holds pairs (candidates, j2), j2 unused with one candidate; before the moves numbered ``restarts``
    z becomes x and theta starts again."""
    z, theta, d = x, theta0, x.size
    for t, (candidates, j2) in enumerate(moves):
        if t in restarts:
            z, theta = x, theta0
        v = (1 - theta) * x + theta * z
        r, G, C = gradient(v)
        x, z = v.copy(), z.copy()
        candidates = np.atleast_1d(candidates)
        if candidates.size == 1:
            j = candidates[0]
            before, z[j] = z[j], step(j, r[j], z[j], d * theta)
            x[j] += d * theta * (z[j] - before)
        elif not smooth:
            raise ValueError("several candidates need a smooth h: no l1, no bounds; on the dual the squared loss")
        else:
            G, C = np.where(C > 0, G, 0.0), np.where(C > 0, C, 1.0)  # a coordinate without curvature has no effect
            j1 = candidates[np.argmax(np.abs(G[candidates]) / (np.sqrt(C[candidates]) if scaled else 1.0))]
            x[j1] -= G[j1] / C[j1]
            z[j2] -= G[j2] / (d * theta * C[j2])
        theta = (np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2
    return x, z, theta
