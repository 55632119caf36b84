"""Any loss, and a penalty chosen by an information criterion along one path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import gammaln

from .._names import positive
from .._typing import AnyMatrix
from ..losses import Loss
from ..methods import Method
from ._base import FitData
from ._classifier import LinearClassifier
from ._cross_validated import Line
from ._folds import Judge, Scores
from ._parameters import one_of, share
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from .general_cv import ChoosesOwnUnits

SCALED = {"squared": 2.0, "quantile": 1.0}
"""Losses whose scale is unknown, and how they grow with it: phi(t m) = t^p phi(m)."""

LIKELIHOODS = ("logistic", "poisson", "negative_binomial")
"""Losses that are minus the logarithm of a likelihood, up to a constant."""


class ByCriterion(ChoosesOwnUnits):
    """With ``criterion``, ``gamma`` and ``dispersion``: a "cross-validation" whose one fold has all rows on both sides,
    and whose score is minus the criterion."""

    criterion: str
    gamma: float
    dispersion: float | None
    cv = None
    scoring = None
    one_standard_error = False

    def _splits(self, data: FitData, given: dict[str, Any]) -> list[tuple[np.ndarray, np.ndarray]]:
        one_of("criterion", self.criterion, ("aic", "bic", "ebic"))
        share("gamma", self.gamma)
        loss = self._loss()
        if self.dispersion is not None:
            positive("dispersion", self.dispersion)
        elif loss.name not in (*SCALED, *LIKELIHOODS):
            raise ValueError(
                f"The loss {loss.name} is not a likelihood with a known scale: give dispersion, by which it is divided."
            )
        rows = np.arange(data.X.shape[0])
        rows = rows if data.weights is None else rows[data.weights > 0]
        return [(rows, rows)]

    def _judge(self, data: FitData, lines: Sequence[Line], splits: Sequence[tuple[np.ndarray, np.ndarray]],
               params: dict[str, Any]) -> Judge:  # fmt: skip
        rows_used, loss, total = splits[0][0], self._loss(), data.total
        weights = np.full(rows_used.size, 1.0) if data.weights is None else data.weights[rows_used]
        shares, targets = weights / total, [data.targets(k)[rows_used] for k in range(data.targets.count)]
        net: Any = self._state(data).penalty
        self.degrees_of_freedom_ = np.full((len(lines), len(lines[0])), np.nan)

        def judge(
            at: tuple[int, int, int], rows: AnyMatrix, coef: AnyMatrix, intercepts: np.ndarray, margins: np.ndarray
        ) -> float:
            l2, criterion, degrees = lines[at[1]][at[2]][1], 0.0, 0.0
            for k, target in enumerate(targets):
                x = coef[[k]].toarray()[0]
                _, ridge, lower, upper = net.at(0.0, l2).by_coefficient(x.size, False)
                own = np.flatnonzero((x != 0) & (lower < x) & (x < upper))
                curvature = shares * loss.second_derivative(margins[:, k], target) if l2 > 0 and own.size else shares
                freedom = degrees_of_freedom(rows, own, curvature, ridge[own], bool(self.fit_intercept))
                with np.errstate(over="ignore"):
                    mean = float(shares @ loss.value(margins[:, k], target))
                criterion += self._cost(loss, mean, freedom, total)
                criterion += freedom * (2.0 if self.criterion == "aic" else np.log(total))
                if self.criterion == "ebic":
                    criterion += 2.0 * self.gamma * log_choices(x.size, int(np.count_nonzero(x)))
                degrees += freedom
            self.degrees_of_freedom_[at[1], at[2]] = degrees
            return -criterion if np.isfinite(criterion) else -np.inf

        return judge

    def _cost(self, loss: Loss, mean: float, freedom: float, total: float) -> float:
        """Minus twice the logarithm of the likelihood, up to a constant."""
        if self.dispersion is not None or loss.name in LIKELIHOODS:
            return 2.0 * total * mean / (1.0 if self.dispersion is None else float(self.dispersion))
        if 2.0 * freedom > total or mean <= 0:
            return float("inf")
        return 2.0 * total / SCALED[loss.name] * float(np.log(mean))

    def _score_name(self) -> str:
        return f"- {self.criterion.upper()}"

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        chosen = super()._chosen(lines, found, line, point, data)
        by_l2 = chosen["l1s_"].size == 1
        if by_l2:
            self.degrees_of_freedom_ = self.degrees_of_freedom_.T
        return chosen | {"criterion_": -chosen["scores_"][0]}


def degrees_of_freedom(X: AnyMatrix, own: np.ndarray, curvature: np.ndarray, ridge: np.ndarray,
                       intercept: bool) -> float:  # fmt: skip
    """The number of coefficients that are not zero, nor at a bound (Zou, Hastie and Tibshirani 2007, for the lasso);
    with weights of squares the trace of ``H (H + diag(ridge))^-1``, H the Hessian of the loss over them, which is that
    of the linear map from y to the fit."""
    if not ridge.any():
        return float(own.size)
    total = float(curvature.sum())
    if total == 0:
        raise ValueError(
            "With l2 > 0 degrees of freedom are known for losses with a second derivative only; give l2s=0."
        )
    columns = X[:, own]
    columns = np.asarray(columns.toarray() if sp.issparse(columns) else columns, dtype=float)
    if intercept:
        columns = columns - curvature @ columns / total
    rows = np.sqrt(curvature)[:, None] * columns
    free = ridge == 0
    if free.any():  # what they span is fitted without a penalty
        span, sizes, _ = np.linalg.svd(rows[:, free], full_matrices=False)
        span = span[:, sizes > sizes.max() * max(rows.shape) * np.finfo(float).eps]
        rows = rows[:, ~free] - span @ (span.T @ rows[:, ~free])
    rows = rows / np.sqrt(ridge[~free])
    unit = float(np.abs(rows).max(initial=0.0)) or 1.0  # squares of rows themselves may overflow
    rows = rows / unit
    squares = np.linalg.eigvalsh(rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T)
    squares = squares[squares > squares.max(initial=0.0) * max(rows.shape) * np.finfo(float).eps]
    return float((squares / (squares + unit**-2)).sum()) + (span.shape[1] if free.any() else 0)


def log_choices(number: int, chosen: int) -> float:
    """The logarithm of the number of sets of so many features."""
    return float(gammaln(number + 1) - gammaln(chosen + 1) - gammaln(number - chosen + 1))


class SparseLinearRegressorIC(ByCriterion, LinearRegressor):
    """``SparseLinearRegressor`` with l1, and l2 if several are given, chosen by an information criterion.

    One path over all data, where cross-validation needs one for each fold. The final fit is certified. The criterion is
    ``-2 log L + c df``: df is the number of coefficients that are neither zero nor at a bound, or with an l2 the trace
    of the map from y to the fit; c is 2 for AIC and log n for BIC, and EBIC adds ``2 gamma log binom(n_features, number
    of nonzeros)``, for many features (Chen and Chen 2008). n is the number of samples, or their total weight.

    Parameters
    ----------
    criterion : {"aic", "bic", "ebic"}
    gamma : float
        Of EBIC, from 0 (which is BIC) to 1.
    dispersion : float, optional
        The scale by which the loss is divided in ``-log L``; for the squared loss the variance of the noise. None: 1
        for counts; for the squared and the quantile loss it is estimated for each model (``n log`` of its mean), and
        models with more degrees of freedom than half the samples are left out; other losses need a number.
    loss, l1s, eps, l2s, fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, \
