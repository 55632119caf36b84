"""The largest useful l1: where a path of penalties begins."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core, _keywords
from ._typing import Given
from .block_problem import BlockProblem, is_block_problem
from .losses import Loss
from .penalties import ElasticNet
from .problem import Problem
from .solve import solve


@_keywords.answers(_keywords.OF_SOLVE)
def lambda_max(
    A: Given,
    b: Given = None,
    *,
    loss: str | Loss = "squared",
    weights: Given = None,
    intercept: bool = False,
    sample_weight: Given = None,
    offset: Given = None,
) -> float:
    """The smallest l1 at which every penalised coefficient is zero; of groups, the smallest strength.

    Parameters
    ----------
    A, b, loss, intercept, sample_weight, offset
        As in ``solve``; A may be a ``Problem``, whose own penalty does not matter, or a ``BlockProblem``. For
        ``Groups`` the answer is a strength, where the l1 keeps its ratio to the strength (a penalty of
        ``Groups(l1=...)`` alone: an l1); for ``ElasticNet`` it is an l1. The l2 does not matter, except that of groups
        of weight 0. These groups, too, are fitted first.
    weights : array of shape (n_features,), optional
        Penalty weights; coefficients with weight 0 are unpenalised and are fitted first.

    Returns
    -------
    float
        ``max_j |z_j| / weights_j``, z the slopes at the best model without penalised coefficients; for groups without
        an l1 ``max_g ||z_g|| / weights_g``. Where the loss has a kink there, an upper bound.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> A, b = np.eye(2), np.array([3.0, 4.0])
    >>> sw.lambda_max(A, b)
    2.0
    """
    penalty = ElasticNet(l1=1.0, weights=weights)
    if isinstance(A, BlockProblem):
        if weights is not None:
            raise TypeError("The penalty of a BlockProblem has its own weights.")
        return vanishing_strength(A)
    if isinstance(A, Problem):
        if (
            b is not None
            or sample_weight is not None
            or offset is not None
            or intercept is not False
            or loss != "squared"
        ):
            raise TypeError(
                "A Problem already holds b, loss, intercept, sample_weight and offset; give weights at most."
            )
        null = A.with_penalty(penalty)
    elif b is None:
        raise TypeError("lambda_max(A, b, ...) needs targets b, or a Problem alone.")
    else:
        kind = BlockProblem if is_block_problem(b, loss, penalty) else Problem
        null = kind(A, b, loss, penalty, intercept=intercept, sample_weight=sample_weight, offset=offset)
        if isinstance(null, BlockProblem):
            return vanishing_strength(null)
    return _of_kinks(null, null.penalty)


def vanishing_strength(problem: Problem) -> float:
    """The smallest leading strength of its own penalty at which every coefficient that it holds is zero."""
    if isinstance(problem, BlockProblem):
        return _of_blocks(problem)
    return _of_kinks(problem.with_penalty(problem.penalty.kinks), problem.penalty)


def _of_kinks(null: Problem, penalty: Any) -> float:
    """That of the penalty, whose kinks alone ``null`` has: its bounds may hold coefficients at zero on one side."""
    free = null.penalty.unpenalised(null.n_features)
    if free.any():
        # Bounds fix the penalised coefficients at zero while the others are fitted.
        bound = np.where(free, np.inf, 0.0)
        pinned = ElasticNet(l1=1.0, weights=np.zeros(free.size), lower=-bound, upper=bound)
        y = _best_dual(null.with_penalty(pinned))
    else:
        y = null.weights * _null_dual(null)
    strength: float = penalty.vanishing(null.ready_layout().adjoint(y)[: null.n_features, None])
    return strength


def _null_dual(null: Problem) -> np.ndarray:
    """That of the zero model, which is the same for any data."""
    if not null.in_parts:
        return np.asarray(_core.null_dual(null.core()))
    added = null.core_offset if null.core_offset.size else None
    nothing = Problem(np.zeros((null.n_samples, 1)), null.targets, null.loss, intercept=null.intercept,
                      sample_weight=null.weights, offset=added)  # fmt: skip
    return np.asarray(_core.null_dual(nothing.core()))


def _of_blocks(problem: BlockProblem) -> float:
    penalty = problem.penalty
    slopes = _table(problem, _core.null_model(problem.core())[2])
    strength = penalty.vanishing(slopes)
    if not penalty.unpenalised(problem.n_features).any():
        return strength
    # The others are fitted first, under a strength at which those that have kinks are zero.
    above, strength = 0.0, strength or float(np.abs(slopes).max()) or 1.0
    while strength > above:
        above = 1e3 * strength
        y = _best_dual(problem.with_penalty(penalty.at(above, penalty.ridge)))
        strength = penalty.vanishing(_table(problem, problem.ready_layout().adjoint_wide(y, problem.width)))
    return strength


def _table(problem: BlockProblem, slopes: np.ndarray) -> np.ndarray:
    size = problem.n_features * problem.width
    return slopes[:size].reshape(problem.n_features, problem.width)


def _best_dual(problem: Problem) -> np.ndarray:
    """s o y at the solution. The error of y is the square root of the gap, so it is solved as far as possible."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.asarray(solve(problem, tol=1e-15, max_epochs=10_000).y)
    return np.ravel((problem.weights * y.T).T)
