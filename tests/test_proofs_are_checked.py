"""What the solver proves, the independent checker verifies."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from cases import PENALTIES, sparse_model
from proofs import LOSSES
from southwell.check import verify
from southwell.check.loss import Loss
from southwell.penalties import ElasticNet, Groups

pytestmark = pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")


def test_the_checker_knows_the_losses_as_the_solver_does():
    for name, known in Loss.known.items():
        loss = sw.losses.get(name)
        assert known.targets == loss.targets and (known.allowed is None) == (loss.traits.parameter is None)


def checked(tmp_path, problem, A, b, sample_weight=None, **options):
    """The proof of a solve, verified."""
    result = sw.solve(problem, **{"tol": 1e-8} | options)
    result.save_proof(tmp_path / "answer.proof")
    verdict = verify(tmp_path / "answer.proof", A, b, sample_weight)
    assert verdict.verified, (verdict, result)
    return result, verdict


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [False, True])
def test_every_loss_and_penalty(tmp_path, loss, penalty, intercept):
    A, b = sparse_model(loss, 24, 7, 3)
    result, verdict = checked(tmp_path, sw.Problem(A, b, loss, PENALTIES[penalty], intercept=intercept), A, b)
    assert verdict.gap <= result.gap + 1e-9 * result.scale


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_kind_of_data(tmp_path, form, dtype, centred, intercept):
    rng = np.random.default_rng(2)
    A, b = sparse_model("squared", 30, 6, 4, density=0.6)
    A, w = form(A.astype(dtype)), rng.uniform(0.5, 2, 30)
    given = sw.Centred(A) if centred else A
    problem = sw.Problem(given, b, penalty=PENALTIES["l1"], intercept=intercept, sample_weight=w)
    checked(tmp_path, problem, A, b, w)


@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge"])
@pytest.mark.parametrize("penalty", [ElasticNet(0.02), ElasticNet(0.01, 0.1), ElasticNet(0, 0.1), Groups(0.03)])
@pytest.mark.parametrize("intercept", [False, True])
def test_proofs_of_classes_are_checked(tmp_path, loss, penalty, intercept):
    A, b = sparse_model("squared", 30, 6, 1)
    labels = np.digitize(b, np.quantile(b, [0.3, 0.7]))
    checked(tmp_path, sw.BlockProblem(A, labels, loss, penalty, intercept=intercept), A, labels)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "quantile", "poisson"])
@pytest.mark.parametrize("intercept", [False, True])
def test_proofs_of_groups_and_tasks_are_checked(tmp_path, loss, intercept):
    A, b = sparse_model(loss, 30, 6, 1)
    groups = Groups(0.03, groups=[0, 0, 1, 1, 2, 2], l1=0.01, l2=0.05)
    checked(tmp_path, sw.BlockProblem(A, b, loss, groups, intercept=intercept), A, b)
    table = np.c_[b, b[::-1]]
    checked(tmp_path, sw.BlockProblem(A, table, loss, Groups(0.03, l2=0.01), intercept=intercept), A, table)


def test_proofs_of_factors_are_checked(tmp_path):
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(20, 3)), rng.normal(size=(3, 6))
    b = np.sign(U[:, 0] + 0.1)
    checked(tmp_path, sw.Problem(sw.Factorised(U, V), b, "logistic", PENALTIES["l2"], intercept=True), (U, V), b)


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e-8, 1e8, 1e30, 1e100])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_proofs_at_extreme_scales_are_checked(tmp_path, loss, scale):
    A, b = sparse_model(loss, 20, 5, 6)
    penalty = ElasticNet(0.05 * scale, 0.1 * scale**2 if 1e-140 < scale**2 < 1e140 else 0.0)
    checked(tmp_path, sw.Problem(scale * A, b, loss, penalty), scale * A, b, max_epochs=100)


@pytest.mark.parametrize("scale", [1e-100, 1e-40, 1e40, 1e100])
@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge"])
def test_proofs_of_groups_at_extreme_scales_are_checked(tmp_path, loss, scale):
    A, b = sparse_model("squared", 20, 5, 6)
    A = A / np.abs(A).max()
    labels = np.digitize(b, np.quantile(b, [0.3, 0.7]))
    penalty = Groups(0.02 * scale, l1=0.01 * scale, l2=0.1 * scale**2, groups=[0, 0, 1, 1, 2])
    checked(tmp_path, sw.BlockProblem(scale * A, labels, loss, penalty), scale * A, labels, max_epochs=100)


@pytest.mark.parametrize("l1", [1e-20, 1e-30, 1e-40, 1e-290])
def test_bounds_far_below_the_objective_are_checked(tmp_path, l1):
    """At few digits D(0) seems the best of the points that the checker tries; with more, another one is."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 3)) * [1e-5, 1.0, 1e5]
    b = np.where(np.arange(6) % 3 == 0, 1.0, -1.0)
    problem = sw.Problem(A, b, "logistic", ElasticNet(l1), intercept=True)
    _, verdict = checked(tmp_path, problem, A, b)
    assert 0 < verdict.dual_at_least <= 1e4 * l1


def test_points_that_are_no_solution(tmp_path):
    """A proof need not be of an optimum: any point has one."""
    rng = np.random.default_rng(3)
    for loss in LOSSES:
        A, b = sparse_model(loss, 20, 5, 2)
        problem = sw.Problem(A, b, loss, PENALTIES["elastic net"] if loss != "poisson" else PENALTIES["l2"])
        x = 0.3 * rng.normal(size=5)
        proof = problem.prove(x)
        proof.save(tmp_path / "point.proof")
        assert verify(tmp_path / "point.proof", A, b).verified
        low, high = sw.solve(problem, tol=1e-9).dual, proof.primal
        assert proof.dual <= low + 1e-8 and high >= low


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000))
def test_proofs_of_random_problems_are_checked(tmp_path, seed):
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % len(LOSSES)]
    n, d = rng.integers(2, 25), rng.integers(1, 12)
    A, b = sparse_model(loss, max(n, 4), d, seed, density=rng.uniform(0.3, 1))
    A = A * 10.0 ** rng.uniform(-4, 4)
    w = rng.random(len(b)) * (rng.random(len(b)) < 0.9) + 0.01
    penalty = ElasticNet(
        10.0 ** rng.uniform(-6, 0) * (rng.random() < 0.7), 10.0 ** rng.uniform(-8, 0) * (rng.random() < 0.6),
        weights=np.where(rng.random(d) < 0.1, 0.0, rng.uniform(0.5, 2, d)) if rng.random() < 0.3 else None,
        lower=-1.0 if rng.random() < 0.2 else None, upper=0.5 if rng.random() < 0.2 else None,
    )  # fmt: skip
    problem = sw.Problem(A, b, loss, penalty, intercept=bool(rng.random() < 0.5), sample_weight=w)
    checked(tmp_path, problem, A, b, w, tol=10.0 ** rng.uniform(-10, -2), max_epochs=200)
