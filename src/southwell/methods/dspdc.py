"""The doubly stochastic primal-dual coordinate method (Yu, Lin and Yang 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _core
from .._names import at_most, count, one_name, positive, settle
from ..problem import Problem
from . import blocks
from .base import Prepared, Start
from .conditioning import Conditioning, Perturbed
from .side import dual_start, with_null_intercept
from .spdc import Steps, between_factors, by_hand, given_steps, spdc_probabilities


@dataclass(frozen=True, kw_only=True)
class DSPDC(Perturbed):
    """The doubly stochastic primal-dual coordinate method: a few dual and a few primal coordinates at a time.

    For factorised data, ``southwell.Factorised(U, V)``, where an iteration costs O(k (rows + columns)). On stored
    data it keeps A'y or A x, whichever is cheaper; with all columns in an iteration it is SPDC.

    Parameters
    ----------
    rows, columns : int or "auto"
        How many dual and primal coordinates, or blocks of them, an iteration moves: m and q of the paper. "auto" takes
        32 of each on factorised data: theory recommends equal numbers, and several at a time keep the overhead small.
        On stored data it takes one row, and as many columns as cost little compared with it.
    aim : {"gap", "point"}
        The theorem that sets theta: theorem 2 bounds the gap ("gap"), theorem 1 the distance to the solution ("point").
    scale : {"auto", "safe", "usual"} or float
        Lambda, which bounds ||A[I, J]||^2. "safe" is an upper bound; "usual" is (m q / d) max ||a_i||^2, which the
        paper found good in practice, and which can be too small if there are a few large entries. "auto" is "safe" on
        stored data and "usual" on factorised data, where a bound would be expensive.
    sampling : {"uniform", "norms"}
        "norms" draws long rows more often, one at a time (rows = 1), with the probabilities of algorithm 2 of SPDC;
        columns are drawn uniformly. The rate depends on the mean norm of the rows, not on the largest; ``scale`` then
        bounds ||a_i[J]||^2 / (n p_i)^2. The paper mentions such sampling; docs/mathematics.md has the step sizes.
    tau, sigma, theta : float, optional
        Step sizes, in the paper's units. Default: those of the theorem.
    perturb, recentre
        As for ``Perturbed``.

    References
    ----------
    A. W. Yu, Q. Lin, T. Yang, "Doubly Stochastic Primal-Dual Coordinate Method for Bilinear Saddle-Point Problem",
    arXiv:1508.03390.
    """

    rows: int | str = "auto"
    columns: int | str = "auto"
    aim: str = "gap"
    scale: str | float = "auto"
    sampling: str = "uniform"
    tau: float | None = None
    sigma: float | None = None
    theta: float | None = None
    name: ClassVar[str] = "dspdc"
    takes_factors: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rows", "columns"):
            if not _auto(getattr(self, name)):
                settle(self, count, name, least=1)
        one_name("aim", self.aim, ("gap", "point"))
        if not isinstance(self.scale, str):
            settle(self, positive, "scale")
        else:
            one_name("scale", self.scale, ("auto", "safe", "usual"))
        one_name("sampling", self.sampling, ("uniform", "norms"))
        if self.sampling == "norms" and not _auto(self.rows) and self.rows != 1:
            raise ValueError(f"sampling='norms' takes one row at a time (rows=1); got rows={self.rows}.")
        given_steps(self, ("tau", "sigma", "theta"))

    def _sizes(self, problem: Problem) -> tuple[int, int]:
        n, d = problem.n_samples, problem.n_blocks
        if problem.factorised:
            rows, columns = min(32, n), min(32, d)
        else:
            rows, columns = 1, min(8 * max(1, problem.data.stored // n), d)
        if self.sampling == "norms":
            rows = 1
        if not isinstance(self.rows, str):
            rows = at_most("rows", self.rows, n, "samples")
        if not isinstance(self.columns, str):
            columns = at_most("columns", self.columns, d, "coefficients or blocks, an intercept included")
        return rows, columns

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        start = with_null_intercept(problem, start)
        rows, columns = self._sizes(problem)
        conditioning = self._conditioning(problem)
        d = problem.n_blocks
        probabilities = None
        if self.sampling == "norms":
            if problem.blocks:
                raise ValueError("On blocks rows are drawn uniformly; got sampling='norms'.")
            probabilities = spdc_probabilities(conditioning)
        scale = self._scale(problem, conditioning, rows, columns, probabilities)
        rarest = None if probabilities is None else float(probabilities.min())
        steps, epochs = dspdc_steps(conditioning, d, rows, columns, scale, self.aim == "gap", rarest)
        spec = _core.Dspdc(
            **by_hand(self, steps), rows=rows, columns=columns, probabilities=probabilities,
            **self._recentring(conditioning, epochs),
        )  # fmt: skip
        by_columns = rows * d > columns * problem.n_samples  # then keeping A x is cheaper
        perturbed = ", perturbed" if conditioning.dx or conditioning.dy else ""
        if problem.blocks:
            algorithm = blocks.saddle(problem, spec, by_columns, start, seed)
            return Prepared(algorithm, f"DSPDC, {rows} rows and {columns} blocks{perturbed}")
        if problem.factorised:
            kept, algorithm = "between the factors", between_factors(problem, spec, start, seed)
        else:
            kept, core = "A x" if by_columns else "A'y", problem.core(by_columns)
            first, second = None if by_columns else problem.layout(False), problem.layout(True) if by_columns else None
            algorithm = _core.dspdc(core, spec, first, second, start.x, dual_start(problem, start), seed)
        drawn = "" if probabilities is None else ", norms sampling"
        return Prepared(algorithm, f"DSPDC, {rows} rows and {columns} columns{drawn}, {kept} kept{perturbed}")

    def _scale(self, problem: Problem, at: Conditioning, rows: int, columns: int,
               probabilities: np.ndarray | None) -> float:  # fmt: skip
        if not isinstance(self.scale, str):
            return float(self.scale)
        shares = np.ones(at.n) if probabilities is None else at.n * probabilities
        largest = max(float((at.norms / shares).max()), np.finfo(float).tiny ** 0.25)
        usual = rows * columns / problem.n_blocks * largest**2
        if self.scale == "usual" or (self.scale == "auto" and problem.factorised):
            return usual
        if problem.factorised:
            raise ValueError(
                "scale='safe' needs the entries of A; with factorised data take scale='usual' or a number."
            )
        return max(safe_scale(problem, rows, problem.features_in(columns), shares), usual * 1e-12)


def _auto(given: object) -> bool:
    return isinstance(given, str) and given == "auto"


def safe_scale(problem: Problem, rows: int, columns: int, shares: np.ndarray | float = 1.0) -> float:
    """A bound on ||A[I, J]||^2 over all I of so many rows and J of so many columns, rows weighted by sqrt(n s_i) and
    divided by their shares n p_i: the Frobenius norm, by rows and by columns."""
    w = problem.n_samples * problem.weights / np.square(shares)
    layout = problem.ready_layout()
    largest = problem.matrix.largest_squares(problem.shifts, problem.intercept)
    by_row = rows * np.max(w * np.minimum(layout.row_squared_norms(), columns * largest[0]))
    by_column = columns * np.max(np.minimum(layout.column_squared_norms(w), rows * w.max() * largest[1]))
    return float(min(by_row, by_column))


def dspdc_steps(at: Conditioning, d: int, rows: int, columns: int, scale: float, gap: bool,
                rarest: float | None = None) -> tuple[Steps, float]:  # fmt: skip
    """tau, sigma and theta of theorem 1, or of theorem 2 for the gap; and the epochs in which the error falls by e.

    ``rarest``: the least of the probabilities of single rows, if they are not all 1/n."""
    a, b, scale = at.n / rows, d / columns, float(scale)
    wait = a if rarest is None else 1 / rarest  # the expected iterations until the rarest row is drawn
    with np.errstate(over="ignore", divide="ignore"):  # scales near the limits of floating point numbers
        root = a * b * np.sqrt(scale / (at.n * at.l2 * at.gamma))
        iterations = (2 if gap else 1) * (max(wait, b) + root)
        # (15) and (16); the smaller of the two denominators is written without cancellation
        wide = np.hypot(wait - b, 2 * root)
        large, small = abs(wait - b) + wide, 4 * root**2 / (abs(wait - b) + wide)
        for_tau, for_sigma = (large, small) if wait >= b else (small, large)
        steps = Steps(
            tau=b / (at.l2 * for_tau), sigma=at.n * a / (at.gamma * for_sigma), theta=b * (1 - 1 / iterations)
        )  # fmt: skip
    return steps, iterations / max(a, b)
