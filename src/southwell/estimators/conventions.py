"""Conversions from the units of scikit-learn to those of southwell.

Every model here minimises ``sum_i s_i phi(a_i'x + c; b_i) + l1 ||x||_1 + (l2/2) ||x||^2`` with weights ``s`` that sum
to one. scikit-learn states the same models in two ways:

* **alpha**: a mean over samples plus ``alpha`` times the penalty, so l1 and l2 are shares of alpha. Only
  ``Ridge`` has a sum of squares, without the factor 1/2.
* **C**: the penalty plus ``C`` times a sum over samples, so both are shares of ``1 / (C * total weight)``. Its squared
  hinge has no factor 1/2, which gives another factor of two.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Strengths(NamedTuple):
    """l1, l2, the strength of groups, and the factor that turns our objective into that of scikit-learn."""

    l1: float
    l2: float
    unit: float = 1.0
    group: float = 0.0


def from_alpha(alpha: float, l1_ratio: float) -> Strengths:
    """Lasso, ElasticNet, QuantileRegressor, PoissonRegressor."""
    return Strengths(alpha * l1_ratio, alpha * (1.0 - l1_ratio))


def over_rows(alpha: float, l1_ratio: float) -> Strengths:
    """MultiTaskElasticNet: its L1 is of the norms of rows, the coefficients of a feature for all targets."""
    return Strengths(0.0, alpha * (1.0 - l1_ratio), group=alpha * l1_ratio)


def over_groups(alpha: float, l1_ratio: float, l2: float) -> Strengths:
    """GroupLasso: alpha is shared by the norms of groups and a plain L1; an l2 is given by itself."""
    return Strengths(alpha * l1_ratio, l2, group=alpha * (1.0 - l1_ratio))


def from_ridge(alpha: float, total: float) -> Strengths:
    """Ridge: ``sum_i w_i (y_i - m_i)^2 + alpha ||x||^2``."""
    return Strengths(0.0, alpha / total, 2.0 * total)


def from_C(C: float, total: float, l1_ratio: float, factor: float = 1.0) -> Strengths:
    """LogisticRegression, LinearSVC, LinearSVR: the penalty plus ``C factor`` times a sum of our losses. An infinite C
    is no penalty; the unit is that of the loss then."""
    if math.isinf(C):
        return Strengths(0.0, 0.0, factor * total)
    scale = float(C) * factor * float(total)  # Python's numbers overflow to infinity without a warning
    if not 1e-300 < scale < 1e300:
        raise ValueError(f"C is {C}: its product with the total weight, {total:g}, must be between 1e-300 and 1e300.")
    strength = 1.0 / scale
    return Strengths(l1_ratio * strength, (1.0 - l1_ratio) * strength, scale)
