"""What every method is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .. import _core
from ..problem import Problem


@dataclass(frozen=True)
class Start:
    """Where to begin: coefficients as the core holds them, and a dual point if there is one."""

    x: np.ndarray
    y: np.ndarray | None = None


@dataclass(frozen=True)
class Prepared:
    """A compiled algorithm at its start, a description of what was chosen, and the seconds that went into parts.

    ``close`` is called when the work is over, however it ended."""

    algorithm: _core.Algorithm
    description: str
    setup: dict[str, float] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None


class Method(ABC):
    """Base of all methods."""

    name: ClassVar[str]
    takes_factors: ClassVar[bool] = False  # can it do without rows and columns of A?
    takes_blocks: ClassVar[bool] = False  # can its coordinates be blocks?

    @abstractmethod
    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        """The compiled algorithm, ready to go."""
