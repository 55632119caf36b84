"""Doubly greedy primal-dual coordinates on active sets: only features and samples that may be nonzero are visited.

Problem    that of spdc.py, with its weights and its perturbation; the bounds contain 0.

Paper      that of dgpd.py, algorithm 2. x and y are 0 outside the active features J and samples I. An epoch is

               search features   xbar = grad g*(-z), z = A'(s o y): the largest |xbar_j| not in J enter           (10)
               search samples    s_i |phi_i'(m_i)|, m = A x: the largest not in I enter                           (12)
               passes            over A[I, J]
               zeros leave       when they are a quarter of J or of I

           At most ``enter`` enter, 1 in the paper; with ``doubling`` as many as there are in the set, if that is more.
           A pass is one of two.

           Together, the paper's: x_J = xbar_J, then all of I with one weight q,                            (11), (13)

               y_i^+ = argmax_y  y <a_i, x> - phi_i*(y) - (q/2)(y - y_i)^2,   q = ease sum_I s_i C_i,
               C_i = sum_J a_ij^2 / l2_j;

           ease is multiplied by 0.8 if the gap of the restricted problem has fallen since the last pass of the epoch
           (so not after the first), else by 2, up to 1. ease = 1 is safe: sum_I s_i C_i bounds the
           curvature of g*(-A'(s o y)) in the norm sum_i s_i y_i^2. A ``weight`` that is given is q. In turn: one sample
           after the other, q = s_i C_i, and x_J = xbar_J after each: dual coordinate ascent on the restricted problem.

           With perturb = (dx, dy) squares around centres are added to g and phi*: around 0 or, with ``recentre_every``,
           around the start. Then the centres of those that leave become 0, and the others move to x and y after so
           many epochs.

Kept       J and I in the order of entry, x, y, ease, centres; all else is recomputed.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from .._typing import Numbers
from ..losses import Loss
from .elastic_net import ElasticNet
from .spdc import begin


@dataclass
class ActiveSets:
    """The state of the method; ``columns`` and ``rows`` are J and I."""

    A: np.ndarray
    b: np.ndarray
    s: np.ndarray
    loss: Loss
    net: ElasticNet
    x: Numbers = None
    y: Numbers = None
    enter: int = 64
    doubling: bool = True
    weight: float = 0.0
    perturb: tuple[float, float] = (0.0, 0.0)
    ease: float = 1.0
    columns: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x, self.y, c, e = begin(self.A, self.net, self.x, self.y)
        self.centre = c.copy(), e.copy()
        self.columns, self.rows = (np.flatnonzero(v).tolist() for v in (self.x, self.y))

    # g and phi*, perturbed

    def xbar(self) -> np.ndarray:
        """argmin_x of the saddle function, over all features."""
        (dx, _), (c, _) = self.perturb, self.centre
        held = replace(self.net, l2=self.net.l2 + dx)
        return np.asarray(held.conjugate_gradient(dx * c - self.A.T @ (self.s * self.y)))

    def ybar(self, q: float = 0.0) -> np.ndarray:
        """argmax_y of the saddle function - (q/2) ||y - y_now||^2, sample by sample."""
        (_, dy), (_, e) = self.perturb, self.centre
        near = (dy * e + q * self.y) / (dy + q) if dy + q > 0 else self.y
        return np.asarray(self.loss.maximise(self.A @ self.x, near, dy + q, self.b))

    def curvature(self) -> np.ndarray:
        """C_i."""
        J = self.columns
        return np.asarray(self.A[:, J] ** 2 @ (1 / (self.net.l2[J] + self.perturb[0])))

    def primal_terms(self, x: Numbers) -> np.ndarray:
        (dx, _), (c, _), z = self.perturb, self.centre, self.A.T @ (self.s * self.y)
        return np.asarray(self.net.value(x) + dx / 2 * (x - c) ** 2 + z * x)

    def dual_terms(self, y: Numbers) -> np.ndarray:
        (_, dy), (_, e) = self.perturb, self.centre
        return np.asarray(y * (self.A @ self.x) - self.loss.conjugate(y, self.b) - dy / 2 * (y - e) ** 2)

    def gap(self) -> float:
        """The duality gap of the restricted problem at x_J and y_I."""
        J, I = self.columns, self.rows
        excess = self.primal_terms(self.x) - self.primal_terms(self.xbar())
        shortfall = self.dual_terms(self.ybar()) - self.dual_terms(self.y)
        return float(excess[J].sum() + self.s[I] @ shortfall[I])

    def dual(self) -> float:
        """D(y) of the restricted problem."""
        (_, dy), (_, e), J = self.perturb, self.centre, self.columns
        paid = self.loss.conjugate(self.y, self.b) + dy / 2 * (self.y - e) ** 2
        return float(self.primal_terms(self.xbar())[J].sum() - self.s @ paid)

    # The parts of an epoch

    def search(self) -> None:
        self._enter(self.columns, np.abs(self.xbar()))
        self._enter(self.rows, self.s * np.abs(self.ybar()))

    def _enter(self, active: list[int], score: np.ndarray) -> None:
        score[active] = 0.0
        best = np.argsort(-score, kind="stable")[: max(self.enter, len(active) if self.doubling else 0)]
        active += [int(k) for k in best if score[k] > 0]

    def pass_together(self) -> None:
        J, I = self.columns, self.rows
        self.x[J] = self.xbar()[J]
        self.y[I] = self.ybar(self.weight or self.ease * (self.s[I] @ self.curvature()[I]))[I]

    def adapt(self, fell: bool) -> None:
        self.ease = max(0.8 * self.ease, 1e-9) if fell else min(2 * self.ease, 1.0)

    def pass_in_turn(self, order: Iterable[int]) -> None:
        """``order``: the active samples, in some order."""
        J = self.columns
        self.x[J] = self.xbar()[J]
        for i in order:
            self.y[i] = self.ybar(self.s[i] * self.curvature()[i])[i]
            self.x[J] = self.xbar()[J]

    def release(self) -> None:
        lists = (self.columns, self.x, self.centre[0]), (self.rows, self.y, self.centre[1])
        if all(4 * np.count_nonzero(v[active] == 0) < len(active) for active, v, _ in lists):
            return
        for active, v, centre in lists:
            gone = [k for k in active if v[k] == 0]
            centre[gone] = 0.0
            active[:] = [k for k in active if v[k] != 0]

    def recentre(self) -> None:
        for active, v, centre in ((self.columns, self.x, self.centre[0]), (self.rows, self.y, self.centre[1])):
            centre[active] = v[active]


def active_sets(
    A: np.ndarray, b: Numbers, s: Numbers, loss: Loss, net: ElasticNet, epochs: int, *, passes: int = 5,
    enter: int = 64, doubling: bool = True, weight: float = 0.0, adapt: bool = True, ease: float = 1.0,
    x: Numbers = None, y: Numbers = None, perturb: tuple[float, float] = (0.0, 0.0), recentre_every: int = 0,
) -> Numbers:  # fmt: skip
    """Runs the passes "together"; returns x, y and for each epoch the features and samples that are active after it."""
    at = ActiveSets(A, b, s, loss, net, x, y, enter, doubling, weight, perturb, ease)
    if recentre_every:
        at.centre = at.x.copy(), at.y.copy()
    active = []
    for epoch in range(1, epochs + 1):
        at.search()
        last = None
        for _ in range(passes):
            at.pass_together()
            gap = at.gap()
            if adapt and last is not None:
                at.adapt(gap < last)
            last = gap
        at.release()
        if recentre_every and epoch % recentre_every == 0:
            at.recentre()
        active.append((list(at.columns), list(at.rows)))
    return at.x, at.y, active
