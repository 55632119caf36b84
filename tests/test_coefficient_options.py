"""Weights and bounds of single coefficients, and standardising, in estimators and in penalties."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import southwell as sw
from estimator_data import suitable
from southwell.check import verify
from southwell.estimators._coefficients import spreads
from southwell.penalties import ElasticNet

RNG = np.random.default_rng(0)
N, D = 80, 6
SCALES = np.array([1.0, 10.0, 0.1, 3.0, 1.0, 0.5])
X = (RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.6)) * SCALES + np.r_[0.0, 5.0, 0.0, -2.0, 0.0, 0.0]
Y = X @ (np.array([1.0, -0.5, 0.0, 0.3, 0.0, 0.2]) / SCALES) + 0.3 * RNG.normal(size=N)
S = RNG.uniform(0.2, 2.0, N)
WEIGHTS = np.array([1.0, 2.0, 0.5, 0.0, 1.0, 3.0])

MODELS = [
    sw.Lasso(alpha=0.03), sw.ElasticNet(alpha=0.05, l1_ratio=0.4), sw.Ridge(alpha=2.0),
    sw.QuantileRegressor(alpha=0.01), sw.LinearSVR(C=0.1), sw.LogisticRegression(C=0.3, penalty="l1"),
    sw.LogisticRegression(C=0.3, penalty="elasticnet", l1_ratio=0.5), sw.LinearSVC(C=0.1),
    sw.PoissonRegressor(alpha=0.02), sw.GammaRegressor(alpha=0.02, l1_ratio=0.5),
    sw.TweedieRegressor(power=1.5, alpha=0.1),
    sw.NegativeBinomialRegressor(alpha=0.1), sw.SparseLinearRegressor("huber", l1=0.02, l2=0.01),
    sw.SparseLinearClassifier("modified_huber", l1=0.02, l2=0.01),
]  # fmt: skip
HAVE_OPTIONS = [kind for kind in sw.estimators.ALL.values() if "penalty_weights" in kind().get_params()]


def targets(model):
    if hasattr(model, "decision_function"):
        return np.where(np.median(Y) < Y, "yes", "no")
    if isinstance(model, sw.TweedieRegressor):
        return np.maximum(np.round(np.exp(Y)) - 1, 0)
    return suitable(type(model), Y)


def fitted(model, data, **options):
    return clone(model).set_params(tol=1e-9, **options).fit(data, targets(model), sample_weight=S)


def test_every_estimator_of_a_separable_penalty_has_them():
    without = {
        "HuberRegressor",
        "GroupLasso",
        "GroupLassoCV",
        "GroupLassoClassifier",
        "GroupLassoClassifierCV",
        "LinearRegression",  # without a penalty there are bounds alone
        *(name for name in sw.estimators.ALL if "MultiTask" in name),
    }
    linear = {name for name, kind in sw.estimators.ALL.items() if hasattr(kind(), "tol") and hasattr(kind, "save")}
    assert {kind.__name__ for kind in HAVE_OPTIONS} >= linear - without
    for kind in HAVE_OPTIONS:
        assert list(kind().get_params()).count("standardize") == 1


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_standardising_is_what_scaled_columns_give(model, form):
    mean = S @ X / S.sum()
    spread = np.sqrt(S @ (X - mean) ** 2 / S.sum())
    by_hand = fitted(model, X / spread)
    ours = fitted(model, form(X), standardize=True)
    np.testing.assert_allclose(ours.coef_.ravel() * spread, by_hand.coef_.ravel(), atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, by_hand.intercept_, atol=5e-3)
    assert ours.gap_ <= 1e-9


@pytest.mark.parametrize("model", [sw.Lasso(alpha=0.03), sw.LogisticRegression(C=0.3, penalty="l1")], ids=str)
def test_weights_are_scales_of_columns(model):
    """A weight of w is the plain penalty of the coefficient of the column divided by w."""
    weights = WEIGHTS + 0.5
    ours, by_hand = fitted(model, X, penalty_weights=weights), fitted(model, X / weights)
    np.testing.assert_allclose(ours.coef_.ravel() * weights, by_hand.coef_.ravel(), atol=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_bounds_hold_and_bind(model):
    free = fitted(model, X).coef_.ravel()
    top = np.abs(free).max() / 2
    bounded = fitted(model, X, lower=-top, upper=np.full(D, top))
    assert (np.abs(bounded.coef_) <= top).all() and np.isclose(np.abs(bounded.coef_), top).any()
    assert bounded.gap_ <= 1e-9


def test_positive_and_bounds_meet():
    model = sw.Lasso(alpha=0.01, positive=True, lower=[-1.0, 0.05, -1.0, -np.inf, 0.0, 0.0], upper=0.4).fit(X, Y)
    assert (model.coef_ >= [0, 0.05, 0, 0, 0, 0]).all() and (model.coef_ <= 0.4).all()


def test_unpenalised_coefficients_stay():
    strong = sw.Lasso(alpha=1e3, penalty_weights=WEIGHTS).fit(X, Y)
    assert np.flatnonzero(strong.coef_).tolist() == [3]


def test_standardising_agrees_with_glmnet_units():
    """glmnet's objective: the elastic net of coefficients of columns with unit standard deviation, 1/n."""
    sd = X.std(axis=0)
    model = sw.ElasticNet(alpha=0.05, l1_ratio=0.4, standardize=True, penalty_weights=WEIGHTS, tol=1e-12).fit(X, Y)
    r = Y - X @ model.coef_ - model.intercept_
    beta = model.coef_ * sd
    slopes = -(X - X.mean(axis=0)).T @ r / N / sd + 0.05 * 0.6 * WEIGHTS * beta
    used = beta != 0
    np.testing.assert_allclose(slopes[used], -(0.05 * 0.4 * WEIGHTS * np.sign(beta))[used], atol=1e-6)
    assert (np.abs(slopes[~used]) <= 0.05 * 0.4 * WEIGHTS[~used] + 1e-9).all()


