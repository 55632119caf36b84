"""Numbers of every size: finite answers, and certificates that stay true."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from scales import CD, LOSSES, MARGIN, SMOOTH, ElasticNet, check, made, mixed
from southwell import ConvergenceWarning

# The size of columns and targets


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_ordinary_problems_are_proven(loss, intercept):
    A, b = made(loss=loss)
    for penalty in (ElasticNet(0.02, 0.0), ElasticNet(0.0, 0.02), ElasticNet(0.02, 0.01)):
        check(A, b, loss, penalty, intercept=intercept)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_one_column_may_be_far_smaller_or_larger(loss, intercept, size):
    A, b = made(loss=loss)
    A[:, 3] *= size / np.linalg.norm(A[:, 3])
    penalty = ElasticNet(0.02, 0.01)
    check(A, b, loss, penalty, intercept=intercept, tols=(1e-6,), converges=False, epochs=500)
    if loss in SMOOTH:
        check(A, b, loss, penalty, intercept=intercept, tols=(1e-6,), sides=("primal",))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("l1, l2", [(0.02, 0.0), (0.02, 0.01)])
def test_columns_may_have_all_sizes(loss, l1, l2):
    A, b = made(loss=loss)
    check(A * np.logspace(-7, 7, 10), b, loss, ElasticNet(l1, l2), sides=("primal",), tols=(1e-6,))
    # Beyond, the slope of a column of norm 1e12 is known to 1e-4 only: the answer may stay unproven, never untrue.
    check(A * np.logspace(-12, 12, 10), b, loss, ElasticNet(l1, l2), tols=(1e-6,), converges=False, epochs=1000)


@pytest.mark.parametrize("scale", [1e-10, 1e10])
@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_targets_may_be_tiny_or_huge(loss, scale, intercept):
    A, b = made(loss=loss)
    b = b * scale
    for share in (0.1, 0.5):
        l1 = share * sw.lambda_max(A, b, loss=loss, intercept=intercept)
        l1 = l1 if l1 > 0 else 0.1  # all targets within epsilon
        check(A, b, loss, ElasticNet(l1), intercept=intercept, converges=loss == "squared", epochs=3000, tols=(1e-6,))
    check(
        A, b, loss, ElasticNet(0.0, 0.01), intercept=intercept, converges=loss == "squared", epochs=3000, tols=(1e-6,)
    )


@pytest.mark.parametrize("scale", [1e-10, 1e10])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_squared_loss_is_invariant_to_units(scale, intercept):
    A, b = made()
    r = sw.solve(A, b, l1=0.05, intercept=intercept, tol=1e-12)
    q = sw.solve(A, b * scale, l1=0.05 * scale, intercept=intercept, tol=1e-12)
    np.testing.assert_allclose(q.x / scale, r.x, atol=1e-9)
    assert q.status is r.status is sw.Status.CONVERGED
    p = sw.solve(A * scale, b, l1=0.05 * scale, intercept=intercept, tol=1e-12)
    np.testing.assert_allclose(p.x * scale, r.x, atol=1e-9)


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_the_intercept_absorbs_an_offset_of_the_targets(offset, side):
    A, b = made()
    q = sw.solve(A, b, l1=0.05, intercept=True, tol=1e-12)
    tol = 1e-7 * q.scale / (offset**2 / 2)  # the unit of tol is the objective of the zero model
    r = check(A, b + offset, penalty=ElasticNet(0.05), intercept=True, tols=(tol,), sides=(side,), noise=1e-9)
    np.testing.assert_allclose(r.x, q.x, atol=1e-3)
    np.testing.assert_allclose(r.intercept - offset, q.intercept, atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_the_intercept_takes_up_any_offset_at_the_default_tolerance(loss):
    """b + 2000, years for example, is the same problem with another intercept: the answer must be as good."""
    A, b = made(100, 5)
    r, q = (sw.solve(A, t, loss=loss, l1=0.02, intercept=True, max_epochs=5000) for t in (b, b + 2000))
    assert q.primal <= r.primal + 1e-4 * r.primal
    np.testing.assert_allclose(q.x, r.x, atol=0.1)


@pytest.mark.parametrize("loss", MARGIN)
@pytest.mark.parametrize("intercept", [False, True])
def test_margins_may_be_in_the_thousands(loss, intercept):
    A, b = made(loss=loss)
    for factor in (1e3, 1e5):
        check(
            A * factor, b, loss, ElasticNet(0.1, 0.1), intercept=intercept, tols=(1e-6,), converges=False, epochs=2000
        )
    for start in (1e3, -1e3):
        check(A, b, loss, ElasticNet(0.02, 0.01), intercept=intercept, warm_start=np.full(10, start), tols=(1e-6, 1e-8))


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_converges_from_far_away(side, intercept):
    A, b = made(loss="poisson")
    for start in (1e3, -1e3, 20.0):
        check(
            A, b, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=(side,), warm_start=np.full(10, start)
        )


@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_takes_large_counts_and_columns(intercept):
    A, b = made(loss="poisson")
    check(A, b * 1e4, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=("primal",), noise=1e-11)
    check(A * 100, b, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=("primal",))
    check(A, np.zeros(40), "poisson", ElasticNet(0.02, 0.01), sides=("primal", "dual"))
    check(A, np.append(np.zeros(39), 1.0), "poisson", ElasticNet(0.02, 0.01), intercept=intercept)


def test_poisson_without_any_event_stays_honest():
    """The best intercept is minus infinity; the certificate must not mind."""
    A, _ = made(loss="poisson")
    r = check(A, np.zeros(40), "poisson", ElasticNet(0.02, 0.01), intercept=True, converges=False, tols=(1e-4,))
    assert r.primal <= 1e-3 and r.dual <= 0


# Strengths of all sizes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1, l2", [(1e300, 0.0), (0.0, 1e300), (1e10, 1e10), (1e150, 1e-150)])
@pytest.mark.parametrize("intercept", [False, True])
def test_huge_strengths_give_zero(loss, l1, l2, intercept):
    A, b = made(loss=loss)
    r = check(A, b, loss, ElasticNet(l1, l2), intercept=intercept)
    np.testing.assert_allclose(r.x, 0, atol=1e-9)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "l1, l2", [(1e-12, 0.0), (0.0, 1e-12), (1e-12, 1e-12), (1e-300, 0.0), (0.0, 1e-300), (0.0, 0.0)]
)
def test_tiny_strengths_give_the_answer_without_a_penalty(loss, l1, l2):
    """Next to nothing is harder to certify than nothing: slopes must fall below l1. The answer is right even so."""
    A, b = made(200, 5, loss=loss)
    b = mixed(b, 40, loss)  # not separable
    certified = l1 == 0 and l2 in (0.0, 1e-12)
    r = check(A, b, loss, ElasticNet(l1, l2), sides=("primal",), tols=(1e-6,), converges=certified)
    free = check(A, b, loss, ElasticNet(), sides=("primal",), tols=(1e-6,))
    np.testing.assert_allclose(r.primal, free.primal, atol=3e-6 * r.scale)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l2", [1e-8, 1e-16, 1e-30, 1e-300])
def test_l1_with_a_trace_of_l2_is_l1(loss, l2):
    A, b = made(loss=loss)
    r = check(A, b, loss, ElasticNet(0.03, l2), tols=(1e-6,))
    q = check(A, b, loss, ElasticNet(0.03, 0.0), tols=(1e-6,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-6 * q.scale)


# Single precision


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_float32_data_are_proven_in_float64(loss, form):
    A, b = made(loss=loss)
    A = A.astype(np.float32)
    r = check(form(A), b.astype(np.float32), loss, ElasticNet(0.02, 0.01), intercept=True, tols=(1e-6, 1e-12))
    q = check(A.astype(float), b.astype(np.float32), loss, ElasticNet(0.02, 0.01), intercept=True, tols=(1e-12,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-12 * q.scale)
    assert r.x.dtype == np.float64


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_float32_is_used_up_to_its_limits(size):
    A, b = made()
    A = (A * size).astype(np.float32)
    l1 = 0.1 * sw.lambda_max(A, b)
    r = check(A, b, "squared", ElasticNet(l1), tols=(1e-9,), sides=("primal",))
    q = sw.solve(A.astype(float) / size, b, l1=l1 / size, tol=1e-9)
    np.testing.assert_allclose(r.primal, q.primal, rtol=1e-8)


@pytest.mark.parametrize("size", [1e-150, 1e150, 1e-200, 1e200])
@pytest.mark.parametrize("what", ["A", "b"])
def test_answers_are_honest_where_squares_overflow_or_vanish(size, what):
    """Squares overflow or vanish: converged with a true certificate, or not converged and said so."""
    A, b = made()
    A, b = (A * size, b) if what == "A" else (A, b * size)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for side in ("primal", "dual"):
            r = sw.solve(A, b, l1=0.05, l2=0.01, method=CD(side=side), max_epochs=50)
            assert np.isfinite(r.x).all() and not np.isnan([r.primal, r.dual, r.gap]).any()
            if r.status:
                assert np.isfinite(r.gap) and np.isfinite(r.primal)
