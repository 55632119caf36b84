"""Doubly stochastic primal-dual coordinates over blocks in the cone S_+: a few samples move, then a few matrices.

Problem    min over X_1, ..., X_p in S_+ of  sum_i s_i phi(sum_j <D_i^j, X_j>; b_i) + sum_j g_j(X_j),
           g_j(X) = (l2_j / 2) ||X - C_j||^2 + <L_j, X>.   D is (n, p, d, d); C and L are (p, d, d).

Paper      Yu, Lin, Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem", 2015,
           algorithm 1 with (28) and (29) in the place of (10) and (12); algorithm 3 is the same with W kept:

               y_i^+ = argmax_y  y <D_i, Xe> - phi_i*(y) - (n / (2 sigma))(y - y_i)^2             i in I         (28)
               ye    = y + (n/m)(y^+ - y)                                                                        (11)
               X_j^+ = argmin_Q  <sum_i s_i ye_i D_i^j, Q> + g_j(Q) + (1 / (2 tau_j)) ||Q - X_j||^2   j in J      (29)
               Xe    = X + (theta + 1)(X^+ - X)                                                                  (13)

           tau_j = tau / l2_j: the paper's tau for the variables sqrt(l2_j) X_j, whose penalty is 1-strongly convex.

Kept       X, y, Xe; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def nearest_psd(T: np.ndarray) -> np.ndarray:
    """Eigenvalues below zero become zero."""
    values, vectors = np.linalg.eigh(T)
    return vectors @ np.diag(np.maximum(values, 0)) @ vectors.T


def matrix_dspdc(D, b, s, loss, l2, C, L, batches: Iterable, steps, *, X, y):
    """Move the samples I and then the blocks J of each pair (I, J) in ``batches``; returns X and y."""
    (tau, sigma, theta), n = steps, len(b)
    X, y = X.copy(), y.copy()
    Xe = X
    for I, J in batches:
        I = list(I)
        ye, before = y.copy(), y[I]
        y[I] = loss.maximise(np.einsum("ipab,pab->i", D[I], Xe), before, n / sigma, b[I])
        ye[I] += n / len(I) * (y[I] - before)
        old, X = X, X.copy()
        for j in J:
            W = np.einsum("i,iab->ab", s * ye, D[:, j])
            # the minimum of a sum of two squares and a linear part, over the cone, is the projection of their mean
            X[j] = nearest_psd((l2[j] * C[j] + l2[j] / tau * old[j] - W - L[j]) / (l2[j] + l2[j] / tau))
        Xe = old + (theta + 1) * (X - old)
    return X, y
