"""Laws of a loss phi(m; b) over k margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from .. import _core
from .._typing import Numbers
from ._brute import EPS, close, hold
from .losses import TARGETS


class Tasks:
    """A loss of one margin over k columns of margins and targets, as the core sums it."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss
        self.smoothness = loss.smoothness

    def over(self, b: Numbers, width: int, weights: Numbers) -> Numbers:
        return _core.task_loss(self.loss.core, width, np.ravel(b).astype(float), weights, np.empty(0))

    def value(self, m: Numbers, b: Numbers) -> Numbers:
        return self._by_sample("value", m, b)

    def conjugate(self, y: Numbers, b: Numbers) -> Numbers:
        return self._by_sample("conjugate", y, b)

    def derivative(self, m: Numbers, b: Numbers) -> Numbers:
        return self.over(b, m.shape[1], np.ones(len(m))).derivative(m.ravel()).reshape(m.shape)

    def second_derivative(self, m: Numbers, b: Numbers) -> Numbers:
        over, y = self.over(b, m.shape[1], np.ones(len(m))), self.derivative(m, b).ravel()
        columns = [over.bend(y, np.tile(unit, len(m))).reshape(m.shape) for unit in np.eye(m.shape[1])]
        return np.stack(columns, axis=2)

    def maximise(self, m: Numbers, y0: Numbers, q: Numbers, b: Numbers) -> Numbers:
        return self.over(b, m.shape[1], np.ones(len(m))).maximise(m.ravel(), y0.ravel(), q).reshape(m.shape)

    def prox_conjugate(self, v: Numbers, step: Numbers, b: Numbers) -> Numbers:
        return self.maximise(np.zeros_like(v), v, 1 / step, b)

    def _by_sample(self, name: str, table: Numbers, b: Numbers) -> np.ndarray:
        one, k = np.ones(1), table.shape[1]
        return np.array([getattr(self.over(t, k, one), name)(row) for row, t in zip(table, b, strict=True)])

    def __repr__(self) -> str:
        return f"Tasks({self.loss!r})"


def check_block_loss(loss: Any, width: int = 3) -> None:
    """Check every law a loss over ``width`` margins a sample must obey.

    * ``derivative`` equals central differences of ``value`` and ``second_derivative`` those of ``derivative``; the
      second is symmetric and positive semi-definite, and ``smoothness`` bounds it, and changes of the first;
    * ``into_domain`` gives the nearest point of the conjugate's domain; outside, the conjugate is infinite; 0 is
      inside, and so are points scaled towards it;
    * Fenchel-Young: phi(m) + phi*(y) >= <y, m>, with equality at y = phi'(m), and the conjugate is the supremum found
      by brute force;
    * ``maximise(m, y0, q, b)`` solves its problem for q from 0 to 1e8, and ``prox_conjugate`` obeys Moreau's identity;
    * ``balance`` gives sum_i s_i y_i = 0 inside the domain, and leaves what is balanced alone;
    * margins of 700 and 1e10, tied or not, give finite numbers and the same equalities.

    Parameters
    ----------
    loss : ClassLoss or Tasks
        With ``value, derivative, second_derivative, conjugate, maximise, prox_conjugate`` over tables of shape
        (n_samples, width), ``smoothness``, and ``over(b, width, weights)`` for what concerns all samples.
    width : int

    Raises
    ------
    AssertionError
        Naming the law and a sample where it is broken.

    Examples
    --------
    >>> import southwell as sw
    >>> from southwell.testing import check_block_loss
    >>> check_block_loss(sw.losses.MulticlassHinge(0.5), 4)
    """
    rng = np.random.default_rng(width)
    m = np.concatenate([scale * rng.normal(size=(12, width)) for scale in (0.0, 0.3, 2.0, 10.0, 100.0)])
    if not np.isfinite(loss.smoothness):
        m = np.minimum(m, 8.0)  # so that differences of e^m are accurate
    b = _targets(loss, len(m), width, rng)
    y = _duals(loss, m, b, rng)
    _derivatives(loss, m, b)
    _domain(loss, y, b, rng)
    _fenchel_young(loss, m, y, b)
    _supremum(loss, y, b)
    _maximise(loss, m, y, b)
    _moreau(loss, m, b)
    _balance(loss, y, b, rng)
    _extremes(loss, b, width)


def _targets(loss: Any, n: int, width: int, rng: np.random.Generator) -> np.ndarray:
    if isinstance(loss, Tasks):
        return rng.choice(TARGETS[loss.loss.targets], (n, width))
    return np.arange(n) % width


