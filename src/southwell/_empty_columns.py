"""Problems without the columns of A that hold nothing, such as the values of a one-hot field that never occur.

Their coefficients are zero wherever they are penalised, and may be zero elsewhere. Without them the vectors of a solve
have the length of the columns in use, and the primal value, the dual value and the gap are the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._data import Matrix
from ._question import Start
from ._scipy import sparse as sp
from .penalties import Separable
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Compact:
    """A problem over the columns in use, and how its points are written over all columns."""

    problem: Problem
    used: np.ndarray
    all: int  # columns
    zeros_are_certain: np.ndarray  # of the empty columns: whether every solution has a zero there

    def repenalised(self, penalty: Separable) -> Compact:
        own = penalty.over(self.used)
        problem = self.problem._alike(penalty=own, core_penalty=own.core(self.used.size))
        return replace(self, problem=problem, zeros_are_certain=_certain(penalty, self.all))

    def start(self, start: Start) -> Start:
        return Start(np.append(start.x[self.used], start.x[self.all :]), start.y)

    def whole(self, inner: np.ndarray) -> np.ndarray:
        """Coefficients of all columns, in the coordinates of the core."""
        own = self.used.size
        x = np.zeros(self.all + inner.size - own)
        x[self.used], x[self.all :] = inner[:own], inner[own:]
        return x

    def screened(self, mask: bytes) -> bytes:
        all_zero = self.zeros_are_certain.copy()
        all_zero[self.used] = np.frombuffer(mask, bool)[: self.used.size] if mask else False
        return all_zero.tobytes()


def compact(problem: Problem, most: float, least: float, entries: float) -> Compact | None:
    """The problem without its empty columns; None unless at most the share ``most`` of them hold anything, and there
    are more than ``least`` of them and at most ``entries`` stored entries for each."""
    if not isinstance(problem.data, Matrix) or not problem.data.sparse or not isinstance(problem.penalty, Separable):
        return None
    d, matrix = problem.n_features, problem.data
    if d <= least or matrix.stored > entries * d or problem.penalty.excludes_zero:
        return None
    used = problem.keep("columns in use", lambda: _used(matrix, int(most * d)))
    if used is None or (problem.shifts is not None and np.delete(problem.shifts, used).any()):
        return None
    if used.size == 0:
        return None
    made: tuple[Matrix, dict[object, Any]] = problem.keep("compact", lambda: (_without_others(matrix, used), {}))
    return Compact(over_columns(problem, used, *made), used, d, _certain(problem.penalty, d))


def over_columns(problem: Problem, used: np.ndarray, data: Matrix, kept: dict[object, Any]) -> Problem:
    """The same problem over some columns, which ``data`` holds; ``kept`` is shared by all problems over them."""
    penalty = problem.penalty.over(used)
    parts = {name: None if value is None else value[used] for name, value in
             (("means", problem.means), ("shifts", problem.shifts), ("_moved", problem._moved))}  # fmt: skip
    return problem._alike(
        data=data, n_features=used.size, penalty=penalty, core_penalty=penalty.core(used.size), _kept=kept, **parts
    )


def _used(matrix: Matrix, most: int) -> np.ndarray | None:
    """Columns that hold an entry; None if they are more than ``most``."""
    given = matrix.given
    if given.format == "csc":
        used = np.flatnonzero(np.diff(given.indptr))
        return used if used.size <= most else None
    seen, size = np.zeros(given.shape[1], bool), given.indptr[-1]
    step = max(int(size) // 16 + 1, 65536)
    for start in range(0, size, step):  # usually a part of the entries suffices
        seen[given.indices[start : min(start + step, size)]] = True
        if np.count_nonzero(seen) > most:
            return None
    return np.flatnonzero(seen)


def _without_others(matrix: Matrix, used: np.ndarray) -> Matrix:
    """The same entries with columns counted anew. Values are shared; so are the positions of CSC."""
    given, shape = matrix.given, (matrix.shape[0], used.size)
    if given.format == "csc":
        starts = np.append(given.indptr[used], given.indptr[-1:])
        return matrix.alike(sp.csc_array((given.data, given.indices, starts), shape))
    places = np.zeros(given.shape[1], given.indices.dtype)
    places[used] = np.arange(used.size, dtype=places.dtype)
    return matrix.alike(sp.csr_array((given.data, places[given.indices], given.indptr), shape))


def _certain(penalty: Separable, d: int) -> np.ndarray:
    """Where a coefficient without data is zero in every solution, because of a kink; screening says it of others."""
    return ~penalty.unpenalised(d) if penalty.kinked else np.zeros(d, bool)
