"""The elastic net with its strength chosen by cross-validation."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .. import losses
from .._names import count
from .._typing import Given
from ..lambda_max import lambda_max
from ..methods import Method
from ._base import FitData
from ._cross_validated import CrossValidated, Line
from ._parameters import decreasing, falling, one_of, share
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class ElasticNetCV(CrossValidated, LinearRegressor):
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
    l1_ratios_ : array of shape (n_l1_ratio,)
        What was tried.
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

    def __init__(self, *, l1_ratio: float | Sequence[float] = 0.5, eps: float = 1e-3, alphas: int | ArrayLike = 100,
                 fit_intercept: bool = True, precompute: Given = "auto", max_iter: int = 10_000, tol: float = 1e-6,
                 cv: Given = None, copy_X: bool = True, verbose: bool | int = 0, n_jobs: int | None = None,
                 positive: bool = False, random_state: int | np.random.RandomState | None = None,
                 selection: str = "cyclic", method: str | Method = "auto",
                 scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False) -> None:  # fmt: skip
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

    _setting_names = ("alpha_", "l1_ratio_")

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_alpha(*setting)

    def _lines(self, data: FitData) -> list[Line]:
        one_of("selection", self.selection, ("cyclic", "random"))
        ratios = [share("l1_ratio", ratio) for ratio in np.atleast_1d(self.l1_ratio)]
        if not ratios:
            raise ValueError("l1_ratio is empty: give at least one share.")
        if min(ratios) == 0 and isinstance(self.alphas, numbers.Integral):
            raise ValueError("With l1_ratio=0 no alpha gives the zero model: give alphas as an array, or use Ridge.")
        if isinstance(self.alphas, numbers.Integral):
            top = lambda_max(self._state(data.X, data.targets(0), data.weights)) or 1.0
            parts = falling("eps", self.eps, count("alphas", self.alphas, 1))
            return [[(top / ratio * part, ratio) for part in parts] for ratio in ratios]
        alphas = decreasing("alphas", self.alphas, zero=True)
        return [[(alpha, ratio) for alpha in alphas] for ratio in ratios]

    def _score_of(self, y: Given, margins: np.ndarray, sample_weight: Given = None) -> float:
        return -float(np.average((margins[:, 0] - y) ** 2, weights=sample_weight))

    def _chosen(self, lines: list[Line], scores: np.ndarray, line: int, point: int) -> dict[str, Any]:
        alpha, ratio = lines[line][point]
        alphas, errors = np.array(lines)[..., 0], -scores.transpose(1, 2, 0)
        one = len(lines) == 1
        return {
            "alpha_": float(alpha), "l1_ratio_": float(ratio), "alphas_": alphas[0] if one else alphas,
            "mse_path_": errors[0] if one else errors, "l1_ratios_": np.array(lines)[:, 0, 1],
        }  # fmt: skip

    def _tried(self) -> Bunch:
        scores = -self.mse_path_.reshape(-1, *self.mse_path_.shape[-2:])
        return Bunch(
            label="alpha", strengths=np.atleast_2d(self.alphas_), scores=scores.transpose(0, 2, 1), chosen=self.alpha_,
            other="l1_ratio", others=self.l1_ratios_, other_chosen=self.l1_ratio_,
        )  # fmt: skip


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

    def __init__(self, *, eps: float = 1e-3, alphas: int | ArrayLike = 100, fit_intercept: bool = True,
                 precompute: Given = "auto", max_iter: int = 10_000, tol: float = 1e-6, copy_X: bool = True,
                 cv: Given = None, verbose: bool | int = 0, n_jobs: int | None = None, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False) -> None:  # fmt: skip
        super().__init__(
            l1_ratio=1.0, eps=eps, alphas=alphas, fit_intercept=fit_intercept, precompute=precompute,
            max_iter=max_iter, tol=tol, copy_X=copy_X, cv=cv, verbose=verbose, n_jobs=n_jobs, positive=positive,
            random_state=random_state, selection=selection, method=method, scoring=scoring,
            one_standard_error=one_standard_error,
        )  # fmt: skip
