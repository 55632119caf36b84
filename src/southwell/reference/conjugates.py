"""The conjugate phi* for scores: its domain, its subdifferential, and the largest value of a dual coordinate.

    phi*(y) = b y + eps |y| + (kappa/2) y^2 on an interval     the others
    phi*(y) = t log t + (1-t) log(1-t),  t = -b y              logistic
    phi*(y) = u log u - u,               u = y + b             poisson

D(y) >= D(0) implies s_i (phi_i*(y_i) + phi_i(0)) <= sum_l s_l (phi_l(0) + phi_l*(0)) if 0 is in every box, because
g_j* >= -g_j(0) = 0 and phi_l* >= -phi_l(0): this bounds y_i if dom phi_i* is unbounded.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq


def domain(loss, b):
    """The ends of dom phi*."""
    if loss.targets == "signs":  # 0 <= -b y <= cap
        cap = np.inf if loss.name == "squared_hinge" else 1.0
        return np.where(b > 0, -cap, 0.0), np.where(b > 0, 0.0, cap)
    if loss.name == "poisson":
        return -b, np.inf + b
    lo, hi = {
        "squared": lambda: (-np.inf, np.inf),
        "squared_epsilon_insensitive": lambda: (-np.inf, np.inf),
        "huber": lambda: (-loss.delta, loss.delta),
        "quantile": lambda: (-loss.q, 1 - loss.q),
        "epsilon_insensitive": lambda: (-1.0, 1.0),
    }[loss.name]()
    return np.full(np.shape(b), lo), np.full(np.shape(b), hi)


def subdifferential(loss, y, b):
    """The ends of the subdifferential of phi* at y. For logistic and Poisson it is infinite at the ends of the
    domain; a y within rounding of an end counts as the end."""
    if loss.name == "logistic":
        t = -b * y
        inside = np.clip(t, 1e-300, 1 - 1e-16)
        slope = np.log(inside / (1 - inside))
        ends = np.where(t <= 1e-300, -np.inf, slope), np.where(t >= 1 - 1e-16, np.inf, slope)
        return np.where(b > 0, -ends[1], ends[0]), np.where(b > 0, -ends[0], ends[1])
    if loss.name == "poisson":
        slope = np.log(np.maximum(y + b, 1e-300))
        return np.where(y + b <= 1e-300, -np.inf, slope), slope
    kappa = loss.corner if loss.name == "smooth_hinge" else float(loss.smooth)
    eps = loss.epsilon if "epsilon" in loss.name else 0.0
    lo, hi = domain(loss, b)
    low = np.where(y <= lo, -np.inf, b + kappa * y + np.where(y > 0, eps, -eps))
    high = np.where(y >= hi, np.inf, b + kappa * y + np.where(y < 0, -eps, eps))
    return low, high


def farthest(loss, b: float, room: float) -> float:
    """max |y| over dom phi*, with phi*(y) + phi(0) <= room on a side where that is unbounded."""

    def excess(y):
        return float(loss.conjugate(y, b) + loss.value(0.0, b)) - room

    bottom, ends = float(loss.derivative(0.0, b)), []  # phi* + phi(0) is convex, and 0 at the bottom
    for end, step in zip(map(float, domain(loss, b)), (-1.0, 1.0), strict=True):
        while np.isinf(end) and excess(bottom + step) <= 0:
            step *= 2
        ends.append(end if np.isfinite(end) else brentq(excess, bottom, bottom + step, xtol=1e-15, rtol=1e-15))
    return max(map(abs, ends))
