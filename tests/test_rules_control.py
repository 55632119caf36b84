"""Ctrl-C, the clock and callbacks end a solve within any kind of epoch."""

import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from signals import signal_on_call
from southwell import _search, rules
from southwell.methods import AcceleratedCD, CoordinateDescent
from twins import exact_index

ACCELERATED = ("uniform", "hybrid", "greedy")  # rules that accelerated coordinate descent takes
SIZE = 2000
LONG = {  # an epoch of each takes seconds
    "follow, linear": CoordinateDescent("primal", rules.Greedy(), "mirror"),
    "follow, curved": CoordinateDescent("primal", rules.AdaGap(), "mirror"),
    "compete": CoordinateDescent("primal", rules.Hybrid(partition=np.arange(SIZE) // 2), "mirror"),
    "search": CoordinateDescent("primal", rules.MaxInnerProduct(SIZE // 2, explore=0.0), "mirror"),
    "sweep": CoordinateDescent("primal", rules.Adaptive(refresh_every=1), "mirror"),
    "accelerated": AcceleratedCD("primal", "greedy", "mirror"),
}


@pytest.fixture(scope="module")
def alike():
    """Columns nearly alike: no method ends soon."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(SIZE, 1)) + 0.05 * rng.normal(size=(SIZE, SIZE)), np.sign(rng.normal(size=SIZE))


@pytest.fixture
def long(alike, monkeypatch):
    """``long(case, **limits)`` solves what takes long."""
    monkeypatch.setattr(_search, "index", lambda *_: lambda image, number, apart: np.arange(number))
    monkeypatch.setattr("southwell.methods.coordinate_descent.COLUMN_ROOM", 0)
    monkeypatch.setattr("southwell.methods.accelerated.COLUMN_ROOM", 1)  # the newest column is always kept

    def run(case, **limits):
        loss = "logistic" if case == "follow, curved" else "squared"
        return sw.solve(*alike, loss=loss, l2=1e-8, method=LONG[case], tol=0, max_epochs=10**9, **limits)

    return run


@pytest.mark.parametrize("case", LONG)
def test_max_seconds_within_an_epoch(case, long):
    with pytest.warns(sw.ConvergenceWarning):
        r = long(case, max_seconds=0.4)
    assert r.status is sw.Status.MAX_SECONDS
    assert r.history["moves"][-1] < SIZE, "choose a longer epoch"


@pytest.mark.parametrize("case", LONG)
def test_ctrl_c_within_an_epoch(case, long):
    with signal_on_call() as send, pytest.raises(KeyboardInterrupt) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        long(case, max_seconds=300, callback=send)
    assert isinstance(caught.value, sw.Interrupted), "the best point so far is lost"
    assert caught.value.result.status is sw.Status.INTERRUPTED and np.isfinite(caught.value.result.x).all()
    assert caught.value.result.epochs <= 1, "choose a longer epoch"


@pytest.mark.parametrize(
    ("method", "rule"),
    [*((CoordinateDescent, rule) for rule in rules.ALL), *((AcceleratedCD, rule) for rule in ACCELERATED)],
)
def test_a_callback_may_stop_any_rule(method, rule, monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    A = np.random.default_rng(0).normal(size=(12, 6))
    b, seen = A @ np.arange(6.0), []

    def stop(progress):
        seen.append(progress.gap)
        return len(seen) == 3

    options = {"l2": 0.001, "method": method("primal", rule), "tol": 0.0, "check_every": 1}
    r = sw.solve(A, b, callback=stop, **options)
    assert r.status is sw.Status.STOPPED and r.epochs == 2 and len(seen) == 3

    def fall(progress):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        sw.solve(A, b, callback=fall, **options)


def test_a_slow_search_keeps_to_max_seconds(monkeypatch):
    """Python takes its time, however few entries are touched."""

    def slow(image, number, apart):
        time.sleep(0.001)
        return np.arange(number)

    monkeypatch.setattr(_search, "index", lambda *_: slow)
    method = CoordinateDescent("primal", rules.MaxInnerProduct(3, explore=0.0))
    limits = {"tol": 0, "max_epochs": 10**9, "max_seconds": 0.2}
    with pytest.warns(sw.ConvergenceWarning):
        r = sw.solve(sp.csc_array(sp.identity(2000)), np.ones(2000), l1=1e-9, method=method, **limits)
    assert r.status is sw.Status.MAX_SECONDS and r.history["moves"][-1] < 2000, "the clock was not read within an epoch"


@pytest.mark.parametrize("case", ["an intercept on the dual", "centred columns on the primal"])
def test_work_on_all_coordinates_is_counted(case):
    """What every move changes must be looked at by every move, and the clock is read by what is counted."""
    rng = np.random.default_rng(0)
    A = sp.csr_array(rng.random((300, 200)) * (rng.random((300, 200)) < 0.02))
    b = np.sign(rng.standard_normal(300))
    if case.startswith("an intercept"):
        problem, side, coordinates = (
            sw.Problem(A, b, "hinge", sw.penalties.ElasticNet(l2=1e-3), intercept=True),
            "dual",
            300,
        )
    else:
        problem, side, coordinates = sw.Problem(sw.Centred(A), b, penalty=sw.penalties.ElasticNet(1e-4)), "primal", 200
    method = CoordinateDescent(side, rules.Greedy(), "mirror")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        history = sw.solve(problem, method=method, tol=0, max_epochs=1, check_every=1).history
    assert history["entries"][-1] >= 0.9 * coordinates * history["moves"][-1]


def test_restarts_are_not_looked_for_more_often_than_they_cost():
    """Few samples, a million features, few entries: an epoch is far shorter than one value of the objective."""
    rng = np.random.default_rng(0)
    where = np.repeat(np.arange(50), 20), rng.integers(2**18, size=1000)
    A = sp.csr_array((rng.random(1000), where), shape=(50, 2**18))
    problem = sw.Problem(A, rng.standard_normal(50), penalty=sw.penalties.ElasticNet(l2=1e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        runs = [
            sw.solve(problem, method=AcceleratedCD("dual", restart=restart), tol=0, max_epochs=100, check_every=100)
            for restart in (True, False)
        ]
    assert runs[0].history["entries"][-1] <= 4 * runs[1].history["entries"][-1] + 4 * 2**18
