"""Bounds against answers in rational arithmetic, where sums and projections round as badly as they can."""

import math
from fractions import Fraction

import numpy as np
import pytest

import southwell as sw


@pytest.mark.parametrize("large", [1, 2, 4, 8, 16])
def test_a_sum_that_loses_all_small_terms_is_bounded_from_above(large):
    # Each small term is less than half a unit in the last place of one, so a plain sum that begins with ones drops it.
    b = np.full(64, 0.99 * 2.0**-53)
    b[:large] = 1.0
    problem = sw.Problem(np.ones((64, 1)), b, sw.losses.Quantile(0.5), sw.penalties.ElasticNet(1.0))
    bound = problem.certify(np.zeros(1), rigorous=True).primal
    assert Fraction(bound) >= sum(map(Fraction, b.tolist())) / 128


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7])
@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
def test_the_bound_of_tasks_without_a_penalty_counts_the_slopes_of_every_task(distance):
    """The first task is solved exactly. Nearly equal columns amplify the rounding of the slopes of the second one."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u, v = rng.normal(size=6), rng.normal(size=6)
        A, b = np.c_[u, u + distance * v], rng.normal(size=6)
        problem = sw.BlockProblem(A, np.c_[np.zeros(6), b], "squared", sw.penalties.ElasticNet(0.0))
        bound = sw.solve(problem, tol=1e-9, max_epochs=200).prove().dual
        assert Fraction(bound) <= least_squares(A, b)


@pytest.mark.parametrize("distance", 10.0 ** np.arange(-14, -1))
@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
def test_slopes_of_nearly_equal_columns_that_vanish_up_to_rounding_are_charged(distance):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        u, v, b = rng.normal(size=(3, 6))
        A = np.c_[u, u + distance * v]
        bound = sw.solve(A, b, tol=1e-9, max_epochs=60).dual
        assert Fraction(bound) <= least_squares(A, b) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("loss, of_zero", [("squared_hinge", Fraction(1, 2)), ("logistic", Fraction(math.log(2)))])
@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
def test_separable_samples_add_nothing_to_the_bound_wherever_their_margins_end(loss, of_zero):
    """Beyond the empty rows the infimum is 0. It is reached at large margins, or never, and no bound exceeds it."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(12, 2)) * (rng.random((12, 2)) < 0.7)
        b = np.where(A @ rng.normal(size=2) >= 0, 1.0, -1.0)
        b[:2] = 1.0, -1.0
        weights = 10.0 ** rng.uniform(-12, 0, 12)
        empty = (rng.random(12) < 0.3) | (np.arange(12) < 2)
        A[empty] = 0
        weights[empty] *= 1e-6
        problem = sw.Problem(A, b, loss, sample_weight=weights)
        optimum = of_zero * sum(map(Fraction, problem.weights[(A == 0).all(1)].tolist()))
        assert Fraction(sw.solve(problem, max_epochs=100).dual) <= optimum * (1 + Fraction(1, 10**13)), seed


def least_squares(A, b) -> Fraction:
    """Half the least mean squared residual over two columns, exactly."""
    u, v, t = (list(map(Fraction, column.tolist())) for column in (A[:, 0], A[:, 1], b))

    def dot(p, q):
        return sum(x * y for x, y in zip(p, q, strict=True))

    determinant = dot(u, u) * dot(v, v) - dot(u, v) ** 2
    x = (dot(v, v) * dot(u, t) - dot(u, v) * dot(v, t)) / determinant
    y = (dot(u, u) * dot(v, t) - dot(u, v) * dot(u, t)) / determinant
    return (dot(t, t) - x * dot(u, t) - y * dot(v, t)) / (2 * len(b))


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("far", [1.0, 1e100, 1e155, 1e160, 1e260, 1e300])
def test_the_dual_number_of_a_sample_without_weight_excuses_no_slope(far, blocks):
    """Its square overflows, or makes all others look like rounding."""
    A, b = np.array([[38.0, 3.9], [-39.0, 3.4], [89.0, -1.7]]), np.array([9854.0, 9979.0, 10007.0])
    state = sw.BlockProblem if blocks else sw.Problem
    for intercept in (False, True):
        problem = state(A, b, "poisson", intercept=intercept, sample_weight=[1.0, 1.2, 0.0])
        best = sw.solve(problem, tol=1e-9)
        for y in (-b[:2], [1.0, 2.0], [5.0, -3.0]):
            dual = problem.certify(best.x, y=np.append(y, far), intercept=best.intercept).dual
            assert dual <= best.primal + 1e-12 * abs(best.primal)
            assert dual == pytest.approx(problem.certify(best.x, y=np.append(y, 0.0), intercept=best.intercept).dual)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("size", [1e-20, 1e-150, 1e-250, 1e-302])
def test_slopes_that_are_too_small_for_numbers_do_not_vanish(size, blocks):
    """The classes are separable, so the infimum is zero; y would bound it from below if its slope were zero."""
    A, b = np.array([[1e-120], [-1e-120], [2e-120]]), np.array([1.0, -1.0, 1.0])
    problem = (sw.BlockProblem if blocks else sw.Problem)(A, b, "logistic")
    assert problem.certify([0.0], y=-size * b).dual <= 0
