"""Processes: forked in a callback, spawned, and ended in the middle of a solve."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")


def made():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2000, 60))  # large enough for helpers
    return sp.csr_array(A), np.where(A[:, 0] + 0.5 * rng.standard_normal(2000) > 0, 1.0, -1.0)


METHODS = {
    "helpers": {"n_threads": 2},
    "crew": {"n_threads": 1, "max_epochs": 3, "method": sw.methods.SPDC(batch=16, n_threads=2)},
}


@forks
@pytest.mark.parametrize("case", METHODS)
def test_a_child_forked_in_a_callback_goes_on_with_the_solve(case):
    """Its parent's threads are not there, so it must not wait for them: not for their work, and not for their end."""
    A, b = made()
    given = {"loss": "smooth_hinge", "l1": 1e-3, "l2": 1e-3, **METHODS[case]}
    children = []

    def callback(progress):
        if not children:
            children.append(os.fork())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = sw.solve(A, b, **given)
        try:
            found = sw.solve(A, b, callback=callback, **given)
            same = np.array_equal(found.x, want.x) and np.array_equal(sw.solve(A, b, **given).x, want.x)
        finally:
            if children == [0]:  # the child leaves here, whatever happened
                os._exit(0 if same else 1)
    assert same
    assert _status(children[0]) == 0


def _status(child: int) -> int:
    """The exit status of a child, which is killed if it does not end."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(60)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _solved(result):
    A, b = made()
    again = sw.solve(A, b, loss="smooth_hinge", l1=1e-3, l2=1e-3, warm_start=result)
    return again.status.name, sw.solve(A, b, loss="smooth_hinge", l1=1e-3, l2=1e-3).x


@pytest.mark.slow
@pytest.mark.parametrize("how", ["spawn", "forkserver", "fork"])
def test_other_processes_give_the_same_numbers(how):
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {how}")
    A, b = made()
    want = sw.solve(A, b, loss="smooth_hinge", l1=1e-3, l2=1e-3)
    with ProcessPoolExecutor(2, multiprocessing.get_context(how)) as pool:
        for status, x in pool.map(_solved, [want, pickle.loads(pickle.dumps(want))]):
            assert status == "CONVERGED"
            np.testing.assert_array_equal(x, want.x)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_gives_the_same_numbers(backend):
    joblib = pytest.importorskip("joblib")
    A, b = made()
    want = sw.solve(A, b, loss="smooth_hinge", l1=1e-3, l2=1e-3)
    for status, x in joblib.Parallel(2, backend=backend)(joblib.delayed(_solved)(want) for _ in range(4)):
        assert status == "CONVERGED"
        np.testing.assert_array_equal(x, want.x)


# The end of the interpreter


BEFORE = """
import atexit, os, sys, threading, time
import numpy as np, southwell as sw
rng = np.random.default_rng(0)
A = np.asfortranarray(rng.standard_normal((800, 1)) + 0.05 * rng.standard_normal((800, 400)))
b = rng.standard_normal(800)
def forever(**more):
    import warnings
    warnings.simplefilter("ignore")
    sw.solve(A, b, l1=1e-9, tol=0.0, max_epochs=10**9, n_threads=2, **{"max_seconds": 60, **more})
def short():
    return sw.solve(A[:50, :5], b[:50], l1=0.1).status.name
def daemon(**more):
    thread = threading.Thread(target=forever, kwargs=more, daemon=True)
    thread.start()
    time.sleep(0.1)
"""

ENDS = {
    "a daemon thread that solves": ("daemon()", 0, ""),
    "one that ends a solve meanwhile": ("[daemon(max_seconds=0.31 + 0.005 * k) for k in range(2)]", 0, ""),
    "one that calls back": ("daemon(method='coordinate_descent', callback=lambda p: sum(range(1000)) < 0)", 0, ""),
    "one that runs SciPy": ("threading.Thread(target=lambda: [sw.solve(A, b, l2=1e-9, tol=0., method='lbfgs', "
                            "max_epochs=10**6, max_seconds=60)], daemon=True).start(); time.sleep(0.3)", 0, ""),
    "sys.exit in a callback": ("sw.solve(A, b, l1=0.1, callback=lambda p: sys.exit(3))", 3, ""),
    "os._exit in a callback": ("sw.solve(A, b, l1=0.1, n_threads=2, callback=lambda p: os._exit(4))", 4, ""),
    "os._exit beside a solve": ("daemon(); os._exit(5)", 5, ""),
    "sys.exit beside a solve": ("daemon(); sys.exit(6)", 6, ""),
    "a solve at exit": ("atexit.register(lambda: print(short()))", 0, "CONVERGED"),
    "a solve as an object dies": ("class Last:\n    def __del__(self, short=short):\n        print(short())\n"
                                  "last = Last()", 0, "CONVERGED|shutting down"),
    "solve_many at exit": ("atexit.register(lambda: print(len(sw.solve_many(A[:50, :5], np.c_[b, b][:50], l1=.1, "
                           "n_threads=1))))", 0, "2|shutdown"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDS)
def test_the_interpreter_ends_in_the_middle(case):
    code, status, words = ENDS[case]
    done = subprocess.run([sys.executable, "-c", BEFORE + code], capture_output=True, text=True, timeout=50)
    assert done.returncode == status, done.stderr
    assert "terminate" not in done.stderr and "Fatal" not in done.stderr
    answer, _, refusal = words.partition("|")  # some things Python refuses to do that late, which is said
    assert done.stdout.strip() == answer or (refusal and refusal in done.stderr), done.stderr
