"""Feature maps of all MNIST against plain NumPy on a slice of it: python benchmarks/features.py

60,000 x 784, a fifth of it nonzero. `ratio` is our time over NumPy's for the same rows and components. `limit` is a
lower bound. Binning: the rulers of every nonzero in every grid, 16 bytes a bin, read at the speed at which this
machine reads a table of that size again and again. Fourier: the product X W alone, by the same BLAS. `moved` is the
traffic of main memory: input read once for each group of grids (binning) or once (Fourier), output written once. BLAS
has one thread.
"""

from __future__ import annotations

import sys

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from _timing import best, streaming_limit, table
from southwell import _core
from southwell.features import RandomBinning, RandomFourier
from southwell.testing import datasets

GRIDS, COMPONENTS, SLICE = 500, 1000, 1000
LANES, TOGETHER = 16, 128  # grids hashed at once; grids for which a slab is packed once


def numpy_binning(X: np.ndarray, gamma: float, grids: int) -> sp.csr_array:
    multipliers = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64)
    columns, start = [], 0
    for grid in range(grids):
        scale, shift = _core.bin_grid(0, gamma, grid, X.shape[1])
        bins = np.floor(X * scale + (shift + 0.5)).astype(np.int64).view(np.uint64)
        distinct, ranks = np.unique(bins @ multipliers, return_inverse=True)
        columns.append(ranks + start)
        start += distinct.size
    indptr = np.arange(0, X.shape[0] * grids + 1, grids)
    return sp.csr_array((np.full(indptr[-1], grids**-0.5), np.column_stack(columns).ravel(), indptr))


def numpy_fourier(X: np.ndarray, model: RandomFourier) -> np.ndarray:
    return np.sqrt(2 / model.phases_.size) * np.cos(X @ model.frequencies_ + model.phases_)


def row(name: str, seconds: float, baseline: float, limit: float, moved: int) -> dict[str, object]:
    return {
        "map": name,
        "seconds": f"{seconds:.2f}",
        "ratio": f"{seconds / baseline:.4f}",
        "limit s": f"{limit:.2f}",
        "of limit": f"{seconds / limit:.2f}",
        "moved GB": f"{moved / 1e9:.2f}",
        "moved s": f"{moved * streaming_limit(1 << 28):.2f}",
    }


def binning_rows(X: np.ndarray):
    full = best(lambda: numpy_binning(X[:SLICE], 0.02, 5), 3) * (X.shape[0] / SLICE) * (GRIDS / 5)
    rulers = 16 * np.count_nonzero(X) * GRIDS
    limit = rulers * streaming_limit(16 * LANES * X.shape[1])
    passes = -(-GRIDS // TOGETHER)
    for name, form, jobs, gamma in [
        ("float64", X, 1, 0.02),
        ("float64", X, 1, 1.0),
        ("float64", X, 2, 0.02),
        ("float32", X.astype(np.float32), 1, 0.02),
        ("CSR", sp.csr_array(X), 1, 0.02),
    ]:
        model = RandomBinning(GRIDS, gamma=gamma, random_state=0, n_jobs=jobs)
        seconds = best(lambda model=model, form=form: model.fit_transform(form), 3)
        size = form.nbytes if isinstance(form, np.ndarray) else form.data.nbytes + form.indices.nbytes
        written = X.shape[0] * GRIDS * (4 + form.dtype.itemsize)
        yield row(f"binning {name}, gamma {gamma:g}, {jobs} job", seconds, full, limit / jobs, passes * size + written)


def fourier_rows(X: np.ndarray):
    for form in (X, X.astype(np.float32)):
        model = RandomFourier(COMPONENTS, gamma="scale", random_state=0).fit(form)
        seconds = best(lambda model=model, form=form: model.transform(form), 3)
        plain = best(lambda model=model, form=form: numpy_fourier(form[: 10 * SLICE], model), 3) * 6
        limit = best(lambda model=model, form=form: form @ model.frequencies_, 3)
        moved = form.nbytes + X.shape[0] * COMPONENTS * form.dtype.itemsize
        yield row(f"Fourier {form.dtype}", seconds, plain, limit, moved)


def main() -> None:
    path = datasets.find("mnist")
    if path is None:
        sys.exit("mnist.npz is missing. Put it into a folder and set SOUTHWELL_DATA to that folder.")
    with np.load(path) as file:
        X = file["X"][:60_000] / 255.0
    with threadpool_limits(1):
        print(table([*binning_rows(X), *fourier_rows(X)]))
    print("\nratio: ours over NumPy's; of limit: target <= 2. With gamma 1 nearly every row has a bin of its own.")


if __name__ == "__main__":
    main()
