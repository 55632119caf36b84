"""Values that no caller should pass, and some that look strange but are allowed.

Each is constructed anew for every use, because some can be read only once and some are changed by the code under test.
"""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Callable

import numpy as np

import southwell as sw

N, D = 8, 3  # samples and features of the valid data that are passed with these values


class Raised(Exception):
    """What hostile objects raise. It may reach the caller, because it is the caller's own error."""


class RaisesEverywhere:
    def _raise(self, *_, **__):
        raise Raised("the caller's own error")

    __array__ = __len__ = __iter__ = __float__ = __int__ = __index__ = __bool__ = __getitem__ = __eq__ = _raise
    __call__ = __fspath__ = __lt__ = __contains__ = _raise
    __hash__ = object.__hash__


class LongList(list):
    """A sequence that reports a wrong length."""

    def __len__(self):
        return 10**12


class ThreeDimensional:
    def __array__(self, dtype=None, copy=None):
        return np.zeros((2, 2, 2))


class NoArray:
    def __array__(self, dtype=None, copy=None):
        return "not an array"


class Unprintable:
    def __repr__(self):
        raise Raised("no repr")


class AnyFloat:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class AnyIndex:
    def __index__(self):
        return 2**70


def recursive_list():
    made: list = []
    made.append(made)
    return made


def nested(depth: int):
    made: list = []
    for _ in range(depth):
        made = [made]
    return made


def _recurse():
    return _recurse()


class Recursing:
    def __array__(self, dtype=None, copy=None):
        return _recurse()

    def __float__(self):
        return _recurse()


HUGE: dict[str, Callable[[], object]] = {
    "2**31 - 1": lambda: 2**31 - 1,
    "2**31": lambda: 2**31,
    "2**53": lambda: 2**53,
    "2**62": lambda: 2**62,
    "1e308": lambda: 1e308,
    "10**9": lambda: 10**9,
    "np.uint64 max": lambda: np.uint64(2**64 - 1),
    "2**63 - 1": lambda: 2**63 - 1,
}
"""Numbers that may be allowed, but then need too much memory or time."""

SCALARS: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "0": lambda: 0,
    "-0.0": lambda: -0.0,
    "-1": lambda: -1,
    "1": lambda: 1,
    "2": lambda: 2,
    "0.5": lambda: 0.5,
    "-0.5": lambda: -0.5,
    "1e-320": lambda: 1e-320,
    "1e-300": lambda: 1e-300,
    "1e150": lambda: 1e150,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "-2**63": lambda: -(2**63),
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "1j": lambda: 1j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Decimal": lambda: decimal.Decimal("0.1"),
    "Decimal nan": lambda: decimal.Decimal("nan"),
    "np.float32 nan": lambda: np.float32("nan"),
    "np.int8(-1)": lambda: np.int8(-1),
    "np.float64(0)": lambda: np.float64(0),
    "np.int64(2)": lambda: np.int64(2),
    "np.bool_": lambda: np.bool_(True),
    "NaT": lambda: np.datetime64("NaT"),
    "timedelta": lambda: np.timedelta64(1, "D"),
    "''": lambda: "",
    "'auto'": lambda: "auto",
    "'squared'": lambda: "squared",
    "'1.0'": lambda: "1.0",
    "'nonsense'": lambda: "nonsense",
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "a\0b",
    "long string": lambda: "a" * 10_000,
    "bytes": lambda: b"\xff\x00",
    "bytearray": lambda: bytearray(b"abc"),
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "function": lambda: len,
    "lambda": lambda: lambda *_: 1,
    "class": lambda: int,
    "module": lambda: math,
    "object": object,
    "raises everywhere": RaisesEverywhere,
    "unprintable": Unprintable,
    "float of nan": lambda: AnyFloat(math.nan),
    "float of 0.5": lambda: AnyFloat(0.5),
    "float of a string": lambda: AnyFloat("x"),
    "index of 2**70": AnyIndex,
    "recursion": Recursing,
    "exception": lambda: ValueError("x"),
    "slice": lambda: slice(None),
}

