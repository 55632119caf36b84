"""Every public entry point, with valid arguments that a hostile call then replaces.

Valid calls are small and short: if a hostile value makes one long, that is a finding. Arguments in ``LIMITS`` determine
the work of a call, so numbers that are huge, but allowed, are not tried there.
"""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell import estimators, features, graph, metric
from southwell.cli import main

from .nasty import D, N

LIMITS = {"max_epochs", "max_iter", "max_seconds", "tol", "n_points", "cv"}
SHORT = {"max_epochs": 3, "max_seconds": 0.05, "tol": 1e-3}

rng = np.random.default_rng(0)
A, REAL = rng.normal(size=(N, D)), rng.normal(size=N)
SIGNS, LABELS = np.tile([1.0, -1.0], N // 2), np.tile([0, 1, 2, 1], N // 4)
CLASS_OFFSET = rng.normal(size=(N, 3))
TASKS, WEIGHTS, OFFSET = rng.normal(size=(N, 2)), np.arange(1.0, N + 1), rng.normal(size=N)


@dataclass(frozen=True)
class Entry:
    """A function and valid arguments for it."""

    name: str
    call: Callable
    arguments: dict[str, object]


def _signature(function) -> dict[str, object]:
    """The arguments that have defaults, with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def defaults(function, **given) -> dict[str, object]:
    return _signature(function) | given


@cache
def entries() -> list[Entry]:
    """All of them."""
    from .file_entries import data_files

    return [
        *_solvers(),
        *_problems(),
        *_parts(),
        *_own_losses(),
        *_estimators(),
        *_transformers(),
        *_graphs(),
        *_metrics(),
        *_local(),
        *data_files(),
        *_odd_ends(),
    ]


def _solvers():
    common = {"l1": 0.05, "l2": 0.05, "sample_weight": WEIGHTS, "offset": OFFSET, "n_threads": 1, **SHORT}
    yield Entry("solve", sw.solve, defaults(sw.solve, A=A, b=REAL, **common))
    yield Entry(
        "solve, sparse", sw.solve, defaults(sw.solve, A=sp.csr_array(A), b=SIGNS, **common | {"loss": "logistic"})
    )
    of_classes = common | {"loss": "softmax", "offset": CLASS_OFFSET}
    yield Entry("solve, blocks", sw.solve, defaults(sw.solve, A=A, b=LABELS, **of_classes))
    problem = sw.Problem(A, REAL, penalty=sw.penalties.ElasticNet(0.1))
    yield Entry("solve, Problem", sw.solve, defaults(sw.solve, A=problem, **SHORT))
    yield Entry("solve_many", sw.solve_many, defaults(sw.solve_many, A=A, Y=TASKS, **common))
    yield Entry(
        "solve_many, labels", sw.solve_many, defaults(sw.solve_many, A=A, Y=LABELS, **common | {"loss": "logistic"})
    )
    yield Entry(
        "path, data",
        sw.path,
        defaults(sw.path, A=A, b=REAL, l1s=[0.2, 0.1], l2s=0.1, offset=OFFSET, n_threads=1, **SHORT),
    )
    yield Entry("path", sw.path, defaults(sw.path, A=problem, n_points=3, n_threads=1, **SHORT))
    groups = sw.BlockProblem(A, TASKS, penalty=sw.penalties.Groups(0.1, l1=0.05))
    yield Entry("path, blocks", sw.path, defaults(sw.path, A=groups, n_points=3, n_threads=1, **SHORT))
    yield Entry(
        "lambda_max",
        sw.lambda_max,
        defaults(sw.lambda_max, A=A, b=REAL, weights=np.ones(D), sample_weight=WEIGHTS, offset=OFFSET),
    )
    for sketch in (sw.sketch_features, sw.sketch_instances):
        yield Entry(sketch.__name__, sketch, defaults(sketch, A=A, size=2))


def _problems():
    given = {"A": A, "b": REAL, "sample_weight": WEIGHTS, "offset": OFFSET,
             "penalty": sw.penalties.ElasticNet(0.1, 0.1)}  # fmt: skip
    for kind in (sw.Problem, sw.BlockProblem):
        yield Entry(kind.__name__, _stated(kind), defaults(kind, **given))
    problem = sw.Problem(A, REAL, penalty=sw.penalties.ElasticNet(0.1), intercept=True)
    blocks = sw.BlockProblem(A, TASKS, penalty=sw.penalties.Groups(0.1), intercept=True)
    yield Entry("Problem.certify", problem.certify, {"x": np.ones(D), "y": REAL, "intercept": 0.0})
    yield Entry("BlockProblem.certify", blocks.certify, {"x": np.ones((D, 2)), "y": TASKS, "intercept": 0.0})
    for owner in (problem, blocks):
        yield Entry(f"{type(owner).__name__}.with_targets", owner.with_targets, {"b": REAL})
        yield Entry(
            f"{type(owner).__name__}.with_penalty", owner.with_penalty, {"penalty": sw.penalties.ElasticNet(0.1)}
        )


def _stated(kind):
    def made(**given):
        problem = kind(**given)
        repr(problem)
        return sw.solve(problem, **SHORT)

    return made


def _solved(kind, make: Callable, b=REAL, loss: str = "squared"):
    """Solve with a part (loss, penalty, rule or method) constructed from the arguments."""

    def called(**given):
        return sw.solve(**{"A": A, "b": b, "loss": loss, **make(kind(**given)), **SHORT, "n_threads": 1})

    return called


def _parts():
    targets = {"real": REAL, "signs": SIGNS, "counts": np.abs(np.round(REAL)),
               "positive": np.abs(REAL) + 0.1, "classes": LABELS}  # fmt: skip
    for kind in (*sw.losses.ALL.values(), *sw.losses.OF_CLASSES.values()):
        b, sound = targets[kind().targets], _signature(kind)
        if sound:
            yield Entry(kind.__name__, _solved(kind, lambda loss: {"loss": loss, "l2": 0.1}, b), sound)
        m = np.ones((N, 3)) if kind().targets == "classes" else np.ones(N)
        for method in ("value", "derivative", "second_derivative", "conjugate"):
            first = "y" if method == "conjugate" else "m"
            yield Entry(f"{kind.__name__}.{method}", getattr(kind(), method), {first: m, "b": b})
        yield Entry(f"{kind.__name__}.prox_conjugate", kind().prox_conjugate, {"v": m, "step": 1.0, "b": b})
        yield Entry(f"{kind.__name__}.maximise", kind().maximise, {"m": m, "y0": m, "q": 1.0, "b": b})
    for kind in (sw.penalties.ElasticNet, sw.penalties.Groups):
        yield Entry(
            f"penalties.{kind.__name__}", _solved(kind, lambda p: {"penalty": p}), defaults(kind, l1=0.1, l2=0.1)
        )
    for kind in sw.rules.ALL.values():
        if _signature(kind) and kind is not sw.rules.MaxInnerProduct:  # which needs hnswlib, an extra
            for side in ("primal", "dual"):
                yield Entry(f"rules.{kind.__name__}, {side}", _solved(kind, partial(_on_side, side)), _signature(kind))
    for kind in sw.methods.ALL.values():
        if sound := _signature(kind):
            if kind is sw.methods.Auto:  # whose default is a factory
                sound["policy"] = {"ease_by": 4.0}
            l1 = 0.0 if kind in (sw.methods.SAG, sw.methods.LBFGS) else 0.1  # which are for smooth penalties
            chosen = _solved(kind, lambda method, l1=l1: {"method": method, "l1": l1, "l2": 0.1})
            yield Entry(f"methods.{kind.__name__}", chosen, sound)
    policy = {key: number for key, (number, _) in sw.methods.default_policy().items()}
    chosen = _solved(_policy, lambda method: {"method": method, "l1": 0.1, "l2": 0.1})
    yield Entry("methods.Auto, policy", chosen, policy)
    for kind, given in ((sw.Centred, {"A": A, "means": np.zeros(D)}), (sw.Factorised, {"U": A, "V": np.eye(D)})):
        yield Entry(kind.__name__, _solved(kind, lambda data: {"A": data, "l2": 0.1}), given)


class _Own(sw.losses.Custom):
    """A loss of one's own with attributes and answers as given; None: those of half the squared error."""

    def __init__(self, answers, **attributes):
        vars(self).update(attributes, answers=answers)

    def value(self, m, b):
        return _or(self.answers[0], (m - b) ** 2 / 2)

    def derivative(self, m, b):
        return _or(self.answers[1], m - b)

    def second_derivative(self, m, b):
        return _or(self.answers[2], np.ones_like(m))


def _or(given, other):
    return other if given is None else given


def _own(value, derivative, second_derivative, **attributes):
    return _Own((value, derivative, second_derivative), **attributes)


def _addressed(value, derivative, **given):
    for function in (value, derivative):
        if isinstance(function, int):  # nothing can tell whether a function lies there
            raise TypeError("an address of the fuzzer's making")
    return sw.losses.Compiled(value, derivative, **given)


def _batch(function):
    def loop(n, m, b, out):
        for i in range(n):
            out[i] = function(m[i], b[i])

    numbers = ctypes.POINTER(ctypes.c_double)
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, numbers, numbers, numbers)(loop)


