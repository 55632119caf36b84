"""Regressors with a log link: scikit-learn's coefficients to many digits, and what it lacks."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_tweedie_score

import southwell as sw

RNG = np.random.default_rng(0)
N, D = 120, 5
X = RNG.normal(size=(N, D))
MEANS = np.exp(0.3 + X[:, :2] @ [0.5, -0.3])
S = RNG.uniform(0.2, 2.0, N)
TARGETS = {
    0: MEANS + 0.1 * RNG.normal(size=N), 1: RNG.poisson(MEANS), 1.2: RNG.poisson(MEANS) * RNG.gamma(2.0, 0.5, N),
    1.9: RNG.poisson(MEANS) * RNG.gamma(2.0, 0.5, N), 2: MEANS * RNG.gamma(2.0, 0.5, N) + 1e-3,
}  # fmt: skip
BY_POWER = {1: "PoissonRegressor", 2: "GammaRegressor"}


def pairs():
    for power in TARGETS:
        yield power, sw.TweedieRegressor(power=power), linear_model.TweedieRegressor(power=power)
        if power in BY_POWER:
            yield power, getattr(sw, BY_POWER[power])(), getattr(linear_model, BY_POWER[power])()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize(("power", "ours", "theirs"), [*pairs()], ids=str)
def test_coefficients_are_scikit_learns(power, ours, theirs, alpha, intercept):
    y = TARGETS[power]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # theirs
        theirs.set_params(alpha=alpha, fit_intercept=intercept, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=S)
    ours.set_params(alpha=alpha, fit_intercept=intercept, tol=1e-13).fit(X, y, sample_weight=S)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)
    assert ours.score(X, y, S) == pytest.approx(theirs.score(X, y, S), rel=1e-4)
    np.testing.assert_allclose(ours.to_sklearn().predict(X), ours.predict(X))


@pytest.mark.parametrize("power", [-1, 0.5, 2.5, 3, np.nan, np.inf, "many"])
def test_powers_that_are_not_convex_are_refused(power):
    with pytest.raises((ValueError, TypeError), match="power"):
        sw.TweedieRegressor(power=power).fit(X, TARGETS[2])


@pytest.mark.parametrize(("power", "link"), [(0, "log"), (1, "identity"), (1.5, "identity"), (1.5, "inverse")])
def test_other_links_are_refused(power, link):
    with pytest.raises(ValueError, match="link"):
        sw.TweedieRegressor(power=power, link=link).fit(X, TARGETS[2])


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (sw.GammaRegressor(), np.maximum(TARGETS[2] - 0.5, 0), "> 0"),
        (sw.TweedieRegressor(power=1.5), -TARGETS[2], ">= 0"),
        (sw.NegativeBinomialRegressor(), -TARGETS[2], ">= 0"),
        (sw.NegativeBinomialRegressor(dispersion=0.0), TARGETS[1], "dispersion must be > 0"),
        (sw.TweedieRegressor(alpha=-1.0), TARGETS[0], "alpha must be >= 0"),
    ],
)
def test_bad_targets_and_parameters_are_refused_in_words(model, y, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_losses_refuse_parameters_outside_their_range():
    for bad in (1.0, 2.0, 0.5, np.nan):
        with pytest.raises(ValueError, match="power must be > 1"):
            sw.losses.Tweedie(bad)
    with pytest.raises(ValueError, match="theta must be > 0"):
        sw.losses.NegativeBinomial(0.0)


@pytest.mark.parametrize("dispersion", [0.2, 3.0])
def test_the_negative_binomial_likelihood_is_maximised(dispersion):
    from scipy.stats import nbinom

    y, size = TARGETS[1], 1 / dispersion
    model = sw.NegativeBinomialRegressor(alpha=0.1, dispersion=dispersion, tol=1e-12).fit(X, y)

    def cost(w):
        means = np.exp(X @ w[:-1] + w[-1])
        return -nbinom.logpmf(y, size, size / (size + means)).mean() + 0.05 * w[:-1] @ w[:-1]

    own = np.r_[model.coef_, model.intercept_]
    assert cost(own) <= minimize(cost, own + 0.1, tol=1e-12).fun + 1e-9


def test_a_small_dispersion_is_poisson():
    near = sw.NegativeBinomialRegressor(alpha=0.1, dispersion=1e-6, tol=1e-9).fit(X, TARGETS[1])
    exact = sw.PoissonRegressor(alpha=0.1, tol=1e-12).fit(X, TARGETS[1])
    np.testing.assert_allclose(near.coef_, exact.coef_, atol=1e-4)
    assert near.score(X, TARGETS[1]) == pytest.approx(d2_tweedie_score(TARGETS[1], near.predict(X), power=1), abs=1e-4)


def test_an_l1_share_leaves_coefficients_out():
    for model in (sw.GammaRegressor, sw.NegativeBinomialRegressor):
        fit = model(alpha=0.15, l1_ratio=1.0).fit(X, TARGETS[2])
        assert 0 < np.count_nonzero(fit.coef_) < D and fit.gap_ <= 1e-6


def test_the_modified_huber_loss_is_that_of_sgd():
    y = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0, 1.0, -1.0)
    model = sw.SparseLinearClassifier("modified_huber", l1=0.0, l2=0.1, tol=1e-10).fit(X, y)

    def cost(w):
        z = y * (X @ w[:-1] + w[-1])
        return np.where(z >= -1, np.maximum(0, 1 - z) ** 2, -4 * z).mean() + 0.05 * w[:-1] @ w[:-1]

    own = np.r_[model.coef_.ravel(), model.intercept_]
    assert cost(own) <= minimize(cost, own + 0.1, tol=1e-12).fun + 1e-9
    theirs = linear_model.SGDClassifier("modified_huber", alpha=0.1, random_state=0, max_iter=20, tol=None).fit(X, y)
    report = sw.audit(theirs, X, y)
    assert 0 < report.relative_gap < 0.05
