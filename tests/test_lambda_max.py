"""lambda_max is the smallest l1 at which all coefficients are zero."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from scales import CD, LOSSES, SMOOTH, made, optimum
from southwell import ConvergenceWarning


def null_problem(loss, n=41, d=6):
    A, b = made(n, d, seed=3, loss=loss)
    return A, b, np.random.default_rng(5).random(n) + 0.1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", ["equal", "weighted", "some unpenalised"])
def test_lambda_max_is_where_coefficients_vanish(loss, intercept, weighted, features):
    A, b, s = null_problem(loss)
    s = s if weighted else None
    weights = {"equal": None, "weighted": np.arange(1.0, 7.0), "some unpenalised": np.array([0, 1, 1, 0, 2, 1.0])}[
        features
    ]
    options = {"loss": loss, "intercept": intercept, "sample_weight": s}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        top = sw.lambda_max(A, b, weights=weights, **options)
    assert np.isfinite(top) and top > 0
    penalised = slice(None) if weights is None else weights > 0
    close = optimum(A, b, top * (1 + 1e-6), weights=weights, **options)
    above = optimum(A, b, top * 1.001, weights=weights, **options)
    below = optimum(A, b, top * 0.97, weights=weights, **options)
    null = optimum(A, b, top * 1e4, weights=weights, **options)
    # Above: no better than without the penalised features, and they are exactly zero.
    for r in (close, above):
        assert null.primal <= r.primal + 1e-8 * r.scale
    np.testing.assert_array_equal(above.x[penalised], 0)
    if loss in SMOOTH:
        assert np.any(below.x[penalised] != 0)
        assert below.primal < null.primal


@pytest.mark.parametrize(
    ("side", "loss", "factor"),
    [
        *(("primal", loss, factor) for loss in SMOOTH for factor in (1.0, 1.000001, 2.0, 1e6)),
        *(("dual", loss, factor) for loss in LOSSES for factor in (1.000001, 2.0, 1e6)),
        *(("dual", loss, 1.0) for loss in SMOOTH),  # with kinks the null model need not be the only optimum there
    ],
)
@pytest.mark.parametrize("intercept", [False, True])
def test_at_lambda_max_coefficients_are_exactly_zero(loss, side, intercept, factor):
    A, b, _ = null_problem(loss)
    top = sw.lambda_max(A, b, loss=loss, intercept=intercept)
    r = sw.solve(A, b, loss=loss, l1=top * factor, intercept=intercept, method=CD(side=side), max_epochs=20_000)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_array_equal(r.x, 0)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, np.float32, sp.csr_array, sp.csc_array, sw.Centred])
@pytest.mark.parametrize("intercept", [False, True])
def test_lambda_max_of_the_squared_loss_is_the_largest_slope(form, intercept):
    A, b, s = null_problem("squared")
    s = s / s.sum()
    dense = A - s @ A if form is sw.Centred else A
    r = b - s @ b if intercept else b
    got = sw.lambda_max(form(A), b, intercept=intercept, sample_weight=s)
    np.testing.assert_allclose(got, np.abs(dense.T @ (s * r)).max(), rtol=1e-6 if form is np.float32 else 1e-12)


@pytest.mark.parametrize("q", [0.1, 0.3, 0.5, 0.77])
@pytest.mark.parametrize("n", [7, 12, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_above_lambda_max_of_quantiles_the_null_model_is_best(q, n, weighted):
    A, b = made(n, 6, seed=n)
    s = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    loss = sw.losses.Quantile(q)
    top = sw.lambda_max(A, b, loss=loss, intercept=True, sample_weight=s)
    assert top > 0
    options = {"loss": loss, "intercept": True, "sample_weight": s, "tol": 1e-9, "max_epochs": 50_000}
    assert sw.solve(A, b, l1=1.01 * top, **options).status is sw.Status.CONVERGED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so near, many answers are nearly as good
        r = sw.solve(A, b, l1=1.000001 * top, **options)
    share = np.full(n, 1 / n) if s is None else s / s.sum()
    null = min(share @ (q * np.maximum(b - c, 0) + (1 - q) * np.maximum(c - b, 0)) for c in b)
    assert r.primal >= null - 2e-9 * r.scale, "a model with coefficients beats the null model at lambda_max"


def test_lambda_max_is_zero_where_nothing_is_explained():
    A, b = made()
    assert sw.lambda_max(A, 0 * b) == 0
    assert sw.lambda_max(A, 0 * b + 2.0, intercept=True) == pytest.approx(0, abs=1e-14)
    assert sw.lambda_max(0 * A, b) == 0
