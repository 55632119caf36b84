"""Robust regression."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from sklearn.utils import Bunch

from .. import losses, methods
from .._names import positive
from ..penalties import ElasticNet
from ..result import Result
from ..solve import Settings, run, start_of
from ..status import Status
from ._base import warn
from ._callbacks import Hooks
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
    warm_start, fit_intercept, tol, random_state, method, n_jobs, verbose
        As for ``ElasticNet``; the tolerance is relative to the objective.

    Attributes
    ----------
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
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

    def __init__(self, *, epsilon=1.35, max_iter=100, alpha=0.0001, warm_start=False, fit_intercept=True, tol=1e-6,
                 random_state=None, method="auto", n_jobs=None, verbose=0):  # fmt: skip
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

    def _loss(self) -> losses.Loss:
        epsilon = positive("epsilon", self.epsilon)
        if epsilon < 1:
            raise ValueError(f"epsilon must be at least 1, or the scale would be zero; got {epsilon}.")
        return losses.Huber(epsilon)

    def _fit_all(self, data: Bunch) -> None:
        hooks = Hooks(self, data, 1)
        search = _Search(self, data, self._settings())
        before = self._before(1, (1, data.X.shape[1]))[0]
        scale = self.scale_ if before is not None else search.scale_of(data.y - search.centre())
        best, tol = np.inf, search.settings.tol
        rounds = stalled = 0
        status = Status.MAX_EPOCHS
        with ProgressLine(type(self).__name__, self.verbose) as line:
            for rounds in range(1, self._max_epochs() + 1):  # noqa: B007
                scale, before, gap, objective = search.step(scale, before)
                relative = gap / objective if objective > 0 else gap
                line.show(f"scale {search.used:.3g}, gap {relative:.1e}")
                if hooks.round(0, lambda: search.attributes(before, data)):  # noqa: B023
                    status = Status.STOPPED
                if relative <= tol:
                    status = Status.CONVERGED
                if not np.isfinite(relative):
                    status = Status.DIVERGED
                stalled = 0 if gap < 0.9 * best else stalled + 1
                best = min(best, gap)
                if status is not Status.MAX_EPOCHS or stalled == 20:
                    break
                if stalled:  # the tolerance of the problem at one scale is in other units
                    search.tighten()
        self._tell([replace(before, problem=None)], [1.0])
        self.gap_, self.dual_gap_, self.n_iter_, self.status_ = relative, gap, rounds, status
        for name, value in search.attributes(before, data).items():
            setattr(self, name, value)
        self.outliers_ = np.abs(data.y - self._margins(data.X)) > self.epsilon * self.scale_
        hooks.end()
        if status in (Status.MAX_EPOCHS, Status.DIVERGED):
            advice = "raise max_iter, or fit again with warm_start=True"
            if stalled == 20 or status is Status.DIVERGED:
                advice = "loosen tol, or scale X and y to moderate size: rounding allows no more"
            warn(
                f"The scale was updated {rounds} times, but the gap did not reach the tolerance. It is "
                f"{relative:.3g} of the objective; tol is {tol:.3g}. To go on: {advice}."
            )


class _Search:
    """The search for the scale. At a fixed scale the rest is a Huber problem; given that, the scale has a formula."""

    def __init__(self, model: HuberRegressor, data: Bunch, settings: Settings):
        self.model, self.settings, self.method = model, settings, methods.get(model.method)
        self.tol = 0.1 * settings.tol  # of the problem at one scale
        self.alpha, self.epsilon = positive("alpha", model.alpha, zero=True), model.epsilon
        self.X, self.y = data.X, data.y
        self.w = np.ones_like(self.y) if data.weights is None else data.weights
        self.problem, self.total = model._state(data.X, data.y, data.weights), float(self.w.sum())
        away = np.abs(self.y - self.centre())
        spread = _median(away, self.w) or float(self.w @ away) / self.total
        self.least = 1e-5 * spread or 1.0  # a perfect fit has no scale
        self.used = 0.0  # the scale of the last problem
        self.tried: list[tuple[float, float]] = []  # logarithms of a scale and of the best scale for its residuals

    def centre(self) -> float:
        return _median(self.y, self.w) if self.problem.intercept else 0.0

    def scale_of(self, errors: np.ndarray) -> float:
        """Solves ``sum_i w_i min(r_i^2 / s^2, epsilon^2) = sum_i w_i`` for s; only small errors enter as squares."""
        sizes = np.abs(errors)
        order = np.argsort(sizes)
        sizes, w = sizes[order], self.w[order]
        room = self.total - self.epsilon**2 * (self.total - np.cumsum(w))
        with np.errstate(divide="ignore", invalid="ignore"):
            scales = np.sqrt(np.cumsum(w * sizes**2) / room)
        beyond = np.append(sizes[1:], np.inf)
        fits = (room > 0) & (sizes <= self.epsilon * scales * (1 + 1e-12)) & (beyond >= self.epsilon * scales)
        return max(float(scales[fits][0]) if fits.any() else 0.0, self.least)

    def attributes(self, result: Result, data: Bunch) -> dict:
        """The attributes of the model if this is the last problem."""
        coef, intercepts = self.used * result.x[None, :], self.used * np.array([result.intercept])
        return self.model._shaped(coef, intercepts, data) | {"scale_": self.used}

    def tighten(self) -> None:
        self.tol = max(0.1 * self.tol, 1e-15)

    def step(self, scale: float, before: Result | None):
        """Solve at a scale. Returns the next scale, the result, the gap of the joint problem and the objective."""
        self.used = scale
        net = ElasticNet(0.0, self.alpha * scale / self.total)
        problem = self.problem.with_targets(self.y / scale).with_penalty(net)
        settings = replace(self.settings, tol=self.tol, max_epochs=1000)
        result, error = run(problem, self.method, start_of(problem, before), settings, time.perf_counter())
        if error is not None:
            raise error
        errors = scale * (self.X @ result.x + result.intercept) - self.y
        leads = self.scale_of(errors)
        with np.errstate(over="ignore", invalid="ignore"):  # a NaN gap proves nothing
            gap, objective = self.certificate(scale, errors, scale * result.x, scale * result.intercept, result.y)
        self.tried.append((np.log(scale), np.log(leads)))
        return self.next_scale(leads), result, gap, objective

    def next_scale(self, leads: float) -> float:
        """The next guess for the fixed point of the map from a scale to the best scale for its residuals: the secant
        method, safeguarded by an interval, since scales below the fixed point are mapped up, those above it down."""
        here, there = self.tried[-1]
        below = max((s for s, to in self.tried if to >= s), default=-np.inf)
        above = min((s for s, to in self.tried if to <= s), default=np.inf)
        if len(self.tried) < 2:
            return leads
        before, led = self.tried[-2]
        slope = (there - led) / (here - before) if here != before else 0.0
        step = (there - here) / (1 - slope) if 0 <= slope < 1 else 10 * (there - here)
        scale = here + float(np.clip(step, -3, 3))
        if not below < scale < above and np.isfinite(above - below):
            scale = (below + above) / 2
        return max(float(np.exp(scale)), self.least)

    def certificate(self, scale, errors, coef, intercept, y) -> tuple[float, float]:
        """The objective less a bound from below. With ``s (1 + H(r / s)) = max over |t| <= 2 epsilon of
        t r + s (1 - t^2 / 4)`` minimising over the scale gives ``sum_i w_i t_i^2 <= 4 sum_i w_i``, up to a term for
        the smallest scale, and minimising over w and c gives the dual of a ridge. What should be zero there, but is not
        because of rounding, is subtracted from the bound."""
        z = np.abs(errors) / scale
        costs = np.where(z < self.epsilon, z**2, 2 * self.epsilon * z - self.epsilon**2)
        objective = float(scale * (self.w @ (1 + costs)) + self.alpha * (coef @ coef))
        t = 2.0 * y
        size = self.w @ t**2
        t = t * min(1.0, np.sqrt(4 * self.total / size)) if size > 0 else t
        slopes = self.X.T @ (self.w * t)
        bound = self.least * float(self.w @ (1 - t**2 / 4)) - float(self.w @ (t * self.y))
        bound -= abs(float(self.w @ t) * intercept)
        if self.alpha > 0:
            bound -= float(slopes @ slopes) / (4 * self.alpha)
        else:
            bound -= abs(float(slopes @ coef))
            if np.abs(slopes).max() > 1e-9 * float((abs(self.X).T @ (self.w * np.abs(t))).max()):
                bound = 0.0
        return max(objective - max(bound, 0.0), 0.0), objective


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted median: half of the weight is below, half above."""
    order = np.argsort(values)
    upto = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(upto, upto[-1] / 2)])
