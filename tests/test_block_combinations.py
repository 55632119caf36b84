"""What signs, unpenalised groups, centring, intercepts and several tasks do to each other, and to proofs."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import Status
from southwell.check import verify
from southwell.penalties import ElasticNet, Groups, MaxGroups


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def proved(tmp_path, result, A, b):
    """The gap of its proof, which the checker verifies."""
    result.save_proof(tmp_path / "answer.proof")
    verdict = verify(tmp_path / "answer.proof", A, b)
    assert verdict.verified, verdict
    return result.prove().gap


@pytest.mark.parametrize("kind", [Groups, MaxGroups])
@pytest.mark.parametrize("intercept", [False, True])
def test_proofs_of_unpenalised_groups_with_a_sign(tmp_path, kind, intercept):
    A = normal(20, 3)
    b = A @ [1.0, -1.0, 2.0] + 0.1 * normal(20, seed=1)  # the second is zero for its sign alone
    r = sw.solve(A, b, penalty=kind(0.05, weights=[1, 0, 1], positive=True), intercept=intercept, tol=1e-9)
    assert r.x[1] == 0 and proved(tmp_path, r, A, b) <= 1e-8


@pytest.mark.parametrize("penalty", [Groups(0.01, weights=[1, 1, 0]), ElasticNet(0.01, weights=[1, 1, 0]), None])
@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge"])
@pytest.mark.parametrize("constant", [0.1, 3e5])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_an_unpenalised_constant_column_stays_where_it_is(penalty, loss, constant, form):
    A = normal(20, 3)
    A[:, 2] = constant
    r = sw.solve(sw.Centred(form(A)), np.arange(20) % 3, loss=loss, penalty=penalty)
    assert r.status is Status.CONVERGED and np.abs(r.x).max() < 10


@pytest.mark.parametrize("loss", ["quantile", "epsilon_insensitive"])
def test_all_is_zero_at_lambda_max_of_losses_with_kinks(loss):
    for seed in range(20):
        A, w = normal(20, 3, seed=seed), np.random.default_rng(seed).integers(1, 4, 20).astype(float)
        problem = sw.BlockProblem(
            A, A[:, 0] + normal(20, seed=seed + 100), loss, ElasticNet(1.0), intercept=True, sample_weight=w
        )
        r = sw.solve(problem.with_penalty(ElasticNet(1.0001 * sw.lambda_max(problem))), tol=1e-10)
        assert r.primal >= r.scale * (1 - 1e-9)  # no better than the zero model


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_a_constant_task_does_not_void_the_proof_of_others(tmp_path, loss, constant):
    A = normal(20, 3)
    b = np.c_[A[:, 0], np.full(20, constant)]
    r = sw.solve(A, b, loss=loss, penalty=Groups(0.01), intercept=True, tol=1e-9)
    assert proved(tmp_path, r, A, b) <= 1e-8 * r.scale


def test_a_separable_task_does_not_void_the_proof_of_others(tmp_path):
    A = normal(30, 2)
    b = np.c_[np.where(normal(30, seed=1) < 0, 1.0, -1.0), np.sign(A[:, 0])]
    r = sw.solve(A, b, loss="logistic", tol=1e-9)
    assert proved(tmp_path, r, A, b) <= 1e-8 * r.scale