def test_constant_columns_and_large_means_are_standardised_too():
    data = np.c_[X, np.full(N, 3.0), 1e6 + RNG.normal(size=N)]
    for form in (np.asarray, sp.csr_array):
        model = sw.Lasso(alpha=0.05, standardize=True).fit(form(data), Y)
        assert np.isfinite(model.coef_).all() and model.coef_[6] == 0 and model.gap_ <= 1e-6


def test_several_classes_take_weights_and_are_standardised():
    classes = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    spread = X.std(axis=0)
    for given in ({}, {"penalty": "elasticnet", "l1_ratio": 0.5}, {"multi_class": "ovr"}):
        model = sw.LogisticRegression(C=0.5, tol=1e-9, **given)
        ours = clone(model).set_params(standardize=True).fit(X, classes)
        np.testing.assert_allclose(ours.coef_ * spread, model.fit(X / spread, classes).coef_, atol=2e-3)
    bounded = sw.LogisticRegression(C=0.5, tol=1e-9, lower=-0.2, upper=0.3).fit(X, classes)
    assert bounded.coef_.min() == -0.2 and bounded.coef_.max() == 0.3
    with pytest.raises(ValueError, match="bounds must contain zero"):
        sw.LogisticRegression(upper=-1.0).fit(X, classes)


@pytest.mark.parametrize("kind", [sw.LassoCV, sw.ElasticNetCV, sw.SparseLinearClassifierCV, sw.LogisticRegressionCV])
def test_cross_validation_has_them(kind):
    few = {"LassoCV": {"alphas": 8}, "ElasticNetCV": {"alphas": 8}, "LogisticRegressionCV": {"Cs": [0.1, 1.0]}}
    options = {"standardize": True, "penalty_weights": WEIGHTS, "lower": -0.5, "upper": 0.5}
    model = kind(cv=3, **few.get(kind.__name__, {"l1s": 5}), **options)
    model.fit(X, targets(model))
    assert (np.abs(model.coef_) <= 0.5).all() and model.coef_.ravel()[3] != 0
    if kind in (sw.LassoCV, sw.ElasticNetCV):  # the largest alpha leaves only what is not penalised
        share = 0.5 if kind is sw.ElasticNetCV else 1.0
        top = sw.Lasso(alpha=1.001 * model.alphas_[0] * share, **options)
        assert np.flatnonzero(top.fit(X, Y).coef_).tolist() == [3]


