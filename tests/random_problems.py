"""Small random problems of every kind, by seed: scales, weights, penalties and layouts are drawn anew for each."""

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell.penalties import ElasticNet, Groups

LOSSES = [
    "squared", "logistic", "hinge", "squared_hinge", "smooth_hinge", "huber", "quantile", "epsilon_insensitive",
    "squared_epsilon_insensitive", "poisson", "modified_huber", "gamma", "tweedie", "negative_binomial",
]  # fmt: skip
KINKED = ["hinge", "quantile", "epsilon_insensitive"]


def _loss(rng, name):
    """With a parameter of its own, half of the time."""
    if rng.random() < 0.5:
        return name
    return {
        "quantile": lambda: sw.losses.Quantile(rng.uniform(0.05, 0.95)),
        "epsilon_insensitive": lambda: sw.losses.EpsilonInsensitive(rng.choice([0.0, 0.01, 0.3])),
        "huber": lambda: sw.losses.Huber(rng.choice([0.1, 1.0, 3.0])),
        "tweedie": lambda: sw.losses.Tweedie(rng.choice([1.1, 1.5, 1.9])),
        "negative_binomial": lambda: sw.losses.NegativeBinomial(rng.choice([0.3, 2.0, 50.0])),
    }.get(name, lambda: name)()


def _targets(rng, name, margins):
    noisy = margins + 0.3 * margins.std() * rng.normal(size=margins.shape) + 1e-3 * rng.normal(size=margins.shape)
    if sw.losses.get(name).targets == "signs":
        signs = np.where(noisy > np.median(noisy), 1.0, -1.0)
        signs = np.where(rng.random(signs.shape) < 0.1, -signs, signs)
        signs[0], signs[1] = 1.0, -1.0  # both classes, among samples that count
        return signs
    if sw.losses.get(name).log_link:
        counts = rng.poisson(np.exp(np.clip(noisy / (margins.std() + 1e-3), -3, 3)))
        return counts + (0.5 if name == "gamma" else 0.0)
    return noisy * (1.0 if rng.random() < 0.5 else 10.0 ** rng.integers(-2, 3)) + rng.choice([0.0, 0.0, 3.0])


def _matrix(rng, n, d):
    A = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1)
    if rng.random() < 0.3:
        A *= rng.random((n, d)) < 0.3
    if rng.random() < 0.2:
        A *= 10.0 ** rng.uniform(-1.5, 1.5, d)  # columns of different sizes
    if rng.random() < 0.2:
        A += rng.normal(size=d)  # of means far from zero
    return A * (10.0 ** rng.choice([-3, -2, 2, 3]) if rng.random() < 0.2 else 1.0)


def _sizes(rng):
    return int(rng.integers(2, 61)), int(rng.integers(2, 61))


def _weights(rng, n):
    if rng.random() < 0.6:
        return None
    weights = rng.random(n) * (rng.random(n) < 0.8)
    weights[:2] = 1.0
    return weights


def _laid_out(rng, A):
    kind = rng.choice(["dense", "fortran", "csr", "csc", "centred"])
    forms = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
    return kind, forms.get(kind, sw.Centred)(A)


def _strengths(rng, A, b, s, name):
    """l1 from a thousandth of what gives the zero model to more than that; l2 beside the curvature of the data."""
    s = np.full(A.shape[0], 1 / A.shape[0]) if s is None else s / s.sum()
    size = (
        np.abs(b)
        if name in ("squared", "squared_epsilon_insensitive", "poisson", "tweedie", "negative_binomial")
        else np.ones_like(b)
    ).max()
    l1 = float(np.abs(A).T.dot(s).max() * size * 10.0 ** rng.uniform(-3, 0.2))
    l2 = float((A**2).T.dot(s).max() * 10.0 ** rng.uniform(-5, 1))
    return l1 or 1.0, l2 or 1.0


def _net(rng, A, b, s, name):
    l1, l2 = _strengths(rng, A, b, s, name)
    kind = rng.choice(["l1", "l2", "both", "none"], p=[0.3, 0.3, 0.35, 0.05])
    options = {}
    if rng.random() < 0.25:
        options["weights"] = rng.random(A.shape[1]) * 2 * (rng.random(A.shape[1]) < 0.7)
    if rng.random() < 0.15:
        options["lower"] = 0.0
    if rng.random() < 0.1:
        options["upper"] = 1.0
    net = ElasticNet(l1 * (kind in ("l1", "both")), l2 * (kind in ("l2", "both")), **options)
    return kind + "".join(f" {name}" for name in options), net


