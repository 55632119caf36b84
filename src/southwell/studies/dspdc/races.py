"""Yu, Lin, Yang 2015, section 6.1: DSPDC against SPDC and SDCA on factorised data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._data import Factorised
from ...methods import DSPDC, FISTA, SPDC
from ...sketch import sketch_features
from ..findings import Findings, Race
from ..problems import ridge
from ..runs import descent, quietly

if TYPE_CHECKING:
    from ..bench import Bench

SIZES = ((5_000, 100, 50, 20), (10_000, 100, 50, 50), (10_000, 500, 50, 50))  # n, p, q, d of figure 1
PENALTIES = ((1e-3, 1e-2), (1e-6, 1e-5))  # l1, l2
SETS = {"covtype": (28, 27), "rcv1": (58, 49), "real-sim": (27, 42)}  # m and q of figure 2, near divisors of n and p
VIEWS = (("seconds", "error"), ("epoch", "error"))


def sparse_model(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X and b of section 6.1: a logistic model with 50 coefficients of one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-X[:, :50].sum(axis=1))), 1.0, -1.0)


def race(bench: Bench, title: str, factors: Factorised, b: np.ndarray, sizes: tuple[int, int],
         penalty: tuple[float, float], limit: float) -> Race:  # fmt: skip
    """DSPDC, SPDC, SDCA, and FISTA, which is not in the paper."""
    (m, q), (l1, l2) = sizes, penalty
    problem = ridge(factors, b, l2, l1=l1)
    bench.say(f"{title}: the optimum")
    best = quietly(problem, method="fista", tol=1e-11, seconds=3 * limit, max_epochs=10**6)
    entrants = {
        "DSPDC": (DSPDC(rows=m, columns=q), "paper"),
        "DSPDC, 32 x 32": (DSPDC(), "ours"),
        "SPDC": (SPDC(batch=m), "baseline"),
        "FISTA": (FISTA(), "baseline"),
        "SDCA": (descent("dual"), "baseline"),
    }
    traces = []
    for label, (method, role) in entrants.items():
        bench.say(f"{title}: {label}")
        traces.append(bench.solve(problem, method, label, role, best.primal, tol=1e-9, seconds=limit, max_epochs=10**7))
    caption = f"m = {m}, q = {q}, l1 = {l1:g}, l2 = {l2:g}; the optimum is certified to {best.relative_gap:.1e} of P(0)"
    return Race(title, traces, VIEWS, "y", {"error": "(P - P*) / P(0)"}, caption)


NOTES = (
    "SPDC moves all columns in an iteration. With m = 1 it forms its row of U V; with more it multiplies with the "
    "factors, as DSPDC does.",
    "SDCA forms each row of U V when it reads it.",
    "FISTA, which multiplies with the factors, and blocks of 32 x 32 are not in the paper.",
)


def figure_1(bench: Bench) -> Findings:
    """Random factorised data: three shapes, two penalties."""
    sizes = bench.pick(SIZES, ((1_000, 100, 50, 20), (2_000, 100, 50, 50), (2_000, 500, 50, 50)))
    races = []
    for n, p, q, k in sizes:
        X, b = bench.made(f"figure 1, {n} x {p}", *sparse_model(n, p, bench.seed))
        factors = sketch_features(X, k, seed=bench.seed)
        for penalty in PENALTIES:
            title = f"n = {n}, p = {p}, d = {k}, l2 = {penalty[1]:g}"
            races.append(race(bench, title, factors, b, (1, q), penalty, bench.pick(12.0, 0.8)))
    return Findings(races, notes=NOTES)


def figure_2(bench: Bench) -> Findings:
    """Covtype, RCV1 and Real-sim, projected on 20 directions."""
    races, most = [], bench.pick(None, 4_000)
    for name, (m, q) in SETS.items():
        A, b = bench.data(name, binary=True, unit_rows=True, rows=most, instead="synthetic")
        factors = sketch_features(A, 20, seed=bench.seed)
        races.append(race(bench, name, factors, b, (m, q), (1e-4, 1e-2), bench.pick(9.0, 1.5)))
    notes = (
        "The paper does not print m and q of figure 2; ours are near divisors of n and p, and about equal.",
        "Rows have length one before the projection.",
        *NOTES,
    )
    return Findings(races, notes=notes)
