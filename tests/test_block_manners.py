"""Problems of blocks: warm starts, hard cases, copies, callbacks and limits."""

import pickle
import warnings

import numpy as np
import pytest

import southwell as sw
from block_problems import CLASSES, LABELS, PENALTIES, data, solved, stated
from signals import signal_on_call
from southwell import ConvergenceWarning
from southwell.penalties import ElasticNet, Groups


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "logistic", *CLASSES])
def test_warm_starts_converge_at_once(loss, penalty):
    problem = stated(loss, PENALTIES[penalty], intercept=True)
    r = solved(problem, 1e-8)
    for start in (r, (r.x, r.intercept), (r.x, r.intercept + 1e-3)):
        again = solved(problem, 2e-8, warm_start=start)
        assert again.epochs <= 1
        assert again.primal <= r.primal + 2e-8 * r.scale
    near = solved(problem, 1e-8, warm_start=(r.x + 1e-3, r.intercept))
    assert near.primal <= r.primal + 1e-8 * r.scale


@pytest.mark.parametrize("sizes", [(1.0, 1e3, 1e8), (1e18, 1e150)])
@pytest.mark.parametrize("loss", ["squared", *CLASSES])
def test_bad_starts_are_survived(loss, sizes):
    problem = stated(loss, PENALTIES["groups"], intercept=True)
    rng = np.random.default_rng(0)
    for size in sizes:
        solved(problem, 1e-8, warm_start=(size * rng.normal(size=(8, 3)), size * rng.normal(size=3)))


STARTS = {
    "L2,1": Groups(0.1),
    "l1": ElasticNet(0.1),
    "elastic": Groups(0.1, l2=0.1),
    "pair": Groups(0.1, groups=[0, 0, 1, 1]),
}


@pytest.mark.parametrize("penalty", STARTS)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_start_on_an_empty_or_constant_column_is_left(penalty, intercept):
    """Where the loss does not bend, the penalty alone says that coefficients are zero."""
    A, b = data("squared", d=4)
    A[:, 1] = 1.0 if intercept else 0.0
    problem = sw.BlockProblem(A, b, "squared", STARTS[penalty], intercept=intercept)
    start = np.zeros((4, 3))
    start[1] = 1e-3
    r = solved(problem, 1e-10, warm_start=start)
    assert np.abs(r.x[1]).max() <= (1e-5 if penalty == "pair" else 0)


FLATS = {
    "huber": (sw.losses.Huber(1e-3), Groups(1e-5)),
    "huber ridge": (sw.losses.Huber(1e-3), ElasticNet(l2=1e-5)),
    "smooth hinge": (sw.losses.SmoothHinge(0.05), Groups(0.01)),
    "two classes": (sw.losses.MulticlassHinge(0.05), Groups(0.01)),
    "three classes": (sw.losses.MulticlassHinge(1e-3), Groups(0.01)),
}


