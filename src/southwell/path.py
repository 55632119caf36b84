"""Regularisation paths: the same problem with many penalties, with warm starts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from . import _core, _data, _keywords, methods
from ._chooser import Chooser
from ._dense import plain
from ._everywhere import Everywhere
from ._interrupts import Interrupts
from ._names import count, flag, positive, unknown
from ._scipy import sparse as sp
from ._typing import Given
from .lambda_max import vanishing_strength
from .losses import Loss
from .methods import Method, Prepared, Start
from .path_points import Path
from .penalties import Penalty
from .problem import Problem
from .result import Progress, Result
from .solve import (
    CALLER,
    CallbackOfMany,
    ConvergenceWarning,
    Settings,
    able,
    drive,
    raise_with,
    shortcoming_of_many,
    stated,
)
from .status import Status

MEANT = _keywords.OF_SOLVE | {
    "l1": "l1s, the strengths of all points",
    "l2": "l2s: one number, or one for each point",
    "alpha": "l1s, the strengths of all points",
    "C": "l1s: 1 / (C * n_samples)",
    "l1_ratio": "l1s and l2s",
    "eps": "ratio, the smallest strength relative to the largest",
    "n_alphas": "n_points",
    "penalty_weights": "penalty=sw.penalties.ElasticNet(weights=...)",
}


@_keywords.answers(MEANT)
def path(
    A: Given,
    b: Given = None,
    *,
    loss: str | Loss = "squared",
    l1s: Given = "auto",
    l2s: Given = None,
    penalty: Penalty | None = None,
    intercept: bool = False,
    sample_weight: Given = None,
    offset: Given = None,
    n_points: int = 100,
    ratio: float = 0.01,
    everywhere: bool = False,
    method: str | Method = "auto",
    tol: float = 1e-6,
    max_epochs: int = 1000,
    max_seconds: float | None = None,
    stop_at: float = 1.0,
    callback: CallbackOfMany | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Path:
    """Solve a problem for many strengths of its penalty, from strong to weak.

    Each solve starts at the solution before it, with its working set, columns and slopes. The strong rule orders the
    candidates for the working set; the certificate checks all features, so no feature is lost.

    Parameters
    ----------
    A, b, loss, intercept, sample_weight, offset
        As for ``solve``; A may be a ``Problem`` or ``BlockProblem``, which holds the others.
    penalty : ElasticNet, Groups or MaxGroups, optional
        Gives weights, bounds and groups, and the l2 where ``l2s`` is not given; its strength is replaced.
    l1s : "auto" or array
        Strengths; sorted from large to small. "auto": ``n_points`` from ``lambda_max`` down to ``ratio`` of it, evenly
        on a log scale. For a penalty of ``Groups`` they are the strengths of the groups, and its l1 keeps the ratio it
        has to the strength in the problem's penalty (in ``Groups(l1=...)`` without a strength, they are its l1).
    l2s : float or array, optional
        One value for all points, or one for each (then the order of ``l1s`` is kept).
    n_points : int
    ratio : float
        The smallest l1 of "auto", relative to the largest.
    everywhere : bool
        Choose as many points as are needed for a proof that, for *every* strength between the ends, the coefficients
        of one of its two neighbours are within ``tol`` of the optimum; ``n_points`` does not count. ``Path.at`` tells
        which one and its bound. Of ``l1s`` as an array all values are points, and others are added. About 1/sqrt(tol)
        points are needed, each solved to a tenth of ``tol``. Points are numbered for the callback as they are solved.
    tol, max_epochs, method, seed, n_threads
        As for ``solve``; the tolerance and the number of epochs are for each point.
    max_seconds : float, optional
        The time limit for all points; points that have not begun are left out.
    stop_at : float
        End the path once this share of the zero model's loss is explained, for example 0.99.
    callback : callable, optional
        Called with the number of a point and its ``Progress``; a true value ends the path after that point.

    Returns
    -------
    Path

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> A, b = load_diabetes(return_X_y=True)
    >>> path = sw.path(A, b, intercept=True, n_points=20)
    >>> len(path), path.converged, path.x.shape, int(path.nonzeros[0])
    (20, True, (20, 10), 0)
    >>> path[10].nonzeros, path.predict(A).shape
    (6, (442, 20))

    A proof for every strength between the ends:

    >>> path = sw.path(A, b, intercept=True, tol=1e-3, everywhere=True)
    >>> len(path) < 50, bool(path.between.max() <= 1e-3), bool(path.at(0.3).gap <= 1e-3)
    (True, True, True)

    Several targets that share their features, with a row of coefficients for each feature:

    >>> path = sw.path(A[:, 2:], A[:, :2], penalty=sw.penalties.Groups(1.0), n_points=20)
    >>> path.converged, path.coefficients(19).shape, path.intercepts.shape
    (True, (8, 2), (20, 2))
    """
    begun = time.perf_counter()
    problem = stated(A, b, loss, 0.0, 0.0, penalty, intercept, sample_weight, offset, "path")
    settings = Settings.checked(tol, max_epochs, max_seconds, None, seed, False, n_threads)
    tol = settings.tol
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {type(callback).__name__}.")
    chosen = able(methods.get(method), problem)
    stop_at = positive("stop_at", stop_at)
    own = problem.penalty.settled(problem.n_features)
    strengths, l2s = grid_of(problem.with_penalty(own), l1s, l2s, count("n_points", n_points, 1, bits=24), ratio)
    penalties: Iterable[Penalty] = (own.at(float(s), float(l2)) for s, l2 in zip(strengths, l2s, strict=True))
    if flag("everywhere", everywhere):
        penalties, settings = _everywhere(own, strengths, l2s, l1s, settings)
    answer, error = follow(problem, chosen, penalties, settings, begun, callback, stop_at)
    if everywhere:
        answer = replace(answer, tol=tol)
    if error is not None:
        raise_with(error, answer)
    words = shortcoming_of_many(problem.words, answer.statuses, answer.gaps, answer.tol, "points")
    worst = answer.between.max(initial=0.0) if everywhere and not words else 0.0
    if worst > tol:
        words = [
            f"Strengths between the points are proven to be within {worst:.3g} of {problem.words.unit} only, not "
            f"within tol={tol:.3g}: the path ended early, or its points could not be solved to a tenth of it."
        ]
    for told in words:
        warnings.warn(told, ConvergenceWarning, stacklevel=CALLER)
    return answer


def _everywhere(own: Penalty, strengths: np.ndarray, l2s: np.ndarray, l1s: Given,
                settings: Settings) -> tuple[Everywhere, Settings]:  # fmt: skip
    """The points that prove every strength in between, and settings to solve them with."""
    if settings.tol == 0:
        raise ValueError("everywhere=True needs tol > 0: about 1/sqrt(tol) points are computed.")
    if np.ptp(l2s) > 0:
        raise ValueError("everywhere=True is about every strength at one l2; give one number as l2s.")
    ends = strengths[[0, -1]] if isinstance(l1s, str) else np.unique(strengths)[::-1]
    l2 = float(l2s[0])
    return Everywhere(ends, lambda strength: own.at(strength, l2), settings.tol), replace(
        settings, tol=0.1 * settings.tol
    )


def follow(
    problem: Problem, method: Method, penalties: Iterable[Penalty], settings: Settings, begun: float,
    callback: CallbackOfMany | None = None, stop_at: float = 1.0, cancelled: _core.Flag | None = None,
) -> tuple[Path, BaseException | None]:  # fmt: skip
    """The path along these penalties, and what ended it early, if anything did."""
    with Interrupts(cancelled) as interrupts:
        chooser = penalties if isinstance(penalties, Chooser) else None
        walk = _Walk(problem, method, settings, begun, callback, interrupts.flag, chooser)
        error = _walk_along(walk, penalties, stop_at)
    return walk.path(), error or interrupts.lost


def _walk_along(walk: _Walk, penalties: Iterable[Penalty], stop_at: float) -> BaseException | None:
    """Step from point to point; what ended it early, if anything did."""
    error = None
    try:
        for k, penalty in enumerate(penalties):
            if k > 0 and time.perf_counter() - walk.begun >= walk.settings.max_seconds:
                break
            error = walk.step(k, penalty)
            if error is not None or walk.stopped or walk.points[-1].explained >= stop_at:
                break
            # A solve ends before its limit by the time of a certificate: the clock would allow another point.
            if walk.cancelled.raised or walk.last.status is Status.MAX_SECONDS:
                break
    except KeyboardInterrupt as interrupt:  # between two solves
        if not walk.points:
            raise
        error = interrupt
    finally:
        walk.close()
    return error


class _Point(NamedTuple):
    """What is kept of a point: numbers, and coefficients that are not zero."""

    penalty: Penalty
    support: np.ndarray
    values: np.ndarray
    intercept: float | np.ndarray
    primal: float
    dual: float
    gap: float
    epochs: int
    screened: int
    explained: float
    status: Status
    seconds: float


class _Walk:
    """The points computed so far, and the algorithm that continues. Only of the last point is the whole result kept,
    which is as long as all features and samples."""

    last: Result  # of the latest solve
    end: Result  # of the last point of the path

    def __init__(self, problem: Problem, method: Method, settings: Settings, begun: float,
                 callback: CallbackOfMany | None, cancelled: _core.Flag,
                 chooser: Chooser | None) -> None:  # fmt: skip
        self.chooser, self.weakest = chooser, np.inf
        self.problem, self.method, self.settings, self.begun = problem, method, settings, begun
        self.callback, self.cancelled = callback, cancelled
        self.points: list[_Point] = []
        self.stopped = False
        self.prepared: Prepared | None = None
        self.null: tuple[float, float] | None = None

    def step(self, k: int, penalty: Penalty) -> BaseException | None:
        problem = self.problem.with_penalty(penalty)
        before = time.perf_counter()
        prepared = self._prepared_for(problem)
        left = replace(self.settings, max_seconds=max(self.settings.max_seconds - (before - self.begun), 1e-9))
        result, error = drive(problem, prepared, left, before, self._reporter(k), self.cancelled)
        if isinstance(error, KeyboardInterrupt):
            result = replace(result, status=Status.INTERRUPTED)
        self.points.append(self._point(problem, result))
        self.last = result
        if self.chooser is not None:
            self.chooser.told(penalty, result.x, result.primal, result.dual, result.scale)
        if self.chooser is None or penalty.leading_strength <= self.weakest:
            self.end, self.weakest = result, penalty.leading_strength
        return error

    def _prepared_for(self, problem: Problem) -> Prepared:
        """The algorithm of the last point if it can take over the next penalty, else a new one."""
        again = None if self.prepared is None else self.prepared.repenalised(problem)
        if again is not None:
            self.prepared = again
        else:
            self.close()
            self.prepared = self.method.prepare(problem, self._start(problem), self.settings.seed)
        return self.prepared

    def close(self) -> None:
        if self.prepared is not None:
            self.prepared.close()

    def _start(self, problem: Problem) -> Start:
        if not self.points:
            return problem.start(None)
        last = self.last
        return Start(problem.to_inner(last.x, last.intercept), None if last.y is None else np.ravel(last.y))

    def _reporter(self, k: int) -> Callable[[Progress], bool] | None:
        callback = self.callback
        if callback is None:
            return None

        def report(progress: Progress) -> bool:
            self.stopped = self.stopped or bool(callback(k, progress))
            return self.stopped

        return report

    def _point(self, problem: Problem, result: Result) -> _Point:
        flat = result.x.ravel()
        support = np.flatnonzero(flat != 0)
        return _Point(
            penalty=problem.penalty, support=support, values=flat[support], intercept=result.intercept,
            primal=result.primal, dual=result.dual, gap=result.relative_gap, epochs=result.epochs,
            screened=result.screened.n_features, explained=self._explained(problem, result), status=result.status,
            seconds=result.seconds,
        )  # fmt: skip

    def _explained(self, problem: Problem, result: Result) -> float:
        """1 - loss / loss of the zero model, measured from the least any model could have."""
        if self.null is None:
            self.null = result.scale, problem.least_loss()
        scale, least = self.null
        loss = result.primal - problem.penalty.value(result.x)
        return 1.0 - (loss - least) / scale if scale > 0 else 1.0

    def _coefficients(self) -> sp.csr_array:
        supports = [point.support for point in self.points]
        values = [point.values for point in self.points]
        starts = np.cumsum([0, *(support.size for support in supports)])
        shape = (len(supports), self.last.x.size)
        return sp.csr_array((np.concatenate(values), np.concatenate(supports), starts), shape=shape)

    def path(self) -> Path:
        def column(name: str) -> np.ndarray:
            return np.array([getattr(point, name) for point in self.points])

        if self.chooser is not None:
            self.points = self.chooser.arranged(self.points)
        penalties = [point.penalty for point in self.points]
        return Path(
            strengths=np.array([penalty.leading_strength for penalty in penalties]),
            l2s=np.array([penalty.ridge for penalty in penalties]), penalties=penalties,
            x=self._coefficients(), intercepts=column("intercept"), shape=self.end.x.shape,
            primal=column("primal"), dual=column("dual"), gaps=column("gap"),
            nonzeros=np.array([point.support.size for point in self.points]),
            epochs=column("epochs"), screened=column("screened"), explained=column("explained"),
            statuses=[point.status for point in self.points], times=column("seconds"),
            seconds=time.perf_counter() - self.begun, tol=self.settings.tol, scale=self.end.scale, last=self.end,
            problem=self.problem,
        )  # fmt: skip


def grid_of(problem: Problem, l1s: Given, l2s: Given, n_points: int, ratio: Given) -> tuple[np.ndarray, np.ndarray]:
    """The checked strengths, from strong to weak."""
    own_l2s = None if l2s is None else plain("l2s", l2s)
    if isinstance(l1s, str):
        if l1s != "auto":
            raise unknown("l1s", l1s, ("auto",))
        ratio = positive("ratio", ratio)
        if ratio > 1:
            raise ValueError(f"ratio must be at most 1: the path goes down from lambda_max; got {ratio:g}.")
        top = vanishing_strength(problem)
        if top == 0:
            raise ValueError(
                f"lambda_max is 0: the zero model is optimal for every {problem.penalty.leading}. Give l1s as an array."
            )
        l1s = top * np.geomspace(1.0, ratio, n_points)
    else:
        l1s = _data.vector(l1s, "l1s", one=True)
        if l1s.size == 0:
            raise ValueError("l1s is empty: give at least one strength, or 'auto'.")
        if l1s.min() < 0 or (l1s.min() == 0 and l1s.size > 1 and own_l2s is None):
            raise ValueError(f"l1s must be positive; the smallest is {l1s.min():g}. For l1 = 0 alone use solve.")
        l1s = l1s.copy() if own_l2s is not None and own_l2s.ndim > 0 else np.sort(l1s)[::-1].copy()
    l2s = _data.vector(problem.penalty.ridge if own_l2s is None else own_l2s, "l2s", one=True)
    if l2s.size == 0:
        raise ValueError("l2s is empty: give one number, or one for each l1.")
    if l2s.min() < 0:
        raise ValueError(f"l2s must be >= 0; the smallest is {l2s.min():g}.")
    if l2s.size not in (1, l1s.size):
        raise ValueError(f"l2s must be one number, or {l1s.size}, one for each l1; got {l2s.size}.")
    return l1s, np.broadcast_to(l2s, l1s.shape).copy()
