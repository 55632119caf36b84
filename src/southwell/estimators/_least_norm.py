"""Least squares by a singular value decomposition: where small problems begin, and leave-one-out errors.

Where alpha is near 0 and there are more features than samples, coefficients hardly matter to the objective, so a
tolerance on it does not determine them. The answer of a decomposition is that of least norm, as alpha goes to 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lsqr

from .._typing import AnyMatrix

SMALL, LARGE = 2**26, 2**31  # multiplications: what is done for accuracy, and what only if alpha is near 0
NEAR = 1e-8  # of the mean squared singular value
MOST_ROUNDS = 500  # of LSQR
HUGE = 1e150  # singular values whose squares overflow


@dataclass(frozen=True)
class Decomposition:
    """``rows = left diag(values) right`` for the rows ``sqrt(s_i) (x_i - mean)``, weights s summing to one, without
    singular values that are zero up to rounding. ``spectrum`` has those too."""

    weights: np.ndarray
    intercept: bool
    means: np.ndarray
    left: np.ndarray
    values: np.ndarray
    right: np.ndarray | None
    spectrum: np.ndarray

    @classmethod
    def of(cls, X: AnyMatrix, weights: np.ndarray, intercept: bool, gram: bool = False) -> Decomposition | None:
        """None if it has overflowed. With ``gram`` it is made of inner products, of rows or of columns, whichever are
        fewer; X may be large and sparse then, small singular values lose half of their digits, and there is no right
        factor."""
        with np.errstate(all="ignore"):
            means = np.asarray(weights @ X, dtype=np.float64) if intercept else np.zeros(X.shape[1])
            roots = np.sqrt(weights)[:, None]
            try:
                if gram:
                    return cls._of_gram(X, roots, means, weights, intercept)
                dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
                left, values, right = scipy.linalg.svd(roots * (dense - means), full_matrices=False, check_finite=True)
            except (ValueError, np.linalg.LinAlgError):
                return None
        if not values.max(initial=0.0) < HUGE:
            return None
        kept = values > values.max(initial=0.0) * max(X.shape) * np.finfo(float).eps
        return cls(weights, intercept, means, left[:, kept], values[kept], right[kept], values)

    @classmethod
    def _of_gram(cls, X: AnyMatrix, roots: np.ndarray, means: np.ndarray, weights: np.ndarray,
                 intercept: bool) -> Decomposition:  # fmt: skip
        def dense(product: AnyMatrix) -> np.ndarray:
            return np.asarray(product.toarray() if sp.issparse(product) else product, dtype=np.float64)

        X = X.astype(np.float64)
        if X.shape[0] <= X.shape[1]:
            along = (X @ means)[:, None]
            inner = roots * (dense(X @ X.T) - along - along.T + means @ means) * roots.T
        else:
            inner = dense(X.T @ (sp.diags_array(weights) @ X)) - np.outer(means, means)
        squares, vectors = scipy.linalg.eigh(inner, check_finite=True)
        spectrum = np.sqrt(np.maximum(squares, 0.0))[::-1]
        kept = squares > squares.max(initial=0.0) * max(X.shape) * np.finfo(float).eps
        values, vectors = np.sqrt(squares[kept]), vectors[:, kept]
        if X.shape[0] > X.shape[1]:
            vectors = roots * (dense(X @ vectors) - means @ vectors) / values
        return cls(weights, intercept, means, vectors, values, None, spectrum)

    def _inner(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        mean = float(self.weights @ y) if self.intercept else 0.0
        return mean, self.left.T @ (np.sqrt(self.weights) * (y - mean))

    def minimiser(self, y: np.ndarray, l2: float) -> tuple[np.ndarray, float] | None:
        """Coefficients and intercept with the least ``sum_i s_i (x_i'w + c - y_i)^2 + l2 ||w||^2``, of least norm."""
        assert self.right is not None
        mean, inner = self._inner(y)
        coef = self.right.T @ (self.values * inner / (self.values**2 + l2))
        return (coef, mean - float(self.means @ coef)) if np.isfinite(coef).all() else None

    def left_out(self, y: np.ndarray, l2: float) -> np.ndarray:
        """For each sample its error ``y_i - prediction`` in the fit without it: ``e_i / (1 - h_i)``, with e the errors
        of the fit and h the diagonal of the matrix that maps y to its fit.

        Both are sums of a part outside the span of the rows, which is exactly zero where they span everything, and one
        that l2 shrinks: no digits are lost where l2 is near 0."""
        mean, inner = self._inner(y)
        roots, shrunk = np.sqrt(self.weights), l2 / (self.values**2 + l2)
        present = self.weights > 0
        room = 1.0 - self.intercept * self.weights - (self.left**2).sum(axis=1)
        outside = roots * (y - mean) - self.left @ inner
        if self.values.size + self.intercept >= np.count_nonzero(present):
            room, outside = np.where(present, 0.0, room), np.zeros_like(outside)
        room = np.where(room > 1e-14, room, 0.0) + self.left**2 @ shrunk
        with np.errstate(divide="ignore", invalid="ignore"):
            errors: np.ndarray = (outside + self.left @ (shrunk * inner)) / np.where(present, roots * room, 1.0)
        if not present.all():  # rows that no fit contains
            errors[~present] = np.nan
        return errors


def least_norm(X: AnyMatrix, targets: Sequence[np.ndarray], weights: np.ndarray, l2s: Sequence[float],
               intercept: bool) -> list[tuple[np.ndarray, float]] | None:  # fmt: skip
    """Coefficients and intercept for each target: the minimiser of ``sum_i s_i (x_i'w + c - y_i)^2 + l2 ||w||^2`` of
    least norm, weights s summing to one. None if the decomposition would take long or has overflowed."""
    n, d = X.shape
    work = n * d * min(n, d)
    if work > LARGE or min(n, d) == 0:
        return None
    if work > SMALL:
        with np.errstate(all="ignore"):
            means = np.asarray(weights @ X) if intercept else np.zeros(d)
            squares = np.asarray(weights @ (X.power(2) if sp.issparse(X) else X**2), dtype=np.float64)
            mean_square = float((squares - means**2).sum()) / min(n, d)
        if not np.isfinite(mean_square) or min(l2s) > NEAR * mean_square:
            return None
    made = Decomposition.of(X, weights, intercept)
    return None if made is None else minimisers(made, targets, l2s)


def minimisers(made: Decomposition, targets: Sequence[np.ndarray],
               l2s: Sequence[float]) -> list[tuple[np.ndarray, float]] | None:  # fmt: skip
    """The same of a decomposition that is known; None if one overflows."""
    found = [made.minimiser(y, l2) for y, l2 in zip(targets, l2s, strict=True)]
    answers = [one for one in found if one is not None]
    return answers if len(answers) == len(found) else None


def by_lsqr(X: AnyMatrix, y: np.ndarray, weights: np.ndarray, intercept: bool) -> tuple[np.ndarray, float]:
    """The solution of least norm without a penalty, by Paige and Saunders' LSQR, whose iterates from zero lie in the
    span of the rows."""
    means = np.asarray(weights @ X, dtype=np.float64) if intercept else np.zeros(X.shape[1])
    mean, roots = float(weights @ y) if intercept else 0.0, np.sqrt(weights)
    rows = LinearOperator(
        X.shape, dtype=np.float64,
        matvec=lambda x: roots * (X @ x.ravel() - means @ x.ravel()),
        rmatvec=lambda v: X.T @ (roots * v.ravel()) - means * (roots @ v.ravel()),
    )  # fmt: skip
    coef = lsqr(rows, roots * (y - mean), atol=1e-12, btol=1e-12, iter_lim=MOST_ROUNDS)[0]
    return coef, mean - float(means @ coef)
