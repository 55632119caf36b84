"""Writes the corpus of model files: small models of every kind that ``save`` stores. ``python fuzz/make_corpus.py``."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import southwell as sw

FOLDER = Path(__file__).resolve().parent / "corpus"


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    words = np.array(["a", "b", "c", "b"] * 3)
    several = rng.integers(2, size=(12, 3))
    models = {
        "lasso": sw.Lasso(0.1).fit(X, y),
        "lasso_cv": sw.LassoCV(cv=2, alphas=3).fit(X, y),
        "group_lasso": sw.GroupLasso([0, 0, 1], 0.1).fit(X, y),
        "multi_task": sw.MultiTaskLasso(0.1).fit(X, np.c_[y, -y]),
        "poisson": sw.PoissonRegressor(alpha=0.1).fit(X, np.round(np.abs(y))),
        "svc": sw.LinearSVC(C=0.1, method=sw.methods.CoordinateDescent("dual", sw.rules.Greedy())).fit(X, y > 0),
        "logistic_words": sw.LogisticRegression(C=0.1, sparse_coef=True).fit(X, words),
        "softmax": sw.LogisticRegression(C=0.1).fit(X, words.astype(object)),
        "multi_label": sw.SparseLinearClassifier(l1=0.1).fit(X, several),
        "huber": sw.HuberRegressor().fit(X, y),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, model in models.items():
        model.save(FOLDER / f"{name}.southwell")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