verbose, penalty_weights, lower, upper, standardize
        As for ``SparseLinearRegressorCV``.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen values.
    l1s_, l2s_ : array
        The values tried.
    criterion_, degrees_of_freedom_ : array of shape (n_l2s, n_l1s)
    scores_ : array of shape (1, n_l2s, n_l1s)
        Minus the criterion.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet`` with one target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import SparseLinearRegressorIC
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseLinearRegressorIC(criterion="bic").fit(X, y)
    >>> int((model.coef_ != 0).sum()), model.criterion_.shape
    (7, (1, 100))
    """

    _targets = ("real", "counts", "positive")
    _multi_output = False

    def __init__(self, loss: str | Loss = "squared", *, criterion: str = "bic", gamma: float = 0.5,
                 dispersion: float | None = None, l1s: int | ArrayLike = 100, eps: float = 1e-3, l2s: ArrayLike = 0.0,
                 fit_intercept: bool = True, positive: bool = False, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.criterion = criterion
        self.gamma = gamma
        self.dispersion = dispersion
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
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


class SparseLinearClassifierIC(ByCriterion, ProbabilitiesIfLogistic, LinearClassifier):
    """``SparseLinearClassifier`` with l1, and l2 if several are given, chosen by an information criterion.

    Criteria are those of ``SparseLinearRegressorIC``; of several classes they are summed over the problems of each
    against the rest, which share the penalty.

    Parameters
    ----------
    dispersion : float, optional
        The scale by which the loss is divided in ``-log L``. None: 1 for the logistic loss; others need a number.
    loss, class_weight, sparse_coef
        As for ``SparseLinearClassifier``.
    criterion, gamma, l1s, eps, l2s, fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, \
keep_dual, n_jobs, verbose, penalty_weights, lower, upper, standardize
        As for ``SparseLinearRegressorIC``.

    Attributes
    ----------
    l1_, l2_, l1s_, l2s_, criterion_, degrees_of_freedom_, scores_
        As for ``SparseLinearRegressorIC``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import SparseLinearClassifierIC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLinearClassifierIC(l1s=30).fit(scale(X), y)
    >>> int((model.coef_ != 0).sum()) < 15, model.score(scale(X), y) > 0.97
    (True, True)
    """

    _targets = ("signs",)
    _multilabel = True

    def __init__(self, loss: str | Loss = "logistic", *, criterion: str = "bic", gamma: float = 0.5,
                 dispersion: float | None = None, l1s: int | ArrayLike = 100, eps: float = 1e-3, l2s: ArrayLike = 0.0,
                 fit_intercept: bool = True, positive: bool = False,
                 class_weight: dict[Any, float] | str | None = None, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0, sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.criterion = criterion
        self.gamma = gamma
        self.dispersion = dispersion
        self.l1s = l1s
        self.eps = eps
        self.l2s = l2s
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
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
