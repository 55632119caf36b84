"""The gap bounds the error of any point, and is never negative beyond rounding."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from twins import Formulas

LOSSES = sorted(sw.losses.ALL)


def random_problem(
    loss, seed, *, n=14, d=6, intercept=False, weighted=False, box=None, l1=0.1, l2=0.0, free=(), sparse=False
):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.8)
    kind = sw.losses.get(loss).targets
    b = {
        "signs": np.where(np.arange(n) % 2 == 0, 1.0, -1.0),
        "counts": rng.poisson(2.0, n),
        "positive": rng.gamma(2.0, 1.0, n) + 1e-3,
        "real": rng.normal(1, 2, n),
    }[kind]
    weights = np.ones(d)
    weights[list(free)] = 0.0
    lower, upper = box if box is not None else (None, None)
    penalty = sw.penalties.ElasticNet(l1, l2, weights if len(free) else None, lower, upper)
    return sw.Problem(
        sp.csr_array(A) if sparse else A, b, loss, penalty, intercept=intercept,
        sample_weight=rng.uniform(0.1, 2, n) if weighted else None,
    )  # fmt: skip


def optimum(problem):
    """Bounds of the optimum from a tight solve."""
    result = sw.solve(problem, tol=1e-9, max_epochs=200_000)
    return result.dual, result.primal, result


BOXES = {"free": None, "positive": (0.0, None), "box": (-0.5, 0.7), "away from 0": (0.1, 0.9), "half": (None, 0.2)}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.05, 0.0), (0.05, 0.1), (0.0, 0.1)])
def test_gap_bounds_the_error_of_random_points(loss, box, intercept, l1, l2):
    problem = random_problem(loss, 1, intercept=intercept, weighted=True, box=BOXES[box], l1=l1, l2=l2)
    low, high, _ = optimum(problem)
    rng = np.random.default_rng(2)
    lower, upper = BOXES[box] or (None, None)
    for scale in (0.0, 1e-3, 0.1, 1.0, 10.0):
        x = (
            np.clip(scale * rng.standard_normal(problem.n_features), lower, upper)
            if box != "free"
            else (scale * rng.standard_normal(problem.n_features))
        )
        for y in (None, scale * rng.standard_normal(problem.n_samples)):
            primal, dual, gap = problem.certify(x, y, intercept=rng.normal() * scale if intercept else 0.0)
            slack = 1e-12 * (1 + abs(primal))
            assert primal >= low - slack
            assert dual <= high + 1e-12 * (1 + abs(high))
            assert gap >= primal - high - slack
            assert gap >= 0


@pytest.mark.parametrize("loss", LOSSES)
def test_a_point_outside_the_box_is_worth_infinity(loss):
    problem = random_problem(loss, 1, box=(0.0, 1.0))
    assert problem.certify(np.full(6, -1.0))[0] == np.inf


@pytest.mark.parametrize("loss", [name for name in LOSSES if sw.losses.get(name).smooth])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("box", ["free", "positive", "half"])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_unpenalised_features_are_certified(loss, intercept, box, l2):
    """Their slopes must vanish: the dual point is projected, not scaled to nothing."""
    problem = random_problem(
        loss, 4, n=40, intercept=intercept, free=(0, 3), l1=0.02, l2=l2, weighted=True, box=BOXES[box]
    )
    result = sw.solve(problem, tol=1e-9, max_epochs=20_000, method=sw.methods.CoordinateDescent(side="primal"))
    assert result.status is sw.Status.CONVERGED
    x = result.x + 1e-4
    if box == "half":
        x = np.minimum(x, 0.2)
    primal, _, gap = problem.certify(x, intercept=result.intercept)
    assert primal - result.primal <= gap <= 0.2 * result.scale


@pytest.mark.parametrize("loss", LOSSES)
def test_unpenalised_features_on_the_dual_side(loss):
    problem = random_problem(loss, 4, n=40, free=(1,), l1=0.02, l2=0.1)
    result = sw.solve(problem, tol=1e-7, max_epochs=50_000, method=sw.methods.CoordinateDescent(side="dual"))
    assert result.status is sw.Status.CONVERGED


@pytest.mark.parametrize("loss", [name for name in LOSSES if sw.losses.get(name).smooth])
def test_no_penalty_at_all(loss):
    """Least squares, and its relatives, have a certificate too."""
    problem = random_problem(loss, 6, n=60, d=4, l1=0.0, l2=0.0, intercept=True)
    result = sw.solve(problem, tol=1e-8, max_epochs=20_000)
    assert result.status is sw.Status.CONVERGED
    if loss == "squared":
        formed = np.column_stack([problem.data.rows, np.ones(60)])
        exact = np.linalg.lstsq(formed, problem.targets, rcond=None)[0]
        assert np.append(result.x, result.intercept) == pytest.approx(exact, abs=1e-4)


def test_the_zero_model_is_optimal_when_targets_are_zero():
    result = sw.solve(np.eye(3), np.zeros(3), l1=0.1)
    assert result.status is sw.Status.CONVERGED
    assert result.scale == result.gap == result.primal == 0.0
    assert not result.x.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_lambda_max(loss, intercept):
    """At lambda_max the penalised coefficients are zero; a little below, for smooth losses, they are not."""
    problem = random_problem(loss, 8, n=30, intercept=intercept)
    A, b = problem.data.rows, problem.targets
    top = sw.lambda_max(A, b, loss=loss, intercept=intercept)
    at_top = sw.solve(A, b, loss=loss, l1=top * (1 + 1e-9), intercept=intercept, tol=1e-7)
    assert at_top.nonzeros == 0 or at_top.primal <= at_top.dual + 1e-7 * at_top.scale
    if sw.losses.get(loss).smooth:
        assert at_top.nonzeros == 0
        assert sw.solve(A, b, loss=loss, l1=0.95 * top, intercept=intercept, tol=1e-9).nonzeros > 0


def test_lambda_max_with_weights_and_free_features():
    problem = random_problem("logistic", 9, n=30)
    A, b = problem.data.rows, problem.targets
    weights = np.array([0.0, 1.0, 2.0, 1.0, 0.5, 1.0])
    top = sw.lambda_max(A, b, loss="logistic", weights=weights)
    for factor, nonzeros in ((1.001, 1), (0.9, 2)):
        penalty = sw.penalties.ElasticNet(l1=factor * top, weights=weights)
        result = sw.solve(A, b, loss="logistic", penalty=penalty, tol=1e-10)
        assert result.nonzeros >= nonzeros
        assert (result.nonzeros == 1) == (factor > 1)


@settings(max_examples=60, deadline=None)
@given(
    loss=st.sampled_from(LOSSES), seed=st.integers(0, 10**6), n=st.integers(2, 12), d=st.integers(1, 8),
    l1=st.sampled_from([0.0, 1e-3, 0.1, 10.0]), l2=st.sampled_from([1e-3, 0.1, 10.0]), intercept=st.booleans(),
    weighted=st.booleans(), sparse=st.booleans(), scale=st.sampled_from([1e-6, 1.0, 1e6]),
)  # fmt: skip
def test_history_is_monotone_and_the_gap_honest(loss, seed, n, d, l1, l2, intercept, weighted, sparse, scale):
    problem = random_problem(
        loss, seed, n=n, d=d, l1=l1 * scale, l2=l2, intercept=intercept, weighted=weighted, sparse=sparse
    )
    history = []
    warnings.simplefilter("ignore")  # 50 epochs may not be enough
    result = sw.solve(problem, tol=1e-6, max_epochs=50, callback=history.append)
    gaps = np.array([progress.gap for progress in history])
    assert (gaps >= 0).all()
    assert (np.diff(gaps) <= 1e-12 * (1 + abs(result.primal))).all()
    assert result.gap == pytest.approx(result.primal - result.dual, abs=1e-11 * (1 + abs(result.primal)))
    again = problem.certify(result.x, result.y, intercept=result.intercept)
    assert again[0] == pytest.approx(result.primal, rel=1e-10, abs=1e-12)
    assert again[1] >= result.dual - 1e-10 * (1 + abs(result.dual))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epochs", [0, 1, 5])
def test_the_y_of_a_result_is_feasible_as_it_is_and_worth_the_dual_value_told(loss, epochs):
    """Far from the optimum y = phi'(A x) must be scaled to be feasible: what is handed out is the scaled one."""
    problem = random_problem(loss, 3, n=30, d=12, weighted=True, l1=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        result = sw.solve(problem, tol=0, max_epochs=epochs)
    A, b, s, phi, net = Formulas(problem, "primal").parts
    assert (np.abs(A.T @ (s * result.y)) <= net.l1 * (1 + 1e-9)).all()
    np.testing.assert_allclose(-(s @ phi.conjugate(result.y, b)), result.dual, rtol=1e-9, atol=1e-12)


def test_many_equal_terms_do_not_drift():
    """40,000 equal weights: sums over the samples round alike, and the intercept's slope is zero only up to that."""
    rng = np.random.default_rng(0)
    A = sp.csr_array(rng.random((40_000, 50)) * (rng.random((40_000, 50)) < 0.02))
    b = np.where(rng.random(40_000) < 0.3, 1.0, -1.0)
    start = sw.solve(A, b, loss="logistic", l1=3.5e-4, intercept=True, tol=0.9)
    assert start.gap < 0.2 * start.scale  # far better than the trivial bound, from the first certificate on
    assert sw.solve(A, b, loss="logistic", l1=3.5e-4, intercept=True, tol=1e-9).status is sw.Status.CONVERGED


def test_an_offset_of_the_targets_changes_nothing_but_the_intercept():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 5))
    b = A[:, 0] + 0.1 * rng.standard_normal(100)
    near, far = (sw.solve(A, b + offset, l1=0.01, intercept=True) for offset in (0.0, 2000.0))
    assert far.x == pytest.approx(near.x, abs=1e-6)
    assert far.intercept - near.intercept == pytest.approx(2000.0, abs=1e-6)
    assert far.scale == pytest.approx(near.scale, rel=1e-9)


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csc_array])
def test_slopes_of_a_tiny_dual_point_are_not_taken_for_zero(form):
    """The classes are separable, so the infimum is 0; y is so small that the squares of its numbers vanish."""
    A = np.array([[2.9, 1.0, 2.6, -1.7, -3.5], [0.4, 0.2, 0.9, -2.5, 0.7], [2.9, 2.2, -2.2, 2.3, 0.6]]) * 1e-44
    weights = np.array([1681.0, 4.8e-07, 6.4e-12])
    problem = sw.Problem(form(A), [1.0, -1.0, 1.0], "logistic", intercept=True, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is no minimiser
        assert sw.solve(problem, tol=1e-9).dual <= 0


def test_a_dual_point_that_was_projected_is_charged_for_its_slopes():
    """Unpenalised columns that are multiples of each other, and weights over eight orders of magnitude: the slopes of y
    vanish up to 1e-13 of its size, which is more than its value can bear."""
    column = np.array([-1.96124091, -3.43513524, -9.41399123, 13.29412419])
    b, weights = (
        np.array([1.0, -1.0, 1.0, 1.0]),
        np.array([2.18912530e-01, 7.79194122e-01, 2.81730467e-08, 1.89331975e-03]),
    )
    rng = np.random.default_rng(30)
    U, V = np.column_stack([column, column]), rng.normal(size=(2, 33)) * 10.0 ** rng.uniform(-3, 3, size=33)
    problem = sw.Problem(sw.Factorised(U, V), b, "squared_hinge", intercept=True, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [sw.solve(problem, tol=tol, method=method) for tol, method in
                   ((1e-9, "auto"), (1e-14, "auto"), (1e-9, "fista"))]  # fmt: skip
    s = np.longdouble(weights) / np.longdouble(weights).sum()
    A = np.longdouble(U) @ np.longdouble(V)
    best = min(s @ np.maximum(1 - b * (A @ r.x + r.intercept), 0) ** 2 / 2 for r in results)
    assert all(r.dual <= best * (1 + 1e-14) for r in results)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "squared_hinge", "poisson"])
def test_unpenalised_problems_end_where_rounding_decides(loss, intercept):
    """The charge for slopes that vanish up to rounding keeps the gap above 1e-15: that is no reason to go on."""
    for seed in range(4):
        problem = random_problem(loss, seed, n=40, d=6, intercept=intercept, l1=0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = sw.solve(problem, tol=1e-15, max_epochs=1000)
        assert r.status in (sw.Status.CONVERGED, sw.Status.PRECISION) and r.relative_gap <= 1e-12
