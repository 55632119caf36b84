"""Plots, each on one matplotlib Axes, which it returns. They need ``pip install southwell[plot]``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._names import count, flag, integral, shown, unknown
from ._scipy import sparse as sp
from ._tables import feature_names
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
    if names is not None and len(names) != number:
        raise ValueError(f"names must have {number} entries, one for each feature; got {len(names)}.")
    return feature_names(names, number)


def _last_step(model: Any) -> tuple[Any, Any]:
    """The estimator that a pipeline or a search ends with, and the names of its features, if they are known."""
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return model, getattr(model, "feature_names_in_", None)
    last = model.steps[-1][1]
    try:
        return last, model[:-1].get_feature_names_out() if len(model.steps) > 1 else None
    except (AttributeError, TypeError, ValueError):  # a step that does not tell names, or is not fitted
        return last, None


def _numbers_on_top(ax: Any, at: np.ndarray, numbers: np.ndarray, what: str) -> None:
    """An axis on top with numbers at about eight of the points, evenly spread."""
    if ax.child_axes:
        return
    shown = np.unique(np.linspace(0, at.size - 1, min(at.size, 8)).round().astype(int))
    top = ax.secondary_xaxis("top")
    top.set_xticks(at[shown], [f"{numbers[k]:.0f}" for k in shown])
    top.minorticks_off()
    top.set_xlabel(what, fontsize="small")


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
        On a log scale if some results end ten times later than others.
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
        _refuse_others(results if isinstance(results, list | tuple) else [results])
        several = results if isinstance(results, list | tuple) else [results]
        results = {f"{k}: {one.method}" if len(several) > 1 else one.method: one for k, one in enumerate(several)}
    if not results:
        raise ValueError("There are no results to plot.")
    _refuse_others(results.values())
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
    ends = [float(result.history[against][-1]) for result in results.values()]
    if max(ends) > 10 * min(ends) > 0:
        ax.set_xscale("log")
    ax.set(xlabel=against, ylabel="gap / objective of the zero model")
    ax.legend(fontsize="small")
    return ax


def _refuse_others(results: Iterable[Any]) -> None:
    for one in results:
        if not hasattr(one, "history") or not hasattr(one, "scale"):
            advice = "; fit it with keep_dual=True and give its result_" if hasattr(type(one), "result_") else ""
            raise TypeError(
                f"Only a Result, a list or a dict of them has a convergence to plot; got {shown(one)}{advice}."
            )
        if not one.history:
            raise ValueError(
                "The points of a path keep no history. Solve for that point alone to plot its convergence."
            )


def path(path: Path, names: Given = None, top: int = 10, ax: Any = None) -> Any:
    """The coefficients along a path against its strengths, those that come to most in colour, and the numbers of
    nonzeros on top.

    Where a feature has several coefficients, one for each task or class, their norm is drawn.

    Parameters
    ----------
    path : Path
    names : sequence of str, optional
        One for each feature, for the legend. Default: the names of a DataFrame's columns.
    top : int
        How many coefficients are in colour.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if not hasattr(path, "strengths") or not hasattr(path, "penalties"):
        raise TypeError(f"Only a Path, the result of southwell.path, can be plotted here; got {shown(path)}.")
    names = _named(getattr(path.problem, "names", None) if names is None else names, path.shape[0])
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
    _numbers_on_top(ax, against, path.nonzeros, "nonzeros")
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
    """The scores of a cross-validated estimator: their mean over folds, one standard error around it, the best strength
    and the strongest whose score is within one standard error of it, and on top the mean number of nonzero features.

    Scores that are negative errors are drawn as errors.

    Parameters
    ----------
    model : LassoCV, LogisticRegressionCV or another estimator whose name ends in CV, or a pipeline that ends with one
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
    >>> ax = sw.plots.cross_validation(sw.LassoCV(alphas=20).fit(X, y))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('alpha', 'mean squared error')
    """
    model = _last_step(model)[0]
    if not hasattr(model, "_tried") or not hasattr(model, "coef_"):
        raise TypeError(
            f"Only a fitted estimator that chose by cross-validation has scores to plot; got {shown(model)}."
        )
    tried, label = model._tried(), model.scored_by_
    sign, label = (-1.0, label[2:]) if label.startswith("- ") else (1.0, label)
    ax = _axes(ax)
    for k, (other, strengths, scores) in enumerate(zip(tried.others, tried.strengths, tried.scores, strict=True)):
        mean, chosen = sign * scores.mean(axis=0), other == tried.other_chosen
        name = f"{tried.other} = {other:g}" if len(tried.others) > 1 else "mean over folds"
        (line,) = ax.plot(strengths, mean, marker=".", label=name, zorder=2 + chosen)
        if not chosen:
            continue
        if len(scores) > 1:
            error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
            ax.fill_between(strengths, mean - error, mean + error, alpha=0.2, color=line.get_color(),
                            label="± one standard error")  # fmt: skip
        of_chosen = strengths, scores, model.mean_nonzeros_[k]
    _strong_to_weak(ax, tried.strengths[0], tried.label)
    strengths, scores, numbers = of_chosen
    _mark_choices(ax, strengths, scores, tried.chosen)
    _numbers_on_top(ax, strengths, numbers, "features that are not zero (mean over folds)")
    ax.set_ylabel(label)
    ax.legend(fontsize="small")
    return ax


