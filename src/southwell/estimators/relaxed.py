"""The relaxed lasso: L1 selects, and what it selects is shrunk less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import positive
from .._typing import Given
from ..losses import Loss
from ..methods import Method
from ._classifier import LinearClassifier
from ._parameters import share
from ._probabilities import ProbabilitiesIfLogistic
from ._regressor import LinearRegressor
from ._relaxed import ChoosesRelaxed, Relaxed
from .conventions import Strengths, from_alpha

GAMMAS = (1.0, 0.75, 0.5, 0.25, 0.0)


class RelaxedToAlpha(Relaxed):
    """With ``alpha`` and ``gamma``."""

    alpha: float
    gamma: float

    def _share(self) -> float:
        return share("gamma", self.gamma)

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        self._share()
        return from_alpha(positive("alpha", self.alpha, zero=True), 1.0)


class RelaxedRegressor(LinearRegressor):
    """What both regressors share."""

    _multi_output = False

    def _loss(self) -> Loss:
        return losses.Squared()


class RelaxedClassifier(ProbabilitiesIfLogistic, LinearClassifier):
    """What both classifiers share."""

    loss: str | Loss
    _multilabel = True

    def _loss(self) -> Loss:
        loss = losses.get(self.loss)
        if loss.targets != "signs":
            raise ValueError(f"{type(self).__name__} cannot use {loss.name}: that is not a loss for two classes.")
        return loss


class RelaxedLasso(RelaxedToAlpha, RelaxedRegressor):
    """A mixture of the lasso and of least squares on the features that it selects, with certificates.

    With w the minimiser of ``1 / (2 n) ||y - X w - c||^2 + alpha ||w||_1`` and v that of the squares alone over the
    coefficients that are not zero in w, the coefficients are ``gamma w + (1 - gamma) v`` (Hastie, Tibshirani and
    Tibshirani 2020; the ``relax=TRUE`` of glmnet), and so is the intercept. Both problems are convex and certified.

    Parameters
    ----------
    alpha : float
    gamma : float
        Between 0, least squares on the support, and 1, the lasso.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``. Bounds hold in both problems.

    Attributes
    ----------
    gap_, dual_gap_, status_, n_iter_
        As for ``ElasticNet``; the gap and the status are the worse of both problems, and rounds are of both.
    result_, dual_coef_, support_
        With ``keep_dual=True``: of the lasso.
    refit_results_ : list of Result
        With ``keep_dual=True``: of the refit, one for each problem; ``x`` is over all features.
    coef_, intercept_, sparse_coef_
        As for ``ElasticNet`` with one target.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import Lasso, RelaxedLasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = X[:, 0] - 2 * X[:, 1] + rng.normal(size=100) / 4
    >>> for model in (Lasso(0.3), RelaxedLasso(0.3, gamma=0.0)):
    ...     model.fit(X, y).coef_[:3].round(1).tolist()
    [0.8, -1.7, 0.0]
    [1.0, -2.0, 0.0]
    """

    def __init__(self, alpha: float = 1.0, *, gamma: float = 0.0, fit_intercept: bool = True,
                 positive: bool = False, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.gamma = gamma
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


class RelaxedLassoCV(ChoosesRelaxed, RelaxedRegressor):
    """``RelaxedLasso`` with alpha and gamma chosen by cross-validation.

    Each fold computes a path of lassos and the refit of each of its points; all values of gamma share them.

    Parameters
    ----------
    eps, alphas, cv, scoring, one_standard_error
        As for ``LassoCV``.
    gammas : float or array
        The values of gamma to try.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``RelaxedLasso``.

    Attributes
    ----------
    alpha_, gamma_ : float
        The chosen values.
    alphas_, gammas_ : array
        The values tried, from large to small.
    scores_ : array of shape (n_folds, n_gammas, n_alphas)
        Minus the mean squared error, or the score of ``scoring``.
    coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_, \
