"""Partitions of the coordinates into blocks of similar ones, for ``Hybrid``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ._scipy import sparse as sp
from ._typing import Given

if TYPE_CHECKING:
    from .problem import Problem

CLUSTERINGS = ("kmeans", "minibatch-kmeans", "spectral")


def blocks(problem: Problem, side: str, number: int | None, partition: Given, seed: int) -> np.ndarray:
    """The block of each coordinate; the intercept, last on the primal side, gets one of its own."""
    what, size = ("features", problem.n_features) if side == "primal" else ("samples", problem.n_samples)
    if number is not None and number > size:
        raise ValueError(f"blocks must lie between 1 and the number of {what}, {size}; got {number}.")
    if isinstance(partition, str):
        number = min(8, size) if number is None else number
        labels = problem.keep(
            ("partition", side, number, partition, seed), lambda: _cluster(problem, side, number, partition, seed)
        )
    else:
        labels = _given(partition, size, what)
        found = int(labels.max()) + 1
        if number is not None and number != found:
            raise ValueError(f"blocks is {number}, but partition has {found}; leave blocks out.")
    if side == "primal" and problem.intercept:
        labels = np.append(labels, labels.max() + 1)
    return labels


def _cluster(problem: Problem, side: str, number: int, clustering: str, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering

    points = problem.matrix.fibers(side == "primal")
    size = points.shape[0]
    if number == 1 or number == size:
        return np.arange(size) % number
    if problem.shifts is not None and not problem.matrix.sparse:
        points = points + (problem.shifts[:, None] if side == "primal" else problem.shifts)
    if sp.issparse(points) and points.indices.dtype != np.int32:  # scikit-learn needs 32-bit indices
        points = sp.csr_matrix(
            (points.data, points.indices.astype(np.int32), points.indptr.astype(np.int32)), points.shape
        )
    state = seed % 2**32
    method = {
        "kmeans": lambda: KMeans(number, n_init=1, random_state=state),
        "minibatch-kmeans": lambda: MiniBatchKMeans(number, n_init=1, random_state=state),
        "spectral": lambda: SpectralClustering(
            number, affinity="nearest_neighbors", n_neighbors=min(10, size - 1), random_state=state
        ),
    }[clustering]()
    with warnings.catch_warnings():  # equal points or a disconnected graph still give a valid partition
        warnings.simplefilter("ignore")
        labels = method.fit_predict(points)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def frozen(partition: Given) -> Given:
    """Arrays, lists and other collections as nested tuples, so that rules can be compared; other values unchanged."""
    if isinstance(partition, np.ndarray):
        partition = partition.tolist()
    if isinstance(partition, str) or sp.issparse(partition) or not isinstance(partition, Iterable):
        return partition
    try:
        return tuple(frozen(part) for part in partition)
    except RecursionError:
        raise TypeError("partition must be labels, or lists of members; got lists in lists without end.") from None


def _given(partition: Given, size: int, what: str) -> np.ndarray:
    """The block of each coordinate, from labels or from lists of members; each coordinate must occur once."""
    if not isinstance(partition, tuple):
        raise TypeError(
            f"partition must be one of {', '.join(CLUSTERINGS)}, or an array; got {type(partition).__name__}."
        )
    if not any(isinstance(part, tuple) for part in partition):
        labels = np.asarray(partition)
        if labels.dtype.kind not in "iu" or labels.size != size:
            raise ValueError(
                f"A partition by labels must hold {size} integers, the block of each of the {what}; got {labels.size} "
                f"of type {labels.dtype}."
            )
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    try:
        parts = [np.asarray(part) for part in partition]
    except ValueError:
        parts = [np.empty((0, 0))]  # ragged
    if not all(part.ndim == 1 and (part.size == 0 or part.dtype.kind in "iu") for part in parts):
        raise ValueError(f"A partition by members must be a list of one-dimensional arrays of {what}.")
    parts = [part.astype(np.int64) for part in parts if part.size]
    members = np.concatenate(parts) if parts else np.empty(0, np.int64)
    if members.size and not 0 <= members.min() <= members.max() < size:
        raise ValueError(f"The partition has {what} outside 0..{size - 1}.")
    times = np.bincount(members, minlength=size)
    for word, wrong in (("misses", np.flatnonzero(times == 0)), ("repeats", np.flatnonzero(times > 1))):
        if wrong.size:
            shown = ", ".join(map(str, wrong[:5])) + (", ..." if wrong.size > 5 else "")
            raise ValueError(f"The partition {word} {wrong.size} of {size} {what}: {shown}. Each must be in one block.")
    labels = np.empty(size, np.int64)
    for block, part in enumerate(parts):
        labels[part] = block
    return labels
