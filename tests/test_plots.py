"""Plots of estimators and of several results; those of one result and of a path are with what they are about."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, scale

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
    assert len(ax.lines) == curves + 2 and len(ax.collections) == 1 and "± one standard error" in labels(ax)
    drawn, (best, careful) = ax.lines[:-2], choices(ax)
    sign = -1 if model.scored_by_.startswith("- ") else 1
    assert ax.get_ylabel() == model.scored_by_.removeprefix("- ") and (drawn[0].get_ydata() >= 0).all()
    curve = max((sign * line.get_ydata()).max() for line in drawn)
    line = next(line for line in drawn if (sign * line.get_ydata()).max() == curve)
    assert line.get_xdata()[(sign * line.get_ydata()).argmax()] == best
    stronger = careful <= best if label == "C" else careful >= best
    assert stronger and f"best: {best:.3g} (chosen)" in labels(ax)
    assert ax.xaxis_inverted() == (label != "C")  # strong penalties on the left
    (top,) = ax.child_axes
    numbers = [float(text.get_text()) for text in top.get_xticklabels()]
    assert len(numbers) <= 8 and max(numbers) <= X.shape[1] and top.get_xlabel().startswith("features that are not")
    with pytest.raises(TypeError, match="chose by cross-validation"):
        sw.plots.cross_validation(sw.Lasso().fit(scale(X), y))
    with pytest.raises(TypeError, match="fitted"):
        sw.plots.cross_validation(type(model)())


def choices(ax):
    """Where the lines of the best strength and of the strongest within one standard error stand."""
    return [line.get_xdata()[0] for line in ax.lines if line.get_label().startswith(("best", "within"))]


def test_the_lines_are_those_of_the_two_choices(pyplot):
    X, y = load_diabetes(return_X_y=True)
    best, careful = (sw.LassoCV(alphas=30, one_standard_error=own).fit(X, y) for own in (False, True))
    ax = sw.plots.cross_validation(careful)
    assert choices(sw.plots.cross_validation(best)) == choices(ax) == [best.alpha_, careful.alpha_]
    assert f"within one standard error: {careful.alpha_:.3g} (chosen)" in labels(ax)


def test_numbers_of_features_are_means_over_folds(pyplot):
    X, y = load_digits(return_X_y=True)
    folds = [(np.flatnonzero(np.arange(y.size) % 3 != k), np.flatnonzero(np.arange(y.size) % 3 == k)) for k in range(3)]
    own = {"fit_intercept": False, "tol": 1e-8}
    model = sw.SparseLinearClassifierCV("squared_hinge", l1s=[0.1, 0.03], l2s=[0.0, 0.1], cv=folds, **own).fit(
        X / 16, y
    )
    for line, l2 in enumerate(model.l2s_):
        for point, l1 in enumerate(model.l1s_):
            fits = [
                sw.SparseLinearClassifier("squared_hinge", l1=l1, l2=l2, **own).fit(X[train] / 16, y[train])
                for train, _ in folds
            ]
            want = np.mean([(fit.coef_ != 0).any(axis=0).sum() for fit in fits])
            assert model.mean_nonzeros_[line, point] == pytest.approx(want, abs=0.34)


def test_a_scorer_whose_sign_is_changed_is_drawn_as_a_cost(pyplot):
    def cost(truth, prediction):
        return (truth != prediction).mean()

    X, y = load_breast_cancer(return_X_y=True)
    scorer = make_scorer(cost, greater_is_better=False)
    model = sw.LogisticRegressionCV(Cs=4, cv=3, scoring=scorer).fit(scale(X), y)
    ax = sw.plots.cross_validation(model)
    assert ax.get_ylabel() == "cost" and (ax.lines[0].get_ydata() > 0).all()


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
    assert len(ax.patches) == np.count_nonzero(many.coef_[9].toarray()) and ax.get_title() == "class 9"
    for options, words in (({"target": 10}, "target must be below 10"), ({"names": ["a"]}, "names must have 64")):
        with pytest.raises(ValueError, match=words):
            sw.plots.coefficients(many, **options)
    with pytest.raises(TypeError, match="Call fit first"):
        sw.plots.coefficients(sw.Lasso())


def test_classes_and_targets_have_names(pyplot):
    data = load_iris()
    X, kinds = scale(data.data), data.target_names[data.target]
    model = sw.LogisticRegression("l1").fit(X, kinds)
    by_name, by_number = (sw.plots.coefficients(model, target=given) for given in ("virginica", 2))
    assert by_name.get_title() == by_number.get_title() == "class virginica"
    assert [bar.get_width() for bar in by_name.patches] == [bar.get_width() for bar in by_number.patches]
    assert by_name.get_yticklabels()[0].get_text().startswith("feature ")
    two = kinds != "setosa"
    ax = sw.plots.coefficients(sw.LinearSVC().fit(X[two], kinds[two]), target="virginica")
    assert ax.get_title() == "class virginica (against versicolor)"
    tasks = sw.MultiTaskLasso(alpha=0.01).fit(X, X[:, :2])
    assert sw.plots.coefficients(tasks, target=1).get_title() == "target 1"
    for fitted, given, words in (
        (model, "virginicus", "Did you mean 'virginica'"), (tasks, "first", "numbers up to 1"), (model, 1.0, "got 1.0"),
        (model, 3, "below 3"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            sw.plots.coefficients(fitted, target=given)


def test_pipelines_and_searches_are_read(pyplot):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    names = {label.get_text() for label in sw.plots.coefficients(sw.Lasso(0.1).fit(X, y)).get_yticklabels()}
    pipe = make_pipeline(StandardScaler(), sw.Lasso()).fit(X, y)
    assert names <= {label.get_text() for label in sw.plots.coefficients(pipe).get_yticklabels()} <= {*X.columns}
    products = make_pipeline(PolynomialFeatures(2), StandardScaler(), sw.Lasso(10)).fit(X, y)
    assert sw.plots.coefficients(products).get_yticklabels()[-1].get_text() == "bmi"
    search = GridSearchCV(pipe, {"lasso__alpha": [0.1, 1.0]}).fit(X, y)
    assert sw.plots.coefficients(search).get_yticklabels()[-1].get_text() in X.columns
    chosen = make_pipeline(StandardScaler(), sw.LassoCV(alphas=5)).fit(X, y)
    assert sw.plots.cross_validation(chosen).get_xlabel() == "alpha"
    unnamed = make_pipeline(sw.Lasso(0.1)).fit(X.to_numpy(), y)
    assert sw.plots.coefficients(unnamed).get_yticklabels()[-1].get_text() == "feature 2"


def test_other_objects_are_refused_by_name():
    X, y = load_diabetes(return_X_y=True)
    model = sw.Lasso().fit(X, y)
    for work, words in (
        (lambda: sw.plots.convergence(model), r"got Lasso\(\); fit it with keep_dual=True and give its result_"),
        (lambda: sw.plots.convergence({"a": 3}), "Only a Result.*got 3"),
        (lambda: sw.plots.path(model), r"Only a Path.*got Lasso\(\)"),
        (lambda: sw.plots.cross_validation("model"), "got 'model'"),
        (lambda: sw.plots.coefficients(sw.solve(X, y, l1=0.1)), "Only a fitted model.*got Result"),
    ):
        with pytest.raises(TypeError, match=words):
            work()
    with pytest.raises(ValueError, match="points of a path keep no history"):
        sw.path(X, y, n_points=2)[1].plot()


def test_times_of_different_sizes_are_on_a_log_scale(pyplot):
    A, b = load_diabetes(return_X_y=True)
    fast, slow = (sw.solve(A, b, l1=0.5, method=m, check_every=1) for m in ("auto", "fista"))
    assert slow.history["entries"][-1] > 10 * fast.history["entries"][-1]
    assert sw.plots.convergence([fast, slow], "entries").get_xscale() == "log"
    assert sw.plots.convergence([slow, slow], "entries").get_xscale() == "linear"


def test_a_path_has_names_and_numbers_on_top(pyplot):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    path = sw.path(X, y, n_points=30)
    ax = path.plot(top=3)
    assert set(labels(ax)) <= {*X.columns} and len(labels(ax)) == 3
    (top,) = ax.child_axes
    assert [int(text.get_text()) for text in top.get_xticklabels()][-1] == path.nonzeros[-1]
    assert labels(sw.path(X.to_numpy(), y, n_points=9).plot())[0].startswith("feature ")


def test_axes_that_are_drawn_on_twice_stay_as_they_are(pyplot):
    X, y = load_diabetes(return_X_y=True)
    model = sw.ElasticNetCV(alphas=5, l1_ratio=[0.2, 0.9]).fit(X, y)
    ax = sw.plots.cross_validation(model)
    model.set_params(l1_ratio=[0.1, 0.2, 0.3], scoring="r2")  # what was fitted counts
    assert sw.plots.cross_validation(model, ax=ax).xaxis_inverted() and ax.get_ylabel() == "mean squared error"
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
