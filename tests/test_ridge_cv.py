"""Ridge regression with a chosen alpha, ridge classifiers and least squares, against scikit-learn's and definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_iris
from sklearn.metrics import mean_absolute_error

import southwell as sw
from estimator_data import classes, numbers
from southwell.estimators._least_norm import Decomposition

ALPHAS = np.logspace(-4, 4, 9)
IRIS, KIND = load_iris(return_X_y=True)


def weights_for(y, weighted):
    return np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None


@pytest.mark.parametrize("shape", [(15, 4), (12, 30), (9, 8)])
@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-3, 0.5])
def test_errors_of_samples_left_out_are_those_of_fits_without_them(shape, gram, intercept, l2):
    rng = np.random.default_rng(1)
    X, y, w = rng.standard_normal(shape), rng.standard_normal(shape[0]), rng.uniform(0.5, 2.0, shape[0])
    w[2] = 0.0
    w /= w.sum()
    errors = Decomposition.of(X, w, intercept, gram).left_out(y, l2)
    assert np.isnan(errors[2])
    for i in np.flatnonzero(w):
        rest = np.arange(shape[0]) != i
        fit = linear_model.Ridge(l2, fit_intercept=intercept, solver="svd").fit(X[rest], y[rest], sample_weight=w[rest])
        assert errors[i] == pytest.approx(y[i] - fit.predict(X[[i]])[0], rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"scoring": "r2"}, {"scoring": "neg_mean_absolute_error", "store_cv_results": True},
        {"store_cv_results": True}, {"gcv_mode": "eigen"}, {"gcv_mode": "svd"}, {"fit_intercept": False},
    ],
    ids=str,
)  # fmt: skip
def test_alpha_and_scores_are_those_of_scikit_learn(options, form, weighted):
    X, y = numbers()
    w = weights_for(y, weighted)
    ours = sw.RidgeCV(ALPHAS, tol=1e-12, **options).fit(form(X), y, sample_weight=w)
    theirs = linear_model.RidgeCV(ALPHAS, **options).fit(X, y, sample_weight=w)
    assert ours.alpha_ == theirs.alpha_ and ours.gap_ <= 1e-12
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    if "store_cv_results" in options:
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, atol=1e-8)


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_an_alpha_for_each_target(scoring):
    X, y = numbers()
    Y = np.column_stack([y, y**2, np.random.default_rng(0).normal(size=len(y))])
    given = {"alpha_per_target": True, "scoring": scoring}
    ours, theirs = sw.RidgeCV(ALPHAS, **given).fit(X, Y), linear_model.RidgeCV(ALPHAS, **given).fit(X, Y)
    assert np.array_equal(ours.alpha_, theirs.alpha_) and np.unique(ours.alpha_).size > 1
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"scoring": "accuracy"}, {"cv": 3}, {"store_cv_results": True}], ids=str)
@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("balance", [None, "balanced"])
def test_alpha_for_classes_is_that_of_scikit_learn(options, number, balance):
    X, y = IRIS[number > KIND][20:], KIND[number > KIND][20:]
    given = options | {"class_weight": balance}
    ours, theirs = sw.RidgeClassifierCV(ALPHAS, **given), linear_model.RidgeClassifierCV(ALPHAS, **given)
    ours, theirs = ours.fit(X, y), theirs.fit(X, y)
    if balance is None or options.keys() <= {"store_cv_results"}:  # their scorers are given the weights of classes too
        assert ours.best_score_ == pytest.approx(theirs.best_score_)
    if "cv" not in options and "scoring" not in options:  # scores that several alphas share
        assert ours.alpha_ == theirs.alpha_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
        assert np.array_equal(ours.predict(X), theirs.predict(X))
    if "store_cv_results" in options:
        assert ours.cv_results_.shape == theirs.cv_results_.shape


def test_folds_choose_by_the_coefficient_of_determination():
    X, y = numbers()
    ours, theirs = sw.RidgeCV(ALPHAS, cv=5).fit(X, y), linear_model.RidgeCV(ALPHAS, cv=5).fit(X, y)
    assert ours.alpha_ == theirs.alpha_ and ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-5)
    assert ours.scores_.shape == (5, 9) and np.all(np.diff(ours.alphas_) < 0)
    careful = sw.RidgeCV(ALPHAS, cv=5, one_standard_error=True).fit(X, y)
    assert careful.alpha_ >= ours.alpha_


@pytest.mark.parametrize("labels", [1, 3])
def test_a_ridge_classifier_regresses_on_signs(labels):
    X, y = classes()
    given = y if labels == 1 else np.column_stack([y, X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    ours, theirs = sw.RidgeClassifier(2.0).fit(X, given), linear_model.RidgeClassifier(2.0).fit(X, given)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(40, 6), (20, 60)])
def test_least_squares_of_least_norm(form, intercept, shape):
    rng = np.random.default_rng(0)
    X, Y, w = rng.standard_normal(shape), rng.standard_normal((shape[0], 2)), rng.uniform(0.5, 2.0, shape[0])
    ours = sw.LinearRegression(fit_intercept=intercept).fit(form(X), Y, sample_weight=w)
    theirs = linear_model.LinearRegression(fit_intercept=intercept).fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert ours.gap_ <= 1e-6
    if form is np.asarray:
        assert ours.rank_ == theirs.rank_
        np.testing.assert_allclose(ours.singular_, theirs.singular_, atol=1e-10)
        assert not hasattr(ours.fit(sp.csr_array(X), Y), "rank_")


def test_least_squares_within_bounds():
    X, y = numbers()
    ours = sw.LinearRegression(positive=True).fit(X, y)
    theirs = linear_model.LinearRegression(positive=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert ours.coef_.min() == 0 and ours.gap_ <= 1e-6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sw.RidgeCV([0.1, 0.0]), "alphas must be positive; got"),
        (sw.RidgeCV([-1.0], cv=3), "alphas must be >= 0; got"),
        (sw.RidgeCV("auto"), "alphas must be positive"),
        (sw.RidgeCV(gcv_mode="qr"), "gcv_mode must be one of None, 'auto', 'svd', 'eigen'"),
        (sw.RidgeCV(cv=3, store_cv_results=True), "store_cv_results=True are incompatible"),
        (sw.RidgeCV(cv=3, alpha_per_target=True), "alpha_per_target=True are incompatible"),
        (sw.RidgeCV(scoring=lambda model, X, y: np.nan), "every score is NaN"),
    ],
    ids=lambda own: own if isinstance(own, str) else "",
)
def test_what_cannot_be_chosen_is_refused(model, words):
    X, y = numbers()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_centred_data_and_plain_functions():
    X, y = numbers()
    plain = sw.RidgeCV(ALPHAS).fit(X, y)
    assert sw.RidgeCV(ALPHAS).fit(sw.Centred(X), y).alpha_ == plain.alpha_
    with pytest.raises(ValueError, match="need fit_intercept=True"):
        sw.RidgeCV(ALPHAS, fit_intercept=False).fit(sw.Centred(X), y)
    by_function = sw.RidgeCV(ALPHAS, scoring=lambda m, X, y: -mean_absolute_error(y, m.predict(X))).fit(X, y)
    assert by_function.alpha_ == sw.RidgeCV(ALPHAS, scoring="neg_mean_absolute_error").fit(X, y).alpha_
    with pytest.raises(ValueError, match="there is 1 sample"):
        sw.RidgeCV(ALPHAS).fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="infinite, NaN or huge"):
        sw.RidgeCV(ALPHAS).fit(X * 1e200, y)
