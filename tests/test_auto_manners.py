"""The default method stops when told, goes on from where it was, and says who moved."""

import numpy as np
import pytest

import southwell as sw
from cases import LOSSES
from long_solves import hard
from saddles import honest
from signals import signal_on_call
from southwell import ConvergenceWarning
from southwell.methods import Auto
from test_auto import METHODS, STRENGTHS, made

# What ends a solve


LONG = {
    "features": {"loss": "quantile", "l1": 1e-6, "method": Auto(movers="primal")},
    "samples": {"loss": "squared", "l2": 1e-9, "method": Auto(movers="dual")},
    "the faster": {"loss": "epsilon_insensitive", "l1": 1e-7, "l2": 1e-9, "method": "auto"},
    "by the clock": {"loss": "epsilon_insensitive", "l1": 1e-7, "l2": 1e-9, "method": Auto(schedule="timed")},
}


@pytest.mark.parametrize("case", LONG)
def test_max_seconds_is_kept(case):
    A, b = hard(600, 400)
    with pytest.warns(ConvergenceWarning, match="time ran out"):
        r = sw.solve(A, b, tol=0.0, max_epochs=10**9, max_seconds=0.3, **LONG[case])
    assert r.status is sw.Status.MAX_SECONDS
    honest(r)


@pytest.mark.parametrize("case", LONG)
def test_ctrl_c_ends_a_solve(case):
    A, b = hard(600, 400)
    with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:
        sw.solve(A, b, tol=0.0, max_epochs=10**9, max_seconds=300, callback=send, **LONG[case])
    assert caught.value.result.status is sw.Status.INTERRUPTED
    honest(caught.value.result)


@pytest.mark.parametrize("method", METHODS)
def test_a_callback_stops_it(method):
    A, b = made("logistic", 100, 30)
    seen = []
    r = sw.solve(
        A, b, loss="logistic", l1=1e-3, l2=1e-3, tol=0.0, method=METHODS[method],
        callback=lambda p: seen.append(p) or len(seen) == 2,
    )  # fmt: skip
    assert r.status is sw.Status.STOPPED and len(seen) == 2
    assert r.epochs == seen[-1].epoch and (r.x == seen[-1].x).all()
    assert [p.gap for p in seen] == r.history["gap"].tolist()
    honest(r)


@pytest.mark.parametrize("epochs", [0, 1, 2])
def test_max_epochs_is_kept(epochs):
    A, b = made("hinge", 100, 30)
    with pytest.warns(ConvergenceWarning, match="epochs ran out"):
        r = sw.solve(A, b, loss="hinge", l1=1e-4, tol=0.0, max_epochs=epochs)
    assert r.status is sw.Status.MAX_EPOCHS and r.epochs == epochs
    honest(r)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("loss", LOSSES)
def test_warm_starts_from_its_own_answer(loss, strength, method):
    A, b = made(loss, 80, 20)
    l1, l2 = STRENGTHS[strength]
    tol = 1e-3 if (method, strength) == ("dual", "l1") else 1e-8
    for intercept in (False, True):
        options = {"loss": loss, "l1": l1, "l2": l2, "intercept": intercept, "method": METHODS[method]}
        r = sw.solve(A, b, tol=tol, max_epochs=20_000, **options)
        again = sw.solve(A, b, tol=10 * tol, warm_start=r, **options)
        assert again.status is sw.Status.CONVERGED and again.epochs <= 1
        assert again.primal <= r.primal + 10 * tol * r.scale


# What it tells


@pytest.mark.parametrize("movers", ["auto", "primal", "dual"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_result_names_its_movers(loss, movers):
    A, b = made(loss, 200, 60)
    r = sw.solve(A, b, loss=loss, l1=1e-3, l2=5e-3, intercept=True, tol=1e-6, method=Auto(movers=movers))
    assert r.epochs > 0
    asked = {"auto": {"primal", "dual", "newton"}, "primal": {"primal", "newton"}, "dual": {"dual"}}[movers]
    assert {"dual"} <= set(r.movers) <= asked if movers == "dual" else "primal" in r.movers and set(r.movers) <= asked
    for name, effort in r.movers.items():
        assert effort.seconds >= 0 and effort.rounds >= 0 and effort.entries >= 0
        assert (effort.entries > 0) == (effort.rounds > 0) or name != "dual"
        assert np.isfinite(effort.fall)
    assert sum(effort.rounds for name, effort in r.movers.items() if name != "newton") == r.epochs
    assert sum(effort.entries for effort in r.movers.values()) <= r.history["entries"][-1]
    assert sum(effort.seconds for effort in r.movers.values()) <= r.seconds
    assert r.method.startswith("auto: ")
    for name, effort in r.movers.items():
        assert (name in r.method) == (effort.rounds > 0)
        assert effort.rounds == 0 or f"{name} {effort.rounds} " in r.method


@pytest.mark.parametrize("loss", ["huber", "logistic", "hinge"])
def test_falls_of_movers_add_up(loss):
    """What the movers took off log(gap) is what is gone between the first certificate and the last."""
    A, b = made(loss, 200, 60)
    r = sw.solve(A, b, loss=loss, l1=1e-3, l2=5e-3, tol=1e-5)
    gaps = r.history["gap"]
    assert gaps[-1] > 0
    assert sum(effort.fall for effort in r.movers.values()) == pytest.approx(np.log(gaps[0] / gaps[-1]), rel=1e-6)


def test_no_mover_moves_at_the_optimum():
    A, b = made()
    r = sw.solve(A, b, l1=10.0)
    assert r.epochs == 0 and r.method == "auto"
    assert all(effort.rounds == effort.entries == 0 for effort in r.movers.values())


@pytest.mark.parametrize("method", ["coordinate_descent", "spdc", "fista", "lbfgs"])
def test_other_methods_have_no_movers(method):
    A, b = made("logistic")
    r = sw.solve(A, b, loss="logistic", l1=1e-3, l2=0.05, method=method)
    assert r.movers == {} and "auto" not in r.method
    assert not r.screened.features.any() and not r.screened.samples.any()
