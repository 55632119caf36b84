"""Logistic regression with a penalty on groups of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .. import losses
from .._typing import Given
from ..methods import Method
from ..problem import Problem
from ._base import FitData
from ._cross_validated import Line
from ._folds import Scores
from ._probabilities import Probabilities
from ._together import Together
from .group_lasso import OverGroups, WithGroups
from .group_lasso_cv import ChoosesWithGroups


class GroupClassifier(OverGroups, Probabilities, Together):
    """A mixin: the logistic loss for two classes, and that of the softmax for several, all together."""

    _penalise = "alpha=1e-6"

    def _loss(self) -> losses.Loss:
        return losses.Logistic()

    def _joint_loss(self) -> losses.ClassLoss:
        return losses.Softmax()

    def _joins(self, classes: int) -> bool:
        return classes > 2

    def _loss_of(self, data: FitData) -> losses.Loss | losses.ClassLoss:
        return self._joint_loss() if data.together else self._loss()

    def _state(self, data: FitData) -> Problem:
        return OverGroups._state(self, data)


class GroupLassoClassifier(WithGroups, GroupClassifier):
    """Logistic regression with a penalty that makes whole groups of coefficients zero, with a certificate.

    Minimises ``mean_i log(1 + exp(-y_i (x_i'w + c))) + alpha (1 - l1_ratio) sum_g weight_g ||w_g|| + alpha l1_ratio
    ||w||_1 + (l2 / 2) ||w||^2``. Three and more classes are fitted together, with the softmax loss; the coefficients of
    a group for all classes are one group then, so that a feature is used for all classes or for none.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    groups, alpha, l1_ratio, l2, weights, positive
        As for ``GroupLasso``.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose
        As for ``ElasticNet``.

    Attributes
    ----------
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from southwell import GroupLassoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GroupLassoClassifier(groups=[0, 0, 1, 1], alpha=0.3).fit(X, y)
    >>> (model.coef_ != 0).any(axis=0).tolist(), model.coef_.shape, model.gap_ <= 1e-6
    ([False, False, True, True], (3, 4), True)
    """

    def __init__(self, groups: Given = 1, alpha: float = 0.01, *, l1_ratio: float = 0.0, l2: float = 0.0,
                 weights: Given = None, class_weight: dict[Any, float] | str | None = None,
                 fit_intercept: bool = True, max_iter: int = 10_000, tol: float = 1e-6,
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
        self.class_weight = class_weight
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


class GroupLassoClassifierCV(ChoosesWithGroups, GroupClassifier):
    """``GroupLassoClassifier`` with alpha, and l1_ratio if several are given, chosen by cross-validation.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five stratified folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is accuracy.
    groups, l1_ratio, l2, weights, eps, alphas, one_standard_error, fit_intercept, positive, max_iter, tol, verbose, \
n_jobs, random_state, method, max_seconds, keep_dual
        As for ``GroupLassoCV``.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen values.
    alphas_, l1_ratios_ : array
        The values tried: as for ``ElasticNetCV``.
    scores_ : array of shape (n_folds, n_l1_ratios, n_alphas)
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from southwell import GroupLassoClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GroupLassoClassifierCV(groups=[0, 0, 1, 1], alphas=10, scoring="neg_log_loss").fit(X, y)
    >>> model.scores_.shape, model.score(X, y) > 0.9
    ((5, 1, 10), True)
    """

    def __init__(self, groups: Given = 1, *, l1_ratio: float | Sequence[float] = 0.0, l2: float = 0.0,
                 weights: Given = None, class_weight: dict[Any, float] | str | None = None,
                 eps: float = 1e-3, alphas: int | ArrayLike = 100, fit_intercept: bool = True,
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
        self.class_weight = class_weight
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

    def _check_classes(self, number: int, train: np.ndarray, data: FitData) -> None:
        """Nothing: of a class that the rows of a fold lack, the probability is zero."""

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        chosen = super()._chosen(lines, found, line, point, data)
        del chosen["mse_path_"]
        return chosen | {"scores_": found.values}

    def _tried(self) -> Bunch:
        scores = self.scores_.transpose(1, 0, 2)
        return Bunch(
            label="alpha", strengths=np.broadcast_to(self.alphas_, (scores.shape[0], scores.shape[2])), scores=scores,
            chosen=self.alpha_, other="l1_ratio", others=self.l1_ratios_, other_chosen=self.l1_ratio_,
        )  # fmt: skip
