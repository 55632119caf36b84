"""Variance-reduced gradients of one sample at a time: SAG, SAGA and SVRG.

Problem    min_x  sum_i s_i phi_i(a_i'x) + sum_j g_j(x_j),  phi_i smooth.

Papers     Le Roux, Schmidt, Bach, "A Stochastic Gradient Method with an Exponential Convergence Rate for Finite
           Training Sets", NIPS 2012: SAG. Defazio, Bach, Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method With
           Support for Non-Strongly Convex Composite Objectives", NIPS 2014. Xiao and Zhang, "A Proximal Stochastic
           Gradient Method with Progressive Variance Reduction", SIAM J. Optim. 24, 2014: prox-SVRG.

           The gradient of sample i is phi_i'(m_i) a_i, so the table holds one number a sample: it is a dual point.

               u = A'(s o y),   g = phi_i'(<a_i, x>),   w = n s,   x^+ = prox_tau(x - tau v)

               SAGA    v = u + w_i (g - y_i) a_i,   then y_i = g            an unbiased gradient
               SAG     y_i = g,   then v = A'(s o y)                        biased; no l1 in the paper
               SVRG    v = u + w_i (g - y_i) a_i;   y = phi'(A x) at the start of every stage, and stays

           Component i of the papers is w_i phi_i(a_i'x), its smoothness w_i ||a_i||^2 / gamma. A stage of SVRG starts
           where the last one ended; Xiao and Zhang start it at the mean of the last one's points.

Kept       x and y; u is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable

from .spdc import begin


def saga(A, b, s, loss, net, rows: Iterable[int], tau: float, x=None):
    """A step of length tau on each of ``rows``; returns x and the table y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for i in rows:
        u, g = A.T @ (s * y), loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (u + s.size * s[i] * (g - y[i]) * A[i]), tau)
        y[i] = g
    return x, y


def sag(A, b, s, loss, net, rows: Iterable[int], tau: float, x=None):
    """A step of length tau on each of ``rows``; returns x and the table y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for i in rows:
        y[i] = loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (A.T @ (s * y)), tau)
    return x, y


def svrg(A, b, s, loss, net, rows: Iterable[int], tau: float, every: int, x=None):
    """A step of length tau on each of ``rows``, in stages of ``every`` steps; returns x and the last stage's y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for t, i in enumerate(rows):
        if t % every == 0:
            y = loss.derivative(A @ x, b)
        u, g = A.T @ (s * y), loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (u + s.size * s[i] * (g - y[i]) * A[i]), tau)
    return x, y
