"""Newton's method on samples in several parts: the driver, its models and the certificate ask for sums alone."""

import threading
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from in_parts import drive, even_cuts, in_parts, part_of, random_problem, solved_in_parts
from southwell import _core

KINKED = ["hinge", "quantile", "epsilon_insensitive"]
LOSSES = ["squared", "logistic", "huber", "smooth_hinge", "squared_hinge", "poisson"]
FORMS = {"dense": np.ascontiguousarray, "csr": sp.csr_array, "centred": lambda A: sw.Centred(sp.csr_array(A))}
NETS = {
    "l1": {"l1": 0.02},
    "l2": {"l1": 0.0, "l2": 0.1},
    "both": {"l1": 0.01, "l2": 0.01},
    "bounded": {"l1": 0.01, "l2": 0.001, "lower": -0.1, "upper": 0.5},
    "weighted": {"l1": 0.02, "l2": 0.01, "weights": np.linspace(0.5, 2, 12)},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("net", NETS)
def test_any_number_of_parts_has_the_answer_of_the_usual_method(loss, form, net):
    problem = random_problem(loss, form=FORMS[form], intercept=net != "l2", **NETS[net])
    usual = sw.solve(problem, tol=1e-12)
    rounds = set()
    for parts, by_columns in product((1, 2, 3, 7), (False, True)):
        outcome = solved_in_parts(problem, even_cuts(problem, parts), 1e-11, by_columns=by_columns)
        assert outcome["status"] in ("CONVERGED", "PRECISION")
        assert outcome["primal"] == pytest.approx(usual.primal, rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(problem.from_inner(outcome["x"])[0], usual.x, rtol=1e-4, atol=2e-5)
        rounds.add(outcome["epochs"])
    assert len(rounds) == 1, "the number of rounds does not depend on how the rows are divided"


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("net", NETS)
def test_kinks_are_softened_around_centres_that_stay_with_the_parts(loss, net, intercept):
    problem = random_problem(loss, intercept=intercept, **NETS[net])
    usual = sw.solve(problem, tol=1e-9, method=sw.methods.Auto(movers="primal"))
    for parts, by_columns in product((1, 2, 5), (False, True)):
        outcome = solved_in_parts(problem, even_cuts(problem, parts), 1e-9, by_columns=by_columns)
        assert outcome["status"] == "CONVERGED"
        assert abs(outcome["primal"] - usual.primal) <= 1.1e-9 * usual.scale
        primal, _, _ = _core.certify(problem.core(), outcome["x"], None)
        assert outcome["primal"] == pytest.approx(primal, rel=1e-12)
        assert outcome["epochs"] <= usual.epochs + 4  # rounding, and when certificates are worth their price


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", *KINKED])
def test_parts_know_their_offsets(loss):
    for intercept in (False, True):
        problem = random_problem(loss, 2, intercept=intercept, offsets=True)
        usual = sw.solve(problem, tol=1e-10)
        for parts in (1, 3):
            outcome = solved_in_parts(problem, even_cuts(problem, parts), 1e-10)
            assert outcome["status"] == "CONVERGED"
            assert abs(outcome["primal"] - usual.primal) <= 1.1e-10 * usual.scale


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("net", NETS)
def test_the_certificate_from_sums_is_that_of_the_problem(loss, form, net):
    problem = random_problem(loss, 1, form=FORMS[form], **NETS[net])
    rng = np.random.default_rng(0)
    for size in (0.0, 0.01, 0.3):
        x = np.clip(size * rng.normal(size=problem.inner_size), -0.1, 0.5)
        for parts in (1, 3, 7):
            primal, dual, gap, at = in_parts(problem, even_cuts(problem, parts)).certify(x)
            np.testing.assert_array_equal(at[:-1], x[:-1])
            expected = _core.certify(problem.core(), at, None)
            scale = 1e-12 * (1 + abs(primal))
            np.testing.assert_allclose((primal, dual, gap), expected, rtol=1e-11, atol=scale)


def test_the_certificate_holds_where_rows_are_few_or_none():
    problem = random_problem("logistic", 2, n=5, d=3)
    usual = sw.solve(problem, tol=1e-12)
    for cuts in ([0, 0], [5], [1, 1, 4], [1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 5]):
        for by_columns in (False, True):
            outcome = solved_in_parts(problem, cuts, 1e-11, by_columns=by_columns)
            assert outcome["primal"] == pytest.approx(usual.primal, rel=1e-9)
            assert 0 <= outcome["gap"] <= 1e-11 * outcome["scale"] or outcome["status"] == "PRECISION"


def expected_answers(problem, x, features, along, scales, raised):
    """The same by formulas, on all of the data; x has its intercept."""
    loss, b, s = problem.loss, problem.targets, problem.weights
    A = np.stack([problem.ready_layout().apply(column) for column in np.eye(problem.inner_size)], axis=1)
    m = A @ x
    y, bend = loss.derivative(m, b), s * loss.second_derivative(m, b)
    h = bend if loss.piecewise else np.maximum(bend, 1e-4 * s * np.abs(y))  # see Expansion
    if raised and not loss.quadratic:
        h = h + 1e-3 * (np.max(bend[s > 0] / s[s > 0]) * s - h)
    A_W, used = A[:, features], s > 0
    H = A_W.T * h @ A_W
    return {
        "value": s @ loss.value(m, b),
        "slopes": A.T @ (s * y),
        "sums": (s @ (np.abs(y) * (np.abs(m) + np.abs(b))), s @ y**2, s @ m**2),
        "conjugates": [s[used] @ loss.conjugate(t * y, b)[used] for t in scales],
        "along_intercept": (s @ y, np.sum(bend)),
        "moments": np.stack([A_W.T @ (s * y), A_W.T @ h, np.diag(H)], axis=1).ravel(),
        "gram": H[np.tril_indices(len(features))],
        "product": H @ along,
        "slope": (A_W @ along) @ (s * y),
        "values": [s @ loss.value(m + t * (A_W @ along), b) for t in scales],
    }


@pytest.mark.parametrize("raised", [0, 1])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_answer_is_the_sum_that_it_stands_for(loss, form, raised):
    problem = random_problem(loss, 3, form=FORMS[form])
    rng = np.random.default_rng(1)
    x, features = 0.1 * rng.normal(size=problem.inner_size), np.array([12, 3, 0, 7])
    along, scales = rng.normal(size=4), np.array([0.0, 0.3, 1.0])
    for parts, by_columns in product((1, 4), (False, True)):
        cuts = even_cuts(problem, parts)
        given = in_parts(problem, cuts, by_columns=by_columns).answers(x, features, along, scales, raised)
        expected = expected_answers(problem, given["x"], features, along, scales, raised)
        for question, answer in expected.items():
            np.testing.assert_allclose(given[question], answer, rtol=1e-8, atol=1e-12, err_msg=question)


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("net", ["l1", "both", "bounded"])
def test_sets_too_large_for_their_square_are_solved_by_products(loss, net):
    problem = random_problem(loss, 4, d=40, n=120, **NETS[net])
    usual = sw.solve(problem, tol=1e-12)
    for parts in (1, 3):
        outcome = solved_in_parts(problem, even_cuts(problem, parts), 1e-9, policy={"factor_columns": 2})
        assert outcome["status"] == "CONVERGED"
        assert outcome["primal"] == pytest.approx(usual.primal, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_products_see_columns_that_the_intercept_centres(loss):
    problem = random_problem(loss, 4, d=40, n=120, mean=10.0, form=sp.csr_array, **NETS["both"])
    by_gram, by_products = (
        solved_in_parts(problem, [50], 1e-9, policy=policy) for policy in ({}, {"factor_columns": 2})
    )
    assert by_products["primal"] == pytest.approx(by_gram["primal"], rel=1e-8)
    assert by_products["epochs"] <= 2 * by_gram["epochs"], "with the means in it the model is badly conditioned"


@pytest.mark.parametrize("offset", [-1e6, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_dual_points_are_balanced_where_the_intercept_is_known_to_few_digits(seed, offset):
    problem = random_problem("squared", seed, offset=offset)
    x, one = 0.1 * np.ones(problem.inner_size), np.ones(1)
    given = in_parts(problem, [7, 30]).answers(x, np.array([0]), one, one)
    assert abs(given["slopes"][-1]) <= 1e-15 * given["sums"][1] ** 0.5


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_threads_do_not_change_a_bit(loss):
    problem = random_problem(loss, 5, n=4000, d=60)  # products are divided among threads from 50,000 entries on
    for by_columns in (False, True):
        one, four = (
            solved_in_parts(problem, [1000, 1500], by_columns=by_columns, threads=threads) for threads in (1, 4)
        )
        np.testing.assert_array_equal(one["x"], four["x"])
        assert (one["primal"], one["dual"], one["epochs"]) == (four["primal"], four["dual"], four["epochs"])


def test_nothing_above_the_parts_has_the_length_of_the_samples():
    problem = random_problem("logistic")
    parts = in_parts(problem, even_cuts(problem, 3))
    algorithm = _core.newton_in_parts(parts, np.zeros(problem.inner_size))
    x, y = algorithm.point()
    assert x.size == problem.inner_size and y.size == 0
    outcome = _core.drive(algorithm, 1e-9, 100, np.inf, 0, 1, 1, None, True)
    assert outcome["y"].size == 0 and outcome["status"] == "CONVERGED"


def large():
    return random_problem("logistic", 6, n=8000, d=600, l1=1e-4)


def test_a_deadline_inside_a_round_leaves_a_certificate():
    problem = large()
    parts = in_parts(problem, [3000])
    outcome = drive(parts, problem.inner_size, 0.0, max_epochs=10**9, max_seconds=0.02)
    assert outcome["status"] == "MAX_SECONDS"
    primal, _, _ = _core.certify(problem.core(), outcome["x"], None)
    assert outcome["primal"] == pytest.approx(primal, rel=1e-12) and np.isfinite(outcome["dual"])


def test_an_interrupt_inside_a_round_leaves_a_certificate():
    problem, flag = large(), _core.Flag()
    parts = in_parts(problem, [3000])
    begun = threading.Event()

    def raise_flag():
        begun.wait()
        flag.raise_()

    thread = threading.Thread(target=raise_flag)
    thread.start()
    outcome = drive(
        parts, problem.inner_size, 0.0, max_epochs=10**9, callback=lambda *_: bool(begun.set()), cancelled=flag
    )
    thread.join()
    assert outcome["status"] == "INTERRUPTED" and outcome["error"] is None
    primal, _, _ = _core.certify(problem.core(), outcome["x"], None)
    assert outcome["primal"] == pytest.approx(primal, rel=1e-12)


def test_what_parts_cannot_do_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="penalty on every feature"):
        in_parts(random_problem("squared", l1=0.0), [3])
    with pytest.raises(ValueError, match="at least one part"):
        _core.ProblemInParts([])
    one, other = random_problem("squared"), random_problem("squared", d=5)
    with pytest.raises(ValueError, match="same features"):
        _core.ProblemInParts([part_of(one, 0, 9), part_of(other, 9, 60)])
    for other, what in ((random_problem("huber"), "loss"), (random_problem("squared", l1=0.5), "penalty")):
        with pytest.raises(ValueError, match=f"same {what}"):
            _core.ProblemInParts([part_of(one, 0, 9), part_of(other, 9, 60)])
    weaker = random_problem("squared", weights=np.r_[0.5, np.ones(11)])
    for one, other, what in (
        (random_problem("squared"), weaker, "penalty: weights or bounds differ"),
        (random_problem("squared"), random_problem("squared", lower=0.0), "penalty: weights or bounds differ"),
        (random_problem(sw.losses.Huber(1.0)), random_problem(sw.losses.Huber(2.0)), "loss"),
    ):
        with pytest.raises(ValueError, match=f"same {what}"):
            _core.ProblemInParts([part_of(one, 0, 9), part_of(other, 9, 60)])
    one, other = (random_problem("squared", seed, form=FORMS["centred"]) for seed in (0, 1))
    with pytest.raises(ValueError, match="centred alike"):
        _core.ProblemInParts([part_of(one, 0, 9), part_of(other, 9, 60)])
