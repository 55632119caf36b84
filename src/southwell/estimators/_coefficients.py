"""Weights and bounds of single coefficients, and standardising without copying the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._dense import numbers
from .._names import flag
from .._penalty import one_each
from .._shards import Shards
from .._typing import AnyMatrix, Given
from ..penalties import ElasticNet
from ..problem import Problem

NAMES = ("penalty_weights", "lower", "upper", "standardize")


def penalised_each(estimator: Any, problem: Problem) -> Problem:
    """The problem with the weights and bounds that the estimator's parameters state for its coefficients.

    The penalty of coefficients of standardised columns, sd_j w_j, is one of the coefficients w_j themselves with
    weights of sd_j for L1 and sd_j^2 for L2, so no column is scaled. Columns that are constant keep the weight 1.
    """
    weights = getattr(estimator, "penalty_weights", None)
    lower, upper = getattr(estimator, "lower", None), getattr(estimator, "upper", None)
    size = problem.n_features
    factors = None if weights is None else one_each("penalty_weights", weights, size, finite=True)
    net = ElasticNet(weights=factors, lower=_bound(lower, "lower", -np.inf),
                     upper=_bound(upper, "upper", np.inf))  # fmt: skip
    if flag("positive", getattr(estimator, "positive", False)):
        net = replace(net, lower=0.0 if net.lower is None else np.maximum(net.lower, 0.0))
    if flag("standardize", getattr(estimator, "standardize", False)):
        factors, spread = net.factors(size), spreads(problem)
        with np.errstate(over="ignore", invalid="ignore"):  # refused with the strengths
            net = replace(net, weights=factors * spread, ridge_weights=factors * spread**2)
    return problem.with_penalty(net)


def bounds_given(estimator: Any) -> bool:
    """Whether its parameters bound coefficients."""
    return getattr(estimator, "lower", None) is not None or getattr(estimator, "upper", None) is not None


def spreads(problem: Problem) -> np.ndarray:
    """The standard deviation of each column, with the sample weights; 1 for columns that are constant up to rounding,
    which are those of scikit-learn's ``StandardScaler``."""
    means = problem._means(None)
    squares = problem.data.ready_layout(-means, False).column_squared_norms(problem.weights)
    spread: np.ndarray = np.sqrt(np.maximum(squares, 0.0))
    far = np.flatnonzero(spread <= 1e-3 * np.abs(means))
    if far.size and isinstance(problem.data, Shards):
        starts, parts = problem.data.starts, problem.data.parts
        squares = np.sum([
            _far_squares(part[:, far], means[far], problem.weights[begin:end])
            for part, begin, end in zip(parts, starts[:-1], starts[1:], strict=True)
        ], axis=0)  # fmt: skip
        spread[far] = np.sqrt(squares)
    elif far.size and not problem.factorised:
        spread[far] = np.sqrt(_far_squares(problem.matrix.given[:, far], means[far], problem.weights))
    return np.where(spread > problem.n_samples * np.finfo(float).eps * np.abs(means), spread, 1.0)


def _far_squares(columns: AnyMatrix, means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Squared deviations of columns whose means are far from zero, where the squares of sparse entries would cancel:
    from the differences of all entries to their means."""
    by_column = columns.tocsc() if sp.issparse(columns) else columns
    found = np.empty(means.size)
    for j, mean in enumerate(means):
        entries = by_column[:, [j]].toarray().ravel() if sp.issparse(columns) else by_column[:, j]
        found[j] = weights @ (entries - mean) ** 2
    return found


def _bound(given: Given, name: str, none: float) -> Any:
    """A bound for each feature; None if it is none for all."""
    bound = None if given is None else numbers(name, given)
    return None if bound is None or (bound == none).all() else bound
