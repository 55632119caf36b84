"""Proof files for tests: written with bounds that hold, and changed afterwards."""

import io
import json
import warnings
import zipfile

import numpy as np

import southwell as sw
from southwell.check.loss import Loss
from southwell.check.matrices import Matrix
from southwell.proof_files import write_proof

LOSSES = [name for name in sw.losses.ALL if name in Loss.known]
"""Those of one margin that the checker knows."""


def solved(problem, path, tol=1e-8):
    """Solve, and write a proof whose claims are looser than the computed values by more than their rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        r = sw.solve(problem, tol=tol)
    slack = 1e-12 * (abs(r.primal) + abs(r.dual)) + 1e-14 * r.scale
    write_proof(path, problem, r.x, r.intercept, r.y, r.primal + slack, r.dual - slack)
    return r


def contents(path):
    """The text and the arrays by name."""
    with zipfile.ZipFile(path) as archive:
        text = json.loads(archive.read("proof.json"))
        arrays = {k: np.load(io.BytesIO(archive.read(f"{n}.npy"))) for k, n in text["arrays"].items()}
    return text, arrays


def pack(path, members):
    """An archive of these members, in their order."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def packed(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def edit(source, target, change, rehash=False):
    """Copy a proof after ``change(text, arrays)``; ``rehash`` makes the hashes in the file right again."""
    text, arrays = contents(source)
    numbers = dict(text["arrays"])
    change(text, arrays)
    for name in arrays:
        numbers.setdefault(name, len(numbers))
    if rehash:
        text["sha256"].update({name: Matrix(arrays[name], name).sha256 for name in ("b", "weights")})
    members = {"proof.json": json.dumps(text)}
    pack(target, members | {f"{numbers[name]}.npy": packed(array) for name, array in arrays.items()})


def claim(source, target, primal=None, dual=None):
    """Copy a proof with other claims."""

    def change(text, _):
        if primal is not None:
            text["claims"]["primal_at_most"] = float(primal).hex()
        if dual is not None:
            text["claims"]["dual_at_least"] = float(dual).hex()

    edit(source, target, change)
