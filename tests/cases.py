"""Small cases: penalties of every kind, points inside and on bounds, sparse models, layouts."""

import numpy as np
import scipy.sparse as sp

import southwell as sw
from southwell import reference
from southwell.penalties import ElasticNet
from southwell.reference import conjugates

LOSSES = list(sw.losses.ALL)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
KINDS = ["residual", "bracket", "gs-s", "gs-r", "gs-q"]
BOX = {"lower": -0.2, "upper": [0.3, np.inf, 0.0, 0.1, 2.0, 0.5, np.inf]}
PENALTIES = {
    "elastic net": ElasticNet(l1=0.05, l2=0.1),
    "l1": ElasticNet(l1=0.05),
    "l2": ElasticNet(l2=0.1),
    "box": ElasticNet(l1=0.02, l2=0.1, **BOX),
    "l1 in a box": ElasticNet(l1=0.02, **BOX),
    "away from 0": ElasticNet(l1=0.02, lower=0.5, upper=3.0),
    "partly free": ElasticNet(l1=0.05, weights=[1, 0, 1, 2, 0, 1, 1]),
}
STRONG = [name for name in PENALTIES if PENALTIES[name].l2 > 0]


FORMS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "CSR": sp.csr_array, "CSC": sp.csc_array}
CENTRED = {f"centred {name}": lambda A, form=form: sw.Centred(form(A)) for name, form in FORMS.items()}


def sparse_model(loss, n, d, seed, *, density=None, share=0.3, noise=0.3, offset=0.0):
    """Data, perhaps with holes, and targets of a model in which a share of the features matters; small counts, whose
    likelihood is not above that of nothing."""
    rng = np.random.default_rng([seed, n, d])
    A = rng.normal(size=(n, d))
    if density is not None:
        A *= rng.random((n, d)) < density
    m = A @ np.where(rng.random(d) < share, rng.normal(size=d), 0.0) + noise * rng.normal(size=n) + offset
    kind = sw.losses.get(loss).targets
    b = {
        "real": m,
        "signs": np.where(m > 0, 1.0, -1.0),
        "counts": np.clip(np.round(m), 0, 2),
        "positive": np.exp(np.clip(m, -1, 1)),
    }[kind]
    if kind == "signs":
        b[:2] = 1.0, -1.0
    return A, b


def kinds_for(loss):
    return KINDS if np.isfinite(loss.smoothness) else KINDS[:3]


def feasible(net, rng, size=0.5):
    """A point of the box, with some zeros and, where there are bounds, some coordinates on them."""
    x = size * rng.normal(size=net.l1.size)
    x[rng.random(x.size) < 0.3] = 0.0
    return np.clip(x, net.lo, net.hi)


def dual_point(p, rng):
    """A point of dom phi*, with some coordinates at its ends where phi* has a subgradient there."""
    y = p.loss.derivative(rng.normal(size=p.b.size), p.b)
    lo, _ = conjugates.domain(p.loss, p.b)
    if not p.loss.piecewise:
        return y
    return np.where(np.isfinite(lo) & (rng.random(y.size) < 0.2), lo, y)


def primal_case(p, penalty, seed=0):
    net = reference.ElasticNet.of(PENALTIES[penalty], p.A.shape[1])
    x = feasible(net, np.random.default_rng(seed))
    start = np.clip(np.zeros(x.size), net.lo, net.hi)
    top = max(reference.level(p.A, p.b, p.s, p.loss, net, at) for at in (start, x))

    def score(kind, x=x):
        return reference.primal_scores(kind, p.A, p.b, p.s, p.loss, net, x, top)

    return net, x, top, score


def objective(A, b, s, loss, net, x):
    return s @ loss.value(A @ x, b) + net.value(x).sum()


def dual_objective(A, b, s, loss, net, y):
    return -(s @ loss.conjugate(y, b)) - net.conjugate(-A.T @ (s * y)).sum()


def descend(p, net, x, epochs):
    order = np.tile(np.arange(x.size), epochs)
    return reference.primal_coordinate_descent(p.A, p.b, p.s, p.loss, net, order, x, p.loss.self_concordance)
