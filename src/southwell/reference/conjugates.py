"""The conjugate phi* for scores: its domain, its subdifferential, and the largest value of a dual coordinate.

    phi*(y) = b y + eps |y| + (kappa/2) y^2 on an interval     losses that are piecewise quadratic
    phi*(y) = y m - phi(m),  where phi'(m) = y                 others: phi' is inverted by bisection

D(y) >= D(0) implies s_i (phi_i*(y_i) + phi_i(0)) <= sum_l s_l (phi_l(0) + phi_l*(0)) if 0 is in every box, because
g_j* >= -g_j(0) = 0 and phi_l* >= -phi_l(0): this bounds y_i if dom phi_i* is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._typing import Numbers
from ..losses import Loss


def domain(loss: Any, b: Numbers) -> Numbers:
    """The ends of dom phi*, which ``southwell.testing.check_loss`` compares with the conjugate."""
    ends = np.array([loss.core.domain(float(target)) for target in np.ravel(b)]).reshape(*np.shape(b), 2)
    return ends[..., 0], ends[..., 1]


def subdifferential(loss: Any, y: Numbers, b: Numbers) -> Numbers:
    """The ends of the subdifferential of phi* at y. Where it is infinite at an end of the domain, a y within rounding
    of that end counts as the end."""
    lo, hi = domain(loss, b)
    if loss.piecewise:
        kappa, eps = loss.core.pieces
        low, high = b + kappa * y + np.where(y > 0, eps, -eps), b + kappa * y + np.where(y < 0, -eps, eps)
    else:
        low = _crossing(lambda m: loss.derivative(m, b) < y, b)
        high = _crossing(lambda m: loss.derivative(m, b) <= y, b)
    return np.where(y <= lo, -np.inf, low), np.where(y >= hi, np.inf, high)


def _crossing(before: Callable[[Numbers], Numbers], b: Numbers) -> Numbers:
    """The margin at which ``before`` turns false, as far as 800 from b: beyond, exponentials are 0 or infinite."""
    left, right = b - 800.0, b + 800.0
    for _ in range(70):
        middle = (left + right) / 2
        left, right = np.where(before(middle), middle, left), np.where(before(middle), right, middle)
    return right


def farthest(loss: Loss, b: float, room: float) -> float:
    """max |y| over dom phi*, with phi*(y) + phi(0) <= room on a side where that is unbounded."""

    def excess(y: Numbers) -> Numbers:
        return float(loss.conjugate(y, b) + loss.value(0.0, b)) - room

    bottom, ends = float(loss.derivative(0.0, b)), []  # phi* + phi(0) is convex, and 0 at the bottom
    for end, step in zip(map(float, domain(loss, b)), (-1.0, 1.0), strict=True):
        while np.isinf(end) and excess(bottom + step) <= 0:
            step *= 2
        ends.append(end if np.isfinite(end) else brentq(excess, bottom, bottom + step, xtol=1e-15, rtol=1e-15))
    return float(max(map(abs, ends)))
