"""Maximum inner product search over the coordinates' vectors, by hnswlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .problem import Problem

MEMORY_LIMIT = 2 * 2**30  # bytes of dense vectors


def index(problem: Problem, side: str, seed: int, breadth: int, links: int) -> Callable[[np.ndarray, int], np.ndarray]:
    """A function of (vector, number): the coordinates whose inner product with it is largest in size, about."""
    try:
        import hnswlib
    except ImportError as error:
        raise ImportError(
            "MaxInnerProduct needs hnswlib. Install it with: python -m pip install 'southwell[search]'"
        ) from error
    points = problem.data.columns.T if side == "primal" else problem.data.rows
    size, length = points.shape
    if 4 * size * length > MEMORY_LIMIT:
        raise ValueError(
            f"MaxInnerProduct indexes dense float32 vectors: {size} x {length} would take "
            f"{4 * size * length / 2**30:.1f} GiB; the limit is {MEMORY_LIMIT / 2**30:.0f}. Use Hybrid or Greedy."
        )
    dense = np.asarray(points.todense() if problem.data.sparse else points, dtype=np.float32)
    if problem.shifts is not None:
        dense = dense + (problem.shifts[:, None] if side == "primal" else problem.shifts).astype(np.float32)

    def build():
        found = hnswlib.Index(space="ip", dim=length)
        found.init_index(max_elements=size, ef_construction=200, M=links, random_seed=seed % 2**31)
        found.add_items(dense, num_threads=1)  # one thread: the same index for the same seed
        return found

    searcher = problem.keep(("search", side, seed, links), build)
    searcher.set_ef(max(breadth, 1))

    def find(image: np.ndarray, number: int) -> np.ndarray:
        query = image[:length].astype(np.float32)
        searcher.set_ef(max(breadth, number))
        labels, distances = searcher.knn_query(np.stack([query, -query]), k=min(number, size), num_threads=1)
        order = np.argsort(distances, axis=None, kind="stable")[:number]  # distance = 1 - product
        return labels.ravel()[order].astype(np.int64)

    return find
