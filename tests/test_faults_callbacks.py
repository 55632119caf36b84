"""Callbacks that raise anything, solve, recurse, delete or answer oddly; and data that change under a solve."""

import asyncio
import contextlib
import gc
import sys
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import ConvergenceWarning


def made(seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((120, 30))
    return A, A[:, 0] - A[:, 1] + 0.3 * rng.standard_normal(120)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


RAISED = [
    ValueError("x"), SystemExit(3), GeneratorExit(), StopIteration(1), StopAsyncIteration(), RecursionError(),
    MemoryError(), asyncio.CancelledError(), Unprintable(), ExceptionGroup("two", [ValueError(), TypeError()]),
    BaseExceptionGroup("one", [KeyboardInterrupt()]), UnicodeDecodeError("utf-8", b"x", 0, 1, "why"), AssertionError(),
]  # fmt: skip

METHODS = {
    "auto": {}, "accelerated_cd": {}, "spdc": {}, "dgpd": {}, "fista": {}, "lbfgs": {"l1": 0.0},
}  # fmt: skip


@pytest.mark.parametrize("raised", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_a_callback_raises_reaches_the_caller_unchanged(raised):
    A, b = made()
    want = sw.solve(A, b, l1=0.01).x

    def callback(*_):
        raise raised

    for work in (
        lambda: sw.solve(A, b, l1=0.01, callback=callback),
        lambda: sw.solve_many(A, np.c_[b, b], l1=0.01, callback=callback, n_threads=2),
        lambda: sw.path(sw.Problem(A, b), n_points=3, callback=callback),
    ):
        with pytest.raises(type(raised)) as caught:
            work()
        assert caught.value is raised
        raised.__traceback__ = None
    np.testing.assert_array_equal(sw.solve(A, b, l1=0.01).x, want)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_survives_its_callback(method):
    A, b = made()
    given = {"l1": 0.01, "l2": 0.1, "method": method, "max_epochs": 200, **METHODS[method]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        want = sw.solve(A, b, **given).x
        for raised in (SystemExit, GeneratorExit, MemoryError):

            def callback(progress, raised=raised):
                raise raised

            with pytest.raises(raised):
                sw.solve(A, b, **given, callback=callback)
        np.testing.assert_array_equal(sw.solve(A, b, **given).x, want)


def test_a_class_raised_and_an_exception_while_another_is_handled():
    A, b = made()

    def callback(progress):
        try:
            raise KeyError("first")
        except KeyError:
            raise LookupError from None

    try:
        raise OSError("outer")
    except OSError:
        with pytest.raises(LookupError):
            sw.solve(A, b, l1=0.01, callback=callback)
    assert sys.exc_info() == (None, None, None)


def test_a_callback_that_solves_the_same_problem_within_itself():
    A, b = made()
    problem, depths = sw.Problem(sp.csr_array(A), b, penalty=sw.penalties.ElasticNet(0.01)), []
    want = sw.solve(problem).x

    def solve(depth):
        depths.append(depth)
        return sw.solve(problem, callback=(lambda _: solve(depth + 1) and None) if depth < 4 else None)

    np.testing.assert_array_equal(solve(0).x, want)
    assert max(depths) == 4


def test_a_callback_that_solves_without_end_meets_the_limit_of_recursion():
    A, b = made()

    def callback(progress):
        sw.solve(A, b, l1=0.01, callback=callback)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(_stack()) + 150)
    try:
        with pytest.raises(RecursionError):
            sw.solve(A, b, l1=0.01, callback=callback)
    finally:
        sys.setrecursionlimit(before)
    assert sw.solve(A, b, l1=0.01).status is sw.Status.CONVERGED


def _stack() -> list:
    frame, frames = sys._getframe(), []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def test_what_a_callback_deletes_is_kept_by_the_solve():
    A, b = made()
    want = sw.solve(A, b, l1=0.01).x
    held = {"A": A.copy(), "b": b.copy()}
    held["problem"] = sw.Problem(held["A"], held["b"], penalty=sw.penalties.ElasticNet(0.01))

    def callback(progress):
        held.clear()
        gc.collect()
        np.full((200, 200), np.nan)  # which may take the memory that was freed

    np.testing.assert_array_equal(sw.solve(held["problem"], callback=callback).x, want)


@pytest.mark.parametrize("odd", [1, "no", np.bool_(True), np.array([2]), float("nan"), object()])
def test_answers_that_are_true_stop(odd):
    A, b = made()
    assert sw.solve(A, b, l1=0.01, tol=0.0, callback=lambda _: odd).status is sw.Status.STOPPED


def test_an_answer_whose_truth_raises():
    class Neither:
        def __bool__(self):
            raise ZeroDivisionError

    A, b = made()
    with pytest.raises(ZeroDivisionError):
        sw.solve(A, b, l1=0.01, callback=lambda _: Neither())


def test_a_callback_that_switches_threads_and_is_handed_to_others():
    A, b = made()
    want = sw.solve(A, b, l1=0.01).x
    found = []

    def callback(progress):
        thread = threading.Thread(target=lambda: found.append(sw.solve(A, b, l1=0.01).x))
        thread.start()
        thread.join()

    np.testing.assert_array_equal(sw.solve(A, b, l1=0.01, callback=callback).x, want)
    assert found and all(np.array_equal(x, want) for x in found)


@pytest.mark.parametrize("form", [np.asfortranarray, np.ascontiguousarray, sp.csr_array, sp.csc_array])
def test_values_changed_by_another_thread(form):
    """Nothing is promised of that answer, but that it comes, and that the next one is right."""
    A, b = made()
    data = form(A)
    values = data.data if sp.issparse(data) else data
    kept, over = values.copy(), threading.Event()

    def change():
        rng = np.random.default_rng(0)
        while not over.is_set():
            values[...] = rng.choice([1.0, np.nan, 1e300, 0.0], size=values.shape)

    thread = threading.Thread(target=change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = sw.Problem(data, b, penalty=sw.penalties.ElasticNet(0.01, 0.01))
        thread.start()
        for method in ("auto", "coordinate_descent", "accelerated_cd", "spdc"):
            with contextlib.suppress(ValueError):  # some look at norms first, and say that they overflow
                sw.solve(problem, method=method, max_epochs=50)
        over.set()
        thread.join()
    values[...] = kept
    again = sw.solve(sw.Problem(data, b, penalty=sw.penalties.ElasticNet(0.01, 0.01)))
    np.testing.assert_array_equal(again.x, sw.solve(form(A), b, l1=0.01, l2=0.01).x)
