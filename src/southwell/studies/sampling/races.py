"""Figures 1 to 4 of Perekrestenko, Cevher and Jaggi 2017: sampling rules on the Lasso and on the SVM.

Coordinates are features for the Lasso and samples for the SVM, as in the paper. An epoch is as many moves as there are
coordinates. ``operations`` counts as the paper's figure 2 does: a vector operation for each move, and one for each
coordinate whenever all scores are computed, in units of the number of coordinates. ``passes`` are stored entries read
or written by this implementation, whose scores follow every move, over the number of stored entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ... import penalties
from ...lambda_max import lambda_max
from ...problem import Problem
from ...result import Result
from ..bench import Bench
from ..findings import Findings, Race, Trace
from ..machine import CLOCK
from ..runs import descent, quietly

RULES = ("uniform", "importance", "gap_per_epoch", "support_set", "adaptive", "ada_uniform", "ada_gap")
FIXED = RULES[:3]  # those of figures 2 to 4: the distribution stays for an epoch at least
EACH_STEP = RULES[3:]
TEXTS = ("rcv1", "20news")  # of figures 3 and 4; the second is ours
TARGETS = (1e-3, 1e-6)

VIEWS = (("epoch", "gap"), ("epoch", "error"), ("operations", "gap"), ("passes", "gap"), ("seconds", "gap"))
LABELS = {
    "gap": "duality gap / P(0)",
    "error": "suboptimality / P(0)",
    "operations": "vector operations / coordinates",
    "passes": "entries touched / stored entries",
    "seconds": "seconds without certificates",
}
SYNTHETIC = {"rcv1*": {"instead": "synthetic"}}  # of the same shape, where other text would have another
NOTES = (
    "The gap of the Lasso is that of a rescaled dual point; the paper's, with the bounded domain of section 4.1, is "
    "larger. It is taken between the best primal and the best dual value so far.",
    "Where no lambda of the paper gives a support of 10 to 15 %, one that does is taken; captions tell.",
    "Means over runs are geometric for gaps and suboptimality, arithmetic for costs.",
)


def signs(labels: np.ndarray) -> np.ndarray:
    """Targets -1 and +1; the largest label is +1."""
    return np.where(labels == np.max(labels), 1.0, -1.0)


def standardised(A: Any) -> np.ndarray:
    """Dense columns of mean 0 and variance 1."""
    dense = np.asarray(A.toarray() if sp.issparse(A) else A, dtype=np.float64)
    spread = dense.std(axis=0)
    return np.asarray((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def lasso(A: Any, b: np.ndarray, strength: float) -> tuple[Problem, float, float]:
    """The Lasso with the paper's lambda, and the share of features in its support, in the paper 10 to 15 %; and
    its l1.

    (20) has neither 1/2 nor 1/n. Per sample it is our problem with l1 = lambda/2; with a half, l1 = lambda. The first
    of these with such a support is taken, else the l1 on a grid that comes nearest.
    """
    at, found = Problem(A, b), []
    for l1 in (strength / 2, strength, *np.geomspace(0.5, 1e-3, 20) * lambda_max(A, b)):
        problem = at.with_penalty(penalties.ElasticNet(l1=float(l1)))
        share = quietly(problem, tol=1e-6, max_epochs=5000).nonzeros / A.shape[1]
        if 0.10 <= share <= 0.15:
            return problem, share, float(l1)
        found.append((abs(np.log(max(share, 1e-9) / 0.125)), problem, share, float(l1)))
    return min(found, key=lambda one: one[0])[1:]


def mean_trace(bench: Bench, problem: Problem, side: str, rule: str, best: Result, *, seeds: int, epochs: int,
               seconds: float) -> Trace:  # fmt: skip
    """The mean of several runs, until the first of them has a relative gap of 1e-9."""
    runs = []
    for seed in range(bench.seed, bench.seed + seeds):
        bench.say(f"{side} side, {rule}, seed {seed}")
        runs.append(_run(problem, side, rule, best, seed, epochs, seconds))
    length = min(run["epoch"].size for run in runs)
    columns = {name: np.mean([run[name][:length] for run in runs], axis=0) for name in runs[0]}
    for name in ("gap", "error"):
        columns[name] = np.exp(np.mean([np.log(np.maximum(run[name][:length], 1e-16)) for run in runs], axis=0))
    return Trace(rule, "baseline" if rule == "uniform" else "paper", columns)


def _run(
    problem: Problem, side: str, rule: str, best: Result, seed: int, epochs: int, seconds: float
) -> dict[str, Any]:
    method = descent(side, rule)
    result = quietly(problem, method=method, tol=1e-9, max_epochs=epochs, seconds=seconds, check_every=1, seed=seed)
    history, last = result.history, int(result.history["epoch"][-1])
    begun = CLOCK()  # again, with no certificate but the last
    quietly(problem, method=method, tol=0.0, max_epochs=max(last, 1), check_every=10**9, seed=seed)
    alone = CLOCK() - begun
    work = history["entries"] + history["moves"]
    epoch = history["epoch"].astype(float)
    coordinates = problem.n_features if side == "primal" else problem.n_samples
    # O_A is P on the primal side and -D on the dual.
    error = history["primal"] - best.dual if side == "primal" else best.primal - history["dual"]
    return {
        "epoch": epoch,
        "operations": epoch * {"gap_per_epoch": 2}.get(rule, 1 + coordinates * (rule in EACH_STEP)),
        "passes": history["entries"] / problem.data.stored,
        "seconds": alone * work / max(work[-1], 1),
        "gap": history["gap"] / result.scale,
        "error": np.maximum(error, 0.0) / result.scale,
    }


def race(bench: Bench, title: str, problem: Problem, side: str, rules: tuple[str, ...], *, seeds: int, epochs: int,
         seconds: float, caption: str = "") -> Race:  # fmt: skip
    """All rules on one problem."""
    best = bench.optimum(problem)
    traces = [
        mean_trace(bench, problem, side, rule, best, seeds=seeds, epochs=epochs, seconds=seconds) for rule in rules
    ]
    return Race(title, traces, VIEWS, "y", LABELS, caption)


def figures_1_and_2(bench: Bench) -> Findings:
    """Lasso on mushrooms and rcv1*, SVM on ionosphere, each on the data as they are and standardised beside it."""
    options = {"seeds": bench.pick(5, 2), "epochs": bench.pick(400, 300), "seconds": bench.pick(3.0, 0.6)}
    races, supports = [], {}
    for name, strength in (("mushrooms", 0.05), ("rcv1*", 7e-4)):
        A, labels = bench.data(name, **SYNTHETIC.get(name, {}))
        forms = {"": A} | ({", standardised": standardised(A)} if name == "mushrooms" else {})
        for form, B in forms.items():
            problem, share, l1 = lasso(B, signs(labels), strength)
            supports[name + form] = share
            caption = f"l1 = {l1:.3g} of our units; {share:.0%} of the features are in the support."
            races.append(race(bench, f"Lasso, {name}{form}", problem, "primal", RULES, caption=caption, **options))
    A, labels = bench.data("ionosphere")
    for form, B in (("", A), (", standardised", standardised(A))):
        problem = Problem(B, signs(labels), "hinge", penalties.ElasticNet(l2=0.1))
        races.append(race(bench, f"SVM, ionosphere{form}", problem, "dual", RULES, caption="l2 = 0.1", **options))
    return Findings(races, numbers={"supports": supports}, notes=NOTES)


def figures_3_and_4(bench: Bench) -> Findings:
    """Lasso and SVM on the whole of rcv1, with the rules whose distribution stays for an epoch; and on real text."""
    options = {"seeds": bench.pick(3, 1), "epochs": bench.pick(150, 60), "seconds": bench.pick(8.0, 2.0)}
    l1 = 7e-4 / 2  # per sample, as (20) has it
    races, supports = [], {}
    for name in TEXTS:
        A, labels = bench.data(name, binary=True, instead="synthetic")
        b = signs(labels)
        first = Problem(A, b, penalty=penalties.ElasticNet(l1=l1))
        supports[name] = share = quietly(first, tol=1e-6).nonzeros / A.shape[1]
        caption = f"l1 = {l1:.3g} of our units; {share:.1%} of the features are in the support."
        races.append(race(bench, f"Lasso, {name}", first, "primal", FIXED, caption=caption, **options))
        second = Problem(A, b, "hinge", penalties.ElasticNet(l2=0.1))
        races.append(race(bench, f"SVM, {name}", second, "dual", FIXED, caption="l2 = 0.1", **options))
    return Findings(races, numbers={"supports": supports}, notes=(*NOTES, "The paper has rcv1 alone, not 20news."))
