"""Solves in threads and forked processes, and with seeds, give the same numbers."""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from long_solves import CD, FOREVER, hard, made


def test_other_threads_run_during_a_solve():
    """One of them works step by step and then ends the solve, which would not end otherwise."""
    A, b = hard()
    begun, ticks = threading.Event(), []

    def tick():
        begun.wait()
        for k in range(50):
            ticks.append(k)
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGUSR1)

    def enough(*_):
        raise StopIteration

    before = signal.signal(signal.SIGUSR1, enough)
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(StopIteration):
            sw.solve(A, b, l1=1e-6, callback=lambda progress: begun.set(), check_every=1000, **FOREVER)
    finally:
        begun.set()
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    assert len(ticks) == 50


def jobs():
    """Problems of all sides and layouts."""
    for k in range(8):
        loss = ("squared", "logistic", "hinge", "quantile")[k % 4]
        A, b = made(150, 40, seed=k, loss=loss)
        A = (A, np.asfortranarray(A), sp.csr_array(A), sp.csc_array(A))[(k // 2) % 4]
        yield A, b, {"loss": loss, "l1": 0.01, "l2": 0.01, "intercept": k % 2 == 0, "seed": k}


def test_threads_at_once_give_the_numbers_of_one_after_another():
    work = list(jobs())
    alone = [sw.solve(A, b, **options) for A, b, options in work]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            together = list(pool.map(lambda job: sw.solve(job[0], job[1], **job[2]), work))
            for r, q in zip(alone, together, strict=True):
                np.testing.assert_array_equal(r.x, q.x)
                np.testing.assert_array_equal(r.y, q.y)
                assert (r.primal, r.dual, r.intercept, r.epochs) == (q.primal, q.dual, q.intercept, q.epochs)


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_one_problem_shared_by_threads(form):
    A, b = made(loss="logistic")
    kind = sw.penalties.ElasticNet(0.005, 0.01)
    methods = [CD(side=side, rule=rule) for side in ("primal", "dual") for rule in ("cyclic", "shuffled")] * 2
    alone = [sw.solve(sw.Problem(form(A), b, "logistic", kind), method=m) for m in methods]
    shared = sw.Problem(form(A), b, "logistic", kind)
    with ThreadPoolExecutor(8) as pool:
        for r, q in zip(alone, pool.map(lambda m: sw.solve(shared, method=m), methods), strict=True):
            np.testing.assert_array_equal(r.x, q.x)
            assert r.epochs == q.epochs


@pytest.mark.parametrize("rule", ["shuffled", "uniform"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_the_same_seed_gives_the_same_numbers(side, rule):
    A, b = made()
    run = lambda seed: sw.solve(A, b, l1=0.02, l2=0.01, method=CD(side=side, rule=rule), seed=seed)  # noqa: E731
    first, again, other = run(7), run(7), run(8)
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.y, again.y)
    for name in first.history:
        if name != "seconds":
            np.testing.assert_array_equal(first.history[name], again.history[name])
    assert not np.array_equal(first.x, other.x)
    np.testing.assert_allclose(first.primal, other.primal, atol=2e-6 * first.scale)


def test_cyclic_needs_no_seed():
    A, b = made()
    rs = [sw.solve(A, b, l1=0.02, method=CD(side="primal", rule="cyclic"), seed=s) for s in (0, 1, 2**63 - 1)]
    assert all(np.array_equal(r.x, rs[0].x) for r in rs)


def test_numpy_integers_are_integers():
    A, b = made()
    r = sw.solve(A, b, l1=0.02, seed=np.uint32(3), max_epochs=np.int16(100), check_every=np.int64(2))
    assert np.array_equal(r.x, sw.solve(A, b, l1=0.02, seed=3, max_epochs=100, check_every=2).x)


def _child(queue):
    A, b = made()
    queue.put(sw.solve(A, b, l1=0.02).x)


def test_a_fork_after_a_solve_can_solve():
    A, b = made()
    x = sw.solve(A, b, l1=0.02).x
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while other threads live
        child = context.Process(target=_child, args=(queue,))
        child.start()
    np.testing.assert_array_equal(queue.get(timeout=20), x)
    child.join(20)
    assert child.exitcode == 0
