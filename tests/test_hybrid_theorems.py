"""The theorems of Fang, Fang, Yu and Li (2021) on plain hybrid descent, algorithm 2, with exact expectations.

f is smooth: a loss, and l2 as a part of it. Algorithm 2 compares candidates by |gradient| and steps by 1/L_i.
Expectations are sums over all coordinates with the probability that each is chosen.
"""

import itertools

import numpy as np
import pytest

import southwell as sw
from southwell import reference

D, N = 6, 15
PARTITIONS = {
    "one block": np.zeros(D, int),
    "two uneven": np.array([0, 0, 0, 0, 1, 1]),
    "three": np.arange(D) % 3,
    "greedy": np.arange(D),
}


class Smooth:
    """f(x) = sum_i s_i phi(a_i'x) + (l2/2) |x|^2, its gradient, L_i, and constants of strong convexity."""

    def __init__(self, loss, seed, l2=0.05, scale=1.0):
        rng = np.random.default_rng(seed)
        self.A = scale * rng.normal(size=(N, D)) * rng.uniform(0.3, 2.0, D)
        self.loss, self.l2 = sw.losses.get(loss), l2
        self.b = rng.normal(size=N) if self.loss.targets == "real" else np.sign(rng.normal(size=N))
        self.s = np.full(N, 1 / N)
        self.L = self.s @ self.A**2 * self.loss.smoothness + l2
        # of a quadratic that f exceeds by a convex function: for the squared loss f itself
        bend = self.A.T @ (self.s[:, None] * self.A) if loss == "squared" else np.zeros((D, D))
        self.H = bend + l2 * np.eye(D)
        self.mu2 = np.linalg.eigvalsh(self.H)[0]
        # min of h'Hh over |h|_1 = 1 is 1 over the largest s'H^-1 s over signs s
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=D)))
        self.sign_forms = np.einsum("ki,ij,kj->k", signs, np.linalg.inv(self.H), signs)
        self.mu1 = 1 / self.sign_forms.max()
        self.best = self.minimise()

    def value(self, x):
        return self.s @ self.loss.value(self.A @ x, self.b) + self.l2 / 2 * x @ x

    def gradient(self, x):
        return self.A.T @ (self.s * self.loss.derivative(self.A @ x, self.b)) + self.l2 * x

    def minimise(self):
        x = np.zeros(D)
        for _ in range(100):
            h = self.loss.second_derivative(self.A @ x, self.b)
            x = x - np.linalg.solve(self.A.T @ ((self.s * h)[:, None] * self.A) + self.l2 * np.eye(D), self.gradient(x))
        assert np.abs(self.gradient(x)).max() < 1e-12
        return x

    def outcomes(self, x, labels):
        """What algorithm 2 leads to from x: points and their probabilities."""
        g = self.gradient(x)
        p = reference.hybrid_probabilities(np.abs(g), labels)
        assert p.sum() == pytest.approx(1)
        return x - np.diag(g / self.L), p

    def expected(self, x, labels):
        points, p = self.outcomes(x, labels)
        return p @ [self.value(point) for point in points]


def group_norm(g, labels):
    """|g|_{B, inf} of definition 6.1."""
    return max(np.linalg.norm(g[labels == k]) / np.sqrt(np.sum(labels == k)) for k in set(labels.tolist()))


@pytest.fixture(params=[("squared", 0), ("squared", 1), ("logistic", 2), ("logistic", 3)], ids=str, scope="module")
def f(request):
    return Smooth(*request.param)


@pytest.fixture(params=PARTITIONS)
def labels(request):
    return PARTITIONS[request.param]


def points(f, seed=0):
    rng = np.random.default_rng(seed)
    return [np.zeros(D), *(f.best + scale * rng.normal(size=D) for scale in (1e-3, 0.1, 1.0, 10.0) for _ in range(5))]


def test_norms_are_between_those_of_lemma_6_3(labels):
    sizes = np.bincount(labels)
    for g in np.random.default_rng(0).normal(size=(50, D)) ** 3:
        square, top = group_norm(g, labels) ** 2, np.abs(g).max() ** 2
        assert g @ g / D <= square * (1 + 1e-12) and square <= g @ g / sizes.min() * (1 + 1e-12)
        assert top / sizes.max() <= square * (1 + 1e-12) and square <= top * (1 + 1e-12)


def test_descent_lemma_6_4(f, labels):
    for x in points(f):
        least = group_norm(f.gradient(x), labels) ** 2 / (2 * f.L.max())
        assert f.expected(x, labels) <= f.value(x) - least + 1e-12 * (1 + f.value(x))


