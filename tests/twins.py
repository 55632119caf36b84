"""A problem as the compiled core and as its slow twin in NumPy see it, and both led through the same moves."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2

import southwell as sw
from southwell import reference, rules
from southwell.methods import AcceleratedCD, CoordinateDescent, Start
from southwell.methods.side import firmness
from southwell.penalties import ElasticNet

LOSSES = list(sw.losses.ALL)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "centred": lambda A: sw.Centred(sp.csc_array(A))}
N, D = 80, 60


def forms(loss):
    """All of them for three losses; for the others, which share their code, one."""
    return FORMS if loss in ("squared", "logistic", "hinge") else ("sparse",)


PENALTIES = {
    "elastic net": ElasticNet(l1=0.01, l2=0.005),
    "l1": ElasticNet(l1=0.01),
    "l2": ElasticNet(l2=0.005),
    "box": ElasticNet(l1=0.005, l2=0.002, lower=-1.5, upper=2.0),
    "weights": ElasticNet(l1=0.01, l2=0.005, weights=np.linspace(0.3, 3.0, D)),
    "partly free": ElasticNet(l1=0.01, weights=np.where(np.arange(D) % 7 == 0, 0.0, 1.0)),
}


def data(loss, seed=0, n=N, d=D, density=0.08):
    """Uneven columns so thin that most fibers do not meet, none of them empty; targets of a sparse model; weights."""
    loss = sw.losses.get(loss)
    rng = np.random.default_rng([seed, n, d])
    A = rng.normal(size=(n, d)) * rng.uniform(0.3, 2.0, d) * (rng.random((n, d)) < density)
    A[rng.integers(0, n, d), np.arange(d)] = rng.normal(size=d)
    A[np.arange(n), rng.integers(0, d, n)] = rng.normal(size=n)
    m = A @ np.where(rng.random(d) < 0.5, 2 * rng.normal(size=d), 0.0) + 0.5 * rng.normal(size=n)
    means = np.exp(np.clip(m, -3, 2))
    b = {"real": m, "signs": np.where(m > 0, 1.0, -1.0), "counts": np.round(means), "positive": means}[loss.targets]
    return A, b, loss, rng.uniform(0.2, 2.0, n)


def problem_of(loss, penalty, form="dense", intercept=False, **options):
    A, b, loss, s = data(loss, **options)
    penalty = PENALTIES[penalty] if isinstance(penalty, str) else penalty
    return sw.Problem(FORMS[form](A), b, loss, penalty, sample_weight=s, intercept=intercept)


class Formulas:
    """The reference on one side of a problem, at the point ``at``: x, or y on the dual side."""

    def __init__(self, problem, side, start=None):
        self.problem, self.primal = problem, side == "primal"
        stored = problem.data.rows.toarray() if problem.data.sparse else problem.data.rows.astype(float)
        shifts = np.zeros(problem.n_features) if problem.shifts is None else problem.shifts
        ones = np.ones((problem.n_samples, int(problem.intercept)))
        self.A = np.hstack([stored + shifts, ones])
        self.b, self.s, self.loss = problem.targets, problem.weights, problem.loss
        self.net = reference.ElasticNet.of(problem.penalty, problem.n_features, problem.intercept)
        used = self.s > 0
        parts = np.append(np.abs(stored[used]).max(axis=0) + np.abs(shifts), ones[0])  # the core's bound on entries
        self.reach = parts if problem.data.sparse else np.abs(self.A[used]).max(axis=0)
        x = np.clip(np.zeros(self.A.shape[1]) if start is None else start, self.net.lo, self.net.hi)
        self.level = reference.level(*self.parts, x)
        self.mu, self.centre = np.zeros(x.size), x
        self.at = x if self.primal else np.zeros(self.b.size)

    @property
    def parts(self):
        return self.A, self.b, self.s, self.loss, self.net

    def scores(self, kind):
        if self.primal:
            return reference.primal_scores(kind, *self.parts, self.at, self.level)
        return reference.dual_scores(kind, *self.parts, self.at, self.mu, self.centre)

    def image(self):
        """What fibers are multiplied with: s o phi'(A x), or x."""
        if self.primal:
            return self.s * self.loss.derivative(self.A @ self.at, self.b)
        strong = reference.ElasticNet(self.net.l1, self.net.l2 + self.mu, self.net.lo, self.net.hi)
        return strong.conjugate_gradient(self.mu * self.centre - self.A.T @ (self.s * self.at))

    def move(self, order):
        """Move these coordinates, one after the other."""
        if self.primal:
            M = self.loss.self_concordance
            self.at = reference.primal_coordinate_descent(*self.parts, order, self.at, M, M * self.reach)
        elif not self.mu.any():
            self.at = reference.dual_coordinate_ascent(*self.parts, order, self.at)[0]
        else:  # the twin knows no proximal term
            q = self.s * (self.A**2 @ (1 / (self.net.l2 + self.mu)))
            for i in order:
                self.at[i] = self.loss.maximise(self.A[i] @ self.image(), self.at[i], q[i], self.b[i])


