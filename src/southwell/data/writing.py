"""Writes stores, with bounded memory: a shard at a time, then the manifest, which makes them part of the store."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ..model_files import files
from ..model_files.files import Refused
from . import folders, manifest, npy
from .column_totals import ColumnTotals
from .dataset import Batch, joined
from .manifest import FILE, MANIFEST, Entry, Manifest, ShardEntry
from .options import narrowed

MODES = ("new", "overwrite", "append")


class Writer:
    """Collects batches of rows, and writes a shard when there are enough."""

    def __init__(self, folder: Path, old: Manifest | None, dtype: Any, shard_bytes: int) -> None:
        self.folder, self.old, self.shard_bytes = folder, old, shard_bytes
        self.dtype = np.dtype(old.dtype) if old is not None else dtype
        self.token = uuid.uuid4().hex[:8]  # of all files that are written now
        self.layout: str | None = None if old is None else old.layout
        self.shards: list[ShardEntry] = []
        self.classes: dict[str, int] | None = None
        if old is not None and old.classes is not None:
            self.classes = {name: k for k, name in enumerate(old.classes)}
        self.totals = ColumnTotals(self._new_array, self._drop)
        self._waiting: list[Batch] = []

    def add(self, batch: Batch) -> None:
        """Take rows."""
        if batch.rows == 0:
            return
        held = sum(one.bytes for one in self._waiting)
        if held + batch.bytes > 1.25 * self.shard_bytes:
            self._flush()
        self._waiting.append(batch)

    def commit(self, columns: int, feature_names: list[str] | None) -> Manifest:
        """Write what is left, and the manifest: from then on the rows are part of the store."""
        self._flush()
        if not self.shards:
            raise Refused("there are no rows")
        if self.old is not None:
            if feature_names is not None and self.old.feature_names not in (None, feature_names):
                raise Refused("the names of its columns are not those of the store")
            names = self.old.feature_names
            if names is not None and columns != len(names):
                raise Refused(f"it has {columns} columns, and the store {len(names)}")
            if self.layout == "dense" and columns != self.old.columns:
                raise Refused(f"it has {columns} columns, and the store {self.old.columns}")
            columns, before = max(columns, self.old.columns), self.old.shards
        else:
            names, before = feature_names, []
        old = {} if self.old is None else self.old.statistics
        made = Manifest(
            self.layout or "csr", str(self.dtype), columns, [*before, *self.shards], {}, names,
            None if self.classes is None else list(self.classes),
        )  # fmt: skip
        if len({frozenset(shard.files) for shard in made.shards}) > 1:
            raise Refused(f"its rows have {_told(made.shards[-1])}, and those of the store {_told(made.shards[0])}")
        made.statistics = self.totals.finish(self.folder, old)
        self._replace_manifest(made)
        return made

    def _flush(self) -> None:
        if not self._waiting:
            return
        whole = joined(self._waiting, max(int(one.A.shape[1]) for one in self._waiting))
        self._waiting = []
        parts = -(-whole.bytes // (2 * self.shard_bytes)) if whole.rows > 1 else 1
        edges = np.linspace(0, whole.rows, min(parts, whole.rows) + 1).astype(int).tolist()
        for start, stop in itertools.pairwise(edges):
            self._write(whole if len(edges) == 2 else whole.part(start, stop))

    def _write(self, batch: Batch) -> None:
        layout = "csr" if sp.issparse(batch.A) else "dense"
        if self.layout not in (None, layout):
            raise Refused(f"its rows are {_WORDS[layout]}, and those of the store are {_WORDS[str(self.layout)]}")
        self.layout = layout
        A = narrowed(batch.A, self.dtype)
        self.totals.add(A)
        if layout == "csr":
            pointers = A.indptr.astype(np.int64) - int(A.indptr[0])
            arrays = {"data": A.data, "indices": A.indices.astype(np.int32, copy=False), "indptr": pointers}
            entries = int(pointers[-1])
        else:
            arrays, entries = {"A": np.ascontiguousarray(A)}, int(A.size)
        arrays |= self._row_parts(batch)
        number = len(self.shards) + (0 if self.old is None else len(self.old.shards))
        self.shards.append(
            ShardEntry(
                batch.rows,
                entries,
                {name: self._array(f"shard_{number:06}", name, values) for name, values in arrays.items()},
            )
        )

    def _row_parts(self, batch: Batch) -> dict[str, np.ndarray]:
        made: dict[str, np.ndarray] = {}
        if batch.targets is not None:
            if batch.targets.dtype.kind == "U":
                made["codes"] = self._codes(batch.targets)
            else:
                made["targets"] = batch.targets.astype(np.float64, copy=False)
        for name, dtype in (
            ("labels", np.float64),
            ("label_sizes", np.int32),
            ("weights", np.float64),
            ("qid", np.int64),
        ):
            values = getattr(batch, name)
            if values is not None:
                made[name] = values.astype(dtype, copy=False)
        return made

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        if self.classes is None:
            self.classes = {}
        found, inverse = np.unique(labels, return_inverse=True)
        codes = [self.classes.setdefault(str(name), len(self.classes)) for name in found]
        return np.array(codes, np.int32)[inverse]

    # Files.

    @contextlib.contextmanager
    def _file(self, name: str) -> Iterator[tuple[BinaryIO, Path]]:
        path = self.folder / name
        with os.fdopen(os.open(path, files.WRITE_NEW, 0o666), "wb") as file:
            yield file, path
            file.flush()
            os.fsync(file.fileno())

    def _array(self, of: str, name: str, values: np.ndarray) -> Entry:
        return self._new_array(f"{of}-{self.token}.{name}.npy", values.dtype, (values,), values.shape)

    def _new_array(self, name: str, dtype: Any, parts: Any, shape: tuple[int, ...]) -> Entry:
        """Write an array that comes in parts."""
        if not name.count("-"):
            name = name.replace(".", f"-{self.token}.", 1)
        with self._file(name) as (file, _):
            hashed = _Hashed(file)
            npy.write_header(hashed, shape, dtype)
            for part in parts:
                npy.write_values(hashed, part)
        return Entry(name, hashed.written, hashed.sha.hexdigest())

    def _drop(self, entry: Entry) -> None:
        (self.folder / entry.name).unlink()

    def _replace_manifest(self, made: Manifest) -> None:
        files.sync_folder(self.folder)
        name = f"manifest-{self.token}.json"
        with self._file(name) as (file, _):
            file.write(made.text())
        os.replace(self.folder / name, self.folder / MANIFEST)
        files.sync_folder(self.folder)


_WORDS = {"csr": "sparse", "dense": "dense"}


def _told(shard: ShardEntry) -> str:
    return ", ".join(sorted(set(shard.files) - {"data", "indices", "indptr", "A"})) or "no targets"


class _Hashed:
    """A file that is hashed while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sha, self.written = file, hashlib.sha256(), 0

    def write(self, part: Any) -> int:
        self.sha.update(part)
        self.written += memoryview(part).nbytes
        return self.file.write(part)


