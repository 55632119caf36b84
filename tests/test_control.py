"""Who may stop a solve, watch it, run it beside others, resume it, copy it and draw it."""

import copy
import multiprocessing
import os
import pickle
import signal
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
from signals import signal_on_call
from southwell import ConvergenceWarning

CD = sw.methods.CoordinateDescent
SIGNS = {"logistic", "hinge", "squared_hinge", "smooth_hinge"}
FOREVER = {"tol": 0.0, "max_epochs": 10**9, "max_seconds": 300}  # which only ends what hangs


def made(n=200, d=50, seed=0, loss="squared"):
    """A well-conditioned problem with targets that suit the loss."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    m = A @ (rng.standard_normal(d) * (rng.random(d) < 0.3)) + 0.5 * rng.standard_normal(n) + 0.3
    if loss in SIGNS:
        return A, np.where(m >= 0, 1.0, -1.0)
    return A, rng.poisson(np.exp(np.clip(0.3 * m, -3, 3))).astype(float) if loss == "poisson" else m


def hard(n=1500, d=800, seed=0):
    """Nearly collinear columns: no method ends soon."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 1)) + 0.05 * rng.standard_normal((n, d))
    return np.asfortranarray(A), rng.standard_normal(n)


def correlated(n, d, seed=0):
    rng = np.random.default_rng(seed)
    A = 0.1 * rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    return np.asfortranarray(A), np.sign(rng.standard_normal(n))


def wide_sparse(n, d, each, seed=0):
    """Random rows of `each` entries, in CSR."""
    rng = np.random.default_rng(seed)
    A = sp.csr_array((rng.standard_normal(n * each), rng.integers(0, d, n * each), np.arange(0, n * each + 1, each)))
    A.resize((n, d))
    A.sum_duplicates()
    return A, np.sign(rng.standard_normal(n))


LONG = {
    "primal": (lambda: hard(), {"l1": 1e-6, "method": CD(side="primal", coupling="mirror")}),
    "primal gram": (lambda: hard(), {"l1": 1e-6, "method": CD(side="primal", coupling="gram")}),
    "dual": (lambda: hard(), {"l2": 1e-9, "method": CD(side="dual")}),
    "logistic intercept": (
        lambda: wide_sparse(100_000, 50_000, 10),
        {"loss": "logistic", "l1": 1e-8, "intercept": True, "method": CD(side="primal")},
    ),
    "hinge": (lambda: wide_sparse(100_000, 50_000, 10), {"loss": "hinge", "l2": 1e-9}),
    "centred logistic": (
        lambda: (lambda A, b: (sw.Centred(A), b))(*wide_sparse(200_000, 2_000, 10)),
        {"loss": "logistic", "l2": 1e-8, "method": CD(side="primal")},
    ),
    "centred hinge with l1": (
        lambda: (lambda A, b: (sw.Centred(A), b))(*wide_sparse(20_000, 50_000, 10)),
        {"loss": "hinge", "l1": 1e-6, "l2": 1e-8},
    ),
    "unpenalised": (lambda: correlated(2000, 1000), {"loss": "logistic", "intercept": True}),
}


def interrupted(A, b, **options):
    """The exception of a solve interrupted a moment after its first certificate."""
    with signal_on_call() as send, pytest.raises(KeyboardInterrupt) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sw.solve(A, b, callback=send, **FOREVER, **options)
    return caught.value


# Ctrl-C and the clock


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


def test_ctrl_c_from_outside_the_process():
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


def test_ctrl_c_in_a_callback():
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


def test_nobody_is_warned_of_a_converged_or_stopped_solve():
    A, b = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sw.solve(A, b, l1=0.01).status is sw.Status.CONVERGED
        assert sw.solve(A, b, l1=0.01, callback=lambda p: True).status is sw.Status.STOPPED


# Callback


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_callback_is_told_what_the_history_keeps(side, intercept):
    A, b = made()
    told = []
    r = sw.solve(A, b, l1=0.02, l2=0.01, intercept=intercept, method=CD(side=side), callback=told.append)
    assert r.status is sw.Status.CONVERGED
    assert len(told) == len(r.history["epoch"])
    for name, column in r.history.items():
        np.testing.assert_array_equal([getattr(p, name) for p in told], column)
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(0.02, 0.01), intercept=intercept)
    for p in told:
        assert isinstance(p, sw.Progress) and p.scale == r.scale and p.x.shape == (50,)
        margins = A @ p.x + p.intercept
        value = np.mean((margins - b) ** 2) / 2 + 0.02 * np.abs(p.x).sum() + 0.005 * p.x @ p.x
        np.testing.assert_allclose(value, p.primal, rtol=1e-10)
        assert p.nonzeros == np.count_nonzero(p.x)
    np.testing.assert_array_equal(told[-1].x, r.x)
    assert told[-1].intercept == r.intercept
    np.testing.assert_allclose(problem.certify(r.x, r.y, r.intercept), (r.primal, r.dual, r.gap), rtol=1e-9, atol=1e-12)


