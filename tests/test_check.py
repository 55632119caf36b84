"""The checker verifies what is true and refuses what is not, for every loss, penalty and kind of data."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from block_data import CLASSES, made
from cases import PENALTIES, sparse_model
from proofs import LOSSES, claim, edit, solved
from southwell.check import dual_point, verify
from southwell.penalties import ElasticNet, Groups
from southwell.proof_files import write_proof

LOG_TWO_BELOW, LOG_TWO_ABOVE = math.log(2), math.nextafter(math.log(2), 1)  # log 2 = 0.6931471805599453094...
GROUPS = [0, 0, 1, 1, 1, 2, 2, 3]
BLOCK_PENALTIES = {
    "rows": Groups(0.05),
    "weighted groups": Groups(0.05, 0.01, 0.02, groups=GROUPS, weights="size"),
    "sparse groups": Groups(0.03, 0.01, groups=GROUPS),
    "elastic net": ElasticNet(0.01, 0.01, weights=np.linspace(0.5, 2, 8)),
    "l1": ElasticNet(0.02),
}


def holes(A, seed=0):
    return A * (np.random.default_rng(seed).random(A.shape) < 0.6)


DATA = {
    "dense": lambda A: A,
    "csr": lambda A: sp.csr_array(holes(A)),
    "csc, float32": lambda A: sp.csc_matrix(holes(A).astype(np.float32)),
    "centred": lambda A: sw.Centred(A + 3),
    "centred sparse": lambda A: sw.Centred(sp.csr_array(holes(A))),
    "factorised": lambda A: sw.Factorised(A[:, :4], sp.csr_array(holes(A[:4]))),
    "centred by others": lambda A: sw.Centred(np.asfortranarray(A), np.arange(A.shape[1]) / 10),
}
# A Latin square: every pair of loss, penalty and kind of data occurs, with and without an intercept and weights.
SCALAR = [
    (loss, penalty, list(DATA)[(i + j) % len(DATA)], bool((i + j // 2) % 2), bool(j % 3))
    for (i, loss), (j, penalty) in itertools.product(enumerate(LOSSES), enumerate(PENALTIES))
]


def some_weights(n, seed=1):
    """Uneven ones, some of them zero."""
    rng = np.random.default_rng(seed)
    return rng.random(n) * (rng.random(n) < 0.8) + (np.arange(n) < 3)


def check_both_ways(problem, A, b, weight, tmp_path):
    """True claims are verified; the enclosures agree with the core; claims beyond the truth are refused."""
    path, other = tmp_path / "answer.proof", tmp_path / "other.proof"
    r = solved(problem, path)
    verdict = verify(path, A, b, sample_weight=weight)
    assert verdict, verdict
    assert verdict.reasons == ()
    size = abs(r.primal) + abs(r.dual)
    assert r.gap <= verdict.gap <= r.gap + 1e-11 * size + 1e-13 * r.scale
    (p_low, p_high), (d_low, d_high) = verdict.primal, verdict.dual
    assert p_low <= p_high <= p_low + Fraction(2) ** -60
    assert d_low <= d_high <= d_low + Fraction(2) ** -60
    assert float(p_low) == pytest.approx(r.primal, abs=1e-13 * size)
    assert float(d_low) == pytest.approx(r.dual, abs=1e-12 * size)
    tiny = Fraction(1, 10**9)
    claim(path, other, primal=p_low - tiny * abs(p_low))
    assert not verify(other, A, b, sample_weight=weight)
    claim(path, other, dual=d_high + tiny * abs(d_high))
    assert not verify(other, A, b, sample_weight=weight)


@pytest.mark.parametrize("loss, penalty, kind, intercept, weighted", SCALAR)
def test_scalar_problems(loss, penalty, kind, intercept, weighted, tmp_path):
    A, b = sparse_model(loss, 24, 7, 0)
    A, weight = DATA[kind](A), some_weights(24) if weighted else None
    problem = sw.Problem(A, b, loss, PENALTIES[penalty], intercept=intercept, sample_weight=weight)
    check_both_ways(problem, A, b, weight, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind, intercept", list(itertools.product(DATA, (False, True))))
@pytest.mark.parametrize("loss, penalty", list(itertools.product(LOSSES, PENALTIES)))
def test_all_scalar_problems(loss, penalty, kind, intercept, tmp_path):
    test_scalar_problems(loss, penalty, kind, intercept, not intercept, tmp_path)


@pytest.mark.parametrize("loss, penalty", list(itertools.product([*LOSSES, *CLASSES], BLOCK_PENALTIES)))
def test_problems_of_blocks(loss, penalty, tmp_path):
    place = [*LOSSES, *CLASSES].index(loss) + list(BLOCK_PENALTIES).index(penalty)
    A, b = made(loss, n=20)
    data = (A, sp.csc_array(holes(A)), sw.Centred(A))[place % 3]
    weight = some_weights(20) if place % 2 else None
    options = {"intercept": bool(place // 2 % 2), "sample_weight": weight}
    problem = sw.BlockProblem(data, b, loss, BLOCK_PENALTIES[penalty], **options)
    check_both_ways(problem, data, b, weight, tmp_path)


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_one_target_under_groups(loss, tmp_path):
    A, b = made(loss, n=20)
    problem = sw.BlockProblem(A, b[:, 0], loss, BLOCK_PENALTIES["sparse groups"], intercept=True)
    check_both_ways(problem, A, b[:, 0], None, tmp_path)


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "hinge", "squared_hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("kind", ["dense", "factorised", "centred sparse"])
def test_unpenalised_features(loss, kind, tmp_path):
    A, b = sparse_model(loss, 60, 7, 3, noise=3.0)
    A = DATA[kind](A[:, :4] if kind == "dense" else A)
    check_both_ways(sw.Problem(A, b, loss, intercept=kind == "dense"), A, b, None, tmp_path)


def test_unpenalised_features_that_depend_on_each_other(tmp_path):
    A, b = sparse_model("squared", 20, 4, 0)
    A = np.column_stack([A, A[:, 0] * 2, np.ones(20)])
    check_both_ways(sw.Problem(A, b, intercept=True), A, b, None, tmp_path)


def test_one_sided_bounds_without_a_penalty(tmp_path):
    A, b = sparse_model("squared", 20, 6, 0)
    check_both_ways(sw.Problem(A, b, penalty=ElasticNet(lower=0), intercept=True), A, b, None, tmp_path)


def test_too_many_unpenalised_features_are_said_to_be_so(tmp_path):
    A, b = sparse_model("squared", 100, dual_point.MOST_FREE + 1, 0)
    solved(sw.Problem(A, b), tmp_path / "answer.proof")
    verdict = verify(tmp_path / "answer.proof", A, b)
    assert not verdict
    assert any("unpenalised" in reason for reason in verdict.reasons)


# By hand: P(x) = D(y) exactly, so that the claims cannot be moved by a single bit.


def check_to_the_bit(path, other, A, b, primal, dual, **options):
    claim(path, other, primal, dual)
    assert verify(other, A, b, **options), verify(other, A, b, **options)
    claim(path, other, math.nextafter(primal, -math.inf), min(dual, math.nextafter(primal, -math.inf)))
    assert not verify(other, A, b, **options)
    claim(path, other, max(primal, math.nextafter(dual, math.inf)), math.nextafter(dual, math.inf))
    assert not verify(other, A, b, **options)


def test_lasso_by_hand(tmp_path):
    path, other, A, b = lasso_by_hand(tmp_path)
    verdict = verify(path, A, b)
    assert verdict.primal == verdict.dual == (Fraction(41, 64), Fraction(41, 64))
    assert verdict.gap == 0
    check_to_the_bit(path, other, A, b, 0.640625, 0.640625)


def lasso_by_hand(tmp_path):
    """x_j = soft(mean(a_j b), 1/4) since the columns are orthogonal; residuals -1, -1/4, 0, 1/4:

    P = (1 + 1/16 + 1/16) / 8 + (11/8 + 5/8) / 4 = 9/64 + 1/2; D = -sum (y^2/2 + b y) / 4 = -9/64 + 25/32.
    """
    A, b = np.array([[1.0, 1], [1, -1], [1, 1], [1, -1]]), np.array([3, 1, 2, 0.5])
    path = tmp_path / "answer.proof"
    problem = sw.Problem(A, b, penalty=ElasticNet(0.25))
    write_proof(path, problem, [1.375, 0.625], 0.0, [-1, -0.25, 0, 0.25], 0.640625, 0.640625)
    return path, tmp_path / "other.proof", A, b


@pytest.mark.parametrize("loss, y", [("logistic", [-0.5, 0.5]), ("softmax", [[-0.5, 0.5], [0.5, -0.5]])])
def test_log_two_by_hand(loss, y, tmp_path):
    """At x = 0 both losses are log 2, and so is the dual value at y = +-1/2, whose slopes are within l1."""
    A = np.array([[1.0], [1.0]])
    b = np.array([1, -1] if loss == "logistic" else [0, 1])
    kind, x = (sw.Problem, [0.0]) if loss == "logistic" else (sw.BlockProblem, [[0.0, 0.0]])
    path, other = tmp_path / "answer.proof", tmp_path / "other.proof"
    for intercept in (False, True):
        c = 0.0 if loss == "logistic" else [0.0, 0.0]
        write_proof(path, kind(A, b, loss, ElasticNet(0.5), intercept=intercept), x, c, y, 1.0, 0.0)
        check_to_the_bit(path, other, A, b, LOG_TWO_ABOVE, LOG_TWO_BELOW)


def test_poisson_by_hand(tmp_path):
    """P(0) = e^0 - 0 = 1, and y = 0: D = -(1 log 1 - 1) = 1."""
    path, other, A, b = tmp_path / "answer.proof", tmp_path / "other.proof", np.ones((2, 1)), np.ones(2)
    write_proof(path, sw.Problem(A, b, "poisson", ElasticNet(0.5)), [0.0], 0.0, [0.0, 0.0], 2.0, 0.0)
    check_to_the_bit(path, other, A, b, 1.0, 1.0)


def test_multiclass_hinge_by_hand(tmp_path):
    """At margins 0 of two classes with corner 1 the best y is (-1/2, 1/2): 1/2 - 1/4 = 1/4, and so is D there."""
    path, other, A, b = tmp_path / "answer.proof", tmp_path / "other.proof", np.ones((2, 1)), np.array([0, 1])
    problem = sw.BlockProblem(A, b, "multiclass_hinge", ElasticNet(0.5), intercept=True)
    write_proof(path, problem, [[0.0, 0.0]], [0.0, 0.0], [[-0.5, 0.5], [0.5, -0.5]], 2.0, 0.0)
    check_to_the_bit(path, other, A, b, 0.25, 0.25)


def test_group_lasso_by_hand(tmp_path):
    """x = 0 and y = -b have slopes (-3, -4) / 2 of norm 5/2, the strength: P = D = (9 + 16) / 4."""
    path, other, A, b = tmp_path / "answer.proof", tmp_path / "other.proof", np.eye(2), np.array([3.0, 4.0])
    problem = sw.BlockProblem(A, b, "squared", Groups(2.5, groups=[0, 0]))
    write_proof(path, problem, [0.0, 0.0], 0.0, -b, 10.0, 0.0)
    check_to_the_bit(path, other, A, b, 6.25, 6.25)


def test_a_dual_point_far_from_feasible_still_gives_a_true_bound(tmp_path):
    """The checker makes any y feasible; with y of nonsense the bound is weak and the claim is refused."""
    A, b = made("softmax", n=20)
    problem = sw.BlockProblem(A, b, "softmax", ElasticNet(0.02), intercept=True)
    path, other = tmp_path / "answer.proof", tmp_path / "other.proof"
    r = solved(problem, path)

    def wild(text, arrays):
        arrays["y"] = 10 * np.random.default_rng(0).normal(size=arrays["y"].shape)

    edit(path, other, wild)
    verdict = verify(other, A, b)
    assert not verdict
    assert verdict.dual[1] <= r.primal
    claim(other, path, dual=float(verdict.dual[0]) - 1e-12)
    assert verify(path, A, b)


@pytest.mark.parametrize("loss", [*LOSSES, *CLASSES])
@pytest.mark.parametrize("size", [1e-320, 1e300])
def test_numbers_of_extreme_size_give_a_verdict_and_keep_weak_duality(loss, size, tmp_path):
    A, b = made(loss, n=12) if loss in CLASSES else sparse_model(loss, 12, 8, 0)
    kind, shape = (sw.BlockProblem, (3,)) if loss in CLASSES else (sw.Problem, ())
    rng, path = np.random.default_rng(0), tmp_path / "answer.proof"
    for scale, penalty in ((1e-300, ElasticNet(0.1)), (1e8, ElasticNet(1e-300, 5e-324))):
        x, y = rng.normal(size=(8, *shape)), rng.normal(size=(12, *shape))
        problem = kind(A * scale, b, loss, penalty, intercept=True)
        write_proof(path, problem, size * x, np.zeros(shape), size * y, 1e10, -1e10)
        verdict = verify(path, A * scale, b)
        assert str(verdict)
        assert verdict.verified or verdict.reasons
        assert verdict.primal is None or verdict.dual[0] <= verdict.primal[1]


def test_a_point_at_its_ends_is_scaled_where_it_cannot_be_moved():
    """Both numbers are at an end, and no other pair with one of them there has equal numbers."""
    u, denominator = dual_point.projected([10, 9], [-10, -9], [10, 9], [1, 1], [[1, -1]])
    assert [Fraction(v, denominator) for v in u] == [9, 9]
    assert dual_point.projected([10, 9], [5, -9], [10, 0], [1, 1], [[1, -1]]) is None  # 0 is beyond an end
