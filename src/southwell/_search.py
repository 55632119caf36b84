"""Maximum inner product search over the coordinates' vectors, by hnswlib.

The score of a coordinate k that stands at zero depends on its reading r_k (slope or margin) alone:

    score_k = w_k max(r_k - high_k, low_k - r_k, 0),      r_k = <fiber_k, image>

with [low_k, high_k] the readings for which it stays at zero. So it is the largest of two inner products,

    <(w_k fiber_k, -w_k high_k), (image, 1)>     and     <(-w_k fiber_k, w_k low_k), (image, 1)>

which an index of these vectors searches, exactly for any l1, l2 and bounds (primal side) or loss (dual side). Where the
two vectors of every coordinate serve two queries, one of them is stored; where w_k high_k is the same for all k, the
last number is left out. For the squared loss without a penalty this is the search of Dhillon, Ravikumar and Tewari
(2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._scipy import sparse as sp
from ._typing import AnyMatrix

if TYPE_CHECKING:
    from .problem import Problem

MEMORY_LIMIT = 2 * 2**30  # bytes of dense vectors

Find = Callable[[np.ndarray, int, np.ndarray], np.ndarray]
"""A function of (image, number, apart): at most ``number`` coordinates at zero with the largest scores, none of them
``apart``."""


@dataclass(frozen=True)
class AtZero:
    """w, low and high of each coordinate at zero; w = 0: its score is zero, or it is ``apart``."""

    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray
    apart: np.ndarray
    """The coordinates whose score has not this form. The core reads them all at every move."""
    by_reading: bool
    """Whether the score has this form wherever a coordinate stands."""


def at_zero(problem: Problem, side: str, score: str) -> AtZero:
    """How the scores of coordinates at zero depend on their readings. On the dual side they are compared by "gs-s"."""
    return _primal(problem, score) if side == "primal" else _dual(problem)


def _primal(problem: Problem, score: str) -> AtZero:
    size = problem.n_features
    l1, l2, lower, upper = problem.penalty.by_coefficient(size, False)
    weights = np.ones(size)
    if score in ("gs-r", "gs-q"):  # (|z| - l1) / C and (|z| - l1)^2 / (2 C), C = L + l2
        norms = problem.ready_layout().column_squared_norms(problem.weights)[:size]
        curvature = np.where(norms > 0, problem.loss.smoothness * norms + l2, 0.0)
        used = curvature > 0
        least = curvature[used].min() if used.any() else 1.0
        weights = np.where(used, least / np.where(used, curvature, 1.0), 0.0)  # only the order matters
        weights = weights if score == "gs-r" else np.sqrt(weights)
    weights = np.where((lower <= 0) & (upper >= 0), weights, 0.0)
    low, high = np.where(upper > 0, -l1, -np.inf), np.where(lower < 0, l1, np.inf)
    return AtZero(weights, low, high, np.arange(size, size + problem.intercept), problem.penalty.absent)


def _dual(problem: Problem) -> AtZero:
    size, weights, targets = problem.n_samples, problem.weights, problem.targets
    pieces = problem.loss.core.pieces
    if pieces is None:  # phi* bends, or is steep at zero
        none = np.zeros(size)
        return AtZero(none, none, none, np.flatnonzero(weights > 0), False)
    eps, moved = pieces[1], problem.core_offset if problem.core_offset.size else 0.0
    kinds, kind = np.unique(targets, return_inverse=True)
    domain = np.array([problem.loss.core.domain(float(b)) for b in kinds])[kind.ravel()]
    low = np.where(domain[:, 0] < 0, targets - eps - moved, -np.inf)  # the subdifferential of phi* at zero
    high = np.where(domain[:, 1] > 0, targets + eps - moved, np.inf)
    return AtZero(weights, low, high, np.empty(0, dtype=np.int64), False)


@dataclass(frozen=True)
class Vectors:
    """The vectors of an index, ``scale o (sign fiber, offset)``, and the signs of its queries."""

    labels: np.ndarray
    """The coordinate of each vector, plus the number of coordinates where it is the second one."""
    scales: np.ndarray
    offsets: np.ndarray | None
    queries: tuple[tuple[float, float], ...]
    """The signs of the image and of the last number."""


def vectors(at: AtZero) -> Vectors:
    used, w = at.weights > 0, at.weights
    low, high = at.low[used], at.high[used]
    if np.array_equal(low, -high) and np.isfinite(high).all():
        labels, scales, offsets = np.flatnonzero(used), w[used], -w[used] * high
        queries: tuple[tuple[float, float], ...] = ((1.0, 1.0), (-1.0, 1.0))
    elif np.array_equal(low, high):
        labels, scales, offsets = np.flatnonzero(used), w[used], -w[used] * high
        queries = ((1.0, 1.0), (-1.0, -1.0))
    else:
        up, down = (np.flatnonzero(used & np.isfinite(end)) for end in (at.high, at.low))
        labels = np.concatenate([up, w.size + down])
        scales = np.concatenate([w[up], -w[down]])
        offsets = np.concatenate([-w[up] * at.high[up], w[down] * at.low[down]])
        queries = ((1.0, 1.0),)
    # The same number for all changes no order, unless a second query turns its sign.
    needed = offsets.size > 0 and (np.ptp(offsets) > 0 or (queries[-1][1] < 0 and bool(offsets.any())))
    return Vectors(labels, scales, offsets if needed else None, queries)


def index(problem: Problem, side: str, at: AtZero, seed: int, breadth: int, links: int) -> Find:
    """The search by hnswlib. It is approximate; ``breadth`` makes it more exact."""
    try:
        import hnswlib
    except ImportError as error:
        raise ImportError(
            "MaxInnerProduct needs hnswlib. Install it with: python -m pip install 'southwell[search]'"
        ) from error
    by_columns = side == "primal"
    stored = vectors(at)
    points = problem.matrix.fibers(by_columns)
    length = points.shape[1] + (problem.intercept and not by_columns)
    width, count, size = length + (stored.offsets is not None), stored.labels.size, points.shape[0]
    if 4 * count * width > MEMORY_LIMIT:
        raise ValueError(
            f"MaxInnerProduct indexes dense float32 vectors: {count} x {width} would take "
            f"{4 * count * width / 2**30:.1f} GiB; the limit is {MEMORY_LIMIT / 2**30:.0f}. Use Hybrid or Greedy."
        )

    def build() -> tuple[Any, float]:
        dense, reach = _dense(points, problem.shifts, by_columns, stored, length)
        found = hnswlib.Index(space="ip", dim=width)
        found.init_index(max_elements=max(count, 1), ef_construction=200, M=links, random_seed=seed % 2**31)
        if count:
            found.add_items(dense, stored.labels, num_threads=1)  # one thread: the same index for the same seed
        return found, reach

    # The vectors may depend on penalty and targets: the last index alone is kept.
    parts = stored.labels, stored.scales, stored.offsets
    key = side, seed, links, *(None if part is None else part.tobytes() for part in parts)
    last: dict[object, tuple[Any, float]] = problem.keep("search", dict)
    kept = last.get(key)
    if kept is None:
        kept = build()
        last.clear()
        last[key] = kept
    searcher, reach = kept
    of_each = np.bincount(stored.labels % max(size, 1), minlength=size)  # vectors
    allowed = np.ones(2 * size, dtype=np.uint8)

    def find(image: np.ndarray, number: int, apart: np.ndarray) -> np.ndarray:
        apart = apart[apart < size]  # without an intercept
        number = min(number, count - int(of_each[apart].sum()))
        if number <= 0:
            return np.empty(0, dtype=np.int64)
        query = _query(image[:length], reach, stored)
        allowed[apart] = allowed[size + apart] = 0
        try:
            found = nearest(query, number, int(of_each[apart].sum()))
            return np.asarray(found[allowed[found] > 0][:number] % size)
        finally:
            allowed[apart] = allowed[size + apart] = 1

    def nearest(query: np.ndarray, number: int, masked: int) -> np.ndarray:
        """Labels, the nearest first, ``number`` of them allowed. A filter is called for every vector that is met, so a
        few that are masked are better asked for and dropped."""
        more, options = number + masked, dict[str, Any]()
        if more > 2 * breadth:
            more, options = number, {"filter": allowed.data.__getitem__}
        for ef in (max(breadth, more), count):
            searcher.set_ef(ef)
            try:
                labels, distances = searcher.knn_query(query, k=more, num_threads=1, **options)
            except RuntimeError:  # fewer were found, since the graph is not connected
                continue
            order = np.argsort(distances, axis=None, kind="stable")  # distance = 1 - product
            return np.asarray(labels.ravel()[order].astype(np.int64))
        return np.empty(0, dtype=np.int64)

    return find


def _dense(
    points: AnyMatrix, shifts: np.ndarray | None, by_fiber: bool, stored: Vectors, length: int
) -> tuple[np.ndarray, float]:
    """The vectors in single precision, with their shifts, some at a time, scaled to numbers of at most one; and the
    scale of the offsets, in units of that of the fibers."""
    count, size = stored.labels.size, points.shape[0]
    dense = np.zeros((count, length + (stored.offsets is not None)), dtype=np.float32)
    largest = abs(points).max() + (0.0 if shifts is None else np.abs(shifts).max())
    largest = max(largest, 1.0) if length > points.shape[1] else largest  # the entries of an intercept
    steepest = np.abs(stored.scales).max(initial=0.0)
    for start in range(0, count, step := max(1, 2**22 // length)):
        part = slice(start, start + step)
        fibers = stored.labels[part] % size
        slab = points[fibers]
        slab = slab.toarray() if sp.issparse(slab) else slab
        if shifts is not None:
            slab = slab + (shifts[fibers, None] if by_fiber else shifts)
        by = (stored.scales[part] / steepest)[:, None]
        dense[part, : slab.shape[1]] = (slab / largest if largest > 0 else slab) * by
        if length > points.shape[1]:  # an intercept
            dense[part, length - 1] = (1 / largest if largest > 0 else 1.0) * by[:, 0]
    if stored.offsets is None:
        return dense, 0.0
    farthest = np.abs(stored.offsets).max()
    dense[:, -1] = stored.offsets / farthest
    with np.errstate(over="ignore", divide="ignore"):
        return dense, float(farthest / steepest / largest)


def _query(image: np.ndarray, reach: float, stored: Vectors) -> np.ndarray:
    """The queries in single precision, scaled to a largest number of one. Only the order of the products matters."""
    largest = np.abs(image).max(initial=0.0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = float(np.divide(reach, largest)) if stored.offsets is not None else 0.0
        unit = image / largest if largest > 0 else image
        unit, last = (unit, ratio) if ratio <= 1 else (unit / ratio, 1.0)
    parts = [unit] if stored.offsets is None else [unit, np.array([last])]
    signed = ([sign * part for sign, part in zip(signs, parts, strict=False)] for signs in stored.queries)
    return np.stack([np.concatenate(each) for each in signed]).astype(np.float32)
