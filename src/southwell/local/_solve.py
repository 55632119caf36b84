"""``local.solve`` and ``local.path``."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _keywords, _tables, methods
from .._concave import Concave
from .._names import count, flag, positive, shown
from .._typing import Given
from ..losses import Loss
from ..methods import Method
from ..path import follow, grid_of
from ..path_points import Path
from ..penalties import ElasticNet
from ..problem import Problem
from ..result import Result
from ..solve import CALLER, ConvergenceWarning, Settings, able, raise_with
from ..status import Status
from ._reweighted import Reweighted

SETTLED = 1e-4
"""The change of a weight, between 0 and 1, below which weights are settled."""

ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Local:
    """A local minimum: stationary, but no bound tells how far the best minimum is.

    Attributes
    ----------
    x : array of shape (n_features,)
    intercept : float
    objective : float
        The loss and the penalty at x. It is no more than that of the lasso solution from which the work began, up to
        the gaps of the convex problems.
    status : Status
        ``CONVERGED``: the weights have settled, and the last convex problem is proven.
    rounds : int
        How many convex problems were solved.
    change : float
        The largest change of a weight in the last of them; weights are between 0 and 1.
    convex : Result
        The last convex problem, with its certificate.
    penalty : MCP or SCAD
    local : bool
        True.
    """

    x: np.ndarray
    intercept: float
    objective: float
    status: Status
    rounds: int
    change: float
    convex: Result
    penalty: Concave
    local: bool = True

    @property
    def nonzeros(self) -> int:
        """Coefficients that are not zero."""
        return int(np.count_nonzero(self.x))

    def decision_function(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """A x + c."""
        return self.convex.decision_function(A, offset=offset)

    def predict(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """The predictions for new data: labels for losses over classes, means for losses with a log link, else
        ``A x + c``."""
        return self.convex.predict(A, offset=offset)

    def __repr__(self) -> str:
        return _tables.text(
            f"Local minimum: {self.status.name} - no bound tells how far the best minimum is.",
            {
                "objective": f"{self.objective:.6g}, with {self.penalty!r}",
                "convex step": f"gap {self.convex.relative_gap:.3g} of the zero model's objective, proven",
                "weights": f"change by {self.change:.3g} at most, after {self.rounds} rounds",
                "nonzeros": f"{self.nonzeros} of {self.x.size}",
            },
        )


@dataclass(frozen=True, eq=False)
class LocalPath:
    """Local minima along a path, each beginning at the one before.

    Attributes
    ----------
    convex : Path
        The last convex problem of each strength: coefficients, strengths, certificates. Its gaps are those of convex
        problems with fixed weights.
    objectives, rounds, changes : array
    statuses : list of Status
        As for ``Local``, for each point.
    penalties : list of MCP or SCAD
    local : bool
        True.
    """

    convex: Path
    objectives: np.ndarray
    rounds: np.ndarray
    changes: np.ndarray
    statuses: list[Status]
    penalties: list[Concave]
    local: bool = True

    def __len__(self) -> int:
        return len(self.convex)

    @property
    def l1s(self) -> np.ndarray:
        return self.convex.strengths

    @property
    def l2s(self) -> np.ndarray:
        return self.convex.l2s

    @property
    def x(self) -> Any:
        """The coefficients, a sparse row for each point."""
        return self.convex.x

    @property
    def intercepts(self) -> np.ndarray:
        return self.convex.intercepts

    @property
    def converged(self) -> bool:
        return all(self.statuses)

    def predict(self, A: Given, *, offset: Given = None) -> np.ndarray:
        """The predictions of all points, a column for each."""
        return self.convex.predict(A, offset=offset)

    def plot(self, names: Given = None, top: int = 10, ax: Any = None) -> Any:
        """The coefficients against the strength, as ``Path.plot`` draws them."""
        return self.convex.plot(names, top, ax)


@_keywords.answers(_keywords.OF_SOLVE)
def solve(
    A: Given, b: Given, *, penalty: Given, loss: str | Loss = "squared", intercept: bool = False,
    sample_weight: Given = None, offset: Given = None, positive: bool = False, method: str | Method = "auto",
    tol: float = 1e-6, settled: float = SETTLED, max_rounds: int = ROUNDS, max_epochs: int = 1000,
    max_seconds: float | None = None, seed: int = 0, n_threads: int | None = None,
) -> Local:  # fmt: skip
    """A local minimum of ``mean_i loss(a_i'x + c; b_i) + sum_j p(|x_j|) + (l2/2) ||x||^2``, p being MCP or SCAD.

    Begins at the lasso solution of the same l1 and goes on by local linear approximation: weighted L1 problems, each
    with a proven gap, until the weights settle. ``local.path`` begins at stronger penalties, and may find another
    minimum, with a lower or a higher objective.

    Parameters
    ----------
    penalty : MCP or SCAD
    positive : bool
        Allow only coefficients >= 0.
    tol : float
        The gap of each convex problem, in units of the zero model's objective.
    settled : float
        The work ends when no weight, between 0 and 1, changes by more than this.
    max_rounds : int
        The largest number of convex problems.
    A, b, loss, intercept, sample_weight, offset, method, max_epochs, max_seconds, seed, n_threads
        As for ``solve``.

    Returns
    -------
    Local

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(100, 200))
    >>> b = A[:, 0] - 2 * A[:, 1] + rng.normal(size=100) / 4
    >>> r = sw.local.solve(A, b, penalty=sw.local.MCP(0.2))
    >>> r.nonzeros, r.local, bool(np.abs(r.x[:2] - [1, -2]).max() < 0.1)  # L1 would shrink both by about 0.2
    (2, True, True)
    """
    found, path = _along(A, b, penalty, None, loss, intercept, sample_weight, offset, positive, method, tol, settled,
                         max_rounds, max_epochs, max_seconds, seed, n_threads)  # fmt: skip
    convex = path.last
    assert convex is not None
    return Local(
        x=convex.x, intercept=convex.intercept, objective=float(found.objectives[-1]), status=found.statuses[-1],
        rounds=int(found.rounds[-1]), change=float(found.changes[-1]), convex=convex, penalty=found.penalties[-1],
    )  # fmt: skip


@_keywords.answers(_keywords.OF_SOLVE)
def path(
    A: Given, b: Given, *, penalty: Given, l1s: Given = "auto", l2s: Given = None, n_points: int = 50,
    ratio: float = 0.05, loss: str | Loss = "squared", intercept: bool = False, sample_weight: Given = None,
    offset: Given = None, positive: bool = False, method: str | Method = "auto", tol: float = 1e-6,
    settled: float = SETTLED, max_rounds: int = ROUNDS, max_epochs: int = 1000, max_seconds: float | None = None,
    seed: int = 0, n_threads: int | None = None,
) -> LocalPath:  # fmt: skip
    """Local minima from strong to weak penalties; each begins with the weights of the one before.

    Parameters
    ----------
    penalty : MCP or SCAD
        Its l1 is replaced.
    l1s : "auto" or array
        Sorted from large to small. "auto": ``n_points`` from ``lambda_max`` down to ``ratio`` of it, evenly on a log
        scale.
    l2s : float or array, optional
        One number, or one for each l1. Default: that of the penalty.
    n_points : int
    ratio : float
    A, b, loss, intercept, sample_weight, offset, positive, method, tol, settled, max_rounds, max_epochs, max_seconds, \
