"""Doubly greedy primal-dual coordinate descent (Lei, Yen, Wu, Dhillon and Ravikumar 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import _core
from .._names import at_most, count, flag, one_name, positive, settle, shown
from ..problem import Problem
from .base import Prepared, Start
from .conditioning import Conditioning, Perturbed
from .side import dual_start, with_null_intercept

ACTIVE = ("enter", "passes", "order")
PLAIN = ("columns", "rows")
"""The options of algorithm 2, active sets, and of algorithm 1."""


@dataclass(frozen=True, kw_only=True)
class DGPD(Perturbed):
    """Doubly greedy primal-dual coordinate descent, for solutions that are sparse in features and in samples.

    Parameters
    ----------
    active_sets : bool
        True is algorithm 2 of the paper, the practical method: it works on the compact matrix of active rows and
        columns, and searches for more between passes. False is algorithm 1: the best column and the best row (or a few)
        move at a time.
    enter : int or "double", optional
        Active sets: how many columns, and how many rows, may enter at a search; 1 is the paper's algorithm. "double",
        the default, admits 64, or as many as there are in the set already, whichever is more.
    passes : int, optional
        Active sets: passes over the compact matrix between searches; default 5.
    order : {"in turn", "together"}, optional
        Active sets: "together" moves all active x, then all active y, as in the paper, with a common step size. "in
        turn", the default, moves one y at a time, with the longest safe step, and updates x after each.
    columns, rows : int, optional
        Without active sets: how many primal and dual coordinates move in an iteration; default 1.
    step : float, optional
        The dual step size eta, in the paper's units, for passes "together" and without active sets. Default: a safe
        step, then adapted. Without active sets the safe step is that of theorem 4.2, with the constant its proof needs.
    adapt : bool, optional
        Where ``step`` could be given: lengthen the safe step while the error falls, and shorten it when it rises.
        False keeps the safe one. Default: True, unless ``step`` is given, which is never adapted.
    perturb, recentre
        As for ``Perturbed``. This smooths the hinge; the reported gap is that of the hinge itself.

    Notes
    -----
    An option that would have no effect is refused: ``columns`` and ``rows`` with active sets; ``enter``, ``passes`` and
    ``order`` without; ``step`` and ``adapt`` with passes "in turn"; and ``adapt=True`` with a ``step``.

    References
    ----------
    Q. Lei, I. E. H. Yen, C. Wu, I. S. Dhillon, P. Ravikumar, "Doubly Greedy Primal-Dual Coordinate Descent for Sparse
    Empirical Risk Minimization", ICML 2017.
    """

    active_sets: bool = True
    enter: int | str | None = None
    passes: int | None = None
    order: str | None = None
    columns: int | None = None
    rows: int | None = None
    step: float | None = None
    adapt: bool | None = None
    name: ClassVar[str] = "dgpd"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flag, "active_sets")
        given = [name for name in (*ACTIVE, *PLAIN, "step", "adapt") if getattr(self, name) is not None]
        doubling = isinstance(self.enter, str) and self.enter == "double"
        for name in given:
            if name == "order":
                one_name(name, self.order, ("in turn", "together"))
            elif name == "step":
                settle(self, positive, name)
            elif name == "adapt":
                settle(self, flag, name)
            elif not (name == "enter" and doubling):
                settle(self, count, name, least=1)
        self._refuse_idle(given)

    @property
    def _in_turn(self) -> bool:
        return self.active_sets and self.order != "together"

    def _refuse_idle(self, given: list[str]) -> None:
        """Raise for options without an effect."""
        for name in given:
            if name in (PLAIN if self.active_sets else ACTIVE):
                raise ValueError(
                    f"{name} needs active_sets={not self.active_sets}; got {name}={shown(getattr(self, name))} with "
                    f"active_sets={self.active_sets}."
                )
            if name in ("step", "adapt") and self._in_turn:
                raise ValueError(
                    f"{name} needs order='together' or active_sets=False, because passes in turn take the longest "
                    f"safe step; got {name}={shown(getattr(self, name))}."
                )
        if self.step is not None and self.adapt:
            raise ValueError(
                "step and adapt=True must not be given together: a step that is given is not adapted. Leave one out."
            )

    def _bearable(self) -> float:
        """Without acceleration that many epochs reduce the error by a factor of e, if each y takes its longest safe
        step."""
        return 1e3 if self._in_turn else 10.0

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if self.active_sets:
            start = with_null_intercept(problem, start)
        conditioning = self._conditioning(problem)
        parts = problem.layout(False), problem.layout(True)
        points = start.x, dual_start(problem, start)
        core = problem.core(not problem.data.has_rows())
        perturbed = ", perturbed" if conditioning.dx or conditioning.dy else ""
        centres = self._recentring(conditioning, 1.0)
        n, d = problem.n_samples, problem.n_features + problem.intercept
        adapt = self.step is None and self.adapt is not False
        weight = 0.0 if self.step is None else n / float(self.step)
        if self.active_sets:
            _refuse_excluded_zero(problem)
            sets = _core.Active(
                enter=self.enter if isinstance(self.enter, int) else 64, doubling=not isinstance(self.enter, int),
                passes=self.passes or 5, together=not self._in_turn, weight=weight, adapt=adapt, **centres,
            )  # fmt: skip
            algorithm = _core.active_sets(core, sets, *parts, *points, seed)
            return Prepared(algorithm, f"DGPD, active sets, {self.order or 'in turn'}{perturbed}")
        rows = at_most("rows", self.rows or 1, n, "samples")
        columns = at_most("columns", self.columns or 1, d, "coefficients, an intercept included")
        spec = _core.Greedy(
            columns=columns, rows=rows, unit=safe_weight(conditioning), weight=weight, adapt=adapt, **centres
        )
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
