"""Logistic regression with its strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .._names import count, integral
from .._typing import Given
from ..methods import Method
from ._base import FitData
from ._cross_validated import CrossValidated, Line
from ._parameters import decreasing, l1_share, one_of, shares
from .conventions import Strengths, from_C
from .logistic import LogisticClassifier


class LogisticRegressionCV(CrossValidated, LogisticClassifier):
    """``LogisticRegression`` with C, and l1_ratio if several are given, chosen by cross-validation.

    Each fold computes a path from strong to weak penalties, of all classes together or, with ``multi_class="ovr"``, of
    each class, on several threads. The final fit is certified. All classes have the same C. A class that a fold does
    not have in its training rows gets probability zero there.

    Parameters
    ----------
    Cs : int or array
        The number of values to try, evenly spaced on a log scale between 1e-4 and 1e4; or the values.
    l1_ratios : array, optional
        Shares of L1 to choose from, between 0 (L2) and 1; None is the share that ``penalty`` says.
    penalty : {"auto", "l2", "l1", "elasticnet"}
        "auto": as ``l1_ratios`` say, or L2.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is five stratified folds.
    scoring : str, callable or None
        Any scikit-learn scorer; None is accuracy.
    one_standard_error : bool
        Choose the smallest C whose score is within one standard error of the best.
    refit, use_legacy_attributes : bool
        Ignored; for compatibility with scikit-learn. The model is always fitted to all data, and attributes are those
        of newer versions.
    fit_intercept, class_weight, max_iter, tol, random_state, method, n_jobs, verbose, sparse_coef, multi_class, dual, \
solver, intercept_scaling
        As for ``LogisticRegression``.

    Attributes
    ----------
    C_, l1_ratio_ : float
        The chosen values.
    Cs_, l1_ratios_ : array
        The values tried; C from small to large.
    scores_ : array of shape (n_folds, n_l1_ratios, n_Cs)
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(penalty="l1", one_standard_error=True).fit(scale(X), y)
    >>> model.scores_.shape, model.score(scale(X), y) > 0.95, model.gap_ <= 1e-6
    ((5, 1, 10), True, True)
    """

    _setting_names = ("C_", "l1_ratio_")

    def __init__(self, *, Cs: int | ArrayLike = 10, l1_ratios: ArrayLike | None = None, fit_intercept: bool = True,
                 cv: Given = None, dual: bool | str = False, penalty: str = "auto",
                 scoring: str | Callable[..., float] | None = None, solver: str = "auto", tol: float = 1e-6,
                 max_iter: int = 10_000, class_weight: dict[Any, float] | str | None = None, n_jobs: int | None = None,
                 verbose: bool | int = 0, refit: bool = True, intercept_scaling: float = 1.0,
                 multi_class: str = "multinomial", random_state: int | np.random.RandomState | None = None,
                 use_legacy_attributes: bool = False, one_standard_error: bool = False, method: str | Method = "auto",
                 sparse_coef: bool = False) -> None:  # fmt: skip
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.one_standard_error = one_standard_error
        self.method = method
        self.sparse_coef = sparse_coef

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_C(setting[0], total, setting[1])

    def _lines(self, data: FitData) -> list[Line]:
        one_of("penalty", self.penalty, ("auto", "l2", "l1", "elasticnet"))
        one_of("refit", self.refit, (True,))
        one_of("use_legacy_attributes", self.use_legacy_attributes, (False,))
        if self.l1_ratios is None:
            ratios = [l1_share(self.penalty, None, "l1_ratios")]
        else:
            ratios = shares("l1_ratios", self.l1_ratios)
            for ratio in ratios:
                l1_share(self.penalty, ratio, "l1_ratios")
        if integral(self.Cs):
            Cs = np.logspace(-4, 4, count("Cs", self.Cs, 1, bits=24))
        else:
            Cs = decreasing("Cs", self.Cs, infinite=True)[::-1]
        return [[(C, ratio) for C in Cs] for ratio in ratios]

    def _check_classes(self, number: int, train: np.ndarray, data: FitData) -> None:
        """Nothing: of a class that the rows of a fold lack, the probability is zero."""

    def _chosen(self, lines: list[Line], scores: np.ndarray, line: int, point: int) -> dict[str, Any]:
        tried, (C, ratio) = np.array(lines), lines[line][point]
        return {
            "C_": float(C), "l1_ratio_": float(ratio), "Cs_": tried[0, :, 0], "l1_ratios_": tried[:, 0, 1],
            "scores_": scores,
        }  # fmt: skip

    def _tried(self) -> Bunch:
        return Bunch(
            label="C", strengths=[self.Cs_] * len(self.l1_ratios_), scores=self.scores_.transpose(1, 0, 2),
            chosen=self.C_, other="l1_ratio", others=self.l1_ratios_, other_chosen=self.l1_ratio_,
        )  # fmt: skip
