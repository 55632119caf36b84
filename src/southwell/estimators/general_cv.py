"""Any loss, and a penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .. import _data
from .._names import count, integral, shown
from .._typing import Given
from ..lambda_max import vanishing_strength
from ..losses import Loss
from ..methods import Method
from ._base import FitData
from ._classifier import LinearClassifier
from ._cross_validated import CrossValidated, Line
from ._folds import Scores
from ._parameters import decreasing, falling
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from .conventions import Strengths
from .general import InOwnUnits


class ChoosesOwnUnits(CrossValidated, InOwnUnits):
    """With ``l1s``, ``eps`` and ``l2s``; settings are pairs of an l1 and an l2."""

    l1s: Any
    l2s: Any
    eps: float
    scores_: np.ndarray
    _setting_names = ("l1_", "l2_")

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return Strengths(*setting)

    def _lines(self, data: FitData) -> list[Line]:
        l2s = np.unique(_data.vector(self.l2s, "l2s", one=True))[::-1]
        if l2s.size == 0 or l2s.min() < 0:
            raise ValueError(f"l2s must be >= 0, one or several; got {shown(self.l2s)}.")
        if integral(self.l1s):
            first = self._state(data)
            tops = [vanishing_strength(data.stated(first, k)) for k in range(data.targets.count)]
            l1s = (max(tops) or 1.0) * falling("eps", self.eps, count("l1s", self.l1s, 1, bits=24))
        else:
            l1s = np.unique(decreasing("l1s", self.l1s, zero=True))[::-1]
        if l1s.size == 1:  # only l2 is chosen
            return [[(float(l1s[0]), float(l2)) for l2 in l2s]]
        return [[(float(l1), float(l2)) for l1 in l1s] for l2 in l2s]

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        scores = found.values
        l1, l2 = lines[line][point]
        tried = np.array(lines)
        if len(lines) == 1 and tried[0, 0, 0] == tried[0, -1, 0]:  # a single l1: the settings differ in l2
            tried, scores = tried.transpose(1, 0, 2), scores.transpose(0, 2, 1)
        return {"l1_": l1, "l2_": l2, "l1s_": tried[0, :, 0], "l2s_": tried[:, 0, 1], "scores_": scores}

    def _tried(self) -> Bunch:
        by_l2 = self.l1s_.size == 1 and self.l2s_.size > 1
        if by_l2:
            return Bunch(
                label="l2", strengths=[self.l2s_], scores=self.scores_.transpose(2, 0, 1), chosen=self.l2_, other="l1",
                others=self.l1s_, other_chosen=self.l1_,
            )  # fmt: skip
        return Bunch(
            label="l1", strengths=[self.l1s_] * len(self.l2s_), scores=self.scores_.transpose(1, 0, 2), chosen=self.l1_,
            other="l2", others=self.l2s_, other_chosen=self.l2_,
        )  # fmt: skip


class ScoresByLoss(ChoosesOwnUnits):
    """Without ``scoring`` the score is minus the mean loss."""

    def _score_of(self, y: Given, margins: np.ndarray, sample_weight: Given = None) -> float:
        with np.errstate(over="ignore"):  # the exponential of the margins of counts
            costs = np.asarray(self._loss().value(margins.ravel(), y.ravel()))
        return -float(np.average(costs, weights=sample_weight))

    def _score_name(self) -> str:
        return "- mean loss" if self.scoring is None else super()._score_name()


class SparseLinearRegressorCV(ScoresByLoss, LinearRegressor):
    """``SparseLinearRegressor`` with l1, and l2 if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties on several threads. The final fit is certified.

    Parameters
    ----------
    loss : str or Loss
        As for ``SparseLinearRegressor``.
    l1s : int or array
        The number of values to try, evenly spaced on a log scale, the largest being the smallest l1 with all
        coefficients zero; or the values.
    eps : float
        The smallest l1, relative to the largest.
    l2s : float or array
        One value, or several to choose from.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is minus the mean loss, of the ``loss`` that is minimised.
    one_standard_error : bool
        Choose the strongest penalty whose score is within one standard error of the best.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``SparseLinearRegressor``.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen values.
    l1s_, l2s_ : array
        The values tried.
    scores_ : array of shape (n_folds, n_l2s, n_l1s)
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet`` with one target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import SparseLinearRegressorCV, losses
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseLinearRegressorCV(losses.Huber(50.0), l1s=20, one_standard_error=True).fit(X, y)
    >>> model.scores_.shape, int((model.coef_ != 0).sum()), model.gap_ <= 1e-6
    ((5, 1, 20), 6, True)
    """

    _targets = ("real", "counts", "positive")
    _multi_output = False

    def __init__(self, loss: str | Loss = "squared", *, l1s: int | ArrayLike = 30, eps: float = 0.01,
                 l2s: ArrayLike = 0.0, fit_intercept: bool = True, positive: bool = False,
                 cv: Given = None, scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
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


class SparseLinearClassifierCV(ChoosesOwnUnits, ProbabilitiesIfLogistic, LinearClassifier):
    """``SparseLinearClassifier`` with l1, and l2 if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties for each class or label, on several threads. The final fit
    is certified. All classes have the same penalty.

    Parameters
    ----------
    loss : str or Loss
        As for ``SparseLinearClassifier``.
    l1s : int or array
        The number of values to try, evenly spaced on a log scale, the largest being the smallest l1 with all
        coefficients zero; or the values.
    eps : float
        The smallest l1, relative to the largest.
    l2s : float or array
        One value, or several to choose from.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds, stratified if each sample has one label.
    scoring : str, callable or None
        Any scikit-learn scorer; None is accuracy; for several labels, the share of samples with all labels right.
    one_standard_error : bool
        Choose the strongest penalty whose score is within one standard error of the best.
    fit_intercept, positive, class_weight, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, \
verbose, sparse_coef, penalty_weights, lower, upper, standardize
        As for ``SparseLinearClassifier``.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen values.
    l1s_, l2s_ : array
        The values tried.
    scores_ : array of shape (n_folds, n_l2s, n_l1s)
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import SparseLinearClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLinearClassifierCV("smooth_hinge", l1s=20, scoring="balanced_accuracy").fit(scale(X), y)
    >>> model.scores_.shape, model.score(scale(X), y) > 0.95, model.gap_ <= 1e-6
    ((5, 1, 20), True, True)
    """

    _targets = ("signs",)
    _multilabel = True

    def __init__(self, loss: str | Loss = "logistic", *, l1s: int | ArrayLike = 30, eps: float = 0.01,
                 l2s: ArrayLike = 0.0, fit_intercept: bool = True, positive: bool = False,
                 class_weight: dict[Any, float] | str | None = None, cv: Given = None,
                 scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
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
