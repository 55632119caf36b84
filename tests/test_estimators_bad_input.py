"""Estimators refuse what they cannot use in words, and a fit that fails leaves what was there."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import southwell as sw
from estimator_data import classes, numbers


def endless():
    """A list that contains itself."""
    made: list = []
    made.append(made)
    return made


class NoArray:
    def __array__(self, dtype=None, copy=None):
        return "not an array"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sw.Lasso(alpha=-1.0), "alpha"),
        (sw.LassoCV(alphas=2**62), r"alphas must be an integer >= 1 \(and below 2\*\*24\)"),
        (sw.HuberRegressor(epsilon=1e308), "epsilon must be at most 1e100"),
        (sw.ElasticNet(l1_ratio=1.5), "l1_ratio must be between 0 and 1"),
        (sw.Lasso(selection="best"), "selection must be one of 'cyclic', 'random'"),
        (sw.Lasso(max_iter=-1), "max_iter must be an integer >= 0"),
        (sw.LogisticRegression("l3"), "penalty must be one of"),
        (sw.LogisticRegression("elasticnet", l1_ratio=None), "needs l1_ratio"),
        (sw.LogisticRegression(C=0.0), "C"),
        (sw.LinearSVC(loss="log"), "loss must be one of"),
        (sw.LinearSVR(loss="squared"), "loss must be one of"),
        (sw.QuantileRegressor(quantile=1.0), "quantile must be"),
        (sw.SparseLinearRegressor("hinge"), "hinge: that is a loss for classes"),
        (sw.SparseLinearClassifier("squared"), "squared: that is a loss for numbers"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, words):
    X, y = classes()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
def test_the_scale_of_huge_errors_is_found_and_differences_beyond_all_numbers_are_refused():
    X = classes()[0]
    small, huge = (sw.HuberRegressor(max_iter=2).fit(X, size * X[:, 0] ** 3) for size in (1.0, 1e200))
    assert huge.scale_ / 1e200 == pytest.approx(small.scale_, rel=0.5)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="Differences of targets must be below"):
        sw.HuberRegressor().fit(X, 1e308 * np.sign(X[:, 0]))


def test_a_fit_that_fails_leaves_the_last_one():
    X, y = classes()
    model = sw.LogisticRegression().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(C=-1.0).fit(X, y + 5)
    assert np.array_equal(model.predict(X), before)


def test_bad_targets_and_options_are_refused():
    X, y = classes()
    labels = np.column_stack([y, 1 - y, np.ones_like(y)])
    three = np.column_stack([y, y + 1])
    bad = X.copy()
    bad[3, 4] = np.nan
    for model, data, targets, error, words in (
        (sw.SparseLinearClassifier(), X, labels, ValueError, "Label 2 is the same for all samples"),
        (sw.SparseLinearClassifier(), X, three, ValueError, "indicator matrix"),
        (sw.SparseLinearClassifier(class_weight="balanced"), X, labels[:, :2], ValueError, "used with several labels"),
        (sw.LogisticRegression(class_weight={0: 0.0, 1: 1.0}), X, y, ValueError, "class_weight must be positive"),
        (sw.Lasso(n_jobs=0), X, y, ValueError, "n_jobs"),
        (sw.Lasso(fit_intercept="no"), X, y, TypeError, "fit_intercept must be True or False"),
        (sw.Lasso(positive="no"), X, y, TypeError, "positive must be True or False"),
        (sw.Lasso(max_iter=True), X, y, ValueError, "max_iter"),
        (sw.LinearSVC(l1_ratio=7), X, y, ValueError, "l1_ratio must be between 0 and 1"),
        (sw.LogisticRegression(None, C=-3.0), X, y, ValueError, "C must be"),
        (sw.HuberRegressor(tol="a"), X, y, TypeError, "tol must be a number"),
        (sw.Lasso(), bad, y, ValueError, "X contains NaN"),
    ):
        with pytest.raises(error, match=words):
            model.fit(data, targets)
    assert sw.Lasso(n_jobs=-2).fit(X, sp.csr_matrix(y[:, None])).intercept_.shape == (1,)
    mixed = [sw.LogisticRegression(penalty, l1_ratio=0.5).fit(X, y).coef_ for penalty in ("auto", "elasticnet")]
    assert np.array_equal(*mixed) and not np.array_equal(mixed[0], sw.LinearSVC(C=0.01).fit(X, y).coef_)


def test_a_failed_fit_leaves_an_estimator_as_it_was():
    X, y = numbers()
    bad = X[:, :3].copy()
    bad[0, 0] = np.nan
    for kind in (sw.Lasso, sw.LassoCV, sw.HuberRegressor):
        model = kind()
        with pytest.raises(ValueError, match="NaN"):
            model.fit(bad, y)
        with pytest.raises(NotFittedError):
            model.predict(X)
        model.fit(X, y)
        before = model.predict(X)
        with pytest.raises(ValueError, match="NaN"):
            model.fit(bad, y)
        assert np.array_equal(model.predict(X), before)


def test_parameters_out_of_range_are_refused():
    X, y = classes()
    for model, targets, words in (
        (sw.Ridge(alpha=[1.0, 2.0, 3.0]), y, "alpha must be one number, or 1, one for each target"),
        (sw.SparseLinearClassifier(), np.column_stack([2 * y - 1, 1 - 2 * y]), "indicator matrix"),
        (sw.Lasso(alpha=10**400), y, "alpha must be"),
        (sw.LinearSVC(C=1e-310), y, "must be between 1e-300 and 1e300"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(X, targets)
    assert sw.Lasso(n_jobs=np.int64(-1)).fit(X, y).gap_ <= 1e-6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sw.LassoCV(alphas=[]), "alphas must be >= 0"),
        (sw.LassoCV(alphas=[0.1, -1.0]), "alphas must be >= 0"),
        (sw.ElasticNetCV(l1_ratio=0.0), "No alpha gives the zero model"),
        (sw.LassoCV(eps=0.0), "eps"),
        (sw.LogisticRegressionCV(Cs=[]), "Cs must be positive"),
        (sw.LogisticRegressionCV(l1_ratios=[2.0]), "l1_ratios must be between 0 and 1"),
        (sw.LogisticRegressionCV(penalty="elasticnet"), "needs l1_ratio"),
        (sw.SparseLinearClassifierCV(l2s=[-1.0]), "l2s must be >= 0"),
        (sw.SparseLinearClassifierCV(scoring="r3"), "scoring"),
        (sw.SparseLinearClassifierCV("squared"), "loss for numbers"),
        (sw.SparseLinearClassifierCV(l2s=[1.0, [2.0]]), "l2s must be one-dimensional numbers; got list of mixed"),
        (sw.SparseLinearClassifierCV(l2s=endless()), "l2s must be one-dimensional numbers"),
        (sw.SparseLinearClassifierCV(l1s=np.timedelta64(3, "s")), "l1s must be >= 0, or how many"),
        (sw.LassoCV(alphas=["1", "2"]), "alphas must be >= 0, or how many"),
        (sw.LassoCV(n_jobs=np.timedelta64(-1, "s")), "n_jobs must be a positive number"),
        (sw.GroupLassoCV(l1_ratio=[]), "l1_ratio is empty: give at least one share"),
    ],
    ids=lambda given: f"{type(given).__name__}",
)
def test_cross_validation_refuses_bad_grids_and_options(model, words):
    X, y = classes() if hasattr(model, "decision_function") else numbers()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("given", [[0.5, [0.5]], endless(), NoArray()], ids=["ragged", "endless", "no array"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (sw.ElasticNetCV, "l1_ratio"), (sw.MultiTaskElasticNetCV, "l1_ratio"), (sw.GroupLassoCV, "l1_ratio"),
        (sw.LogisticRegressionCV, "l1_ratios"),
    ],
)  # fmt: skip
def test_shares_that_are_not_an_array_are_refused(kind, name, given):
    X, y = classes() if kind is sw.LogisticRegressionCV else numbers()
    with pytest.raises(TypeError, match=f"{name} must be an array or lists of equal lengths"):
        kind(**{name: given}).fit(X, np.column_stack([y, y]) if kind is sw.MultiTaskElasticNetCV else y)


CHOOSERS = [sw.LassoCV, sw.ElasticNetCV, sw.MultiTaskLassoCV, sw.MultiTaskElasticNetCV, sw.GroupLassoCV]
CHOOSERS += [sw.LogisticRegressionCV, sw.SparseLinearClassifierCV]


def fit_chooser(kind, **options):
    X, y = classes() if hasattr(kind, "decision_function") else numbers()
    return kind(**options).fit(X, np.column_stack([y, y]) if "MultiTask" in kind.__name__ else y)


@pytest.mark.parametrize("cv", [b"abc", bytearray(b"abc"), "abc", 2.5, sp.csr_array(np.eye(2))], ids=repr)
@pytest.mark.parametrize("kind", CHOOSERS)
def test_things_that_are_not_folds_are_refused(kind, cv):
    with pytest.raises(TypeError, match="cv must be None, a number of folds, a splitter of scikit-learn, or pairs"):
        fit_chooser(kind, cv=cv)


def nested(depth):
    made: list = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        (nested(5000), "scoring must be None, a name that scikit-learn knows, or a function of an estimator, X and y"),
        (3, "scoring must be None, a name that scikit-learn knows, or a function of an estimator, X and y; got 3"),
        (int, "scoring must be None"),
        (len, "scoring is called with an estimator, X and y, which <built-in function len> does not take"),
    ],
    ids=["nested", "number", "class", "function"],
)
@pytest.mark.parametrize("kind", CHOOSERS)
def test_things_that_cannot_score_are_refused(kind, scoring, words):
    with pytest.raises(TypeError, match=words):
        fit_chooser(kind, scoring=scoring)


class Half:
    def __float__(self):
        return 1.5


def test_odd_numbers_are_read_once():
    X, y = numbers()
    assert np.array_equal(
        sw.HuberRegressor(epsilon=Half()).fit(X, y).coef_, sw.HuberRegressor(epsilon=1.5).fit(X, y).coef_
    )
    with pytest.raises(TypeError, match="groups must be an int, a label for each feature or lists"):
        sw.GroupLasso(groups=np.timedelta64(2, "s")).fit(X, y)


def test_the_score_of_huge_counts_gives_no_warning():
    X, y = numbers()
    model = sw.PoissonRegressor().fit(X, np.abs(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.isfinite(model.score(X, np.full(y.size, 1e308)))
