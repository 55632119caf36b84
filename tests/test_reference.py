"""The core moves as its slow twin in NumPy does, step for step, and both certify the same."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _core, reference
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant

LOSSES = list(sw.losses.ALL)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
CONCORDANT = [name for name in LOSSES if sw.losses.get(name).self_concordance > 0]
WEIGHTS = np.array([1.0, 0.2, 3.0, 1.0, 0.7, 1.5, 0.4])
PENALTIES = {
    "elastic net": ElasticNet(l1=0.05, l2=0.1),
    "l1": ElasticNet(l1=0.05),
    "l2": ElasticNet(l2=0.1),
    "weights": ElasticNet(l1=0.05, l2=0.1, weights=WEIGHTS),
    "box": ElasticNet(l1=0.02, l2=0.1, lower=-0.2, upper=[0.3, np.inf, 0.0, 0.1, 2.0, 0.5, np.inf]),
}
STRONG = [name for name in PENALTIES if PENALTIES[name].l2 > 0]


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def order(rule, size, epochs, seed=0):
    return _core.Rule(rule).draw(size, seed, epochs * size)


def primal_twin(p, penalty, rule, k, A=None, **options):
    A = p.A if A is None else A
    net = reference.ElasticNet.of(penalty, A.shape[1])
    moves = order(rule, A.shape[1], k)
    return reference.primal_coordinate_descent(
        A, p.b, p.s, p.loss, net, moves, concordance=p.loss.self_concordance, **options
    )


def problem_of(p, penalty, A=None, **options):
    return sw.Problem(p.A if A is None else A, p.b, p.loss, penalty, sample_weight=p.s, **options)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_iterates_are_those_of_the_reference(loss, penalty, small, epochs):
    p, g = small(loss), PENALTIES[penalty]
    for k in range(1, 6):
        result = epochs(k, problem_of(p, g), side="primal", rule="cyclic")
        assert result.epochs == k
        close(result.x, primal_twin(p, g, "cyclic", k))


@pytest.mark.parametrize("rule", ["shuffled", "uniform"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_iterates_in_random_order(loss, rule, small, epochs):
    p, g = small(loss, seed=1), PENALTIES["elastic net"]
    for k in range(1, 6):
        close(epochs(k, problem_of(p, g), side="primal", rule=rule).x, primal_twin(p, g, rule, k))


@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_iterates_on_sparse_data_with_empty_rows_and_columns(loss, small, epochs):
    p, g = small(loss, seed=2), ElasticNet(l1=0.01, l2=0.01, lower=-0.7)
    p.A[np.random.default_rng(0).random(p.A.shape) < 0.5] = 0
    p.A[:, 2] = p.A[4] = 0
    for k in (1, 2, 5):
        want = primal_twin(p, g, "cyclic", k)
        for A in (p.A, sp.csr_array(p.A), sp.csc_array(p.A)):
            close(epochs(k, problem_of(p, g, A), side="primal", rule="cyclic").x, want)


@pytest.mark.parametrize("loss", CONCORDANT)
def test_primal_iterates_where_the_newton_step_needs_its_safeguard(loss, small, epochs):
    """Columns so long that the first steps leave the trust region, or fall back on the global bound."""
    g = ElasticNet(l1=1e-3)
    for scale in (0.1, 5.0, 30.0):
        p = small(loss, seed=3, scale=scale)
        for k in range(1, 6):
            close(epochs(k, problem_of(p, g), side="primal", rule="cyclic").x, primal_twin(p, g, "cyclic", k))


@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_iterates_with_an_intercept(loss, small, epochs):
    """The core solves the intercept before the first epoch and after the last; between, it is a coordinate."""
    p, g = small(loss, seed=4), PENALTIES["elastic net"]
    means = p.s @ p.A  # with an intercept, dense columns are centred
    A = np.column_stack([p.A - means, np.ones(p.b.size)])
    net = reference.ElasticNet.of(g, p.A.shape[1], intercept=True)
    start = np.zeros(A.shape[1])
    start[-1] = reference.best_shift(p.b, p.s, p.loss, 0 * p.b)
    for k in (1, 2, 5):
        x = reference.primal_coordinate_descent(
            A, p.b, p.s, p.loss, net, order("cyclic", A.shape[1], k), start, p.loss.self_concordance
        )
        result = epochs(k, problem_of(p, g, intercept=True), side="primal", rule="cyclic")
        close(result.x, x[:-1])
        close(result.intercept, x[-1] - means @ x[:-1] + reference.best_shift(p.b, p.s, p.loss, A @ x))


@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_iterates_on_centred_data(loss, small, epochs):
    p, g = small(loss, seed=5), PENALTIES["elastic net"]
    raw = p.A + 0.5
    means = p.s @ raw
    # On sparse data the core bounds the largest entry of a centred column by those of its two parts.
    parts = p.loss.self_concordance * (np.abs(raw).max(axis=0) + np.abs(means))
    for k in (1, 2, 5):
        for A, reach in ((raw, None), (sp.csc_array(raw), parts)):
            want = primal_twin(p, g, "cyclic", k, raw - means, reach=reach)
            close(epochs(k, problem_of(p, g, sw.Centred(A)), side="primal", rule="cyclic").x, want)


def dual_twin(p, penalty, rule, k, A=None):
    A = p.A if A is None else A
    net = reference.ElasticNet.of(penalty, A.shape[1])
    return reference.dual_coordinate_ascent(A, p.b, p.s, p.loss, net, order(rule, A.shape[0], k))


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_iterates_are_those_of_the_reference(loss, penalty, small, epochs):
    p, g = small(loss), PENALTIES[penalty]
    for k in range(1, 6):
        result = epochs(k, problem_of(p, g), side="dual", rule="cyclic")
        assert result.epochs == k
        close(result.y, dual_twin(p, g, "cyclic", k)[0])


@pytest.mark.parametrize("rule", ["shuffled", "uniform"])
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_iterates_in_random_order(loss, rule, small, epochs):
    p, g = small(loss, seed=1), PENALTIES["elastic net"]
    for k in range(1, 6):
        close(epochs(k, problem_of(p, g), side="dual", rule=rule).y, dual_twin(p, g, rule, k)[0])


@pytest.mark.parametrize("penalty", ["elastic net", "l2"])
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_iterates_on_sparse_and_centred_data(loss, penalty, small, epochs):
    p, g = small(loss, seed=2), PENALTIES[penalty]
    p.A[np.random.default_rng(0).random(p.A.shape) < 0.5] = 0
    p.A[:, 2] = p.A[4] = 0
    for k in (1, 2, 5):
        want, centred = dual_twin(p, g, "cyclic", k)[0], dual_twin(p, g, "cyclic", k, p.A - p.s @ p.A)[0]
        for A in (p.A, sp.csr_array(p.A)):
            close(epochs(k, problem_of(p, g, A), side="dual", rule="cyclic").y, want)
            close(epochs(k, problem_of(p, g, sw.Centred(A)), side="dual", rule="cyclic").y, centred)


def test_dual_iterates_skip_samples_without_weight(small, epochs):
    p, g = small("squared"), PENALTIES["l2"]
    p.s[3] = 0
    p.s /= p.s.sum()
    result = epochs(3, problem_of(p, g), side="dual", rule="cyclic")
    want = dual_twin(p, g, "cyclic", 3)[0]
    want[3] = 0  # the twin moves it; it has no share in anything
    close(result.y, want)


@pytest.mark.parametrize("frame", ["plain", "centred", "intercept"])
def test_gram_moves_as_mirror_on_the_primal(frame, small, epochs):
    p, g = small("squared", n=40), PENALTIES["elastic net"]
    problem = problem_of(p, g, sw.Centred(p.A + 0.5) if frame == "centred" else p.A, intercept=frame == "intercept")
    for k in range(1, 6):
        mirror, gram = (
            epochs(k, problem, side="primal", rule="shuffled", coupling=coupling) for coupling in ("mirror", "gram")
        )
        np.testing.assert_allclose(gram.x, mirror.x, rtol=1e-9, atol=1e-9)
        assert gram.intercept == pytest.approx(mirror.intercept, abs=1e-9)
        assert gram.method != mirror.method


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("loss", LOSSES)
def test_gram_moves_as_mirror_on_the_dual(loss, weights, centred, small, epochs):
    p, g = small(loss), ElasticNet(l2=0.1, weights=weights)
    problem = problem_of(p, g, sw.Centred(p.A + 0.5) if centred else p.A)
    for k in range(1, 6):
        mirror, gram = (
            epochs(k, problem, side="dual", rule="shuffled", coupling=coupling) for coupling in ("mirror", "gram")
        )
        np.testing.assert_allclose(gram.y, mirror.y, rtol=1e-9, atol=1e-9)
        assert gram.method != mirror.method


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_certificates_agree(loss, penalty, intercept, small):
    p, g = small(loss, seed=6), PENALTIES[penalty]
    A = np.column_stack([p.A, np.ones((p.b.size, int(intercept)))])
    net = reference.ElasticNet.of(g, p.A.shape[1], intercept)
    problem = problem_of(p, g, intercept=intercept)
    rng = np.random.default_rng(7)
    for size in (0.0, 0.1, 1.0):
        x = np.clip(size * rng.normal(size=A.shape[1]), net.lo, net.hi)
        c = x[-1] if intercept else 0.0
        y = p.loss.derivative(A @ x + size * rng.normal(size=p.b.size), p.b)
        want = reference.certificate(A, p.b, p.s, p.loss, net, x, y, intercept)
        np.testing.assert_allclose(problem.certify(x[: p.A.shape[1]], y, c), want, rtol=1e-10, atol=1e-12)
        if p.loss.smooth or not intercept:  # where phi has kinks the intercept need not be unique, nor then y
            want = reference.certificate(A, p.b, p.s, p.loss, net, x, None, intercept)
            np.testing.assert_allclose(problem.certify(x[: p.A.shape[1]], None, c), want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_gap_is_the_sum_of_its_brackets(loss, penalty, small):
    p, g = small(loss, seed=8), PENALTIES[penalty]
    net = reference.ElasticNet.of(g, p.A.shape[1])
    x = np.clip(np.random.default_rng(9).normal(size=p.x.size), net.lo, net.hi)
    y = p.loss.derivative(np.random.default_rng(10).normal(size=p.b.size), p.b)
    samples, features = reference.brackets(p.A, p.b, p.s, p.loss, net, x, y)
    assert min(samples.min(), features.min()) >= -1e-14
    gap = problem_of(p, g).certify(x, y)[2]
    assert gap <= (samples.sum() + features.sum()) * (1 + 1e-12)  # less where a scaled y is the better bound
    tiny = 1e-3 * y  # here it is not
    samples, features = reference.brackets(p.A, p.b, p.s, p.loss, net, x, tiny)
    assert samples.sum() + features.sum() == pytest.approx(problem_of(p, g).certify(x, tiny)[2], rel=1e-12)
    # y = phi'(m) closes the samples' brackets, x = grad g*(-z) those of the features.
    samples, _ = reference.brackets(p.A, p.b, p.s, p.loss, net, x, p.loss.derivative(p.A @ x, p.b))
    _, features = reference.brackets(p.A, p.b, p.s, p.loss, net, net.conjugate_gradient(-p.A.T @ (p.s * y)), y)
    assert max(np.abs(samples).max(), np.abs(features).max()) <= 1e-13


@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_twin_finds_the_planted_answer(loss):
    p = plant(loss, n=30, d=10, nonzeros=4, weighted=True)
    net = reference.ElasticNet.of(p.penalty, 10)
    x = reference.primal_coordinate_descent(
        p.A, p.b, p.sample_weight, p.loss, net, order("cyclic", 10, 400), concordance=p.loss.self_concordance
    )
    np.testing.assert_allclose(x, p.x, atol=1e-6)
    primal, dual, gap = reference.certificate(p.A, p.b, p.sample_weight, p.loss, net, x)
    assert dual <= p.primal + 1e-12 <= primal + 2e-12
    assert gap <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_dual_twin_closes_on_the_planted_answer(loss):
    p = plant(loss, n=30, d=10, nonzeros=4, weighted=True, l2=0.2)
    net = reference.ElasticNet.of(p.penalty, 10)
    y, x = reference.dual_coordinate_ascent(p.A, p.b, p.sample_weight, p.loss, net, order("cyclic", 30, 100))
    primal, dual, _ = reference.certificate(p.A, p.b, p.sample_weight, p.loss, net, x, y)
    assert dual <= p.primal + 1e-12 <= primal + 2e-12
    assert primal - dual <= 1e-4 * primal


def test_twins_on_real_data(shared_data, epochs):
    given = shared_data("ionosphere")
    A = np.ascontiguousarray(given["X"][:120], dtype=float)
    b = np.where(given["y"][:120] == given["y"].max(), 1.0, -1.0)
    s, loss, g = np.full(120, 1 / 120), sw.losses.Logistic(), ElasticNet(l1=0.01, l2=0.01)
    net = reference.ElasticNet.of(g, A.shape[1])
    problem = sw.Problem(A, b, loss, g)
    x = reference.primal_coordinate_descent(A, b, s, loss, net, order("cyclic", A.shape[1], 3), concordance=1.0)
    close(epochs(3, problem, side="primal", rule="cyclic").x, x)
    y, _ = reference.dual_coordinate_ascent(A, b, s, loss, net, order("shuffled", 120, 2))
    close(epochs(2, problem, side="dual", rule="shuffled").y, y)
