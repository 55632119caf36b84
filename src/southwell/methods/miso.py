"""MISO: incremental minimisation of lower bounds (Mairal 2015; Lin, Mairal and Harchaoui 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._names import positive, settle, shown
from ..problem import Problem
from ..rules import Uniform
from .base import Method, Prepared, Start
from .conditioning import row_norms, strong_convexity
from .coordinate_descent import begin


@dataclass(frozen=True)
class MISO(Method):
    """MISO-Prox: the mean of a quadratic lower bound of each loss, minimised with the penalty; a baseline.

    For linear predictors its lower bounds are multiples of the rows, so that it is dual coordinate ascent with a step
    that needs the gradient of the loss only: ``y_i + share (phi_i'(m_i) - y_i)`` instead of the exact maximum.

    Parameters
    ----------
    share : float, optional
        At most 1. Default: min(1, n l2 / (2 L)), with L the largest of n s_i ||a_i||^2 times the loss's smoothness.

    References
    ----------
    J. Mairal, "Incremental Majorization-Minimization Optimization with Application to Large-Scale Machine Learning",
    SIAM J. Optim. 25, 2015.
    H. Lin, J. Mairal, Z. Harchaoui, "A Universal Catalyst for First-Order Optimization", NIPS 2015.
    """

    share: float | None = None
    name: ClassVar[str] = "miso"

    def __post_init__(self) -> None:
        if self.share is not None:
            settle(self, positive, "share")
            if self.share > 1:
                raise ValueError(f"share must be > 0 and at most 1; got {shown(self.share)}.")

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        l2 = strong_convexity(problem)
        if l2 == 0 or not np.isfinite(problem.loss.smoothness):
            raise ValueError(
                "MISO needs a smooth loss of bounded curvature, l2 > 0 on every coefficient and no intercept. "
                "Use SPDC, which perturbs what is missing, or CoordinateDescent."
            )
        share = self.share
        if share is None:
            L = float(row_norms(problem).max()) ** 2 * problem.loss.smoothness
            share = min(1.0, problem.n_samples * l2 / (2 * L)) if L > 0 else 1.0
        algorithm = begin(problem, start, "dual", Uniform().core(problem, "dual", seed)[0], seed=seed, towards=share)
        return Prepared(algorithm, f"MISO, share {share:.3g}")
