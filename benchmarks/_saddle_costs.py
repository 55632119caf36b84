"""The cost of an iteration, and on which sizes it depends."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import memory
import southwell as sw
from _timing import best, table
from southwell.methods import DGPD, DSPDC, SAGA, SPDC, Start
from southwell.testing import datasets


def per_iteration(problem: sw.Problem, method, iterations: int) -> float:
    """Seconds an iteration, measured without certificates."""
    algorithm = method.prepare(problem, Start(np.zeros(problem.n_features)), 0).algorithm
    algorithm.lead(iterations)
    return best(lambda: algorithm.lead(iterations), 5) / iterations


def per_row(problem: sw.Problem, method) -> float:
    """Seconds a row, from whole epochs, which can prefetch the next rows."""

    def run(epochs: int):
        sw.solve(problem, method=method, tol=0.0, max_epochs=epochs, check_every=10**6)

    run(1)  # layouts and norms
    return (best(lambda: run(10), 5) - best(lambda: run(2), 5)) / 8 / problem.n_samples


def costs(out, quick: bool) -> None:
    incremental()
    doubly_stochastic()
    active_sets(quick)
    classes(quick)


def incremental() -> None:
    print("\nAn iteration of SPDC and SAGA with 50 entries a row: microseconds, and against half as many features.")
    rows, last = [], {}
    for d in (25_000, 50_000, 100_000, 200_000):
        rng = np.random.default_rng(0)
        n, k = 20_000, 50
        A = sp.csr_array((rng.normal(size=n * k), rng.integers(0, d, n * k), np.arange(0, n * k + 1, k)), shape=(n, d))
        b = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        row = {"features": d}
        for label, l1, method in (("SPDC l2", 0.0, SPDC()), ("SPDC l1+l2", 1e-5, SPDC()), ("SAGA l1+l2", 1e-5, SAGA())):
            problem = sw.Problem(A, b, "smooth_hinge", sw.penalties.ElasticNet(l1, 1e-4))
            seconds = per_row(problem, method)
            row[label] = (
                f"{1e6 * seconds:.2f} ({seconds / last[label]:.2f})" if label in last else f"{1e6 * seconds:.2f}"
            )
            last[label] = seconds
        rows.append(row)
    print(table(rows), flush=True)


def doubly_stochastic() -> None:
    print(
        "\nAn iteration of DSPDC on A = U V, inner size 50, 1 row and 20 columns: microseconds, and against half n, d."
    )
    rows, last = [], None
    for n, d in ((10_000, 2_000), (20_000, 4_000), (40_000, 8_000), (80_000, 16_000)):
        rng = np.random.default_rng(0)
        factors = sw.Factorised(rng.normal(size=(n, 50)), rng.normal(size=(50, d)) / 50)
        problem = sw.Problem(
            factors, np.where(rng.random(n) < 0.5, 1.0, -1.0), "smooth_hinge", sw.penalties.ElasticNet(1e-4, 1e-3)
        )
        seconds = per_iteration(problem, DSPDC(rows=1, columns=20), 50_000)
        rows.append(
            {"n": n, "d": d, "microseconds": f"{1e6 * seconds:.2f}", "ratio": f"{seconds / last:.2f}" if last else ""}
        )
        last = seconds
    print(table(rows), flush=True)


def active_sets(quick: bool) -> None:
    print("\nAn epoch of DGPD (a search, 5 passes) on a class of sector; samples of weight 0 and empty features added:")
    A, y = datasets.load("sector")
    n, d = A.shape
    b = np.where(y == np.unique(y)[10], 1.0, -1.0)
    rows = []
    for times in (1, 2, 4, 8):
        padded = sp.csr_array(
            (A.data, A.indices, np.append(A.indptr, np.full((times - 1) * n, A.nnz))), shape=(times * n, times * d)
        )
        targets = np.append(b, np.resize([1.0, -1.0], (times - 1) * n))
        weights = np.append(np.ones(n), np.zeros((times - 1) * n))
        problem = sw.Problem(
            padded, targets, "smooth_hinge", sw.penalties.ElasticNet(0.1 / n, 0.01 / n), sample_weight=weights
        )
        algorithm = DGPD(perturb=0).prepare(problem, Start(np.zeros(times * d)), 0).algorithm
        algorithm.lead(30)
        seconds = best(lambda algorithm=algorithm: algorithm.lead(5), 5) / 5
        led = np.array(algorithm.lead(1))
        ends = np.flatnonzero(led == -1)
        rows.append({"n": times * n, "d": times * d, "active columns": ends[0], "active rows": ends[1] - ends[0] - 1,
                     "milliseconds": f"{1e3 * seconds:.3f}"})  # fmt: skip
    print(table(rows), flush=True)


def sparse_sets(quick: bool):
    """Name, data and labels."""
    yield "sector", *datasets.load("sector")
    with np.load(datasets.find("mnist")) as file:
        n = 5_000 if quick else 20_000
        X, y = (file["X"][:n] / 255).astype(np.float32), file["y"][:n]
    binning = sw.features.RandomBinning(100 if quick else 300, gamma=0.02, random_state=0)
    yield "mnist-RB", binning.fit_transform(X), y


def classes(quick: bool) -> None:
    print("\nsolve_many: one class against the rest, DGPD, gap 1e-4. DGPD reads A along both axes, so one copy is")
    print("built; the extra peak holds it, the results and the solves at work.")
    rows = []
    for name, A, y in sparse_sets(quick):
        n, size = A.shape[0], A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
        for threads in (1, 2):
            before = memory.resident_kilobytes()
            Path("/proc/self/clear_refs").write_text("5")
            begun = time.perf_counter()
            many = sw.solve_many(
                A, y, loss="smooth_hinge", l1=0.1 / n, l2=0.01 / n, method=DGPD(), tol=1e-4, n_threads=threads,
                record_history=False,
            )  # fmt: skip
            rows.append({
                "set": name,
                "classes": len(many),
                "threads": threads,
                "seconds": f"{time.perf_counter() - begun:.2f}",
                "largest gap": f"{many.gaps.max():.2g}",
                "mean nonzeros of x": f"{np.mean([r.nonzeros for r in many]):.0f}",
                "of y": f"{np.mean([np.count_nonzero(r.y) for r in many]):.0f}",
                "A, MB": f"{size / 1e6:.0f}",
                "extra peak, MB": f"{(memory.peak_kilobytes() - before) / 1e3:.0f}",
                "answers, MB": f"{sum(r.x.nbytes + r.y.nbytes for r in many) / 1e6:.0f}",
            })  # fmt: skip
    print(table(rows), flush=True)
