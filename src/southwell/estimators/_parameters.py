"""Checks of parameters that several estimators have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .. import _threads
from .._dense import numbers as dense_numbers
from .._dense import plain
from .._names import count, integral, positive, shown
from .._typing import Given


def share(name: str, value: Given) -> float:
    """A number between 0 and 1, both included."""
    value = positive(name, value, zero=True)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1; got {value}.")
    return float(value)


def shares(name: str, given: Given) -> list[float]:
    """One such number, or several."""
    found = [share(name, one) for one in plain(name, given).ravel()]
    if not found:
        raise ValueError(f"{name} is empty: give at least one share.")
    return found


def one_of(name: str, value: Given, known: Sequence[Any]) -> None:
    if not any(value is one or (isinstance(value, type(one)) and value == one) for one in known):
        listed = ", ".join(repr(one) for one in known)
        raise ValueError(f"{name} must be one of {listed}; got {shown(value)}.")


def l1_share(penalty: str | None, l1_ratio: Given, name: str = "l1_ratio") -> float:
    """The share of L1 that ``penalty`` and ``l1_ratio`` state. A share of 0 is the default, which says nothing."""
    ratio = 0.0 if l1_ratio is None else share(name, l1_ratio)
    if penalty == "elasticnet" and l1_ratio is None:
        raise ValueError(f'penalty="elasticnet" needs {name}, the share of L1 between 0 and 1.')
    allowed = {"l1": (0.0, 1.0), "l2": (0.0,), None: (0.0,)}.get(penalty)
    if allowed is not None and ratio not in allowed:
        raise ValueError(
            f"penalty={penalty!r} and {name}={ratio:g} contradict each other. Give {name} alone, or "
            'penalty="elasticnet".'
        )
    return 1.0 if penalty == "l1" else ratio


def is_infinite(C: Given) -> bool:
    """Whether a C says that there is no penalty."""
    return isinstance(C, float | np.floating) and bool(np.isposinf(C))


def threads(n_jobs: Given) -> int | None:
    """The number of threads: None is the default, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return None
    if not integral(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a positive number of threads, -1 for all, or None; got {shown(n_jobs)}.")
    if n_jobs < 0:
        return max(1, _threads.processors() + 1 + int(n_jobs))
    return count("n_jobs", n_jobs, 1)


def drawn_seed(random_state: Given) -> int:
    """A seed from any random state that scikit-learn accepts."""
    try:
        state = check_random_state(random_state)
    except Exception:  # a ValueError, or whatever writing its message about a damaged object raises
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState; got "
            f"{shown(random_state)}."
        ) from None
    return int(state.randint(2**31 - 1))


def refuse_no_classes(y: np.ndarray) -> None:
    """Raise if ``y`` are not labels of classes."""
    with np.errstate(invalid="ignore"):  # scikit-learn looks for fractions by a cast to integers
        check_classification_targets(y)


def decreasing(name: str, given: Given, zero: bool = False, infinite: bool = False, counted: bool = True) -> np.ndarray:
    """Positive numbers to try, from large to small. ``counted``: an integer would be how many."""
    try:
        values = np.sort(dense_numbers(name, given).ravel())[::-1]
    except (TypeError, ValueError):
        values = np.zeros(0)
    low = values.size > 0 and (values[-1] >= 0 if zero else values[-1] > 0)
    if not low or not (np.isfinite(values) | (infinite and values > 0)).all():
        many = ", or how many to try" if counted else ""
        raise ValueError(f"{name} must be {'>= 0' if zero else 'positive'}{many}; got {shown(given)}.")
    return values


NO_GRID = (
    "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by providing your estimator "
    "with the appropriate `alphas=` argument. (No alpha gives the zero model then; or use Ridge.)"
)


def grid(top: float, parts: np.ndarray) -> np.ndarray:
    """Parts of the smallest alpha of the zero model. If that is 0, because the target is constant, a tiny number, as in
    scikit-learn."""
    least = np.finfo(float).resolution
    return top * parts if top > least else np.full(parts.size, least)


def falling(name: str, eps: Given, number: int) -> np.ndarray:
    """Numbers from 1 down to ``eps``, evenly spaced on a log scale."""
    eps = positive(name, eps)
    if eps > 1:
        raise ValueError(f"{name} must be at most 1, a part of where all is zero; got {eps}.")
    return np.geomspace(1.0, eps, number)
