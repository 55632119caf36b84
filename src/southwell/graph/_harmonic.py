"""The Dirichlet problem on a graph: labelled nodes are fixed, every other is the weighted mean of its neighbours.

    minimise over f:   1/2 sum_{i<j} w_ij (f_i - f_j)^2            f given on the labelled nodes

(Zhu, Ghahramani and Lafferty 2003; Bengio, Delalleau and Le Roux 2006). A label function of one class is 1 on the nodes
of that class and 0 on the other labelled ones; its harmonic extension at i is the probability that a random walk from i
meets that class first.

This is a least-squares problem. Columns are the free (unlabelled) nodes, rows the edges at a free node: +1 and -1 with
target 0 between two free nodes, 1 with target f_l towards a label. By the maximum principle 0 <= f <= 1 at the optimum,
so the bounds [0, 1] change only the certificate: its conjugate is finite everywhere, every residual is a feasible dual
point, and

    gap = sum_j max(z_j f_j, -z_j (1 - f_j))                       z = the gradient

bounds the error of the objective, which is of the second order, by a term of the first order in z.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .. import penalties
from ..problem import Problem

UNIT_BOX = penalties.ElasticNet(lower=0.0, upper=1.0)


def classes_met(W: sp.csr_array, free: np.ndarray, held: sp.csr_array) -> tuple[np.ndarray, sp.csr_array]:
    """The component of each free node, and for each component the classes that random walks from it can meet.

    Labelled nodes end a walk, so components are those of the free nodes alone. If a component meets no class, it stays
    unlabelled; if it meets one, all its nodes belong to that class; if it meets several, a problem must be solved.
    """
    around = W[free]
    count, component = connected_components(_narrow(around[:, free]), directed=False) if free.size else (0, free)
    members = sp.csr_array((np.ones(free.size), (component, np.arange(free.size))), shape=(count, free.size))
    return component, sp.csr_array(members @ (around @ held))


def _narrow(graph: sp.csr_array) -> sp.csr_array:
    """The graph with 32-bit indices, if they fit: old versions of SciPy's csgraph return wrong results for others."""
    if graph.indices.dtype == np.int32 or graph.nnz >= 2**31:
        return graph
    positions = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    return sp.csr_array((graph.data, *positions), shape=graph.shape)


class Harmonic:
    """A graph whose nodes are free or have a class; every free node must be connected to a class.

    Parameters
    ----------
    W : csr_array of shape (n_nodes, n_nodes)
        Symmetric weights >= 0, none stored that is zero, no self loops.
    free : array of int
        The free nodes.
    held : csr_array of shape (n_nodes, n_classes)
        1 for the class of a labelled node.
    """

    def __init__(self, W: sp.csr_array, free: np.ndarray, held: sp.csr_array):
        around = W[free]
        inner = sp.coo_array(sp.triu(around[:, free], k=1))
        outer = sp.coo_array(around @ held)  # edges from a node to the same class have equal rows, and are merged
        rows = np.arange(inner.nnz + outer.nnz)
        entries = np.repeat([1.0, -1.0, 1.0], [inner.nnz, inner.nnz, outer.nnz])
        places = (
            np.concatenate([rows[: inner.nnz], rows]),
            np.concatenate([inner.row, inner.col, outer.row]),
        )
        self.incidence = sp.csc_array((entries, places), shape=(rows.size, free.size))
        self.weights = np.concatenate([inner.data, outer.data])
        self.towards = np.concatenate([np.full(inner.nnz, -1), outer.col])  # the class at the far end of an edge
        self.n_classes = held.shape[1]
        self.neighbours = np.diff(around.indptr)

    def problem(self, label: int) -> Problem:
        """One class against the rest. All classes share the incidence matrix."""
        return Problem(self.incidence, self.target(label), penalty=UNIT_BOX, sample_weight=self.weights)

    def target(self, label: int) -> np.ndarray:
        """The value at the far end of each edge: 1 if it has that class, else 0."""
        return (self.towards == label).astype(float)

    def error_bounds(self, F: np.ndarray, patience: int) -> np.ndarray:
        """For each free node a bound on |F - F*| over all classes, rounding included; F in [0, 1].

        The Laplacian L of the free nodes is an M-matrix: its inverse is >= 0. So if L v > 0, and r = L f - c is the
        residual of f, then |f - f*| = |inv(L) r| <= inv(L) |r| <= v max_k |r_k| / (L v)_k. Here v is an
        approximate solution of L v = degree: the expected number of steps of a random walk to a label. Only the sign of
        L v matters. If it is not positive after ``patience`` steps, the bound is 1, since f and f* are in [0, 1]."""
        magnitude = abs(self.incidence)
        # A sum of m terms has m rounding errors, each term a few more, and weights may be sums of up to m terms.
        rounding = (2 * self.neighbours + 8) * np.finfo(float).eps

        def net(flow):
            """The net flow out of each node, and a bound of its rounding error."""
            return self.incidence.T @ flow, rounding * (magnitude.T @ abs(flow))

        v = self._steps_to_a_label(magnitude.T @ self.weights, patience)
        push, doubt = net(self.weights * (self.incidence @ v))
        if not (push > doubt).all():
            return np.ones(v.size)
        worst = 0.0
        for label in range(self.n_classes):
            residual, blur = net(self.weights * (self.incidence @ F[:, label] - self.target(label)))
            worst = max(worst, float(((abs(residual) + blur) / (push - doubt)).max()))
        return np.minimum(worst * v * (1 + 1e-12), 1.0)

    def _steps_to_a_label(self, degree: np.ndarray, patience: int) -> np.ndarray:
        """v with L v within a tenth of the degrees, by conjugate gradients on the Laplacian scaled to a unit diagonal.

        Written here because its stopping test is on the largest entry of the residual, which the bound depends on."""
        root = np.sqrt(degree)
        u, residual = np.zeros_like(root), root.copy()
        direction, size = residual, residual @ residual
        for _ in range(patience):
            if (abs(residual) <= 0.1 * root).all():
                break
            difference = self.incidence @ (direction / root)
            flow = self.weights * difference
            curvature = flow @ difference
            if not curvature > 1e-200 * size:  # only rounding errors are left
                break
            step = size / curvature
            u, residual = u + step * direction, residual - step * (self.incidence.T @ flow) / root
            size, before = residual @ residual, size
            direction = residual + size / before * direction
        return u / root
