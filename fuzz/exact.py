"""P and D of a statement in extended precision, from their formulas, and bounds of the error of float64.

    P(x) = sum_i s_i phi_i(m_i) + g(x)              m = A x + c
    D(y) = - sum_i s_i phi_i*(y_i) - g*(-z)         z = A'(s o y)

Nothing of the library is used. ``np.longdouble`` must be wider than float64 (x86: 64 bits, and exponents to 4932), so
that its own rounding is negligible. The allowance is a first-order bound on the rounding error of a careful float64
evaluation: the error that a certificate may have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .statement import Statement

Wide = np.longdouble
EPS = np.finfo(np.float64).eps
TINY = 1e-305  # below it, numbers are denormal and relative bounds do not hold
WIDE_ENOUGH = np.finfo(Wide).nmant > 60


@dataclass(frozen=True)
class Value:
    """A value in extended precision, and a bound of the error of float64."""

    value: Wide
    allowance: Wide


class Exact:
    """The numbers of a statement in extended precision."""

    def __init__(self, s: Statement):
        self.s = s
        factors = [factor.astype(Wide) for factor in s.factors]
        self.A, self.size = factors[0], np.abs(factors[0])  # size: the absolute values of the terms of an entry
        if len(factors) == 2:
            self.A, self.size = factors[0] @ factors[1], np.abs(factors[0]) @ np.abs(factors[1])
        n = s.shape[0]
        weights = np.ones(n, Wide) if s.weights is None else s.weights.astype(Wide)
        self.weights = weights / weights.sum()
        if s.centred:
            means = self.weights @ self.A if s.means is None else s.means.astype(Wide)
            spread = self.weights @ np.abs(self.A) if s.means is None else np.abs(means)
            self.A, self.size = self.A - means, self.size + spread
        if s.intercept:  # the solver may centre columns, and then the means enter the intercept
            self.size = self.size + self.weights @ self.size
        self.n, self.d = s.shape

    def primal(self, x: np.ndarray, c) -> Value:
        """P(x), for x of shape (d,) or (d, width)."""
        s, rounds = self.s, EPS * (self.d + sum(factor.shape[1] for factor in self.s.factors) + 8)
        x, c = np.asarray(x, Wide).reshape(self.d, -1), np.atleast_1d(np.asarray(c, Wide))
        margins = self.A @ x + c
        off = rounds * (self.size @ np.abs(x) + np.abs(c))
        values, slopes, terms = losses_of(s, margins, off)
        cost = penalty_of(s, x)
        used = self.weights > 0
        total = (self.weights[used] * values[used]).sum() + cost
        summed = (self.weights[used] * terms[used]).sum() + cost
        moved = (self.weights[used, None] * (slopes * off)[used]).sum()
        return Value(total, moved + EPS * (self.n + self.d + 8) * summed + TINY)

    def dual_allowance(self, x: np.ndarray, y: np.ndarray) -> Wide:
        """How far D(y) in float64 may be above the optimum: x times the rounding errors of the slopes."""
        s, rounds = self.s, EPS * (self.n + self.d + sum(factor.shape[0] for factor in self.s.factors) + 8)
        x, y = np.abs(np.asarray(x, Wide).reshape(self.d, -1)), np.asarray(y, Wide).reshape(self.n, -1)
        slopes = self.size.T @ (self.weights[:, None] * np.abs(y))
        conjugates = self.weights @ conjugate_terms(s, y)
        return rounds * ((slopes * x).sum() + conjugates + penalty_of(s, x)) + TINY

    def dual(self, y: np.ndarray) -> tuple[Value, Wide]:
        """D(y) of a problem without blocks, and by how much y violates constraints, relative to their size."""
        s, y = self.s, np.asarray(y, Wide)
        terms, outside = conjugate_of(s, y)
        used = self.weights > 0
        v = -(self.A.T @ (self.weights * y))
        reach = (self.size.T @ self.weights) * np.abs(y).max()
        cost, violation, x = penalty_conjugate(s, v, reach)
        if s.intercept:
            total = np.abs(y).max()
            violation = max(violation, abs(self.weights @ y) / total if total > 0 else Wide(0))
        value = -(self.weights[used] * terms[used]).sum() - cost
        return Value(value, self.dual_allowance(x, y)), max(violation, outside)


def losses_of(s: Statement, m: np.ndarray, off: np.ndarray):
    """phi over rows of margins; bounds on |phi'| within ``off`` of them; the sizes of the terms of phi."""
    if s.of_classes:
        own = np.arange(m.shape[0]), s.b
        lead = m.max(axis=1)
        ones = np.ones_like(m)
        if s.loss.name == "softmax":
            values = lead + np.log(np.exp(m - lead[:, None]).sum(axis=1)) - m[own]
        else:
            u = m - m[own][:, None] + 1  # from the own margin: large ones would cancel
            u[own] -= 1
            p = _simplex_step(u, s.b, Wide(s.loss.corner))
            p[own] -= 1
            values = (p * u).sum(axis=1) - s.loss.corner / 2 * (p**2).sum(axis=1)
        return values, ones, np.abs(m).max(axis=1) + 1
    b = s.b.astype(Wide).reshape(m.shape[0], -1)
    values, slopes, terms = _scalar(s.loss, m, b, off + EPS * np.abs(b))
    return values.sum(axis=1), slopes, terms.sum(axis=1)


