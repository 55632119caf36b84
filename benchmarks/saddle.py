"""What saddle-point methods cost: python benchmarks/saddle.py [--quick]

The time of an epoch of DGPD as n and d double; many classes across threads, with their memory. The experiments of the
papers are ``southwell reproduce dgpd spdc dspdc``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import memory
import southwell as sw
from _timing import best, table
from southwell.methods import DGPD, Start
from southwell.testing import datasets


def active_sets() -> None:
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller data")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    active_sets()
    classes(given.quick)
