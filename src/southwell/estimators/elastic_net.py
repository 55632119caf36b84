"""Least squares with an L1 or an elastic-net penalty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import flag, positive
from .._typing import Given
from ..methods import Method
from ._callbacks import with_callbacks
from ._parameters import share
from ._paths import enet_path
from ._regressor import LinearRegressor
from .conventions import Strengths, from_alpha


class ElasticNet(LinearRegressor):
    """Least squares with a mixed L1 and L2 penalty, with a certificate.

    Minimises ``1 / (2 n) ||y - X w - c||^2 + alpha l1_ratio ||w||_1 + (alpha / 2) (1 - l1_ratio) ||w||^2``, as
    scikit-learn's class of the same name does.

    Parameters
    ----------
    alpha : float
        Strength of the penalty; 0 gives ordinary least squares.
    l1_ratio : float
        The share of L1 in it, between 0 and 1.
    fit_intercept : bool
        Add c, which is never penalised.
    precompute, copy_X, selection
        Ignored; for compatibility with scikit-learn. X is never changed.
    max_iter : int
        The largest number of rounds (epochs) of the method.
    tol : float
        The duality gap to reach, in units of the zero model's objective.
    warm_start : bool
        Start the next fit at the solution of this one.
    positive : bool
        Require coefficients >= 0.
    random_state : int, RandomState or None
        For methods that use random numbers; None is the seed 0.
    method : str or Method
        Any of ``southwell.methods``.
    n_jobs : int, optional
        Threads; None: see ``southwell.set_num_threads``.
    verbose : int
        1 shows a progress line in terminals and notebooks, and elsewhere logs a line a second (logger "southwell").
    max_seconds : float, optional
        The time limit of a fit, cross-validation included; a fit that needs longer ends with a warning and its gap.
    keep_dual : bool
        Keep ``result_``, with the dual point of the certificate: a number for each sample. A warm start then begins at
        this point too, which saves rounds for losses with kinks.
    penalty_weights : array of shape (n_features,), optional
        Factors of each coefficient's penalty; 0 leaves it unpenalised. They are not rescaled.
    lower, upper : float or array of shape (n_features,), optional
        Bounds of coefficients, in the units of ``coef_``.
    standardize : bool
        Penalise coefficients as those of columns with unit standard deviation (over samples, with their weights,
        divided by their total), as R's glmnet does; ``coef_`` is in the units of X, which is not changed.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array
    sparse_coef_ : sparse array
    gap_ : float
        A proven bound on the distance of the objective from its optimum, in units of the zero model's objective, as
        ``tol`` is.
    dual_gap_ : float or array
        The same in the units of the objective above.
    status_ : Status
    n_iter_ : int, or a list of them
    dual_coef_ : array of shape (n_samples,) or (n_targets, n_samples)
        The dual point of the certificate. With ``keep_dual=True``, as the next two.
    support_ : array
        Samples whose dual coefficient is not zero.
    result_ : Result, or a list of them

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=0.01, l1_ratio=0.9).fit(X, y)
    >>> round(model.score(X, y), 3), model.gap_ <= 1e-6
    (0.491, True)
    """

    path = staticmethod(enet_path)
    _penalise = "alpha=1e-6"

    @with_callbacks
    def fit(self, X: Given, y: Given = None, sample_weight: Given = None, check_input: bool = True, *,
            offset: Given = None) -> Self:  # fmt: skip
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or ``southwell.data.Store`` of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
            A store may hold them itself.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice.
        check_input : bool
            Ignored, because data are always checked; for compatibility with scikit-learn.
        offset : array of shape (n_samples,), optional
            Known parts of the margins: the model is of X w + c + offset. Give ``predict`` those of its rows.

        Returns
        -------
        self
        """
        flag("check_input", check_input)
        return self._fit(X, y, sample_weight, offset=offset)

    def __init__(self, alpha: float = 1.0, *, l1_ratio: float = 0.5, fit_intercept: bool = True,
                 precompute: Given = False, max_iter: int = 10_000, copy_X: bool = True, tol: float = 1e-6,
                 warm_start: bool = False, positive: bool = False,
                 random_state: int | np.random.RandomState | None = None, selection: str = "cyclic",
                 method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _loss(self) -> losses.Loss:
        return losses.Squared()

    def _rounds(self, epochs: list[int]) -> Any:
        return epochs if len(epochs) > 1 else epochs[0]

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        return from_alpha(positive("alpha", self.alpha, zero=True), share("l1_ratio", self.l1_ratio))


class Lasso(ElasticNet):
    """Least squares with an L1 penalty, with a certificate.

    Minimises ``1 / (2 n) ||y - X w - c||^2 + alpha ||w||_1``. Parameters and attributes are those of ``ElasticNet``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> int((model.coef_ != 0).sum()), model.gap_ <= 1e-6
    (4, True)
    """

    def __init__(self, alpha: float = 1.0, *, fit_intercept: bool = True, precompute: Given = False,
                 copy_X: bool = True, max_iter: int = 10_000, tol: float = 1e-6, warm_start: bool = False,
                 positive: bool = False, random_state: int | np.random.RandomState | None = None,
                 selection: str = "cyclic", method: str | Method = "auto", n_jobs: int | None = None,
                 verbose: bool | int = 0,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        super().__init__(
            alpha, l1_ratio=1.0, fit_intercept=fit_intercept, precompute=precompute, max_iter=max_iter, copy_X=copy_X,
            tol=tol, warm_start=warm_start, positive=positive, random_state=random_state, selection=selection,
            method=method, n_jobs=n_jobs, verbose=verbose,
            max_seconds=max_seconds, keep_dual=keep_dual, penalty_weights=penalty_weights,
            lower=lower, upper=upper, standardize=standardize,
        )  # fmt: skip
