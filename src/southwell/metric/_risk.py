"""Matrix risk minimisation (Yu, Lin and Yang 2015, section 5.2)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, NoReturn

import numpy as np

from .. import _data, _keywords
from .._question import Start
from .._typing import Given
from .._words import Words
from ..losses import Loss
from ..proof import Certificate
from ..result import NOT_PROVABLE, Progress, Result
from ..solve import CALLER, ConvergenceWarning, Settings, raise_with, run, shortcomings
from ..status import Status
from . import _cone, _statement
from ._algorithm import within_numbers
from ._dense import Dense
from ._low_rank import LowRank
from ._memory import refuse_beyond
from ._methods import Choice, OnWorkers
from ._norms import Norms
from ._penalty import ConePenalty
from ._triplets import Triplets
from ._workers import ALONE, Workers


class MatrixRisk:
    """Risk minimisation over positive semi-definite matrices, with a certificate.

    Minimises ``sum_i s_i phi(sum_j <D_i^j, X_j>; b_i) + sum_j (l2_j/2) ||X_j - centre_j||^2 + <linear_j, X_j>`` over
    positive semi-definite ``X_1, ..., X_p``, with sample weights ``s`` that sum to one.

    Parameters
    ----------
    D : array of shape (n_samples, n_blocks, d, d) or (n_samples, d, d), or LowRank
        Symmetric matrices, float32 or float64; or terms ``c u u'``, whose outer products are never stored. D is not
        copied: do not change it while the problem or its results are in use.
    b : array of shape (n_samples,)
        Targets: -1 and +1 for logistic and hinge losses, >= 0 for Poisson.
    loss : str or Loss
        Any of ``southwell.losses``.
    l2 : float or array of shape (n_blocks,)
        Greater than zero.
    centre, linear : arrays of shape (n_blocks, d, d) or (d, d), optional
        Symmetric; default: zero.
    sample_weight : array of shape (n_samples,), optional
        Only ratios matter.
    memory_limit : float, optional
        The largest memory use of a solve beside D, in bytes; default: three quarters of the free memory.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell.metric import LowRank, MatrixRisk
    >>> rng = np.random.default_rng(0)
    >>> u = rng.normal(size=(50, 3))
    >>> risk = MatrixRisk(LowRank(u), (u @ [1.0, 0.0, 2.0]) ** 2, l2=1e-4)
    >>> r = risk.solve(tol=1e-8)
    >>> r.x.shape, r.status
    ((1, 3, 3), Status.CONVERGED)
    >>> bool(np.allclose(r.x[0], np.outer([1, 0, 2], [1, 0, 2]), atol=0.01))
    True
    """

    intercept: ClassVar[bool] = False

    @property
    def words(self) -> Words:
        return WORDS

    def __init__(self, D: Given, b: Given, loss: str | Loss = "squared", l2: Given = 1.0, *, centre: Given = None,
                 linear: Given = None, sample_weight: Given = None,
                 memory_limit: float | None = None) -> None:  # fmt: skip
        self.loss = _statement.loss_of_one_margin(loss)
        self.data = D if isinstance(D, Dense | LowRank | Triplets) else Dense(D)
        self.n_samples, self.n_blocks, self.size = self.data.n_samples, self.data.n_blocks, self.data.size
        entries = self.n_blocks * self.size**2
        refuse_beyond(
            memory_limit, 8 * COPIES * entries, f"A solve for {self.n_blocks} matrices of {self.size} x {self.size}",
            "Reduce d first, for example with PCA, or raise the limit.",
        )  # fmt: skip
        self.weights = _data.weights(sample_weight, self.n_samples)
        self.targets = _statement.targets(b, self.loss, self.n_samples)
        self.penalty = ConePenalty(
            _statement.strengths(l2, self.n_blocks), self._stack(centre, "centre"), self._stack(linear, "linear")
        )
        self.norms = Norms(self.data, self.weights, self.penalty.l2)

    def __repr__(self) -> str:
        return (
            f"MatrixRisk({self.n_samples} samples, {self.n_blocks} blocks of {self.size} x {self.size}, "
            f"loss={self.loss.name!r})"
        )

    def _stack(self, given: Given, name: str) -> np.ndarray:
        return _statement.stack(given, name, self.n_blocks, self.size)

    @property
    def n_features(self) -> int:
        """Entries of all matrices."""
        return int(self.n_blocks * self.size**2)

    @_keywords.answers(_keywords.OF_SOLVE)
    def solve(
        self,
        method: str = "auto",
        *,
        rows: int | None = None,
        blocks: int | None = None,
        stretch: float | tuple[float, float] = 1.0,
        tau: float | None = None,
        sigma: float | None = None,
        theta: float | None = None,
        aim: str = "gap",
        tol: float = 1e-6,
        max_epochs: int = 10_000,
        max_seconds: float | None = None,
        check_every: int | None = None,
        seed: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        warm_start: Result | np.ndarray | None = None,
        record_history: bool = True,
        n_threads: int | None = None,
    ) -> Result:
        """Solve the problem until ``gap <= tol * scale``, scale = P(0) - D(0).

        P(0) is the objective at zero matrices, and D(0) is the dual value at y = 0; for losses with minimum zero, and
        without centre and linear, D(0) = 0.

        Parameters
        ----------
        method : {"auto", "fista", "dual_fista", "dspdc", "spdc", "sdca"}
            "auto" is FISTA: on the primal if the loss is smooth, unless there are fifty times more unknowns than
            samples; else on the dual.
        rows, blocks : int, optional
            Samples and blocks in an iteration, m and q of the paper. ``blocks`` applies to "dspdc" only; "spdc" and
            "sdca" use all blocks. Default: a fifth of each.
        stretch : float or pair of floats
            A factor of the step sizes of "dspdc", "spdc" and "sdca", relative to those of theory for the measured
            norms; a pair is for primal and dual steps ("sdca" has dual steps only). Tuned steps are often far faster;
            steps that are too long do not converge, or end with ``Status.DIVERGED``.
        tau, sigma, theta : float, optional
            Step sizes of "dspdc" and "spdc", in the units of their papers for blocks of l2 = 1: block j moves with
            tau / l2_j. Default: those of the theorem. One that is given is not stretched.
        aim : {"gap", "point"}
            The theorem that sets theta of "dspdc": theorem 2 bounds the gap ("gap"), theorem 1 the distance to the
            solution ("point").
        tol, max_epochs, max_seconds, check_every, seed, callback, record_history
            As for ``southwell.solve``. An epoch is as many moves as there are samples (for "dspdc": or blocks, if that
            takes longer), but no more than ten eigendecompositions of every block; for "fista" and "dual_fista", one
            full gradient.
        warm_start : Result or array of shape (n_blocks, d, d), optional
        n_threads : int, optional
            For eigendecompositions and products. The result does not depend on it.

        Returns
        -------
        Result
            ``x`` has shape (n_blocks, d, d).

        Raises
        ------
        Interrupted
            On Ctrl-C; its ``result`` is the best point so far.

        Warns
        -----
        ConvergenceWarning
            When epochs or seconds run out.
        """
        settings = Settings.checked(tol, max_epochs, max_seconds, check_every, seed, record_history, n_threads)
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be callable; got {type(callback).__name__}.")
        result = self.run(settings, Choice(method, rows, blocks, stretch, tau, sigma, theta, aim), callback, warm_start)
        for words in shortcomings(result):
            warnings.warn(words, ConvergenceWarning, stacklevel=CALLER)
        return result

    def run(self, settings: Settings, choice: Choice, callback: Callable[[Progress], bool | None] | None = None,
            warm_start: Given = None) -> Result:  # fmt: skip
        """``solve`` with checked settings, and without warnings."""
        begun = time.perf_counter()
        with Workers(settings.n_threads) as workers:
            start = self.start(warm_start, workers)
            result, error = run(self, OnWorkers(choice, workers), start, settings, begun, callback)
        if error is not None:
            raise_with(error, replace(result, status=Status.INTERRUPTED))
        return result

    def certify(self, x: Given, y: Given = None) -> Certificate:
        """P(x), D(y) and their gap for any matrices in the cone and any y; default y: the derivatives of the loss at x.

        Examples
        --------
        >>> import numpy as np
        >>> from southwell.metric import MatrixRisk
        >>> proof = MatrixRisk(np.eye(2)[None], [1.0], l2=1.0).certify(np.eye(2) / 4)
        >>> round(proof.primal, 4), round(proof.dual, 4), round(proof.gap, 4)
        (0.1875, 0.125, 0.0625)
        """
        x = self._stack(x, "x")
        for j, X in enumerate(x):
            least = np.linalg.eigvalsh(X)[0]
            if least < -1e-9 * np.linalg.norm(X):
                raise ValueError(
                    f"x must be positive semi-definite; the smallest eigenvalue of x[{j}] is {least:.3g}. Outside of "
                    "the cone the objective is infinite."
                )
        x = _cone.project(x)
        m = self.data.apply(x, exact=True)
        y = self.loss.derivative(m, self.targets) if y is None else _data.vector(y, "y", self.n_samples)
        y = self.feasible(y)
        with np.errstate(over="ignore", invalid="ignore"):
            W = self.data.adjoint(self.weights * y, exact=True)
        if not np.isfinite(W).all():
            raise ValueError(f"y is too large: A'y overflows. The largest entry is {np.abs(y).max():.3g}.")
        with np.errstate(over="ignore"):  # a dual value of minus infinity then
            primal, dual = self.primal(x, m), self.dual(y, self.penalty.conjugate(-W))
        return Certificate(primal, dual, primal - dual)

    # Used by the loop and the algorithms

    def primal(self, x: np.ndarray, m: np.ndarray) -> float:
        """P(x), given its margins."""
        return float(self.weights @ self.loss.value(m, self.targets)) + self.penalty.value(x)

    def dual(self, y: np.ndarray, conjugate: float) -> float:
        """D(y), given g*(-A'(s o y))."""
        return -float(self.weights @ self.loss.conjugate(y, self.targets)) - conjugate

    def cancelling(self, y: np.ndarray, m: np.ndarray) -> float:
        """The size of the numbers that cancel in P and D, beside P and D themselves."""
        return float(self.weights @ (np.abs(y) * (np.abs(m) + np.abs(self.targets))) + 2 * self.penalty.at_zero)

    def unit(self, workers: Workers = ALONE) -> tuple[float, float]:
        """P(0) - D(0), and the rounding error of gaps."""
        zero = np.zeros(self.n_samples)
        primal = float(self.weights @ self.loss.value(zero, self.targets)) + self.penalty.at_zero
        nothing = np.broadcast_to(0.0, self.penalty.centre.shape)
        dual = self.dual(zero, self.penalty.conjugate(nothing, workers))
        return max(primal - dual, 0.0), 1e-15 * (abs(primal) + abs(dual) + self.penalty.at_zero)

    def feasible(self, y: np.ndarray) -> np.ndarray:
        """The nearest y in the domain of phi*."""
        bounds = {b: self.loss.core.domain(b) for b in (np.unique(self.targets) if self._moving else (0.0,))}
        if len(bounds) == 1:
            return np.asarray(np.clip(y, *next(iter(bounds.values()))))
        values = np.array(list(bounds.values()))
        which = np.searchsorted(np.array(list(bounds)), self.targets)
        return np.asarray(np.clip(y, values[which, 0], values[which, 1]))

    @property
    def _moving(self) -> bool:
        """Whether the domain of phi* depends on the target."""
        return self.loss.targets != "real"

    def from_inner(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        return np.reshape(x, (self.n_blocks, self.size, self.size)), 0.0

    def dual_shape(self, y: np.ndarray) -> np.ndarray:
        return y

    def start(self, given: Given, workers: Workers = ALONE) -> Start:
        """The starting point: the minimiser of the penalty, or the warm start; and a feasible y."""
        with within_numbers():
            if given is None:
                zero = np.zeros(self.penalty.centre.shape)
                x, y = self.penalty.peak(zero, workers=workers), np.zeros(self.n_samples)
            else:
                x = given.x if isinstance(given, Result) else given
                x = _cone.project(self._stack(x, "warm_start"), workers)
                if isinstance(given, Result) and given.y is not None and given.y.size == self.n_samples:
                    y = np.array(given.y, dtype=np.float64)
                else:
                    y = self.loss.derivative(self.data.apply(x, workers=workers), self.targets)
            return Start(x.ravel(), self.feasible(y))

    def remarks(self, result: Result) -> list[str]:
        return []

    def examine_at(self, inner: np.ndarray) -> None:
        """Its losses are those of the core, which need no examination."""

    def prove(self, x: Given, y: Given = None, intercept: Given = 0.0, *, feasible: bool = False) -> NoReturn:
        raise ValueError(NOT_PROVABLE)


COPIES = 12
"""The largest number of stacks of matrices that a solve holds at a time."""

WORDS = Words(
    "D", "b", "its scale", "pass this result as warm_start",
    {
        Status.MAX_EPOCHS: "raise max_epochs, loosen tol, or try method='fista'",
        Status.MAX_SECONDS: "raise max_seconds or loosen tol",
        Status.DIVERGED: "lower stretch, or check the scale of D and b",
        Status.PRECISION: "loosen tol, or give D as float64",
    },
)  # fmt: skip