@contextlib.contextmanager
def writer(path: Path, mode: str, dtype: Any, shard_bytes: int) -> Iterator[Writer]:
    """A writer of a store. What it commits is the store at the end; if there is an error, nothing changes."""
    exists = os.path.lexists(path)
    if mode == "new" and exists:
        raise FileExistsError(
            f"There is something at {str(path)!r} already: choose another name, or say that a store there is to be "
            f"overwritten or appended to."
        )
    if mode == "append" and not exists:
        raise FileNotFoundError(f"There is no store at {str(path)!r} to append to.")
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")
    with _out_of_disk(path, exists):
        if not exists:
            with folders.appearing(path) as part:
                yield Writer(part, None, dtype, shard_bytes)
            return
        with folders.locked(path):
            old = manifest.read(path)  # refuses what is no store
            kept = {MANIFEST, *(entry.name for entry in old.files())}
            folders.remove_others(path, FILE, kept)
            made = Writer(path, old if mode == "append" else None, dtype, shard_bytes)
            try:
                yield made
            finally:  # after a commit the old files go, otherwise the new ones
                now = manifest.read(path)
                folders.remove_others(path, FILE, {MANIFEST, *(entry.name for entry in now.files())})


@contextlib.contextmanager
def _out_of_disk(path: Path, exists: bool) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG):
            raise
        left = "the store is as it was" if exists else "no store was made"
        raise OSError(
            error.errno, f"There is no room left to write {str(path)!r}; {left}. Free some and run the same again"
        ) from None
