"""Signals at random moments, in processes of their own."""

import json
import signal

import pytest

from faults.interrupts import HANDLERS, JOBS
from faults.processes import output

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")


def told(job: str, handler: str, seed: int, attempts: int) -> dict[str, int]:
    """How often a job ended in which way. The script checks the answer after every attempt."""
    return json.loads(output("interrupts", job, handler, seed, attempts)[-1])


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
