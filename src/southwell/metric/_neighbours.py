"""The triplets of each point: neighbours of its class and impostors of other classes, within a task."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from ._triplets import Triplets
from ._workers import Workers


def triplets(points, labels, starts, maps, n_neighbors: int, n_impostors: int, n_jobs) -> Triplets:
    """For each point u its neighbours v and impostors w in the current metric, and all (u, v, w) of them.

    ``points`` are in the order of tasks, which begin at ``starts``; ``maps[t]`` transforms those of task t so
    that Euclidean distances are those of the metric."""
    pairs, near, far, count = [], [], [], 0
    # Which of several points at the same distance are found depends on the threads of the search, so it gets one.
    with Workers(), threadpool_limits(1, user_api="openmp"):
        found = [
            _found(maps[t](points[first:last]), labels[first:last], n_neighbors, n_impostors, n_jobs)
            for t, (first, last) in enumerate(pairwise(starts))
        ]
    for (first, last), (close, apart) in zip(pairwise(starts), found, strict=True):
        k, l = close.shape[1], apart.shape[1]
        u = np.repeat(np.arange(last - first), k + l)
        pairs.append(np.column_stack([u, np.hstack([close, apart]).ravel()]) + first)
        at = count + (k + l) * np.arange(last - first)[:, None, None]
        both = np.broadcast_arrays(at + np.arange(k)[:, None], at + k + np.arange(l))
        near.append(both[0].ravel())
        far.append(both[1].ravel())
        count += len(pairs[-1])
    small = np.int32 if count < 2**31 else np.int64
    pairs, near, far = (np.concatenate(parts).astype(small) for parts in (pairs, near, far))
    return Triplets(points, pairs, near, far, np.asarray(starts))


def _found(points, labels, n_neighbors: int, n_impostors: int, n_jobs) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the neighbours and of the impostors of each point."""
    largest = np.bincount(labels).max()
    close = np.empty((len(points), n_neighbors), dtype=np.int64)
    apart = np.empty((len(points), min(n_impostors, len(points) - largest)), dtype=np.int64)
    for label in np.unique(labels):
        members, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(points[members])
        close[members] = members[search.kneighbors(return_distance=False)]
        search = NearestNeighbors(n_neighbors=apart.shape[1], n_jobs=n_jobs).fit(points[others])
        apart[members] = others[search.kneighbors(points[members], return_distance=False)]
    return close, apart
