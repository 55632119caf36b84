"""Signals at random moments, in processes of their own."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults.interrupts import HANDLERS, JOBS

SCRIPT = Path(__file__).parent / "faults" / "interrupts.py"
pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")


def told(job: str, handler: str, seed: int, attempts: int) -> dict[str, int]:
    """How often a job ended in which way. The script checks the answer after every attempt."""
    if job == "search":
        pytest.importorskip("hnswlib")
    command = [sys.executable, SCRIPT, job, handler, str(seed), str(attempts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("job", "handler"), [("solve", "ctrl-c"), ("solve_many", "bell"), ("lbfgs", "ctrl-c")])
def test_some_signals_at_random_moments(job, handler):
    ends = told(job, handler, seed=0, attempts=12)
    assert sum(ends.values()) == 12
    assert ends.get("right", 0) < 12  # else no signal was heard


@pytest.mark.slow
@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("job", JOBS)
def test_many_signals_at_random_moments(job, handler):
    ends = told(job, handler, seed=1, attempts=40)
    allowed = {"ctrl-c": {"Interrupted", "KeyboardInterrupt", "right"}, "bell": {"Bell", "right"}, "silent": {"right"}}
    ends.pop("lost by Thread.start", None)
    assert set(ends) <= allowed[handler]
