"""What selection rules cost: python benchmarks/rules.py

An epoch of sampled rules against uniform; a step with updated scores against one that recomputes all. The experiments
of the papers on rules are ``southwell reproduce sampling hybrid``.
"""

from __future__ import annotations

import warnings

import numpy as np

import southwell as sw
from _timing import best, table
from southwell.studies.sampling.races import lasso
from southwell.testing.datasets import load_binary


def descent(side: str, rule, **options) -> sw.methods.CoordinateDescent:
    """Textbook coordinate descent, without shrinking and proximal terms."""
    return sw.methods.CoordinateDescent(
        **{"side": side, "rule": rule, "coupling": "mirror", "shrinking": False, "proximal": False, **options}
    )


def costs() -> None:
    news, labels = load_binary("20news")
    leukemia, types = load_binary("leukemia", standardise=True)
    ionosphere, signs = load_binary("ionosphere", standardise=True)
    net = sw.penalties.ElasticNet
    mushrooms = lasso(*load_binary("mushrooms"), 0.05)[0]
    cases = {
        "Lasso, mushrooms": (mushrooms, "primal"),
        "Lasso, leukemia": (sw.Problem(leukemia, types, penalty=net(0.1 * sw.lambda_max(leukemia, types))), "primal"),
        "ridge, leukemia": (sw.Problem(leukemia, types, penalty=net(l2=0.1)), "primal"),
        "SVM, ionosphere": (sw.Problem(ionosphere, signs, "hinge", net(l2=0.1)), "dual"),
        "logistic, ionosphere": (sw.Problem(ionosphere, signs, "logistic", net(l2=0.1)), "dual"),
        "Lasso 0.1, 20news": (sw.Problem(news, labels, penalty=net(0.1 * sw.lambda_max(news, labels))), "primal"),
        "SVM, 20news": (sw.Problem(news, labels, "hinge", net(l2=1e-4)), "dual"),
    }
    epoch_costs(cases)
    logistic = sw.Problem(news, labels, "logistic", net(0.1 * sw.lambda_max(news, labels, loss="logistic")))
    deep = sw.Problem(news, labels, penalty=net(0.01 * sw.lambda_max(news, labels)))
    step_costs(
        {
            "Lasso, mushrooms": (_slow(mushrooms), "primal", 300, 2000),
            "Lasso 0.1, 20news": (*cases["Lasso 0.1, 20news"], 20_000, 20_000),
            "Lasso 0.01, 20news": (deep, "primal", 20_000, 20_000),
            "L1 logistic 0.1, 20news": (logistic, "primal", 2000, 2000),
            "SVM, 20news": (*cases["SVM, 20news"], 11_314, 45_000),
        }
    )


def epoch_costs(cases) -> None:
    print("\nThe time of an epoch, and of an entry touched, relative to uniform sampling")
    rows = []
    for name, (problem, side) in cases.items():
        first, last = (2, 7) if problem.data.stored > 10**6 else (2, 102)
        seconds, entries = {}, {}
        for rule in ("uniform", "importance", "gap_per_epoch"):

            def run(epochs, rule=rule, problem=problem, side=side):
                return sw.solve(problem, method=descent(side, rule), tol=0, max_epochs=epochs, check_every=10**9)

            long, short = (best(lambda run=run, epochs=epochs: run(epochs), 3) for epochs in (last, first))
            seconds[rule] = long - short
            entries[rule] = run(last).history["entries"][-1] - run(first).history["entries"][-1]
        row = {"problem": name, "uniform ms": f"{1e3 * seconds['uniform'] / (last - first):.3f}"}
        for rule in ("importance", "gap_per_epoch"):
            time, work = seconds[rule] / seconds["uniform"], entries[rule] / entries["uniform"]
            row |= {rule: f"{time:.2f}", "entries" if rule == "importance" else "entries ": f"{work:.2f}"}
            row |= {"an entry" if rule == "importance" else "an entry ": f"{time / work:.2f}"}
        rows.append(row)
    print(table(rows), flush=True)


def step_costs(cases) -> None:
    print("\nMicroseconds a step: scores updated at every move, and all scores recomputed; at first, and later")
    rows = []
    for name, (problem, side, early, late) in cases.items():
        for follow, full in (
            (sw.rules.AdaGap(), sw.rules.AdaGap(refresh_every=1)),
            (sw.rules.Greedy(), sw.rules.Greedy(refresh_every=1)),
        ):
            first, then = _pace(problem, descent(side, follow, coupling="auto"), early, late)
            afresh, _ = _pace(problem, descent(side, full), 200, 1)
            rows.append(
                {
                    "problem": name, "rule": follow.name, "follow": f"{then:.1f}", "afresh": f"{afresh:.1f}",
                    "ratio": f"{afresh / then:.0f}", "ratio at first": f"{afresh / first:.0f}",
                }
            )  # fmt: skip
    print(table(rows), flush=True)


def _slow(problem: sw.Problem) -> sw.Problem:
    """A smaller l1, so that the solve takes thousands of moves."""
    return problem.with_penalty(sw.penalties.ElasticNet(problem.penalty.l1 / 50))


def _pace(problem: sw.Problem, method, early: int, late: int) -> tuple[float, float]:
    """Microseconds a move over the first moves, which fill the cache of columns, and over the next."""
    algorithm = method.prepare(problem, sw.methods.Start(np.zeros(problem.n_features)), 0).algorithm
    algorithm.settle()
    return tuple(1e6 * best(lambda n=n: algorithm.lead(n), 1) / n for n in (early, late))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    costs()
