"""The same problem under many penalties, each solve beginning where the last one ended."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from . import _core, _data, methods, plots
from ._interrupts import Interrupts
from ._names import count, positive, unknown
from ._typing import Given
from .lambda_max import lambda_max
from .methods import Method, Prepared, Start
from .problem import Problem
from .result import Progress, Result
from .solve import CallbackOfMany, ConvergenceWarning, Settings, able, drive, raise_with, shortcoming_of_many
from .status import Status


@dataclass(frozen=True, eq=False)
class Path:
    """The answers along a path of penalties, each with its own certificate.

    Attributes
    ----------
    l1s, l2s : array
        The strength of the penalty at each point.
    x : sparse array of shape (n_points, n_features)
        The coefficients, a row for each point.
    intercepts : array
    primal, dual, gaps : array
        The objective, its lower bound, and their difference in units of the scale, as ``tol`` is.
    nonzeros, epochs, screened : array of int
        At each point: coefficients that are not zero, rounds of work, features the gap proved to be zero.
    explained : array
        The share of the zero model's loss that is gone: R^2 for the squared loss, else the explained deviance.
    statuses : list of Status
    seconds, tol : float
        For all of them; for each.
    last : Result
        The last point in full; pass it on as ``warm_start``.
    """

    l1s: np.ndarray
    l2s: np.ndarray
    x: sp.csr_array
    intercepts: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    gaps: np.ndarray
    nonzeros: np.ndarray
    epochs: np.ndarray
    screened: np.ndarray
    explained: np.ndarray
    statuses: list[Status]
    seconds: float
    tol: float
    last: Result | None = field(repr=False)
    problem: Problem | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.l1s)

    @property
    def converged(self) -> bool:
        return all(self.statuses)

    def margins(self, A: Given) -> np.ndarray:
        """A x + c, a column for each point."""
        return _data.margins(A, self.x, self.intercepts)

    def __repr__(self) -> str:
        return (
            f"Path: {len(self)} points, l1 from {self.l1s[0]:.3g} to {self.l1s[-1]:.3g}\n"
            f"  gap        at most {self.gaps.max():.3g} of the zero model's objective (asked: {self.tol:.3g})\n"
            f"  nonzeros   {self.nonzeros[0]} to {self.nonzeros[-1]} of {self.x.shape[1]}\n"
            f"  explained  {self.explained[0]:.1%} to {self.explained[-1]:.1%}\n"
            f"  work       {self.epochs.sum()} rounds, {self.seconds:.3g} s"
        )

    def plot(self, names: Given = None, top: int = 10, ax: Any = None) -> Any:
        """The coefficients against l1, those that come to most in colour. Needs ``pip install southwell[plot]``.

        Parameters
        ----------
        names : sequence of str, optional
            One for each feature, for the legend.
        top : int
            How many to tell apart.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        return plots.path(self, names, top, ax)


