"""Lemma 3.1 and theorems 3.3 and 3.7 of Perekrestenko, Cevher and Jaggi 2017, by enumeration of all draws.

Both the Lasso and the dual SVM are  min f(A alpha) + sum_i g_i(alpha_i)  with

    f(v) = ||v - y||^2 / (2 beta),     g_i(a) = c_i a + l1 |a| + (mu/2) a^2  on  [lo_i, hi_i],

and f is quadratic along a coordinate, so that the proximal step of algorithm 1, line 4, is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bench import Bench
from ..findings import Findings, Table

ROUNDING = 1e-12  # a subgradient at a kink up to this is at the kink


@dataclass
class Template:
    """A small problem. Points are rows of an array ``at``; every method takes many of them at once."""

    A: np.ndarray
    y: np.ndarray
    beta: float
    c: np.ndarray
    l1: float
    mu: float
    lo: np.ndarray
    hi: np.ndarray

    def __post_init__(self) -> None:
        self.n = self.A.shape[1]
        self.squares = np.sum(self.A**2, axis=0)
        self.least = float(self.value(self._descend())[0])

    def g(self, at: np.ndarray) -> np.ndarray:
        return np.asarray(self.c * at + self.l1 * np.abs(at) + self.mu / 2 * at**2)

    def value(self, at: np.ndarray) -> np.ndarray:
        """O_A."""
        residual = at @ self.A.T - self.y
        return np.asarray(np.sum(residual**2, axis=1) / (2 * self.beta) + self.g(at).sum(axis=1))

    def slopes(self, at: np.ndarray) -> np.ndarray:
        """a_i'w with w = grad f(A alpha)."""
        return np.asarray((at @ self.A.T - self.y) @ self.A / self.beta)

    def moved(self, at: np.ndarray, i: int) -> np.ndarray:
        """All points after the best move of coordinate i."""
        L = self.squares[i] / self.beta
        v = at[:, i] - (self.slopes(at)[:, i] + self.c[i]) / L
        after = at.copy()
        shrunk = np.sign(v) * np.maximum(np.abs(v) - self.l1 / L, 0.0) / (1 + self.mu / L)
        after[:, i] = np.clip(shrunk, self.lo[i], self.hi[i])
        return after

    def scores(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gaps G_i of (4) and the dual residuals kappa_i of definition 2.3."""
        z = self.slopes(at)
        u = -z - self.c
        beyond = np.sign(u) * np.maximum(np.abs(u) - self.l1, 0.0)
        if self.mu > 0:
            low = high = np.clip(beyond / self.mu, self.lo, self.hi)
        else:
            kink = ROUNDING * (1 + self.l1 + np.abs(self.c))
            low = np.where(u - self.l1 > kink, self.hi, np.where(u + self.l1 > kink, 0.0, self.lo))
            high = np.where(u + self.l1 < -kink, self.lo, np.where(u - self.l1 < -kink, 0.0, self.hi))
        conjugate = -z * low - self.g(low)
        gaps = np.maximum(conjugate + self.g(at) + at * z, 0.0)
        return gaps, np.maximum(np.maximum(low - at, at - high), 0.0)

    def _descend(self) -> np.ndarray:
        """An optimum: coordinates in turn, until none moves."""
        at = np.zeros((1, self.n))
        for _ in range(4000):
            before = at
            for i in range(self.n):
                at = self.moved(at, i)
            if np.max(np.abs(at - before)) <= 1e-15 * np.max(np.abs(at), initial=1.0):
                break
        return at


def example(kind: str, seed: int, n: int = 4, d: int = 5) -> Template:
    """A random problem, whose columns differ in length."""
    rng = np.random.default_rng(seed)
    A, free = rng.normal(size=(d, n)) * rng.uniform(0.2, 2.0, n), np.full(n, np.inf)
    if kind == "SVM":  # (22): alpha_i b_i in [0, 1], g_i = -alpha_i b_i / n
        l2, b = 0.1, np.where(rng.random(n) < 0.5, 1.0, -1.0)
        return Template(A, np.zeros(d), l2 * n**2, -b / n, 0.0, 0.0, np.minimum(b, 0.0), np.maximum(b, 0.0))
    y = rng.normal(size=d) + A @ rng.normal(size=n)
    if kind == "ridge":
        return Template(A, y, 1.0, np.zeros(n), 0.0, 0.5, -free, free)
    l1 = 0.3 * float(np.max(np.abs(A.T @ y)))
    mu = 0.5 if kind == "elastic net" else 0.0
    B = np.full(n, y @ y / 2 / l1) if mu == 0 else free  # section 4.1
    return Template(A, y, 1.0, np.zeros(n), l1, mu, -B, B)


def lemma(problem: Template, seed: int, points: int = 40) -> float:
    """The largest excess of the left side of (5) over the right, over O_A: for random points and distributions, with
    random s and with the s that makes the right side least."""
    rng = np.random.default_rng(seed)
    wide = np.where(np.isfinite(problem.hi), np.minimum(problem.hi, 2.0), 2.0)
    deep = np.where(np.isfinite(problem.lo), np.maximum(problem.lo, -2.0), -2.0)
    at = deep + (wide - deep) * rng.random((points, problem.n))
    p = rng.dirichlet(np.full(problem.n, 0.5), points)
    now, (gaps, kappa) = problem.value(at), problem.scores(at)
    after = np.stack([problem.value(problem.moved(at, i)) for i in range(problem.n)], axis=1)
    curvature = problem.mu + problem.squares / problem.beta
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(kappa > 0, (gaps + problem.mu / 2 * kappa**2) / (curvature * kappa**2), 1.0)
    worst = -np.inf
    for s in (rng.random(kappa.shape), np.clip(best, 0.0, 1.0)):
        gained = s * gaps + (problem.mu * (s - s**2) / 2 - s**2 * problem.squares / (2 * problem.beta)) * kappa**2
        worst = max(worst, float(np.max((np.sum(p * after, axis=1) - now + np.sum(p * gained, axis=1)) / np.abs(now))))
    return worst


def chances(rule: str, problem: Template, gaps: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    """The distribution of the next draw at each point: section 3.4 of the paper. Uniform where all scores are 0."""
    size = np.sqrt(problem.squares)
    support = (kappa > 0).astype(float)
    shares = {
        "uniform": np.ones_like(kappa),
        "importance": np.ones_like(kappa) * np.maximum(np.abs(problem.lo), np.abs(problem.hi)) * size,
        "support_set": support,
        "adaptive": kappa * size,
        "ada_gap": gaps,
    }

    def normal(share: np.ndarray) -> np.ndarray:
        total = share.sum(axis=1, keepdims=True)
        return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1 / problem.n)

    if rule == "ada_uniform":
        return np.asarray((normal(support) + normal(shares["adaptive"])) / 2)
    return normal(shares[rule])


def spread(scores: np.ndarray) -> np.ndarray:
    """chi of definition 3.5, by lemma 3.6."""
    total = scores.sum(axis=1)
    length = np.sqrt(np.sum(scores**2, axis=1))
    return np.where(total > 0, np.sqrt(scores.shape[1]) * length / np.where(total > 0, total, 1.0), 1.0)


def rate(problem: Template, rule: str, steps: int) -> float:
    """The largest ratio of E[O_A - O_A*] to the bound, (9) or for "ada_gap" (12), over all steps.

    All sequences of draws are followed, each with its probability. The constants are the least that the theorem allows:
    F is the largest mean so far, p_min the smallest probability of a coordinate in the support set.
    """
    n, at, chance = problem.n, np.zeros((1, problem.n)), np.ones(1)
    first, F, least, worst = 0.0, 0.0, 1.0, 0.0
    for t in range(steps + 1):
        error = float(chance @ (problem.value(at) - problem.least))
        gaps, kappa = problem.scores(at)
        p = chances(rule, problem, gaps, kappa)
        sizes = problem.squares * kappa**2
        if t == 0:
            first = error
        elif rule == "ada_gap":
            worst = max(worst, error / ((2 * F * n**2 + 2 * n * first) / (t + 2 * n)))
        else:
            worst = max(worst, error / ((2 * F * n**2 + 2 * first / least) / (2 / least + t)))
        if rule == "ada_gap":  # (13)
            now = spread(sizes) / (n * problem.beta * spread(gaps) ** 3) * sizes.sum(axis=1)
        else:  # (8)
            now = np.sum(np.where(sizes > 0, sizes / np.where(p > 0, p, 1.0), 0.0), axis=1) / (n**2 * problem.beta)
            least = min(least, float(np.min(np.where(kappa > 0, p, 1.0))))
        F = max(F, float(chance @ now))
        parts = [(problem.moved(at, i), chance * p[:, i]) for i in range(n)]
        at, chance = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        at, chance = at[chance > 0], chance[chance > 0]
    return worst


def mean_gap(iterates: int) -> float:
    """E[G] at the mean of the first iterates of a problem that refutes (10): 36 equal columns 1, f = (sum - 6)^2 / 2,
    g_i = 0 on [0, 1], uniform draws from zero.

    A draw of a coordinate at 0 sets it to 1, until the sum is 6. The states are (the sum over the iterates, the ones of
    the latest); G_i = (1 - alpha_i) (6 - sum).
    """
    states = {(0, 0): 1.0}
    for _ in range(iterates):
        after: dict[tuple[int, int], float] = {}
        for (total, ones), share in states.items():
            chance = (36 - ones) / 36 if ones < 6 else 0.0
            for now, part in ((ones + 1, chance), (ones, 1 - chance)):
                after[total + ones, now] = after.get((total + ones, now), 0.0) + share * part
        states = after
    return sum(share * (36 - total / iterates) * (6 - total / iterates) for (total, _), share in states.items())


def counter_example() -> dict[str, float]:
    """The gap after the iterations that (10) asks for, and after those of the mended bound, where F = 1."""
    n, least, first, wanted = 36, 1 / 36, 18.0, 170.0
    begin = max(0.0, float(np.log(2 * first / (n**2 * least))) / least)
    printed = begin + 5 * n**2 / wanted - 1 / least
    mended = begin + max(0.0, 4 * n**2 / wanted - 2 / least) + max(1 / least, n**2 / wanted)
    counts = {name: int(np.ceil(bound)) for name, bound in (("printed", printed), ("mended", mended))}
    gaps = {f"gap, {name}": mean_gap(many) for name, many in counts.items()}
    return {"wanted": wanted, **counts, **gaps}


def by_enumeration(bench: Bench) -> Findings:
    """The largest excess in lemma 3.1, the largest ratio of error to bound in theorems 3.3 and 3.7, and the gap of a
    problem that refutes (10)."""
    seeds = range(bench.seed, bench.seed + bench.pick(40, 8))
    steps = bench.pick(6, 5)
    excess, rows = {}, []
    for kind in ("Lasso", "SVM", "ridge", "elastic net"):
        bench.say(f"lemma 3.1, {kind}")
        excess[kind] = max(lemma(example(kind, seed), seed) for seed in seeds)
    ratios: dict[str, float] = {}
    for kind in ("Lasso", "SVM"):
        examples = [example(kind, seed) for seed in seeds]
        for rule in ("uniform", "importance", "support_set", "adaptive", "ada_uniform", "ada_gap"):
            bench.say(f"all draws, {kind}, {rule}")
            found = max(rate(problem, rule, steps) for problem in examples)
            theorem = "3.7" if rule == "ada_gap" else "3.3"
            ratios[theorem] = max(ratios.get(theorem, 0.0), found)
            rows.append({"problem": kind, "rule": rule, "theorem": theorem, "error / bound, at most": found})
    table = Table(f"All draws of the first {steps} moves, 4 coordinates, {len(seeds)} random problems each", rows)
    numbers = {"excess": excess, "ratios": ratios, "problems": len(seeds), "steps": steps, "(10)": counter_example()}
    return Findings(tables=(table,), numbers=numbers)