def _simplex_step(u, own, corner):
    """argmax over the simplex of <p, u> - (corner/2) ||p - e_own||^2: a projection of e_own + u / corner."""
    v = u / corner
    v[np.arange(v.shape[0]), own] += 1
    ordered = -np.sort(-v, axis=1)
    sums = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, v.shape[1] + 1)
    last = (ordered - sums / counts > 0).sum(axis=1) - 1
    shift = sums[np.arange(v.shape[0]), last] / (last + 1)
    return np.maximum(v - shift[:, None], 0)


def _scalar(loss, m, b, off):
    r, name = m - b, loss.name
    one = np.ones_like(m)
    if loss.targets == "signs":
        r = 1 - b * m
    size = np.abs(m) + np.abs(b)
    if name == "squared":
        return r**2 / 2, np.abs(r) + off, r**2
    if name == "logistic":
        t = -b * m
        return np.maximum(t, 0) + np.log1p(np.exp(-np.abs(t))), one, np.maximum(t, 0) + 1
    if name == "hinge":
        return np.maximum(r, 0), one, size
    if name == "squared_hinge":
        return np.maximum(r, 0) ** 2 / 2, np.maximum(r, 0) + off, np.maximum(r, 0) ** 2
    if name == "smooth_hinge":
        c = Wide(loss.corner)
        value = np.where(r <= 0, 0, np.where(r >= c, r - c / 2, r**2 / (2 * c)))
        return value, one, np.where(r <= 0, 0, size + c)
    if name == "huber":
        h = Wide(loss.delta)
        value = np.where(np.abs(r) <= h, r**2 / 2, h * np.abs(r) - h**2 / 2)
        return value, np.minimum(np.abs(r) + off, h), np.where(np.abs(r) <= h, r**2, h * np.abs(r) + h**2)
    if name == "quantile":
        q = Wide(loss.q)
        return np.maximum(-q * r, (1 - q) * r), one, np.abs(r)
    beyond = np.abs(r) - Wide(loss.epsilon) if "epsilon" in name else r
    if name == "epsilon_insensitive":
        return np.maximum(beyond, 0), one, np.where(beyond > 0, np.abs(r) + Wide(loss.epsilon), 0)
    if name == "squared_epsilon_insensitive":
        beyond = np.maximum(beyond, 0)
        return beyond**2 / 2, beyond + off + EPS * Wide(loss.epsilon), beyond * (np.abs(r) + Wide(loss.epsilon))
    if name == "modified_huber":
        value = np.where(r > 2, 4 * (r - 1), np.maximum(r, 0) ** 2)
        return value, np.minimum(2 * np.maximum(r, 0) + 2 * off, 4), np.where(r <= 0, 0, 4 * (size + 2))
    if name == "poisson":
        return np.exp(m) - b * m, np.exp(m + off) + b, np.exp(m) * (1 + np.abs(m)) + np.abs(b * m)
    if name == "gamma":
        return m + b * np.exp(-m), 1 + b * np.exp(off - m), np.abs(m) + b * np.exp(-m) * (1 + np.abs(m))
    if name == "tweedie":
        a, c = 2 - Wide(loss.power), Wide(loss.power) - 1
        up, down = np.exp(a * m), b * np.exp(-c * m)
        slope = up * np.exp(a * off) + down * np.exp(c * off)
        return up / a + down / c, slope, (up / a + down / c) * (1 + np.abs(m))
    if name == "negative_binomial":
        theta = Wide(loss.theta)
        z, n = m - np.log(theta), b + theta
        value = n * (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))) - b * m
        return value, np.maximum(b, theta), n * (np.abs(z) + np.abs(np.log(theta)) + 1) + np.abs(b * m)
    raise NotImplementedError(name)


