"""Conversion of the values of a model to JSON and arrays, and back.

None, truth values, numbers and strings are themselves. Everything else is an object of one key that names its kind:
``list``, ``tuple``, ``dict``, ``array``, ``scalar``, ``objects``, ``sparse``, ``status``, ``part`` (an object of this
library that has a name, such as a loss), or ``type`` (the class of one). Nothing else can be stored, and nothing else
is read.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import losses, methods, rules
from .._names import shown
from .._sparse import compressed, sound_array
from ..result import Effort, Result, Screened
from ..status import Status
from .archive import KINDS, Refused

PLAIN = (type(None), bool, int, float, str)
PARTS = {
    part.__name__: part
    for known in (losses.ALL, losses.OF_CLASSES, methods.ALL, rules.ALL)
    for part in (Result, Effort, Screened, *known.values())
}


class Writer:
    """Turns values into JSON; arrays go to a list of their own."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def __call__(self, value: Any, name: str) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if isinstance(value, Status):
            return {"status": value.name}
        if kind is list or kind is tuple:
            return {kind.__name__: [self(one, name) for one in value]}
        if kind is dict:
            return {"dict": [[self(key, name), self(one, name)] for key, one in value.items()]}
        if isinstance(value, np.generic) and value.dtype.kind in KINDS:
            return {"scalar": self._kept(np.asarray(value))}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if sp.issparse(value):
            return self._sparse(value, name)
        if PARTS.get(kind.__name__) is kind:
            names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
            return {"part": kind.__name__, "of": {field: self(getattr(value, field), name) for field in names}}
        if isinstance(value, type) and value in PARTS.values():
            return {"type": value.__name__}
        raise TypeError(
            f"{name} is {shown(value)}, which a model file cannot hold: it takes numbers, strings, arrays and parts of "
            f"this library. Set it to something else first, such as None."
        )

    def _kept(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _array(self, array: np.ndarray, name: str) -> dict[str, Any]:
        if array.dtype.kind in KINDS:
            return {"array": self._kept(array)}
        return {"objects": [self(one, name) for one in array.ravel().tolist()], "shape": list(array.shape)}

    def _sparse(self, matrix: Any, name: str) -> dict[str, Any]:
        rows = sp.csr_array(sound_array(matrix, name))
        parts = [self._kept(part) for part in (rows.data, rows.indices, rows.indptr)]
        return {"sparse": parts, "shape": [int(size) for size in matrix.shape], "matrix": sp.isspmatrix(matrix)}


class Reader:
    """Turns JSON and arrays back into values. Refuses what a writer would not have written."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays

    def __call__(self, stored: Any) -> Any:
        if type(stored) in PLAIN:
            return stored
        if isinstance(stored, dict) and stored:
            kind = next(iter(stored))
            read = getattr(self, f"_{kind}", None) if kind in self.KEYS else None
            if read is not None and set(stored) == self.KEYS[kind]:
                return read(**stored)
        raise Refused(f"it holds {str(stored)[:80]}, which is of no known kind")

    KEYS = {  # noqa: RUF012
        "list": {"list"}, "tuple": {"tuple"}, "dict": {"dict"}, "array": {"array"}, "scalar": {"scalar"},
        "objects": {"objects", "shape"}, "sparse": {"sparse", "shape", "matrix"}, "status": {"status"},
        "part": {"part", "of"}, "type": {"type"},
    }  # fmt: skip

    def _list(self, list: Any) -> list[Any]:
        return [self(one) for one in _listed(list)]

    def _tuple(self, tuple: Any) -> tuple[Any, ...]:
        return (*(self(one) for one in _listed(tuple)),)

    def _dict(self, dict: Any) -> dict[Any, Any]:
        pairs = [_listed(pair, 2) for pair in _listed(dict)]
        keys = [self(key) for key, _ in pairs]
        if not all(type(key) in PLAIN or isinstance(key, np.generic) for key in keys):
            raise Refused("a key is neither a number nor a string")
        return {key: self(one) for key, (_, one) in zip(keys, pairs, strict=True)}

    def _array(self, array: Any) -> np.ndarray:
        if type(array) is not int or not 0 <= array < len(self.arrays):
            raise Refused(f"there is no array {array!r}")
        return self.arrays[array]

    def _scalar(self, scalar: Any) -> Any:
        array = self._array(scalar)
        if array.ndim:
            raise Refused(f"array {scalar} is not a single number")
        return array[()]

    def _objects(self, objects: Any, shape: Any) -> np.ndarray:
        values, shape = [self(one) for one in _listed(objects)], _sizes(shape)
        if not all(type(value) in PLAIN or isinstance(value, np.generic) for value in values) or np.prod(
            shape, dtype=object
        ) != len(values):
            raise Refused("an array of objects has the wrong length, or entries that are neither numbers nor strings")
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(shape)

    def _sparse(self, sparse: Any, shape: Any, matrix: Any) -> Any:
        parts, shape = [self._array(part) for part in _listed(sparse, 3)], _sizes(shape)
        try:
            if len(shape) != 2:
                raise ValueError(f"its shape is {shape}")
            rows = compressed("csr", tuple(parts), shape, "it")  # checks that indices are inside the arrays
        except (ValueError, TypeError) as error:
            raise Refused(f"a sparse matrix is inconsistent ({error})") from None
        return sp.csr_matrix(rows) if matrix is True else rows

    def _status(self, status: Any) -> Status:
        if type(status) is not str or status not in Status.__members__:
            raise Refused(f"there is no status {status!r}")
        return Status[status]

    def _part(self, part: Any, of: Any) -> Any:
        known = PARTS.get(part) if type(part) is str else None
        if known is None or type(of) is not dict:
            raise Refused(f"this version of southwell knows no {part!r}")
        try:
            return known(**{name: self(one) for name, one in of.items()})
        except (TypeError, ValueError) as error:
            if isinstance(error, Refused):
                raise
            raise Refused(f"it does not make a {part} ({error})") from None

    def _type(self, type: Any) -> Any:
        if not isinstance(type, str) or type not in PARTS:
            raise Refused(f"this version of southwell knows no {type!r}")
        return PARTS[type]


def _listed(stored: Any, length: int | None = None) -> list[Any]:
    if type(stored) is not list or (length is not None and len(stored) != length):
        raise Refused(f"a list was expected where there is {str(stored)[:80]}")
    return stored


def _sizes(stored: Any) -> tuple[int, ...]:
    sizes = tuple(_listed(stored))
    if not all(type(size) is int and 0 <= size < 2**62 for size in sizes):
        raise Refused(f"{str(stored)[:80]} is not a shape")
    return sizes
