"""Doubly stochastic primal-dual coordinates: a few samples move, then a few features.

Problem    that of spdc.py, with its weights and its perturbation.

Paper      Yu, Lin, Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem", 2015,
           algorithm 1: I and J are uniform, of m of n samples and q of d features (the paper's p is our d).

               y_i^+ = argmax_y  y <a_i, xe> - phi_i*(y) - (n / (2 sigma))(y - y_i)^2            i in I         (10)
               ye    = y + (n/m)(y^+ - y)                                                                       (11)
               x_j^+ = argmin_x  <A^j, s o ye> x + g_j(x) + (x - x_j)^2 / (2 tau)                j in J         (12)
               xe    = x + (theta + 1)(x^+ - x)                                                                 (13)

           Theorem 1, with Lambda at least the largest squared spectral norm of m rows sqrt(w_i) a_i and q columns, and
           theorem 2, for the gap, with 2 K in the place of K:

               K     = max(n/m, d/q) + (n d / (m q)) sqrt(Lambda / (n l2 gamma)),     theta = (d/q)(1 - 1/K)

           In (14) as printed the root covers all of K; the proof, and SPDC as a special case, need this form. With q =
           d the iterates are SPDC's, sigma here being n times sigma there: the prox weight is n / sigma here, 1 / sigma
           there. With Lambda = R^2 and m = 1, theta is SPDC's and tau sigma n times SPDC's, but the two factors differ:
           tau is smaller here, and equals SPDC's in the limit n l2 gamma / R^2 -> 0.

Norms      With m = 1 a remark after algorithm 1 allows other probabilities p_i of the samples. As in algorithm 2 of
           SPDC, (10) gets the factor n p_i at its square, and n/m in (11) becomes 1/p_i. Then the proof holds with
           a_i / (n p_i) in the place of a_i in Lambda, and max 1/p_i in the place of n/m where that is compared with
           d/q, which is the contraction of y_i: K >= 1/p_i + n^2 / (2 sigma gamma). With q = d it is algorithm 2.

Kept       x, y, xe; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet
from .spdc import begin, perturbed_maximise, perturbed_prox


def dspdc_steps(scale: float, n: int, d: int, m: int, q: int, l2: float, gamma: float, gap: bool = False,
                probabilities: Numbers = None) -> Numbers:  # fmt: skip
    """tau, sigma and theta of theorem 1; ``gap``: of theorem 2. ``scale`` is Lambda > 0."""
    wait = n / m if probabilities is None else 1 / np.min(probabilities)
    K = max(wait, d / q) + n * d / (m * q) * np.sqrt(scale / (n * l2 * gamma))
    theta = d / q * (1 - 1 / (2 * K if gap else K))
    # (15) and (16) divide by root + lead and root - lead; where that would cancel, by product / the other.
    lead, product = wait - d / q, 4 * (n * d) ** 2 * scale / ((m * q) ** 2 * n * l2 * gamma)
    large = abs(lead) + np.hypot(lead, np.sqrt(product))
    plus, minus = (large, product / large) if lead >= 0 else (product / large, large)
    return d / (q * l2 * plus), n**2 / (m * gamma * minus), theta


def dspdc(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, blocks: Iterable[Any],
          steps: Numbers, *, probabilities: Numbers = None, x: Numbers = None, y: Numbers = None,
          perturb: tuple[float, float] = (0.0, 0.0),
          centre: tuple[np.ndarray, np.ndarray] | None = None) -> Numbers:  # fmt: skip
    """Move the samples I and then the features J of each pair (I, J) in ``blocks``; returns x and y. With
    ``probabilities`` each I is one sample."""
    (tau, sigma, theta), (dx, dy), n = steps, perturb, A.shape[0]
    x, y, c, e = begin(A, net, x, y, centre)
    xe = x
    for I, J in blocks:
        I, J = list(I), list(J)
        share = 1.0 if probabilities is None else n * probabilities[I]
        after, ye = perturbed_maximise(loss, A[I] @ xe, y[I], share * n / sigma, b[I], dy, e[I]), y.copy()
        ye[I] += n / (len(I) * share) * (after - y[I])
        y[I] = after
        before, x = x, x.copy()
        x[J] = perturbed_prox(net[J], x[J], A[:, J].T @ (s * ye), tau, dx, c[J])
        xe = before + (theta + 1) * (x - before)
    return x, y
