"""How far the models of scikit-learn's defaults are from their optima: a table of relative gaps on ten data sets.

    python benchmarks/audits.py

A gap is in units of the zero model's objective; beside it the labels that the optimum would change, of the training
data. Every model is fitted with default parameters, except for the seed.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

import southwell as sw
from southwell.testing.texts import docstrings

MODELS = (LogisticRegression(), LinearSVC(random_state=0), SGDClassifier(random_state=0))


def data_sets():
    """Names, data and labels."""
    for load in (load_breast_cancer, load_wine, load_iris, load_digits):
        name, (X, y) = load.__name__.removeprefix("load_").replace("_", " "), load(return_X_y=True)
        yield name, X, y
        if load is not load_digits:
            yield f"{name}, scaled", scale(X), y
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes, above its median", X, y > np.median(y)
    texts, modules = docstrings()
    yield "texts, of SciPy or not", TfidfVectorizer().fit_transform(texts), np.char.startswith(modules, "scipy")
    X, y = make_classification(2000, 50, n_informative=20, n_redundant=20, flip_y=0.1, random_state=0)
    yield "made: 2000 x 50", X, y


def audited(model, X, y) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    report = sw.audit(model, X, y, max_seconds=3)
    return f"{report.relative_gap:.0e}{'*' if caught else ''} ({report.changed:.0f} of {report.n_samples})"


def main() -> None:
    print("| data | " + " | ".join(type(model).__name__ for model in MODELS) + " |")
    print("|---|" + "---|" * len(MODELS))
    for name, X, y in data_sets():
        print(f"| {name} | " + " | ".join(audited(model, X, y) for model in MODELS) + " |", flush=True)
    print("\n* with a warning that the iterations ran out")


if __name__ == "__main__":
    main()
