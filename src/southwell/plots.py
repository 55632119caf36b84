"""Plots, each on one matplotlib Axes, which it returns. They need ``pip install southwell[plot]``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._names import count, flag, shown
from ._typing import AnyMatrix, Given

if TYPE_CHECKING:
    from .path_points import Path
    from .result import Result

__all__ = ["coefficients", "convergence", "cross_validation", "path"]

AGAINST = ("seconds", "epoch", "moves", "entries")
LEAST = 1e-17  # the smallest gap that is drawn


def _axes(ax: Any = None) -> Any:
    """The given Axes, or new ones; matplotlib is imported only then."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib. Install it with: python -m pip install 'southwell[plot]'") from error
    return plt.subplots(layout="constrained")[1]


def _named(names: Given, number: int) -> list[str]:
    if names is None:
        return [str(j) for j in range(number)]
    if len(names) != number:
        raise ValueError(f"names must have {number} entries, one for each feature; got {len(names)}.")
    return [str(name) for name in names]


def convergence(
    results: Result | Mapping[str, Result] | list[Result],
    against: str = "seconds",
    ax: Any = None,
    *,
    latest: bool = False,
) -> Any:
    """The relative gaps of some results over time, on a log scale.

    Parameters
    ----------
    results : Result, list of them, or dict
        The keys of a dict are the labels; else the methods are.
    against : {"seconds", "epoch", "moves", "entries"}
    ax : matplotlib Axes, optional
    latest : bool
        Also draw, as dashed lines, the gaps of the points at which the methods stood, which may rise. The solid lines
        are gaps between the best values so far, which cannot.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> A, b = load_diabetes(return_X_y=True)
    >>> methods = ("auto", "coordinate_descent", "fista")
    >>> ax = sw.plots.convergence({method: sw.solve(A, b, l1=0.5, method=method) for method in methods})
    >>> ax.get_ylabel()
    'gap / objective of the zero model'
    """
    if not isinstance(against, str) or against not in AGAINST:
        raise ValueError(f"Plot against 'seconds', 'epoch', 'moves' or 'entries'; got {shown(against)}.")
    if not isinstance(results, Mapping):
        several = results if isinstance(results, list | tuple) else [results]
        results = {f"{k}: {one.method}" if len(several) > 1 else one.method: one for k, one in enumerate(several)}
    if not results:
        raise ValueError("There are no results to plot.")
    latest = flag("latest", latest)
    ax = _axes(ax)
    for name, result in results.items():
        unit, history = result.scale if result.scale > 0 else 1.0, result.history
        (line,) = ax.semilogy(history[against], np.maximum(history["gap"] / unit, LEAST), marker=".", label=name)
        if latest:
            gaps = history["latest_primal"] - history["latest_dual"]
            gaps = np.where(np.isfinite(gaps), np.maximum(gaps / unit, LEAST), np.nan)
            ax.semilogy(history[against], gaps, "--", color=line.get_color(), label=f"{name}, latest point")
    for tol in sorted({max(result.tol, LEAST) for result in results.values()}):
        ax.axhline(tol, linestyle=":", color="grey", label="tolerance")
    ax.set(xlabel=against, ylabel="gap / objective of the zero model")
    ax.legend(fontsize="small")
    return ax


