"""The base class of methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from .. import _core
from .._question import Start
from ..problem import Problem

__all__ = ["Method", "Prepared", "Start"]


@dataclass(frozen=True)
class Prepared:
    """A compiled algorithm at its start, a description of the choices made, and the seconds spent on set-up by part.

    ``remark`` is called when the solve has ended, and added to the description; ``close`` is called then, also after an
    error."""

    algorithm: _core.Algorithm
    description: str
    setup: dict[str, float] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None
    remark: Callable[[], str] = lambda: ""


class Method(ABC):
    """Base of all methods."""

    name: ClassVar[str]
    takes_factors: ClassVar[bool] = False  # whether it works without stored rows and columns of A
    takes_blocks: ClassVar[bool] = False  # whether it supports problems of blocks

    @abstractmethod
    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        """The compiled algorithm, ready to go."""
