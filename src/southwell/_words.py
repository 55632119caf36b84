"""What messages call things: ``A`` and ``b`` where a user of ``solve`` reads them, ``X`` and ``y`` for estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .status import Status


@dataclass(frozen=True)
class Words:
    """The names that a caller gave to the data, the targets and the limit of epochs, and advice in those names.

    ``unit`` is what a relative gap is a part of; ``again`` is how a solve that ended early is continued; ``penalise``
    is how a small penalty is asked for.
    """

    data: str
    targets: str
    unit: str
    again: str
    advice: Mapping[Status, str]
    penalise: str = "l2=1e-6"


def for_linear_models(data: str, targets: str, epochs: str, again: str) -> Words:
    scaled = f"scale the columns of {data} to similar size"
    advice = {
        Status.MAX_EPOCHS: f"raise {epochs}, loosen tol, or {scaled}",
        Status.MAX_SECONDS: "raise max_seconds or loosen tol",
        Status.NOT_BEGUN: "raise max_seconds or loosen tol",
        Status.DIVERGED: "make steps given by hand smaller, or leave them to the method; check the scale of "
        f"{data} and {targets}",
        Status.PRECISION: f"loosen tol, or {scaled}",
    }
    return Words(data, targets, "the zero model's objective", again, advice)


OF_SOLVE = for_linear_models("A", "b", "max_epochs", "pass this result as warm_start")
OF_ESTIMATORS = for_linear_models("X", "y", "max_iter", "fit again with warm_start=True")
