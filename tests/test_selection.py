"""The compiled rules choose the coordinates that their slow twins in NumPy choose."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import reference, rules
from southwell.methods import CoordinateDescent
from southwell.penalties import ElasticNet
from twins import FORMS, LOSSES, PENALTIES, SMOOTH, D, Formulas, N, Twins, chance, data, forms, problem_of

SCORES = ["gs", "gs-s", "gs-r", "gs-q"]
MOVES = 30
COUPLINGS = {  # who may use a Gram matrix
    "mirror": lambda side, loss, penalty: True,
    "gram": lambda side, loss, penalty: loss == "squared" if side == "primal" else penalty == "l2",
}


def refused(score, side, loss, penalty):
    if side == "primal" and np.isinf(sw.losses.get(loss).smoothness) and score in ("gs-r", "gs-q"):
        return True
    return score == "gs" and (penalty != "l2" if side == "primal" else loss != "squared")


def taken(side, losses, penalties, scores=SCORES):
    """Losses, penalties and scores that go together."""
    every = product(losses, penalties, scores)
    return [(loss, penalty, score) for loss, penalty, score in every if not refused(score, side, loss, penalty)]


def greedy_order(twin, kind, moves):
    """The reference's choices; near-ties would make them a matter of rounding."""
    order = []
    for _ in range(moves):
        scores = twin.scores(kind)
        k = reference.greedy(scores)
        second = np.delete(scores, k).max()
        assert second == scores[k] or second < scores[k] * (1 - 1e-10), "choose other data"
        order.append(k)
        twin.move([k])
    return order


def follows_the_reference(side, loss, penalty, form, score, coupling="mirror", **options):
    twins = Twins(problem_of(loss, penalty, form, **options), side, rules.Greedy(score), coupling)
    led = twins.core.lead(MOVES)
    assert led == greedy_order(twins, score, MOVES)
    twins.agree()


# Greedy


@pytest.mark.parametrize(("loss", "penalty", "score"), taken("primal", SMOOTH, PENALTIES))
def test_greedy_on_the_primal(loss, penalty, score):
    for form in forms(loss):
        for coupling, able in COUPLINGS.items():
            if able("primal", loss, penalty):
                follows_the_reference("primal", loss, penalty, form, score, coupling)


@pytest.mark.parametrize(
    ("loss", "penalty", "score"), taken("dual", LOSSES, ["elastic net", "l2", "box", "weights", "l1"])
)
def test_greedy_on_the_dual(loss, penalty, score):
    """Pure L1 has a proximal term there."""
    for form in forms(loss):
        for coupling, able in COUPLINGS.items():
            if able("dual", loss, penalty):
                follows_the_reference("dual", loss, penalty, form, score, coupling)


@pytest.mark.parametrize(
    ("side", "loss", "score"),
    [
        (side, loss, score)
        for side, losses in (("primal", SMOOTH), ("dual", LOSSES))
        for loss, _, score in taken(side, losses, ["elastic net"], SCORES[1:])
    ],
)
def test_greedy_with_an_intercept(side, loss, score):
    for form in forms(loss):
        follows_the_reference(side, loss, "elastic net", form, score, intercept=True)
        if side == "dual" or loss == "squared":
            follows_the_reference(side, loss, "l2", form, score, "gram", intercept=True)


@pytest.mark.parametrize("score", SCORES[1:])
def test_greedy_from_a_warm_start(score):
    start = np.where(np.arange(D) % 3 == 0, 0.4, 0.0)
    twins = Twins(problem_of("squared", "l1", "sparse"), "primal", rules.Greedy(score), start=start)
    assert twins.core.lead(MOVES) == greedy_order(twins, score, MOVES)
    twins.agree()


@pytest.mark.parametrize("score", SCORES[1:])
@pytest.mark.parametrize(
    ("side", "penalty"), [("primal", "l2"), ("primal", "l1"), ("dual", "l2"), ("dual", "elastic net")]
)
def test_greedy_with_empty_fibers_and_samples_without_weight(side, penalty, score):
    A, b, loss, s = data("squared")
    A[:, [3, 17]] = 0
    A[[5, 40]] = 0
    s[[2, 5]] = 0
    for form in (np.asarray, sp.csr_array):
        problem = sw.Problem(form(A), b, loss, PENALTIES[penalty], sample_weight=s)
        start = np.where(np.arange(D) == 3, 0.5, 0.0) if side == "primal" else None
        twins = Twins(problem, side, rules.Greedy(score), start=start)
        led = twins.core.lead(MOVES)
        assert led == greedy_order(twins, score, MOVES)
        assert side == "primal" or not {2, 5} & set(led)
        twins.agree()


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_the_first_of_equals(side, score):
    """Twice the same fibers, the copies first or last or in between: the lowest index of those that tie moves."""
    A, b, _, _ = data("squared", n=20, d=15, density=0.5)
    if side == "primal":
        A, copies = np.hstack([A, A]), 15
    else:
        A, b, copies = np.vstack([A, A]), np.append(b, b), 20
    for form in (np.asarray, sp.csr_array):
        problem = sw.Problem(form(A), b, penalty=ElasticNet(l2=0.01))
        twins = Twins(problem, side, rules.Greedy(score))
        first = reference.greedy(twins.scores(score))
        assert twins.core.draw(3) == [first] * 3 and first < copies
        assert twins.core.lead(1) == [first]


