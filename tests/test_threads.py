"""Threads change how long a solve takes, and nothing else."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from cases import CENTRED, FORMS
from saddles import honest, quietly
from southwell import _threads
from southwell.methods import Auto, CoordinateDescent
from southwell.penalties import ElasticNet

SINGLE = {f"{name} float32": lambda A, form=form: form(A.astype(np.float32)) for name, form in FORMS.items()}
ALL = {**FORMS, **CENTRED, **SINGLE}


@pytest.fixture
def many(monkeypatch):
    """As on a machine of eight processors."""
    monkeypatch.setattr(_threads, "processors", lambda: 8)


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    sw.set_num_threads(None)


def made(n=700, d=300, seed=0, loss="squared", density=0.35):
    """More stored entries than one thread is trusted with, 50,000, also where they are sparse."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    m = A @ np.where(rng.random(d) < 0.05, rng.normal(size=d), 0.0) + 0.5 * rng.normal(size=n) + 0.3
    return A, np.where(m > 0, 1.0, -1.0) if sw.losses.get(loss).targets == "signs" else m


def same(r, q):
    """Bit for bit, but for the time it took."""
    assert r.x.tobytes() == q.x.tobytes() and r.y.tobytes() == q.y.tobytes()
    fields = "intercept", "primal", "dual", "gap", "scale", "status", "epochs", "method"
    assert [getattr(r, name) for name in fields] == [getattr(q, name) for name in fields]
    for name, column in r.history.items():
        assert name == "seconds" or (column == q.history[name]).all()
    assert r.screened.features.tobytes() == q.screened.features.tobytes()
    assert r.screened.samples.tobytes() == q.screened.samples.tobytes()


# How many


def test_choosing():
    default = sw.get_num_threads()
    for number in (1, 5, np.int64(3)):
        sw.set_num_threads(number)
        assert sw.get_num_threads() == number and type(sw.get_num_threads()) is int
    sw.set_num_threads(None)
    assert sw.get_num_threads() == default


@pytest.mark.parametrize("given", [1, 2, 7, np.uint8(3)])
def test_any_number_is_accepted(given):
    A, b = made(40, 10)
    same(sw.solve(A, b, l1=0.05, n_threads=given), sw.solve(A, b, l1=0.05))
    sw.set_num_threads(given)
    same(sw.solve(A, b, l1=0.05), sw.solve(A, b, l1=0.05, n_threads=1))


@pytest.mark.parametrize(
    ("told", "number"),
    [(None, 4), ("1", 1), ("3", 3), ("3,2", 3), (" 2 ", 2), ("64", 4), ("0", 1), ("", 4), ("many", 4), ("-2", 4)],
)
def test_the_environment_is_heard(told, number, monkeypatch):
    """OMP_NUM_THREADS, where it is a number; no more than there are processors."""
    monkeypatch.setattr(_threads, "processors", lambda: 4)
    if told is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert sw.get_num_threads() == number
    sw.set_num_threads(2)  # what is said in the program counts more
    assert sw.get_num_threads() == 2


def test_the_environment_of_another_process():
    code = "import southwell as sw; print(sw.get_num_threads())"
    for told, most in (
        ("1", 1),
        ("1000000", len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1000),
    ):
        environment = {**os.environ, "OMP_NUM_THREADS": told}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=environment
        )
        assert 1 <= int(done.stdout) <= most


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a system where processors can be chosen")
def test_processors_are_those_the_process_may_use():
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import southwell as sw
print(sw.get_num_threads())
"""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    assert done.stdout.split() == ["1"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by /proc")
@pytest.mark.parametrize(("told", "helpers"), [(1, 0), (2, 1), (3, 2), (20, 7)])
def test_as_many_threads_as_told_and_no_more_than_processors(told, helpers, many):
    A, b = made()
    before, seen = len(os.listdir("/proc/self/task")), []
    sw.solve(A, b, l1=0.01, n_threads=told, callback=lambda p: seen.append(len(os.listdir("/proc/self/task"))))
    assert set(seen) == {before + helpers}
    assert len(os.listdir("/proc/self/task")) == before


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by /proc")
def test_little_data_start_no_thread(many):
    A, b = made(n=100, d=190)  # 19,290 numbers
    before, seen = len(os.listdir("/proc/self/task")), []
    sw.solve(A, b, l1=0.01, n_threads=2, callback=lambda p: seen.append(len(os.listdir("/proc/self/task"))))
    assert set(seen) == {before}


# The same numbers


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "huber"])
def test_any_number_of_threads_gives_the_same_numbers(loss, form, intercept, many):
    A, b = made(loss=loss)
    problem = sw.Problem(ALL[form](A), b, loss, ElasticNet(0.02, 0.01), intercept=intercept)
    options = {"tol": 1e-8, "max_epochs": 10}
    first = quietly(problem, n_threads=1, **options)
    for threads in (2, 3, 8):
        same(first, quietly(problem, n_threads=threads, **options))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "method",
    ["coordinate_descent", CoordinateDescent(side="dual"), "fista", "lbfgs", Auto(movers="dual"), "spdc", "dgpd"],
    ids=str,
)
def test_every_method_gives_the_same_numbers_on_any_number_of_threads(method, form, many):
    A, b = made(loss="logistic")
    options = {"loss": "logistic", "l1": 0.01, "l2": 0.05, "method": method, "max_epochs": 6, "tol": 1e-9}
    first = quietly(FORMS[form](A), b, n_threads=1, **options)
    for threads in (2, 8):
        same(first, quietly(FORMS[form](A), b, n_threads=threads, **options))


@pytest.mark.parametrize("form", ["F", "CSR", "CSC"])
def test_weights_bounds_and_free_coefficients(form, many):
    A, b = made()
    weights = np.where(np.arange(300) % 50 == 0, 0.0, 1.0)
    problem = sw.Problem(
        FORMS[form](A), b, "squared", ElasticNet(0.02, weights=weights, lower=-0.3), intercept=True,
        sample_weight=np.random.default_rng(1).uniform(0.2, 2.0, 700),
    )  # fmt: skip
    first = quietly(problem, n_threads=1, tol=1e-8)
    honest(first)
    for threads in (2, 3, 8):
        same(first, quietly(problem, n_threads=threads, tol=1e-8))


@pytest.mark.parametrize("shape", [(60_000, 1), (1, 60_000), (3, 20_000), (20_000, 3), (250, 200)])
@pytest.mark.parametrize("form", FORMS)
def test_data_of_any_shape(form, shape, many):
    """Also with fewer rows or columns than threads."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=shape), rng.normal(size=shape[0])
    first = quietly(FORMS[form](A), b, l1=0.01, n_threads=1, max_epochs=5)
    for threads in (2, 8):
        same(first, quietly(FORMS[form](A), b, l1=0.01, n_threads=threads, max_epochs=5))


