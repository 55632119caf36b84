"""Warnings about a problem that has no minimiser, or whose optimum could not be bounded from below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._separation import separated
from .status import Status

if TYPE_CHECKING:
    from .problem import Problem
    from .result import Result


def of_problem(problem: Problem, result: Result) -> list[str]:
    """Warnings if no minimiser exists, as an unpenalised logistic model that separates the classes improves with its
    size, or if no lower bound was found because unpenalised columns may be dependent."""
    unproven = result.status is not Status.CONVERGED and result.y is not None and not np.any(result.y)
    if unproven and (free := _unpenalised(problem)) + problem.intercept > _core.FACTORED_COLUMNS:
        return [
            f"{free} coefficients are unpenalised, and no lower bound of the objective was found: their columns "
            "are linearly dependent or nearly so, or this could not be excluded. Remove dependent columns, or add "
            f"a penalty, say {problem.words.penalise}."
        ]
    if problem.penalty.absent and problem.separates(result):
        why = "the classes are separable and the coefficients are not penalised"
    elif number := separated(problem, result):
        why = f"unpenalised coefficients can {'separate' if problem.loss.log_odds else 'bring to zero the means of'} "
        why += f"{number} samples or more at no cost to the others"
    else:
        return []
    return [
        f"There is no finite minimiser: {why}, so larger ones are always better. These come within {result.gap:.3g} of "
        f"the infimum. Add a penalty, say {problem.words.penalise}."
    ]


def _unpenalised(problem: Problem) -> int:
    whole = problem.n_features
    return whole if problem.penalty.free else int(problem.penalty.unpenalised(whole).sum())
