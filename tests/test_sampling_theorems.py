"""What Perekrestenko, Cevher and Jaggi (2017) prove, by enumeration of every draw on small problems: lemma 3.1, remark
3.2, theorems 3.3 and 3.7, and the bounds around (19). In their notation, and without the solver."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from southwell import reference


@dataclass(frozen=True, eq=False)
class Template:
    """O_A(alpha) = ||A alpha - b||^2 / (2 beta) + sum_i c_i u + lam |u| + (mu_i / 2) u^2 over lo <= u <= hi."""

    A: np.ndarray
    b: np.ndarray
    beta: float
    c: np.ndarray
    lam: float
    mu: np.ndarray
    lo: float
    hi: float

    @property
    def n(self):
        return self.A.shape[1]

    @cached_property
    def norms(self):
        return np.sum(self.A**2, axis=0)  # ||a_i||^2

    def g(self, u):
        return self.c * u + self.lam * np.abs(u) + self.mu / 2 * u**2

    def objective(self, alpha):
        return np.sum((self.A @ alpha - self.b) ** 2) / (2 * self.beta) + self.g(alpha).sum()

    def reading(self, alpha):
        return self.A.T @ (self.A @ alpha - self.b) / self.beta  # a_i'w, w = grad f(A alpha)

    def least(self, v, curvature):
        """argmin of -v u + (curvature / 2) u^2 + g(u), coordinate by coordinate; curvature + mu > 0."""
        v = v - self.c
        return np.clip(np.sign(v) * np.maximum(np.abs(v) - self.lam, 0) / (curvature + self.mu), self.lo, self.hi)

    def maximisers(self, v):
        """The ends of the subdifferential of g_i* at v_i; a v_i within rounding of a kink is at it."""
        firm = self.mu > 0
        strong = replace(self, mu=np.where(firm, self.mu, 1.0)).least(v, 0.0)
        v = v - self.c
        near = np.clip(0.0, self.lo, self.hi)
        e = 1e-12
        low = np.where(v > self.lam + e, self.hi, np.where(v > -self.lam + e, near, self.lo))
        high = np.where(v >= self.lam - e, self.hi, np.where(v >= -self.lam - e, near, self.lo))
        return np.where(firm, strong, low), np.where(firm, strong, high)

    def residuals(self, alpha):
        """|kappa_i|, definition 2.3."""
        low, high = self.maximisers(-self.reading(alpha))
        return np.maximum(np.maximum(low - alpha, alpha - high), 0.0)

    def gaps(self, alpha):
        """G_i, (4)."""
        z = self.reading(alpha)
        u = self.maximisers(-z)[0]
        return np.maximum(-z * u - self.g(u) + self.g(alpha) + alpha * z, 0.0)

    def moved(self, alpha):
        """The best value of each coordinate, the others fixed."""
        curvature = self.norms / self.beta
        return self.least(curvature * alpha - self.reading(alpha), curvature)

    def moves(self, alpha):
        """Where algorithm 1 arrives from alpha, for each coordinate that could be drawn."""
        to = self.moved(alpha)
        return [np.where(np.arange(self.n) == i, to, alpha) for i in range(self.n)]

    @cached_property
    def optimum(self):
        alpha = np.clip(np.zeros(self.n), self.lo, self.hi)
        for k in range(3000):
            alpha[k % self.n] = self.moved(alpha)[k % self.n]
            if k % self.n == 0 and self.gaps(alpha).sum() <= 1e-13:
                break
        assert self.gaps(alpha).sum() <= 1e-8
        return self.objective(alpha) - self.gaps(alpha).sum()


def template(kind, seed, n=3, d=4):
    rng = np.random.default_rng([seed, n])
    A, b = rng.normal(size=(d, n)) * rng.uniform(0.4, 1.6, n), rng.normal(size=d)
    zero, beta = np.zeros(n), rng.uniform(0.5, 2.0)
    return {
        "lasso": Template(A, b, beta, zero, 0.3, zero, -2.0, 2.0),
        "svm": Template(A, 0 * b, beta, -np.ones(n), 0.0, zero, 0.0, 1.0),  # -c: the linear conjugate of the hinge
        "elastic net": Template(A, b, beta, zero, 0.2, rng.uniform(0.1, 2.0, n), -np.inf, np.inf),
        "mixed": Template(A, b, beta, rng.normal(size=n), 0.1, np.where(np.arange(n) % 2, 0.7, 0.0), -1.5, 1.0),
    }[kind]


KINDS = ["lasso", "svm", "elastic net", "mixed"]
BOUNDED = ["lasso", "svm"]  # g_i* is Lipschitz


def expected(problem, alpha, p, value):
    return sum(p_i * value(to) for p_i, to in zip(p, problem.moves(alpha), strict=True) if p_i > 0)


def somewhere(problem, rng):
    return np.clip(np.where(rng.random(problem.n) < 0.3, 0.0, rng.normal(size=problem.n)), problem.lo, problem.hi)


@pytest.mark.parametrize("kind", KINDS)
def test_the_template_is_what_it_says(kind):
    """Moves minimise along a coordinate, and the gaps sum to O_A + O_B."""
    rng = np.random.default_rng(5)
    for seed in range(3):
        problem = template(kind, seed)
        alpha = somewhere(problem, rng)
        for i, to in enumerate(problem.moves(alpha)):
            for u in np.clip(to[i] + rng.normal(size=8), problem.lo, problem.hi):
                other = np.where(np.arange(problem.n) == i, u, alpha)
                assert problem.objective(other) >= problem.objective(to) - 1e-12
        assert problem.gaps(alpha).sum() >= problem.objective(alpha) - problem.optimum - 1e-10
        low, high = problem.maximisers(-problem.reading(alpha))
        assert ((problem.residuals(alpha) == 0) <= (problem.gaps(alpha) <= 1e-12)).all() and (low <= high).all()


@pytest.mark.parametrize("kind", KINDS)
def test_lemma_3_1(kind):
    """(5): for every distribution, and every s_i in [0, 1]."""
    rng = np.random.default_rng(31)
    for seed in range(40):
        problem = template(kind, seed, n=5)
        alpha, p, s = somewhere(problem, rng), rng.dirichlet(np.full(5, 0.5)), rng.choice([0.0, 1.0, rng.random()], 5)
        curved = problem.mu * (s - s**2) / 2 - s**2 * problem.norms / (2 * problem.beta)
        bound = problem.objective(alpha) - p @ (s * problem.gaps(alpha) + curved * problem.residuals(alpha) ** 2)
        assert expected(problem, alpha, p, problem.objective) <= bound + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_remark_3_2(kind):
    """(6): for every coherent distribution, and theta up to its least probability on the support set."""
    rng = np.random.default_rng(32)
    for seed in range(40):
        problem = template(kind, seed, n=5)
        alpha, kappa = (at := somewhere(problem, rng)), problem.residuals(at)
        if not (there := kappa > 0).any():
            continue
        p = np.where(there, rng.dirichlet(np.ones(5)), 0.0)
        p /= p.sum()
        theta = rng.random() * p[there].min()
        firm = problem.mu[there] * problem.beta
        F = (theta * (firm + problem.norms[there]) / p[there] - firm) @ kappa[there] ** 2 / (25 * problem.beta * theta)
        bound = problem.objective(alpha) - theta * problem.gaps(alpha).sum() + theta**2 * 25 / 2 * F
        assert expected(problem, alpha, p, problem.objective) <= bound + 1e-12


def distribution(problem, alpha, rule):
    kappa, gaps = problem.residuals(alpha), problem.gaps(alpha)
    if rule == "ada_gap":
        return reference.probabilities(rule, np.where(kappa > 0, gaps, 0.0))
    return reference.probabilities(rule, kappa * np.sqrt(problem.norms))


def enumerated(problem, rule, steps):
    """All states that can be reached, with their probabilities, step by step."""
    levels = [[(1.0, np.clip(np.zeros(problem.n), problem.lo, problem.hi))]]
    for _ in range(steps):
        after = []
        for weight, alpha in levels[-1]:
            p = distribution(problem, alpha, rule)
            after += [(weight * p_i, to) for p_i, to in zip(p, problem.moves(alpha), strict=True) if p_i > 0]
        levels.append(after)
    return levels


def mean(level, value):
    return sum(weight * value(alpha) for weight, alpha in level)


def of_uniform_theory(problem, levels, rule):
    """F of (8), the largest of its means, and the least probability in any support set that can be met."""
    least = 1.0
    for level in levels:
        for _, alpha in level:
            p, there = distribution(problem, alpha, rule), problem.residuals(alpha) > 0
            least = min([least, *p[there]])

    def F(alpha):
        p, kappa = distribution(problem, alpha, rule), problem.residuals(alpha)
        there = kappa > 0
        return kappa[there] ** 2 * problem.norms[there] @ (1 / p[there]) / (problem.n**2 * problem.beta)

    return max(mean(level, F) for level in levels), least


@pytest.mark.parametrize("rule", ["uniform", "support_set", "adaptive", "ada_uniform", "ada_gap"])
@pytest.mark.parametrize("kind", BOUNDED)
def test_theorem_3_3(kind, rule):
    """(9), and 1/p_min <= m / sigma of (18)."""
    for seed in range(2):
        problem = template(kind, seed)
        levels = enumerated(problem, rule, 4)
        F, least = of_uniform_theory(problem, levels, rule)
        n, first = problem.n, problem.objective(levels[0][0][1]) - problem.optimum
        for t, level in enumerate(levels):
            error = mean(level, problem.objective) - problem.optimum
            assert error <= (2 * F * n**2 + 2 * first / least) / (2 / least + t) + 1e-11
        assert rule != "ada_uniform" or 1 / least <= n / 0.5


def nonuniformity(x):
    p = x / x.sum()
    return np.sqrt(1 + x.size**2 * np.var(p))


def test_lemma_3_6():
    for x in (np.array([1.0, 2.0, 5.0]), np.ones(4), np.eye(6)[2]):
        assert np.linalg.norm(x) == pytest.approx(nonuniformity(x) / np.sqrt(x.size) * x.sum())


@pytest.mark.parametrize("kind", BOUNDED)
def test_theorem_3_7(kind):
    """(12) with F of (13), for sampling by gaps."""

    def F(alpha):
        gaps, parts = problem.gaps(alpha), problem.norms * problem.residuals(alpha) ** 2
        if not parts.any():
            return 0.0
        return nonuniformity(parts) / (problem.n * problem.beta * nonuniformity(gaps) ** 3) * parts.sum()

    for seed in range(3):
        problem = template(kind, seed)
        levels, n = enumerated(problem, "ada_gap", 5), problem.n
        first = problem.objective(levels[0][0][1]) - problem.optimum
        most = max(mean(level, F) for level in levels)
        for t, level in enumerate(levels):
            error = mean(level, problem.objective) - problem.optimum
            assert error <= (2 * most * n**2 + 2 * n * first) / (t + 2 * n) + 1e-11


# The gap in theorem 3.3. Thirty-six equal columns 1, uniform draws, f = (sum_i alpha_i - 6)^2 / 2, g_i = 0 on [0, 1]:
# a step sets alpha_i = 1 until the sum is 6. Then F <= 1, p_min = 1/36 and the initial error is 18.


def averaged_gap(T, T0=0):
    """E[G] at the mean of alpha^(T0), ..., alpha^(T-1), from the distribution of (their sum, the last one's ones)."""
    states = {(0, 0): 1.0}
    for t in range(T):
        after = {}
        for (total, ones), weight in states.items():
            total += ones if t >= T0 else 0
            chance = (36 - ones) / 36 if ones < 6 else 0.0
            for to, share in ((ones + 1, chance), (ones, 1 - chance)):
                after[total, to] = after.get((total, to), 0.0) + weight * share
        states = after
    sums = {}
    for (total, _), weight in states.items():
        sums[total / (T - T0)] = sums.get(total / (T - T0), 0.0) + weight
    # w = sum - 6 <= 0, so G_i = (1 - alpha_i) |w|
    return sum(weight * (36 - at) * (6 - at) for at, weight in sums.items())


def test_the_gap_of_theorem_3_3_needs_more_iterations_than_are_printed():
    problem = Template(np.ones((1, 36)), np.array([6.0]), 1.0, np.zeros(36), 0.0, np.zeros(36), 0.0, 1.0)
    alpha = np.zeros(36)
    for ones in range(7):
        kappa = problem.residuals(alpha)
        assert 36 * np.sum(kappa**2) / 36**2 <= 1  # F
        assert problem.gaps(alpha).sum() == pytest.approx((36 - ones) * (6 - ones))
        alpha = problem.moves(alpha)[ones]
    F, n, least, first, wanted = 1.0, 36, 1 / 36, 18.0, 170.0
    begin = max(0.0, np.log(2 * first / (n**2 * least * F)) / least)  # t_0 = 0
    assert begin == 0
    printed = begin + 5 * F * n**2 / wanted - 1 / least  # (10)
    assert 2 < printed < 3 and averaged_gap(3) > 175 > wanted
    mended = begin + max(0, 4 * F * n**2 / wanted - 2 / least) + max(1 / least, F * n**2 / wanted)
    assert mended == 36 and averaged_gap(36) < wanted
    for wanted in (100.0, 70.0):
        begins = begin + max(0, 4 * F * n**2 / wanted - 2 / least)
        ends = begins + max(1 / least, F * n**2 / wanted)
        assert averaged_gap(int(np.ceil(ends)), int(np.ceil(begins))) < wanted


# The mixture of (18)


def test_the_automatic_mixture_minimises_the_bound():
    """(19), as a function of sigma; F_ada n^2 <= (2 sum_i L_i ||a_i||)^2 / beta by lemma 2.7, the initial error is at
    most the gap, and m at most the number of coordinates that can move."""
    reach, bracket, smoothness = np.array([0.3, 2.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.0, 1.5]), 4.0
    sigma = reference.automatic_mix(reach, bracket, smoothness)
    F, error, m = smoothness * (2 * reach.sum()) ** 2, bracket.sum(), 3

    def bound(sigma):
        return F / (1 - sigma) + error * m / sigma

    grid = np.linspace(0.001, 0.999, 999)
    assert 0 < sigma < 1 and bound(sigma) <= bound(grid).min()
    assert abs(grid[bound(grid).argmin()] - sigma) < 0.001
    assert reference.automatic_mix(np.zeros(3), np.zeros(3), 1.0) == 1.0  # nothing can move: uniform
    assert reference.automatic_mix(reach, 0 * bracket, 1.0) == 0.0


@pytest.mark.parametrize("kind", BOUNDED)
def test_what_the_automatic_mixture_bounds(kind):
    rng = np.random.default_rng(19)
    for seed in range(10):
        problem = template(kind, seed, n=5)
        alpha = somewhere(problem, rng)
        kappa, L = problem.residuals(alpha), max(abs(problem.lo), abs(problem.hi))
        assert (kappa <= 2 * L).all()  # lemma 2.7
        reach = L * np.sqrt(problem.norms)
        p = distribution(problem, alpha, "adaptive")
        there = kappa > 0
        F = kappa[there] ** 2 * problem.norms[there] @ (1 / p[there]) / problem.beta if there.any() else 0.0
        assert (2 * reach.sum()) ** 2 / problem.beta >= F
        assert problem.objective(alpha) - problem.optimum <= problem.gaps(alpha).sum() + 1e-10
