"""Laws of a loss phi(m; b)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._typing import Numbers
from ._brute import EPS, close, golden, hold, root

TARGETS = {"real": (-1.7, 0.0, 0.3, 2.5), "signs": (-1.0, 1.0), "counts": (0.0, 0.5, 1.0, 4.0),
           "positive": (0.2, 1.0, 4.0)}  # fmt: skip


def check_loss(loss: Any) -> None:
    """Check every law a loss must obey.

    The laws, for targets of the loss's own kind:

    * phi is convex, its derivative lies between the slopes of its chords and equals central differences away from
      kinks, and so does the second derivative, which ``smoothness`` bounds;
    * ``quadratic``, ``piecewise`` and ``self_concordance`` are true of these derivatives;
    * Fenchel-Young: phi(m) + phi*(y) >= y m, with equality at y = phi'(m);
    * the conjugate equals the supremum found by brute force, is infinite outside ``core.domain(b)``, and 0 is inside;
    * ``maximise(m, y0, q, b)`` solves its problem for q from 0 to 1e12, and ``prox_conjugate`` obeys Moreau's identity;
    * numbers stay finite at margins of 700 and 1000, without warnings, and phi' tends to the ends of the domain.

    Parameters
    ----------
    loss : Loss
        With ``value, derivative, second_derivative, conjugate, maximise, prox_conjugate`` over arrays, ``targets``,
        ``smooth``, ``smoothness``, ``traits``, ``core.domain(b)`` and ``core.pieces``. Parameters between 1e-3 and 1e2
        are covered by the grids.

    Raises
    ------
    AssertionError
        Naming the law and a point where it is broken.

    Examples
    --------
    >>> import southwell as sw
    >>> from southwell.testing import check_loss
    >>> check_loss(sw.losses.Logistic())
    """
    hold(loss, f"targets is one of {sorted(TARGETS)}; got {loss.targets!r}", loss.targets in TARGETS)
    for b in TARGETS[loss.targets]:
        _derivatives(loss, b)
        _traits(loss, b)
        _conjugate(loss, b)
        _fenchel_young(loss, b)
        _maximise(loss, b)
        _moreau(loss, b)
        _extremes(loss, b)


def _margins() -> np.ndarray:
    """A fine grid that avoids round numbers, where kinks are, then a coarse one."""
    return np.concatenate([np.linspace(-6.0, 6.0, 601) + 1.2345e-3, np.linspace(-40.0, 40.0, 81) + 1.2345e-3])


def _duals(loss: Any, b: float) -> np.ndarray:
    """Points of the domain: its ends where finite, 0, and points between, as far as 20."""
    lo, hi = loss.core.domain(b)
    lo, hi = max(lo, -20.0), min(hi, 20.0)
    inside = lo + (hi - lo) * np.array([1e-9, 1e-4, 0.03, 0.2, 0.41, 0.5, 0.77, 0.98, 1 - 1e-6])
    return np.concatenate([[lo, hi, 0.0], inside])


def _derivatives(loss: Any, b: float) -> None:
    m, h = _margins(), 1e-5
    value, first, second = (f(m, b) for f in (loss.value, loss.derivative, loss.second_derivative))
    up, down = loss.value(m + h, b), loss.value(m - h, b)
    first_up, first_down = loss.derivative(m + h, b), loss.derivative(m - h, b)
    rounding = 16 * EPS * (1 + np.abs(value) + np.abs(first * m) + np.abs(first * b)) / h
    chord = (up - value) / h
    hold(loss, "a chord is as steep as phi' at its left end, or steeper", chord >= first - rounding,
         m=m, b=b, chord=chord, derivative=first)  # fmt: skip
    hold(loss, "a chord is no steeper than phi' at its right end", chord <= first_up + rounding,
         m=m, b=b, chord=chord, derivative=first_up)  # fmt: skip
    far = m[::7]
    middle, sides = loss.value((far[:, None] + far) / 2, b), loss.value(far, b)
    mean = (sides[:, None] + sides) / 2
    hold(loss, "phi is convex: no midpoint lies above its chord", middle <= mean + 1e-12 * (1 + np.abs(mean)),
         m1=far[:, None], m2=far, b=b)  # fmt: skip

    bend = loss.second_derivative(m + h, b), loss.second_derivative(m - h, b)
    jump = np.max(bend, axis=0) - np.min(bend, axis=0)
    step = first_up - first_down  # at a kink of phi the derivative jumps even if phi'' is the same on both sides
    calm = (jump <= 1e-3 * (1 + np.abs(second))) & (step <= 4 * h * (1 + np.max(bend, axis=0)))
    hold(loss, "phi has kinks, or jumps of phi'', at isolated points only", np.mean(calm) > 0.95)
    m, first, second, rounding = m[calm], first[calm], second[calm], rounding[calm]
    central = (up - down)[calm] / (2 * h)
    hold(loss, "derivative equals central differences", np.abs(central - first) <= rounding + h * (1 + second) * 1e-3,
         m=m, b=b, difference=central, derivative=first)  # fmt: skip
    central = (first_up - first_down)[calm] / (2 * h)
    slack = 16 * EPS * (1 + np.abs(first) + np.abs(m) + abs(b)) / h + 1e-6 * (1 + second)
    hold(loss, "second_derivative equals central differences of derivative", np.abs(central - second) <= slack,
         m=m, b=b, difference=central, second_derivative=second)  # fmt: skip
    hold(loss, "smoothness bounds second_derivative", second <= loss.smoothness * (1 + 1e-12),
         m=m, b=b, second_derivative=second, smoothness=loss.smoothness)  # fmt: skip
    if loss.smooth and np.isfinite(loss.smoothness):
        m = np.sort(_margins())
        change, most = np.diff(loss.derivative(m, b)), loss.smoothness * np.diff(m)
        hold(loss, "smoothness bounds the change of derivative from any point to the next",
             change <= most + 16 * EPS * (1 + np.abs(m[1:]) + abs(b)),
             m=m[:-1], to=m[1:], b=b, change=change, most=most)  # fmt: skip
    if not loss.smooth:
        hold(loss, "a loss that is not smooth has infinite smoothness", loss.smoothness == np.inf)


def _traits(loss: Any, b: float) -> None:
    m, traits = np.sort(_margins()), loss.traits
    first, second = loss.derivative(m, b), loss.second_derivative(m, b)
    if traits.quadratic:
        hold(loss, "a quadratic loss has the derivative m - b", close(first, m - b, 1e-14, np.abs(m) + abs(b)),
             m=m, b=b, derivative=first)  # fmt: skip
    if traits.piecewise:
        kappa, eps = loss.core.pieces
        known = np.array([0.0, 1 / kappa] if kappa > 0 else [0.0])
        hold(loss, "the second derivative of a piecewise quadratic loss is 0 or 1 / kappa", np.isin(second, known),
             m=m, b=b, second_derivative=second)  # fmt: skip
        y = _duals(loss, b)
        formula, got = b * y + eps * np.abs(y) + kappa / 2 * y**2, loss.conjugate(y, b)
        hold(loss, "the conjugate of a piecewise quadratic loss is b y + eps |y| + (kappa/2) y^2",
             close(got, formula, 1e-13, np.abs(y * b) + eps * np.abs(y) + kappa * y**2),
             y=y, b=b, conjugate=got, formula=formula)  # fmt: skip
    if traits.self_concordance > 0:  # |phi'''| <= M phi'': log phi'' changes by at most M times the way
        m = np.linspace(-6.0, 6.0, 601)  # further out phi'' may round to 0
        change, most = np.abs(np.diff(np.log(loss.second_derivative(m, b)))), traits.self_concordance * np.diff(m)
        hold(loss, "self_concordance bounds the change of the logarithm of second_derivative",
             change <= most + 1e-6, m=m[:-1], to=m[1:], b=b, change=change, most=most)  # fmt: skip


def _conjugate(loss: Any, b: float) -> None:
    lo, hi = loss.core.domain(b)
    hold(loss, "0 is in the domain of the conjugate", lo <= 0 <= hi and np.isfinite(loss.conjugate(0.0, b)), b=b)
    y = _duals(loss, b)
    got = loss.conjugate(y, b)
    want = golden(lambda m: y * m - loss.value(m, b), np.full(y.size, -1e3), np.full(y.size, 1e3))[1]
    # At an end of the domain the supremum may be at infinity; what lies beyond 1e3 is then exponentially small.
    hold(loss, "conjugate equals the supremum of y m - phi(m)", close(got, want, 1e-9, np.abs(y * b)),
         y=y, b=b, conjugate=got, supremum=want)  # fmt: skip
    for end, side in ((lo, -1), (hi, 1)):
        if np.isfinite(end):
            outside = end + side * np.array([1e-6 * (1 + abs(end)), 0.1, 1.0, 100.0])
            hold(loss, "conjugate is infinite outside its domain", loss.conjugate(outside, b) == np.inf,
                 y=outside, b=b, conjugate=loss.conjugate(outside, b))  # fmt: skip


def _fenchel_young(loss: Any, b: float) -> None:
    m, y = _margins(), _duals(loss, b)[:, None]
    sides = loss.value(m, b) + loss.conjugate(y, b)
    hold(loss, "Fenchel-Young: phi(m) + phi*(y) >= y m", sides - y * m >= -1e-12 * (1 + np.abs(y * m) + np.abs(sides)),
         m=m, y=y, b=b, left=sides, right=y * m)  # fmt: skip
    y = loss.derivative(m, b)
    value, conjugate = loss.value(m, b), loss.conjugate(y, b)
    size = np.abs(value) + np.abs(y * m) + np.abs(y * b)
    hold(loss, "Fenchel-Young is an equality at y = phi'(m)", close(value + conjugate, y * m, 1e-13, size),
         m=m, y=y, b=b, left=value + conjugate, right=y * m)  # fmt: skip


def _maximise(loss: Any, b: float) -> None:
    """y is the maximiser if and only if y = phi'(u), a subgradient, at the margin u with u + q y = m + q y0."""
    lo, hi = loss.core.domain(b)
    margins = [-1e3, -30.0, -3.0, -0.5, 0.0, 0.7, 2.0, 30.0, 1e3]
    weights = [0.0, 1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e6, 1e12]
    m, y0, q = (a.ravel() for a in np.meshgrid(margins, _duals(loss, b), weights, indexing="ij"))
    got = loss.maximise(m, y0, q, b)
    where = {"m": m, "y0": y0, "q": q, "b": b, "maximise": got}
    inside = (got >= lo - 1e-12 * (1 + abs(b))) & (got <= hi + 1e-12)
    hold(loss, "maximise answers inside the domain", inside, **where)
    left, right = root(lambda u: u - m + q * (loss.derivative(u, b) - y0), m)
    slack = 16 * EPS * (1 + np.abs(left) + np.abs(m) + abs(b) + q * (np.abs(y0) + np.abs(got)))
    least, most = loss.derivative(left - slack, b), loss.derivative(right + slack, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The same bounds from the other equation; sharp if q is large, empty if q = 0.
        least = np.where(q > 0, np.fmax(least, y0 + (m - right - slack) / q), least)
        most = np.where(q > 0, np.fmin(most, y0 + (m - left + slack) / q), most)
    rounding = 1e-13 * (1 + np.abs(got) + abs(b))
    hold(loss, "maximise(m, y0, q, b) maximises y m - phi*(y) - (q/2) (y - y0)^2",
         (got >= least - rounding) & (got <= most + rounding), **where, least=least, most=most)  # fmt: skip


def _moreau(loss: Any, b: float) -> None:
    """v = prox of step phi* at v + step * (prox of phi / step at v / step), the second found by brute force."""
    points = np.array([-25.0, -3.0, -1.0, -0.2, 0.0, 0.4, 1.0, 2.6, 25.0])  # most are outside some domain
    v, step = (a.ravel() for a in np.meshgrid(points, [0.05, 0.7, 1.0, 9.0], indexing="ij"))
    got = loss.prox_conjugate(v, step, b)
    centre = v / step
    # The minimiser differs from v / step by at most the slope of the loss there over step.
    radius = np.minimum(1 + np.abs(loss.derivative(centre, b)) / step, 1e6)
    low, high = centre - radius, centre + radius
    if loss.traits.may_overflow:  # where it is infinite at both ends, nothing could be compared
        low, high = np.clip(low, -700, 700), np.clip(high, -700, 700)
    u = golden(lambda m: -loss.value(m, b) - step / 2 * (m - centre) ** 2, low, high)[0]
    hold(loss, "Moreau: v = prox_conjugate(v, step) + step prox of phi / step at v / step",
         close(got + step * u, v, 1e-5, np.abs(step * u)), v=v, step=step, b=b, prox_conjugate=got, prox=u)  # fmt: skip

    def objective(y: Numbers) -> Numbers:
        return loss.conjugate(y, b) + (y - v) ** 2 / (2 * step)

    lo, hi = loss.core.domain(b)
    lowest = objective(got)
    for change in (-1.0, -1e-2, -1e-4, 1e-4, 1e-2, 1.0):
        near = np.clip(got + change, lo, hi)
        other = objective(near)
        hold(loss, "prox_conjugate minimises phi*(y) + (y - v)^2 / (2 step)",
             other >= lowest - 1e-12 * (1 + np.abs(other) + np.abs(near * b)),
             v=v, step=step, b=b, prox_conjugate=got, better=near)  # fmt: skip


def _extremes(loss: Any, b: float) -> None:
    m = np.array([-1e3, -700.0, -300.0, -40.0, 0.0, 40.0, 300.0, 700.0, 1e3])
    with warnings.catch_warnings(), np.errstate(over="warn", invalid="warn", divide="warn"):
        warnings.simplefilter("error")
        try:
            value, first, second = (f(m, b) for f in (loss.value, loss.derivative, loss.second_derivative))
            conjugate = loss.conjugate(first, b)
        except Warning as warning:
            raise AssertionError(
                f"{loss!r} breaks a law: margins as far as 1000 raise no warnings; got {warning}."
            ) from warning
    overflows = np.array([loss.traits.may_overflow]) & (np.abs(m) > 709.0)  # e^m itself does, or e^-m
    for name, numbers in (("value", value), ("derivative", first), ("second_derivative", second)):
        fine = np.isfinite(numbers) | (overflows if name == "value" else False)
        hold(loss, f"{name} is finite for margins as far as 1000", fine, m=m, b=b, got=numbers)
    hold(loss, "the conjugate is finite at any derivative", np.isfinite(conjugate), m=m, b=b, got=conjugate)
    hold(loss, "second_derivative is never negative", second >= 0, m=m, b=b, got=second)
    hold(loss, "derivative increases", np.diff(first) >= 0, m=m[:-1], b=b, derivative=first[:-1], next=first[1:])
    tangent = value[4] + first[4] * m
    hold(loss, "phi lies above its tangent at 0", value >= tangent - 1e-12 * (1 + np.abs(tangent)),
         m=m, b=b, value=value, tangent=tangent)  # fmt: skip
    # Equality holds except where phi' is near the largest float, where a loss may stop growing.
    tame = np.abs(first) < 1e150
    size = np.abs(value) + np.abs(first * m) + np.abs(first * b)
    hold(loss, "Fenchel-Young is an equality at y = phi'(m), far out too",
         close(value + conjugate, first * m, 1e-12, size)[tame], m=m[tame], b=b)  # fmt: skip
    for end, far in zip(loss.core.domain(b), (-1e8, 1e8), strict=True):
        limit = loss.derivative(far, b)
        if np.isfinite(end):
            hold(loss, "derivative tends to the end of the domain", abs(limit - end) <= 1e-6 * (1 + abs(end)),
                 m=far, b=b, derivative=limit, end=end)  # fmt: skip
        else:
            hold(
                loss, "where the domain is unbounded so is derivative", abs(limit) >= 1e7, m=far, b=b, derivative=limit
            )
