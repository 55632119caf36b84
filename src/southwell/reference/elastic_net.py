"""g_j(x) = l1_j |x| + (l2_j/2) x^2 on [lo_j, hi_j], all coordinates at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Numbers


def soft(v: Numbers, threshold: Numbers) -> Numbers:
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


@dataclass
class ElasticNet:
    """Arrays of one number a coordinate; an intercept is a last coordinate with l1 = l2 = 0 and no bounds."""

    l1: np.ndarray
    l2: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @classmethod
    def of(cls, penalty: Any, n_features: int, intercept: bool = False) -> ElasticNet:
        """From a ``southwell.penalties.ElasticNet``."""

        def spread(given: Numbers, default: Numbers, free: Numbers) -> Numbers:
            return np.append(np.broadcast_to(default if given is None else given, n_features), [free] * intercept)

        weights = spread(penalty.weights, 1.0, 0.0)
        bounds = spread(penalty.lower, -np.inf, -np.inf), spread(penalty.upper, np.inf, np.inf)
        ridges = weights if penalty.ridge_weights is None else spread(penalty.ridge_weights, 1.0, 0.0)
        return cls(weights * penalty.l1, ridges * penalty.l2, *bounds)

    def __getitem__(self, j: Numbers) -> ElasticNet:
        return ElasticNet(self.l1[j], self.l2[j], self.lo[j], self.hi[j])

    def value(self, x: Numbers) -> Numbers:
        return self.l1 * np.abs(x) + self.l2 / 2 * x**2

    def prox(self, v: Numbers, step: Numbers) -> Numbers:
        """argmin_x  g(x) + (x - v)^2 / (2 step)."""
        return np.clip(soft(v, step * self.l1) / (1 + step * self.l2), self.lo, self.hi)

    def conjugate_gradient(self, v: Numbers) -> Numbers:
        """argmax_x  v x - g(x), for l2 > 0."""
        return np.clip(soft(v, self.l1) / self.l2, self.lo, self.hi)

    def conjugate(self, v: Numbers) -> Numbers:
        """sup_x  v x - g(x) for feasible v. Its maximum is at the kink, at the stationary point or at a bound."""
        with np.errstate(divide="ignore", invalid="ignore"):
            summit = np.where(self.l2 > 0, soft(v, self.l1) / self.l2, 0.0)
        ends = [np.where(np.isfinite(end), end, 0.0) for end in (self.lo, self.hi)]
        points = np.clip([0.0 * v, summit, *ends], self.lo, self.hi)
        return np.max(v * points - self.value(points), axis=0)

    def feasible_scale(self, v: Numbers) -> Numbers:
        """The largest t <= 1 with t v in dom g*: if l2 = 0 and x is unbounded in the direction of v, |t v| <= l1."""
        bounded = np.isfinite(np.where(v > 0, self.hi, self.lo))
        free = (self.l2 > 0) | bounded | (np.abs(v) <= self.l1)
        return np.where(free, 1.0, self.l1 / np.where(v == 0, 1.0, np.abs(v)))
