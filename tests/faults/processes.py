"""Modules of this folder run in processes of their own, so that a crash is theirs alone."""

from __future__ import annotations

import os
import subprocess
import sys


def output(module: str, *arguments: object, seconds: float = 900, **environment: str) -> list[str]:
    """The lines that ``faults.<module>`` prints. Where it dies, the last of them is in the message."""
    path = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))  # the tests, and southwell wherever it is
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads spin, which takes minutes on a busy machine
    done = subprocess.run(
        [sys.executable, "-m", f"faults.{module}", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} ended it with {done.returncode}:\n{done.stderr[-3000:]}"
    return lines
