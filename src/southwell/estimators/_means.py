"""Regressors with a log link: the prediction is exp(x'w + c)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import d2_tweedie_score

from .. import losses
from .._data import readable
from .._names import positive
from .._typing import Given
from ..methods import Method
from ._parameters import share
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class MeanRegressor(LinearRegressor):
    """A model of means, with a strength ``alpha`` of an L2 or elastic-net penalty."""

    _multi_output = False  # numbers of different kinds rarely have the same scale
    _solvers = ("lbfgs", "newton-cholesky")
    _penalise = "alpha=1e-6"

    def __init__(self, *, alpha: float = 1.0, l1_ratio: float = 0.0, fit_intercept: bool = True, solver: str = "auto",
                 max_iter: int = 10_000, tol: float = 1e-6, warm_start: bool = False,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return from_alpha(positive("alpha", self.alpha, zero=True), share("l1_ratio", self.l1_ratio))

    def predict(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """The expected values, exp(X w + c + offset)."""
        margins = self._margins(X, offset)
        if not self._loss().log_link:
            return margins
        with np.errstate(over="ignore"):  # overflow gives infinity
            return np.asarray(np.exp(margins))

    def score(self, X: Given, y: Given, sample_weight: Given = None, *, offset: Given = None) -> float:
        """D^2, the share of the deviance that is explained; as scikit-learn's classes of the same name."""
        y, sample_weight = readable(y, "y"), readable(sample_weight, "sample_weight")
        with np.errstate(over="ignore", invalid="ignore"):  # huge numbers: the score is infinite or NaN
            return self._explained(y, self.predict(X, offset=offset), sample_weight)

    def _explained(self, y: Given, means: np.ndarray, sample_weight: Given) -> float:
        return float(d2_tweedie_score(y, means, sample_weight=sample_weight, power=self._power()))

    def _power(self) -> float:
        """The power p of a variance in proportion to mean^p."""
        powers = {losses.Squared: 0.0, losses.Poisson: 1.0, losses.Gamma: 2.0}
        loss = self._loss()
        return loss.power if isinstance(loss, losses.Tweedie) else powers[type(loss)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
