"""Paths on the folds of a cross-validation, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from .. import _core, _threads
from ..path import Path, path
from ..problem import Problem
from ..solve import ConvergenceWarning
from ..solve_many import run_all
from ._parameters import threads


def over_folds(work: Callable, tasks: Sequence, n_jobs: int | None) -> list:
    """``work(task, cancelled)`` for each task, on threads; Ctrl-C is heard, and raises the flag."""
    cancelled = _core.Flag()
    workers = min(_threads.checked(threads(n_jobs)), len(tasks))
    with warnings.catch_warnings():
        # Points that end early are no reason to warn: they are many, and only compared. Filters are the process's own.
        warnings.simplefilter("ignore", ConvergenceWarning)
        results, error = run_all(lambda k: (work(tasks[k], cancelled), None), len(tasks), workers, cancelled)
    if error is not None:
        raise error
    return results


def fold_path(problem: Problem, l1s, l2s, options: dict, cancelled: _core.Flag) -> Path:
    """A path on one thread, left when someone says so."""
    return path(problem, l1s, l2s, callback=lambda *_: cancelled.raised, n_threads=1, **options)


def best_of(scores: np.ndarray, one_standard_error: bool) -> int:
    """The position with the best mean over folds (the last axis), larger being better and the first being the simplest;
    or the simplest within one standard error of it."""
    means = scores.mean(axis=-1)
    best = int(np.argmax(means))
    if not one_standard_error or scores.shape[-1] < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[-1])
    return int(np.flatnonzero(means >= means[best] - error)[0])