def _mark_choices(ax: Any, strengths: np.ndarray, scores: np.ndarray, chosen: float) -> None:
    """Lines at the best strength, and at the strongest whose score is within one standard error of it."""
    from .estimators._folds import best_of

    for careful, name, style in ((False, "best", "--"), (True, "within one standard error", ":")):
        at = strengths[best_of(scores[:, None, :], careful)[1]]
        told = f"{name}: {at:.3g}" + (" (chosen)" if at == chosen else "")
        ax.axvline(at, linestyle=style, color="grey", label=told)


def coefficients(model: Any, names: Given = None, top: int = 20, target: int | str = 0, ax: Any = None) -> Any:
    """The largest coefficients of a fitted estimator, by name.

    Parameters
    ----------
    model : estimator, or a pipeline that ends with one
        With ``coef_``; its ``feature_names_in_``, or the names that the pipeline's other steps give, are used if no
        names are given.
    names : sequence of str, optional
        One for each feature.
    top : int
        The largest number of coefficients; zeros are left out.
    target : int or str
        Which class or target, if there are several: its number, or the name of a class.
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
    model, known = _last_step(model)
    if not hasattr(model, "coef_"):
        raise TypeError(f"Only a fitted model has coefficients; got {shown(model)}. Call fit first.")
    rows: AnyMatrix = model.coef_ if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    target, title = _target(target, rows.shape[0], getattr(model, "classes_", None))
    names = _named(names if names is not None else known, rows.shape[1])
    row = rows[[target]].toarray().ravel() if sp.issparse(rows) else rows[target]
    largest = np.argsort(-np.abs(row), kind="stable")[: count("top", top, 1)]
    drawn = largest[row[largest] != 0][::-1]  # the largest on top
    ax = _axes(ax)
    ax.barh(range(drawn.size), row[drawn], color=["tab:blue" if value > 0 else "tab:red" for value in row[drawn]])
    ax.set_yticks(range(drawn.size), [names[j] for j in drawn])
    ax.axvline(0, color="grey", linewidth=0.5)
    left = np.count_nonzero(row) - drawn.size
    ax.set_title("\n".join(filter(None, [title, f"{left} smaller ones are not shown" if left else ""])))
    ax.set_xlabel("coefficient")
    return ax


def _target(given: int | str, number: int, classes: np.ndarray | None) -> tuple[int, str]:
    """The row of coefficients that is meant, and what it is called."""
    labels = [] if classes is None else [str(label) for label in np.asarray(classes).tolist()]
    if number == 1 and len(labels) == 2:  # a single row, which is that of the second class
        names, titles = labels[1:], [f"class {labels[1]} (against {labels[0]})"]
    else:
        names, titles = labels, [f"class {name}" for name in labels]
    if isinstance(given, str):
        if given not in names:
            raise unknown("target", given, names, None if names else f"numbers up to {number - 1}, in place of names")
        given = names.index(given)
    if not integral(given) or not -number <= given < number:
        raise ValueError(f"target must be below {number}, the number of classes or targets; got {shown(given)}.")
    at = int(given) % number
    return at, titles[at] if titles else f"target {at}" if number > 1 else ""
