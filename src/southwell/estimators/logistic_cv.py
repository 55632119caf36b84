"""Logistic regression with its strength chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.utils import Bunch
from sklearn.utils.fixes import parse_version
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from .._data import readable
from .._names import count, flag, integral
from .._typing import Given
from ..methods import Method
from ..problem import Problem
from ..status import Status
from ._base import FitData
from ._callbacks import Hooks
from ._cross_validated import CrossValidated, Line
from ._folds import Scores
from ._parameters import decreasing, l1_share, one_of, shares
from .conventions import Strengths, from_C
from .logistic import LogisticClassifier

LEGACY = parse_version(sklearn.__version__) < parse_version("1.10")


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
    refit : bool
        False: the model is not fitted to all data; coefficients, C and share of L1 are means over the folds, each with
        its own best setting. ``gap_`` is that of these means on all data, at the mean setting.
    use_legacy_attributes : {"auto", True, False}
        True: the attributes below have the forms that scikit-learn has before 1.10, with a dict or an array where there
        is one value for all classes. "auto": those of the installed version.
    fit_intercept, class_weight, max_iter, tol, random_state, method, max_seconds, keep_dual, n_jobs, verbose, \
sparse_coef, multi_class, dual, solver, intercept_scaling
        As for ``LogisticRegression``.

    Attributes
    ----------
    C_, l1_ratio_ : float
        The chosen values. Legacy: arrays that repeat them for each class.
    Cs_, l1_ratios_ : array
        The values tried; C from small to large.
    scores_, n_iter_ : array of shape (n_folds, n_l1_ratios, n_Cs)
        Legacy: ``scores_`` is a dict that has an array of shape (n_folds, n_Cs) for each class, and ``n_iter_`` has
        shape (1, n_folds, n_Cs); with ``l1_ratios`` a last dimension more.
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_Cs, n_classes, n_features + 1)
        The coefficients on each fold, the intercept last. Legacy: a dict that has an array of shape (n_folds, n_Cs,
        n_features + 1) for each class. Not kept with ``sparse_coef=True``.
    classes_, coef_, intercept_, gap_, dual_gap_, status_, sparse_coef_, dual_coef_, support_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from southwell import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(l1_ratios=[1.0], one_standard_error=True, use_legacy_attributes=False)
    >>> model = model.fit(scale(X), y)
    >>> model.scores_.shape, model.score(scale(X), y) > 0.95, model.gap_ <= 1e-6
    ((5, 1, 10), True, True)
    """

    _setting_names = ("C_", "l1_ratio_")
    _scores_by_scoring = True
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED, "offset": UNUSED}  # the former is for the scorer
    C_: Any  # numbers and arrays, or what they are with legacy attributes
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any

    def __init__(self, *, Cs: int | ArrayLike = 10, l1_ratios: ArrayLike | None = None, fit_intercept: bool = True,
                 cv: Given = None, dual: bool | str = False, penalty: str = "auto",
                 scoring: str | Callable[..., float] | None = None, solver: str = "auto", tol: float = 1e-6,
                 max_iter: int = 10_000, class_weight: dict[Any, float] | str | None = None, n_jobs: int | None = None,
                 verbose: bool | int = 0, refit: bool = True, intercept_scaling: float = 1.0,
                 multi_class: str = "multinomial", random_state: int | np.random.RandomState | None = None,
                 use_legacy_attributes: bool | str = "auto", one_standard_error: bool = False,
                 method: str | Method = "auto", sparse_coef: bool = False,
                 max_seconds: float | None = None, keep_dual: bool = False, penalty_weights: ArrayLike | None = None,
                 lower: ArrayLike | None = None, upper: ArrayLike | None = None,
                 standardize: bool = False) -> None:  # fmt: skip
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
        self.max_seconds = max_seconds
        self.keep_dual = keep_dual
        self.penalty_weights = penalty_weights
        self.lower = lower
        self.upper = upper
        self.standardize = standardize

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        return from_C(setting[0], total, setting[1])

    def _lines(self, data: FitData) -> list[Line]:
        one_of("penalty", self.penalty, ("auto", "l2", "l1", "elasticnet"))
        flag("refit", self.refit)
        self._legacy()
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

    def _ridge(self) -> bool:
        return float(np.ravel(getattr(self, "l1_ratio_", 1.0))[0]) == 0

    def _check_classes(self, number: int, train: np.ndarray, data: FitData) -> None:
        """Nothing: of a class that the rows of a fold lack, the probability is zero."""

    def _fit_all(self, data: FitData) -> None:
        if flag("refit", self.refit):
            super()._fit_all(data)
            return
        hooks = Hooks(self, data, data.targets.count, True)
        self._choose(data, hooks)
        self.__dict__.pop("_results", None)
        coef, intercepts = self.__dict__.pop("means_")
        strengths, first = self._strengths(data.total), self._state(data)
        problems = [data.stated(first, k) for k in range(data.targets.count)]
        pairs = list(zip(np.split(coef, len(problems)), np.split(intercepts, len(problems)), strict=True))
        gaps = [
            _gap(self._penalised(problem, strengths), own, c) for problem, (own, c) in zip(problems, pairs, strict=True)
        ]
        self.gap_ = max(relative for _, relative in gaps)
        own_gaps = np.array([strengths.unit * gap for gap, _ in gaps])
        self.dual_gap_ = float(own_gaps[0]) if own_gaps.size == 1 else own_gaps
        self.status_ = Status.CONVERGED if self.gap_ <= self.tol else Status.MAX_EPOCHS
        self._attribute(self._shaped(coef, intercepts, data), data)
        hooks.end()

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        tried, (C, ratio) = np.array(lines), lines[line][point]
        means: dict[str, Any] = {}
        if not self.refit:
            best = [np.unravel_index(np.nanargmax(scores), scores.shape) for scores in found.values]
            C, ratio = np.mean([tried[at] for at in best], axis=0)
            table = _tables(found, True)
            mean = np.mean([table[(fold, *at)] for fold, at in enumerate(best)], axis=0)
            means = {"means_": (mean[:, :-1], mean[:, -1])}
        chosen = means | {
            "C_": float(C), "l1_ratio_": float(ratio), "Cs_": tried[0, :, 0],
            "l1_ratios_": np.asarray([None] if self.l1_ratios is None else tried[:, 0, 1]),
            "scores_": found.values, "cv_n_iter_": found.epochs,
        }  # fmt: skip
        if not flag("sparse_coef", self.sparse_coef):
            chosen["coefs_paths_"] = _tables(found, self.fit_intercept)
        return chosen

    def _attribute(self, shaped: dict[str, Any], data: FitData) -> None:
        super()._attribute(shaped, data)
        self.n_iter_ = self.__dict__.pop("cv_n_iter_")
        if self._legacy():
            self._as_before()

    def _legacy(self) -> bool:
        """Whether attributes have the forms that scikit-learn had before 1.10."""
        one_of("use_legacy_attributes", self.use_legacy_attributes, (True, False, "auto", "warn"))
        given = self.use_legacy_attributes
        return LEGACY if isinstance(given, str) else bool(given)

    def _as_before(self) -> None:
        classes = self.classes_ if self.classes_.size > 2 else self.classes_[1:]
        one = self.l1_ratios is None  # then the dimension of shares is left out

        def of_lines(table: np.ndarray) -> np.ndarray:
            """(n_folds, n_l1_ratios, n_Cs, ...) -> (n_folds, n_Cs[, n_l1_ratios], ...)"""
            return table[:, 0] if one else np.swapaxes(table, 1, 2)

        self.C_, self.l1_ratio_ = np.full(classes.size, self.C_), np.full(classes.size, self.l1_ratio_)
        self.scores_ = {name: of_lines(self.scores_) for name in classes}
        self.n_iter_ = of_lines(self.n_iter_)[None]
        if hasattr(self, "coefs_paths_"):
            paths = self.coefs_paths_
            self.coefs_paths_ = {name: of_lines(paths[:, :, :, k]) for k, name in enumerate(classes)}

    def _score_table(self) -> np.ndarray:
        """The scores of shape (n_folds, n_l1_ratios, n_Cs)."""
        table: np.ndarray = next(iter(self.scores_.values())) if isinstance(self.scores_, dict) else self.scores_
        if not isinstance(self.scores_, dict):
            return table
        return table[:, None, :] if table.ndim == 2 else np.swapaxes(table, 1, 2)

    def _tried(self) -> Bunch:
        scores, ratio = self._score_table(), float(np.ravel(self.l1_ratio_)[0])
        others = [ratio] if self.l1_ratios_[0] is None else list(self.l1_ratios_)
        return Bunch(
            label="C", strengths=[self.Cs_] * len(others), scores=scores.transpose(1, 0, 2),
            chosen=float(np.ravel(self.C_)[0]), other="l1_ratio", others=others, other_chosen=ratio,
        )  # fmt: skip

    def score(self, X: Given, y: Given, sample_weight: Given = None, *, offset: Given = None,
              **score_params: Any) -> float:  # fmt: skip
        """The score that ``scoring`` chooses by.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        offset : array, optional
            As for ``fit``, of these rows.
        **score_params
            For the scorer; needs scikit-learn's metadata routing to be enabled.

        Returns
        -------
        float
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if routing_enabled() and self.scoring is not None:
            weights = process_routing(self, "score", **weights, **score_params).scorer.score
        elif score_params:
            raise ValueError(
                f"score got {', '.join(score_params)}, for a scorer, which is only supported if "
                "enable_metadata_routing=True; call sklearn.set_config(enable_metadata_routing=True) first."
            )
        X, model = readable(X, "X"), copy(self)
        if offset is not None:  # scorers call methods of the model, without offsets
            model._known = X, self._margins(X, offset)
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self._scorer("accuracy")(model, X, readable(y, "y"), **weights))


def _gap(problem: Problem, coef: np.ndarray, intercepts: np.ndarray) -> tuple[float, float]:
    """The gap of given coefficients, and in units of the zero model's objective."""
    if not np.isfinite(intercepts).all():  # of a class that a fold lacks
        return np.inf, np.inf
    intercept = intercepts if intercepts.size > 1 else float(intercepts[0])
    certificate = problem.certify(problem._from_rows(coef), None, intercept)
    null, inner = problem.null_model(), problem.inner_size
    scale = problem.loss_at(null[:inner])
    return certificate.gap, certificate.gap / scale if scale > 0 else certificate.gap


def _tables(found: Scores, intercept: bool) -> np.ndarray:
    """The coefficients, and intercepts if there are, of shape (n_folds, n_l1_ratios, n_Cs, n_classes, n_dof)."""
    folds, lines, points = found.values.shape
    features, width = found.walks[0].rows.shape[1], found.walks[0].intercepts.shape[1]
    problems = len(found.walks) // (folds * lines)
    table = np.zeros((folds * lines, points, problems * width, features + intercept))
    for at, walk in enumerate(found.walks):
        own = table[at // problems, :, (at % problems) * width : (at % problems + 1) * width]
        own[..., :features] = walk.rows.toarray().reshape(points, width, features)
        if intercept:
            own[..., -1] = walk.intercepts
    return table.reshape(folds, lines, *table.shape[1:])