def conjugate_terms(s: Statement, y: np.ndarray) -> np.ndarray:
    """The sum of absolute values of the terms of phi*, a number for each row."""
    if s.of_classes:
        return np.full(y.shape[0], Wide(10))
    b = np.abs(s.b.astype(Wide)).reshape(y.shape[0], -1)
    size = np.abs(y)
    if s.loss.name in ("gamma", "negative_binomial"):
        theta = Wide(getattr(s.loss, "theta", 1.0))
        u, far = size + b + theta, np.abs(np.log(np.maximum(b, 1e-300))) + np.abs(np.log(theta))
        return (u * (1 + np.abs(np.log(u)) + far)).sum(axis=1)
    if s.loss.name == "tweedie":
        m = np.abs(_tweedie_margin(s.loss.power, y, s.b.astype(Wide).reshape(y.shape)))
        a, c = 2 - Wide(s.loss.power), Wide(s.loss.power) - 1
        return ((size * m + np.exp(a * np.minimum(m, 700)) * (size > 0)) * (1 + m) / a / c).sum(axis=1)
    if s.loss.name == "poisson":
        u = size + b
        return (u * (1 + np.abs(np.log(np.maximum(u, 1e-300)))) + u).sum(axis=1)
    parameter = getattr(s.loss, "epsilon", getattr(s.loss, "corner", 1.0))
    return (b * size + (1 + parameter) * (size + size**2)).sum(axis=1)


def conjugate_of(s: Statement, y: np.ndarray) -> tuple[np.ndarray, Wide]:
    """phi* at y moved into its domain, and how far it was outside, relative to the domain's size."""
    b, name = s.b.astype(Wide), s.loss.name
    ends = {"hinge": 1, "smooth_hinge": 1, "logistic": 1, "squared_hinge": np.inf, "modified_huber": 4}
    if name in ends:
        t = -b * y
        inside = np.clip(t, 0, ends[name])
        outside = np.abs(t - inside).max()
        corners = {
            "squared_hinge": Wide(1),
            "modified_huber": Wide(0.5),
            "smooth_hinge": Wide(getattr(s.loss, "corner", 1)),
        }
        kappa = corners.get(name, Wide(0))
        if name == "logistic":
            return _entropy(inside) + _entropy(1 - inside), outside
        return -inside + kappa / 2 * inside**2, outside
    if name == "poisson":
        u = np.maximum(y + b, 0)
        outside = (np.abs(y + b - u) / np.maximum(b, 1)).max()
        return _entropy(u) - u, outside
    if name == "gamma":
        u = np.maximum(1 - y, 0)
        return _entropy(u) - u - u * np.log(b), np.abs(1 - y - u).max()
    if name == "negative_binomial":
        theta = Wide(s.loss.theta)
        inside = np.clip(y, -b, theta)
        u, v = inside + b, theta - inside
        outside = (np.abs(y - inside) / np.maximum(b, 1)).max()
        return _entropy(u) + _entropy(v) - _entropy(u + v) + u * np.log(theta), outside
    if name == "tweedie":
        inside = np.where(b > 0, y, np.maximum(y, 0))
        m = _tweedie_margin(s.loss.power, inside, b)
        a, c = 2 - Wide(s.loss.power), Wide(s.loss.power) - 1
        value = inside * m - np.exp(a * m) / a - np.where(b > 0, b * np.exp(-c * m), 0) / c
        return np.where((b == 0) & (inside == 0), 0, value), np.abs(y - inside).max()
    delta, q = getattr(s.loss, "delta", 1.0), getattr(s.loss, "q", 0.5)
    boxes = {"huber": (-delta, delta), "epsilon_insensitive": (-1, 1), "quantile": (-q, 1 - q)}
    lo, hi = boxes.get(name, (-np.inf, np.inf))
    inside = np.clip(y, Wide(lo), Wide(hi))
    outside = (np.abs(y - inside) / Wide(hi - lo if np.isfinite(hi - lo) else 1)).max()
    kappa = Wide(name in ("squared", "huber", "squared_epsilon_insensitive"))
    eps = Wide(getattr(s.loss, "epsilon", 0.0))
    return b * inside + eps * np.abs(inside) + kappa / 2 * inside**2, outside


