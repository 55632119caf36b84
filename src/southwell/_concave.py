"""Penalties that grow like L1 near zero and level off: MCP and SCAD. They are not convex."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ._dense import numbers
from ._names import positive, shown
from ._typing import Given


@dataclass(frozen=True)
class Concave:
    """Base: ``sum_j p(|x_j|) + (l2/2) ||x||^2`` with p concave, of slope l1 at zero and constant from ``gamma l1`` on.

    A subclass has the smallest possible ``gamma``, and computes slopes of p, as parts of l1, and its values.
    """

    l1: float
    gamma: float
    l2: float = 0.0
    name: ClassVar[str]
    above: ClassVar[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", positive("l1", self.l1))
        object.__setattr__(self, "l2", positive("l2", self.l2, zero=True))
        gamma = positive("gamma", self.gamma)
        if not self.above < gamma:
            raise ValueError(f"gamma of {self.name} must be above {self.above:g}; got {shown(self.gamma)}.")
        object.__setattr__(self, "gamma", gamma)

    def at(self, l1: float, l2: float) -> Self:
        """The same penalty with another l1 and l2."""
        return replace(self, l1=l1, l2=l2)

    def slopes(self, x: Given) -> np.ndarray:
        """``p'(|x_j|) / l1``: the weights of the L1 penalty that touches this one at x from above."""
        raise NotImplementedError

    def value(self, x: Given) -> float:
        """The sum over all coefficients, squares included."""
        x = numbers("x", x)
        return self._concave(np.abs(x)) + self.l2 / 2.0 * float((x**2).sum())

    def _concave(self, sizes: np.ndarray) -> float:
        """The sum of p."""
        raise NotImplementedError


@dataclass(frozen=True)
class MCP(Concave):
    """The minimax concave penalty: ``p(t) = l1 t - t^2 / (2 gamma)`` up to ``t = gamma l1``, constant beyond.

    Parameters
    ----------
    l1 : float
        Its slope at zero.
    gamma : float
        Where it levels off, in units of l1; > 1. As it grows the penalty becomes L1.
    l2 : float
        Of ``(l2/2) ||x||^2`` beside it, which keeps correlated features together.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.local.MCP(1.0).slopes([0.0, 1.5, 4.0]).tolist()
    [1.0, 0.5, 0.0]
    """

    gamma: float = 3.0
    name = "MCP"
    above = 1.0

    def slopes(self, x: Given) -> np.ndarray:
        with np.errstate(over="ignore"):
            sizes = np.abs(numbers("x", x)) / self.gamma / self.l1
        return np.asarray(np.maximum(1.0 - sizes, 0.0))

    def _concave(self, sizes: np.ndarray) -> float:
        sizes = np.minimum(sizes, self.gamma * self.l1)
        return float((self.l1 * sizes - sizes**2 / (2.0 * self.gamma)).sum())


@dataclass(frozen=True)
class SCAD(Concave):
    """The smoothly clipped absolute deviation: of slope l1 up to ``t = l1``, falling linearly to 0 at ``gamma l1``.

    Parameters
    ----------
    l1 : float
        Its slope at zero.
    gamma : float
        Where it levels off, in units of l1; > 2.
    l2 : float
        As for ``MCP``.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.local.SCAD(1.0, gamma=3.0).slopes([0.5, 2.0, 4.0]).tolist()
    [1.0, 0.5, 0.0]
    """

    gamma: float = 3.7
    name = "SCAD"
    above = 2.0

    def slopes(self, x: Given) -> np.ndarray:
        with np.errstate(over="ignore"):
            sizes = np.abs(numbers("x", x)) / self.l1
        return np.asarray(np.clip((self.gamma - sizes) / (self.gamma - 1.0), 0.0, 1.0))

    def _concave(self, sizes: np.ndarray) -> float:
        sizes = np.minimum(sizes / self.l1, self.gamma)
        bent = np.maximum(sizes - 1.0, 0.0)
        return self.l1 * float((self.l1 * (sizes - bent**2 / (2.0 * (self.gamma - 1.0)))).sum())


KINDS = {"mcp": MCP, "scad": SCAD}
