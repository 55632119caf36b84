"""Ridge regression with alpha chosen by leave-one-out errors or by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from .._typing import Given
from ..methods import Method
from ._leave_one_out import ChoosesRidge
from ._regressor import LinearRegressor
from .ridge import LeastSquares, SquaresOfClasses


class RidgeCV(ChoosesRidge, LeastSquares, LinearRegressor):
    """``Ridge`` with alpha chosen by leave-one-out errors, which one decomposition gives for all alphas, or by
    cross-validation. The final fit is certified.

    Parameters
    ----------
    alphas : float or array
        The values to try; > 0.
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error if ``cv`` is None, else R^2.
    cv : int, splitter, iterable or None
        None leaves out one sample at a time, which coefficients with bounds or without a penalty do not allow; else as
        in scikit-learn.
    gcv_mode : {None, "auto", "svd", "eigen"}
        The decomposition: of the data, or of the smaller matrix of their inner products, which may be made of large
        sparse data. "auto" and None: of the data if they are dense.
    store_cv_results : bool
        Keep ``cv_results_``; needs ``cv=None``.
    alpha_per_target : bool
        Choose an alpha for each target; needs ``cv=None``.
    one_standard_error : bool
        With ``cv``: choose the largest alpha whose score is within one standard error of the best.
    fit_intercept, max_iter, tol, method, n_jobs, verbose, max_seconds, keep_dual, penalty_weights, lower, upper, \
standardize
        As for ``Ridge``. Without ``cv`` standard deviations are those of all samples.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
    best_score_ : float or array of shape (n_targets,)
    cv_results_ : array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With ``store_cv_results``: the squared errors, times the weights of samples; with ``scoring`` the predictions.
    alphas_, scores_ : array
        The alphas, from large to small, and their scores, of shape (n_folds, n_alphas); n_folds is 1 if ``cv`` is None.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``Ridge``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import RidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 3), model.gap_ <= 1e-6
    (0.01, 0.517, True)
    """

    _penalise = "alphas=1e-6"

    def __init__(self, alphas: ArrayLike = (0.1, 1.0, 10.0), *, fit_intercept: bool = True,
                 scoring: str | Callable[..., float] | None = None, cv: Given = None, gcv_mode: str | None = None,
                 store_cv_results: bool = False, alpha_per_target: bool = False, one_standard_error: bool = False,
                 max_iter: int | None = None, tol: float = 1e-6, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.one_standard_error = one_standard_error
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize


class RidgeClassifierCV(ChoosesRidge, SquaresOfClasses):
    """``RidgeClassifier`` with alpha chosen by leave-one-out errors or by cross-validation. The final fit is certified.

    Parameters
    ----------
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error of labels of -1 and +1 if ``cv`` is None, else
        accuracy.
    class_weight : dict, "balanced" or None
        Not possible with several labels at once.
    alphas, cv, store_cv_results, one_standard_error, fit_intercept, max_iter, tol, method, n_jobs, verbose, \
max_seconds, keep_dual, penalty_weights, lower, upper, standardize
        As for ``RidgeCV``.

    Attributes
    ----------
    cv_results_ : array of shape (n_samples, n_classes, n_alphas)
        As for ``RidgeCV``; of two classes there is one column.
    alpha_, best_score_, alphas_, scores_
        As for ``RidgeCV``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``RidgeClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from southwell import RidgeClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RidgeClassifierCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 3)
    (0.01, 0.963)
    """

    _penalise = "alphas=1e-6"

    def __init__(self, alphas: ArrayLike = (0.1, 1.0, 10.0), *, fit_intercept: bool = True,
                 scoring: str | Callable[..., float] | None = None, cv: Given = None,
                 class_weight: dict[Any, float] | str | None = None, store_cv_results: bool = False,
                 one_standard_error: bool = False, max_iter: int | None = None, tol: float = 1e-6,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results
        self.one_standard_error = one_standard_error
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize
