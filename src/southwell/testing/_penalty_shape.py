"""Laws of what scalar penalties say about their shape, and of the sums over coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._brute import EPS, close, hold

H = 1e-6  # of differences


def check_shape(penalty: Any, core: Any, rows: np.ndarray, box: tuple[np.ndarray, np.ndarray]) -> None:
    """``box`` holds the bounds of each coordinate."""
    lower, upper = core.lower(rows[0]), core.upper(rows[0])
    hold(penalty, "domain is where values are finite", close(lower, box[0], 1e-12) & close(upper, box[1], 1e-12),
         j=np.arange(lower.size), lower=lower, upper=upper)  # fmt: skip
    ends = [np.where(np.isfinite(end), end, 0.0) for end in box]
    points = [np.clip(x, *box) for x in (*rows, *ends)]
    _minimiser(penalty, core, rows, points)
    _subdifferential(penalty, core, points, box)
    _kink(penalty, core, rows, points, box)
    _held(penalty, core, rows, points, box)
    _reach(penalty, core, rows, box)
    _relatives(penalty, core, rows, points)
    _maximisers(penalty, core, rows, box)
    if hasattr(core, "shrunk"):
        _shrinkage(penalty, core, rows, box)


def _minimiser(penalty: Any, core: Any, rows: np.ndarray, points: list[np.ndarray]) -> None:
    j = np.arange(rows.shape[1])
    for x in rows[::3]:
        got = core.minimiser(x)
        best = core.value(got)
        for other in points:
            value = core.value(other)
            hold(penalty, "minimiser has the least value", best <= value, j=j, x=x, minimiser=got, other=other)
            nearer = (value <= best) & (np.abs(other - x) < np.abs(got - x))
            hold(penalty, "minimiser is the one nearest x", ~nearer, j=j, x=x, minimiser=got, other=other)
    values = np.stack([core.value(x) for x in points])
    free = core.free(rows[0])
    hold(penalty, "free is to cost nothing", (free == 1) == (values == 0).all(axis=0), j=j, free=free)


def _subdifferential(penalty: Any, core: Any, points: list[np.ndarray], box: Any) -> None:
    j = np.arange(points[0].size)
    for x in points:
        value, ends = core.value(x), (core.least_slope(x), core.greatest_slope(x))
        hold(penalty, "a subdifferential is an interval", ends[0] <= ends[1], j=j, x=x, least=ends[0], greatest=ends[1])
        for slope, bound, way in ((ends[0], box[0], -1), (ends[1], box[1], 1)):
            hold(penalty, "beyond a bound slopes have no end", np.isinf(slope) == (x == bound), j=j, x=x, slope=slope)
            there = np.isfinite(slope)
            inner = np.where(there, slope, 0.0)
            for other in points[::3]:
                line = value + inner * (other - x)
                rounding = 1e-12 * (1 + np.abs(value) + np.abs(inner * (other - x)))
                hold(penalty, "a subgradient supports g", ~there | (core.value(other) >= line - rounding),
                     j=j, x=x, slope=slope, other=other)  # fmt: skip
            near = x + way * H
            sure = there & (near * way < bound * way) & ((x == 0) | (np.abs(x) > 2 * H))
            change = way * (core.value(np.where(sure, near, x)) - value) / H
            size = 1 + np.abs(inner) + np.abs(value) * EPS / H
            hold(penalty, "the ends of a subdifferential are one-sided derivatives",
                 ~sure | close(change, inner, 1e-4, size + 1e3 * np.abs(value) * EPS / H), j=j, x=x, slope=slope,
                 difference=change)  # fmt: skip
        smooth = core.smooth_at(x) == 1
        hold(penalty, "g is smooth where there is one subgradient", smooth == (ends[0] == ends[1]), j=j, x=x)
        got = core.gradient(x)
        hold(penalty, "gradient is the subgradient, where g is smooth", ~smooth | (got == ends[0]), j=j, x=x, got=got)
        away = smooth & (np.abs(x) > 2 * H) & (x - box[0] > 2 * H) & (box[1] - x > 2 * H)
        bend = (core.gradient(x + H) - core.gradient(x - H)) / (2 * H)
        got = core.curvature(x)
        rounding = 1e-6 * (1 + np.abs(bend)) + 4 * EPS * np.abs(core.gradient(x)) / H
        hold(penalty, "curvature is the derivative of gradient", ~away | (np.abs(bend - got) <= rounding),
             j=j, x=x, curvature=got, difference=bend)  # fmt: skip


def _kink(penalty: Any, core: Any, rows: np.ndarray, points: list[np.ndarray], box: Any) -> None:
    j = np.arange(rows.shape[1])
    zero, kink = np.zeros(j.size), core.kink(rows[0])
    inside, there = (box[0] < 0) & (box[1] > 0), (box[0] <= 0) & (box[1] >= 0)
    ends = core.least_slope(zero), core.greatest_slope(zero)
    hold(penalty, "slopes at zero jump from -kink to kink", ~inside | ((ends[0] == -kink) & (ends[1] == kink)),
         j=j, kink=kink, least=ends[0], greatest=ends[1])  # fmt: skip
    hold(penalty, "kink is not negative", kink >= 0, j=j, kink=kink)
    for v in (*rows, kink, -kink, 0.9 * kink, -0.9 * kink):
        says = core.zero_is_optimal(v) == 1
        hold(penalty, "zero that is optimal is in the domain", ~says | there, j=j, slope=v)
        for x in points:
            hold(penalty, "zero_is_optimal is true only if zero minimises g(x) + v x",
                 ~says | (core.value(x) + v * x >= core.value(np.where(there, zero, x)) - 1e-15 * np.abs(v * x)),
                 j=j, slope=v, x=x)  # fmt: skip
        hold(penalty, "zero is optimal for slopes within the kink", ~(inside & (np.abs(v) <= kink)) | says,
             j=j, slope=v, kink=kink)  # fmt: skip


def _held(penalty: Any, core: Any, rows: np.ndarray, points: list[np.ndarray], box: Any) -> None:
    j = np.arange(rows.shape[1])
    for x, to in zip(points, [*rows[::-1], *rows[:2]], strict=True):
        crosses = (core.kink(x) > 0) & (x * to < 0)
        got, want = core.held(x, to), np.clip(np.where(crosses, 0.0, to), *box)
        hold(penalty, "held moves stop at the kink or a bound", got == want, j=j, x=x, to=to, held=got, wanted=want)


def _reach(penalty: Any, core: Any, rows: np.ndarray, box: Any) -> None:
    j = np.arange(rows.shape[1])
    tested = np.isinf(box[0]) & np.isinf(box[1]) & (core.free(rows[0]) == 0)
    for level in (1e-3, 1.0, 50.0):
        far = np.where(tested, core.reach(np.full(j.size, level)), 1.0)
        for side in (-far, far):
            value = core.value(side)
            hold(penalty, "g is the level at its reach", ~tested | close(value / level, 1.0, 1e-9), j=j, reach=far,
                 level=level, value=value)  # fmt: skip
    nothing = np.where(tested, core.reach(np.zeros(j.size)), 0.0)
    hold(penalty, "nothing reaches the level zero", nothing == 0, j=j, reach=nothing)


def _relatives(penalty: Any, core: Any, rows: np.ndarray, points: list[np.ndarray]) -> None:
    j = np.arange(rows.shape[1])
    strong = core.strong_convexity(rows[0])
    least = core.least_l2
    hold(penalty, "least_l2 is the strong convexity of the sum", least == strong.min(), least=least)
    for a, b in zip(points, points[::-1], strict=True):
        middle, mean = core.value((a + b) / 2), (core.value(a) + core.value(b)) / 2
        hold(penalty, "g less its strong convexity is convex",
             middle <= mean - strong / 8 * (a - b) ** 2 + 1e-12 * (1 + np.abs(mean)), j=j, x1=a, x2=b)  # fmt: skip
    for mu in (-least, 0.0, 0.7, 20.0):
        for x in points[::3]:
            got, want = core.value_with_ridge(x, mu), core.value(x) + mu / 2 * x**2
            hold(penalty, "with_ridge adds (mu/2) x^2", close(got, want, 1e-12, core.value(x)), j=j, x=x, mu=mu)
        for step in (0.1, 3.0):
            if 1 + step * mu <= 0:
                continue
            for v in rows[::4]:
                got, scale = core.prox_with_ridge(v, step, mu), 1 / (1 + step * mu)
                hold(penalty, "prox of with_ridge is prox of a shorter step",
                     close(got, core.prox(scale * v, step * scale), 1e-12, np.abs(v)), j=j, v=v, step=step, mu=mu,
                )  # fmt: skip
    for from_, to in ((-0.5, 0.7), (-2.0, 3.0)):
        for x in points[::2]:
            want = np.where((x >= from_) & (x <= to), core.value(x), np.inf)
            hold(penalty, "within is g on an interval", core.value_within(x, from_, to) == want, j=j, x=x)


def _maximisers(penalty: Any, core: Any, rows: np.ndarray, box: Any) -> None:
    j = np.arange(rows.shape[1])
    single = core.strong_convexity(rows[0]) > 0
    known = single | (np.isfinite(box[0]) & np.isfinite(box[1]))
    for v, x in zip(rows, rows[::-1], strict=True):
        for mu in (0.3, 5.0):
            got, want = core.conjugate_gradient(v, mu, x), core.prox(x + v / mu, 1 / mu)
            hold(penalty, "conjugate_gradient is a proximal step", close(got, want, 1e-12, np.abs(x) + np.abs(v) / mu),
                 j=j, v=v, mu=mu, x=x, got=got, wanted=want)  # fmt: skip
        best = np.where(single, core.conjugate_gradient(np.where(single, v, 0.0), 0.0, x), core.minimiser(x))
        value, conjugate = v * best - core.value(best), core.conjugate(v)
        hold(penalty, "conjugate_gradient attains the conjugate",
             ~single | close(value, conjugate, 1e-12, np.abs(v * best)), j=j, v=v, x=best)  # fmt: skip
        u = core.prox(v, 1.0)
        slope = v - u
        ends = core.least_maximiser(slope, 1e-9), core.greatest_maximiser(slope, 1e-9)
        room = 1e-9 * (1 + np.abs(u))
        hold(penalty, "conjugate_subdifferential holds every maximiser",
             ~known | ((ends[0] <= u + room) & (ends[1] >= u - room)), j=j, v=slope, x=u)  # fmt: skip
        for other in rows[::6]:
            other = np.clip(other, *box)
            got, value = core.bregman(other, u, slope), core.value(other)
            want = value - core.value(u) - slope * (other - u)
            size = np.abs(value) + np.abs(core.value(u)) + np.abs(slope * (other - u)) + np.abs(v * other)
            hold(penalty, "bregman is g(x) - g(u) - v (x - u)", close(got, want, 1e-11, size) & (got >= 0), j=j,
                 x=other, u=u, v=slope, bregman=got)  # fmt: skip


def _shrinkage(penalty: Any, core: Any, rows: np.ndarray, box: Any) -> None:
    """Of penalties whose steps are shrinkages, the bounds apart."""
    j = np.arange(rows.shape[1])
    for v in rows[::3]:
        for step in (0.1, 3.0):
            got, want = np.clip(core.shrunk(v, step), *box), core.prox(v, step)
            hold(penalty, "shrinkage is prox without bounds", close(got, want, 1e-15), j=j, v=v, got=got, wanted=want)
            got, want = core.shrunk_conjugate_gradient(v, step), core.conjugate_gradient(v, step, 0 * v)
            got = np.clip(got, *box)
            hold(penalty, "conjugate_shrinkage is conjugate_gradient without bounds",
                 close(got, want, 1e-15, np.abs(want)), j=j, v=v, got=got, wanted=want)  # fmt: skip


def check_sums(penalty: Any, core: Any, rows: np.ndarray, box: tuple[np.ndarray, np.ndarray]) -> None:
    """Sums over all coordinates equal what the coordinates say, and their traits are true."""
    kink, n = core.kink(rows[0]), rows.shape[1]
    for x in rows[::3]:
        x = np.append(np.clip(x, *box), 0.4)
        total, each = core.total_value(x), core.value(x)
        hold(penalty, "total_value is the sum of the values", close(total, each.sum(), 1e-13), got=total)
        for z in (x, np.append(x[:n], 0.0)):
            for ridge in (True, False):
                scales = core.feasible_scale(-z)
                if not ridge:  # what counts then is the kink, unless a bound is in the way
                    limits = np.append(kink, 0.0) / np.where(z == 0, 1.0, np.abs(z))
                    ahead = np.where(z > 0, np.append(box[0], -np.inf), np.append(box[1], np.inf))
                    scales = np.where((z == 0) | np.isfinite(ahead), 1.0, np.minimum(limits, 1.0))
                got = core.total_feasible_scale(z, ridge)
                hold(penalty, "total_feasible_scale is the least scale", close(got, scales.min(), 1e-14), got=got)
            scale = core.total_feasible_scale(z, True)
            want = core.conjugate(-scale * z)
            got = core.total_conjugate(z, scale)
            hold(penalty, "total_conjugate is the sum of the conjugates",
                 close(got, want.sum(), 1e-12, np.abs(want).sum()), got=got, wanted=want.sum())  # fmt: skip
    ends = np.isfinite(box[0]) | np.isfinite(box[1])
    hold(penalty, "bounds are reported", core.bounded or not ends.any())
    hold(penalty, "a quadratic has neither kinks nor bounds", not core.quadratic or not (ends.any() or kink.any()))
    strong = core.strong_convexity(rows[0])
    same = not ends.any() and (kink == kink[0]).all() and (strong == strong[0]).all()
    hold(penalty, "a plain penalty is the same on all coordinates, without bounds", not core.plain or same)
