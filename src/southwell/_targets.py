"""Targets and offsets of a problem: what the loss of each row is a function of, besides the coefficients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from . import _data, _labels
from ._typing import Given
from ._words import Words
from .losses import Loss


class HasTargets:
    """What a problem knows of its rows: ``targets``, ``classes`` and ``offset``."""

    words: Words
    loss: Loss
    n_samples: int
    weights: np.ndarray
    offset: np.ndarray | None
    targets: np.ndarray
    classes: np.ndarray | None

    @property
    def width(self) -> int:
        """The number of margins of a sample."""
        raise NotImplementedError

    def _checked_targets(self, b: Given) -> tuple[np.ndarray, np.ndarray | None]:
        """The targets as numbers and, of losses over classes, the labels."""
        if self.loss.targets == "signs":
            values, classes = _labels.signs(b, self.words, self.n_samples, self.weights, self.loss.name)
        else:
            values = _data.targets(b, self.loss.targets, self.n_samples, self.loss.name, self.words)
            classes = None
        self.loss.examine(values)
        return values, classes

    def _targets_less_offset(self, b: Given) -> tuple[np.ndarray, np.ndarray | None]:
        """The same; of losses that are functions of m - b the offset is subtracted from the targets."""
        targets, classes = self._checked_targets(b)
        if self.offset is None:
            return targets, classes
        self._refuse_offset(targets)
        if not self._folds_offset:
            return targets, classes
        table = targets.reshape(self.n_samples, -1)
        with np.errstate(over="ignore"):
            moved = table - self.offset.reshape(self.n_samples, -1)
        if not np.isfinite(moved).all():
            raise ValueError(f"{self.words.targets} - offset overflows. Scale both down.")
        return moved.reshape(targets.shape), classes

    def _refuse_offset(self, targets: np.ndarray) -> None:
        """An error if the offset does not go with these targets."""
        assert self.offset is not None
        table = targets.reshape(self.n_samples, -1)
        if self.offset.ndim == 2 and self.offset.shape != table.shape:
            raise ValueError(
                f"offset must have shape ({self.n_samples},) or that of {self.words.targets}, {targets.shape}; got "
                f"{self.offset.shape}."
            )

    @property
    def _folds_offset(self) -> bool:
        return self.loss.targets == "real" and not self.loss.own  # which need not be functions of m - b

    def _checked_offset(self, given: Given) -> np.ndarray:
        return _data.vector(given, "offset", self.n_samples, self.words.data).copy()

    @property
    def core_offset(self) -> np.ndarray:
        """What the core adds to margins: a number for each, or none."""
        if self.offset is None or self._folds_offset:
            return np.empty(0)
        rows = self.offset.reshape(self.n_samples, -1)
        return np.broadcast_to(rows, (self.n_samples, self.width)).ravel()

    def with_targets(self, b: Given) -> Self:
        """The same data, loss and penalty with other targets. Layouts are shared and the data are not checked again."""
        targets, classes = self._targets_less_offset(b)
        return self._alike(targets=targets, classes=classes, _make_targets=None)

    def with_offset(self, offset: Given) -> Self:
        """The same with another offset, for targets that are given later."""
        return self if offset is None else self._alike(offset=self._checked_offset(offset))

    def with_later_targets(self, make: Callable[[], Given]) -> Self:
        """The same with targets that are made and checked whenever they are asked for, and take no memory."""
        other = self._alike(_make_targets=make)
        for name in ("targets", "classes"):
            other.__dict__.pop(name, None)
        return other

    def at_hand(self) -> Self:
        """The same with its targets in memory."""
        make = self.__dict__.get("_make_targets")
        return self if make is None else self.with_targets(make())

    def __getattr__(self, name: str) -> Any:  # only for what is not there
        make = self.__dict__.get("_make_targets")
        if make is None or name not in ("targets", "classes"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        targets, classes = self._targets_less_offset(make())
        return targets if name == "targets" else classes

    def _alike(self, **changes: Any) -> Self:
        """A copy of this problem with changes; layouts and kept values are shared."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other
