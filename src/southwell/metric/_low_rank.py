"""Measurement matrices of low rank, given by vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .. import _data
from .._dense import plain
from .._names import count
from .._typing import Given
from ._memory import refuse_beyond
from ._workers import ALONE, Workers, slabs


class LowRank:
    """D_i^j = sum of c_r u_r u_r' over the terms r of sample i and block j; the outer products are never stored.

    Parameters
    ----------
    vectors : array of shape (n_terms, d)
        u_r; float32 stays float32.
    coefficients : array of shape (n_terms,), optional
        c_r, of either sign; default: ones. u v' + v u' is two terms: (u + v) with 1/2 and (u - v) with -1/2.
    samples, blocks : arrays of int of shape (n_terms,), optional
        The sample and the block of each term. Defaults: term r belongs to sample r, and all to block 0.
    n_samples, n_blocks : int, optional
        Needed if the last samples or blocks have no term.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell.metric import LowRank
    >>> D = LowRank([[1.0, 0.0], [1.0, 1.0]], [2.0, -1.0], samples=[0, 0])
    >>> D.toarray()
    array([[[[ 1., -1.],
             [-1., -1.]]]])
    """

    def __init__(self, vectors: Given, coefficients: Given = None, samples: Given = None, blocks: Given = None, *,
                 n_samples: int | None = None, n_blocks: int | None = None) -> None:  # fmt: skip
        self.vectors = _matrix(vectors)
        terms, self.size = self.vectors.shape
        given = np.ones(terms) if coefficients is None else coefficients
        self.coefficients = _data.vector(given, "coefficients", terms)
        self.samples = _index(np.arange(terms) if samples is None else samples, "samples", terms)
        self.blocks = _index(np.zeros(terms, int) if blocks is None else blocks, "blocks", terms)
        self.n_samples = _reach("n_samples", n_samples, self.samples)
        self.n_blocks = _reach("n_blocks", n_blocks, self.blocks)
        # Terms by sample, and within it by block, so that the terms of a sample lie together.
        order = np.lexsort((self.blocks, self.samples))
        if not np.array_equal(order, np.arange(terms)):
            self.vectors, self.coefficients = self.vectors[order], self.coefficients[order]
            self.samples, self.blocks = self.samples[order], self.blocks[order]
        self._starts = np.searchsorted(self.samples, np.arange(self.n_samples + 1))

    def __repr__(self) -> str:
        n, p, d = self.n_samples, self.n_blocks, self.size
        return f"LowRank({len(self.vectors)} terms, {n} samples, {p} blocks of {d} x {d})"

    @property
    def precision(self) -> float:
        return float(np.finfo(self.vectors.dtype).eps)

    @property
    def stored(self) -> int:
        return self.vectors.size

    def toarray(self) -> np.ndarray:
        """All matrices, of shape (n_samples, n_blocks, d, d)."""
        D = np.zeros((self.n_samples, self.n_blocks, self.size, self.size))
        outer = np.einsum("r,ri,rj->rij", self.coefficients, self.vectors, self.vectors)
        np.add.at(D, (self.samples, self.blocks), outer)
        return D

    def apply(self, X: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *,
              exact: bool = False, workers: Workers = ALONE) -> np.ndarray:  # fmt: skip
        """sum_j <D_i^j, X_j>, as for ``Dense``: <u u', X> = u'X u."""
        groups, place = self._groups(rows, blocks)

        def product(piece: tuple[int, np.ndarray]) -> np.ndarray:
            k, terms = piece
            V = self._vectors(terms, exact)
            return np.asarray(np.einsum("ij,ij->i", V @ X[k].astype(V.dtype), V) * self.coefficients[terms])

        forms = workers.map(product, groups)
        size = self.n_samples if rows is None else len(rows)
        total = np.zeros(size)
        for (_, terms), form in zip(groups, forms, strict=True):
            total += np.bincount(place(terms), form, minlength=size)
        return total

    def adjoint(self, c: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *,
                exact: bool = False, workers: Workers = ALONE) -> np.ndarray:  # fmt: skip
        """sum_i c_i D_i^j: a product V' diag(.) V for each block."""
        groups, place = self._groups(rows, blocks)

        def product(piece: tuple[int, np.ndarray]) -> np.ndarray:
            terms = piece[1]
            V = self._vectors(terms, exact)
            return np.asarray(V.T @ (V * (self.coefficients[terms] * c[place(terms)]).astype(V.dtype)[:, None]))

        total = np.zeros((self.n_blocks if blocks is None else len(blocks), self.size, self.size))
        for (k, _), part in zip(groups, workers.map(product, groups), strict=True):
            total[k] += part
        return (total + total.swapaxes(1, 2)) / 2

    def _vectors(self, terms: np.ndarray, exact: bool) -> np.ndarray:
        return np.asarray(self.vectors[terms].astype(np.float64 if exact else self.vectors.dtype, copy=False))

    def _groups(
        self, rows: np.ndarray | None, blocks: np.ndarray | None
    ) -> tuple[list[tuple[int, np.ndarray]], Callable[[np.ndarray], np.ndarray]]:
        """Terms by block, in slabs, with the position of the block in ``blocks``; and the position of each term's
        sample in the sorted ``rows``."""
        order, starts = self._by_block
        if rows is not None:
            sizes = self._starts[rows + 1] - self._starts[rows]
            terms = np.repeat(self._starts[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
            order = terms[np.argsort(self.blocks[terms], kind="stable")]
            starts = np.searchsorted(self.blocks[order], np.arange(self.n_blocks + 1))
        groups = []
        for k, j in enumerate(range(self.n_blocks) if blocks is None else blocks):
            own = order[starts[j] : starts[j + 1]]
            groups += [(k, own[where]) for where in slabs(own.size, self.size)]
        if rows is None:
            return groups, lambda terms: self.samples[terms]
        return groups, lambda terms: np.searchsorted(rows, self.samples[terms])

    @cached_property
    def _by_block(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.blocks, kind="stable")
        return order, np.searchsorted(self.blocks[order], np.arange(self.n_blocks + 1))

    @cached_property
    def squares(self) -> sp.csr_array:
        """||D_i^j||^2 = sum over pairs of its terms of c c' (u'u')^2."""
        same = self.samples.astype(np.int64) * self.n_blocks + self.blocks
        total, terms = np.zeros(len(same)), np.arange(len(same))
        apart = 0
        while terms.size:
            for where in slabs(terms.size, self.size):
                r, s = terms[where], terms[where] + apart
                inner = np.einsum("ij,ij->i", self._vectors(r, True), self._vectors(s, True))
                weight = self.coefficients[r] * self.coefficients[s] * (1 if apart == 0 else 2)
                total[r] += weight * inner**2
            apart += 1
            terms = terms[terms + apart < same.size]
            terms = terms[same[terms + apart] == same[terms]]
        sums = sp.coo_array((total, (self.samples, self.blocks)), shape=(self.n_samples, self.n_blocks)).tocsr()
        sums.data = np.maximum(sums.data, 0.0)
        return sums


def _matrix(given: Given) -> np.ndarray:
    V = plain("vectors", given)
    if V.ndim != 2 or 0 in V.shape or V.dtype.kind not in "fiub":
        raise ValueError(f"vectors must be numbers of shape (n_terms, d); got shape {V.shape}, dtype {V.dtype}.")
    V = np.ascontiguousarray(V, dtype=np.float32 if V.dtype == np.float32 else np.float64)
    if not np.isfinite(V).all():
        raise ValueError("vectors contains NaN or infinity. Impute or drop those terms first.")
    return V


def _index(given: Given, name: str, size: int) -> np.ndarray:
    values = plain(name, given)
    if values.shape != (size,) or values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= 2**63:
        raise ValueError(
            f"{name} must be {size} integers >= 0 (and below 2**63), one for each vector; got shape {values.shape}, "
            f"dtype {values.dtype}."
        )
    return values.astype(np.int64)


def _reach(name: str, given: Given, index: np.ndarray) -> int:
    least = int(index.max()) + 1
    found = least if given is None else count(name, given, least)
    told = f"the largest index in {name[2:]} is {least - 1}" if given is None else f"{name} is {found}"
    refuse_beyond(None, 32.0 * found, f"LowRank, where {told},", "Number them 0, 1, 2, ... without gaps.")
    return found
