"""The adaptive lasso, and groups of features in classifiers."""

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import southwell as sw
from estimator_data import classes, numbers

IRIS, KIND = load_iris(return_X_y=True)
IRIS = scale(IRIS)
GROUPS = [0, 1, 0, 1]


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_adaptive_lasso_is_a_lasso_over_rescaled_features(gamma, weighted):
    X, y = numbers()
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    model = sw.AdaptiveLasso(0.05, gamma=gamma, first=linear_model.Ridge(0.1), tol=1e-12).fit(X, y, sample_weight=w)
    first = np.abs(linear_model.Ridge(0.1).fit(X, y, sample_weight=w).coef_)
    scales = (first / first.max()) ** gamma
    np.testing.assert_allclose(model.penalty_weights_, 1 / scales)
    lasso = sw.Lasso(0.05, tol=1e-12).fit(X * scales, y, sample_weight=w)
    np.testing.assert_allclose(model.coef_, lasso.coef_ * scales, atol=1e-5)
    assert model.gap_ <= 1e-12


def test_what_the_first_fit_leaves_out_stays_out():
    X, y = numbers()
    first = sw.Lasso(0.1).fit(X, y)
    model = sw.AdaptiveLasso(1e-4, first=sw.Lasso(0.1)).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) <= set(np.flatnonzero(first.coef_)) and model.coef_.any()
    none = sw.AdaptiveLasso(1e-3, first=sw.Lasso(1e3)).fit(X, y)  # nothing is known then
    np.testing.assert_allclose(none.coef_, sw.Lasso(1e-3).fit(X, y).coef_, atol=1e-6)


def test_the_first_fit_of_a_fold_sees_its_training_rows_only():
    X, y = numbers()
    rows = np.arange(len(y))
    folds = [(np.setdiff1d(rows, part), part) for part in np.array_split(rows, 3)]
    model = sw.AdaptiveLassoCV(alphas=[0.1, 0.01], cv=folds).fit(X, y)
    for k, (train, test) in enumerate(folds):
        one = sw.AdaptiveLasso(0.01).fit(X[train], y[train])
        error = np.mean((one.predict(X[test]) - y[test]) ** 2)
        assert model.mse_path_[1, k] == pytest.approx(error, rel=1e-4)
    refit = sw.AdaptiveLasso(model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.coef_, refit.coef_, atol=1e-4)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (3, "first must be None or an estimator"), (sw.Lasso, "first must be None or an estimator"),
        (linear_model.RANSACRegressor(), "must have coef_"),
    ],
    ids=["number", "class", "without"],
)  # fmt: skip
def test_first_fits_without_coefficients_are_refused(first, words):
    X, y = numbers()
    with pytest.raises(TypeError, match=words):
        sw.AdaptiveLasso(first=first).fit(X, y)


# Groups


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.4, "l2": 0.1}, {"weights": "size", "positive": True}], ids=str)
def test_group_classifiers_solve_the_problem_they_state(number, options):
    used = np.isin(KIND, range(number))
    X, y = IRIS[used], KIND[used]
    model = sw.GroupLassoClassifier(GROUPS, 0.1, tol=1e-10, **options).fit(X, y)
    ratio, l2 = options.get("l1_ratio", 0.0), options.get("l2", 0.0)
    penalty = sw.penalties.Groups(
        0.1 * (1 - ratio), 0.1 * ratio, l2, groups=GROUPS, weights=options.get("weights"),
        positive=options.get("positive", False),
    )  # fmt: skip
    r = sw.solve(X, y, loss="logistic" if number == 2 else "softmax", penalty=penalty, intercept=True, tol=1e-10)
    np.testing.assert_allclose(model.coef_, np.atleast_2d(r.x.T), atol=1e-5)
    assert model.gap_ <= 1e-10 and model.coef_.shape == (1 if number == 2 else 3, 4)
    assert np.array_equal(model.predict(X), np.unique(y)[model.predict_proba(X).argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_whole_groups_vanish_for_all_classes():
    model = sw.GroupLassoClassifier([0, 0, 1, 1], 0.3).fit(IRIS, KIND)
    used = (model.coef_ != 0).any(axis=0)
    assert used.tolist() == [False, False, True, True]
    weighted = sw.GroupLassoClassifier(GROUPS, 0.1, class_weight={0: 1, 1: 2, 2: 3}, tol=1e-9).fit(IRIS, KIND)
    rows = sw.GroupLassoClassifier(GROUPS, 0.1, tol=1e-9).fit(IRIS, KIND, sample_weight=1.0 + KIND)
    np.testing.assert_allclose(weighted.coef_, rows.coef_, atol=1e-5)


@pytest.mark.parametrize("number", [2, 3])
def test_group_cross_validation_scores_models_of_folds(number):
    X, y = classes() if number == 2 else (IRIS, KIND)
    rows = np.random.default_rng(0).permutation(len(y))
    folds = [(np.setdiff1d(rows, part), part) for part in np.array_split(rows, 3)]
    model = sw.GroupLassoClassifierCV(2, l1_ratio=[0.0, 0.5], alphas=4, cv=folds, scoring="neg_log_loss").fit(X, y)
    assert model.scores_.shape == (3, 2, 4) and model.alphas_.shape == (2, 4)
    train, test = folds[1]
    one = sw.GroupLassoClassifier(2, model.alphas_[1, 2], l1_ratio=0.5).fit(X[train], y[train])
    likely = one.predict_proba(X[test])[np.arange(test.size), y[test]]
    assert model.scores_[1, 1, 2] == pytest.approx(np.log(likely).mean(), rel=1e-3)
    means = model.scores_.mean(axis=0)
    assert means.max() == means[list(model.l1_ratios_).index(model.l1_ratio_)][np.argmax(means.max(axis=0))]
    top = sw.GroupLassoClassifier(2, 1.001 * model.alphas_[0, 0]).fit(X, y)
    assert not top.coef_.any() and sw.GroupLassoClassifier(2, 0.9 * model.alphas_[0, 0]).fit(X, y).coef_.any()
