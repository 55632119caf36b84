"""The data passed to ``fit``, checked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._data import Centred, vector
from .._typing import AnyMatrix, Given
from ..solve_many import Targets


@dataclass(frozen=True)
class FitData:
    """The data passed to ``fit``, checked.

    ``targets`` has a column for each problem; ``weights`` are those of samples and classes together; ``sample_weight``
    and ``params`` are as passed to ``fit``; ``told`` holds the attributes that the data determine, such as
    ``classes_``. ``together`` says that all classes are one problem, whose target holds their numbers. ``centre`` says
    that the columns of X are centred, and at which means, if they are known. ``offset`` is added to the margins.
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

    def part(self, rows: np.ndarray, target: np.ndarray) -> FitData:
        """Some rows, with one target."""
        weights, offset = (None if given is None else given[rows] for given in (self.weights, self.offset))
        targets = Targets(lambda k: target, 1)
        return replace(self, X=self.X[rows], y=self.y[rows], targets=targets, weights=weights, offset=offset)

    def checked_offset(self, given: Given) -> np.ndarray | None:
        """A number for each sample."""
        if given is None:
            return None
        classes = self.told.get("classes_")
        if classes is not None and len(classes) > 2:
            raise ValueError(
                f"offset is for two classes; there are {len(classes)}. An offset that is the same for all classes "
                "would change nothing where they are fitted together."
            )
        return vector(given, "offset", self.X.shape[0], "X").copy()

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
