"""Several methods on one problem, and the optimum that their errors are measured against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...problem import Problem
from ...result import Result
from ..bench import Bench
from ..findings import Race, Trace
from ..runs import quietly
from .problems import LABELS, METHODS, OURS, VIEWS

PROVEN = 1e-7
"""Relative to P*. What is proven of an optimum beyond this makes no difference to the targets 1e-3 and 1e-6."""


def solved(problem: Problem, method: Any, seconds: float, tol: float = 1e-6, **options: Any) -> Result:
    """The answer of a method to this relative gap, or what it has in this time."""
    return quietly(problem, seconds=seconds, method=method, tol=tol, max_epochs=10**6, **options)


def supports(best: Result) -> tuple[int, int]:
    """The nonzeros of x and y."""
    return int(best.nonzeros), int(np.count_nonzero(np.asarray(best.y)))


def contest(bench: Bench, problem: Problem, methods: Mapping[str, tuple[str, Any]], seconds: float,
            tol: float = 1e-9) -> tuple[list[Trace], Result]:  # fmt: skip
    """Traces of methods, given by label with their roles, and the best answer. Errors are relative to P*; runs end at a
    gap of ``tol P(0)``.

    On large sets neither the default method nor DGPD may prove the optimum in the time they have. Then errors are
    measured against the best point that any run has found, and none is told below what is proven of that point.
    """
    bench.say("optimum")
    best = solved(problem, "auto", min(2 * seconds, 20.0), 1e-10)
    lower = best.dual
    if best.primal - lower > PROVEN * best.primal:
        bench.say("optimum, by DGPD")
        other = solved(problem, METHODS[OURS][1], min(5 * seconds, 60.0), 1e-10, warm_start=best)
        lower = max(lower, other.dual)
        best = other if other.primal <= best.primal else best
    traces = [
        bench.solve(problem, method, label, role, best.primal, seconds=seconds, unit=best.primal, tol=tol)
        for label, (role, method) in methods.items()
    ]
    settled, sure = against_the_best(traces, lower / best.primal)
    if sure > PROVEN:
        bench.notes.append(f"An optimum is proven to a relative gap of {sure:.1e}; smaller errors are shown as this.")
    return settled, best


def against_the_best(traces: Iterable[Trace], lower: float) -> tuple[list[Trace], float]:
    """Errors against the best point of all traces, none below what is proven of it; and that.

    Errors come in units of a reference value P, against which they were measured, and so does ``lower``, a bound of the
    optimum: it is 1 if P is the optimum.
    """
    runs = list(traces)
    least = min([0.0, *(float(np.min(run.columns["error"])) for run in runs)])
    lower = max([lower, *(1 - float(np.min(run.columns["dual_error"])) for run in runs)])
    sure = max((1 + least - lower) / (1 + least), 0.0)
    floor = sure if sure > PROVEN else 0.0
    settled = []
    for run in runs:
        changed = {name: np.maximum((run.columns[name] - least) / (1 + least), floor) for name in ("error", "latest")}
        settled.append(replace(run, columns={**run.columns, **changed}))
    return settled, sure


def race(bench: Bench, title: str, problem: Problem, seconds: float) -> tuple[Race, tuple[int, int]]:
    """All methods on one problem, and the nonzeros of x and y at the optimum."""
    bench.say(title)
    traces, best = contest(bench, problem, METHODS, seconds)
    nonzeros = supports(best)
    caption = f"{problem.n_samples} x {problem.n_features}; {nonzeros[0]} of x and {nonzeros[1]} of y are not zero."
    return Race(title, traces, VIEWS, "y", LABELS, caption), nonzeros
