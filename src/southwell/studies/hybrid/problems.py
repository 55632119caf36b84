"""The problems and the methods of Fang, Fang, Yu and Li 2021. The paper does not give its regularisation strengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...graph._harmonic import Harmonic, classes_met
from ...lambda_max import lambda_max
from ...methods import AcceleratedCD, CoordinateDescent
from ...methods.base import Method
from ...penalties import ElasticNet
from ...problem import Problem
from ...rules import Greedy, Hybrid, MaxInnerProduct, Rule
from ..bench import Bench, thinned
from ..findings import Race
from ..runs import descent

BLOCKS = (2, 4, 8, 16)  # one block is uniform sampling

Error = Callable[[np.ndarray, np.ndarray], float]
Entry = tuple[str, Method]  # role, method

VIEWS = (("moves", "error"), ("total", "error"))
LABELS = {
    "moves": "moves",
    "total": "seconds, with clustering and index",
    "error": "suboptimality / initial",
    "mistakes": "share of test samples predicted wrongly",
}


def blobs(bench: Bench, features: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """50 x 5000: the columns are points of 8 clusters, with entries of mean square one. The targets are from a sparse
    model with noise, because the paper does not say where its targets come from."""
    from sklearn.datasets import make_blobs

    features = bench.pick(5000, 2000) if features is None else features
    points, _ = make_blobs(features, 50, centers=8, random_state=bench.seed)
    A = np.asfortranarray(points.T / np.sqrt((points**2).mean()))
    rng = np.random.default_rng(bench.seed)
    signal = A[:, rng.choice(features, 20, replace=False)].sum(axis=1)
    b = np.where(signal + rng.standard_normal(50) * signal.std() > np.median(signal), 1.0, -1.0)
    bench.made("blobs", A, b, "make_blobs of scikit-learn, 8 clusters of columns; targets from 20 features and noise")
    return A, b


def leukemia(bench: Bench) -> tuple[np.ndarray, np.ndarray]:
    """72 x 7129, columns standardised; quick runs take some of the columns."""
    A, b = bench.data("leukemia", binary=True, standardise=True, columns=bench.pick(None, 2000))
    return np.asfortranarray(A), b


def task(name: str, A: Any, b: np.ndarray) -> Problem:
    """ "ridge", "logistic" or "L1 logistic": l2 = 1/n, or a tenth of the l1 from which on the answer is zero."""
    if name == "L1 logistic":
        return Problem(A, b, "logistic", ElasticNet(0.1 * float(lambda_max(A, b, loss="logistic"))))
    return Problem(A, b, "squared" if name == "ridge" else "logistic", ElasticNet(l2=1.0 / A.shape[0]))


def overdetermined(bench: Bench) -> Problem:
    """Least squares without a penalty, four equations for each unknown, a true answer and noise."""
    rng = np.random.default_rng(bench.seed)
    unknowns = bench.pick(1000, 400)
    centres = rng.standard_normal((4 * unknowns, 8))
    A = rng.standard_normal((4 * unknowns, unknowns)) + centres[:, rng.integers(8, size=unknowns)]
    b = A @ rng.standard_normal(unknowns) + rng.standard_normal(4 * unknowns)
    bench.made("overdetermined", A, b, "Gaussian columns around 8 centres; targets from a dense model with noise")
    return Problem(np.asfortranarray(A), b)


def augmented(ridge: Problem) -> Problem:
    """Ridge as least squares on [A; sqrt(n l2) I]: what the paper's search indexes, in n + d dimensions."""
    n, d = ridge.n_samples, ridge.n_features
    _, l2, _, _ = ridge.penalty.by_coefficient(d, False)
    A = sp.csc_array(sp.vstack([sp.csc_array(ridge.matrix.columns), sp.diags_array(np.sqrt(n * l2))]))
    return Problem(A, np.append(ridge.targets, np.zeros(d)))


@dataclass(frozen=True)
class Propagation:
    """Least squares over the unlabelled nodes of a graph, and the suboptimality of their values."""

    problem: Problem
    error: Error


