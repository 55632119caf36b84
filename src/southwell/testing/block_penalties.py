"""Laws of a penalty g(x) on a block of k numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Numbers
from ._brute import EPS, close, hold

STEPS = (1e-3, 0.1, 1.0, 30.0)


def check_block_penalty(penalty: Any, size: int) -> None:
    """Check every law a penalty on a block of ``size`` numbers must obey.

    * g is convex, and 0 at 0;
    * ``prox(v, step)`` minimises g(x) + ||x - v||^2 / (2 step): (v - prox) / step is a subgradient there;
    * Fenchel-Young: g(x) + g*(v) >= <v, x>, with equality for subgradients v; where the conjugate is infinite, there is
      a ray along which <v, x> - g(x) grows;
    * ``conjugate_gradient(v)`` attains the supremum, where the conjugate is finite everywhere;
    * ``feasible_scale(v)`` is the largest t <= 1 with conjugate(t v) = 0;
    * ``balance(x, k)`` is x less one number for each stretch of k, and g is no larger there;
    * ``surely_zero(v, radius)`` says that the prox is 0 at every point within ``radius`` of v, and says so near 0.

    Parameters
    ----------
    penalty : _core.BlockPenalty
        With ``value, prox, balance, conjugate, conjugate_gradient, feasible_scale, surely_zero`` over one block.
    size : int

    Raises
    ------
    AssertionError
        Naming the law and a point where it is broken.

    Examples
    --------
    >>> from southwell import _core
    >>> from southwell.testing import check_block_penalty
    >>> check_block_penalty(_core.BlockPenalty(0.3, 0.1, 0.0), 4)
    """
    rng = np.random.default_rng(size)
    rows = np.concatenate([scale * rng.normal(size=(12, size)) for scale in (0.01, 0.3, 2.0, 40.0)])
    rows = np.concatenate([rows, np.zeros((1, size)), np.ones((1, size)), rows[::6] * (rng.random((8, size)) < 0.4)])
    slopes = [(v - penalty.prox(v, step)) / step for v in rows[::2] for step in STEPS]
    strong = all(np.isfinite(penalty.conjugate(np.full(size, end))) for end in (-1e9, 1e9))
    hold(penalty, "g(0) = 0", penalty.value(np.zeros(size)) == 0)
    for a, b in zip(rows, rows[::-1], strict=True):
        middle, mean = penalty.value((a + b) / 2), (penalty.value(a) + penalty.value(b)) / 2
        hold(penalty, "g is convex", middle <= mean + 1e-12 * (1 + mean), middle=middle, mean=mean)
    _block_prox(penalty, rows)
    _block_conjugate(penalty, rows, slopes, strong)
    for v in (*rows, *slopes):
        _block_scale(penalty, v)
    _block_zeros(penalty, slopes, rng)
    _block_balance(penalty, rows)


def _block_prox(penalty: Any, rows: Numbers) -> None:
    units = np.eye(rows.shape[1])
    for v in rows:
        for step in STEPS:
            p = penalty.prox(v, step)
            slope, base = (v - p) / step, penalty.value(p)
            near = [p + change * unit for unit in units for change in (-1e-4, 1e-4)]
            for x in (*near, 0.999 * p, 1.001 * p, 0 * p, *rows[::7], 1e-6 * rows[3]):
                line = base + slope @ (x - p)
                rounding = 1e-12 * (1 + base + abs(line))
                rounding += 4 * EPS * (np.abs(v) + np.abs(p)) @ np.abs(x - p) / step
                value = penalty.value(x)
                hold(penalty, "(v - prox) / step is a subgradient at prox(v, step)", value >= line - rounding,
                     step=step, value=value, line=line)  # fmt: skip


def _block_conjugate(penalty: Any, rows: Numbers, slopes: Numbers, strong: bool) -> None:
    for v in (*rows, *slopes):
        conjugate = penalty.conjugate(v)
        hold(penalty, "the conjugate is never negative", conjugate >= 0)
        if np.isinf(conjugate):
            ray = penalty.prox(v, 1.0)
            hold(penalty, "where the conjugate is infinite, <v, x> - g(x) grows along a ray",
                 v @ ray - penalty.value(ray) > 0)  # fmt: skip
            continue
        for x in (*rows[::3], v, 1e6 * v, penalty.prox(v, 1.0), 1e9 * penalty.prox(v, 1.0)):
            left, right = penalty.value(x) + conjugate, v @ x
            size = np.abs(v) @ np.abs(x)
            hold(penalty, "Fenchel-Young: g(x) + g*(v) >= <v, x>", left - right >= -1e-11 * (size + left),
                 left=left, right=right)  # fmt: skip
        if strong:
            x = penalty.conjugate_gradient(v)
            hold(penalty, "conjugate_gradient attains the supremum",
                 close(v @ x - penalty.value(x), conjugate, 1e-12, np.abs(v) @ np.abs(x)),
                 got=v @ x - penalty.value(x), conjugate=conjugate)  # fmt: skip
    for v in rows:
        for step in STEPS:
            x = penalty.prox(v, step)
            slope = (v - x) / step
            if not strong:
                slope = slope * penalty.feasible_scale(slope)
            left, right = penalty.value(x) + penalty.conjugate(slope), slope @ x
            size = penalty.value(x) + np.abs(slope) @ np.abs(x) + np.abs(v) @ (1 + np.abs(x)) / step
            hold(penalty, "Fenchel-Young is an equality for v in the subdifferential at x",
                 close(left, right, 1e-12, size), step=step, left=left, right=right)  # fmt: skip


def _block_scale(penalty: Any, v: Numbers) -> None:
    t = penalty.feasible_scale(v)
    hold(penalty, "feasible_scale is in [0, 1]", 0 <= t <= 1, scale=t)
    inside = penalty.conjugate(t * v)
    hold(penalty, "feasible_scale(v) v is in the domain of the conjugate", np.isfinite(inside), scale=t)
    inside = penalty.conjugate((1 - 1e-9) * t * v)
    hold(penalty, "feasible_scale(v) v is where the conjugate is 0", inside == 0, scale=t, conjugate=inside)
    if t < 1:
        more = t * (1 + 1e-6) + 1e-9
        hold(penalty, "feasible_scale is the largest scale", penalty.conjugate(more * v) > 0, scale=t, larger=more)


def _block_zeros(penalty: Any, slopes: Numbers, rng: Any) -> None:
    """Around slopes v for which zero is the best, by ever larger radii, in the directions that raise norms the most."""
    for slope in slopes:
        v = 0.5 * penalty.feasible_scale(slope) * slope
        signs = np.where(v < 0, -1.0, 1.0)
        ways = [signs, v if v.any() else signs, np.eye(v.size)[np.abs(v).argmax()] * signs, rng.normal(size=v.size)]
        steps = np.array([way / np.linalg.norm(way) for way in ways])
        for radius in (0.0, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0):
            sure = penalty.surely_zero(v, radius)
            held = all(not penalty.prox(v + radius * step, 1.0).any() for step in steps)
            hold(penalty, "surely_zero holds at every point within the radius", held or not sure, radius=radius)
    tiny = np.full(slopes[0].size, -1e-9)
    kinked = not penalty.prox(tiny, 1.0).any()
    hold(penalty, "surely_zero sees that a kink holds small slopes", penalty.surely_zero(tiny, 1e-10) == kinked)


def _block_balance(penalty: Any, rows: Numbers) -> None:
    size = rows.shape[1]
    for x in (*rows, *np.abs(rows[::5])):
        for width in {1, size}:
            to = penalty.balance(x, width)
            less = (x - to).reshape(-1, width)
            hold(penalty, "balance takes the same number from all of a stretch",
                 np.ptp(less, axis=1).max() <= 4 * EPS * np.abs(x).max(), width=width)  # fmt: skip
            before, after = penalty.value(x), penalty.value(to)
            hold(penalty, "balance raises no value", after <= before or np.isinf(before), before=before, after=after)
