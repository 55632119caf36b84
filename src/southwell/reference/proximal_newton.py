"""Proximal Newton with coordinate descent for its subproblems, and gap-safe screening.

Problem    min_x  P(x) = sum_i s_i phi_i(m_i) + sum_j g_j(x_j),       m = A x

Step       With the first two derivatives of the loss at m, r = s o phi'(m) and h = s o phi''(m), sweeps over the
           coordinates of u, from u = x, minimise the model

               q(u) = <A'r, u - x> + (1/2) (u - x)'A'diag(h)A (u - x) + sum_j g_j(u_j)

           and x moves towards u by the first step length of 1, 1/2, 1/4, ... with a sufficient decrease of P.

Papers     Lee, Sun, Saunders, "Proximal Newton-Type Methods for Minimizing Composite Functions", SIAM J. Optim. 24,
           2014, algorithm 1. The rules: Ndiaye, Fercoq, Gramfort, Salmon, "Gap Safe Screening Rules for Sparsity
           Enforcing Penalties", JMLR 18, 2017; Shibagaki, Karasuyama, Hatano, Takeuchi, "Simultaneous Safe Screening
           of Features and Samples in Doubly Sparse Modeling", ICML 2016.

Kept       only A'diag(h)A within a step. An intercept is a last column of ones in A with g = 0.
"""  # fmt: skip

from __future__ import annotations

import numpy as np


def proximal_newton(A, b, s, loss, net, x=None, steps: int = 100, sweeps: int = 1000, floor: float = 1e-3):
    """Take ``steps`` steps, or fewer if no step decreases P any more.

    Parameters
    ----------
    A, b, s : array
        Dense data, targets, and weights that sum to one.
    loss : Loss
        Smooth.
    net : ElasticNet
        Of this package, one number a coordinate.
    x : array, optional
        The starting point; default: zero, or the feasible point nearest to it.
    steps, sweeps : int
        The number of steps, and the largest number of sweeps within each.
    floor : float
        A lower bound for phi'' in the model, because a sample on a linear piece of its loss may leave it.

    Returns
    -------
    x : array
    """
    x = np.clip(np.zeros(A.shape[1]) if x is None else x, net.lo, net.hi)

    def objective(x):
        return s @ loss.value(A @ x, b) + net.value(x).sum()

    for _ in range(steps):
        m = A @ x
        slopes = A.T @ (s * loss.derivative(m, b))
        H = A.T @ ((s * np.maximum(loss.second_derivative(m, b), floor))[:, None] * A)
        step = minimise_model(slopes, H, net, x, sweeps) - x
        promised = slopes @ step + (net.value(x + step) - net.value(x)).sum()
        part = 1.0
        while part > 1e-10 and objective(x + part * step) > objective(x) + 0.01 * part * promised:
            part /= 2
        if part <= 1e-10 or promised >= 0:
            break
        x = np.clip(x + part * step, net.lo, net.hi)
    return x


def minimise_model(slopes, H, net, x, sweeps: int):
    """argmin_u  <slopes, u - x> + (1/2)(u - x)'H(u - x) + sum_j g_j(u_j), a coordinate at a time.

    Parameters
    ----------
    slopes, H : array
        First and second derivatives at x.
    net : ElasticNet
    x : array
    sweeps : int
        The largest number of sweeps.

    Returns
    -------
    u : array
    """
    u = x.copy()
    for _ in range(sweeps):
        before = u.copy()
        for j in np.flatnonzero(np.diag(H) > 0):
            u[j] = net[j].prox(u[j] - (slopes[j] + H[j] @ (u - x)) / H[j, j], 1 / H[j, j])
        if np.abs(u - before).max() <= 1e-15 * np.abs(u).max():
            break
    return u


def gap_safe_features(A, s, loss, net, y, gap: float):
    """Which coordinates are zero in every solution, by a feasible y whose D(y) is within ``gap`` of the optimum.

    D is gamma-strongly concave in the norm weighed by s, so the optimal y is within sqrt(2 gap / gamma), and the slope
    of j within that times sqrt(sum_i s_i a_ij^2). If all such slopes are inside the subdifferential of g_j at 0, then 0
    is the only minimiser.

    Parameters
    ----------
    A, s : array
    loss : Loss
        Without a bound 1/gamma on phi'' nothing is screened.
    net : ElasticNet
    y : array
        Feasible.
    gap : float

    Returns
    -------
    zero : array of bool
    """
    if not np.isfinite(loss.smoothness):
        return np.zeros(A.shape[1], dtype=bool)
    room = np.sqrt(2 * gap * loss.smoothness * (s @ A**2))
    v = -(A.T @ (s * y))
    low = np.where(net.lo < 0, -net.l1, np.where(net.lo == 0, -np.inf, np.nan))  # of the subdifferential at 0
    high = np.where(net.hi > 0, net.l1, np.where(net.hi == 0, np.inf, np.nan))
    return (v - room > low) & (v + room < high)


def gap_safe_samples(A, b, loss, net, x, gap: float):
    """Which samples have the same derivative wherever the solution is, by an x whose P(x) is within ``gap`` of it.

    P is l2-strongly convex, so the solution is within sqrt(2 gap / l2), and the margin of i within that times
    ||a_i||. If phi_i' is the same at both ends, it is the optimal y_i.

    Parameters
    ----------
    A, b : array
    loss : Loss
    net : ElasticNet
        If l2 = 0 for a coordinate, as for an intercept, nothing is screened.
    x : array
    gap : float

    Returns
    -------
    known : array of bool
    """
    if net.l2.min() == 0:
        return np.zeros(b.size, dtype=bool)
    m, room = A @ x, np.sqrt(2 * gap / net.l2.min() * (A**2).sum(axis=1))
    return loss.derivative(m - room, b) == loss.derivative(m + room, b)