def _tweedie_margin(power, y, b):
    """Where e^(a m) - b e^(-c m) = y, by bisection, then Newton; 0 at the end of the domain."""
    a, c = 2 - Wide(power), Wide(power) - 1
    low, high = np.full(y.shape, Wide(-1e4)), np.full(y.shape, Wide(1e4))
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(90):
            m = (low + high) / 2
            left = np.exp(a * m) - np.where(b > 0, b * np.exp(-c * m), 0) < y
            low, high = np.where(left, m, low), np.where(left, high, m)
    return np.where((b == 0) & (y <= 0), 0, (low + high) / 2)


def _entropy(t):
    return np.where(t > 0, t * np.log(np.where(t > 0, t, 1)), 0)


def _strengths(s: Statement, d: int):
    p = s.penalty
    weights = np.ones(d, Wide) if p.weights is None else p.weights.astype(Wide)
    lower = np.full(d, -np.inf, Wide) if p.lower is None else p.lower.astype(Wide)
    upper = np.full(d, np.inf, Wide) if p.upper is None else p.upper.astype(Wide)
    ridges = weights if p.ridge_weights is None else p.ridge_weights.astype(Wide)
    return weights * Wide(p.l1), ridges * Wide(p.l2), lower, upper


def penalty_of(s: Statement, x: np.ndarray) -> Wide:
    """g at a table of coefficients, without its bounds."""
    p = s.penalty
    if p.groups is None:
        l1, l2, *_ = _strengths(s, x.shape[0])
        return (l1[:, None] * np.abs(x) + l2[:, None] / 2 * x**2).sum()
    group_of = np.unique(p.groups, return_inverse=True)[1].reshape(-1)
    weights = np.ones(group_of.max() + 1, Wide) if p.weights is None else p.weights.astype(Wide)
    norm = {"euclidean": lambda own: np.sqrt((own**2).sum()), "maximum": lambda own: np.abs(own).max()}[p.norm]
    norms = np.array([norm(x[group_of == g]) for g in range(weights.size)])
    return Wide(p.strength) * (weights @ norms) + Wide(p.l1) * np.abs(x).sum() + Wide(p.l2) / 2 * (x**2).sum()


def penalty_conjugate(s: Statement, v: np.ndarray, reach: np.ndarray) -> tuple[Wide, Wide, np.ndarray]:
    """g*(v) with v moved to where it is finite, how far that was, relative to ``reach``, and where it is attained."""
    l1, l2, lower, upper = _strengths(s, v.size)
    soft = np.sign(v) * np.maximum(np.abs(v) - l1, 0)
    curved = l2 > 0
    far = np.where(curved, soft / np.where(curved, l2, 1), np.where(soft > 0, np.inf, np.where(soft < 0, -np.inf, 0)))
    x = np.clip(far, lower, upper)
    open_end = ~np.isfinite(x)
    violation = (np.abs(soft[open_end]) / np.maximum(reach[open_end], TINY)).max(initial=Wide(0))
    x = np.where(open_end, 0, x)
    return (v * x - l1 * np.abs(x) - l2 / 2 * x**2).sum(), violation, x


def outside_bounds(s: Statement, x: np.ndarray) -> bool:
    """Whether a coefficient is outside its bounds."""
    d, p = s.shape[1], s.penalty
    x = np.reshape(x, (d, -1))
    lower = np.full(d, -np.inf) if p.lower is None else p.lower
    upper = np.full(d, np.inf) if p.upper is None else p.upper
    return bool(((x < lower[:, None]) | (x > upper[:, None])).any())
