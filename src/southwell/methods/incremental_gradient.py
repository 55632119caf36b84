"""Incremental gradient methods, baselines of the primal-dual ones: SGD and, with less variance, SAG, SAGA and SVRG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._names import count, positive, settle
from ..problem import Problem
from .base import Method, Prepared, Start
from .conditioning import row_norms, strong_convexity
from .side import refuse_shifted_rows, with_null_intercept


@dataclass(frozen=True)
class IncrementalGradient(Method):
    """The base of these methods: one row at a time; postponed updates of the other coordinates have a closed form.

    Parameters
    ----------
    step : float, optional
        The step size tau.
    """

    step: float | None = None
    takes_factors: ClassVar[bool] = True
    part_of_smoothness: ClassVar[float]  # the default step is this times 1/L, L = max w_i ||a_i||^2 / gamma

    def __post_init__(self) -> None:
        if self.step is not None:
            settle(self, positive, "step")

    def _step(self, problem: Problem) -> float:
        if not np.isfinite(problem.loss.smoothness):
            raise ValueError(
                f"{type(self).__name__} needs a smooth loss with bounded curvature; {problem.loss.name} has none. "
                "Use SPDC, which smooths it, or CoordinateDescent."
            )
        if self.step is not None:
            return float(self.step)
        largest = max(float(row_norms(problem).max()), np.finfo(float).tiny ** 0.25)
        return self.part_of_smoothness / (largest**2 * problem.loss.smoothness)

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        start = with_null_intercept(problem, start)
        refuse_shifted_rows(problem, self)
        step = self._step(problem)
        spec = _core.Incremental(self.name, tau=step, **self._options(problem, step))
        rows = problem.formed_rows() if problem.factorised else None
        algorithm = _core.incremental(problem.core(False), spec, start.x, np.zeros(problem.n_samples), seed, rows)
        return Prepared(algorithm, f"{type(self).__name__}, step {step:.3g}")

    def _options(self, problem: Problem, step: float) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class SGD(IncrementalGradient):
    """Proximal stochastic gradient descent: no table and no full gradient, so steps must become shorter.

    After e epochs the step is ``step / (1 + step l2 n e)`` where l2 > 0 on every coefficient and there is no intercept
    (Bottou's schedule, for strongly convex objectives), else ``step / sqrt(1 + e)``; it stays the same within an epoch.
    The error falls like 1/e or 1/sqrt(e): ask for a gap of a few per cent.

    Parameters
    ----------
    step : float, optional
        The first step. Default: 1/L, with L the largest of n s_i ||a_i||^2 times the loss's smoothness.

    References
    ----------
    L. Bottou, "Stochastic Gradient Descent Tricks", in Neural Networks: Tricks of the Trade, 2012.
    J. Duchi, Y. Singer, "Efficient Online and Batch Learning Using Forward Backward Splitting", JMLR 10, 2009.
    """

    name: ClassVar[str] = "sgd"
    part_of_smoothness: ClassVar[float] = 1.0

    def _options(self, problem: Problem, step: float) -> dict[str, Any]:
        firm = strong_convexity(problem)
        return {"decay": step * firm * problem.n_samples if firm > 0 else 1.0, "power": 1.0 if firm > 0 else 0.5}


@dataclass(frozen=True)
class SAGA(IncrementalGradient):
    """SAGA: a table of gradients, and an unbiased step on one row at a time; any penalty.

    Parameters
    ----------
    step : float, optional
        Default: 1/(3L), with L the largest of n s_i ||a_i||^2 times the loss's smoothness.

    References
    ----------
    A. Defazio, F. Bach, S. Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method With Support for Non-Strongly
    Convex Composite Objectives", NIPS 2014.
    """

    name: ClassVar[str] = "saga"
    part_of_smoothness: ClassVar[float] = 1 / 3


@dataclass(frozen=True)
class SAG(IncrementalGradient):
    """The stochastic average gradient method, for smooth penalties (l1 = 0, no bounds).

    Parameters
    ----------
    step : float, optional
        Default: 1/L, as its authors recommend; their theory covers 1/(16L).

    References
    ----------
    N. Le Roux, M. Schmidt, F. Bach, "A Stochastic Gradient Method with an Exponential Convergence Rate for Finite
    Training Sets", NIPS 2012.
    """

    name: ClassVar[str] = "sag"
    part_of_smoothness: ClassVar[float] = 1.0

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if not problem.penalty.smooth:
            raise ValueError("SAG is for smooth penalties: l1 = 0 and no bounds. SAGA takes any.")
        return super().prepare(problem, start, seed)


@dataclass(frozen=True)
class SVRG(IncrementalGradient):
    """Stochastic variance reduced gradient, proximal: no table, but a full gradient every few epochs.

    Parameters
    ----------
    step : float, optional
        Default: 1/(4L).
    snapshot_every : int
        Epochs between full gradients. The full gradients of certificates are used too.

    References
    ----------
    L. Xiao, T. Zhang, "A Proximal Stochastic Gradient Method with Progressive Variance Reduction", SIAM J. Optim. 2014.
    """

    snapshot_every: int = 2
    name: ClassVar[str] = "svrg"
    part_of_smoothness: ClassVar[float] = 1 / 4

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, count, "snapshot_every", least=1)

    def _options(self, problem: Problem, step: float) -> dict[str, Any]:
        return {"snapshot_every": self.snapshot_every}
