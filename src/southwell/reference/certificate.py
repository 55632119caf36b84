"""The duality gap from its formulas.

    P(x)   = sum_i s_i phi_i(m_i) + sum_j g_j(x_j)                     m = A x
    D(y)   = - sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j)                z = A'(s o y)
    gap    = P(x) - D(y) = sum_i s_i [phi_i(m_i) + phi_i*(y_i) - y_i m_i] + sum_j [g_j(x_j) + g_j*(-z_j) + z_j x_j]

Any x and any feasible y give P(x) - P* <= gap. Feasible means: z_j = 0 for the intercept (y is balanced), and
|z_j| <= l1 if l2 = 0 (y is scaled towards 0, which is in every dom phi*). An intercept is a last column of ones in A.
"""  # fmt: skip

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq


def best_shift(b, s, loss, m) -> float:
    """The c with sum_i s_i phi_i'(m_i + c) = 0: the one-dimensional problem of the intercept."""

    def slope(c):
        return s @ loss.derivative(m + c, b)

    reach = 1.0
    while slope(-reach) > 0 or slope(reach) < 0:
        reach *= 2
    return brentq(slope, -reach, reach, xtol=1e-15, rtol=4 * np.finfo(float).eps)


def balanced(s, y):
    """y with its positive or negative part scaled until sum_i s_i y_i = 0."""
    up, down = s @ np.maximum(y, 0), s @ np.maximum(-y, 0)
    if up > down:
        return np.where(y > 0, y * (down / up), y)
    return np.where(y < 0, y * (up / down), y) if down > up else y


def scales(A, s, net, y, intercept: bool) -> list[float]:
    """Scales of y to try: the largest that is feasible, and the largest that would be if l2 were 0."""
    v = -(A.T @ (s * y))[: A.shape[1] - intercept]
    head = slice(0, v.size)
    plain = replace(net, l1=net.l1[head], l2=np.zeros(v.size), lo=net.lo[head], hi=net.hi[head])
    hard = replace(plain, l2=net.l2[head])
    return [hard.feasible_scale(v).min(), plain.feasible_scale(v).min()]


def certificate(A, b, s, loss, net, x, y=None, intercept: bool = False) -> tuple[float, float, float]:
    """P(x), the best D(t y) and their difference; without y, y = phi'(m), m with the best intercept."""
    m = A @ x
    if y is None:
        y = loss.derivative(m + (best_shift(b, s, loss, m) if intercept else 0.0), b)
    y = balanced(s, y) if intercept else y
    z = A.T @ (s * y)
    if intercept:
        z[-1] = 0.0  # balanced up to rounding
    P = s @ loss.value(m, b) + net.value(x).sum()
    D = max(-(s @ loss.conjugate(t * y, b)) - net.conjugate(-t * z).sum() for t in scales(A, s, net, y, intercept))
    return P, D, P - D


def brackets(A, b, s, loss, net, x, y) -> tuple[np.ndarray, np.ndarray]:
    """The terms of the gap, one a sample and one a feature, each >= 0 for feasible y."""
    m, z = A @ x, A.T @ (s * y)
    samples = s * (loss.value(m, b) + loss.conjugate(y, b) - y * m)
    features = net.value(x) + net.conjugate(-z) + z * x
    return samples, features
