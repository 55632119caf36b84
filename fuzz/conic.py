"""The same problem for cvxpy with Clarabel, an interior-point solver that shares no code with this library.

Only its solution is used, not its objective value: the oracle evaluates the objective there.
"""

from __future__ import annotations

import warnings

import numpy as np

from .statement import Statement

try:
    import cvxpy as cp
except ImportError:  # run.py reports it as skipped
    cp = None


def able(s: Statement) -> bool:
    """Whether the problem is small, of moderate scale, and its loss has a conic form."""
    entries = np.concatenate([factor.ravel() for factor in s.factors])
    largest = float(np.abs(entries).max())
    moderate = 1e-6 < largest < 1e6 and s.penalty.l1 < 1e6 and s.penalty.l2 < 1e6
    modest = s.b.dtype.kind != "f" or float(np.abs(s.b).max()) < 1e4
    return cp is not None and s.shape[0] * s.shape[1] * s.width <= 2000 and moderate and modest and (
        s.loss.name != "multiclass_hinge")  # fmt: skip


def solve(s: Statement) -> tuple[np.ndarray, np.ndarray] | None:
    """Coefficients and intercept, moved into their bounds; None if Clarabel gave none."""
    n, d = s.shape
    A = np.linalg.multi_dot([f.astype(float) for f in s.factors]) if len(s.factors) > 1 else s.factors[0].astype(float)
    weights = np.ones(n) if s.weights is None else s.weights
    weights = weights / weights.sum()
    if s.centred:
        A = A - (weights @ A if s.means is None else s.means)
    x, c = cp.Variable((d, s.width)), cp.Variable((1, s.width))
    used = weights > 0
    margins = A[used] @ x + (np.ones((int(used.sum()), 1)) @ c if s.intercept else 0)
    objective = weights[used] @ _loss(s, margins, s.b[used])
    objective += _penalty(s, x)
    bounds = [x >= b[:, None] if low else x <= b[:, None] for low, b in _finite_bounds(s)]
    problem = cp.Problem(cp.Minimize(objective), bounds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.CLARABEL, time_limit=5.0)
    except Exception:  # a failure of Clarabel is no finding about this library
        return None
    if x.value is None or (s.intercept and c.value is None):
        return None
    lower = -np.inf if s.penalty.lower is None else s.penalty.lower[:, None]
    upper = np.inf if s.penalty.upper is None else s.penalty.upper[:, None]
    return np.clip(x.value, lower, upper), (c.value.ravel() if s.intercept else np.zeros(s.width))


def _finite_bounds(s: Statement):
    for low, bound in ((True, s.penalty.lower), (False, s.penalty.upper)):
        if bound is not None:
            yield low, np.clip(bound, -1e9, 1e9)


def _loss(s: Statement, m, b):
    """A number for each row."""
    loss, name = s.loss, s.loss.name
    if name == "softmax":
        own = np.zeros((b.size, s.width))
        own[np.arange(b.size), b] = 1.0
        return cp.log_sum_exp(m, axis=1) - cp.sum(cp.multiply(own, m), axis=1)
    b = b.reshape(b.shape[0], -1)
    r = m - b
    forward = 1 - cp.multiply(b, m)
    each = {
        "squared": lambda: cp.square(r) / 2,
        "logistic": lambda: cp.logistic(-cp.multiply(b, m)),
        "hinge": lambda: cp.pos(forward),
        "squared_hinge": lambda: cp.square(cp.pos(forward)) / 2,
        "smooth_hinge": lambda: loss.corner * cp.huber(cp.pos(forward) / loss.corner, 1) / 2,
        "huber": lambda: cp.huber(r, loss.delta) / 2,
        "quantile": lambda: cp.maximum(-loss.q * r, (1 - loss.q) * r),
        "epsilon_insensitive": lambda: cp.pos(cp.abs(r) - loss.epsilon),
        "squared_epsilon_insensitive": lambda: cp.square(cp.pos(cp.abs(r) - loss.epsilon)) / 2,
        "poisson": lambda: cp.exp(m) - cp.multiply(b, m),
        "modified_huber": lambda: 2 * cp.huber(cp.pos(forward) / 2, 1),
        "gamma": lambda: m + cp.multiply(b, cp.exp(-m)),
        "tweedie": lambda: (
            cp.exp((2 - loss.power) * m) / (2 - loss.power)
            + cp.multiply(b, cp.exp((1 - loss.power) * m)) / (loss.power - 1)
        ),
        "negative_binomial": lambda: (
            cp.multiply(b + loss.theta, cp.logistic(m - np.log(loss.theta))) - cp.multiply(b, m)
        ),
    }[name]()
    return cp.sum(each, axis=1)


def _penalty(s: Statement, x):
    p, d = s.penalty, s.shape[1]
    if p.groups is None:
        weights = np.ones(d) if p.weights is None else p.weights
        ridges = weights if p.ridge_weights is None else p.ridge_weights
        weights, ridges = (own[:, None] * np.ones((1, s.width)) for own in (weights, ridges))
        return p.l1 * cp.sum(cp.multiply(weights, cp.abs(x))) + p.l2 / 2 * cp.sum(cp.multiply(ridges, cp.square(x)))
    group_of = np.unique(p.groups, return_inverse=True)[1].reshape(-1)
    weights = np.ones(group_of.max() + 1) if p.weights is None else p.weights
    norm = {"euclidean": lambda own: cp.norm(own, "fro"), "maximum": lambda own: cp.max(cp.abs(own))}[p.norm]
    norms = [weights[g] * norm(x[np.flatnonzero(group_of == g), :]) for g in range(weights.size)]
    return p.strength * cp.sum(cp.hstack(norms)) + p.l1 * cp.sum(cp.abs(x)) + p.l2 / 2 * cp.sum_squares(x)