refit_results_
        As for ``RelaxedLasso``.

    Examples
    --------
    >>> import numpy as np
    >>> from southwell import LassoCV, RelaxedLassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = X[:, 0] - 2 * X[:, 1] + rng.normal(size=100) / 4
    >>> [int((model.fit(X, y).coef_ != 0).sum()) for model in (LassoCV(), RelaxedLassoCV())]
    [8, 2]
    """

    def __init__(self, *, eps: float = 1e-3, alphas: int | ArrayLike = 100,
                 gammas: float | Sequence[float] = GAMMAS, fit_intercept: bool = True, positive: bool = False,
                 cv: Given = None, scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.eps = eps
        self.alphas = alphas
        self.gammas = gammas
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
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


class RelaxedLassoClassifier(RelaxedToAlpha, RelaxedClassifier):
    """``RelaxedLasso`` for two or several classes, each against the rest, or several labels at once.

    Where the selected features separate the classes the refit has no minimiser: a warning says so, and the lasso
    solution is kept, in cross-validation too.

    Parameters
    ----------
    alpha, gamma
        As for ``RelaxedLasso``.
    loss, class_weight, sparse_coef
        As for ``SparseLinearClassifier``.
    fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``RelaxedLasso``.

    Attributes
    ----------
    classes_, coef_, intercept_, sparse_coef_
        As for ``LogisticRegression``.
    gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, result_, refit_results_
        As for ``RelaxedLasso``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import RelaxedLassoClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RelaxedLassoClassifier(0.1, gamma=0.0).fit(scale(X), y)
    >>> int((model.coef_ != 0).sum()), model.score(scale(X), y) > 0.95, model.gap_ <= 1e-6
    (4, True, True)
    """

    def __init__(self, alpha: float = 0.01, *, gamma: float = 0.0, loss: str | Loss = "logistic",
                 fit_intercept: bool = True, positive: bool = False,
                 class_weight: dict[Any, float] | str | None = None, max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0, sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.gamma = gamma
        self.loss = loss
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


class RelaxedLassoClassifierCV(ChoosesRelaxed, RelaxedClassifier):
    """``RelaxedLassoClassifier`` with alpha and gamma chosen by cross-validation.

    Parameters
    ----------
    eps, alphas, cv, one_standard_error
        As for ``LassoCV``.
    scoring : str, callable or None
        Any scikit-learn scorer; None is accuracy.
    gammas
        As for ``RelaxedLassoCV``.
    loss, class_weight, sparse_coef, fit_intercept, positive, max_iter, tol, random_state, method, max_seconds, \
keep_dual, n_jobs, verbose, penalty_weights, lower, upper, standardize
        As for ``RelaxedLassoClassifier``.

    Attributes
    ----------
    alpha_, gamma_, alphas_, gammas_, scores_
        As for ``RelaxedLassoCV``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_, \
refit_results_
        As for ``RelaxedLassoClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import RelaxedLassoClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RelaxedLassoClassifierCV(alphas=10, eps=0.05, scoring="neg_log_loss").fit(scale(X), y)
    >>> model.scores_.shape, model.score(scale(X), y) > 0.95
    ((5, 5, 10), True)
    """

    def __init__(self, *, eps: float = 0.01, alphas: int | ArrayLike = 30,
                 gammas: float | Sequence[float] = GAMMAS, loss: str | Loss = "logistic", fit_intercept: bool = True,
                 positive: bool = False, class_weight: dict[Any, float] | str | None = None, cv: Given = None,
                 scoring: str | Callable[..., float] | None = None, one_standard_error: bool = False,
                 max_iter: int = 10_000, tol: float = 1e-6,
                 random_state: int | np.random.RandomState | None = None, method: str | Method = "auto",
                 n_jobs: int | None = None, verbose: bool | int = 0, sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.eps = eps
        self.alphas = alphas
        self.gammas = gammas
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
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