def _own_losses():
    answers = {"value": None, "derivative": None, "second_derivative": None}
    attributes = {"targets": "real", "smoothness": 1.0, "log_odds": False}
    yield Entry("losses.Custom", _solved(_own, lambda loss: {"loss": loss, "l2": 0.1}), answers | attributes)
    given = {"value": _batch(lambda m, b: (m - b) ** 2 / 2), "derivative": _batch(lambda m, b: m - b)}
    sound = given | attributes | {"name": "half"}
    yield Entry("losses.Compiled", _solved(_addressed, lambda loss: {"loss": loss, "l2": 0.1}), sound)
    yield Entry("losses.Custom.conjugate", _own(**answers).conjugate, {"y": np.ones(N), "b": REAL})


def _policy(**numbers):
    return sw.methods.Auto(policy=numbers)


def _on_side(side: str, rule) -> dict[str, object]:
    return {"method": sw.methods.CoordinateDescent(side, rule), "l1": 0.1, "l2": 0.1}


def _estimators():
    for name, kind in estimators.ALL.items():
        y = TASKS if "MultiTask" in name else REAL
        if any(word in name for word in ("Poisson", "Gamma", "Binomial")):
            y = np.abs(np.round(REAL)) + ("Gamma" in name)
        y = LABELS if hasattr(kind, "classes_") or "Classifier" in name or "Logistic" in name or "SVC" in name else y
        short = {
            "max_iter": 3,
            "tol": 1e-3,
            "cv": 2,
            "Cs": 2,
            "alphas": 2,
            "l1s": 2,
            "groups": [0, 0, 1],
            "random_state": 0,
        }
        sound = _signature(kind) | {key: value for key, value in short.items() if key in _signature(kind)}
        weights = {} if "MultiTask" in name else {"sample_weight": WEIGHTS}
        weights |= {"offset": CLASS_OFFSET if y is LABELS else OFFSET}
        yield Entry(f"{name}.fit", _fitted(kind, tuple(weights)), sound | {"X": A, "y": y, **weights})
        yield from _uses(name, kind, sound, y)


