"""The compiled rules draw with the probabilities of their slow twins in NumPy, wherever a run has led."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _partition, reference, rules
from southwell.penalties import ElasticNet
from southwell.reference.rules import SCORES
from twins import FORMS, PENALTIES, SMOOTH, D, N, Twins, chance, data, forms, problem_of

DRAWS = 20_000
STATES = (0, 7, 43, 250)  # moves from one look to the next
FOLLOWING = {
    "support_set": rules.SupportSet(),
    "adaptive": rules.Adaptive(),
    "ada_uniform": rules.AdaUniform(),
    "ada_uniform 0.3": rules.AdaUniform(0.3),
    "ada_gap": rules.AdaGap(),
}
CASES = [
    *(("primal", loss, penalty) for loss in SMOOTH for penalty in ("elastic net", "l1")),
    *(("primal", loss, penalty) for loss in ("squared", "logistic") for penalty in ("l2", "box", "partly free")),
    *(("dual", loss, "l2") for loss in ("hinge", "smooth_hinge", "logistic", "squared")),
    *(("dual", loss, "elastic net") for loss in sw.losses.ALL),
    *(("dual", loss, "l1") for loss in ("hinge", "squared")),  # with a proximal term
]


def probabilities(rule, scores, drawn, mix=None):
    """Whether a score that is nothing but rounding error is zero only the draws can tell; support sets depend on it."""
    unclear = scores < 1e-10 * scores.max()
    seen = np.bincount(drawn, minlength=scores.size) > 0
    mix = getattr(rule, "mix", 0) if mix is None else mix
    if mix > 0:
        scores = np.where(unclear, np.where(seen, 1e-300, 0.0), scores)
    return reference.probabilities(rule.name, scores, mix)


def draws_are_right(twins, rule, scores, mix=None):
    drawn = twins.core.draw(DRAWS)
    assert chance(drawn, probabilities(rule, scores, drawn, mix)) > 1e-4


def follows_every_move(twins, rule):
    """No product is taken afresh between the looks: what is kept move by move must be exact."""
    kind, first = SCORES[rule.name], None
    for moves in STATES:
        twins.lead(moves)
        scores = twins.scores(kind)
        first = scores.max() if first is None else first
        assert scores.max() > 1e-10 * first, "converged: choose harder data"
        draws_are_right(twins, rule, scores)
    twins.agree()


# Rules take the scores that the step computes, whatever the rule: two rules in turn for each case.
@pytest.mark.parametrize(
    ("side", "loss", "penalty", "name"),
    [(*case, name) for k, case in enumerate(CASES) for j, name in enumerate(FOLLOWING) if (j - k) % 5 < 2],
)
def test_frequencies_after_every_move(side, loss, penalty, name):
    for form in forms(loss):
        follows_every_move(Twins(problem_of(loss, penalty, form), side, FOLLOWING[name]), FOLLOWING[name])


@pytest.mark.parametrize("refresh_every", [None, 10**6])
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [("primal", "squared", "l1"), ("primal", "logistic", "elastic net"), ("primal", "smooth_hinge", "box"),
     ("dual", "hinge", "elastic net"), ("dual", "squared", "l2"), ("dual", "logistic", "l2")],
)  # fmt: skip
def test_the_automatic_mixture_minimises_the_bound_at_the_start(side, loss, penalty, refresh_every):
    """And it stays: the bound is about the whole run."""
    rule = rules.AdaUniform("auto", refresh_every)
    for form in forms(loss):
        twins = Twins(problem_of(loss, penalty, form), side, rule)
        smoothness = twins.loss.smoothness if side == "primal" else 1.0
        mix = reference.automatic_mix(twins.scores("reach"), twins.scores("bracket"), smoothness)
        assert 1e-4 < mix < 0.9
        draws_are_right(twins, rule, twins.scores("residual"), mix)
        if refresh_every is None:
            twins.lead(50)
            draws_are_right(twins, rule, twins.scores("residual"), mix)
            twins.agree()


@pytest.mark.parametrize("name", FOLLOWING)
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "squared", "elastic net"),
        ("primal", "squared", "l1"),
        ("dual", "logistic", "l2"),
        ("dual", "hinge", "l2"),
    ],
)
def test_frequencies_with_a_gram_matrix(side, loss, penalty, name):
    for form, intercept in (("dense", False), ("sparse", True), ("centred", False)):
        twins = Twins(problem_of(loss, penalty, form, intercept), side, FOLLOWING[name], "gram")
        follows_every_move(twins, FOLLOWING[name])


@pytest.mark.parametrize("name", FOLLOWING)
@pytest.mark.parametrize(
    ("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "squared"), ("dual", "hinge")]
)
def test_frequencies_with_an_intercept(side, loss, name):
    for form in FORMS:
        twins = Twins(problem_of(loss, "elastic net", form, intercept=True), side, FOLLOWING[name])
        follows_every_move(twins, FOLLOWING[name])


@pytest.mark.parametrize("name", [*FOLLOWING, "importance", "gap_per_epoch"])
@pytest.mark.parametrize(("side", "penalty"), [("primal", "l1"), ("primal", "elastic net"), ("dual", "elastic net")])
def test_frequencies_with_empty_fibers_and_samples_without_weight(side, penalty, name):
    A, b, loss, s = data("squared")
    A[:, [3, 17]] = 0
    A[[5, 40]] = 0
    s[[2, 5]] = 0
    rule = FOLLOWING.get(name) or rules.get(name)
    for form in (np.asarray, sp.csr_array):
        problem = sw.Problem(form(A), b, loss, PENALTIES[penalty], sample_weight=s)
        start = np.where(np.arange(D) == 3, 0.5, 0.0) if side == "primal" else None
        twins = Twins(problem, side, rule, start=start)
        draws_are_right(twins, rule, twins.scores(SCORES[rule.name]))


def test_frequencies_far_from_the_last_fresh_product():
    """A long run over a stiff ridge: rounding must not pile up."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 1)) + 0.03 * rng.normal(size=(50, 40))
    for rule in (rules.Adaptive(), rules.AdaGap()):
        for form in (np.asarray, sp.csr_array):
            twins = Twins(sw.Problem(form(A), rng.normal(size=50), penalty=ElasticNet(l2=1e-4)), "primal", rule)
            twins.core.lead(20_000)
            twins.at = twins.stands()
            draws_are_right(twins, rule, twins.scores(SCORES[rule.name]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", [rules.AdaGap(), rules.SupportSet(), rules.Greedy()], ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "logistic", ElasticNet(0.02)),
        ("primal", "squared_hinge", ElasticNet(0.02)),
        ("primal", "logistic", ElasticNet(0.005, 0.001, lower=0.0, upper=0.5)),
        ("primal", "squared", ElasticNet(0.05)),
        ("dual", "hinge", ElasticNet(0.002, 0.01)),
        ("dual", "epsilon_insensitive", ElasticNet(0.002, 0.01)),
    ],
)
def test_where_most_are_content(side, loss, penalty, rule, form):
    """Coordinates with score zero are skipped only while it stays zero. From zero, and from where no score is zero."""
    A, b, loss, s = data(loss, n=160, d=150, density=0.02)
    problem = sw.Problem(FORMS[form](A + 0.9 * np.roll(A, 1, axis=1)), b, loss, penalty, sample_weight=s)
    for start in (None, np.where(np.arange(150) % 2 == 0, 0.3, 0.0)):
        twins, first = Twins(problem, side, rule, start=start), None
        for look, moves in enumerate((0, 20, 60, 120, 200, 300, 400)):
            twins.core.lead(moves)
            twins.at = twins.stands()
            scores = twins.scores(SCORES.get(rule.name, "gs-s"))
            first = first or scores.max()
            if scores.max() <= 1e-9 * first:  # rounding is all that is left
                assert look > 2, "choose harder data"
                break
            if rule.name == "greedy":
                assert scores[twins.core.draw(1)[0]] >= (1 - 1e-6) * scores.max()
            else:
                draws_are_right(twins, rule, scores)


