"""Algorithms that are written in Python. The loop of the core drives them, as it drives compiled ones.

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
    """Base of all algorithms in Python. ``x`` is the current point, ``description`` is shown in results."""

    x: np.ndarray
    description: str

    @abstractmethod
    def stored(self) -> int:
        """The entries that a product with the data touches; a certificate is taken to cost twice as much."""

    @abstractmethod
    def epoch(self, beat: Beat) -> None:
        """Perform the moves of an epoch."""

    def remark(self) -> str:
        """A summary of the work, added to the description when the solve has ended."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Called when the solve has ended, also after an error."""

    def prepared(self) -> Prepared:
        return Prepared(self._hosted(), self.description, close=self.close, remark=self.remark)

    @abstractmethod
    def _hosted(self) -> _core.Algorithm:
        """The compiled object that calls this algorithm."""


class CertifiedByCore(Hosted):
    """An algorithm for a compiled ``problem``, which computes the certificates of ``x``."""

    problem: _core.Question

    def _hosted(self) -> _core.Algorithm:
        return _core.in_python(self.problem, self, self.x)

    def advance(self) -> tuple[np.ndarray, int]:
        """Called by the core: an epoch. Returns the new point and the number of products with the data."""
        entries: list[int] = []

        def beat(more: int) -> bool:
            entries.append(more)
            return False

        self.epoch(beat)
        return self.x, sum(entries) // self.stored()


class Located(NamedTuple):
    """A point and its certificate. ``terms`` bounds rounding errors: the size of the numbers that cancel in the gap."""

    x: np.ndarray
    y: np.ndarray
    primal: float
    dual: float
    terms: float
    nonzeros: int


class SelfCertified(Hosted):
    """An algorithm whose problem is in Python too, and which therefore computes P and D itself."""

    dual_size: int

    def _hosted(self) -> _core.Algorithm:
        return _core.outside(self, self.x.size, self.dual_size)

    @abstractmethod
    def unit(self) -> tuple[float, float]:
        """The unit of the gap, and the gap below which rounding errors dominate."""

    @abstractmethod
    def locate(self) -> Located:
        """The best point that can be computed from the current one, with fresh products."""

    @abstractmethod
    def resync(self) -> None:
        """Adopt the products of the last located point, so that rounding errors do not grow."""
