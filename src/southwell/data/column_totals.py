"""Statistics of the columns of a store, of any number of them, in bounded memory.

The core counts in memory. When that takes too much, what was counted is written to files, which are merged at the end,
a range of columns at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _core
from .._typing import AnyMatrix
from .manifest import STATISTICS, Entry, stored_array

MOST_BYTES = 1 << 26  # in memory
RANGE = 1 << 20  # columns that are merged at a time
BLOCK = 1 << 18  # entries of dense rows that are counted at a time
Part = dict[str, np.ndarray]


class ColumnTotals:
    """Counts rows; ``finish`` writes the statistics, together with those that a store has."""

    def __init__(self, write: Callable[..., Entry], drop: Callable[[Entry], None]) -> None:
        self._write, self._drop = write, drop
        self._now = _core.ColumnStatistics()
        self._spilled: list[dict[str, Entry]] = []

    def add(self, A: AnyMatrix) -> None:
        """Count the entries of these rows."""
        if sp.issparse(A):
            self._now.add(A.data, A.indices.astype(np.int32, copy=False))
        else:
            step = max(1, BLOCK // max(1, A.shape[1]))
            for start in range(0, A.shape[0], step):
                rows = A[start : start + step]
                places, columns = np.nonzero(rows)
                self._now.add(rows[places, columns], columns.astype(np.int32))
        if self._now.bytes > MOST_BYTES:
            self._spilled.append(self._written(f"spilled_{len(self._spilled)}", [self._taken()]))

    def finish(self, folder: Path, old: dict[str, Entry]) -> dict[str, Entry]:
        """The files of the statistics of all rows."""
        mapped = [{name: stored_array(folder, part[name], kind, None, mapped=True) for name, kind in STATISTICS.items()}
                  for part in [*([old] if old else []), *self._spilled]]  # fmt: skip
        made = self._written("statistics", [*mapped, self._taken()])
        mapped.clear()
        for part in self._spilled:
            for entry in part.values():
                self._drop(entry)
        return made

    def _taken(self) -> Part:
        return dict(zip(STATISTICS, self._now.take(), strict=True))

    def _written(self, of: str, parts: list[Part]) -> dict[str, Entry]:
        size = sum(block["columns"].size for block in merged(parts))
        return {
            name: self._write(f"{of}.{name}.npy", np.dtype(kind), (block[name] for block in merged(parts)), (size,))
            for name, kind in STATISTICS.items()
        }


def merged(parts: list[Part]) -> Iterator[Part]:
    """Statistics of the same columns added up, in ranges of columns that increase."""
    if len(parts) == 1:
        yield parts[0]
        return
    places = [0] * len(parts)
    while True:
        ahead = [int(part["columns"][at]) for part, at in zip(parts, places, strict=True) if at < part["columns"].size]
        if not ahead:
            return
        first = min(ahead)
        total: dict[str, Any] = {name: np.zeros(RANGE, kind) for name, kind in STATISTICS.items()}
        for k, part in enumerate(parts):
            start = places[k]
            stop = places[k] = start + int(np.searchsorted(part["columns"][start : start + RANGE], first + RANGE))
            columns = part["columns"][start:stop] - first
            for name in ("counts", "sums", "squares"):
                total[name][columns] += part[name][start:stop]
            total["largest"][columns] = np.maximum(total["largest"][columns], part["largest"][start:stop])
        found = np.flatnonzero(total["counts"])
        total["columns"][found] = found + first
        yield {name: values[found] for name, values in total.items()}
