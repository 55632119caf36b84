"""Least squares with whole groups of features in or out."""

from __future__ import annotations

import numpy as np

from .. import losses
from .._names import positive, shown
from .._typing import Given
from ..block_problem import BlockProblem
from ..methods import Method
from ..penalties import Groups
from ..problem import Problem
from ._parameters import share
from ._regressor import LinearRegressor
from .conventions import Strengths


class GroupRegressor(LinearRegressor):
    """Base of least squares under a penalty of groups: ``_groups(strengths, features)`` says which."""

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _groups(self, strengths: Strengths, features: int) -> Groups:
        raise NotImplementedError

    def _state(self, X: Given, target: np.ndarray, weights: np.ndarray | None) -> Problem:
        penalty = self._groups(self._strengths(float(X.shape[0])), X.shape[1])
        return self._stated(BlockProblem, X, target, weights, self._loss(), penalty)

    def _penalised(self, problem: Problem, strengths: Strengths) -> Problem:
        return problem  # it is, from the beginning


class GroupLasso(GroupRegressor):
    """Least squares with a penalty on groups of features, which are zero or not as a whole, proven.

    Minimises ``1 / (2 n) ||y - X w - c||^2 + alpha (1 - l1_ratio) sum_g weight_g ||w_g|| + alpha l1_ratio ||w||_1 +
    (l2 / 2) ||w||^2``: the group lasso; with an ``l1_ratio`` the sparse group lasso, with zeros inside groups too; with
    an ``l2`` elastic.

    Parameters
    ----------
    groups : int, array of shape (n_features,) or list of lists
        So many consecutive features a group (the last may be smaller); a label for each feature; or the features of
        each group, every feature in exactly one.
    alpha : float
        Strength of the penalty, > 0.
    l1_ratio : float
        The share of the plain L1 in it, from 0 to 1.
    l2 : float
        Strength of the elastic part.
    weights : array of shape (n_groups,), "size" or None
        Factors of the groups, in order (of sorted labels); "size" takes the square root of their sizes. None: all 1.
    fit_intercept, max_iter, tol, warm_start, random_state, method, n_jobs, verbose
        As for ``ElasticNet``.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array
    gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
        As for ``ElasticNet``.

    See Also
    --------
    southwell.penalties.Groups : the same penalty with any loss, through ``southwell.solve``.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import GroupLasso
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> y = X[:, 2] - 2 * X[:, 3]
    >>> model = GroupLasso(groups=2, alpha=0.5).fit(X, y)
    >>> (model.coef_ != 0).tolist(), model.gap_ <= 1e-6
    ([False, False, True, True, False, False], True)
    """

    def __init__(self, groups: Given = 1, alpha: float = 1.0, *, l1_ratio: float = 0.0, l2: float = 0.0,
                 weights: Given = None, fit_intercept: bool = True, max_iter: int = 10_000, tol: float = 1e-6,
                 warm_start: bool = False, random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0) -> None:  # fmt: skip
        self.groups = groups
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.l2 = l2
        self.weights = weights
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        alpha, ratio = positive("alpha", self.alpha), share("l1_ratio", self.l1_ratio)
        return Strengths(alpha * ratio, positive("l2", self.l2, zero=True), 1.0, alpha * (1.0 - ratio))

    def _groups(self, strengths: Strengths, features: int) -> Groups:
        groups: Given = self.groups
        if isinstance(groups, int | np.integer) and not isinstance(groups, bool):
            if groups < 1:
                raise ValueError(
                    f"groups must be at least 1, features a group, or the groups themselves; got {shown(groups)}."
                )
            groups = np.arange(features) // int(min(groups, features))
        elif groups is None or isinstance(groups, str | float | bool):
            raise TypeError(
                f"groups must be an int, a label for each feature or lists of features; got {shown(groups)}."
            )
        return Groups(strengths.group, strengths.l1, strengths.l2, groups, self.weights)
