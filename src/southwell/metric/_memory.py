"""Refuse problems that do not fit in memory, before any work."""

from __future__ import annotations

import os
from pathlib import Path

from .._names import positive


def available() -> float:
    """The free memory in bytes; infinity if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, OSError, ValueError):
        return float("inf")


def refuse_beyond(limit: float | None, needed: float, what: str, advice: str) -> None:
    """Raise if ``needed`` exceeds ``limit``, in bytes; None: three quarters of the free memory."""
    allowed = 0.75 * available() if limit is None else positive("memory_limit", limit)
    if needed > allowed:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.3g} GiB; memory_limit allows {allowed / 2**30:.3g} GiB"
            f"{' (three quarters of what is free)' if limit is None else ''}. {advice}"
        )
