"""Runs of methods that several papers have: textbook coordinate descent, epochs to an accuracy, seconds a move."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..methods import CoordinateDescent, Start
from ..problem import Problem
from ..result import Result
from ..rules import Rule
from ..solve import ConvergenceWarning, solve
from .machine import CLOCK
from .stopwatch import Stopwatch


def descent(side: str, rule: str | Rule = "uniform", curvature: str = "local") -> CoordinateDescent:
    """Coordinate descent as papers print it: no shrinking, no proximal terms, no Gram matrix."""
    return CoordinateDescent(side, rule, "mirror", shrinking=False, proximal=False, curvature=curvature)


def quietly(problem: Problem, *, seconds: float | None = None, **options: Any) -> Result:
    """``solve`` without the warning that it did not converge; ``seconds`` are those of the processor."""
    if seconds is not None:
        options |= Stopwatch(seconds, options.get("callback")).options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(problem, **options)


def epochs_to(problem: Problem, method: Any, optimum: float, target: float, seconds: float) -> tuple[float, float]:
    """Epochs and seconds until ``P - optimum <= target``, measured after every epoch; infinity if time runs out."""
    watch = Stopwatch(seconds, lambda at: at.primal - optimum <= target)
    result = quietly(problem, method=method, tol=0.0, max_epochs=10**7, check_every=1, **watch.options)
    if result.primal - optimum > target:
        return np.inf, np.inf
    return float(result.epochs), watch.spent[-1]


def best_of(function: Callable[[], object], repeats: int = 5) -> float:
    """The fastest of several runs on one thread, in seconds of the processor."""
    times = []
    for _ in range(repeats):
        begun = CLOCK()
        function()
        times.append(CLOCK() - begun)
    return min(times)


def seconds_a_move(problem: Problem, method: Any, moves: int) -> float:
    """Seconds an iteration, one after the other."""
    algorithm = method.prepare(problem, Start(np.zeros(problem.n_features)), 0).algorithm
    algorithm.lead(moves)
    return best_of(lambda: algorithm.lead(moves)) / moves


def seconds_a_row(problem: Problem, method: Any) -> float:
    """Seconds a row, from whole epochs, which can prefetch the next rows."""

    def run(epochs: int) -> object:
        return quietly(problem, method=method, tol=0.0, max_epochs=epochs, check_every=10**6)

    run(1)  # layouts and norms
    return (best_of(lambda: run(10)) - best_of(lambda: run(2))) / 8 / problem.n_samples
