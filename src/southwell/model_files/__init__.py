"""Fitted models on disk: one file each. Reading a file runs no code from it.

A file holds the class, the parameters and the fitted attributes; a loaded model is identical to the saved one, bit for
bit. It also holds the version of the format: southwell reads its own and all earlier versions, and refuses later ones.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .. import __version__, estimators
from ..estimators._base import rows_of
from ..result import Result
from ..status import Status
from .archive import Refused, read, write
from .values import Reader, Writer

FORMAT, VERSION = "southwell model", 2
KEYS = {"format", "version", "written_by", "class", "parameters", "attributes"}
CLASSES = estimators.ALL
HIDDEN = "_results"  # the data of result_ and dual_coef_, kept with keep_dual


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Store a fitted model. An existing file of that name is replaced when the new one is complete."""
    kind = type(model)
    if CLASSES.get(kind.__name__) is not kind:
        raise TypeError(f"Only estimators of southwell can be saved; got {kind.__name__}.")
    check_is_fitted(model)
    writer, defaults = Writer(), kind().get_params(deep=False)
    given = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if value is not None or defaults[name] is not None
    }
    found = {name: value for name, value in vars(model).items() if name.endswith("_") or name == HIDDEN}
    stored = {
        "format": FORMAT, "version": VERSION, "written_by": f"southwell {__version__}", "class": kind.__name__,
        "parameters": {name: writer(value, name) for name, value in given.items()},
        "attributes": {name: writer(value, name) for name, value in found.items()},
    }  # fmt: skip
    write(Path(path), stored, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a saved model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Identical to the saved one, bit for bit.

    Raises
    ------
    ValueError
        If the file is not a model file, is damaged or inconsistent, or comes from a later version. No code in the file
        is run.

    Examples
    --------
    >>> import os, tempfile, southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "diabetes.southwell")
    >>> model = sw.Lasso(alpha=0.5).fit(X, y)
    >>> model.save(path)
    >>> bool((sw.load(path).predict(X) == model.predict(X)).all())
    True
    """
    try:
        text, arrays = read(Path(path))
        try:
            return _model(text, arrays)
        except Refused:
            raise
        except Exception as error:  # inconsistencies that the checks do not cover
            raise Refused(f"its parts are inconsistent ({type(error).__name__}: {error})") from None
    except Refused as error:
        raise ValueError(f"{os.fspath(path)!r} cannot be loaded: {error}.") from None


def _model(stored: dict[str, Any], arrays: list[np.ndarray]) -> Any:
    if stored.get("format") != FORMAT:
        raise Refused("it is not a model of southwell")
    if type(version := stored.get("version")) is not int or not 1 <= version <= VERSION:
        raise Refused(
            f"it is of format {version!r}, written by {stored.get('written_by')!r}; this is southwell {__version__}, "
            f"which reads formats up to {VERSION}. Upgrade southwell"
        )
    if set(stored) != KEYS or type(stored["parameters"]) is not dict or type(stored["attributes"]) is not dict:
        raise Refused(f"it must hold {', '.join(sorted(KEYS))}; it holds {', '.join(map(str, stored))[:200]}")
    kind = CLASSES.get(stored["class"]) if type(stored["class"]) is str else None
    if kind is None:
        raise Refused(f"this version of southwell has no class {stored['class']!r}")
    reader = Reader(arrays)
    known = kind().get_params(deep=False)
    if unknown := sorted(stored["parameters"].keys() - known.keys()):
        raise Refused(f"{kind.__name__} has no parameter {unknown[0]!r}")
    model = kind(**{name: reader(value) for name, value in stored["parameters"].items()})
    for name, value in stored["attributes"].items():
        if name != HIDDEN and (not re.fullmatch(r"[A-Za-z]\w*_", name) or hasattr(kind, name)):
            raise Refused(f"{name!r} is not an attribute of a fitted model")
        setattr(model, name, reader(value))
    _check(model)
    if version == 1 and not getattr(model, "keep_dual", True):  # which that version did not ask
        model.keep_dual = True
    return model


def _check(model: Any) -> None:
    """Check that the parts of the model are consistent, so that it does not fail later."""
    results: Any = getattr(model, HIDDEN, [])
    coef: Any = getattr(model, "coef_", None)
    features: Any = getattr(model, "n_features_in_", None)
    intercept: Any = getattr(model, "intercept_", None)
    if type(results) is not list or not all(type(result) is Result for result in results):
        raise Refused("its results are not results")
    if not (isinstance(coef, np.ndarray) or sp.issparse(coef)) or coef.ndim not in (1, 2) or coef.dtype.kind != "f":
        raise Refused("its coefficients are missing")
    for result in results:
        x, y = result.x, result.y
        if not (isinstance(x, np.ndarray) or sp.issparse(x)) or not (y is None or isinstance(y, np.ndarray)):
            raise Refused("its results are not vectors")
        numbers = (result.primal, result.dual, result.gap, result.scale, result.tol, result.seconds)
        if not all(isinstance(number, float) for number in numbers) or type(result.epochs) is not int:
            raise Refused("its results are not numbers")
        own = np.asarray(result.intercept)
        if x.ndim not in (1, 2) or own.dtype.kind != "f" or own.size != rows_of(x).shape[0]:
            raise Refused("its results have no intercept")
        if not isinstance(result.status, Status) or type(result.method) is not str or type(result.history) is not dict:
            raise Refused("its results are not whole")
    rows = 1 if coef.ndim == 1 else coef.shape[0]
    if type(features) is not int or coef.shape[-1] != features:
        raise Refused("its coefficients are not as many as its features")
    if results and rows != sum(rows_of(result.x).shape[0] for result in results) and not _of_two(model, rows):
        raise Refused("its coefficients are not those of its results")
    if np.ndim(intercept) > 1 or np.size(intercept) not in (1, rows) or np.asarray(intercept).dtype.kind != "f":
        raise Refused("its intercepts are not as many as its problems")
    if is_classifier(model):
        classes, several = getattr(model, "classes_", None), getattr(model, "multilabel_", None)
        wanted = 2 if rows == 1 and not several else rows
        if type(several) is not bool or not isinstance(classes, np.ndarray) or classes.shape != (wanted,):
            raise Refused("its classes are not as many as its problems")


def _of_two(model: Any, rows: int) -> bool:
    """Whether the results have a row for each of two classes, and the model their difference."""
    return rows == 1 and bool(getattr(model, "together_", False))
