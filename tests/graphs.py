"""Graphs, and their harmonic functions by other means."""

import warnings
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import southwell as sw
from southwell.graph import LabelPropagation

PATH = np.diag(np.ones(4), k=1) + np.diag(np.ones(4), k=-1)  # five nodes in a row
ENDS = np.array([0, -1, -1, -1, 1])


def propagate(W, y, **options):
    return LabelPropagation("precomputed", **options).fit(W, y)


def random_graph(n, n_classes, seed=0, unlabelled=0.7, spread=1.0):
    """A connected weighted graph and labels of every class, some missing."""
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((n, n)) < 4.0 / n, 10.0 ** rng.uniform(-spread, spread, (n, n)), 0.0)
    ring = np.arange(n)
    W[ring, (ring + 1) % n] = 10.0 ** rng.uniform(-spread, spread, n)
    W = np.triu(W + W.T, k=1)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    y[n_classes:][rng.random(n - n_classes) < unlabelled] = -1
    return sp.csr_array(W + W.T), y


def harmonic(W, y):
    """The label distributions, by a direct sparse solve."""
    W, y = sp.csr_array(W), np.asarray(y)
    L = sp.csr_array(sp.diags(np.asarray(W.sum(axis=1)).ravel())) - W
    free, held = np.flatnonzero(y == -1), np.flatnonzero(y != -1)
    classes = np.unique(y[held])
    F = (y[:, None] == classes[None, :]).astype(float)
    right = -(L[free][:, held] @ F[held])
    F[free] = np.column_stack([spsolve(L[free][:, free].tocsc(), column) for column in right.T])
    return F


def exactly_harmonic(W, y):
    """The same in rational numbers: no rounding at all."""
    W = [[Fraction(w) for w in row] for row in sp.csr_array(W).toarray().tolist()]
    classes = sorted(set(y.tolist()) - {-1})
    rows = []
    for i, label in enumerate(y.tolist()):
        if label != -1:
            left = [Fraction(int(i == j)) for j in range(y.size)]
            rows.append(left + [Fraction(int(label == c)) for c in classes])
        else:
            left = [sum(W[i]) * int(i == j) - W[i][j] for j in range(y.size)]
            rows.append(left + [Fraction(0)] * len(classes))
    for k in range(y.size):  # Gauss and Jordan; a pivot cannot vanish
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(y.size):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[y.size :] for row in rows]


def quietly(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        return make()
