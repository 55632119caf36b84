"""Plots of estimators and of several results; those of one result and of a path are with what they are about."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import scale

import southwell as sw
from long_solves import made


def labels(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_convergence_of_several_results(pyplot):
    A, b = load_diabetes(return_X_y=True)
    results = {name: sw.solve(A, b, l1=0.5, method=name) for name in ("auto", "coordinate_descent", "fista")}
    ax = sw.plots.convergence(results, "entries")
    assert isinstance(ax, pyplot.Axes) and labels(ax) == [*results, "tolerance"] and ax.get_xlabel() == "entries"
    for line, result in zip(ax.lines, results.values(), strict=False):
        assert line.get_ydata()[-1] == pytest.approx(result.relative_gap)
    by_method = sw.plots.convergence(list(results.values()), ax=pyplot.subplots()[1])
    assert len(labels(by_method)) == 4 and labels(by_method)[2].startswith("2: ")
    with pytest.raises(ValueError, match="no results"):
        sw.plots.convergence([])


def test_the_latest_gaps_are_drawn_when_asked_for(pyplot):
    A, b = made()
    r = sw.solve(A, b, l1=0.01, method="accelerated_cd", check_every=1)
    assert len(r.plot().lines) == 2
    best, latest, _ = r.plot("epoch", latest=True).lines
    gaps = (r.history["latest_primal"] - r.history["latest_dual"]) / r.scale
    np.testing.assert_allclose(latest.get_ydata(), gaps)
    assert (latest.get_ydata() >= best.get_ydata() * (1 - 1e-9)).all() and latest.get_color() == best.get_color()
    assert latest.get_linestyle() == "--" and len(labels(latest.axes)) == 3
    with pytest.raises(TypeError, match="latest must be True or False; got 1"):
        r.plot(latest=1)


def test_gaps_that_are_not_finite_are_not_drawn(pyplot):
    A, b = made()
    with pytest.warns(sw.ConvergenceWarning):
        r = sw.solve(A, b, l1=0.01, method=sw.methods.SAGA(step=10.0), max_epochs=1000, tol=1e-12)
    assert not np.isfinite(r.history["latest_primal"]).all()
    drawn = r.plot("epoch", latest=True).lines[1].get_ydata()
    assert np.isfinite(drawn[0]) and not np.isinf(drawn).any()


@pytest.mark.parametrize(
    ("model", "curves", "label"),
    [
        (sw.LassoCV(alphas=6), 1, "alpha"),
        (sw.ElasticNetCV(alphas=5, l1_ratio=[0.2, 0.9], scoring="neg_median_absolute_error"), 2, "alpha"),
        (sw.LogisticRegressionCV(Cs=4, l1_ratios=[0.0, 1.0], cv=3), 2, "C"),
        (sw.SparseLinearClassifierCV(l1s=4, l2s=[0.0, 0.1, 1.0], cv=3), 3, "l1"),
        (sw.SparseLinearClassifierCV(l1s=[0.0], l2s=[0.1, 1.0], cv=3), 1, "l2"),
    ],
    ids=str,
)
def test_curves_of_cross_validation(pyplot, model, curves, label):
    X, y = (
        load_breast_cancer(return_X_y=True) if hasattr(model, "decision_function") else load_diabetes(return_X_y=True)
    )
    model.fit(scale(X), y)
    ax = sw.plots.cross_validation(model)
    assert isinstance(ax, pyplot.Axes) and ax.get_xlabel() == label and ax.get_xscale() == "log"
    assert len(ax.lines) == curves + 1 and len(ax.collections) == 1 and "one standard error" in labels(ax)
    chosen = ax.lines[-1].get_xdata()[0]
    best = max((line.get_ydata().max(), line) for line in ax.lines[:-1])[1]
    assert best.get_xdata()[best.get_ydata().argmax()] == chosen
    assert ax.xaxis_inverted() == (label != "C")  # strong penalties on the left
    with pytest.raises(TypeError, match="chose by cross-validation"):
        sw.plots.cross_validation(sw.Lasso().fit(scale(X), y))
    with pytest.raises(TypeError, match="fitted"):
        sw.plots.cross_validation(type(model)())


def test_coefficients_by_name(pyplot):
    X, y = load_diabetes(return_X_y=True)
    names = load_diabetes().feature_names
    model = sw.Lasso(alpha=0.1).fit(X, y)
    ax = sw.plots.coefficients(model, names, top=3)
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == [names[j] for j in np.argsort(-np.abs(model.coef_))[:3]][::-1]
    assert [bar.get_width() for bar in ax.patches] == [model.coef_[names.index(name)] for name in shown]
    assert ax.get_title() == f"{np.count_nonzero(model.coef_) - 3} smaller ones are not shown"
    assert sw.plots.coefficients(model, ax=ax) is ax
    X, y = load_digits(return_X_y=True)
    many = sw.LinearSVC("l1", C=0.01, sparse_coef=True).fit(sp.csr_array(X / 16), y)
    ax = sw.plots.coefficients(many, target=-1, top=100)
    assert len(ax.patches) == np.count_nonzero(many.coef_[9].toarray()) and ax.get_title() == ""
    for options, words in (({"target": 10}, "target must be below 10"), ({"names": ["a"]}, "names must have 64")):
        with pytest.raises(ValueError, match=words):
            sw.plots.coefficients(many, **options)
    with pytest.raises(TypeError, match="Call fit first"):
        sw.plots.coefficients(sw.Lasso())


def test_axes_that_are_drawn_on_twice_stay_as_they_are(pyplot):
    X, y = load_diabetes(return_X_y=True)
    model = sw.ElasticNetCV(alphas=5, l1_ratio=[0.2, 0.9]).fit(X, y)
    ax = sw.plots.cross_validation(model)
    model.set_params(l1_ratio=[0.1, 0.2, 0.3], scoring="r2")  # what was fitted counts
    assert sw.plots.cross_validation(model, ax=ax).xaxis_inverted() and ax.get_ylabel() == "- mean squared error"
    path = sw.path(sw.Problem(X, y), n_points=4)
    assert path.plot(ax=path.plot()).xaxis_inverted()


@pytest.mark.parametrize("against", ["seconds", "epoch", "moves", "entries"])
def test_a_plot_shows_the_gap(pyplot, against):
    A, b = made()
    r = sw.solve(A, b, l1=0.02)
    ax = r.plot(against)
    assert isinstance(ax, pyplot.Axes) and ax.get_yscale() == "log" and ax.get_xlabel() == against
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], r.relative_gap)
    assert r.plot(ax=ax) is ax


def test_a_zero_problem_and_one_row_can_be_plotted(pyplot):
    A, b = made()
    assert isinstance(sw.solve(A, np.zeros(200), l1=0.1).plot(), pyplot.Axes)
    assert isinstance(sw.solve(A, b, l1=0.1, record_history=False).plot(), pyplot.Axes)


def test_an_unknown_axis_is_refused():
    A, b = made()
    with pytest.raises(ValueError, match=r"seconds.*got 'nonsense'"):
        sw.solve(A, b, l1=0.1).plot("nonsense")


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch):
    A, b = made()
    r = sw.solve(A, b, l1=0.1)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'southwell\[plot\]'"):
        r.plot()
