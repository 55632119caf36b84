"""The data: validated, hashed in one canonical form, multiplied in exact arithmetic.

The canonical form of a matrix is its shape, then its nonzero entries row by row, each as row, column and value: int64,
int64 and float64, little-endian. It does not depend on layout, dtype and explicit zeros, and -0.0 counts as 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from operator import mul

import numpy as np

from .enclosures import integers, lowest_exponent

SLAB = 1 << 18  # entries that are converted at a time
ENTRY = np.dtype([("row", "<i8"), ("column", "<i8"), ("value", "<f8")])


class Refused(ValueError):
    """The data are not those of the proof, or cannot be read; the message says why."""


class Matrix:
    """A matrix: a NumPy array, or any object with the attributes of a SciPy sparse matrix.

    A vector is a matrix of one column. Sparse matrices are read from their arrays (CSR, CSC or COO), which are checked
    first; none of their methods is called.
    """

    def __init__(self, given, name: str):
        self.name = name
        if isinstance(getattr(given, "format", None), str):
            self._read_sparse(given)
        else:
            try:
                array = np.asarray(given)
            except ValueError as error:
                raise TypeError(f"{name} must be an array of real numbers or a sparse matrix: {error}") from None
            if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
                raise TypeError(
                    f"{name} must be an array of real numbers or a sparse matrix; got {type(given).__name__} of dtype "
                    f"{array.dtype} and shape {array.shape}."
                )
            self.dense = array.reshape(array.shape[0], -1) if array.size else array.reshape(0, 0)
            self.shape = self.dense.shape
        self._survey()

    def _read_sparse(self, given) -> None:
        self.dense, kind = None, given.format
        needed = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(kind)
        if needed is None:
            raise TypeError(f"{self.name} must be in CSR, CSC or COO form; got {kind!r}. Convert it with tocsr().")
        if not all(hasattr(given, part) for part in ("data", "shape", *needed)) or len(given.shape) != 2:
            raise TypeError(f"{self.name} must have rows, columns, data, {needed[0]} and {needed[1]}.")
        n, d = map(int, given.shape)
        values = np.asarray(given.data)
        if values.dtype.kind not in "fiub" or values.ndim != 1:
            raise TypeError(f"{self.name} must hold real numbers; got {values.dtype} of shape {values.shape}.")
        if kind == "coo":
            rows, columns = (np.asarray(part) for part in (given.row, given.col))
        else:
            indptr, minor = np.asarray(given.indptr), np.asarray(given.indices)
            major_size = n if kind == "csr" else d
            sound = indptr.dtype.kind in "iu" and indptr.shape == (major_size + 1,) and indptr[0] == 0
            if not sound or (np.diff(indptr.astype(np.int64)) < 0).any() or indptr[-1] > min(values.size, minor.size):
                raise Refused(f"{self.name} is broken: its indptr does not fit its shape and entries")
            values, minor = values[: indptr[-1]], minor[: indptr[-1]]  # arrays may be longer than the matrix needs
            major = np.repeat(np.arange(major_size), np.diff(indptr.astype(np.int64)))
            rows, columns = (major, minor) if kind == "csr" else (minor, major)
        for index, size in ((rows, n), (columns, d)):
            if index.dtype.kind not in "iu" or index.shape != values.shape:
                raise Refused(f"{self.name} is broken: its indices are not one integer an entry")
            if index.size and not 0 <= int(index.min()) <= int(index.max()) < size:
                raise Refused(f"{self.name} is broken: an index lies outside 0..{size - 1}")
        rows, columns = rows.astype(np.int64), columns.astype(np.int64)
        order = np.lexsort((columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        if ((np.diff(rows) == 0) & (np.diff(columns) == 0)).any():
            raise Refused(f"{self.name} has two entries in one place; sum them first, with sum_duplicates()")
        self.shape, self._entries = (n, d), (rows, columns, values)

    def _slabs(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rows, columns and values of the nonzero entries, in their canonical order, some at a time."""
        n, d = self.shape
        step = max(1, SLAB // max(d, 1)) if self.dense is not None else SLAB
        for start in range(0, n if self.dense is not None else self._entries[0].size, step):
            if self.dense is None:
                rows, columns, values = (part[start : start + step] for part in self._entries)
                values = values.astype(np.float64)
                kept = np.flatnonzero(values != 0)
                yield rows[kept], columns[kept], values[kept]
            else:
                slab = self.dense[start : start + step].astype(np.float64)
                rows, columns = np.nonzero(slab)
                yield rows + start, columns, slab[rows, columns]

    def _survey(self) -> None:
        """Computes the hash, and the exponent e such that all entries are integers times 2**e."""
        digest = hashlib.sha256(np.array(self.shape, "<i8").tobytes())
        self.exponent, self.stored = 0, 0
        for rows, columns, values in self._slabs():
            if not np.isfinite(values).all():
                raise Refused(f"{self.name} contains NaN or infinity")
            entries = np.empty(values.size, ENTRY)
            entries["row"], entries["column"], entries["value"] = rows, columns, values
            digest.update(entries.tobytes())
            if values.size:
                lowest = lowest_exponent(values)
                self.exponent = min(self.exponent, lowest) if self.stored else lowest
                self.stored += values.size
        self.sha256 = digest.hexdigest()

    def _rows(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Pieces of rows: row number, columns and values as integers. Rows without entries are left out."""
        for rows, columns, values in self._slabs():
            if values.size == 0:
                continue
            starts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
            numbers, columns, own = integers(values, self.exponent), columns.tolist(), rows[starts].tolist()
            for i, start, end in zip(own, starts, [*starts[1:], len(numbers)], strict=True):
                yield i, columns[start:end], numbers[start:end]

    def times(self, vectors: list[list[int]]) -> list[list[int]]:
        """A v for each v, in units of 2**exponent."""
        products = [[0] * self.shape[0] for _ in vectors]
        for i, columns, numbers in self._rows():
            for v, product in zip(vectors, products, strict=True):
                product[i] += sum(map(mul, numbers, map(v.__getitem__, columns)))
        return products

    def transposed_times(self, vectors: list[list[int]]) -> list[list[int]]:
        """A'v for each v, in units of 2**exponent."""
        products = [[0] * self.shape[1] for _ in vectors]
        for i, columns, numbers in self._rows():
            for v, product in zip(vectors, products, strict=True):
                if factor := v[i]:
                    for j, number in zip(columns, numbers, strict=True):
                        product[j] += number * factor
        return products

    def columns(self, wanted: list[int]) -> list[list[int]]:
        """Some columns, dense, in units of 2**exponent."""
        place = {j: k for k, j in enumerate(wanted)}
        found = [[0] * self.shape[0] for _ in wanted]
        for i, columns, numbers in self._rows():
            for j, number in zip(columns, numbers, strict=True):
                if j in place:
                    found[place[j]][i] = number
        return found


class Design:
    """A of the problem: a matrix, a matrix minus the means of its columns, or a product of two matrices."""

    def __init__(self, parts: list[Matrix], means: np.ndarray | None):
        self.parts = parts
        self.shape = parts[0].shape[0], parts[-1].shape[1]
        self.exponent = sum(part.exponent for part in parts)
        self.means: list[int] | None = None
        if means is not None:
            lowest = lowest_exponent(means)
            self.exponent = min(self.exponent, self.exponent if lowest is None else lowest)
            self.means = integers(means, self.exponent)
        self._finer = sum(part.exponent for part in parts) - self.exponent

    def times(self, vectors: list[list[int]]) -> list[list[int]]:
        for part in reversed(self.parts):
            vectors_in, vectors = vectors, part.times(vectors)
        if self.means is None:
            return vectors
        shifts = [sum(map(mul, self.means, v)) for v in vectors_in]
        return [[(m << self._finer) - c for m in column] for column, c in zip(vectors, shifts, strict=True)]

    def transposed_times(self, vectors: list[list[int]]) -> list[list[int]]:
        sums = [sum(v) for v in vectors]
        for part in self.parts:
            vectors = part.transposed_times(vectors)
        if self.means is None:
            return vectors
        return [
            [(z << self._finer) - mean * total for z, mean in zip(column, self.means, strict=True)]
            for column, total in zip(vectors, sums, strict=True)
        ]

    def columns(self, wanted: list[int]) -> list[list[int]]:
        if len(self.parts) == 2:
            return self.parts[0].times(self.parts[1].columns(wanted))
        found = self.parts[0].columns(wanted)
        if self.means is None:
            return found
        return [[(a << self._finer) - self.means[j] for a in column] for j, column in zip(wanted, found, strict=True)]
