"""Algorithms that are written in Python: the one loop of the core drives them too.

An algorithm moves in ``epoch(beat)`` and calls ``beat(entries)`` after each move, with the entries of the data that the
move touched; when that returns True it leaves the epoch, because time is up or Ctrl-C was pressed. It has no loop that
stops, no clock and no callback. What it raises ends the solve and reaches the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import _core
from .base import Prepared

Beat = Callable[[int], bool]


class Hosted(ABC):
    """Base of all algorithms in Python. ``x`` is where one stands, ``description`` what it is."""

    x: np.ndarray
    description: str

    @abstractmethod
    def stored(self) -> int:
        """The entries that a product with the data touches; a certificate is taken to cost twice as much."""

    @abstractmethod
    def epoch(self, beat: Beat) -> None:
        """Move."""

    def remark(self) -> str:
        """What the work consisted of, told when it is over."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Called when the work is over, however it ended."""

    def prepared(self) -> Prepared:
        return Prepared(self._hosted(), self.description, close=self.close, remark=self.remark)

    @abstractmethod
    def _hosted(self) -> _core.Algorithm:
        """This algorithm, as the core holds it."""


class CertifiedByCore(Hosted):
    """An algorithm for a compiled ``problem``, which proves how good ``x`` is."""

    problem: _core.Question

    def _hosted(self) -> _core.Algorithm:
        return _core.in_python(self.problem, self, self.x)

    def advance(self) -> tuple[np.ndarray, int]:
        """What the core calls: an epoch. Where it ends, and the products with the data that it took."""
        entries: list[int] = []

        def beat(more: int) -> bool:
            entries.append(more)
            return False

        self.epoch(beat)
        return self.x, sum(entries) // self.stored()


class Located(NamedTuple):
    """A point and its proof. ``terms`` is the size of the numbers that cancel in the gap: it bounds rounding errors."""

    x: np.ndarray
    y: np.ndarray
    primal: float
    dual: float
    terms: float
    nonzeros: int


class SelfCertified(Hosted):
    """An algorithm whose problem lives in Python too, and which therefore tells P and D itself."""

    dual_size: int

    def _hosted(self) -> _core.Algorithm:
        return _core.outside(self, self.x.size, self.dual_size)

    @abstractmethod
    def unit(self) -> tuple[float, float]:
        """The unit of the gap, and below which gap rounding decides."""

    @abstractmethod
    def locate(self) -> Located:
        """The best point that can be told from here, with fresh products."""

    @abstractmethod
    def resync(self) -> None:
        """Take over the products of the last point located, so that rounding errors do not grow."""
