"""Paths on the folds of a cross-validation, side by side."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from .. import _threads
from ..path import Path, path
from ..problem import Problem
from ..solve import ConvergenceWarning
from ._parameters import threads


def over_folds(work: Callable, tasks: Sequence, n_jobs: int | None) -> list:
    """``work(task, stopped)`` for each task on threads; Ctrl-C is heard, and raises the event ``stopped``."""
    stopped = threading.Event()
    workers = min(_threads.checked(threads(n_jobs)), len(tasks))
    with warnings.catch_warnings(), ThreadPoolExecutor(workers) as pool:
        # Points that end early are no reason to warn: they are many, and only compared. Filters are the process's own.
        warnings.simplefilter("ignore", ConvergenceWarning)
        futures = [pool.submit(work, task, stopped) for task in tasks]
        try:
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, timeout=0.1)
        except BaseException:
            stopped.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def fold_path(problem: Problem, l1s, l2s, options: dict, stopped: threading.Event) -> Path:
    """A path on one thread, left when someone says so."""
    return path(problem, l1s, l2s, callback=lambda *_: stopped.is_set(), n_threads=1, **options)


def best_of(scores: np.ndarray, one_standard_error: bool) -> int:
    """The position with the best mean over folds (the last axis), larger being better and the first being the simplest;
    or the simplest within one standard error of it."""
    means = scores.mean(axis=-1)
    best = int(np.argmax(means))
    if not one_standard_error or scores.shape[-1] < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[-1])
    return int(np.flatnonzero(means >= means[best] - error)[0])
