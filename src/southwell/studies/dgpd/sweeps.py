"""Appendix B, table 1 and theorem 2.1 of Lei et al. 2017: strong penalties, and the cost as s, kappa and n grow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import methods, penalties
from ...lambda_max import lambda_max
from ...problem import Problem
from ...solve import ConvergenceWarning, solve
from ..bench import Bench
from ..findings import Findings, Table
from ..machine import CLOCK
from .contest import contest, supports
from .problems import METHODS, OURS, PAPERS_ORDER, against_the_rest, sector, strength

ALGORITHM_1 = methods.DGPD(active_sets=False, adapt=False, perturb=0)
COMPARED = (PAPERS_ORDER, OURS, "dual RCD")


def strengths(bench: Bench) -> Findings:
    """Sector with l1 and l2 up to values that hurt: nonzeros, errors of prediction, seconds to 1e-6."""
    A, labels = sector(bench)
    problem = Problem(A, against_the_rest(labels), "smooth_hinge")
    n, seconds = problem.n_samples, bench.pick(4.0, 1.0)
    top = lambda_max(problem) * n
    sweeps = {"l1": [(share * top, 0.01) for share in bench.pick((0.001, 0.01, 0.1, 0.5), (0.001, 0.03, 0.5))],
              "l2": [(0.1, l2) for l2 in bench.pick((0.01, 0.1, 1.0, 10.0, 100.0), (0.01, 1.0, 100.0))]}  # fmt: skip
    found: dict[str, list[dict[str, Any]]] = {}
    for name, values in sweeps.items():
        found[name] = []
        for l1, l2 in values:
            bench.say(f"l1 {l1:.3g}, l2 {l2:.3g}")
            stated = strength(problem, l1, l2)
            traces, best = contest(bench, stated, {label: METHODS[label] for label in COMPARED}, seconds)
            x, y = supports(best)
            row = {"l1": l1, "l2": l2, "nonzeros of x": x, "nonzeros of y": y}
            row["balanced error"] = _balanced(A @ best.x, problem.targets)
            row |= {trace.label: trace.reached(1e-6) for trace in traces}
            found[name].append(row)
    tables = [Table(f"Stronger {name}: seconds to 1e-6", rows) for name, rows in found.items()]
    return Findings(tables=tables, numbers={"sweeps": found, "limit": seconds})


def _balanced(margins: np.ndarray, targets: np.ndarray) -> float:
    """The mean over both classes of the share of wrong predictions; a margin of 0 is wrong."""
    wrong = margins * targets <= 0
    return float((wrong[targets > 0].mean() + wrong[targets < 0].mean()) / 2)


def costs(bench: Bench) -> Findings:
    """Iterations of algorithm 1, with the safe step, to a relative gap of 1e-3; and the time of one."""
    base = {"n": 100, "s": 10, "ratio": 1.0}
    sweeps = {
        "s": [base | {"s": s} for s in bench.pick((5, 10, 20, 40), (5, 20))],
        "ratio": [base | {"ratio": ratio} for ratio in bench.pick((0.25, 1.0, 4.0), (0.25, 1.0))],
        "n": [base | {"n": n} for n in bench.pick((50, 100, 200, 400), (50, 100))],
    }
    numbers: dict[str, Any] = {"iterations": {}, "pace": []}
    tables = []
    for name, values in sweeps.items():
        rows = []
        for at in values:
            bench.say(f"algorithm 1, {at}")
            problem, A, s = planted(at["n"], 400, at["s"], at["ratio"], bench.seed)
            iterations, widest = _iterations(problem, A, bench.pick(12.0, 3.0))
            row = {"n": at["n"], "s": s, "kappa / n": at["ratio"], "most misplaced": widest, "iterations": iterations}
            rows.append(row | {"/ (s (1 + 10 kappa / n))": iterations / (s * (1 + 10 * at["ratio"]))})
        numbers["iterations"][name] = rows
        tables.append(Table(f"Iterations to a relative gap of 1e-3, as {name} grows", rows))
    for k in bench.pick((1, 2, 4, 8), (1, 2, 4)):
        bench.say(f"algorithm 1, {250 * k} x {250 * k}")
        us, entries = _pace(planted(250 * k, 250 * k, 10, 1.0, bench.seed)[0])
        numbers["pace"].append({"n + d": 500 * k, "us": us, "entries": entries})
    tables.append(Table("Microseconds and entries touched, an iteration", numbers["pace"]))
    return Findings(tables=tables, numbers=numbers)


def planted(n: int, d: int, s: int, ratio: float, seed: int) -> tuple[Problem, np.ndarray, int]:
    """Squared loss on dense rows of length one, about s nonzeros, kappa / n = ratio; A; the nonzeros of the answer."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    A /= np.linalg.norm(A, axis=1)[:, None]
    x = np.zeros(d)
    x[rng.permutation(d)[:s]] = np.where(rng.random(s) < 0.5, -1.0, 1.0) * np.sqrt(d)
    stated = Problem(A, A @ x + 0.1 * rng.normal(size=n))
    l2, top = 1 / (ratio * n), lambda_max(stated)
    low, high = 0.0, top
    for _ in range(25):  # fewer nonzeros as l1 grows
        l1 = (low + high) / 2
        problem = stated.with_penalty(penalties.ElasticNet(l1, l2))
        found = _nonzeros(problem)
        if found == s:
            break
        low, high = (l1, high) if found > s else (low, l1)
    return problem, A, max(found, 1)


def _nonzeros(problem: Problem) -> int:
    return int(solve(problem, tol=1e-9).nonzeros)


def _algorithm(problem: Problem) -> Any:
    algorithm = ALGORITHM_1.prepare(problem, methods.Start(np.zeros(problem.n_features)), 0).algorithm
    algorithm.settle()
    return algorithm


def _iterations(problem: Problem, A: np.ndarray, seconds: float) -> tuple[float, int]:
    """Iterations to a relative gap of 1e-3, infinite if they take longer; and the most x_j unlike xbar_j."""
    algorithm, done, widest, begun = _algorithm(problem), 0, 0, CLOCK()
    l1, l2, _, _ = problem.penalty.by_coefficient(problem.n_features, False)
    unit = problem.certify(np.zeros(problem.n_features)).primal
    while CLOCK() - begun < seconds:
        algorithm.lead(more := max(1, done // 20))
        done += more
        x, y = algorithm.point()
        z = -A.T @ y / problem.n_samples
        best = np.sign(z) * np.maximum(np.abs(z) - l1, 0.0) / l2
        widest = max(widest, int(np.count_nonzero(np.abs(best - x) > 1e-12)))
        if problem.certify(x, y).gap <= 1e-3 * unit:
            return float(done), widest
    return float("inf"), widest


def _pace(problem: Problem) -> tuple[float, float]:
    """Microseconds an iteration, the best of three; and entries touched."""
    algorithm, paces = _algorithm(problem), []
    algorithm.lead(100)
    for _ in range(3):
        begun = CLOCK()
        algorithm.lead(500)
        paces.append(1e6 * (CLOCK() - begun) / 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        history = solve(problem, method=ALGORITHM_1, tol=0.0, max_epochs=3, check_every=1).history
    iterations = max(problem.n_samples, problem.n_features) * (history["epoch"][-1] - history["epoch"][0])
    return min(paces), float((history["entries"][-1] - history["entries"][0]) / iterations)
