"""MatrixMarket files. SciPy's reader is not used, as it ends the process if a file is cut within a number."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .._names import shown
from .._typing import AnyMatrix
from ..model_files.files import Refused
from .dataset import MOST
from .streams import MOST_EXPANDED, UNSUSPECTED, Stream

KINDS = {
    "format": ("coordinate", "array"), "field": ("real", "double", "integer", "unsigned-integer", "pattern"),
    "symmetry": ("general", "symmetric", "skew-symmetric"),
}  # fmt: skip


def read(path: Path) -> AnyMatrix:
    """The matrix: a COO array or an array."""
    with Stream(path) as stream:
        content = stream.rest()
    head, _, rest = content.partition(b"\n")
    words = head.decode("latin-1").lower().split()
    if len(words) != 5 or words[1] != "matrix":
        raise Refused(f"its first line is {shown(head[:80])}; %%MatrixMarket matrix and three words are expected")
    for (what, known), word in zip(KINDS.items(), words[2:], strict=True):
        if word not in known:
            raise Refused(f"its {what} is {shown(word)}; {', '.join(known)} are read")
    form, field, symmetry = words[2:]
    while rest.lstrip().startswith(b"%") or rest.startswith((b"\n", b"\r\n")):
        rest = rest.partition(b"\n")[2]
    line, _, body = rest.partition(b"\n")
    sizes = _sizes(line, 3 if form == "coordinate" else 2)
    shape = checked_shape((sizes[0], sizes[1]), len(content))
    if symmetry != "general" and shape[0] != shape[1]:
        raise Refused(f"it is {symmetry}, but its shape is {shape}")
    if form == "array":
        return _dense(body, shape, symmetry)
    return _sparse(body, shape, sizes[2], field == "pattern", symmetry)


def checked_shape(shape: tuple[int, ...], size: int) -> tuple[int, int]:
    """The shape, if a file of so many bytes may have it: sparse matrices of many rows take memory even if empty."""
    if len(shape) != 2 or min(shape) < 0 or max(shape) > MOST or shape[0] > max(UNSUSPECTED, MOST_EXPANDED * size) // 8:
        raise Refused(f"it claims shape {shape}, which its {size} bytes do not account for")
    return shape[0], shape[1]


def _sizes(line: bytes, count: int) -> list[int]:
    try:
        sizes = [int(word) for word in line.split()]
        if len(sizes) == count and min(sizes) >= 0:
            return sizes
    except ValueError:
        pass
    raise Refused(f"the line of its sizes is {shown(line[:80])}, and not {count} numbers") from None


def _numbers(body: bytes, count: int, width: int) -> np.ndarray:
    """So many rows of numbers, which must be all that there is."""
    if 2 * count * width > len(body) + 1:
        raise Refused(f"it claims {count} entries, for which the rest of the file is too short; it is cut or damaged")
    if not body.strip():
        return np.zeros((0, width))
    try:
        values = np.loadtxt(io.BytesIO(body), comments="%", ndmin=2, encoding="latin1")
    except ValueError as error:
        raise Refused(f"its numbers cannot be read ({error})") from None
    if values.size != count * width or (width > 1 and values.shape[1] != width):
        raise Refused(
            f"it claims {count} entries of {width} numbers, but has {values.shape[0]} rows of {values.shape[1]}"
        )
    return np.asarray(values.reshape(count, width))


def _sparse(body: bytes, shape: tuple[int, int], entries: int, pattern: bool, symmetry: str) -> AnyMatrix:
    found = _numbers(body, entries, 2 if pattern else 3)
    places = found[:, :2]
    if places.size and not (
        (places == np.floor(places)).all() and places.min() >= 1 and (places.max(axis=0) <= shape).all()
    ):
        raise Refused(f"an index is outside of 1 to {shape[0]} and 1 to {shape[1]}")
    rows, columns = (places - 1).astype(np.int64).T
    values = np.ones(entries) if pattern else found[:, 2]
    if symmetry != "general":
        off = rows != columns
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        values = np.concatenate([values, sign * values[off]])
    return sp.coo_array((values, (rows, columns)), shape=shape)


def _dense(body: bytes, shape: tuple[int, int], symmetry: str) -> np.ndarray:
    n, d = shape
    if symmetry == "general":
        return _numbers(body, n * d, 1).reshape(d, n).T
    skew = symmetry == "skew-symmetric"
    values = _numbers(body, n * (n - 1) // 2 if skew else n * (n + 1) // 2, 1).reshape(-1)  # so n is bounded
    made = np.zeros(shape)
    columns, rows = np.triu_indices(n, 1 if skew else 0)
    made[columns, rows] = -values if skew else values
    made[rows, columns] = values
    return made
