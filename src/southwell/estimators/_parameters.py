"""Checks of parameters that several estimators have."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.utils import check_random_state

from .. import _threads
from .._names import count, positive, shown


def share(name: str, value) -> float:
    """A number between 0 and 1, both included."""
    value = positive(name, value, zero=True)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1; got {value}.")
    return value


def one_of(name: str, value, known) -> None:
    if not any(value is one or (isinstance(value, type(one)) and value == one) for one in known):
        listed = ", ".join(repr(one) for one in known)
        raise ValueError(f"{name} must be one of {listed}; got {shown(value)}.")


def l1_share(penalty: str | None, l1_ratio) -> float:
    """The share of L1 given by ``penalty`` and ``l1_ratio``; a given l1_ratio takes precedence over the default
    "l2"."""
    ratio = None if l1_ratio is None else share("l1_ratio", l1_ratio)
    if penalty == "elasticnet" and ratio is None:
        raise ValueError('penalty="elasticnet" needs l1_ratio, the share of L1 between 0 and 1.')
    return 1.0 if penalty == "l1" else ratio or 0.0


def threads(n_jobs) -> int | None:
    """The number of threads: None is the default, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a positive number of threads, -1 for all, or None; got {shown(n_jobs)}.")
    if isinstance(n_jobs, numbers.Integral) and n_jobs < 0:
        return max(1, _threads.processors() + 1 + int(n_jobs))
    return count("n_jobs", n_jobs, 1)


def drawn_seed(random_state) -> int:
    """A seed from any random state that scikit-learn accepts."""
    try:
        state = check_random_state(random_state)
    except Exception:  # a ValueError, or whatever writing its message about a damaged object raises
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState; got "
            f"{shown(random_state)}."
        ) from None
    return int(state.randint(2**31 - 1))


def decreasing(name: str, given, zero: bool = False) -> np.ndarray:
    """Positive numbers to try, from large to small."""
    try:
        with np.errstate(over="ignore"):  # a long double beyond the range is infinite
            values = np.sort(np.asarray(given, dtype=np.float64).ravel())[::-1]
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    low = values.size > 0 and (values[-1] >= 0 if zero else values[-1] > 0)
    if not low or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {'>= 0' if zero else 'positive'}, or how many to try; got {shown(given)}.")
    return values


def falling(name: str, eps, number: int) -> np.ndarray:
    """Numbers from 1 down to ``eps``, evenly spaced on a log scale."""
    eps = positive(name, eps)
    if eps >= 1:
        raise ValueError(f"{name} must be below 1, a part of where all is zero; got {eps}.")
    return np.geomspace(1.0, eps, number)
