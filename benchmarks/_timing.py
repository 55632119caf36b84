"""Timing. Compare times as ratios within one run, because machines are shared and seconds vary."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

warnings.filterwarnings("ignore", message=".*(onverge|ran out).*")


def clock(threads: int) -> Callable[[], float]:
    """The clock of a race: on one thread the processor's, which other programs hardly lengthen."""
    return time.process_time if threads == 1 else time.perf_counter


def best(function: Callable[[], object], repeats: int = 9) -> float:
    """The fastest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times)


def per_epoch(run: Callable[[int], object], first: int, last: int) -> float:
    """Seconds an epoch, from ``run(epochs)`` at two lengths: set-up and certificates cancel."""
    return (best(lambda: run(last)) - best(lambda: run(first))) / (last - first)


def streaming_limit(size: int) -> float:
    """Seconds a byte to read ``size`` bytes again and again, in order: a lower bound for code that reads them all."""
    values = np.ones(max(size // 8, 1))
    return best(lambda: values.dot(values), 15) / values.nbytes


def table(rows: list[dict[str, object]]) -> str:
    """Rows as text, columns aligned."""
    names = list(rows[0])
    cells = [names] + [[str(row[name]) for name in names] for row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def markdown(rows: list[dict[str, object]]) -> str:
    """Rows as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join(lines + ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows])


def shown(value: float) -> str:
    """Three digits, or a dash for what was not reached."""
    return "-" if not np.isfinite(value) else f"{value:.3g}"
