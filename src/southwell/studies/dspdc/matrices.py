"""Yu, Lin, Yang 2015, sections 6.2 and 6.3: matrix risks and multi-task metric learning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...losses import SmoothHinge
from ...metric._neighbours import triplets
from ...metric._risk import MatrixRisk
from ...solve import ConvergenceWarning
from ..datasets import Missing
from ..findings import Findings, Race, Table
from ..stopwatch import Stopwatch
from .matrix_traces import THEORY, entrants, matrix_traces, told, tuned

if TYPE_CHECKING:
    from ..bench import Bench

SIZES = ((5, 50), (50, 5), (20, 20))  # m, q of figure 3, for n = p = 100
PARTS = ((20, 2_000), (20, 4_000), (40, 8_000))  # q of 101 blocks and m of 1,142,658 triplets, of figure 4
FOR_RISKS = tuple((s * k, s / k) for s in (1.0, 3.0) for k in (1.0, 10.0, 100.0))  # factors of the steps, to be tuned
FOR_METRICS = tuple((s * k, s / k) for s in (3.0, 10.0, 30.0) for k in (0.3, 1.0))
BLOCKS, TRIPLETS = 101, 1_142_658
VIEWS = (("seconds", "error"), ("eigendecompositions", "error"))
AXES = {"error": "(P - P*) / (P at the start - P*)"}
NOTES = (
    "Errors are in units of that at the start. Seconds are those of the processor, on one thread, without those of the "
    "objective.",
    'The paper does not say how it chose the steps. "theory" are those of the theorems, for norms measured on a few '
    'blocks; "tuned" are the best of six pairs of factors of primal and dual steps, of three for SDCA.',
    "FISTA is not in the paper.",
)


def reference(risk: MatrixRisk, method: str, seconds: float) -> tuple[float, float]:
    """The objective of a method that computes full gradients, and its certified distance from the optimum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = risk.solve(method=method, tol=1e-9, max_epochs=10**6, n_threads=1, **Stopwatch(seconds).options)
    return best.primal, best.relative_gap


