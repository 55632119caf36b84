"""Which of several methods is ahead in a race, and by how much, when not all of them arrived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .findings import Race, Trace

TARGETS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ERRORS = "In brackets the relative error at which methods are compared."
WHOLE = ("epoch", "moves")  # units that are told apart no finer than one


def labels(race: Race) -> list[str]:
    """The methods of a race."""
    return [trace.label for trace in race.traces]


def arrival(trace: Trace, target: float, unit: str, error: str = "error") -> float:
    """``unit`` when the error falls to the target, between rows by the error's logarithm; infinity if it does not."""
    errors, spent = np.minimum.accumulate(trace.columns[error]), trace.columns[unit]
    there = np.flatnonzero(errors <= target)
    if not there.size:
        return float(np.inf)
    k = int(there[0])
    if k == 0 or errors[k] <= 0:
        return float(spent[k])
    part = np.log(errors[k - 1] / target) / np.log(errors[k - 1] / errors[k])
    return float(spent[k - 1] + part * (spent[k] - spent[k - 1]))


class Ratio:
    """What some methods needed over what others did, each the best of its side, and whether that is at most a limit.

    It is taken at the smallest target that decides this. What a method that did not arrive has spent bounds what it
    needs, which may decide. A target that all meet in their first row decides nothing. ``value`` is nan, and ``held``
    and ``beyond`` are None, if no target decides.
    """

    def __init__(self, race: Race, ones: Sequence[str], others: Sequence[str], unit: str, limit: float = 1.0, *,
                 targets: Sequence[float] = TARGETS, error: str = "error") -> None:  # fmt: skip
        self.value, self.target, self.bound = float(np.nan), float(np.nan), ""
        self.held: bool | None = None
        for target in sorted(targets):
            if all(race[label].columns[error][0] <= target for label in (*ones, *others)):
                return
            (low, high), (least, most) = (_spent(race, side, target, unit, error) for side in (ones, others))
            if np.isfinite(high) and high / least <= limit:
                self.held, self.value, exact = True, high / least, high == low and most == least
            elif np.isfinite(most) and low / most > limit:
                self.held, self.value, exact = False, low / most, high == low and most == least
            else:
                continue
            self.target, self.bound = target, "" if exact else "less than " if self.held else "more than "
            return

    @property
    def beyond(self) -> bool | None:
        """Whether it is above the limit."""
        return None if self.held is None else not self.held

    @property
    def factor(self) -> str:
        """In words, without the target."""
        return "undecided" if self.held is None else f"{self.bound}{self.value:.3g}"

    def __str__(self) -> str:
        return self.factor if self.held is None else f"{self.factor} (at {power(self.target)})"

    def times(self, what: str, target: bool = True) -> str:
        """As in "2.5 times the passes of SPDC (at 1e-6)"."""
        if self.held is None:
            return f"an undecided multiple of {what}"
        return f"{self.factor} times {what}" + f" (at {power(self.target)})" * target


def _spent(race: Race, side: Sequence[str], target: float, unit: str, error: str) -> tuple[float, float]:
    """What the best of these methods needed to arrive, between two bounds: one that did not arrive needs more than it
    has spent. They are equal if the best is known; the second is infinite if none arrived."""
    traces = [race[label] for label in side]
    least = 1.0 if unit in WHOLE else 1e-6
    arrived = [arrival(trace, target, unit, error) for trace in traces]
    known = [spent if np.isfinite(spent) else trace.last(unit) for spent, trace in zip(arrived, traces, strict=True)]
    return max(min(known), least), max(min(arrived), least)


def held(*ratios: Ratio) -> list[bool]:
    """Of the ratios that are decided: whether they are at most their limits."""
    return [ratio.held for ratio in ratios if ratio.held is not None]


def beyond(*ratios: Ratio) -> list[bool]:
    """Of the ratios that are decided: whether they are above their limits."""
    return [not within for within in held(*ratios)]


def listed(ratios: Mapping[str, Ratio]) -> list[str]:
    """A line for each."""
    return [f"{name}: {ratio}" for name, ratio in ratios.items()]


def power(target: float) -> str:
    """As in "1e-6"."""
    return f"{target:.0e}".replace("e-0", "e-")
