"""Accelerated proximal stochastic dual coordinate ascent.

Paper      Shalev-Shwartz, Zhang, "Accelerated Proximal Stochastic Dual Coordinate Ascent for Regularized Loss
           Minimization", ICML 2014, figure 1. With mu = l2/2, rho = mu + kappa, eta = sqrt(mu/rho):

               xi_1 = (1 + 1/eta^2) (P(0) - D(0)),   xi_t = (1 - eta/2)^{t-1} xi_1
               stage t: SDCA on P(x) + (kappa/2) ||x - c||^2 until its gap is at most eta xi_{t-1} / (2 (1 + 1/eta^2))
               c = x + (1 - eta)/(1 + eta) (x - x of the last stage)

           so that the accuracy of the first stage is (eta/2) (P(0) - D(0)), and it falls by 1 - eta/2 each stage.

Here       Gaps are looked at after every epoch, n coordinates. The paper ends when a bound of the error is met; here
           the certificate of the problem itself ends the solve.

Kept       y and the centres; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .certificate import certificate
from .elastic_net import ElasticNet


def accelerated_sdca(A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, epochs: Iterable[Numbers],
                     kappa: float) -> Numbers:  # fmt: skip
    """An epoch on each list of rows, from zero; returns y, the x of the next inner problem, and how many ended."""
    mu = net.l2.min() / 2
    eta = np.sqrt(mu / (mu + kappa))
    firm = net.l2 + kappa
    x = centre = last = np.clip(np.zeros(A.shape[1]), net.lo, net.hi)
    y, q, stages = np.zeros(s.size), s * (A**2 @ (1 / firm)), 0
    strong = ElasticNet(net.l1, firm, net.lo, net.hi)
    goal = eta / 2 * certificate(A, b, s, loss, net, net.conjugate_gradient(-A.T @ (s * y)), y)[2]
    for rows in epochs:
        for i in rows:
            x = strong.conjugate_gradient(kappa * centre - A.T @ (s * y))
            y[i] = loss.maximise(A[i] @ x, y[i], q[i], b[i])
        x = strong.conjugate_gradient(kappa * centre - A.T @ (s * y))
        m = A @ x
        if s @ (loss.value(m, b) + loss.conjugate(y, b) - y * m) <= goal:
            centre, last = x + (1 - eta) / (1 + eta) * (x - last), x
            goal, stages = goal * (1 - eta / 2), stages + 1
    return y, strong.conjugate_gradient(kappa * centre - A.T @ (s * y)), stages
