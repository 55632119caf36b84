"""Full gradient methods, the classical baselines: proximal gradient, plain and accelerated, and L-BFGS."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._names import at_most, count, flag, one_name, settle
from ..problem import Problem
from .base import Method, Prepared, Start
from .conditioning import strong_convexity
from .hosted import Beat, CertifiedByCore
from .side import dual_start, with_null_intercept


def _refuse_kinks(problem: Problem, method: Method) -> None:
    if not problem.loss.smooth:
        raise ValueError(
            f"{type(method).__name__} needs a smooth loss; got {problem.loss.name}. Use a smooth relative "
            "(smooth_hinge, squared_hinge, huber), SPDC, or CoordinateDescent(side='dual')."
        )


_LEAST = np.finfo(float).tiny ** 0.5


def _curvature(problem: Problem) -> float:
    """The curvature of (1/2) sum_i s_i (a_i'x)^2 in one direction: a lower bound of L, which the line search raises."""
    layout = problem.ready_layout()
    along = layout.adjoint(problem.weights)
    along = along if along.any() else np.ones_like(along)
    with np.errstate(over="ignore", invalid="ignore"):  # NaN for huge factors; the core then uses another
        return float(problem.weights @ layout.apply(along / np.linalg.norm(along)) ** 2)


def soft_fista(problem: Problem, start: Start, softness: float, policy: Mapping[str, float]) -> Prepared:
    """FISTA on a loss with kinks that are smoothed, less and less, around moving centres. Needs products only."""
    start = with_null_intercept(problem, start)
    guess = max(_curvature(problem), _LEAST)
    algorithm = _core.soft_fista(problem.core(), start.x, dual_start(problem, start), guess, softness, dict(policy))
    return Prepared(algorithm, "accelerated proximal gradient, kinks softened")


@dataclass(frozen=True)
class FISTA(Method):
    """Accelerated proximal gradient descent with a line search and restarts; also known as AFG.

    An epoch is one iteration: a product with A', and one with A for each step tried.

    Parameters
    ----------
    momentum : {"growing", "constant"}
        "growing" begins at zero and approaches one, as for objectives that are convex. "constant" is the momentum for
        strongly convex ones, ``(1 - r) / (1 + r)`` with ``r^2 = l2 / (L + l2)``, L the curvature that the line search
        accepts; it needs l2 > 0 on every coefficient and no intercept.
    restart : bool
        Restart a growing momentum where it is not a descent direction. Without, this is the method of Beck and
        Teboulle, whose steps never become longer; nor do they with a constant momentum.

    References
    ----------
    A. Chambolle, T. Pock, "An introduction to continuous optimization for imaging", Acta Numerica 25, 2016, appendix B.
    Y. Nesterov, "Gradient methods for minimizing composite functions", Math. Program. 140, 2013.
    A. Beck, M. Teboulle, "A Fast Iterative Shrinkage-Thresholding Algorithm", SIAM J. Imaging Sci. 2, 2009.
    """

    momentum: str = "growing"
    restart: bool = True
    name: ClassVar[str] = "fista"
    takes_factors: ClassVar[bool] = True
    takes_own_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_name("momentum", self.momentum, ("growing", "constant"))
        settle(self, flag, "restart")

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        constant = strong_convexity(problem) if self.momentum == "constant" else 0.0
        if self.momentum == "constant" and constant == 0:
            raise ValueError(
                "FISTA(momentum='constant') needs l2 > 0 on every coefficient and no intercept. Use momentum='growing'."
            )
        algorithm = _fista(problem, self, start, restarts=self.restart, constant=constant)
        words = ", constant momentum" if constant > 0 else "" if self.restart else ", no restarts"
        return Prepared(algorithm, f"accelerated proximal gradient, line search{words}")


@dataclass(frozen=True)
class ProximalGradient(Method):
    """Proximal gradient descent with a line search: ``FISTA`` without momentum, to compare with.

    An epoch is one iteration: a product with A', and one with A for each step tried.

    References
    ----------
    Y. Nesterov, "Gradient methods for minimizing composite functions", Math. Program. 140, 2013.
    """

    name: ClassVar[str] = "proximal_gradient"
    takes_factors: ClassVar[bool] = True
    takes_own_losses: ClassVar[bool] = True

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        return Prepared(_fista(problem, self, start, momentum=False), "proximal gradient, line search")


def _fista(problem: Problem, method: Method, start: Start, **options: Any) -> _core.Algorithm:
    _refuse_kinks(problem, method)
    start = with_null_intercept(problem, start)
    smoothness = problem.loss.smoothness if np.isfinite(problem.loss.smoothness) else 1.0
    return _core.fista(problem.core(), start.x, max(_curvature(problem) * smoothness, _LEAST), **options)


MOST_PAIRS = 10_000  # the largest number that SciPy supports


@dataclass(frozen=True)
class LBFGS(Method):
    """SciPy's L-BFGS-B. With l1 the coefficients are split into positive and negative parts, each >= 0.

    Parameters
    ----------
    memory : int
        The number of pairs of steps and gradients that are kept.

    Notes
    -----
    An epoch is one iteration. SciPy runs in a separate thread and waits while certificates are computed, so that it
    keeps its memory. If its line search fails, it is restarted at the current point.
    """

    memory: int = 30
    name: ClassVar[str] = "lbfgs"
    takes_factors: ClassVar[bool] = True
    takes_own_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self, count, "memory", least=1)
        at_most("memory", self.memory, MOST_PAIRS, "pairs SciPy keeps")

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        _refuse_kinks(problem, self)
        start = with_null_intercept(problem, start)
        return _Quasi(problem, start.x, self.memory).prepared()


