"""The command line of the checker."""

from __future__ import annotations

import argparse
import sys
import types
import zipfile
from typing import Any

import numpy as np

from .verdict import verify

DESCRIPTION = (
    "Verify a proof file against the data, in exact arithmetic. The exit code is 0 if it is verified, 1 if it is not, "
    "and 2 if a file cannot be read."
)
DATA = "the data: .npy, or .npz of SciPy; two files, U and V, if they are factorised"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("proof", help="the proof file")
    parser.add_argument("data", nargs="+", metavar="A.npz", help=DATA)
    parser.add_argument("b", metavar="b.npy", help="the targets: .npy")
    parser.add_argument("--sample-weight", metavar="w.npy", help="the sample weights, if they are not equal")
    parser.add_argument("--offset", metavar="o.npy", help="the offsets of the margins, if there are any")


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict and return the exit code."""
    try:
        parts = [load(path) for path in arguments.data]
        weight = None if arguments.sample_weight is None else load(arguments.sample_weight)
        offset = None if arguments.offset is None else load(arguments.offset)
        data = parts[0] if len(parts) == 1 else tuple(parts)
        verdict = verify(arguments.proof, data, load(arguments.b), sample_weight=weight, offset=offset)
    except (OSError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        print(f"The check could not be made: {error}", file=sys.stderr)
        return 2
    print(verdict)
    return 0 if verdict else 1


def load(path: str) -> Any:
    """An array, or the arrays of a SciPy sparse matrix, from a NumPy file. No code in the file is executed."""
    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return found
    with found:
        names = set(found.files)
        if len(names) == 1:
            return found[names.pop()]
        if not {"format", "shape", "data"} <= names:
            shown = ", ".join(sorted(names))
            raise ValueError(f"{path!r} holds {shown}; one array or a sparse matrix of SciPy is needed.")
        kind = found["format"].item()
        parts = {name: found[name] for name in names & {"data", "indices", "indptr", "row", "col"}}
        text = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        return types.SimpleNamespace(format=text, shape=tuple(found["shape"].tolist()), **parts)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="check", description=DESCRIPTION)
    add_arguments(parser)
    return run(parser.parse_args(argv))
