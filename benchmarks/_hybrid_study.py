"""Fang, Fang, Yu, Li 2021, figures 6.1 and 7.1 to 7.3: random, cyclic, greedy, hybrid, accelerated, searched."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

import southwell as sw
from _study import Trace, descent, dual_error, plot, primal_error, trace
from _timing import table
from southwell.graph._harmonic import Harmonic, classes_met
from southwell.testing.datasets import load, load_binary

BLOCKS = (1, 2, 4, 8, 16)


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """50 x 5000: the columns are points of 8 clusters, as in the paper; targets from a sparse model."""
    points, _ = make_blobs(5000, 50, centers=8, random_state=0)
    A = np.asfortranarray(points.T) / np.sqrt((points**2).sum(axis=1).mean() / 50)
    rng = np.random.default_rng(0)
    signal = A[:, rng.choice(5000, 20, replace=False)].sum(axis=1)
    return A, np.where(signal + rng.standard_normal(50) * signal.std() > np.median(signal), 1.0, -1.0)


def leukemia() -> tuple[np.ndarray, np.ndarray]:
    A, b = load_binary("leukemia")
    return np.asfortranarray(A), b


def problems(A, b) -> dict[str, sw.Problem]:
    l2 = 1.0 / A.shape[0]
    l1 = 0.1 * sw.lambda_max(A, b, loss="logistic")
    return {
        "ridge": sw.Problem(A, b, "squared", sw.penalties.ElasticNet(l2=l2)),
        "logistic": sw.Problem(A, b, "logistic", sw.penalties.ElasticNet(l2=l2)),
        "L1 logistic": sw.Problem(A, b, "logistic", sw.penalties.ElasticNet(l1)),
    }


def contestants(problem: sw.Problem, side: str) -> dict[str, object]:
    """Every rule of the paper, accelerated where theory allows, and its own steps where ours are longer."""
    methods = {name: descent(side, name) for name in ("uniform", "cyclic", "shuffled", "greedy")}
    methods |= {f"hybrid {k}": descent(side, sw.rules.Hybrid(k)) for k in BLOCKS}
    fast = {"uniform": "uniform"}
    if sw.rules.smooth(problem, side):
        fast |= {"greedy": sw.rules.Greedy()} | {f"hybrid {k}": sw.rules.Hybrid(k) for k in BLOCKS[1:]}
    methods |= {f"acc. {k}": sw.methods.AcceleratedCD(side=side, rule=r, coupling="mirror") for k, r in fast.items()}
    if side == "primal" and problem.loss.self_concordance > 0:  # the steps of the paper; those above use the curvature
        bounded = {"uniform": "uniform", "greedy": "greedy", "hybrid 8": sw.rules.Hybrid(8)}
        methods |= {f"{k}, 1/L": descent(side, r, curvature="coordinate") for k, r in bounded.items()}
    if side == "primal" and sw.rules.smooth(problem, side):
        printed = {"curvature": "largest", "compare": "gradient", "theta0": 1.0, "restart": False}
        methods["algorithm 3"] = sw.methods.AcceleratedCD(side, sw.rules.Hybrid(8), "mirror", **printed)
    for explore in (0.0, 0.1):
        methods[f"search {explore:g}"] = descent(side, sw.rules.MaxInnerProduct(candidates=1, explore=explore))
    return methods


def race(
    title: str, problem, side: str, error, methods, max_moves, max_seconds, targets=(1e-2, 1e-4, 1e-6)
) -> list[Trace]:
    traces, rows = [], []
    for label, method in methods.items():
        try:
            fresh = pickle.loads(pickle.dumps(problem))  # without partitions and indices that other runs have built
            t = trace(fresh, method, label, error, max_moves=max_moves, max_seconds=max_seconds)
        except (ImportError, ValueError) as refused:
            print(f"{title}: {label} skipped: {refused}")
            continue
        traces.append(t)
        row = {"rule": label, "us/move": f"{1e6 * t.seconds[-1] / t.moves[-1]:.2f}", "setup ms": f"{1e3 * t.setup:.0f}"}
        for target in targets:
            there = t.reached(target)
            row |= {f"moves to {target:g}": f"{there[0]:.0f}" if there else "-"}
            row |= {f"ms to {target:g}": f"{1e3 * there[1]:.1f}" if there else "-"}
        row["last"] = f"{t.error[-1]:.0e}"
        rows.append(row)
    print(f"\n{title}: {problem}, {side} side; suboptimality relative to that of the start")
    print(table(rows), flush=True)
    return traces


def hybrid(out: Path | None) -> None:
    for name, (A, b) in {"blobs": blobs(), "leukemia": leukemia()}.items():
        groups = {}
        for task, problem in problems(A, b).items():
            title = f"{task}, {name}"
            groups[title] = race(
                title, problem, "primal", primal_error(problem), contestants(problem, "primal"), 40 * A.shape[1], 5.0
            )
        if out:
            plot(groups, out / f"hybrid-{name}.png")


def svm(out: Path | None) -> None:
    A, b = load_binary("20news")
    problem = sw.Problem(A, b, "hinge", sw.penalties.ElasticNet(l2=1e-4))
    traces = race(
        "SVM, 20news", problem, "dual", dual_error(problem), contestants(problem, "dual"), 30 * A.shape[0], 20.0,
        (1e-1, 1e-2, 1e-3),
    )  # fmt: skip
    if out:
        plot({"SVM, 20news": traces}, out / "hybrid-svm.png")


def graph(out: Path | None) -> None:
    X, y = load("ijcnn1")
    X = X.toarray() if sp.issparse(X) else X
    W = kneighbors_graph(X, 5)
    W = sp.csr_array(W.maximum(W.T))
    labelled = np.zeros(X.shape[0], bool)
    labelled[np.random.default_rng(0).permutation(X.shape[0])[: 4 * X.shape[0] // 5]] = True
    classes = np.unique(y)
    held = sp.csr_array((labelled[:, None] & (y[:, None] == classes)).astype(float))
    free = np.flatnonzero(~labelled)
    component, met = classes_met(W, free, held)
    free = free[np.diff(met.indptr)[component] > 0]  # nodes that a label can reach
    harmonic = Harmonic(W, free, held)
    boxed = harmonic.problem(1)
    plain = sw.Problem(harmonic.incidence, harmonic.target(1), sample_weight=harmonic.weights)
    L = harmonic.incidence.T @ sp.diags_array(plain.weights) @ harmonic.incidence
    exact = spsolve(sp.csc_matrix(L), harmonic.incidence.T @ (plain.weights * plain.targets))

    def error(x, _):
        return float((x - exact) @ (L @ (x - exact))) / 2

    methods = contestants(plain, "primal")
    del methods["search 0.1"]  # an index of edges takes minutes to build; the other run shows that it does not help
    traces = race("label propagation, ijcnn1", plain, "primal", error, methods, 100 * free.size, 8.0)
    r = sw.solve(boxed, method=descent("primal", "greedy"), tol=1e-9)
    off = np.abs(r.x - exact).max()
    print(f"greedy in the box: {r.epochs} epochs, gap {r.relative_gap:.1e}, largest error {off:.1e}")
    if out:
        plot({"label propagation, ijcnn1": traces}, out / "hybrid-graph.png")


def clusterings(out: Path | None) -> None:
    groups = {}
    for name, (A, b) in {"blobs": blobs(), "leukemia": leukemia()}.items():
        problem = problems(A, b)["ridge"]
        methods = {}
        for how in ("kmeans", "minibatch-kmeans", "spectral"):
            rule = sw.rules.Hybrid(8, how)
            methods |= {how: descent("primal", rule), f"acc. {how}": sw.methods.AcceleratedCD("primal", rule, "mirror")}
        random = np.random.default_rng(0).integers(8, size=A.shape[1])
        methods["random blocks"] = descent("primal", sw.rules.Hybrid(partition=random))
        title = f"clusterings, ridge, {name}"
        groups[title] = race(title, problem, "primal", primal_error(problem), methods, 40 * A.shape[1], 5.0)
    if out:
        plot(groups, out / "clusterings.png")
