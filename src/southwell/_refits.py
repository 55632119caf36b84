"""The loss alone, minimised over the coefficients of a solution that are not zero: the refits of the relaxed lasso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._empty_columns import over_columns
from ._scipy import sparse as sp
from ._separation import separated
from ._typing import AnyMatrix
from .penalties import ElasticNet
from .problem import Problem
from .result import Result


@dataclass(frozen=True, eq=False)
class Refit:
    """A problem without a penalty over some features, within their bounds, and where to start."""

    problem: Problem
    features: np.ndarray
    start: Any

    def whole(self, x: AnyMatrix, n_features: int) -> AnyMatrix:
        """Coefficients over all features, as a vector or as a sparse row."""
        if sp.issparse(x):
            own = sp.csr_array(x)
            return sp.csr_array((own.data, self.features[own.indices], own.indptr), shape=(1, n_features))
        full = np.zeros(n_features)
        full[self.features] = x
        return full


def exists(result: Result) -> bool:
    """Whether a refit has a minimiser, as far as its result tells: not where its features separate the classes."""
    problem: Any = result.problem
    return not (problem.separates(result) or separated(problem, result))


def refit(problem: Problem, x: AnyMatrix, intercept: float) -> Refit:
    """The refit of one solution. Bounds stay; weights of the penalty do not matter."""
    row = x.toarray().ravel() if sp.issparse(x) else x
    features = np.flatnonzero(row)
    nothing = features.size == 0
    if nothing:  # the intercept alone: one coefficient, held at zero
        features = np.zeros(1, int)
    own: Any = problem.penalty
    bounds = own.over(features)
    penalty = ElasticNet(lower=0.0, upper=0.0) if nothing else ElasticNet(lower=bounds.lower, upper=bounds.upper)
    restricted = over_columns(problem, features, problem.matrix.over(features), {}).with_penalty(penalty)
    return Refit(restricted, features, (row[features], intercept))
