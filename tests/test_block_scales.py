"""Numbers of every size, and problems of blocks at the edge: finite answers, and certificates that stay true."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from block_data import CLASSES, check, made
from southwell import ConvergenceWarning
from southwell.penalties import ElasticNet, Groups

REAL = ["squared", "huber"]
KINDS = ["squared", "logistic", "poisson", *CLASSES]


@pytest.mark.parametrize("power", [-8, -4, 4, 8])
@pytest.mark.parametrize("loss", KINDS)
def test_data_may_have_every_size(loss, power):
    """A times t and penalties times t (l2: its square) give X divided by t."""
    A, b = made(loss)
    t = 10.0**power
    for intercept in (False, True):
        want = check(A, b, loss, Groups(0.03, 0.01, 0.02), 1e-11, intercept=intercept)
        r = check(t * A, b, loss, Groups(0.03 * t, 0.01 * t, 0.02 * t * t), 1e-11, intercept=intercept)
        assert r.primal == pytest.approx(want.primal, rel=1e-9)
        np.testing.assert_allclose(t * r.x, want.x, atol=1e-4)
        # The same penalty: far too much, or next to none, of it.
        check(t * A, b, loss, Groups(0.03), 1e-6, intercept=intercept)


@pytest.mark.parametrize("power", [-8, 8])
@pytest.mark.parametrize("loss", KINDS)
def test_columns_may_have_very_different_sizes(loss, power):
    A, b = made(loss)
    A[:, ::3] *= 10.0**power
    for form in (np.asarray, sp.csr_array):
        check(form(A), b, loss, Groups(0.01), 1e-6)


@pytest.mark.parametrize("power", [-8, 3, 6])
@pytest.mark.parametrize("loss", KINDS)
def test_columns_of_very_different_sizes_under_l1(loss, power):
    A, b = made(loss)
    A[:, ::3] *= 10.0**power
    slow = loss == "multiclass_hinge"  # its dual value stays behind for a thousand rounds
    check(A, b, loss, ElasticNet(0.01), 1e-6, max_epochs=20_000 if slow else 1000)


@pytest.mark.parametrize("power", [-8, 6, 8])
@pytest.mark.parametrize("loss", KINDS)
def test_columns_of_very_different_sizes_in_one_group(loss, power):
    A, b = made(loss)
    A[:, ::3] *= 10.0**power
    check(A, b, loss, Groups(0.01, groups=np.arange(8) // 2), 1e-6)


@pytest.mark.parametrize("power", [-150, -100, -30, 30, 100, 150])
def test_targets_of_every_size(power):
    A, b = made()
    t = 10.0**power
    want = check(A, b, penalty=Groups(0.03, 0.01), tol=1e-11, intercept=True)
    problem = sw.BlockProblem(A, t * b, "squared", Groups(0.03 * t, 0.01 * t), intercept=True)
    r = sw.solve(problem, tol=1e-11)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_allclose(r.x / t, want.x, atol=1e-4)
    single = sw.solve(A, t * b[:, 0], penalty=Groups(0.03 * t, groups=np.arange(8) // 2), tol=1e-9)
    assert single.status is sw.Status.CONVERGED and single.x.any()


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("sparse", [False, True])
def test_targets_with_an_offset(offset, sparse):
    """An offset of the targets changes nothing but the intercept."""
    A, b = made()
    form = sp.csr_array if sparse else np.asarray
    near = check(form(A), b, penalty=Groups(0.05), intercept=True)
    far = sw.solve(form(A), b + offset, penalty=Groups(0.05), intercept=True, tol=1e-8)
    ends = (sw.Status.CONVERGED, sw.Status.PRECISION) if offset == 1e9 else (sw.Status.CONVERGED,)
    assert far.status in ends
    assert far.scale == pytest.approx(near.scale, rel=1e-16 * offset**2 + 1e-9)
    np.testing.assert_allclose(far.x, near.x, atol=1e-3 + 1e-8 * offset)
    np.testing.assert_allclose(far.intercept - offset, near.intercept, atol=1e-3 + 1e-8 * offset)


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize("loss", KINDS)
def test_dense_columns_with_large_means(loss, offset):
    """They are centred where there is an intercept."""
    A, b = made(loss)
    near = check(A, b, loss, Groups(0.05), intercept=True)
    for order in (np.ascontiguousarray, np.asfortranarray):
        far = sw.solve(order(A + offset), b, loss=loss, penalty=Groups(0.05), intercept=True, tol=1e-8)
        assert far.status is sw.Status.CONVERGED
        np.testing.assert_allclose(far.x, near.x, atol=1e-3)


@pytest.mark.parametrize("loss", KINDS)
def test_sparse_columns_with_large_means(loss):
    A, b = made(loss)
    near = check(A, b, loss, Groups(0.05), intercept=True)
    far = sw.solve(sp.csr_array(A + 100.0), b, loss=loss, penalty=Groups(0.05), intercept=True, tol=1e-7)
    assert far.status is sw.Status.CONVERGED
    np.testing.assert_allclose(far.x, near.x, atol=1e-2)


def test_one_sample_is_proven():
    for intercept in (False, True):
        r = check(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, -1.0]]), penalty=Groups(0.05), intercept=intercept)
        assert r.x.any() != intercept  # an intercept fits it all
        if intercept:
            np.testing.assert_allclose(r.intercept, [1.0, -1.0])
    check(np.array([[1.0, 2.0, 3.0]]), np.array([2.0]), penalty=Groups(0.05, groups=[0, 0, 1]))


@pytest.mark.parametrize("loss", KINDS)
def test_one_feature_and_two_samples(loss):
    A, b = made(loss, d=1)
    for penalty in (Groups(0.02), ElasticNet(0.01), ElasticNet(l2=0.01)):
        for intercept in (False, True):
            check(A, b, loss, penalty, intercept=intercept)
    b = np.array([0, 1]) if loss in CLASSES else np.array([[1.0, 1.0], [-1.0, -1.0]])
    if loss != "poisson":
        check(np.array([[1.0], [-2.0]]), b, loss, Groups(0.01), intercept=True)


@pytest.mark.parametrize("loss", CLASSES)
def test_as_many_classes_as_samples(loss):
    rng = np.random.default_rng(0)
    for penalty in (Groups(0.005), ElasticNet(0.002), ElasticNet(l2=0.01)):
        for intercept in (False, True):
            check(rng.normal(size=(12, 30)), np.arange(12), loss, penalty, 1e-7, intercept=intercept)


def test_more_tasks_than_samples():
    rng = np.random.default_rng(0)
    for penalty in (Groups(0.05), ElasticNet(0.02), Groups(0.05, groups=np.arange(6) // 2, weights="size")):
        for intercept in (False, True):
            r = check(rng.normal(size=(5, 6)), rng.normal(size=(5, 40)), penalty=penalty, intercept=intercept)
            assert r.x.shape == (6, 40)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("loss", KINDS)
def test_empty_constant_and_duplicate_columns(loss, form):
    A, b = made(loss)
    A[:, 1] = 0.0
    A[:, 2] = 3.0
    A[:, 4] = A[:, 3]
    A[:, 5] = -A[:, 3]
    for penalty in (Groups(0.03), ElasticNet(0.02), ElasticNet(l2=0.01), Groups(0.03, groups=[0, 0, 1, 1, 2, 2, 2, 3])):
        for intercept in (False, True):
            r = check(form(A), b, loss, penalty, intercept=intercept)
            assert not r.x[1].any() or np.abs(r.x[1]).max() <= 1e-12
            if intercept:
                assert (
                    np.abs(r.x[2]).max() <= 2e-3
                )  # the intercept does it for nothing; a gap of 1e-8 allows sqrt(2e-8 / l2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", KINDS)
def test_nothing_in_the_data(loss, form):
    _, b = made(loss)
    for penalty in (Groups(0.03), ElasticNet(l2=0.1), Groups(0.03, groups=np.arange(8) // 4)):
        for intercept in (False, True):
            r = check(form(np.zeros((40, 8))), b, loss, penalty, intercept=intercept)
            assert not r.x.any()


@pytest.mark.parametrize("intercept", [False, True])
def test_targets_that_nothing_can_explain(intercept):
    """All zero, or all the same: the zero model is optimal, and its scale is zero."""
    A, _ = made()
    r = check(A, np.zeros((40, 3)), intercept=intercept)
    assert not r.x.any() and r.scale == 0
    r = check(A, np.full((40, 3), 7.0), intercept=intercept)
    assert r.x.any() != intercept


@pytest.mark.parametrize("loss", KINDS)
def test_float32_data_are_solved_in_float64(loss):
    A, b = made(loss)
    A = A.astype(np.float32)
    for form in (np.asarray, sp.csr_array):
        got = check(form(A), b, loss, Groups(0.03), 1e-11, intercept=True)
        want = check(form(A.astype(float)), b, loss, Groups(0.03), 1e-11, intercept=True)
        np.testing.assert_allclose(got.x, want.x, atol=1e-6)


@pytest.mark.parametrize("shape", [(3000, 4), (15, 800)])
@pytest.mark.parametrize("loss", KINDS)
def test_tall_and_wide_data_are_proven(loss, shape):
    A, b = made(loss, *shape)
    for penalty in (Groups(0.02), ElasticNet(0.01), ElasticNet(l2=0.01), Groups(0.02, groups=np.arange(shape[1]) // 4)):
        check(A, b, loss, penalty, 1e-7, intercept=True)


@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_under_next_to_no_penalty(loss):
    """Margins grow large; the certificate stays true."""
    rng = np.random.default_rng(0)
    b = np.arange(60) % 3
    A = np.eye(3)[b] + 0.05 * rng.normal(size=(60, 3))
    for l2 in (1e-4, 1e-7):
        check(A, b, loss, ElasticNet(l2=l2), 1e-6, intercept=True)
    check(A, b, loss, Groups(1e-5), 1e-5)


@pytest.mark.parametrize("loss", CLASSES)
def test_a_rare_class_is_proven(loss):
    """One sample of a thousand, and next to no weight on it."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(1000, 5)), np.arange(1000) % 2
    b[17] = 2
    for weight in (1.0, 1e-6):
        s = np.where(b == 2, weight, 1.0)
        for penalty in (Groups(0.01), ElasticNet(l2=0.01)):
            r = check(A, b, loss, penalty, 1e-7, intercept=True, sample_weight=s)
            assert r.intercept[2] < min(r.intercept[:2])


def test_a_task_without_counts():
    """A column of zeros under Poisson: its intercept goes to minus infinity, and the others do not mind."""
    A, b = made("poisson")
    b[:, 1] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        r = sw.solve(A, b, loss="poisson", penalty=Groups(0.05), intercept=True, tol=1e-6)
    assert np.isfinite(r.x).all() and np.isfinite(r.intercept).all() and np.isfinite(r.gap)
    assert r.gap <= 1e-5 * r.scale


@pytest.mark.parametrize("strength", [1e12, 1e300])
@pytest.mark.parametrize("loss", ["squared", *CLASSES])
def test_huge_strengths_give_zero(loss, strength):
    A, b = made(loss)
    assert not check(A, b, loss, Groups(strength)).x.any()


def test_a_tiny_strength_gives_least_squares():
    A, b = made()
    r = sw.solve(A, b, penalty=Groups(1e-12), tol=1e-8)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_allclose(r.x, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-4)
