"""scikit-learn's own checks, and equality with scikit-learn's classes of the same name."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import southwell as sw
from estimator_data import CLASSES, CLASSIFIERS, classes, numbers, quick, suitable
from southwell import estimators

OTHERS = [
    sw.LogisticRegression(multi_class="ovr", tol=1e-14),
    quick(sw.LogisticRegressionCV, multi_class="ovr", tol=1e-14),
]


@parametrize_with_checks([quick(c, tol=1e-14) for c in CLASSES] + OTHERS)
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def objective(model, theirs, X, y, w):
    """What scikit-learn's class minimises, at a model's coefficients."""
    coef, intercept = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    m = X @ coef + intercept
    l1, l2 = np.abs(coef).sum(), coef @ coef
    name, n = type(theirs).__name__, w.sum()
    if name in ("Lasso", "ElasticNet"):
        ratio = getattr(theirs, "l1_ratio", 1.0)
        return w @ (y - m) ** 2 / (2 * n) + theirs.alpha * (ratio * l1 + (1 - ratio) / 2 * l2)
    if name == "Ridge":
        return w @ (y - m) ** 2 + theirs.alpha * l2
    if name == "HuberRegressor":
        z, e = np.abs(y - m) / model.scale_, theirs.epsilon
        return model.scale_ * (w @ (1 + np.where(z < e, z**2, 2 * e * z - e * e))) + theirs.alpha * l2
    if name == "QuantileRegressor":
        r = y - m
        return w @ np.maximum(theirs.quantile * r, (theirs.quantile - 1) * r) / n + theirs.alpha * l1
    if name == "PoissonRegressor":
        return w @ (np.exp(m) - y * m) / n + theirs.alpha / 2 * l2
    if name == "GammaRegressor":
        return w @ (m + y * np.exp(-m)) / n + theirs.alpha / 2 * l2
    if name == "TweedieRegressor":
        a, c = 2 - theirs.power, theirs.power - 1
        losses = (y - m) ** 2 / 2 if a == 2 else np.exp(a * m) / a + y * np.exp(-c * m) / c
        return w @ losses / n + theirs.alpha / 2 * l2
    if name == "LinearSVR":
        errors = np.maximum(np.abs(y - m) - theirs.epsilon, 0)
        return l2 / 2 + theirs.C * (w @ (errors**2 if theirs.loss.startswith("squared") else errors))
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    if name == "LogisticRegression":
        ratio = theirs.l1_ratio or 0.0
        return ratio * l1 + (1 - ratio) / 2 * l2 + theirs.C * (w @ np.logaddexp(0, -signs * m))
    slack = np.maximum(1 - signs * m, 0)
    costs = slack**2 if theirs.loss == "squared_hinge" else slack
    return (l1 if theirs.penalty == "l1" else l2 / 2) + theirs.C * (w @ costs)


MIXED = {} if sklearn.__version__ >= "1.8" else {"penalty": "elasticnet"}  # without it they would not look at l1_ratio
PAIRS = [
    (sw.Lasso(alpha=0.05), linear_model.Lasso(alpha=0.05, tol=1e-12, max_iter=10**5)),
    (sw.Lasso(alpha=0.02, positive=True), linear_model.Lasso(alpha=0.02, positive=True, tol=1e-12, max_iter=10**5)),
    (sw.ElasticNet(alpha=0.1, l1_ratio=0.3), linear_model.ElasticNet(alpha=0.1, l1_ratio=0.3, tol=1e-12)),
    (sw.ElasticNet(alpha=0.1, fit_intercept=False), linear_model.ElasticNet(alpha=0.1, fit_intercept=False, tol=1e-12)),
    (sw.Ridge(alpha=3.0), linear_model.Ridge(alpha=3.0)),
    (sw.Ridge(alpha=3.0, positive=True), linear_model.Ridge(alpha=3.0, positive=True, tol=1e-12)),
    (sw.HuberRegressor(alpha=0.1), linear_model.HuberRegressor(alpha=0.1, tol=1e-8, max_iter=10**4)),
    (sw.QuantileRegressor(quantile=0.3, alpha=0.01), linear_model.QuantileRegressor(quantile=0.3, alpha=0.01)),
    (sw.PoissonRegressor(alpha=0.1), linear_model.PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000)),
    (sw.GammaRegressor(alpha=0.1), linear_model.GammaRegressor(alpha=0.1, tol=1e-10, max_iter=1000)),
    (
        sw.TweedieRegressor(power=1.4, alpha=0.1),
        linear_model.TweedieRegressor(power=1.4, alpha=0.1, tol=1e-10, max_iter=1000),
    ),
    (sw.TweedieRegressor(alpha=0.1), linear_model.TweedieRegressor(alpha=0.1, tol=1e-10, max_iter=1000)),
    (sw.LogisticRegression(C=0.5), linear_model.LogisticRegression(C=0.5, tol=1e-10, max_iter=10**4)),
    (
        sw.LogisticRegression("l1", C=0.1),
        linear_model.LogisticRegression(C=0.1, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=10**5, **MIXED),
    ),
    (
        sw.LogisticRegression("elasticnet", C=0.1, l1_ratio=0.5),
        linear_model.LogisticRegression(C=0.1, l1_ratio=0.5, solver="saga", tol=1e-8, max_iter=10**5, **MIXED),
    ),
    (sw.LinearSVC(C=0.1, fit_intercept=False), svm.LinearSVC(C=0.1, fit_intercept=False, tol=1e-10, max_iter=10**6)),
    (
        sw.LinearSVC("l1", C=0.1, fit_intercept=False),
        svm.LinearSVC(penalty="l1", dual=False, C=0.1, fit_intercept=False, tol=1e-8, max_iter=10**5),
    ),
    (
        sw.LinearSVC(loss="hinge", C=0.01, fit_intercept=False),
        svm.LinearSVC(loss="hinge", C=0.01, fit_intercept=False, tol=1e-8, max_iter=10**6),
    ),
    (
        sw.LinearSVR(epsilon=0.1, C=0.1, fit_intercept=False),
        svm.LinearSVR(epsilon=0.1, C=0.1, fit_intercept=False, tol=1e-8, max_iter=10**6),
    ),
    (
        sw.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, C=0.1, fit_intercept=False),
        svm.LinearSVR(
            loss="squared_epsilon_insensitive", epsilon=0.1, C=0.1, fit_intercept=False, tol=1e-8, max_iter=10**6
        ),
    ),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=[str(pair[0]) for pair in PAIRS])
def test_no_worse_than_scikit_learn(ours, theirs, weighted):
    X, y = classes() if hasattr(ours, "decision_function") else numbers()
    y = suitable(type(ours), y)
    if getattr(ours, "power", 0) > 0:
        y = np.maximum(np.round(np.exp(y)) - 1, 0)
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = clone(theirs).fit(X, y, sample_weight=w if weighted else None)
        best = objective(theirs, theirs, X, y, w)
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            model = clone(ours).set_params(tol=1e-10).fit(form(X), y, sample_weight=w if weighted else None)
            here = objective(model, theirs, X, y, w)
            assert here <= best + 1e-8 * abs(best)
            assert model.gap_ <= 1e-10
            # The certificate, in their units, is no more than the truth allows.
            assert here - best <= model.dual_gap_ + 1e-9 * abs(best)


# What they tell


@pytest.mark.parametrize("kind", CLASSES)
def test_every_fit_says_how_good_it_is(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    y = suitable(kind, y)
    model = kind(keep_dual=True).fit(X, y)
    assert model.status_ is sw.Status.CONVERGED and 0 <= model.gap_ <= model.tol
    assert model.dual_gap_ >= 0 and np.all(np.asarray(model.n_iter_) >= 0)
    assert model.dual_coef_.shape == y.T.shape
    assert np.array_equal(model.support_, np.flatnonzero(np.atleast_2d(model.dual_coef_).any(axis=0)))
    assert np.array_equal(model.sparse_coef_.toarray(), np.atleast_2d(model.coef_))
    assert model.result_.problem is None  # a fitted model does not hold on to the data
    assert len(pickle.dumps(model)) < 40 * y.size + 2000 * len(model.result_.history["gap"]) + 20_000


def test_a_fit_that_ends_early_warns_with_the_gap():
    X, y = classes()
    with pytest.warns(estimators.ConvergenceWarning, match=r"Gap .* tol is 1e-06"):
        sw.LogisticRegression("l1", C=10.0, max_iter=1).fit(X, y)
    with pytest.warns(SklearnConvergenceWarning):
        sw.LogisticRegression("l1", C=10.0, max_iter=1).fit(X, y)


def test_extreme_weights_are_proven_too():
    """The zero model's objective is tiny then, and gaps are near what rounding allows."""
    X, y = classes()
    model = sw.LogisticRegression(class_weight={0: 1000.0, 1: 1e-4}).fit(X, y)
    assert model.status_ is sw.Status.CONVERGED


