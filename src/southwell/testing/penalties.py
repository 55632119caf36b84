"""Laws of a separable penalty g(x) = sum_j g_j(x_j)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Numbers
from ._brute import EPS, close, golden, hold
from ._penalty_shape import check_shape, check_sums

FAR = 1e9  # the range of the brute-force search; a supremum that still grows there is infinite
STEPS = (1e-3, 0.1, 1.0, 30.0)


def check_penalty(penalty: Any, n_features: int) -> None:
    """Check every law a penalty must obey, coordinate by coordinate.

    * g_j is convex; its domain is an interval;
    * ``prox(v, step)`` minimises g_j(x) + (x - v)^2 / (2 step): against brute force, and with a supporting line;
    * ``conjugate(v)`` equals the supremum of v x - g_j(x) over the box, and is infinite where that is unbounded;
    * Fenchel-Young: g_j(x) + g_j*(v) >= v x, with equality for v in the subdifferential at x;
    * ``feasible_scale(v)`` is the largest t <= 1 with t v in the domain of the conjugate;
    * coordinates beyond ``n_features``, the intercept, are free;
    * what a g_j says about its shape is true: its bounds, minimiser and subgradients, where it is smooth, its gradient
      and curvature there, its kink at zero, for which slopes zero stays, where moves stop, how strongly convex it is;
      so are its relatives, with a further ridge or on a part of its domain;
    * sums over all coordinates equal what the coordinates say.

    Parameters
    ----------
    penalty : Penalty
        ``penalty.core(n_features)`` must answer the questions of ``ScalarPenalty`` (core/concepts.hpp) over arrays, as
        ``ElasticNet`` does in bindings/parts.cpp.
    n_features : int

    Raises
    ------
    AssertionError
        Naming the law and a point where it is broken; ``j`` is the coordinate.

    Examples
    --------
    >>> import southwell as sw
    >>> from southwell.testing import check_penalty
    >>> check_penalty(sw.penalties.ElasticNet(l1=0.3, l2=0.1, lower=[-1.0, 0.0, 2.0]), 3)
    """
    core = penalty.core(n_features)
    # Rows are vectors of coordinates: spread values, and values near 0, where kinks and thresholds are.
    draws = np.random.default_rng(0)
    rows = np.concatenate([draws.normal(size=(15, n_features)) * scale for scale in (0.01, 0.3, 2.0, 40.0)])
    rows = np.concatenate([rows, np.zeros((1, n_features))])
    box = _box(penalty, core, n_features)
    slopes = [*rows, *_slopes(penalty, core, rows)]
    _convex(penalty, core, rows, box)
    _prox(penalty, core, rows, box)
    _conjugate(penalty, core, slopes, box)
    _fenchel_young(penalty, core, rows, slopes, box)
    _feasible_scale(penalty, core, slopes)
    _intercept(penalty, core, rows)
    ends = np.where(box[0] == -FAR, -np.inf, box[0]), np.where(box[1] == FAR, np.inf, box[1])
    check_shape(penalty, core, rows, ends)
    check_sums(penalty, core, rows, ends)


def _box(penalty: Any, core: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The domain of each g_j, found by testing where values are finite."""
    inside = core.prox(np.zeros(n), 1.0)
    j = np.arange(n)
    hold(penalty, "value is finite where prox answers", np.isfinite(core.value(inside)), j=j, x=inside)
    ends = []
    for far in (-FAR, FAR):
        good, bad = inside.copy(), np.full(n, far)
        endless = np.isfinite(core.value(bad))
        for _ in range(100):
            middle = good + (bad - good) / 2
            finite = np.isfinite(core.value(middle))
            good, bad = np.where(finite, middle, good), np.where(finite, bad, middle)
        ends.append(np.where(endless, far, good))
    return ends[0], ends[1]


def _slopes(penalty: Any, core: Any, rows: np.ndarray) -> list[np.ndarray]:
    """Subgradients of g at many points, (v - p) / step with p = prox(v, step): kinks give every slope between."""
    return [(v - core.prox(v, step)) / step for v in rows[::4] for step in STEPS]


def _convex(penalty: Any, core: Any, rows: np.ndarray, box: Any) -> None:
    j = np.arange(rows.shape[1])
    for a, b in zip(rows, rows[::-1], strict=True):
        a, b = np.clip(a, *box), np.clip(b, *box)
        middle, mean = core.value((a + b) / 2), (core.value(a) + core.value(b)) / 2
        hold(penalty, "value is convex, and finite on an interval", middle <= mean + 1e-12 * (1 + np.abs(mean)),
             j=j, x1=a, x2=b, middle=middle, mean=mean)  # fmt: skip


def _prox(penalty: Any, core: Any, rows: np.ndarray, box: Any) -> None:
    j = np.arange(rows.shape[1])
    others = [np.clip(v, *box) for v in rows[::5]]
    for step in STEPS:
        for v in rows:
            got = core.prox(v, step)
            lo, hi = np.clip(v - 1, *box), np.clip(v + 1, *box)
            reach = 2 * (np.abs(v) + np.abs(got) + 1) + np.abs(lo) + np.abs(hi)
            want = golden(lambda x: -core.value(x) - (x - v) ** 2 / (2 * step),  # noqa: B023
                          np.maximum(box[0], -reach), np.minimum(box[1], reach), 60)[0]  # fmt: skip
            hold(penalty, "prox minimises g(x) + (x - v)^2 / (2 step)", close(got, want, 1e-6, np.abs(v)),
                 j=j, v=v, step=step, prox=got, brute_force=want)  # fmt: skip
            # Sharper than brute force: (v - p) / step is a subgradient at p, so the line with this slope lies below g
            # everywhere.
            slope, base = (v - got) / step, core.value(got)
            near = [np.clip(got + change, *box) for change in (-1e-4, 1e-4)]
            for x in (*near, *others):
                line, value = base + slope * (x - got), core.value(x)
                rounding = 1e-12 * (1 + np.abs(base) + np.abs(line))
                rounding += 4 * EPS * (np.abs(v) + np.abs(got)) / step * np.abs(x - got)  # that of the slope
                hold(penalty, "(v - prox) / step is a subgradient at prox(v, step)", value >= line - rounding,
                     j=j, v=v, step=step, prox=got, x=x, value=value, line=line)  # fmt: skip


