"""What path(everywhere=True) promises, and what 1,000 random strengths find: a table for three data sets.

    python benchmarks/everywhere.py [strengths]

The promise is the largest gap between any two points, the finding the largest distance of the nearest point's objective
from the optimum, which is solved for to 1e-3 of the tolerance; both in units of the zero model's objective. By the
square-root law the number of points, times the root of the tolerance, stays the same.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import southwell as sw

TOLERANCES = (1e-2, 1e-3, 1e-4)


def data_sets():
    """Names, data, targets and losses."""
    yield ("diabetes, lasso", *load_diabetes(return_X_y=True), "squared")
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, logistic, L1", scale(X), y, "logistic"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1000))
    X[:, 1:] += X[:, :-1]
    yield "made: 100 x 1,000, lasso", X, X[:, :10].sum(axis=1) + rng.normal(size=100), "squared"


def largest_distance(path: sw.Path, X, y, loss: str, tol: float, number: int) -> float:
    """How far the nearest point of the path is from the optimum, at the worst of some random strengths."""
    rng, worst = np.random.default_rng(1), 0.0
    for strength in np.sort(np.exp(rng.uniform(*np.log(path.strengths[[-1, 0]]), number))):
        best = sw.solve(X, y, loss=loss, l1=strength, intercept=True, tol=1e-3 * tol, n_threads=1)
        worst = max(worst, (path.at(strength).primal - best.dual) / path.scale)
    return worst


def main(number: int = 1000) -> None:
    print("| data | tol | points | points x sqrt(tol) | promised | found |\n|---|---|---|---|---|---|")
    for name, X, y, loss in data_sets():
        for tol in TOLERANCES:
            path = sw.path(X, y, loss=loss, intercept=True, everywhere=True, tol=tol, ratio=0.01, n_threads=1)
            promised, found = path.between.max(), largest_distance(path, X, y, loss, tol, number)
            assert found <= promised + 1e-3 * tol, (name, tol, found, promised)
            told = f"{tol:.0e} | {len(path)} | {len(path) * tol**0.5:.2f} | {promised:.2e} | {found:.2e} |"
            print(f"| {name} | {told}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
