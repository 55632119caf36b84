"""Laws of the saddle methods, as their papers state them. The compiled solver takes no part."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import southwell as sw
from cases import PENALTIES, SMOOTH
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
from southwell.penalties import ElasticNet
from southwell.reference.spdc import perturbed_maximise, perturbed_prox

# One step is what the paper says


def argmin(f, low, high):
    """By golden section, after a grid: f is convex, perhaps infinite at the ends."""
    grid = np.linspace(low, high, 2001)
    values = np.array([f(t) for t in grid])
    k = int(np.argmin(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
    t = minimize_scalar(f, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    return min((t, grid[k]), key=f)


@pytest.mark.parametrize("delta", [0.0, 0.7])
@pytest.mark.parametrize("loss", sw.losses.ALL)
def test_perturbed_maximise_agrees_with_brute_force(loss, delta, small):
    p = small(loss)
    rng = np.random.default_rng(1)
    for i in range(4):
        m, y0, e, q = rng.normal(), p.loss.derivative(rng.normal(), p.b[i]), 0.5 * rng.normal(), rng.uniform(0.3, 2)
        got = perturbed_maximise(p.loss, m, y0, q, p.b[i], delta, e)

        def cost(y, m=m, y0=y0, e=e, q=q, b=p.b[i]):
            return p.loss.conjugate(y, b) - y * m + delta / 2 * (y - e) ** 2 + q / 2 * (y - y0) ** 2

        low, high = reference.conjugates.domain(p.loss, p.b[i : i + 1])
        want = argmin(cost, max(low[0], -20.0), min(high[0], 20.0))
        assert got == pytest.approx(want, abs=2e-7)
        assert cost(got) <= cost(want) + 1e-14


@pytest.mark.parametrize("delta", [0.0, 0.7])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_perturbed_prox_agrees_with_brute_force(penalty, delta):
    net, rng = net_of(penalty), np.random.default_rng(2)
    x0, u, c, tau = rng.normal(size=D), rng.normal(size=D), rng.normal(size=D), 0.6
    got = perturbed_prox(net, x0, u, tau, delta, c)
    for j in range(D):

        def cost(x, j=j):
            far = delta / 2 * (x - c[j]) ** 2 + (x - x0[j]) ** 2 / (2 * tau)
            return net[j].value(x) + u[j] * x + far

        want = argmin(cost, max(net.lo[j], -9.0), min(net.hi[j], 9.0))
        assert got[j] == pytest.approx(want, abs=2e-7)
        assert cost(got[j]) <= cost(want) + 1e-14


@pytest.mark.parametrize(("K", "weighted"), [([4], False), ([4], True), ([0, 5, 12], False), (range(N), False)])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_second_step_of_spdc_by_its_formulas(loss, K, weighted, small):
    """The problems of (5), (6) and (12), (13), solved by search: the second step uses xe, and u after the first."""
    p, net = small(loss), net_of("box")
    tau, sigma, theta = steps = 0.2, 0.7, 0.8
    prob = reference.spdc_probabilities(norms_of(p)) if weighted else None
    x, y = reference.spdc(*data_of(p, net), [K], steps, probabilities=prob)
    got = reference.spdc(*data_of(p, net), [K, K], steps, probabilities=prob)
    assert (got[1][np.setdiff1d(np.arange(N), K)] == 0).all()
    m, slopes = p.A @ (x + theta * x), p.A.T @ (p.s * y)  # x started at 0
    for k in K:
        low, high = reference.conjugates.domain(p.loss, p.b[k : k + 1])

        def cost(t, k=k):
            q = prob[k] * N / sigma if weighted else 1 / sigma
            return p.loss.conjugate(t, p.b[k]) - t * m[k] + q / 2 * (t - y[k]) ** 2

        want = argmin(cost, max(low[0], -9.0), min(high[0], 9.0))
        assert got[1][k] == pytest.approx(want, abs=2e-7)
        slopes = slopes + N * p.s[k] * (want - y[k]) * p.A[k] / (N * prob[k] if weighted else len(K))
    for j in range(D):

        def cost(t, j=j):
            return net[j].value(t) + slopes[j] * t + (t - x[j]) ** 2 / (2 * tau)

        assert got[0][j] == pytest.approx(argmin(cost, max(net.lo[j], -9.0), min(net.hi[j], 9.0)), abs=1e-6)


# All converge


def run(method, p, net, steps):
    norms, gamma, data = norms_of(p), gamma_of(p), data_of(p, net)
    L = norms.max() ** 2 / gamma  # of the least smooth component
    if method == "spdc, weighted":
        prob = reference.spdc_probabilities(norms)
        given = reference.spdc_steps(norms, N, L2, gamma, weighted=True)
        return reference.spdc(*data, [[k] for k in rows(N, steps, prob)], given, probabilities=prob)
    if method.startswith("spdc"):
        m = 4 if method == "spdc, batches" else 1
        return reference.spdc(*data, batches(N, m, steps), reference.spdc_steps(norms, N, L2, gamma, m))
    if method == "dspdc":
        given = reference.dspdc_steps(scale(p, 3, 2), N, D, 3, 2, L2, gamma)
        return reference.dspdc(*data, blocks(3, 2, steps), given)
    if method == "saga":
        return reference.saga(*data, rows(N, steps), 1 / (3 * L))
    if method == "sag":
        return reference.sag(*data, rows(N, steps), 1 / L)
    if method == "svrg":
        return reference.svrg(*data, rows(N, steps), 1 / (4 * L), 2 * N)
    if method == "dgpd":
        return reference.dgpd(*data, steps, picks=(D, 2), q=2 * norms.max() ** 2 / (N * L2))[:2]
    return reference.dgpd(*data, steps, picks=(3, 2))[:2]


STEPS = {
    "spdc": 1800,
    "spdc, batches": 800,
    "spdc, weighted": 2200,
    "dspdc": 2500,
    "saga": 4000,
    "sag": 2000,
    "svrg": 4000,
    "dgpd": 2000,
    "dgpd, safe": 5000,
}


# Two losses for each method, so that each loss meets three methods: the loss enters by its maximisation alone, which
# is compared with brute force for every loss.
@pytest.mark.parametrize(
    ("loss", "method"),
    [(BOUNDED[(k + shift) % len(BOUNDED)], method) for k, method in enumerate(STEPS) for shift in (0, 3)],
)
def test_reference_methods_converge(loss, method, small):
    """To the optimum of coordinate descent, on both sides. Safe weights are large: short rows for them."""
    p, net = small(loss, scale=0.3 if method == "dgpd, safe" else 0.5), net_of("l2" if method == "sag" else "box")
    for got, want in zip(run(method, p, net, STEPS[method]), optimum(p, net), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-6)


# One method is a case of another


@pytest.mark.parametrize("perturb", [(0.0, 0.0), (0.3, 0.2)])
@pytest.mark.parametrize("m", [1, 3, N])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "poisson"])
def test_dspdc_with_all_features_is_spdc(loss, m, perturb, small):
    p, net = small(loss), net_of("box")
    some, rng = batches(N, m, 60), np.random.default_rng(3)
    tau, sigma, theta = reference.spdc_steps(norms_of(p), N, L2, 0.5, m)
    options = {"perturb": perturb, "centre": (rng.normal(size=D), rng.normal(size=N))}
    for t in (1, 2, 60):
        one = reference.spdc(*data_of(p, net), some[:t], (tau, sigma, theta), **options)
        both = [(K, range(D)) for K in some[:t]]
        other = reference.dspdc(*data_of(p, net), both, (tau, N * sigma, theta), **options)
        for got, want in zip(other, one, strict=True):
            np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize("loss", BOUNDED)
def test_equal_probabilities_are_uniform_sampling(loss, small):
    p, net = small(loss), net_of("elastic net")
    some, steps = batches(N, 1, 60), (0.1, 0.3, 0.9)
    plain = reference.spdc(*data_of(p, net), some, steps)
    equal = reference.spdc(*data_of(p, net), some, steps, probabilities=np.full(N, 1 / N))
    for got, want in zip(equal, plain, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-13)


def test_dspdc_moves_only_its_blocks(small):
    p, net = small("squared"), net_of("l2")
    x, y = reference.dspdc(*data_of(p, net), [([2, 5], [1]), ([2], [6])], (0.1, 1.0, 0.9))
    assert np.flatnonzero(x).tolist() == [1, 6]
    assert np.flatnonzero(y).tolist() == [2, 5]


def test_dspdc_with_all_samples_extrapolates_in_its_features_alone(small):
    """q = 1, m = n: ye = y^+, and xe differs from x in the last feature only, by (theta + 1) of its move."""
    p, net = small("squared"), net_of("l2")
    tau, sigma, theta = 0.1, 5.0, 4.0
    x, y, xe = np.zeros(D), np.zeros(N), np.zeros(D)
    order = rows(D, 30)
    for j in order:
        y = p.loss.maximise(p.A @ xe, y, N / sigma, p.b)
        last, x = x, x.copy()
        x[j] = net[j].prox(x[j] - tau * (p.A[:, j] @ (p.s * y)), tau)
        xe = x.copy()
        xe[j] += theta * (x[j] - last[j])
    got = reference.dspdc(*data_of(p, net), [(range(N), [j]) for j in order], (tau, sigma, theta))
    np.testing.assert_allclose(got[0], x, atol=1e-12)
    np.testing.assert_allclose(got[1], y, atol=1e-12)


@pytest.mark.parametrize("loss", SMOOTH)
def test_dgpd_with_all_features_is_greedy_dual_ascent(loss, small):
    """Rows of one length sqrt(s_i) ||a_i||: every q_i of dual ascent is q, and the pick its longest weighted step."""
    p, net = small(loss), net_of("elastic net")
    p.A /= norms_of(p)[:, None]
    q, start = 1 / (N * L2), p.loss.derivative(np.random.default_rng(5).normal(size=N), p.b)  # without ties
    y, moves = start, []
    for _ in range(40):
        moves.append(reference.greedy(np.sqrt(p.s) * reference.dual_scores("gs-r", *data_of(p, net), y)))
        y = reference.dual_coordinate_ascent(*data_of(p, net), moves[-1:], y)[0]
    x, got, picked = reference.dgpd(*data_of(p, net), 40, picks=(D, 1), q=q, y=start)
    assert [I for _, I in picked] == [[i] for i in moves]
    np.testing.assert_allclose(got, y, atol=1e-12)
    before = reference.dual_coordinate_ascent(*data_of(p, net), moves[:-1], start)[1]
    np.testing.assert_allclose(x, before, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_dgpd_picks_the_best(loss, small):
    """The features whose moves lower L(x, y) most, by computing L; then the longest dual steps. Ties: the first."""
    p, net = small(loss), net_of("elastic net")
    p.A[:, 4] = p.A[:, 3]  # a tie
    x, y, q = np.zeros(D), p.loss.derivative(np.ones(N), p.b), 30.0
    for _ in range(20):
        xbar = net.conjugate_gradient(-p.A.T @ (p.s * y))
        moves = [np.where(np.arange(D) == j, xbar, x) for j in range(D)]
        falls = np.array([saddle(p, net, x, y) - saddle(p, net, move, y) for move in moves])
        after, moved, [(J, I)] = reference.dgpd(*data_of(p, net), 1, picks=(2, 3), q=q, x=x, y=y)
        assert len(J) <= 2
        assert np.sort(falls[J]) == pytest.approx(np.sort(falls)[-len(J) :], abs=1e-14)
        assert 4 not in J or 3 in J or x[3] != x[4]
        np.testing.assert_array_equal(after, np.where(np.isin(np.arange(D), J), xbar, x))
        steps = p.loss.maximise(p.A @ after, y, q, p.b) - y
        assert np.argsort(-np.sqrt(p.s) * np.abs(steps), kind="stable")[:3].tolist() == I
        np.testing.assert_allclose(moved, np.where(np.isin(np.arange(N), I), y + steps, y), atol=1e-14)
        x, y = after, moved


@pytest.mark.parametrize("picks", [(1, 1), (2, 3)])
def test_dgpd_counts_what_is_misplaced_before_it_moves(picks, small):
    p, net = small("squared"), net_of("elastic net")
    x, y, norms = np.zeros(D), np.zeros(N), norms_of(p)
    counts = []
    for _ in range(30):
        counts.append(np.count_nonzero(x != net.conjugate_gradient(-p.A.T @ (p.s * y))))
        q = reference.dgpd_weight(norms, N, L2, 1.0, counts[-1], picks)
        got = reference.dgpd(*data_of(p, net), 1, picks=picks, x=x, y=y)
        x, y, picked = reference.dgpd(*data_of(p, net), 1, picks=picks, q=q, x=x, y=y)
        assert (got[0] == x).all()
        assert (got[1] == y).all()
        assert got[2] == picked
    assert len(set(counts)) > 2


def test_dgpd_passes_over_samples_without_weight(small):
    p, net = small("squared"), net_of("elastic net")
    p.s[[2, 7]] = 0.0
    p.s /= p.s.sum()
    _, y, picked = reference.dgpd(*data_of(p, net), 30, picks=(D, N))
    assert {i for _, I in picked for i in I} == set(range(N)) - {2, 7}
    assert not y[[2, 7]].any()


def test_dgpd_rests_at_a_saddle_point():
    """Nothing to gain: nothing is picked, whatever the picks."""
    A, b, s = np.eye(3), np.zeros(3), np.full(3, 1 / 3)
    x, y, picked = reference.dgpd(A, b, s, sw.losses.Squared(), net_of("elastic net", 3), 4, picks=(2, 2))
    assert picked == [([], [])] * 4
    assert not x.any()
    assert not y.any()


def test_incremental_gradients_with_one_sample_are_gradient_descent():
    A, b, s = np.array([[1.0, -2.0, 0.5]]), np.array([1.5]), np.ones(1)
    loss, net, tau = sw.losses.Squared(), net_of(ElasticNet(l1=0.05, l2=0.1), 3), 0.1
    x = np.zeros(3)
    for _ in range(20):
        x = net.prox(x - tau * A[0] * (A[0] @ x - b[0]), tau)
    for got in (
        reference.saga(A, b, s, loss, net, [0] * 20, tau),
        reference.sag(A, b, s, loss, net, [0] * 20, tau),
        reference.svrg(A, b, s, loss, net, [0] * 20, tau, 7),
    ):
        np.testing.assert_allclose(got[0], x, atol=1e-14)


@pytest.mark.parametrize("loss", BOUNDED)
def test_incremental_gradients_step_by_step(loss, small):
    """Kept as a table of gradients: SAGA and SVRG are right on average, SAG averages the table."""
    p, net, tau = small(loss), net_of("elastic net"), 0.05
    order, start = rows(N, 25), np.random.default_rng(4).normal(size=D)

    def gradients(x):
        return (N * p.s * p.loss.derivative(p.A @ x, p.b))[:, None] * p.A

    for method in ("saga", "sag", "svrg"):
        x, table = start, gradients(start)
        for t, i in enumerate(order):
            if method == "svrg" and t % 6 == 0:
                table = gradients(x)
            now, old, mean = gradients(x), table[i].copy(), table.mean(axis=0)
            v = now[i] - old + mean
            estimates = now - table + mean
            np.testing.assert_allclose(estimates.mean(axis=0), now.mean(axis=0), atol=1e-13)
            if method != "svrg":
                table[i] = now[i]
            x = net.prox(x - tau * (table.mean(axis=0) if method == "sag" else v), tau)
        run = getattr(reference, method)
        got, y = run(*data_of(p, net), order, tau, *([6] if method == "svrg" else []), x=start)
        np.testing.assert_allclose(got, x, atol=1e-12)
        np.testing.assert_allclose((N * p.s * y)[:, None] * p.A, table, atol=1e-12)
