"""southwell: large sparse linear models by coordinate methods, with a proof of optimality for every answer."""

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
    "lambda_max",
    "losses",
    "methods",
    "penalties",
    "rules",
    "solve",
]
