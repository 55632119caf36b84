"""Cross-validation: a path for every fold, several at a time, on threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn

from .. import _core, methods
from .._typing import AnyMatrix
from .._words import OF_ESTIMATORS
from ..path import Path, follow
from ..penalties import Penalty
from ..problem import Problem
from ..solve import Settings, able, shortcoming_of_many
from ..solve_many import Targets, run_all
from ..status import Status

Line = Callable[[Penalty, float], Iterable[Penalty]]
"""From a problem's own penalty and a total weight of samples to the penalties of a path, from strong to weak."""

Judge = Callable[[int, AnyMatrix, AnyMatrix, np.ndarray, np.ndarray], float]
"""The score of a model, from the number of its fold, the held-out rows, coefficients, intercepts, margins."""


@dataclass(frozen=True)
class Folds:
    """Trains models on some rows of the data and scores them on others.

    ``targets`` has a column for each problem, ``splits`` has the training rows and the test rows of each fold, and
    ``state(rows, target, weights)`` makes the problem on some rows, with any penalty.
    """

    X: AnyMatrix
    targets: Targets
    weights: np.ndarray | None
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    state: Callable[[AnyMatrix, np.ndarray, np.ndarray | None], Problem]
    method: str | methods.Method
    settings: Settings
    told: Callable[[int, int], None]  # the number of finished paths, and of all paths

    def scores(self, lines: Sequence[Line], judge: Judge) -> tuple[np.ndarray, list[str]]:
        """What the judge says of held-out rows, of shape (n_folds, n_lines, n_points), and what to warn of."""
        problems = self.targets.count
        training = [_Training(self, train, len(lines) * problems) for train, _ in self.splits]
        tasks = list(product(range(len(self.splits)), range(len(lines)), range(problems)))
        method = methods.get(self.method)
        settings = replace(self.settings, n_threads=max(1, self.settings.n_threads // len(tasks)))

        def walk(task: tuple[int, int, int], cancelled: _core.Flag) -> tuple[Path, BaseException | None]:
            fold, line, k = task
            with training[fold].problem(k) as problem:
                penalties = lines[line](problem.penalty, training[fold].total)
                path, error = follow(problem, method, penalties, settings, time.perf_counter(), cancelled=cancelled)
            return replace(path, problem=None, last=None), error  # or it would hold on to the rows

        paths = self._on_threads(walk, tasks, self.told)
        held_out = [(fold, paths[at : at + problems]) for at, (fold, _, k) in enumerate(tasks) if k == 0]

        def judged(task: tuple[int, list[Path]], cancelled: _core.Flag) -> tuple[list[float], None]:
            fold, own = task
            test = self.splits[fold][1]
            models = _models(self.X[test], own)
            return [judge(fold, *model) for model in models if not cancelled.raised], None

        table = self._on_threads(judged, held_out)
        statuses = [status for path in paths for status in path.statuses]
        gaps = [gap for path in paths for gap in path.gaps]
        warned = shortcoming_of_many(OF_ESTIMATORS, statuses, gaps, settings.tol, "models on folds")
        scores = np.array(table, dtype=float).reshape(len(self.splits), len(lines), -1)
        lost = np.array([[status is Status.DIVERGED for status in path.statuses] for path in paths])
        scores[lost.reshape(*scores.shape[:2], problems, -1).any(axis=2)] = np.nan  # overflow: no model
        return scores, warned

    def _on_threads(
        self, work: Callable[..., Any], tasks: Sequence[Any], told: Callable[[int, int], None] | None = None
    ) -> list[Any]:
        """Calls ``work(task, cancelled)`` for each task; Ctrl-C raises the flag ``cancelled``."""
        cancelled, done, lock, config = _core.Flag(), [], threading.Lock(), sklearn.get_config()

        def one(k: int) -> Any:
            with sklearn.config_context(**config):  # the configuration is thread-local
                answer = work(tasks[k], cancelled)
            with lock:
                done.append(k)
                if told is not None:
                    told(len(done), len(tasks))
            return answer

        answers, error = run_all(one, len(tasks), min(self.settings.n_threads, len(tasks)), cancelled)
        if error is not None:
            raise error
        return answers


class _Training:
    """The training rows of a fold: copied when first needed, released after their last use."""

    def __init__(self, folds: Folds, train: np.ndarray, uses: int) -> None:
        self._folds, self._train, self._left = folds, train, uses
        self._first: Problem | None = None
        self._lock = threading.Lock()
        self.total = float(train.size if folds.weights is None else folds.weights[train].sum())

    @contextmanager
    def problem(self, k: int) -> Iterator[Problem]:
        with self._lock:
            if self._first is None:
                self._first = self._made()
            first = self._first
        try:
            yield first.with_targets(self._folds.targets(k)[self._train])
        finally:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self._first = None

    def _made(self) -> Problem:
        folds, train = self._folds, self._train
        problem = folds.state(
            folds.X[train], folds.targets(0)[train], None if folds.weights is None else folds.weights[train]
        )
        prepared = able(methods.get(folds.method), problem).prepare(problem, problem.start(None), folds.settings.seed)
        prepared.close()  # the problem keeps the layouts that were built, for all paths of the fold
        return problem


def _models(rows: AnyMatrix, paths: Sequence[Path], most: int = 2**22) -> Iterator[tuple[Any, ...]]:
    """For each point the rows, the coefficients, the intercepts and the margins, a column for each problem, or for each
    column of its coefficients; some points at a time share a product."""
    points, width = len(paths[0]), int(np.prod(paths[0].shape[1:]))
    together = max(1, most // max(1, rows.shape[0] * len(paths) * width))
    tables = [path.rows() for path in paths]
    for begin in range(0, points, together):
        size = min(together, points - begin)
        coefficients = sp.vstack([table[begin * width : (begin + size) * width] for table in tables], format="csr")
        products = rows @ coefficients.T
        products = products.toarray() if sp.issparse(products) else np.asarray(products)
        of_point = np.arange(coefficients.shape[0]).reshape(-1, size, width)
        for at in range(size):
            intercepts = np.concatenate([np.atleast_1d(path.intercepts[begin + at]) for path in paths])
            own = of_point[:, at].ravel()
            yield rows, coefficients[own], intercepts, products[:, own] + intercepts


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
