"""What the figures of a run depend on: the machine, its clock, and the versions of what computed them."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

from .. import __version__

FINE = time.get_clock_info("process_time").resolution < 1e-4  # not on Windows
CLOCK = time.process_time if FINE else time.perf_counter
"""Where it is fine enough, the time of the processor, for work on one thread: other programs hardly lengthen it."""


def machine() -> dict[str, str | int]:
    """Processor, cores and system; no names of hosts or users."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of Python, southwell and what it stands on."""
    return {
        "python": platform.python_version(),
        "southwell": __version__,
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
                platform.processor() or "unknown")  # fmt: skip
