"""Bounds on x_j that make g_j* finite everywhere if l2 = 0, so that coordinates can be scored.

Paper      Perekrestenko, Cevher, Jaggi, AISTATS 2017, section 4.1, the "Lipschitzing trick": with g_i = lambda |.| on
           |alpha_i| <= B, B = O_A(start) / lambda, the iterates stay as they are and g_i*(u) = B max(|u| - lambda, 0).

Here       R_j is B for feature j. Let P(x) <= P(start). Since sum_i s_i phi_i >= -sum_i s_i phi_i*(0), g_k >= -g_k*(0),

               g_j(x_j) <= level - g_j*(0),      level = P(start) - D(0),

           and R_j is the largest |x_j| with that. An unpenalised x_j gets an interval around itself, as long as a
           gradient step: with a fixed one its score would exceed all others near the optimum.
           Only scores use these bounds; steps and certificates never do.
"""  # fmt: skip

from __future__ import annotations

from dataclasses import replace

import numpy as np


def level(A, b, s, loss, net, x) -> float:
    """P(x) - D(0), for the x where a solve starts."""
    return max(s @ (loss.value(A @ x, b) + loss.conjugate(0 * b, b)) + np.sum(net.value(x) + net.conjugate(0 * x)), 0.0)


def radii(net, norms, level: float):
    """R_j: the largest |x| with g_j(x) <= level - g_j*(0); sqrt(2 level / N_j) if x_j is unpenalised."""
    top = level - net.conjugate(0 * net.l1)
    with np.errstate(divide="ignore", invalid="ignore"):
        R = np.where(top > 0, 2 * top / (net.l1 + np.hypot(net.l1, np.sqrt(2 * net.l2 * top))), 0.0)
        free = np.where(norms > 0, np.sqrt(2 * level / norms), 1.0)
    return np.where((net.l1 == 0) & (net.l2 == 0), free, R)


def bounded(net, x, R, step):
    """The penalty with bounds if l2 = 0: |x| <= max(R_j, |x_j|) or, if l1 = 0 too, x_j -+ step."""
    B = np.maximum(R, np.abs(x))
    lo = np.maximum(net.lo, np.where(net.l1 > 0, -B, x - step))
    hi = np.minimum(net.hi, np.where(net.l1 > 0, B, x + step))
    return replace(net, lo=np.where(net.l2 > 0, net.lo, lo), hi=np.where(net.l2 > 0, net.hi, hi))


def maximisers(net, v, e):
    """The ends of all argmax_u  w u - g(u) with |w - v| <= e; e is used if l2 = 0, where x is bounded."""
    least = np.where(v - e > net.l1, np.inf, np.where(v - e > -net.l1, 0.0, -np.inf))
    greatest = np.where(v + e < -net.l1, -np.inf, np.where(v + e < net.l1, 0.0, np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        only = net.conjugate_gradient(v)
    return [np.where(net.l2 > 0, only, np.clip(end, net.lo, net.hi)) for end in (least, greatest)]
