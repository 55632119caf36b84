"""What two points of a path prove about every strength between them, and points chosen by that.

The optimum p(l) = min over x of F(x) + l h(x) is a minimum of linear functions of the strength l, hence concave.
Between two strengths it is therefore at least the chord of two lower bounds, the dual values D of the two points. The
objective of a fixed x is linear in l. So the gap of either point's x is at most a linear function of l, known from its
values at both ends: its own gap at one end, and its objective at the other end less the other's dual value. This needs
no further solve, no product with the data and no dual point, and holds for every loss, with bounds, groups and
unpenalised coefficients. Where p is smooth, both functions are of second order in the distance of the points, so about
1/sqrt(tol) points suffice, as in Ndiaye, Le, Fercoq, Salmon and Takeuchi, "Safe grid search with optimal complexity"
(2019), who scale the dual point instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._chooser import Chooser
from .penalties import Penalty


class Known(NamedTuple):
    """A point of a path, as far as its neighbours need to know it."""

    penalty: Penalty
    x: np.ndarray
    primal: float
    dual: float

    def objective(self, penalty: Penalty) -> float:
        """P of its coefficients under another penalty of the same path."""
        return self.primal - self.penalty.value(self.x) + penalty.value(self.x)


class Segment(NamedTuple):
    """The gaps of two neighbours at both ends; in between they are at most the straight lines between these."""

    first: tuple[float, float]
    second: tuple[float, float]

    @classmethod
    def of(cls, one: Known, other: Known) -> Segment:
        first = one.primal - one.dual, one.objective(other.penalty) - other.dual
        second = other.objective(one.penalty) - one.dual, other.primal - other.dual
        return cls(first, second)

    def at(self, share: float) -> tuple[float, float]:
        """The bounds of both at this share of the way."""
        return tuple((1 - share) * near + share * far for near, far in (self.first, self.second))  # type: ignore[return-value]

    def worst(self) -> float:
        """The largest bound of the better of the two: at an end, or where the lines cross."""
        (a, b), (c, d) = self.first, self.second
        ends = max(min(a, c), min(b, d))
        if (a - c) * (b - d) >= 0:
            return ends
        return max(ends, self.at((c - a) / ((c - a) + (b - d)))[0])


class Everywhere(Chooser):
    """The penalties of a path on which every strength between two points is within ``tol`` of the optimum with the
    better one's coefficients. Iterate, and tell each solution before the next penalty is taken.

    From a point the step is as long as the last bound predicts, which grows with the square of the step; if a bound is
    too large after all, points are added between.
    """

    MOST, LEAST = 3.0, 0.2  # factors by which the length of steps may change
    AIM = 0.7  # the part of the tolerance that a step is to use
    SHORTEST = 1e-9  # of a step, relative to the strength

    def __init__(self, strengths: np.ndarray, made: Callable[[float], Penalty], tol: float) -> None:
        self.strengths, self.made, self.tol = strengths, made, tol
        self.known: dict[float, tuple[Known, float]] = {}

    def told(self, penalty: Penalty, x: np.ndarray, primal: float, dual: float, scale: float) -> None:
        self.known[penalty.leading_strength] = Known(penalty, x, primal, dual), scale or 1.0

    def arranged(self, points: list[Any]) -> list[Any]:
        return sorted(points, key=lambda point: -point.penalty.leading_strength)

    def __iter__(self) -> Iterator[Penalty]:
        here, step = float(self.strengths[0]), 0.1
        yield self.made(here)
        for stop in map(float, self.strengths[1:]):
            while here > stop:
                ahead = max(here * float(np.exp(-step)), stop)
                if here * float(np.exp(-1.2 * step)) <= stop:  # no short step remains
                    ahead = stop
                yield self.made(ahead)
                bound = self._bound(here, ahead)
                yield from self._between(here, ahead)
                if ahead > 0 and self._solved(here, ahead):  # shorter steps do not help where points are inaccurate
                    factor = np.clip(np.sqrt(self.AIM * self.tol / max(bound, 1e-300)), self.LEAST, self.MOST)
                    step = float(np.log(here / ahead) * factor)
                self._forget(ahead)
                here = ahead

    def _between(self, one: float, other: float) -> Iterator[Penalty]:
        """What is to be added between two strengths, from strong to weak."""
        short = one - other <= self.SHORTEST * one
        if short or self._bound(one, other) <= self.tol or not self._solved(one, other):
            return
        middle = float(np.sqrt(one * other)) if other > 0 else one / 2
        yield self.made(middle)
        yield from self._between(one, middle)
        yield from self._between(middle, other)

    def _bound(self, one: float, other: float) -> float:
        (first, scale), (second, _) = self.known[one], self.known[other]
        return Segment.of(first, second).worst() / scale

    def _solved(self, *strengths: float) -> bool:
        """Whether the points are accurate enough for others between them to be of use."""
        known = (self.known[strength] for strength in strengths)
        return all((point.primal - point.dual) / scale <= self.tol / 2 for point, scale in known)

    def _forget(self, last: float) -> None:
        """All but the last point: coefficients are as long as all features."""
        self.known = {last: self.known[last]}
