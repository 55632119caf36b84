"""What Newton's method keeps and expects along a path spares work, and changes no answer."""

from __future__ import annotations

import numpy as np
import pytest

import southwell as sw
from southwell.methods import Auto
from southwell.penalties import ElasticNet, Groups, MaxGroups

N, D = 90, 16


def correlated(n: int = N, d: int = D, seed: int = 0) -> np.ndarray:
    """Columns that share most of what they are."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def targets(A: np.ndarray, kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    scores = A @ rng.normal(size=(A.shape[1], 4)) / 4 + rng.normal(size=(A.shape[0], 4))
    return {"classes": scores.argmax(axis=1), "tasks": scores, "one": scores[:, 0]}[kind]


PROBLEMS = {
    "tasks": ("tasks", "squared", Groups(1.0)),
    "groups": ("one", "squared", Groups(1.0, groups=np.arange(D) // 4)),
    "sparse groups": ("one", "squared", Groups(1.0, l1=0.5, groups=np.arange(D) // 4)),
    "largest": ("tasks", "squared", MaxGroups(1.0)),
    "robust tasks": ("tasks", "huber", Groups(1.0)),
    "classes": ("classes", "softmax", Groups(1.0)),
    "classes, l1": ("classes", "softmax", ElasticNet(1.0)),
    "classes, largest": ("classes", "softmax", MaxGroups(1.0)),
    "numbers": ("one", "squared", ElasticNet(1.0)),
    "bounded numbers": ("one", "squared", ElasticNet(1.0, lower=0.0)),
}
NONE = 1e-9
PLAIN = {"secant": NONE, "free_price": NONE, "largest_gram": NONE}  # without what this file is about


def problem(name: str, intercept: bool) -> sw.Problem:
    kind, loss, penalty = PROBLEMS[name]
    A = correlated()
    made = sw.Problem if name.endswith("numbers") else sw.BlockProblem
    return made(A, targets(A, kind), loss, penalty, intercept=intercept)


def strengths(given: sw.Problem, points: int = 12, ratio: float = 0.02) -> np.ndarray:
    return sw.lambda_max(given) * np.geomspace(1.0, ratio, points)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", PROBLEMS)
def test_points_of_a_path_are_as_good_as_solves_from_zero(name, intercept):
    given = problem(name, intercept)
    path = sw.path(given, l1s=strengths(given), tol=1e-8)
    assert path.converged
    for k, penalty in enumerate(path.penalties):
        cold = sw.solve(given.with_penalty(penalty), tol=1e-8)
        assert cold.status
        slack = 1e-8 * path.scale
        assert path.dual[k] - slack <= cold.primal <= path.primal[k] + slack + cold.gap
        assert cold.dual - slack <= path.primal[k]
        np.testing.assert_allclose(path.primal[k], cold.primal, atol=2 * slack)


@pytest.mark.parametrize("number", PLAIN)
@pytest.mark.parametrize("name", PROBLEMS)
def test_without_each_of_them_the_answers_are_the_same(name, number):
    given = problem(name, True)
    at = strengths(given)
    usual, without = (sw.path(given, l1s=at, tol=1e-9, method=Auto(policy=policy)) for policy in ({}, {number: NONE}))
    assert usual.converged
    assert without.converged
    np.testing.assert_allclose(usual.primal, without.primal, atol=2e-9 * usual.scale)


def work(given: sw.Problem, at: np.ndarray, policy: dict) -> int:
    """Entries touched at the last point of a path by Newton's method, certificates aside."""
    path = sw.path(given, l1s=at, tol=1e-9, method=Auto(movers="primal", policy=policy))
    assert path.converged
    return sum(effort.entries for effort in path.last.movers.values())


@pytest.mark.parametrize("kind", ["numbers", "blocks"])
def test_where_a_path_is_straight_its_next_point_is_foreseen(kind):
    """Between two changes of the support the lasso is linear in its strength. What is foreseen needs no step."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(400, 30))
    b = A[:, :5] @ np.array([3.0, -3.0, 4.0, 5.0, -4.0])
    given = sw.Problem(A, b, "squared", ElasticNet(1.0))
    if kind == "blocks":
        given = sw.BlockProblem(A, b, "squared", Groups(0.0, l1=1.0))
    at = np.linspace(0.2, 0.1, 6)
    plain = PLAIN | {"hessian_price": NONE}
    foreseen, not_foreseen = (work(given, at, policy) for policy in (plain | {"secant": 2}, plain))
    assert foreseen < not_foreseen


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "penalty", [ElasticNet(0.0, 1e-4), ElasticNet(0.0, 1e-3), Groups(0.0, l2=1e-4)], ids=["weak", "strong", "groups"]
)
def test_the_curvature_of_classes_spares_conjugate_gradients(penalty, intercept):
    A = correlated(n=400)
    given = sw.BlockProblem(A, targets(A, "classes"), "softmax", penalty, intercept=intercept)
    usual, diagonal = (
        sw.solve(given, tol=1e-9, method=Auto(movers="primal", policy=policy)) for policy in ({}, {"free_price": NONE})
    )
    assert usual.status
    assert diagonal.status
    np.testing.assert_allclose(usual.primal, diagonal.primal, atol=2e-9 * usual.scale)
    assert usual.movers["newton"].entries < 0.7 * diagonal.movers["newton"].entries


@pytest.mark.parametrize("weighted", [False, True])
def test_the_zero_model_of_classes_is_their_shares(weighted):
    A = correlated()
    b = targets(A, "classes")
    s = np.random.default_rng(3).uniform(0.5, 2, size=N) if weighted else np.ones(N)
    shares = np.bincount(b, s) / s.sum()
    r = sw.solve(A, b, loss="softmax", penalty=Groups(1e3), intercept=True, sample_weight=s)
    assert not r.x.any()
    np.testing.assert_allclose(r.scale, -(shares @ np.log(shares)), rtol=1e-12)
    np.testing.assert_allclose(r.intercept, np.log(shares) - np.log(shares).mean(), atol=1e-10)


@pytest.mark.parametrize("far", [0.0, 3.0, -50.0, 1e6])
def test_the_best_intercepts_are_found_from_any_guess(far):
    A = correlated()
    given = sw.BlockProblem(A, targets(A, "classes"), "softmax", Groups(1e-2), intercept=True)
    best = sw.solve(given, tol=1e-10)
    again = sw.solve(given, tol=1e-10, warm_start=(best.x, best.intercept + far * np.arange(4)))
    assert again.status
    np.testing.assert_allclose(again.primal, best.primal, atol=1e-10 * best.scale)
