"""Cross-validation: a path for every fold, several at a time, on threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn

from .. import _core, methods
from .._typing import AnyMatrix
from .._words import OF_ESTIMATORS
from ..path import follow
from ..path_points import Path
from ..penalties import Penalty
from ..problem import Problem
from ..solve import Settings, able, raise_with, shortcoming_of_many
from ..solve_many import run_all
from ..status import Status
from ._base import FitData

Line = Callable[[Penalty, float], Iterable[Penalty]]
"""From a problem's own penalty and a total weight of samples to the penalties of a path, from strong to weak."""

Judge = Callable[[tuple[int, int, int], AnyMatrix, AnyMatrix, np.ndarray, np.ndarray], float]
"""The score of a model, from the numbers of its fold, line and point, the held-out rows, coefficients, intercepts,
margins."""


LinesOf = Callable[[Problem, Path, "Walk", Settings, _core.Flag], list["Walk"]]
"""From a problem and its path to the lines that are judged; it ends early once the flag is raised."""

SHARE_OF_FOLDS = 0.75
"""The part of ``max_seconds`` that cross-validation may take; the rest is for the fit to all data."""


class Walk(NamedTuple):
    """What is kept of a path: coefficients with a row for each point and, within it, each class; intercepts of shape
    (n_points, n_classes); and how each point ended."""

    rows: sp.csr_array
    intercepts: np.ndarray
    statuses: list[Status]
    gaps: np.ndarray
    epochs: np.ndarray


class Scores(NamedTuple):
    """``values`` of shape (n_folds, n_lines, n_points), the number of epochs of the same shape (the largest among
    the problems), the walks by fold, line and problem, and what to warn of."""

    values: np.ndarray
    epochs: np.ndarray
    walks: list[Walk]
    warned: list[str]


