"""Sparse matrices from users, checked before compiled code reads them.

SciPy trusts the arrays of its sparse matrices: an index out of range reads or writes beyond them. Every public entry
therefore passes what it was given through ``sound``, before SciPy or scikit-learn convert, sort or multiply it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from . import _core
from ._dense import refuse_unreadable
from ._names import integral
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given

AGAIN = "Build it again, for example from its COO form."


def sound(A: Given, what: str = "A") -> AnyMatrix:
    """Like ``sound_array``, but a sparse matrix (``spmatrix``) stays one."""
    array = sound_array(A, what)
    if not isinstance(A, sp.spmatrix):
        return array
    matrix = (sp.csr_matrix if array.format == "csr" else sp.csc_matrix)(array.shape, dtype=array.dtype)
    matrix.data, matrix.indices, matrix.indptr = array.data, array.indices, array.indptr
    matrix.has_canonical_format = array.has_canonical_format
    return matrix


def sound_array(A: Given, what: str = "A") -> AnyMatrix:
    """A CSR or CSC array equal to the sparse matrix ``A``, whose arrays are safe to read.

    Arrays are shared with ``A`` if they can be used without changes. CSC stays CSC, all other formats become CSR.
    Values are not checked for NaN and infinity.

    Raises
    ------
    ValueError
        If the arrays disagree with each other or with the shape.
    TypeError
        If what should be an array of numbers or of integers is something else.
    """
    shape = _attribute(A, "shape", what)
    if not isinstance(shape, tuple) or not all(integral(size) and 0 <= int(size) < 2**63 for size in shape):
        raise ValueError(f"{what} is broken: its shape is {str(shape)[:80]}; two sizes >= 0 are needed. {AGAIN}")
    if len(shape) != 2:
        raise ValueError(f"{what} must be 2-d, samples by features; got shape {shape}.")
    shape = int(shape[0]), int(shape[1])
    kind = _attribute(A, "format", what)
    if not isinstance(kind, str) or kind not in _READERS:
        raise ValueError(f"{what} is broken: {kind!r} is not a format of SciPy's sparse matrices. {AGAIN}")
    return _READERS[kind](A, shape, what)


def compressed(kind: str, parts: tuple[Any, ...], shape: tuple[int, int], what: str) -> AnyMatrix:
    """A checked CSR or CSC array from ``data, indices, indptr``, or an error."""
    values, indices, indptr = _values(parts[0], what), *_positions(parts[1:], ("indices", "indptr"), what)
    major, minor = shape if kind == "csr" else shape[::-1]
    if not values.ndim == indices.ndim == indptr.ndim == 1:
        raise ValueError(f"{what} is broken: data, indices and indptr must be one-dimensional. {AGAIN}")
    canonical = _check(indices, indptr, major, minor, values.size, "values", what)
    stored = indptr[-1]  # arrays may be longer; the rest is not part of the matrix
    matrix = (sp.csr_array if kind == "csr" else sp.csc_array)(shape, dtype=values.dtype)
    matrix.data, matrix.indices, matrix.indptr = values[:stored], indices[:stored], indptr
    matrix.has_canonical_format = canonical
    return matrix


def _of_compressed(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    kind = _attribute(A, "format", what)
    return compressed(kind, tuple(_attribute(A, name, what) for name in ("data", "indices", "indptr")), shape, what)


def _of_blocks(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    names = ("data", "indices", "indptr")
    values, *rest = (_attribute(A, name, what) for name in names)
    values, (indices, indptr) = _values(values, what), _positions(rest, names[1:], what)
    if values.ndim != 3 or not indices.ndim == indptr.ndim == 1:
        raise ValueError(
            f"{what} is broken: BSR needs data of three dimensions, indices and indptr of one; got {values.ndim}, "
            f"{indices.ndim} and {indptr.ndim}. {AGAIN}"
        )
    height, width = values.shape[1:]
    if 0 in (height, width) or shape[0] % height or shape[1] % width:
        raise ValueError(
            f"{what} is broken: blocks of {height} x {width} do not divide its shape, {shape[0]} x {shape[1]}. {AGAIN}"
        )
    _check(indices, indptr, shape[0] // height, shape[1] // width, values.shape[0], "blocks", what)
    stored = indptr[-1]
    # Not by the constructor, which would take the shape from the blocks and cast the indices again.
    matrix = sp.bsr_array(shape, dtype=values.dtype, blocksize=(height, width))
    matrix.data, matrix.indices, matrix.indptr = values[:stored], indices[:stored], indptr
    return _of_compressed(matrix.tocsr(), shape, what)


def _of_coordinates(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    values = _values(_attribute(A, "data", what), what)
    rows, columns = _positions((_attribute(A, "row", what), _attribute(A, "col", what)), ("row", "col"), what)
    return _gathered(values, rows, columns, shape, what)


def _of_keys(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    """DOK: a dictionary from (row, column) to a value."""
    try:
        pairs = dict(A.items())
        places = np.array(list(pairs), dtype=None if pairs else np.int64)
        values = _listed(pairs.values(), A, what)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"{what} is broken: its dictionary cannot be read ({error}). {AGAIN}") from None
    if pairs and (places.shape != (len(pairs), 2) or places.dtype.kind not in "iu"):
        raise ValueError(f"{what} is broken: keys of its dictionary must be pairs of integers. {AGAIN}")
    rows, columns = _positions(places.reshape(-1, 2).T, ("row", "column"), what)
    return _gathered(values, rows, columns, shape, what)


def _of_lists(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    """LIL: for each row a list of columns and one of values."""
    places, values = _attribute(A, "rows", what), _attribute(A, "data", what)
    for name, lists in (("rows", places), ("data", values)):
        if not isinstance(lists, np.ndarray) or lists.shape != shape[:1] or not all(type(one) is list for one in lists):
            raise ValueError(
                f"{what} is broken: its {name} must be an array of {shape[0]} lists, one for each row. {AGAIN}"
            )
    sizes = np.fromiter(map(len, places), np.int64, shape[0])
    if (unequal := np.flatnonzero(sizes != np.fromiter(map(len, values), np.int64, shape[0]))).size:
        i = unequal[0]
        raise ValueError(f"{what} is broken: row {i} has {sizes[i]} columns for {len(values[i])} values. {AGAIN}")
    try:
        columns = np.array(list(chain.from_iterable(places)), dtype=None if sizes.any() else np.int64)
        numbers = _listed(chain.from_iterable(values), A, what)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} is broken: its lists do not hold numbers ({error}). {AGAIN}") from None
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return compressed("csr", (numbers, columns, indptr), shape, what)


def _of_diagonals(A: Given, shape: tuple[int, int], what: str) -> AnyMatrix:
    values = _values(_attribute(A, "data", what), what)
    (offsets,) = _positions((_attribute(A, "offsets", what),), ("offsets",), what)
    if values.ndim != 2 or offsets.ndim != 1 or values.shape[0] != offsets.size:
        raise ValueError(
            f"{what} is broken: DIA needs a row of data for each offset; got data of shape {values.shape} and offsets "
            f"of shape {offsets.shape}. {AGAIN}"
        )
    if np.unique(offsets).size != offsets.size:
        raise ValueError(f"{what} is broken: an offset of a diagonal is repeated. {AGAIN}")
    inside = (offsets > -shape[0]) & (offsets < shape[1])  # diagonals beyond the corners have no entries
    matrix = sp.dia_array((values[inside], offsets[inside]), shape=shape)
    return _of_compressed(matrix.tocsr(), shape, what)


_READERS = {
    "csr": _of_compressed, "csc": _of_compressed, "bsr": _of_blocks, "coo": _of_coordinates, "dok": _of_keys,
    "lil": _of_lists, "dia": _of_diagonals,
}  # fmt: skip


def _gathered(values: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int],
              what: str) -> AnyMatrix:  # fmt: skip
    """CSR from coordinates."""
    if values.ndim != 1:
        raise ValueError(f"{what} is broken: its data must be one-dimensional; got shape {values.shape}. {AGAIN}")
    for places, name, size in ((rows, "row", shape[0]), (columns, "column", shape[1])):
        if places.shape != values.shape or (places.size and not 0 <= places.min() <= places.max() < size):
            raise ValueError(
                f"{what} is broken: its {name} indices must be {values.size} numbers in 0..{size - 1}. {AGAIN}"
            )
    return _of_compressed(sp.coo_array((values, (rows, columns)), shape=shape).tocsr(), shape, what)


def _attribute(A: Given, name: str, what: str) -> Any:
    """An attribute of a sparse matrix. It may be computed from others, which may be damaged."""
    try:
        return getattr(A, name)
    except (AttributeError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{what} is broken: its {name} cannot be read ({error}). {AGAIN}") from None


def _values(given: Given, what: str) -> np.ndarray:
    """The stored numbers, of a type that compiled code can read."""
    if not isinstance(given, np.ndarray):
        raise TypeError(
            f"{what} is broken: its data must be a NumPy array of numbers; got {type(given).__name__}. {AGAIN}"
        )
    values = np.asarray(given)
    refuse_unreadable(given, what)
    if values.dtype.kind not in "fiubc":
        raise TypeError(
            f"{what} must hold real numbers; got dtype {values.dtype}. Convert it first, for example with "
            f"{what}.astype(float)."
        )
    dtype = np.dtype(np.float32) if values.dtype == np.float16 else values.dtype.newbyteorder("=")
    return np.require(values, dtype, ["C", "A"])


def _listed(given: Given, A: Given, what: str) -> np.ndarray:
    """Numbers from Python objects, in the dtype of ``A``."""
    values = np.array(list(given))
    claimed = np.dtype(_attribute(A, "dtype", what))
    fits = claimed.kind in "fiubc" and (not values.size or values.dtype.kind in "fiubc")
    return _values(values.astype(claimed) if fits else values, what)


def _positions(given: Given, names: Sequence[str], what: str) -> list[np.ndarray]:
    """Arrays of integers, all int32 if every one of them fits, else all int64."""
    for part, name in zip(given, names, strict=True):
        if not isinstance(part, np.ndarray):
            raise TypeError(
                f"{what} is broken: its {name} must be a NumPy array of integers; got {type(part).__name__}. {AGAIN}"
            )
        refuse_unreadable(part, what)
        if part.dtype.kind not in "iu":
            raise TypeError(f"{what} is broken: its indices must be integers; {name} holds {part.dtype}. {AGAIN}")
        if part.dtype.kind == "u" and part.dtype.itemsize == 8 and part.size and part.max() >= 2**63:
            raise ValueError(f"{what} is broken: its {name} holds {part.max()}, outside of its shape. {AGAIN}")
    narrow = all(np.can_cast(part.dtype, np.int32) for part in given)
    return [np.require(np.asarray(part), np.int32 if narrow else np.int64, ["C", "A"]) for part in given]


def _check(indices: np.ndarray, indptr: np.ndarray, major: int, minor: int, stored: int, of: str, what: str) -> bool:
    """Whether indices strictly increase along each row or column. Raises if one is out of range."""
    if indptr.size != major + 1:
        raise ValueError(f"{what} is broken: indptr has {indptr.size} entries; its shape needs {major + 1}. {AGAIN}")
    found = _core.check_sparse(indices, indptr, minor)
    if found in ("", "unsorted") and stored < indptr[-1]:
        found = f"{stored} {of} for {indptr[-1]} indices"
    if found not in ("", "unsorted"):
        raise ValueError(f"{what} is broken: {found}. {AGAIN}")
    return found == ""
