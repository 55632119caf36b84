"""Matrices in files of NumPy and SciPy, and in MatrixMarket files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from .. import _core
from .._names import integral, shown
from .._sparse import compressed, sound_array
from .._typing import AnyMatrix
from ..model_files.files import Refused, open_regular
from . import matrix_market, npy
from .dataset import MOST, Batch, csr
from .options import Options
from .streams import MOST_EXPANDED, UNSUSPECTED

IN_MEMORY = 1 << 27  # the largest file that is read at once where memory is bounded
NAMES = {
    "A": ("A", "X"), "targets": ("b", "y", "targets", "target"), "weights": ("weights", "sample_weight"),
    "qid": ("qid",),
}  # fmt: skip


class Arrays:
    """Files that hold a matrix of numbers each, as one matrix by rows."""

    def __init__(self, paths: list[Path], kind: str, options: Options) -> None:
        if options.weight is not None:
            raise ValueError("weight names a column of a table, and these files hold a matrix. Leave it out.")
        self.paths, self.kind, self.options = paths, kind, options
        self.columns = 0
        self.feature_names: list[str] | None = None
        self._targets = None
        if isinstance(options.target, str | os.PathLike):
            self._targets = vector(Path(options.target))
        elif not (options.target is None or isinstance(options.target, bool) or integral(options.target)):
            raise TypeError(
                f"target must be the position of a column, or a .npy file of targets; got {shown(options.target)}."
            )

    def batches(self, limit: int | None) -> Iterator[tuple[Path, Batch]]:
        """Rows of about ``limit`` bytes at a time; with None, of a whole file."""
        row = 0
        for path in self.paths:
            parts = self._dense(path, limit) if self.kind == "npy" else self._whole(path, limit)
            for whole in parts:
                batch = self._with_targets(whole, row)
                if self.columns not in (0, batch.A.shape[1]):
                    raise Refused(f"it has {batch.A.shape[1]} columns, and the files before it {self.columns}")
                self.columns = int(batch.A.shape[1])
                yield path, batch
                row += batch.rows
        if self._targets is not None and self._targets.size != row:
            raise Refused(f"the data have {row} rows, but {self.options.target!s} holds {self._targets.size} targets")

    def _with_targets(self, batch: Batch, row: int) -> Batch:
        if self._targets is not None:
            batch.targets = self._targets[row : row + batch.rows]
        elif integral(self.options.target):
            width, j = int(batch.A.shape[1]), int(self.options.target)
            if not -width <= j < width:
                raise ValueError(f"target must be a column between {-width} and {width - 1}, or a file; got {j}.")
            batch.targets = np.asarray(_column(batch.A, j % width), dtype=np.float64)
            batch.A = _without(batch.A, j % width)
        return batch

    def _whole(self, path: Path, limit: int | None) -> Iterator[Batch]:
        if limit is not None and path.stat().st_size > IN_MEMORY:
            raise Refused(
                f"files of this kind are read at once, and it is larger than the {IN_MEMORY >> 20} MB that bounded "
                f"memory allows. Load it and use Store.write, or save it as .npy, Parquet or in SVMlight's format"
            )
        batch = Batch(matrix_market.read(path)) if self.kind == "matrix market" else _archive(path)
        batch.A = numbers(batch.A)
        for start, stop in _cuts(batch, limit):
            yield batch.part(start, stop)

    def _dense(self, path: Path, limit: int | None) -> Iterator[Batch]:
        with open_regular(path) as file:
            header = npy.Header(file, os.fstat(file.fileno()).st_size)
            if len(header.shape) != 2:
                raise Refused(f"it has shape {header.shape}; data have two dimensions, rows and columns")
            if limit is None:
                yield Batch(numbers(npy.array(file, header)))
                return
            rows, columns = header.shape
            step = max(1, limit // max(1, 8 * columns))
            for start in range(0, rows, step):
                yield Batch(numbers(_rows(file, header, start, min(start + step, rows))))


def _rows(file: BinaryIO, header: npy.Header, start: int, stop: int) -> np.ndarray:
    rows, columns = header.shape
    if not header.by_columns:
        made = np.empty((stop - start, columns), header.dtype)
        file.seek(header.length + start * columns * header.dtype.itemsize)
        npy.fill(file, made)
    else:
        made = np.empty((columns, stop - start), header.dtype)
        for j in range(columns):
            file.seek(header.length + (j * rows + start) * header.dtype.itemsize)
            npy.fill(file, made[j])
        made = np.ascontiguousarray(made.T)
    return made.astype(header.dtype.newbyteorder("="), copy=False)


def _cuts(batch: Batch, limit: int | None) -> Iterator[tuple[int, int]]:
    """Ranges of rows of about ``limit`` bytes."""
    parts = 1 if limit is None else -(-batch.bytes // max(limit, 1))
    edges = np.linspace(0, batch.rows, max(1, min(parts, batch.rows)) + 1).astype(int)
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def numbers(A: AnyMatrix) -> AnyMatrix:
    """The matrix in float32 or float64, checked: finite, by rows, with int32 indices."""
    if sp.issparse(A):
        A = sound_array(A, "the matrix").tocsr()
        if A.shape[1] > MOST:
            raise Refused(f"it has {A.shape[1]} columns; at most {MOST} are possible")
        A.sum_duplicates()
        A = csr(A.data, A.indices.astype(np.int32, copy=False), A.indptr, A.shape[1])
    values = A.data if sp.issparse(A) else A
    if values.dtype.kind not in "biuf":
        raise Refused(f"it holds {values.dtype}; real numbers are needed")
    if values.dtype not in (np.float32, np.float64):
        A = A.astype(np.float32 if values.dtype == np.float16 else np.float64)
        values = A.data if sp.issparse(A) else A
    if not _core.all_finite(np.ascontiguousarray(values).reshape(-1)):
        place = (
            "a stored entry"
            if sp.issparse(A)
            else "row {}, column {} (from 0)".format(*np.argwhere(~np.isfinite(A))[0])
        )
        raise Refused(f"{place} is NaN or infinite. Impute or remove such entries first")
    return A if sp.issparse(A) else np.ascontiguousarray(A)


def vector(path: Path) -> np.ndarray:
    """The numbers of a .npy file of one dimension."""
    try:
        with open_regular(path) as file:
            made = npy.array(file, npy.Header(file, os.fstat(file.fileno()).st_size, "biufU"))
    except Refused as error:
        raise Refused(f"{path}: {error}.") from None
    made = made.reshape(-1) if made.ndim == 2 and 1 in made.shape else made
    if made.ndim != 1:
        raise Refused(f"{path}: it has shape {made.shape}; targets have one dimension.")
    return made if made.dtype.kind == "U" else made.astype(np.float64)


def _archive(path: Path) -> Batch:
    """SciPy's .npz, or arrays by name: A or X, b or y, ..."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                found = {_stem(member.filename): member for member in archive.infolist()}
                if sum(member.file_size for member in found.values()) > max(UNSUSPECTED, MOST_EXPANDED * size):
                    raise Refused(f"its members claim to be more than {MOST_EXPANDED} times as large as the file")
                return _of_members(archive, found, size)
        except (Refused, MemoryError):
            raise
        except Exception as error:  # damage of any kind
            raise Refused(f"it is not a whole archive ({type(error).__name__}: {error})") from None


