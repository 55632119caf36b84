"""Whether a loss of one's own is what it must be: convex, with a derivative that is its own, and bounded from below.

If phi is convex and d its derivative, then for any two margins u < v

    d(u) <= (phi(v) - phi(u)) / (v - u) <= d(v)

and this is checked, up to rounding, between neighbours and near each point of a grid. The grid is around zero and
around targets, in units of one and of the targets' spread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._names import flag, positive, shown

if TYPE_CHECKING:
    from ._own_losses import Custom

KINDS = ("real", "signs", "counts", "positive")
_MOST_TARGETS = 25
_MOST_SAMPLES = 1000
_STEPS = np.array([0.0, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0, 1.1, 1.4, 2, 3, 4.5, 7, 10, 16, 30])
_NEAR = 1e-4  # the distance of two margins that tell a derivative, in units of their size


def examine(loss: Custom, b: np.ndarray, margins: np.ndarray | None) -> None:
    """Raise a ValueError that says where the loss is wrong for these targets: on a grid or, if given, at the margins of
    these samples."""
    if margins is None:
        _examine_on_grid(loss, b)
    else:
        some = np.linspace(0, b.size - 1, min(b.size, _MOST_SAMPLES)).astype(int)
        m = np.asarray(margins, float)[some]
        _examine_pairs(loss, m, m + _NEAR * (1 + np.abs(m)), np.asarray(b, float)[some])


def examine_form(loss: Custom) -> None:
    """An error unless its functions are there and its attributes are of the right kind."""
    for method in ("value", "derivative"):
        if getattr(type(loss), method) is getattr(_custom(), method):
            raise loss._missing(method)
    if not isinstance(loss.name, str):
        raise TypeError(f"The name of a loss must be a string; got {shown(loss.name)}.")
    if not loss.name.isprintable():
        raise ValueError(f"The name of a loss must be of printable characters; got {shown(loss.name)}.")
    if not isinstance(loss.targets, str) or loss.targets not in KINDS:
        raise ValueError(f"{loss.name}.targets must be one of {', '.join(KINDS)}; got {shown(loss.targets)}.")
    if not (isinstance(loss.smoothness, float) and loss.smoothness == np.inf):
        positive(f"{loss.name}.smoothness", loss.smoothness)
    flag(f"{loss.name}.log_odds", loss.log_odds)


def _custom() -> type[Custom]:
    from ._own_losses import Custom

    return Custom


def _examine_on_grid(loss: Custom, b: np.ndarray) -> None:
    known = np.unique(np.asarray(b, float))
    some = known[np.unique(np.linspace(0, known.size - 1, min(known.size, _MOST_TARGETS)).astype(int))]
    units = np.unique([1.0, max(float(np.ptp(known)), float(np.abs(known).max()), 1e-300)])
    steps = np.concatenate([sign * unit * _STEPS for unit in units for sign in (-1, 1)])
    for target in some:
        m = np.unique(np.concatenate((steps, target + steps)))
        m = np.unique(np.concatenate((m, m + _NEAR * (1 + np.abs(m)))))
        _examine_pairs(loss, m[:-1], m[1:], np.full(m.size - 1, target))
    _examine_separate(loss, np.resize(m, 7), np.resize(some, 7))
    _examine_floor(loss, known)


def _examine_separate(loss: Custom, m: np.ndarray, b: np.ndarray) -> None:
    for which, method in enumerate(("value", "derivative")):
        whole, some = loss._answer(which, m.copy(), b.copy()), loss._answer(which, m[4::-1].copy(), b[4::-1].copy())
        if not np.allclose(whole[4::-1], some, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise ValueError(
                f"The loss {loss.name} cannot be used: its {method} of a sample depends on the other samples of the "
                "array, or differs from call to call. It must be a function of each margin and its target alone."
            )


def _examine_floor(loss: Custom, known: np.ndarray) -> None:
    least = -np.asarray(loss.conjugate(np.zeros_like(known), known))
    if not np.isfinite(least).all():
        at = int(np.argmin(np.isfinite(least)))
        raise ValueError(
            f"The loss {loss.name} cannot be used: for target {known[at]:.6g} it seems to have no least value, since "
            "its derivative has the same sign at all margins. A loss must be bounded from below."
        )


def _examine_pairs(loss: Custom, u: np.ndarray, v: np.ndarray, b: np.ndarray) -> None:
    """Refuse the loss if it is wrong between margins u and v of a sample, u < v."""
    m, twice = np.concatenate((u, v)), np.concatenate((b, b))
    value, slope = loss._answer(0, m.copy(), twice.copy()), loss._answer(1, m.copy(), twice.copy())
    for answers, method in ((value, "value"), (slope, "derivative")):
        if np.isnan(answers).any():
            at = int(np.argmax(np.isnan(answers)))
            raise ValueError(
                f"The loss {loss.name} cannot be used: its {method} is NaN at margin {m[at]:.6g} and target "
                f"{twice[at]:.6g}. Write it so that it is a number for every margin, for example with "
                "scipy.special.expit and numpy.logaddexp."
            )
    zero = loss._answer(0, np.zeros(b.size), b.copy())
    (value_u, value_v), (slope_u, slope_v) = np.split(value, 2), np.split(slope, 2)
    with np.errstate(all="ignore"):
        run = v - u
        rise = (value_v - value_u) / run
        size = 1e-7 * (np.abs(slope_u) + np.abs(slope_v)) + 1e-12
        size += 16 * np.finfo(float).eps * (np.abs(zero) + np.abs(value_u) + np.abs(value_v)) / run
        known = np.isfinite(rise) & np.isfinite(slope_u) & np.isfinite(slope_v)
        for wrong, told in (
            (known & (slope_v < slope_u - size), "it is not convex: its derivative falls"),
            (known & ((rise < slope_u - size) | (rise > slope_v + size)), "its derivative is not that of its value"),
        ):
            if wrong.any():
                at = int(np.argmax(wrong))
                raise ValueError(
                    f"The loss {loss.name} cannot be used: {told}. For target {b[at]:.6g} the derivative is "
                    f"{slope_u[at]:.6g} at margin {u[at]:.8g} and {slope_v[at]:.6g} at margin {v[at]:.8g}, and between "
                    f"them the value changes by {rise[at]:.6g} a unit."
                )
