"""``southwell predict`` and ``southwell certify``: a model of a file, on data of another."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

from . import reading
from .reading import text

PREDICT = """\
Write a line for each row of DATA: the label or number that the model predicts; with --proba the probability of each
class, with --margins what the model computes. If DATA have targets, the score is written to standard error. Columns are
found by name where both have names. The exit code is 0, or 2 if something cannot be read or written.
"""
CERTIFY = """\
Tell how far a model is from the optimum of its own problem on DATA, with a proven bound, and what the optimum would
change. The exit code is 0 if it is within --tol, 3 if it is not, and 2 if something cannot be read.
"""
NOT_PROVEN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = reading.FORMATS
    parser.add_argument("model", metavar="MODEL", help="a file that southwell fit or a model's save wrote")
    parser.add_argument("data", metavar="DATA", help="a file, a folder of files or a store; - is standard input")
    parser.add_argument("--memory", help='what a store may take, such as "2 GB"; a larger one is read in parts')
    reading.add_arguments(parser)


def add_predict_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", help="the file to write; default: standard output")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--proba", action="store_true", help="probabilities of the classes")
    how.add_argument("--margins", action="store_true", help="what is computed before it is made a label")
    add_arguments(parser)


def add_certify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tol", type=float, default=1e-6, help="the gap that counts as optimal (default 1e-6)")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    add_arguments(parser)


def _loaded(arguments: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """The model, the columns that it knows (a store, if it has the same), targets and weights."""
    import southwell as sw

    model = sw.load(arguments.model)
    n_features = int(model.n_features_in_)
    data = reading.read(arguments.data, arguments, n_features)
    known = getattr(model, "feature_names_in_", None)
    wanted = None if known is None else [str(name) for name in known]
    if known is not None:  # or scikit-learn would warn of an array without names
        del model.feature_names_in_
    picked = reading.selection(data.feature_names, data.shape[1], wanted, n_features)
    if isinstance(data, sw.data.Store):
        b, weights = data.part("targets"), data.part("weights")
        if picked is None:
            return model, data, b, weights
        if not data.fits:
            raise ValueError(
                "The store has other columns than the model, and is read in parts, which keep their columns. Convert "
                "it with the columns of the model, in their order, or give more --memory."
            )
        return model, data.matrix() @ picked, b, weights
    return model, data.A if picked is None else data.A @ picked, data.targets, data.weights


def predict(arguments: argparse.Namespace) -> int:
    """Predict, and return the exit code."""
    with reading.told("predict"):
        model, A, b, weights = _loaded(arguments)
        if arguments.proba:
            if not hasattr(model, "predict_proba"):
                raise ValueError(f"{type(model).__name__} has no probabilities.")
            told = model.predict_proba(A)
        elif arguments.margins and hasattr(model, "decision_function"):
            told = model.decision_function(A)
        else:
            told = model.predict(A)
        lines = "".join(f"{_line(one)}\n" for one in told)
        if arguments.out is None:
            sys.stdout.write(lines)
        else:
            with open(arguments.out, "w", encoding="utf-8") as file:
                file.write(lines)
        if _comparable(model, b):
            name = "accuracy" if hasattr(model, "classes_") else "score"
            print(f"{name} {model.score(A, b, sample_weight=weights):.6g}", file=sys.stderr)
    return 0


def _comparable(model: Any, b: Any) -> bool:
    """Whether these targets are of the kind that the model predicts, and one for each row."""
    if b is None or hasattr(b, "toarray"):
        return False
    return (np.asarray(b).dtype.kind == "U") == (np.asarray(getattr(model, "classes_", 0.0)).dtype.kind == "U")


def _line(one: Any) -> str:
    return "\t".join(text(value) for value in one) if np.ndim(one) else text(one)


def certify(arguments: argparse.Namespace) -> int:
    """Audit, and return the exit code."""
    import southwell as sw

    with reading.told("certify"):
        model, A, b, weights = _loaded(arguments)
        if b is None:
            raise ValueError("The data have no targets. Name their column with --target.")
        found = sw.audit(model, A, b, sample_weight=weights)
    print(json.dumps(found.to_dict(), default=_plain) if arguments.json else found)
    return 0 if found.relative_gap <= arguments.tol else NOT_PROVEN


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
