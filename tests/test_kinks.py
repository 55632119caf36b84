"""The default method proves its answer where the loss has kinks: on factors, on blocks, and on random problems."""

import numpy as np
import pytest
import scipy.sparse as sp

import random_problems
import southwell as sw
from block_data import check
from saddles import honest, proven, quietly
from southwell.methods import DSPDC, CoordinateDescent
from southwell.penalties import ElasticNet, Groups

KINKED = random_problems.KINKED


def targets(loss, margins, rng):
    return (
        np.where(margins > np.median(margins), 1.0, -1.0)
        if loss == "hinge"
        else margins + rng.normal(size=margins.shape)
    )


def regression(loss, n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    return A, targets(loss, A[:, 0] - A[:, 1] + 0.5 * A[:, 2] + 0.3 * rng.normal(size=n), rng)


# Planted answers


@pytest.mark.parametrize("tasks", [1, 3])
def test_without_features_at_work_intercepts_are_quantiles(tasks):
    """Under a penalty that lets no group in, each task's intercept is a quantile of its targets."""
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(21, 6)), rng.normal(size=(21, tasks)) + 5.0 * np.arange(tasks)
    r = check(A, b, sw.losses.Quantile(0.3), Groups(50.0), tol=1e-6, intercept=True)
    assert not r.x.any()
    np.testing.assert_allclose(r.intercept, np.quantile(b, 0.3, axis=0, method="inverted_cdf"), atol=1e-4)


def test_a_group_by_its_closed_form():
    """hinge(x'a) + strength ||x|| is least at x = a/||a||^2 if strength < ||a||, and at 0 otherwise."""
    a = np.array([3.0, 4.0])
    for strength, x in ((2.0, a / 25), (6.0, 0 * a)):
        r = check(np.vstack([a, -a]), [1.0, -1.0], "hinge", Groups(strength, groups=[[0, 1]]), tol=1e-9)
        np.testing.assert_allclose(r.x, x, atol=1e-7)


@pytest.mark.parametrize("loss", KINKED)
def test_tasks_that_share_nothing_are_problems_of_their_own(loss):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(40, 8))
    b = targets(loss, A @ rng.normal(size=(8, 3)), rng)
    for net in (ElasticNet(0.05), ElasticNet(0.02, 0.1), ElasticNet(0.0, 0.1)):
        for intercept in (False, True):
            r = check(A, b, loss, net, intercept=intercept)
            each = [sw.solve(sw.Problem(A, column, loss, net, intercept=intercept), tol=1e-9) for column in b.T]
            assert r.primal == pytest.approx(sum(one.primal for one in each), abs=3e-8 * r.scale)


# Agreement with other methods


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("loss", KINKED)
def test_groups_agree_with_other_methods(loss, form):
    A, b = regression(loss)
    groups = np.arange(12) // 3
    for penalty, intercept, other in (
        (Groups(0.1, l2=0.3, groups=groups), False, CoordinateDescent(side="dual")),
        (Groups(0.1, l1=0.02, l2=0.1, groups=groups), True, DSPDC()),
    ):
        r = check(form(A), b, loss, penalty, intercept=intercept)
        q = quietly(r.problem, method=other, tol=1e-4, max_epochs=3000)
        assert q.relative_gap <= 1e-2  # it is no test otherwise
        assert r.dual <= q.primal and q.dual <= r.primal


@pytest.mark.parametrize("penalty", [Groups(0.05), Groups(0.05, l1=0.02), ElasticNet(0.03)], ids=str)
@pytest.mark.parametrize("loss", KINKED)
def test_blocks_without_l2(loss, penalty):
    A, b = regression(loss)
    for intercept in (False, True):
        weights = np.r_[np.zeros(5), np.ones(55)]
        check(A, np.stack([b, b[::-1]], axis=1), loss, penalty, intercept=intercept, sample_weight=weights)


