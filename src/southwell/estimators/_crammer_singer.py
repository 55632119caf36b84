"""The multi-class hinge of Crammer and Singer, as the limit of hinges with rounded corners.

The core knows the hinge with corners of a given width. Its dual points are feasible for the hinge itself, and there

    D(y) = D_corner(y) + (corner / 2) sum_i s_i ||y_i||^2,

so each of a sequence of problems with ever narrower corners certifies the hinge itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import losses
from ..block_problem import BlockProblem
from ..result import Result, Screened
from ..status import Status

FIRST, LAST, FALL = 1e-1, 1e-9, 10.0  # of the widths of corners

Solve = Callable[[BlockProblem, Result | None], tuple[Result, BaseException | None]]
"""The result of a problem, from a starting point, and the exception that ended it, if any."""


def without_corners(problem: BlockProblem, solve: Solve, start: Result | None,
                    tol: float) -> tuple[Result, BaseException | None]:  # fmt: skip
    """The result for the hinge itself; ``solve`` solves one with corners to half the tolerance."""
    corner, epochs = FIRST, 0
    while True:
        rounded, error = solve(problem._alike(loss=losses.MulticlassHinge(corner)), start)
        epochs += rounded.epochs
        start = result = replace(_certified(rounded, corner), epochs=epochs, tol=tol)
        if error is not None or result.gap <= tol * result.scale or not rounded.status:
            return result, error
        if corner <= LAST:
            return replace(result, status=Status.PRECISION), None
        corner = max(corner / FALL, LAST)


def _certified(rounded: Result, corner: float) -> Result:
    """The same point, judged by the hinge itself."""
    problem, y = rounded.problem, rounded.y
    assert isinstance(problem, BlockProblem) and y is not None
    inner = problem.to_inner(rounded.x, rounded.intercept)
    margins = problem.total_margins(inner).reshape(problem.n_samples, -1)
    own = np.arange(problem.width) == problem.targets[:, None]
    used = problem.weights > 0
    slack = (margins + ~own).max(axis=1, where=used[:, None], initial=0.0) - np.where(used, margins[own], 0.0)
    primal = float(problem.weights[used] @ slack[used]) + problem.penalty.value(rounded.x)
    dual = rounded.dual + corner / 2 * float(problem.weights @ (y**2).sum(axis=1))
    nothing = Screened(np.zeros(problem.n_features, bool), np.zeros(problem.n_samples, bool))
    return replace(rounded, primal=primal, dual=dual, gap=max(primal - dual, 0.0), screened=nothing)
