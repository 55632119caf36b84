"""A solve resumes where a result or given coefficients are."""

import warnings

import numpy as np
import pytest

import southwell as sw
from long_solves import CD, SIDES, made
from southwell import ConvergenceWarning


@pytest.mark.parametrize(("side", "loss"), SIDES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("l1, l2", [(0.02, 0.0), (0.0, 0.05), (0.01, 0.02)])
def test_a_result_resumes_where_it_ended(loss, side, intercept, l1, l2):
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
