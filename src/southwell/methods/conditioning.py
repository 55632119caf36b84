"""The conditioning of a saddle problem, and the perturbations that replace missing strong convexity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from .._names import flag, positive, settle, shown
from ..problem import Problem
from .base import Method


@dataclass(frozen=True)
class Conditioning:
    """The constants from which step sizes are computed.

    With sample weights the problem is the papers' with rows sqrt(w_i) a_i, w = n s: ``norms`` are those of such rows.
    ``l2`` and ``gamma`` are the strong convexity of g and of each phi*, perturbations included; ``dx`` and ``dy`` are
    the perturbations.
    """

    n: int
    norms: np.ndarray
    l2: float
    gamma: float
    dx: float = 0.0
    dy: float = 0.0

    @property
    def largest(self) -> float:
        """R, never zero, so that step sizes are finite for data without entries."""
        return max(float(self.norms.max()), np.finfo(float).tiny ** 0.25)

    @property
    def mean(self) -> float:
        return max(float(self.norms.mean()), np.finfo(float).tiny ** 0.25)


class Recentring(TypedDict):
    """Perturbations, and after how many epochs their centres move; 0: never."""

    dx: float
    dy: float
    recentre_every: int


def row_norms(problem: Problem) -> np.ndarray:
    """sqrt(n s_i) ||a_i||, with the 1 of an intercept; kept, because it takes a pass over the data."""

    def measure() -> np.ndarray:
        squares = problem.ready_layout().row_squared_norms()
        if not np.isfinite(squares).all():
            raise ValueError("The squares of A overflow in a row. Scale A down, or use CoordinateDescent.")
        return np.sqrt(problem.n_samples * problem.weights * squares)

    return problem.keep("row norms", measure)


def strong_convexity(problem: Problem) -> float:
    """The strong convexity of the whole penalty: 0 with an intercept or an unpenalised coefficient."""
    return 0.0 if problem.intercept else problem.penalty.least_l2


@dataclass(frozen=True, kw_only=True)
class Perturbed(Method):
    """A method that needs strong convexity of g and of each phi*, and adds it where it is missing.

    Parameters
    ----------
    perturb : "auto", float or (float, float)
        Adds (dx/2) ||x - c||^2 to the penalty and (dy/2) (y_i - e_i)^2 to each phi_i*. A single number is dx and dy.
        "auto" adds them only if strong convexity is missing: dx for l2 = 0, an unpenalised coefficient or an
        intercept; dy for losses of unbounded curvature, and there dx for a small l2 too. Methods without acceleration
        (DGPD) also add dx if l2 is so small that they would need thousands of epochs. 0 adds nothing.
    recentre : bool
        Move the centres c and e to the iterate from time to time, so that the method converges to the optimum of the
        original problem. False leaves them at 0, as in Zhang and Xiao (2015, section 3.1): the solution is then that of
        the perturbed problem, and the gap, which is always that of the original problem, does not fall below about
        ``perturb`` times half the squared norm of the solution.
    """

    perturb: str | float | tuple[float, float] = "auto"
    recentre: bool = True

    def __post_init__(self) -> None:
        settle(self, flag, "recentre")
        self._given_perturbation()

    def _bearable(self) -> float:
        """The largest R^2 / (n l2 gamma) without a perturbation."""
        return np.inf

    def _given_perturbation(self) -> tuple[float, float] | None:
        given = self.perturb
        if isinstance(given, str) and given == "auto":
            return None
        try:
            dx, dy = given if isinstance(given, tuple) else (given, given)
            return positive("perturb", dx, zero=True), positive("perturb", dy, zero=True)
        except (TypeError, ValueError):
            raise ValueError(
                f"perturb must be 'auto', a number >= 0, or two of them (for x and for y); got {shown(given)}."
            ) from None

    def _conditioning(self, problem: Problem) -> Conditioning:
        norms = row_norms(problem)
        l2, gamma = strong_convexity(problem), 1.0 / problem.loss.smoothness
        given = self._given_perturbation()
        dx, dy = _needed(problem, norms, l2, gamma, self._bearable()) if given is None else given
        if l2 + dx == 0:
            raise ValueError(
                f"{type(self).__name__} needs strong convexity: l2 > 0 on every coefficient and no intercept. Use "
                "perturb='auto', which adds it, or CoordinateDescent."
            )
        if gamma + dy == 0:
            raise ValueError(
                f"{type(self).__name__} needs a smooth loss; {problem.loss.name} is not. Use perturb='auto', which "
                "smooths it, or CoordinateDescent(side='dual')."
            )
        return Conditioning(problem.n_samples, norms, l2 + dx, gamma + dy, dx, dy)

    def _recentring(self, conditioning: Conditioning, epochs: float) -> Recentring:
        """The options of the core: centres move once the perturbed problem is solved well enough, after twice the
        number of epochs in which, by theory, its error falls by a factor of e."""
        moving = self.recentre and (conditioning.dx > 0 or conditioning.dy > 0)
        every = int(np.clip(np.ceil(2 * epochs), 1, 10**6)) if moving else 0
        return Recentring(dx=conditioning.dx, dy=conditioning.dy, recentre_every=every)


EFFORT = 3.0
"""The value of R / sqrt(n l2 gamma) after a perturbation: the number of epochs in which the error of an accelerated
method falls by a factor of e."""


def _needed(problem: Problem, norms: np.ndarray, l2: float, gamma: float, bearable: float) -> tuple[float, float]:
    size = max(float(np.mean(norms**2)), np.finfo(float).tiny ** 0.5) / problem.n_samples
    wanted = size / EFFORT**2
    if gamma > 0:
        if l2 == 0:
            return wanted / gamma, 0.0
        return (max(size / (gamma * bearable) - l2, 0.0) if size > 10 * bearable * l2 * gamma else 0.0), 0.0
    dy = _natural_smoothing(problem)
    if 0 < wanted < 10 * dy * l2:  # a little more smoothing avoids a perturbation of x
        dy = max(dy, wanted / l2)
    return max(wanted / dy - l2, 0.0), dy


def _natural_smoothing(problem: Problem) -> float:
    """The change of a margin, on the scale of the targets, for which phi' of the smoothed loss changes by one."""
    if problem.loss.targets == "signs":
        return 0.3
    spread = float(np.mean(problem.weights @ np.abs(problem.targets - problem.weights @ problem.targets)))
    return 0.3 * spread if problem.loss.targets == "real" and spread > 0 else 0.3
