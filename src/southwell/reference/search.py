"""Greedy by maximum inner product search, with an exact search: products with every vector.

Problem    The coordinate with the largest score, where only coordinates at zero are indexed; either side, see
           coordinate_descent.py. r_k is the reading of coordinate k: the slope z_j, or the margin m_i.

Papers     Dhillon, Ravikumar, Tewari, "Nearest Neighbor based Greedy Coordinate Descent", NIPS 2011: least squares,
           where |r_k| is the score. Karimireddy, Koloskova, Stich, Jaggi, "Efficient Greedy Coordinate Descent for
           Composite Problems", AISTATS 2019: coordinates at a kink or a bound apart from the others. Here all l1, l2,
           bounds and losses have one form: a coordinate at zero stays there for r_k in [low_k, high_k], and otherwise
           has the score

               w_k max(r_k - high_k, low_k - r_k)
                   =  max( <(w_k a_k, -w_k high_k), (image, 1)>, <(-w_k a_k, w_k low_k), (image, 1)> )

           score     w_j, primal       primal: -r_j in the subdifferential of g_j at 0
           gs, gs-s  1                 dual:    r_i in the subdifferential of phi_i* at 0, w_i = s_i for gs-s
           gs-r      1 / C_j
           gs-q      1 / sqrt(C_j)     C_j = L_j + l2_j; gs-q is half the square of the above
"""

from __future__ import annotations

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .conjugates import subdifferential
from .elastic_net import ElasticNet


def zero_weights(kind: str, A: np.ndarray, s: Numbers, loss: Loss, net: ElasticNet) -> np.ndarray:
    """w_j on the primal side; 0 for an empty column."""
    norms = s @ A**2
    if kind in ("gs", "gs-s"):
        return np.ones(norms.size)
    C = np.where(norms > 0, norms * loss.smoothness + net.l2, np.inf)
    return np.asarray(1 / C if kind == "gs-r" else 1 / np.sqrt(C))


def zero_interval_primal(net: ElasticNet) -> tuple[np.ndarray, np.ndarray]:
    """The slopes for which a feature stays at zero; where zero is out of bounds, any."""
    outside = (net.lo > 0) | (net.hi < 0)
    low = np.where(outside | (net.hi <= 0), -np.inf, -net.l1)
    return low, np.where(outside | (net.lo >= 0), np.inf, net.l1)


def zero_interval_dual(loss: Loss, b: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """The margins for which a sample stays at zero."""
    low, high = subdifferential(loss, 0.0 * b, b)
    return low, high


def search(fibers: np.ndarray, w: Numbers, low: Numbers, high: Numbers, image: Numbers, number: int,
           apart: Numbers) -> np.ndarray:  # fmt: skip
    """The ``number`` coordinates, none of them ``apart``, whose vectors have the largest products with (image, 1)."""
    query = np.append(image, 1.0)
    products = np.full(len(fibers), -np.inf)
    for sign, end in ((1.0, high), (-1.0, low)):
        used = (w > 0) & np.isfinite(end)
        vectors = (sign * w)[used, None] * np.column_stack([fibers[used], -end[used]])
        products[used] = np.maximum(products[used], vectors @ query)
    products[np.asarray(apart, dtype=int)] = -np.inf
    order = np.argsort(-products, kind="stable")[:number]
    return order[products[order] > -np.inf]
