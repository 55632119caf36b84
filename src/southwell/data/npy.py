"""Arrays in NumPy's format, read without trust: a header must account for each byte, and pickles are never read."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from ..model_files.files import Refused

MAGIC = b"\x93NUMPY"
STEP = 1 << 24


class Readable(Protocol):
    """Bytes, from a file or from a member of an archive."""

    def read(self, size: int, /) -> bytes: ...


class Header:
    """Shape, order and dtype of an array whose bytes follow in ``file``."""

    def __init__(self, file: Readable, size: int, kinds: str = "biuf") -> None:
        counted = _Counted(file)
        try:
            version = np.lib.format.read_magic(counted)
            if version not in ((1, 0), (2, 0)):
                raise Refused(f"it is in version {version} of NumPy's format; versions 1.0 and 2.0 are read")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, self.by_columns, self.dtype = read(counted)
        except Refused:
            raise
        except MemoryError:
            raise
        except Exception as error:  # any damage
            raise Refused(
                f"its header cannot be read ({str(error).splitlines()[0][:200] if str(error) else error!r})"
            ) from None
        if self.dtype.hasobject:
            raise Refused("it holds Python objects, whose pickles are never read; save an array of numbers")
        if self.dtype.kind not in kinds:
            raise Refused(f"it holds {self.dtype}, and not numbers")
        self.length = counted.taken
        self.bytes = math.prod(self.shape) * self.dtype.itemsize
        if min(self.shape, default=0) < 0 or self.length + self.bytes != size:
            raise Refused(
                f"it claims shape {self.shape} of {self.dtype}, but {size - self.length} bytes follow; it is cut or "
                f"damaged"
            )


class _Counted:
    """Counts the bytes that are read."""

    def __init__(self, file: Readable) -> None:
        self.file, self.taken = file, 0

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= STEP:
            raise Refused("its header is too long")
        found = self.file.read(size)
        self.taken += len(found)
        return found


def array(file: Readable, header: Header) -> np.ndarray:
    """The array after the header, read and not mapped."""
    made = np.empty(header.bytes // max(header.dtype.itemsize, 1), header.dtype)
    fill(file, made)
    made = made.reshape(header.shape, order="F" if header.by_columns else "C")
    return made.astype(made.dtype.newbyteorder("="), order="K", copy=False)


def fill(file: Readable, made: np.ndarray) -> None:
    """Read all bytes of a contiguous array."""
    room = _bytes(made)
    filled = 0
    while filled < len(room):
        part = file.read(min(STEP, len(room) - filled))
        if not part:
            raise Refused("it ended early: it is cut, or it changed while it was read")
        room[filled : filled + len(part)] = part
        filled += len(part)


def _bytes(values: np.ndarray) -> memoryview:
    """The bytes of a contiguous array."""
    return memoryview(values.reshape(-1).view(np.uint8).data) if values.size else memoryview(b"")


def write_header(file: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """What precedes the bytes of an array by rows."""
    described = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, described)


def write_values(file: Any, values: np.ndarray) -> None:
    """Its bytes, or the first of them."""
    if values.size:
        file.write(_bytes(np.ascontiguousarray(values)))