seed, n_threads
        As for ``local.solve``.

    Returns
    -------
    LocalPath

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> A, b = load_diabetes(return_X_y=True)
    >>> path = sw.local.path(A, b, penalty=sw.local.SCAD(1.0), intercept=True, n_points=10)
    >>> len(path), path.converged, path.local
    (10, True, True)
    """
    strengths = l1s, l2s, count("n_points", n_points, 1, bits=24), ratio
    return _along(A, b, penalty, strengths, loss, intercept, sample_weight, offset, positive, method, tol, settled,
                  max_rounds, max_epochs, max_seconds, seed, n_threads)[0]  # fmt: skip


def _along(A: Given, b: Given, penalty: Given, strengths: Given, loss: str | Loss, intercept: bool,
           sample_weight: Given, offset: Given, sign: bool, method: str | Method, tol: float, settled: float,
           max_rounds: int, max_epochs: int, max_seconds: float | None, seed: int,
           n_threads: int | None) -> tuple[LocalPath, Path]:  # fmt: skip
    begun = time.perf_counter()
    if not isinstance(penalty, Concave):
        raise TypeError(f"penalty must be southwell.local.MCP or SCAD; got {shown(penalty)}. Others are for solve.")
    if isinstance(A, Problem):
        raise TypeError("Give the data A and b, not a Problem: its penalty is convex.")
    own = ElasticNet(lower=0.0 if flag("positive", sign) else None)
    problem = Problem(A, b, loss, own, intercept=intercept, sample_weight=sample_weight, offset=offset)
    settings = Settings.checked(tol, max_epochs, max_seconds, None, seed, True, n_threads)
    most, settled = count("max_rounds", max_rounds, 1), positive("settled", settled)
    if strengths is None:
        points = [penalty]
    else:
        l1s, l2s = grid_of(problem.with_penalty(own.at(1.0, penalty.l2)), *strengths)
        if l1s.min() <= 0:
            raise ValueError(f"l1s must be positive, at least one; got {shown(strengths[0])}.")
        points = [penalty.at(float(l1), float(l2)) for l1, l2 in zip(l1s, l2s, strict=True)]
    chooser = Reweighted(points, own, settled, most)
    found, error = follow(problem, able(methods.get(method), problem), chooser, settings, begun, stop_at=np.inf)
    answer = _answer(found, chooser)
    if error is not None:
        raise_with(error, answer)
    bad = [status for status in answer.statuses if not status]
    if bad:
        warnings.warn(
            f"{len(bad)} of {len(found)} local minima are not: their convex problems or their weights did not settle "
            f"({bad[0].name}). Raise max_rounds, max_epochs or max_seconds, or loosen settled or tol.",
            ConvergenceWarning, stacklevel=CALLER + 1,
        )  # fmt: skip
    return answer, found


def _answer(found: Path, chooser: Reweighted) -> LocalPath:
    number = len(found)
    penalties = chooser.concave[:number]
    objectives = [
        found.primal[k] - found.penalties[k].value(found.coefficients(k)) + penalties[k].value(found.coefficients(k))
        for k in range(number)
    ]
    rounds, changes = chooser.rounds[:number], chooser.changes[:number]
    if len(rounds) < number:  # the last strength was not finished
        rounds, changes = [*rounds, 0], [*changes, np.inf]
    statuses = [
        Status.MAX_EPOCHS if status and change > chooser.settled else status
        for status, change in zip(found.statuses, changes, strict=True)
    ]
    return LocalPath(found, np.array(objectives), np.array(rounds), np.array(changes), statuses, penalties)