def _fitted(kind, of_fit: tuple[str, ...] = ()):
    def fit(X, y, **given):
        own = {key: given.pop(key) for key in of_fit}
        model = kind(**given)
        model.fit(X, y, **own)
        repr(model)
        return model

    return fit


def _uses(name: str, kind, sound: dict, y):
    model = kind(**sound)
    fitted = cache(lambda: model.fit(A, y))
    for use in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        if hasattr(kind, use):
            yield Entry(f"{name}.{use}", lambda X, use=use: getattr(fitted(), use)(X), {"X": A})
    yield Entry(f"{name}.score", lambda X, y, sample_weight: fitted().score(X, y, sample_weight=sample_weight),
                {"X": A, "y": y, "sample_weight": WEIGHTS})  # fmt: skip
    yield Entry(f"{name}.set_params", lambda **given: kind().set_params(**given), sound)


def _transformers():
    for kind, size in ((features.RandomFourier, "n_components"), (features.RandomBinning, "n_grids")):
        sound = _signature(kind) | {size: 4, "random_state": 0}

        def transformed(X, kind=kind, **given):
            return kind(**given).fit_transform(X)

        yield Entry(f"{kind.__name__}.fit_transform", transformed, sound | {"X": A})
        fitted = cache(lambda kind=kind, sound=sound: kind(**sound).fit(A))
        yield Entry(f"{kind.__name__}.transform", lambda X, fitted=fitted: fitted().transform(X), {"X": A})


def _graphs():
    kind = graph.LabelPropagation
    ring = np.roll(np.eye(N), 1, axis=0) + np.roll(np.eye(N), -1, axis=0)
    partly = np.where(np.arange(N) < 4, LABELS, -1)
    short = {"max_epochs": 3, "max_seconds": 0.05, "tol": 1e-3, "n_neighbors": 2}
    sound = _signature(kind) | short
    yield Entry("LabelPropagation.fit", _fitted(kind), sound | {"X": A, "y": partly})
    given = sound | {"affinity": "precomputed", "X": ring, "y": partly}
    yield Entry("LabelPropagation.fit, graph", _fitted(kind), given)
    yield Entry("LabelPropagation.fit, sparse graph", _fitted(kind), given | {"X": sp.csr_array(ring)})
    fitted = cache(lambda: kind(**sound).fit(A, partly))
    for use in ("predict", "predict_proba"):
        yield Entry(f"LabelPropagation.{use}", lambda X, use=use: getattr(fitted(), use)(X), {"X": A})


