"""The elastic net with its strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._typing import Given
from ..methods import Method
from ._alphas import ChoosesAlpha
from ._paths import enet_path, lasso_path
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class ElasticNetCV(ChoosesAlpha, LinearRegressor):
    """``ElasticNet`` with alpha, and l1_ratio if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties; folds run on several threads. The final fit is certified.

    Parameters
    ----------
    l1_ratio : float or array
        The share of L1, or several shares to choose from; > 0.
    eps : float
        The smallest alpha, relative to the largest.
    alphas : int or array
        The number of values to try, or the values.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error.
    one_standard_error : bool
        Choose the strongest penalty whose error is within one standard error of the least.
    fit_intercept, precompute, max_iter, tol, copy_X, verbose, n_jobs, positive, random_state, selection, method, \
max_seconds, keep_dual, penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen values.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratio, n_alphas)
    l1_ratios_ : array of shape (n_l1_ratio,)
        The values tried.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratio, n_alphas, n_folds)
        The error on each fold; with ``scoring``, minus the score.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape, model.gap_ <= 1e-6
    (1.0, (2, 100, 5), True)
    """

    _multi_output = False

    path = staticmethod(enet_path)

    def __init__(self, *, l1_ratio: float | Sequence[float] = 0.5, eps: float = 1e-3, alphas: int | ArrayLike = 100,
                 fit_intercept: bool = True, precompute: Given = "auto", max_iter: int = 10_000, tol: float = 1e-6,
                 cv: Given = None, copy_X: bool = True, verbose: bool | int = 0, n_jobs: int | None = None,
                 positive: bool = False, random_state: int | np.random.RandomState | None = None,
                 selection: str = "cyclic", method: str | Method = "auto",
                 scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.method = method
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_alpha(*setting)


class LassoCV(ElasticNetCV):
    """``Lasso`` with alpha chosen by cross-validation. Parameters and attributes are those of ``ElasticNetCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LassoCV(one_standard_error=True).fit(X, y)
    >>> int((model.coef_ != 0).sum()) < 10, model.alphas_.shape
    (True, (100,))
    """

    path = staticmethod(lasso_path)

    def __init__(self, *, eps: float = 1e-3, alphas: int | ArrayLike = 100, fit_intercept: bool = True,
                 precompute: Given = "auto", max_iter: int = 10_000, tol: float = 1e-6, copy_X: bool = True,
                 cv: Given = None, verbose: bool | int = 0, n_jobs: int | None = None, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        super().__init__(
            l1_ratio=1.0, eps=eps, alphas=alphas, fit_intercept=fit_intercept, precompute=precompute,
            max_iter=max_iter, tol=tol, copy_X=copy_X, cv=cv, verbose=verbose, n_jobs=n_jobs, positive=positive,
            random_state=random_state, selection=selection, method=method, scoring=scoring,
            one_standard_error=one_standard_error,
            max_seconds=max_seconds, keep_dual=keep_dual, penalty_weights=penalty_weights,
            lower=lower, upper=upper, standardize=standardize,
        )  # fmt: skip
