"""Problems of blocks, and their certificates by formulas written elsewhere."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import reference
from southwell.penalties import ElasticNet, Groups

TASKS = [name for name in sw.losses.ALL if sw.losses.get(name).smooth]
CLASSES = list(sw.losses.OF_CLASSES)
LABELS = np.array([2, 0, 1, 1, 0, 2, 3, 1])  # groups that do not lie in a row
PENALTIES = {
    "L2,1": Groups(0.05),
    "groups": Groups(0.05, groups=LABELS),
    "sparse groups": Groups(0.03, l1=0.02, groups=LABELS, weights="size"),
    "elastic groups": Groups(0.03, l1=0.02, l2=0.05, groups=LABELS, weights=[1.0, 0.5, 2.0, 1.5]),
    "elastic": ElasticNet(0.02, 0.05),
    "ridge": ElasticNet(l2=0.05),
    "l1": ElasticNet(0.03),
    "l1 with weights": ElasticNet(0.03, weights=np.linspace(0.5, 2.0, 8)),
}


def data(loss, *, n=40, d=8, k=3, seed=0, kind=None):
    """A, and targets of a model in which half the features matter; ``kind`` "one": a single target."""
    rng = np.random.default_rng([seed, n, d, k])
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    M = 1.5 * A @ (rng.normal(size=(d, k)) * (np.arange(d) < (d + 1) // 2)[:, None]) + rng.normal(size=(n, k))
    if loss in CLASSES:
        b = M.argmax(axis=1)
        b[:k] = np.arange(k)
        return A, b
    targets = sw.losses.get(loss).targets
    if targets == "signs":
        M = np.where(M > 0, 1.0, -1.0)
        M[0], M[1] = 1.0, -1.0
    elif targets in ("counts", "positive"):
        M = rng.poisson(np.exp(np.clip(0.4 * M, -2, 2))) + (0.5 if targets == "positive" else 0.0)
    return A, M[:, 0] if kind == "one" else M


def stated(loss, penalty, *, sparse=False, intercept=False, weighted=False, **options):
    A, b = data(loss, **options)
    s = np.random.default_rng(1).uniform(0.2, 2.0, len(A)) if weighted else None
    return sw.BlockProblem(sp.csr_array(A) if sparse else A, b, loss, penalty, intercept=intercept, sample_weight=s)


def parts(problem):
    """What the reference takes: A with its column of ones, targets, weights, loss and blocks."""
    A = problem.data.rows.toarray() if problem.data.sparse else np.array(problem.data.rows, dtype=float)
    full = np.column_stack([A, np.ones((len(A), int(problem.intercept)))])
    return full, problem.targets, problem.weights, problem.loss, reference.blocks_of(problem.penalty, A.shape[1])


def stacked(problem, x, intercept):
    X = np.reshape(x, (problem.n_features, problem.width))
    return np.vstack([X, np.broadcast_to(intercept, (1, problem.width))]) if problem.intercept else X


def proved(problem, r, tol=1e-6):
    """The result holds what it says, by formulas written elsewhere."""
    assert r.status is sw.Status.CONVERGED, r
    assert 0 <= r.gap <= tol * r.scale
    X = stacked(problem, r.x, r.intercept)
    primal, dual, _ = reference.block_certificate(*parts(problem), X, r.y, problem.intercept)
    size = abs(r.primal) + abs(r.dual) + r.scale
    assert primal == pytest.approx(r.primal, abs=1e-11 * size)
    assert dual >= r.dual - 1e-10 * size - 0.01 * tol * r.scale
    return X


def solved(problem, tol=1e-6, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = sw.solve(problem, tol=tol, **options)
    proved(problem, r, tol)
    return r
