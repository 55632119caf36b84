"""Yu, Lin, Yang 2015, section 6.1: DSPDC against SPDC and SDCA on factorised data, Lambda, and the cost of a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data import Factorised
from ..methods import DSPDC, FISTA, SPDC, CoordinateDescent
from ..methods.dspdc import safe_scale
from ..problem import Problem
from ..sketch import sketch_features
from ._costs import seconds_a_move
from ._rows import quietly, ridge
from .findings import Findings, Race, Table

if TYPE_CHECKING:
    from .bench import Bench

SIZES = ((5_000, 100, 50, 20), (10_000, 100, 50, 50), (10_000, 500, 50, 50))  # n, p, q, d of figure 1
PENALTIES = ((1e-3, 1e-2), (1e-6, 1e-5))  # l1, l2
SETS = {"covtype": (28, 27), "rcv1": (58, 49), "real-sim": (27, 42)}  # m and q of figure 2, near divisors of n and p
FORMED = 6e7  # entries of a product U V that may be formed
SDCA_ROWS = (
    "SDCA forms each row of U V when it reads it."
    if CoordinateDescent.takes_factors
    else "SDCA reads the rows of U V, formed before the clock starts, where they fit into memory."
)
VIEWS = (("seconds", "error"), ("epoch", "error"))


def sparse_model(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X and b of section 6.1: a logistic model with 50 coefficients of one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-X[:, :50].sum(axis=1))), 1.0, -1.0)


def descent() -> CoordinateDescent:
    """SDCA as printed: uniform draws, and nothing beside."""
    return CoordinateDescent("dual", "uniform", coupling="mirror", shrinking=False, proximal=False)


def spdc(m: int, p: int) -> Any:
    """SPDC with batches of m on U V: every iteration moves all p columns."""
    return SPDC(batch=m) if SPDC.takes_factors else DSPDC(rows=m, columns=p)


def formed(factors: Factorised) -> np.ndarray | None:
    """U V, unless it is too large."""
    U: Any = factors.U
    V: Any = factors.V
    return np.ascontiguousarray(U @ V) if U.shape[0] * V.shape[1] <= FORMED else None


def for_rows(factors: Factorised, b: np.ndarray, l2: float, l1: float) -> Problem | None:
    """The problem as SDCA takes it: with rows formed from the factors one by one, or else with U V; None if neither."""
    if CoordinateDescent.takes_factors:
        return ridge(factors, b, l2, l1=l1)
    A = formed(factors)
    return None if A is None else ridge(A, b, l2, l1=l1)


def race(bench: Bench, title: str, factors: Factorised, b: np.ndarray, sizes: tuple[int, int],
         penalty: tuple[float, float], limit: float) -> Race:  # fmt: skip
    """DSPDC, SPDC, SDCA, and FISTA, which is not in the paper."""
    (m, q), (l1, l2) = sizes, penalty
    problem = ridge(factors, b, l2, l1=l1)
    bench.say(f"{title}: the optimum")
    best = quietly(problem, method="fista", tol=1e-11, max_seconds=3 * limit, max_epochs=10**6)
    entrants = {
        "DSPDC": (DSPDC(rows=m, columns=q), "paper"),
        "DSPDC, 32 x 32": (DSPDC(), "ours"),
        "SPDC": (spdc(m, problem.n_features), "baseline"),
        "FISTA": (FISTA(), "baseline"),
    }
    traces = []
    for label, (method, role) in entrants.items():
        bench.say(f"{title}: {label}")
        traces.append(bench.solve(problem, method, label, role, best.primal, tol=1e-9, seconds=limit, max_epochs=10**7))
    rows = for_rows(factors, b, l2, l1)
    if rows is not None:
        bench.say(f"{title}: SDCA")
        traces.append(
            bench.solve(rows, descent(), "SDCA", "baseline", best.primal, tol=1e-9, seconds=limit, max_epochs=10**7)
        )
    caption = f"m = {m}, q = {q}, l1 = {l1:g}, l2 = {l2:g}; the optimum is certified to {best.relative_gap:.1e} of P(0)"
    return Race(title, traces, VIEWS, "y", {"error": "(P - P*) / P(0)"}, caption)


NOTES = (
    "SPDC moves all columns in an iteration, by the same code as DSPDC.",
    SDCA_ROWS,
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
            races.append(race(bench, title, factors, b, (1, q), penalty, bench.pick(3.0, 0.8)))
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


def largest_block(A: np.ndarray, m: int, q: int, rng: np.random.Generator, tries: int = 200) -> float:
    """A lower bound of Lambda_{q,m}: exact for m = 1, where it is the sum of the q largest squares of a row."""
    squares = A * A
    if m == 1:
        return float(np.sort(squares, axis=1)[:, -q:].sum(axis=1).max())
    found = 0.0
    for k in range(tries):
        J = rng.choice(A.shape[1], q, replace=False) if k % 2 else np.argsort(squares.sum(axis=0))[-q:]
        I = rng.choice(A.shape[0], m, replace=False) if k % 4 > 1 else np.argsort(squares[:, J].sum(axis=1))[-m:]
        found = max(found, float(np.linalg.norm(A[np.ix_(I, J)], ord=2)) ** 2)
    return found


def uneven(bench: Bench) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Data of figure 1, formed; then with columns, and with entries, of very different sizes."""
    n, p = bench.pick((5_000, 100), (1_000, 60))
    X, b = sparse_model(n, p, bench.seed)
    A = formed(sketch_features(X, 20, seed=bench.seed))
    assert A is not None
    yield "figure 1, U V", A, b
    yield "gaussian", X, b
    yield "columns of size 1 / j", X / np.arange(1, p + 1), b
    rng = np.random.default_rng(bench.seed)
    yield "entries of heavy tails", X * rng.pareto(2.0, X.shape), b
    spiked = 0.01 * X
    spiked[: n // 100, 0] = 10.0
    yield "a few large entries", spiked, b


def scales(bench: Bench) -> Findings:
    """Lambda: the bound ("safe") against the paper's m q R^2 / p ("usual")."""
    rows: list[dict[str, Any]] = []
    limit, target = bench.pick(2.0, 0.7), 1e-6
    for name, A, b in uneven(bench):
        problem, rng = ridge(A, b, 1e-2, l1=1e-3), np.random.default_rng(bench.seed)
        best = quietly(problem, tol=1e-11)
        R = float(np.linalg.norm(A, axis=1).max())
        for m, q in ((1, 1), (1, A.shape[1] // 2), (16, 16)):
            row: dict[str, Any] = {"data": name, "m": m, "q": q, "usual": m * q * R**2 / A.shape[1],
                                   "safe": safe_scale(problem, m, q), "found": largest_block(A, m, q, rng)}  # fmt: skip
            for kind in ("usual", "safe"):
                bench.say(f"Lambda, {name}, m = {m}, q = {q}, {kind}")
                method = DSPDC(rows=m, columns=q, scale=kind)
                result = quietly(
                    problem, method=method, tol=0.0, max_epochs=10**7, max_seconds=limit, check_every=1,
                    callback=lambda at, goal=best.primal + target * best.scale: at.primal <= goal,
                )  # fmt: skip
                there = result.primal - best.primal <= target * best.scale
                row[f"epochs, {kind}"] = float(result.epochs) if there else np.inf
                row[f"error, {kind}"] = (result.primal - best.primal) / best.scale
            rows.append(row)
    return Findings(
        tables=(Table(f"Lambda and epochs to (P - P*) / P(0) <= {target:g}", rows),),
        numbers={"scales": rows},
        notes=("found is the largest squared norm of a block that was found: exact for m = 1, else a lower bound.",),
    )


def costs(bench: Bench) -> Findings:
    """Microseconds an iteration on A = U V as n and p, then k (m + q), double."""
    entries = bench.pick(2e8, 4e7)
    shapes = [(n, n // 5, 50, 1, 20) for n in (10_000, 20_000, 40_000, 80_000)]
    sizes = [(10_000, 4_000, k, m, q) for k, m, q in ((20, 16, 16), (50, 16, 16), (50, 64, 64), (100, 64, 64),
                                                      (100, 256, 256), (50, 1, 511), (50, 511, 1))]  # fmt: skip
    found: dict[str, list[dict[str, Any]]] = {"by shape": [], "by size": []}
    for name, cases in (("by shape", shapes), ("by size", sizes)):
        for n, p, k, m, q in cases:
            bench.say(f"an iteration of DSPDC, n = {n}, p = {p}, k = {k}, m = {m}, q = {q}")
            rng = np.random.default_rng(bench.seed)
            factors = Factorised(rng.normal(size=(n, k)), rng.normal(size=(k, p)) / k)
            problem = ridge(factors, np.where(rng.random(n) < 0.5, 1.0, -1.0), 1e-3, l1=1e-4)
            seconds = seconds_a_move(problem, DSPDC(rows=m, columns=q), int(entries / (k * (m + q)) / 5))
            found[name].append({"n": n, "p": p, "k": k, "m": m, "q": q, "k (m + q)": k * (m + q),
                                "microseconds": 1e6 * seconds})  # fmt: skip
    return Findings(
        tables=(Table("n and p double", found["by shape"]), Table("k (m + q) grows", found["by size"])), numbers=found
    )