def test_the_data_are_not_copied():
    data = sp.csr_array(X)
    model = sw.Lasso(alpha=0.05, standardize=True, keep_dual=True)
    problem = model._state(model._data(data, Y, None, {}))
    assert problem.matrix.sparse and np.shares_memory(problem.matrix.rows.data, data.data)


RIDGE = ElasticNet(0.05, 0.3, weights=WEIGHTS, ridge_weights=np.array([0.0, 1.0, 2.0, 0.5, 0.0, 1.0]))


@pytest.mark.parametrize("method", ["auto", sw.methods.CoordinateDescent("primal"), "fista", "lbfgs"], ids=str)
def test_squares_have_weights_of_their_own(method):
    r = sw.solve(X, Y, penalty=RIDGE, intercept=True, method=method, tol=1e-8, max_epochs=20_000)
    best = sw.solve(X, Y, penalty=RIDGE, intercept=True, tol=1e-11)
    value = np.mean((X @ r.x + r.intercept - Y) ** 2) / 2
    value += 0.05 * WEIGHTS @ np.abs(r.x) + 0.15 * RIDGE.ridge_weights @ r.x**2
    assert r.primal == pytest.approx(value, rel=1e-12) and r.dual <= best.primal <= r.primal + 1e-12
    assert RIDGE.value(r.x) == pytest.approx(value - np.mean((X @ r.x + r.intercept - Y) ** 2) / 2)


def test_their_proofs_are_checked(tmp_path):
    for penalty in (RIDGE, ElasticNet(0.05, 0.3, WEIGHTS, -0.2, 0.3, ridge_weights=WEIGHTS[::-1])):
        r = sw.solve(X, Y, penalty=penalty, intercept=True, tol=1e-8)
        r.save_proof(tmp_path / "p")
        assert verify(tmp_path / "p", X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty_weights": [1.0] * 5}, "weights"), ({"penalty_weights": "heavy"}, "penalty_weights must be real"),
        ({"penalty_weights": -WEIGHTS}, ">= 0"), ({"lower": 1.0, "upper": 0.0}, "Bounds must leave room"),
        ({"lower": [0.0] * 7}, "lower"), ({"upper": "x"}, "upper must be real numbers"),
        ({"standardize": "yes"}, "standardize"),
        ({"positive": True, "upper": -1.0}, "Bounds must leave room"),
    ],
)  # fmt: skip
def test_bad_options_are_refused_in_words(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sw.Lasso(**options).fit(X, Y)


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_columns_far_from_zero_are_standardised_as_well(convert):
    """Such as times in seconds, whose spread is a tiny part of their mean; constant columns keep their unit."""
    n = 5000
    noise, weights = RNG.normal(size=(n, 3)), RNG.random(n)
    far = np.c_[noise * [100.0, 1.0, 1e-3] + [1.6e9, 1e8, 1e4], np.full(n, 0.1), np.full(n, 1e9 + 0.1)]
    own = spreads(sw.Problem(convert(far), noise[:, 0], sample_weight=weights))
    scale = StandardScaler().fit(far[:, :3], sample_weight=weights).scale_
    np.testing.assert_allclose(own[:3], scale, rtol=1e-6)
    np.testing.assert_array_equal(own[3:], 1.0)


@pytest.mark.parametrize("given", [[np.nan] * D, np.inf, np.ones(D - 1), ["a"] * D])
def test_bad_penalty_weights_are_refused_by_their_own_name(given):
    with pytest.raises((TypeError, ValueError), match="penalty_weights"):
        sw.Lasso(penalty_weights=given).fit(X, Y)


@pytest.mark.parametrize("name", ["penalty_weights", "lower", "upper"])
def test_numbers_beyond_the_range_are_refused_in_words(name):
    with pytest.raises((TypeError, ValueError), match=name):
        sw.Lasso(**{name: [10**400] * D}).fit(X, Y)
