"""Random problems, solved in several ways, against oracles that do not rely on the library.

Every solve of a problem, or of one that must have the same optimum, proves an interval [dual, primal] for that optimum.
The objective at any x is at least the optimum. So a dual value above the smallest
objective known, beyond rounding, is a wrong certificate; the objectives are evaluated in extended precision.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

import southwell as sw

from . import conic
from .exact import EPS, Exact, Value, outside_bounds
from .random_statements import draw
from .report import Finding
from .statement import CHANGES, Statement, laid_out_otherwise

SLACK = 4.0  # times the allowance for rounding
SHARED = 50_000  # entries of a sweep from which threads may share it
OTHERS = {
    "primal descent": lambda: sw.methods.CoordinateDescent("primal"),
    "dual descent": lambda: sw.methods.CoordinateDescent("dual"),
    **{name: kind for name, kind in sw.methods.ALL.items() if name not in ("auto", "coordinate_descent")},
}


@dataclass
class Answer:
    """A result with its statement, and its objective in extended precision."""

    label: str
    statement: Statement
    exact: Exact
    result: sw.Result
    objective: Value


class Case:
    """One random problem, and all solves of it."""

    def __init__(self, seed: int, number: int):
        self.rng = np.random.default_rng([seed, number])
        self.statement = draw(self.rng)
        self.tol = float(self.rng.choice([1e-6, 1e-3, 1e-9, 1e-12], p=[0.7, 0.1, 0.15, 0.05]))
        self.key = f"{self.statement.loss.name}, {'blocks' if self.statement.blocks else 'scalar'}"
        self.findings: list[Finding] = []
        self.counts: Counter = Counter()

    def run(self) -> tuple[list[Finding], Counter]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            self._run()
        return self.findings, self.counts

    def _run(self) -> None:
        first = self._solve("auto", self.statement, tol=self.tol, max_seconds=5.0)
        if first is None:
            return
        if not first.result.status and self.tol >= 1e-6:
            self.counts["unproven"] += 1
            self.counts["unproven, blocks" if self.statement.blocks else "unproven, scalar"] += 1
        answers = [first, *self._others(), *self._changed()]
        answers = [answer for answer in answers if answer is not None]
        if self.rng.random() < 0.3:
            self._same_with_threads(first)
        for answer in answers:
            self._check_alone(answer)
        self._check_together(answers)

    def _solve(self, label: str, statement: Statement, **options) -> Answer | None:
        try:
            result = sw.solve(statement.problem(), **options)
        except ValueError as error:  # refused, with a reason
            refused = "a method" if label in OTHERS else "a problem"
            self.counts[f"refused {refused}"] += 1
            if label == "auto":
                self._found("refused", f"{label}: {str(error)[:60]}", str(error))
            return None
        except Exception as error:
            self._found("error", f"{type(error).__name__} in {label}: {str(error)[:60]}", repr(error))
            return None
        self.counts["solves"] += 1
        exact = Exact(statement)
        return Answer(label, statement, exact, result, exact.primal(result.x, result.intercept))

    def _others(self) -> list[Answer | None]:
        answers = []
        label = list(OTHERS)[int(self.rng.integers(len(OTHERS)))]
        answers.append(self._solve(label, self.statement, method=OTHERS[label](), tol=self.tol, max_epochs=200,
                                   max_seconds=0.5))  # fmt: skip
        if self.rng.random() < 0.3:
            answers.append(self._solve("auto, tight", self.statement, tol=1e-14, max_seconds=0.5))
        return answers

    def _changed(self) -> list[Answer | None]:
        change = laid_out_otherwise if self.rng.random() < 0.3 else CHANGES[int(self.rng.integers(len(CHANGES)))]
        return [self._solve(change.__name__, change(self.statement, self.rng), tol=self.tol, max_seconds=0.5)]

    def _same_with_threads(self, first: Answer) -> None:
        """Two threads must give the bits of one or, where they share sweeps over samples, the same bits again."""
        problem = self.statement.problem()
        one, two = (sw.solve(problem, tol=self.tol, max_epochs=20, n_threads=k) for k in (1, 2))
        swept = two.movers.get("dual")
        if swept is not None and swept.rounds > 0 and problem.n_samples * problem.n_features >= SHARED:
            one = sw.solve(problem, tol=self.tol, max_epochs=20, n_threads=2)
        self.counts["compared over threads"] += 1
        for name in ("x", "y", "primal", "dual", "intercept"):
            if not np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True):
                self._found("threads", name, f"{getattr(one, name)!r}\n{getattr(two, name)!r}")
                return

    def _check_alone(self, a: Answer) -> None:
        r, P, off = a.result, a.objective.value, SLACK * a.objective.allowance
        if not np.isfinite(r.x).all() or np.isnan([r.primal, r.dual, r.gap]).any():
            self._found("wrong", "not a number", self._told(a))
            return
        if r.gap < 0:
            self._found("wrong", "negative gap", self._told(a))
        if abs(r.gap - (r.primal - r.dual)) > 1e-11 * (abs(r.primal) + abs(r.dual)) + off:
            self._found("wrong", "gap is not primal - dual", self._told(a))
        if outside_bounds(a.statement, r.x) and np.isfinite(r.primal):
            self._found("wrong", "outside its bounds", self._told(a))
        if r.primal < P - off:
            self._found("wrong", "primal below the objective", f"{self._told(a)}\nP(x) = {P}, allowance {off}")
        if r.primal > P + off + 1e-14 * abs(P):
            self._found("imprecise", "primal above the objective", f"{self._told(a)}\nP(x) = {P}, allowance {off}")
        if r.status and r.gap > r.tol * r.scale * (1 + 1e-12):
            self._found("wrong", "CONVERGED with gap > tol * scale", self._told(a))
        if not a.statement.blocks and np.isfinite(r.dual):
            D, violation = a.exact.dual(r.y)
            # y is stored after it was scaled, and feasible up to rounding: D there is compared in units of P.
            allowed = SLACK * (D.allowance + a.exact.dual_allowance(r.x, r.y)) + 1e-9 * (abs(D.value) + abs(r.primal))
            if violation > 1e-11:
                self._found("imprecise", "y violates its constraints", f"{self._told(a)}\nby {violation}")
            elif r.dual > D.value + allowed:
                self._found("imprecise", "dual above D(y)", f"{self._told(a)}\nD(y) = {D.value}, allowance {allowed}")

    def _check_together(self, answers: list[Answer]) -> None:
        objectives = [(a.objective.value, a.label) for a in answers if not outside_bounds(a.statement, a.result.x)]
        if conic.able(self.statement) and self.rng.random() < 0.15:
            point = conic.solve(self.statement)
            if point is not None:
                self.counts["solved by Clarabel"] += 1
                objectives.append((answers[0].exact.primal(*point).value, "Clarabel"))
        objectives = [(value, label) for value, label in objectives if not np.isnan(value)]
        if not objectives:
            return
        least, label = min(objectives)
        for a in answers:
            allowed = SLACK * a.exact.dual_allowance(a.result.x, a.result.y) + 4 * EPS * abs(least)
            if not a.result.status:  # x may be far from the solution, which enlarges the allowance
                allowed += SLACK * max(a.exact.dual_allowance(b.result.x, a.result.y) for b in answers
                                       if b.result.x.shape == a.result.x.shape)  # fmt: skip
            if a.result.dual > least + allowed:
                text = f"{self._told(a)}\n{label} has objective {least}, allowance {allowed}"
                self._found("wrong", f"dual above an objective ({a.label})", text)
            self.counts["certificates"] += 1

    def _told(self, a: Answer) -> str:
        r = a.result
        return (f"{a.label}: {a.statement}\n{r.status.name} primal {r.primal!r} dual {r.dual!r} gap {r.gap!r} "
                f"scale {r.scale!r} tol {r.tol:g}")  # fmt: skip

    def _found(self, kind: str, key: str, detail: str) -> None:
        if kind == "imprecise":  # the certificate may be right, but the stored x or y has another value
            self.counts[f"imprecise ({key})"] += 1
            return
        self.findings.append(Finding(kind, key, f"{self.statement}\n{detail}"))


def make(seed: int, number: int) -> Case:
    return Case(seed, number)
