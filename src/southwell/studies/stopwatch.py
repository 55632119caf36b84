"""The seconds of a run: those of the processor, which other programs on the machine hardly lengthen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..result import Progress
from .machine import CLOCK

PATIENCE = 30.0  # on the clock on the wall a run has so many times the seconds that it may use


class Stopwatch:
    """A callback of ``solve`` that ends it after so many seconds, and knows how many each certificate had taken.

    Seconds are those of the processor. Where several threads share the work, their times add up; then those on the wall
    count, if they are fewer. Time is looked at when a certificate has been computed.

    Attributes
    ----------
    seconds : float
        The limit.
    until : callable, optional
        Another callback, which may end the run earlier.
    spent : list of float
        Seconds at each certificate; the first is 0.
    """

    def __init__(self, seconds: float, until: Callable[[Progress], object] | None = None) -> None:
        self.seconds, self.until, self.begun = seconds, until, CLOCK()
        self.wall, self.spent = [0.0], [0.0]

    def __call__(self, at: Progress) -> bool:
        self.wall.append(at.seconds)
        self.spent.append(max(self.spent[-1], min(CLOCK() - self.begun, at.seconds)))
        return bool(self.until is not None and self.until(at)) or self.spent[-1] >= self.seconds

    @property
    def options(self) -> dict[str, Any]:
        """Of ``solve``."""
        return {"callback": self, "max_seconds": PATIENCE * self.seconds}

    def of(self, wall: Any) -> np.ndarray:
        """The seconds of these times on the wall, which the history tells."""
        return np.asarray(np.interp(wall, self.wall, self.spent))