class Twins(Formulas):
    """Those formulas, and a compiled algorithm settled at the same point."""

    def __init__(self, problem, side, rule, coupling="mirror", seed=0, start=None):
        super().__init__(problem, side, start)
        method = CoordinateDescent(side, rule, coupling, shrinking=False, proximal=False)
        self.core = method.prepare(problem, Start(self.centre), seed).algorithm
        self.core.settle()
        self.at = self.stands()
        if not self.primal:
            anchored = problem.penalty.l2 == 0 or not self.net.l2[: problem.n_features].all()
            firm, intercept = firmness(problem, anchored)
            self.mu = np.maximum(firm - self.net.l2, 0.0)
            if problem.intercept:  # its anchor went where its own problem put it
                self.mu[-1] = intercept
                self.centre = np.append(self.centre[:-1], self.core.point()[0][-1])

    def stands(self):
        return np.array(self.core.point()[0 if self.primal else 1])

    def lead(self, moves):
        """Both move; who moved."""
        led = self.core.lead(moves)
        self.move(led)
        return led

    def agree(self):
        """The core stands where the reference does; an intercept it shows where its own problem would put it."""
        apart = np.abs(self.stands() - self.at)
        assert apart[: self.problem.n_features if self.primal else None].max() <= 1e-9


class Pair(Formulas):
    """The reference, and the compiled algorithm without restarts, at the same point; then both led on together."""

    def __init__(self, problem, side, rule, coupling="mirror", seed=0, start=None, **options):
        super().__init__(problem, side, start)
        method = AcceleratedCD(side, rule, coupling, restart=False, **options)
        self.options = options
        self.core = method.prepare(problem, Start(self.centre), seed).algorithm
        self.core.settle()
        self.start = self.stands()
        self.rule, self.moves = rules.get(rule), []

    def stands(self):
        return np.array(self.core.point()[0 if self.primal else 1])

    def lead(self, steps):
        for j1, j2 in np.reshape(self.core.lead(steps), (-1, 2)):
            if isinstance(self.rule, rules.Uniform):
                assert j1 == j2
                self.moves.append((j1, None))
            else:  # greedy: the twin looks at all; hybrid: j1 must be as steep as j2, one of the candidates
                self.moves.append((range(self.start.size) if isinstance(self.rule, rules.Greedy) else (j1, j2), j2))

    def twin(self):
        """x, z and theta after all moves so far."""
        run = reference.accelerated_primal if self.primal else reference.accelerated_dual
        theta0 = self.options.get("theta0") or 1 / self.start.size
        options = {"scaled": self.options.get("compare") != "gradient"}
        if self.primal:
            options["largest"] = self.options.get("curvature") == "largest"
        return run(*self.parts, self.moves, theta0, self.start, **options)

    def agree(self):
        """An intercept is shown where its own problem would put it."""
        apart = np.abs(self.stands() - self.twin()[0])
        assert apart[: self.problem.n_features if self.primal else None].max() <= 1e-9


def chance(drawn, p):
    """Pearson's chi-square: how likely draws from p look at least so unlike p. Cells that expect fewer than 5 are
    pooled; what has no chance must not be drawn."""
    counts = np.bincount(drawn, minlength=p.size)
    assert counts.size == p.size, "a coordinate that is not there"
    assert not counts[p == 0].any(), f"drawn without a chance: {np.flatnonzero((p == 0) & (counts > 0))}"
    order = np.argsort(p)
    want, got = len(drawn) * p[order] / p.sum(), counts[order]
    pooled = max(np.count_nonzero(want < 5), np.count_nonzero(np.cumsum(want) < 5) + 1)
    cells = np.append(0, np.arange(pooled, p.size))
    want, got = np.add.reduceat(want, cells), np.add.reduceat(got, cells)
    return chi2.sf(((got - want) ** 2 / want).sum(), want.size - 1) if want.size > 1 else 1.0


def exact_index(problem, side, at, seed, breadth, links):
    """In the place of hnswlib's: the very coordinates at zero with the largest scores, by the reference."""
    formulas = Formulas(problem, side)
    net = reference.ElasticNet.of(problem.penalty, problem.n_features)
    if side == "primal":
        fibers, ends = formulas.A[:, : problem.n_features].T, reference.zero_interval_primal(net)
    else:
        fibers, ends = formulas.A, reference.zero_interval_dual(problem.loss, problem.targets)

    def find(image, number, apart):
        return reference.search(fibers, at.weights, *ends, image, number, apart[apart < len(fibers)])

    return find