# Manners of scikit-learn


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_float32_is_kept(kind, form):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    y = suitable(kind, y)
    model = quick(kind).fit(form(X.astype(np.float32)), y)
    assert model.coef_.dtype == np.float32 and np.asarray(model.intercept_).dtype == np.float32
    other = quick(kind).fit(form(X), y)
    assert np.abs(model.coef_ - other.coef_).max() <= 0.02 * np.abs(other.coef_).max() + 1e-3


@pytest.mark.parametrize("kind", [c for c in CLASSES if "warm_start" in c().get_params()])
def test_a_warm_start_begins_at_the_last_answer(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    y = suitable(kind, y)
    model = kind(warm_start=True, keep_dual=True).fit(X, y)
    again = clone(model).set_params(warm_start=False).fit(X, y)
    rounds = np.max(again.n_iter_)
    model.fit(X, y)
    assert np.max(model.n_iter_) <= max(1, rounds // 2)
    model.fit(X[:, :5], y)  # another shape: it starts from zero
    assert model.coef_.shape[-1] == 5


@pytest.mark.parametrize("kind", [c for c in CLASSES if "warm_start" in c().get_params()])
def test_a_warm_start_from_coefficients_alone(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    model = kind(warm_start=True).fit(X, suitable(kind, y))
    before = model.coef_
    model.set_params(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one round is too few for losses with kinks
        model.fit(X, suitable(kind, y))
    assert np.abs(model.coef_ - before).max() <= 1e-2 * np.abs(before).max()


def test_several_targets_at_once():
    X, y = numbers()
    Y = np.column_stack([y, -2 * y, y**2])
    model = sw.Lasso(alpha=0.05, keep_dual=True).fit(X, Y)
    assert model.coef_.shape == (3, X.shape[1]) and model.predict(X).shape == Y.shape
    for k in range(3):
        one = sw.Lasso(alpha=0.05).fit(X, Y[:, k])
        assert np.abs(one.coef_ - model.coef_[k]).max() <= 1e-3 * np.abs(one.coef_).max()
        assert model.dual_gap_[k] <= 1e-6 * model.result_[k].scale


def test_several_classes_and_labels():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = sw.SparseLinearClassifier(l1=1e-3, sparse_coef=True).fit(X, y)
    assert sp.issparse(model.coef_) and model.coef_.shape == (10, 64) and model.score(X, y) > 0.9
    dense = sw.SparseLinearClassifier(l1=1e-3).fit(X, y)
    assert np.array_equal(model.coef_.toarray(), dense.coef_)
    assert np.array_equal(model.predict(sp.csr_array(X)), dense.predict(X))
    labels = np.column_stack([y % 2, y > 4, y == 3]).astype(int)
    many = sw.SparseLinearClassifier(l1=1e-3).fit(X, labels)
    assert many.predict(X).shape == labels.shape and (many.predict(X) == labels).mean() > 0.9


def test_class_weights_are_weights():
    X, y = classes()
    named = sw.LogisticRegression(class_weight="balanced", tol=1e-10).fit(X, y)
    w = len(y) / (2 * np.bincount(y))[y]
    by_hand = sw.LogisticRegression(tol=1e-10).fit(X, y, sample_weight=w)
    assert np.abs(named.coef_ - by_hand.coef_).max() <= 1e-6
    theirs = linear_model.LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10**4).fit(X, y)
    assert np.abs(named.coef_ - theirs.coef_).max() <= 1e-4


def test_probabilities_are_those_of_scikit_learn():
    X, y = classes()
    ours, theirs = (
        sw.LogisticRegression().fit(X, y),
        linear_model.LogisticRegression(tol=1e-10, max_iter=10**4).fit(X, y),
    )
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() <= 1e-3
    assert np.allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))
    X, y = load_digits(return_X_y=True)
    shares = sw.LogisticRegression(C=0.1).fit(X / 16, y).predict_proba(X / 16)
    assert np.allclose(shares.sum(axis=1), 1.0) and shares.min() >= 0


def test_pipelines_and_searches_work():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), sw.LogisticRegression("l1"))
    search = GridSearchCV(pipe, {"logisticregression__C": [0.01, 0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.95
    assert "LogisticRegression" in pipe._repr_html_()


# What a reviewer found


def test_rows_without_weight_are_not_there():
    X, y = numbers()
    more, weights = np.vstack([X, X[:1]]), np.r_[np.ones(len(y)), 0.0]
    plain = sw.HuberRegressor().fit(X, y)
    with_row = sw.HuberRegressor().fit(more, np.r_[y, 1e9], sample_weight=weights)
    assert with_row.scale_ == pytest.approx(plain.scale_, rel=1e-4)
    X, y = load_digits(return_X_y=True)
    model = sw.LogisticRegression(C=0.01).fit(X / 16, y, sample_weight=(y < 3).astype(float))
    assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 64)


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_one_outlier_does_not_spoil_a_robust_fit(size):
    X, y = numbers()
    plain = sw.HuberRegressor().fit(X, y)
    y[0] = size
    model = sw.HuberRegressor().fit(X, y)
    assert np.abs(model.coef_ - plain.coef_).max() <= 0.2 * np.abs(plain.coef_).max()
    assert model.scale_ == pytest.approx(plain.scale_, rel=0.1) and model.outliers_[0]


@pytest.mark.parametrize("kind", [sw.Lasso, sw.Ridge, sw.LogisticRegression, sw.LinearSVC, sw.HuberRegressor])
def test_a_warm_start_without_the_intercept_it_had(kind):
    X, y = classes() if kind in CLASSIFIERS else numbers()
    model = kind(warm_start=True).fit(X, y)
    assert model.set_params(fit_intercept=False).fit(X, y).intercept_ == 0


def test_every_estimator_is_found_at_the_top():
    assert all(getattr(sw, name) is kind for name, kind in estimators.ALL.items())
    assert {kind.__name__ for kind in CLASSES} == {name for name in sw.__all__ if hasattr(getattr(sw, name), "fit")}


def test_balanced_classes_weigh_the_same():
    X, y = classes()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = sw.LogisticRegression(class_weight="balanced", tol=1e-12)
    whole = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(clone(model).fit(X, y, sample_weight=weights).coef_, whole.coef_, atol=1e-6)


@pytest.mark.parametrize("size", [1e-100, 1e-150, 1e100])
def test_tiny_and_huge_targets(size):
    X, y = numbers()
    for model in (sw.LinearSVR(epsilon=0.1 * size, C=size), sw.QuantileRegressor(alpha=1e-3)):
        plain = clone(model).set_params(**({"epsilon": 0.1, "C": 1.0} if hasattr(model, "C") else {})).fit(X, y)
        scaled = model.fit(X, y * size)
        assert scaled.status_ is sw.Status.CONVERGED
        assert np.allclose(scaled.coef_ / size, plain.coef_, atol=1e-2 * np.abs(plain.coef_).max())


def test_a_huber_fit_that_overflows_is_not_proven():
    X, y = numbers()
    with pytest.warns(estimators.ConvergenceWarning, match="moderate size"):
        model = sw.HuberRegressor(alpha=0.0).fit(X * 1e-10, y * 1e150)
    assert model.status_ is not sw.Status.CONVERGED


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-5])
def test_a_huber_fit_reaches_loose_tolerances(tol):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    model = sw.HuberRegressor(tol=tol).fit(X, X @ rng.standard_normal(10) + 1e-5 * rng.standard_normal(200))
    assert model.status_ is sw.Status.CONVERGED and model.gap_ <= tol


