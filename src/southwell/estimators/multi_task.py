"""Least squares for several targets that use the same features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._columns import Targets
from .._names import positive
from .._typing import AnyMatrix, Given
from ..methods import Method
from ..penalties import Groups
from ..result import Result
from ._base import FitData
from ._parameters import share
from ._paths import enet_path
from .conventions import Strengths, over_rows
from .group_lasso import GroupRegressor


class MultiTaskRegressor(GroupRegressor):
    """Base of least squares for several targets under a penalty of the rows of their coefficients."""

    positive: bool

    def _groups(self, features: int) -> Groups:
        return Groups(positive=self.positive)

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        data = super()._data(X, y, sample_weight, params)
        if data.y.ndim == 1:
            others = "ElasticNetCV or LassoCV" if self._chooses else "ElasticNet or Lasso"
            raise ValueError(
                f"{type(self).__name__} takes y of shape (n_samples, n_targets); got shape {data.y.shape}. For one "
                f"target use {others}."
            )
        return replace(data, targets=Targets(lambda k: data.y, 1))

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        intercepts = np.asarray(intercepts).astype(data.X.dtype)
        return {"coef_": coef.astype(data.X.dtype), "intercept_": self._intercept(intercepts, False)}

    def _tell(self, results: list[Result], units: list[float]) -> None:
        super()._tell(results, units)
        self.eps_ = results[0].tol * results[0].scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags


class MultiTaskElasticNet(MultiTaskRegressor):
    """Least squares for several targets at once: a feature is used for all of them or for none, proven.

    Minimises ``1 / (2 n) ||Y - X W' - c||^2 + alpha l1_ratio sum_j ||W_j|| + (alpha / 2) (1 - l1_ratio) ||W||^2`` with
    W_j the coefficients of feature j, as scikit-learn's class of the same name does.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, > 0.
    l1_ratio : float
        The share of the norms of features in the penalty, from 0 to 1.
    positive : bool
        Allow only coefficients >= 0.
    copy_X, selection
        Ignored; for compatibility with scikit-learn. X is never changed.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose
        As for ``ElasticNet``.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    dual_coef_ : array of shape (n_targets, n_samples)
    gap_, dual_gap_, status_, n_iter_, support_, sparse_coef_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from southwell import MultiTaskElasticNet
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskElasticNet(alpha=0.5).fit(X, Y)
    >>> model.coef_.shape, model.gap_ <= 1e-6
    ((3, 3), True)
    """

    path = staticmethod(enet_path)

    def __init__(self, alpha: float = 1.0, *, l1_ratio: float = 0.5, fit_intercept: bool = True, copy_X: bool = True,
                 max_iter: int = 10_000, tol: float = 1e-6, warm_start: bool = False, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return over_rows(positive("alpha", self.alpha), share("l1_ratio", self.l1_ratio))


class MultiTaskLasso(MultiTaskElasticNet):
    """Least squares for several targets at once, with a penalty on the norm of each feature's coefficients.

    Minimises ``1 / (2 n) ||Y - X W' - c||^2 + alpha sum_j ||W_j||``. Parameters and attributes are those of
    ``MultiTaskElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from southwell import MultiTaskLasso
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskLasso(alpha=50.0).fit(X, Y)
    >>> (model.coef_ != 0).all(axis=0).tolist()
    [False, True, True]
    """

    def __init__(self, alpha: float = 1.0, *, fit_intercept: bool = True, copy_X: bool = True, max_iter: int = 10_000,
                 tol: float = 1e-6, warm_start: bool = False, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None,
                 selection: str = "cyclic", method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        super().__init__(
            alpha, l1_ratio=1.0, fit_intercept=fit_intercept, copy_X=copy_X, max_iter=max_iter, tol=tol,
            warm_start=warm_start, positive=positive, random_state=random_state, selection=selection, method=method,
            n_jobs=n_jobs, verbose=verbose,
            max_seconds=max_seconds, keep_dual=keep_dual,
        )  # fmt: skip