def random_matrices(d: int, n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian matrices, made symmetric, which does not change their inner products with symmetric matrices, and the
    signs of the sums of their traces. float32 if float64 would need more than 2 GB."""
    rng = np.random.default_rng(seed)
    D = np.empty((n, p, d, d), dtype=np.float32 if 8 * n * p * d * d > 2e9 else np.float64)
    for own in D:
        G = rng.standard_normal((p, d, d), dtype=own.dtype)
        own[:] = (G + G.swapaxes(1, 2)) / 2
    return D, np.where(np.einsum("npii->n", D) > 0, 1.0, -1.0)


def figure_3(bench: Bench) -> Findings:
    """Random matrices: n = p = 100 blocks of 100 x 100 and of 200 x 200."""
    n = bench.pick(100, 40)
    races, best, certified = [], {}, {}
    for number, d in enumerate(bench.pick((100, 200), (40, 80))):
        bench.say(f"random matrices, d = {d}")
        D, b = bench.made(f"{n} x {n} random matrices, d = {d}", *random_matrices(d, n, n, bench.seed))
        risk = MatrixRisk(D, b, "smooth_hinge", l2=0.01)
        optimum, certified[f"d = {d}"] = reference(risk, "dual_fista", bench.pick((12.0, 30.0), (2.0, 4.0))[number])
        limit = bench.pick((20.0, 40.0), (0.5, 1.0))[number]
        for m, q in SIZES:
            m, q = max(1, m * n // 100), max(1, q * n // 100)
            methods = entrants(m, q)
            if (m, q) not in best:  # tuned once, at the first d
                bench.say(f"d = {d}, (m, q) = ({m}, {q}): steps are tuned")
                best[m, q] = tuned(bench, risk, methods, optimum, limit / 3, FOR_RISKS)
            steps = ({"theory": THEORY} if number == 0 else {}) | {"tuned": best[m, q]}
            title = f"d = {d}, (m, q) = ({m}, {q})"
            traces = matrix_traces(bench, risk, title, methods, steps, optimum, limit)
            races.append(Race(title, traces, VIEWS, "y", AXES))
        del D, risk
    notes = ("Steps are tuned at the smaller d.", *NOTES)
    rows = told({f"(m, q) = {size}": stretches for size, stretches in best.items()})
    return Findings(races, (Table("factors of the steps, tuned", rows),), {"optimum is certified to": certified}, notes)


def pairs_of_classes(y: np.ndarray, seed: int) -> np.ndarray:
    """Each pair of classes is a task; the points of a class are divided among its tasks."""
    rng, tasks, classes = np.random.default_rng(seed), np.full(len(y), -1), np.unique(y)
    for one in classes:
        own = [t for t, pair in enumerate(combinations(classes, 2)) if one in pair]
        members = rng.permutation(np.flatnonzero(y == one))
        tasks[members] = np.resize(own, members.size)
    return tasks


def tens_of_classes(y: np.ndarray) -> np.ndarray:
    """Ten classes after the other are a task, as in the paper."""
    return np.asarray(np.unique(y, return_inverse=True)[1] // 10)


def projected(X: np.ndarray, d: int) -> np.ndarray:
    """Principal components, at most so many."""
    from sklearn.decomposition import PCA

    X = np.asarray(X, dtype=np.float64)
    return X if X.shape[1] <= d else np.asarray(PCA(d, random_state=0).fit_transform(X))


def many_tasks(X: np.ndarray, y: np.ndarray, tasks: np.ndarray) -> MatrixRisk:
    """Equation (33), with three neighbours and six impostors a point, as many triplets a point as in the paper; lengths
    in units of the root mean square distance of neighbours."""
    order = np.argsort(tasks, kind="stable")
    X, codes, places = X[order], np.unique(y, return_inverse=True)[1][order], tasks[order]
    starts = np.searchsorted(places, np.arange(places[-1] + 2))
    T, d = len(starts) - 1, X.shape[1]
    data = triplets(X, codes, starts, [np.asarray] * T, 3, 6, 1)
    data.measured_in(data.unit())
    centre = np.zeros((T + 1, d, d))
    centre[0] = np.eye(d)
    l2 = np.array([0.01] + [0.1] * T)
    return MatrixRisk(data, np.ones(data.n_samples), SmoothHinge(1.0), l2, centre=centre, linear=data.pull())


def clouds(tasks: int, each: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and classes, ten a task: a Gaussian cloud for each, longer in some directions, so that they overlap."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10 * tasks, 1, d)) * rng.uniform(0.1, 0.9, d)
    X = centres + rng.normal(size=(10 * tasks, each, d)) * rng.uniform(0.2, 1.4, d)
    return X.reshape(-1, d), np.repeat(np.arange(10 * tasks), each)


def objects(bench: Bench, d: int) -> tuple[np.ndarray, np.ndarray]:
    """60 % of aloi, as in the paper; without the file as many clouds. Generated histograms are not of use: all triplets
    are satisfied by the Euclidean metric."""
    try:
        A, y = bench.data("aloi", instead="nothing")
    except Missing:
        X, y = clouds(bench.pick(100, 10), bench.pick(64, 20), d, bench.seed)
        return bench.made("aloi", X, y, "a Gaussian cloud for each class, instead of aloi")
    X = np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
    kept = np.random.default_rng(bench.seed).random(len(y)) < 0.6
    if bench.quick:
        kept &= (tens_of_classes(y) < 10) & (np.arange(len(y)) % 3 == 0)
    return projected(X[kept], d), y[kept]


def sets(bench: Bench) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Name, points, labels and tasks of each data set."""
    d = bench.pick(128, 64)
    for name in bench.pick(("usps", "aloi", "mnist"), ("usps", "aloi")):
        if name == "aloi":
            X, y = objects(bench, d)
            yield name, X, y, tens_of_classes(y)
        else:
            A, y = bench.data(name)
            most = bench.pick(60_000, 2_000)
            yield name, projected(A[:most], d), y[:most], pairs_of_classes(y[:most], bench.seed)


def figure_4(bench: Bench) -> Findings:
    """Metrics of many tasks: digits, and aloi or its stand-in."""
    races, best, certified, shapes = [], {}, {}, []
    for name, X, y, tasks in sets(bench):
        bench.say(f"{name}: triplets")
        risk = many_tasks(X, y, tasks)
        shapes.append({"set": name, "triplets": risk.n_samples, "tasks": risk.n_blocks - 1, "d": risk.size})
        first = not shapes[1:]
        optimum, certified[name] = reference(risk, "fista", bench.pick(10.0 if first else 40.0, 2.0))
        limit = bench.pick(15.0 if first else 30.0, 1.2)
        for number, (part, rows) in enumerate(PARTS):
            if number == 0 and (bench.quick or name == "mnist"):
                continue
            q, m = (max(1, round(share)) for share in (part / BLOCKS * risk.n_blocks, rows / TRIPLETS * risk.n_samples))
            methods = entrants(m, q)
            if first:
                bench.say(f"{name}, (q, m) = ({q}, {m}): steps are tuned")
                best[number] = tuned(bench, risk, methods, optimum, limit / 4, FOR_METRICS)
            steps = ({"theory": THEORY} if first or bench.quick else {}) | {"tuned": best[number]}
            title = f"{name}, (q, m) = ({q}, {m})"
            traces = matrix_traces(bench, risk, title, methods, steps, optimum, limit)
            races.append(Race(title, traces, VIEWS, "y", AXES))
        del risk
    rows_told = told({f"(q, m) = {PARTS[number]}": found for number, found in best.items()})
    notes = (
        "Shares of blocks and of triplets are the paper's. On digits each pair of classes is a task.",
        "Steps are tuned on the first set.", *NOTES,
    )  # fmt: skip
    tables = (Table("data", shapes), Table("factors of the steps, tuned", rows_told))
    return Findings(races, tables, {"optimum is certified to": certified}, notes)