def path(
    problem: Problem,
    l1s: Given = "auto",
    l2s: Given = None,
    *,
    n_points: int = 100,
    ratio: float = 0.01,
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

    Each solve begins at the answer before it, with its working set, its columns and its slopes; a feature joins when
    its slope says so (the strong rule orders candidates, the certificate checks all of them), so nothing is lost.

    Parameters
    ----------
    problem : Problem
        Its penalty gives weights and bounds, and the l2 where ``l2s`` is not given.
    l1s : "auto" or array
        Strengths; sorted from large to small. "auto": ``n_points`` from ``lambda_max`` down to ``ratio`` of it, evenly
        on a log scale.
    l2s : float or array, optional
        One for all points, or one for each of them (then ``l1s`` stay in the order given).
    n_points : int
    ratio : float
        Where "auto" ends.
    tol, max_epochs, method, seed, n_threads
        As for ``solve``; the tolerance and the number of epochs are for each point.
    max_seconds : float, optional
        For all of them; points that have not begun are left out.
    stop_at : float
        End once this share of the zero model's loss is explained; 0.99 is usual for dense paths.
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
    >>> path = sw.path(sw.Problem(A, b, intercept=True), n_points=20)
    >>> len(path), path.converged, path.x.shape, int(path.nonzeros[0])
    (20, True, (20, 10), 0)
    """
    begun = time.perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"path takes a Problem, such as Problem(A, b, loss); got {type(problem).__name__}.")
    if problem.blocks:
        raise TypeError(
            "path does not take problems of blocks. Solve for one strength after the other with "
            "problem.with_penalty(...) and warm_start, from lambda_max(problem) down."
        )
    settings = Settings.checked(tol, max_epochs, max_seconds, None, seed, False, n_threads)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {type(callback).__name__}.")
    chosen = able(methods.get(method), problem)
    stop_at = positive("stop_at", stop_at)
    strengths = _strengths(problem, l1s, l2s, count("n_points", n_points, 1), ratio)
    answer, error = follow(problem, chosen, strengths, settings, begun, callback, stop_at)
    if error is not None:
        raise_with(error, answer)
    for words in shortcoming_of_many(problem.words, answer.statuses, answer.gaps, answer.tol, "points"):
        warnings.warn(words, ConvergenceWarning, stacklevel=2)
    return answer


def follow(
    problem: Problem, method: Method, strengths: tuple[np.ndarray, np.ndarray], settings: Settings, begun: float,
    callback: CallbackOfMany | None = None, stop_at: float = 1.0, cancelled: _core.Flag | None = None,
) -> tuple[Path, BaseException | None]:  # fmt: skip
    """The path, and what ended it early, if anything did."""
    with Interrupts(cancelled) as interrupts:
        walk = _Walk(problem, method, settings, begun, callback, interrupts.flag)
        error = _walk_along(walk, strengths, stop_at)
    return walk.path(strengths), error or interrupts.lost


def _walk_along(walk: _Walk, strengths: tuple[np.ndarray, np.ndarray], stop_at: float) -> BaseException | None:
    """Step from point to point; what ended it early, if anything did."""
    error = None
    try:
        for k, (l1, l2) in enumerate(zip(*strengths, strict=True)):
            if k > 0 and time.perf_counter() - walk.begun >= walk.settings.max_seconds:
                break
            error = walk.step(k, float(l1), float(l2))
            if error is not None or walk.stopped or walk.points[-1].explained >= stop_at:
                break
            if walk.cancelled.raised:
                break
    except KeyboardInterrupt as interrupt:  # between two solves
        if not walk.points:
            raise
        error = interrupt
    finally:
        walk.close()
    return error


class _Point(NamedTuple):
    result: Result
    support: np.ndarray
    explained: float


class _Walk:
    """The points so far."""

    def __init__(self, problem: Problem, method: Method, settings: Settings, begun: float,
                 callback: CallbackOfMany | None, cancelled: _core.Flag) -> None:  # fmt: skip
        self.problem, self.method, self.settings, self.begun = problem, method, settings, begun
        self.callback, self.cancelled = callback, cancelled
        self.points: list[_Point] = []
        self.stopped = False
        self.prepared: Prepared | None = None
        self.null: tuple[float, float] | None = None

    def step(self, k: int, l1: float, l2: float) -> BaseException | None:
        problem = self.problem.with_penalty(replace(self.problem.penalty, l1=l1, l2=l2))
        before = time.perf_counter()
        if self.prepared is None or not self.prepared.algorithm.repenalise(problem.core()):
            self.close()
            self.prepared = self.method.prepare(problem, self._start(problem), self.settings.seed)
        left = replace(self.settings, max_seconds=max(self.settings.max_seconds - (before - self.begun), 1e-9))
        result, error = drive(problem, self.prepared, left, before, self._reporter(k), self.cancelled)
        if isinstance(error, KeyboardInterrupt):
            result = replace(result, status=Status.INTERRUPTED)
        self.points.append(_Point(result, np.flatnonzero(result.x != 0), self._explained(problem, result)))
        return error

    def close(self) -> None:
        if self.prepared is not None:
            self.prepared.close()

    def _start(self, problem: Problem) -> Start:
        if not self.points:
            return problem.start(None)
        last = self.points[-1].result
        return Start(problem.to_inner(last.x, last.intercept), last.y)

    def _reporter(self, k: int) -> Callable[[Progress], bool] | None:
        callback = self.callback
        if callback is None:
            return None

        def report(progress: Progress) -> bool:
            self.stopped = self.stopped or bool(callback(k, progress))
            return self.stopped

        return report

    def _explained(self, problem: Problem, result: Result) -> float:
        """1 - loss / loss of the zero model, measured from the least any model could have."""
        penalty = problem.penalty.value(result.x)
        if self.null is None:
            least = -float(problem.loss.conjugate(np.zeros(problem.n_samples), problem.targets) @ problem.weights)
            self.null = result.scale, least
        scale, least = self.null
        return 1.0 - (result.primal - penalty - least) / scale if scale > 0 else 1.0

    def _coefficients(self) -> sp.csr_array:
        supports = [point.support for point in self.points]
        values = [point.result.x[point.support] for point in self.points]
        starts = np.cumsum([0, *(support.size for support in supports)])
        shape = (len(supports), self.problem.n_features)
        return sp.csr_array((np.concatenate(values), np.concatenate(supports), starts), shape=shape)

    def path(self, strengths: tuple[np.ndarray, np.ndarray]) -> Path:
        done = len(self.points)

        def column(of: Callable[[Result], Any]) -> np.ndarray:
            return np.array([of(point.result) for point in self.points])

        return Path(
            l1s=strengths[0][:done], l2s=strengths[1][:done],
            x=self._coefficients(),
            intercepts=column(lambda r: r.intercept), primal=column(lambda r: r.primal), dual=column(lambda r: r.dual),
            gaps=column(lambda r: r.relative_gap), nonzeros=column(lambda r: r.nonzeros),
            epochs=column(lambda r: r.epochs), screened=column(lambda r: r.screened.n_features),
            explained=np.array([point.explained for point in self.points]),
            statuses=[point.result.status for point in self.points], seconds=time.perf_counter() - self.begun,
            tol=self.settings.tol,
            last=self.points[-1].result, problem=self.problem,
        )  # fmt: skip


def _strengths(problem: Problem, l1s: Given, l2s: Given, n_points: int, ratio: Given) -> tuple[np.ndarray, np.ndarray]:
    """Checked, from strong to weak."""
    if isinstance(l1s, str):
        if l1s != "auto":
            raise unknown("l1s", l1s, ("auto",))
        ratio = positive("ratio", ratio)
        if ratio > 1:
            raise ValueError(f"ratio must be at most 1: the path goes down from lambda_max; got {ratio:g}.")
        top = lambda_max(problem, weights=problem.penalty.weights)
        if top == 0:
            raise ValueError("lambda_max is 0: the zero model is optimal for every l1. Give l1s as an array.")
        l1s = top * np.geomspace(1.0, ratio, n_points)
    else:
        with contextlib.suppress(ValueError):  # lists of mixed lengths, which are refused next
            l1s = np.atleast_1d(l1s)
        l1s = _data.vector(l1s, "l1s")
        if l1s.size == 0:
            raise ValueError("l1s is empty: give at least one strength, or 'auto'.")
        if l1s.min() < 0 or (l1s.min() == 0 and l1s.size > 1 and l2s is None):
            raise ValueError(f"l1s must be positive; the smallest is {l1s.min():g}. For l1 = 0 alone use solve.")
        l1s = l1s.copy() if np.ndim(l2s) > 0 else np.sort(l1s)[::-1].copy()
    if l2s is None:
        l2s = problem.penalty.l2
    l2s = _data.vector(np.atleast_1d(l2s), "l2s")
    if l2s.size == 0:
        raise ValueError("l2s is empty: give one number, or one for each l1.")
    if l2s.min() < 0:
        raise ValueError(f"l2s must be >= 0; the smallest is {l2s.min():g}.")
    if l2s.size not in (1, l1s.size):
        raise ValueError(f"l2s must be one number, or {l1s.size}, one for each l1; got {l2s.size}.")
    return l1s, np.broadcast_to(l2s, l1s.shape).copy()
