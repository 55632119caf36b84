"""Methods over matrices: seeds, limits, callbacks and threads."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import southwell as sw
from metric_methods import METHODS
from metrics import problem, quietly
from signals import signal_on_call
from southwell.metric import LowRank, MatrixRisk
from southwell.metric._workers import PROCESS, Workers

# Control


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_numbers_whatever_the_threads(method):
    options = {**METHODS[method], "tol": 1e-3}
    runs = [problem().solve(method, seed=seed, n_threads=k, **options) for seed, k in ((1, 1), (1, 1), (1, 3), (2, 1))]
    for other in runs[1:3]:
        np.testing.assert_array_equal(runs[0].x, other.x)
        np.testing.assert_array_equal(runs[0].y, other.y)
        np.testing.assert_array_equal(runs[0].history["gap"], other.history["gap"])
    assert (runs[0].x != runs[3].x).any() == (method in ("sdca", "spdc", "dspdc"))


@pytest.mark.parametrize("method", METHODS)
def test_float32_data_are_certified_in_float64(method):
    risk = problem(dtype=np.float32)
    assert risk.data.flat.dtype == np.float32
    r = risk.solve(method, **METHODS[method], tol=1e-5)
    assert r.status
    wide = MatrixRisk(risk.data.flat.astype(np.float64).reshape(30, 3, 4, 4), risk.targets, risk.loss,
                      risk.penalty.l2, centre=risk.penalty.centre, linear=risk.penalty.linear,
                      sample_weight=risk.weights)  # fmt: skip
    proof = wide.certify(r.x, r.y)
    assert proof.primal == pytest.approx(r.primal, rel=1e-10) and proof.dual >= r.dual - 1e-10 * r.scale


@pytest.mark.parametrize(("dtype", "best"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("method", METHODS)
def test_rounding_ends_progress_gently(method, dtype, best):
    """Far beyond what the precision can tell, iterates stay where they are good."""
    r = quietly(problem(dtype=dtype).solve, method, **METHODS[method], tol=0.0, max_epochs=400)
    assert r.status in (sw.Status.MAX_EPOCHS, sw.Status.PRECISION) and 0 <= r.relative_gap <= best


def test_a_callback_is_told_and_may_stop():
    seen = []
    r = problem().solve("sdca", rows=2, tol=0.0, callback=lambda at: seen.append(at) or len(seen) == 3)
    assert r.status is sw.Status.STOPPED and len(seen) == 3
    assert seen[-1].x.shape == (3, 4, 4) and seen[-1].gap == r.gap and seen[-1].relative_gap == r.relative_gap
    with pytest.raises(ValueError, match="from the callback"):
        problem().solve(callback=lambda at: exec("raise ValueError('from the callback')"))


def test_what_goes_wrong_inside_comes_out():
    risk = problem()
    risk.penalty = None
    with pytest.raises(AttributeError):
        risk.solve("fista")


@pytest.mark.parametrize(
    ("limit", "status"), [({"max_epochs": 3}, "MAX_EPOCHS"), ({"max_seconds": 0.05}, "MAX_SECONDS")]
)
def test_limits_end_a_solve_with_advice(limit, status):
    with pytest.warns(sw.ConvergenceWarning, match="To go on: raise max_") as caught:
        r = problem().solve("dspdc", tol=0.0, **{"max_epochs": 10**9, **limit})
    assert r.status is sw.Status[status] and caught[0].filename == __file__
    assert np.isfinite([r.primal, r.dual]).all()


def test_ctrl_c_leaves_the_best_point():
    with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:
        problem().solve("spdc", rows=1, tol=0.0, max_epochs=10**9, max_seconds=300, callback=send)
    r = caught.value.result
    assert r.status is sw.Status.INTERRUPTED and r.x.shape == (3, 4, 4) and r.gap >= 0


@pytest.mark.parametrize("method", METHODS)
def test_a_warm_start_begins_where_it_is_told(method):
    risk = problem()
    first = risk.solve(tol=1e-10)
    again = risk.solve(method, **METHODS[method], tol=1e-6, warm_start=first)
    assert again.epochs == 0 and again.status
    assert risk.solve("fista", tol=1e-4, warm_start=first.x).epochs <= 1


def test_history_may_be_short():
    r = problem().solve(record_history=False)
    assert r.history["gap"].size == 1 and r.history["gap"][0] == r.gap


# Threads of the caller


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_from_the_first_solve_to_the_last():
    """Begun first in one thread, ended last in another; then limits are anyone's again."""
    began, over, done = threading.Event(), threading.Event(), threading.Event()

    def first():
        with Workers():
            began.set()
            over.wait()
        done.set()
        released.wait()  # alive: a thread that is gone could not hold on to its limit

    released = threading.Event()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
    own = blas_threads()
    other = threading.Thread(target=first)
    other.start()
    began.wait()
    with Workers():
        over.set()
        done.wait()
        assert set(blas_threads()) == {1}
    assert blas_threads() == own
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == before
    released.set()
    other.join()
    assert PROCESS._solves == 0 and PROCESS._holder is None


@pytest.mark.parametrize("method", ["dual_fista", "dspdc", "sdca"])
def test_one_problem_is_solved_in_threads_and_pickled(method):
    risk = problem()
    options = {**METHODS[method], "tol": 1e-4, "n_threads": 2}
    want = problem().solve(method, **options)
    with ThreadPoolExecutor(4) as pool:
        for r in pool.map(lambda _: risk.solve(method, **options), range(4)):
            np.testing.assert_array_equal(r.x, want.x)
    for again in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r)):
        np.testing.assert_array_equal(again.x, want.x)
        np.testing.assert_array_equal(again.problem.solve(method, **options).x, want.x)


def test_steps_that_overflow_are_refused():
    D = np.full((30, 5, 5), 1e36, np.float32)
    with pytest.raises(ValueError, match=r"Steps overflow\. Scale D"):
        MatrixRisk(D, np.ones(30), l2=1e-3).solve("dual_fista")


def test_what_a_problem_says_of_itself():
    assert repr(problem()) == "MatrixRisk(30 samples, 3 blocks of 4 x 4, loss='smooth_hinge')"
    assert repr(LowRank(np.eye(2))) == "LowRank(2 terms, 2 samples, 1 blocks of 2 x 2)"
