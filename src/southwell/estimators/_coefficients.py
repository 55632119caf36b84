"""Weights and bounds of single coefficients, and standardising without copying the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._names import flag, shown
from .._typing import Given
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
    net = ElasticNet(weights=_numbers(weights, "penalty_weights"), lower=_bound(lower, "lower", -np.inf),
                     upper=_bound(upper, "upper", np.inf))  # fmt: skip
    if flag("positive", getattr(estimator, "positive", False)):
        net = replace(net, lower=0.0 if net.lower is None else np.maximum(net.lower, 0.0))
    if flag("standardize", getattr(estimator, "standardize", False)):
        factors, spread = net.factors(problem.n_features), spreads(problem)
        with np.errstate(over="ignore"):  # refused with the strengths
            net = replace(net, weights=factors * spread, ridge_weights=factors * spread**2)
    return problem.with_penalty(net)


def spreads(problem: Problem) -> np.ndarray:
    """The standard deviation of each column, with the sample weights; 1 for columns that are constant."""
    means = problem._means(None)
    spread: np.ndarray = np.sqrt(problem.data.ready_layout(-means, False).column_squared_norms(problem.weights))
    return np.where(spread > 1e-7 * np.abs(means), spread, 1.0)


def _numbers(given: Given, name: str) -> Any:
    if given is None:
        return None
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, one for each feature; got {shown(given)}.") from None


def _bound(given: Given, name: str, none: float) -> Any:
    """A bound for each feature; None if it is none for all."""
    bound = _numbers(given, name)
    return None if bound is None or (bound == none).all() else bound
