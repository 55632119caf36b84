"""The problems that fitted models of several libraries were meant to solve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .. import estimators, losses
from .._names import shown
from .._typing import AnyMatrix, Given
from ..block_problem import BlockProblem
from ..estimators._relaxed import Relaxed
from ..problem import Problem


class Stated(NamedTuple):
    """A problem and the point that a model is."""

    problem: Problem
    x: np.ndarray
    intercept: Any
    penalised_intercept: bool = False  # the last feature is a constant
    classes: list[str] | None = None
    several_labels: bool = False


SAME = {
    "sklearn": (
        *("Lasso", "ElasticNet", "Ridge", "QuantileRegressor", "PoissonRegressor", "GammaRegressor"),
        *("TweedieRegressor", "MultiTaskLasso", "MultiTaskElasticNet", "LinearSVR", "LogisticRegression", "LinearSVC"),
        "RidgeClassifier",
    ),
    "celer": ("Lasso", "ElasticNet", "MultiTaskLasso", "LogisticRegression"),
    "skglm": ("Lasso", "ElasticNet"),
}
"""Classes that have the name and the parameters of one of southwell."""

CHOSEN = {"alpha": "alpha_", "l1_ratio": "l1_ratio_", "C": "C_", "l1": "l1_", "l2": "l2_"}
"""Parameters that cross-validation chooses, and where classes with CV keep them."""

SGD = {
    "hinge": losses.Hinge(), "log_loss": losses.Logistic(), "squared_error": losses.Squared(),
    "modified_huber": losses.ModifiedHuber(),
}  # fmt: skip
GLUM = {"normal": "squared", "gaussian": "squared", "poisson": "poisson", "binomial": "logistic", "gamma": "gamma"}


def table_of(x: np.ndarray, problem: Problem) -> np.ndarray:
    """Coefficients with a row for each feature."""
    return np.asarray(x, dtype=float).reshape(problem.n_features, -1)


def statements(model: Any, X: Given, y: Given, sample_weight: Given, offset: Given) -> list[Stated]:
    """A problem for each class or target that was fitted by itself, with the model's coefficients."""
    check_is_fitted(model)
    if not hasattr(model, "coef_"):
        raise TypeError(
            f"{type(model).__name__} has no coef_, as only linear models have; got {shown(model)}. For an SVC or SVR "
            "that means kernel='linear', or LinearSVC and LinearSVR."
        )
    twin = _twin(model)
    scaling = _scaling_of_penalised_intercept(model)
    if scaling > 0:
        twin.set_params(fit_intercept=False)
        constant = np.full((X.shape[0], 1), scaling)
        X = sp.hstack([X, constant], format="csr") if sp.issparse(X) else np.hstack([np.asarray(X), constant])
    data = twin._data(X, y, sample_weight, {})
    data = replace(data, offset=data.checked_offset(offset))
    classes = data.told.get("classes_")
    own = getattr(model, "classes_", None)
    if classes is not None and own is not None and not np.array_equal(classes, own):
        raise ValueError(f"The labels in y must be those of the fit, {shown(own)}; got {shown(classes)}.")
    coef, intercepts = _rows(model)
    if scaling > 0:
        coef, intercepts = np.column_stack([coef, intercepts / scaling]), np.zeros(len(coef))
    first = twin._state(data)
    if coef.shape[1] != first.n_features:
        raise ValueError(
            f"X has {first.n_features - (scaling > 0)} features; the model, {coef.shape[1] - (scaling > 0)}."
        )
    names = None if classes is None else [str(label) for label in np.asarray(classes).tolist()]
    told: dict[str, Any] = {
        "penalised_intercept": scaling > 0, "classes": names,
        "several_labels": bool(data.told.get("multilabel_", False)),
    }  # fmt: skip
    found = []
    for k in range(data.targets.count):
        problem = twin._penalised(data.stated(first, k), twin._strengths(data.total, k))
        if isinstance(problem, BlockProblem) and problem.table:
            return [Stated(problem, np.ascontiguousarray(coef.T), intercepts, **told)]
        found.append(Stated(problem, coef[k], float(intercepts[k]), **told))
    return found


