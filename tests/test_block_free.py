"""Blocks without a penalty: zero weights, and problems with no penalty at all."""

import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from block_problems import LABELS, data
from southwell import reference
from southwell.penalties import ElasticNet, Groups

ROWS = Groups(0.05, weights=np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]))
UNEVEN = Groups(0.05, groups=LABELS, weights=[1.0, 0.0, 2.0, 1.5])
SPARSE = ElasticNet(0.03, weights=np.array([0.0, 1.0, 0.5, 0.0, 2.0, 1.0, 1.0, 1.0]))
PENALTIES = {"rows": ROWS, "groups": UNEVEN, "l1": SPARSE, "none": None, "no strength": Groups(groups=LABELS)}


def lowered(problem, r):
    """The objective that proximal steps in NumPy reach from this answer: lower, if it is not optimal."""
    A = problem.data.rows.toarray() if problem.data.sparse else np.array(problem.data.rows, dtype=float)
    A = np.column_stack([A, np.ones((len(A), int(problem.intercept)))])
    blocks = reference.blocks_of(problem.penalty, problem.n_features)
    X = np.reshape(r.x, (problem.n_features, problem.width))
    X = np.vstack([X, np.broadcast_to(r.intercept, (int(problem.intercept), problem.width))])
    X = reference.block_coordinate_descent(
        A, problem.targets, problem.weights, problem.loss, blocks, 30, X, intercept=problem.intercept
    )
    return reference.block_objective(A, problem.targets, problem.weights, problem.loss, blocks, X)


