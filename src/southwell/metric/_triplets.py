"""Measurement matrices of triplets: the squared distance of an impostor minus that of a neighbour, under the metric.

Triplet i of task t is (u, v, w): Z_i = (z_u - z_w)(z_u - z_w)' - (z_u - z_v)(z_u - z_v)' is multiplied with X_0 + X_t,
or with X_0 alone if there is one task. No outer product is ever formed. Squared distances belong to pairs of points, of
which there are far fewer than triplets:

    margins   transform every point once, G = Z M; the distance of a pair is z_u'g_u + z_v'g_v - 2 z_u'g_v, and for
              certificates (z_u - z_v)'(g_u - g_v), which takes three times as long but does not cancel
    adjoint   sum over pairs of c (z_u - z_v)(z_u - z_v)' = Z' L Z, with L the Laplacian of the graph of pairs

A batch with few pairs multiplies their differences instead.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ._workers import ALONE, Workers, slabs


class Triplets:
    """Points and triplets in the order of their tasks.

    Parameters
    ----------
    points : array of shape (n_points, d)
    pairs : array of shape (n_pairs, 2)
        Points of the same task, in the order of tasks.
    near, far : arrays of shape (n_triplets,)
        Pairs (u, v) and (u, w), in the order of tasks.
    starts : array of shape (n_tasks + 1,)
        Where the points of each task begin.
    """

    def __init__(self, points: np.ndarray, pairs: np.ndarray, near: np.ndarray, far: np.ndarray, starts: np.ndarray):
        self.points, self.starts = _centred(points, starts), starts
        self.pairs, self.near, self.far = pairs, near, far
        self.n_samples, self.size, self.n_tasks = near.size, points.shape[1], starts.size - 1
        self.n_blocks = 1 if self.n_tasks == 1 else self.n_tasks + 1
        self.stored = self.points.size + pairs.size // 2 * self.size
        self._pair_starts = np.searchsorted(pairs[:, 0], starts)
        self._row_starts = np.searchsorted(near, self._pair_starts)

    @property
    def precision(self) -> float:
        return float(np.finfo(self.points.dtype).eps)

    # Products

    def apply(self, X, rows=None, blocks=None, *, exact=False, workers: Workers = ALONE) -> np.ndarray:
        """<Z_i, X_0 + X_t>, as for ``Dense``."""
        near, far = (self.near, self.far) if rows is None else (self.near[rows], self.far[rows])
        metrics = self._metrics(X, blocks)
        Z = self._points(exact)
        if rows is None or self._many(rows):
            distances = self._all_distances(Z, metrics, _marked(len(self.pairs), near, far), exact, workers)
            return distances[far] - distances[near]
        used, places = np.unique(np.concatenate([far, near]), return_inverse=True)
        distances = np.zeros(used.size)

        def direct(piece: tuple[int, slice]) -> None:
            E = self._differences(Z, used[piece[1]])
            distances[piece[1]] = np.einsum("ij,ij->i", E @ metrics[piece[0]].astype(Z.dtype), E)

        workers.map(direct, ((t, where) for t, where in self._by_task(used) if metrics[t] is not None))
        return distances[places[: far.size]] - distances[places[far.size :]]

    def adjoint(self, c, rows=None, blocks=None, *, exact=False, workers: Workers = ALONE) -> np.ndarray:
        """sum_i c_i Z_i over the triplets of each task; block 0 has the sum of all."""
        near, far = (self.near, self.far) if rows is None else (self.near[rows], self.far[rows])
        Z = self._points(exact)
        if rows is None or self._many(rows):
            weights = np.bincount(far, c, len(self.pairs)) - np.bincount(near, c, len(self.pairs))
            stack = self._laplacian(Z, weights, self._met(blocks), workers)
        else:
            used, places = np.unique(np.concatenate([far, near]), return_inverse=True)
            weights = np.bincount(places, np.concatenate([c, -c]), used.size)
            stack = np.zeros((self.n_tasks, self.size, self.size))

            def direct(piece: tuple[int, slice]) -> np.ndarray:
                E = self._differences(Z, used[piece[1]])
                return E.T @ (E * weights[piece[1], None].astype(Z.dtype))

            pieces = [piece for piece in self._by_task(used) if piece[0] in self._met(blocks)]
            for (t, _), part in zip(pieces, workers.map(direct, pieces), strict=True):
                stack[t] += part
        stack = (stack + stack.swapaxes(1, 2)) / 2
        if self.n_tasks > 1:
            stack = np.concatenate([stack.sum(axis=0, keepdims=True), stack])
        return stack if blocks is None else stack[blocks]

    def _metrics(self, X: np.ndarray, blocks) -> list[np.ndarray | None]:
        """The matrix of each task; None for tasks that none of the blocks concerns."""
        if self.n_tasks == 1:
            return [X[0]]
        own = dict(enumerate(X)) if blocks is None else dict(zip(map(int, blocks), X, strict=True))
        shared = own.get(0)
        if shared is None:
            return [own.get(t + 1) for t in range(self.n_tasks)]
        return [shared + own[t + 1] if t + 1 in own else shared for t in range(self.n_tasks)]

    def _met(self, blocks) -> set[int]:
        """The tasks that depend on one of the blocks: all, if the shared block is among them."""
        every = blocks is None or self.n_tasks == 1 or 0 in blocks
        return set(range(self.n_tasks)) if every else {int(j) - 1 for j in blocks}

    def _many(self, rows: np.ndarray) -> bool:
        """Whether it is cheaper to transform all points than the differences of so many pairs."""
        return 4 * rows.size > len(self.points)

    def _points(self, exact: bool) -> np.ndarray:
        return self.points.astype(np.float64) if exact else self.points

    def _differences(self, Z: np.ndarray, pairs) -> np.ndarray:
        u, v = self.pairs[pairs].T
        return Z[u] - Z[v]

    def _by_task(self, pairs: np.ndarray, entries: int = 1 << 20) -> list[tuple[int, slice]]:
        """Slabs of sorted pairs, each of one task."""
        ends = np.searchsorted(pairs, self._pair_starts)
        found = []
        for t in range(self.n_tasks):
            for part in slabs(ends[t + 1] - ends[t], self.size, entries):
                found.append((t, slice(ends[t] + part.start, ends[t] + part.stop)))
        return found

    @cached_property
    def _point_slabs(self) -> list[tuple[int, slice]]:
        found = []
        for t in range(self.n_tasks):
            for part in slabs(self.starts[t + 1] - self.starts[t], self.size):
                found.append((t, slice(self.starts[t] + part.start, self.starts[t] + part.stop)))
        return found

    def _all_distances(self, Z, metrics, wanted, exact: bool, workers: Workers) -> np.ndarray:
        G, distances, lengths = np.zeros_like(Z), np.zeros(len(self.pairs)), np.zeros(len(Z))

        def transform(piece: tuple[int, slice]) -> None:
            t, where = piece
            np.matmul(Z[where], metrics[t].astype(Z.dtype), out=G[where])
            lengths[where] = np.einsum("ij,ij->i", Z[where], G[where])

        def measure(where: slice) -> None:
            some = wanted[where]
            u, v = self.pairs[some].T
            if exact:
                distances[some] = np.einsum("ij,ij->i", Z[u] - Z[v], G[u] - G[v])
            else:
                distances[some] = lengths[u] + lengths[v] - 2 * np.einsum("ij,ij->i", Z[u], G[v])

        workers.map(transform, ((t, where) for t, where in self._point_slabs if metrics[t] is not None))
        workers.map(measure, (where for t, where in self._by_task(wanted, 1 << 17) if metrics[t] is not None))
        return distances

    @cached_property
    def _graph(self) -> sp.csr_array:
        """The symmetric graph of pairs; its values are the numbers of the pairs."""
        u, v = self.pairs.T
        at = np.arange(len(self.pairs), dtype=np.int32)
        order = np.lexsort((np.concatenate([v, u]), np.concatenate([u, v])))
        rows, columns = np.concatenate([u, v])[order], np.concatenate([v, u])[order]
        ends = np.searchsorted(rows, np.arange(len(self.points) + 1))
        return sp.csr_array((np.concatenate([at, at])[order], columns, ends), shape=(len(self.points),) * 2)

    def _laplacian(self, Z: np.ndarray, weights: np.ndarray, tasks: set[int], workers: Workers) -> np.ndarray:
        """Z' L Z for each of some tasks; zero for the others."""
        graph = self._graph
        values = weights.astype(Z.dtype)[graph.data]
        degrees = np.add.reduceat(np.append(values, 0), graph.indptr[:-1]) * (np.diff(graph.indptr) > 0)

        def product(piece: tuple[int, slice]) -> np.ndarray:
            t, where = piece
            first, last = self.starts[t], self.starts[t + 1]
            ends = graph.indptr[where.start : where.stop + 1]
            inside = slice(ends[0], ends[-1])
            part = sp.csr_array(
                (values[inside], graph.indices[inside] - first, ends - ends[0]), shape=(len(ends) - 1, last - first)
            )
            own = Z[where]
            return own.T @ (degrees[where, None] * own - part @ Z[first:last])

        stack = np.zeros((self.n_tasks, self.size, self.size))
        pieces = [piece for piece in self._point_slabs if piece[0] in tasks]
        for (t, _), part in zip(pieces, workers.map(product, pieces), strict=True):
            stack[t] += part
        return stack

    # Used for step sizes

    @cached_property
    def squares(self) -> sp.csr_array:
        """||Z_i||^2 = ||a||^4 + ||b||^4 - 2 (a'b)^2, the same for both of its blocks."""
        Z, total = self._points(True), np.zeros(self.n_samples)
        for where in slabs(self.n_samples, self.size):
            a, b = self._differences(Z, self.far[where]), self._differences(Z, self.near[where])
            aa, bb, ab = (np.einsum("ij,ij->i", one, other) for one, other in ((a, a), (b, b), (a, b)))
            total[where] = np.maximum(aa**2 + bb**2 - 2 * ab**2, 0.0)
        if self.n_tasks == 1:
            return sp.csr_array(total[:, None])
        tasks = np.repeat(np.arange(1, self.n_tasks + 1), np.diff(self._row_starts))
        columns = np.column_stack([np.zeros_like(tasks), tasks]).ravel()
        ends = 2 * np.arange(self.n_samples + 1)
        return sp.csr_array((np.repeat(total, 2), columns, ends), shape=(self.n_samples, self.n_blocks))

    def unit(self) -> float:
        """The root mean square distance of neighbours; zero if all coincide."""
        total = 0.0
        near = np.unique(self.near)
        for where in slabs(near.size, self.size):
            total += float(np.sum(self._differences(self.points, near[where]).astype(np.float64) ** 2))
        return float(np.sqrt(total / near.size))

    def measured_in(self, unit: float) -> None:
        """Divide all points by ``unit``."""
        self.points /= np.asarray(unit, self.points.dtype)

    def pull(self) -> np.ndarray:
        """(1/n) sum of (z_u - z_v)(z_u - z_v)' over the pairs of neighbours of each task; block 0 has the sum."""
        weights = np.zeros(len(self.pairs))
        weights[np.unique(self.near)] = 1.0 / self.n_samples
        stack = self._laplacian(self._points(True), weights, self._met(None), ALONE)
        stack = (stack + stack.swapaxes(1, 2)) / 2
        return np.concatenate([stack.sum(axis=0, keepdims=True), stack]) if self.n_tasks > 1 else stack


def _centred(points: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Points minus the mean of their task: distances do not change, rounding errors become smaller."""
    centred = np.empty_like(points)
    for first, last in pairwise(starts):
        own = points[first:last]
        centred[first:last] = own - own.mean(axis=0, dtype=np.float64).astype(points.dtype)
    return centred


def _marked(size: int, *some: np.ndarray) -> np.ndarray:
    mark = np.zeros(size, bool)
    for where in some:
        mark[where] = True
    return np.flatnonzero(mark)
