"""Maximum inner product search over the coordinates' vectors, by hnswlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from .problem import Problem

MEMORY_LIMIT = 2 * 2**30  # bytes of dense vectors


def index(problem: Problem, side: str, seed: int, breadth: int, links: int) -> Callable[[np.ndarray, int], np.ndarray]:
    """A function of (vector, number): the coordinates with the largest absolute inner products, approximately."""
    try:
        import hnswlib
    except ImportError as error:
        raise ImportError(
            "MaxInnerProduct needs hnswlib. Install it with: python -m pip install 'southwell[search]'"
        ) from error
    points = problem.data.fibers(side == "primal")
    size, length = points.shape
    if 4 * size * length > MEMORY_LIMIT:
        raise ValueError(
            f"MaxInnerProduct indexes dense float32 vectors: {size} x {length} would take "
            f"{4 * size * length / 2**30:.1f} GiB; the limit is {MEMORY_LIMIT / 2**30:.0f}. Use Hybrid or Greedy."
        )

    def build():
        dense = _dense(points, problem.shifts, by_fiber=side == "primal")
        found = hnswlib.Index(space="ip", dim=length)
        found.init_index(max_elements=size, ef_construction=200, M=links, random_seed=seed % 2**31)
        found.add_items(dense, num_threads=1)  # one thread: the same index for the same seed
        return found

    searcher = problem.keep(("search", side, seed, links), build)

    def find(image: np.ndarray, number: int) -> np.ndarray:
        query = _single(image[:length])
        searcher.set_ef(max(breadth, number))
        labels, distances = searcher.knn_query(np.stack([query, -query]), k=min(number, size), num_threads=1)
        order = np.argsort(distances, axis=None, kind="stable")[:number]  # distance = 1 - product
        return labels.ravel()[order].astype(np.int64)

    return find


def _dense(points, shifts: np.ndarray | None, by_fiber: bool) -> np.ndarray:
    """The vectors with their shifts, in single precision, some at a time, scaled to entries of at most one."""
    size, length = points.shape
    dense = np.empty((size, length), dtype=np.float32)
    largest = abs(points).max() + (0.0 if shifts is None else np.abs(shifts).max())
    for start in range(0, size, step := max(1, 2**22 // length)):
        slab = points[start : start + step]
        slab = slab.toarray() if sp.issparse(slab) else slab
        if shifts is not None:
            slab = slab + (shifts[start : start + step, None] if by_fiber else shifts)
        dense[start : start + step] = slab / largest if largest > 0 else slab
    return dense


def _single(values: np.ndarray) -> np.ndarray:
    """In single precision, scaled to a largest entry of one. Only the order of the products matters."""
    largest = np.abs(values).max()
    return (values / largest if largest > 0 else values).astype(np.float32)
