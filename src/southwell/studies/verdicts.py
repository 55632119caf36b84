"""What judges share: outcomes of several cases, and numbers in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .study import Verdict


def outcome(held: Iterable[bool]) -> str:
    """ "holds" if all are true, "fails" if none is, else "in part"; "cannot tell" if there are none."""
    found = [bool(one) for one in held]
    if not found:
        return "cannot tell"
    return "holds" if all(found) else "in part" if any(found) else "fails"


def decided(held: Iterable[bool], because: str, cases: Iterable[str] = ()) -> Verdict:
    """The verdict of several cases; it says so if none of them could be decided."""
    found = outcome(held)
    return Verdict(found, f"{'No case could be decided. ' * (found == 'cannot tell')}{because}", tuple(cases))


def count(held: Iterable[bool]) -> str:
    """As in "2 of 3"."""
    found = [bool(one) for one in held]
    return f"{sum(found)} of {len(found)}"


def shown(value: float) -> str:
    """Three digits; "never" for infinity."""
    return f"{value:.3g}" if np.isfinite(value) else "never"


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent p of ``y ~ x^p``, by least squares of logarithms over finite y; nan with fewer than two."""
    at, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(values)
    if known.sum() < 2:
        return float(np.nan)
    return float(np.polyfit(np.log(at[known]), np.log(values[known]), 1)[0])
