"""Zhang and Xiao 2015, section 4: the cost of an iteration on sparse rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...methods import SPDC
from ..findings import Findings, Table
from ..problems import ridge
from ..runs import seconds_a_row

if TYPE_CHECKING:
    from ..bench import Bench


def sparse_rows(rng: np.random.Generator, n: int, d: int, k: int) -> tuple[sp.csr_array, np.ndarray]:
    """k entries a row, at random places."""
    A = sp.csr_array((rng.normal(size=n * k), rng.integers(0, d, n * k), np.arange(0, n * k + 1, k)), shape=(n, d))
    return A, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def costs(bench: Bench) -> Findings:
    """Section 4: microseconds an iteration as features, or as entries of a row, double."""
    n = bench.pick(20_000, 4_000)
    penalties = {"l2": 0.0, "l1 + l2": 1e-5}
    by_features: list[dict[str, Any]] = []
    by_entries: list[dict[str, Any]] = []
    cases = [(d, 50) for d in (25_000, 50_000, 100_000, 200_000)] + [(50_000, k) for k in (12, 25, 50, 100, 200)]
    for number, (d, k) in enumerate(cases):
        bench.say(f"an iteration of SPDC, {d} features, {k} entries a row")
        A, b = sparse_rows(np.random.default_rng(bench.seed), n, d, k)
        row: dict[str, Any] = {"features": d, "entries": k}
        for name, l1 in penalties.items():
            row[name] = 1e6 * seconds_a_row(ridge(A, b, 1e-4, l1=l1), SPDC())
        (by_features if number < 4 else by_entries).append(row)
    return Findings(
        tables=(Table("microseconds an iteration, 50 entries a row", by_features),
                Table("microseconds an iteration, 50,000 features", by_entries)),
        numbers={"by features": by_features, "by entries": by_entries, "penalties": list(penalties)},
    )  # fmt: skip