def solved(problem, tol=1e-9, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = sw.solve(problem, tol=tol, **options)
    assert r.status is sw.Status.CONVERGED, r
    return r


def vanishing(problem, r):
    """The largest slope of an unpenalised coefficient or an intercept at r.y."""
    y = problem.weights[:, None] * np.reshape(r.y, (problem.n_samples, -1))
    A = problem.data.rows.toarray() if problem.data.sparse else np.array(problem.data.rows, dtype=float)
    free = problem.penalty.unpenalised(problem.n_features) | problem.penalty.absent
    slopes = np.abs(A[:, free].T @ y).max(initial=0.0)
    return max(slopes, np.abs(y.sum(axis=0)).max() if problem.intercept else 0.0)


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "poisson", "softmax", "multiclass_hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_solutions_have_the_least_objective_and_slopes_that_vanish(kind, loss, intercept):
    A, b = data(loss, n=60, d=8)
    problem = sw.BlockProblem(A, b, loss, PENALTIES[kind], intercept=intercept)
    r = solved(problem)
    best = lowered(problem, r)
    assert r.dual <= best + 1e-12 * abs(best)
    assert r.primal <= best + 1e-9 * r.scale
    assert vanishing(problem, r) <= 1e-12 * np.abs(r.y).max() * np.abs(A).max()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_without_a_penalty_are_those_of_numpy(sparse, weighted):
    A, b = data("squared")
    s = np.random.default_rng(2).uniform(0.0, 2.0, len(A)) if weighted else np.ones(len(A))
    s[:5] = 0.0 if weighted else s[:5]
    given = sw.BlockProblem(sp.csr_array(A) if sparse else A, b, intercept=True, sample_weight=s)
    r = solved(given, tol=1e-12)
    root = np.sqrt(s)[:, None]
    full = np.column_stack([A, np.ones(len(A))])
    X = np.linalg.lstsq(root * full, root * b, rcond=None)[0]
    np.testing.assert_allclose(np.vstack([r.x, r.intercept]), X, atol=1e-5)


def test_one_column_groups_agree_with_numbers():
    A, b = data("logistic", kind="one")
    for intercept in (False, True):
        numbers = solved(sw.Problem(A, b, "logistic", SPARSE, intercept=intercept), tol=1e-12)
        groups = Groups(SPARSE.l1, weights=SPARSE.weights)
        blocks = solved(sw.BlockProblem(A, b, "logistic", groups, intercept=intercept), tol=1e-12)
        np.testing.assert_allclose(blocks.x, numbers.x, atol=1e-5)
        assert max(numbers.dual, blocks.dual) <= min(numbers.primal, blocks.primal) + 1e-14


def test_softmax_without_a_penalty_is_that_of_scipy():
    A, b = data("softmax", n=80, d=4)
    n, k = len(A), 3

    def objective(x):
        M = A @ x.reshape(4, k)
        top = M.max(axis=1)
        E = np.exp(M - top[:, None])
        value = (top + np.log(E.sum(axis=1)) - M[np.arange(n), b]).mean()
        Y = E / E.sum(axis=1)[:, None]
        Y[np.arange(n), b] -= 1
        return value, (A.T @ Y).ravel() / n

    best = scipy.optimize.minimize(objective, np.zeros(4 * k), jac=True, method="BFGS", options={"gtol": 1e-10}).fun
    r = solved(sw.BlockProblem(A, b, "softmax"), tol=1e-12)
    assert r.primal == pytest.approx(best, abs=1e-12)
    assert r.dual <= best + 1e-14


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("kind", ["copies", "indicators"])
def test_dependent_columns_are_no_obstacle(loss, kind):
    """Copies of unpenalised columns, and indicators that sum to the intercept: leaving one out changes nothing."""
    A, b = data(loss, n=60, d=4)
    extra = A[:, [2, 3]] if kind == "copies" else np.eye(3)[np.arange(60) % 3]
    full = np.hstack([A, extra])
    weights = np.r_[np.ones(2), np.zeros(full.shape[1] - 2)]
    kept = 4 if kind == "copies" else 6
    problems = (
        sw.BlockProblem(full[:, :size], b, loss, ElasticNet(0.02, weights=weights[:size]), intercept=True)
        for size in (full.shape[1], kept)
    )
    r, other = (solved(problem, tol=1e-8) for problem in problems)
    assert r.primal == pytest.approx(other.primal, abs=1e-8 * r.scale)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("distance", [1e-6, 1e-9, 1e-11, 1e-13, 1e-15])
def test_nearly_dependent_columns_give_no_wrong_bound(loss, distance):
    """The difference of two columns, tiny as it is, may have a coefficient of any size: it explains the targets."""
    rng = np.random.default_rng(5)
    n = 30
    v = rng.normal(size=n)
    v -= v.mean()
    b = np.stack([v, -v], axis=1) if loss == "squared" else (v + 0.5 * rng.normal(size=n) > 0).astype(int)
    column = rng.normal(size=n)
    A = np.column_stack([column, column + distance * v])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = sw.solve(sw.BlockProblem(A, b, loss), tol=1e-6, max_epochs=300)
    exact = A[:, 1] - A[:, 0]  # as it is in floating-point numbers
    basis = sw.BlockProblem(np.column_stack([column, exact / np.abs(exact).max()]), b, loss)
    best = solved(basis, tol=1e-10)
    assert r.dual <= best.primal + 1e-9 * best.scale
    if r.status is sw.Status.CONVERGED:
        assert r.primal <= best.primal + 2e-6 * r.scale


@pytest.mark.parametrize("intercept", [False, True])
def test_separable_classes_end_with_a_warning(intercept):
    rng = np.random.default_rng(0)
    b = np.arange(60) % 3
    A = 5 * np.eye(3)[b] + rng.uniform(-1, 1, size=(60, 3))
    with pytest.warns(sw.ConvergenceWarning, match="no finite minimiser"):
        r = sw.solve(sw.BlockProblem(A, b, "softmax", intercept=intercept))
    assert r.dual <= 0 < r.primal
    assert r.primal <= 1e-6 * r.scale


def test_one_separable_class_gives_no_wrong_bound():
    """Class 0 is separable, the others are not: there is no minimiser, and the infimum is that of the others."""
    rng = np.random.default_rng(3)
    b = np.arange(90) % 3
    A = rng.normal(size=(90, 2))
    A[:, 0] += 10 * (b == 0)
    A[b == 0, 1] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = sw.solve(sw.BlockProblem(A, b, "softmax", intercept=True), tol=1e-9, max_epochs=300)
    rest = solved(sw.BlockProblem(A[b > 0], b[b > 0] - 1, "softmax", intercept=True))
    infimum = rest.primal * (b > 0).mean()
    assert r.dual <= infimum + 1e-9 <= r.primal + 2e-9


@pytest.mark.parametrize("method", [sw.methods.CoordinateDescent(side="primal"), sw.methods.SPDC(), sw.methods.DSPDC()])
@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_other_methods_take_them(method, loss):
    A, b = data(loss, n=60)
    problem = sw.BlockProblem(A, b, loss, ROWS, intercept=True)
    r = solved(problem, tol=1e-4, method=method, max_epochs=20_000)
    best = solved(problem)
    assert r.dual <= best.primal + 1e-12
    assert best.dual <= r.primal + 1e-12


def test_correlated_columns_are_no_obstacle():
    """Powers of a number, without a penalty: conjugate gradients alone would stall."""
    A = np.vander(np.linspace(0, 1, 100), 7)
    rng = np.random.default_rng(1)
    tasks = rng.normal(size=(100, 2))
    r = solved(sw.BlockProblem(A, tasks), tol=1e-9)
    assert r.epochs <= 20
    assert r.primal == pytest.approx(
        ((A @ np.linalg.lstsq(A, tasks, rcond=None)[0] - tasks) ** 2).sum() / 200, abs=1e-10
    )
    r = solved(sw.BlockProblem(A, rng.integers(3, size=100), "softmax"), tol=1e-6)
    assert r.epochs <= 50


def test_group_lasso_leaves_groups_of_weight_zero_alone():
    A, b = data("squared", n=60, kind="one")
    model = sw.GroupLasso(groups=2, alpha=100.0, weights=[0.0, 1.0, 1.0, 1.0], tol=1e-9).fit(A, b)
    full = np.column_stack([A[:, :2], np.ones(60)])
    best = np.linalg.lstsq(full, b, rcond=None)[0]
    np.testing.assert_allclose(np.r_[model.coef_[:2], model.intercept_], best, atol=1e-3)
    assert not model.coef_[2:].any()


def test_the_dual_side_is_refused():
    A, b = data("squared")
    weights = np.array([0.0, 1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"dual side needs l2 > 0.*features of weight 0"):
        sw.solve(A, b, penalty=ElasticNet(0.1, 0.1, weights=weights), method=sw.methods.CoordinateDescent(side="dual"))


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "multiclass_hinge"])
@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("intercept", [False, True])
def test_bounds_can_be_proved_and_checked(tmp_path, loss, kind, intercept):
    A, b = data(loss, n=60, d=8)
    problem = sw.BlockProblem(A, b, loss, PENALTIES[kind], intercept=intercept)
    r = solved(problem)
    proof = r.prove()
    assert r.gap - 1e-13 <= proof.gap <= 1e-8 * r.scale
    r.save_proof(tmp_path / "it")
    verdict = sw.check.verify(tmp_path / "it", A, b)
    assert verdict.verified, verdict


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_copies_can_be_proved(loss):
    A, b = data(loss, n=60)
    weights = np.r_[0.0, np.ones(7), 0.0, 0.0]
    full = np.hstack([A, A[:, :1], -A[:, :1]])
    r = solved(sw.BlockProblem(full, b, loss, Groups(0.05, weights=weights), intercept=True))
    assert r.prove().gap <= 1e-8 * r.scale


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("kind", ["rows", "groups", "l1"])
def test_paths_begin_where_the_penalised_coefficients_are_zero(loss, kind):
    A, b = data(loss, n=60)
    problem = sw.BlockProblem(A, b, loss, PENALTIES[kind], intercept=True)
    top = sw.lambda_max(problem)
    held = ~problem.penalty.unpenalised(8)
    above, below = (solved(problem.with_penalty(problem.penalty.at(top * t, 0.0)), tol=1e-12) for t in (1.001, 0.99))
    assert not above.x[held].any()
    assert above.x[~held].all()
    assert below.x[held].any()
    path = sw.path(problem, n_points=10, ratio=0.1)
    assert path.converged
    assert path.coefficients(0)[~held].all()
    for k in (0, 5, 9):
        alone = solved(problem.with_penalty(path.penalties[k]))
        assert abs(path.primal[k] - alone.primal) <= 1e-6 * alone.scale


