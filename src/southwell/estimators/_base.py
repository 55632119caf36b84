"""What all estimators share: validation of the data, running a fit, and the fitted attributes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import methods
from .._data import Centred, readable
from .._dense import numbers
from .._keywords import AnswersKeywords
from .._names import count, flag, positive
from .._prediction import with_offset
from .._shards import InFiles, targets_of
from .._typing import AnyMatrix, Given
from .._words import OF_ESTIMATORS
from ..losses import Loss
from ..penalties import Penalty
from ..problem import Problem
from ..result import Progress, Result, Screened
from ..solve import CallbackOfMany, Settings, raise_with, shortcoming_of_many, shortcomings
from ..solve import ConvergenceWarning as CoreConvergenceWarning
from ..solve_many import solve_each
from ._callbacks import CallbackSupportMixin, Hooks, as_scikit_learn_has
from ._coefficients import penalised_each
from ._fit_data import FitData as FitData
from ._parameters import drawn_seed, one_of, threads
from ._progress import ProgressLine
from ._to_sklearn import Portable
from .conventions import Strengths

KEPT = ("_results", "_refits")
"""Attributes of a fit whose names do not end with an underscore."""


class ConvergenceWarning(CoreConvergenceWarning, SklearnConvergenceWarning):
    """The gap did not reach the tolerance. A subclass of scikit-learn's warning, so that its filters apply."""


