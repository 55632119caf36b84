"""Where a path of penalties begins."""

from __future__ import annotations

import warnings

import numpy as np

from . import _core
from ._typing import Given
from .block_problem import BlockProblem
from .losses import Loss
from .penalties import ElasticNet, Groups
from .problem import Problem
from .solve import solve


def lambda_max(
    A: Given,
    b: Given = None,
    *,
    loss: str | Loss = "squared",
    weights: Given = None,
    intercept: bool = False,
    sample_weight: Given = None,
) -> float:
    """The smallest l1 at which every penalised coefficient is zero.

    Parameters
    ----------
    A, b, loss, intercept, sample_weight
        As in ``solve``; A may be a ``Problem``, whose own penalty does not matter, or a ``BlockProblem``, of whose
        penalty the strength of ``Groups``, else the l1, is what is looked for.
    weights : array of shape (n_features,), optional
        Penalty weights; coefficients with weight 0 are fitted freely first.

    Returns
    -------
    float
        ``max_j |z_j| / weights_j``, z the slopes at the best model without penalised coefficients. Where the loss
        has a kink there, an upper bound.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> A, b = np.eye(2), np.array([3.0, 4.0])
    >>> sw.lambda_max(A, b)
    2.0
    """
    penalty = ElasticNet(l1=1.0, weights=weights)
    if isinstance(A, BlockProblem):
        return _of_blocks(A, weights)
    if isinstance(A, Problem):
        if b is not None or sample_weight is not None or intercept is not False or loss != "squared":
            raise TypeError("A Problem already holds b, loss, intercept and sample_weight; give weights at most.")
        null = A.with_penalty(penalty)
    elif b is None:
        raise TypeError("lambda_max(A, b, ...) needs targets b, or a Problem alone.")
    else:
        null = Problem(A, b, loss, penalty, intercept=intercept, sample_weight=sample_weight)
    weights = (
        np.ones(null.n_features)
        if weights is None
        else np.broadcast_to(np.asarray(weights, dtype=np.float64), (null.n_features,))
    )
    free = weights == 0
    if free.any():
        # Bounds pin the penalised coefficients at zero while the free ones are fitted.
        bound = np.where(free, np.inf, 0.0)
        pinned = ElasticNet(l1=1.0, weights=np.zeros(free.size), lower=-bound, upper=bound)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # y is off by the square root of the gap, so ask for all there is
            y = solve(null.with_penalty(pinned), tol=1e-15, max_epochs=10_000).y
    else:
        y = _core.null_dual(null.core())
    slopes = np.abs(null.ready_layout().adjoint(null.weights * y))[: null.n_features]
    return float((slopes[~free] / weights[~free]).max(initial=0.0))


def _of_blocks(problem: BlockProblem, weights: Given) -> float:
    """The strength of groups, or the l1, at which all is zero; the rest of the penalty stays as it is."""
    if weights is not None:
        raise TypeError("The penalty of a BlockProblem has its own weights.")
    slopes = np.abs(_core.null_model(problem.core())[2][: problem.n_features * problem.width])
    penalty, table = problem.penalty, slopes.reshape(problem.n_features, problem.width)
    if not isinstance(penalty, Groups):
        each = 1.0 if penalty.weights is None else np.broadcast_to(penalty.weights, (problem.n_features,))[:, None]
        return float((table / each).max())
    group_of = penalty.group_of(problem.n_features)
    squares = np.bincount(group_of, (np.maximum(table - penalty.l1, 0.0) ** 2).sum(axis=1))
    return float((np.sqrt(squares) / penalty.factors(np.bincount(group_of))).max())
