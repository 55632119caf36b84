"""What scikit-learn's own tests found, and the runner that copies them."""

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer
from sklearn.preprocessing import scale

import southwell as sw
from estimator_data import classes, numbers

RUNNER = Path(__file__).parent / "scikit_learn" / "runner.py"


def runner():
    spec = importlib.util.spec_from_file_location("runner", RUNNER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_imports_of_our_classes_are_changed():
    text = (
        "from sklearn.linear_model import (\n    Lasso,\n    Lars,\n    Ridge as R,\n)\nimport sklearn\n\nx = 'Lasso'\n"
    )
    changed = runner().with_our_classes(text)
    assert changed.splitlines() == [
        "from southwell.estimators import Lasso",
        "from sklearn.linear_model import Lars, Ridge as R",
        "import sklearn",
        "",
        "x = 'Lasso'",
    ]


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="the list of tests is that of 1.9")
def test_scikit_learns_tests_run_on_our_classes():
    done = subprocess.run([sys.executable, RUNNER, "huber"], capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-3000:]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1e-10, 1e-3])
def test_ridge_on_wide_data_is_the_solution_of_least_norm(form, intercept, alpha):
    rng = np.random.default_rng(0)
    X, Y, w = rng.standard_normal((20, 60)), rng.standard_normal((20, 2)), rng.uniform(0.5, 2.0, 20)
    model = sw.Ridge(alpha, fit_intercept=intercept).fit(form(X), Y, sample_weight=w)
    theirs = linear_model.Ridge(max(alpha, 1e-12), fit_intercept=intercept, solver="svd").fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    assert model.gap_ <= 1e-6
    twice = np.hstack([X[:, :5], X[:, :5]])  # dependent columns
    model = sw.Ridge(alpha, fit_intercept=intercept).fit(form(twice), Y[:, 0])
    np.testing.assert_allclose(model.coef_[:5], model.coef_[5:], atol=1e-8)


def test_ridge_with_numbers_that_overflow_in_the_decomposition():
    X, y = numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(sw.Ridge(1.0).fit(X * 1e200, y).coef_).all()


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("number", [2, 3])
def test_means_of_folds_without_a_refit(number, legacy):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[y < number], y[y < number]
    given = {"Cs": [0.01, 0.1], "refit": False, "scoring": "neg_log_loss", "cv": 3, "use_legacy_attributes": legacy}
    model = sw.LogisticRegressionCV(l1_ratios=[0.0], tol=1e-10, **given).fit(X, y)
    theirs = linear_model.LogisticRegressionCV(l1_ratios=[0.0], tol=1e-8, **given).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(model.C_, theirs.C_)
    assert np.shape(model.l1_ratio_) == np.shape(theirs.l1_ratio_)
    # The gap bounds the distance of the means from the optimum at the mean C.
    C = float(np.ravel(model.C_)[0])
    best = sw.LogisticRegression(C=C, tol=1e-12).fit(X, y)

    def objective(one):
        shares = one.predict_log_proba(X)[np.arange(len(y)), y]
        return 0.5 * (one.coef_**2).sum() - C * shares.sum()

    assert 0 <= objective(model) - objective(best) + 1e-9 <= model.dual_gap_ + 2e-9


def test_no_rounds_at_all():
    X, y = classes()
    with pytest.warns(sw.ConvergenceWarning):
        model = sw.LogisticRegression(max_iter=0).fit(X, y)
    assert model.n_iter_ == 0 and not model.coef_.any() and model.gap_ > 0


def test_strengths_of_equal_size():
    X, y = numbers()
    model = sw.LassoCV(eps=1.0, alphas=3, cv=3).fit(X, y)
    assert np.ptp(model.alphas_) == 0 and not model.coef_.any()
    constant = sw.ElasticNetCV(alphas=3, cv=3).fit(X, np.full(len(y), 5.0))
    assert (constant.alphas_ == np.finfo(float).resolution).all() and np.allclose(constant.predict(X), 5.0)
    given = sw.ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=[0.1, 1.0], cv=3).fit(X, y)
    assert given.alphas_.tolist() == [1.0, 0.1] and given.mse_path_.shape == (2, 2, 3)


@pytest.mark.parametrize("weight", [3, 0.5, np.float64(2.0)])
def test_one_weight_for_all_rows(weight):
    X, y = numbers()
    np.testing.assert_allclose(sw.Lasso(0.1).fit(X, y, sample_weight=weight).coef_, sw.Lasso(0.1).fit(X, y).coef_)


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_of_classes_sum_to_zero(intercept):
    X, y = load_iris(return_X_y=True)
    for model in (sw.LogisticRegression(fit_intercept=intercept), sw.LogisticRegressionCV(fit_intercept=intercept)):
        model.fit(scale(X), y)
        assert np.abs(model.coef_.sum(axis=0)).max() <= 1e-12 and abs(np.sum(model.intercept_)) <= 1e-10
    lasso = sw.LogisticRegression(l1_ratio=1.0, C=0.1, fit_intercept=intercept).fit(scale(X), y)
    assert (lasso.coef_ == 0).any()  # which a shift would spoil


def test_weights_reach_the_scorer_of_score():
    X, y = classes()
    weights = np.arange(len(y), dtype=float)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        model = sw.LogisticRegressionCV(Cs=2, cv=3, scoring=scorer).set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=weights)
        weighted = model.score(X, y, sample_weight=weights)
        plain = get_scorer("accuracy").set_score_request(sample_weight=False)
        with pytest.raises(TypeError, match="unexpected argument"):
            model.set_params(scoring=plain).score(X, y, sample_weight=weights)
    assert weighted == pytest.approx(np.average(model.predict(X) == y, weights=weights))
    by_loss = sw.LogisticRegressionCV(Cs=2, cv=3, scoring="neg_log_loss").fit(X, y)
    assert by_loss.score(X, y) == pytest.approx(get_scorer("neg_log_loss")(by_loss, X, y))
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        sw.LogisticRegressionCV().fit(X, y, groups=y)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        by_loss.score(X, y, groups=y)


def test_arguments_of_paths_that_are_deprecated_or_unknown():
    X, y = numbers()
    with pytest.warns(FutureWarning, match="'n_alphas' was deprecated"):
        assert sw.lasso_path(X, y, n_alphas=4)[0].shape == (4,)
    with pytest.warns(FutureWarning, match="'alphas=None' is deprecated"):
        assert sw.enet_path(X, y, alphas=None)[0].shape == (100,)
    with pytest.raises(ValueError, match="Unexpected parameters"):
        sw.lasso_path(X, y, normalize=True)
    with pytest.warns(UserWarning, match="will ignore the C"):
        sw.LogisticRegression(penalty=None, C=4.0).fit(*classes())