class LinearEstimator(Portable, AnswersKeywords, CallbackSupportMixin, BaseEstimator):
    """A linear model that is fitted with a certificate.

    Subclasses define ``_loss()``; ``_strengths(total, target)``, the penalty for a total sample weight and one of the
    targets; ``_data(X, y, sample_weight, params)``, the checked data; and ``_shaped(coef, intercepts, data)``, the
    attributes made of the coefficients and intercepts of all targets.
    """

    fit_intercept: bool
    method: str | methods.Method
    tol: float
    coef_: AnyMatrix
    intercept_: Any
    max_seconds: float | None
    keep_dual: bool
    _results: list[Result]  # with keep_dual

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        raise NotImplementedError

    def _choose(self, data: FitData, hooks: Hooks) -> None:
        """Set the strength of the penalty, if it is to be chosen."""
        raise NotImplementedError

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        raise NotImplementedError

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        raise NotImplementedError

    def _read(self, X: Given, y: Given, **options: Any) -> tuple[Any, Any]:
        """X and y, validated as scikit-learn requires. The solver checks once that X is finite."""
        if isinstance(X, InFiles):
            return X, self._read_targets(X, y, **options)
        X, y = readable(X, "X"), readable(y, "y")
        read: tuple[Any, Any] = validate_data(
            self, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_all_finite=False, **options
        )
        return read

    def _read_targets(self, X: InFiles, y: Given, **options: Any) -> Any:
        """y, validated as scikit-learn does, where X stays in files."""
        y = validate_data(self, y=readable(y, "y"), **options)
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"y must have a number or label for each of the {X.shape[0]} rows; got {y.shape[0]}.")
        self.n_features_in_ = X.shape[1]
        return y

    def _weights(self, sample_weight: Given, X: Given) -> np.ndarray | None:
        if sample_weight is None:
            return None
        sample_weight = readable(sample_weight, "sample_weight")
        if np.isscalar(sample_weight) or isinstance(sample_weight, np.ndarray):
            sample_weight = numbers("sample_weight", sample_weight)
            sample_weight = float(sample_weight) if sample_weight.ndim == 0 else sample_weight
        return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))

    # Fitting

    _solvers: ClassVar[tuple[str, ...]] = ()  # those of scikit-learn's class
    _penalise: ClassVar[str] = "l2=1e-6"  # how a penalty is added

    def _refuse_unknown(self) -> None:
        """Check the parameters that have no effect here, because a typing error there is one elsewhere too."""
        given = vars(self)  # as get_params, without a look at signatures
        if "solver" in given:
            one_of("solver", given["solver"], ("auto", *self._solvers))
        if "selection" in given:
            one_of("selection", given["selection"], ("cyclic", "random"))
        if "copy_X" in given:
            flag("copy_X", given["copy_X"])
        if "dual" in given:
            one_of("dual", given["dual"], (True, False, "auto"))
        if "intercept_scaling" in given:
            positive("intercept_scaling", given["intercept_scaling"])
        if "precompute" in given and not isinstance(given["precompute"], np.ndarray | list | tuple):
            one_of("precompute", given["precompute"], (True, False, "auto"))

    _chooses = False  # whether cross-validation comes first
    _needs_rows = False  # whether it needs the rows themselves in memory

    def _fit(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any] | None = None,
             offset: Given = None) -> Self:  # fmt: skip
        """What every ``fit`` does. A fit that fails leaves the attributes of the last one unchanged."""
        before = self._found()
        try:
            self._refuse_unknown()
            if isinstance(X, InFiles):
                X, y, sample_weight = self._from_files(X, y, sample_weight)
            centre = X if isinstance(X, Centred) else None
            data = self._data(X if centre is None else centre.A, y, sample_weight, params or {})
            data = replace(data, offset=data.checked_offset(offset))
            self._fit_all(data if centre is None else replace(data, centre=centre))
        except BaseException:
            for name in self._found():
                delattr(self, name)
            self.__dict__.update(before)
            raise
        return self

    def _from_files(self, X: InFiles, y: Given, sample_weight: Given) -> tuple[Any, Any, Any]:
        """What the files hold besides X, and X itself if it fits in memory."""
        y = targets_of(X, y)
        sample_weight = X.part("weights") if sample_weight is None else sample_weight
        if X.fits:
            return X.matrix(), y, sample_weight
        if self._needs_rows or self._chooses:
            raise ValueError(
                f"{type(self).__name__} needs all rows in memory, and these stay in files. Open the store with more "
                "memory, if the machine has it, or fit a part of its rows."
            )
        return X, y, sample_weight

    def _found(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name.endswith("_") or name in KEPT}

    def _fit_all(self, data: FitData) -> None:
        """Solve one problem for each target, on shared data."""
        hooks = Hooks(self, data, data.targets.count, self._chooses)
        if self._chooses:
            self._choose(data, hooks)
        total = data.total
        strengths = [self._strengths(total, k) for k in range(data.targets.count)]
        first = self._state(data)
        if first.means is not None:
            data = replace(data, centre=Centred(None, first.means))

        def problem(k: int) -> Problem:
            return self._penalised(data.stated(first, k), strengths[k])

        starts = self._before(data, first, strengths)
        results = self._solve(problem, starts, data, hooks)
        self._tell(results, [strength.unit for strength in strengths])
        self._keep(results, data)
        hooks.end()

    def _state(self, data: FitData) -> Problem:
        """The problem of the first target, without the strength of its penalty."""
        return penalised_each(self, self._stated(Problem, data, self._loss()))

    def _stated(self, kind: type[Problem], data: FitData, loss: Loss, penalty: Penalty | None = None) -> Problem:
        intercept = flag("fit_intercept", self.fit_intercept)
        return kind(
            data.X if data.centre is None else Centred(data.X, data.centre.means),
            data.targets(0),
            loss,
            penalty,
            intercept=intercept,
            sample_weight=data.weights,
            offset=data.offset_of(0),
            words=replace(OF_ESTIMATORS, penalise=self._penalise),
        )

    def _penalised(self, problem: Problem, strengths: Strengths) -> Problem:
        return problem.with_penalty(self._penalty(problem.penalty, strengths))

    def _penalty(self, own: Any, strengths: Strengths) -> Penalty:
        """A penalty with these strengths; its weights, bounds and groups are those of ``own``."""
        penalty: Penalty = replace(own, l1=strengths.l1, l2=strengths.l2)
        return penalty

    def _solve(self, problem: Callable[[int], Problem], starts: list[Any], data: FitData, hooks: Hooks) -> list[Result]:
        """The results, without large arrays that need not be kept. Warns about those that did not converge."""
        number, settings, warned = data.targets.count, self._settings(), []
        sparse, dual = flag("sparse_coef", getattr(self, "sparse_coef", False)), flag("keep_dual", self.keep_dual)

        def told(k: int, progress: Progress) -> bool:
            line.round(k if number > 1 else None, progress)
            coef, intercepts = rows_of(progress.x), np.atleast_1d(progress.intercept)
            shaped = (
                None if number > 1 else lambda: data.told | self._shaped(coef, data.uncentred(coef, intercepts), data)
            )
            return hooks.round(k, shaped)

        def keep(result: Result) -> Result:
            own = result.problem
            warned.extend(shortcomings(result) if number == 1 else [] if own is None else own.remarks(result))
            return _light(result, sparse, dual)

        with ProgressLine(type(self).__name__, getattr(self, "verbose", 0), settings.tol) as line:
            heard = told if line.wanted or hooks.active else None
            results, error = self._solve_each(problem, number, starts, data.begun, heard, keep)
        if error is not None:
            raise_with(error, results[0] if number == 1 else results)
        if number > 1:
            gaps = [result.relative_gap for result in results]
            statuses = [result.status for result in results]
            warned = shortcoming_of_many(OF_ESTIMATORS, statuses, gaps, settings.tol, "problems") + _of_several(warned)
        for words in warned:
            warn(words)
        return results

    def _solve_each(
        self, problem: Callable[[int], Problem], number: int, starts: list[Any], begun: float,
        told: CallbackOfMany | None, keep: Callable[[Result], Result],
    ) -> tuple[list[Result], BaseException | None]:  # fmt: skip
        """What is kept of the results, and the exception that ended the work, if any."""
        method, settings = methods.get(self.method), self._settings()
        return solve_each(problem, number, method, starts, settings, begun, told, keep)

    def _settings(self) -> Settings:
        return Settings.checked(
            self.tol, self._max_epochs(), self.max_seconds, None, self._seed(), True,
            threads(getattr(self, "n_jobs", None)),
        )  # fmt: skip

    def _before(self, data: FitData, first: Problem, strengths: list[Strengths]) -> list[Any]:
        """The starting points: the last coefficients, and dual points if they were kept, if ``warm_start`` is set and
        their shapes agree; else zero."""
        targets = data.targets.count
        if not flag("warm_start", getattr(self, "warm_start", False)) or not hasattr(self, "coef_"):
            return [None] * targets
        kept = getattr(self, "_results", [])
        if len(kept) == targets and all(rows_of(own.x).shape == (first.width, first.n_features) for own in kept):
            return kept if first.intercept else [replace(own, intercept=0.0 * own.intercept) for own in kept]
        rows = readable(self.coef_, "coef_")
        rows = rows.toarray() if sp.issparse(rows) else np.atleast_2d(rows)
        if rows.shape != (targets * first.width, first.n_features) or not np.isfinite(rows).all():
            return [None] * targets
        intercepts = np.broadcast_to(self.intercept_ if first.intercept else 0.0, rows.shape[:1])
        if first.means is not None and first.intercept:
            intercepts = intercepts + rows @ first.means
        by_target = zip(np.split(rows, targets), np.split(intercepts, targets), strict=True)
        return [
            (first._from_rows(own.astype(float)), c.astype(float) if c.size > 1 else float(c[0]))
            for own, c in by_target
        ]

    def _max_epochs(self) -> int:
        limit = getattr(self, "max_iter", None)
        return 10_000 if limit is None else count("max_iter", limit, 0)

    def _seed(self) -> int:
        state = getattr(self, "random_state", None)
        return 0 if state is None else drawn_seed(state)

    # The attributes of a fit

    def _tell(self, results: list[Result], units: list[float]) -> None:
        self.__dict__.pop("_results", None)
        if flag("keep_dual", self.keep_dual):
            self._results = results
        least = min(1, self._max_epochs())  # a certificate counts, as it does elsewhere
        self.n_iter_ = self._rounds([max(least, result.epochs) for result in results])
        self.status_ = min((result.status for result in results), key=bool)
        self.gap_ = max(result.relative_gap for result in results)
        gaps = np.array([unit * result.gap for unit, result in zip(units, results, strict=True)])
        self.dual_gap_ = float(gaps[0]) if gaps.size == 1 else gaps

    def _rounds(self, epochs: list[int]) -> Any:
        """``n_iter_``, in the form that scikit-learn's class has."""
        return max(epochs)

    def _keep(self, results: list[Result], data: FitData) -> None:
        rows = [rows_of(result.x) for result in results]
        coef = sp.csr_matrix(sp.vstack(rows)) if sp.issparse(rows[0]) else np.concatenate(rows)
        intercepts = np.concatenate([np.atleast_1d(result.intercept) for result in results])
        self._attribute(self._shaped(coef, data.uncentred(coef, intercepts), data), data)

    def _attribute(self, shaped: dict[str, Any], data: FitData) -> None:
        """Set the attributes of the model."""
        for name, value in (data.told | shaped).items():
            setattr(self, name, value)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store the fitted model in one file, which ``southwell.load`` reads, in this and in later versions.

        Parameters
        ----------
        path : str or path
            An existing file of that name is replaced when the new one is complete.
        """
        import_module("southwell.model_files").save(self, path)  # imported here, because it imports all estimators

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _kept_results(self) -> list[Result]:
        check_is_fitted(self)
        if not hasattr(self, "_results"):
            raise AttributeError("Results and dual points are not kept: fit with keep_dual=True.")
        return self._results

    @property
    def result_(self) -> Result | list[Result]:
        """The result, or those of several problems. With ``keep_dual=True``."""
        results = self._kept_results()
        return results[0] if len(results) == 1 else results

    @property
    def dual_coef_(self) -> np.ndarray:
        """The dual point of the certificate: a number for each sample, a row for each target or class. With
        ``keep_dual=True``."""
        rows: list[Any] = [result.y for result in self._kept_results()]
        return rows_of(rows[0])[0] if len(rows) == 1 and rows[0].ndim == 1 else np.concatenate([*map(rows_of, rows)])

    @property
    def support_(self) -> np.ndarray:
        """The samples whose dual coefficient is not zero: only they determine the solution. With
        ``keep_dual=True``."""
        return np.unique(np.atleast_2d(self.dual_coef_).nonzero()[1])

    @property
    def sparse_coef_(self) -> Any:
        """``coef_``, without its zeros: a sparse matrix, or a sparse array if scikit-learn is set to make those."""
        check_is_fitted(self)
        coef = readable(self.coef_, "coef_") if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        return as_scikit_learn_has(sp.csr_array(coef))

    def _margins(self, X: Given, offset: Given = None) -> np.ndarray:
        """X w + c, plus the offset, a column for each target if there are several."""
        check_is_fitted(self)
        if isinstance(X, InFiles):
            if offset is not None:
                raise ValueError("Of rows in files predictions take no offset: predict shard by shard, from shards().")
            return np.concatenate([self._margins(shard.A) for shard in X.shards()])
        if isinstance(X, Centred):
            raise TypeError("Give X itself, not Centred: intercept_ holds what centring changed.")
        X = readable(X, "X")
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the margins of huge rows are infinite or NaN
            product = X @ readable(self.coef_, "coef_").T
            if sp.issparse(product):
                product = product.toarray()
            margins: np.ndarray = np.asarray(product) + self.intercept_
            return with_offset(margins, offset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def warn(words: str) -> None:
    """Warn at the line that called ``fit``, outside southwell and scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("southwell.", "sklearn.callback")):
        level, frame = level + 1, frame.f_back
    warnings.warn(words, ConvergenceWarning, stacklevel=level)


def _of_several(remarks: list[str]) -> list[str]:
    """Remarks on several problems, each kind once."""
    if not remarks:
        return []
    return [remarks[0] if len(remarks) == 1 else f"Of {len(remarks)} problems: {remarks[0]}"]


def _light(result: Result, sparse: bool, dual: bool) -> Result:
    """The result without the data: with ``sparse`` and without ``dual``, without dense arrays of the length of features
    or samples."""
    x = sp.csr_array(rows_of(result.x)) if sparse else result.x
    if dual:
        return replace(result, problem=None, x=x)
    nothing = Screened(np.zeros(0, bool), np.zeros(0, bool))
    return replace(result, problem=None, x=x, y=None, screened=nothing)


def rows_of(x: AnyMatrix) -> AnyMatrix:
    """Coefficients with a row for each target or class; the solver has columns, or a vector."""
    if sp.issparse(x):
        return x
    return x[None, :] if x.ndim == 1 else x.T
