"""Zhang and Xiao 2015, sections 2 and 3: batches and threads, sampling by norms."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ...methods import SPDC
from ..findings import Findings, Table
from ..problems import ridge, unit_rows
from ..runs import epochs_to, quietly

if TYPE_CHECKING:
    from ..bench import Bench


def planted(rng: np.random.Generator, A: np.ndarray) -> np.ndarray:
    """Targets of a linear model, one in ten of them wrong."""
    b = np.where(A @ rng.normal(size=A.shape[1]) >= 0, 1.0, -1.0)
    return np.where(rng.random(b.size) < 0.1, -b, b)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batches(bench: Bench) -> Findings:
    """Section 2.1: iterations, passes and seconds to an accuracy, by the size of a batch and by threads."""
    n, d = bench.pick((8_000, 800), (2_000, 300))
    sizes = bench.pick((1, 2, 4, 16, 64, 256, 1024), (1, 2, 8, 64, 512))
    rng, target = np.random.default_rng(bench.seed), bench.pick(1e-6, 1e-4)
    A = unit_rows(rng.normal(size=(n, d)))
    l2 = 0.1 / n  # sqrt(kappa / n) = 3.2
    problem = ridge(A, planted(rng, A), l2)
    best = quietly(problem, tol=1e-10)
    sweep: list[dict[str, Any]] = []
    for m in sizes:
        for threads in sorted({1, processors()}):
            if threads > m:
                continue  # a batch is shared: there would be nothing to do for the others
            bench.say(f"batches of {m}, {threads} threads")
            method = SPDC(batch=m, n_threads=threads)
            passes, seconds = epochs_to(problem, method, best.primal, target * best.scale, bench.pick(40.0, 6.0))
            sweep.append({"m": m, "threads": threads, "iterations": passes * n / m, "passes": passes,
                          "seconds": seconds, "theory": float(1 + np.sqrt(m / (n * l2)))})  # fmt: skip
    return Findings(
        tables=(Table(f"SPDC to (P - P*) / P(0) <= {target:g}, {n} x {d} dense, n l2 = 0.1", sweep),),
        numbers={"sweep": sweep, "processors": processors()},
        notes=("The paper has no experiment with batches: its statements are read off the formulas.",
               "The objective is measured after every pass, within the clock."),
    )  # fmt: skip


TAILS = ("equal", "gaussian", "lognormal", "Pareto")


def lengths(rng: np.random.Generator, tail: str, n: int) -> np.ndarray:
    """Lengths of rows, of mean one."""
    if tail == "equal":
        return np.ones(n)
    if tail == "gaussian":
        drawn = np.sqrt(rng.chisquare(20, n))
    elif tail == "lognormal":
        drawn = np.exp(rng.normal(size=n))
    else:
        drawn = 1 + rng.pareto(1.5, n)
    return np.asarray(drawn / drawn.mean())


def sampling(bench: Bench) -> Findings:
    """Section 3.2: algorithm 2 against uniform sampling on rows of more and more uneven lengths."""
    n, d = bench.pick((5_000, 100), (1_000, 50))
    rng, target, rows = np.random.default_rng(bench.seed), 1e-6, []
    base = unit_rows(rng.normal(size=(n, d)))
    for tail in TAILS:
        scale = lengths(rng, tail, n)
        A = scale[:, None] * base
        problem = ridge(A, planted(rng, A), 1.0 / n)
        best = quietly(problem, tol=1e-11)
        row: dict[str, Any] = {"lengths": tail, "longest / mean": float(scale.max())}
        for name in ("uniform", "norms"):
            bench.say(f"lengths {tail}, sampling {name}")
            method = SPDC(sampling=name)
            row[name], row[f"{name}, s"] = epochs_to(
                problem, method, best.primal, target * best.scale, bench.pick(15.0, 4.0)
            )
        rows.append(row)
    return Findings(
        tables=(Table(f"passes to (P - P*) / P(0) <= {target:g}, {n} x {d}, mean length 1, l2 = 1 / n", rows),),
        numbers={"sampling": rows},
        notes=("The paper has no experiment with algorithm 2; the data are ours.",),
    )
