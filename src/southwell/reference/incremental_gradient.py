"""Gradients of one sample at a time: SGD, and with reduced variance SAG, SAGA, SVRG and MISO.

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

           Bottou, "Stochastic Gradient Descent Tricks", 2012; Duchi, Singer, "Efficient Online and Batch Learning Using
           Forward Backward Splitting", JMLR 2009: SGD, which has no table: v = w_i g a_i.

           Lin, Mairal, Harchaoui, "A Universal Catalyst for First-Order Optimization", NIPS 2015, appendix: MISO-Prox,
           f_i = w_i phi_i(a_i'x) + (mu/2) ||x||^2 and the penalty psi = g - (mu/2) ||x||^2:

               z_i^+ = (1 - share) z_i + share (x - f_i'(x) / mu),     x = prox_{psi/mu}(mean of z)

           Here x - f_i'(x)/mu = -w_i g a_i / mu, so z_i is a multiple of a_i, and y_i^+ = y_i + share (g - y_i).

Kept       x and y; u is recomputed. MISO: all z.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet
from .spdc import begin


def saga(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, rows: Iterable[int], tau: float,
         x: Numbers = None) -> Numbers:  # fmt: skip
    """A step of length tau on each of ``rows``; returns x and the table y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for i in rows:
        u, g = A.T @ (s * y), loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (u + s.size * s[i] * (g - y[i]) * A[i]), tau)
        y[i] = g
    return x, y


def sag(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, rows: Iterable[int], tau: float,
        x: Numbers = None) -> Numbers:  # fmt: skip
    """A step of length tau on each of ``rows``; returns x and the table y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for i in rows:
        y[i] = loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (A.T @ (s * y)), tau)
    return x, y


def svrg(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, rows: Iterable[int], tau: float,
         every: int, x: Numbers = None) -> Numbers:  # fmt: skip
    """A step of length tau on each of ``rows``, in stages of ``every`` steps; returns x and the last stage's y."""
    x = begin(A, net, x)[0]
    y = loss.derivative(A @ x, b)
    for t, i in enumerate(rows):
        if t % every == 0:
            y = loss.derivative(A @ x, b)
        u, g = A.T @ (s * y), loss.derivative(A[i] @ x, b[i])
        x = net.prox(x - tau * (u + s.size * s[i] * (g - y[i]) * A[i]), tau)
    return x, y


def sgd(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, rows: Iterable[int], taus: Numbers,
        x: Numbers = None) -> Numbers:  # fmt: skip
    """A step on each of ``rows``, of the lengths ``taus``; returns x and phi'(A x)."""
    x = begin(A, net, x)[0]
    for i, tau in zip(rows, taus, strict=True):
        x = net.prox(x - tau * s.size * s[i] * loss.derivative(A[i] @ x, b[i]) * A[i], tau)
    return x, loss.derivative(A @ x, b)


def miso(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, rows: Iterable[int],
         share: float) -> Numbers:  # fmt: skip
    """A step on each of ``rows``, from z = 0; returns x and, for samples of positive weight, the y of z."""
    mu = net.l2.min()
    psi = replace(net, l2=net.l2 - mu)
    z, y, w = np.zeros(A.shape), np.zeros(s.size), s.size * s
    x = psi.prox(z.mean(axis=0), 1 / mu)
    for i in rows:
        g = loss.derivative(A[i] @ x, b[i])
        z[i] = (1 - share) * z[i] + share * (x - (w[i] * g * A[i] + mu * x) / mu)
        y[i] = (1 - share) * y[i] + share * g
        x = psi.prox(z.mean(axis=0), 1 / mu)
    return x, y
