"""Accelerated proximal stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._names import count, one_name, settle
from ..problem import Problem
from ..rules import Shuffled, Uniform
from .base import Method, Prepared, Start
from .conditioning import row_norms, strong_convexity
from .coordinate_descent import begin

RULES = {"shuffled": Shuffled, "uniform": Uniform}


@dataclass(frozen=True)
class AcceleratedSDCA(Method):
    """Accelerated proximal SDCA: dual coordinate ascent on P(x) + (kappa/2) ||x - c||^2, with extrapolated centres c.

    Parameters
    ----------
    inner_epochs : int
        Epochs between two centres. With the authors' kappa = R^2 / (gamma n) - l2 the condition number of the inner
        problem is n, so an epoch reduces its error by a constant factor; the theory requires a number of epochs that
        grows like the logarithm of the condition number.
    inner : {"epochs", "accuracy"}
        What ends an inner problem: ``inner_epochs``, or an accuracy as in the paper. With "accuracy" its duality gap is
        computed after each epoch, which takes another pass over the data, and the centre moves when the gap is at most
        ``(eta/2) (1 - eta/2)^t`` times the gap at the start, eta = sqrt(mu / rho), t the moves so far.
    rule : {"shuffled", "uniform"}
        The order of the samples.

    Notes
    -----
    If l2 >= R^2 / (gamma n), there is nothing to accelerate, and this is SDCA. It needs a smooth loss, l2 > 0 on
    every coefficient, and no intercept.

    References
    ----------
    S. Shalev-Shwartz, T. Zhang, "Accelerated Proximal Stochastic Dual Coordinate Ascent for Regularized Loss
    Minimization", ICML 2014.
    """

    inner_epochs: int = 3
    rule: str = "shuffled"
    inner: str = "epochs"
    name: ClassVar[str] = "accelerated_sdca"

    def __post_init__(self) -> None:
        settle(self, count, "inner_epochs", least=1)
        one_name("rule", self.rule, RULES)
        one_name("inner", self.inner, ("epochs", "accuracy"))

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        l2 = strong_convexity(problem)
        if l2 == 0 or not np.isfinite(problem.loss.smoothness):
            raise ValueError(
                "AcceleratedSDCA needs a smooth loss, l2 > 0 on every coefficient and no intercept. Use SPDC, which "
                "perturbs what is missing, or CoordinateDescent."
            )
        wanted = float(row_norms(problem).max()) ** 2 * problem.loss.smoothness / problem.n_samples
        firm = max(wanted, l2)
        # mu = l2 / 2, rho = mu + kappa, eta = sqrt(mu / rho), centres c = x + (1 - eta) / (1 + eta) (x - x before)
        eta = np.sqrt(0.5 * l2 / (0.5 * l2 + firm - l2)) if firm > l2 else 1.0
        rule = RULES[self.rule]().core(problem, "dual", seed)[0]
        algorithm = begin(
            problem, start, "dual", rule, seed=seed, firmness=firm if firm > l2 else 0.0,
            momentum=float((1 - eta) / (1 + eta)), recentre_every=self.inner_epochs,
            eta=float(eta) if self.inner == "accuracy" and firm > l2 else 0.0,
        )  # fmt: skip
        ends = f"{self.inner_epochs} inner epochs" if self.inner == "epochs" else "inner problems to an accuracy"
        return Prepared(algorithm, f"accelerated SDCA, {self.rule}, {ends}")
