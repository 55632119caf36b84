"""Logistic regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._names import positive
from .._typing import AnyMatrix
from ..methods import Method
from ._base import FitData
from ._coefficients import bounds_given
from ._parameters import is_infinite, l1_share, one_of
from ._probabilities import Probabilities
from ._together import Together
from .conventions import Strengths, from_C


class LogisticClassifier(Probabilities, Together):
    """What LogisticRegression and LogisticRegressionCV share: the loss, and how several classes are fitted."""

    multi_class: str
    _solvers = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
    _penalise = "C=1e6"

    def _loss(self) -> losses.Loss:
        return losses.Logistic()

    def _joint_loss(self) -> losses.ClassLoss:
        return losses.Softmax()

    def _joins(self, classes: int) -> bool:
        one_of("multi_class", self.multi_class, ("multinomial", "ovr", "auto"))
        return self.multi_class != "ovr" and classes > 2

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        """Of classes that are fitted together, the representative whose coefficients sum to zero if there is no L1 and
        there are no bounds: the loss is the same, and the penalty not larger."""
        if data.together and isinstance(coef, np.ndarray) and self._ridge() and not bounds_given(self):
            coef = coef - coef.mean(axis=0)
        return super()._shaped(coef, intercepts, data)

    def _ridge(self) -> bool:
        """Whether the penalty is without L1."""
        raise NotImplementedError

    def _rounds(self, epochs: list[int]) -> Any:
        return np.array(epochs, dtype=np.int32)


class LogisticRegression(LogisticClassifier):
    """Logistic regression with an L1, L2 or elastic penalty, or none, with a certificate.

    Minimises ``penalty(w) + C sum_i log(1 + exp(-y_i (x_i'w + c)))``, with a penalty of ``||w||_1``, ``||w||^2 / 2`` or
    a mixture of both. Three and more classes are fitted all together, with the softmax loss, as scikit-learn does. The
    intercept is never penalised; liblinear penalises it, so its results differ.

    Parameters
    ----------
    penalty : {"auto", "l2", "l1", "elasticnet", None}
        "auto": as ``l1_ratio`` says. None, or an infinite C: no penalty.
    C : float
        Inverse strength of the penalty.
    l1_ratio : float
        The share of L1, between 0 (which is L2) and 1.
    class_weight : dict, "balanced" or None
    multi_class : {"multinomial", "ovr", "auto"}
        How three or more classes are treated: all together in one problem ("auto" means the same), or each against the
        rest. The former needs memory for n_samples times n_classes numbers.
    sparse_coef : bool
        Store ``coef_`` as a sparse matrix: for thousands of classes.
    fit_intercept, max_iter, tol, warm_start, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
penalty_weights, lower, upper, standardize
        As for ``ElasticNet``.
    dual, intercept_scaling, solver
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array
    gap_, dual_gap_, status_, n_iter_, sparse_coef_, dual_coef_, support_, result_
        As for ``ElasticNet``; the gap is the largest among the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(penalty="l1", C=0.1).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2), int((model.coef_ != 0).sum())
    (0.97, 8)
    """

    def __init__(self, penalty: str | None = "auto", *, C: float = 1.0, l1_ratio: float | None = 0.0,
                 dual: bool | str = False, tol: float = 1e-6, fit_intercept: bool = True, intercept_scaling: float = 1,
                 class_weight: dict[Any, float] | str | None = None,
                 random_state: int | np.random.RandomState | None = None, solver: str = "auto", max_iter: int = 10_000,
                 multi_class: str = "multinomial", verbose: bool | int = 0, warm_start: bool = False,
                 n_jobs: int | None = None, method: str | Method = "auto",
                 sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.method = method
        self.sparse_coef = sparse_coef
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _ridge(self) -> bool:
        return l1_share(self.penalty, self.l1_ratio) == 0

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        one_of("penalty", self.penalty, ("auto", "l2", "l1", "elasticnet", None))
        ratio = l1_share(self.penalty, self.l1_ratio)
        C = np.inf if is_infinite(self.C) else positive("C", self.C)
        if self.penalty is None:
            if C != 1.0:
                warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=2)
            C = np.inf
        return from_C(C, total, ratio)
