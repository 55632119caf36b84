"""The relaxed lasso: between a lasso solution and the fit without a penalty on its support."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from .. import _core, methods
from .._refits import exists, refit
from .._typing import AnyMatrix
from ..path_points import Path
from ..problem import Problem
from ..result import Progress, Result
from ..solve import CallbackOfMany, Settings, able, run
from ..status import Status
from ._alphas import ChoosesAlpha
from ._base import FitData, LinearEstimator
from ._cross_validated import Line
from ._folds import LinesOf, Scores, Walk
from ._parameters import shares
from .conventions import Strengths, from_alpha


class Relaxed(LinearEstimator):
    """A mixin: ``gamma`` times the lasso solution and ``1 - gamma`` times the refit, both certified; the lasso alone
    where no refit exists."""

    _refits: list[Result]

    def _share(self) -> float:
        """The share of the lasso solution."""
        raise NotImplementedError

    def _solve_each(
        self, problem: Callable[[int], Problem], number: int, starts: list[Any], begun: float,
        told: CallbackOfMany | None, keep: Callable[[Result], Result],
    ) -> tuple[list[Result], BaseException | None]:  # fmt: skip
        lasso, error = super()._solve_each(problem, number, starts, begun, told, keep)
        if error is None and self._share() == 1:
            self._refits = lasso
        if error is not None or self._share() == 1:
            return lasso, error
        refits = [refit(problem(k), own.x, own.intercept) for k, own in enumerate(lasso)]
        size, gamma = lasso[0].x.shape[-1], self._share()

        def mixed(k: int, progress: Progress) -> bool | None:
            assert told is not None
            one, other = lasso[k], refits[k].whole(progress.x, size)
            x = one.x.toarray().ravel() if sp.issparse(one.x) else one.x
            intercept = blended(gamma, one.intercept, progress.intercept)
            return told(k, progress._replace(x=blended(gamma, x, other), intercept=intercept))

        both: Any = lambda result: (keep(result), exists(result))  # noqa: E731
        found, error = super()._solve_each(
            lambda k: refits[k].problem, number, [own.start for own in refits], begun, None if told is None else mixed,
            both,
        )  # fmt: skip
        if error is not None:
            return lasso, error
        parts: Any = found
        self._refits = [
            replace(part, x=own.whole(part.x, size)) if there else one
            for one, (part, there), own in zip(lasso, parts, refits, strict=True)
        ]
        return lasso, None

    def _tell(self, results: list[Result], units: list[float]) -> None:
        pairs = list(zip(results, self._refits, strict=True))
        super()._tell([
            one if one is two else replace(
                one, epochs=one.epochs + two.epochs, status=min(one.status, two.status, key=bool),
                gap=max(one.gap, two.gap),
            )
            for one, two in pairs
        ], units)  # fmt: skip
        if hasattr(self, "_results"):
            self._results = results
            self.refit_results_ = self._refits

    def _keep(self, results: list[Result], data: FitData) -> None:
        kept, gamma = self.__dict__.pop("_refits"), self._share()
        super()._keep([
            replace(one, x=blended(gamma, one.x, two.x), intercept=blended(gamma, one.intercept, two.intercept))
            for one, two in zip(results, kept, strict=True)
        ], data)  # fmt: skip


class ChoosesRelaxed(Relaxed, ChoosesAlpha):
    """With ``alphas``, ``eps`` and ``gammas``; settings are pairs of an alpha and a gamma. All gammas share paths."""

    gammas: Any
    gamma_: float
    l1_ratio = 1.0
    _setting_names = ("alpha_", "gamma_")

    def _share(self) -> float:
        return self.gamma_

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_alpha(setting[0], 1.0)

    def _lines(self, data: FitData) -> list[Line]:
        (line,) = super()._lines(data)
        return [[(alpha, gamma) for alpha, _ in line] for gamma in sorted({*shares("gammas", self.gammas)})[::-1]]

    def _lines_of(self, lines: Sequence[Line], begun: float) -> tuple[LinesOf | None, int]:
        gammas, method = [line[0][1] for line in lines], methods.get(self.method)

        def lines_of(
            problem: Problem, path: Path, lasso: Walk, settings: Settings, cancelled: _core.Flag
        ) -> list[Walk]:
            if gammas == [1.0]:
                return [lasso]
            other = _refitted(problem, path, lasso, able(method, problem), settings, begun, cancelled)
            return [_between(gamma, lasso, other) for gamma in gammas]

        return lines_of, len(lines)

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        alpha, gamma = lines[line][point]
        tried = np.array(lines)
        return {
            "alpha_": float(alpha), "gamma_": float(gamma), "alphas_": tried[0, :, 0], "gammas_": tried[:, 0, 1],
            "scores_": found.values,
        }  # fmt: skip

    def _tried(self) -> Bunch:
        return Bunch(
            label="alpha", strengths=[self.alphas_] * self.gammas_.size, scores=self.scores_.transpose(1, 0, 2),
            chosen=self.alpha_, other="gamma", others=self.gammas_, other_chosen=self.gamma_,
        )  # fmt: skip


def blended(gamma: float, lasso: Any, other: Any) -> Any:
    """``gamma lasso + (1 - gamma) other``, exact at both ends; infinite intercepts are the same in both."""
    if gamma == 1 or lasso is other:
        return lasso
    return other if gamma == 0 else gamma * lasso + (1.0 - gamma) * other


def _between(gamma: float, lasso: Walk, other: Walk) -> Walk:
    if gamma == 1:
        return lasso
    return Walk(
        sp.csr_array(blended(gamma, lasso.rows, other.rows)), blended(gamma, lasso.intercepts, other.intercepts),
        [min(pair, key=bool) for pair in zip(lasso.statuses, other.statuses, strict=True)],
        np.maximum(lasso.gaps, other.gaps), lasso.epochs + other.epochs,
    )  # fmt: skip


def _refitted(problem: Problem, path: Path, lasso: Walk, method: methods.Method, settings: Settings, begun: float,
              cancelled: _core.Flag) -> Walk:  # fmt: skip
    """The refits of the points of a path, the lasso where there is none; NaN intercepts where the time ran out."""
    points, d = lasso.intercepts.shape[0], problem.n_features
    rows: list[AnyMatrix] = [sp.csr_array((1, d))] * points
    intercepts, gaps = np.full((points, 1), np.nan), np.full(points, np.inf)
    statuses, epochs = [Status.MAX_SECONDS] * points, np.zeros(points, int)
    for k in range(len(path)):
        left = settings.max_seconds - (time.perf_counter() - begun)
        if cancelled.raised or left <= 0:
            break
        own = refit(problem, path.coefficients(k), float(path.intercepts[k]))
        now = time.perf_counter()
        within = replace(settings, max_seconds=left)
        result, _ = run(own.problem, method, own.problem.start(own.start), within, now, None, cancelled)
        if exists(result):
            rows[k] = sp.csr_array(own.whole(result.x, d)[None, :])
            intercepts[k] = result.intercept - (0.0 if problem.means is None else rows[k] @ problem.means)
        else:
            rows[k], intercepts[k] = lasso.rows[[k]], lasso.intercepts[k]
        statuses[k], gaps[k], epochs[k] = result.status, result.relative_gap, result.epochs
    return Walk(sp.csr_array(sp.vstack(rows)), intercepts, statuses, gaps, epochs)
