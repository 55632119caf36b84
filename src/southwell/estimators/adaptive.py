"""The adaptive lasso."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from .. import losses
from .._data import readable
from .._names import flag, positive, shown
from .._typing import Given
from ..methods import Method
from ..problem import Problem
from ._alphas import ChoosesAlpha
from ._base import FitData
from ._coefficients import spreads
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha
from .ridge_cv import RidgeCV

LARGEST = 1e10
"""The largest weight, relative to the smallest: that of coefficients which are zero in the first fit."""

ALPHAS = tuple(np.logspace(-4, 4, 17).tolist())


class Adaptive(LinearRegressor):
    """A mixin: weights of the L1 penalty from a first fit to the same data, of a fold to its training rows."""

    gamma: float
    first: Any
    standardize: bool
    _multi_output = False
    _needs_rows = True

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _state(self, data: FitData) -> Problem:
        state = super()._state(data)
        own: Any = state.penalty
        standardized = flag("standardize", self.standardize)
        weights = self._adapted(data, spreads(state) if standardized else np.ones(state.n_features))
        with np.errstate(over="ignore"):  # refused as weights
            weights = weights * own.factors(state.n_features)
        return state.with_penalty(replace(own, weights=weights))

    def _adapted(self, data: FitData, units: np.ndarray) -> np.ndarray:
        """``|w_j units_j|^-gamma`` of the first fit, relative to the smallest."""
        gamma, first = positive("gamma", self.gamma), self.first
        if first is None:
            first = RidgeCV(ALPHAS, fit_intercept=self.fit_intercept, standardize=self.standardize)
        elif not hasattr(first, "fit") or isinstance(first, type):
            raise TypeError(f"first must be None or an estimator with fit and coef_; got {shown(first)}.")
        own = {} if data.weights is None else {"sample_weight": data.weights}
        target = data.target_less_offset(0)
        fitted = clone(first).fit(data.X, target, **own)
        if not hasattr(fitted, "coef_"):
            raise TypeError(f"first must have coef_ once it is fitted; {shown(first)} has not.")
        coef = readable(fitted.coef_, "coef_ of first")
        sizes = np.abs(np.ravel(coef.toarray() if sp.issparse(coef) else coef)).astype(float)
        if sizes.size != data.X.shape[1] or not np.isfinite(sizes).all():
            raise ValueError(f"The first fit must have {data.X.shape[1]} finite coefficients; got {sizes.size}.")
        sizes = sizes * units
        top = sizes.max(initial=0.0)
        if top == 0:
            return np.ones(sizes.size)
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.minimum((sizes / top) ** -gamma, LARGEST))

    def _before(self, data: FitData, first: Problem, strengths: list[Strengths]) -> list[Any]:
        own: Any = first.penalty
        self.penalty_weights_ = own.weights
        return super()._before(data, first, strengths)


class AdaptiveLasso(Adaptive):
    """The lasso with weights from a first fit, so that large coefficients are shrunk less, with a certificate.

    Minimises ``1 / (2 n) ||y - X w - c||^2 + alpha sum_j v_j |w_j|`` with ``v_j = (max_k |w0_k| / |w0_j|)^gamma`` for
    the coefficients w0 of a first fit (Zou 2006), up to 1e10. Given the weights it is convex, and the certificate is
    that of this problem.

    Parameters
    ----------
    alpha : float
    gamma : float
        > 0.
    first : estimator, optional
        Any regressor with ``coef_``; features whose coefficients it makes zero stay out. None: ``RidgeCV``, its alpha
        chosen by leave-one-out errors.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    penalty_weights_ : array of shape (n_features,)
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet`` with one target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import AdaptiveLasso, Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaptiveLasso(alpha=0.1).fit(X, y)
    >>> int((model.coef_ != 0).sum()), int((Lasso(alpha=0.1).fit(X, y).coef_ != 0).sum())
    (4, 7)
    """

    def __init__(self, alpha: float = 1.0, *, gamma: float = 1.0, first: Given = None, fit_intercept: bool = True,
                 positive: bool = False, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.gamma = gamma
        self.first = first
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.max_iter = max_iter
        self.tol = tol
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
        return from_alpha(positive("alpha", self.alpha, zero=True), 1.0)


class AdaptiveLassoCV(ChoosesAlpha, Adaptive):
    """``AdaptiveLasso`` with alpha chosen by cross-validation; the first fit is made anew for each fold.

    Parameters
    ----------
    gamma, first
        As for ``AdaptiveLasso``.
    eps, alphas, cv, scoring, one_standard_error
        As for ``LassoCV``.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    alpha_, alphas_, mse_path_
        As for ``LassoCV``.
    penalty_weights_ : array of shape (n_features,)
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet`` with one target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import AdaptiveLassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaptiveLassoCV(one_standard_error=True).fit(X, y)
    >>> int((model.coef_ != 0).sum()), model.mse_path_.shape
    (5, (100, 5))
    """

    l1_ratio = 1.0

    def __init__(self, *, gamma: float = 1.0, first: Given = None, eps: float = 1e-3, alphas: int | ArrayLike = 100,
                 fit_intercept: bool = True, positive: bool = False, cv: Given = None,
                 scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.gamma = gamma
        self.first = first
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.max_iter = max_iter
        self.tol = tol
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

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_alpha(*setting)
