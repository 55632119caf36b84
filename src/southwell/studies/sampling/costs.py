"""Table 1 of Perekrestenko, Cevher and Jaggi 2017: what a move costs under each rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import methods, penalties, rules
from ...problem import Problem
from ..bench import Bench
from ..findings import Findings, Table
from ..machine import CLOCK
from ..runs import descent
from .races import lasso, signs

EACH_STEP = (rules.SupportSet, rules.Adaptive, rules.AdaUniform, rules.AdaGap)


def cost_of_moves(bench: Bench) -> Findings:
    """Microseconds a move: with all scores computed at every move, as the paper counts, and with scores that follow."""
    cases = {}
    A, labels = bench.data("mushrooms")
    cases["Lasso, mushrooms"] = (lasso(A, signs(labels), 0.05)[0], "primal")
    A, labels = bench.data("rcv1*", instead="synthetic")
    cases["Lasso, rcv1*"] = (lasso(A, signs(labels), 7e-4)[0], "primal")
    A, labels = bench.data("ionosphere")
    cases["SVM, ionosphere"] = (Problem(A, signs(labels), "hinge", penalties.ElasticNet(l2=0.1)), "dual")
    rows: list[dict[str, Any]] = []
    numbers: dict[str, dict[str, Any]] = {}
    for name, (problem, side) in cases.items():
        bench.say(name)
        coordinates = problem.n_features if side == "primal" else problem.n_samples
        moves = bench.pick(20, 5) * coordinates
        uniform = _pace(problem, side, "uniform", moves)
        numbers[name] = {"coordinates": coordinates, "uniform": uniform, "afresh": {}, "follow": {}}
        rows.append({"problem": name, "rule": "uniform", "us a move": uniform, "/ uniform": 1.0})
        for rule in ("importance", "gap_per_epoch"):
            own = _pace(problem, side, rule, moves)
            rows.append({"problem": name, "rule": rule, "us a move": own, "/ uniform": own / uniform})
        for kind in EACH_STEP:
            bench.say(f"{name}, {kind.name}")
            afresh = _pace(problem, side, kind(refresh_every=1), bench.pick(200, 50))
            follow = _pace(problem, side, kind(), moves)
            numbers[name]["afresh"][kind.name] = afresh / uniform
            numbers[name]["follow"][kind.name] = follow / uniform
            rows.append(
                {"problem": name, "rule": kind.name, "us a move": follow, "/ uniform": follow / uniform,
                 "us, all scores afresh": afresh, "afresh / uniform": afresh / uniform}
            )  # fmt: skip
    return Findings(tables=(Table("Microseconds a move", rows),), numbers={"costs": numbers})


def _pace(problem: Problem, side: str, rule: Any, moves: int) -> float:
    """Microseconds a move, the first ones included, from a cold start; the better of two runs."""
    paces = []
    for seed in (0, 1):
        method = descent(side, rule)
        algorithm = method.prepare(problem, methods.Start(np.zeros(problem.n_features)), seed).algorithm
        algorithm.settle()
        begun = CLOCK()
        algorithm.lead(moves)
        paces.append(1e6 * (CLOCK() - begun) / moves)
    return min(paces)
