"""Maximum inner product search: its logic, with an index that is exact, and the index of hnswlib."""

import numpy as np
import pytest

import southwell as sw
from southwell import _search, reference, rules
from southwell.methods import CoordinateDescent
from southwell.penalties import ElasticNet
from twins import FORMS, PENALTIES, D, Formulas, N, Twins, chance, exact_index, problem_of

ALL_PENALTIES = {**PENALTIES, "none": ElasticNet(), "positive": ElasticNet(l1=0.01, l2=0.002, lower=0.0)}
SEARCHED = [(name, score) for name in ALL_PENALTIES for score in ("gs-s", "gs-r", "gs-q")]
SEARCHED = [(name, score) for name, score in SEARCHED if (name, score) not in (("box", "gs-r"), ("box", "gs-q"))]
"""Steps that a bound cuts short are shorter than the index believes; the others are exact."""


def picks_the_greedy_coordinate(problem, side, score, candidates, moves):
    """Until all scores are rounding errors."""
    twins = Twins(problem, side, rules.MaxInnerProduct(candidates, explore=0.0, score=score))
    for move in range(moves):
        scores = twins.scores(score)
        if scores.max() < 1e-10:
            assert move >= 10
            break
        (k,) = twins.lead(1)
        assert scores[k] >= scores.max() * (1 - 1e-9)
    twins.agree()


