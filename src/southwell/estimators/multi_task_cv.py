"""Several targets that share their features, with the strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Given
from ..methods import Method
from ._alphas import ChoosesAlpha
from ._paths import enet_path, lasso_path
from .conventions import Strengths, over_rows
from .multi_task import MultiTaskRegressor


class MultiTaskElasticNetCV(ChoosesAlpha, MultiTaskRegressor):
    """``MultiTaskElasticNet`` with alpha, and l1_ratio if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties; folds run on several threads. The final fit is certified.

    Parameters
    ----------
    l1_ratio : float or array
        The share of the norms of features, or several shares to choose from; > 0.
    eps : float
        The smallest alpha, relative to the largest.
    alphas : int or array
        The number of values to try, or the values; > 0.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error over all targets.
    one_standard_error : bool
        Choose the strongest penalty whose error is within one standard error of the least.
    fit_intercept, positive, max_iter, tol, copy_X, verbose, n_jobs, random_state, selection, method, \
max_seconds, keep_dual
        As for ``MultiTaskElasticNet``.

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
        As for ``MultiTaskElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from southwell import MultiTaskElasticNetCV
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskElasticNetCV(l1_ratio=[0.5, 1.0], alphas=20).fit(X, Y)
    >>> model.coef_.shape, model.mse_path_.shape, model.gap_ <= 1e-6
    ((3, 3), (2, 20, 5), True)
    """

    _zero_alpha = False

    path = staticmethod(enet_path)

    def __init__(self, *, l1_ratio: float | Sequence[float] = 0.5, eps: float = 1e-3, alphas: int | ArrayLike = 100,
                 fit_intercept: bool = True, max_iter: int = 10_000, tol: float = 1e-6, cv: Given = None,
                 copy_X: bool = True, verbose: bool | int = 0, n_jobs: int | None = None, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
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

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return over_rows(*setting)


class MultiTaskLassoCV(MultiTaskElasticNetCV):
    """``MultiTaskLasso`` with alpha chosen by cross-validation. Parameters and attributes are those of
    ``MultiTaskElasticNetCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from southwell import MultiTaskLassoCV
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskLassoCV(alphas=20, one_standard_error=True).fit(X, Y)
    >>> model.alphas_.shape, model.predict(X).shape
    ((20,), (20, 3))
    """

    path = staticmethod(lasso_path)

    def __init__(self, *, eps: float = 1e-3, alphas: int | ArrayLike = 100, fit_intercept: bool = True,
                 max_iter: int = 10_000, tol: float = 1e-6, copy_X: bool = True, cv: Given = None,
                 verbose: bool | int = 0, n_jobs: int | None = None, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        super().__init__(
            l1_ratio=1.0, eps=eps, alphas=alphas, fit_intercept=fit_intercept, max_iter=max_iter, tol=tol,
            copy_X=copy_X, cv=cv, verbose=verbose, n_jobs=n_jobs, positive=positive, random_state=random_state,
            selection=selection, method=method, scoring=scoring, one_standard_error=one_standard_error,
            max_seconds=max_seconds, keep_dual=keep_dual,
        )  # fmt: skip
