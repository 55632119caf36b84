"""Yu, Lin, Yang 2015: DSPDC against SPDC and SDCA on factorised data."""

from __future__ import annotations

import numpy as np

import southwell as sw
from _race import plot, race
from _timing import table
from southwell.methods import DSPDC, CoordinateDescent
from southwell.testing import datasets

SIZES = ((5_000, 100, 50, 20), (10_000, 100, 50, 50), (10_000, 500, 50, 50))  # n, d, columns, inner size of figure 1
PENALTIES = ((1e-3, 1e-2), (1e-6, 1e-5))


def figure(n: int, d: int, inner: int) -> tuple[np.ndarray, np.ndarray]:
    """The random data of section 6.1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-X[:, :50].sum(axis=1))), 1.0, -1.0)


def dspdc(out, quick: bool) -> None:
    print("\nDSPDC: smooth hinge on A = U V. Seconds to (P - P*) / P(0) <= 1e-3 and 1e-6.")
    print("SPDC is DSPDC with all columns, by the same code; SDCA reads the rows of A, formed in advance (not timed).")
    print("FISTA, which is not in the paper, multiplies with the factors.")
    races, rows = [], []
    cases = [
        (f"figure 1, {n} x {d}, inner {k}", *figure(n, d, k), q, k, nets) for n, d, q, k in SIZES for nets in PENALTIES
    ]
    A, b = datasets.load_binary("20news")
    if quick:
        cases, A, b = cases[:2], A[:2000], b[:2000]
    columns = A.shape[1] // 10
    cases.append((f"20news, {A.shape[0]} x {A.shape[1]}, inner 20", A, b, columns, 20, (1e-4, 1e-2)))
    for title, X, b, q, k, (l1, l2) in cases:
        factors = sw.sketch_features(X, k)
        penalty = sw.penalties.ElasticNet(l1, l2)
        problem = sw.Problem(factors, b, "smooth_hinge", penalty)
        d = problem.n_features
        methods = {
            f"DSPDC, 1 row, {q} columns": DSPDC(rows=1, columns=q),
            "DSPDC, auto": DSPDC(),
            "SPDC": DSPDC(rows=1, columns=d),
        }
        limit = 3 if quick else 10
        raced = race(title, problem, methods, tol=1e-9, seconds=limit, relative=False)
        raced.results["FISTA"] = sw.solve(problem, method="fista", tol=1e-10, max_seconds=2 * limit, max_epochs=10**6)
        if problem.n_samples * d < 2e7:
            formed = sw.Problem(factors.U @ factors.V, b, "smooth_hinge", penalty)
            sdca = CoordinateDescent("dual", "uniform", coupling="mirror", shrinking=False, proximal=False)
            raced.results |= race(title, formed, {"SDCA": sdca}, tol=1e-8, seconds=limit).results
        races.append(raced)
        row = {"data": title, "l1, l2": f"{l1:g}, {l2:g}"}
        names = ("DSPDC", "auto", "SPDC", "SDCA", "FISTA")
        for label, name in zip((*methods, "SDCA", "FISTA"), names, strict=True):
            row[name] = raced.times(label) if label in raced.results else "A does not fit"
        rows.append(row)
    print(table(rows), flush=True)
    if out:
        plot(races, out / "dspdc.png", columns=4)
