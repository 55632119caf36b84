"""How the work of a solve grows with the number of samples: python benchmarks/growth.py [--rows 16000,125000]

One-hot data as click logs have them, sparse text and dense data, n x 16. Seconds are those of the processor, on one
thread, from the call of ``solve`` to its certified answer. The exponent is the slope of log(seconds) over log(entries).
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import southwell as sw
from _net_data import one_hot
from _peers_cases import text
from _timing import table

MODELS = {
    "hinge": {"loss": "hinge"},
    "squared_hinge": {"loss": "squared_hinge"},
    "l2_logistic": {"loss": "logistic"},
    "l2_logistic +c": {"loss": "logistic", "intercept": True},
}


def dense(rows: int, columns: int = 100, seed: int = 0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, columns)) / np.sqrt(columns)
    b = np.where(A @ rng.standard_normal(columns) + 0.3 * rng.standard_normal(rows) > 0, 1.0, -1.0)
    return A, b


def measure(A, b, model: str, C: float, tol: float, **options) -> dict[str, object]:
    begun = time.process_time()
    result = sw.solve(A, b, l2=1 / (C * A.shape[0]), tol=tol, n_threads=1, **MODELS[model], **options)
    seconds = time.process_time() - begun
    entries = A.nnz if sp.issparse(A) else A.size
    touched = result.history["entries"][-1]
    return {
        "n": A.shape[0], "entries": entries, "seconds": f"{seconds:.3g}", "epochs": result.epochs,
        "certificates": len(result.history["gap"]), "passes": f"{touched / entries:.1f}",
        "ns/entry": f"{1e9 * seconds / entries:.0f}", "ns/touched": f"{1e9 * seconds / max(touched, 1):.1f}",
        "gap": f"{result.relative_gap:.1e}", "method": result.method,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="8000,32000,128000")
    parser.add_argument("--kinds", default="onehot,text,dense")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--movers", default="auto")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cache = Path(tempfile.gettempdir()) / "southwell-growth"
    kinds = {"onehot": one_hot, "text": lambda n: text(n, cache), "dense": dense}
    rows = [int(n) for n in given.rows.split(",")]
    for kind in given.kinds.split(","):
        made = [kinds[kind](n) for n in rows]
        for model in given.models.split(","):
            lines = [measure(A, b, model, given.C, given.tol, method=sw.methods.Auto(movers=given.movers))
                     for A, b in made]  # fmt: skip
            seconds, entries = ([float(line[name]) for line in lines] for name in ("seconds", "entries"))
            slope = np.log(seconds[-1] / seconds[0]) / np.log(entries[-1] / entries[0]) if len(rows) > 1 else np.nan
            print(f"{model}, {kind}: seconds grow like entries^{slope:.2f}\n{table(lines)}\n", flush=True)


if __name__ == "__main__":
    main()
