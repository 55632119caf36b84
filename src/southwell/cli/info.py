"""``southwell info``: what a file is."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from . import reading
from .reading import text

DESCRIPTION = """\
Tell what a file is: a model, a store, a proof, or data. The exit code is 0, or 2 if it cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = reading.FORMATS
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    reading.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tell, and return the exit code."""
    with reading.told("info"):
        found = _of(arguments.file, arguments)
    print(
        json.dumps(found) if arguments.json else "\n".join(f"{name:<14} {_shown(own)}" for name, own in found.items())
    )
    return 0


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _of(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    import southwell as sw

    from ..check.matrices import Refused as NoProof
    from ..check.proof import read as read_proof

    path = Path(name)
    if path.is_file():
        try:
            return _of_model(sw.load(path))
        except (ValueError, OSError):
            pass
        try:
            proof = read_proof(path)
            return {"kind": "proof", "statement": proof.statement, "primal at most": float(proof.primal_at_most),
                    "dual at least": float(proof.dual_at_least)}  # fmt: skip
        except (NoProof, OSError):
            pass
    return _of_data(reading.read(name, arguments))


def _of_model(model: Any) -> dict[str, Any]:
    coef = np.atleast_2d(np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_))
    told = {
        "kind": "model", "class": type(model).__name__, "columns": int(model.n_features_in_),
        "nonzeros": int(coef.any(axis=0).sum()), "gap": float(np.max(model.gap_)), "status": str(model.status_),
    }  # fmt: skip
    if hasattr(model, "classes_"):
        told["classes"] = [text(one) for one in np.asarray(model.classes_).tolist()]
    return told | {"parameters": {k: str(v) for k, v in model.get_params(deep=False).items()}}


def _of_data(data: Any) -> dict[str, Any]:
    rows, columns = data.shape
    if hasattr(data, "shards"):
        return {"kind": "store", "rows": rows, "columns": columns, "entries": data.entries, "layout": data.layout,
                "dtype": str(data.dtype), "shards": len(data.shards())}  # fmt: skip
    entries = int(data.A.nnz) if hasattr(data.A, "nnz") else int(data.A.size)
    told = {"kind": "data", "rows": rows, "columns": columns, "entries": entries, "dtype": str(data.A.dtype)}
    if data.targets is not None and not hasattr(data.targets, "toarray"):
        values, counts = np.unique(data.targets, return_counts=True)
        if values.size <= 20:
            told["targets"] = {text(value): int(count) for value, count in zip(values.tolist(), counts, strict=True)}
        else:
            told["targets"] = f"{values.size} different values from {values[0]} to {values[-1]}"
    return told
