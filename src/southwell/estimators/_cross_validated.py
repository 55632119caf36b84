"""Estimators that choose their penalty by cross-validation."""

from __future__ import annotations

import contextlib
import inspect
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from .._names import flag, shown
from .._typing import AnyMatrix, Given
from ..penalties import Penalty
from ..solve import Interrupted
from ._base import FitData, LinearEstimator, warn
from ._callbacks import Hooks, with_callbacks
from ._folds import Folds, Judge, LinesOf, Scores, best_of, is_of_one_class
from ._path_sizes import mean_sizes
from ._progress import ProgressLine
from .conventions import Strengths

Line = list[tuple[float, float]]
"""A sequence of settings of a penalty, from strong to weak. The class defines the two numbers of a setting."""


class CrossValidated(LinearEstimator):
    """Mixed into a regressor or a classifier with ``cv``, ``scoring`` and ``one_standard_error``.

    Subclasses define ``_lines(data)``, the settings to try; ``_at(setting, total)``, the strengths of a setting;
    ``_chosen(...)``, the attributes with the scores and the choice, which is stored under ``_setting_names``; and
    ``_tried()``, the same for plots. Without ``scoring`` the score is the accuracy for classifiers, and
    ``_score_of(y, margins, sample_weight)`` for others.
    """

    _chooses = True
    _scores_by_scoring = False  # whether the method ``score`` uses ``scoring``
    _known: tuple[AnyMatrix, np.ndarray]
    one_standard_error: bool
    scoring: str | Callable[..., float] | None
    cv: Given
    _setting_names: tuple[str, str]

    @with_callbacks
    def fit(
        self, X: Given, y: Given = None, sample_weight: Given = None, *, offset: Given = None, **params: Any
    ) -> Self:
        """Choose the penalty by cross-validation, and fit the model to all data.

        Parameters
        ----------
        X : array, sparse matrix or ``southwell.data.Store`` of shape (n_samples, n_features)
            A store must fit in its ``memory``.
        y : array of shape (n_samples,), or (n_samples, n_targets) for several targets or labels
            A store may hold them itself.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice, except that folds are made of rows. It is passed to scikit-learn's
            scorers, but not to a plain function.
        offset : array of shape (n_samples,) or (n_samples, n_targets or n_classes), optional
            Known parts of the margins: the model is of X w + c + offset. Three classes and more take a column for each,
            in the order of ``classes_``. Give ``predict`` those of its rows.
        **params
            For the splitter and the scorer, such as ``groups``; needs scikit-learn's metadata routing to be enabled.

        Returns
        -------
        self

        Raises
        ------
        Interrupted
            On Ctrl-C. It is a KeyboardInterrupt; while paths are computed its ``result`` has the ``settings`` of the
            penalty, an array of shape (n_lines, n_points, 2), their ``scores``, of shape (n_folds, n_lines, n_points),
            NaN where a path was not done, and the ``best`` setting that all folds have tried, or None.
        """
        if params and not routing_enabled():
            raise ValueError(
                f"fit got {', '.join(params)}, for a splitter or a scorer, which is only supported if "
                "enable_metadata_routing=True; call sklearn.set_config(enable_metadata_routing=True) first."
            )
        return self._fit(X, y, sample_weight, params, offset)

    def _choose(self, data: FitData, hooks: Hooks) -> None:
        lines = self._lines(data)
        found = self._scores(data, lines, hooks)
        line, point = best_of(found.values, flag("one_standard_error", self.one_standard_error))
        for name, value in self._chosen(lines, found, line, point, data).items():
            setattr(self, name, value)
        self.scored_by_, self.mean_nonzeros_ = self._score_name(), mean_sizes(found)

    def _at(self, setting: tuple[float, float], total: float) -> Strengths:
        raise NotImplementedError

    def _lines(self, data: FitData) -> list[Line]:
        raise NotImplementedError

    def _chosen(self, lines: list[Line], found: Scores, line: int, point: int, data: FitData) -> dict[str, Any]:
        raise NotImplementedError

    def _score_name(self) -> str:
        given = self.scoring
        if given is None:
            return "accuracy" if is_classifier(self) else "- mean squared error"
        if isinstance(given, str):
            return given.replace("_", " ").replace("neg ", "- ")
        name = getattr(getattr(given, "_score_func", given), "__name__", "score").replace("_", " ").strip("<>")
        return f"- {name}" if getattr(given, "_sign", 1) < 0 else name

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        first, second = (float(np.ravel(getattr(self, name))[0]) for name in self._setting_names)
        return self._at((first, second), total)

    def _scores(self, data: FitData, lines: Sequence[Line], hooks: Hooks) -> Scores:
        given = self._routed(data)
        splits = self._splits(data, given.split)
        if getattr(data.X, "format", "csr") != "csr":
            data = replace(data, X=data.X.tocsr())  # folds are made of rows
        judge = self._judge(data, lines, splits, given.score)

        def penalties(line: int, own: Penalty, total: float) -> Iterable[Penalty]:
            return self._along(lines[line], own, total)

        def told(done: int, number: int) -> None:
            line.share(done, number, "paths")
            hooks.path(data.targets.count)

        with ProgressLine(type(self).__name__, getattr(self, "verbose", 0)) as line:
            lines_of, answers = self._lines_of(lines, data.begun)
            folds = Folds(data, splits, self._state, self.method, self._settings(), told, lines_of, answers)
            paths = [partial(penalties, k) for k in range(0, len(lines), answers)]
            try:
                scores = folds.scores(paths, len(lines[0]), judge)
            except Interrupted as stop:
                stop.result = self._so_far(lines, stop.result)
                raise
        for words in scores.warned:
            warn(words)
        return scores

    def _judge(self, data: FitData, lines: Sequence[Line], splits: Sequence[tuple[np.ndarray, np.ndarray]],
               params: dict[str, Any]) -> Judge:  # fmt: skip
        """The score of a model on held-out rows; ``params`` are for the scorer."""
        usual = "accuracy" if is_classifier(self) else None
        scorer = _knowing_classes(self._scorer(usual), data)

        def judge(
            at: tuple[int, int, int], rows: AnyMatrix, coef: AnyMatrix, intercepts: np.ndarray, margins: np.ndarray
        ) -> float:
            test = splits[at[0]][1]
            own = {name: np.asarray(values)[test] for name, values in params.items()}
            if scorer is None:
                return float(self._score_of(data.y[test], margins, **own))
            score: Any = scorer(self._with(coef, intercepts, rows, margins, data), rows, data.y[test], **own)
            number = np.ndim(score) == 0 and isinstance(score, numbers.Number | np.number)
            if not number:
                raise ValueError(f"scoring must return a number; it returned {shown(score)}.")
            return float(score)

        return judge

    def _lines_of(self, lines: Sequence[Line], begun: float) -> tuple[LinesOf | None, int]:
        """How several lines come from one path, and how many; None: each line is a path."""
        return None, 1

    def _along(self, line: Line, own: Any, total: float) -> Iterable[Penalty]:
        """The penalties of a path over these settings."""
        return (self._penalty(own, self._at(setting, total)) for setting in line)

    def _so_far(self, lines: Sequence[Line], scores: Any) -> Bunch:
        """What an interrupted cross-validation has found."""
        settings, found = np.array(lines), Bunch(settings=np.array(lines), scores=scores, best=None)
        with contextlib.suppress(ValueError):  # no setting has been tried on all folds
            line, point = best_of(scores, flag("one_standard_error", self.one_standard_error))
            found.best = tuple(settings[line, point].tolist())
        return found

    def _scorer(self, usual: str | None) -> Any:
        """``scoring`` as scikit-learn calls it."""
        chosen: Any = usual if self.scoring is None else self.scoring
        if chosen is None or isinstance(chosen, str):
            return None if chosen is None else get_scorer(chosen)
        if isinstance(chosen, type) or not callable(chosen):
            raise TypeError(
                "scoring must be None, a name that scikit-learn knows, or a function of an estimator, X and y; got "
                f"{shown(chosen)}."
            )
        with contextlib.suppress(ValueError):  # some compiled functions do not tell their arguments
            if not _takes(inspect.signature(chosen), 3):
                raise TypeError(f"scoring is called with an estimator, X and y, which {shown(chosen)} does not take.")
        return get_scorer(chosen)

    def _splits(self, data: FitData, given: dict[str, Any]) -> list[tuple[np.ndarray, np.ndarray]]:
        """The training rows and the test rows of each fold, without rows of weight zero. Neither may be empty."""
        splitter = check_cv(_checked_cv(self.cv), data.y, classifier=is_classifier(self))
        rows = np.arange(data.X.shape[0])
        there = np.ones(rows.size, bool) if data.weights is None else data.weights > 0
        found = (map(partial(_members, rows), pair) for pair in splitter.split(data.X, data.y, **given))
        splits = [(train[there[train]], test[there[test]]) for train, test in found]
        if not splits:
            raise ValueError(f"There are no folds: cv={shown(self.cv)} gives none, or has been used up.")
        for number, (train, test) in enumerate(splits):
            if not train.size or not test.size:
                raise ValueError(f"Fold {number} has {train.size} rows to learn from and {test.size} to be judged by.")
            if is_classifier(self):
                self._check_classes(number, train, data)
        return splits

    def _check_classes(self, number: int, train: np.ndarray, data: FitData) -> None:
        for k in range(data.targets.count):
            if is_of_one_class(data, data.targets(k)[train]):
                name = data.told["classes_"][-1 if data.targets.count == 1 else k]
                raise ValueError(
                    f"The rows that fold {number} learns from are alike in whether they are of class {name}: take "
                    "fewer folds, or stratified ones, or leave out rare classes."
                )

    def _with(self, coef: AnyMatrix, intercepts: np.ndarray, rows: AnyMatrix, margins: np.ndarray,
              data: FitData) -> Self:  # fmt: skip
        """A copy of this estimator with given coefficients, and with known margins of the held-out rows."""
        model = type(self)(**self.get_params(deep=False) | {"scoring": None})
        coef = coef if flag("sparse_coef", getattr(self, "sparse_coef", False)) else coef.toarray()
        model.__dict__.update(data.told | self._shaped(coef, intercepts, data))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._known = rows, margins if is_classifier(self) or data.y.ndim > 1 else margins[:, 0]
        return model

    def _margins(self, X: Given, offset: Given = None) -> np.ndarray:
        rows, margins = getattr(self, "_known", (None, None))  # which hold the offset
        return super()._margins(X, offset) if margins is None or X is not rows else margins

    # Metadata

    def _routed(self, data: FitData) -> Bunch:
        """The metadata for the splitter and the scorer."""
        weights = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
        if routing_enabled():
            routed = process_routing(self, "fit", **weights, **data.params)
            return Bunch(split=routed.splitter.split, score=weights if self.scoring is None else routed.scorer.score)
        plain = callable(self.scoring) and not hasattr(self.scoring, "_score_func")  # takes only an estimator, X and y
        return Bunch(split={}, score={} if plain else weights)

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata routing of this estimator, its splitter and its scorer."""
        router = MetadataRouter(owner=self).add_self_request(self)
        _checked_cv(self.cv)
        lasting = self.cv is None or isinstance(self.cv, int) or hasattr(self.cv, "split")
        splitter = check_cv(self.cv if lasting else None)  # an iterable has no requests, and iterating would exhaust it
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            calls = MethodMapping().add(caller="fit", callee="score")
            if self._scores_by_scoring:
                calls = calls.add(caller="score", callee="score")
            router.add(scorer=self._scorer(None), method_mapping=calls)
        return router


def _knowing_classes(scorer: Any, data: FitData) -> Any:
    """The scorer with all classes as its labels, if it takes labels: held-out rows may lack some classes."""
    classes = data.told.get("classes_")
    if classes is None or data.told["multilabel_"] or not hasattr(scorer, "_score_func"):
        return scorer
    known = inspect.signature(scorer._score_func).parameters
    if "labels" not in known or "labels" in scorer._kwargs:
        return scorer
    told = {"labels": classes} | ({"pos_label": classes[-1]} if classes.size == 2 and "pos_label" in known else {})
    return make_scorer(
        scorer._score_func, greater_is_better=scorer._sign > 0, response_method=scorer._response_method,
        **(told | scorer._kwargs),
    )  # fmt: skip


def _checked_cv(cv: Given) -> Given:
    """``cv``, if it can be a number of folds, a splitter or pairs of arrays. Text has a method ``split`` of its own."""
    text = isinstance(cv, str | bytes | bytearray | np.char.chararray)
    known = cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split") or np.iterable(cv)
    if text or not known or sp.issparse(cv):
        raise TypeError(
            "cv must be None, a number of folds, a splitter of scikit-learn, or pairs of arrays, the rows to learn "
            f"from and those to be judged by; got {shown(cv)}."
        )
    return cv


def _takes(signature: inspect.Signature, number: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        signature.bind(*range(number))
    except TypeError:
        return False
    return True


def _members(rows: np.ndarray, own: Given) -> np.ndarray:
    try:
        return rows[np.asarray(own)] if len(own) else rows[:0]
    except (TypeError, ValueError, IndexError):
        raise ValueError(
            f"cv must give pairs of arrays, the numbers (0 to {rows.size - 1}) of the rows to learn from and to be "
            f"judged by; one is {shown(own)}."
        ) from None
