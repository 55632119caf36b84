"""Problems constructed to have a known solution.

Choose margins m*, a dual point y* = phi'(m*), a sparse x* and the slopes z* with -z* in the subdifferential of g at x*;
then change a random matrix so that A x* = m* and A'(s o y*) = z*. Both can hold only if <s o y*, m*> = <z*, x*>, which
determines the length of x*. The duality gap of (x*, y*) is then zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import losses
from ..losses import Loss
from ..penalties import ElasticNet


@dataclass(frozen=True)
class Planted:
    """Data, penalty and the solution they were made for; ``primal`` is the optimum."""

    A: np.ndarray
    b: np.ndarray
    loss: Loss
    penalty: ElasticNet
    sample_weight: np.ndarray | None
    x: np.ndarray
    y: np.ndarray
    primal: float


def plant(
    loss: str | Loss, n: int = 60, d: int = 30, *, l1: float = 0.02, l2: float = 0.05, nonzeros: int = 5,
    weighted: bool = False, seed: int = 0,
) -> Planted:  # fmt: skip
    """A problem of shape (n, d) with a known solution, for any loss; l1 or l2 must be positive."""
    loss = losses.get(loss)
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    s /= s.sum()
    margins, b, y = _samples(loss, rng, n)
    support = rng.choice(d, nonzeros, replace=False)
    x = np.zeros(d)
    x[support] = rng.choice((-1.0, 1.0), nonzeros) * rng.uniform(0.5, 1.5, nonzeros)
    # <z*, x*> = -(l1 |x| + l2 |x|^2) must equal <s y, m>: the positive root for the length of x.
    linear, square, wanted = l1 * np.abs(x).sum(), l2 * (x @ x), -(s * y) @ margins
    x *= wanted / linear if square == 0 else (np.sqrt(linear**2 + 4 * square * wanted) - linear) / (2 * square)
    slopes = -(l1 * rng.uniform(-0.9, 0.9, d))
    slopes[support] = -(l1 * np.sign(x[support]) + l2 * x[support])
    A = rng.standard_normal((n, d))
    w = s * y
    off_m, off_z = margins - A @ x, slopes - A.T @ w
    A += np.outer(off_m, x) / (x @ x) + np.outer(w, off_z) / (w @ w) - (w @ off_m) * np.outer(w, x) / (w @ w) / (x @ x)
    penalty = ElasticNet(l1, l2)
    primal = float(s @ loss.value(margins, b) + l1 * np.abs(x).sum() + l2 / 2 * (x @ x))
    return Planted(A, b, loss, penalty, s if weighted else None, x, y, primal)


def _samples(loss: Loss, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margins, targets and y in the subdifferential of phi, with <y, m> < 0 in every part of the loss's shape."""
    if loss.targets == "signs":
        b = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        margins = b * rng.uniform(0.1, 1.5, n)
        if not loss.smooth:  # a third of the samples is at the kink
            kink = np.arange(n) % 3 == 0
            margins[kink] = b[kink]
            y = loss.derivative(margins, b)
            y[kink] = -b[kink] * rng.uniform(0.1, 0.9, kink.sum())
            return margins, b, y
        return margins, b, loss.derivative(margins, b)
    margins = rng.choice((-1.0, 1.0), n) * rng.uniform(0.2, 1.0, n)
    if loss.log_link:  # b = e^m + r, with the sign of r such that <y, m> < 0, and b > 0
        b = np.exp(margins) + np.sign(margins) * rng.uniform(0.0, 0.3, n)
        return margins, b, loss.derivative(margins, b)
    b = margins + np.sign(margins) * rng.uniform(0.01, 2.0, n)
    if not loss.smooth:
        kink = np.arange(n) % 3 == 0
        epsilon = getattr(loss, "epsilon", 0.0)
        b[kink] = margins[kink] + epsilon * np.sign(margins[kink])
        y = loss.derivative(margins, b)
        y[kink] = -np.sign(margins[kink]) * rng.uniform(0.1, 0.4, kink.sum())
        return margins, b, y
    return margins, b, loss.derivative(margins, b)
