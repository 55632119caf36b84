"""Rates and steps of the saddle methods, as their papers' theorems state them. The compiled solver takes no part."""

from itertools import pairwise

import numpy as np
import pytest

from cases import dual_objective
from saddle_laws import (
    BOUNDED,
    L2,
    D,
    N,
    batches,
    blocks,
    data_of,
    gamma_of,
    net_of,
    norms_of,
    optimum,
    rows,
    saddle,
    scale,
)
from southwell import reference

# The rates of the theorems


RUNS = 40  # means over 200 differ from these by three hundredths of the bounds


def mean_distance(go, best, w, weights, runs=RUNS):
    """The mean over ``runs`` of far_x ||x - x*||^2 + sum_i far_y w_i (y_i - y_i*)^2, for a run given its seed."""
    far_x, far_y = weights
    total = 0.0
    for seed in range(runs):
        x, y = go(seed)
        total += far_x * np.sum((x - best[0]) ** 2) + np.sum(far_y * w * (y - best[1]) ** 2)
    return total / runs


TIMES = (10, 35)


@pytest.mark.parametrize("m", [1, 3, N])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_1_of_spdc(loss, m, small):
    p, net = small(loss, scale=0.5), net_of("elastic net")
    best, gamma = optimum(p, net), gamma_of(p)
    tau, sigma, theta = steps = reference.spdc_steps(norms_of(p), N, L2, gamma, m)
    w, far_x = N * p.s, 1 / (2 * tau) + L2
    start = mean_distance(lambda _: (np.zeros(D), np.zeros(N)), best, w, (far_x, (1 / (2 * sigma) + gamma) / m), 1)
    for t in TIMES:
        got = mean_distance(
            lambda seed, t=t: reference.spdc(*data_of(p, net), batches(N, m, t, seed), steps),
            best, w, (far_x, (1 / (4 * sigma) + gamma) / m), RUNS if m < N else 1,
        )  # fmt: skip
        assert got <= 1.05 * theta**t * start


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_2_of_spdc(loss, small):
    """A little more than it: its proof has gamma/(p_i n) on both sides, between the 2 gamma/n and 2 gamma it states."""
    p, net = small(loss, scale=0.5), net_of("elastic net")
    best, gamma, prob = optimum(p, net), gamma_of(p), reference.spdc_probabilities(norms_of(p))
    tau, sigma, theta = steps = reference.spdc_steps(norms_of(p), N, L2, gamma, weighted=True)
    w, far_x, far_y = N * p.s, 1 / (2 * tau) + L2, gamma / (prob * N)
    start = mean_distance(lambda _: (np.zeros(D), np.zeros(N)), best, w, (far_x, 1 / (2 * sigma) + far_y), 1)
    for t in TIMES:

        def go(seed, t=t):
            some = [[k] for k in rows(N, t, prob, seed)]
            return reference.spdc(*data_of(p, net), some, steps, probabilities=prob)

        got = mean_distance(go, best, w, (far_x, 7 / (16 * sigma) + far_y))
        assert got <= 1.05 * theta**t * start


@pytest.mark.parametrize(("m", "q"), [(1, 1), (1, D), (3, 2), (N, 1)])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_1_of_dspdc(loss, m, q, small):
    p, net = small(loss, scale=0.5), net_of("elastic net")
    best, gamma = optimum(p, net), gamma_of(p)
    tau, sigma, theta = steps = reference.dspdc_steps(scale(p, m, q), N, D, m, q, L2, gamma)
    w, far_x, rate = N * p.s, D / (2 * q * tau) + D * L2 / q, theta * q / D
    start = mean_distance(lambda _: (np.zeros(D), np.zeros(N)), best, w, (far_x, N / (2 * m * sigma) + gamma / m), 1)
    for t in TIMES:
        got = mean_distance(
            lambda seed, t=t: reference.dspdc(*data_of(p, net), blocks(m, q, t, seed), steps),
            best, w, (far_x, N / (4 * m * sigma) + gamma / m),
        )  # fmt: skip
        assert got <= 1.05 * rate**t * start


