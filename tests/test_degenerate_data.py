"""Repeated, constant and empty rows and columns, and weights of every size."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from scales import LOSSES, SMOOTH, ElasticNet, check, made

# Repeated, constant and empty rows and columns


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_repeated_columns_and_rows_are_proven(loss, form):
    A, b = made(20, 5, loss=loss)
    A, b = np.vstack([A, A]), np.concatenate([b, b])
    A = np.hstack([A, A, -A[:, :1]])
    r = check(form(A), b, loss, ElasticNet(0.02, 0.01), intercept=True)
    q = check(form(A[:20]), b[:20], loss, ElasticNet(0.02, 0.01), intercept=True)
    np.testing.assert_allclose(r.primal, q.primal, atol=1e-8 * r.scale)
    check(form(A), b, loss, ElasticNet(0.02), intercept=True, tols=(1e-6,))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_constant_and_zero_columns_get_zero(loss, intercept, form):
    A, b = made(loss=loss)
    A[5], A[:, 1], A[:, 2] = 2.0, 3.0, 0.0
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02)):
        r = check(form(A), b, loss, penalty, intercept=intercept, tols=(1e-6,))
        assert r.x[2] == 0
        if intercept:
            assert abs(r.x[1]) < 1e-2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_constant_and_zero_rows_are_proven(loss, intercept, form):
    A, b = made(loss=loss)
    A[4], A[5], A[6] = 0.0, 2.0, 0.0
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02)):
        check(form(A), b, loss, penalty, intercept=intercept, tols=(1e-6,))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_centred_constant_column_gets_zero(loss):
    A, b = made(loss=loss)
    A[:, 1] = 3.0
    centred = A - A.mean(0)
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            r = sw.solve(sw.Centred(form(A)), b, loss=loss, l1=0.02, l2=0.01, tol=1e-9, max_epochs=20_000)
        q = sw.solve(centred, b, loss=loss, l1=0.02, l2=0.01, tol=1e-9, max_epochs=20_000)
        assert r.status is sw.Status.CONVERGED and abs(r.x[1]) < 1e-3
        np.testing.assert_allclose(r.primal, q.primal, atol=1e-8 * q.scale)
        assert r.dual <= q.primal * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature_is_proven(loss, intercept):
    A, b = made(d=1, loss=loss)
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02), ElasticNet(0.02, 0.01)):
        check(A, b, loss, penalty, intercept=intercept)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive", "poisson"])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_sample_is_proven(loss, intercept):
    for d in (1, 4):
        r = check(np.arange(1.0, d + 1)[None, :], np.array([2.0]), loss, ElasticNet(0.1, 0.1), intercept=intercept)
        if intercept:
            assert not r.x.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_data_of_zeros_give_zero(loss, intercept, form):
    _, b = made(loss=loss)
    for penalty in (ElasticNet(0.1), ElasticNet(0.0, 0.1), ElasticNet(0.1, 0.1)):
        r = check(form(np.zeros((40, 3))), b, loss, penalty, intercept=intercept)
        assert not r.x.any()


@pytest.mark.parametrize("intercept", [False, True])
def test_data_of_zeros_without_a_penalty_give_zero(intercept):
    _, b = made()
    r = check(np.zeros((40, 3)), b, "squared", ElasticNet(), intercept=intercept)
    assert not r.x.any() and r.intercept == pytest.approx(b.mean() if intercept else 0.0)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_targets_of_zero_give_zero(loss, intercept):
    A, b = made()
    for penalty in (ElasticNet(0.1), ElasticNet(0.0, 0.1), ElasticNet(1e-9, 1e-9)):
        r = check(A, 0 * b, loss, penalty, intercept=intercept, tols=(1e-6, 0.0))
        assert r.scale == r.primal == r.gap == 0 and not r.x.any() and r.epochs == 0


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_targets_of_zero_without_a_penalty_are_proven(loss):
    A, b = made()
    assert check(A, 0 * b, loss, ElasticNet(), intercept=True).gap == 0


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive", "poisson"])
def test_equal_targets_need_the_intercept_alone(loss):
    A, _ = made()
    r = check(A, np.full(40, 3.0), loss, ElasticNet(0.1), intercept=True)
    assert not r.x.any()


# Not logistic: separable data have no minimiser.
@pytest.mark.parametrize("loss", [loss for loss in SMOOTH if loss != "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_more_features_than_samples_are_proven_without_a_penalty(loss, intercept):
    A, b = made(10, 30, loss=loss)
    b = b + 1 if sw.losses.get(loss).targets == "counts" else b  # with counts of zero there is no minimiser
    check(A, b, loss, ElasticNet(), intercept=intercept, tols=(1e-6,), epochs=5000)


# Weights


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_of_zero_drop_rows(loss, intercept):
    A, b = made(loss=loss)
    w = np.ones(40)
    w[::4] = 0
    bad = A.copy()
    bad[::4] *= 1e6
    for penalty in (ElasticNet(0.02), ElasticNet(0.02, 0.01)):
        r = check(bad, b, loss, penalty, intercept=intercept, sample_weight=w, tols=(1e-9,))
        q = check(A[w > 0], b[w > 0], loss, penalty, intercept=intercept, tols=(1e-9,))
        np.testing.assert_allclose(r.primal, q.primal, atol=3e-9 * q.scale)
        np.testing.assert_allclose(r.scale, q.scale)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_repeat_rows(loss, intercept):
    A, b = made(loss=loss)
    w = np.arange(40) % 4 + 1
    r = check(A, b, loss, ElasticNet(0.02, 0.01), intercept=intercept, sample_weight=w, tols=(1e-10,))
    q = check(np.repeat(A, w, 0), np.repeat(b, w), loss, ElasticNet(0.02, 0.01), intercept=intercept, tols=(1e-10,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-10 * q.scale)
    np.testing.assert_allclose(r.scale, q.scale)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_may_have_all_sizes(loss):
    A, b = made(loss=loss)
    w = np.logspace(-12, 0, 40)
    check(A, b, loss, ElasticNet(0.02, 0.01), intercept=True, sample_weight=w, tols=(1e-6,), sides=("primal", "dual"))
    r = sw.solve(A, b, loss=loss, l1=0.02, l2=0.01, sample_weight=w)
    q = sw.solve(A, b, loss=loss, l1=0.02, l2=0.01, sample_weight=w * 1e200)
    np.testing.assert_allclose(r.x, q.x, atol=1e-9)
