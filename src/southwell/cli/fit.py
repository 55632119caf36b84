"""``southwell fit``: a sparse linear model of data in files, its strength chosen by cross-validation."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from . import reading
from .reading import text

DESCRIPTION = """\
Fit a sparse linear model to the data in a file, a folder or a store, and write it to a file. Labels (texts, two
numbers, or at most 20 integers) make a classifier, other targets a regression; --loss decides otherwise. The strength
of the penalty is chosen by cross-validation unless --l1 or --strength give it. Columns are penalised in
units of their deviations. The exit code is 0 if the model is proven to be within the tolerance, 3 if it is not (it is
written all the same), and 2 if something cannot be read or written.
"""
FEW = 20  # integers that are taken for labels
NOT_PROVEN = 3
SHOWN = 10  # coefficients in the report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = reading.FORMATS
    parser.add_argument("data", metavar="DATA", help="a file, a folder of files or a store; - is standard input")
    parser.add_argument("--out", metavar="MODEL", help="the file to write; default: the name of DATA with .southwell")
    parser.add_argument("--loss", help="squared, logistic, hinge, poisson, huber, ...; default: by the target")
    parser.add_argument("--l1", type=float, help="the strength of the L1 penalty, instead of cross-validation")
    parser.add_argument("--strength", type=float, metavar="PART", help="the same, as a part of the smallest l1 of the "
                        "zero model, between 0 and 1")  # fmt: skip
    parser.add_argument("--l2", type=float, default=0.0, help="the strength of the L2 penalty (default 0)")
    parser.add_argument("--cv", type=int, default=5, metavar="K", help="the number of folds (default 5)")
    parser.add_argument("--one-standard-error", action="store_true", help="the sparsest within one standard error")
    parser.add_argument("--raw", action="store_true", help="penalise all columns alike, whatever their deviations")
    parser.add_argument("--no-intercept", action="store_true", help="no intercept")
    parser.add_argument("--tol", type=float, default=1e-6, help="the gap to prove, relative (default 1e-6)")
    parser.add_argument("--max-seconds", type=float, help="a limit")
    parser.add_argument("--memory", help='what a store may take, such as "2 GB"; a larger one is read in parts')
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    reading.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, write and report; returns the exit code."""
    from ..solve import ConvergenceWarning
    from ..status import Status

    with reading.told("fit"):
        if arguments.l1 is not None and arguments.strength is not None:
            raise ValueError("Give --l1 or --strength, not both.")
        if arguments.strength is not None and not 0 < arguments.strength <= 1:
            raise ValueError(f"--strength must be between 0 and 1; got {arguments.strength:g}.")
        out = _out(arguments)
        data = reading.read(arguments.data, arguments)
        A, b, weights = _parts(data)
        model = _model(arguments, A, b, weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the report tells it
            model.fit(A, b, sample_weight=weights)
        if data.feature_names is not None:
            model.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        model.save(out)
    report = _report(model, data, out)
    print(json.dumps(report) if arguments.json else _in_words(report))
    return 0 if model.status_ is Status.CONVERGED else NOT_PROVEN


def _out(arguments: argparse.Namespace) -> Path:
    if arguments.out is not None:
        return Path(arguments.out)
    if arguments.data == "-":
        raise ValueError("Data from standard input have no name: give --out.")
    name = Path(arguments.data).name.split(".")[0] or "model"
    return Path(f"{name}.southwell")


def _parts(data: Any) -> tuple[Any, Any, Any]:
    """A (a store, if it is one), targets and weights."""
    if hasattr(data, "shards"):
        b = data.part("targets")
        if b is None:
            raise ValueError("The store has no targets, or several for each row.")
        return data, b, data.part("weights")
    if data.targets is None:
        raise ValueError("The data have no targets. Name their column with --target.")
    b = data.targets.toarray() if hasattr(data.targets, "toarray") else data.targets
    return data.A, b, data.weights


def of_classes(b: np.ndarray) -> bool:
    """Whether targets look like labels."""
    values = np.unique(b)
    if b.ndim == 2 or values.dtype.kind not in "fiub" or values.size <= 2:
        return True
    return values.size <= FEW and bool((values == np.round(values)).all())


def _model(arguments: argparse.Namespace, A: Any, b: np.ndarray, weights: Any) -> Any:
    import southwell as sw

    classes = of_classes(b)
    if arguments.loss is not None:
        known = sw.losses.get(arguments.loss)
        if isinstance(known, sw.losses.ClassLoss):
            raise ValueError(
                f"{known.name} is a loss of competing classes; fit the classes one against the rest: logistic."
            )
        classes = known.targets == "signs"
    loss = arguments.loss or ("logistic" if classes else "squared")
    options = {
        "loss": loss, "fit_intercept": not arguments.no_intercept, "tol": arguments.tol, "n_jobs": arguments.n_threads,
        "max_seconds": arguments.max_seconds, "standardize": not arguments.raw, "verbose": int(not arguments.quiet),
    }  # fmt: skip
    l1 = arguments.l1
    if arguments.strength is not None:
        l1 = arguments.strength * _largest(A, b, weights, loss, arguments)
    if l1 is not None:
        kind = sw.SparseLinearClassifier if classes else sw.SparseLinearRegressor
        return kind(l1=l1, l2=arguments.l2, **options)
    chooses = sw.SparseLinearClassifierCV if classes else sw.SparseLinearRegressorCV
    return chooses(l2s=arguments.l2, cv=arguments.cv, one_standard_error=arguments.one_standard_error, **options)


def _largest(A: Any, b: np.ndarray, weights: Any, loss: str, arguments: argparse.Namespace) -> float:
    """The smallest l1 of the zero model."""
    import southwell as sw

    from ..estimators._coefficients import spreads

    if b.ndim == 2 or (sw.losses.get(loss).targets == "signs" and np.unique(b).size > 2):
        raise ValueError("With more than two classes every class has another largest strength: give --l1.")
    net, intercept = sw.penalties.ElasticNet(1.0), not arguments.no_intercept
    problem = sw.Problem(A, b, loss, net, intercept=intercept, sample_weight=weights)
    return float(sw.lambda_max(problem, weights=None if arguments.raw else spreads(problem)))


def _report(model: Any, data: Any, out: Path) -> dict[str, Any]:
    rows, columns = data.shape
    coef = np.atleast_2d(np.asarray(model.coef_))
    used = np.flatnonzero(coef.any(axis=0))
    largest = used[np.argsort(-np.abs(coef[:, used]).max(axis=0), kind="stable")][:SHOWN]
    names = data.feature_names
    report = {
        "model": str(out), "class": type(model).__name__, "loss": model.get_params()["loss"], "rows": rows,
        "columns": columns, "l1": float(getattr(model, "l1_", getattr(model, "l1", 0.0))),
        "l2": float(getattr(model, "l2_", getattr(model, "l2", 0.0))), "nonzeros": int(used.size),
        "gap": float(model.gap_), "tol": model.tol, "status": model.status_.name,
        "coefficients": [
            {"feature": str(names[j]) if names is not None else int(j), "values": coef[:, j].tolist()} for j in largest
        ],
    }  # fmt: skip
    if hasattr(model, "classes_"):
        report["classes"] = [text(one) for one in np.asarray(model.classes_).tolist()]
    if hasattr(model, "scores_"):
        means = np.asarray(model.scores_).mean(axis=0)
        report["score"] = {
            "by": str(model.scored_by_),
            "held_out": float(np.nanmax(means)),
            "folds": len(model.scores_),
        }
    return report


def _in_words(report: dict[str, Any]) -> str:
    lines = [
        f"{report['class']}, {report['loss']} loss: {report['rows']:,} rows, {report['columns']:,} columns",
        f"  penalty    l1 = {report['l1']:.6g}, l2 = {report['l2']:.6g}",
        f"  proof      within {report['gap']:.2g} of the optimum, relative (asked: {report['tol']:.2g})",
        f"  nonzeros   {report['nonzeros']:,} of {report['columns']:,}",
    ]
    if report["status"] != "CONVERGED":
        lines.append(f"  status     {report['status']}: the tolerance was not reached")
    if "classes" in report:
        shown = ", ".join(report["classes"][:SHOWN])
        lines.append(f"  classes    {shown}{', ...' * (len(report['classes']) > SHOWN)}")
    if "score" in report:
        by, score = report["score"]["by"], report["score"]["held_out"]
        lines.append(f"  held out   {score:.6g} ({by}, the best mean of {report['score']['folds']} folds)")
    lines.append("  largest coefficients")
    for one in report["coefficients"]:
        values = ", ".join(f"{value:.6g}" for value in one["values"][:6])
        name = one["feature"] if isinstance(one["feature"], str) else f"column {one['feature']}"
        lines.append(f"    {name:<30} {values}{', ...' * (len(one['values']) > 6)}")
    lines.append(f"Written to {report['model']}")
    return "\n".join(lines)