def test_a_path_may_end_without_a_penalty():
    A, b = data("squared")
    path = sw.path(sw.BlockProblem(A, b, penalty=Groups(1.0)), l1s=[0.1, 0.0], l2s=[0.0, 0.0])
    np.testing.assert_allclose(path.coefficients(1), np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-3)


def test_screening_never_drops_an_unpenalised_group():
    A, b = data("squared", n=60)
    r = solved(sw.BlockProblem(A, b, "squared", Groups(0.4, weights=ROWS.weights)))
    assert not r.screened.features[ROWS.weights == 0].any()
    assert r.screened.features.any()


@settings(deadline=None, max_examples=25)
@given(
    zeros=st.lists(st.booleans(), min_size=8, max_size=8),
    loss=st.sampled_from(["squared", "logistic", "softmax", "multiclass_hinge", "squared_hinge"]),
    intercept=st.booleans(),
    strength=st.sampled_from([0.0, 0.01, 0.1]),
    l1=st.sampled_from([0.0, 0.02]),
    seed=st.integers(0, 1000),
)
def test_certificates_hold_for_any_pattern_of_zeros(zeros, loss, intercept, strength, l1, seed):
    A, b = data(loss, n=50, seed=seed)
    penalty = Groups(strength, l1, weights=1.0 - np.array(zeros))
    problem = sw.BlockProblem(A, b, loss, penalty, intercept=intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loose, tight = sw.solve(problem, tol=1e-3), sw.solve(problem, tol=1e-10, max_epochs=300)
    assert loose.status is sw.Status.CONVERGED
    for r in (loose, tight):
        assert r.dual <= tight.primal + 1e-13
        certificate = problem.certify(r.x, r.y, r.intercept)
        assert certificate.dual <= tight.primal + 1e-13