def path(path: Path, names: Given = None, top: int = 10, ax: Any = None) -> Any:
    """The coefficients along a path against its strengths, those that come to most in colour.

    Where a feature has several coefficients, one for each task or class, their norm is drawn.

    Parameters
    ----------
    path : Path
    names : sequence of str, optional
        One for each feature, for the legend.
    top : int
        How many coefficients are in colour.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    names = _named(names, path.shape[0])
    top = count("top", top, 0)
    ax = _axes(ax)
    columns, label = path.x.tocsc(), "coefficient"
    if len(path.shape) > 1:
        by_feature = sp.kron(sp.identity(path.shape[0]), np.ones((path.shape[1], 1)), format="csr")
        columns, label = (columns.power(2) @ by_feature).sqrt().tocsc(), "norm of a feature's coefficients"
    sizes = np.asarray(abs(columns).max(axis=0).todense()).ravel()
    order = [j for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0]
    along_l2 = np.ptp(path.strengths) == 0 and len(path) > 1
    against, name = (path.l2s, "l2") if along_l2 else (path.strengths, path.penalties[0].leading)
    for rank, j in enumerate(order):
        look = {"label": names[j]} if rank < top else {"color": "lightgrey", "linewidth": 0.5, "zorder": 0}
        ax.plot(against, columns[:, [j]].toarray().ravel(), **look)
    _strong_to_weak(ax, against, name)
    ax.set_ylabel(label)
    if order and top:
        ax.legend(fontsize="small")
    return ax


def _strong_to_weak(ax: Any, against: np.ndarray, label: str) -> None:
    if (against > 0).all():
        ax.set_xscale("log")
    ax.set_xlabel(label)
    if against[0] > against[-1] and not ax.xaxis_inverted():
        ax.invert_xaxis()


def cross_validation(model: Any, ax: Any = None) -> Any:
    """The scores of a cross-validated estimator: their mean over folds, one standard error around it, and the choice.

    Parameters
    ----------
    model : LassoCV, LogisticRegressionCV or another estimator whose name ends in CV
        Fitted. Of several l1_ratios or l2s each has a curve; the band is that of the chosen one.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sw.plots.cross_validation(sw.LassoCV(alphas=20).fit(X, y)).get_xlabel()
    'alpha'
    """
    if not hasattr(model, "_tried") or not hasattr(model, "coef_"):
        raise TypeError(f"Only a fitted estimator that chose by cross-validation has scores to plot; got {model!r}.")
    tried = model._tried()
    ax = _axes(ax)
    for other, strengths, scores in zip(tried.others, tried.strengths, tried.scores, strict=True):
        mean, chosen = scores.mean(axis=0), other == tried.other_chosen
        name = f"{tried.other} = {other:g}" if len(tried.others) > 1 else "mean over folds"
        (line,) = ax.plot(strengths, mean, marker=".", label=name, zorder=2 + chosen)
        if chosen and len(scores) > 1:
            error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
            ax.fill_between(strengths, mean - error, mean + error, alpha=0.2, color=line.get_color(),
                            label="one standard error")  # fmt: skip
    ax.axvline(tried.chosen, linestyle=":", color="grey", label=f"chosen: {tried.chosen:.3g}")
    _strong_to_weak(ax, tried.strengths[0], tried.label)
    ax.set_ylabel(model.scored_by_)
    ax.legend(fontsize="small")
    return ax


def coefficients(model: Any, names: Given = None, top: int = 20, target: int = 0, ax: Any = None) -> Any:
    """The largest coefficients of a fitted estimator, by name.

    Parameters
    ----------
    model : estimator
        With ``coef_``; its ``feature_names_in_`` are used if no names are given.
    names : sequence of str, optional
        One for each feature.
    top : int
        The largest number of coefficients; zeros are left out.
    target : int
        Which class or target, if there are several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import southwell as sw
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=False)
    >>> ax = sw.plots.coefficients(sw.Lasso(alpha=0.5).fit(X, y), names=load_diabetes().feature_names)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['s3', 'bp', 's5', 'bmi']
    """
    if not hasattr(model, "coef_"):
        raise TypeError(f"Only a fitted model has coefficients; got {model!r}. Call fit first.")
    rows: AnyMatrix = model.coef_ if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    if not -rows.shape[0] <= target < rows.shape[0]:
        raise ValueError(f"target must be below {rows.shape[0]}, the number of classes or targets; got {target}.")
    names = _named(names if names is not None else getattr(model, "feature_names_in_", None), rows.shape[1])
    row = rows[[target]].toarray().ravel() if sp.issparse(rows) else rows[target]
    largest = np.argsort(-np.abs(row), kind="stable")[: count("top", top, 1)]
    shown = largest[row[largest] != 0][::-1]  # the largest on top
    ax = _axes(ax)
    ax.barh(range(shown.size), row[shown], color=["tab:blue" if value > 0 else "tab:red" for value in row[shown]])
    ax.set_yticks(range(shown.size), [names[j] for j in shown])
    ax.axvline(0, color="grey", linewidth=0.5)
    left = np.count_nonzero(row) - shown.size
    ax.set(xlabel="coefficient", title=f"{left} smaller ones are not shown" if left else "")
    return ax
