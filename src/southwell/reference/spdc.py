"""Stochastic primal-dual coordinates: a few samples move, then all features.

Problem    min_x max_y  sum_j g_j(x_j) + sum_i s_i (y_i a_i'x - phi_i*(y_i)),  g_j l2-strongly convex, phi_i* gamma-.

Paper      Zhang and Xiao, "Stochastic Primal-Dual Coordinate Method for Regularized Empirical Risk Minimization", ICML
           2015. Algorithm 1 moves a uniform batch K of m samples, algorithm 2 one sample, drawn with probability p_k:

               y_k^+ = argmax_y  y <a_k, xe> - phi_k*(y) - (q/2)(y - y_k)^2      q = 1/sigma or p_k n / sigma   (5) (12)
               x^+   = argmin_x  g(x) + <u + du, x> + ||x - x^old||^2 / (2 tau)  u = A'(s o y)                  (6) (13)
               du    = sum_K c_k (y_k^+ - y_k) a_k                               c_k = w_k / m or w_k / (p_k n)
               xe    = x^+ + theta (x^+ - x^old)                                                                (8)

           The paper has no weights. With w = n s the weighted problem is the paper's with rows sqrt(w_i) a_i, duals
           sqrt(w_i) y_i and losses w_i phi_i(t / sqrt(w_i)), of the same gamma. So norms are sqrt(w_i) ||a_i||,
           distances sum_i w_i (y_i - y_i*)^2; in our y, (5) is as it was and du has the factor w_k.

           Section 3.1 adds (delta/2) x^2 to g and (delta/2) y^2 to phi* where they are not strongly convex. Here each
           has its own delta, and a centre: perturb = (dx, dy), centre = (c, e).

Kept       x, y, xe; u is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np


def spdc_steps(norms, n: int, l2: float, gamma: float, batch: int = 1, weighted: bool = False):
    """tau, sigma and theta of theorem 1; ``weighted``: of theorem 2. ``norms`` are sqrt(w_i) ||a_i||."""
    if weighted:
        if batch != 1:
            raise ValueError("weighted sampling moves one sample at a time")
        R = np.mean(norms)
        theta = 1 - 1 / (2 * n + 2 * R * np.sqrt(n / (l2 * gamma)))
        return np.sqrt(gamma / (n * l2)) / (4 * R), np.sqrt(n * l2 / gamma) / (4 * R), theta
    R, epoch = np.max(norms), n / batch
    theta = 1 - 1 / (epoch + R * np.sqrt(epoch / (l2 * gamma)))
    return np.sqrt(gamma / (epoch * l2)) / (2 * R), np.sqrt(epoch * l2 / gamma) / (2 * R), theta


def spdc_probabilities(norms) -> np.ndarray:
    """Of each sample in algorithm 2: half uniform, half by norm."""
    norms = np.asarray(norms, dtype=float)
    return 1 / (2 * norms.size) + norms / (2 * norms.sum())


def perturbed_maximise(loss, m, y0, q, b, delta: float = 0.0, centre=0.0):
    """argmax_y  y m - phi*(y) - (delta/2)(y - centre)^2 - (q/2)(y - y0)^2: two squares are one and a constant."""
    return loss.maximise(m, (delta * centre + q * y0) / (delta + q), delta + q, b)


def perturbed_prox(net, x0, u, tau: float, delta: float = 0.0, centre=0.0):
    """argmin_x  g(x) + (delta/2)(x - centre)^2 + u x + (x - x0)^2 / (2 tau)."""
    return replace(net, l2=net.l2 + delta).prox(x0 - tau * (u - delta * centre), tau)


def begin(A, net, x=None, y=None, centre=None):
    """Copies of x and y, by default the feasible point nearest 0 and 0, and the centres, by default 0."""
    n, d = A.shape
    x = np.clip(np.zeros(d), net.lo, net.hi) if x is None else np.array(x, dtype=float)
    y = np.zeros(n) if y is None else np.array(y, dtype=float)
    c, e = (np.zeros(d), np.zeros(n)) if centre is None else centre
    return x, y, np.broadcast_to(c, d), np.broadcast_to(e, n)


def spdc(
    A, b, s, loss, net, batches: Iterable, steps, *, probabilities=None, x=None, y=None, perturb=(0.0, 0.0), centre=None
):
    """Move the samples of each batch, a list of distinct rows, and all features after it; returns x and y.

    ``steps`` are (tau, sigma, theta); with ``probabilities`` it is algorithm 2, and batches are of one row.
    """
    (tau, sigma, theta), (dx, dy), n = steps, perturb, A.shape[0]
    x, y, c, e = begin(A, net, x, y, centre)
    w, xe = n * s, x
    for K in batches:
        K = list(K)
        if probabilities is None:
            q, scale = 1 / sigma, w[K] / len(K)
        elif len(K) == 1:
            q, scale = probabilities[K] * n / sigma, w[K] / (n * probabilities[K])
        else:
            raise ValueError("weighted sampling moves one sample at a time")
        after = perturbed_maximise(loss, A[K] @ xe, y[K], q, b[K], dy, e[K])
        u, du = A.T @ (s * y), A[K].T @ (scale * (after - y[K]))
        y[K] = after
        x, before = perturbed_prox(net, x, u + du, tau, dx, c), x
        xe = x + theta * (x - before)
    return x, y