@dataclass(frozen=True)
class Folds:
    """Trains models on some rows of the data and scores them on others.

    ``splits`` has the training rows and the test rows of each fold; ``state(data)`` makes the problem of the first
    target, with any penalty.
    """

    data: FitData
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    state: Callable[[FitData], Problem]
    method: str | methods.Method
    settings: Settings
    told: Callable[[int, int], None]  # the number of finished paths, and of all paths
    lines_of: LinesOf | None = None
    answers: int = 1

    def scores(self, lines: Sequence[Line], points: int, judge: Judge) -> Scores:
        """What the judge says of held-out rows, for lines of so many points; ``lines_of`` makes several of each path
        (``answers``). If it is interrupted, the scores of paths that are done are the result of the ``Interrupted``."""
        problems = self.data.targets.count
        _ = self.data.total  # weights without a finite sum are refused, not those of one fold
        training = [_Training(self, train, len(lines) * problems) for train, _ in self.splits]
        tasks = list(product(range(len(self.splits)), range(len(lines)), range(problems)))
        method = methods.get(self.method)
        settings = replace(
            self.settings, n_threads=max(1, self.settings.n_threads // len(tasks)),
            max_seconds=SHARE_OF_FOLDS * self.settings.max_seconds,
        )  # fmt: skip

        def walk(task: tuple[int, int, int], cancelled: _core.Flag) -> tuple[list[Walk], BaseException | None]:
            fold, line, k = task
            with training[fold].problem(k) as problem:
                if not isinstance(problem, Problem):
                    return [_of_one_class(problem, points)] * self.answers, None
                penalties = lines[line](problem.penalty, training[fold].total)
                path, error = follow(problem, method, penalties, settings, self.data.begun, cancelled=cancelled,
                                     stop_at=np.inf)  # fmt: skip
                walked = [_walked(path, points, getattr(problem, "means", None))]
                if self.lines_of is not None:
                    walked = self.lines_of(problem, path, walked[0], settings, cancelled)
                return [training[fold].whole(one) for one in walked], error

        paths, error = self._on_threads(walk, tasks, self.told)
        groups = [paths[at : at + problems] for at in range(0, len(paths), problems)]
        walks: list[Any] = [own and own[k] for group in groups for k in range(self.answers) for own in group]
        number = len(lines) * self.answers
        tasks = list(product(range(len(self.splits)), range(number), range(problems)))
        held_out = [(fold, line, walks[at : at + problems]) for at, (fold, line, k) in enumerate(tasks) if k == 0]

        def judged(task: tuple[int, int, list[Walk | None]], cancelled: _core.Flag) -> tuple[list[float], None]:
            fold, line, own = task
            done = [walk for walk in own if walk is not None]
            if len(done) < len(own):
                return [np.nan] * points, None
            test, found = self.splits[fold][1], []
            offset = None if self.data.offset is None else self.data.offset[test].reshape(test.size, -1)
            for point, model in enumerate(_models(self.data.X[test], done, offset)):
                if cancelled.raised:
                    break
                found.append(np.nan if np.isnan(model[2]).any() else judge((fold, line, point), *model))
            return found, None

        if isinstance(error, KeyboardInterrupt):
            table = [judged(task, _core.Flag())[0] for task in held_out]
            raise_with(error, np.array(table, dtype=float).reshape(len(self.splits), number, points))
        if error is not None:
            raise error
        table, error = self._on_threads(judged, held_out)
        if error is not None:
            raise error
        statuses = [status for walk in walks for status in walk.statuses]
        gaps = [gap for walk in walks for gap in walk.gaps]
        warned = shortcoming_of_many(OF_ESTIMATORS, statuses, gaps, settings.tol, "models on folds")
        shape = len(self.splits), number, problems, -1
        scores = np.array(table, dtype=float).reshape(*shape[:2], -1)
        lost = np.array([[status is Status.DIVERGED for status in walk.statuses] for walk in walks])
        scores[lost.reshape(shape).any(axis=2)] = np.nan  # overflow: no model
        epochs = np.array([walk.epochs for walk in walks]).reshape(shape).max(axis=2)
        return Scores(scores, epochs, walks, warned)

    def _on_threads(
        self, work: Callable[..., Any], tasks: Sequence[Any], told: Callable[[int, int], None] | None = None
    ) -> tuple[list[Any], BaseException | None]:
        """Calls ``work(task, cancelled)`` for each task; Ctrl-C raises the flag ``cancelled``. The answers, None for
        those that were not done, and the exception that ended the work, if any."""
        cancelled, done, lock, config = _core.Flag(), [], threading.Lock(), sklearn.get_config()

        def one(k: int) -> tuple[Any, BaseException | None]:
            with sklearn.config_context(**config):  # the configuration is thread-local
                answer, error = work(tasks[k], cancelled)
            if error is not None or cancelled.raised:  # it is not whole
                return None, error
            with lock:
                done.append(k)
                if told is not None:
                    told(len(done), len(tasks))
            return answer, None

        return run_all(one, len(tasks), min(self.settings.n_threads, len(tasks)), cancelled)


class _Training:
    """The training rows of a fold: copied when first needed, released after their last use."""

    def __init__(self, folds: Folds, train: np.ndarray, uses: int) -> None:
        self._folds, self._train, self._left = folds, train, uses
        self._first: Problem | None = None
        self._lock = threading.Lock()
        data = folds.data
        self.total = float(train.size if data.weights is None else data.weights[train].sum())
        self._classes = len(data.told["classes_"]) if data.together else 1
        self._present = np.unique(data.targets(0)[train]) if data.together else np.zeros(1, int)

    @contextmanager
    def problem(self, k: int) -> Iterator[Problem | OneClass]:
        try:
            yield self._made(k)
        finally:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self._first = None

    def _made(self, k: int) -> Problem | OneClass:
        data, train = self._folds.data, self._train
        target = data.targets(k)[train]
        if is_of_one_class(data, target):
            intercepts = np.full(self._classes, -np.inf)
            intercepts[self._present[:1]] = 0.0 if data.together else np.inf * target[0]
            return OneClass(data.X.shape[1], intercepts)
        if data.together:  # numbered without those that are missing
            target = np.searchsorted(self._present, target)
        offset = data.offset_of(k)
        if offset is not None:
            offset = offset[train][:, self._present] if data.together else offset[train]
        with self._lock:
            if self._first is None:
                self._first = self._prepared(data.part(train, target, offset))
            first = self._first
        return first.with_offset(offset).with_targets(target)

    def _prepared(self, part: FitData) -> Problem:
        folds = self._folds
        problem = folds.state(part)
        prepared = able(methods.get(folds.method), problem).prepare(problem, problem.start(None), folds.settings.seed)
        prepared.close()  # the problem keeps the layouts that were built, for all paths of the fold
        return problem

    def whole(self, walk: Walk) -> Walk:
        """With the classes that the training rows lack: their coefficients vanish and their probability is zero, the
        limit of models with an ever smaller intercept."""
        if self._present.size == self._classes:
            return walk
        points, entries = len(walk.statuses), walk.rows.tocoo()
        at, own = np.divmod(entries.row, self._present.size)
        places = at * self._classes + self._present[own], entries.col
        intercepts = np.full((points, self._classes), -np.inf)
        intercepts[:, self._present] = walk.intercepts
        shape = (points * self._classes, walk.rows.shape[1])
        return walk._replace(rows=sp.csr_array((entries.data, places), shape=shape), intercepts=intercepts)


class OneClass(NamedTuple):
    """Training rows of a single class, or all of a class or none: the best model has infinite intercepts."""

    n_features: int
    intercepts: np.ndarray


def is_of_one_class(data: FitData, target: np.ndarray) -> bool:
    """Whether training rows with this target do not determine a classifier."""
    return "classes_" in data.told and bool(target.min() == target.max())


def _of_one_class(known: OneClass, points: int) -> Walk:
    rows = sp.csr_array((points * known.intercepts.size, known.n_features))
    intercepts = np.tile(known.intercepts, (points, 1))
    return Walk(rows, intercepts, [Status.CONVERGED] * points, np.zeros(points), np.zeros(points, int))


def _walked(path: Path, points: int, means: np.ndarray | None) -> Walk:
    """What is kept of a path; points that it lacks, because its time ran out, have intercepts of NaN. If the columns
    were centred, intercepts are those for the columns themselves."""
    rows, left = path.rows(), points - len(path)
    intercepts = path.intercepts.reshape(len(path), -1)
    if means is not None:
        intercepts = intercepts - (rows @ means).reshape(intercepts.shape)
    if left == 0:
        return Walk(rows, intercepts, path.statuses, path.gaps, path.epochs)
    missing = np.full((left, intercepts.shape[1]), np.nan)
    return Walk(
        sp.vstack([rows, sp.csr_array((missing.size, rows.shape[1]))], format="csr"),
        np.concatenate([intercepts, missing]), [*path.statuses, *[Status.MAX_SECONDS] * left],
        np.append(path.gaps, np.full(left, np.inf)), np.append(path.epochs, np.zeros(left, int)),
    )  # fmt: skip


def _models(
    rows: AnyMatrix, walks: Sequence[Walk], offset: np.ndarray | None = None, most: int = 2**22
) -> Iterator[tuple[Any, ...]]:
    """For each point the rows, the coefficients, the intercepts and the margins, a column for each problem, or for each
    column of its coefficients; some points at a time share a product."""
    points, width = walks[0].intercepts.shape
    together = max(1, most // max(1, rows.shape[0] * len(walks) * width))
    for begin in range(0, points, together):
        size = min(together, points - begin)
        coefficients = sp.vstack([walk.rows[begin * width : (begin + size) * width] for walk in walks], format="csr")
        products = rows @ coefficients.T
        products = products.toarray() if sp.issparse(products) else np.asarray(products)
        of_point = np.arange(coefficients.shape[0]).reshape(-1, size, width)
        for at in range(size):
            intercepts = np.concatenate([walk.intercepts[begin + at] for walk in walks])
            own = of_point[:, at].ravel()
            margins = products[:, own] + intercepts
            yield rows, coefficients[own], intercepts, margins if offset is None else margins + offset


def best_of(scores: np.ndarray, one_standard_error: bool) -> tuple[int, int]:
    """The line and the point of the best mean score, of shape (n_folds, n_lines, n_points), or on that line the first
    point, with the strongest penalty, that is within one standard error of it. NaN scores are ignored."""
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        raise ValueError("No penalty could be chosen: every score is NaN. Try another scoring, or other folds.")
    line, point = np.unravel_index(np.nanargmax(means), means.shape)
    if one_standard_error and len(scores) > 1:
        with np.errstate(invalid="ignore"):  # infinite scores
            error = scores[:, line, point].std(ddof=1) / np.sqrt(len(scores))
        if np.isfinite(error):
            point = np.flatnonzero(means[line] >= means[line, point] - error)[0]
    return int(line), int(point)
