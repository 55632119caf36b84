"""The Huber problem with a scale that is estimated together with the coefficients.

    min over w, c and s >= least of   sum_i w_i s (1 + H(r_i / s)) + alpha ||w||^2,      r_i = x_i'w + c - y_i,

with ``H(z) = z^2`` up to epsilon and ``2 epsilon |z| - epsilon^2`` beyond. At a fixed scale s the rest is a Huber
problem in units of s; given its residuals, the best scale has a formula. The scale that equals the best one for its
residuals is found by the secant method.

Tolerances are relative to the objective, which is not known in advance. The loop therefore works on logarithms:
log P - log D is at least 1 - D / P, the gap in units of the objective.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .._words import Words
from ..methods import Method
from ..methods.hosted import Beat, Located, SelfCertified
from ..penalties import ElasticNet
from ..problem import Problem
from ..result import NOT_PROVABLE, Result
from ..solve import Settings, run
from ..status import Status

ROUNDING = "loosen tol, or scale X and y to moderate size, since rounding allows no more"
WORDS = Words(
    "X", "y", "the objective", "fit again with warm_start=True",
    {
        Status.MAX_EPOCHS: "raise max_iter", Status.MAX_SECONDS: "raise max_seconds or loosen tol",
        Status.DIVERGED: ROUNDING, Status.PRECISION: ROUNDING,
    },
)  # fmt: skip


class HuberWithScale:
    """The problem. Its coefficients ``x`` are w and, after them, s.

    ``at_one`` is the problem at a scale of one, without its penalty; ``weights`` are as given, not scaled to a sum of
    one.
    """

    words = WORDS

    def __init__(self, X: Any, y: np.ndarray, weights: np.ndarray | None, at_one: Problem, alpha: float,
                 epsilon: float) -> None:  # fmt: skip
        self.X, self.y, self.at_one, self.alpha, self.epsilon = X, y, at_one, alpha, epsilon
        self.weights = np.ones_like(y) if weights is None else weights
        self.total = float(self.weights.sum())
        self.n_samples, self.n_features = X.shape[0], X.shape[1] + 1
        self.centre = _median(y, self.weights) if at_one.intercept else 0.0
        with np.errstate(over="ignore"):
            away = np.abs(y - self.centre)
        if not np.isfinite(away).all():
            raise ValueError("Differences of targets must be below 1.8e308, the largest number. Scale y down.")
        spread = _median(away, self.weights) or float(self.weights @ away) / self.total
        self.least = 1e-5 * spread or 1.0  # a perfect fit has no scale

    def at(self, scale: float) -> Problem:
        """The problem of w / s and c / s, given s."""
        net = ElasticNet(0.0, self.alpha * scale / self.total)
        return self.at_one.with_targets(self.y / scale).with_penalty(net)

    def best_scale(self, errors: np.ndarray) -> float:
        """Solves ``sum_i w_i min(r_i^2 / s^2, epsilon^2) = sum_i w_i`` for s; only small errors enter as squares."""
        sizes = np.abs(errors)
        order = np.argsort(sizes)
        sizes, w = sizes[order], self.weights[order]
        room = self.total - self.epsilon**2 * (self.total - np.cumsum(w))
        unit = float(sizes[-1]) or 1.0  # squares of huge errors overflow
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scales = unit * np.sqrt(np.cumsum(w * (sizes / unit) ** 2) / room)
            limits = self.epsilon * scales
        beyond = np.append(sizes[1:], np.inf)
        fits = (room > 0) & (sizes <= limits * (1 + 1e-12)) & (beyond >= limits)
        return max(float(scales[fits][0]) if fits.any() else 0.0, self.least)

    def objective(self, scale: float, errors: np.ndarray, coef: np.ndarray) -> float:
        z = np.abs(errors) / scale
        costs = np.where(z < self.epsilon, z**2, 2 * self.epsilon * z - self.epsilon**2)
        return float(scale * (self.weights @ (1 + costs)) + self.alpha * (coef @ coef))

    def bound(self, y: np.ndarray, coef: np.ndarray, intercept: float) -> tuple[float, float]:
        """A lower bound of the optimum, above zero, and the size of the numbers that cancel in it.

        With ``s (1 + H(r / s)) = max over |t| <= 2 epsilon of t r + s (1 - t^2 / 4)`` minimising over the scale gives
        ``sum_i w_i t_i^2 <= 4 sum_i w_i``, up to a term for the smallest scale, and minimising over w and c gives the
        dual of a ridge. What should be zero there, but is not because of rounding, is subtracted from the bound."""
        w, t = self.weights, 2.0 * y
        size = w @ t**2
        t = t * min(1.0, float(np.sqrt(4 * self.total / size))) if size > 0 else t
        slopes = self.X.T @ (w * t)
        value = self.least * float(w @ (1 - t**2 / 4)) - float(w @ (t * self.y))
        value -= abs(float(w @ t) * intercept)
        if self.alpha > 0:
            debt = float(slopes @ slopes) / (4 * self.alpha)
        else:
            debt = abs(float(slopes @ coef))
            if np.abs(slopes).max() > 1e-9 * float((abs(self.X).T @ (w * np.abs(t))).max()):
                debt = np.inf
        trivial = self.least * self.total  # that of t = 0
        value -= debt
        return (value, float(w @ np.abs(t * self.y)) + debt) if value > trivial else (trivial, 0.0)

    # The interface ``Question``

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, float]:
        return np.append(inner[:-2], inner[-1]), float(inner[-2])

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        return y

    def examine_at(self, inner: np.ndarray) -> None:
        """Its loss is that of the core, which needs no examination."""

    def remarks(self, result: Result) -> list[str]:
        return []

    def prove(self, x: Any, y: Any = None, intercept: Any = 0.0, *, feasible: bool = False) -> NoReturn:
        raise ValueError(NOT_PROVABLE)


class ScaleSearch(SelfCertified):
    """The search for the scale. An epoch takes the next scale and solves the problem at it."""

    PATIENCE = 20  # epochs without progress after which the gap is taken to be a rounding error

    description = "secant method for the scale"

    def __init__(self, problem: HuberWithScale, start: Any, scale: float, method: Method,
                 settings: Settings) -> None:  # fmt: skip
        self.problem, self.method, self.settings = problem, method, settings
        self.tol = 0.1 * settings.tol  # of the problem at one scale
        self.dual_size = problem.n_samples
        self.tried: list[tuple[float, float]] = []  # logarithms of a scale and of the best scale for its residuals
        self.best: tuple[Located, Result] | None = None
        self.smallest_gap, self.stalled = np.inf, 0
        self.leads = self._solve(scale, start)

    def _solve(self, scale: float, start: Any) -> float:
        """Solve at a scale. Returns the best scale for its residuals."""
        problem = self.problem.at(scale)
        settings = replace(self.settings, tol=self.tol, max_epochs=1000)
        result, error = run(problem, self.method, problem.start(start), settings, time.perf_counter())
        if error is not None:
            raise error
        self.scale, self.result = scale, replace(result, problem=None)
        self.y = np.zeros(self.dual_size) if result.y is None else result.y
        self.x = np.append(scale * result.x, [scale * result.intercept, scale])
        self.errors = self.problem.X @ self.x[:-2] + self.x[-2] - self.problem.y
        leads = self.problem.best_scale(self.errors)
        self.tried.append((float(np.log(scale)), float(np.log(leads))))
        return leads

    def stored(self) -> int:
        return self.problem.at_one.data.stored

    def unit(self) -> tuple[float, float]:
        return 1.0, 0.0

    def epoch(self, beat: Beat) -> None:
        if self.stalled:  # the tolerance of the problem at one scale is in other units
            self.tol = max(0.1 * self.tol, 1e-15)
        self.leads = self._solve(self._next_scale(), self.result)
        beat(int(self.result.history["entries"][-1]))

    def locate(self) -> Located:
        """The current point; the one with the smallest objective, once only rounding errors are left of the gap."""
        coef, intercept = self.x[:-2], float(self.x[-2])
        with np.errstate(all="ignore"):  # a NaN gap proves nothing
            objective = self.problem.objective(self.scale, self.errors, coef)
            bound, terms = self.problem.bound(self.y, coef, intercept)
            primal, dual = float(np.log(objective)), float(np.log(bound))
            terms = 1.0 + terms / objective
        x = self.x if np.isfinite(primal) else np.full_like(self.x, np.nan)
        here = Located(x, self.y, primal, dual, terms, int(np.count_nonzero(coef)))
        # Of points whose objectives differ by rounding errors only, the loop too prefers the newest.
        if self.best is None or primal - self.best[0].primal <= 1e-15 * abs(primal):
            self.best = here, self.result
        gap = primal - dual
        self.stalled = 0 if gap < 0.9 * self.smallest_gap else self.stalled + 1
        self.smallest_gap = min(gap, self.smallest_gap)
        return here if self.stalled < self.PATIENCE else self.best[0]._replace(terms=np.inf)

    def resync(self) -> None:
        """All products are fresh."""

    def answer(self) -> tuple[np.ndarray, Result]:
        """The coefficients, the intercept and the scale with the smallest objective, and the result they are from."""
        if self.best is None or not np.isfinite(self.best[0].x).all():
            return self.x, self.result
        return self.best[0].x, self.best[1]

    def _next_scale(self) -> float:
        """The next guess for the fixed point of the map from a scale to the best scale for its residuals: the secant
        method, safeguarded by an interval, since scales below the fixed point are mapped up, those above it down."""
        if len(self.tried) < 2:
            return self.leads
        here, there = self.tried[-1]
        below = max((s for s, to in self.tried if to >= s), default=-np.inf)
        above = min((s for s, to in self.tried if to <= s), default=np.inf)
        before, led = self.tried[-2]
        slope = (there - led) / (here - before) if here != before else 0.0
        step = (there - here) / (1 - slope) if 0 <= slope < 1 else 10 * (there - here)
        scale = here + float(np.clip(step, -3, 3))
        if not below < scale < above and np.isfinite(above - below):
            scale = (below + above) / 2
        return max(float(np.exp(scale)), self.problem.least)


def in_own_units(result: Result) -> Result:
    """A result of ``drive``, without logarithms; the objective is its scale."""
    with np.errstate(over="ignore"):
        primal, dual = float(np.exp(result.primal)), float(np.exp(result.dual))
    gap = primal * float(-np.expm1(-result.gap))  # primal - dual, without cancellation
    return replace(result, primal=primal, dual=dual, gap=gap, scale=primal)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted median: half of the weight is below, half above."""
    order = np.argsort(values)
    upto = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(upto, upto[-1] / 2)])
