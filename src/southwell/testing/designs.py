"""Laws of a design, the data matrix with its two products."""

from __future__ import annotations

import numpy as np

from ..problem import Problem
from ._brute import EPS, hold


def check_design(A, dense, sample_weight=None) -> None:
    """Check that ``A``, however it is stored, represents the matrix ``dense``.

    For both axes, with and without an intercept:

    * A x + c and A'u equal the dense products, seen through ``Problem.to_inner``, and those two are inverse;
    * adjointness: <A x, u> = <x, A'u>;
    * ``column_squared_norms(w)`` equals sum_i w_i A_ij^2.

    All up to rounding, relative to the numbers that are added, which for centred columns are those before centring.

    Parameters
    ----------
    A : array, sparse matrix or Centred
        Anything ``Problem`` accepts.
    dense : ndarray of shape (n_samples, n_features)
        What it should represent.
    sample_weight : array of shape (n_samples,), optional
        For a ``Centred`` without means, whose means are weighted as the samples are.

    Raises
    ------
    AssertionError
        Naming the law, the axis and a point where it is broken.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, southwell as sw
    >>> from southwell.testing import check_design
    >>> A = sp.csc_array(np.random.default_rng(0).integers(3, size=(7, 4)).astype(float))
    >>> check_design(sw.Centred(A), A.toarray() - A.toarray().mean(axis=0))
    """
    dense = np.asarray(dense, dtype=np.float64)
    for intercept in (False, True):
        problem = Problem(A, np.zeros(dense.shape[0]), intercept=intercept, sample_weight=sample_weight)
        for by_columns in (True, False):
            where = f"{type(A).__name__} by {'columns' if by_columns else 'rows'}, intercept={intercept}"
            _check_layout(problem, problem.layout(by_columns), dense, where)


def _check_layout(problem: Problem, layout, dense: np.ndarray, where: str) -> None:
    (n, d), extra = dense.shape, int(problem.intercept)
    hold(where, f"rows and cols are {n} and {d + extra}; got {layout.rows} and {layout.cols}",
         (layout.rows, layout.cols) == (n, d + extra))  # fmt: skip
    full = np.column_stack([dense, np.ones((n, extra))])
    # `outer` converts (x, c) as users see them to the core's coordinates: the identity, unless columns are centred.
    outer = np.column_stack([problem.to_inner(row[:d], row[d:].sum()) for row in np.eye(d + extra)])
    inner = np.column_stack([layout.apply(e) for e in np.eye(d + extra)])
    means = np.zeros(d) if problem.shifts is None else problem.shifts
    size = np.abs(full) + np.append(2 * np.abs(means), np.zeros(extra))  # of the terms of each entry
    rounding = 8 * EPS * (n + d + 4)
    i, j = np.arange(n)[:, None], np.arange(d + extra)
    hold(where, "A times unit vectors gives the columns of the dense matrix",
         np.abs(inner @ outer - full) <= rounding * (1 + size), i=i, j=j, got=inner @ outer, dense=full)  # fmt: skip

    draws = np.random.default_rng(1)
    for x, u, w in zip(*(draws.normal(size=(5, k)) for k in (d + extra, n, n)), strict=True):
        user_x, user_c = problem.from_inner(outer @ x)
        back = np.append(user_x, [user_c] * extra)
        hold(where, "from_inner undoes to_inner", np.abs(back - x) <= rounding * (1 + size.max() * d), got=back, x=x)
        got, want = layout.apply(outer @ x), full @ x
        bound = rounding * (1 + size @ np.abs(x) + 2 * np.abs(means) @ np.abs(x[:d]))
        hold(where, "apply equals the dense product", np.abs(got - want) <= bound, i=i[:, 0], got=got, dense=want)
        slopes = layout.adjoint(u)
        got, want = outer.T @ slopes, full.T @ u
        bound = rounding * (1 + size.T @ np.abs(u))
        hold(where, "adjoint equals the dense product", np.abs(got - want) <= bound, j=j, got=got, dense=want)
        left, right = layout.apply(outer @ x) @ u, (outer @ x) @ slopes
        bound = rounding * (1 + np.abs(u) @ size @ np.abs(x) + 2 * np.abs(u).sum() * np.abs(means) @ np.abs(x[:d]))
        hold(where, "adjointness: <A x, u> = <x, A'u>", abs(left - right) <= bound, left=left, right=right)
        w = w * w
        got, want = layout.column_squared_norms(w), w @ inner**2
        bound = rounding * (1 + w @ (np.abs(inner) + np.append(2 * np.abs(means), np.zeros(extra))) ** 2)
        hold(where, "column_squared_norms(w) equals sum_i w_i A_ij^2", np.abs(got - want) <= bound,
             j=j, got=got, dense=want)  # fmt: skip
        hold(where, "column_squared_norms is never negative", got >= 0, j=j, got=got)
