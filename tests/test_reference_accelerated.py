"""Laws of accelerated descent, as its papers state them. The compiled solver takes no part."""

from dataclasses import replace

import numpy as np
import pytest

import southwell as sw
from cases import (
    LOSSES,
    PENALTIES,
    SMOOTH,
    STRONG,
    dual_objective,
    objective,
)
from southwell import reference
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant


def singles(d, steps, seed=0):
    return [((j,), None) for j in np.random.default_rng(seed).integers(0, d, steps)]


def hybrids(labels, steps, seed=0):
    """A uniform candidate from each block, and j2 among them by the size of its block."""
    rng, blocks = np.random.default_rng(seed), [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    share = [block.size / labels.size for block in blocks]
    for _ in range(steps):
        candidates = [rng.choice(block) for block in blocks]
        yield candidates, candidates[rng.choice(len(blocks), p=share)]


def stiff(d=12, n=30, decay=2.0, seed=0):
    """Columns nearly alike: ill conditioned."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 1)) + np.exp(-decay) * rng.normal(size=(n, d))
    return A, A @ rng.normal(size=d) + 0.1 * rng.normal(size=n), np.full(n, 1 / n)


@pytest.mark.parametrize("penalty", ["elastic net", "l1", "box"])
@pytest.mark.parametrize("loss", [name for name in SMOOTH if np.isfinite(sw.losses.get(name).smoothness)])
def test_restarted_at_every_step_the_primal_is_plain(loss, penalty, small):
    p, net = small(loss), reference.ElasticNet.of(PENALTIES[penalty], 7)
    moves = singles(7, 60)
    x, z, _ = reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, moves, 1 / 7, restarts=range(60))
    plain = reference.primal_coordinate_descent(p.A, p.b, p.s, p.loss, net, [j for (j,), _ in moves])
    np.testing.assert_allclose(x, plain, atol=1e-12)
    np.testing.assert_allclose(z, plain, atol=1e-12)


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", LOSSES)
def test_restarted_at_every_step_the_dual_is_plain(loss, penalty, small):
    p, net = small(loss), reference.ElasticNet.of(PENALTIES[penalty], 7)
    moves = singles(13, 60)
    y, _, _ = reference.accelerated_dual(p.A, p.b, p.s, p.loss, net, moves, 1 / 13, restarts=range(60))
    plain = reference.dual_coordinate_ascent(p.A, p.b, p.s, p.loss, net, [i for (i,), _ in moves])[0]
    np.testing.assert_allclose(y, plain, atol=1e-12)


def test_restarted_at_every_step_several_candidates_are_greedy(small):
    p, net = small("squared"), reference.ElasticNet.of(PENALTIES["l2"], 7)
    moves = [(range(7), 0)] * 30
    x, _, _ = reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, moves, 1.0, restarts=range(30))
    want, C = np.zeros(7), p.s @ p.A**2 + net.l2
    for _ in range(30):
        # With h a part of f, the most certain progress is G^2 / (2 C): gs-q.
        j = reference.greedy(reference.primal_scores("gs-s", p.A, p.b, p.s, p.loss, net, want) / np.sqrt(C))
        assert j == reference.greedy(reference.primal_scores("gs-q", p.A, p.b, p.s, p.loss, net, want))
        want = reference.primal_coordinate_descent(p.A, p.b, p.s, p.loss, net, [j], want)
    np.testing.assert_allclose(x, want, atol=1e-12)


def test_one_coordinate_is_nesterov():
    """d = 1 and h = 0: the method of FISTA, momentum (t - 1)/t' with t' = (1 + sqrt(1 + 4 t^2))/2."""
    rng = np.random.default_rng(17)
    A, b, s = rng.normal(size=(20, 1)), np.where(rng.random(20) < 0.7, 1.0, -1.0), np.full(20, 0.05)
    loss, net = sw.losses.Logistic(), reference.ElasticNet.of(ElasticNet(), 1)
    L = (s @ A[:, 0] ** 2) / 4
    for steps in range(6):
        x = v = np.zeros(1)
        t = 1.0
        for _ in range(steps):
            last, x = x, v - A.T @ (s * loss.derivative(A @ v, b)) / L
            t, before = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
            v = x + (before - 1) / t * (x - last)
        got, _, theta = reference.accelerated_primal(A, b, s, loss, net, [([0], 0)] * steps, 1.0)
        np.testing.assert_allclose(got, x, atol=1e-14)
        assert theta == pytest.approx(1 / t)


def test_one_candidate_is_algorithm_3_where_nothing_is_penalised(small):
    """Then j1 = j2 = j moves x by -r/L and z by -r/(d theta L) in both forms."""
    p, net = small("squared"), reference.ElasticNet.of(ElasticNet(), 7)
    moves = singles(7, 40)
    one = reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, moves, 1.0)
    both = reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, [((j, j), j) for (j,), _ in moves], 1.0)
    for got, want in zip(one, both, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_candidates_follow_the_objective_not_the_bare_residual(small):
    """Weights of samples count when candidates are compared: the pick is the most certain progress of D."""
    for seed in range(10):
        p, net = small("squared", seed=seed), reference.ElasticNet.of(PENALTIES["l2"], 7)
        y = reference.accelerated_dual(p.A, p.b, p.s, p.loss, net, [(range(13), 0)], 1.0)[0]
        best = reference.greedy(reference.dual_scores("gs-q", p.A, p.b, p.s, p.loss, net, np.zeros(13)))
        assert np.flatnonzero(y).tolist() == [best]


def test_the_rate_of_algorithm_3():
    """Theorem 6.11 with a curvature a coordinate: E[f - f*] <= 2 d^2 sum_j C_j (x_j - x_j*)^2 / (t + 1)^2."""
    A, b, s = stiff()
    d, loss, net = 12, sw.losses.Squared(), reference.ElasticNet.of(ElasticNet(l2=1e-5), 12)
    best = np.linalg.solve(A.T @ (s[:, None] * A) + 1e-5 * np.eye(d), A.T @ (s * b))
    far = (s @ A**2 + 1e-5) @ best**2
    labels = np.arange(d) % 3
    for steps in (60, 600):
        errors = [
            objective(A, b, s, loss, net, reference.accelerated_primal(A, b, s, loss, net, moves, 1.0)[0])
            - objective(A, b, s, loss, net, best)
            for moves in (list(hybrids(labels, steps, seed)) for seed in range(6))
        ]
        assert np.mean(errors) <= 2 * d**2 * far / (steps + 1) ** 2


def test_the_rate_of_approx():
    """Fercoq and Richtarik, theorem 3: E[P - P*] <= 4 d^2 / (t - 1 + 2 d)^2 ((1 - 1/d)(P(0) - P*) + |x*|_L^2 / 2)."""
    d, p = 12, plant("squared", n=15, d=12, l1=0.002, l2=0.0, weighted=True)
    A, b, s, loss, net = p.A, p.b, p.sample_weight, p.loss, reference.ElasticNet.of(p.penalty, d)
    net.lo[:] = p.x.min() - 1e-3  # the same optimum, and a bound in the way
    C = (1 - 1 / d) * (objective(A, b, s, loss, net, 0 * p.x) - p.primal) + (s @ A**2) @ p.x**2 / 2
    for steps in (60, 600):
        errors = []
        for seed in range(6):
            x = reference.accelerated_primal(A, b, s, loss, net, singles(d, steps, seed), 1 / d)[0]
            assert (x >= net.lo - 1e-12).all()  # an average of feasible points
            errors.append(objective(A, b, s, loss, net, x) - p.primal)
        assert min(errors) >= -1e-14
        assert np.mean(errors) <= 4 * d**2 / (steps - 1 + 2 * d) ** 2 * C


@pytest.mark.parametrize(("theta0", "blocks"), [(1 / 12, 1), (1.0, 3), (1.0, 12)])
def test_acceleration_pays_on_a_stiff_ridge(theta0, blocks):
    A, b, s = stiff(decay=3.0, seed=2)
    loss, net = sw.losses.Squared(), reference.ElasticNet.of(ElasticNet(l2=1e-6), 12)
    best = np.linalg.solve(A.T @ (s[:, None] * A) + 1e-6 * np.eye(12), A.T @ (s * b))
    moves = list(hybrids(np.arange(12) % blocks, 1500))
    fast = reference.accelerated_primal(A, b, s, loss, net, moves, theta0)[0]
    plain = reference.primal_coordinate_descent(A, b, s, loss, net, [j2 for _, j2 in moves])
    at = objective(A, b, s, loss, net, best)
    assert objective(A, b, s, loss, net, fast) - at < 0.2 * (objective(A, b, s, loss, net, plain) - at)


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "hinge", "logistic"])
def test_acceleration_pays_on_the_dual(loss):
    A, _, s = stiff(n=20, seed=3)
    b = np.sign(np.random.default_rng(19).normal(size=20))
    loss, net = sw.losses.get(loss), reference.ElasticNet.of(ElasticNet(l2=1e-4), 12)
    moves = singles(20, 2000)
    fast = reference.accelerated_dual(A, b, s, loss, net, moves, 1 / 20)[0]
    plain = reference.dual_coordinate_ascent(A, b, s, loss, net, [i for (i,), _ in moves])[0]
    assert dual_objective(A, b, s, loss, net, fast) > dual_objective(A, b, s, loss, net, plain)
    if loss.name == "squared":
        several = list(hybrids(np.arange(20) % 4, 2000))
        best = b - A @ np.linalg.solve(A.T @ (s[:, None] * A) + 1e-4 * np.eye(12), A.T @ (s * b))
        for y in (fast, reference.accelerated_dual(A, b, s, loss, net, several, 1.0)[0]):
            short = [
                dual_objective(A, b, s, loss, net, -best) - dual_objective(A, b, s, loss, net, u) for u in (y, plain)
            ]
            assert 0 <= short[0] < 0.5 * short[1]


def test_several_candidates_need_a_smooth_penalty(small):
    p = small("squared")
    for net in (reference.ElasticNet.of(ElasticNet(l1=0.1), 7), reference.ElasticNet.of(ElasticNet(l2=1, lower=0), 7)):
        with pytest.raises(ValueError, match="smooth h"):
            reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, [((0, 1), 0)], 1.0)
    hinge, net = small("hinge"), reference.ElasticNet.of(ElasticNet(l2=0.1), 7)
    with pytest.raises(ValueError, match="smooth h"):
        reference.accelerated_dual(hinge.A, hinge.b, hinge.s, hinge.loss, net, [((0, 1), 0)], 1.0)


def test_coordinates_nothing_depends_on_stay(small):
    p = small("squared")
    p.A[:, 2] = 0
    net = reference.ElasticNet.of(ElasticNet(), 7)
    start = np.full(7, 0.5)
    for moves in ([((2,), None)] * 3, [((2, 2), 2)] * 3):
        assert (reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, moves, 1.0, start)[0] == start).all()
    net = replace(net, l2=np.full(7, 0.1))
    x = reference.accelerated_primal(p.A, p.b, p.s, p.loss, net, [((2,), None)], 1 / 7, start)[0]
    assert x[2] == pytest.approx(0)  # only the penalty speaks
