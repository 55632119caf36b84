"""Ctrl-C that arrives while Python runs the callback of a weak reference or a finaliser ends the work all the same."""

import os
import signal
import sys
import threading
import weakref

import numpy as np
import pytest

import southwell as sw
from metrics import problem
from southwell._interrupts import Interrupts

RNG = np.random.default_rng(0)
A = RNG.normal(size=(60, 30))
B = RNG.normal(size=60)
LONG = {"l1": 1e-7, "tol": 0.0, "max_epochs": 10**9, "max_seconds": 300}  # ends by Ctrl-C, or is given up


class Thing:
    """Something that can be referred to weakly."""


class Finalised:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # bytecodes, between which the handler runs
            pass


def interrupted_in_a_callback():
    def gone(_):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

    thing = Thing()
    reference = weakref.ref(thing, gone)
    del thing
    assert reference() is None


def interrupted_in_a_finaliser():
    Finalised()


LOSSES = [interrupted_in_a_callback, interrupted_in_a_finaliser]


@pytest.fixture(autouse=True)
def python_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    hook = sys.unraisablehook
    yield
    signal.signal(signal.SIGINT, before)
    assert sys.unraisablehook is hook


@pytest.mark.parametrize("lose", LOSSES)
def test_python_alone_would_lose_it(lose):
    heard = []
    before, sys.unraisablehook = sys.unraisablehook, lambda unraisable: heard.append(unraisable.exc_type)
    try:
        lose()
    finally:
        sys.unraisablehook = before
    assert heard == [KeyboardInterrupt]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("method", ["auto", "lbfgs", "coordinate_descent", "spdc"])
def test_solve(lose, method):
    seen = []

    def callback(progress):
        seen.append(progress.epoch)
        if len(seen) == 3:
            lose()

    options = LONG | ({"l2": 1e-3} if method == "spdc" else {})
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve(A, B, method=method, callback=callback, **options)
    assert caught.value.result.status is sw.Status.INTERRUPTED


@pytest.mark.parametrize("lose", LOSSES)
def test_solve_while_it_prepares(lose, monkeypatch):
    prepare = sw.methods.Auto.prepare
    monkeypatch.setattr(sw.methods.Auto, "prepare", lambda *given: (lose(), prepare(*given))[1])
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve(A, B, **LONG)
    assert caught.value.result.status is sw.Status.INTERRUPTED


@pytest.mark.parametrize("lose", LOSSES)
def test_path(lose):
    seen = []

    def callback(k, progress):
        seen.append(k)
        if k == 2:
            lose()

    with pytest.raises(sw.Interrupted) as caught:
        sw.path(sw.Problem(A, B), n_points=20, tol=1e-10, callback=callback)
    assert max(seen) == 2 and len(caught.value.result) == 3


@pytest.mark.parametrize("lose", LOSSES)
def test_solve_many_while_it_waits(lose, monkeypatch):
    module = sys.modules["southwell.solve_many"]
    wait = module.wait
    monkeypatch.setattr(module, "wait", lambda *given, **options: (lose(), wait(*given, **options))[1])
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve_many(A, np.stack([B, -B, 2 * B], axis=1), **LONG)
    assert len(caught.value.result) == 3


def test_matrix_risks():
    seen = []

    def callback(progress):
        seen.append(progress.epoch)
        if len(seen) == 2:
            interrupted_in_a_callback()

    with pytest.raises(sw.Interrupted) as caught:
        problem().solve("fista", tol=0.0, max_epochs=10**9, max_seconds=300, callback=callback)
    assert caught.value.result.status is sw.Status.INTERRUPTED


def test_an_interrupt_that_the_callback_handles_is_handled():
    def callback(progress):
        if progress.epoch < 3:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    pass
            except KeyboardInterrupt:
                pass

    assert sw.solve(A, B, l1=0.1, callback=callback).status is sw.Status.CONVERGED


def test_other_exceptions_go_where_they_went():
    heard = []
    before, sys.unraisablehook = sys.unraisablehook, heard.append

    class Failing:
        def __del__(self):
            raise ZeroDivisionError

    try:
        r = sw.solve(A, B, l1=0.1, callback=lambda progress: Failing() and None)
    finally:
        sys.unraisablehook = before
    assert r.status is sw.Status.CONVERGED
    assert {one.exc_type for one in heard} == {ZeroDivisionError}


def test_a_hook_set_meanwhile_stays():
    before = sys.unraisablehook

    def other(unraisable):
        raise AssertionError

    with Interrupts():
        sys.unraisablehook = other
    assert sys.unraisablehook is other
    sys.unraisablehook = before


def test_other_threads_leave_the_hook_alone():
    hooks = []

    def work():
        with Interrupts():
            hooks.append(sys.unraisablehook)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert hooks == [sys.unraisablehook]