@pytest.mark.parametrize("name", ["support_set", "ada_uniform"])
@pytest.mark.parametrize("form", FORMS)
def test_those_that_clearly_rest_are_never_drawn(name, form):
    """Coefficients of zero with slopes far below l1: no rounding can make their scores anything but zero."""
    A, b, loss, s = data("squared")
    l1 = 0.2 * sw.lambda_max(FORMS[form](A), b, sample_weight=s)
    twins = Twins(sw.Problem(FORMS[form](A), b, loss, ElasticNet(l1), sample_weight=s), "primal", FOLLOWING[name])
    for moves in STATES[:3]:
        twins.lead(moves)
        rest = (twins.at == 0) & (np.abs(twins.A.T @ twins.image()) < 0.9 * l1)
        assert 5 < rest.sum() < rest.size
        assert not rest[twins.core.draw(DRAWS)].any()


# Distributions that stay for a while


def stays(twins, rule, every):
    """The distribution is that of the last refresh: before the first move, and after every ``every`` moves."""
    kind, made = SCORES[rule.name], 0
    scores = twins.scores(kind)
    for moves in STATES:
        for _ in range(moves):
            scores = twins.scores(kind) if made % every == 0 else scores
            twins.lead(1)
            made += 1
        scores = twins.scores(kind) if made % every == 0 else scores
        draws_are_right(twins, rule, scores)
        twins.core.settle()  # fresh products, but not yet a fresh distribution
        draws_are_right(twins, rule, scores)
    twins.agree()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "squared", "l1"), ("primal", "logistic", "elastic net"), ("primal", "squared", "partly free"),
        ("dual", "hinge", "l2"), ("dual", "smooth_hinge", "elastic net"), ("dual", "logistic", "l2"),
        ("dual", "squared", "elastic net"),
    ],
)  # fmt: skip
def test_once_an_epoch(side, loss, penalty, form):
    stays(
        Twins(problem_of(loss, penalty, form), side, "gap_per_epoch"), rules.GapPerEpoch(), D if side == "primal" else N
    )