def _duals(loss: Any, m: Numbers, b: Numbers, rng: np.random.Generator) -> np.ndarray:
    """Points of the domain: inside, on its faces, at its corners, and 0."""
    n, k = m.shape
    far = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-2, 1, (n, 1))
    y = loss.over(b, k, np.full(n, 1 / n)).into_domain(far.ravel()).reshape(n, k)
    y[1::4] = loss.derivative(m, b)[1::4]
    y[::9] = 0.0
    return np.asarray(y)


def _derivatives(loss: Any, m: Numbers, b: Numbers) -> None:
    h, first, second = 1e-5, loss.derivative(m, b), loss.second_derivative(m, b)
    size = 1 + np.abs(loss.value(m, b)) + np.abs(first * m).sum(axis=1)
    for c, unit in enumerate(np.eye(m.shape[1])):
        up, down = m + h * unit, m - h * unit
        got = (loss.value(up, b) - loss.value(down, b)) / (2 * h)
        bend = np.maximum(loss.second_derivative(up, b)[:, c, c], loss.second_derivative(down, b)[:, c, c])
        slack = 16 * EPS * size / h + h * (1 + bend)  # where phi'' jumps, the error of a difference is of order h
        hold(loss, f"derivative equals central differences of value (margin {c})", np.abs(got - first[:, c]) <= slack,
             sample=np.arange(len(m)), difference=got, derivative=first[:, c])  # fmt: skip
        got = (loss.derivative(up, b) - loss.derivative(down, b)) / (2 * h)
        jump = np.abs(loss.second_derivative(up, b) - loss.second_derivative(down, b)).max(axis=(1, 2))
        calm = jump <= 1e-4 * (1 + np.abs(second).max(axis=(1, 2)))
        hold(loss, "phi'' jumps at few points only", np.mean(calm) >= 0.5)
        slack = (16 * EPS * (1 + np.abs(first) + np.abs(m)) / h + 1e-6 * (1 + np.abs(second).max(axis=2)))[calm]
        hold(loss, f"second_derivative equals central differences of derivative (margin {c})",
             np.abs(got[calm] - second[calm][:, :, c]) <= slack)  # fmt: skip
    hold(loss, "second_derivative is symmetric", np.abs(second - second.swapaxes(1, 2)) <= 1e-14 * np.abs(second).max())
    eigenvalues = np.linalg.eigvalsh(second)
    hold(loss, "second_derivative is positive semi-definite", eigenvalues >= -1e-13 * (1 + np.abs(second).max()))
    hold(loss, "smoothness bounds second_derivative", eigenvalues <= loss.smoothness * (1 + 1e-12))
    if np.isfinite(loss.smoothness):
        other = np.concatenate([m + 0.1, m[:, ::-1], m * 1.01, np.zeros_like(m)])
        same, again = np.tile(m, (4, 1)), np.concatenate([b] * 4)
        change = np.linalg.norm(loss.derivative(other, again) - loss.derivative(same, again), axis=1)
        most = loss.smoothness * np.linalg.norm(other - same, axis=1)
        hold(loss, "smoothness bounds the change of derivative between any two points",
             change <= most * (1 + 1e-9) + 16 * EPS * (1 + np.abs(same).max(axis=1)),
             change=change, most=most)  # fmt: skip


def _domain(loss: Any, y: Numbers, b: Numbers, rng: np.random.Generator) -> None:
    n, k = y.shape
    over = loss.over(b, k, np.full(n, 1 / n))
    hold(loss, "0 is in the domain of the conjugate", np.isfinite(loss.conjugate(np.zeros_like(y), b)))
    for scale in (1.0, 0.99, 0.5, 1e-3, 1e-12, 0.0):
        hold(loss, "points of the domain scaled towards 0 stay inside", np.isfinite(loss.conjugate(scale * y, b)),
             sample=np.arange(n), scale=scale)  # fmt: skip
    kept = over.into_domain(y.ravel()).reshape(n, k)
    hold(loss, "into_domain leaves what is inside", np.abs(kept - y) <= 1e-13)
    for size in (0.1, 1.0, 30.0, 1e6):
        v = size * rng.normal(size=(n, k))
        p = over.into_domain(v.ravel()).reshape(n, k)
        away = np.linalg.norm(v - p, axis=1)
        hold(loss, "into_domain answers inside the domain", np.isfinite(loss.conjugate(p, b)),
             sample=np.arange(n), conjugate=loss.conjugate(p, b))  # fmt: skip
        hold(loss, "the conjugate is infinite outside its domain",
             np.isinf(loss.conjugate(v, b)) | (away <= 1e-6), away=away)  # fmt: skip
        for inside in (y, 0 * y, loss.derivative(np.where(np.arange(k) == np.arange(n)[:, None] % k, 30.0, 0.0), b)):
            # p is nearest to v if and only if no point of the domain lies beyond the plane through p orthogonal to v -
            # p.
            beyond = ((v - p) * (inside - p)).sum(axis=1)
            hold(loss, "into_domain gives the nearest point of the domain",
                 beyond <= 1e-10 * (1 + away) * (1 + np.linalg.norm(inside - p, axis=1)), beyond=beyond)  # fmt: skip


