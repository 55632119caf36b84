"""Local linear approximation (Zou and Li 2008): a concave penalty as a sequence of weighted L1 penalties.

The tangent of p at |x_j| lies above p, so the objective with weights ``p'(|x_j|)`` touches the true one at x and lies
above it elsewhere: each convex problem, solved with a proven gap, lowers the true objective, up to that gap. Where the
weights no longer change, x is stationary. That is a local statement: no bound tells how far the best minimum is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._chooser import Chooser
from .._concave import Concave
from ..penalties import ElasticNet, Penalty


class Reweighted(Chooser):
    """The weighted L1 penalties of a path of concave ones, from strong to weak; the first of each has the weights of
    the last answer, the very first those of zero, which is the lasso. Squares keep the weights that they have.

    ``rounds`` and ``changes`` tell for each point how many problems were solved, and the largest change of a weight
    at the end. ``own`` gives weights and bounds of its own. Where it has weights r of squares beside weights w of L1,
    as standardising gives them, coefficients are measured in units of w / r.
    """

    def __init__(self, concave: list[Concave], own: ElasticNet, settled: float, most: int) -> None:
        self.concave, self.own, self.settled, self.most = concave, own, settled, most
        self.rounds: list[int] = []
        self.changes: list[float] = []
        self._units: Any = 1.0
        if own.weights is not None and own.ridge_weights is not None:
            self._units = np.divide(
                own.ridge_weights, own.weights, out=np.ones(own.weights.size), where=own.weights > 0
            )
        self._x: np.ndarray | None = None
        self._weights = np.zeros(0)
        self._ends: list[int] = []

    def told(self, penalty: Penalty, x: np.ndarray, primal: float, dual: float, scale: float) -> None:
        self._x = x * self._units

    def __iter__(self) -> Iterator[Penalty]:
        solved = 0
        for here in self.concave:
            weights = None if self._x is None else here.slopes(self._x)
            for number in range(1, self.most + 1):  # noqa: B007
                yield self._penalty(here, weights)
                assert self._x is not None
                now = here.slopes(self._x)
                change = float(np.abs(now - (1.0 if weights is None else weights)).max(initial=0.0))
                weights, solved = now, solved + 1
                if change <= self.settled:
                    break
            self.rounds.append(number)
            self.changes.append(change)
            self._ends.append(solved - 1)

    def _penalty(self, here: Concave, weights: np.ndarray | None) -> ElasticNet:
        known = replace(self.own, l1=here.l1, l2=here.l2)
        if weights is None:
            return known
        own = np.ones(weights.size) if known.weights is None else np.asarray(known.weights)
        ridges = own if known.ridge_weights is None and here.l2 > 0 else known.ridge_weights
        return replace(known, weights=weights * own, ridge_weights=ridges)

    def arranged(self, points: list[Any]) -> list[Any]:
        """The last point of each penalty, and of one that the path ended at before its weights had settled."""
        ends = self._ends if self._ends and self._ends[-1] == len(points) - 1 else [*self._ends, len(points) - 1]
        return [points[at] for at in ends]
