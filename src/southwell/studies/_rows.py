"""Problems of the saddle-point papers, and how long methods take on them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..losses import Loss
from ..penalties import ElasticNet
from ..problem import Problem
from ..result import Result
from ..solve import ConvergenceWarning, solve


def unit_rows(A: np.ndarray) -> np.ndarray:
    """A with rows of length one."""
    return np.asarray(A / np.linalg.norm(A, axis=1)[:, None])


def ridge(A: Any, b: np.ndarray, l2: float, loss: str | Loss = "smooth_hinge", l1: float = 0.0) -> Problem:
    """A problem with the penalty ``l1 ||x||_1 + (l2/2) ||x||^2``."""
    return Problem(A, b, loss, ElasticNet(l1, l2))


def quietly(problem: Problem, **options: Any) -> Result:
    """``solve`` without the warning that it did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(problem, **options)


def epochs_to(problem: Problem, method: Any, optimum: float, target: float, seconds: float) -> tuple[float, float]:
    """Epochs and seconds until ``P - optimum <= target``, measured after every epoch; infinity if time runs out."""
    result = quietly(
        problem, method=method, tol=0.0, max_epochs=10**7, max_seconds=seconds, check_every=1,
        callback=lambda at: at.primal - optimum <= target,
    )  # fmt: skip
    if result.primal - optimum > target:
        return np.inf, np.inf
    return float(result.epochs), float(result.seconds)
