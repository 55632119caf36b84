"""southwell: large sparse linear models by coordinate methods, with a proof of optimality for every answer."""

from importlib import import_module

from . import _blas as _blas
from . import losses, methods, penalties, plots, rules
from ._data import Centred, Factorised
from ._threads import get_num_threads, set_num_threads
from .block_problem import BlockProblem
from .lambda_max import lambda_max
from .path import Path, path
from .problem import Problem
from .proof import Proof
from .result import Result
from .sketch import sketch_features, sketch_instances
from .solve import ConvergenceWarning, Interrupted, Progress, solve
from .solve_many import Results, solve_many
from .status import Status

__version__ = "0.1.0"

__all__ = [
    "BlockProblem",
    "Centred",
    "ConvergenceWarning",
    "Factorised",
    "Interrupted",
    "Path",
    "Problem",
    "Progress",
    "Proof",
    "Result",
    "Results",
    "Status",
    "check",
    "estimators",
    "features",
    "get_num_threads",
    "graph",
    "lambda_max",
    "load",
    "losses",
    "methods",
    "metric",
    "path",
    "penalties",
    "plots",
    "rules",
    "set_num_threads",
    "sketch_features",
    "sketch_instances",
    "solve",
    "solve_many",
]


_ESTIMATORS = (
    "ElasticNet",
    "ElasticNetCV",
    "GroupLasso",
    "GroupLassoCV",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "SparseLinearClassifier",
    "SparseLinearClassifierCV",
    "SparseLinearRegressor",
)
__all__ += _ESTIMATORS


def __getattr__(name: str):  # imported when asked for: scikit-learn takes a while
    if name in ("check", "estimators", "features", "graph", "metric", "model_files"):
        return import_module(f".{name}", __name__)
    if name == "load":
        return import_module(".model_files", __name__).load
    if name in _ESTIMATORS:
        return getattr(import_module(".estimators", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
