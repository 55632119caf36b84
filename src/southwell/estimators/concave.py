"""MCP and SCAD: penalties that are not convex, with any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import methods
from .._concave import KINDS, Concave
from .._names import count
from ..local._reweighted import Reweighted
from ..local._solve import ROUNDS, SETTLED
from ..losses import Loss
from ..methods import Method
from ..path import follow
from ..penalties import Penalty
from ..problem import Problem
from ..result import Result
from ..solve import CallbackOfMany, able
from ..status import Status
from ._base import LinearEstimator, warn
from ._classifier import LinearClassifier
from ._cross_validated import Line
from ._parameters import one_of
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from .general import InOwnUnits


class LocallySolved(InOwnUnits, LinearEstimator):
    """A mixin: weighted L1 problems until the weights settle, as ``southwell.local.solve`` does."""

    penalty: str
    gamma: float | None
    max_rounds: int

    def _reweighted(self, line: Line, own: Any) -> Iterable[Penalty]:
        """The convex penalties of a path over pairs of an l1 and an l2."""
        one_of("penalty", self.penalty, tuple(KINDS))
        kind, least = KINDS[self.penalty], np.finfo(float).tiny
        gamma = {} if self.gamma is None else {"gamma": self.gamma}
        concave: list[Concave] = [kind(max(l1, least), l2=l2, **gamma) for l1, l2 in line]
        return Reweighted(concave, own, SETTLED, count("max_rounds", self.max_rounds, 1))

    def _before_it(self, setting: tuple[float, float]) -> Line:
        """The settings of the path that ends at this one."""
        return [setting]

    def _solve_each(
        self, problem: Callable[[int], Problem], number: int, starts: list[Any], begun: float,
        told: CallbackOfMany | None, keep: Callable[[Result], Result],
    ) -> tuple[list[Result], BaseException | None]:  # fmt: skip
        results: list[Result] = []
        self.local_, self.rounds_, self.change_ = True, 0, 0.0
        settings = self._settings()
        for k in range(number):
            own = problem(k)
            setting = float(own.penalty.leading_strength), float(own.penalty.ridge)
            chooser: Any = self._reweighted(self._before_it(setting), own.penalty)
            method = able(methods.get(self.method), own)
            heard = None if told is None else lambda _, progress, k=k: told(k, progress)
            path, error = follow(own, method, chooser, settings, begun, heard, np.inf)
            assert path.last is not None
            kept = keep(replace(path.last, epochs=int(path.epochs.sum())))
            settled = bool(chooser.changes) and chooser.changes[-1] <= SETTLED and len(path) == len(chooser.changes)
            if kept.status and not settled:
                kept = replace(kept, status=Status.MAX_EPOCHS)
                if error is None:
                    warn("The weights of the local linear approximation have not settled. Raise max_rounds.")
            self.rounds_ += sum(chooser.rounds)
            self.change_ = max(self.change_, *chooser.changes[-1:], 0.0)
            results.append(kept)
            if error is not None:
                return results + [kept] * (number - k - 1), error
        return results, None


class ConcaveRegressor(LocallySolved, LinearRegressor):
    """A linear model of numbers with MCP or SCAD, which select as L1 does and hardly shrink large coefficients.

    Minimises ``mean_i loss(x_i'w + c; y_i) + sum_j p(|w_j|) + (l2/2) ||w||^2`` by local linear approximation, as
    ``southwell.local.solve`` does, which begins at the lasso solution.

    The answer is a local minimum: ``local_`` is True, and ``gap_`` is that of the last convex problem alone.

    Parameters
    ----------
    loss : str or Loss
        As for ``SparseLinearRegressor``.
    penalty : {"mcp", "scad"}
    l1 : float
        The slope of p at zero; > 0.
    l2 : float
        Keeps correlated features together, as in an elastic net. The ``alpha`` of ncvreg is ``l1 / (l1 + l2)``.
    gamma : float, optional
        Where p is constant, in units of l1: ``southwell.local.MCP`` (default 3) and ``SCAD`` (default 3.7).
    max_rounds : int
        The largest number of convex problems.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``; ``tol`` is the gap of each convex problem.

    Attributes
    ----------
    local_ : bool
        True: no bound tells how far the best minimum is.
    rounds_ : int
        How many convex problems were solved.
    change_ : float
        The largest change of a weight, between 0 and 1, in the last of them.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``; the gap is that of the last convex problem.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import ConcaveRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 200))
    >>> y = X[:, 0] - 2 * X[:, 1]
    >>> model = ConcaveRegressor(l1=0.2).fit(X, y)
    >>> model.coef_[:3].round(6).tolist(), model.local_
    ([1.0, -2.0, 0.0], True)
    """

    _targets = ("real", "counts", "positive")
    _multi_output = False

    def __init__(self, loss: str | Loss = "squared", *, penalty: str = "mcp", l1: float = 0.01, l2: float = 0.0,
                 gamma: float | None = None, max_rounds: int = ROUNDS, fit_intercept: bool = True,
                 positive: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.penalty = penalty
        self.l1 = l1
        self.l2 = l2
        self.gamma = gamma
        self.max_rounds = max_rounds
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize


class ConcaveClassifier(LocallySolved, ProbabilitiesIfLogistic, LinearClassifier):
    """A linear classifier with MCP or SCAD, for two or several classes or several labels at once.

    Minimises ``mean_i loss(y_i (x_i'w + c)) + sum_j p(|w_j|) + (l2/2) ||w||^2`` for each class against the rest, or for
    each label, as ``ConcaveRegressor`` does.

    The answer is a local minimum: ``local_`` is True, and ``gap_`` is that of the last convex problem alone.

    Parameters
    ----------
    loss, class_weight, sparse_coef
        As for ``SparseLinearClassifier``.
    penalty, l1, l2, gamma, max_rounds, fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, \
keep_dual, n_jobs, verbose, penalty_weights, lower, upper, standardize
        As for ``ConcaveRegressor``.

    Attributes
    ----------
    local_, rounds_, change_
        As for ``ConcaveRegressor``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``; the gap is that of the last convex problem.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import ConcaveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ConcaveClassifier(l1=0.05, gamma=10.0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.9, int((model.coef_ != 0).sum()) < 10
    (True, True)
    """

    _targets = ("signs",)
    _multilabel = True

    def __init__(self, loss: str | Loss = "logistic", *, penalty: str = "mcp", l1: float = 0.01, l2: float = 0.0,
                 gamma: float | None = None, max_rounds: int = ROUNDS, fit_intercept: bool = True,
                 positive: bool = False, class_weight: dict[Any, float] | str | None = None,
                 max_iter: int = 10_000, tol: float = 1e-6, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None, verbose: bool | int = 0,
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.loss = loss
        self.penalty = penalty
        self.l1 = l1
        self.l2 = l2
        self.gamma = gamma
        self.max_rounds = max_rounds
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.sparse_coef = sparse_coef
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize
