"""Data that stay in files, and are read in parts: what a ``Problem`` over a store is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import _core, _data
from ._names import shown
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
SHARE = 0.5  # of the memory that data may take when they are loaded: solves need some of their own


def memory_of(given: Given) -> int:
    """Bytes, from a number of them or words such as "2 GB"; None: half of what the machine has free."""
    if given is None:
        return available() // 2
    number: Any = given
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", given)
        number = None if found is None else float(found[1]) * UNITS.get(found[2].upper(), np.nan)
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        number = np.nan
    if not 0 < number < 2**62:
        raise ValueError(f'memory must be a number of bytes, or words such as "2 GB" or "500 MiB"; got {shown(given)}.')
    return int(number)


def available() -> int:
    """The bytes of memory that are free, or could be."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 4 * 2**30  # where the system does not tell


class InFiles:
    """Base of data in files that a problem can be stated on. ``southwell.data.Store`` is one."""

    shape: tuple[int, int]
    entries: int
    layout: str
    dtype: np.dtype[Any]
    feature_names: list[str] | None
    memory: int

    def shards(self) -> list[Any]:
        """Consecutive rows, each with ``A``, ``targets`` and ``weights``."""
        raise NotImplementedError

    @property
    def bytes_in_memory(self) -> int:
        """About what A would take in memory."""
        whole = self.entries * (self.dtype.itemsize + (4 if self.layout == "csr" else 0))
        return whole + (8 * self.shape[0] if self.layout == "csr" else 0)

    @property
    def fits(self) -> bool:
        """Whether A may be loaded."""
        return self.bytes_in_memory <= SHARE * self.memory

    def part(self, name: str) -> np.ndarray | None:
        """``targets`` or ``weights`` of all rows; None if there are none."""
        parts = [getattr(shard, name) for shard in self.shards()]
        return None if not parts or any(own is None for own in parts) else np.concatenate(parts)

    def matrix(self) -> AnyMatrix:
        """A in memory."""
        raise NotImplementedError


def targets_of(given: InFiles, b: Given) -> Any:
    """``b``, or else the targets that are in the files."""
    if b is not None:
        return b
    found = given.part("targets")
    if found is None:
        raise ValueError("These files hold no targets, or several for each row: give b, one number or label a row.")
    return found


class Shards:
    """A in parts of consecutive rows, mapped into memory and let go after each pass."""

    given_by_columns = False

    def __init__(self, given: InFiles, name: str) -> None:
        self.files = given
        self.shape, self.stored = given.shape, given.entries
        self.sparse = given.layout == "csr"
        _data.refuse_size(self.shape, name)
        self.parts = [shard.A for shard in given.shards() if shard.A.shape[0] > 0]
        self.mapped = [mapped_bytes(part) for part in self.parts]
        self.starts = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        for part, own in zip(self.parts, self.mapped, strict=True):
            _data.refuse_infinite(part.data if self.sparse else part.ravel(order="K"), name)
            _core.let_go(own)

    @property
    def shifts_are_free(self) -> bool:
        """See ``Matrix``."""
        return not self.sparse

    def has_columns(self) -> bool:
        """See ``Matrix``: other layouts are never built."""
        return False

    def has_rows(self) -> bool:
        """See ``Matrix``."""
        return True

    def layout(self, by_columns: bool, shifts: np.ndarray | None, intercept: bool) -> Any:
        """The compiled view of the rows of each part."""
        if by_columns:
            raise ValueError("Data in files are read by rows.")
        frame = (np.empty(0) if shifts is None else shifts, intercept)
        return PartLayouts([
            _core.sparse_layout(part.data, part.indices, part.indptr, part.shape[1], False, *frame) if self.sparse
            else _core.dense_layout(part, False, *frame)
            for part in self.parts
        ], self.starts, self.mapped)  # fmt: skip

    def ready_layout(self, shifts: np.ndarray | None, intercept: bool) -> Any:
        """The layout that is there."""
        return self.layout(False, shifts, intercept)

    def core(self, problem: Any) -> _core.ProblemInParts:
        """The compiled problem on these data, over the parts."""
        if problem.loss.own:
            raise ValueError(
                f"{problem.loss.name}, a loss of your own, needs all rows in memory, and these stay in files."
            )
        penalty = problem.penalty
        if penalty.unpenalised(problem.n_features).any() or penalty.absent or penalty.free:
            raise ValueError(
                "Rows in files need a penalty on every feature but the intercept, because the certificate projects "
                f"dual points on columns without one. Add a little, say {problem.words.penalise}."
            )
        layouts, added = problem.ready_layout().layouts, problem.core_offset
        rows = [slice(begin, end) for begin, end in pairwise(self.starts.tolist())]
        parts = [
            _core.Problem(
                layout, problem.loss.core, problem.targets[own], problem.weights[own], problem.core_penalty, added[own]
            )
            for layout, own in zip(layouts, rows, strict=True)
        ]
        return _core.ProblemInParts(parts, self.mapped)

    def exact_means(self, means: np.ndarray) -> np.ndarray:
        """See ``Matrix.exact_means``."""
        first = np.asarray(self.parts[0][[0]].toarray()[0] if self.sparse else self.parts[0][0], dtype=np.float64)
        alike = np.flatnonzero(np.isclose(means, first, rtol=1e-10, atol=0.0) & (first != 0))
        for part, own in zip(self.parts, self.mapped, strict=True):
            if alike.size == 0:
                break
            columns = part[:, alike].toarray() if self.sparse else part[:, alike]
            alike = alike[(columns == first[alike]).all(axis=0)]
            del columns
            _core.let_go(own)
        means[alike] = first[alike]
        return means


class PartLayouts:
    """The products that a problem needs of its data, part by part."""

    def __init__(self, layouts: list[Any], starts: np.ndarray, mapped: list[list[np.ndarray]]) -> None:
        self.layouts, self.starts, self.mapped = layouts, starts, mapped

    def _each(self) -> Iterator[tuple[Any, slice]]:
        for k, (layout, own) in enumerate(zip(self.layouts, self.mapped, strict=True)):
            yield layout, slice(int(self.starts[k]), int(self.starts[k + 1]))
            _core.let_go(own)

    def _sum(self, product: Callable[[Any, slice], np.ndarray]) -> np.ndarray:
        total: np.ndarray | float = 0.0
        for layout, rows in self._each():
            total = total + product(layout, rows)
        return np.asarray(total)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """A x."""
        return np.concatenate([layout.apply(x) for layout, _ in self._each()])

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        """A'y."""
        return self._sum(lambda layout, rows: layout.adjoint(np.ascontiguousarray(y[rows])))

    def column_squared_norms(self, weights: np.ndarray) -> np.ndarray:
        """sum_i w_i a_ij^2 for each column j."""
        return self._sum(lambda layout, rows: layout.column_squared_norms(np.ascontiguousarray(weights[rows])))


def mapped_bytes(part: AnyMatrix) -> list[np.ndarray]:
    """The bytes of the arrays of a part that are mapped from files, read-only."""
    arrays = (part.data, part.indices, part.indptr) if sp.issparse(part) else (part,)
    return [
        array.reshape(-1).view(np.uint8) for array in arrays
        if array.size and array.flags.c_contiguous and not array.flags.writeable and _is_mapped(array)
    ]  # fmt: skip


def _is_mapped(array: Any) -> bool:
    while array is not None:
        if isinstance(array, np.memmap):
            return array.mode == "r"
        array = getattr(array, "base", None)
    return False
