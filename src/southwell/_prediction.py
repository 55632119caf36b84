"""What a linear model says of new data: margins, and what they mean for a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _data, _shards
from ._dense import numbers
from ._names import shown
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given
from .losses import ClassLoss

if TYPE_CHECKING:
    from .problem import Problem


def stated(problem: Any) -> Problem:
    """``problem``, if it is one over numbers or blocks, which knows what its coefficients are; else an error."""
    if problem is None:
        raise ValueError(
            "This result keeps no problem, so it knows neither features nor classes: it belongs to an estimator. Use "
            "the estimator's own methods, such as predict and decision_function."
        )
    if not hasattr(problem, "classes"):
        raise TypeError(f"Only results over features can predict; this is one of {type(problem).__name__}.")
    checked: Problem = problem
    return checked


def margins(problem: Problem, rows: AnyMatrix, intercepts: Given, A: Given) -> np.ndarray:
    """A x + c, a column for each row of the coefficients ``rows``; A is centred as the problem's data are."""
    if isinstance(A, _shards.InFiles):
        return np.concatenate([margins(problem, rows, intercepts, shard.A) for shard in A.shards()])
    names = _data.names_of(A, problem.n_features)
    if names is not None and problem.names is not None and names != problem.names:
        wrong = next(j for j, (own, given) in enumerate(zip(problem.names, names, strict=True)) if own != given)
        raise ValueError(
            f"The columns of A must be those of the problem, in the same order; column {wrong} is "
            f"{shown(names[wrong])} instead of {shown(problem.names[wrong])}."
        )
    factors = A if isinstance(A, _data.Factorised) else None
    read = _data.Matrix(A if factors is None else factors.V, "A")
    if read.shape[1] != problem.n_features:
        raise ValueError(f"A must have {problem.n_features} columns, one a feature; got {read.shape[1]}.")
    if problem.means is not None:
        intercepts = intercepts - rows @ problem.means
    if factors is None:
        return np.asarray(_product(read, rows) + intercepts)
    first = _data.Matrix(factors.U, "U")
    if first.shape[1] != read.shape[0]:
        raise ValueError(f"The inner sizes of the factors must agree; got {first.shape[1]} and {read.shape[0]}.")
    return np.asarray(_product(first, sp.csr_array(_product(read, rows).T)) + intercepts)


def _product(A: _data.Matrix, rows: AnyMatrix) -> np.ndarray:
    product = (A.rows if A.has_rows() else A.columns) @ rows.T
    return product.toarray() if sp.issparse(product) else np.asarray(product)


def with_offset(margins: np.ndarray, offset: Given) -> np.ndarray:
    """Margins of shape (n_samples, ...) plus a number for each sample, or one for each margin of a sample."""
    if offset is None:
        return margins
    added = numbers("offset", offset)
    allowed = {margins.shape[:1], (margins.shape[0], margins.shape[-1])}
    if added.shape not in allowed or not np.isfinite(added).all():
        raise ValueError(
            f"offset must be finite numbers, one for each of {margins.shape[0]} samples; got {shown(offset)}."
        )
    if added.ndim < margins.ndim:
        added = added.reshape(added.shape[0], *[1] * (margins.ndim - added.ndim), *added.shape[1:])
    return np.asarray(margins + added)


def answers(problem: Problem, margins: np.ndarray) -> np.ndarray:
    """The predictions that belong to margins, whose last axis are the columns of a table of coefficients, if it is one:
    labels of classes, the mean of counts, or the margins themselves."""
    loss, classes = problem.loss, problem.classes
    if classes is None:
        with np.errstate(over="ignore"):
            return np.exp(margins) if loss.log_link else margins
    together = isinstance(loss, ClassLoss)
    return np.asarray(classes[margins.argmax(axis=-1) if together else (margins > 0).astype(int)])
