"""What the checks share: an assertion that says where it fails, and two numerical searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EPS = np.finfo(np.float64).eps


def hold(part: object, law: str, ok, **where) -> None:
    """Raise unless ``ok`` is true everywhere; comparisons with NaN are False, so a NaN breaks every law."""
    ok = np.asarray(ok)
    if ok.all():
        return
    bad = np.flatnonzero(~ok.ravel())
    at = ", ".join(f"{name} = {np.broadcast_to(v, ok.shape).ravel()[bad[0]]:.17g}" for name, v in where.items())
    points = f" ({bad.size} of {ok.size} points)" if ok.size > 1 else ""
    raise AssertionError(f"{part!r} breaks a law: {law}." + (f" Broken at {at}{points}." if at else ""))


def close(got, want, tol: float, scale=0.0) -> np.ndarray:
    """Equal up to ``tol`` of the larger of 1, ``want`` and ``scale``; infinities must agree."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= tol * np.maximum(np.maximum(1.0, np.abs(want)), scale)
    return near | (got == want)


def golden(f: Callable, lo, hi, steps: int = 130) -> tuple[np.ndarray, np.ndarray]:
    """The maximiser and the maximum of concave ``f`` on [lo, hi], for arrays of intervals at once."""
    lo, hi = np.array(lo, dtype=float), np.array(hi, dtype=float)
    ends, ratio = (lo.copy(), hi.copy()), (np.sqrt(5.0) - 1) / 2
    for _ in range(steps):
        left, right = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        rising = f(left) < f(right)
        lo, hi = np.where(rising, left, lo), np.where(rising, hi, right)
    points = np.stack([(lo + hi) / 2, *ends])  # the maximum may be at an end, which the search only approaches
    values = np.stack([f(p) for p in points])
    best = values.argmax(axis=0)[None]
    return np.take_along_axis(points, best, 0)[0], np.take_along_axis(values, best, 0)[0]


def root(h: Callable, start) -> tuple[np.ndarray, np.ndarray]:
    """A bracket, as narrow as rounding allows, of the root of increasing ``h`` (with jumps or not)."""
    start = np.array(start, dtype=float)
    lo, hi, width = start - 1, start + 1, 1.0
    for _ in range(80):
        low, high = h(lo) > 0, h(hi) < 0
        if not (low.any() or high.any()):
            break
        width *= 2
        lo, hi = np.where(low, lo - width, lo), np.where(high, hi + width, hi)
    for _ in range(130):
        middle = lo + (hi - lo) / 2
        above = h(middle) > 0
        lo, hi = np.where(above, lo, middle), np.where(above, middle, hi)
    return lo, hi
