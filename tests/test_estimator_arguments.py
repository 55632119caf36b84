"""What estimators take and say: Centred data, arguments without an effect, warnings, logs, time limits, Ctrl-C."""

import logging
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

import southwell as sw
from estimator_data import CLASSES, CLASSIFIERS, classes, numbers, quick, suitable
from signals import signal_after
from southwell.estimators import _folds, _progress


def data_for(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    return X, suitable(kind, y)


def off_centre(kind):
    X, y = data_for(kind)
    return X[:, :8] + np.arange(8.0), y


# Centred


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [c for c in CLASSES if c._chooses])
def test_centred_data_in_cross_validation(kind, intercept, form):
    """Each fold is centred by its own means, so the choice need not be that from columns that were centred before."""
    X, y = off_centre(kind)
    model = quick(kind, fit_intercept=intercept, tol=1e-9).fit(sw.Centred(form(X)), y)
    assert model.gap_ <= 1e-9 and np.isfinite(model.predict(form(X))).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [c for c in CLASSES if c is not sw.HuberRegressor and not c._chooses])
def test_centred_data(kind, intercept, form):
    """The model is that of the centred columns, and predicts from the columns themselves."""
    X, y = off_centre(kind)
    model = quick(kind, fit_intercept=intercept, tol=1e-9).fit(sw.Centred(form(X)), y)
    dense = quick(kind, fit_intercept=intercept, tol=1e-9).fit(X - X.mean(axis=0), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=2e-3 * max(1, np.abs(dense.coef_).max()))
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    own, wanted = getattr(model, name)(form(X)), getattr(dense, name)(X - X.mean(axis=0))
    np.testing.assert_allclose(own, wanted, atol=1e-2 * np.abs(wanted).max())
    again = model.set_params(**({"warm_start": True} if hasattr(model, "warm_start") else {}))
    np.testing.assert_allclose(again.fit(sw.Centred(form(X)), y).coef_, model.coef_, atol=1e-3)


def test_centred_data_with_given_means_and_weights():
    X, y = numbers()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = sw.Lasso(0.05, fit_intercept=False, tol=1e-9).fit(sw.Centred(sp.csr_array(X), np.full(10, 0.3)), y, weights)
    dense = sw.Lasso(0.05, fit_intercept=False, tol=1e-9).fit(X - 0.3, y, weights)
    np.testing.assert_allclose(model.predict(X), dense.predict(X - 0.3), atol=1e-4)
    with pytest.raises(TypeError, match="Give X itself"):
        model.predict(sw.Centred(X))
    robust = sw.HuberRegressor().fit(sw.Centred(X), y)
    np.testing.assert_allclose(robust.coef_, sw.HuberRegressor().fit(X, y).coef_)
    with pytest.raises(TypeError, match="takes X itself, not Centred"):
        sw.HuberRegressor(fit_intercept=False).fit(sw.Centred(X), y)


def test_folds_of_centred_data():
    X, y = numbers()
    X = X + 1.0
    model = sw.LassoCV(alphas=[0.1, 0.01], cv=3, fit_intercept=False, tol=1e-9).fit(sw.Centred(sp.csr_array(X)), y)
    for k, (train, test) in enumerate(KFold(3).split(X)):
        means = X[train].mean(axis=0)
        alone = sw.Lasso(0.1, fit_intercept=False, tol=1e-9).fit(X[train] - means, y[train])
        error = ((y[test] - alone.predict(X[test] - means)) ** 2).mean()
        assert model.mse_path_[0, k] == pytest.approx(error, rel=1e-5)


# Arguments without an effect


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("solver", "foo"), ("selection", "foo"), ("precompute", "foo"), ("copy_X", "no"), ("dual", "yes"),
     ("intercept_scaling", -1.0), ("solver", 3)],
)  # fmt: skip
def test_bad_arguments_without_an_effect_are_refused(parameter, value):
    known = [kind for kind in CLASSES if parameter in kind().get_params()]
    assert known
    for kind in known:
        with pytest.raises((ValueError, TypeError), match=parameter):
            quick(kind, **{parameter: value}).fit(*data_for(kind))


def test_the_names_of_solvers_are_taken():
    for kind in (sw.LogisticRegression, sw.Ridge, sw.PoissonRegressor, sw.QuantileRegressor):
        for solver in kind._solvers:
            assert kind(solver=solver, tol=0.1).fit(*data_for(kind)).gap_ <= 0.1


# Warnings


@pytest.mark.parametrize("multi_class", ["ovr", "multinomial"])
def test_separable_classes_are_warned_about(multi_class):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.eye(3)[y]])
    with pytest.warns(sw.ConvergenceWarning, match="no finite minimiser.* say C=1e6") as told:
        sw.LogisticRegression(penalty=None, multi_class=multi_class, max_iter=200).fit(X, y)
    assert sum("no finite minimiser" in str(one.message) for one in told) == 1
    if multi_class == "ovr":
        assert any("Of 3 problems" in str(one.message) for one in told)
    with pytest.warns(sw.ConvergenceWarning, match="no finite minimiser.* say l2=1e-6"):
        sw.SparseLinearClassifier(l1=0.0).fit(X, y)


