"""Doubly greedy primal-dual coordinate descent (Lei, Yen, Wu, Dhillon and Ravikumar 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _core
from .._names import at_most, count, flag, one_name, positive, settle
from ..problem import Problem
from .base import Prepared, Start
from .conditioning import Conditioning, Perturbed
from .side import dual_start, with_null_intercept


@dataclass(frozen=True, kw_only=True)
class DGPD(Perturbed):
    """Doubly greedy primal-dual coordinate descent, for solutions that are sparse in features and in samples.

    Parameters
    ----------
    active_sets : bool
        True is algorithm 2 of the paper, the practical method: it works on the compact matrix of active rows and
        columns, and searches for more between passes. False is algorithm 1: the best column and the best row (or a few)
        move at a time.
    enter : int
        Active sets: how many columns, and rows, may enter at a search. A set larger than this may double.
    passes : int
        Active sets: passes over the compact matrix between searches.
    order : {"in turn", "together"}
        Active sets: "together" moves all active x, then all active y, as in the paper, with a common step size that is
        safe at first and then adapted by the gap. "in turn" moves one y at a time, with the longest safe step, and
        updates x after each.
    columns, rows : int
        Without active sets: how many primal and dual coordinates move in an iteration.
    step : float, optional
        Without active sets: the dual step size eta, in the paper's units. Default: the safe step of theorem 4.2
        (with the constant its proof needs), then adapted.
    adapt : bool
        Without active sets: lengthen the step while the gap falls, shorten it when it rises. False keeps the safe one.
    perturb, recentre
        As for ``Perturbed``. This smooths the hinge; the reported gap is that of the hinge itself.

    References
    ----------
    Q. Lei, I. E. H. Yen, C. Wu, I. S. Dhillon, P. Ravikumar, "Doubly Greedy Primal-Dual Coordinate Descent for Sparse
    Empirical Risk Minimization", ICML 2017.
    """

    active_sets: bool = True
    enter: int = 64
    passes: int = 5
    order: str = "in turn"
    columns: int = 1
    rows: int = 1
    step: float | None = None
    adapt: bool = True
    name: ClassVar[str] = "dgpd"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flag, "active_sets", "adapt")
        settle(self, count, "enter", "passes", "columns", "rows", least=1)
        one_name("order", self.order, ("in turn", "together"))
        if self.step is not None:
            settle(self, positive, "step")

    def _bearable(self) -> float:
        """Without acceleration that many epochs reduce the error by a factor of e, if each y takes its longest safe
        step."""
        return 1e3 if self.active_sets and self.order == "in turn" else 10.0

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if self.active_sets:
            start = with_null_intercept(problem, start)
        conditioning = self._conditioning(problem)
        parts = problem.layout(False), problem.layout(True)
        points = start.x, dual_start(problem, start)
        core = problem.core(not problem.data.has_rows())
        perturbed = ", perturbed" if conditioning.dx or conditioning.dy else ""
        centres = self._recentring(conditioning, 1.0)
        if self.active_sets:
            _refuse_excluded_zero(problem)
            sets = _core.Active(enter=self.enter, passes=self.passes, together=self.order == "together", **centres)
            algorithm = _core.active_sets(core, sets, *parts, *points, seed)
            return Prepared(algorithm, f"DGPD, active sets, {self.order}{perturbed}")
        n, d = problem.n_samples, problem.n_features + problem.intercept
        rows = at_most("rows", self.rows, n, "samples")
        columns = at_most("columns", self.columns, d, "coefficients, an intercept included")
        spec = _core.Greedy(
            columns=columns, rows=rows, unit=safe_weight(conditioning), adapt=self.adapt,
            weight=0.0 if self.step is None else n / float(self.step), **centres,
        )  # fmt: skip
        algorithm = _core.doubly_greedy(core, spec, *parts, *points)
        return Prepared(algorithm, f"DGPD, {columns} columns and {rows} rows{perturbed}")


def safe_weight(at: Conditioning) -> float:
    """n / eta of theorem 4.2 for one misplaced coordinate."""
    return (10 * at.largest**2 + at.n * at.gamma * at.l2) / (2 * at.n * at.l2)


def _refuse_excluded_zero(problem: Problem) -> None:
    if problem.penalty.excludes_zero:
        raise ValueError(
            "DGPD with active sets keeps inactive coefficients at 0, which the bounds exclude. Use "
            "active_sets=False, or CoordinateDescent."
        )
