"""Laws of scores, as their papers state them. The compiled solver takes no part."""

import numpy as np
import pytest

import southwell as sw
from cases import (
    KINDS,
    LOSSES,
    PENALTIES,
    SMOOTH,
    STRONG,
    descend,
    dual_objective,
    dual_point,
    kinds_for,
    objective,
    primal_case,
)
from southwell import reference
from southwell.penalties import ElasticNet
from southwell.reference import bounded, conjugates, scores
from southwell.testing.planted import plant

# The duality gap


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_brackets_sum_to_the_gap(loss, penalty, small):
    p = small(loss)
    net, x, _, score = primal_case(p, penalty)
    y = p.loss.derivative(p.A @ x, p.b)
    total = score("bracket").sum()
    data = p.A, p.b, p.s, p.loss, net
    assert total == pytest.approx(objective(*data, x) - dual_objective(*data, y), rel=1e-12)
    np.testing.assert_allclose(score("bracket"), reference.brackets(p.A, p.b, p.s, p.loss, net, x, y)[1], atol=1e-14)
    assert reference.certificate(p.A, p.b, p.s, p.loss, net, x)[2] <= total * (1 + 1e-12)  # it may scale y


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_brackets_sum_to_the_gap(loss, penalty, small):
    p, net = small(loss, seed=1), reference.ElasticNet.of(PENALTIES[penalty], 7)
    y = dual_point(p, np.random.default_rng(2))
    x = net.conjugate_gradient(-p.A.T @ (p.s * y))
    total = reference.dual_scores("bracket", p.A, p.b, p.s, p.loss, net, y).sum()
    data = p.A, p.b, p.s, p.loss, net
    assert total == pytest.approx(objective(*data, x) - dual_objective(*data, y), rel=1e-12)
    for small_y in (1e-3 * y, 0 * y):  # no scaled y is a better bound than these
        total = reference.dual_scores("bracket", p.A, p.b, p.s, p.loss, net, small_y).sum()
        x = net.conjugate_gradient(-p.A.T @ (p.s * small_y))
        assert total == pytest.approx(reference.certificate(p.A, p.b, p.s, p.loss, net, x, small_y)[2], rel=1e-12)


