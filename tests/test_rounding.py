"""What rounding can do to a certificate, and what it must not."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import ConvergenceWarning, Status

pytestmark = pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")


@pytest.mark.parametrize("distance", 10.0 ** np.arange(-16, -9))
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_are_nearly_copies_give_no_false_proof(distance, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=6), rng.normal(size=6)
    r = sw.solve(np.c_[u, u + distance * v], v, max_epochs=30)
    # The coefficients 1/distance and -1/distance leave a residual of the size of rounding in `u + distance v`.
    assert r.dual <= 0.1 * r.primal
    assert r.status is not Status.CONVERGED


@pytest.mark.parametrize("kind", ["l1", "bound", "l2", "groups", "max groups", "tasks"])
@pytest.mark.parametrize(("distance", "beyond"), [(1e-7, 1e-6), (1e-8, 1e-5), (4e-7, 2e-7)])
def test_a_weak_penalty_next_to_nearly_dependent_columns_gives_no_false_proof(kind, distance, beyond):
    """Unpenalised columns span u and v. The third, v + beyond w, adds w by a coefficient of 1/beyond, which a weak
    penalty hardly restrains, and the other two need coefficients that are as large, times 1/distance. So slopes of
    theirs that are zero up to rounding say little about the optimum.
    """
    rng = np.random.default_rng(0)
    n, weak, weights = 60, 1e-8, np.array([0.0, 0.0, 1.0])
    u, v, w, b = rng.normal(size=(4, n))
    b += v + w
    A = np.c_[u, u + distance * v, v + beyond * w]
    B = b if kind != "tasks" else np.c_[b, -b]
    penalty = {
        "bound": sw.penalties.ElasticNet(lower=np.array([-np.inf, -np.inf, 0]), upper=np.array([np.inf, np.inf, 1e8])),
        "l2": sw.penalties.ElasticNet(l2=weak**2, weights=weights),
        "groups": sw.penalties.Groups(weak, groups=[0, 0, 1], weights=weights[1:]),
        "max groups": sw.penalties.MaxGroups(weak, groups=[0, 0, 1], weights=weights[1:]),
    }.get(kind, sw.penalties.ElasticNet(weak, weights=weights))
    problem = sw.BlockProblem if kind in ("groups", "max groups", "tasks") else sw.Problem
    r = sw.solve(problem(A, B, "squared", penalty), max_epochs=30)
    # The same span by columns that are far from dependent; the coefficient of the third is the penalised one.
    second = A[:, 1] - u
    third = A[:, 2] - second / distance
    span = np.c_[u, second / np.abs(second).max(), third / np.abs(third).max()]
    x = np.linalg.lstsq(span, B, rcond=None)[0]
    size = np.abs(x[2]).max() / np.abs(third).max()
    objective = ((B - span @ x) ** 2).sum() / (2 * n)
    cost = {"bound": 0.0, "l2": weak**2 / 2 * size**2}.get(kind, weak * size * (2 if kind == "tasks" else 1))
    assert r.dual <= objective + cost + 1e-6 * r.scale


@pytest.mark.parametrize(("problem", "targets"), [(sw.Problem, ()), (sw.BlockProblem, (2,))])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_slopes_that_vanish_in_rounding_alone_give_no_false_proof(form, problem, targets):
    # Both slopes at x = 0 are computed as zero: 1 + 1e-17 - 1. The least residual has no second entry.
    A, b = np.array([[1, 1], [0, 1e-17], [1, 1]]), np.array([1.0, 1.0, -1.0])
    B = np.multiply.outer(b, np.ones(targets))
    certificate = problem(form(A), B, "squared").certify(np.zeros((2, *targets)))
    assert certificate.primal == pytest.approx(B.size / 6)
    assert certificate.dual <= B.size / 9


@pytest.mark.parametrize("copies", ["copy", "negative", "sum", "indicators"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("intercept", [False, True])
def test_columns_that_are_exactly_dependent_are_proved(copies, loss, form, intercept):
    rng = np.random.default_rng(5)
    A = rng.integers(-4, 5, size=(40, 3)).astype(float)
    more = {
        "copy": A[:, :1], "negative": -A[:, 1:2], "sum": (A[:, 0] + A[:, 2])[:, None],
        "indicators": np.eye(4)[rng.integers(0, 4, 40)],
    }[copies]  # fmt: skip
    r = sw.solve(form(np.c_[A, more]), rng.normal(size=40), loss=loss, intercept=intercept, tol=1e-8)
    assert r.status is Status.CONVERGED


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("form", [sp.csc_array, np.asarray, sw.Centred])
def test_gaps_are_never_negative(seed, form):
    rng = np.random.default_rng(seed)
    A = np.outer(rng.normal(size=40), rng.normal(size=8)).astype(np.float32)
    weights = 3 * rng.random(8)
    weights[rng.random(8) < 0.4] = 0
    r = sw.solve(
        form(A), rng.normal(size=40), penalty=sw.penalties.ElasticNet(0, 0.0066, weights=weights), intercept=True,
        tol=1e-12, max_epochs=50,
    )  # fmt: skip
    assert (r.history["gap"] >= 0).all()
    assert r.gap == r.primal - r.dual >= 0


@pytest.mark.parametrize("seed", range(12))
def test_the_objective_is_never_told_lower_than_it_is(seed):
    rng = np.random.default_rng(seed)
    n, d = 25, 12
    A = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) * (rng.random((n, d)) < 0.5)
    A[:, 1] = A[:, 0] * (1 + 1e-9 * rng.normal(size=n))  # coefficients of 1e9 that nearly cancel
    b = 100 * rng.normal(size=n)
    r = sw.solve(sw.Centred(sp.csr_array(A)), b, max_epochs=60)
    exact = _exact_objective(sw.Problem(sw.Centred(sp.csr_array(A)), b), r.x)
    assert r.primal >= exact * (1 - 1e-12)


def _exact_objective(problem, x):
    """The squared loss in extended precision, on the problem's own numbers."""
    A = problem.data.rows.toarray().astype(np.longdouble) + problem.shifts.astype(np.longdouble)
    residual = (A * x.astype(np.longdouble)).sum(axis=1) - problem.targets
    return float((problem.weights * residual**2).sum() / 2)


