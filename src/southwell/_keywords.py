"""Unknown keywords of functions, answered with the ones that are meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

OF_SOLVE = {
    "alpha": "l1 and l2: alpha * l1_ratio and alpha * (1 - l1_ratio); a lasso has l1=alpha",
    "alphas": "l1s: a lasso's alphas are its l1s",
    "C": "l1 or l2: 1 / (C * n_samples)",
    "Cs": "l1s: 1 / (C * n_samples)",
    "l1_ratio": "l1 and l2: alpha * l1_ratio and alpha * (1 - l1_ratio)",
    "lambda_": "l1 and l2",
    "reg": "l1 and l2",
    "rule": "method=sw.methods.CoordinateDescent(rule=...)",
    "side": "method=sw.methods.CoordinateDescent(side=...)",
    "solver": "method",
    "n_jobs": "n_threads (a number, or None for the default)",
    "max_iter": "max_epochs",
    "n_iter": "max_epochs",
    "random_state": "seed (an integer)",
    "fit_intercept": "intercept",
    "positive": "penalty=sw.penalties.ElasticNet(..., lower=0)",
    "lower": "penalty=sw.penalties.ElasticNet(..., lower=...)",
    "upper": "penalty=sw.penalties.ElasticNet(..., upper=...)",
    "weights": "sample_weight for samples, penalty=sw.penalties.ElasticNet(..., weights=...) for coefficients",
    "penalty_weights": "penalty=sw.penalties.ElasticNet(..., weights=...)",
    "groups": "penalty=sw.penalties.Groups(..., groups=...)",
    "class_weight": "sample_weight",
    "delta": "loss=sw.losses.Huber(delta)",
    "quantile": "loss=sw.losses.Quantile(q)",
    "verbose": "callback, which is called after every certificate",
    "timeout": "max_seconds",
    "X": "A",
    "y": "b",
}
"""Words of others for arguments of the optimisation interface."""

OF_ESTIMATORS = {
    "n_threads": "n_jobs",
    "max_epochs": "max_iter",
    "seed": "random_state",
    "intercept": "fit_intercept",
    "l1": "alpha and l1_ratio (l1 = alpha * l1_ratio), or C (l1 = l1_ratio / (C * n_samples))",
    "l2": "alpha and l1_ratio (l2 = alpha * (1 - l1_ratio)), or C (l2 = (1 - l1_ratio) / (C * n_samples))",
    "l1s": "alphas or Cs",
    "rule": "method=sw.methods.CoordinateDescent(rule=...)",
    "callback": "set_callbacks(...), with scikit-learn 1.9 or newer",
}
"""The same for estimators, which have scikit-learn's."""


def refusal(called: str, given: str, known: Iterable[str], meant: Mapping[str, str]) -> TypeError:
    """The error for a keyword that ``called`` does not have; a word of ``meant`` counts if what it names is known."""
    names = [name for name in known if name not in ("self", "cls")]
    guess = meant.get(given)
    if guess is not None and given not in names and any(word in names for word in _words(guess)):
        told = f" Give {guess}."
    else:
        near = get_close_matches(given, names, n=1, cutoff=0.6)
        told = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(sorted(names))}."
    return TypeError(f"{called}() has no argument {given!r}.{told}")


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()


def answers(meant: Mapping[str, str], name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of functions that refuse unknown keywords with a hint, before they are called."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            if not anything:
                for given in options:
                    if given not in parameters:
                        raise refusal(name or function.__name__, given, parameters, meant)
            return function(*args, **options)

        return checked

    return decorate


class AnswersKeywords:
    """A base of estimators: unknown arguments of their constructors are answered in the same way."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__init__ is not object.__init__:  # an inherited one too, which is called by the name of this class
            cls.__init__ = answers(OF_ESTIMATORS, cls.__name__)(cls.__init__)  # type: ignore[method-assign]
