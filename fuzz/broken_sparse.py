"""Broken sparse matrices of every SciPy format: their arrays are changed after construction."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .nasty import SHAPES, table

FORMATS = tuple(
    f"{kind}_{suffix}" for kind in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia") for suffix in ("array", "matrix")
)
BAD_NUMBERS = [2**31 - 1, -1, -(2**31), 10**6, 1000]


def broken(rng) -> tuple[str, object]:
    """A sparse matrix, valid in one case of six, and its name."""
    name = rng.choice(FORMATS)
    shape = SHAPES[rng.choice(["n x d", "n x d", "n x 1", "n x 2", "1 x d", "n x (d + 1)"])]
    numbers = table(*shape)
    matrix = getattr(sp, name)(numbers if not name.startswith("bsr") else sp.csr_array(numbers))
    if rng.random() < 1 / 6:
        return f"sound {name}", matrix
    format_ = name.split("_")[0]
    harm = rng.choice(sorted(HARMS[format_]))
    try:
        HARMS[format_][harm](matrix, rng)
    except (AttributeError, ValueError, TypeError):  # SciPy protects this attribute: the matrix stays valid
        return f"sound {name}", matrix
    return f"{name}, {harm}", matrix


def _entry(attribute: str):
    """Put a bad number into an array of the matrix."""

    def harm(matrix, rng):
        values = getattr(matrix, attribute)
        values[rng.randrange(len(values))] = rng.choice(BAD_NUMBERS)

    return harm


def _shorter(attribute: str):
    def harm(matrix, rng):
        setattr(matrix, attribute, getattr(matrix, attribute)[:-1].copy())

    return harm


def _set(attribute: str, *values):
    def harm(matrix, rng):
        setattr(matrix, attribute, rng.choice(values)(getattr(matrix, attribute)))

    return harm


def _nan(matrix, rng):
    matrix.data[0] = np.nan


def _reshaped(matrix, rng):
    # (8, 1000) may be valid; with many more columns, as targets, it would be an honest request for as many fits.
    matrix._shape = rng.choice([(8, 1000), (10**6, 3), (8, 1), (-1, 3), (2, 3), (8,), (8, 3, 1), None, (8.5, 3)])


ODD = [
    lambda v: None,
    lambda v: list(v),
    lambda v: "abc",
    lambda v: v.astype(complex),
    lambda v: v.astype(object),
    lambda v: v.astype(float),
    lambda v: v.reshape(-1, 1),
    lambda v: v[:0],
    lambda v: np.int64(3),
    lambda v: v.astype("U3"),
    lambda v: v[::-1],
    lambda v: v.astype(np.uint8),
    lambda v: v.astype(">i8"),
    lambda v: memoryview(v),
]

COMPRESSED = {
    "bad index": _entry("indices"),
    "bad indptr": _entry("indptr"),
    "indices too short": _shorter("indices"),
    "indptr too short": _shorter("indptr"),
    "data too short": _shorter("data"),
    "nan": _nan,
    "other shape": _reshaped,
    "odd data": _set("data", *ODD),
    "odd indices": _set("indices", *ODD),
    "odd indptr": _set("indptr", *ODD),
}


def _lil_entry(matrix, rng):
    matrix.rows[0] = [rng.choice(BAD_NUMBERS)] * max(1, len(matrix.rows[0]))


def _lil_length(matrix, rng):
    matrix.rows[0] = [*matrix.rows[0], 0, 1, 0, 1]


def _lil_rows(matrix, rng):
    matrix.rows = rng.choice([matrix.rows[:-1], None, matrix.rows.tolist(), np.array([1, 2, 3])])


def _dok_key(matrix, rng):
    keys = matrix._dict if hasattr(matrix, "_dict") else matrix
    keys[rng.choice([(10**6, 0), (-9, 0), (0, 2**40), "x", (0.5, 0), (0,), None])] = rng.choice(
        [1.0, np.nan, "x", None]
    )


HARMS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": {
        "bad row": _entry("row"),
        "bad column": _entry("col"),
        "data too short": _shorter("data"),
        "nan": _nan,
        "other shape": _reshaped,
        "odd data": _set("data", *ODD),
        "odd coordinates": _set(
            "coords",
            lambda v: None,
            lambda v: v[:1],
            lambda v: (v[0][:-1], v[1]),
            lambda v: "ab",
            lambda v: (v[0].astype(float), v[1]),
        ),
    },
    "lil": {
        "bad column": _lil_entry,
        "rows longer than data": _lil_length,
        "odd rows": _lil_rows,
        "other shape": _reshaped,
        "odd data": _set("data", lambda v: None, lambda v: v[:-1], lambda v: np.array([[1.0]] * len(v))),
    },
    "dok": {"bad key": _dok_key, "other shape": _reshaped},
    "dia": {
        "bad offset": _entry("offsets"),
        "odd offsets": _set("offsets", *ODD),
        "odd data": _set("data", *ODD),
        "nan": lambda matrix, rng: matrix.data.fill(np.nan),
        "other shape": _reshaped,
    },
}