def test_a_tolerance_below_rounding_is_told():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(60, 20)), 30 + rng.normal(size=60)
    with pytest.warns(ConvergenceWarning, match="limit of double precision"):
        r = sw.solve(A, b, l1=0.01, tol=1e-18)
    assert r.status is Status.PRECISION
    assert not r.status
    assert 1e-18 * r.scale < r.gap < 1e-14 * r.scale


@pytest.mark.parametrize("loss", sorted(sw.losses.ALL))
@pytest.mark.parametrize("tol", [1e-6, 1e-12, 1e-15])
def test_converged_means_within_the_tolerance(loss, tol, small):
    p = small(loss)
    r = sw.solve(p.A, p.b, loss=loss, l1=0.05, l2=0.01, tol=tol, max_epochs=200)
    assert (r.status is Status.CONVERGED) == (r.gap <= tol * r.scale)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-155, 1e154, 1e155, 1e200, 1e300])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("method", ["auto", "fista", "lbfgs"])
def test_factors_of_extreme_size_come_to_an_end(size, loss, method):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 5))
    b = {"squared": rng.normal(size=8), "logistic": np.sign(A[:, 0]), "poisson": rng.poisson(1.0, 8)}[loss]
    with np.errstate(all="ignore"):
        factors = sw.Factorised(A * size, np.eye(5) * size)
        r = sw.solve(factors, b, loss=loss, l1=0.1, l2=0.1, max_epochs=20, method=method)
    assert r.gap >= 0
    assert r.primal <= r.scale * (1 + 1e-12) or loss == "poisson"