def scalar(seed, losses=LOSSES):
    """A problem of single coefficients and a description of it."""
    rng = np.random.default_rng([1, seed])
    n, d = _sizes(rng)
    name = str(rng.choice(losses))
    A, s = _matrix(rng, n, d), _weights(rng, n)
    b = _targets(rng, name, A @ (rng.normal(size=d) * (rng.random(d) < 0.5)))
    kind, data = _laid_out(rng, A)
    penalty, net = _net(rng, A, b, s, name)
    intercept = bool(rng.random() < 0.5)
    problem = sw.Problem(data, b, _loss(rng, name), net, intercept=intercept, sample_weight=s)
    return problem, {"loss": name, "data": str(kind), "penalty": penalty, "intercept": intercept}


def factorised(seed, losses=LOSSES):
    rng = np.random.default_rng([2, seed])
    (n, d), k = _sizes(rng), int(rng.integers(1, 11))
    name = str(rng.choice(losses))
    U, V, s = _matrix(rng, n, k), _matrix(rng, k, d), _weights(rng, n)
    A = U @ V
    b = _targets(rng, name, A @ (rng.normal(size=d) * (rng.random(d) < 0.5)))
    penalty, net = _net(rng, A, b, s, name)
    intercept = bool(rng.random() < 0.5)
    if rng.random() < 0.3:
        U, V = sp.csr_array(U), sp.csc_array(V)
    problem = sw.Problem(sw.Factorised(U, V), b, _loss(rng, name), net, intercept=intercept, sample_weight=s)
    return problem, {"loss": name, "data": "factorised", "penalty": penalty, "intercept": intercept}


def block(seed, losses=(*LOSSES, "softmax", "multiclass_hinge", *KINKED)):
    rng = np.random.default_rng([3, seed])
    n, d = _sizes(rng)
    name = str(rng.choice(losses))
    A, s = _matrix(rng, n, d), _weights(rng, n)
    tasks = 1 if rng.random() < 0.4 else int(rng.integers(2, 5))
    if name in ("softmax", "multiclass_hinge"):
        n = max(n, tasks + 1)
        A, s = _matrix(rng, n, d), None
        b = np.concatenate((np.arange(tasks + 1), rng.integers(0, tasks + 1, n - tasks - 1)))
        ones = np.ones(n)
    else:
        b = _targets(rng, name, A @ (rng.normal(size=(d, tasks)) * (rng.random((d, 1)) < 0.5)))
        ones = b
    l1, l2 = _strengths(rng, A, ones, s, name)
    kind = str(rng.choice(["group", "group+l2", "sparse group", "all", "l1", "l2", "l1+l2"]))
    if tasks == 1 and name not in ("softmax", "multiclass_hinge"):
        kind = kind if "group" in kind or kind == "all" else "group"
        b = b.ravel()
    if "group" in kind or kind == "all":
        groups = None if rng.random() < 0.3 else rng.integers(0, max(1, d // 3), d)
        size = 1 if groups is None else np.unique(groups).size
        weights = rng.uniform(0.2, 2.0, size) if groups is not None and rng.random() < 0.3 else None
        penalty = Groups(l1, groups=groups, l1=0.3 * l1 * (kind in ("sparse group", "all")),
                         l2=l2 * (kind in ("group+l2", "all")), weights=weights)  # fmt: skip
    else:
        weights = rng.uniform(0.2, 2.0, d) if rng.random() < 0.3 else None
        penalty = ElasticNet(l1 * ("l1" in kind), l2 * ("l2" in kind), weights=weights)
    intercept = bool(rng.random() < 0.5)
    layout = rng.choice(["dense", "fortran", "csr", "csc"])
    data = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}[layout](A)
    problem = sw.BlockProblem(data, b, _loss(rng, name), penalty, intercept=intercept, sample_weight=s)
    return problem, {"loss": name, "data": str(layout), "penalty": kind, "intercept": intercept}