CONTAINERS: dict[str, Callable[[], object]] = {
    "[]": list,
    "()": tuple,
    "{}": dict,
    "set": lambda: {1, 2},
    "[[]]": lambda: [[]],
    "[[[]]]": lambda: [[[]]],
    "ragged": lambda: [1, [2]],
    "ragged rows": lambda: [[1.0, 2.0], [3.0]],
    "range": lambda: range(N),
    "generator": lambda: (k for k in range(N)),
    "iterator": lambda: iter([1.0] * N),
    "recursive list": recursive_list,
    "nested 100": lambda: nested(100),
    "nested 5000": lambda: nested(5000),
    "[None]": lambda: [None] * N,
    "strings": lambda: ["a", "b"] * (N // 2),
    "numbers as strings": lambda: ["1"] * N,
    "mixed": lambda: [1, "a", None, 2.0] * 2,
    "[nan]": lambda: [math.nan] * N,
    "[10**400]": lambda: [10**400] * N,
    "[object]": lambda: [object()] * N,
    "dict of arrays": lambda: {"x": np.zeros(N)},
    "long list": lambda: LongList([1.0]),
    "three-dimensional": ThreeDimensional,
    "no array": NoArray,
    "memoryview": lambda: memoryview(bytes(N)),
    "pair": lambda: (np.ones(D), 0.0),
    "pair of nonsense": lambda: ("x", None),
    "surrogates": lambda: ["\ud800"] * N,
    "bytes of lists": lambda: [b"a"] * N,
    "bools": lambda: [True, False] * (N // 2),
    "lists of lists": lambda: [[0, 1], [2]],
    "overlapping": lambda: [[0, 1], [1, 2]],
}


def table(*shape: int) -> np.ndarray:
    """Valid numbers."""
    return np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape) % 5 - 2


SHAPES = {
    "n": (N,),
    "d": (D,),
    "n x d": (N, D),
    "n x 1": (N, 1),
    "1 x d": (1, D),
    "0": (0,),
    "0 x d": (0, D),
    "n x 0": (N, 0),
    "scalar": (),
    "n x d x 1": (N, D, 1),
    "n + 1": (N + 1,),
    "n x (d + 1)": (N, D + 1),
    "(n - 1) x d": (N - 1, D),
    "n x 2": (N, 2),
}
DTYPES = [
    "float64",
    "float32",
    "float16",
    "longdouble",
    "int8",
    "int64",
    "uint8",
    "uint64",
    "bool",
    "complex128",
    "object",
    "str",
    "S3",
    "datetime64[s]",
    "timedelta64[s]",
    "i4,f8",
    ">f8",
    "V4",
]


def _with(shape, value) -> np.ndarray:
    made = table(*shape)
    if made.size:
        made.flat[0] = value
    return made


def _typed(shape, dtype: str) -> np.ndarray:
    base = table(*shape)
    if dtype == "i4,f8":
        return np.zeros(shape, dtype)
    if dtype == "V4":
        return np.zeros(shape, "V4")
    return base.astype(np.int64).astype(dtype) if "64[s]" in dtype else base.astype(dtype)


def _unaligned(shape) -> np.ndarray:
    raw = np.zeros(8 * math.prod(shape) + 1, np.uint8)
    return raw[1:].view(np.float64).reshape(shape)


def _masked(shape):
    made = table(*shape)
    return np.ma.masked_array(made, mask=made > 0)


def _read_only(shape):
    made = np.array(table(*shape))
    made.flags.writeable = False
    return made


class Subclass(np.ndarray):
    def __array_finalize__(self, other):
        self.origin = other


VARIANTS: dict[str, Callable[[tuple], object]] = {
    "nan": lambda shape: _with(shape, math.nan),
    "inf": lambda shape: _with(shape, math.inf),
    "-inf": lambda shape: _with(shape, -math.inf),
    "1e308": lambda shape: _with(shape, 1e308) * 1.0,
    "all 1e308": lambda shape: np.full(shape, 1e308),
    "all 1e200": lambda shape: np.full(shape, 1e200),
    "all 1e-320": lambda shape: np.full(shape, 1e-320),
    "zeros": np.zeros,
    "ones": np.ones,
    "minus ones": lambda shape: -np.ones(shape),
    "unaligned": _unaligned,
    "masked": _masked,
    "read-only": _read_only,
    "matrix": lambda shape: np.asmatrix(table(*shape[:2])),
    "subclass": lambda shape: table(*shape).view(Subclass),
    "reversed": lambda shape: table(*shape)[::-1] if shape else table(),
    "strided": lambda shape: np.repeat(table(*shape), 2, axis=0)[::2] if shape else table(),
    "broadcast": lambda shape: np.broadcast_to(1.0, shape),
    "list": lambda shape: table(*shape).tolist(),
    "objects with None": lambda shape: np.full(shape, None),
    "object ints": lambda shape: np.ones(shape, int).astype(object),
    "huge objects": lambda shape: np.full(shape, 10**400, dtype=object),
}

PARTS: dict[str, Callable[[], object]] = {
    "Loss": sw.losses.Huber,
    "Loss class": lambda: sw.losses.Hinge,
    "Softmax": sw.losses.Softmax,
    "Method": sw.methods.FISTA,
    "Rule": sw.rules.Cyclic,
    "ElasticNet": lambda: sw.penalties.ElasticNet(0.1),
    "Groups": lambda: sw.penalties.Groups(0.1),
    "Problem": lambda: sw.Problem(table(N, D), table(N)),
    "Centred": lambda: sw.Centred(table(N, D)),
    "Centred of nonsense": lambda: sw.Centred("x"),
    "Centred twice": lambda: sw.Centred(sw.Centred(table(N, D))),
    "Centred, bad means": lambda: sw.Centred(table(N, D), [math.nan] * D),
    "Factorised": lambda: sw.Factorised(table(N, 2), table(2, D)),
    "Factorised, sizes differ": lambda: sw.Factorised(table(N, 2), table(3, D)),
    "Factorised of nonsense": lambda: sw.Factorised(None, "x"),
    "Status": lambda: sw.Status.CONVERGED,
    "Result class": lambda: sw.Result,
}


def array(rng) -> tuple[str, object]:
    """An array of a random shape that is wrong in kind, in numbers or not at all."""
    shape = rng.choice(list(SHAPES))
    if rng.random() < 0.5:
        variant = rng.choice(list(VARIANTS))
        return f"{variant} {shape}", VARIANTS[variant](SHAPES[shape])
    dtype = rng.choice(DTYPES)
    return f"{dtype} {shape}", _typed(SHAPES[shape], dtype)


def named(values: dict, rng) -> tuple[str, object]:
    """One of a dictionary's values, made, with its name."""
    name = rng.choice(list(values))
    return name, values[name]()
