"""Zhang and Xiao 2015: theorems 1 and 2 on small problems, and table 1, the rates without smoothness."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import reference
from ...methods import SPDC
from ..findings import Findings, Table
from ..problems import ridge, unit_rows
from ..rates import LOSSES, Small, all_draws, all_shares
from ..runs import epochs_to, quietly
from .batches import planted

if TYPE_CHECKING:
    from ..bench import Bench

STRENGTHS = (1.0, 0.1, 0.001)


def theorems(bench: Bench) -> Findings:
    """The left side of theorems 1 and 2 over the right: at most 1 if they hold."""
    runs = bench.pick(200, 50)
    rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        for l2 in STRENGTHS:
            bench.say(f"theorems 1 and 2, {loss}, l2 = {l2:g}")
            rows += [first_theorem(loss, l2, m, bench.pick(3, 2)) for m in (1, 2, 5)]
            rows += [second_theorem(loss, l2, bench.pick(4, 3))]
            rows += [first_averaged(loss, l2, m, runs) for m in (1, 4, 24)]
            rows += [second_averaged(loss, l2, runs)]
    return Findings(
        tables=(Table("E[distance after t moves] / bound, the largest over t", rows),),
        numbers={"theorems": rows},
        notes=(
            "Draws of 5 samples are all tried, by the NumPy reference; on 24 samples the compiled method is averaged "
            f"over {runs} seeds.",
        ),
    )


def _row(theorem: int, loss: str, l2: float, m: int, how: str, ratios: list[float]) -> dict[str, Any]:
    return {"theorem": theorem, "loss": loss, "l2": l2, "batch": m, "how": how, "ratio": max(ratios)}


def first_theorem(loss: str, l2: float, m: int, most: int) -> dict[str, Any]:
    """Theorem 1 by all draws of 1, 2, ... batches."""
    small = Small.of(loss, l2, 5, 3)
    tau, sigma, theta = steps = reference.spdc_steps(small.norms, small.n, l2, small.gamma, m)
    far_x, far_y = 1 / (2 * tau) + l2, (1 / (4 * sigma) + small.gamma) / m
    start = small.distance(small.zero, far_x, (1 / (2 * sigma) + small.gamma) / m)
    ratios = []
    for t in range(1, most + 1):
        ends = all_draws(
            list(combinations(range(small.n), m)), t, lambda drawn: reference.spdc(*small.parts, drawn, steps)
        )
        ratios.append(small.distance(ends, far_x, far_y) / (theta**t * start))
    return _row(1, loss, l2, m, "all draws", ratios)


def second_theorem(loss: str, l2: float, most: int) -> dict[str, Any]:
    """Theorem 2, as printed, by all draws."""
    small = Small.of(loss, l2, 5, 3)
    tau, sigma, theta = steps = reference.spdc_steps(small.norms, small.n, l2, small.gamma, weighted=True)
    p = reference.spdc_probabilities(small.norms)
    far_x, far_y = 1 / (2 * tau) + l2, 7 / (16 * sigma) + 2 * small.gamma / small.n
    start = small.distance(small.zero, far_x, 1 / (2 * sigma) + 2 * small.gamma)
    ratios = []
    for t in range(1, most + 1):
        ends = all_draws(
            [[k] for k in range(small.n)], t,
            lambda drawn: reference.spdc(*small.parts, drawn, steps, probabilities=p),
        )  # fmt: skip
        ratios.append(small.distance(ends, far_x, far_y, all_shares(p, t)) / (theta**t * start))
    return _row(2, loss, l2, 1, "all draws", ratios)


def moves_for(theta: float) -> list[int]:
    """After which the bound has fallen by e, e^4 and e^10."""
    return [int(np.ceil(k / (1 - theta))) for k in (1, 4, 10)]


def first_averaged(loss: str, l2: float, m: int, runs: int) -> dict[str, Any]:
    """Theorem 1 by averages over runs of the compiled method."""
    small = Small.of(loss, l2, 24, 17)
    tau, sigma, theta = reference.spdc_steps(small.norms, small.n, l2, small.gamma, m)
    far_x, far_y = 1 / (2 * tau) + l2, (1 / (4 * sigma) + small.gamma) / m
    start = small.distance(small.zero, far_x, (1 / (2 * sigma) + small.gamma) / m)
    seeds = range(runs if m < small.n else 1)
    ratios = [small.distance(small.runs(SPDC(batch=m), t, seeds), far_x, far_y) / (theta**t * start)
              for t in moves_for(theta)]  # fmt: skip
    return _row(1, loss, l2, m, "averages", ratios)


def second_averaged(loss: str, l2: float, runs: int) -> dict[str, Any]:
    """Theorem 2, as printed, by averages."""
    small = Small.of(loss, l2, 24, 17)
    tau, sigma, theta = reference.spdc_steps(small.norms, small.n, l2, small.gamma, weighted=True)
    far_x, far_y = 1 / (2 * tau) + l2, 7 / (16 * sigma) + 2 * small.gamma / small.n
    start = small.distance(small.zero, far_x, 1 / (2 * sigma) + 2 * small.gamma)
    ratios = [small.distance(small.runs(SPDC(sampling="norms"), t, range(runs)), far_x, far_y) / (theta**t * start)
              for t in moves_for(theta)]  # fmt: skip
    return _row(2, loss, l2, 1, "averages", ratios)


CASES = {  # loss, l1, l2, and the exponent of 1 / eps in table 1
    "smooth loss, strongly convex g": ("smooth_hinge", 0.0, 1e-3, 0.0),
    "smooth loss, g not strongly convex": ("smooth_hinge", 1e-3, 0.0, 0.5),
    "non-smooth loss, strongly convex g": ("hinge", 0.0, 1e-3, 0.5),
    "non-smooth loss, g not strongly convex": ("hinge", 1e-3, 0.0, 1.0),
}


def table_1(bench: Bench) -> Findings:
    """Passes until P(x) - P* <= eps, with the perturbation delta = eps / C_1 of corollary 2."""
    n, d = bench.pick((1_000, 40), (400, 20))
    accuracies = [10 ** (-k / 2) for k in range(4, bench.pick(13, 11))]  # 1e-2 to 1e-6, or 1e-5
    rng = np.random.default_rng(bench.seed)
    A = unit_rows(rng.normal(size=(n, d)))
    b = planted(rng, A)
    rows: list[dict[str, Any]] = []
    for name, (loss, l1, l2, exponent) in CASES.items():
        problem = ridge(A, b, l2, loss, l1)
        best = quietly(problem, tol=1e-10, max_epochs=10**5)
        in_x, in_y = l2 == 0, loss == "hinge"
        C = in_x * float(best.x @ best.x) + in_y * 1.0  # ||x*||^2 + G^2, of what is perturbed
        for accuracy in accuracies:
            bench.say(f"table 1, {name}, accuracy {accuracy:g}")
            delta = accuracy / C if C else 0.0
            method = SPDC(perturb=(in_x * delta, in_y * delta), recentre=False)
            passes, _ = epochs_to(problem, method, best.primal, accuracy, bench.pick(30.0, 6.0))
            rows.append({"case": name, "exponent": exponent, "accuracy": accuracy, "passes": passes,
                         "theory": float(1 + theory(exponent, accuracy, C, l2, n))})  # fmt: skip
    return Findings(
        tables=(Table(f"passes to P - P* <= accuracy, {n} x {d}, rows of length one", rows),),
        numbers={"table 1": rows},
        notes=("theory is the formula of table 1 with its constants R = 1 and C_1, without the logarithm.",),
    )


def theory(exponent: float, accuracy: float, C: float, l2: float, n: int) -> float:
    """R / sqrt(n l2 gamma), where what is perturbed has delta = accuracy / C in place of l2, gamma or both."""
    delta = accuracy / C if C else 1.0
    firm = {0.0: l2, 0.5: (l2 or 1.0) * delta, 1.0: delta**2}[exponent]
    return float(1 / np.sqrt(n * firm))
