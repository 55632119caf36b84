"""Support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import positive
from .._typing import AnyMatrix
from ..methods import Method
from ._base import FitData
from ._parameters import one_of
from ._regressor import LinearRegressor
from .conventions import Strengths, from_C

# scikit-learn's losses in terms of ours: its square has no factor 1/2.
LOSSES = {
    "epsilon_insensitive": (losses.EpsilonInsensitive, 1.0),
    "squared_epsilon_insensitive": (losses.SquaredEpsilonInsensitive, 2.0),
}


class LinearSVR(LinearRegressor):
    """Linear support vector regression, with a certificate.

    Minimises ``||w||^2 / 2 + C sum_i max(0, |y_i - x_i'w - c| - epsilon)``, or the same with squares. Unlike
    in liblinear, the intercept is not penalised.

    Parameters
    ----------
    epsilon : float
        Errors up to this cost nothing.
    C : float
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    dual, intercept_scaling
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(epsilon=10.0, C=100.0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.48
    """

    def __init__(self, *, epsilon: float = 0.0, tol: float = 1e-6, C: float = 1.0, loss: str = "epsilon_insensitive",
                 fit_intercept: bool = True, intercept_scaling: float = 1.0, dual: bool | str = "auto",
                 verbose: bool | int = 0, random_state: int | np.random.RandomState | None = None,
                 max_iter: int | None = None, warm_start: bool = False, method: str | Method = "auto",
                 n_jobs: int | None = None,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.method = method
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _loss(self) -> losses.Loss:
        one_of("loss", self.loss, tuple(LOSSES))
        return LOSSES[self.loss][0](self.epsilon)

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        shaped = super()._shaped(coef, intercepts, data)
        return shaped | {"intercept_": self._intercept(np.atleast_1d(shaped["intercept_"]), False)}

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        one_of("loss", self.loss, tuple(LOSSES))
        return from_C(positive("C", self.C), total, 0.0, LOSSES[self.loss][1])