@pytest.mark.parametrize(("m", "q"), [(1, 1), (3, 2)])
def test_theorem_2_of_dspdc(m, q, small):
    """From (84) to (85) of its proof: distances, and L(x, y*) - L(x*, y) with d/q and n/m. The bound of the gap follows
    by a constant that would hide any error."""
    p, net = small("squared", scale=0.5), net_of("elastic net")
    best, gamma, w = optimum(p, net), gamma_of(p), N * p.s
    tau, sigma, theta = steps = reference.dspdc_steps(scale(p, m, q), N, D, m, q, L2, gamma, gap=True)

    def far(x, y, share):
        at, lower, upper = saddle(p, net, *best), saddle(p, net, best[0], y), saddle(p, net, x, best[1])
        distance = (D / (2 * q * tau) + D * L2 / (2 * q)) * np.sum((x - best[0]) ** 2)
        distance += (share * N / (m * sigma) + gamma / (2 * m)) * w @ (y - best[1]) ** 2
        return distance + D / q * (upper - at) + N / m * (at - lower)

    for t in TIMES:
        ends = [reference.dspdc(*data_of(p, net), blocks(m, q, t, seed), steps) for seed in range(RUNS)]
        bound = (theta * q / D) ** t * far(np.zeros(D), np.zeros(N), 1 / 2)
        assert np.mean([far(x, y, 1 / 4) for x, y in ends]) <= 1.05 * bound


def deltas(p, net, iterations, weight):
    """Delta before each dual step of DGPD, and the q of that step."""
    data = data_of(p, net)
    top = dual_objective(*data, optimum(p, net)[1])
    x, y, found = np.zeros(D), np.zeros(N), []
    for _ in range(iterations):
        after, moved, _ = reference.dgpd(*data, 1, q=(q := weight(x, y)), x=x, y=y)
        now = dual_objective(*data, y)
        found.append((saddle(p, net, after, y) - now + top - now, q))
        x, y = after, moved
    return found


def safe_weight(p, net, counted):
    def weight(x, y):
        S = np.count_nonzero(x != net.conjugate_gradient(-p.A.T @ (p.s * y))) if counted else D
        return reference.dgpd_weight(norms_of(p), N, L2, gamma_of(p), S)

    return weight


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("size", [0.01, 0.3, 1.0])
def test_theorem_of_dgpd_mended(size, even, counted, small):
    """By rho^2 gamma/(2 n q) for the squared loss, with weights too: see dgpd.py."""
    p, net = small("squared", scale=size), net_of("elastic net")
    p.s = np.full(N, 1 / N) if even else p.s
    for (before, q), (after, _) in pairwise(deltas(p, net, 250, safe_weight(p, net, counted))):
        a = (q / (q + 1)) ** 2 / (2 * N * q)
        assert after <= before / (1 + a) + 1e-12


@pytest.mark.parametrize("loss", BOUNDED)
def test_safe_weights_of_dgpd_never_let_the_error_rise(loss, small):
    p, net = small(loss, scale=0.5), net_of("elastic net")
    found = [delta for delta, _ in deltas(p, net, 250, safe_weight(p, net, True))]
    assert (np.diff(found) < 0).all()


def test_theorem_of_dgpd_does_not_hold_as_printed(small):
    """(15) has 1 + gamma/(2 q). With little data one of 13 samples would have to take away almost half of the error."""
    p, net = small("squared", scale=0.01), net_of("elastic net")
    p.s = np.full(N, 1 / N)
    (before, q), (after, _) = deltas(p, net, 2, safe_weight(p, net, True))
    assert after > 1.5 * before / (1 + 1 / (2 * q))
    p.A[:] = 0
    p.b[:] = 1
    (before, q), (after, _) = deltas(p, net, 2, safe_weight(p, net, True))
    assert q == pytest.approx(1 / 2)
    assert after >= before * (1 - 1 / N) > before / (1 + 1 / (2 * q))


# Steps


