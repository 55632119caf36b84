"""Maximum inner product search: its logic, with an index that is exact, and the index of hnswlib."""

import numpy as np
import pytest

from southwell import _search, reference, rules
from twins import FORMS, D, N, Twins, chance, exact_index, problem_of


@pytest.mark.parametrize("score", ["gs-s", "gs-r", "gs-q"])
@pytest.mark.parametrize("candidates", [1, 4])
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "squared", "l1"),
        ("primal", "logistic", "elastic net"),
        ("dual", "hinge", "l2"),
        ("dual", "squared", "l1"),
    ],
)
def test_search_moves_the_best_of_what_is_found(side, loss, penalty, candidates, score, monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    for form in FORMS:
        rule = rules.MaxInnerProduct(candidates, explore=0.0, score=score)
        twins = Twins(problem_of(loss, penalty, form), side, rule)
        fibers = twins.A.T if side == "primal" else twins.A
        for move in range(50):
            found = np.argsort(-np.abs(fibers @ twins.image()), kind="stable")[:candidates]
            scores = twins.scores(score)[found]
            if candidates > 1 and scores.max() < 1e-12:  # all satisfied: from here on rounding decides
                assert move >= 10
                break
            assert twins.lead(1) == [found[reference.greedy(scores)]]
        twins.agree()


@pytest.mark.parametrize(("side", "intercept"), [("primal", False), ("primal", True), ("dual", False), ("dual", True)])
@pytest.mark.parametrize("form", FORMS)
def test_search_is_shown_the_image(form, side, intercept, monkeypatch):
    seen = []

    def index(problem, *rest):
        def find(image, number):
            seen.append(image.copy())
            return np.arange(len(seen), len(seen) + number) % D

        return find

    monkeypatch.setattr(_search, "index", index)
    for loss in ("squared", "logistic"):
        twins = Twins(problem_of(loss, "elastic net", form, intercept), side, rules.MaxInnerProduct(3, explore=0.0))
        for _ in range(30):
            want = twins.image()
            twins.lead(1)
            np.testing.assert_allclose(seen[-1], want, atol=1e-12)


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
    want[np.argmax(np.abs(twins.A.T @ twins.image()))] += 0.7
    assert chance(twins.core.draw(20_000), want) > 1e-4


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_hnswlib_finds_the_largest(side):
    rng = np.random.default_rng(0)
    for form in FORMS:
        problem = problem_of("squared", "l2", form)
        find, exact = (index(problem, side, 0, 100, 16) for index in (_search.index, exact_index))
        for _ in range(20):
            image = rng.normal(size=N if side == "primal" else D)
            assert set(find(image, 5)) == set(exact(image, 5))
