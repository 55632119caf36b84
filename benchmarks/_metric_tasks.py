"""Yu, Lin, Yang 2015, section 6.3: metrics of many tasks; digits in the place of the objects of aloi."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from _metric_risk import entries, markdown, reached, tuned
from _race import shown
from southwell.metric import MultiTaskLargeMarginNearestNeighbor
from southwell.testing import datasets

STRETCHES = [(s * k, s / k) for s in (3, 10, 30) for k in (0.3, 1)]
PARTS = ((20 / 101, 2000), (20 / 101, 4000), (40 / 101, 8000))  # of blocks; of 1,142,658 triplets


def pairs_of_digits(name: str, d: int, most: int | None = None):
    """Each of the 45 pairs of digits is a task; the points of a digit are divided among its nine tasks. Returns points,
    labels and tasks, for training and for testing."""
    with np.load(datasets.find(name)) as file:
        X, y, n = file["X"].astype(np.float64), file["y"].astype(int), int(file["n_train"])
    X = PCA(d, random_state=0).fit(X[:n]).transform(X)
    rng, parts = np.random.default_rng(0), []
    for rows in (np.arange(n)[:most], np.arange(n, len(X))[:most]):
        tasks = np.full(len(X), -1)
        for digit in np.unique(y):
            own = [t for t, pair in enumerate(combinations(np.unique(y), 2)) if digit in pair]
            members = rng.permutation(rows[y[rows] == digit])
            tasks[members] = np.resize(own, members.size)
        parts.append((X[rows], y[rows], tasks[rows]))
    return parts


def plain_error(train, test) -> float:
    """The error of Euclidean neighbours within each task."""
    wrong = 0
    for t in np.unique(train[2]):
        own, new = train[2] == t, test[2] == t
        if new.any():
            wrong += np.sum(
                KNeighborsClassifier(3).fit(train[0][own], train[1][own]).predict(test[0][new]) != test[1][new]
            )
    return wrong / len(test[1])


def fitted(train, threads: int, told: str | None = None, **options):
    model = MultiTaskLargeMarginNearestNeighbor(3, n_impostors=6, n_jobs=threads, **options).fit(*train)
    return model if told is None else getattr(model, told)


def tasks(given) -> None:
    best = {}
    for name in ("usps",) if given.quick else given.sets:
        train, test = pairs_of_digits(name, 32 if given.quick else 128, 2000 if given.quick else None)
        n, p = len(train[1]) * 18, 46
        cases = [("FISTA", {"method": "fista"}, p), ("FISTA on the dual", {"method": "dual_fista"}, p)]
        fit = partial(fitted, train, given.threads)
        solve = partial(fitted, train, given.threads, told="result_")
        for number, (part, triplets) in enumerate(PARTS):
            q, m = round(part * p), round(triplets / 1_142_658 * n)
            sizes = {"dspdc": {"rows": m, "blocks": q}, "spdc": {"rows": m}, "sdca": {"rows": m}}
            if number not in best:  # tuned once, on the first data set
                best[number] = tuned(solve, STRETCHES, sizes, given.seconds / 2)
            cases += entries(sizes, best[number], p)
        print(f"\n{name}: {n} triplets, {p} blocks of {train[0].shape[1]}, l2 = 0.01 and 0.1")
        print(f"error of 3 neighbours before: {100 * plain_error(train, test):.2f} %")
        print("seconds (thousands of eigendecompositions) to gap / P(0)")
        rows = []
        for label, options, each in cases:
            model = fit(**options, max_seconds=given.seconds)
            row = {"method": label}
            for target in (1e-2, 3e-3, 1e-3, 3e-4, 1e-6):
                seconds, moves = (reached(model.result_, target, unit) for unit in ("seconds", "moves"))
                row[f"{target:g}"] = f"{shown(seconds)} ({shown(moves * each / 1000)})"
            error = 100 * (1 - model.score(test[0], test[1], tasks=test[2]))
            rows.append(row | {"gap at the end": f"{model.gap_:.1e}", "error after": f"{error:.2f} %"})
            print(f"  {rows[-1]}", flush=True)
        print(markdown(rows), flush=True)
