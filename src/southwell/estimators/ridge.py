"""Least squares with an L2 penalty, of numbers and of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses, methods
from .._dense import plain
from .._names import positive
from .._typing import AnyMatrix, Given
from ..methods import Auto, Method
from ..problem import Problem
from ..result import Result
from ._base import FitData, LinearEstimator
from ._classifier import LinearClassifier
from ._least_norm import least_norm
from ._regressor import LinearRegressor
from .conventions import Strengths, from_ridge


class LeastSquares(LinearEstimator):
    """A mixin for squared errors; small problems start at the answer of a singular value decomposition."""

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _before(self, data: FitData, first: Problem, strengths: list[Strengths]) -> list[Any]:
        starts = super()._before(data, first, strengths)
        net: Any = first.penalty
        changed = net.bounded or net.weights is not None or data.centre is not None or starts[0] is not None
        changed = changed or first.in_parts
        if changed or not isinstance(methods.get(self.method), Auto):
            return starts
        targets, l2s = [data.target_less_offset(k) for k in range(data.targets.count)], [own.l2 for own in strengths]
        return self._decomposed(data, first, targets, l2s) or starts

    def _decomposed(self, data: FitData, first: Problem, targets: list[np.ndarray], l2s: list[float]) -> Any:
        return least_norm(data.X, targets, first.weights, l2s, first.intercept)


class RidgeModel(LeastSquares):
    """A mixin for the penalty and the attributes of ``Ridge`` and ``RidgeClassifier``."""

    alpha: Any
    solver: str
    _solvers = ("svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
    _penalise = "alpha=1e-6"

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        data = super()._data(X, y, sample_weight, params)
        alphas = plain("alpha", self.alpha)
        if alphas.ndim > 1 or alphas.size not in (1, data.targets.count):
            raise ValueError(
                f"alpha must be one number, or {data.targets.count}, one for each target; got shape {alphas.shape}. "
                "Number of targets and number of penalties do not correspond: "
                f"{alphas.shape[0] if alphas.ndim else 1} != {data.targets.count}."
            )
        return data

    def _tell(self, results: list[Result], units: list[float]) -> None:
        super()._tell(results, units)
        self.solver_ = type(methods.get(self.method)).__name__.lower() if self.solver == "auto" else self.solver

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        alphas = plain("alpha", self.alpha).ravel()
        return from_ridge(positive("alpha", alphas[target if alphas.size > 1 else 0], zero=True), total)


class Ridge(RidgeModel, LinearRegressor):
    """Least squares with an L2 penalty, with a certificate.

    Minimises ``||y - X w - c||^2 + alpha ||w||^2``, as scikit-learn's class of the same name does: a sum, where
    ``ElasticNet`` has a mean. Small problems start at the answer of a singular value decomposition, which for alpha
    near 0 is the one of least norm.

    Parameters
    ----------
    alpha : float, or array of shape (n_targets,)
    fit_intercept, copy_X, max_iter, tol, positive, random_state, warm_start, method, n_jobs, verbose, \
max_seconds, keep_dual, penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    solver : str
        Ignored; for compatibility with scikit-learn. ``solver_`` repeats it, or names the method.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(Ridge(alpha=0.1).fit(X, y).score(X, y), 3)
    0.513
    """

    def __init__(self, alpha: float | np.ndarray = 1.0, *, fit_intercept: bool = True, copy_X: bool = True,
                 max_iter: int | None = None, tol: float = 1e-6, solver: str = "auto", positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, warm_start: bool = False,
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize


class SquaresOfClasses(LeastSquares, LinearClassifier):
    """A mixin: classifiers that regress on -1 and +1, for each class against the rest."""

    _multilabel = True

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        shaped = super()._shaped(coef, intercepts, data)
        if data.y.ndim == 1 and data.targets.count == 1:
            shaped["coef_"] = shaped["coef_"][0]
        return shaped if self.fit_intercept or intercepts.any() else shaped | {"intercept_": 0.0}


class RidgeClassifier(RidgeModel, SquaresOfClasses):
    """Ridge regression on labels of -1 and +1, for classes or several labels at once, with a certificate.

    Minimises ``sum_i w_i (y_i - x_i'w - c)^2 + alpha ||w||^2`` for each class against the rest, or for each label, as
    scikit-learn's class of the same name does. The class of the largest margin is predicted.

    Parameters
    ----------
    alpha : float, or array with a number for each class
    class_weight : dict, "balanced" or None
        Not possible with several labels at once.
    fit_intercept, copy_X, max_iter, tol, solver, positive, random_state, warm_start, method, n_jobs, verbose, \
max_seconds, keep_dual, penalty_weights, lower, upper, standardize
        As for ``Ridge``.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_classes, n_features)
    classes_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``; ``intercept_`` is 0.0 without one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from southwell import RidgeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 3)
    0.96
    """

    def __init__(self, alpha: float | np.ndarray = 1.0, *, fit_intercept: bool = True, copy_X: bool = True,
                 max_iter: int | None = None, tol: float = 1e-6,
                 class_weight: dict[Any, float] | str | None = None, solver: str = "auto", positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, warm_start: bool = False,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize
