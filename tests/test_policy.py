"""The numbers that the default method decides by: listed with reasons, and without influence on the answer."""

import numpy as np
import pytest

import southwell as sw
from southwell.methods import Auto, default_policy
from southwell.penalties import Groups

NAMES = list(default_policy())


def problem(loss="logistic"):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 30))
    return sw.Problem(
        A, np.sign(A[:, 0] + rng.normal(size=80)), loss, sw.penalties.ElasticNet(0.02, 1e-3), intercept=True
    )


def block_problem(loss):
    """Groups, one of them unpenalised, over classes or tasks; with a sparse group penalty on the squared loss."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 12))
    tasks = A[:, :3] + rng.normal(size=(60, 3))
    b = tasks.argmax(axis=1) if loss == "softmax" else tasks
    penalty = Groups(0.02, l1=0.01 * (loss == "squared"), groups=np.arange(12) // 3, weights=[0.0, 1.0, 1.0, 2.0])
    return sw.BlockProblem(A, b, loss, penalty, intercept=True)


def test_every_number_has_a_reason():
    assert len(NAMES) == len(set(NAMES)) > 50
    for number, reason in default_policy().values():
        assert number > 0
        assert len(reason.split()) >= 3


PROBLEMS = {"numbers": problem(), "tasks": block_problem("squared"), "classes": block_problem("softmax")}
BEST = {}


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_numbers_do_not_change_the_answer(kind, name, factor):
    if kind not in BEST:
        BEST[kind] = sw.solve(PROBLEMS[kind], tol=1e-9)
    best, number = BEST[kind], default_policy()[name][0]
    other = min(factor * number, 0.95) if number < 1 else factor * number  # parts of one stay parts of one
    r = sw.solve(PROBLEMS[kind], tol=1e-9, method=Auto(policy={name: other}))
    assert r.status is sw.Status.CONVERGED
    assert abs(r.primal - best.primal) <= 2e-9 * r.scale


def test_numbers_are_obeyed():
    plain = sw.solve(problem("hinge"), tol=1e-9, method=Auto(movers="primal"))
    short = sw.solve(problem("hinge"), tol=1e-9, method=Auto(movers="primal", policy={"steps_a_round": 1}))
    assert short.epochs > plain.epochs


def test_numbers_are_obeyed_on_blocks_and_on_products():
    few = Auto(movers="primal", policy={"gram_rounds": 1, "steps_a_round": 1, "block_sweeps": 1, "block_steps": 1})
    plain = sw.solve(block_problem("squared"), tol=1e-9, method=Auto(movers="primal"))
    assert sw.solve(block_problem("squared"), tol=1e-9, method=few).epochs > plain.epochs
    rng = np.random.default_rng(2)
    A = sw.Factorised(rng.normal(size=(40, 3)), rng.normal(size=(3, 20)))
    given = sw.Problem(A, rng.normal(size=40), "quantile", sw.penalties.ElasticNet(0.01, 0.01))
    long, short = (sw.solve(given, tol=1e-6, method=Auto(policy={"formed": 1, "fista_iterations": k})) for k in (20, 5))
    assert long.status is short.status is sw.Status.CONVERGED
    assert short.epochs > long.epochs


@pytest.mark.parametrize("early", [{"dense_entries": 1}, {"long_columns": 1e-9}])
def test_newton_steps_wait_where_columns_are_dense(early):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((600, 3000))
    for j in range(1, A.shape[1]):  # neighbours are correlated by 0.9
        A[:, j] = 0.9 * A[:, j - 1] + np.sqrt(1 - 0.9**2) * A[:, j]
    b = A[:, ::10] @ rng.standard_normal(300)
    own, other = (
        sw.solve(A, b, l1=0.1 * sw.lambda_max(A, b), method=Auto(policy=policy)).movers["newton"].rounds
        for policy in ({}, early)
    )
    assert own < other


@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        ({"sweep": 3}, ValueError, "policy.*sweeps"),
        ({"sweeps": -1}, ValueError, r"policy\['sweeps'\]"),
        ({"sweeps": "many"}, TypeError, r"policy\['sweeps'\]"),
        (3, TypeError, "mapping"),
    ],
)
def test_policy_of_another_kind_is_refused(policy, error, words):
    with pytest.raises(error, match=words):
        Auto(policy=policy)
