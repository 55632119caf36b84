"""Refuse what does not fit before working on it."""

from __future__ import annotations

import os
from pathlib import Path

from .._names import positive


def available() -> float:
    """Bytes that may still be used; infinity where the system does not tell."""
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
    """``limit`` in bytes; None: three quarters of what is available."""
    allowed = 0.75 * available() if limit is None else positive("memory_limit", limit)
    if needed > allowed:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.3g} GiB; memory_limit allows {allowed / 2**30:.3g} GiB"
            f"{' (three quarters of what is free)' if limit is None else ''}. {advice}"
        )