def test_theorem_6_5(f, labels):
    for x in points(f):
        g = f.gradient(x)
        share = group_norm(g, labels) ** 2 / f.L.max()
        eta = max(f.mu2 * share / (g @ g), f.mu1 * share / np.abs(g).max() ** 2)
        assert f.mu2 / (D * f.L.max()) <= eta * (1 + 1e-12)
        assert eta <= f.mu2 / f.L.max() * (1 + 1e-12)
        before, after = f.value(x) - f.value(f.best), f.expected(x, labels) - f.value(f.best)
        assert after <= (1 - eta) * before + 1e-12 * (1 + f.value(x))


def test_the_upper_end_of_eta_is_not_the_printed_one():
    """Printed: eta <= mu_1 / L_max. For f = |x|^2 / 2 greedy from e_1 is done after one step: eta is mu_2 / L_max, d
    times that."""
    f, x = Smooth("squared", 0, l2=1.0, scale=0.0), np.eye(D)[0]
    assert (f.mu1, f.mu2, f.L.max()) == (pytest.approx(1 / D), 1.0, 1.0)
    g = f.gradient(x)
    assert f.mu2 * group_norm(g, PARTITIONS["greedy"]) ** 2 / (g @ g) == 1.0 > f.mu1
    assert f.expected(x, PARTITIONS["greedy"]) == f.value(f.best)


@pytest.mark.parametrize("name", ["two uneven", "three", "greedy"])
def test_theorem_6_6(f, name):
    """E[f(x_t)] - f* <= 2 L_max D^2 / (rho t), with rho >= 1 / max |B_i| and D from a bound on the level set.

    f exceeds a quadratic with Hessian H around its minimiser, so |x - x*|_H^2 <= 2 (f(x_0) - f*) on the level set, and
    the largest |x - x*|_1 there is sqrt(2 (f(x_0) - f*) max s'H^-1 s) over signs s. The tree of all outcomes of the
    first steps is small enough to be walked.
    """
    labels, start = PARTITIONS[name], f.best + 2.0
    room = f.value(start) - f.value(f.best)
    reach = 2 * room * f.sign_forms.max()
    rho = 1 / np.bincount(labels).max()
    cloud = [(start, 1.0)]
    for t in range(1, 5):
        step = ((points_, p * p0) for x, p0 in cloud for points_, p in zip(*f.outcomes(x, labels), strict=True))
        cloud = [(x, p) for x, p in step if p > 0]
        assert sum(p for _, p in cloud) == pytest.approx(1)
        error = sum(p * (f.value(x) - f.value(f.best)) for x, p in cloud)
        assert error <= 2 * f.L.max() * reach / (rho * t)


def test_theorem_6_6_over_many_steps(f, labels):
    """The mean of 40 runs against the same bound; it is far from tight."""
    start = f.best + 2.0
    reach = 2 * (f.value(start) - f.value(f.best)) * f.sign_forms.max()
    rng, xs = np.random.default_rng(0), np.repeat(start[None], 40, axis=0)
    for t in range(1, 101):
        for k, x in enumerate(xs):
            candidates = [rng.choice(np.flatnonzero(labels == block)) for block in set(labels.tolist())]
            g = f.gradient(x)
            i = max(candidates, key=lambda j: abs(g[j]))
            xs[k, i] -= g[i] / f.L[i]
        if t % 20 == 0:
            errors = np.array([f.value(x) - f.value(f.best) for x in xs])
            assert errors.mean() <= 2 * f.L.max() * reach * np.bincount(labels).max() / t


def test_the_recursion_of_theorem_6_6_in_expectation(f, labels):
    """(9.4): one step takes at least rho / (2 L_max D^2) of the squared error, with D the distance from x itself."""
    rho = 1 / np.bincount(labels).max()
    for x in points(f):
        error = f.value(x) - f.value(f.best)
        away = np.abs(x - f.best).sum()
        if away > 0:
            least = rho * error**2 / (2 * f.L.max() * away**2)
            assert f.expected(x, labels) - f.value(f.best) <= error - least + 1e-12 * (1 + error)


def test_the_compiled_rule_chooses_with_these_probabilities():
    """The core's hybrid with gs-s, which compares |gradient| where nothing is kinked, is algorithm 2."""
    f = Smooth("squared", 0)
    penalty = sw.penalties.ElasticNet(l2=f.l2)
    problem = sw.Problem(f.A, f.b, penalty=penalty)
    rule = sw.rules.Hybrid(partition=PARTITIONS["two uneven"], score="gs-s")
    method = sw.methods.CoordinateDescent("primal", rule, "mirror", shrinking=False, curvature="coordinate")
    core = method.prepare(problem, sw.methods.Start(np.zeros(D)), 0).algorithm
    core.settle()
    drawn = np.bincount(core.draw(20_000), minlength=D) / 20_000
    _, p = f.outcomes(np.zeros(D), PARTITIONS["two uneven"])
    assert np.abs(drawn - p).max() < 0.02
    (k,) = core.lead(1)
    np.testing.assert_allclose(core.point()[0], f.outcomes(np.zeros(D), PARTITIONS["two uneven"])[0][k], atol=1e-12)
