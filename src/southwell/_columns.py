"""The targets and offsets of many problems on the same data, a column for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from . import _data, _sparse
from ._dense import numbers, refuse_unreadable
from ._scipy import sparse as sp
from ._typing import Given
from .losses import Loss


class Targets:
    """Column k of the targets, made when it is needed. ``doubtful`` tells, given the sample weights, for which of them
    a quick look at all does not show that they will do; default: for all."""

    def __init__(
        self, column: Callable[[int], np.ndarray], number: int,
        doubtful: Callable[[np.ndarray], Iterable[int]] | None = None,
    ) -> None:  # fmt: skip
        self.column, self.count = column, number
        self.doubtful = (lambda _: range(number)) if doubtful is None else doubtful

    def __call__(self, k: int) -> np.ndarray:
        return self.column(k)


def _without_both_signs(codes: np.ndarray, number: int, weights: np.ndarray) -> Iterable[int]:
    """Classes to which no sample that counts belongs, or every one."""
    if weights.size != codes.size:
        return range(number)
    sizes = np.bincount(codes[weights > 0], minlength=number)
    return np.flatnonzero((sizes == 0) | (sizes == sizes.sum())).tolist()


def _odd_columns(table: np.ndarray, kind: str, weights: np.ndarray) -> Iterator[int]:
    """Columns that are not two whole numbers (for signs), numbers >= 0 (for counts) or finite numbers."""
    used = weights > 0
    if table.dtype.kind not in "fiub" or used.size != table.shape[0]:
        yield from range(table.shape[1])
        return
    step = max(1, 2**20 // table.shape[0])
    for start in range(0, table.shape[1], step):
        part = table[:, start : start + step]
        if kind == "signs":
            low, high = part[used].min(axis=0), part[used].max(axis=0)
            fine = (low < high) & ((part == low) | (part == high)).all(axis=0) & (low % 1 == 0) & (high % 1 == 0)
        else:
            fine = np.isfinite(part).all(axis=0) & (part.min(axis=0) >= _data.LEAST_TARGET[kind])
        yield from (start + np.flatnonzero(~fine)).tolist()


def targets_of_many(Y: Given, loss: Loss) -> tuple[Targets, np.ndarray | None]:
    signs = loss.targets == "signs"
    if sp.issparse(Y):
        columns = sp.csc_array(_sparse.sound_array(Y, "Y"))
        table = Targets(lambda k: columns[:, [k]].toarray().ravel(), columns.shape[1])
    else:
        refuse_unreadable(Y, "Y")
        try:
            array = np.asarray(Y)
        except (TypeError, ValueError):
            raise ValueError("Y must be labels or a matrix of targets; got mixed shapes.") from None
        if array.ndim == 1 and signs:
            classes, codes = _classes(array)
            if classes.size < 2:
                raise ValueError(f"Y must hold at least two classes; got {classes.size}.")
            each = Targets(
                lambda k: np.where(codes == k, 1.0, -1.0), classes.size,
                lambda weights: _without_both_signs(codes, classes.size, weights),
            )  # fmt: skip
            return each, classes
        if array.ndim != 2 or array.shape[1] == 0:
            needed = "labels of shape (n_samples,) or a matrix" if signs else "a matrix"
            raise ValueError(f"Y must be {needed} with a column for each problem; got shape {array.shape}.")
        table = Targets(lambda k: array[:, k], array.shape[1], lambda w: _odd_columns(array, loss.targets, w))
    if table.count == 0:
        raise ValueError("Y has no columns: there is nothing to solve.")
    return table, None


def _classes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("Y contains NaN. Remove those samples, or give them a label.")
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "The labels in Y cannot be compared with each other. Give numbers or strings, not both."
        ) from None


def offsets(given: Given, count: int) -> Callable[[int], np.ndarray] | None:
    """The offset of each problem, its column of a table; None if all have the same one, or none."""
    if given is None:
        return None
    table = numbers("offset", given)
    if table.ndim < 2 or (table.ndim == 2 and 1 in table.shape):
        return None
    if table.ndim != 2 or table.shape[1] != count:
        raise ValueError(
            f"offset must have a column for each of {count} problems, or be one vector for all; got shape "
            f"{table.shape}."
        )
    return lambda k: table[:, k]
