"""Penalties of a path that depend on the answers before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .penalties import Penalty


class Chooser:
    """Base of sequences of penalties that are told each solution before the next penalty is taken."""

    def __iter__(self) -> Iterator[Penalty]:
        raise NotImplementedError

    def told(self, penalty: Penalty, x: np.ndarray, primal: float, dual: float, scale: float) -> None:
        """The coefficients, the objective, its lower bound and the unit of gaps under the last penalty."""
        raise NotImplementedError

    def arranged(self, points: list[Any]) -> list[Any]:
        """The points that belong to the path, in its order."""
        raise NotImplementedError