def _fenchel_young(loss: Any, m: Numbers, y: Numbers, b: Numbers) -> None:
    n = len(m)
    value, conjugate = loss.value(m, b), loss.conjugate(y, b)
    for shift in range(0, n, 5):
        far = np.roll(m, shift, axis=0)
        right = (y * far).sum(axis=1)
        left = loss.value(far, b) + conjugate
        hold(loss, "Fenchel-Young: phi(m) + phi*(y) >= <y, m>",
             left - right >= -1e-12 * (1 + np.abs(left) + np.abs(y * far).sum(axis=1)),
             sample=np.arange(n), left=left, right=right)  # fmt: skip
    first = loss.derivative(m, b)
    left, right = value + loss.conjugate(first, b), (first * m).sum(axis=1)
    size = np.abs(value) + np.abs(first * m).sum(axis=1) + np.abs(first).sum(axis=1) * (1 + np.abs(b).max())
    hold(loss, "Fenchel-Young is an equality at y = phi'(m)", close(left, right, 1e-13, size),
         sample=np.arange(n), left=left, right=right)  # fmt: skip


def _supremum(loss: Any, y: Numbers, b: Numbers) -> None:
    """sup over m of <y, m> - phi(m), by ascent; on faces of the domain it may be at infinity."""
    for i in range(0, len(y), 5):
        row, own = y[i : i + 1], b[i : i + 1]

        def fall(m: Numbers, row: Numbers = row, own: Numbers = own) -> Numbers:
            m = np.minimum(m, 300.0)[None]
            return loss.value(m, own)[0] - (row * m).sum(), (loss.derivative(m, own) - row)[0]

        climbed = -minimize(fall, np.zeros(row.size), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
        got = loss.conjugate(row, own)[0]
        hold(loss, "conjugate equals the supremum of <y, m> - phi(m)",
             climbed - 1e-9 * (1 + abs(got)) <= got <= climbed + 1e-5 * (1 + abs(got)),
             sample=i, conjugate=got, supremum=climbed)  # fmt: skip


def _maximise(loss: Any, m: Numbers, y: Numbers, b: Numbers) -> None:
    """The objective is q-strongly concave: its maximum exceeds any value by (q/2) times the squared distance."""
    n = len(m)
    for q in (0.0, 1e-9, 1e-3, 1.0, 30.0, 1e4, 1e8):
        got = loss.maximise(m, y, q, b)
        hold(loss, f"maximise answers inside the domain (q = {q:g})", np.isfinite(loss.conjugate(got, b)),
             sample=np.arange(n))  # fmt: skip
        u = m - q * (got - y)  # the answer is phi' here
        off = np.abs(loss.derivative(u, b) - got).max(axis=1)
        bend = loss.smoothness if np.isfinite(loss.smoothness) else 1 + np.abs(got).max(axis=1) + np.abs(b).max()
        rounding = 1e-14 * (1 + np.abs(got).max(axis=1) + np.abs(b).max())
        rounding = rounding + bend * 64 * EPS * (
            1 + np.abs(m).max(axis=1) + q * (1 + np.abs(got) + np.abs(y)).max(axis=1)
        )
        hold(loss, f"maximise is phi' at m - q (y - y0) (q = {q:g})", off <= 10 * rounding,
             sample=np.arange(n), off=off, rounding=rounding)  # fmt: skip

        def objective(at: Numbers, q: Numbers = q) -> Numbers:
            return (at * m).sum(axis=1) - loss.conjugate(at, b) - q / 2 * ((at - y) ** 2).sum(axis=1)

        best = objective(got)
        size = 1 + np.abs(got * m).sum(axis=1) + q * ((got - y) ** 2).sum(axis=1) + np.abs(loss.conjugate(got, b))
        for other in (y, 0 * y, loss.derivative(m, b), np.roll(y, 1, axis=1) if isinstance(loss, Tasks) else y):
            for part in (1.0, 1e-2, 1e-4):
                near = got + part * (other - got)
                with np.errstate(invalid="ignore"):
                    worse = best - objective(near) - q / 2 * ((near - got) ** 2).sum(axis=1)
                rounding = 8 * EPS * m.shape[1] * q * np.abs(near - got).sum(axis=1)  # of y, which sums to 0
                hold(loss, f"maximise(m, y0, q, b) maximises <y, m> - phi*(y) - (q/2) ||y - y0||^2 (q = {q:g})",
                     worse >= -1e-12 * size - rounding, sample=np.arange(n), worse=worse)  # fmt: skip


def _moreau(loss: Any, m: Numbers, b: Numbers) -> None:
    """v = prox of step phi* at v + step (prox of phi / step at v / step), the second found by descent."""
    for i in range(0, len(m), 6):
        v, own = np.clip(m[i : i + 1], -20, 20), b[i : i + 1]
        for step in (0.05, 1.0, 9.0):
            got = loss.prox_conjugate(v, step, own)

            def fall(u: Numbers, v: Numbers = v, own: Numbers = own, step: Numbers = step) -> Numbers:
                u = u[None]
                off = u - v / step
                slope = loss.derivative(u, own) + step * off
                return loss.value(u, own)[0] + step / 2 * (off**2).sum(), slope[0]

            u = minimize(fall, np.minimum(v / step, 2.0)[0], jac=True, method="BFGS", options={"gtol": 1e-10}).x
            hold(loss, "Moreau: v = prox_conjugate(v, step) + step prox of phi / step at v / step",
                 close(got[0] + step * u, v[0], 1e-5, np.abs(step * u)),
                 v=v[0], step=step, prox_conjugate=got[0], prox=u)  # fmt: skip


def _balance(loss: Any, y: Numbers, b: Numbers, rng: np.random.Generator) -> None:
    n, k = y.shape
    for s in (np.full(n, 1 / n), rng.dirichlet(np.full(n, 0.3))):
        over = loss.over(b, k, s)
        got = over.balance(y.ravel()).reshape(n, k)
        off = np.abs(s @ got)
        size = s @ np.abs(y).sum(axis=1)
        hold(loss, "balance gives sum_i s_i y_i = 0", off <= 1e-14 * (1 + size), off=off)
        hold(loss, "balance stays in the domain", np.isfinite(loss.conjugate(got, b)), sample=np.arange(n))
        again = over.balance(got.ravel()).reshape(n, k)
        hold(loss, "balance leaves what is balanced", np.abs(again - got) <= 1e-9 * (1 + np.abs(got)))


def _extremes(loss: Any, b: Numbers, width: int) -> None:
    bound = 1e10 if np.isfinite(loss.smoothness) else 300.0
    rows = []
    for far in (700.0, 1e3, 1e6, 1e10):
        unit = np.eye(width)[0]
        rows += [far * unit, -far * unit, far * unit[::-1], np.full(width, far), np.full(width, -far)]
        rows += [far * (np.arange(width) < 2), far * np.linspace(-1, 1, width), far * unit - 1.0, far + unit]
    m = np.clip(np.array(rows), -1e10, bound)
    b = np.resize(b, (len(m), *b.shape[1:]))
    value, first, second = loss.value(m, b), loss.derivative(m, b), loss.second_derivative(m, b)
    conjugate = loss.conjugate(first, b)
    where = {"sample": np.arange(len(m)), "largest": m.max(axis=1), "smallest": m.min(axis=1)}
    hold(loss, "value is finite far out", np.isfinite(value), **where)
    hold(loss, "derivative is finite far out", np.isfinite(first).all(axis=1), **where)
    hold(loss, "second_derivative is finite far out", np.isfinite(second).all(axis=(1, 2)), **where)
    hold(loss, "the conjugate is finite at any derivative", np.isfinite(conjugate), **where, conjugate=conjugate)
    size = np.abs(value) + np.abs(first * m).sum(axis=1) + np.abs(first * np.abs(b).max()).sum(axis=1)
    hold(loss, "Fenchel-Young is an equality at y = phi'(m), far out too",
         close(value + conjugate, (first * m).sum(axis=1), 1e-12, size), **where, value=value)  # fmt: skip
    tangent = loss.value(0 * m, b) + (loss.derivative(0 * m, b) * m).sum(axis=1)
    hold(loss, "phi lies above its tangent at 0", value >= tangent - 1e-12 * (1 + np.abs(m).max(axis=1)),
         **where, value=value, tangent=tangent)  # fmt: skip
