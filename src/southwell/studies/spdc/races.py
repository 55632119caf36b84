"""Zhang and Xiao 2015, section 5: SPDC against batch and stochastic methods as l2 falls, and how ASDCA oscillates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...methods import FISTA, LBFGS, SAG, SPDC, AcceleratedSDCA
from ...penalties import ElasticNet
from ...problem import Problem
from ..findings import Findings, Race, Trace
from ..problems import ridge
from ..runs import descent, quietly

if TYPE_CHECKING:
    from ..bench import Bench

SETS = {"covtype": 581_012, "rcv1": 20_242, "news20": 19_996}  # n, by table 2
FILES = {"news20": "news20.binary"}
LARGE, SMALL = 1e-4, 1e-8  # the largest and the smallest l2
BATCH, STOCHASTIC = ("AFG", "L-BFGS"), ("SAG", "SDCA")
TITLE = "{name}, l2 = {l2:g}"
NOTES = (
    "Rows have length one, so that R = 1, and errors are in units of P(0).",
    "l2 is that of the paper times the n of its set over ours, so that n l2, and with it the conditioning, is the "
    "paper's.",
    "A pass is n samples, or an iteration of AFG and L-BFGS. Certificates are computed after every pass, on the clock.",
    "As in the paper ASDCA runs for l2 of 1e-6 and less.",
)


def entrants() -> dict[str, tuple[Any, str]]:
    """The methods of section 5 and their roles."""
    return {
        "SPDC": (SPDC(), "paper"),
        "AFG": (FISTA(), "baseline"),
        "L-BFGS": (LBFGS(), "baseline"),
        "SAG": (SAG(), "baseline"),
        "SDCA": (descent("dual"), "baseline"),
        "ASDCA": (AcceleratedSDCA(inner="accuracy"), "baseline"),
    }


def cases(bench: Bench, strengths: tuple[float, ...], most: int | None) -> Iterator[tuple[str, float, Problem]]:
    """The problems of the figures, each with its title and l2; ``most``: of so many rows."""
    for name, n in SETS.items():
        A, b = bench.data(FILES.get(name, name), binary=True, unit_rows=True, rows=most)
        stated = ridge(A, b, LARGE)
        for l2 in strengths:
            yield TITLE.format(name=name, l2=l2), l2, stated.with_penalty(ElasticNet(0.0, l2 * n / A.shape[0]))


def referee(problem: Problem, seconds: float) -> tuple[float, float]:
    """The best objective found by the default method and by ASDCA, and its certified distance from the optimum over
    P(0): with an l2 of 1e-8 neither of them is fast everywhere."""
    found = [quietly(problem, method=method, tol=1e-10, seconds=seconds, max_epochs=10**6)
             for method in ("auto", AcceleratedSDCA())]  # fmt: skip
    primal, dual = min(one.primal for one in found), max(one.dual for one in found)
    return primal, (primal - dual) / found[0].scale


def figures(bench: Bench) -> Findings:
    """Figures 1 and 2, in one: all methods, over epochs and seconds."""
    strengths = bench.pick((1e-4, 1e-5, 1e-6, 1e-7, 1e-8), (1e-4, 1e-6, 1e-8))
    most, limit = bench.pick(None, 4_000), bench.pick(4.0, 1.0)
    races, certified = [], {}
    for title, l2, problem in cases(bench, strengths, most):
        bench.say(f"{title}: the optimum")
        optimum, certified[title] = referee(problem, limit)
        traces = []
        for label, (method, role) in entrants().items():
            if label == "ASDCA" and l2 > 1e-6:
                continue
            bench.say(f"{title}: {label}")
            traces.append(bench.solve(problem, method, label, role, optimum, tol=1e-9, seconds=limit, check_every=1))
        races.append(Race(title, traces, (("epoch", "error"), ("seconds", "error")), "xy", {
            "epoch": "passes over the data", "error": "(P - P*) / P(0)"}))  # fmt: skip
    return Findings(races, numbers={"strengths": list(strengths), "optimum is certified to": certified}, notes=NOTES)


def synthetic(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows with variances j^-2, and b = sum_j a_ij + noise."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) / np.arange(1, d + 1)
    return A, A.sum(axis=1) + rng.normal(size=n)


def synthetic_ridge(bench: Bench) -> Findings:
    """Ridge regression on synthetic data whose Hessian is ill-conditioned."""
    n, d = bench.pick((5_000, 500), (1_000, 100))
    A, b = bench.made("synthetic ridge", *synthetic(n, d, bench.seed))
    limit, races = bench.pick(3.0, 0.5), []
    strengths = (1e-3, 1e-4, 1e-5, 1e-6)
    for l2 in strengths:
        problem, title = ridge(A, b, l2, "squared"), f"synthetic ridge, l2 = {l2:g}"
        exact = np.linalg.solve(A.T @ A / n + l2 * np.eye(d), A.T @ b / n)
        optimum, traces = problem.certify(exact).primal, []
        for label, (method, role) in entrants().items():
            bench.say(f"{title}: {label}")
            traces.append(bench.solve(problem, method, label, role, optimum, tol=1e-9, seconds=limit, check_every=1))
        races.append(Race(title, traces, (("epoch", "error"), ("seconds", "error")), "xy"))
    notes = (
        "The conference paper has no synthetic data. This experiment is modelled on that of the long version, "
        "arXiv:1409.3257; n, d and the strengths of the penalty are ours.",
    )
    return Findings(races, numbers={"strengths": list(strengths)}, notes=notes)


def oscillation(bench: Bench) -> Findings:
    """The latest objective of ASDCA and of SPDC after every epoch."""
    most, limit, epochs = bench.pick(None, 4_000), bench.pick(5.0, 1.5), bench.pick(150, 100)
    races = []
    for title, _, problem in cases(bench, (1e-6, 1e-8), most):
        optimum = referee(problem, limit)[0]
        traces: list[Trace] = []
        for label in ("SPDC", "ASDCA"):
            method, role = entrants()[label]
            bench.say(f"{title}: {label}, after every epoch")
            traces.append(bench.solve(problem, method, label, role, optimum, tol=1e-9, seconds=limit,
                                      max_epochs=epochs, check_every=1))  # fmt: skip
        races.append(Race(f"latest, {title}", traces, (("epoch", "latest"),), "y",
                          {"epoch": "passes over the data", "latest": "(P(x) - P*) / P(0), latest x"}))  # fmt: skip
    return Findings(races, notes=NOTES)
