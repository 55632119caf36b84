"""Sweeps that threads share: the same numbers each time, those of the reference, and no join that loses anything."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import honest, quietly
from signals import signal_on_call
from southwell import _core, _threads, reference
from southwell.methods import Auto
from southwell.penalties import ElasticNet

DUAL = Auto(movers="dual")
EXACT = Auto(movers="dual", policy={"dual_settled": 1e-8})  # steps of the logistic loss, as the reference takes them
LEAST = 50_000  # entries of a pass that is dealt


@pytest.fixture(autouse=True)
def two(monkeypatch):
    """As on a machine of two processors."""
    monkeypatch.setattr(_threads, "processors", lambda: 2)


def made(n=400, d=200, seed=0, density=1.0, loss="logistic"):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < density) / np.sqrt(d)
    m = 3 * A @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return A, np.where(m > 0, 1.0, -1.0) if sw.losses.get(loss).targets == "signs" else m


def problem_of(loss="logistic", form=sp.csr_array, l2=1e-2, intercept=False, weights=None, **options):
    A, b = made(loss=loss, **options)
    s = np.random.default_rng(1).uniform(0.2, 2.0, b.size) if weights else None
    return sw.Problem(form(A), b, loss, ElasticNet(l2=l2), sample_weight=s, intercept=intercept)


def blocks_of(n, entries, epochs):
    """What the core deals in its first epochs: rows in the order of its rule, in blocks, halved."""
    order = _core.Rule("shuffled").draw(n, 0, n * epochs)
    joins = 1 if entries >= LEAST else 0
    for epoch in range(epochs):
        rows = order[n * epoch : n * (epoch + 1)]
        for j in range(joins):
            block = rows[n * j // joins : n * (j + 1) // joins]
            yield block[: len(block) // 2], block[len(block) // 2 :]


# The reference


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_dealt_sweeps_are_those_of_the_reference(form, weights):
    """Of the logistic loss, where no sample ever rests."""
    problem = problem_of("logistic", form, l2=0.05, weights=weights, d=600)
    r = quietly(problem, method=EXACT, n_threads=2, max_epochs=2, check_every=2, tol=0.0)
    net = reference.ElasticNet.of(problem.penalty, problem.n_features, False)
    parts = made(d=600)[0], problem.targets, problem.weights, problem.loss, net
    y, lengths = reference.dealt_dual_ascent(*parts, blocks_of(400, 240_000, 2))
    assert lengths == [1.0] * 2
    np.testing.assert_allclose(r.y, y, rtol=0, atol=1e-10)


def dual_value(problem, A, y):
    slopes = A.T @ (problem.weights * y)
    return -problem.weights @ problem.loss.conjugate(y, problem.targets) - (slopes**2).sum() / 2 / problem.penalty.l2


@pytest.mark.parametrize("parts", [2, 3, 8])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_no_join_of_the_reference_lowers_the_dual_objective(loss, parts):
    """Also with parts that get in each other's way: rows that are all alike."""
    for alike in (0.0, 3.0):
        A, b = made(60, 20, loss=loss)
        A = A + alike
        problem = sw.Problem(A, b, loss, ElasticNet(l2=1e-3))
        net = reference.ElasticNet.of(problem.penalty, 20, False)
        y, rng, last = np.zeros(60), np.random.default_rng(0), -np.inf
        for _ in range(8):
            block = np.array_split(rng.permutation(60), parts)
            y, _ = reference.dealt_dual_ascent(A, b, problem.weights, problem.loss, net, [block], y)
            value = dual_value(problem, A, y)
            assert value >= last - 1e-9 * abs(value)
            last = value


# The core


@pytest.mark.parametrize("alike", [0.0, 5.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "smooth_hinge"])
def test_no_join_lowers_the_dual_objective(loss, alike):
    """Also where the parts get in each other's way, because all rows are alike."""
    A, b = made(700, 120, loss=loss)
    problem = sw.Problem(A + alike, b, loss, ElasticNet(l2=1e-3))
    r = quietly(problem, method=DUAL, n_threads=2, max_epochs=30, check_every=1, tol=0.0, record_history=True)
    dual = r.history["latest_dual"]
    assert (np.diff(dual) >= -1e-9 * np.abs(dual[1:])).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared", "huber"])
