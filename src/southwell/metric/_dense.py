"""Dense measurement matrices: D of shape (n, p, d, d)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .. import _core
from .._dense import plain
from .._typing import Given
from ._workers import ALONE, Workers, slabs


class Dense:
    """Inner products with dense symmetric matrices, a block at a time.

    A block of all samples is a strided matrix that BLAS reads in place; a batch of samples is gathered block by block,
    in pieces that fit in the cache. ``exact`` computes in float64 whatever the dtype.
    """

    def __init__(self, given: Given) -> None:
        D = _checked(given)
        self.n_samples, self.n_blocks, self.size = D.shape[:3]
        self.flat = D.reshape(self.n_samples, self.n_blocks, -1)

    @property
    def precision(self) -> float:
        return float(np.finfo(self.flat.dtype).eps)

    @property
    def stored(self) -> int:
        return self.flat.size

    def apply(self, X: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *,
              exact: bool = False, workers: Workers = ALONE) -> np.ndarray:  # fmt: skip
        """sum_j <D_i^j, X_j> for the samples i in ``rows``, over the blocks j in ``blocks``, whose matrices X holds."""
        x = X.reshape(len(X), -1)

        def product(at: tuple[int, int]) -> np.ndarray:
            own = x[at[0]].astype(np.float64 if exact else self.flat.dtype)
            return np.concatenate([part @ own for _, part in self._parts(at[1], rows, exact)])

        parts = workers.map(product, enumerate(_indices(blocks, self.n_blocks)))
        return np.asarray(np.sum(parts, axis=0, dtype=np.float64))

    def adjoint(self, c: np.ndarray, rows: np.ndarray | None = None, blocks: np.ndarray | None = None, *,
                exact: bool = False, workers: Workers = ALONE) -> np.ndarray:  # fmt: skip
        """sum_i c_i D_i^j for the blocks j, over the samples i."""
        c = c.astype(np.float64 if exact else self.flat.dtype)

        def product(j: int) -> np.ndarray:
            return np.asarray(sum(c[where] @ part for where, part in self._parts(j, rows, exact)))

        parts = workers.map(product, _indices(blocks, self.n_blocks))
        stack = np.array(parts, dtype=np.float64).reshape(-1, self.size, self.size)
        return np.asarray((stack + stack.swapaxes(1, 2)) / 2)  # only the symmetric part of D matters

    def _parts(self, block: int, rows: np.ndarray | None, exact: bool) -> Iterable[tuple[slice, np.ndarray]]:
        """The rows of one block in slabs; a single slab if nothing has to be converted."""
        column = self.flat[:, block] if rows is None else self.flat[rows, block]
        if not exact or column.dtype == np.float64:
            return [(slice(None), column)]
        return ((where, column[where].astype(np.float64)) for where in slabs(len(column), column.shape[1]))

    @cached_property
    def squares(self) -> sp.csr_array:
        """||D_i^j||^2, samples by blocks."""
        total = np.zeros((self.n_samples, self.n_blocks))
        for j in range(self.n_blocks):
            for where, part in self._parts(j, None, True):
                total[where, j] = np.einsum("ij,ij->i", part, part)
        return sp.csr_array(total)


def _indices(blocks: np.ndarray | None, n_blocks: int) -> Sequence[int] | np.ndarray:
    return range(n_blocks) if blocks is None else blocks


def _checked(given: Given) -> np.ndarray:
    D = plain("D", given)
    shape = D.shape
    if D.dtype.kind not in "fiub":
        raise TypeError(f"D must hold real numbers; got dtype {D.dtype}.")
    if D.ndim == 3:
        D = D[:, None]
    if D.ndim != 4 or D.shape[2] != D.shape[3]:
        raise ValueError(
            "D must hold square matrices: shape (n_samples, n_blocks, d, d), or (n_samples, d, d) for one block; got "
            f"{shape}."
        )
    if 0 in D.shape:
        raise ValueError(f"D is empty: shape {shape}.")
    D = np.ascontiguousarray(D, dtype=np.float32 if D.dtype == np.float32 else np.float64)
    if not _core.all_finite(D.reshape(-1)):
        raise ValueError("D contains NaN or infinity. Impute or drop those samples first.")
    slack = 1e-6 if D.dtype == np.float32 else 1e-12
    for where in slabs(len(D), D[0].size):
        part = D[where]
        skew = np.abs(part - part.swapaxes(-1, -2)).max()
        if skew > slack * np.abs(part).max():
            raise ValueError(
                f"D must hold symmetric matrices; entries differ from their mirror images by up to {skew:.3g}. "
                "(D + D.swapaxes(-1, -2)) / 2 has the same inner products with symmetric matrices."
            )
    return D
