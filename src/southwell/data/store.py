"""Large data in a folder: arrays of rows in NumPy's format, which can be mapped or read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from .._names import one_name
from .._shards import InFiles, memory_of
from .._sparse import compressed
from .._typing import AnyMatrix, Given
from ..model_files.files import Refused
from . import manifest, npy
from .dataset import Batch, Data, csr, indicator, joined
from .manifest import LAYOUTS, ROW_PARTS, STATISTICS, Manifest, ShardEntry
from .options import path_of, refusals


@dataclass(frozen=True)
class Statistics:
    """Statistics of the columns, each an array with one number a column.

    Attributes
    ----------
    counts : ndarray of int64
        How many entries are stored (of dense data: how many are not zero).
    sums, squares : ndarray of float64
        The sums of the entries and of their squares.
    largest : ndarray of float64
        The largest magnitude of an entry.
    """

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    largest: np.ndarray


class Shard:
    """Consecutive rows of a store. Its arrays are mapped when they are first asked for."""

    def __init__(self, folder: Path, entry: ShardEntry, of: Manifest, start: int) -> None:
        self._folder, self._entry, self._of = folder, entry, of
        self.start, self.rows, self.entries = start, entry.rows, entry.entries

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self._of.columns

    @cached_property
    def A(self) -> AnyMatrix:
        """The data as a CSR array or an array, mapped read-only."""
        return self._matrix(mapped=True)

    @property
    def targets(self) -> Any:
        """The targets: numbers, or labels as strings; None if the store has none or several a row."""
        if "codes" in self._entry.files:
            codes = self._part("codes", mapped=False)
            classes = np.array(self._of.classes, dtype=np.str_)
            if codes.size and not 0 <= codes.min() <= codes.max() < classes.size:
                raise ValueError(f"{self._folder}: its codes do not fit its {classes.size} classes.")
            return classes[codes]
        return self._optional("targets")

    @property
    def weights(self) -> np.ndarray | None:
        return self._optional("weights")

    @property
    def qid(self) -> np.ndarray | None:
        return self._optional("qid")

    def read(self) -> Batch:
        """All of it, read into memory, not mapped."""
        batch = self.without_matrix()
        batch.A = self._matrix(mapped=False)
        return batch

    def without_matrix(self) -> Batch:
        """Its targets, weights and queries, beside rows of no columns."""
        batch = Batch(np.empty((self.rows, 0)), self.targets, weights=self.weights, qid=self.qid)
        batch.labels, batch.label_sizes = self._optional("labels"), self._optional("label_sizes")
        if batch.label_sizes is not None and (batch.labels is None or batch.label_sizes.min(initial=0) < 0):
            raise ValueError(f"{self._folder}: its file {self._entry.files['label_sizes'].name!r} holds wrong sizes.")
        return batch

    def _optional(self, name: str) -> np.ndarray | None:
        return self._part(name, mapped=True) if name in self._entry.files else None

    def _matrix(self, mapped: bool) -> AnyMatrix:
        with refusals(self._folder):
            if self._of.layout == "dense":
                return self._array("A", self._of.dtype, self.shape, mapped)
            data = self._array("data", self._of.dtype, (self.entries,), mapped)
            indices = self._array("indices", np.int32, (self.entries,), mapped)
            return self._checked(data, indices, self._array("indptr", np.int64, (self.rows + 1,), mapped))

    def _checked(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> AnyMatrix:
        """Its matrix, safe to read."""
        if indptr[-1] != self.entries:
            raise Refused(f"its file {self._entry.files['indptr'].name!r} does not fit the number of entries")
        if self.entries < 2**31:  # one width of integers, or both would be copied
            indptr = indptr.astype(np.int32)
        try:
            return compressed("csr", (data, indices, indptr), self.shape, "the shard")
        except ValueError as error:
            raise Refused(f"its file {self._entry.files['indices'].name!r}: {error}") from None

    def read_into(self, matrix: tuple[np.ndarray, ...]) -> None:
        """Read the arrays of its matrix into these: one if the store is dense; else data, indices and pointers."""
        names = LAYOUTS[self._of.layout]
        for name, room in zip(names, matrix, strict=True):
            path, header = manifest.open_array(self._folder, self._entry.files[name], room.dtype, room.shape)
            with path.open("rb") as file:
                file.seek(header.length)
                npy.fill(file, room)
        if len(matrix) == 3:
            self._checked(*matrix)
        if not _core.all_finite(matrix[0].reshape(-1)):
            raise Refused(f"its file {self._entry.files[names[0]].name!r} holds NaN or infinity")

    def _part(self, name: str, mapped: bool) -> np.ndarray:
        with refusals(self._folder):
            size = (self.rows,)
            if name == "labels":
                sizes = self._array("label_sizes", np.int32, (self.rows,), False)
                size = (int(sizes.sum()),)
            return self._array(name, ROW_PARTS[name], size, mapped)

    def _array(self, name: str, dtype: Any, size: tuple[int, ...], mapped: bool) -> np.ndarray:
        return manifest.stored_array(self._folder, self._entry.files[name], dtype, size, mapped)

    def __repr__(self) -> str:
        return f"Shard(rows {self.start:,} to {self.start + self.rows:,}, {self.entries:,} entries)"


class Store(InFiles):
    """A folder of data by rows, which need not fit in memory.

    It holds arrays in NumPy's format and ``manifest.json``, which names them: see :doc:`/files`. Make one with
    ``Store.write`` or ``southwell convert``, and open it with ``Store.open``.

    Attributes
    ----------
    path : Path
        The folder.
    shape : tuple of int
        Rows and columns.
    entries : int
        The number of stored entries.
    layout : {"csr", "dense"}
        How rows are stored.
    dtype : numpy.dtype
        float32 or float64.
    feature_names : list of str or None
        The names of the columns.
    memory : int
        The bytes of memory that data may take: a store that needs more than half of it stays in its files when a model
        is fitted, and is read in parts.
    """

    def __init__(self, path: Path, found: Manifest, memory: Given = None) -> None:
        self.path, self.memory = path, memory_of(memory)
        self._take(found)

    def _take(self, found: Manifest) -> None:
        self._manifest = found
        self.shape = found.rows, found.columns
        self.entries, self.layout, self.dtype = found.entries, found.layout, np.dtype(found.dtype)
        self.feature_names = found.feature_names

    @classmethod
    def open(cls, path: str | os.PathLike[str], check: str = "sizes", *, memory: Given = None) -> Store:
        """Open a store.

        Parameters
        ----------
        path : str or PathLike
            The folder.
        check : {"sizes", "checksums"}
            Sizes of all files are always checked. Checksums tell whether one has changed, and read all of them.
        memory : int or str, optional
            What fits of it may take, in bytes or in words such as "2 GB". Default: half of the memory that is free.
        """
        one_name("check", check, ("sizes", "checksums"))
        folder = path_of(path)
        with refusals(folder):
            found = manifest.read(folder)
            for entry in found.files():
                manifest.check_file(folder, entry, check == "checksums")
        return cls(folder, found, memory)

    @classmethod
    def write(
        cls, path: str | os.PathLike[str], A: Given, b: Given = None, *, weights: Given = None, qid: Given = None,
        feature_names: Given = None, dtype: Given = None, shard_bytes: int = 1 << 26, overwrite: bool = False,
    ) -> Store:  # fmt: skip
        """Write data in memory to a new store.

        The store appears when it is complete. If the process is killed before, there is no store, or the old one.

        Parameters
        ----------
        path : str or PathLike
            The folder, which must not exist unless ``overwrite`` is True and it is a store.
        A : Data, array or sparse matrix
            What ``load`` returned, or the data.
        b : array, optional
            Targets: numbers, or labels as strings.
        weights, qid : array, optional
            Weights and queries of the rows.
        feature_names : list of str, optional
            The names of the columns.
        dtype : numpy.float32 or numpy.float64, optional
            The default is that of the data.
        shard_bytes : int
            About how much memory a shard takes.
        overwrite : bool
            Whether a store at ``path`` is replaced.
        """
        from .memory import write

        write(path_of(path), A, b, weights, qid, feature_names, dtype, shard_bytes, overwrite)
        return cls.open(path)

    def append(self, A: Given, b: Given = None, *, weights: Given = None, qid: Given = None) -> None:
        """Add rows. If the process is killed meanwhile, the store is as it was."""
        from .memory import append

        append(self.path, A, b, weights, qid)
        self._take(Store.open(self.path)._manifest)

    def shards(self) -> list[Shard]:
        """Its parts, in order."""
        starts = np.cumsum([0, *(shard.rows for shard in self._manifest.shards)]).tolist()
        return [Shard(self.path, one, self._manifest, start)
                for one, start in zip(self._manifest.shards, starts, strict=False)]  # fmt: skip

    def __iter__(self) -> Iterator[Shard]:
        return iter(self.shards())

    def load(self) -> Data:
        """All of it, in memory."""
        with refusals(self.path):
            A = self._matrix()
            whole = joined([shard.without_matrix() for shard in self], 0)
        data = Data(A, whole.targets, weights=whole.weights, qid=whole.qid, feature_names=self.feature_names)
        if whole.labels is not None and whole.label_sizes is not None:
            data.targets, data.classes = indicator(whole.labels, whole.label_sizes)
        return data

    def matrix(self) -> AnyMatrix:
        """All rows, read into arrays of the whole."""
        with refusals(self.path):
            return self._matrix()

    def _matrix(self) -> AnyMatrix:
        rows, columns = self.shape
        if self.layout == "dense":
            A = np.empty((rows, columns), self.dtype)
            for shard in self:
                shard.read_into((A[shard.start : shard.start + shard.rows],))
            return A
        data, indices = np.empty(self.entries, self.dtype), np.empty(self.entries, np.int32)
        indptr, at = np.zeros(rows + 1, np.int64), 0
        for shard in self:
            stop, pointers = at + shard.entries, np.empty(shard.rows + 1, np.int64)
            shard.read_into((data[at:stop], indices[at:stop], pointers))
            indptr[shard.start + 1 : shard.start + shard.rows + 1] = pointers[1:] + at
            at = stop
        return csr(data, indices, indptr, columns)

    def statistics(self) -> Statistics:
        """Statistics of the columns, over all rows."""
        found = self.stored_statistics()
        columns = np.asarray(found.pop("columns"))
        if columns.size and (columns[0] < 0 or columns[-1] >= self.shape[1] or (np.diff(columns) <= 0).any()):
            raise ValueError(
                f"{self.path}: the columns of its statistics do not increase within its {self.shape[1]} columns."
            )
        made = {}
        for name, values in found.items():
            made[name] = np.zeros(self.shape[1], STATISTICS[name])
            made[name][columns] = values
        return Statistics(**made)

    def stored_statistics(self) -> dict[str, np.ndarray]:
        """The same as it is stored: for the columns that have entries, and these columns."""
        with refusals(self.path):
            entries = self._manifest.statistics
            missing = set(STATISTICS) - set(entries)
            if missing:
                raise Refused(f"it has no statistics of {', '.join(sorted(missing))}")
            made = {
                name: manifest.stored_array(self.path, entries[name], kind, None, mapped=True)
                for name, kind in STATISTICS.items()
            }
            if len({values.size for values in made.values()}) > 1:
                raise Refused("its statistics do not have the same length")
            return made

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"Store({str(self.path)!r}: {rows:,} rows, {columns:,} columns, {self.entries:,} entries, {self.layout}, "
            f"{self.dtype}, {len(self._manifest.shards)} shards)"
        )