def test_dealt_sweeps_end_at_the_solution_of_one_thread(loss, form, intercept):
    problem = problem_of(loss, form, intercept=intercept, weights=True)
    options = {"method": DUAL, "tol": 1e-7, "max_epochs": 3000}
    one, both = (sw.solve(problem, n_threads=k, **options) for k in (1, 2))
    honest(both)
    assert one.status is both.status is sw.Status.CONVERGED
    assert both.primal == pytest.approx(one.primal, abs=2e-7 * max(one.scale, 1.0))
    assert one.y.tobytes() != both.y.tobytes()  # the sweeps were dealt indeed


@pytest.mark.parametrize("loss", ["squared", "huber", "squared_hinge"])
@pytest.mark.parametrize("n", [80, 300])
def test_an_intercept_costs_dealt_sweeps_few_epochs(loss, n):
    """All rows share it, and a weak penalty lets each part go far along it."""
    A, b = made(n, 2000, loss=loss)
    problem = sw.Problem(A * np.sqrt(2000), b, loss, ElasticNet(l2=1 / n), intercept=True)
    options = {"method": DUAL, "max_epochs": 1000}
    one, both = (sw.solve(problem, n_threads=k, **options) for k in (1, 2))
    assert one.status and both.status
    assert both.epochs <= 2 * one.epochs + 10, (one.epochs, both.epochs)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_the_same_seed_and_number_of_threads_give_the_same_numbers(loss):
    problem = problem_of(loss, intercept=True)
    first = sw.solve(problem, method=DUAL, n_threads=2, seed=3, tol=1e-7)
    for _ in range(5):
        again = sw.solve(problem, method=DUAL, n_threads=2, seed=3, tol=1e-7)
        assert first.x.tobytes() == again.x.tobytes() and first.y.tobytes() == again.y.tobytes()
        assert (first.history["entries"] == again.history["entries"]).all()


def test_numbers_do_not_depend_on_which_threads_are_idle():
    """In a pool no processor is idle, and no helper comes: one thread makes the moves of both."""
    problem = problem_of("squared_hinge")
    alone = sw.solve(problem, method=DUAL, n_threads=2)
    with ThreadPoolExecutor(4) as pool:
        for r in pool.map(lambda _: sw.solve(problem, method=DUAL, n_threads=2), range(12)):
            assert r.x.tobytes() == alone.x.tobytes() and r.epochs == alone.epochs


@pytest.mark.parametrize(
    ("loss", "n", "d", "density"),
    [("logistic", 200, 200, 1.0), ("logistic", 400, 30_000, 0.02), ("hinge", 700, 200, 1.0)],
)
def test_sweeps_that_would_not_gain_are_not_dealt(loss, n, d, density):
    """Of few entries, of few entries a feature, and of losses with kinks."""
    problem = problem_of(loss, n=n, d=d, density=density)
    one, both = (sw.solve(problem, method=DUAL, n_threads=k) for k in (1, 2))
    assert one.x.tobytes() == both.x.tobytes()


# Control


def long_problem():
    A, b = made(3000, 400, loss="squared_hinge")
    return sw.Problem(A, b, "squared_hinge", ElasticNet(l2=1e-12))


def test_max_seconds_ends_dealt_sweeps():
    r = quietly(long_problem(), method=DUAL, n_threads=2, tol=0.0, max_epochs=10**9, max_seconds=0.3)
    assert r.status is sw.Status.MAX_SECONDS
    honest(r)


def test_ctrl_c_ends_dealt_sweeps():
    problem = long_problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:
            sw.solve(problem, method=DUAL, n_threads=2, tol=0.0, max_epochs=10**9, max_seconds=300, callback=send)
    honest(caught.value.result)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_fork_in_the_middle_of_dealt_sweeps():
    """The child has no helpers, and the numbers of its parent."""
    problem = problem_of("squared_hinge")
    want = sw.solve(problem, method=DUAL, n_threads=2).x.tobytes()
    codes = []

    def callback(progress):
        if codes:
            return
        child = os.fork()
        if child == 0:
            os._exit(0 if sw.solve(problem, method=DUAL, n_threads=2).x.tobytes() == want else 1)
        codes.append(os.waitpid(child, 0)[1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking while other threads live
        sw.solve(problem, method=DUAL, n_threads=2, callback=callback)
    assert codes == [0]
