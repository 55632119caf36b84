"""Saddle methods can be stopped, and L-BFGS leaves no thread behind."""

import contextlib
import gc
import threading

import numpy as np
import pytest

import southwell as sw
from long_solves import hard, interrupted
from saddle_methods import METHODS
from saddles import begin, honest, problem_of, quietly
from southwell.methods import LBFGS, SPDC
from southwell.penalties import ElasticNet

# Who may stop them


LONG = {name: METHODS[name] for name in METHODS if name not in ("dspdc, point", "dgpd, few", "dgpd, several")}
LONG["spdc, batches"] = SPDC(batch=50, n_threads=2)


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_solve(name):
    A, b = hard(600, 300)
    problem = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9))
    stop = interrupted(problem, None, method=LONG[name])
    assert isinstance(stop, sw.Interrupted)
    assert stop.result.status is sw.Status.INTERRUPTED
    honest(stop.result)


@pytest.mark.parametrize("name", LONG)
def test_clock_and_callbacks_end_a_solve(name):
    A, b = hard(200, 100)
    problem, options = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9)), {"method": LONG[name], "tol": 0.0}
    r = quietly(problem, max_epochs=10**9, max_seconds=0.15, **options)
    assert r.status is sw.Status.MAX_SECONDS
    told = []
    r = quietly(problem, max_epochs=6, check_every=2, callback=told.append, **options)
    assert [p.epoch for p in told] == [0, 2, 4, 6]
    for field in ("primal", "dual", "gap", "moves", "entries"):
        assert [getattr(p, field) for p in told] == r.history[field].tolist()
    assert r.status is sw.Status.MAX_EPOCHS and r.epochs == 6
    r = sw.solve(problem, callback=lambda p: p.epoch >= 3, **options)
    assert r.status is sw.Status.STOPPED and r.epochs >= 3
    honest(r)

    def broken(progress):
        if progress.epoch >= 2:
            raise LookupError("odd")

    with pytest.raises(LookupError, match="odd"):
        sw.solve(problem, callback=broken, **options)


@pytest.mark.parametrize("name", LONG)
def test_same_seed_same_result(name):
    problem = problem_of("logistic", "l2", "sparse", n=60, d=40)
    runs = [quietly(problem, method=LONG[name], max_epochs=7, tol=0.0, seed=seed) for seed in (3, 3)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes() and runs[0].y.tobytes() == runs[1].y.tobytes()
    assert runs[0].history["entries"].tolist() == runs[1].history["entries"].tolist()


# The thread of L-BFGS


def settled_threads(before):
    """Threads beyond those of before, once those that end have ended; without the help of the garbage collector."""
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=300)
    return set(threading.enumerate()) - before


@pytest.fixture
def no_threads_left():
    before = set(threading.enumerate())
    gc.collect()
    gc.disable()
    yield lambda: settled_threads(before) == set()
    gc.enable()
    gc.collect()
    for thread in settled_threads(before):  # not to disturb the next test
        assert thread.daemon


def test_lbfgs_leaves_no_thread(no_threads_left):
    A, b = hard(200, 100)
    problem = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9))
    for options in ({"l2": 0.1}, {"l1": 0.1, "loss": "logistic"}):
        assert sw.solve(A, np.sign(b), method="lbfgs", **options).status is sw.Status.CONVERGED
        assert no_threads_left()
    quietly(problem, method="lbfgs", tol=0.0, max_epochs=5)
    assert no_threads_left()
    quietly(problem, method="lbfgs", tol=0.0, max_seconds=0.1, max_epochs=10**9)
    assert no_threads_left()
    sw.solve(problem, method="lbfgs", tol=0.0, callback=lambda p: p.epoch >= 3)
    assert no_threads_left()
    threads = threading.active_count()
    core = begin(LBFGS(), problem)
    core.lead(3)
    assert threading.active_count() == threads + 1
    del core
    assert no_threads_left()


def test_lbfgs_leaves_no_thread_after_an_error(no_threads_left):
    A, b = hard(200, 100)
    with contextlib.suppress(ZeroDivisionError):
        sw.solve(A, b, l2=1e-9, method="lbfgs", tol=0.0, callback=lambda p: p.epoch >= 3 and 1 / 0)
    assert no_threads_left()


def test_lbfgs_leaves_no_thread_after_ctrl_c_while_scipy_works(no_threads_left, monkeypatch):
    """The signal may come while the solve waits for SciPy: then the epoch raises."""
    epoch = sw.methods.full_gradient._Quasi.epoch

    def pressed(self, beat):
        if self.thread is not None:
            raise KeyboardInterrupt
        return epoch(self, beat)

    monkeypatch.setattr(sw.methods.full_gradient._Quasi, "epoch", pressed)
    A, b = hard(200, 100)
    with contextlib.suppress(sw.Interrupted):
        quietly(A, b, l2=1e-9, method="lbfgs", tol=0.0)
    gc.collect()
    assert no_threads_left()


def test_an_error_within_lbfgs_reaches_the_caller(no_threads_left, monkeypatch):
    calls = []
    inner = sw.methods.full_gradient._core.loss_and_slopes

    def broken(*args):
        calls.append(1)
        if len(calls) > 4:
            raise FloatingPointError("odd")
        return inner(*args)

    class Core:
        loss_and_slopes = staticmethod(broken)

    A, b = hard(200, 100)
    monkeypatch.setattr(sw.methods.full_gradient, "_core", Core)
    try:
        sw.solve(A, b, l2=1e-9, method="lbfgs", tol=0.0)
    except FloatingPointError as error:
        assert str(error) == "odd"
    assert len(calls) > 4 and no_threads_left()
