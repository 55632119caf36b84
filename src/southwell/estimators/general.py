"""Any loss with any penalty, in the units of southwell."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import positive
from ..losses import Loss
from ..methods import Method
from ._base import LinearEstimator
from ._classifier import LinearClassifier
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from .conventions import Strengths


class InOwnUnits(LinearEstimator):
    """A mixin for estimators with the l1 and l2 of ``southwell.solve``."""

    _targets: ClassVar[tuple[str, ...]]
    loss: str | Loss
    l1: float
    l2: float

    def _loss(self) -> losses.Loss:
        loss = losses.get(self.loss)
        if loss.targets not in self._targets:
            kind = "numbers" if "signs" in self._targets else "classes"
            raise ValueError(f"{type(self).__name__} cannot use {loss.name}: that is a loss for {kind}.")
        return loss

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return Strengths(positive("l1", self.l1, zero=True), positive("l2", self.l2, zero=True))


class SparseLinearRegressor(InOwnUnits, LinearRegressor):
    """A linear model of numbers, with any loss and penalty, with a certificate.

    Minimises ``mean_i loss(x_i'w + c; y_i) + l1 ||w||_1 + (l2/2) ||w||^2``.

    Parameters
    ----------
    loss : str or Loss
        squared, huber, quantile, epsilon_insensitive, squared_epsilon_insensitive, poisson, gamma, tweedie,
        negative_binomial, or one of
        ``southwell.losses`` with its parameter.
    l1, l2 : float
    fit_intercept, positive, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import SparseLinearRegressor, losses
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseLinearRegressor(loss=losses.Huber(50.0), l1=0.5).fit(X, y)
    >>> int((model.coef_ != 0).sum())
    3
    """

    _targets = ("real", "counts", "positive")

    def __init__(self, loss: str | Loss = "squared", *, l1: float = 0.01, l2: float = 0.0, fit_intercept: bool = True,
                 positive: bool = False, max_iter: int = 10_000, tol: float = 1e-6, warm_start: bool = False,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
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


class SparseLinearClassifier(ProbabilitiesIfLogistic, InOwnUnits, LinearClassifier):
    """A linear model of classes, with any loss and penalty, for two or several classes or several labels at once, with
    a certificate.

    Minimises ``mean_i loss(y_i (x_i'w + c)) + l1 ||w||_1 + (l2/2) ||w||^2`` for each class against the rest, or for
    each label.

    Parameters
    ----------
    loss : str or Loss
        logistic, hinge, squared_hinge (with a half), smooth_hinge, modified_huber, or one of
        ``southwell.losses`` with its parameter.
    l1, l2 : float
    class_weight : dict, "balanced" or None
        Not possible with several labels at once.
    sparse_coef : bool
        Store ``coef_`` as a sparse matrix: for thousands of classes.
    fit_intercept, positive, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.

    Attributes
    ----------
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from southwell import SparseLinearClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseLinearClassifier("smooth_hinge", l1=1e-3).fit(X / 16, y)
    >>> model.coef_.shape, model.score(X / 16, y) > 0.9
    ((10, 64), True)
    """

    _targets = ("signs",)
    _multilabel = True

    def __init__(self, loss: str | Loss = "logistic", *, l1: float = 0.001, l2: float = 0.0, fit_intercept: bool = True,
                 positive: bool = False, class_weight: dict[Any, float] | str | None = None, max_iter: int = 10_000,
                 tol: float = 1e-6, warm_start: bool = False, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
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
