"""Traces of methods over matrices, in seconds of the processor without those of the objective; the tuning of steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...metric._algorithm import BEYOND_NUMBERS, MatrixAlgorithm
from ...metric._methods import Choice, made
from ...metric._risk import MatrixRisk
from ...metric._workers import Workers
from ..findings import Trace
from ..machine import CLOCK

if TYPE_CHECKING:
    from ..bench import Bench

Pairs = tuple[tuple[float, float], ...]
OF_SDCA: Pairs = ((1.0, 1.0), (1.0, 3.0), (1.0, 10.0))


def objective(algorithm: MatrixAlgorithm, risk: MatrixRisk) -> float:
    """P at the current matrices; those of SDCA follow from y."""
    x, y = algorithm.standing()
    if x is None:
        x = risk.penalty.peak(-risk.data.adjoint(risk.weights * y, exact=True, workers=algorithm.workers),
                              workers=algorithm.workers)  # fmt: skip
    return risk.primal(x, risk.data.apply(x, exact=True, workers=algorithm.workers))


def matrix_trace(bench: Bench, risk: MatrixRisk, choice: Choice, label: str, role: str, optimum: float, *,
                 seconds: float, most: float = np.inf, threads: int = 1) -> Trace:  # fmt: skip
    """P after 1, 2, 3, 4, 5, 7, ... iterations, over seconds and eigendecompositions, without those that P costs; the
    error is in units of the first one. It ends after ``most`` iterations, ``seconds``, or below 1e-9."""
    begun = CLOCK()
    with Workers(threads) as workers, np.errstate(all="ignore"):
        start = risk.start(None, workers)
        assert start.y is not None
        x = start.x.reshape(risk.n_blocks, risk.size, risk.size)
        algorithm = made(risk, choice, workers, x, start.y, bench.seed)
        setup = CLOCK() - begun
        spent, moves, more = 0.0, 0, 1
        unit = max(objective(algorithm, risk) - optimum, np.finfo(float).tiny)
        rows = [(0, 0.0, 0, 1.0)]
        while spent < seconds and moves < most:
            begun = CLOCK()
            try:
                for _ in range(more):
                    algorithm.step()
            except BEYOND_NUMBERS:
                break
            spent, moves = spent + CLOCK() - begun, moves + more
            latest = (objective(algorithm, risk) - optimum) / unit
            rows.append((moves, spent, algorithm.eigendecompositions, latest))
            if not np.isfinite(latest) or latest < 1e-9:
                break
            more = max(1, min(int(0.4 * moves), int((seconds - spent) * moves / spent) + 1))
            bench.say(label)
    told = np.array([row for row in rows if np.isfinite(row[3])], dtype=float)
    columns = {"moves": told[:, 0], "seconds": told[:, 1], "eigendecompositions": told[:, 2], "latest": told[:, 3]}
    return Trace(label, role, columns | {"error": np.minimum.accumulate(told[:, 3])}, setup)


def tuned(bench: Bench, risk: MatrixRisk, methods: dict[str, Choice], optimum: float, seconds: float,
          stretches: Pairs, threads: int = 1) -> dict[str, tuple[float, float]]:  # fmt: skip
    """For each method the factors of primal and dual steps, among ``stretches``, with which P falls furthest."""
    best: dict[str, tuple[float, float]] = {}
    for name, choice in methods.items():
        tried = OF_SDCA if name == "sdca" else stretches
        errors = []
        for stretch in tried:
            stretched = replace(choice, stretch=stretch)
            trace = matrix_trace(bench, risk, stretched, name, "baseline", optimum, seconds=seconds, threads=threads)
            errors.append(trace.last())
        best[name] = tried[int(np.argmin(errors))]
    return best


def entrants(m: int, q: int) -> dict[str, Choice]:
    """The methods that the paper compares: m samples and q blocks an iteration, or all blocks."""
    return {"dspdc": Choice("dspdc", rows=m, blocks=q), "spdc": Choice("spdc", rows=m), "sdca": Choice("sdca", rows=m)}


NAMES = {"dspdc": "DSPDC", "spdc": "SPDC", "sdca": "SDCA"}


def matrix_traces(bench: Bench, risk: MatrixRisk, title: str, methods: dict[str, Choice],
                  steps: dict[str, dict[str, tuple[float, float]]], optimum: float, seconds: float,
                  threads: int = 1) -> list[Trace]:  # fmt: skip
    """A trace for each method and each kind of ``steps``; DSPDC, SPDC, SDCA, and FISTA."""
    traces: list[Trace] = []
    for kind, stretches in steps.items():
        for name, choice in methods.items():
            label = f"{NAMES[name]}, {kind}"
            bench.say(f"{title}: {label}")
            role = "paper" if name == "dspdc" else "baseline"
            stretched = replace(choice, stretch=stretches[name])
            traces.append(matrix_trace(bench, risk, stretched, label, role, optimum, seconds=seconds, threads=threads))
    bench.say(f"{title}: FISTA")
    traces.append(
        matrix_trace(bench, risk, Choice("fista"), "FISTA", "baseline", optimum, seconds=seconds, threads=threads)
    )
    return traces


THEORY = dict.fromkeys(NAMES, (1.0, 1.0))


def told(stretches: dict[str, dict[str, tuple[float, float]]]) -> list[dict[str, Any]]:
    """Rows of a table: the factors of the steps, by race."""
    return [{"race": race} | {NAMES[name]: f"{a:g}, {b:g}" for name, (a, b) in best.items()}
            for race, best in stretches.items()]  # fmt: skip
