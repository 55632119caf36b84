"""Ctrl-C, other signals and the clock end a solve with a usable result."""

import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import southwell as sw
from long_solves import FOREVER, LONG, hard, interrupted, made
from signals import signal_on_call
from southwell import ConvergenceWarning


@pytest.mark.parametrize("case", LONG)
def test_ctrl_c_ends_it_with_a_usable_result(case):
    make, options = LONG[case]
    A, b = make()
    problem = sw.Problem(
        A, b, options.get("loss", "squared"),
        sw.penalties.ElasticNet(options.get("l1", 0.0), options.get("l2", 0.0)),
        intercept=options.get("intercept", False),
    )  # fmt: skip
    stop = interrupted(problem, None, method=options.get("method", "auto"))
    assert isinstance(stop, sw.Interrupted)
    r = stop.result
    assert r.status is sw.Status.INTERRUPTED and not r.status
    assert np.isfinite(r.x).all() and np.isfinite(r.primal) and r.gap >= 0
    assert len(r.history["epoch"]) >= 1
    assert "INTERRUPTED" in repr(r)
    primal, _, _ = problem.certify(r.x, intercept=r.intercept)
    assert primal <= r.primal + 1e-9 * abs(r.primal)


@pytest.mark.parametrize("case", LONG)
def test_max_seconds_is_kept(case):
    make, options = LONG[case]
    A, b = make()
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, tol=0.0, max_epochs=10**9, max_seconds=0.1, **options)
    assert r.status is sw.Status.MAX_SECONDS and r.seconds > 0
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, tol=0.0, max_epochs=10**9, max_seconds=1e-9, **options)
    assert r.status is sw.Status.MAX_SECONDS and len(r.history["epoch"]) == 1, "no work without time for it"


def test_max_seconds_is_kept_by_the_first_solve_of_a_process():
    code = """
import warnings
import numpy as np, southwell as sw
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
A, b = rng.standard_normal((500, 1)) + 0.05 * rng.standard_normal((500, 300)), rng.standard_normal(500)
print(sw.solve(A, b, l1=1e-7, tol=0.0, max_epochs=10**9, max_seconds=0.5).status.name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["MAX_SECONDS"]


def test_ctrl_c_from_outside_the_process_ends_the_solve():
    code = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are born deaf to it
import numpy as np, southwell as sw
rng = np.random.default_rng(0)
A, b = rng.standard_normal((1000, 1)) + 0.05 * rng.standard_normal((1000, 500)), rng.standard_normal(1000)
ready = []
def callback(progress):
    if not ready:
        print("ready", flush=True)
    ready.append(1)
try:
    sw.solve(A, b, l1=1e-7, tol=0.0, max_epochs=10**9, max_seconds=300, callback=callback)
except sw.Interrupted as stop:
    print("interrupted", stop.result.status.name, stop.result.x.size)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert out.split() == ["interrupted", "INTERRUPTED", "500"]


def test_a_result_interrupted_can_be_resumed():
    A, b = hard(400, 200)
    stop = interrupted(A, b, l1=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        r = sw.solve(A, b, l1=1e-4, warm_start=stop.result, max_epochs=0)
    assert r.primal <= stop.result.primal * (1 + 1e-9)


def test_other_signals_pass_on_their_exceptions():
    class Bell(Exception):
        pass

    def ring(*_):
        raise Bell("rung")

    A, b = hard()
    with signal_on_call(signal.SIGUSR1, ring) as send, pytest.raises(Bell, match="rung"):
        sw.solve(A, b, l1=1e-6, callback=send, **FOREVER)


def test_a_signal_handler_that_does_not_raise_lets_the_solve_go_on():
    heard, after = [], []
    A, b = hard()

    def callback(progress):
        send()
        after.extend([progress.epoch] * len(heard))
        return len(after) == 3

    with signal_on_call(signal.SIGUSR1, lambda *_: heard.append(1)) as send:
        r = sw.solve(A, b, l1=1e-6, callback=callback, **FOREVER)
    assert heard == [1] and r.status is sw.Status.STOPPED and len(set(after)) == 3


def test_ctrl_c_in_a_callback_ends_the_solve():
    def callback(progress):
        raise KeyboardInterrupt

    A, b = made()
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve(A, b, l1=0.01, callback=callback)
    assert caught.value.result.status is sw.Status.INTERRUPTED


@pytest.mark.parametrize("limit", [{"max_epochs": 3}, {"max_seconds": 0.2, "max_epochs": 10**9}])
def test_the_warning_carries_gap_tolerance_and_advice(limit):
    A, b = hard(400, 200)
    with pytest.warns(ConvergenceWarning) as caught:
        r = sw.solve(A, b, l1=1e-7, tol=1e-13, method="coordinate_descent", **limit)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert f"{r.gap:.3g}" in text and f"{r.relative_gap:.3g}" in text and "1e-13" in text
    assert next(iter(limit)) in text and "warm_start" in text
    assert r.status is (sw.Status.MAX_EPOCHS if "max_seconds" not in limit else sw.Status.MAX_SECONDS)
    assert not r.status


def test_a_converged_or_stopped_solve_does_not_warn():
    A, b = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sw.solve(A, b, l1=0.01).status is sw.Status.CONVERGED
        assert sw.solve(A, b, l1=0.01, callback=lambda p: True).status is sw.Status.STOPPED
