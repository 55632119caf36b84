"""Data as the saddle-point papers use them: rows of length one, targets -1 and +1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..losses import Loss
from ..penalties import ElasticNet
from ..problem import Problem
from ..result import Result
from ..solve import ConvergenceWarning, solve


def unit_rows(A: Any) -> Any:
    """A with every row that is not zero divided by its length."""
    if sp.issparse(A):
        A = sp.csr_array(A, dtype=np.float64)
        lengths = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
        return sp.csr_array(A.multiply(1 / np.where(lengths > 0, lengths, 1.0)[:, None]))
    A = np.asarray(A, dtype=np.float64)
    lengths = np.linalg.norm(A, axis=1)
    return A / np.where(lengths > 0, lengths, 1.0)[:, None]


def signs(y: np.ndarray) -> np.ndarray:
    """Labels as -1 and +1: of several classes the most frequent one against the rest."""
    classes, counts = np.unique(y, return_counts=True)
    positive = classes[-1] if classes.size <= 2 else classes[counts.argmax()]
    return np.where(np.asarray(y) == positive, 1.0, -1.0)


def some_rows(A: Any, y: np.ndarray, most: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """At most so many rows, drawn at random."""
    if A.shape[0] <= most:
        return A, y
    chosen = np.sort(np.random.default_rng(seed).choice(A.shape[0], most, replace=False))
    return A[chosen], y[chosen]


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
