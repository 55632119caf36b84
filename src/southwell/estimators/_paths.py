"""scikit-learn's functions for paths of the lasso and the elastic net."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._data import readable
from .._dense import numbers
from .._names import count, flag, integral
from .._typing import Given
from .._words import OF_ESTIMATORS
from ..block_problem import BlockProblem
from ..lambda_max import lambda_max
from ..methods import Method
from ..methods import get as method_of
from ..path import follow
from ..penalties import ElasticNet, Groups, Penalty
from ..problem import Problem
from ..solve import Settings, shortcoming_of_many
from ._base import warn
from ._parameters import NO_GRID, decreasing, drawn_seed, falling, grid, one_of, share
from .conventions import from_alpha, over_rows


def enet_path(X: Given, y: Given, *, l1_ratio: float = 0.5, eps: float = 1e-3, alphas: int | ArrayLike | None = 100,
              precompute: Given = "auto", Xy: Given = None, copy_X: bool = True, coef_init: Given = None,
              verbose: bool | int = False, return_n_iter: bool = False, positive: bool = False,
              check_input: bool = True, max_iter: int = 10_000, tol: float = 1e-6, selection: str = "cyclic",
              random_state: Given = None, sample_weight: Given = None,
              method: str | Method = "auto", n_alphas: int | str = "deprecated", **params: Any) -> Any:  # fmt: skip
    """The elastic net without an intercept, for many alphas, as scikit-learn's function of the same name.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Centred, if there should be an intercept.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        With several targets: ``MultiTaskElasticNet``.
    l1_ratio : float
        The share of L1, > 0 unless alphas are given.
    eps : float
        The smallest alpha, relative to the largest.
    alphas : int or array
        The number of values, or the values; None is 100.
    return_n_iter : bool
    positive : bool
        Require coefficients >= 0.
    sample_weight : array of shape (n_samples,), optional
    max_iter, tol, random_state, method
        As for ``ElasticNet``.
    n_alphas : int
        Deprecated by scikit-learn, as is ``alphas=None``.
    precompute, Xy, copy_X, coef_init, verbose, check_input, selection
        Ignored; for compatibility with scikit-learn.
    **params
        Refused; for compatibility with scikit-learn.

    Returns
    -------
    alphas : array of shape (n_alphas,), from large to small
    coefs : array of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
    dual_gaps : array of shape (n_alphas,)
        Proven bounds on the distance of each objective from its optimum.
    n_iters : list of int
        With ``return_n_iter``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import enet_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> alphas, coefs, gaps = enet_path(X, y - y.mean(), l1_ratio=0.9, alphas=20)
    >>> coefs.shape, int((coefs[:, 0] != 0).sum())
    ((10, 20), 0)
    """
    begun, ratio = time.perf_counter(), share("l1_ratio", l1_ratio)
    if params:
        raise ValueError("Unexpected parameters in params", params.keys())
    alphas = _as_before(alphas, n_alphas)
    one_of("selection", selection, ("cyclic", "random"))
    X, y = readable(X, "X"), readable(y, "y")
    y = numbers("y", y.toarray() if sp.issparse(y) else y)
    several, sign = y.ndim == 2, flag("positive", positive)
    penalty: Penalty = Groups(1.0, positive=sign) if several else ElasticNet(lower=0.0 if sign else None)
    kind = BlockProblem if several else Problem
    problem = kind(X, y, "squared", penalty, sample_weight=sample_weight, words=OF_ESTIMATORS)
    if alphas is None or integral(alphas):
        if ratio == 0:
            raise ValueError(NO_GRID)
        unit = problem.with_penalty(_penalty(problem.penalty, 1.0, ratio, several))
        parts = falling("eps", eps, count("alphas", 100 if alphas is None else alphas, 1, bits=24))
        tried = grid(lambda_max(unit) / ratio, parts)
    else:
        tried = decreasing("alphas", alphas, zero=True)
    settings = Settings.checked(
        tol, count("max_iter", max_iter, 1), None, None, 0 if random_state is None else drawn_seed(random_state), False,
        None,
    )  # fmt: skip
    penalties = (_penalty(problem.penalty, float(alpha), ratio, several) for alpha in tried)
    path, error = follow(problem, method_of(method), penalties, settings, begun, stop_at=np.inf)
    if error is not None:
        raise error
    for words in shortcoming_of_many(OF_ESTIMATORS, path.statuses, path.gaps, settings.tol, "points"):
        warn(words)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    coefs = np.stack([path.coefficients(k) for k in range(len(path))], axis=-1).astype(dtype)
    answer = tried, coefs.swapaxes(0, 1) if several else coefs, path.primal - path.dual
    return (*answer, path.epochs.tolist()) if return_n_iter else answer


def lasso_path(X: Given, y: Given, *, eps: float = 1e-3, alphas: int | ArrayLike | None = 100,
               precompute: Given = "auto", Xy: Given = None, copy_X: bool = True, coef_init: Given = None,
               verbose: bool | int = False, return_n_iter: bool = False, positive: bool = False,
               **params: Any) -> Any:  # fmt: skip
    """The lasso without an intercept, for many alphas: ``enet_path`` with ``l1_ratio=1``.

    Parameters
    ----------
    X, y, eps, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive, **params
        As for ``enet_path``.

    Returns
    -------
    alphas, coefs, dual_gaps, n_iters
        As for ``enet_path``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from southwell import lasso_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> lasso_path(X, y - y.mean(), alphas=[1.0, 0.5])[1].shape
    (10, 2)
    """
    params.setdefault("l1_ratio", 1.0)
    return enet_path(
        X, y, eps=eps, alphas=alphas, precompute=precompute, Xy=Xy, copy_X=copy_X, coef_init=coef_init,
        verbose=verbose, return_n_iter=return_n_iter, positive=positive, **params,
    )  # fmt: skip


def _as_before(alphas: Given, n_alphas: int | str) -> Given:
    """The alphas, where they are given as scikit-learn before 1.9 had them."""
    if n_alphas != "deprecated":
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11 by scikit-learn. Give alphas, which may be "
            "an integer.",
            FutureWarning, stacklevel=3,
        )  # fmt: skip
        return n_alphas
    if alphas is None:
        warnings.warn(
            "'alphas=None' is deprecated and will be removed in 1.11 by scikit-learn. Give alphas=100, the default.",
            FutureWarning, stacklevel=3,
        )  # fmt: skip
    return alphas


def _penalty(own: Any, alpha: float, ratio: float, several: bool) -> Penalty:
    if several:
        strengths = over_rows(alpha, ratio)
        penalty: Penalty = replace(own, strength=strengths.group, l2=strengths.l2)
    else:
        strengths = from_alpha(alpha, ratio)
        penalty = replace(own, l1=strengths.l1, l2=strengths.l2)
    return penalty
