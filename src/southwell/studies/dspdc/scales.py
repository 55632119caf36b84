"""Yu, Lin, Yang 2015, section 4.1: the usual Lambda against a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...methods import DSPDC
from ...methods.dspdc import safe_scale
from ...sketch import sketch_features
from ..findings import Findings, Table
from ..problems import ridge
from ..runs import quietly
from .races import sparse_model

if TYPE_CHECKING:
    from ..bench import Bench


def largest_block(A: np.ndarray, m: int, q: int, rng: np.random.Generator, tries: int = 200) -> float:
    """A lower bound of Lambda_{q,m}: exact for m = 1, where it is the sum of the q largest squares of a row."""
    squares = A * A
    if m == 1:
        return float(np.sort(squares, axis=1)[:, -q:].sum(axis=1).max())
    found = 0.0
    for k in range(tries):
        J = rng.choice(A.shape[1], q, replace=False) if k % 2 else np.argsort(squares.sum(axis=0))[-q:]
        I = rng.choice(A.shape[0], m, replace=False) if k % 4 > 1 else np.argsort(squares[:, J].sum(axis=1))[-m:]
        found = max(found, float(np.linalg.norm(A[np.ix_(I, J)], ord=2)) ** 2)
    return found


def uneven(bench: Bench) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Data of figure 1, formed; then with columns, and with entries, of very different sizes."""
    n, p = bench.pick((5_000, 100), (1_000, 60))
    X, b = sparse_model(n, p, bench.seed)
    factors: Any = sketch_features(X, 20, seed=bench.seed)
    yield "figure 1, U V", np.ascontiguousarray(factors.U @ factors.V), b
    yield "gaussian", X, b
    yield "columns of size 1 / j", X / np.arange(1, p + 1), b
    rng = np.random.default_rng(bench.seed)
    yield "entries of heavy tails", X * rng.pareto(2.0, X.shape), b
    spiked = 0.01 * X
    spiked[: n // 100, 0] = 10.0
    yield "a few large entries", spiked, b


def scales(bench: Bench) -> Findings:
    """Lambda: the bound ("safe") against the paper's m q R^2 / p ("usual")."""
    rows: list[dict[str, Any]] = []
    limit, target = bench.pick(6.0, 0.7), 1e-6
    for name, A, b in uneven(bench):
        problem, rng = ridge(A, b, 1e-2, l1=1e-3), np.random.default_rng(bench.seed)
        best = quietly(problem, tol=1e-11)
        R = float(np.linalg.norm(A, axis=1).max())
        for m, q in ((1, 1), (1, A.shape[1] // 2), (16, 16)):
            row: dict[str, Any] = {"data": name, "m": m, "q": q, "usual": m * q * R**2 / A.shape[1],
                                   "safe": safe_scale(problem, m, q), "found": largest_block(A, m, q, rng)}  # fmt: skip
            most, seconds = 10**7, limit
            for kind in ("usual", "safe"):
                bench.say(f"Lambda, {name}, m = {m}, q = {q}, {kind}")
                method = DSPDC(rows=m, columns=q, scale=kind)
                result = quietly(
                    problem, method=method, tol=0.0, max_epochs=most, seconds=seconds, check_every=1,
                    callback=lambda at, goal=best.primal + target * best.scale: at.primal <= goal,
                )  # fmt: skip
                there = result.primal - best.primal <= target * best.scale
                row[f"epochs, {kind}"] = float(result.epochs) if there else np.inf
                row[f"error, {kind}"] = (result.primal - best.primal) / best.scale
                most, seconds = max(result.epochs, 1), 20 * limit  # the bound has as many epochs, not as much time
            row["epochs"] = most
            rows.append(row)
    return Findings(
        tables=(Table(f"Lambda and epochs to (P - P*) / P(0) <= {target:g}", rows),),
        numbers={"scales": rows},
        notes=(
            "found is the largest squared norm of a block that was found: exact for m = 1, else a lower bound.",
            "With the bound as many epochs are made, at most, as with the usual Lambda.",
        ),
    )
