"""Problems that are solved on each side, their results held against each other.

The test of a certificate needs no other solver: the dual value of any solve is at most the objective of any other.
"""

import itertools
import warnings

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell import ConvergenceWarning

CD = sw.methods.CoordinateDescent
ElasticNet = sw.penalties.ElasticNet
LOSSES = sorted(sw.losses.ALL)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
MARGIN = [name for name in LOSSES if sw.losses.get(name).targets == "signs"]


def softplus(m):
    return np.maximum(m, 0) + np.log1p(np.exp(-np.abs(m)))


VALUES = {
    "squared": lambda m, b: (m - b) ** 2 / 2,
    "logistic": lambda m, b: softplus(-b * m),
    "hinge": lambda m, b: np.maximum(1 - b * m, 0),
    "squared_hinge": lambda m, b: np.maximum(1 - b * m, 0) ** 2 / 2,
    "smooth_hinge": lambda m, b: np.where(b * m < 0, 0.5 - b * m, np.maximum(1 - b * m, 0) ** 2 / 2),
    "huber": lambda m, b: np.where(np.abs(m - b) <= 1, (m - b) ** 2 / 2, np.abs(m - b) - 0.5),
    "quantile": lambda m, b: np.abs(m - b) / 2,
    "epsilon_insensitive": lambda m, b: np.maximum(np.abs(m - b) - 0.1, 0),
    "squared_epsilon_insensitive": lambda m, b: np.maximum(np.abs(m - b) - 0.1, 0) ** 2 / 2,
    "poisson": lambda m, b: np.exp(np.minimum(m, 600)) - b * m,
    "modified_huber": lambda m, b: np.where(b * m < -1, -4 * b * m, np.maximum(1 - b * m, 0) ** 2),
    "gamma": lambda m, b: m + b * np.exp(np.minimum(-m, 600)),
    "tweedie": lambda m, b: 2 * np.exp(np.minimum(m / 2, 600)) + 2 * b * np.exp(np.minimum(-m / 2, 600)),
    "negative_binomial": lambda m, b: (b + 1) * softplus(m) - b * m,
}


def made(n=40, d=10, seed=0, loss="squared", spread=1.0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    m = spread * (A @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + 0.5 * rng.standard_normal(n) + 0.3)
    kind = sw.losses.get(loss).targets
    if kind == "signs":
        return A, np.where(m >= 0, 1.0, -1.0)
    if kind in ("counts", "positive"):
        m = rng.poisson(np.exp(np.clip(0.3 * m, -3, 3))) + (0.5 if kind == "positive" else 0.0)
    return A, m


def mixed(b, first, loss):
    """These targets, the first ones of which no longer belong to their samples."""
    others = -b[:first] if sw.losses.get(loss).targets in ("real", "signs") else b[:first][::-1]
    return np.concatenate([others, b[first:]])


def objective(A, b, loss, penalty, r, sample_weight=None):
    """P at the result, from scratch."""
    A = A.toarray() if sp.issparse(A) else np.asarray(A, float)
    s = np.ones(len(b)) if sample_weight is None else np.asarray(sample_weight, float)
    w = 1.0 if penalty.weights is None else penalty.weights
    value = (s / s.sum()) @ VALUES[loss](A @ r.x + r.intercept, np.asarray(b, float))
    return value + np.sum(w * (penalty.l1 * np.abs(r.x) + penalty.l2 / 2 * r.x**2))


def check(A, b, loss="squared", penalty=None, *, intercept=False, sample_weight=None, tols=(1e-6, 1e-10),
          converges=True, sides=("primal", "dual"), epochs=20_000, noise=1e-12, **options):  # fmt: skip
    """Solve on each side that can, and hold the results against each other. Returns the most exact one."""
    penalty = ElasticNet(0.01, 0.01) if penalty is None else penalty
    problem = sw.Problem(A, b, loss, penalty, intercept=intercept, sample_weight=sample_weight)
    sides = [s for s in sides if not (s == "primal" and not problem.loss.smooth)]
    sides = [s for s in sides if not (s == "dual" and penalty.l1 == 0 == penalty.l2)]
    assert sides
    epochs = epochs if problem.loss.smooth else 10 * epochs  # kinks are identified one by one
    results, limit = [], 300 if converges else 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for side, tol in itertools.product(sides, tols):
            r = sw.solve(problem, method=CD(side=side), tol=tol, max_epochs=epochs, max_seconds=limit, **options)
            results.append(r)
    for r in results:
        size = abs(r.primal) + abs(r.dual)
        assert np.isfinite(r.x).all() and np.isfinite(r.y).all() and np.isfinite(r.intercept), r
        assert np.isfinite([r.primal, r.dual, r.gap, r.scale]).all(), r
        assert r.gap >= 0, r
        assert abs(r.gap - (r.primal - r.dual)) <= 1e-12 * size, r
        lower = -np.inf if penalty.lower is None else penalty.lower
        upper = np.inf if penalty.upper is None else penalty.upper
        assert (r.x >= lower).all() and (r.x <= upper).all(), r
        again = objective(A, b, loss, penalty, r, sample_weight)
        np.testing.assert_allclose(r.primal, again, rtol=1e-9, atol=1e-13 * r.scale, err_msg=repr(r))
        assert r.status is not sw.Status.DIVERGED, r
        if r.gap <= r.tol * r.scale:
            assert r.status is sw.Status.CONVERGED, r
        if converges:  # as far as rounding lets it
            assert r.status in (sw.Status.CONVERGED, sw.Status.PRECISION), r
    best = min(results, key=lambda r: r.primal)
    for r in results:  # weak duality, across solves
        slack = noise * (abs(best.primal) + abs(r.dual)) + 1e-300
        assert r.dual <= best.primal + slack, (r, best)
        assert r.gap >= r.primal - best.primal - slack, (r, best)
    return best


def optimum(A, b, l1, *, loss, **options):
    penalty = ElasticNet(l1, **{k: options.pop(k) for k in ("l2", "weights") if k in options})
    method = CD(side="primal") if sw.losses.get(loss).smooth else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sw.solve(A, b, loss=loss, penalty=penalty, tol=1e-12, max_epochs=20_000, method=method, **options)
