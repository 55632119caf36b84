"""The elastic net with its strength chosen by cross-validation."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.validation import column_or_1d

from .. import losses
from .._names import count, positive
from ..lambda_max import lambda_max
from ..penalties import ElasticNet as Net
from ..problem import Problem
from ._folds import best_of, fold_path, over_folds
from ._parameters import share
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class ElasticNetCV(LinearRegressor):
    """``ElasticNet`` with alpha, and l1_ratio if several are given, chosen by cross-validation.

    Each fold is a path from strong to weak penalties, on a thread of its own; the answer on all data is certified.

    Parameters
    ----------
    l1_ratio : float or array
        The share of L1, or those to choose from; above 0.
    eps : float
        The smallest alpha, as a part of the largest.
    alphas : int or array
        How many to try, or which.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error.
    one_standard_error : bool
        Choose the strongest penalty whose error is within one standard error of the least.
    fit_intercept, precompute, max_iter, tol, copy_X, verbose, n_jobs, positive, random_state, selection, method
        As for ``ElasticNet``.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        What was chosen.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratio, n_alphas)
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratio, n_alphas, n_folds)
        The error on each fold; with ``scoring``, minus the score.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
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

    def __init__(self, *, l1_ratio=0.5, eps=1e-3, alphas=100, fit_intercept=True, precompute="auto", max_iter=1000,
                 tol=1e-6, cv=None, copy_X=True, verbose=0, n_jobs=None, positive=False, random_state=None,
                 selection="cyclic", method="auto", scoring=None, one_standard_error=False):  # fmt: skip
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

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _strengths(self, total: float) -> Strengths:
        return from_alpha(self.alpha_, self.l1_ratio_)

    def fit(self, X, y, sample_weight=None):
        """Choose the penalty, and fit it to all data.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice, but for the folds, which count rows.

        Returns
        -------
        self
        """
        X, y = self._read(X, y, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64)
        weights = self._weights(sample_weight, X)
        ratios = [share("l1_ratio", ratio) for ratio in np.atleast_1d(self.l1_ratio)]
        if min(ratios) == 0 and isinstance(self.alphas, numbers.Integral):
            raise ValueError("With l1_ratio=0 no alpha gives the zero model: give alphas as an array, or use Ridge.")
        grids = self._grids(X, y, weights, ratios)
        folds = list(check_cv(self.cv).split(X, y))
        rows = X.tocsr() if getattr(X, "format", "csr") != "csr" else X  # folds are made of rows
        options = {"tol": self.tol, "max_epochs": self._max_epochs(), "method": self.method, "seed": self._seed()}
        scorer = None if self.scoring is None else get_scorer(self.scoring)

        def errors(task, cancelled) -> np.ndarray:
            which, (train, test) = task
            own = None if weights is None else weights[train]
            net = Net(lower=0.0 if self.positive else None)
            problem = Problem(rows[train], y[train], self._loss(), net, intercept=self.fit_intercept, sample_weight=own)
            strengths = [from_alpha(alpha, ratios[which]) for alpha in grids[which]]
            answers = fold_path(
                problem, np.array([s.l1 for s in strengths]), np.array([s.l2 for s in strengths]), options, cancelled
            )
            held = None if weights is None else weights[test]
            if scorer is None:
                return np.average((answers.margins(rows[test]) - y[test][:, None]) ** 2, axis=0, weights=held)
            return -np.array([
                scorer(_Predictor(margins), None, y[test], sample_weight=held)
                for margins in answers.margins(rows[test]).T
            ])  # fmt: skip

        tasks = [(which, fold) for which in range(len(ratios)) for fold in folds]
        found = over_folds(errors, tasks, self.n_jobs)
        table = np.array(found).reshape(len(ratios), len(folds), -1).transpose(0, 2, 1)
        chosen = [best_of(-table[which], self.one_standard_error) for which in range(len(ratios))]
        which = int(np.argmin([table[k, at].mean() for k, at in enumerate(chosen)]))
        self.alpha_, self.l1_ratio_ = float(grids[which][chosen[which]]), float(ratios[which])
        one = np.ndim(self.l1_ratio) == 0
        self.mse_path_, self.alphas_ = (table[0], grids[0]) if one else (table, np.array(grids))
        result = self._fit_targets(X, y[:, None], weights)[0]
        self.coef_, self.intercept_ = result.x.astype(X.dtype), X.dtype.type(result.intercept)
        return self

    def _grids(self, X, y, weights, ratios: list[float]) -> list[np.ndarray]:
        """The alphas to try for each ratio, from strong to weak."""
        if not isinstance(self.alphas, numbers.Integral):
            alphas = np.sort(np.asarray(self.alphas, dtype=np.float64).ravel())[::-1]
            if alphas.size == 0 or not (alphas > 0).all():
                raise ValueError(f"alphas must be positive, or how many to try; got {self.alphas!r}.")
            return [alphas] * len(ratios)
        top = lambda_max(X, y, loss=self._loss(), intercept=self.fit_intercept, sample_weight=weights) or 1.0
        parts = np.geomspace(1.0, positive("eps", self.eps), count("alphas", self.alphas, 1))
        return [top / ratio * parts for ratio in ratios]


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

    def __init__(self, *, eps=1e-3, alphas=100, fit_intercept=True, precompute="auto", max_iter=1000, tol=1e-6,
                 copy_X=True, cv=None, verbose=0, n_jobs=None, positive=False, random_state=None, selection="cyclic",
                 method="auto", scoring=None, one_standard_error=False):  # fmt: skip
        super().__init__(
            l1_ratio=1.0, eps=eps, alphas=alphas, fit_intercept=fit_intercept, precompute=precompute,
            max_iter=max_iter, tol=tol, copy_X=copy_X, cv=cv, verbose=verbose, n_jobs=n_jobs, positive=positive,
            random_state=random_state, selection=selection, method=method, scoring=scoring,
            one_standard_error=one_standard_error,
        )  # fmt: skip


class _Predictor(RegressorMixin, BaseEstimator):
    """What a scorer asks of an estimator, for predictions that are known."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X) -> np.ndarray:
        return self.predictions