def propagation(bench: Bench, rows: int) -> Propagation:
    """A graph of 5 nearest neighbours of ijcnn1 with labels for four nodes in five, as in the paper: 1 for one class, 0
    for the other. Nodes that no label can reach are left out. Bounds [0, 1] would not change the answer."""
    from scipy.sparse.linalg import spsolve
    from sklearn.neighbors import kneighbors_graph

    X, y = bench.data("ijcnn1", rows=rows)
    X = X.toarray() if sp.issparse(X) else X
    near = kneighbors_graph(X, 5)
    W = sp.csr_array(near.maximum(near.T))
    labelled = np.zeros(X.shape[0], bool)
    labelled[np.random.default_rng(bench.seed).permutation(X.shape[0])[: 4 * X.shape[0] // 5]] = True
    held = sp.csr_array((labelled[:, None] & (y[:, None] == np.unique(y))).astype(float))
    free = np.flatnonzero(~labelled)
    component, met = classes_met(W, free, held)
    harmonic = Harmonic(W, free[np.diff(met.indptr)[component] > 0], held)
    problem = Problem(harmonic.incidence, harmonic.target(1), sample_weight=harmonic.weights)
    weighted = sp.diags_array(problem.weights) @ harmonic.incidence
    laplacian = sp.csc_array(harmonic.incidence.T @ weighted)
    best = spsolve(sp.csc_matrix(laplacian), weighted.T @ problem.targets)
    unit = best @ (laplacian @ best)
    return Propagation(problem, lambda x, y: float((x - best) @ (laplacian @ (x - best)) / unit))


def primal_error(bench: Bench, problem: Problem) -> Error:
    """(P(x) - P*) / (P(0) - P*)."""
    best = bench.optimum(problem).primal
    unit = problem.certify(np.zeros(problem.n_features)).primal - best
    return lambda x, y: float((problem.certify(x).primal - best) / unit)


def dual_error(bench: Bench, problem: Problem) -> Error:
    """(D* - D(y)) / (D* - D(0))."""
    best = bench.optimum(problem, tol=1e-11)
    unit = best.primal - problem.certify(best.x, np.zeros(problem.n_samples)).dual
    return lambda x, y: float((best.primal - problem.certify(best.x, y).dual) / unit)


def printed(rule: str | Rule) -> CoordinateDescent:
    """Algorithms 1, 2 and 4 on the primal side, with the step 1/L_i also where the curvature changes."""
    return descent("primal", rule, curvature="coordinate")


def accelerated(rule: str | Rule) -> AcceleratedCD:
    """Algorithm 3 as printed; with the rules "uniform" and greedy the methods that it is compared with."""
    return AcceleratedCD("primal", rule, "mirror", curvature="largest", compare="gradient", theta0=1.0, restart=False)


NAIVE = Greedy(refresh_every=1)  # all scores computed again at every move, as in the paper
SEARCH = MaxInnerProduct(candidates=1, explore=0.0)  # as in the paper


def hybrids(blocks: Iterable[int], of: Callable[[Rule], Method], prefix: str = "hybrid") -> dict[str, Entry]:
    """Hybrid rules with k-means, by name."""
    return {f"{prefix} {k}": ("paper", of(Hybrid(k))) for k in blocks}


def race(bench: Bench, title: str, problem: Problem, error: Error, entries: Mapping[str, Entry], *,
         seconds: float, quick: float, mistakes: Error | None = None, caption: str = "") -> Race:  # fmt: skip
    """The methods on one problem, for at most so many seconds each; quick runs have a limit of their own. ``mistakes``,
    the share of test data that x predicts wrongly, becomes a column."""
    bench.say(title)
    limit = bench.pick(seconds, quick)
    traces = []
    for label, (role, method) in entries.items():
        seen: list[float] = []

        def watched(x: np.ndarray, y: np.ndarray, seen: list[float] = seen) -> float:
            if mistakes is not None:
                seen.append(mistakes(x, y))
            return error(x, y)

        trace = bench.moves(problem, method, label, role, watched, most=1e7, seconds=limit)
        columns = dict(trace.columns) | {"total": trace.columns["seconds"] + trace.setup}
        if mistakes is not None:
            columns |= thinned({"mistakes": np.array(seen)})  # to the rows that the bench kept
        traces.append(replace(trace, columns=columns))
    views = VIEWS if mistakes is None else (*VIEWS, ("total", "mistakes"))
    return Race(title, traces, views, "xy", LABELS, caption)
