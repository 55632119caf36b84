"""Accelerated coordinate descent moves as its slow twin in NumPy does, and reaches the answer."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import reference, rules
from southwell.methods import AcceleratedCD, CoordinateDescent
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant
from twins import LOSSES, PENALTIES, SMOOTH, D, N, Pair, chance, data, forms, problem_of

BOUNDED = [loss for loss in SMOOTH if np.isfinite(sw.losses.get(loss).smoothness)]
STEPS = 400


def blocks(side):
    return np.arange(D if side == "primal" else N) % 7


def moves_as_the_reference(side, loss, penalty, form, rule, coupling="mirror", **options):
    pair = Pair(problem_of(loss, penalty, form, **options), side, rule, coupling)
    pair.lead(STEPS)
    pair.agree()


# Step for step


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", BOUNDED)
def test_uniform_on_the_primal(loss, penalty):
    for form in forms(loss):
        moves_as_the_reference("primal", loss, penalty, form, "uniform")
        if loss == "squared":
            moves_as_the_reference("primal", loss, penalty, form, "uniform", "gram")


@pytest.mark.parametrize("penalty", ["l2", "elastic net", "box"])
@pytest.mark.parametrize("loss", LOSSES)
def test_uniform_on_the_dual(loss, penalty):
    for form in forms(loss):
        moves_as_the_reference("dual", loss, penalty, form, "uniform")
        if penalty == "l2":
            moves_as_the_reference("dual", loss, penalty, form, "uniform", "gram")


@pytest.mark.parametrize("rule", ["hybrid", "greedy"])
@pytest.mark.parametrize(("side", "loss"), [*(("primal", loss) for loss in BOUNDED), ("dual", "squared")])
def test_several_candidates_move_as_the_reference(side, loss, rule):
    rule = rules.Hybrid(partition=blocks(side)) if rule == "hybrid" else rule
    for form in forms(loss):
        for penalty in ("l2", ElasticNet(l2=0.01, weights=np.linspace(0.3, 3.0, D))):
            moves_as_the_reference(side, loss, penalty, form, rule)
            if loss == "squared":
                moves_as_the_reference(side, loss, penalty, form, rule, "gram")


def test_several_candidates_on_the_dual_take_any_penalty():
    for penalty in ("elastic net", "box"):
        for rule in (rules.Hybrid(partition=blocks("dual")), "greedy"):
            moves_as_the_reference("dual", "squared", penalty, "sparse", rule)


@pytest.mark.parametrize("form", ["dense", "sparse", "centred"])
@pytest.mark.parametrize("rule", ["uniform", "greedy", "hybrid"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_moves_with_an_intercept_are_those_of_the_reference(loss, rule, form):
    rule = rules.Hybrid(partition=blocks("primal")) if rule == "hybrid" else rule
    moves_as_the_reference("primal", loss, "l2", form, rule, intercept=True)
    if loss == "squared":
        moves_as_the_reference("primal", loss, "l2", form, rule, "gram", intercept=True)


@pytest.mark.parametrize("rule", ["uniform", "greedy"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_from_a_warm_start(coupling, rule):
    pair = Pair(problem_of("squared", "l2"), "primal", rule, coupling, start=np.linspace(-1, 1, D))
    pair.lead(300)
    pair.agree()


@pytest.mark.parametrize("rule", ["uniform", "greedy"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_empty_fibers_and_samples_without_weight(side, rule):
    A, b, loss, s = data("squared")
    A[:, [3, 17]] = 0
    A[[5, 40]] = 0
    s[[2, 5]] = 0
    for penalty in (ElasticNet(l2=0.01), *([ElasticNet()] if side == "primal" else [])):
        pair = Pair(sw.Problem(sp.csr_array(A), b, loss, penalty, sample_weight=s), side, rule)
        pair.lead(300)
        apart = np.abs(pair.stands() - pair.twin()[0])
        assert apart[s > 0 if side == "dual" else slice(None)].max() <= 1e-9


@pytest.mark.parametrize("coupling", ["mirror", "gram"])
@pytest.mark.parametrize("rule", ["uniform", "greedy"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_fresh_products_change_nothing(side, rule, coupling):
    """A certificate on the way sets the product of x right and leaves the momentum alone."""
    pair = Pair(problem_of("squared", "l2", "sparse"), side, rule, coupling)
    for steps in (100, 1, 200, 300):
        pair.lead(steps)
        pair.core.settle()
        pair.agree()


# Draws


def steepness(pair):
    """|G_k| / sqrt(C_k) at v, where gradients are taken."""
    x, z, theta = pair.twin()
    v = (1 - theta) * x + theta * z
    if pair.primal:
        G = pair.A.T @ (pair.s * pair.loss.derivative(pair.A @ v, pair.b)) + pair.net.l2 * v
        C = pair.s @ pair.A**2 * pair.loss.smoothness + pair.net.l2
    else:
        m = pair.A @ pair.net.conjugate_gradient(-pair.A.T @ (pair.s * v))
        G, C = pair.s * (v + pair.b - m), pair.s * (pair.s * (pair.A**2 @ (1 / pair.net.l2)) + 1)
    return np.abs(G) / np.sqrt(C)


@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "squared")])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_candidates_are_uniform_in_their_blocks(side, loss, form):
    labels = blocks(side)
    pair = Pair(problem_of(loss, "l2", form), side, rules.Hybrid(partition=labels))
    for steps in (0, 20, 200):
        pair.lead(steps)
        p = reference.hybrid_probabilities(steepness(pair), labels)
        assert chance(pair.core.draw(10_000), p) > 1e-4


@pytest.mark.parametrize("rule", ["uniform", "greedy", "hybrid"])
def test_the_second_coordinate_is_uniform_over_all(rule):
    sizes = np.repeat(np.arange(4), (1, 4, 15, 40))  # blocks of unequal size
    rule = rules.Hybrid(partition=sizes) if rule == "hybrid" else rule
    pair = Pair(problem_of("squared", "l2"), "primal", rule)
    second = np.reshape(pair.core.lead(20_000), (-1, 2))[:, 1]
    assert chance(second, np.full(D, 1 / D)) > 1e-4


def test_one_block_is_the_uniform_rule():
    problem = problem_of("squared", "l2")
    pair = Pair(problem, "primal", rules.Hybrid(1))
    moves = np.reshape(pair.core.lead(500), (-1, 2))
    assert (moves[:, 0] == moves[:, 1]).all()
    pair.rule, pair.moves = rules.Uniform(), [(j, None) for j, _ in moves]
    pair.agree()


# The answer


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda A: sw.Centred(sp.csr_array(A))])
@pytest.mark.parametrize(
    ("side", "loss", "rule"),
    [
        *(("primal", loss, rule) for loss in BOUNDED for rule in ("uniform", "hybrid", "greedy")),
        *(("dual", loss, "uniform") for loss in LOSSES),
        *(("dual", "squared", rule) for rule in ("hybrid", "greedy")),
    ],
)
def test_the_planted_answer_is_found(side, loss, rule, form):
    l1 = 0.0 if rule != "uniform" and side == "primal" else 0.02
    for intercept in (False, True)[: 2 if side == "primal" else 1]:
        p = plant(loss, n=40, d=20, l1=l1, l2=0.2, nonzeros=20 if l1 == 0 else 4, weighted=True)
        problem = sw.Problem(form(p.A), p.b, p.loss, p.penalty, sample_weight=p.sample_weight, intercept=intercept)
        r = sw.solve(problem, method=AcceleratedCD(side, rule), tol=1e-8, max_epochs=3000)
        assert r.status is sw.Status.CONVERGED
        assert f"accelerated coordinate descent, {side} side, {rule}" in r.method
        if not intercept and not isinstance(form(p.A), sw.Centred):
            assert r.primal - p.primal <= r.gap + 1e-13


@pytest.mark.parametrize("loss", BOUNDED)
def test_pure_l1_and_bounds(loss):
    p = plant(loss, n=60, d=20, l1=0.05, l2=0.0, nonzeros=3)
    for penalty in (p.penalty, ElasticNet(0.01, lower=-0.1, upper=0.2), ElasticNet(lower=0.0, upper=1.0)):
        problem = sw.Problem(p.A, p.b, p.loss, penalty)
        r = sw.solve(problem, method=AcceleratedCD("primal"), tol=1e-8, max_epochs=5000)
        assert r.status is sw.Status.CONVERGED
        lo, hi = problem.penalty.lower, problem.penalty.upper
        assert lo is None or (r.x.min() >= lo and r.x.max() <= hi)


@pytest.mark.parametrize("coupling", ["mirror", "gram"])
@pytest.mark.parametrize("rule", ["uniform", "hybrid", "greedy"])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_momentum_pays_where_columns_are_alike(side, rule, coupling):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 40))
    problem = sw.Problem(A, A @ rng.normal(size=40), penalty=ElasticNet(l2=1e-5))
    limits = {"tol": 1e-8, "max_epochs": 100_000}
    fast, plain = (
        sw.solve(problem, method=kind(side, rule, coupling), **limits) for kind in (AcceleratedCD, CoordinateDescent)
    )
    assert fast.status is plain.status is sw.Status.CONVERGED
    assert fast.epochs < plain.epochs / 2


@pytest.mark.parametrize("rule", ["uniform", "hybrid", "greedy"])
def test_same_seed_same_bits(rule):
    problem = problem_of("squared", "l2")
    runs = [sw.solve(problem, method=AcceleratedCD("primal", rule), seed=seed, tol=1e-3) for seed in (5, 5, 6)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes() != runs[2].x.tobytes()


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_a_step_touches_no_more_than_its_fibers(side):
    """Uniform: one read, one write; hybrid: a read a block, two writes; greedy: a number a coordinate, and two columns
    of the Gram matrix, where gradients are linear, else a read a coordinate."""
    rng = np.random.default_rng(0)
    n, each, epochs = 40, 4, 12
    A = sp.csr_array(sum(np.diag(rng.normal(size=n)) @ np.roll(np.eye(n), k, axis=1) for k in range(each)))
    hybrid = rules.Hybrid(partition=np.arange(n) % 5)
    cases = [("squared", "uniform", 2 * each), ("squared", hybrid, (5 + 2) * each)]
    cases += [("squared", "greedy", n + 2 * (2 * each - 1))]
    cases += [("logistic", "greedy", (n + 2) * each)] if side == "primal" else []
    for loss, rule, entries in cases:
        method = AcceleratedCD(side, rule, "mirror", restart=False)
        limits = {"tol": 0, "max_epochs": epochs, "check_every": 1}
        with pytest.warns(sw.ConvergenceWarning):
            r = sw.solve(A, np.sign(rng.normal(size=n)), loss=loss, l2=0.01, method=method, **limits)
        assert np.diff(r.history["moves"]).tolist() == [n] * epochs
        later = slice(-3, None) if rule == "greedy" else slice(None)  # at first columns are computed
        assert set(np.diff(r.history["entries"])[later]) == {n * entries}


def test_restarts_do_not_cut_momentum_short():
    """Where hundreds of epochs of momentum are needed, restarts must not cut it short for ever."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((100, 1)) + 0.05 * rng.standard_normal((100, 50))
    problem = sw.Problem(A, rng.standard_normal(100), penalty=ElasticNet(l2=1e-5))
    best = sw.solve(problem, method=CoordinateDescent("dual"), tol=1e-13, max_epochs=50_000).primal
    off = {}
    with pytest.warns(sw.ConvergenceWarning):
        for restart in (True, False):
            method = AcceleratedCD("primal", restart=restart, coupling="mirror")
            off[restart] = sw.solve(problem, method=method, tol=0, max_epochs=1000, check_every=1000).primal - best
    assert off[True] <= 10 * max(off[False], 1e-12)
