"""A hundred values of l1, from the maximum to a hundredth of it: seconds until each is within 1e-6."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import southwell as sw
from _peers_cases import Case, objective
from _peers_fits import PATHS
from _peers_race import FAST, TARGETS, Entry, Judge, Run, Worker, climb, options
from _peers_report import write_rows
from _peers_worker import dense
from _timing import clock, shown

POINTS = 100


def our_path(problem: sw.Problem, l1s: np.ndarray, tol: float, threads: int):
    """Coefficients, a column for each l1, sparse or dense; by ``southwell.path`` if this version has it."""
    if not hasattr(sw, "path"):
        return one_by_one(problem, l1s, tol, threads)
    return sw.path(problem, l1s=l1s, tol=tol, max_epochs=10**6, **options(threads)).x.T


def one_by_one(problem: sw.Problem, l1s: np.ndarray, tol: float, threads: int, seconds: float | None = None):
    """One warm-started solve after the other."""
    coefs, result = np.empty((problem.n_features, l1s.size), order="F"), None
    for k, l1 in enumerate(l1s):
        here, limits = problem.with_penalty(sw.penalties.ElasticNet(l1)), {"max_epochs": 10**6, "max_seconds": seconds}
        result = sw.solve(here, tol=tol, warm_start=result, **limits, **options(threads))
        coefs[:, k] = result.x
    return coefs


def race_path(worker: Worker, folder: Path, case: Case, A, b, threads: int, limit: float) -> tuple[Judge, list[Entry]]:
    """Ours first, then the peers."""
    last = case.ask(A, b, threads)
    l1s = np.geomspace(last.l1 / case.strength, last.l1, POINTS)
    asks = [last._replace(l1=l1) for l1 in l1s]

    def value(coefs: np.ndarray, intercept: float) -> np.ndarray:
        return np.array([objective(A, b, case.loss, ask, coefs[:, k], intercept) for k, ask in enumerate(asks)])

    zero = objective(A, b, case.loss, last, np.zeros(A.shape[1]), 0.0)
    judge = Judge(value, np.full(POINTS, np.inf), zero)
    ours = Entry("southwell" if hasattr(sw, "path") else "southwell-loop")
    while not ours.runs or (len(ours.runs) < 3 and ours.runs[0].seconds < FAST):
        now = clock(threads)
        begun = now()
        coefs = our_path(sw.Problem(A, b, case.loss), l1s, TARGETS[-1], threads)  # from raw arrays
        seconds = now() - begun
        ours.runs.append(Run(TARGETS[-1], seconds, judge.see(dense(coefs), 0.0)))
    judge.see(one_by_one(sw.Problem(A, b, case.loss), l1s, 1e-10, threads, seconds=2.0), 0.0)
    patience = float(np.clip(20 * ours.runs[0].seconds, 10.0, 2 * limit))
    return judge, [ours] + [
        climb(worker, folder, "PATHS", last, name, peer, patience, judge, list(l1s))
        for name, peer in PATHS[case.model].items()
    ]


class PathStudy:
    """Paths, reported as they finish."""

    def __init__(self, given):
        self.given, self.table = given, []
        print(
            f"Seconds for {POINTS} values of l1, all within 1e-6; in brackets the worst error if one is not.",
            flush=True,
        )

    def add(self, worker: Worker, folder: Path, case: Case, A, b) -> None:
        judge, entries = race_path(worker, folder, case, A, b, self.given.threads, self.given.limit)
        target, told = TARGETS[-1], []
        for entry in sorted(entries, key=lambda entry: entry.seconds(target, judge)):
            seconds = entry.seconds(target, judge)
            told.append(f"{entry.name} {shown(seconds) if np.isfinite(seconds) else f'[{shown(entry.best(judge))}]'}")
            run = entry.reaching(target, judge)
            self.table.append(
                {
                    "case": case.name, "solver": entry.name, "seconds": seconds, "tol": run.tol if run else np.nan,
                    "worst_error": entry.best(judge), "first_fit": entry.first, "note": entry.note,
                }
            )  # fmt: skip
        print(f"{case.model} {case.data}: " + ", ".join(told), flush=True)

    def end(self) -> None:
        if self.table:
            write_rows(self.table, self.given.out / "paths.csv")
            print(f"paths.csv is in {self.given.out}")