@pytest.mark.parametrize("every", [1, 20])
@pytest.mark.parametrize("kind", [rules.SupportSet, rules.Adaptive, rules.AdaUniform, rules.AdaGap])
@pytest.mark.parametrize(
    ("side", "loss", "penalty"), [("primal", "squared", "l1"), ("dual", "smooth_hinge", "elastic net")]
)
def test_refreshed_now_and_then(side, loss, penalty, kind, every):
    rule = kind(refresh_every=every)
    stays(Twins(problem_of(loss, penalty, "sparse"), side, rule), rule, every)


@pytest.mark.parametrize("loss", sw.losses.ALL)
def test_importance(loss):
    """Fixed for the whole run."""
    cases = [("dual", "elastic net"), ("dual", "l1")]
    if loss in SMOOTH:
        cases += [("primal", penalty) for penalty in PENALTIES]
    for side, penalty in cases:
        for form in forms(loss):
            twins = Twins(problem_of(loss, penalty, form), side, "importance")
            scores = twins.scores("reach")
            for moves in (0, 100):
                twins.core.lead(moves)
                draws_are_right(twins, rules.Importance(), scores)


@pytest.mark.parametrize("name", [*FOLLOWING, "importance", "gap_per_epoch"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_where_nothing_is_wrong_draws_are_uniform(side, name):
    rule = FOLLOWING.get(name) or rules.get(name)
    problem = sw.Problem(np.eye(20), np.zeros(20), penalty=ElasticNet(l1=0.1, l2=0.1))
    twins = Twins(problem, side, rule)
    assert not twins.scores(SCORES[rule.name]).any()
    assert chance(twins.core.draw(DRAWS), np.full(20, 1 / 20)) > 1e-4


# Hybrid


def best_of_blocks(twins, labels, score):
    """Among the settled, whose scores are rounding error, anyone may win: they count as one."""
    scores = twins.scores(score)
    settled = scores < 1e-10 * scores.max()
    p = reference.hybrid_probabilities(np.where(settled, 0.0, scores), labels)
    name = np.where(settled, 0, np.cumsum(~settled))  # 0 for all of them
    drawn = name[twins.core.draw(DRAWS // 2)]
    assert chance(drawn, np.bincount(name, p)) > 1e-4


@pytest.mark.parametrize("score", ["gs-s", "gs-r", "gs-q"])
@pytest.mark.parametrize(
    ("side", "loss", "penalty"),
    [
        ("primal", "squared", "l1"), ("primal", "logistic", "elastic net"), ("dual", "hinge", "l2"),
        ("dual", "squared", "elastic net"),
    ],
)  # fmt: skip
def test_the_best_of_one_candidate_a_block(side, loss, penalty, score):
    size = D if side == "primal" else N
    for form, labels in zip(FORMS, (np.arange(size) % 2, np.arange(size) // 3, np.arange(size) // 17), strict=True):
        twins = Twins(problem_of(loss, penalty, form), side, rules.Hybrid(partition=labels, score=score))
        for moves in (0, 7, 43):
            twins.lead(moves)
            best_of_blocks(twins, labels, score)
        twins.agree()


@pytest.mark.parametrize(
    ("form", "clustering"), [("sparse", "kmeans"), ("dense", "minibatch-kmeans"), ("centred", "spectral")]
)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_blocks_found_by_clustering(side, form, clustering):
    problem = problem_of("squared", "elastic net", form)
    labels = _partition.blocks(problem, side, 4, clustering, 0)
    assert set(labels) == set(range(4))
    twins = Twins(problem, side, rules.Hybrid(4, partition=clustering))
    twins.lead(20)
    best_of_blocks(twins, labels, "gs-s")


@pytest.mark.parametrize("form", FORMS)
def test_an_intercept_is_a_block_of_its_own(form):
    problem = problem_of("logistic", "l2", form, intercept=True)
    twins = Twins(problem, "primal", rules.Hybrid(3, partition=np.arange(D) % 3))
    twins.lead(5)
    p = reference.hybrid_probabilities(twins.scores("gs-s"), np.append(np.arange(D) % 3, 3))
    assert chance(twins.core.draw(DRAWS), p) > 1e-4


def test_the_same_partition_in_other_words():
    problem = problem_of("squared", "l1")
    labels = np.arange(D) % 4
    same = (
        labels,
        labels.tolist(),
        labels - 7,
        10 * labels.astype(np.uint8),
        [np.flatnonzero(labels == k) for k in range(4)],
    )
    led = [Twins(problem, "primal", rules.Hybrid(partition=given)).core.lead(100) for given in same]
    assert all(other == led[0] for other in led)


# The test itself


def test_chi_square_notices():
    rng = np.random.default_rng(0)
    p = np.arange(1.0, 11.0) / 55
    assert chance(rng.choice(10, DRAWS, p=p), p) > 1e-4
    assert chance(rng.choice(10, DRAWS, p=np.roll(p, 1)), p) < 1e-4
    assert chance(rng.choice(10, DRAWS, p=(p + 0.01) / (p + 0.01).sum()), p) < 1e-4
    assert chance([3] * 100, np.eye(10)[3]) == 1.0
    with pytest.raises(AssertionError, match=r"without a chance: \[4\]"):
        chance([3, 4], np.eye(10)[3])