def test_what_a_callback_does_to_its_copy_changes_nothing():
    A, b = made()

    def vandal(progress):
        progress.x[:] = np.nan

    np.testing.assert_array_equal(sw.solve(A, b, l1=0.02, callback=vandal).x, sw.solve(A, b, l1=0.02).x)


def test_callback_stops():
    A, b = made()
    seen = []
    r = sw.solve(
        A, b, l1=0.01, tol=0.0, method="coordinate_descent", callback=lambda p: seen.append(p.epoch) or len(seen) == 3
    )
    assert r.status is sw.Status.STOPPED and not r.status
    assert r.epochs == seen[-1] and len(seen) == 3
    assert r.gap > 0 and np.isfinite(r.primal)


@pytest.mark.parametrize("answer", [None, False, 0, "", []])
def test_callback_false_goes_on(answer):
    A, b = made()
    assert sw.solve(A, b, l1=0.01, callback=lambda p: answer).status is sw.Status.CONVERGED


@pytest.mark.parametrize("at", [0, 2])
def test_callback_exceptions_pass_unchanged(at):
    class Odd(Exception):
        pass

    odd, count = Odd("so odd"), []

    def callback(progress):
        count.append(1)
        if len(count) > at:
            raise odd

    A, b = made()
    with pytest.raises(Odd) as caught:
        sw.solve(A, b, l1=0.01, tol=0.0, callback=callback)
    assert caught.value is odd
    assert len(count) == at + 1
    names = [entry.name for entry in caught.traceback]
    assert "callback" in names


def test_an_answer_that_has_no_truth_is_an_error_of_the_callback():
    A, b = made()
    with pytest.raises(ValueError, match="ambiguous"):
        sw.solve(A, b, l1=0.01, callback=lambda p: p.x > 0)


def test_callback_may_solve():
    A, b = made()
    inner = []
    r = sw.solve(A, b, l1=0.01, callback=lambda p: inner.append(sw.solve(A, b, l1=0.1).primal) and None)
    assert r.status is sw.Status.CONVERGED and len(set(inner)) == 1


# Threads, processes, seeds


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
def test_seeds(side, rule):
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


def test_fork_after_a_solve():
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


# History and limits


@pytest.mark.parametrize("loss", sorted(sw.losses.ALL))
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
def test_history_is_consistent(loss, side, intercept):
    if side == "primal" and not sw.losses.get(loss).smooth:
        pytest.skip("the primal side needs a smooth loss")
    A, b = made(loss=loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        r = sw.solve(A, b, loss=loss, l1=0.01, l2=0.02, intercept=intercept, method=CD(side=side), max_epochs=5000)
    h = r.history
    assert list(h) == ["epoch", "seconds", "primal", "dual", "gap", "nonzeros", "moves", "entries"]
    assert len({len(column) for column in h.values()}) == 1
    for name in ("epoch", "seconds", "moves", "entries"):
        assert (np.diff(h[name]) >= 0).all(), name
    assert (np.diff(h["epoch"]) > 0).all() and h["epoch"][0] == 0
    assert (np.diff(h["primal"]) <= 0).all() and (np.diff(h["dual"]) >= 0).all()
    assert (h["gap"] >= 0).all()
    np.testing.assert_allclose(h["gap"], h["primal"] - h["dual"], rtol=0, atol=1e-12 * 2 * np.abs(h["primal"]).max())
    last = {name: column[-1] for name, column in h.items()}
    assert (last["primal"], last["dual"], last["gap"]) == (r.primal, r.dual, r.gap)
    assert last["epoch"] == r.epochs and last["nonzeros"] == r.nonzeros == np.count_nonzero(r.x)
    coordinates = 200 if side == "dual" else 50 + intercept
    np.testing.assert_array_equal(h["moves"], h["epoch"] * coordinates)
    assert last["seconds"] <= r.seconds
    assert r.status is sw.Status.CONVERGED
    assert r.gap <= r.tol * r.scale


def test_no_epochs_at_all():
    A, b = made()
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, l1=0.01, max_epochs=0)
    assert r.status is sw.Status.MAX_EPOCHS and r.epochs == 0
    assert len(r.history["epoch"]) == 1 and r.history["moves"][0] == 0
    assert r.primal == r.scale and not r.x.any() and r.gap > 0
    assert sw.solve(A, b, l1=1e6, max_epochs=0).status is sw.Status.CONVERGED


