"""What the laws of the saddle references share: small problems, their optima, and who moves."""

from itertools import combinations

import numpy as np

import southwell as sw
from cases import PENALTIES, SMOOTH, descend
from southwell import reference

BOUNDED = [name for name in SMOOTH if np.isfinite(sw.losses.get(name).smoothness)]  # phi'' is
N, D, L2 = 13, 7, 0.1


def net_of(penalty, d=D):
    return reference.ElasticNet.of(PENALTIES[penalty] if isinstance(penalty, str) else penalty, d)


def data_of(p, net):
    return p.A, p.b, p.s, p.loss, net


def norms_of(p):
    return np.sqrt(p.b.size * p.s) * np.linalg.norm(p.A, axis=1)


def gamma_of(p):
    return 1 / p.loss.smoothness


def saddle(p, net, x, y):
    """L(x, y)."""
    return net.value(x).sum() + p.s @ (y * (p.A @ x) - p.loss.conjugate(y, p.b))


def optimum(p, net):
    x = descend(p, net, np.zeros(net.l1.size), 400)
    y = p.loss.derivative(p.A @ x, p.b)
    assert reference.certificate(*data_of(p, net), x, y)[2] <= 1e-13
    return x, y


def batches(n, m, steps, seed=0):
    return np.argsort(np.random.default_rng(seed).random((steps, n)), axis=1)[:, :m]


def blocks(m, q, steps, seed=0):
    return list(zip(batches(N, m, steps, seed), batches(D, q, steps, seed + 10**6), strict=True))


def rows(n, steps, p=None, seed=0):
    return np.random.default_rng(seed).choice(n, steps, p=p)


def scale(p, m, q):
    """Lambda_{q,m}, (8) of DSPDC, by trying all."""
    A = np.sqrt(p.b.size * p.s)[:, None] * p.A
    chosen = [A[np.ix_(I, J)] for I in combinations(range(N), m) for J in combinations(range(D), q)]
    return np.linalg.norm(chosen, ord=2, axis=(1, 2)).max() ** 2
