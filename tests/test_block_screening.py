"""Groups that the gap proves to be zero are zero in every solution, and in the end all are found that can be."""

import numpy as np
import pytest

import southwell as sw
from block_data import made
from saddles import quietly
from southwell.methods import Auto, CoordinateDescent
from southwell.penalties import ElasticNet, Groups

LOSSES = ["squared", "logistic", "smooth_hinge", "softmax", "multiclass_hinge"]
PENALTIES = {
    "rows": Groups(1.0),
    "groups": Groups(1.0, groups=np.arange(24) // 3),
    "sparse groups": Groups(0.7, 0.3, groups=np.arange(24) // 3),
    "elastic groups": Groups(1.0, 0.0, 0.01, groups=np.arange(24) // 3),
    "entries": ElasticNet(1.0),
}


DATA = {loss: made(loss, n=60, d=24) for loss in LOSSES}


def problem_of(loss, penalty, share, intercept):
    A, b = DATA[loss]
    strong = sw.BlockProblem(A, b, loss, penalty, intercept=intercept)
    return strong.with_penalty(penalty.at(share * sw.lambda_max(strong), penalty.l2))


def pulls(problem, y):
    """For each group ||soft(Z_g, l1)|| and the strength that holds it at zero, from the slopes of y."""
    penalty, k = problem.penalty, problem.width
    A = DATA[problem.loss.name][0]
    A = A - (problem.weights @ A if problem.intercept else 0.0)  # y sums to zero with an intercept
    slopes = A.T @ (problem.weights[:, None] * np.reshape(y, (-1, k)))
    rows = isinstance(penalty, ElasticNet)
    groups = np.arange(A.shape[1]) if rows else penalty.group_of(A.shape[1])
    l1, strength = penalty.l1, 0.0 if rows else penalty.strength
    soft = np.maximum(np.abs(slopes) - l1, 0.0)
    own = np.array([np.linalg.norm(soft[groups == g]) for g in np.unique(groups)])
    lengths = np.array([np.sqrt((problem.weights @ A[:, groups == g] ** 2).sum()) for g in np.unique(groups)])
    return own, np.full(own.shape, strength), lengths, groups


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_screened_groups_are_zero_in_every_solution(loss, penalty, intercept):
    problem = problem_of(loss, PENALTIES[penalty], 0.4, intercept)
    truth = quietly(problem, tol=1e-11, max_epochs=20_000, method=CoordinateDescent(side="primal"))
    own, strength, lengths, groups = pulls(problem, truth.y)
    gap = truth.gap + 1e-13 * (abs(truth.primal) + truth.scale)
    reach = np.sqrt(2 * gap * problem.loss.smoothness) * lengths + 1e-9
    for tol in (1e-1, 1e-3, 1e-6):
        screened = quietly(problem, tol=tol, method=Auto(movers="primal")).screened.features
        for g in np.unique(groups[screened]):
            assert screened[groups == g].all()
            assert own[g] <= strength[g] + reach[g]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_in_the_end_all_groups_inside_their_bound_are_screened(loss, penalty):
    problem = problem_of(loss, PENALTIES[penalty], 0.6, False)
    r = quietly(problem, tol=1e-11, method=Auto(movers="primal"))
    own, strength, lengths, groups = pulls(problem, r.y)
    reach = np.sqrt(2 * r.gap * problem.loss.smoothness) * lengths
    if strength.any():
        sure = own + 2 * reach < 0.99 * strength
        assert sure.any()
        assert all(r.screened.features[groups == g].all() for g in np.flatnonzero(sure))
    assert not r.screened.features[np.abs(r.x).reshape(len(groups), -1).max(axis=1) > 0].any()


@pytest.mark.parametrize("loss", [*LOSSES, "hinge", "quantile"])
def test_movers_agree_on_blocks(loss):
    A, b = made(loss, n=50, d=10)
    problem = sw.BlockProblem(A, b, loss, ElasticNet(0.01, 0.1))
    results = [quietly(problem, tol=1e-8, method=Auto(movers=movers)) for movers in ("primal", "dual", "auto")]
    for r in results:
        assert r.status is sw.Status.CONVERGED
        assert abs(r.primal - results[0].primal) <= 2e-8 * r.scale


@pytest.mark.parametrize(("intercept", "l2", "given"), [(True, 0.1, "an intercept"), (False, 0.0, "l2 = 0")])
def test_dual_mover_on_blocks_refuses_what_it_cannot(intercept, l2, given):
    A, b = made("softmax")
    problem = sw.BlockProblem(A, b, "softmax", ElasticNet(0.01, l2), intercept=intercept)
    with pytest.raises(ValueError, match=f"this problem has {given}.*movers='primal'"):
        sw.solve(problem, method=Auto(movers="dual"))