def _supremum(core: Any, v: np.ndarray, box: Any) -> np.ndarray:
    """sup of v x - g(x) over the box by brute force; infinite if it still grows at the end of the search."""
    lo, hi = box

    def f(x: Numbers) -> Numbers:
        return v * x - core.value(x)

    near = np.clip([-10.0, 10.0], lo[:, None], hi[:, None]).T  # with a wide range, rounding can hide a maximum near 0
    best = np.maximum(golden(f, lo, hi)[1], golden(f, near[0], near[1], 60)[1])
    grows = np.zeros(v.size, dtype=bool)
    for end, far in ((lo, -FAR), (hi, FAR)):
        endless = end == far
        half = np.where(endless, end / 2, end)
        grows |= endless & (f(end) > f(half) + 1e-3 * (1 + np.abs(f(half))))
    return np.where(grows, np.inf, best)


def _conjugate(penalty: Any, core: Any, slopes: list[np.ndarray], box: Any) -> None:
    for v in slopes:
        got, want = core.conjugate(v), _supremum(core, v, box)
        scale = core.feasible_scale(v)
        edge = (scale < 1) & (scale > 1 - 1e-9)  # outside by rounding: both results are correct
        hold(penalty, "conjugate equals the supremum of v x - g(x) over the box", close(got, want, 1e-8) | edge,
             j=np.arange(v.size), v=v, conjugate=got, supremum=want)  # fmt: skip


def _fenchel_young(penalty: Any, core: Any, rows: np.ndarray, slopes: list[np.ndarray], box: Any) -> None:
    j = np.arange(rows.shape[1])
    points = [np.clip(x, *box) for x in rows[::3]]
    values = [core.value(x) for x in points]
    for v in slopes:
        conjugate = core.conjugate(v)
        for x, value in zip(points, values, strict=True):
            sides = value + conjugate
            with np.errstate(invalid="ignore"):
                ok = sides - v * x >= -1e-12 * (1 + np.abs(v * x) + np.abs(value) + np.abs(conjugate))
            hold(penalty, "Fenchel-Young: g(x) + g*(v) >= v x", ok | (conjugate == np.inf), j=j, x=x, v=v, left=sides)
    for v in rows:
        for step in STEPS:
            x = core.prox(v, step)
            slope = (v - x) / step
            scale = core.feasible_scale(slope)
            rounding = 1e-13 * (1 + np.abs(v)) / step
            hold(penalty, "a subgradient of g is in the domain of its conjugate",
                 np.abs(slope) * (1 - scale) <= rounding, j=j, v=v, step=step, slope=slope, scale=scale)  # fmt: skip
            slope = slope * scale
            left, right = core.value(x) + core.conjugate(slope), slope * x
            size = rounding * (1 + np.abs(x)) / 1e-12 + np.abs(right) + np.abs(core.value(x))
            hold(penalty, "Fenchel-Young is an equality for v in the subdifferential at x",
                 close(left, right, 1e-12, size), j=j, x=x, v=slope, left=left, right=right)  # fmt: skip


def _feasible_scale(penalty: Any, core: Any, slopes: list[np.ndarray]) -> None:
    j = np.arange(slopes[0].size)
    zero = core.conjugate(np.zeros(j.size))
    hold(penalty, "0 is in the domain of the conjugate", np.isfinite(zero), j=j, conjugate=zero)
    for v in slopes:
        t = core.feasible_scale(v)
        hold(penalty, "feasible_scale is in [0, 1]", (t >= 0) & (t <= 1), j=j, v=v, scale=t)
        scaled = core.conjugate(t * v)
        hold(penalty, "feasible_scale(v) v is in the domain of the conjugate", np.isfinite(scaled), j=j, v=v, scale=t)
        more = np.where(t > 0, t * (1 + 1e-6), 1e-6)
        beyond = core.conjugate(more * v)
        hold(penalty, "feasible_scale is the largest scale", (t * (1 + 1e-6) >= 1) | (beyond == np.inf) | (v == 0),
             j=j, v=v, scale=t, larger=more, conjugate_there=beyond)  # fmt: skip


def _intercept(penalty: Any, core: Any, rows: np.ndarray) -> None:
    for v in rows[::20]:
        v = np.append(v, 3.7)
        hold(penalty, "the intercept costs nothing", core.value(v)[-1] == 0)
        hold(penalty, "prox leaves the intercept where it is", core.prox(v, 2.0)[-1] == 3.7)
        hold(penalty, "only slope 0 is feasible for the intercept",
             core.conjugate(v)[-1] == np.inf and core.conjugate(0 * v)[-1] == 0 and core.feasible_scale(v)[-1] == 0,
        )  # fmt: skip