@pytest.mark.parametrize("every", [1, 3, 7])
def test_check_every(every):
    A, b = made()
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, l1=0.01, tol=0.0, max_epochs=20, check_every=every, method="coordinate_descent")
    np.testing.assert_array_equal(r.history["epoch"], sorted({*range(0, 21, every), 20}))
    assert r.epochs == 20


@pytest.mark.parametrize("every", [1000, 2**62, 2**63 - 1])
def test_check_every_beyond_max_epochs(every):
    A, b = made()
    r = sw.solve(A, b, l1=0.01, max_epochs=100, check_every=every, method="coordinate_descent")
    assert r.epochs == 100 and r.status is sw.Status.CONVERGED


def test_history_kept_or_not():
    A, b = made()
    r, q = sw.solve(A, b, l1=0.01), sw.solve(A, b, l1=0.01, record_history=False)
    assert len(q.history["epoch"]) == 1 < len(r.history["epoch"])
    for name in r.history:
        if name != "seconds":
            assert q.history[name][0] == r.history[name][-1]
    np.testing.assert_array_equal(r.x, q.x)


# Warm starts


@pytest.mark.parametrize("loss", sorted(sw.losses.ALL))
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("l1, l2", [(0.02, 0.0), (0.0, 0.05), (0.01, 0.02)])
def test_a_result_resumes_where_it_ended(loss, side, intercept, l1, l2):
    if side == "primal" and not sw.losses.get(loss).smooth:
        pytest.skip("the primal side needs a smooth loss")
    A, b = made(loss=loss)
    options = {"loss": loss, "l1": l1, "l2": l2, "intercept": intercept, "method": CD(side=side), "max_epochs": 20000}
    r = sw.solve(A, b, tol=1e-7, **options)
    assert r.status is sw.Status.CONVERGED
    again = sw.solve(A, b, tol=1e-6, warm_start=r, **options)
    assert again.status is sw.Status.CONVERGED
    assert again.epochs <= 1
    same = sw.solve(A, b, tol=1e-7, warm_start=r, **options)
    assert same.status is sw.Status.CONVERGED
    assert same.epochs <= max(2, r.epochs // 4)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_warm_start_never_loses_the_point_given(side):
    A, b = made()
    good = sw.solve(A, b, l1=0.02, l2=1e-4, tol=1e-10, method=CD(side="primal"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for start in (good, good.x):
            r = sw.solve(A, b, l1=0.02, l2=1e-4, warm_start=start, max_epochs=0, method=CD(side=side))
            assert r.primal <= good.primal * (1 + 1e-12)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_warm_start_from_arrays(side):
    A, b = made()
    options = {"l1": 0.02, "l2": 0.01, "method": CD(side=side)}
    cold = sw.solve(A, b, tol=1e-8, **options)
    for start in (cold.x, cold.x.tolist(), cold.x.astype(np.float32), cold.x[:, None]):
        assert sw.solve(A, b, tol=1e-5, warm_start=start, **options).epochs <= 2
    centred = sw.solve(A, b, tol=1e-8, intercept=True, **options)
    for start in ((centred.x, centred.intercept), (centred.x.tolist(), np.float32(centred.intercept))):
        assert sw.solve(A, b, tol=1e-5, intercept=True, warm_start=start, **options).epochs <= 2


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_warm_start_from_another_loss_and_penalty(side):
    A, b = made(loss="hinge")
    start = sw.solve(A, b, loss="squared_hinge", l1=0.001, l2=0.1)
    r = sw.solve(A, b, loss="smooth_hinge", l1=0.01, l2=0.02, warm_start=start, method=CD(side=side), tol=1e-9)
    q = sw.solve(A, b, loss="smooth_hinge", l1=0.01, l2=0.02, method=CD(side=side), tol=1e-9)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_allclose(r.x, q.x, atol=1e-3)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_warm_start_outside_the_box(side):
    A, b = made()
    penalty = sw.penalties.ElasticNet(0.01, 0.01, lower=-0.1, upper=0.2)
    r = sw.solve(A, b, penalty=penalty, warm_start=np.full(50, 5.0), method=CD(side=side))
    assert r.status is sw.Status.CONVERGED and r.x.min() >= -0.1 and r.x.max() <= 0.2


def test_warm_start_is_not_modified():
    A, b = made()
    x = np.full(50, 0.5)
    x.flags.writeable = False
    sw.solve(A, b, l1=0.02, warm_start=x)
    r = sw.solve(A, b, l1=0.02)
    kept = r.x.copy(), r.y.copy()
    sw.solve(A, b, l1=0.001, warm_start=r)
    np.testing.assert_array_equal(r.x, kept[0])
    np.testing.assert_array_equal(r.y, kept[1])


def test_results_do_not_share_memory():
    A, b = made()
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(0.02))
    first = sw.solve(problem)
    kept = first.x.copy()
    first.x[:] = 0.0
    first.y[:] = 0.0
    np.testing.assert_array_equal(sw.solve(problem).x, kept)


# Copies and pictures


PARTS = [
    *(loss() for loss in sw.losses.ALL.values()),
    sw.losses.Huber(2.5),
    sw.losses.Quantile(0.9),
    *(rule() for rule in sw.rules.ALL.values()),
    *(method() for method in sw.methods.ALL.values()),
    CD(side="dual", rule=sw.rules.Uniform(), coupling="mirror", shrinking=False),
]


@pytest.mark.parametrize("part", PARTS, ids=repr)
@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_parts_can_be_copied(part, twin):
    if isinstance(part, sw.losses.Loss):
        part.value([0.3], [1.0])  # with its compiled half already built
    other = twin(part)
    assert other == part and hash(other) == hash(part) and repr(other) == repr(part) and type(other) is type(part)
    if isinstance(part, sw.losses.Loss):
        np.testing.assert_array_equal(other.value([0.3, -2.0], [1.0, 1.0]), part.value([0.3, -2.0], [1.0, 1.0]))


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_penalties_can_be_copied(twin):
    A, b = made(d=5)
    penalty = sw.penalties.ElasticNet(0.1, 0.2, weights=np.arange(5.0), lower=-1, upper=np.ones(5))
    other = twin(penalty)
    assert repr(other) == repr(penalty)
    np.testing.assert_array_equal(sw.solve(A, b, penalty=other).x, sw.solve(A, b, penalty=penalty).x)


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_parts_are_frozen(part):
    with pytest.raises(AttributeError):
        part.side = part.q = part.delta = "else"


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sw.Centred])
def test_problems_and_results_can_be_pickled(form):
    A, b = made()
    r = sw.solve(form(A), b, l1=0.02, intercept=True)
    for q in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r)):
        np.testing.assert_array_equal(q.x, r.x)
        assert q.status is r.status and repr(q) == repr(r)
        np.testing.assert_array_equal(sw.solve(q.problem).x, r.x)
        assert sw.solve(q.problem, warm_start=q).epochs <= 1