def _of_members(archive: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo], size: int) -> Batch:
    def read(name: str) -> np.ndarray:
        with archive.open(found[name]) as member:
            return npy.array(member, npy.Header(member, found[name].file_size, "biufUS"))

    shape = matrix_market.checked_shape(
        tuple(map(int, read("shape").reshape(-1))) if "shape" in found else (0, 0), size
    )
    names = {part: next((name for name in known if name in found), None) for part, known in NAMES.items()}
    if {"data", "indices", "indptr", "shape"} <= set(found):
        kind = _text(read("format")) if "format" in found else "csr"
        if kind not in ("csr", "csc"):
            raise Refused(f"it is a sparse matrix of format {shown(kind)} and shape {shape}; save it as CSR: A.tocsr()")
        A = compressed(kind, (read("data"), read("indices"), read("indptr")), shape, "the matrix")
    elif {"row", "col", "data", "shape"} <= set(found):
        parts = {name: read(name) for name in ("data", "row", "col")}
        A = _of_coordinates(parts, shape)
    elif names["A"] is not None:
        A = read(names["A"])
    elif len(found) == 1:
        A = read(next(iter(found)))
    else:
        raise Refused(
            f"it holds {shown(sorted(found))}; a sparse matrix of SciPy, or arrays A (or X) and b (or y) are read"
        )
    if A.ndim != 2:
        raise Refused(f"its data have shape {A.shape}; two dimensions are needed, rows and columns")
    batch = Batch(A)
    for part in ("targets", "weights", "qid"):
        name = names[part]
        if name is not None:
            values = read(name).reshape(-1)
            if values.size != A.shape[0]:
                raise Refused(f"{name} has {values.size} entries, and the data {A.shape[0]} rows")
            text_or_qid = values.dtype.kind in "US" or part == "qid"
            setattr(batch, part, values if text_or_qid else values.astype(np.float64))
    return batch


def _of_coordinates(parts: dict[str, np.ndarray], shape: tuple[int, int]) -> AnyMatrix:
    rows, columns, values = parts["row"], parts["col"], parts["data"]
    if not rows.shape == columns.shape == values.shape or rows.ndim != 1:
        raise Refused("its row, col and data do not agree")
    for places, size in ((rows, shape[0]), (columns, shape[1])):
        if places.dtype.kind not in "iu" or (places.size and not 0 <= places.min() <= places.max() < size):
            raise Refused("an index is outside of its shape")
    return sp.coo_array((values, (rows, columns)), shape=shape)


def _stem(name: str) -> str:
    return name.removesuffix(".npy")


def _text(value: np.ndarray) -> str:
    item = value.reshape(-1)[0].item() if value.size else ""
    return item.decode("ascii", "replace") if isinstance(item, bytes) else str(item)


def _column(A: AnyMatrix, j: int) -> np.ndarray:
    return np.asarray(A[:, [j]].toarray()).reshape(-1) if sp.issparse(A) else A[:, j].copy()


def _without(A: AnyMatrix, j: int) -> AnyMatrix:
    kept = np.delete(np.arange(A.shape[1]), j)
    return numbers(A[:, kept]) if sp.issparse(A) else np.ascontiguousarray(A[:, kept])
