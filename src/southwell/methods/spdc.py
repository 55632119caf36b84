"""The stochastic primal-dual coordinate method (Zhang and Xiao 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypedDict

import numpy as np

from .. import _core
from .._names import at_most, count, one_name, positive, settle, shown
from ..problem import Problem
from . import blocks
from .base import Prepared, Start
from .conditioning import Conditioning, Perturbed
from .side import dual_start, refuse_shifted_rows, with_null_intercept


def given_steps(method: object, names: tuple[str, ...]) -> None:
    """Checks the step sizes that the user may have set."""
    for name in names:
        if getattr(method, name) is not None:
            settle(method, positive, name, zero=name == "theta")


class Steps(TypedDict):
    """Those of SPDC and DSPDC, in the units of their papers."""

    tau: float
    sigma: float
    theta: float


class TakesSteps(Protocol):
    """A method whose steps may be given by hand."""

    @property
    def tau(self) -> float | None: ...
    @property
    def sigma(self) -> float | None: ...
    @property
    def theta(self) -> float | None: ...


def by_hand(method: TakesSteps, computed: Steps) -> Steps:
    """The computed step sizes, replaced by those that the user has set."""
    return Steps(
        tau=float(computed["tau"] if method.tau is None else method.tau),
        sigma=float(computed["sigma"] if method.sigma is None else method.sigma),
        theta=float(computed["theta"] if method.theta is None else method.theta),
    )


@dataclass(frozen=True, kw_only=True)
class SPDC(Perturbed):
    """The stochastic primal-dual coordinate method: a few dual coordinates at a time, and all of x.

    Parameters
    ----------
    batch : int
        Rows in an iteration. A smaller batch needs fewer passes over the data; a larger one suits threads.
    sampling : {"uniform", "norms"}
        "norms" draws long rows more often (algorithm 2 of the paper; batch = 1): its rate depends on the mean norm of
        the rows, not on the largest.
    n_threads : int
        Threads that share a batch. The result does not depend on it.
    tau, sigma, theta : float, optional
        Step sizes, in the paper's units. Default: those of theorems 1 and 2.
    perturb, recentre
        As for ``Perturbed``.

    Notes
    -----
    An iteration costs the stored entries of its rows, independently of the number of features: updates of the other
    features have a constant slope and are applied in closed form when they are next needed (section 4 of the paper;
    here with bounds and weights too). On blocks every iteration updates all of them, and so it does on factorised data,
    ``southwell.Factorised(U, V)`` of inner size k: with batch = 1 it forms its row, at O(k d); with more it keeps two
    vectors between the factors, at O(k (batch + d)).

    References
    ----------
    Y. Zhang, L. Xiao, "Stochastic Primal-Dual Coordinate Method for Regularized Empirical Risk Minimization", ICML
    2015.
    """

    batch: int = 1
    sampling: str = "uniform"
    n_threads: int = 1
    tau: float | None = None
    sigma: float | None = None
    theta: float | None = None
    name: ClassVar[str] = "spdc"
    takes_blocks: ClassVar[bool] = True
    takes_factors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, count, "batch", least=1)
        settle(self, count, "n_threads", least=1, bits=31)
        one_name("sampling", self.sampling, ("uniform", "norms"))
        if self.sampling == "norms" and self.batch > 1:
            raise ValueError(f"sampling='norms' takes one row at a time (batch=1); got batch={self.batch}.")
        given_steps(self, ("tau", "sigma", "theta"))

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if problem.blocks or (problem.factorised and self.batch > 1):
            return self._prepare_all_columns(problem, start, seed)
        start = with_null_intercept(problem, start)
        refuse_shifted_rows(problem, self)
        at_most("batch", self.batch, problem.n_samples, "samples")
        conditioning = self._conditioning(problem)
        steps, epochs = spdc_steps(conditioning, self.batch, self.sampling == "norms")
        spec = _core.Incremental(
            "spdc", **by_hand(self, steps), batch=self.batch, threads=min(self.n_threads, self.batch),
            probabilities=spdc_probabilities(conditioning) if self.sampling == "norms" else None,
            **self._recentring(conditioning, epochs),
        )  # fmt: skip
        rows = problem.formed_rows() if problem.factorised else None
        algorithm = _core.incremental(problem.core(False), spec, start.x, dual_start(problem, start), seed, rows)
        perturbed = ", perturbed" if conditioning.dx or conditioning.dy else ""
        return Prepared(algorithm, f"SPDC, batches of {self.batch}, {self.sampling} sampling{perturbed}")

    def _prepare_all_columns(self, problem: Problem, start: Start, seed: int) -> Prepared:
        """DSPDC with all columns, or blocks of x, in every iteration and the step sizes of SPDC."""
        if self.sampling != "uniform":
            raise ValueError(f"On blocks rows are drawn uniformly; got sampling={shown(self.sampling)}.")
        at_most("batch", self.batch, problem.n_samples, "samples")
        start = with_null_intercept(problem, start)
        conditioning = self._conditioning(problem)
        steps, epochs = spdc_steps(conditioning, self.batch, False)
        steps = by_hand(self, steps)
        steps["sigma"] *= problem.n_samples  # sigma of the DSPDC paper is n times that of SPDC
        spec = _core.Dspdc(**steps, rows=self.batch, columns=problem.n_blocks, **self._recentring(conditioning, epochs))
        perturbed = ", perturbed" if conditioning.dx or conditioning.dy else ""
        if problem.factorised:
            algorithm = between_factors(problem, spec, start, seed)
            return Prepared(algorithm, f"SPDC between the factors, batches of {self.batch}{perturbed}")
        algorithm = blocks.saddle(problem, spec, False, start, seed)
        return Prepared(algorithm, f"SPDC on blocks, batches of {self.batch}{perturbed}")


def between_factors(problem: Problem, spec: _core.Dspdc, start: Start, seed: int) -> _core.Algorithm:
    """DSPDC on A = U V; with all columns, SPDC."""
    layouts = problem.keep("factors", lambda: problem.factors.factor_layouts(problem.intercept))
    return _core.dspdc(problem.core(), spec, *layouts, start.x, dual_start(problem, start), seed)


def spdc_steps(at: Conditioning, batch: int, weighted: bool) -> tuple[Steps, float]:
    """tau, sigma and theta of theorem 1, or of theorem 2 for weighted sampling; and the epochs in which the error falls
    by e."""
    if weighted:
        scale, iterations = 4 * at.mean, 2 * at.n + 2 * at.mean * np.sqrt(at.n / (at.l2 * at.gamma))
    else:
        rounds = at.n / batch
        scale, iterations = 2 * at.largest, rounds + at.largest * np.sqrt(rounds / (at.l2 * at.gamma))
    balance = np.sqrt(batch * at.gamma / (at.n * at.l2))
    with np.errstate(divide="ignore", over="ignore"):  # overflow for huge perturbations
        steps = Steps(tau=balance / scale, sigma=1 / (balance * scale), theta=1 - 1 / iterations)
    return steps, iterations * batch / at.n


def spdc_probabilities(at: Conditioning) -> np.ndarray:
    """Sampling probabilities: half uniform, half proportional to the norms."""
    total = at.norms.sum()
    shares = at.norms / total if total > 0 else np.full(at.n, 1.0 / at.n)
    return 0.5 / at.n + 0.5 * shares
