"""Penalties: what a coefficient costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _core
from ._names import positive


class Penalty:
    """Base of all penalties."""


@dataclass(frozen=True, eq=False)
class ElasticNet(Penalty):
    """``sum_j w_j (l1 |x_j| + (l2/2) x_j^2)`` with ``lower_j <= x_j <= upper_j``.

    Parameters
    ----------
    l1, l2 : float
        Strengths, >= 0, beside a loss that is a (weighted) mean over samples.
    weights : array of shape (n_features,), optional
        Factor of each coefficient's penalty; 0 leaves it unpenalised. Default: all 1.
    lower, upper : float or array, optional
        Bounds. ``lower=0`` asks for non-negative coefficients.

    Examples
    --------
    >>> import southwell as sw
    >>> sw.penalties.ElasticNet(l1=0.1, lower=0)
    ElasticNet(l1=0.1, l2=0.0, weights=None, lower=0, upper=None)
    """

    l1: float = 0.0
    l2: float = 0.0
    weights: np.ndarray | None = None
    lower: float | np.ndarray | None = None
    upper: float | np.ndarray | None = None

    def __post_init__(self):
        for name in ("l1", "l2"):
            object.__setattr__(self, name, positive(name, getattr(self, name), zero=True))

    def core(self, n_features: int) -> _core.ElasticNet:
        """The compiled penalty over ``n_features`` coefficients, its arrays checked; an intercept beyond is free."""
        if self.weights is None and not self.bounded:
            return _core.ElasticNet(self.l1, self.l2, np.empty(0), np.empty(0), np.empty(0), n_features)
        weights = self._array("weights", self.weights, n_features, finite=True)
        if weights.size and weights.min() < 0:
            raise ValueError(f"Penalty weights must be >= 0 (0 leaves a coefficient unpenalised); got {weights.min()}.")
        with np.errstate(over="ignore"):
            overflows = weights.size and not np.isfinite(weights.max() * max(self.l1, self.l2))
        if overflows:
            raise ValueError(
                f"weights times l1 or l2 overflows: the largest weight is {weights.max()}. Scale them down."
            )
        lower = self._array("lower", self.lower, n_features)
        upper = self._array("upper", self.upper, n_features)
        lo = lower if lower.size else np.full(n_features, -np.inf)
        hi = upper if upper.size else np.full(n_features, np.inf)
        if (lo > hi).any() or (lo == np.inf).any() or (hi == -np.inf).any():
            j = int(np.flatnonzero((lo > hi) | (lo == np.inf) | (hi == -np.inf))[0])
            raise ValueError(f"Bounds must leave room: coefficient {j} has lower={lo[j]}, upper={hi[j]}.")
        return _core.ElasticNet(self.l1, self.l2, weights, lower, upper, n_features)

    @property
    def bounded(self) -> bool:
        return self.lower is not None or self.upper is not None

    def value(self, x: np.ndarray) -> float:
        """What these coefficients cost, the bounds apart."""
        weighed = x if self.weights is None else self.weights * x
        square = self.l2 / 2 * (weighed @ x) if self.l2 > 0 else 0.0  # which may overflow where it does not count
        return float(self.l1 * np.abs(weighed).sum() + square)

    @staticmethod
    def _array(name: str, given, size: int, finite: bool = False) -> np.ndarray:
        if given is None:
            return np.empty(0)
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be numbers; got {given!r}.") from None
        if values.ndim > 1 or (values.ndim == 1 and values.size != size):
            raise ValueError(f"{name} must be one number or {size} (one a feature); got shape {values.shape}.")
        if np.isnan(values).any() or (finite and not np.isfinite(values).all()):
            raise ValueError(f"{name} contains NaN{' or infinity' if finite else ''}.")
        return np.ascontiguousarray(np.broadcast_to(values, (size,)))
