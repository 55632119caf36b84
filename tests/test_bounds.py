"""Bounds on coefficients, and coefficients without a penalty."""

import warnings

import numpy as np
import pytest

import southwell as sw
from scales import LOSSES, SMOOTH, ElasticNet, check, made, mixed

# Bounds


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "bounds",
    [{"lower": 0}, {"upper": 0}, {"lower": -0.1, "upper": 0.1}, {"lower": 0, "upper": 0.2}, {"lower": 0, "upper": 0}],
)
def test_bounds_are_kept_and_proven(loss, intercept, bounds):
    A, b = made(loss=loss)
    for l1, l2 in ((0.02, 0.0), (0.0, 0.02), (0.02, 0.01)):
        r = check(A, b, loss, ElasticNet(l1, l2, **bounds), intercept=intercept, tols=(1e-6, 1e-9))
        if bounds == {"lower": 0, "upper": 0}:
            assert not r.x.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "bounds", [{"lower": 0.5}, {"upper": -0.5}, {"lower": 0.2, "upper": 0.7}, {"lower": 0.3, "upper": 0.3}]
)
def test_boxes_without_zero_are_proven(loss, intercept, bounds):
    A, b = made(loss=loss)
    for l1, l2 in ((0.02, 0.0), (0.02, 0.01)):
        check(A, b, loss, ElasticNet(l1, l2, **bounds), intercept=intercept, tols=(1e-6,))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "bounds", [{"lower": 0}, {"lower": -0.1, "upper": 0.1}, {"lower": 0.5}, {"lower": 0.3, "upper": 0.3}]
)
def test_bounds_without_a_penalty_are_proven(loss, bounds):
    A, b = made(loss=loss)
    check(A, b, loss, ElasticNet(**bounds), tols=(1e-6,), epochs=3000)


def test_bounds_may_differ_between_features():
    A, b = made()
    lower, upper = np.full(10, -np.inf), np.full(10, np.inf)
    lower[:3], upper[2:5], lower[7], upper[7] = 0.0, 0.1, 0.25, 0.25
    r = check(A, b, "squared", ElasticNet(0.02, 0.0, lower=lower, upper=upper), intercept=True)
    assert r.x[7] == 0.25


@pytest.mark.parametrize("seed", range(5))
def test_a_box_of_one_point_that_fits_exactly_is_done(seed):
    """The objective of the box's point is 0 up to rounding: there is nothing left to do."""
    A, _ = made(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = sw.solve(A, A @ np.full(10, 0.1), penalty=ElasticNet(lower=0.1, upper=0.1))
    assert r.status is sw.Status.PRECISION and r.scale == 0
    np.testing.assert_array_equal(r.x, 0.1)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_an_objective_below_zero_is_proven(side):
    """Poisson's is negative for large counts; its tolerance needs a positive unit all the same."""
    rng = np.random.default_rng(0)
    A, b = rng.random((40, 3)) + 1, np.full(40, 100.0)
    r = check(A, b, "poisson", ElasticNet(0.01, 0.01, lower=0.5), sides=(side,), tols=(1e-6,))
    assert r.primal < 0


# Unpenalised features


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("l1, l2", [(0.03, 0.0), (0.0, 0.03), (0.03, 0.01)])
def test_unpenalised_features_are_proven(loss, intercept, l1, l2):
    A, b = made(80, 8, loss=loss)
    b = mixed(b, 20, loss)  # not separable
    weights = np.array([0, 0, 1, 1, 1, 2, 0.5, 1])
    check(A, b, loss, ElasticNet(l1, l2, weights=weights), intercept=intercept, tols=(1e-6, 1e-9))


@pytest.mark.parametrize("loss", SMOOTH)
def test_unpenalised_features_may_repeat_or_vanish(loss):
    A, b = made(80, 8, loss=loss)
    b = mixed(b, 20, loss)
    A[:, 1], A[:, 2], A[:, 3] = A[:, 0], 0.0, 1.0
    weights = np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    check(A, b, loss, ElasticNet(0.03, 0.0, weights=weights), intercept=True, tols=(1e-6,))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_problems_without_a_penalty_are_proven(loss, intercept):
    A, b = made(200, 5, loss=loss)
    b = mixed(b, 60, loss)
    check(A, b, loss, ElasticNet(), intercept=intercept, tols=(1e-6, 1e-9))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_separable_data_without_a_minimiser_have_no_false_bound(loss):
    """An unpenalised feature that separates: no optimum is attained, no bound may lie above the infimum."""
    A, b = made(loss=loss)
    A[:, 0] = b * (1 + np.arange(40) / 40)
    weights = np.ones(10)
    weights[0] = 0
    r = check(A, b, loss, ElasticNet(0.05, 0.05, weights=weights), converges=False, tols=(1e-4,), epochs=500)
    assert r.dual <= 1e-12
