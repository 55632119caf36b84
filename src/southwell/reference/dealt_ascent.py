"""Dual coordinate ascent in parts, which threads share.

Problem    max_y  -sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j),  z = A'(s o y), with g* smooth

Method     The rows of a block are dealt to P parts. Each part moves its rows as in SDCA, but reads the margins at
           y + P (its own moves), as if the others made the same ones. With d the moves of all parts, y goes on to
           y + t d: t = 1 if D certainly does not fall by that, else about where D is highest.

Paper      The scaling by P is that of the local problems of CoCoA+ (Ma et al., "Adding vs. Averaging in Distributed
           Primal-Dual Optimization", ICML 2015) with sigma' = P, except that a row's own step keeps its own curvature;
           instead of their safe choice, D is looked at. There parts are fixed; here every block is dealt anew.

Kept       nothing: every product is recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .conjugates import subdifferential
from .elastic_net import ElasticNet


def dealt_dual_ascent(
    A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, blocks: Iterable[Sequence[Numbers]],
    y: Numbers = None,
) -> tuple[Numbers, list[float]]:  # fmt: skip
    """Each of ``blocks`` is a list of parts, and each part a list of rows. Returns y, and the t of each block."""
    y = np.zeros(A.shape[0]) if y is None else np.array(y, dtype=float)
    q = s * (A**2 @ (1 / net.l2))
    lengths = []
    for parts in blocks:
        d = np.zeros_like(y)
        for rows in parts:
            own = np.zeros_like(y)
            for i in rows:
                x = net.conjugate_gradient(-A.T @ (s * (y + len(parts) * own)))
                own[i] = loss.maximise(A[i] @ x, y[i], q[i], b[i]) - y[i]
            d += own
        lengths.append(length(A, b, s, loss, net, y, d))
        y = y + lengths[-1] * d
    return y, lengths


def dual_slope(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, y: Numbers, d: Numbers,
               t: float) -> float:  # fmt: skip
    """The derivative of D(y + t d) in t; at the ends of [0, 1] from within."""
    moved = d != 0
    low, high = subdifferential(loss, (y + t * d)[moved], b[moved])
    slopes = np.where((d[moved] > 0) == (t > 0), low, high)
    x = net.conjugate_gradient(-A.T @ (s * (y + t * d)))
    return float(x @ (A.T @ (s * d)) - (s * d)[moved] @ slopes)


def length(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, y: Numbers, d: Numbers) -> float:
    """t = 1 if the slopes at 1/2 and 1, which bound D(y + d) - D(y) from below, say so; else by bisection."""

    def slope(t: float) -> float:
        return dual_slope(A, b, s, loss, net, y, d, t)

    if not d.any() or slope(1.0) >= 0 or slope(0.5) + slope(1.0) >= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) >= 0 else (low, middle)
    return low
