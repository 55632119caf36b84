"""The history is consistent, and limits on epochs and certificates are kept."""

import warnings

import numpy as np
import pytest

import southwell as sw
from long_solves import CD, SIDES, made
from southwell import ConvergenceWarning, _core


@pytest.mark.parametrize(("side", "loss"), SIDES)
@pytest.mark.parametrize("intercept", [False, True])
def test_history_is_consistent(loss, side, intercept):
    A, b = made(loss=loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        r = sw.solve(A, b, loss=loss, l1=0.01, l2=0.02, intercept=intercept, method=CD(side=side), max_epochs=5000)
    h = r.history
    assert list(h) == [
        "epoch", "seconds", "primal", "dual", "gap", "nonzeros", "moves", "entries", "latest_primal", "latest_dual",
    ]  # fmt: skip
    assert len({len(column) for column in h.values()}) == 1
    for name in ("epoch", "seconds", "moves", "entries"):
        assert (np.diff(h[name]) >= 0).all(), name
    assert (np.diff(h["epoch"]) > 0).all() and h["epoch"][0] == 0
    assert (np.diff(h["primal"]) <= 0).all() and (np.diff(h["dual"]) >= 0).all()
    assert (h["gap"] >= 0).all()
    np.testing.assert_allclose(h["gap"], h["primal"] - h["dual"], rtol=0, atol=1e-12 * 2 * np.abs(h["primal"]).max())
    best = {"primal": np.minimum.accumulate(h["latest_primal"]), "dual": np.maximum.accumulate(h["latest_dual"])}
    for name, column in best.items():
        np.testing.assert_array_equal(h[name][:-1], column[:-1])
    last = {name: column[-1] for name, column in h.items()}
    assert (last["primal"], last["dual"], last["gap"]) == (r.primal, r.dual, r.gap)
    assert last["epoch"] == r.epochs and last["nonzeros"] == r.nonzeros == np.count_nonzero(r.x)
    coordinates = 200 if side == "dual" else 50 + intercept
    np.testing.assert_array_equal(h["moves"], h["epoch"] * coordinates)
    assert last["seconds"] <= r.seconds
    assert r.status is sw.Status.CONVERGED
    assert r.gap <= r.tol * r.scale


def test_no_epochs_give_the_zero_model():
    A, b = made()
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, l1=0.01, max_epochs=0)
    assert r.status is sw.Status.MAX_EPOCHS and r.epochs == 0
    assert len(r.history["epoch"]) == 1 and r.history["moves"][0] == 0
    assert r.primal == r.scale and not r.x.any() and r.gap > 0
    assert sw.solve(A, b, l1=1e6, max_epochs=0).status is sw.Status.CONVERGED


@pytest.mark.parametrize("every", [1, 3, 7])
def test_certificates_are_made_every_so_many_epochs(every):
    A, b = made()
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, l1=0.01, tol=0.0, max_epochs=20, check_every=every, method="coordinate_descent")
    np.testing.assert_array_equal(r.history["epoch"], sorted({*range(0, 21, every), 20}))
    assert r.epochs == 20


@pytest.mark.parametrize("every", [1000, 2**62, 2**63 - 1])
def test_the_last_epoch_is_certified(every):
    A, b = made()
    r = sw.solve(A, b, l1=0.01, max_epochs=100, check_every=every, method="coordinate_descent")
    assert r.epochs == 100 and r.status is sw.Status.CONVERGED


def test_the_latest_primal_of_an_accelerated_method_rises_while_the_best_does_not():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 40)) @ np.diag(np.logspace(0, -1.5, 40))
    b = A @ rng.standard_normal(40)
    method = sw.methods.AcceleratedCD("primal", restart=False)
    with pytest.warns(ConvergenceWarning):
        r = sw.solve(A, b, l2=1e-6, method=method, tol=0.0, max_epochs=300, check_every=1)
    latest, best = r.history["latest_primal"], r.history["primal"]
    assert (np.diff(latest) > 1e-4 * r.gap).any() and (np.diff(best) <= 0).all()
    np.testing.assert_array_equal(best, np.minimum.accumulate(latest))
    assert r.primal == latest.min() and (latest > best).any()
    assert (r.history["latest_dual"] < r.history["dual"] - 1e-3 * r.gap).any()


def test_the_latest_values_are_those_of_the_point_itself():
    """After every epoch of a method that decreases P, the best point is the one where the method stands."""
    A, b = made()
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(0.01, 0.02))
    told = []
    sw.solve(problem, method=CD("primal"), check_every=1, callback=told.append)
    assert len(told) > 5
    for p in told:
        y = A @ p.x - b
        proof = problem.certify(p.x, y)
        np.testing.assert_allclose((p.latest_primal, p.latest_dual), proof[:2], rtol=1e-9)


def test_history_can_be_left_out():
    A, b = made()
    r, q = sw.solve(A, b, l1=0.01), sw.solve(A, b, l1=0.01, record_history=False)
    assert len(q.history["epoch"]) == 1 < len(r.history["epoch"])
    for name in r.history:
        if name != "seconds":
            assert q.history[name][0] == r.history[name][-1]
    np.testing.assert_array_equal(r.x, q.x)


def test_every_status_of_the_core_has_a_sentence():
    assert _core.statuses() == [status.name for status in sw.Status]


def test_callbacks_are_told_the_fields_of_the_history():
    assert sw.Progress._fields[:-3] == tuple(_core.history_fields())
