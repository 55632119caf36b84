"""Proofs on disk: a problem, a solution and its bounds, which ``southwell.check`` verifies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ._data import Matrix as DesignMatrix
from ._dense import numbers
from ._names import finite
from ._typing import AnyMatrix, Given
from .check.matrices import Matrix
from .check.proof import FORMAT, TEXT, VERSION
from .losses import ClassLoss
from .model_files import archive
from .penalties import GroupPenalty
from .problem import Problem


def write_proof(path: str | os.PathLike[str], problem: Problem, x: Given, intercept: Given, y: Given, primal: float,
                dual: float) -> None:  # fmt: skip
    """Store a solution and its bounds. An existing file of that name is replaced when the new one is complete.

    The bounds must be rigorous: the file is verified only if ``P(x) <= primal`` and ``D >= dual`` hold in exact
    arithmetic on the given floats.

    Parameters
    ----------
    path : str or path
    problem : Problem or BlockProblem
    x, intercept, y : arrays and number(s)
        In the shapes of ``Result``. y need only be feasible up to rounding: the checker makes it exactly feasible.
    primal, dual : float
        An upper bound of P(x) and a lower bound of the optimum.

    Examples
    --------
    >>> import os, tempfile, numpy as np, southwell as sw
    >>> from southwell.check import verify
    >>> from southwell.proof_files import write_proof
    >>> A, b = np.eye(3), np.array([1.0, 2.0, 3.0])
    >>> r = sw.solve(A, b, l1=0.1)
    >>> path = os.path.join(tempfile.mkdtemp(), "answer.proof")
    >>> write_proof(path, r.problem, r.x, r.intercept, r.y, r.primal + 1e-12, r.dual - 1e-12)
    >>> bool(verify(path, A, b))
    True
    """
    primal, dual = finite("primal", primal), finite("dual", dual)
    if primal < dual:
        raise ValueError(f"primal, an upper bound, must be at least dual, a lower bound; got {primal!r} and {dual!r}.")
    n, d, k = problem.n_samples, problem.n_features, problem.width
    of_classes = isinstance(problem.loss, ClassLoss)
    arrays = {
        "x": _table("x", x, d, k),
        "intercept": _table("intercept", intercept, 1, k).ravel(),
        "y": _table("y", y, n, k),
        "weights": problem.weights,
        "b": problem.targets.astype(np.float64).reshape((n,) if of_classes else (n, k)),
    }
    given = ["b", "weights"]
    if problem.core_offset.size:
        arrays["offset"] = problem.core_offset.reshape(n, k)
        given.append("offset")
    if not problem.intercept and arrays["intercept"].any():
        raise ValueError(f"This problem has no intercept; got {intercept}.")
    kind, parts = _data(problem)
    if problem.means is not None:
        arrays["means"] = problem.means
    penalty = _penalty(problem.penalty, d, arrays)
    hashes = {name: Matrix(part, name).sha256 for name, part in parts.items()}
    hashes |= {name: Matrix(arrays[name], name).sha256 for name in given}
    from . import __version__

    text = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"southwell {__version__}",
        "problem": {
            "samples": n,
            "features": d,
            "outputs": k,
            "loss": problem.loss.name,
            "parameter": problem.loss.parameter.hex(),
            "intercept": problem.intercept,
            "data": kind,
            "penalty": penalty,
        },
        "sha256": hashes,
        "arrays": {name: number for number, name in enumerate(arrays)},
        "claims": {"primal_at_most": primal.hex(), "dual_at_least": dual.hex()},
    }
    archive.write(Path(path), text, [_plain(array) for array in arrays.values()], text_name=TEXT)


KINDS = {"euclidean": "groups", "maximum": "max_groups"}
"""Kinds of penalties of groups, as files name them, by their norms."""


def _plain(array: np.ndarray) -> np.ndarray:
    """Little-endian, in C order, as the checker requires."""
    return np.ascontiguousarray(array, dtype="<i8" if array.dtype.kind in "iu" else "<f8")


def _table(name: str, given: Given, rows: int, columns: int) -> np.ndarray:
    values = numbers(name, given)
    allowed: set[tuple[int, ...]] = {(rows, columns)} | ({(rows,)} if columns == 1 else set())
    if rows == 1:
        allowed |= {(columns,)} | ({()} if columns == 1 else set())
    if values.shape not in allowed:
        raise ValueError(f"{name} must have {rows} x {columns} entries, as in Result; got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return values.reshape(rows, columns)


def _data(problem: Problem) -> tuple[str, dict[str, object]]:
    """The kind of data, and the matrices that are hashed, by name."""
    if problem.factorised:
        return "factorised", {"U": _as_given(problem.factors.U), "V": _as_given(problem.factors.V)}
    return "matrix" if problem.means is None else "centred", {"A": _as_given(problem.matrix)}


def _as_given(matrix: DesignMatrix) -> AnyMatrix:
    """The checked matrix in the layout it has, without a copy."""
    fibers = matrix.fibers(matrix.given_by_columns)
    return fibers.T if matrix.given_by_columns else fibers


def _penalty(penalty: Any, d: int, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """The penalty's numbers; its arrays are added to ``arrays``."""
    strengths = {"l1": penalty.l1.hex(), "l2": penalty.l2.hex()}
    if isinstance(penalty, GroupPenalty):
        group_of = penalty.group_of(d)
        arrays["group_of"] = group_of.astype(np.int64)
        if penalty.positive:
            arrays["lower"] = np.zeros(d)
        arrays["strengths"] = penalty.factors(np.bincount(group_of)) * penalty.strength  # as in the core
        return {"kind": KINDS[penalty.norm], **strengths}
    for name, given in (
        ("penalty_weights", penalty.weights), ("ridge_weights", penalty.ridge_weights),
        ("lower", penalty.lower), ("upper", penalty.upper),
    ):  # fmt: skip
        if given is not None:
            arrays[name] = np.broadcast_to(np.asarray(given, dtype=np.float64), (d,))
    return {"kind": "elastic_net", **strengths}
