"""Linear models of a quantile."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import positive
from .._typing import Given
from ..methods import Method
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class QuantileRegressor(LinearRegressor):
    """A linear model of a quantile of y, with an L1 penalty, with a certificate.

    Minimises ``1 / n sum_i pinball(y_i - x_i'w - c) + alpha ||w||_1``, as scikit-learn's class of the same name does by
    linear programming.

    Parameters
    ----------
    quantile : float
        Strictly between 0 and 1.
    alpha : float
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    solver, solver_options
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import QuantileRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileRegressor(quantile=0.9, alpha=0.01).fit(X, y)
    >>> bool(0.88 <= (y <= model.predict(X)).mean() <= 0.92)
    True
    """

    _solvers = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")
    _penalise = "alpha=1e-6"

    def __init__(self, *, quantile: float = 0.5, alpha: float = 1.0, fit_intercept: bool = True, solver: str = "auto",
                 solver_options: Given = None, max_iter: int | None = None, tol: float = 1e-6, warm_start: bool = False,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
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

    def _loss(self) -> losses.Loss:
        return losses.Quantile(positive("quantile", self.quantile, below=1.0))

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return from_alpha(positive("alpha", self.alpha, zero=True), 1.0)
