"""Yu, Lin, Yang 2015, section 4.2: the cost of an iteration on factorised data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._data import Factorised
from ...methods import DSPDC
from ..findings import Findings, Table
from ..problems import ridge
from ..runs import seconds_a_move

if TYPE_CHECKING:
    from ..bench import Bench


def costs(bench: Bench) -> Findings:
    """Microseconds an iteration on A = U V as n and p, then k (m + q), double."""
    entries = bench.pick(2e8, 4e7)
    shapes = [(n, n // 5, 50, 1, 20) for n in (10_000, 20_000, 40_000, 80_000)]
    sizes = [(10_000, 4_000, k, m, q) for k, m, q in ((20, 16, 16), (50, 16, 16), (50, 64, 64), (100, 64, 64),
                                                      (100, 256, 256), (50, 1, 511), (50, 511, 1))]  # fmt: skip
    found: dict[str, list[dict[str, Any]]] = {"by shape": [], "by size": []}
    for name, cases in (("by shape", shapes), ("by size", sizes)):
        for n, p, k, m, q in cases:
            bench.say(f"an iteration of DSPDC, n = {n}, p = {p}, k = {k}, m = {m}, q = {q}")
            rng = np.random.default_rng(bench.seed)
            factors = Factorised(rng.normal(size=(n, k)), rng.normal(size=(k, p)) / k)
            problem = ridge(factors, np.where(rng.random(n) < 0.5, 1.0, -1.0), 1e-3, l1=1e-4)
            seconds = seconds_a_move(problem, DSPDC(rows=m, columns=q), int(entries / (k * (m + q)) / 5))
            found[name].append({"n": n, "p": p, "k": k, "m": m, "q": q, "k (m + q)": k * (m + q),
                                "microseconds": 1e6 * seconds})  # fmt: skip
    return Findings(
        tables=(Table("n and p double", found["by shape"]), Table("k (m + q) grows", found["by size"])), numbers=found
    )