@pytest.mark.parametrize("gamma", [0.3, 1.0, 4.0])
def test_steps_of_dspdc(gamma):
    """The equations of (14), the closed forms (15), (16) where they do not cancel, and (17)."""
    n, d, l2, scale = 13, 7, 0.1, 2.0
    for m, q in ((1, 1), (1, 7), (13, 1), (4, 3), (13, 7)):
        tau, sigma, theta = reference.dspdc_steps(scale, n, d, m, q, l2, gamma)
        K = max(n / m, d / q) + n * d / (m * q) * np.sqrt(scale / (n * l2 * gamma))
        assert theta == pytest.approx(d / q * (1 - 1 / K), rel=1e-14)
        assert reference.dspdc_steps(scale, n, d, m, q, l2, gamma, gap=True)[2] == pytest.approx(d / q * (1 - 0.5 / K))
        assert tau * sigma == pytest.approx(n * m * q / (4 * d * scale), rel=1e-12)
        left, right = d / (2 * q * l2 * tau) + d / q, n**2 / (2 * m * gamma * sigma) + n / m
        assert left == pytest.approx(right, rel=1e-12)
        lead = n / m - d / q
        root = np.sqrt(lead**2 + 4 * (n * d) ** 2 * scale / ((m * q) ** 2 * n * l2 * gamma))
        assert tau == pytest.approx(d / (q * l2) / (lead + root), rel=1e-10)
        assert sigma == pytest.approx(n**2 / (m * gamma) / (root - lead), rel=1e-10)
    tau, sigma, _ = reference.dspdc_steps(scale, 12, 6, 2, 1, l2, gamma)
    assert tau == pytest.approx(np.sqrt(gamma / (scale * 12 * l2)), rel=1e-12)
    assert sigma == pytest.approx(np.sqrt(12 * l2 / (scale * gamma)), rel=1e-12)


@pytest.mark.parametrize(("m", "q"), [(1, 10**4), (10**6, 1)])
def test_steps_of_dspdc_do_not_cancel(m, q):
    """One side moves whole: n/m - d/q is all of the root to rounding, and tau sigma is still right."""
    tau, sigma, _ = reference.dspdc_steps(1e-9, 10**6, 10**4, m, q, 1.0, 1.0)
    assert tau * sigma == pytest.approx(10**6 * m * q / (4 * 10**4 * 1e-9), rel=1e-12)


def test_steps_of_spdc_are_a_case_of_dspdc():
    R, n, d, l2, gamma = 1.7, 13, 7, 0.1, 0.5
    tau, sigma, theta = reference.spdc_steps([0.3, R], n, l2, gamma)
    other = reference.dspdc_steps(R**2, n, d, 1, d, l2, gamma)
    assert other[2] == pytest.approx(theta, rel=1e-14)
    assert other[0] * other[1] == pytest.approx(n * tau * sigma, rel=1e-12)
    assert other[0] < tau
    hard = reference.spdc_steps([1e6], n, l2, gamma)[0] / reference.dspdc_steps(1e12, n, d, 1, d, l2, gamma)[0]
    assert hard == pytest.approx(1, abs=1e-4)


def test_steps_of_spdc():
    """tau sigma R^2 = 1/4, or 1/16 for the mean; the larger the batch the nearer theta to 0."""
    norms = np.array([0.2, 1.0, 3.0])
    for m in (1, 2, 3):
        tau, sigma, theta = reference.spdc_steps(norms, 3, 0.1, 0.5, m)
        assert tau * sigma == pytest.approx(1 / 36)
        assert tau / sigma == pytest.approx(m * 0.5 / (3 * 0.1))
        assert theta == pytest.approx(1 - 1 / (3 / m + 3 * np.sqrt(3 / m / 0.05)))
    tau, sigma, theta = reference.spdc_steps(norms, 3, 0.1, 0.5, weighted=True)
    assert tau * sigma == pytest.approx(1 / (16 * 1.4**2))
    assert tau / sigma == pytest.approx(0.5 / (3 * 0.1))
    assert theta == pytest.approx(1 - 1 / (6 + 2.8 * np.sqrt(3 / 0.05)))
    np.testing.assert_allclose(reference.spdc_probabilities(norms), 1 / 6 + norms / 8.4)
    with pytest.raises(ValueError, match="one sample"):
        reference.spdc_steps(norms, 3, 0.1, 0.5, 2, weighted=True)


def test_weighted_sampling_moves_one_sample(small):
    p, net = small("squared"), net_of("l2")
    with pytest.raises(ValueError, match="one sample"):
        reference.spdc(*data_of(p, net), [[0, 1]], (0.1, 0.1, 0.5), probabilities=np.full(N, 1 / N))


def test_safe_weight_of_dgpd():
    norms = [1.0, 3.0]
    one = (10 * 9 + 2 * 0.5 * 0.1) / (2 * 2 * 0.1)
    assert reference.dgpd_weight(norms, 2, 0.1, 0.5, 0) == pytest.approx(one)
    assert reference.dgpd_weight(norms, 2, 0.1, 0.5, 6) == pytest.approx(6 * one)
    assert reference.dgpd_weight(norms, 2, 0.1, 0.5, 6, (3, 1)) == pytest.approx(2 * one)
    assert reference.dgpd_weight(norms, 2, 0.1, 0.5, 2, (3, 2)) == pytest.approx(2 * one)
