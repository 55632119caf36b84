"""How files are read: the arguments of ``load`` and ``convert``, checked; and errors that name the file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _core, _threads
from .._names import count, flag, one_name, shown
from .._typing import AnyMatrix, Given
from ..model_files.files import Refused


@dataclass
class Options:
    """How files are read: the checked arguments of ``load``."""

    target: Given = None
    weight: Given = None
    n_features: int | None = None
    zero_based: bool | str = "auto"
    multilabel: bool | str = "auto"
    comments: bool = False
    delimiter: str | None = None
    header: bool | str = "auto"
    categorical: tuple[Any, ...] = ()
    text: str = "one-hot"
    n_hashed: int = 1024
    max_categories: int = 1000
    missing: str = "refuse"
    dtype: Any = field(default_factory=lambda: np.dtype(np.float64))
    n_threads: int = 1


def options_of(given: dict[str, Given]) -> Options:
    """The checked arguments."""
    checked = Options(**given)
    if checked.n_features is not None:
        checked.n_features = count("n_features", checked.n_features, 1, bits=31)
    for name in ("zero_based", "multilabel", "header"):
        value = getattr(checked, name)
        if not (isinstance(value, str) and value == "auto"):
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f'{name} must be True, False or "auto"; got {shown(value)}.')
            setattr(checked, name, bool(value))
    checked.comments = flag("comments", checked.comments)
    delimiter = checked.delimiter
    if delimiter is not None and (
        not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0.+-'
        or delimiter.isalnum()
    ):  # fmt: skip
        raise ValueError(f"delimiter must be one character of ASCII, such as ',' or ';'; got {shown(delimiter)}.")
    one_name("text", checked.text, ("one-hot", "hash"))
    one_name("missing", checked.missing, ("refuse", "mean", "zero"))
    checked.n_hashed = count("n_hashed", checked.n_hashed, 1, bits=20)
    checked.max_categories = count("max_categories", checked.max_categories, 1, bits=31)
    checked.categorical = _columns(checked.categorical)
    checked.dtype = _float(checked.dtype)
    checked.n_threads = _threads.checked(checked.n_threads)
    return checked


def _columns(given: Given) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple | np.ndarray) or (isinstance(given, np.ndarray) and given.ndim != 1):
        raise TypeError(f"categorical must be a list of names or positions of columns; got {shown(given)}.")
    return tuple(given.tolist() if isinstance(given, np.ndarray) else given)


def _float(given: Given) -> Any:
    try:
        dtype = np.dtype(given)
    except Exception:
        dtype = None
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float64 or numpy.float32; got {shown(given)}.")
    return dtype


def path_of(given: Given, what: str = "path") -> Path:
    """A path, or an error."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{what} must be a path; got {shown(given)}.")
    try:
        path = Path(given)
    except TypeError:
        raise TypeError(f"{what} must be a path of text; got {shown(given)}.") from None
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ValueError(f"{what} must be a name that files can have, without NUL characters; got {shown(given)}.")
    return path


@dataclass
class At:
    """The file that is being read."""

    path: Path


@contextlib.contextmanager
def refusals(path: Path) -> Iterator[At]:
    """Errors of content become errors that name the file."""
    at = At(path)
    try:
        yield at
    except Refused as error:
        raise ValueError(f"{at.path}: {error}.") from None


def narrowed(A: AnyMatrix, dtype: Any) -> AnyMatrix:
    """The matrix in this type; numbers beyond its range are an error."""
    if A.dtype == dtype:
        return A
    with np.errstate(over="ignore"):
        made = A.astype(dtype)
    values = made.data if sp.issparse(made) else made.reshape(-1)
    if not _core.all_finite(values):
        raise Refused(f"it holds numbers beyond the range of {dtype}; read it as float64")
    return made
