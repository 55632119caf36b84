"""Graphs from weights or from points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors


def precomputed(given) -> sp.csr_array:
    """The graph of a symmetric affinity; differences of the size of rounding errors are averaged."""
    if given.shape[0] != given.shape[1]:
        raise ValueError(
            f"A precomputed affinity must be square, nodes by nodes; got shape {given.shape}. "
            "For points by features use affinity='knn'."
        )
    refuse_negative(given)
    W = _tidy(given)
    largest = W.data.max(initial=0.0)
    rounding = 100 * np.finfo(given.dtype).eps * largest
    difference = abs(W - W.T).max() if W.nnz else 0.0
    if difference > rounding:
        raise ValueError(
            f"A precomputed affinity must be symmetric; it differs from its transpose by up to {difference:.3g} "
            f"(its largest weight is {largest:.3g}). Symmetrise it, for example by (W + W.T) / 2 or, "
            "if it is sparse, W.maximum(W.T)."
        )
    return _scaled(W if difference == 0 else sp.csr_array(W / 2 + W.T / 2))


def refuse_negative(weights) -> None:
    """Raise for negative weights: the maximum principle, and so the error bound, need weights >= 0."""
    least = weights.min() if min(weights.shape) else 0.0
    if least < 0:
        raise ValueError(
            f"Negative values in data: affinities must be >= 0, and 0 for no edge; the smallest is {least:.6g}. "
            "Turn distances into affinities first, for example by exp(-gamma * distance**2)."
        )


def nearest(neighbours: NearestNeighbors, gamma: float | None) -> sp.csr_array:
    """An edge joins two points if either is among the nearest neighbours of the other."""
    W = neighbours.kneighbors_graph(mode="connectivity" if gamma is None else "distance")
    W.data = closeness(W.data, gamma)
    return _scaled(_tidy(W.maximum(W.T)))


def closeness(distances: np.ndarray, gamma: float | None) -> np.ndarray:
    """The weight of an edge of length d: 1, or exp(-gamma d^2)."""
    with np.errstate(over="ignore"):  # far apart: weight 0
        return np.ones_like(distances) if gamma is None else np.exp(-float(gamma) * distances**2)


def _tidy(given) -> sp.csr_array:
    """A copy in float64, duplicates summed, without self loops and stored zeros."""
    W = sp.coo_array(given, dtype=np.float64)
    apart = W.row != W.col
    W = sp.csr_array((W.data[apart], (W.row[apart], W.col[apart])), shape=W.shape)
    W.sum_duplicates()
    W.eliminate_zeros()
    return W


def _scaled(W: sp.csr_array) -> sp.csr_array:
    """Scaled by a power of two so that the largest weight is between 1/2 and 1; ratios stay, and no sum overflows."""
    if W.nnz:
        W.data = np.ldexp(W.data, -np.frexp(W.data.max())[1])
    return W


def rows_to_one(X):
    """Each row divided by its largest entry: only ratios matter, and sums cannot overflow."""
    if sp.issparse(X):
        top = X.max(axis=1).toarray().ravel()
        inverse = 1.0 / np.where(top > 0, top, 1.0)
        return sp.dia_array((inverse[None, :], [0]), shape=(top.size, top.size)) @ X  # SciPy 1.11 has no diags_array
    top = X.max(axis=1, keepdims=True)
    return X / np.where(top > 0, top, 1.0)
