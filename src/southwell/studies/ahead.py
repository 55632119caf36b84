"""How far one method is ahead of another in a race, and how verdicts say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .findings import Findings, Race, Trace
from .study import Verdict

TARGETS = tuple(10.0 ** (-k / 2) for k in range(12, 1, -1))  # 1e-6 to 1e-1


class Lead(NamedTuple):
    """``other`` needs ``factor`` times as much as the method; a bound if only one of the two reached the target."""

    factor: float
    bound: str  # "", "at least", "at most"
    target: float

    def __str__(self) -> str:
        return f"{self.bound} {self.factor:.2g}".strip()


def lead(race: Race, label: str, other: str, unit: str, targets: Sequence[float] = TARGETS) -> Lead | None:
    """What ``other`` needs over what ``label`` needs, to the hardest target that both reached.

    If only one of them reached a harder target, what the other spent in vain is a bound; it counts if it says more. A
    target that both meet in their first row says nothing."""
    bound: Lead | None = None
    for target in targets:
        own, its = race.reached(label, target, unit), race.reached(other, target, unit)
        if np.isfinite(own) and np.isfinite(its):
            if not _moved(race[label], target) and not _moved(race[other], target):
                return bound
            exact = Lead(_over(its, own), "", target)
            further = bound is not None and (bound.factor > exact.factor) == (bound.bound == "at least")
            return bound if further else exact
        if bound is None and np.isfinite(own) and race[other].last(unit) >= own:
            bound = Lead(_over(race[other].last(unit), own), "at least", target)
        if bound is None and np.isfinite(its) and race[label].last(unit) >= its:
            bound = Lead(_over(its, race[label].last(unit)), "at most", target)
    return bound


def _moved(trace: Trace, target: float) -> bool:
    """Whether the first row is still above the target."""
    return bool(trace.columns["error"][0] > target)


def told(found: Lead | None) -> str:
    """A lead in words."""
    return "no target was reached" if found is None else str(found)


def _over(one: float, other: float) -> float:
    """A ratio of counts or seconds, with the least that is told apart in place of zero."""
    return max(one, 1e-6) / max(other, 1e-6)


def ahead_by(race: Race, label: str, others: Iterable[str], unit: str) -> Lead | None:
    """The least lead over several others; None if there is none to compare with."""
    leads = [found for other in others if (found := lead(race, label, other, unit)) is not None]
    return min(leads, key=lambda one: one.factor, default=None)


def labels(race: Race) -> list[str]:
    """The methods of a race."""
    return [trace.label for trace in race.traces]


def counted(good: int, total: int, sentence: str) -> Verdict:
    """Holds if all cases are good, fails if none is."""
    if total == 0:
        return Verdict("cannot tell", f"No case could be compared. {sentence}".strip())
    outcome = "holds" if good == total else "in part" if good else "fails"
    return Verdict(outcome, sentence)


def rows_of(findings: Mapping[str, Findings], study: str, name: str) -> list[Mapping[str, object]]:
    """A list of rows among the numbers of a study."""
    return list(findings[study].numbers[name])


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of log y over log x."""
    return float(np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0])


def largest_rise(trace: Trace, column: str = "latest", above: float = 1e-8) -> float:
    """The largest factor by which a column rises from a measurement to the next, while it is above the least."""
    values = np.asarray(trace.columns[column], dtype=float)
    before, after = values[:-1], values[1:]
    seen = (before > above) & np.isfinite(after)
    return float(np.max(after[seen] / before[seen], initial=0.0))