def test_all_equal():
    twins = Twins(sw.Problem(np.eye(40), np.ones(40), penalty=ElasticNet(l1=0.001)), "primal", "greedy")
    assert twins.core.lead(40) == list(range(40))


@pytest.mark.parametrize("every", [1, 7, D])
@pytest.mark.parametrize("score", SCORES[1:])
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "hinge")])
def test_greedy_in_turn(side, loss, score, every):
    for form in FORMS:
        twins = Twins(problem_of(loss, "elastic net", form), side, rules.Greedy(score, refresh_every=every))
        for _ in range(max(2, 20 // every)):
            scores = twins.scores(score)
            want, clear = reference.greedy_in_turn(scores, every), np.count_nonzero(scores > 1e-10 * scores.max())
            led = twins.lead(every)
            assert led[:clear] == want[:clear] and len(set(led)) == every  # the settled come last, in any order
        twins.agree()


def test_greedy_in_turn_starts_again_when_all_had_their_turn():
    twins = Twins(problem_of("squared", "elastic net"), "primal", rules.Greedy(refresh_every=150))
    want = reference.greedy_in_turn(twins.scores("gs-s"), D)
    assert twins.core.lead(150) == (want * 3)[:150]


@pytest.mark.parametrize("room", [0, 1, 300, 3000])
@pytest.mark.parametrize(("side", "penalty"), [("primal", "elastic net"), ("dual", "l2")])
def test_forgotten_columns_are_found_again(side, penalty, room, monkeypatch):
    """However little room there is for inner products, the choices are the same."""
    for form in FORMS:
        problem = problem_of("squared", penalty, form)
        want = Twins(problem, side, "greedy").core.lead(300)
        with monkeypatch.context() as small:
            small.setattr("southwell.methods.coordinate_descent.COLUMN_ROOM", room)
            assert Twins(problem, side, "greedy").core.lead(300) == want


# Cyclic


@pytest.mark.parametrize(("side", "size"), [("primal", D), ("dual", N)])
def test_cyclic_takes_coordinates_in_turn(side, size):
    for form in FORMS:
        twins = Twins(problem_of("squared", "elastic net", form), side, "cyclic")
        assert twins.lead(2 * size + 3) == [*range(size), *range(size), 0, 1, 2]
        twins.agree()


# Hybrid


@pytest.mark.parametrize("score", SCORES[1:])
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "hinge")])
def test_one_coordinate_a_block_is_greedy(side, loss, score):
    for form in FORMS:
        problem = problem_of(loss, "elastic net", form)
        size = problem.n_features if side == "primal" else problem.n_samples
        want = Twins(problem, side, rules.Greedy(score)).core.lead(MOVES)
        for rule in (rules.Hybrid(size, score=score), rules.Hybrid(partition=[[k] for k in range(size)], score=score)):
            assert Twins(problem, side, rule, seed=3).core.lead(MOVES) == want


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_one_block_is_uniform(side):
    twins = Twins(problem_of("squared", "elastic net"), side, rules.Hybrid(1))
    for moves in (0, 60):
        twins.lead(moves)
        assert chance(twins.core.draw(20_000), np.full(twins.at.size, 1 / twins.at.size)) > 1e-4


@pytest.mark.parametrize("blocks", [5, 20])
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "logistic")])
def test_a_hybrid_move_reads_its_candidates_and_writes_one(side, loss, blocks):
    """On data with the same number of entries in every fiber: ``blocks`` fibers are read, one is written."""
    rng = np.random.default_rng(0)
    n, each = 20, 4
    A = sum(np.diag(rng.normal(size=n)) @ np.roll(np.eye(n), k, axis=1) for k in range(each))
    b = np.sign(rng.normal(size=n))
    for form, length in ((np.asarray, n), (sp.csr_array, each)):
        rule = rules.Hybrid(partition=np.arange(n) % blocks)
        method = CoordinateDescent(side, rule, "mirror", shrinking=False, proximal=False)
        with pytest.warns(sw.ConvergenceWarning):
            r = sw.solve(form(A), b, loss=loss, l2=0.01, method=method, tol=0, max_epochs=3, check_every=1)
        assert np.diff(r.history["moves"]).tolist() == [n] * 3
        assert np.diff(r.history["entries"]).tolist() == [n * (blocks + 1) * length] * 3


@pytest.mark.parametrize("rule", [rules.GapPerEpoch(), rules.Adaptive(refresh_every=7), rules.Greedy(refresh_every=7)])
def test_a_refresh_of_scores_is_no_move(rule):
    """History counts visits to coordinates as moves; scores taken afresh cost entries."""
    A, b, _, _ = data("squared")
    with pytest.warns(sw.ConvergenceWarning):
        r = sw.solve(A, b, l1=1e-4, method=CoordinateDescent("primal", rule), tol=0, max_epochs=12, check_every=4)
    assert r.history["moves"].tolist() == [0, 4 * D, 8 * D, 12 * D]


# The formulas themselves


def test_near_ties_are_noticed():
    twin = Formulas(sw.Problem(np.eye(3), np.array([1.0, 1.0 + 1e-13, 0.5]), penalty=ElasticNet(l2=1.0)), "primal")
    with pytest.raises(AssertionError, match="choose other data"):
        greedy_order(twin, "gs-s", 1)
