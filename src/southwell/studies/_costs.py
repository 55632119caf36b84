"""Seconds an iteration, without certificates."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..methods import Start
from ..problem import Problem
from ._rows import quietly


def best_of(function: Callable[[], object], repeats: int = 5) -> float:
    """The fastest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
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