@pytest.mark.parametrize(("penalty", "score"), SEARCHED)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_with_an_exact_index_primal_picks_are_greedy(loss, penalty, score, monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    for form, intercept, candidates in (("dense", False, 1), ("sparse", True, 4), ("centred", False, 1)):
        problem = problem_of(loss, ALL_PENALTIES[penalty], form, intercept)
        picks_the_greedy_coordinate(problem, "primal", score, candidates, 60)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic net"])
@pytest.mark.parametrize("loss", ["squared", "hinge", "smooth_hinge", "quantile", "epsilon_insensitive", "logistic"])
def test_with_an_exact_index_dual_picks_are_greedy(loss, penalty, intercept, monkeypatch):
    """By the shortest subgradient, by which the index searches; logistic samples are all apart."""
    monkeypatch.setattr(_search, "index", exact_index)
    picks_the_greedy_coordinate(problem_of(loss, penalty, "sparse", intercept), "dual", "gs-s", 1, 50)


@pytest.mark.parametrize("score", ["gs-r", "gs-q"])
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_on_the_dual_side_candidates_are_compared_by_the_score(loss, score, monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    twins = Twins(problem_of(loss, "l2"), "dual", rules.MaxInnerProduct(4, explore=0.0, score=score))
    for _ in range(30):
        violations, scores = twins.scores("gs-s"), twins.scores(score)
        zero, apart = (np.flatnonzero(where) for where in (twins.at == 0, twins.at != 0))
        found = zero[np.argsort(-violations[zero], kind="stable")[:4]]
        assert scores[twins.lead(1)[0]] == pytest.approx(scores[np.concatenate([found, apart])].max(), abs=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic net", "positive"])
def test_a_search_that_knows_the_penalty_does_not_stall(penalty, monkeypatch):
    """Without exploring, and with the only candidate of the papers: by inner products alone these stall."""
    monkeypatch.setattr(_search, "index", exact_index)
    for loss in ("squared", "logistic"):
        method = CoordinateDescent("primal", rules.MaxInnerProduct(1, explore=0.0))
        result = sw.solve(problem_of(loss, ALL_PENALTIES[penalty]), method=method, tol=1e-8, max_epochs=300)
        assert result.status is sw.Status.CONVERGED


@pytest.mark.parametrize(("side", "intercept"), [("primal", False), ("primal", True), ("dual", False), ("dual", True)])
@pytest.mark.parametrize("form", FORMS)
def test_search_is_shown_the_image_and_who_is_apart(form, side, intercept, monkeypatch):
    seen = []

    def index(problem, *rest):
        def find(image, number, apart):
            seen.append((image.copy(), apart.copy()))
            return np.arange(len(seen), len(seen) + number) % D

        return find

    monkeypatch.setattr(_search, "index", index)
    for loss in ("squared", "hinge" if side == "dual" else "logistic"):
        twins = Twins(problem_of(loss, "elastic net", form, intercept), side, rules.MaxInnerProduct(3, explore=0.0))
        for _ in range(25):  # until half of them are apart, no more are searched for
            image, apart = twins.image(), set(np.flatnonzero(twins.at))
            if intercept and side == "primal":
                apart.add(D)
            twins.lead(1)
            np.testing.assert_allclose(seen[-1][0], image, atol=1e-12)
            assert set(seen[-1][1]) == apart and seen[-1][1].size == len(apart)


def test_without_a_penalty_nothing_is_apart(monkeypatch):
    """The index knows all scores: a move reads the candidates, as in the papers."""
    seen = []

    def index(*given):
        find = exact_index(*given)
        return lambda image, number, apart: seen.append(apart.size) or find(image, number, apart)

    monkeypatch.setattr(_search, "index", index)
    Twins(problem_of("squared", ElasticNet()), "primal", "max_inner_product").lead(40)
    assert max(seen) == 0


@pytest.mark.parametrize("candidates", [1, 3])
def test_explorers_draw_uniformly(candidates, monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    twins = Twins(problem_of("logistic", "l2"), "primal", rules.MaxInnerProduct(candidates, explore=1.0))
    rank = np.argsort(np.argsort(twins.scores("gs-s"))) + 1.0
    best_of = (rank / D) ** candidates - ((rank - 1) / D) ** candidates
    assert chance(twins.core.draw(20_000), best_of) > 1e-4


def test_a_share_of_moves_explores(monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    twins = Twins(problem_of("logistic", "l2"), "primal", rules.MaxInnerProduct(1, explore=0.3))
    want = np.full(D, 0.3 / D)
    want[np.argmax(twins.scores("gs-s"))] += 0.7
    assert chance(twins.core.draw(20_000), want) > 1e-4


def test_a_search_that_finds_nothing_leaves_the_choice_to_chance(monkeypatch):
    monkeypatch.setattr(_search, "index", lambda *_: lambda image, number, apart: np.empty(0, dtype=np.int64))
    twins = Twins(problem_of("logistic", "l2"), "primal", rules.MaxInnerProduct(1, explore=0.0))
    assert chance(twins.core.draw(20_000), np.full(D, 1 / D)) > 1e-4


# The vectors, and hnswlib


@pytest.mark.parametrize(("penalty", "score"), SEARCHED)
def test_products_are_the_scores_at_zero_on_the_primal(penalty, score):
    for form in FORMS:
        problem = problem_of("squared", ALL_PENALTIES[penalty], form)
        formulas = Formulas(problem, "primal")
        formulas.at = np.zeros(D)
        scores = formulas.scores(score)
        products_order_as(problem, "primal", score, formulas.image(), np.sqrt(scores) if score == "gs-q" else scores)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "hinge", "smooth_hinge", "quantile", "epsilon_insensitive", "huber"])
def test_products_are_the_scores_at_zero_on_the_dual(loss, intercept):
    for form in FORMS:
        problem = problem_of(loss, "l2", form, intercept)
        formulas = Formulas(problem, "dual")
        image = np.random.default_rng(0).normal(size=D + intercept)
        m = formulas.A @ image
        low, high = reference.zero_interval_dual(problem.loss, problem.targets)
        scores = problem.weights * np.maximum(np.maximum(low - m, m - high), 0.0)
        products_order_as(problem, "dual", "gs-s", image, scores)


def products_order_as(problem, side, score, image, scores):
    """Up to single precision, positive scores are the largest products of the stored vectors, up to a factor."""
    at = _search.at_zero(problem, side, score)
    stored = _search.vectors(at)
    points = problem.matrix.fibers(side == "primal")
    length = image.size if side == "dual" else problem.n_samples
    dense, reach = _search._dense(points, problem.shifts, side == "primal", stored, length)
    assert dense.shape == (stored.labels.size, length + (stored.offsets is not None))
    products = np.max(_search._query(image, reach, stored) @ dense.T, axis=0)
    best = np.full(scores.size, -np.inf)
    np.maximum.at(best, stored.labels % scores.size, products)
    used = scores > 1e-3 * scores.max()
    assert used.sum() > 3
    if stored.offsets is None and problem.penalty.l1 > 0:  # products lack w l1, the same for all
        order = np.argsort(-best)[: used.sum()]
        np.testing.assert_allclose(scores[order], np.sort(scores)[::-1][: used.sum()], atol=1e-4 * scores.max())
    else:
        factor = best[np.argmax(scores)] / scores.max()
        np.testing.assert_allclose(best[used], factor * scores[used], atol=1e-5 * factor * scores.max())
        assert (best[~used] <= 2e-3 * factor * scores.max()).all()


def test_vectors_are_stored_once_where_two_queries_do():
    """And without the last number where it is the same for all."""
    for loss, penalty, side, count, last in (
        ("squared", "elastic net", "primal", D, False),
        ("squared", "weights", "primal", D, True),
        ("squared", "box", "primal", D, False),
        ("squared", "positive", "primal", D, False),
        ("squared", "l2", "dual", N, True),
        ("hinge", "l2", "dual", N, True),
        ("quantile", "l2", "dual", N, True),
        ("epsilon_insensitive", "l2", "dual", 2 * N, True),
    ):
        stored = _search.vectors(_search.at_zero(problem_of(loss, ALL_PENALTIES[penalty]), side, "gs-s"))
        assert stored.labels.size == count and (stored.offsets is not None) == last, (loss, penalty, side)


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("penalty", ["l2", "elastic net", "weights", "box"])
def test_hnswlib_finds_the_largest(side, penalty):
    rng = np.random.default_rng(0)
    for form in FORMS:
        for loss in ("squared", "hinge")[: 1 if side == "primal" else 2]:
            problem = problem_of(loss, penalty, form)
            at = _search.at_zero(problem, side, "gs-s")
            find, exact = (index(problem, side, at, 0, 100, 16) for index in (_search.index, exact_index))
            common = []
            for _ in range(20):
                image = rng.normal(size=N if side == "primal" else D)
                apart = rng.choice(at.weights.size, 20, replace=False)
                for masked in (apart, apart[:0]):
                    found = set(find(image, 5, masked))
                    assert len(found) == 5 and not found & set(masked)
                    common.append(len(found & set(exact(image, 5, masked))))
            assert np.mean(common) > 4.7


def test_hnswlib_returns_what_is_left():
    problem = problem_of("squared", "l2")
    find = _search.index(problem, "primal", _search.at_zero(problem, "primal", "gs-s"), 0, 100, 16)
    image = np.random.default_rng(0).normal(size=N)
    assert find(image, 5, np.arange(D - 2)).tolist() in ([D - 2, D - 1], [D - 1, D - 2])
    assert find(image, 5, np.arange(D)).size == 0


@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "squared", "l2"),
        ("primal", "squared", "elastic net"),
        ("primal", "logistic", "l1"),
        ("dual", "hinge", "l2"),
        ("dual", "squared", "elastic net"),
        ("dual", "quantile", "l2"),
    ],
)
def test_hnswlib_converges_without_exploring(side, loss, penalty):
    problem = problem_of(loss, penalty, "sparse")
    method = CoordinateDescent(side, rules.MaxInnerProduct(1, explore=0.0))
    assert sw.solve(problem, method=method, tol=1e-6, max_epochs=500).status is sw.Status.CONVERGED
