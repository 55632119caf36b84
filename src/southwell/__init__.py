"""southwell: large sparse linear models by coordinate methods, with a proof of optimality for every answer."""

from importlib import import_module

from . import losses, methods, penalties, rules
from ._data import Centred
from .lambda_max import lambda_max
from .problem import Problem
from .result import Result
from .solve import ConvergenceWarning, Interrupted, Progress, solve
from .status import Status

__version__ = "0.1.0"

__all__ = [
    "Centred",
    "ConvergenceWarning",
    "Interrupted",
    "Problem",
    "Progress",
    "Result",
    "Status",
    "graph",
    "lambda_max",
    "losses",
    "methods",
    "penalties",
    "rules",
    "solve",
]


def __getattr__(name: str):
    if name == "graph":  # imported when asked for: scikit-learn takes a while
        return import_module(".graph", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
