"""Problems of blocks: certificates are true and answers are optimal."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from block_problems import CLASSES, LABELS, PENALTIES, TASKS, data, parts, proved, solved, stacked, stated
from southwell import reference
from southwell.penalties import ElasticNet, Groups
from southwell.testing.planted import _samples

# Certificates


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [*TASKS, *CLASSES])
def test_certificates_are_those_of_the_reference(loss, penalty, intercept):
    problem = stated(loss, PENALTIES[penalty], intercept=intercept, weighted=True)
    rng = np.random.default_rng(3)
    optimum = solved(problem, 1e-9)
    for size in (0.0, 0.1, 1.0):
        X = size * rng.normal(size=(8, 3))
        c = size * rng.normal(size=3) if intercept else 0.0
        own = stacked(problem, X, c)
        full, b, s, wide, blocks = parts(problem)
        far = full @ own + size * rng.normal(size=(40, 3))
        Y = wide.derivative(far, b)
        for y in (None, Y, 0.3 * Y):
            want = reference.block_certificate(full, b, s, wide, blocks, own, y, intercept)
            got = problem.certify(X, y, c)
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)
            assert got.gap >= 0
            assert got.gap >= got.primal - optimum.primal - 1e-12 * (1 + got.primal)
            assert got.dual <= optimum.primal + 1e-12 * (1 + abs(optimum.primal))


@settings(max_examples=150)
@given(
    loss=st.sampled_from([*TASKS, *CLASSES]), penalty=st.sampled_from(sorted(PENALTIES)), intercept=st.booleans(),
    x=st.floats(-8, 8), y=st.floats(-8, 8), seed=st.integers(0, 10**6), weighted=st.booleans(), sparse=st.booleans(),
)  # fmt: skip
def test_any_pair_has_a_true_gap(loss, penalty, intercept, x, y, seed, weighted, sparse):
    """Of any size from 1e-8 to 1e8, inside the domain or not."""
    problem = stated(loss, PENALTIES[penalty], intercept=intercept, weighted=weighted, sparse=sparse)
    rng = np.random.default_rng(seed)
    X, Y = 10.0**x * rng.normal(size=(8, 3)), 10.0**y * rng.normal(size=(40, 3))
    if loss == "poisson":
        X = np.clip(X, -20, 20)
    c = 10.0**x * rng.normal(size=3) if intercept and loss != "poisson" else 0.0
    zero = problem.certify(np.zeros((8, 3)))
    got = problem.certify(X, Y, c)
    assert got.gap >= 0 and got.dual <= zero.primal + 1e-12 * (1 + abs(zero.primal))
    assert got.primal >= zero.dual - 1e-12 * (1 + abs(zero.dual) + abs(got.primal))


# Answers


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [*TASKS, *CLASSES])
def test_answers_are_optimal(loss, penalty):
    for sparse, intercept, weighted in product((False, True), repeat=3):
        problem = stated(loss, PENALTIES[penalty], sparse=sparse, intercept=intercept, weighted=weighted)
        r = solved(problem)
        assert r.x.shape == (8, 3) and r.y.shape == (40, 3)
        if loss not in CLASSES:
            one = stated(loss, PENALTIES[penalty], sparse=sparse, intercept=intercept, weighted=weighted, kind="one")
            r = solved(one)
            assert r.x.shape == (8,) and r.y.shape == (40,) and isinstance(r.intercept, float)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", ["L2,1", "sparse groups", "elastic", "ridge"])
@pytest.mark.parametrize("loss", [*TASKS, *CLASSES])
def test_no_worse_than_the_reference(loss, penalty, intercept):
    problem = stated(loss, PENALTIES[penalty], intercept=intercept, weighted=True)
    full, *rest = parts(problem)
    X = reference.block_coordinate_descent(full, *rest, 40, intercept=intercept)
    value = reference.block_objective(full, *rest, X)
    r = solved(problem, 1e-9)
    assert r.primal <= value + 1e-9 * r.scale
    assert value <= r.primal + 0.05 * r.scale  # it is on its way there
    assert r.dual <= value + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "poisson", *CLASSES])
def test_all_digits_can_be_proven(loss, penalty):
    for intercept in (False, True):
        solved(stated(loss, PENALTIES[penalty], intercept=intercept), 1e-12)


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("loss", CLASSES)
def test_many_classes_are_proven(loss, k):
    for penalty in (Groups(0.01), ElasticNet(0.003, 0.01), ElasticNet(l2=1e-4)):
        solved(stated(loss, penalty, n=120, d=15, k=k, intercept=True), 1e-8)


@settings(max_examples=80)
@given(
    loss=st.sampled_from([*TASKS, *CLASSES]),
    n=st.integers(3, 20), d=st.integers(1, 12), k=st.integers(2, 4),
    seed=st.integers(0, 10**6), intercept=st.booleans(), sparse=st.booleans(), weighted=st.booleans(),
    strength=st.sampled_from([0.0, 1e-3, 0.05, 1.0]), l1=st.sampled_from([0.0, 1e-3, 0.05]),
    l2=st.sampled_from([0.0, 1e-4, 0.1]), labels=st.lists(st.integers(0, 3), min_size=12, max_size=12),
)  # fmt: skip
def test_small_problems_of_every_shape(loss, n, d, k, seed, intercept, sparse, weighted, strength, l1, l2, labels):
    if strength + l1 + l2 == 0:
        l2 = 1e-4
    penalty = Groups(strength, l1, l2, np.array(labels[:d]))
    problem = stated(
        loss, penalty, n=max(n, k), d=d, k=k, seed=seed, intercept=intercept, sparse=sparse, weighted=weighted
    )
    history = []
    r = sw.solve(problem, callback=history.append)
    proved(problem, r)
    gaps = np.array([progress.gap for progress in history])
    assert (gaps >= 0).all()
    assert (np.diff(gaps) <= 1e-12 * (1 + abs(r.primal))).all()


# Planted answers


def bend(A, X, M, W, Z):
    """A changed until A X = M and A'W = Z, which needs W'M = Z'X."""
    np.testing.assert_allclose(W.T @ M, Z.T @ X, atol=1e-12)
    plus = np.linalg.pinv(X)
    return A + (M - A @ X) @ plus + np.linalg.pinv(W).T @ (Z - A.T @ W).T @ (np.eye(len(X)) - X @ plus)


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", TASKS)
def test_planted_groups_are_found(loss, l2):
    """One target: margins, a dual point and slopes are chosen, the length of x settles that they agree."""
    rng, n, d, strength, l1 = np.random.default_rng(7), 60, 24, 0.03, 0.01
    m, b, y = _samples(sw.losses.get(loss), rng, n)
    group_of = rng.permutation(np.arange(d) % 8)
    x = np.where(group_of < 3, rng.normal(size=d), 0.0)
    wanted = -(y @ m) / n
    linear = strength * sum(np.linalg.norm(x[group_of == g]) for g in range(3)) + l1 * np.abs(x).sum()
    square = l2 * (x @ x)
    x *= wanted / linear if square == 0 else (np.sqrt(linear**2 + 4 * square * wanted) - linear) / (2 * square)
    z = -rng.uniform(-0.9, 0.9, d) * l1
    for g in range(8):
        own = group_of == g
        if g < 3:
            z[own] = -(strength * x[own] / np.linalg.norm(x[own]) + l1 * np.sign(x[own]) + l2 * x[own])
        else:
            z[own] += 0.8 * strength / np.sqrt(own.sum()) * rng.choice((-1.0, 1.0), own.sum())
    A = bend(rng.normal(size=(n, d)), x[:, None], m[:, None], y[:, None] / n, z[:, None])
    problem = sw.BlockProblem(A, b, loss, Groups(strength, l1, l2, group_of))
    assert problem.certify(x, y).gap <= 1e-12
    r = solved(problem, 1e-12)
    assert r.primal == pytest.approx(problem.certify(x, y).primal, rel=1e-10)
    np.testing.assert_allclose(r.x, x, atol=1e-4)
    assert ((r.x != 0) == (x != 0)).all()


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_planted_tasks_are_found(loss, l2):
    """Several targets: X and its slopes are chosen, a dual table has those slopes, and the targets have that table."""
    rng, n, d, k = np.random.default_rng(8), 80, 15, 4
    A, strength = rng.normal(size=(n, d)), 0.02
    X = 0.2 * rng.normal(size=(d, k)) * (np.arange(d) < 4)[:, None]
    Z = 0.5 * strength * rng.normal(size=(d, k)) / np.sqrt(k)
    norms = np.linalg.norm(X[:4], axis=1, keepdims=True)
    Z[:4] = -(strength * X[:4] / norms + l2 * X[:4])
    Y = n * np.linalg.pinv(A.T) @ Z
    M = A @ X
    b = np.exp(M) - Y if loss == "poisson" else M - Y
    if loss == "poisson":
        assert b.min() > 0
    problem = sw.BlockProblem(A, b, loss, Groups(strength, l2=l2))
    assert problem.certify(X, Y).gap <= 1e-13 * (1 + np.abs(b).max())
    r = solved(problem, 1e-12)
    np.testing.assert_allclose(r.x, X, atol=1e-5)
    assert (r.x[4:] == 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("loss", CLASSES)
def test_planted_classes_are_found(loss, k):
    """Margins that favour each class alike make W'M symmetric, and one group of orthogonal rows fits it."""
    rng, per, d, strength, l2 = np.random.default_rng(9), 12, 4 * (k + 1), 0.05, 0.02
    wide, b = sw.losses.get(loss), np.repeat(np.arange(k), per)
    ahead = np.tile(rng.uniform(0.2, 0.6, per), k)
    centre = np.eye(k) - 1 / k
    M = ahead[:, None] * centre[b]
    Y = wide.derivative(M, b)
    n = len(b)
    C = -(Y * M).sum() / n / (k - 1)  # W'M = -C centre
    # X'X = (C / c) centre with c = strength / ||X|| + l2: ||X|| is the positive root.
    length = (np.sqrt(strength**2 + 4 * l2 * C * (k - 1)) - strength) / (2 * l2)
    Q = np.linalg.qr(rng.normal(size=(k + 1, k)))[0]
    X = np.zeros((d, k))
    group_of = rng.permutation(np.arange(d) % 4)
    X[group_of == 2] = length / np.sqrt(k - 1) * Q @ centre
    Z = rng.normal(size=(d, k)) @ centre
    for g in (0, 1, 3):
        Z[group_of == g] *= 0.8 * strength / np.linalg.norm(Z[group_of == g])
    Z[group_of == 2] = -(strength / length + l2) * X[group_of == 2]
    A = bend(rng.normal(size=(n, d)), X, M, Y / n, Z)
    problem = sw.BlockProblem(A, b, loss, Groups(strength, l2=l2, groups=group_of))
    assert problem.certify(X, Y).gap <= 1e-13
    r = solved(problem, 1e-12)
    np.testing.assert_allclose(r.x, X, atol=1e-5)
    assert (r.x[group_of != 2] == 0).all()


# Zero


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [*TASKS, *CLASSES])
def test_the_smallest_strength_that_gives_zero_is_the_largest_norm_of_slopes(loss, intercept):
    """Over groups, of the slopes of the model that has the intercept alone; the weights divide it."""
    A, b = data(loss)
    weights = np.array([1.0, 0.5, 2.0, 1.5])
    everything = sw.BlockProblem(A, b, loss, Groups(1e6, groups=LABELS, weights=weights), intercept=intercept)
    null = solved(everything, 1e-12)
    assert not null.x.any()
    slopes = A.T @ (np.full((40, 1), 1 / 40) * everything.loss.derivative(np.zeros((40, 3)) + null.intercept, b))
    top = max(np.linalg.norm(slopes[g == LABELS]) / weights[g] for g in range(4))
    assert sw.lambda_max(everything) == pytest.approx(top, rel=1e-6)
    for factor, zero in ((1 + 1e-8, True), (1 - 1e-3, False)):
        r = solved(everything.with_penalty(Groups(factor * top, groups=LABELS, weights=weights)), 1e-12)
        assert (not r.x.any()) == zero
        assert r.nonzeros == np.count_nonzero(r.x)


@pytest.mark.parametrize("loss", ["squared", *CLASSES])
def test_groups_are_zero_together_and_exactly(loss):
    problem = stated(loss, Groups(0.3 if loss == "squared" else 0.08, groups=LABELS), n=100)
    r = solved(problem, 1e-9)
    by_group = [np.count_nonzero(r.x[g == LABELS]) / r.x[g == LABELS].size for g in range(4)]
    assert set(by_group) == {0.0, 1.0}


# Laws on real data


def test_classes_of_real_data_are_proven(shared_data):
    given = shared_data("mushrooms")
    A = sp.csr_array((given["data"], given["indices"], given["indptr"]), shape=tuple(given["shape"]))[:600].astype(
        float
    )
    b = np.random.default_rng(0).integers(0, 4, 600)
    for penalty in (Groups(0.005), ElasticNet(1e-3), ElasticNet(l2=1e-3)):
        solved(sw.BlockProblem(A, b, "softmax", penalty, intercept=True))
