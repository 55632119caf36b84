"""Logistic regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import losses
from .._names import positive
from .._typing import Given
from ..block_problem import BlockProblem
from ..methods import Method
from ..penalties import ElasticNet
from ..problem import Problem
from ..solve_many import Targets
from ._base import FitData
from ._classifier import LinearClassifier
from ._parameters import l1_share, one_of
from ._probabilities import Probabilities
from .conventions import Strengths, from_C


class LogisticRegression(Probabilities, LinearClassifier):
    """Logistic regression with an L1, L2 or elastic penalty, or none, with a certificate.

    Minimises ``penalty(w) + C sum_i log(1 + exp(-y_i (x_i'w + c)))``, with a penalty of ``||w||_1``, ``||w||^2 / 2`` or
    a mixture of both. Several classes are fitted one against the rest, or all together, as scikit-learn does: with
    ``multi_class="multinomial"`` the loss is the softmax loss. The intercept is never penalised; liblinear penalises
    it, so its results differ.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}
    C : float
        Inverse strength of the penalty.
    l1_ratio : float, optional
        The share of L1; if given, it takes precedence over the default "l2" of ``penalty``.
    class_weight : dict, "balanced" or None
    multi_class : {"ovr", "multinomial", "auto"}
        How three or more classes are treated: each against the rest, or all together in one problem, which "auto"
        means. The latter needs memory for n_samples times n_classes numbers.
    sparse_coef : bool
        Store ``coef_`` as a sparse matrix, and keep no dual points: for thousands of classes.
    fit_intercept, max_iter, tol, warm_start, random_state, method, n_jobs, verbose
        As for ``ElasticNet``.
    dual, intercept_scaling, solver
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array
    gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
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

    def __init__(self, penalty: str | None = "l2", *, C: float = 1.0, l1_ratio: float | None = None,
                 dual: bool | str = False, tol: float = 1e-6, fit_intercept: bool = True, intercept_scaling: float = 1,
                 class_weight: dict[Any, float] | str | None = None,
                 random_state: int | np.random.RandomState | None = None, solver: str = "auto", max_iter: int = 10_000,
                 multi_class: str = "ovr", verbose: bool | int = 0, warm_start: bool = False, n_jobs: int | None = None,
                 method: str | Method = "auto", sparse_coef: bool = False) -> None:  # fmt: skip
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

    def _loss(self) -> losses.Loss:
        return losses.Logistic()

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        data = super()._data(X, y, sample_weight, params)
        one_of("multi_class", self.multi_class, ("ovr", "multinomial", "auto"))
        classes = data.told["classes_"]
        together = self.multi_class != "ovr" and classes.size > 2
        told = data.told | {"together_": together}
        if not together:
            return replace(data, told=told)
        numbers = np.searchsorted(classes, np.where(np.isin(data.y, classes), data.y, classes[0]))
        return replace(data, targets=Targets(lambda k: numbers, 1), told=told, together=True)

    def _first(self, data: FitData) -> Problem:
        if not data.together:
            return super()._first(data)
        total = data.total
        strengths = self._strengths(total)
        net = ElasticNet(l1=strengths.l1, l2=strengths.l2)
        return self._stated(BlockProblem, data.X, data.targets(0), data.weights, losses.Softmax(), net)

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        one_of("penalty", self.penalty, ("l2", "l1", "elasticnet", None))
        ratio = l1_share(self.penalty, self.l1_ratio)
        C = np.inf if isinstance(self.C, float) and np.isposinf(self.C) else positive("C", self.C)
        if self.penalty is None or np.isposinf(C):
            return Strengths(0.0, 0.0, total)
        return from_C(C, total, ratio)
