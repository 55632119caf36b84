"""The base class of methods."""

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
    """A starting point: coefficients in the coordinates of the core, and a dual point if there is one."""

    x: np.ndarray
    y: np.ndarray | None = None


@dataclass(frozen=True)
class Prepared:
    """A compiled algorithm at its start, a description of the choices made, and the seconds spent on set-up by part.

    ``close`` is called when the solve has ended, also after an error."""

    algorithm: _core.Algorithm
    description: str
    setup: dict[str, float] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None


class Method(ABC):
    """Base of all methods."""

    name: ClassVar[str]
    takes_factors: ClassVar[bool] = False  # whether it works without rows and columns of A
    takes_blocks: ClassVar[bool] = False  # whether it supports problems of blocks

    @abstractmethod
    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        """The compiled algorithm, ready to go."""
