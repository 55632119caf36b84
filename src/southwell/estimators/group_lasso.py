"""Least squares with a penalty on groups of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import losses
from .._names import integral, positive, shown
from .._typing import Given
from ..block_problem import BlockProblem
from ..methods import Method
from ..penalties import Groups
from ..problem import Problem
from ._base import FitData, LinearEstimator
from ._parameters import share
from ._regressor import LinearRegressor
from .conventions import Strengths, over_groups


class OverGroups(LinearEstimator):
    """A mixin for penalties of groups: ``_groups(features)`` says which."""

    def _groups(self, features: int) -> Groups:
        raise NotImplementedError

    def _state(self, data: FitData) -> Problem:
        # While its strengths are still to be chosen, any will do.
        strengths = Strengths(0.0, 0.0, group=1.0) if self._chooses else self._strengths(data.total)
        penalty = self._penalty(self._groups(data.X.shape[1]), strengths)
        return self._stated(BlockProblem, data, self._loss_of(data), penalty)

    def _loss_of(self, data: FitData) -> losses.Loss | losses.ClassLoss:
        return self._loss()

    def _penalty(self, own: Any, strengths: Strengths) -> Groups:
        penalty: Groups = replace(own, strength=strengths.group, l1=strengths.l1, l2=strengths.l2)
        return penalty


class GroupRegressor(OverGroups, LinearRegressor):
    """Base of least squares under a penalty of groups."""

    def _loss(self) -> losses.Loss:
        return losses.Squared()


def grouped(groups: Given, weights: Given, sign: Given, features: int) -> Groups:
    """The penalty over the groups that ``GroupLasso`` is given; ``sign``: are coefficients >= 0?"""
    if integral(groups):
        if groups < 1:
            raise ValueError(
                f"groups must be at least 1, features a group, or the groups themselves; got {shown(groups)}."
            )
        groups = np.arange(features) // int(min(groups, features))
    elif groups is None or isinstance(groups, str | float | bool | np.generic):
        raise TypeError(f"groups must be an int, a label for each feature or lists of features; got {shown(groups)}.")
    return Groups(groups=groups, weights=weights, positive=sign).settled(features)


class WithGroups(OverGroups):
    """A mixin with the parameters of ``GroupLasso``."""

    groups: Given
    alpha: float
    l1_ratio: Any
    l2: float
    weights: Given
    positive: bool

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        alpha, ratio = positive("alpha", self.alpha), share("l1_ratio", self.l1_ratio)
        return over_groups(alpha, ratio, positive("l2", self.l2, zero=True))

    def _groups(self, features: int) -> Groups:
        return grouped(self.groups, self.weights, self.positive, features)


class GroupLasso(WithGroups, GroupRegressor):
    """Least squares with a penalty that makes whole groups of coefficients zero, with a certificate.

    Minimises ``1 / (2 n) ||y - X w - c||^2 + alpha (1 - l1_ratio) sum_g weight_g ||w_g|| + alpha l1_ratio ||w||_1 +
    (l2 / 2) ||w||^2``: the group lasso; with ``l1_ratio`` > 0 the sparse group lasso, which has zeros inside groups
    too; ``l2`` adds a ridge penalty.

    Parameters
    ----------
    groups : int, array of shape (n_features,) or list of lists
        The number of consecutive features in a group (the last may be smaller); a label for each feature; or lists of
        features, one for each group, with every feature in exactly one.
    alpha : float
        Strength of the penalty, > 0.
    l1_ratio : float
        The share of the L1 norm in the penalty, from 0 to 1.
    l2 : float
        Strength of the ridge penalty.
    weights : array of shape (n_groups,), "size" or None
        Factors of the groups, in order (of sorted labels); 0 leaves a group without this penalty; "size" takes the
        square root of their sizes. None: all 1.
    positive : bool
        Allow only coefficients >= 0.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose
        As for ``ElasticNet``.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array
    gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``.

    See Also
    --------
    GroupLassoCV : chooses alpha by cross-validation.
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
                 warm_start: bool = False, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        self.groups = groups
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.l2 = l2
        self.weights = weights
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
