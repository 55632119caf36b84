"""Corners where saddle methods once went wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import honest, quietly
from southwell.methods import DGPD, DSPDC, FISTA, LBFGS, SAGA, SPDC, SVRG
from southwell.penalties import ElasticNet


@pytest.mark.parametrize("method", [DGPD(order="together", passes=2), SAGA(step=1e3), SVRG(step=1e3), SPDC(tau=1e3)])
def test_a_huge_intercept_does_not_hide_the_margins(method):
    """On its way to infinity an intercept may be so large that A x is lost in its rounding: P must be that of x."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(10, 3)) * 10 ** rng.uniform(-1, 2, 3)
        problem = sw.Problem(A, rng.normal(size=10), penalty=ElasticNet(0.01, 0.01), intercept=True)
        honest(quietly(problem, method=method, max_epochs=60), sw.solve(problem, tol=1e-13, max_epochs=10**5).primal)


def test_poisson_with_an_intercept_that_overflows():
    A, b = np.array([[0.0], [-3e4], [6e3]]), np.array([2.0, 0.0, 1.0])
    for method in (FISTA(), SPDC(), DSPDC()):
        honest(quietly(A, b, loss="poisson", penalty=ElasticNet(lower=0.1, upper=0.3), intercept=True, method=method))


@pytest.mark.parametrize("order", ["in turn", "together"])
def test_dgpd_on_sparse_data_that_are_centred(order):
    """Stored entries and means meet at the same place; columns of mean zero have no frame."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.5)
        A[:, 2] = np.resize([1.0, -1.0], 30)
        b = A @ rng.normal(size=8) + 0.1 * rng.normal(size=30)
        results = [
            quietly(sw.Centred(form(A)), b, l1=0.01, l2=0.1, method=DGPD(order=order), max_epochs=500)
            for form in (sp.csr_array, np.asarray)
        ]
        assert all(r.status is sw.Status.CONVERGED for r in results)
        np.testing.assert_allclose(results[0].x, results[1].x, atol=1e-2)


@pytest.mark.parametrize("loss", ["squared", "logistic", "smooth_hinge"])
@pytest.mark.parametrize("passes", [1, 2])
def test_steps_together_stay_safe_with_few_passes(loss, passes):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 20))
    b = np.sign(A[:, 0] + 0.1 * rng.normal(size=60))
    r = quietly(A, b, loss=loss, l1=0.01, l2=0.1, method=DGPD(order="together", passes=passes), max_epochs=5000)
    assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize("method", [SPDC(), DSPDC(), DGPD(), SAGA(), FISTA(), LBFGS()])
def test_begins_within_bounds_and_at_the_best_intercept(method):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 5))
    b = A @ rng.normal(size=5)
    r = quietly(A, b, l2=0.1, intercept=True, method=method, max_epochs=0)
    far = quietly(A, b + 1e4, loss="huber", l2=0.1, intercept=True, method=method, max_epochs=500)
    assert r.primal == pytest.approx(r.scale) and far.status is sw.Status.CONVERGED
    if not isinstance(method, DGPD):
        boxed = quietly(A, b, penalty=ElasticNet(l2=0.1, lower=0.5), method=method, max_epochs=0)
        assert np.isfinite(boxed.primal) and boxed.x.min() >= 0.5


def test_solve_many_names_the_problem_it_refuses():
    A, Y = np.random.default_rng(0).normal(size=(6, 2)), np.array([[1, 0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0]]).T
    with pytest.raises(ValueError, match="Problem 1"):
        sw.solve_many(A, Y, loss="hinge", l2=0.1)
    with pytest.raises(TypeError, match="not a Problem"):
        sw.solve_many(sw.Problem(A, np.ones(6)), Y, loss="hinge", l2=0.1)