@pytest.mark.parametrize("form", ["CSR", "CSC"])
def test_uneven_data_give_the_same_numbers_on_any_number_of_threads(form, many):
    """All entries in a few rows, or in a few columns."""
    rng = np.random.default_rng(0)
    for axis in (0, 1):
        A = np.zeros((1000, 1000))
        A[:60], b = rng.normal(size=(60, 1000)), rng.normal(size=1000)
        A = FORMS[form](A if axis == 0 else A.T)
        first = quietly(A, b, l1=1e-3, n_threads=1, max_epochs=5)
        for threads in (2, 8):
            same(first, quietly(A, b, l1=1e-3, n_threads=threads, max_epochs=5))


def test_paths_give_the_same_numbers_on_any_number_of_threads(many):
    A, b = made()
    problem = sw.Problem(sp.csr_array(A), b, intercept=True)
    one, *others = (sw.path(problem, n_points=6, ratio=0.1, n_threads=k) for k in (1, 2, 8))
    for other in others:
        assert one.x.toarray().tobytes() == other.x.toarray().tobytes()
        assert one.dual.tobytes() == other.dual.tobytes() and one.intercepts.tobytes() == other.intercepts.tobytes()


# Right numbers


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ALL)
def test_products_agree_with_numpy(form, intercept, many):
    """What a threaded solve certifies is what NumPy finds at its point."""
    A, b = made()
    problem = sw.Problem(ALL[form](A), b, "squared", ElasticNet(0.02, 0.01), intercept=intercept)
    r = quietly(problem, n_threads=8, max_epochs=3, tol=0.0)
    plain = A.astype(np.float32).astype(float) if form in SINGLE else A
    plain = plain - plain.mean(axis=0) if form in CENTRED else plain
    margins = plain @ r.x + r.intercept
    primal = np.mean((margins - b) ** 2) / 2 + 0.02 * np.abs(r.x).sum() + 0.005 * r.x @ r.x
    slopes = plain.T @ r.y / b.size
    dual = -np.mean(b * r.y + r.y**2 / 2) - (np.maximum(np.abs(slopes) - 0.02, 0.0) ** 2).sum() / 0.02
    assert r.primal == pytest.approx(primal, rel=1e-10)
    assert r.dual == pytest.approx(dual, rel=1e-9, abs=1e-12)
    assert problem.certify(r.x, r.y, r.intercept) == pytest.approx((primal, dual, primal - dual), abs=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_products_themselves(form):
    """As certificates and warm starts use them, without a crew."""
    A, b = made()
    rng = np.random.default_rng(1)
    for intercept in (False, True):
        problem = sw.Problem(FORMS[form](A), b, intercept=intercept)
        formed = np.hstack([A + (0.0 if problem.shifts is None else problem.shifts), np.ones((700, int(intercept)))])
        x, u = rng.normal(size=formed.shape[1]), rng.normal(size=700)
        np.testing.assert_allclose(problem.ready_layout().apply(x), formed @ x, rtol=0, atol=1e-11)
        np.testing.assert_allclose(problem.ready_layout().adjoint(u), formed.T @ u, rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", ALL)
def test_threaded_answers_are_proven(form, many):
    for loss in ("squared", "logistic", "squared_hinge"):
        A, b = made(loss=loss)
        r = quietly(ALL[form](A), b, loss=loss, l1=0.02, intercept=True, n_threads=8, tol=1e-9, max_epochs=50)
        assert r.status is sw.Status.CONVERGED
        honest(r)


# Many at once


@pytest.mark.parametrize("form", ["F", "CSR", "CSC"])
def test_solves_side_by_side(form, many):
    """Each with threads of its own, as many as are idle: all end, with the numbers of one after another."""
    work = [(FORMS[form](A), b) for A, b in (made(seed=seed, loss="logistic") for seed in range(6))]
    options = {"loss": "logistic", "l1": 0.02, "intercept": True, "tol": 1e-7}
    alone = [sw.solve(A, b, n_threads=1, **options) for A, b in work]
    with ThreadPoolExecutor(6) as pool:
        for threads in (1, 2, 8):
            jobs = [pool.submit(sw.solve, A, b, n_threads=threads, **options) for A, b in work]
            for r, job in zip(alone, jobs, strict=True):
                same(r, job.result(timeout=60))


def test_many_more_solves_than_processors():
    A, b = made(loss="squared_hinge")
    problem = sw.Problem(sp.csr_array(A), b, "squared_hinge", ElasticNet(0.02, 0.05))
    want = sw.solve(problem)
    with ThreadPoolExecutor(32) as pool:
        for r in pool.map(lambda k: sw.solve(problem, n_threads=1 + k % 4), range(64)):
            assert r.x.tobytes() == want.x.tobytes()


def test_a_solve_within_a_solve(many):
    """A callback that solves finds its caller's threads at hand, and leaves them as they were."""
    A, b = made()
    want = sw.solve(sp.csr_array(A), b, l1=0.05, n_threads=1)
    inner = []
    r = sw.solve(
        sp.csr_array(A), b, l1=0.02, n_threads=4,
        callback=lambda p: inner.append(sw.solve(sp.csr_array(A), b, l1=0.05, n_threads=8)) and None,
    )  # fmt: skip
    same(r, sw.solve(sp.csr_array(A), b, l1=0.02, n_threads=1))
    for q in inner:
        same(q, want)


def test_an_error_in_a_callback_leaves_no_thread_behind(many):
    A, b = made()
    before = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0

    def callback(progress):
        raise LookupError

    for _ in range(20):
        with pytest.raises(LookupError):
            sw.solve(A, b, l1=0.02, n_threads=8, callback=callback)
    after = threading.active_count(), len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    assert after[0] <= before[0] and after[1] <= before[1]


def test_threads_do_not_spin_while_nobody_needs_them(many):
    """A callback that takes its time costs no processor: those who wait fall asleep."""
    A, b = made()
    busy = []

    def callback(progress):
        begun = time.process_time()
        time.sleep(0.2)
        busy.append(time.process_time() - begun)
        return True

    sw.solve(A, b, l1=0.02, n_threads=8, callback=callback)
    assert busy[0] < 0.1


# Forks


def _child(queue, threads):
    A, b = made()
    queue.put(sw.solve(sp.csr_array(A), b, l1=0.02, n_threads=threads).x)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs a system that forks")
@pytest.mark.parametrize("threads", [1, 2])
def test_fork_after_a_threaded_solve(threads):
    A, b = made()
    x = sw.solve(sp.csr_array(A), b, l1=0.02, n_threads=2).x
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while other threads live
        child = context.Process(target=_child, args=(queue, threads))
        child.start()
    assert queue.get(timeout=60).tobytes() == x.tobytes()
    child.join(20)
    assert child.exitcode == 0


def _quick_child(queue):
    queue.put(sw.solve(np.eye(3), np.ones(3), l1=0.1, n_threads=2).x)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs a system that forks")
def test_fork_in_the_middle_of_a_threaded_solve(many):
    """From a callback: the child has no crew, and does not wait for one."""
    A, b = made()
    context, answers = multiprocessing.get_context("fork"), []

    def callback(progress):
        queue = context.Queue()
        child = context.Process(target=_quick_child, args=(queue,))
        child.start()
        answers.append(queue.get(timeout=20))
        child.join(20)
        return True

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        sw.solve(sp.csr_array(A), b, l1=0.02, n_threads=4, callback=callback)
    assert answers[0].tobytes() == sw.solve(np.eye(3), np.ones(3), l1=0.1).x.tobytes()


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_give_the_same_numbers_on_any_number_of_threads(width, order):
    rng = np.random.default_rng(0)
    A, B = np.asarray(rng.normal(size=(501, 181)), order=order), rng.normal(size=(501, width))
    one, two = (sw.solve(A, B, l1=1e-2, l2=1e-3, n_threads=k) for k in (1, 2))
    assert one.x.tobytes() == two.x.tobytes()
    assert one.y.tobytes() == two.y.tobytes()