# Progress


@pytest.mark.parametrize("model", [sw.LogisticRegression(verbose=1), sw.LassoCV(alphas=5, verbose=1)], ids=str)
def test_progress_is_logged_without_a_terminal(model, caplog):
    X, y = classes() if isinstance(model, sw.LogisticRegression) else numbers()
    with caplog.at_level(logging.INFO, logger="southwell"):
        model.fit(X, y)
        words = " ".join(record.getMessage() for record in caplog.records)
        assert type(model).__name__ in words and ("gap" in words or "paths" in words)
        caplog.clear()
        model.set_params(verbose=0).fit(X, y)
        assert not caplog.records


def test_progress_is_seen_where_logging_is_not_set_up(monkeypatch, capsys):
    logger = logging.getLogger("southwell")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    assert not sys.stderr.isatty()
    for _ in range(2):
        sw.Lasso(0.01, verbose=1).fit(*numbers())
    lines = [line for line in capsys.readouterr().err.splitlines() if "Lasso" in line]
    assert len(lines) == 2 and "gap" in lines[0]


def test_the_time_that_is_left(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: clock[0])
    said = []
    monkeypatch.setattr(_progress, "_log", said.append)
    line = _progress.ProgressLine("Lasso", 1, tol=1e-6)
    progress = sw.Progress(*[0.0] * 9, 0.0, None, 0.0, 1.0)
    for gap, then in ((1.0, 100.0), (1e-2, 104.0), (1e-4, 104.5)):
        clock[0] = then
        line.round(None, progress._replace(gap=gap, nonzeros=3))
    assert len(said) == 1 and "about 8 s left" in said[0]  # two decades in 4 s, four to go; the third is too soon
    line.__exit__()
    assert len(said) == 2 and "gap 1.0e-04" in said[1]


# Time


@pytest.mark.parametrize("kind", CLASSES)
def test_a_fit_ends_in_time(kind):
    """The limit is so small that no round is done; what is there is told, and its gap."""
    X, y = data_for(kind)
    weak = {"alpha": 1e-3} if "alpha" in kind().get_params() else {}
    if kind is sw.Ridge:
        weak["positive"] = True  # without signs it begins at the answer
    with pytest.warns(sw.ConvergenceWarning, match="time ran out"):
        model = quick(kind, max_seconds=1e-9, tol=1e-14, **weak).fit(X, y)
    assert model.gap_ > 1e-14 or model._chooses  # the strongest penalty, whose model is zero, was tried alone
    assert np.isfinite(model.coef_).all()
    with pytest.raises((ValueError, TypeError), match="max_seconds"):
        quick(kind, max_seconds=-1).fit(X, y)
    assert quick(kind, max_seconds=1e6).fit(X, y).gap_ <= 1e-6


def test_cross_validation_ends_in_time():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 300)) + 3 * rng.standard_normal((400, 1))
    y = X @ rng.standard_normal(300) + rng.standard_normal(400)
    with pytest.warns(sw.ConvergenceWarning):
        model = sw.LassoCV(alphas=2000, eps=1e-7, tol=1e-13, max_seconds=0.5).fit(X, y)
    assert np.isnan(model.mse_path_).any() and np.isfinite(model.mse_path_[0]).all()
    assert model.alpha_ in model.alphas_


# Ctrl-C


def test_ctrl_c_carries_what_a_cross_validation_has_done(monkeypatch):
    """The third path is interrupted."""
    X, y = load_breast_cancer(return_X_y=True)
    begun, whole = [], _folds.follow

    def follow(*given, **options):
        begun.append(1)
        path, error = whole(*given, **options)
        return path, KeyboardInterrupt() if len(begun) == 3 else error

    monkeypatch.setattr(_folds, "follow", follow)
    with pytest.raises(sw.Interrupted) as told:
        sw.LogisticRegressionCV(Cs=[0.1, 1.0], cv=4, n_jobs=1).fit(scale(X), y)
    found = told.value.result
    assert found.settings.shape == (1, 2, 2) and found.scores.shape == (4, 1, 2) and found.best is None
    done = np.isfinite(found.scores).all(axis=(1, 2))
    assert done[:2].all() and not done[2]  # the fourth may have begun


def test_ctrl_c_in_a_real_cross_validation():
    X, y = load_digits(return_X_y=True)
    with signal_after(0.5), pytest.raises(sw.Interrupted) as told:
        sw.LogisticRegressionCV(Cs=np.logspace(-3, 6, 40), tol=1e-13, cv=10).fit(X, y)
    assert told.value.result.scores.shape == (10, 1, 40)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 1500)) + 3 * rng.standard_normal((3000, 1))
    y = X @ rng.standard_normal(1500) > 0
    with signal_after(0.3), pytest.raises(sw.Interrupted) as told:
        sw.LogisticRegression("l1", C=1e4, tol=0.0, max_iter=10**8).fit(X, y)
    assert told.value.result.gap >= 0 and told.value.result.x.shape == (1500,)