@pytest.mark.parametrize("penalty", ["l1", "l1 in a box", "away from 0"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_bounded_brackets_bound_the_error(loss, penalty, small):
    """They are the gap of a problem with the same solution."""
    p = small(loss, seed=3)
    net, x, _, score = primal_case(p, penalty)
    data, best = (p.A, p.b, p.s, p.loss, net), descend(p, net, x, 100)
    assert score("bracket").sum() >= objective(*data, x) - objective(*data, best) > 0


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_no_point_below_the_start_leaves_the_bounds(loss, penalty, small):
    p = small(loss, seed=4)
    net, x, _, _ = primal_case(p, penalty)
    start, norms = np.clip(0 * x, net.lo, net.hi), p.s @ p.A**2
    top = reference.level(p.A, p.b, p.s, p.loss, net, start)
    best = descend(p, net, start, 30)
    held = (net.l1 > 0) | (net.l2 > 0)
    R = bounded.radii(net, norms, top)
    assert (np.abs(best) <= R * (1 + 1e-9))[held].all()
    np.testing.assert_allclose(net.value(R)[held], (top - net.conjugate(0 * R))[held], rtol=1e-12)
    reach = reference.primal_scores("reach", p.A, p.b, p.s, p.loss, net, start, top)
    assert (reach >= np.sqrt(norms) * np.abs(best) * (1 - 1e-9))[held].all()


# Scores know the optimum


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_scores_vanish_at_the_optimum_alone(loss, l2):
    p = plant(loss, n=30, d=10, nonzeros=4, weighted=True, l2=l2)
    net, s = reference.ElasticNet.of(p.penalty, 10), p.sample_weight
    top = reference.level(p.A, p.b, s, p.loss, net, np.zeros(10))
    for kind in kinds_for(p.loss):
        at = reference.primal_scores(kind, p.A, p.b, s, p.loss, net, p.x, top)
        off = reference.primal_scores(kind, p.A, p.b, s, p.loss, net, p.x + 1e-3, top)
        assert np.abs(at).max() <= 1e-11
        assert off.max() > 1e-7
    support = reference.primal_scores("residual", p.A, p.b, s, p.loss, net, p.x, top) > 0
    assert l2 > 0 or not support.any()  # kinks are met


@pytest.mark.parametrize("loss", LOSSES)
def test_dual_scores_vanish_at_the_optimum_alone(loss):
    p = plant(loss, n=30, d=10, nonzeros=4, weighted=True)
    net, s = reference.ElasticNet.of(p.penalty, 10), p.sample_weight
    for kind in KINDS:
        at = reference.dual_scores(kind, p.A, p.b, s, p.loss, net, p.y)
        off = reference.dual_scores(kind, p.A, p.b, s, p.loss, net, 0.9 * p.y)
        assert np.abs(at).max() <= 1e-11
        assert off.max() > 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_dual_scores_with_a_proximal_term(loss):
    """Anchored at the solution the proximal problem has the same solution."""
    p = plant(loss, n=30, d=10, nonzeros=4, weighted=True, l2=0.0)
    net, s = reference.ElasticNet.of(p.penalty, 10), p.sample_weight
    for kind in KINDS:
        at, off = (
            reference.dual_scores(kind, p.A, p.b, s, p.loss, net, p.y, 0.3, centre) for centre in (p.x, p.x + 0.1)
        )
        assert np.abs(at).max() <= 1e-11
        assert off.max() > 1e-7


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_primal_scores_agree_on_who_is_settled(loss, penalty, small):
    p = small(loss, seed=5)
    _, _, _, score = primal_case(p, penalty)
    got = {kind: score(kind) for kind in kinds_for(p.loss)}
    if "gs-q" in got:
        assert got["gs-q"].min() >= 0
        assert ((got["gs-s"] > 1e-12) == (got["gs-r"] > 1e-12)).all()
        assert ((got["gs-r"] > 1e-6) == (got["gs-q"] > 1e-12)).all()
    assert ((got["residual"] > 1e-7) == (got["bracket"] > 1e-13)).all()
    assert ((got["residual"] > 1e-7) == (got["gs-s"] > 1e-12)).all()
    assert got["gs-s"].max() > 0


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_scores_agree_on_who_is_settled(loss, penalty, small):
    p, net = small(loss, seed=6), reference.ElasticNet.of(PENALTIES[penalty], 7)
    y = dual_point(p, np.random.default_rng(7))
    got = {kind: reference.dual_scores(kind, p.A, p.b, p.s, p.loss, net, y) for kind in KINDS}
    assert got["gs-q"].min() >= 0
    for kind in KINDS[1:]:
        assert ((got[kind] > 1e-12) == (got["residual"] > 1e-9)).all()
    reach = reference.dual_scores("reach", p.A, p.b, p.s, p.loss, net, y)
    lo, hi = conjugates.domain(p.loss, p.b)
    size = np.sqrt(p.s**2 * (p.A**2 @ (1 / net.l2)))
    shut = np.isfinite(lo) & np.isfinite(hi)
    assert (got["residual"] <= 2 * reach + 1e-12)[shut].all()  # lemma 2.7
    assert reach[shut] == pytest.approx((size * np.maximum(-lo, hi))[shut])


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [name for name in SMOOTH if np.isfinite(sw.losses.get(name).smoothness)])
def test_primal_steps_keep_the_promise_of_gs_q(loss, penalty, small):
    p = small(loss, seed=20)
    net, x, _, score = primal_case(p, penalty)
    for j in range(7):
        after = reference.primal_coordinate_descent(p.A, p.b, p.s, p.loss, net, [j], x)
        assert np.abs(after - x).max() == pytest.approx(score("gs-r")[j], abs=1e-14)
        fall = objective(p.A, p.b, p.s, p.loss, net, x) - objective(p.A, p.b, p.s, p.loss, net, after)
        assert fall >= score("gs-q")[j] - 1e-13
        assert loss != "squared" or fall == pytest.approx(score("gs-q")[j], abs=1e-13)


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_dual_steps_keep_the_promise_of_gs_q(loss, penalty, small):
    p, net = small(loss, seed=21), reference.ElasticNet.of(PENALTIES[penalty], 7)
    y = dual_point(p, np.random.default_rng(22))
    step, promise = (reference.dual_scores(kind, p.A, p.b, p.s, p.loss, net, y) for kind in ("gs-r", "gs-q"))
    for i in range(13):
        after, _ = reference.dual_coordinate_ascent(p.A, p.b, p.s, p.loss, net, [i], y)
        assert np.abs(after - y).max() == pytest.approx(step[i], abs=1e-14)
        rise = dual_objective(p.A, p.b, p.s, p.loss, net, after) - dual_objective(p.A, p.b, p.s, p.loss, net, y)
        assert rise >= promise[i] - 1e-13
        assert penalty != "l2" or rise == pytest.approx(promise[i], abs=1e-13)


@pytest.mark.parametrize("loss", [*SMOOTH, "hinge"])
def test_empty_fibers_and_samples_without_weight(loss, small):
    p = small(loss, seed=8)
    p.A[:, 2] = p.A[4] = 0
    p.s[3] = 0
    p.s /= p.s.sum()
    net, x, _, score = primal_case(p, "elastic net")
    x[2] = 0.7
    y = dual_point(p, np.random.default_rng(9))
    for kind in scores.KINDS:
        dual = reference.dual_scores(kind, p.A, p.b, p.s, p.loss, net, y)
        assert np.isfinite(dual).all()
        assert dual[3] == 0
        if p.loss.smooth and (np.isfinite(p.loss.smoothness) or kind in (*KINDS[:3], "reach", "gs")):
            assert score(kind, x)[2] > 0
    longest = np.sqrt((p.s @ p.A**2).max())
    if p.loss.smooth:
        assert score("residual", x)[2] == pytest.approx(longest * 0.7)
    if np.isfinite(p.loss.smoothness):
        assert score("gs-r", x)[2] == pytest.approx(0.7)
        assert score("gs-q", x)[2] == pytest.approx(net[2].value(0.7))


def test_steep_conjugates_at_the_ends(small):
    """Far from optimal if the margin asks for a move inwards, content if rounding is all that keeps y off its end."""
    net = reference.ElasticNet.of(ElasticNet(l2=0.1), 7)
    for loss, end in (("logistic", lambda b: 0 * b), ("logistic", lambda b: -b), ("poisson", lambda b: -b)):
        p = small(loss)
        y = end(p.b)
        assert (reference.dual_scores("gs-s", p.A, p.b, p.s, p.loss, net, y) > p.s).all()
        low, high = conjugates.subdifferential(p.loss, y, p.b)
        assert (np.isinf(low) != np.isinf(high)).all()
    b = np.array([1.0, -1.0])
    y = sw.losses.Logistic().derivative(-50 * b, b)  # t rounds to 1
    assert (scores.distance(-50 * b, *conjugates.subdifferential(sw.losses.Logistic(), y, b)) == 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_subdifferential_of_the_conjugate(loss, small):
    """m is in it exactly if y is phi'(m), and its ends are the one-sided slopes of phi*."""
    p = small(loss, n=60)
    m = np.random.default_rng(10).normal(size=60) * 2
    y = p.loss.derivative(m, p.b)
    low, high = conjugates.subdifferential(p.loss, y, p.b)
    assert scores.distance(m, low, high).max() <= 1e-12
    lo, hi = conjugates.domain(p.loss, p.b)
    y = np.clip(np.where(np.arange(60) % 3 == 0, 0.0, np.where(np.arange(60) % 3 == 1, 0.6 * y, y)), lo, hi)
    if not p.loss.piecewise:
        y = 0.9 * y + 0.1 * p.loss.derivative(0.0, p.b)  # away from the ends
    low, high = conjugates.subdifferential(p.loss, y, p.b)
    h, at = 1e-6, p.loss.conjugate(y, p.b)
    inside_below, inside_above = y - h >= lo, y + h <= hi
    below = (at - p.loss.conjugate(np.maximum(y - h, lo), p.b)) / h
    above = (p.loss.conjugate(np.minimum(y + h, hi), p.b) - at) / h
    np.testing.assert_allclose(low[inside_below], below[inside_below], atol=1e-4)
    np.testing.assert_allclose(high[inside_above], above[inside_above], atol=1e-4)
    assert np.isneginf(low[y <= lo]).all()
    assert np.isposinf(high[y >= hi]).all()


def test_how_far_a_dual_coordinate_can_go():
    far = conjugates.farthest
    assert far(sw.losses.Hinge(), 1.0, 9.0) == 1.0
    assert far(sw.losses.Quantile(0.3), 1.0, 9.0) == pytest.approx(0.7)
    assert far(sw.losses.Squared(), 2.0, 8.0) == pytest.approx(2 + 4)  # (y + b)^2 / 2 <= room
    assert far(sw.losses.SquaredHinge(), -1.0, 0.5 / 0.01) == pytest.approx(1 + 10)  # (t - 1)^2 / 2 <= room
    u = 1 + far(sw.losses.Poisson(), 1.0, 3.0)
    assert u * np.log(u) - u + 1 == pytest.approx(3.0)
    assert far(sw.losses.Poisson(), 50.0, 150.0) == pytest.approx(50.0)  # the end of the domain is the farther one
    assert far(sw.losses.Squared(), 0.0, 0.0) == 0.0


# The paper's own formulas, with its misprints corrected


def test_lasso_formulas(small):
    """Algorithms 3 and 6-9; B = P(start) / lambda."""
    p, l1 = small("squared", seed=11), 0.05
    net, x, _, _ = primal_case(p, "l1", seed=12)
    start = np.zeros(7)
    B = (p.s @ (p.b**2) / 2) / l1
    top = reference.level(p.A, p.b, p.s, p.loss, net, start)
    assert top == pytest.approx(B * l1)
    assert np.abs(x).max() < B
    z = p.A.T @ (p.s * (p.A @ x - p.b))  # a_j'w
    length = np.sqrt(p.s @ p.A**2)

    def score(kind):
        return reference.primal_scores(kind, p.A, p.b, p.s, p.loss, net, x, top)

    np.testing.assert_allclose(score("bracket"), B * np.maximum(np.abs(z) - l1, 0) + l1 * np.abs(x) + x * z, rtol=1e-12)
    np.testing.assert_allclose(score("residual"), np.abs(x - B * np.sign(-z) * (np.abs(z) > l1)) * length, rtol=1e-12)
    np.testing.assert_allclose(score("reach"), B * length, rtol=1e-12)
    importance = reference.probabilities("importance", score("reach"))
    np.testing.assert_allclose(importance, length / length.sum(), rtol=1e-12)
    soft = np.sign(x - z / length**2) * np.maximum(np.abs(x - z / length**2) - l1 / length**2, 0)
    np.testing.assert_allclose(score("gs-r"), np.abs(soft - x), rtol=1e-12, atol=1e-15)


def test_svm_formulas(small):
    """Algorithms 4, 5 and 10-13, with alpha = -y and phi the hinge; sigma stands for s_i = 1/n."""
    p, l2, n = small("hinge", seed=13), 0.1, 13
    net, s = reference.ElasticNet.of(ElasticNet(l2=l2), 7), np.full(n, 1 / n)
    y = dual_point(p, np.random.default_rng(14)) * np.random.default_rng(15).random(n)
    alpha = -y
    w = p.A.T @ alpha / (l2 * n)
    m = p.A @ w
    length = np.linalg.norm(p.A, axis=1)

    def score(kind):
        return reference.dual_scores(kind, p.A, p.b, s, p.loss, net, y)

    gaps = np.maximum(1 - p.b * m, 0) - alpha * p.b + alpha * m
    np.testing.assert_allclose(score("bracket"), gaps / n, atol=1e-15)
    np.testing.assert_allclose(reference.probabilities("ada_gap", score("bracket")), gaps / gaps.sum(), atol=1e-15)
    kappa = np.abs(alpha - p.b * (p.b * m < 1))
    adaptive = kappa * length / (kappa @ length)
    np.testing.assert_allclose(reference.probabilities("adaptive", score("residual")), adaptive, atol=1e-15)
    importance = reference.probabilities("importance", score("reach"))
    np.testing.assert_allclose(importance, length / length.sum(), rtol=1e-12)
    step = p.b * np.clip((1 - p.b * m) / (length**2 / (l2 * n)) + p.b * alpha, 0, 1) - alpha
    np.testing.assert_allclose(score("gs-r"), np.abs(step), atol=1e-14)


def test_the_bounds_of_a_box_that_excludes_zero():
    """A coordinate at its lower bound, which the data pull up: scores must see it, although l1 |x| > level there."""
    A, b, s = np.ones((1, 1)), np.array([5.3]), np.ones(1)
    net, loss = reference.ElasticNet.of(ElasticNet(l1=0.1, lower=5.0), 1), sw.losses.Squared()
    x = np.array([5.0])
    top = reference.level(A, b, s, loss, net, x)
    assert top < net.l1 @ x
    for kind in KINDS:
        assert reference.primal_scores(kind, A, b, s, loss, net, x, top)[0] > 0.01
