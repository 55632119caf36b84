"""The data passed to ``fit``, checked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from .._columns import Targets
from .._data import Centred, vector
from .._dense import numbers
from .._typing import AnyMatrix, Given
from ..problem import Problem

P = TypeVar("P", bound=Problem)


@dataclass(frozen=True)
class FitData:
    """The data passed to ``fit``, checked.

    ``targets`` has a column for each problem; ``weights`` are those of samples and classes together; ``sample_weight``
    and ``params`` are as passed to ``fit``; ``told`` holds the attributes that the data determine, such as
    ``classes_``. ``together`` says that all classes are one problem, whose target holds their numbers. ``centre`` says
    that the columns of X are centred, and at which means, if they are known. ``offset`` is added to the margins: a
    number for each sample, or a column for each target or class.
    ``begun`` is when the fit began.
    """

    X: Any
    y: Any
    targets: Targets
    weights: np.ndarray | None
    sample_weight: np.ndarray | None
    params: dict[str, Any]
    told: dict[str, Any]
    together: bool = False
    centre: Centred | None = None
    offset: np.ndarray | None = None
    begun: float = field(default_factory=time.perf_counter)

    def part(self, rows: np.ndarray, target: np.ndarray, offset: np.ndarray | None) -> FitData:
        """Some rows, with one target and its offset."""
        weights = None if self.weights is None else self.weights[rows]
        targets = Targets(lambda k: target, 1)
        return replace(self, X=self.X[rows], y=self.y[rows], targets=targets, weights=weights, offset=offset)

    def checked_offset(self, given: Given) -> np.ndarray | None:
        """A number for each sample, or a row of them where there are several targets or classes."""
        if given is None:
            return None
        samples, columns, classes = self.X.shape[0], self.targets.count, self.told.get("classes_")
        if self.together:
            columns = len(self.told["classes_"])
        elif columns == 1 and np.ndim(self.y) == 2:
            columns = self.y.shape[1]
        table = numbers("offset", given)
        if columns == 1 or (table.ndim != 2 and classes is None):
            return vector(given, "offset", samples, "X").copy()
        if table.shape != (samples, columns):
            kind = "target" if classes is None else "class"
            raise ValueError(
                f"offset must have a row for each of {samples} samples and a column for each {kind}, {columns}; got "
                f"shape {table.shape}."
                + " A number for all classes of a sample would change nothing."
                * (self.together and table.ndim < 2)
            )
        if not np.isfinite(table).all():
            raise ValueError("offset contains NaN or infinity. Impute or drop those entries first.")
        return table.copy()

    def offset_of(self, k: int) -> np.ndarray | None:
        """The offset of one problem: its own column, if each has one."""
        if self.offset is None or self.offset.ndim == 1 or self.targets.count == 1:
            return self.offset
        return self.offset[:, k]

    def stated(self, first: P, k: int) -> P:
        """The problem of target k, like that of the first."""
        if k == 0:
            return first
        own = self.offset_of(k)
        return (first if own is self.offset else first.with_offset(own)).with_targets(self.targets(k))

    def target_less_offset(self, k: int) -> np.ndarray:
        """What the margins of a loss of differences are compared with."""
        own = self.offset_of(k)
        return self.targets(k) if own is None else self.targets(k) - own

    def uncentred(self, coef: AnyMatrix, intercepts: np.ndarray) -> np.ndarray:
        """The intercepts for X itself, where the problem has centred columns: (x - means)'w + c = x'w + c - means'w."""
        if self.centre is None or self.centre.means is None:
            return intercepts
        moved: np.ndarray = intercepts - np.asarray(coef @ self.centre.means)
        return moved

    @property
    def total(self) -> float:
        """The total weight: without weights the number of samples."""
        if self.weights is None:
            return float(self.X.shape[0])
        with np.errstate(over="ignore"):
            total = float(self.weights.sum())
        if not np.isfinite(total):
            raise ValueError(
                f"The weights of all samples must have a finite sum; the largest is {self.weights.max():.3g}. Scale "
                "sample_weight down."
            )
        return total
