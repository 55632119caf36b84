"""What a study measures: traces of methods, figures, tables and numbers. All of it is written to JSON and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ROLES = ("paper", "ours", "baseline")  # the algorithm as printed; our variant of it; what the paper compares with


@dataclass(frozen=True)
class Trace:
    """One run of one method: columns of equal length, a row for each measurement.

    Attributes
    ----------
    label : str
        The name of the method in the legend.
    role : {"paper", "ours", "baseline"}
        "paper" is the algorithm as printed (a solid line), "ours" a variant of it (dashed), "baseline" a method that
        the paper compares with (thin).
    columns : dict of arrays
        For example ``epoch``, ``passes``, ``moves``, ``seconds``; ``error``, the suboptimality of the best point so
        far; ``latest``, that of the latest point; ``gap``.
    setup : float
        Seconds before the first move (a clustering, an index). They are not in ``seconds``.
    """

    label: str
    role: str
    columns: Mapping[str, np.ndarray]
    setup: float = 0.0

    def reached(self, target: float, unit: str = "seconds", error: str = "error") -> float:
        """``unit`` at the first row where ``error`` is at most ``target``; infinity if there is none."""
        there = np.flatnonzero(self.columns[error] <= target)
        return float(self.columns[unit][there[0]]) if there.size else np.inf

    def last(self, column: str = "error") -> float:
        """The last value of a column."""
        return float(self.columns[column][-1])


@dataclass(frozen=True)
class Race:
    """Several methods on one problem, and the pairs of columns that the paper plots."""

    title: str
    traces: Sequence[Trace]
    views: Sequence[tuple[str, str]] = (("epoch", "error"), ("seconds", "error"))
    logarithmic: str = "y"  # which axes: "", "x", "y" or "xy"
    labels: Mapping[str, str] = field(default_factory=dict)  # of axes, where the name of the column does not say enough
    caption: str = ""

    def __getitem__(self, label: str) -> Trace:
        named = {trace.label: trace for trace in self.traces}
        if label not in named:
            raise KeyError(f"the race {self.title!r} has no {label!r}")
        return named[label]

    def reached(self, label: str, target: float, unit: str = "seconds", error: str = "error") -> float:
        """``Trace.reached`` of a method."""
        return self[label].reached(target, unit, error)


@dataclass(frozen=True)
class Table:
    """Rows of cells (text or numbers) under the same headings."""

    title: str
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Source:
    """Where the data of a study came from.

    ``kind`` is "paper" (the paper's own data, from a file), "stand-in" (other real data) or "synthetic" (a generator).
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    note: str = ""
    sha256: str = ""  # of the arrays as they were read or made


@dataclass(frozen=True)
class Findings:
    """All that a study measured. ``numbers`` are what verdicts are computed from beside the traces."""

    races: Sequence[Race] = ()
    tables: Sequence[Table] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()  # what differs from the paper, in sentences

    def race(self, title: str) -> Race:
        """The race of this title."""
        return next(race for race in self.races if race.title == title)
