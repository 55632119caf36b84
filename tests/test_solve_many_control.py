"""Many problems at once can be stopped in every way."""

import sys
import threading
import time

import numpy as np
import pytest

import southwell as sw
from long_solves import hard
from many_problems import CD, CLASSES, N, made, same
from saddles import honest
from signals import signal_on_call


def test_callback_may_stop_one():
    A, labels = made()
    told = {k: [] for k in range(CLASSES)}

    def callback(k, progress):
        told[k].append(progress)
        return k == 2 and progress.epoch >= 1

    results = sw.solve_many(A, labels, loss="logistic", l2=0.01, tol=1e-9, callback=callback, n_threads=2)
    names = [r.status.name for r in results]
    assert names == ["CONVERGED", "CONVERGED", "STOPPED", "CONVERGED"]
    assert not results.converged
    for k, r in enumerate(results):
        assert all(isinstance(p, sw.Progress) for p in told[k])
        assert [p.gap for p in told[k]] == r.history["gap"].tolist()
        assert (told[k][-1].x == r.x).all()


def test_callbacks_come_one_at_a_time():
    inside, together = [], []

    def callback(k, progress):
        inside.append(k)
        if len(inside) > 1:
            together.append(k)
        time.sleep(0.002)
        inside.remove(k)

    A, labels = made()
    sw.solve_many(A, labels, loss="logistic", l2=0.01, callback=callback, n_threads=4)
    assert not together


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_callback_reaches_the_caller_and_the_others_stop(threads):
    A, b = hard(200, 100)
    Y = np.column_stack([b, -b, b + 1, b + 2])
    last = {}

    def callback(k, progress):
        last[k] = progress.epoch
        if k == 1 and progress.epoch >= 1:
            raise LookupError("odd")

    first = {"callback": lambda k, p: k == 0 or callback(k, p)} if threads == 1 else {"callback": callback}
    with pytest.raises(LookupError, match="odd") as caught:
        sw.solve_many(A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=300, n_threads=threads, method=CD, **first)
    assert "callback" in [entry.name for entry in caught.traceback]
    assert not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate())
    if threads == 1:
        assert 3 not in last  # it never began


def test_max_seconds_is_for_all(monkeypatch):
    """Each problem is told what the others have left."""
    module, left = sys.modules["southwell.solve_many"], []
    run = module.run

    def noted(problem, method, start, settings, *rest):
        left.append(settings.max_seconds)
        return run(problem, method, start, settings, *rest)

    monkeypatch.setattr(module, "run", noted)
    A, b = hard(200, 100)
    Y = np.column_stack([b + k for k in range(6)])
    for threads in (1, 2):
        left.clear()
        with pytest.warns(sw.ConvergenceWarning, match="6 of 6 problems"):
            results = sw.solve_many(
                A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=0.3, n_threads=threads, method=CD
            )
        assert len(left) == 6 and max(left) <= 0.3 and min(left) < max(left)
        if threads == 1:
            for own, following, r in zip(left[:-1], left[1:], results, strict=False):
                assert following <= max(own - r.seconds, 0.0) + 1e-6
        assert {r.status.name for r in results} == {"MAX_SECONDS"}
        for r in results:
            honest(r)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_leaves_what_there_is(threads):
    A, b = hard(200, 100)
    Y = np.column_stack([b, *(b + k for k in range(1, 6))])
    there = set()

    def callback(k, progress):
        there.add(k)
        if there == set(range(threads + 1)):  # the first has ended, and another has begun in its place
            send()
        return k == 0 and progress.epoch >= 2

    with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:
        sw.solve_many(
            A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=300, n_threads=threads, method=CD, callback=callback
        )
    results = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt) and isinstance(results, sw.Results) and len(results) == 6
    begun = [r for r in results if r is not None]
    assert len(begun) == threads + 1 and results[5] is None
    assert results[0].status is sw.Status.STOPPED
    assert {r.status for r in begun[1:]} == {sw.Status.INTERRUPTED}
    for r in begun:
        honest(r)
    assert repr(results).startswith("Results: 0 of 6 converged")
    assert not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate())


def test_partial_results_have_not_converged():
    A, labels = made()
    done = sw.solve_many(A, labels, loss="hinge", l2=0.1)
    partial = sw.Results([done[0], None], done.classes[:2], 0.1)
    assert not partial.converged


def test_ctrl_c_in_a_callback():
    def callback(k, progress):
        raise KeyboardInterrupt

    A, labels = made()
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve_many(A, labels, loss="hinge", l2=0.1, callback=callback)
    assert isinstance(caught.value.result, sw.Results)


def test_a_refusal_of_one_problem_is_raised_before_any_begins():
    A, labels = made()
    Y = np.column_stack([labels == 0, labels == 1, np.ones(N)])
    told = []
    with pytest.raises(ValueError, match="needs both classes"):
        sw.solve_many(A, Y, loss="hinge", l2=0.1, callback=lambda k, p: told.append(k))
    assert not told


def test_many_more_problems_than_threads():
    A, _ = made()
    labels = np.arange(N) % 30
    results = sw.solve_many(A, labels, loss="squared_hinge", l2=0.1, n_threads=3)
    assert len(results) == 30 and results.converged
    same(results[17], sw.solve(A, np.where(labels == 17, 1.0, -1.0), loss="squared_hinge", l2=0.1))