def _metrics():
    short = {"max_iter": 3, "tol": 1e-2, "n_neighbors": 1, "n_impostors": 2, "n_jobs": 1, "random_state": 0}
    for kind in (metric.LargeMarginNearestNeighbor, metric.MultiTaskLargeMarginNearestNeighbor):
        tasks = {} if kind is metric.LargeMarginNearestNeighbor else {"tasks": np.repeat([0, 1], N // 2)}
        sound, y = _signature(kind) | short, LABELS % 2
        yield Entry(f"{kind.__name__}.fit", _fitted(kind, tuple(tasks)), sound | {"X": A, "y": y, **tasks})
        fitted = cache(lambda kind=kind, sound=sound, y=y, tasks=tasks: kind(**sound).fit(A, y, **tasks))
        for use in ("predict", "predict_proba", "transform"):
            called = lambda fitted=fitted, use=use, **given: getattr(fitted(), use)(**given)  # noqa: E731
            yield Entry(f"{kind.__name__}.{use}", called, {"X": A, **tasks})
    risk = metric.MatrixRisk(metric.LowRank(A), REAL)
    yield Entry("MatrixRisk.solve", risk.solve, defaults(risk.solve, **SHORT, n_threads=1))
    yield Entry("MatrixRisk.certify", risk.certify, {"x": np.eye(D)[None], "y": REAL})
    yield Entry("MatrixRisk", lambda **given: metric.MatrixRisk(**given).solve(**SHORT),
                defaults(metric.MatrixRisk, D=metric.LowRank(A), b=REAL, sample_weight=WEIGHTS))  # fmt: skip
    yield Entry("LowRank", lambda **given: metric.MatrixRisk(metric.LowRank(**given), REAL).solve(**SHORT),
                defaults(metric.LowRank, vectors=A, coefficients=np.ones(N), samples=np.arange(N),
                          blocks=np.zeros(N, int)))  # fmt: skip


def _local():
    short = {"n_threads": 1, "max_rounds": 2, "max_epochs": 3, "tol": 1e-3}
    problem = {"A": A, "b": REAL, "loss": "squared", "sample_weight": WEIGHTS}
    for kind in (sw.local.MCP, sw.local.SCAD):
        made = _solved_locally(kind)
        yield Entry(f"local.{kind.__name__}", made, defaults(kind, l1=0.1))
        yield Entry(f"local.{kind.__name__}.slopes", kind(0.1).slopes, {"x": REAL})
    yield Entry("local.solve", sw.local.solve, defaults(sw.local.solve, penalty=sw.local.MCP(0.1), **problem, **short))
    path = defaults(sw.local.path, penalty=sw.local.MCP(0.1), **problem, **short) | {"n_points": 2}
    yield Entry("local.path", sw.local.path, path)
    kind = sw.selection.StabilitySelection
    sound = _signature(kind) | {"l1s": 2, "n_pairs": 2, "max_iter": 3, "tol": 1e-3, "n_jobs": 1, "random_state": 0}
    yield Entry("StabilitySelection.fit", _fitted(kind), sound | {"X": A, "y": REAL})


def _solved_locally(kind):
    def called(**given):
        return sw.local.solve(A, REAL, penalty=kind(**given), max_rounds=2, max_epochs=3, n_threads=1)

    return called


def _odd_ends():
    yield Entry("load", sw.load, {"path": Path(__file__).parent / "corpus" / "lasso.southwell"})
    yield Entry("set_num_threads", _threads, {"n_threads": 1})
    yield Entry("main", _command, {"word": "--version"})
    yield Entry("losses.get", sw.losses.get, {"given": "squared"})
    yield Entry("methods.get", sw.methods.get, {"given": "auto"})
    yield Entry("methods.default_policy", sw.methods.default_policy, {})
    yield Entry("rules.get", sw.rules.get, {"given": "cyclic"})


def _threads(n_threads):
    try:
        sw.set_num_threads(n_threads)
    finally:
        sw.set_num_threads(None)


def _command(word):
    if sp.issparse(word):  # SciPy itself may crash as it writes a broken one
        raise TypeError("a sparse matrix is not a command-line word")
    try:
        text = str(word)
    except Exception as error:  # it cannot be converted to a string
        raise TypeError(f"not a command-line word: {type(error).__name__}") from None
    with (
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main([text])