class _Quasi(CertifiedByCore):
    """Runs SciPy's minimiser step by step: ``advance`` continues until its next iterate."""

    def __init__(self, problem: Problem, x: np.ndarray, memory: int) -> None:
        self.problem, self.memory, self.entries = problem.core(), memory, problem.data.stored
        self.l1, self.l2, lo, hi = problem.penalty.by_coefficient(problem.n_features, problem.intercept)
        self.split = problem.penalty.kinked
        self.description = f"L-BFGS, memory {memory}{', coefficients split' if self.split else ''}"
        self.x = x = np.clip(x, lo, hi)
        if self.split:  # x = p - q; coefficients without l1 are not split, and are in p
            whole = self.l1 == 0
            self.at = np.concatenate(
                (np.where(whole, x, np.maximum(x, 0.0)), np.where(whole, 0.0, np.maximum(-x, 0.0)))
            )
            least = np.concatenate(
                (np.where(whole, lo, np.maximum(lo, 0.0)), np.where(whole, 0.0, np.maximum(-hi, 0.0)))
            )
            most = np.concatenate(
                (np.where(whole, hi, np.maximum(hi, 0.0)), np.where(whole, 0.0, np.maximum(-lo, 0.0)))
            )
        else:
            self.at, least, most = x, lo, hi
        self.bounds = np.column_stack((least, most))
        self.thread: threading.Thread | None = None

    def stored(self) -> int:
        return max(self.entries, 1)

    def epoch(self, beat: Beat) -> None:
        if self.thread is None:
            # The thread must not refer to this object, or the object would never be freed.
            job = _Job(self)
            self.job, self.thread = job, threading.Thread(target=job.run, daemon=True)
            self.thread.start()
        else:
            self.job.go.put(None)
        self.job.there.get()
        if self.job.error is not None:
            raise self.job.error
        self.at = self.job.at
        half = self.at.size // 2
        self.x = self.at[:half] - self.at[half:] if self.split else self.at
        if self.job.over:
            self.thread = None
        beat(self.job.products * self.stored())

    def close(self) -> None:
        """End the thread, which may be in the middle of an iteration."""
        if self.thread is not None:
            self.job.stop = True
            self.job.go.put(None)
            if self.thread.ident is not None:  # else Ctrl-C came before it began
                self.thread.join()
            self.thread = None

    def __del__(self) -> None:
        if getattr(self, "thread", None) is not None:  # not closed: tell the thread to end
            self.job.stop = True
            self.job.go.put(None)


class _Job:
    """One run of SciPy's minimiser, in a thread that waits at each iterate."""

    def __init__(self, quasi: _Quasi) -> None:
        self.problem, self.memory, self.bounds, self.at = quasi.problem, quasi.memory, quasi.bounds, quasi.at
        self.l1, self.l2, self.split = quasi.l1, quasi.l2, quasi.split
        # Not semaphores: those are written in Python, and Ctrl-C within their `acquire` can leave them locked for good.
        self.go: SimpleQueue[None] = SimpleQueue()
        self.there: SimpleQueue[None] = SimpleQueue()
        self.stop = self.over = False
        self.error: BaseException | None = None
        self.products = 0

    def run(self) -> None:
        from scipy.optimize import minimize

        try:
            minimize(
                self.value, self.at, jac=True, method="L-BFGS-B", bounds=self.bounds, callback=self.pause,
                options={"maxcor": self.memory, "maxiter": 2**31 - 1, "maxfun": 2**31 - 1, "ftol": 0.0, "gtol": 0.0},
            )  # fmt: skip
        except BaseException as error:
            self.error = error
        self.over = True
        self.there.put(None)

    def pause(self, at: np.ndarray) -> None:
        self.at = at.copy()
        self.there.put(None)
        self.go.get()
        self.products = 0
        if self.stop:
            raise StopIteration

    def value(self, at: np.ndarray) -> tuple[float, np.ndarray]:
        if self.stop:  # in the middle of a line search
            raise StopIteration
        half = at.size // 2
        x = at[:half] - at[half:] if self.split else at
        value, slopes = _core.loss_and_slopes(self.problem, np.ascontiguousarray(x))
        self.products += 2
        value += 0.5 * (self.l2 * x) @ x
        slopes = slopes + self.l2 * x
        if not self.split:
            return value, slopes
        return value + self.l1 @ (at[:half] + at[half:]), np.concatenate((slopes + self.l1, self.l1 - slopes))
