"""southwell: large sparse linear models by coordinate methods, with a proof of optimality for every answer."""

import os
from importlib import import_module
from typing import Any

from . import _core as _core
from . import losses as losses
from . import methods as methods
from . import penalties as penalties
from . import plots as plots
from . import rules as rules
from ._data import Centred as Centred
from ._data import Factorised as Factorised
from ._threads import get_num_threads as get_num_threads
from ._threads import set_num_threads as set_num_threads
from .block_problem import BlockProblem as BlockProblem
from .lambda_max import lambda_max as lambda_max
from .path import path as path
from .path_points import Path as Path
from .problem import Problem as Problem
from .proof import Proof as Proof
from .result import Progress as Progress
from .result import Result as Result
from .sketch import sketch_features as sketch_features
from .sketch import sketch_instances as sketch_instances
from .solve import ConvergenceWarning as ConvergenceWarning
from .solve import Interrupted as Interrupted
from .solve import solve as solve
from .solve_many import Results as Results
from .solve_many import solve_many as solve_many
from .status import Status as Status

__version__ = "0.1.0"


def get_include() -> str:
    """The folder of the C++ headers, for compiling a loss of one's own (see ``losses.Compiled``)."""
    return os.path.join(os.path.dirname(os.path.realpath(_core.__file__)), "include")


_SUBMODULES = ("check", "data", "estimators", "features", "graph", "local", "metric", "model_files", "selection")
_PUBLIC = [
    *("BlockProblem", "Centred", "ConvergenceWarning", "Factorised", "Interrupted", "Path", "Problem", "Progress"),
    *(
        "Proof",
        "Result",
        "Results",
        "Status",
        "audit",
        "check",
        "data",
        "enet_path",
        "estimators",
        "features",
        "get_include",
        "get_num_threads",
    ),
    *("graph", "lambda_max", "lasso_path", "load", "local", "losses", "methods", "metric", "path", "penalties"),
    *("plots", "rules", "selection", "set_num_threads", "sketch_features", "sketch_instances", "solve", "solve_many"),
]


def __getattr__(name: str) -> Any:  # imported when asked for: scikit-learn takes a while
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    if name == "audit":
        return import_module(".auditing", __name__).audit
    if name == "load":
        return import_module(".model_files", __name__).load
    if name in ("enet_path", "lasso_path"):
        return getattr(import_module(".estimators", __name__), name)
    if name == "__all__" or name[:1].isupper():  # what is public, and estimators, which are listed in one place only
        estimators = import_module(".estimators", __name__).ALL
        if name == "__all__":
            return [*_PUBLIC, *estimators]
        if name in estimators:
            return estimators[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