def test_a_huber_fit_ends_where_rounding_decides():
    X, y = numbers()
    with pytest.warns(estimators.ConvergenceWarning, match="rounding allows no more"):
        model = sw.HuberRegressor(tol=0.0, max_iter=10**6).fit(X, y)
    assert model.status_ is sw.Status.PRECISION and model.gap_ <= 1e-13


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_huber_fit_sets_its_scale_so_often(rounds):
    X, y = numbers()
    with pytest.warns(estimators.ConvergenceWarning, match="raise max_iter; or fit again with warm_start=True"):
        model = sw.HuberRegressor(max_iter=rounds).fit(X, y)
    assert model.status_ is sw.Status.MAX_EPOCHS and model.n_iter_ == rounds
    w = np.ones(len(y))
    assert objective(model, model, X, y, w) == pytest.approx(model.dual_gap_ / model.gap_, rel=1e-12)
    best = objective(sw.HuberRegressor(tol=1e-12).fit(X, y), model, X, y, w)
    assert objective(model, model, X, y, w) - model.dual_gap_ <= best * (1 + 1e-12)


def test_warnings_are_in_the_words_of_estimators():
    X, y = numbers()
    with pytest.warns(estimators.ConvergenceWarning, match="raise max_iter, .* columns of X .*with warm_start=True"):
        sw.Lasso(alpha=1e-6, tol=0.0, max_iter=1, method="coordinate_descent").fit(X, y)
    with pytest.warns(estimators.ConvergenceWarning, match="scale of X and y"):
        sw.Ridge(method=sw.methods.DSPDC(tau=1e4, sigma=1e8), max_iter=10**5, tol=1e-12).fit(X, y)
