"""Ordinary least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..methods import Method
from ..problem import Problem
from ._base import FitData
from ._least_norm import Decomposition, by_lsqr, minimisers
from ._regressor import LinearRegressor
from .conventions import Strengths
from .ridge import LeastSquares

LARGEST = 2**36
"""Multiplications of the largest singular value decomposition."""


class LinearRegression(LeastSquares, LinearRegressor):
    """Ordinary least squares, with a certificate.

    Minimises ``||y - X w - c||^2``, as scikit-learn's class of the same name does. If several solutions exist, as with
    more features than samples, it starts at that of least norm: of dense data by a singular value decomposition, of
    sparse or very large data by LSQR.

    Parameters
    ----------
    positive : bool
        Require coefficients >= 0.
    lower, upper : float or array of shape (n_features,), optional
        Bounds of coefficients. With these or ``positive`` the norm need not be least.
    fit_intercept, copy_X, max_iter, tol, random_state, method, n_jobs, verbose, max_seconds, keep_dual
        As for ``ElasticNet``.

    Attributes
    ----------
    rank_ : int
    singular_ : array of shape (min(n_samples, n_features),)
        The rank, up to rounding, and the singular values of the data, centred if there is an intercept, each row times
        the root of its weight. Of dense data, unless they are very large or coefficients have bounds.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import LinearRegression
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> model = LinearRegression().fit(X, X @ [1.0, 2.0] + 3.0)
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6), model.rank_
    ([1.0, 2.0], 3.0, 2)
    """

    _penalise = "a small penalty, as Ridge(alpha=1e-6) does"

    def __init__(self, *, fit_intercept: bool = True, copy_X: bool = True, tol: float = 1e-6,
                 n_jobs: int | None = None, positive: bool = False, max_iter: int = 10_000,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, lower: ArrayLike | None = None,
                 upper: ArrayLike | None = None) -> None:  # fmt: skip
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.max_iter = max_iter
        self.random_state = random_state
        self.method = method
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.lower = lower
        self.upper = upper

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return Strengths(0.0, 0.0, 2.0 * total)

    _needs_rows = True

    def _fit_all(self, data: FitData) -> None:
        for name in ("rank_", "singular_"):
            self.__dict__.pop(name, None)
        super()._fit_all(data)

    def _decomposed(self, data: FitData, first: Problem, targets: list[np.ndarray], l2s: list[float]) -> Any:
        n, d = data.X.shape
        if not isinstance(data.X, np.ndarray) or n * d * min(n, d) > LARGEST:
            return [by_lsqr(data.X, y, first.weights, first.intercept) for y in targets]
        made = Decomposition.of(data.X, first.weights, first.intercept)
        if made is None:
            return None
        self.rank_ = int(made.values.size)
        self.singular_ = (made.spectrum * np.sqrt(data.total)).astype(data.X.dtype)
        return minimisers(made, targets, l2s)
