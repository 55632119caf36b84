"""MCP and SCAD with their strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Given
from ..local._solve import ROUNDS
from ..losses import Loss
from ..methods import Method
from ..penalties import Penalty
from ._classifier import LinearClassifier
from ._cross_validated import Line
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from .concave import LocallySolved
from .general_cv import ChoosesOwnUnits, ScoresByLoss


class ChoosesLocally(LocallySolved, ChoosesOwnUnits):
    """With ``l1s``, ``eps`` and ``l2s``; paths of local minima, the final one along the settings down to the chosen."""

    def _along(self, line: Line, own: Any, total: float) -> Iterable[Penalty]:
        return self._reweighted(line, own)

    def _before_it(self, setting: tuple[float, float]) -> Line:
        l1, l2 = setting
        if len(self.l1s_) == 1:  # only l2 was chosen
            return [(l1, float(one)) for one in self.l2s_ if one >= l2]
        return [(float(one), l2) for one in self.l1s_ if one >= l1]

    def _strengths(self, total: float, target: int = 0) -> Any:
        return ChoosesOwnUnits._strengths(self, total, target)


class ConcaveRegressorCV(ChoosesLocally, ScoresByLoss, LinearRegressor):
    """``ConcaveRegressor`` with l1, and l2 if several are given, chosen by cross-validation.

    Each fold computes a path of local minima, each beginning at the one before; so does the final fit.

    The answer is a local minimum: ``local_`` is True, and ``gap_`` is that of the last convex problem alone.

    Parameters
    ----------
    l1s : int or array
        The number of values to try, evenly spaced on a log scale, the largest being the smallest l1 with all
        coefficients zero; or the values, > 0.
    eps : float
        The smallest l1, relative to the largest.
    l2s : float or array
        One value, or several to choose from.
    cv, scoring, one_standard_error
        As for ``SparseLinearRegressorCV``.
    loss, penalty, gamma, max_rounds, fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, \
keep_dual, n_jobs, verbose, penalty_weights, lower, upper, standardize
        As for ``ConcaveRegressor``.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen values.
    l1s_, l2s_ : array
        The values tried.
    scores_ : array of shape (n_folds, n_l2s, n_l1s)
    local_, rounds_, change_
        As for ``ConcaveRegressor``.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``; the gap is that of the last convex problem.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import ConcaveRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = X[:, 0] - 2 * X[:, 1] + rng.normal(size=100) / 2
    >>> model = ConcaveRegressorCV(penalty="scad", one_standard_error=True).fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist(), model.scores_.shape
    ([0, 1], (5, 1, 30))
    """

    _targets = ("real", "counts", "positive")
    _multi_output = False

    def __init__(self, loss: str | Loss = "squared", *, penalty: str = "mcp", l1s: int | ArrayLike = 30,
                 eps: float = 0.05, l2s: ArrayLike = 0.0,
                 gamma: float | None = None, max_rounds: int = ROUNDS, fit_intercept: bool = True,
                 positive: bool = False,
                 cv: Given = None, scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.penalty = penalty
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
        self.gamma = gamma
        self.max_rounds = max_rounds
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


class ConcaveClassifierCV(ChoosesLocally, ProbabilitiesIfLogistic, LinearClassifier):
    """``ConcaveClassifier`` with l1, and l2 if several are given, chosen by cross-validation.

    Each fold computes a path of local minima, each beginning at the one before; so does the final fit.

    The answer is a local minimum: ``local_`` is True, and ``gap_`` is that of the last convex problem alone.

    Parameters
    ----------
    l1s : int or array
        The number of values to try, evenly spaced on a log scale, the largest being the smallest l1 with all
        coefficients zero; or the values, > 0.
    eps : float
        The smallest l1, relative to the largest.
    l2s : float or array
        One value, or several to choose from.
    cv, scoring, one_standard_error
        As for ``SparseLinearClassifierCV``.
    loss, penalty, gamma, max_rounds, fit_intercept, positive, class_weight, max_iter, tol, random_state, method, \
max_seconds, keep_dual, n_jobs, verbose, sparse_coef, penalty_weights, lower, upper, standardize
        As for ``ConcaveClassifier``.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen values.
    l1s_, l2s_ : array
        The values tried.
    scores_ : array of shape (n_folds, n_l2s, n_l1s)
    local_, rounds_, change_
        As for ``ConcaveRegressor``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``; the gap is that of the last convex problem.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import ConcaveClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ConcaveClassifierCV(l1s=10, gamma=10.0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    _targets = ("signs",)
    _multilabel = True

    def __init__(self, loss: str | Loss = "logistic", *, penalty: str = "mcp", l1s: int | ArrayLike = 30,
                 eps: float = 0.05, l2s: ArrayLike = 0.0,
                 gamma: float | None = None, max_rounds: int = ROUNDS, fit_intercept: bool = True,
                 positive: bool = False, class_weight: dict[Any, float] | str | None = None,
                 cv: Given = None, scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.penalty = penalty
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
        self.gamma = gamma
        self.max_rounds = max_rounds
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.sparse_coef = sparse_coef
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize
