"""What methods ask of a penalty."""

from __future__ import annotations

from typing import Self

import numpy as np

from . import _core
from ._dense import numbers
from ._typing import Given


class Penalty:
    """Base of all penalties: the questions that methods ask. No method reads the parameters of a penalty.

    A path varies one number of a penalty: the field whose name is ``leading``. The penalty also has a number for the
    squares, ``l2``, which may be zero.
    """

    leading: str
    bounded: bool
    """Whether a coefficient has bounds."""

    @property
    def kinked(self) -> bool:
        """Whether it has a kink at zero, which makes solutions sparse."""
        raise NotImplementedError

    @property
    def ridge(self) -> float:
        """The strength of the squares, before weights."""
        raise NotImplementedError

    @property
    def least_l2(self) -> float:
        """The strong convexity: a number for which the penalty less ``least_l2 / 2 ||x||^2`` is convex."""
        raise NotImplementedError

    @property
    def free(self) -> bool:
        """Whether it is zero within its bounds."""
        return not self.kinked and self.ridge == 0

    @property
    def absent(self) -> bool:
        """Whether no coefficient is penalised."""
        return self.free and not self.bounded

    @property
    def smooth(self) -> bool:
        """Whether it has neither kinks nor bounds."""
        return not self.kinked and not self.bounded

    @property
    def strongly_convex(self) -> bool:
        return self.least_l2 > 0

    @property
    def leading_strength(self) -> float:
        """The number that a path varies."""
        return float(getattr(self, self.leading))

    def settled(self, n_features: int) -> Penalty:
        """The same penalty with its groups in a form that is quick to read again and again."""
        raise NotImplementedError

    def at(self, strength: float, l2: float) -> Penalty:
        """The same penalty elsewhere on a path."""
        raise NotImplementedError

    def vanishing(self, slopes: np.ndarray) -> float:
        """The smallest strength at which all coefficients with kinks are zero, from their slopes at zero (a row a
        feature)."""
        raise NotImplementedError

    def unpenalised(self, n_features: int) -> np.ndarray:
        """Which features have no kink at any strength."""
        raise NotImplementedError

    def value(self, x: np.ndarray) -> float:
        """What these coefficients cost, the bounds apart."""
        raise NotImplementedError


class Separable(Penalty):
    """Base of penalties on single coefficients, ``sum_j g_j(x_j)``: what methods of ``Problem`` ask beyond that.

    ``core`` is the compiled penalty, whose g_j answer the questions of ``ScalarPenalty`` (core/concepts.hpp).
    """

    @property
    def quadratic(self) -> bool:
        """Whether g is a strongly convex quadratic, so that the gradient of g* is linear."""
        raise NotImplementedError

    @property
    def excludes_zero(self) -> bool:
        """Whether a coefficient cannot be zero."""
        raise NotImplementedError

    @property
    def kinks(self) -> Separable:
        """Its kinks alone, at leading strength 1: without squares and bounds."""
        raise NotImplementedError

    def core(self, n_features: int) -> _core.ElasticNet:
        raise NotImplementedError

    def over(self, features: np.ndarray) -> Self:
        """The same penalty over these features alone."""
        raise NotImplementedError

    def ridges(self, n_features: int) -> np.ndarray:
        """The factor l2_j of ``x_j^2 / 2`` for each feature."""
        raise NotImplementedError

    def by_coefficient(self, n_features: int, intercept: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """l1, l2 and both bounds of each coefficient. Only L-BFGS asks, since it splits coefficients at the kink of an
        elastic net; an intercept, the last, has no penalty and no bounds."""
        raise NotImplementedError


def counted(slopes: np.ndarray, lower: float | np.ndarray, upper: float | np.ndarray = np.inf) -> np.ndarray:
    """What counts of slopes at zero: they move coefficients only where the bounds have room."""
    up, down = np.where(np.greater(upper, 0), -slopes, 0.0), np.where(np.less(lower, 0), slopes, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)


def representable(strength: float, weights: np.ndarray) -> float:
    if not np.isfinite(strength):
        raise ValueError(
            "No finite strength makes all coefficients zero: the smallest penalty weight is "
            f"{weights.min(initial=np.inf):.3g}. Give larger weights, or 0 where a coefficient is not to be penalised."
        )
    return strength


def one_each(name: str, given: Given, size: int, finite: bool = False, each: str = "feature") -> np.ndarray:
    """One number for each feature or group, from one for all or an array; empty if nothing is given."""
    if given is None:
        return np.empty(0)
    values = numbers(name, given)
    if values.ndim > 1 or (values.ndim == 1 and values.size != size):
        raise ValueError(f"{name} must be one number or {size} (one a {each}); got shape {values.shape}.")
    if np.isnan(values).any() or (finite and not np.isfinite(values).all()):
        advice = "finite numbers" if finite else "numbers, or infinity for no bound"
        raise ValueError(f"{name} contains NaN{' or infinity' if finite else ''}. Give {advice}.")
    return np.ascontiguousarray(np.broadcast_to(values, (size,)))