def _rows(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients with a row for each class or target, and intercepts."""
    coef: AnyMatrix = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    coef = np.atleast_2d(coef).astype(float)
    return coef, np.array(np.broadcast_to(np.ravel(model.intercept_), (coef.shape[0],)), dtype=float)


def _scaling_of_penalised_intercept(model: Any) -> float:
    """The constant feature of liblinear, whose coefficient is the intercept; 0 if there is none."""
    library, name = type(model).__module__.split(".")[0], type(model).__name__
    by_liblinear = name in ("LinearSVC", "LinearSVR") or getattr(model, "solver", None) == "liblinear"
    if library != "sklearn" or not by_liblinear or not model.fit_intercept:
        return 0.0
    if getattr(model, "multi_class", None) == "crammer_singer":
        raise TypeError(
            "The intercepts of Crammer and Singer's method are penalised together; audit without intercept."
        )
    return float(model.intercept_scaling)


def _twin(model: Any) -> Any:
    """An estimator of southwell, not fitted, with the model's objective."""
    library, name = type(model).__module__.split(".")[0], type(model).__name__
    plain = name.removesuffix("CV").removesuffix("IC")
    given = model.get_params(deep=False)
    if given.get("weights") is not None:
        raise TypeError(f"{name} with weights of coefficients: give coef_ as an array, with penalty=.")
    if hasattr(model, "local_"):
        raise TypeError(f"The penalty of {name} is not convex: no gap of its objective can be proven.")
    if isinstance(model, Relaxed) and model._share() < 1:
        raise TypeError(
            f"{name} is a mixture of two solutions, which minimises no problem: audit those, with keep_dual=True."
        )
    if library == "southwell" and hasattr(estimators, plain) and plain != "HuberRegressor":
        return _alike(getattr(estimators, plain), model, given)
    if plain in SAME.get(library, ()):
        extra: dict[str, Any] = {}
        if plain == "LogisticRegression":
            one_by_one = given.get("solver") == "liblinear" or given.get("multi_class") == "ovr" or library == "celer"
            extra = {"multi_class": "ovr" if one_by_one else "multinomial"}
            if library == "celer":
                extra |= {"penalty": "l1", "l1_ratio": 1.0}
        return _alike(getattr(estimators, plain), model, given, **extra)
    if (library, name) == ("sklearn", "LinearRegression"):
        return _alike(estimators.SparseLinearRegressor, model, given, loss="squared", l1=0.0, l2=0.0)
    if library == "sklearn" and name in ("SGDClassifier", "SGDRegressor"):
        ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": given["l1_ratio"], None: 0.0}[given["penalty"]]
        alpha = 0.0 if given["penalty"] is None else given["alpha"]
        kind = estimators.SparseLinearClassifier if name == "SGDClassifier" else estimators.SparseLinearRegressor
        if given["loss"] not in SGD:
            raise _unknown(model, f"with loss={given['loss']!r}")
        return _alike(kind, model, given, loss=SGD[given["loss"]], l1=alpha * ratio, l2=alpha * (1 - ratio))
    if (library, name) == ("skglm", "SparseLogisticRegression"):
        alpha, ratio = given["alpha"], given.get("l1_ratio", 1.0)
        own = {"loss": "logistic", "l1": alpha * ratio, "l2": alpha * (1 - ratio)}
        return _alike(estimators.SparseLinearClassifier, model, given, **own)
    if (library, name) == ("skglm", "LinearSVC"):
        return _alike(estimators.LinearSVC, model, given, loss="hinge", penalty="l2", l1_ratio=0.0, fit_intercept=False)
    if (library, name) == ("glum", "GeneralizedLinearRegressor"):
        return _of_glum(model, given)
    raise _unknown(model)


def _of_glum(model: Any, given: dict[str, Any]) -> Any:
    if not (isinstance(given["family"], str) and given["family"] in GLUM):
        raise _unknown(model, f"with family={shown(given['family'])}")
    if given["P1"] not in (None, "identity") or given["P2"] not in (None, "identity"):
        raise _unknown(model, "with P1 or P2")
    loss, alpha, ratio = GLUM[given["family"]], given["alpha"] or 0.0, given["l1_ratio"]
    kind = estimators.SparseLinearClassifier if loss == "logistic" else estimators.SparseLinearRegressor
    return _alike(kind, model, given, loss=loss, l1=alpha * ratio, l2=alpha * (1 - ratio))


def _alike(kind: Any, model: Any, given: dict[str, Any], **own: Any) -> Any:
    """An instance with the parameters that both have, and those that were chosen by cross-validation."""
    ignored = {"tol", "max_iter", "solver", "method", "n_jobs", "verbose", "precompute", "selection", "copy_X"}
    known = {*kind().get_params()} - ignored
    shared = {name: value for name, value in given.items() if name in known} | {
        name: _one(getattr(model, found)) for name, found in CHOSEN.items() if name in known and hasattr(model, found)
    }
    if type(model).__name__.startswith("LogisticRegression") and "l1_ratio" in known:
        penalty, ratio = given.get("penalty", "deprecated"), shared.get("l1_ratio")
        if penalty in ("l1", "l2"):
            shared["l1_ratio"] = {"l1": 1.0, "l2": 0.0}[penalty]
        elif penalty is None:
            shared["C"], shared["l1_ratio"] = np.inf, 0.0
        else:
            shared["l1_ratio"] = 0.0 if ratio is None else ratio
        shared["penalty"] = {0.0: "l2", 1.0: "l1"}.get(float(shared["l1_ratio"]), "elasticnet")
    return kind(**(shared | own))


def _one(chosen: Any) -> Any:
    values = np.unique(np.asarray(chosen, dtype=object)[()] if np.ndim(chosen) == 0 else np.asarray(chosen))
    if values.size > 1:
        raise TypeError(f"Different strengths for classes or targets ({shown(chosen)}): audit them one by one.")
    return values[0] if np.ndim(chosen) else chosen


def _unknown(model: Any, more: str = "") -> TypeError:
    told = f"{type(model).__module__.split('.')[0]}'s {type(model).__name__} {more}".strip()
    return TypeError(
        f"The parameters of {told} do not say which convex objective it was fitted for, as far as is known here. Give "
        "its coefficients as an array, with loss=, l1=, l2= or penalty=, and intercept=."
    )
