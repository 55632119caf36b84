"""The group lasso with its strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._names import positive
from .._typing import Given
from ..methods import Method
from ._alphas import ChoosesAlpha
from .conventions import Strengths, over_groups
from .group_lasso import GroupRegressor, WithGroups


class ChoosesWithGroups(ChoosesAlpha, WithGroups):
    """A mixin with the parameters of ``GroupLassoCV``."""

    _zero_alpha = False

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return over_groups(*setting, positive("l2", self.l2, zero=True))


class GroupLassoCV(ChoosesWithGroups, GroupRegressor):
    """``GroupLasso`` with alpha, and l1_ratio if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties; folds run on several threads. The final fit is certified.

    Parameters
    ----------
    groups : int, array of shape (n_features,) or list of lists
        As for ``GroupLasso``.
    l1_ratio : float or array
        The share of the plain L1, from 0 to 1, or several shares to choose from.
    l2 : float
        Strength of the elastic part, the same for every alpha.
    weights : array of shape (n_groups,), "size" or None
        As for ``GroupLasso``.
    eps : float
        The smallest alpha, relative to the largest.
    alphas : int or array
        The number of values to try, or the values; > 0.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is the mean squared error.
    one_standard_error : bool
        Choose the strongest penalty whose error is within one standard error of the least.
    fit_intercept, positive, max_iter, tol, verbose, n_jobs, random_state, method, max_seconds, keep_dual
        As for ``GroupLasso``.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen values.
    alphas_, l1_ratios_, mse_path_ : array
        The values tried, and the error on each fold: as for ``ElasticNetCV``.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``GroupLasso`` with one target.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import GroupLassoCV
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(100, 6))
    >>> y = X[:, 2] - 2 * X[:, 3] + rng.normal(size=100)
    >>> model = GroupLassoCV(groups=2, alphas=20, one_standard_error=True).fit(X, y)
    >>> (model.coef_ != 0).tolist(), model.mse_path_.shape
    ([False, False, True, True, False, False], (20, 5))
    """

    _multi_output = False

    def __init__(self, groups: Given = 1, *, l1_ratio: float | Sequence[float] = 0.0, l2: float = 0.0,
                 weights: Given = None, eps: float = 1e-3, alphas: int | ArrayLike = 100, fit_intercept: bool = True,
                 max_iter: int = 10_000, tol: float = 1e-6, cv: Given = None, verbose: bool | int = 0,
                 n_jobs: int | None = None, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None,
                 method: str | Method = "auto", scoring: str | Callable[..., float] | None = None,
                 one_standard_error: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False) -> None:  # fmt: skip
        self.groups = groups
        self.l1_ratio = l1_ratio
        self.l2 = l2
        self.weights = weights
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.method = method
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