def test_a_result_reads_well():
    A, b = made()
    text = repr(sw.solve(A, b, l1=0.02))
    assert "CONVERGED" in text and "gap" in text and "auto: primal" in text
    assert max(map(len, text.splitlines())) <= 120 and len(text.splitlines()) < 10
    assert "200 x 50" in repr(sw.Problem(A, b))


def test_statuses_are_true_only_when_proven():
    assert [s for s in sw.Status if s] == [sw.Status.CONVERGED]
    assert all(s.value.endswith(".") for s in sw.Status)


@pytest.mark.parametrize("against", ["seconds", "epoch", "moves", "entries"])
def test_plot(pyplot, against):
    A, b = made()
    r = sw.solve(A, b, l1=0.02)
    ax = r.plot(against)
    assert isinstance(ax, pyplot.Axes) and ax.get_yscale() == "log" and ax.get_xlabel() == against
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], r.relative_gap)
    assert r.plot(ax=ax) is ax


def test_plot_of_a_zero_problem_and_of_one_row(pyplot):
    A, b = made()
    assert isinstance(sw.solve(A, np.zeros(200), l1=0.1).plot(), pyplot.Axes)
    assert isinstance(sw.solve(A, b, l1=0.1, record_history=False).plot(), pyplot.Axes)


def test_plot_against_something_else():
    A, b = made()
    with pytest.raises(ValueError, match=r"seconds.*got 'nonsense'"):
        sw.solve(A, b, l1=0.1).plot("nonsense")


def test_plot_without_matplotlib(monkeypatch):
    A, b = made()
    r = sw.solve(A, b, l1=0.1)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'southwell\[plot\]'"):
        r.plot()
