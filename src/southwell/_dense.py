"""Arrays from users, checked before their numbers are read."""

from __future__ import annotations

import mmap
import os

import numpy as np

from ._names import shown
from ._scipy import sparse as sp
from ._typing import Given


def refuse_unreadable(array: Given, what: str) -> None:
    """Refuse an array that cannot be read safely, or whose numbers are not meant as they are.

    Reading a memory map beyond the end of its file ends the process. The mask of a masked array would be lost. An array
    with strides of zero may have more entries than memory could hold: reading them would take forever.
    """
    if not isinstance(array, np.ndarray):
        return
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(
            f"{what} is a masked array with {np.count_nonzero(np.ma.getmaskarray(array))} masked entries. Fill them, "
            f"for example with {what}.filled(0.0), or leave out those rows."
        )
    source = array
    while isinstance(source, np.ndarray) and source.base is not None:
        source = source.base.obj if isinstance(source.base, memoryview) else source.base
    if isinstance(source, mmap.mmap) and source.size() < len(source):
        raise ValueError(
            f"{what} is a memory map of a file that has been cut to {source.size()} bytes; {len(source)} were mapped. "
            "Write the file again and map it anew."
        )
    if 0 in array.strides and array.nbytes > (most := _memory()):
        raise MemoryError(
            f"{what} repeats few numbers as an array of shape {array.shape}, which takes {array.nbytes:.3g} bytes; "
            f"this machine has {most:.3g}. Give an array of the size that is meant."
        )


def numbers(name: str, given: Given) -> np.ndarray:
    """``given`` as a float64 array, without a copy if it is one; NaN and infinity are allowed. Raises otherwise."""
    refuse_unreadable(given, name)
    if isinstance(given, np.ndarray) and given.dtype == np.float64:
        return np.asarray(given)
    values = plain(name, given)
    if values.dtype.kind not in "fiubO" or (values.dtype.kind == "O" and any(v is None for v in values.flat)):
        raise TypeError(f"{name} must be real numbers; got {shown(given)}.")
    try:
        with np.errstate(over="ignore"):  # a long double beyond the range is infinite
            return values.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} must be numbers of at most 1.79e308, or infinity; got {shown(given)}.") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be real numbers; got {shown(given)}.") from None


def plain(name: str, given: Given) -> np.ndarray:
    """``given`` as an array of any dtype. Raises if it is sparse or ragged."""
    refuse_unreadable(given, name)
    if sp.issparse(given):
        raise TypeError(f"{name} must be an array; got a sparse matrix. Give {name}.toarray().")
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array or lists of equal lengths; got {shown(given)}.") from None


def _memory() -> float:
    """The bytes of memory of this machine; infinity if unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")