def test_a_warm_start_of_blocks():
    A, b = regression("hinge")
    problem = sw.BlockProblem(A, b, "hinge", Groups(0.05, groups=np.arange(12) // 3), intercept=True)
    first = sw.solve(problem, tol=1e-7)
    again = sw.solve(problem, tol=1e-6, warm_start=first)
    assert again.status is sw.Status.CONVERGED and again.epochs <= 1


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["quantile", "epsilon_insensitive"])
def test_unpenalised_columns_that_depend_on_each_other(loss, intercept):
    """Twelve unpenalised columns of rank four: their slopes must vanish down to rounding for the dual to be bounded.
    In whole numbers, or rounding would make them independent."""
    rng = np.random.default_rng(3)
    U, V = rng.integers(-5, 6, size=(50, 4)), np.hstack([np.eye(4), rng.integers(-1, 2, size=(4, 26))])
    b = targets(loss, U @ rng.normal(size=4), rng)
    penalty = ElasticNet(0.02, weights=np.where(np.arange(30) < 4, 0, np.arange(30) % 3))
    proven(sw.solve(U @ V, b, loss=loss, penalty=penalty, intercept=intercept), 1e-6)


# Factors


def factored(loss, n=50, d=30, k=4, seed=3):
    rng = np.random.default_rng(seed)
    U, V = rng.normal(size=(n, k)), rng.normal(size=(k, d))
    return U, V, targets(loss, U @ rng.normal(size=k), rng)


@pytest.mark.parametrize("loss", [*KINKED, "squared", "logistic"])
@pytest.mark.parametrize(
    "penalty", [ElasticNet(0.05), ElasticNet(0.0, 1e-3), ElasticNet(0.02, weights=np.arange(30) % 3)]
)
def test_small_products_are_formed(loss, penalty):
    """The answer is that of the product, and the certificate that of the factors."""
    U, V, b = factored(loss if loss not in ("logistic",) else "hinge")
    for sparse in (False, True):
        factors = (sp.csr_array(U), sp.csc_array(V)) if sparse else (U, V)
        for intercept in (False, True):
            problem = sw.Problem(sw.Factorised(*factors), b, loss, penalty, intercept=intercept)
            r = sw.solve(problem)
            proven(r, 1e-6)
            assert "product formed" in r.method
            q = sw.solve(U @ V, b, loss=loss, penalty=penalty, intercept=intercept)
            unit = 1e-12 * max(abs(r.primal), r.scale)
            assert r.dual <= q.primal + unit and q.dual <= r.primal + unit


def test_certificates_are_of_the_factors():
    """U V is small where U and V are not: in U V itself almost every digit is rounding."""
    rng = np.random.default_rng(4)
    W, S = rng.normal(size=(30, 2)), rng.normal(size=(2, 8))
    U, V = np.hstack([1e6 * W, 1e6 * W + rng.normal(size=(30, 2))]), np.vstack([-S, S])
    b = np.sign(W[:, 0])
    problem = sw.Problem(sw.Factorised(U, V), b, "hinge", ElasticNet(0.0, 0.1))
    r = sw.solve(problem)
    honest(r, slack=1e-13)


def test_a_product_that_overflows_is_not_formed():
    U, V, b = factored("hinge", 10, 5)
    problem = sw.Problem(sw.Factorised(1e200 * U, 1e200 * V), b, "hinge", ElasticNet(0.0, 0.1))
    assert problem.formed(10**6) is None


@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("intercept", [False, True])
def test_kinks_by_products_alone(loss, intercept, monkeypatch):
    """Where the product is too large to be formed."""
    U, V, b = factored(loss, 120, 60)
    for penalty in (ElasticNet(0.0, 0.1), ElasticNet(0.05, 0.05), ElasticNet(0.1), ElasticNet(0.0, 0.1, lower=0.0)):
        problem = sw.Problem(sw.Factorised(U, V), b, loss, penalty, intercept=intercept)
        with monkeypatch.context() as at:
            at.setattr(sw.Problem, "formed", lambda self, most: None)
            r = sw.solve(problem, tol=1e-5)
        assert "kinks softened" in r.method
        proven(r, 1e-5)
        best = sw.solve(U @ V, b, loss=loss, penalty=penalty, intercept=intercept, tol=1e-9)
        honest(r, best.primal, slack=1e-7)


def test_products_of_sparse_factors_are_counted_by_what_they_store():
    U, V = sp.eye_array(500, format="csr"), sp.eye_array(500, format="csc")
    assert sw.Problem(sw.Factorised(U, V), np.zeros(500)).data.product_size == 500
    dense = sw.Factorised(U.toarray()[:, :3], V.toarray()[:3])
    assert sw.Problem(dense, np.zeros(500)).data.product_size == 250_000


# A sample of everything: seeds are fixed, so these counts do not change by chance


@pytest.mark.parametrize(
    ("make", "losses", "count", "unproven"),
    [
        (random_problems.scalar, random_problems.LOSSES, 60, 0),
        (random_problems.scalar, KINKED, 60, 0),
        (random_problems.factorised, random_problems.LOSSES, 60, 2),  # unpenalised columns that depend on each other
        (random_problems.block, KINKED, 60, 2),
    ],
)
def test_random_problems_end_proven(make, losses, count, unproven):
    left = []
    for seed in range(count):
        problem, about = make(seed, losses)
        r = quietly(problem, n_threads=1)
        honest_blocks(r) if problem.blocks else honest(r)
        if r.status is not sw.Status.CONVERGED:
            left.append((seed, about, r.relative_gap))
    assert len(left) <= unproven, left


def honest_blocks(r):
    unit = 1e-9 * max(abs(r.primal), r.scale)
    assert r.problem.certify(r.x, intercept=r.intercept).primal <= r.primal + unit
    assert r.problem.certify(r.x, r.y, r.intercept).dual >= r.dual - unit
