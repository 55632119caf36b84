"""Robust regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import losses, methods
from .._names import positive
from ..methods import Method
from ..result import Progress
from ..solve import drive, shortcomings
from ._base import FitData, warn
from ._callbacks import Hooks
from ._huber_scale import HuberWithScale, ScaleSearch, in_own_units
from ._progress import ProgressLine
from ._regressor import LinearRegressor


class HuberRegressor(LinearRegressor):
    """Robust regression with an L2 penalty; scale and coefficients are estimated together, with a certificate.

    Minimises ``sum_i (s + H((y_i - x_i'w - c) / s) s) + alpha ||w||^2`` over w, c and the scale s, with ``H(z) = z^2``
    up to epsilon and ``2 epsilon |z| - epsilon^2`` beyond, as scikit-learn's class of the same name does. The scale is
    at least 1e-5 of the median deviation from the median. The gap is that of the joint problem in w, c and s.

    Parameters
    ----------
    epsilon : float
        Errors beyond this count as outliers, in units of the scale; at least 1.
    max_iter : int
        The largest number of updates of the scale.
    alpha : float
    warm_start, fit_intercept, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose
        As for ``ElasticNet``; the tolerance is relative to the objective.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``; ``result_`` is of the last problem, in units of the scale.
    scale_ : float
    outliers_ : array of bool
        Samples whose error is beyond epsilon times the scale.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import HuberRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> y[:20] = 1000.0
    >>> model = HuberRegressor().fit(X, y)
    >>> bool(model.outliers_[:20].all()), bool(model.scale_ < 60)
    (True, True)
    """

    _multi_output = False
    _needs_rows = True

    def __init__(self, *, epsilon: float = 1.35, max_iter: int = 100, alpha: float = 0.0001, warm_start: bool = False,
                 fit_intercept: bool = True, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual

    def _loss(self) -> losses.Loss:
        epsilon = positive("epsilon", self.epsilon)
        if epsilon < 1:
            raise ValueError(f"epsilon must be at least 1, or the scale would be zero; got {epsilon}.")
        if epsilon > 1e100:
            raise ValueError(f"epsilon must be at most 1e100, or its square overflows; got {epsilon}. Use Ridge.")
        return losses.Huber(epsilon)

    def _fit_all(self, data: FitData) -> None:
        if data.centre is not None and not self.fit_intercept:
            raise TypeError("HuberRegressor without an intercept takes X itself, not Centred.")
        if data.offset is not None:  # the loss is one of y - margin - offset
            data = replace(data, y=data.y - data.offset, offset=None)
        hooks, settings = Hooks(self, data, 1), self._settings()
        alpha, epsilon = positive("alpha", self.alpha, zero=True), positive("epsilon", self.epsilon)
        at_one = self._state(replace(data, centre=None))  # with an intercept centring changes nothing
        _ = data.total  # weights without a finite sum are refused
        problem = HuberWithScale(data.X, data.y, data.weights, at_one, alpha, epsilon)
        before, scale = self._before(data, at_one, [])[0], problem.best_scale(data.y - problem.centre)
        if before is not None:
            scale = self.scale_
        if isinstance(before, tuple):  # results are in units of the scale
            before = before[0] / scale, before[1] / scale
        begun = data.begun
        search = ScaleSearch(problem, before, scale, methods.get(self.method), settings)
        outer = replace(settings, max_epochs=max(settings.max_epochs - 1, 0), check_every=1)  # the first solve is done

        def told(progress: Progress) -> bool:
            line.show(f"scale {progress.x[-1]:.3g}, gap {progress.relative_gap:.1e}")
            return hooks.round(0, lambda: self._attributes(progress.x, progress.intercept, data))

        with ProgressLine(type(self).__name__, self.verbose, settings.tol) as line:
            result, error = drive(problem, search.prepared(), outer, begun, told)
        if error is not None:
            raise error
        inner, own = search.answer()
        x, intercept = problem.from_inner(inner)
        result = in_own_units(result)
        self._tell([own], [1.0])
        self.gap_, self.dual_gap_, self.status_ = result.relative_gap, result.gap, result.status
        self.n_iter_ = 1 + result.epochs
        for name, value in self._attributes(x, intercept, data).items():
            setattr(self, name, value)
        self.outliers_ = np.abs(data.y - self._margins(data.X)) > epsilon * self.scale_
        hooks.end()
        for words in shortcomings(result):
            warn(words)

    def _attributes(self, x: np.ndarray, intercept: float, data: FitData) -> dict[str, Any]:
        """The attributes of the model; x are the coefficients and, last, the scale."""
        return self._shaped(x[None, :-1], np.array([intercept]), data) | {"scale_": float(x[-1])}