@pytest.mark.parametrize("seed", [0, 1, 16])
def test_pure_l1_with_far_more_features_than_samples(seed):
    for penalty in (ElasticNet(3e-4), Groups(l1=3e-4, groups=np.arange(50) // 3)):
        for loss in ("squared_hinge", "poisson", *CLASSES):
            slow = loss == "poisson" and seed == 0  # rounds stall at a gap of 3e-4 for long
            solved(stated(loss, penalty, n=10, d=50, seed=seed), max_epochs=20_000 if slow else 1000)


@pytest.mark.parametrize("case", FLATS)
def test_losses_that_are_linear_nearly_everywhere(case):
    loss, penalty = FLATS[case]
    A, b = data("softmax" if "classes" in case else loss.name, k=2 if case == "two classes" else 3)
    solved(sw.BlockProblem(A, b, loss, penalty, intercept=True), max_epochs=200)


def test_newton_steps_know_how_a_norm_bends():
    """Across a block its norm is round, along it straight. Where that is forgotten, steps are far too short: the answer
    is proven all the same, but only after six times as many rounds."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 300)) + rng.standard_normal((100, 1))
    b = np.sign(A[:, :30] @ rng.standard_normal(30) + rng.standard_normal(100))
    groups = np.repeat(np.arange(30), 10)
    penalty = Groups(0.02 * np.abs(A.T @ b).max() / 100, groups=groups)
    result = sw.solve(A, b, loss="logistic", penalty=penalty, tol=1e-11)
    assert result.status is sw.Status.CONVERGED
    assert result.epochs <= 15


@pytest.mark.parametrize("penalty", ["L2,1", "l1"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_feature_that_only_outliers_have(penalty, intercept):
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.normal(size=(200, 5)), np.arange(200) < 10])
    b = A[:, 0] + 0.1 * rng.normal(size=200) + 30.0 * A[:, 5]
    penalty = {"L2,1": Groups(0.01), "l1": ElasticNet(0.01)}[penalty]
    r = solved(sw.BlockProblem(A, np.stack([b, -b], axis=1), "huber", penalty, intercept=intercept), max_epochs=200)
    assert r.x[5].all()


def test_same_seed_same_bits():
    for loss in ("squared", "logistic", *CLASSES):
        problem = stated(loss, PENALTIES["sparse groups"], intercept=True)
        one, other = (sw.solve(problem, seed=5) for _ in range(2))
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.y, other.y)
        np.testing.assert_array_equal(one.history["gap"], other.history["gap"])


def test_with_penalty_and_path_by_hand():
    problem, r = stated("softmax", Groups(1.0), intercept=True), None
    for strength in (0.1, 0.03, 0.01):
        other = problem.with_penalty(Groups(strength, groups=LABELS))
        assert other.layout(True) is problem.layout(True)
        r = solved(other, 1e-9, warm_start=r)
        np.testing.assert_allclose(r.x, solved(other, 1e-9).x, atol=1e-3)
    net = problem.with_penalty(ElasticNet(0.01))
    assert solved(net).primal == solved(stated("softmax", ElasticNet(0.01), intercept=True)).primal


def test_other_targets_give_another_problem():
    for loss in ("squared", "softmax"):
        (A, b), (_, other) = data(loss, seed=0), data(loss, seed=1)
        problem = sw.BlockProblem(A, b, loss, Groups(0.05))
        r = solved(problem.with_targets(other))
        np.testing.assert_array_equal(r.x, solved(sw.BlockProblem(A, other, loss, Groups(0.05))).x)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_with_targets_of_another_width(loss):
    (A, b), (_, other) = data(loss, k=3), data(loss, k=4)
    problem = sw.BlockProblem(A, b, loss, Groups(0.05)).with_targets(other)
    np.testing.assert_array_equal(solved(problem).x, solved(sw.BlockProblem(A, other, loss, Groups(0.05))).x)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", *CLASSES])
def test_problems_and_results_can_be_pickled(loss, penalty):
    problem = stated(loss, PENALTIES[penalty], intercept=True, sparse=True)
    r = sw.solve(problem)
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(sw.solve(again).x, r.x)
    result = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(result.x, r.x)
    assert solved(again, warm_start=result).epochs <= 1


def test_the_problem_says_what_it_is():
    problem = stated("softmax", Groups(0.1), intercept=True)
    assert "Softmax" in repr(problem) and "Groups(strength=0.1" in repr(problem) and "40 x 8" in repr(problem)
    r = sw.solve(problem)
    assert "CONVERGED" in repr(r) or "onverged" in repr(r)
    assert problem.width == 3 and problem.inner_size == 27 and problem.dual_size == 120
    with pytest.raises(AttributeError, match="cannot be changed"):
        problem.penalty = None


def test_callbacks_history_and_limits():
    problem, seen = stated("softmax", Groups(0.003), n=150, d=40, k=4, intercept=True), []
    r = sw.solve(problem, callback=seen.append, tol=1e-10)
    assert [p.gap for p in seen] == r.history["gap"].tolist()
    assert seen[-1].x.shape == (40, 4) and seen[-1].intercept.shape == (4,)
    assert all(p.nonzeros == np.count_nonzero(p.x) for p in seen)
    np.testing.assert_array_equal(seen[-1].x, r.x)
    for p in seen:
        assert problem.certify(p.x, intercept=p.intercept).primal == pytest.approx(p.primal, rel=1e-11)
    stopped = sw.solve(problem, callback=lambda p: p.epoch >= 1, tol=1e-10)
    assert stopped.status is sw.Status.STOPPED and stopped.epochs == 1
    last = sw.solve(problem, record_history=False, tol=1e-10)
    assert last.history["gap"].tolist() == [r.gap]
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        short = sw.solve(problem, max_epochs=1, tol=1e-10)
    assert short.status is sw.Status.MAX_EPOCHS and short.epochs == 1
    with pytest.warns(ConvergenceWarning):
        none = sw.solve(problem, max_epochs=0, tol=1e-10)
    assert not none.x.any() and none.gap <= none.scale * (1 + 1e-12)

    def fails(progress):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        sw.solve(problem, callback=fails)


def hard(kind):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(600, 1)) + 0.05 * rng.normal(size=(600, 400))
    penalty = {"groups": Groups(1e-6), "l1": ElasticNet(1e-6), "ridge": ElasticNet(l2=1e-10)}[kind]
    return sw.BlockProblem(A, rng.integers(0, 8, 600), "softmax", penalty, intercept=True)


@pytest.mark.parametrize("kind", ["groups", "l1", "ridge"])
def test_seconds_run_out_and_control_c_ends_it(kind):
    problem = hard(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        r = sw.solve(problem, tol=1e-15, max_epochs=10**9, max_seconds=0.4)
    assert r.status in (sw.Status.MAX_SECONDS, sw.Status.CONVERGED)
    assert 0 <= r.gap < np.inf
    with pytest.raises(sw.Interrupted) as stop, signal_on_call() as send:
        sw.solve(problem, tol=0.0, max_epochs=10**9, max_seconds=300, callback=send)
    result = stop.value.result
    assert result.status is sw.Status.INTERRUPTED and result.x.shape == (400, 8)
