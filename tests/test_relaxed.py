"""The relaxed lasso: a lasso, least squares on its support, and what lies between."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import southwell as sw

N, D = 80, 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) + 0.5
TRUE = np.r_[2.0, -1.5, 1.0, np.zeros(D - 3)]
Y = X @ TRUE + 0.5 * RNG.normal(size=N) + 3.0
LABELS = np.where(Y + 2 * RNG.normal(size=N) > np.median(Y), "b", "a")
W = RNG.integers(0, 3, size=N).astype(float)
GAMMAS = [0.0, 0.3, 1.0]


def expected(alpha, gamma, weights=None, intercept=True):
    """By scikit-learn's lasso and NumPy's least squares."""
    lasso = linear_model.Lasso(alpha, fit_intercept=intercept, tol=1e-12, max_iter=10**6).fit(X, Y, weights)
    support = np.flatnonzero(lasso.coef_)
    roots = np.sqrt(np.ones(N) if weights is None else weights)
    table = np.column_stack([X[:, support], np.ones(N)][: 1 + intercept])
    own = np.linalg.lstsq(table * roots[:, None], Y * roots)[0]
    coef = np.zeros(D)
    coef[support] = own[: support.size]
    return gamma * lasso.coef_ + (1 - gamma) * coef, gamma * lasso.intercept_ + (1 - gamma) * (own[-1] * intercept)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_lies_between_the_lasso_and_least_squares(gamma, form, intercept):
    model = sw.RelaxedLasso(0.2, gamma=gamma, fit_intercept=intercept, tol=1e-12).fit(form(X), Y)
    coef, constant = expected(0.2, gamma, intercept=intercept)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
    assert model.intercept_ == pytest.approx(constant, abs=1e-5) and model.gap_ <= 1e-12 and model.status_


def test_weights_and_offsets_count_in_both():
    coef, _ = expected(0.2, 0.4, W)
    model = sw.RelaxedLasso(0.2, gamma=0.4, tol=1e-12).fit(X, Y, W)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
    offset = RNG.normal(size=N)
    moved = sw.RelaxedLasso(0.2, gamma=0.4, tol=1e-12).fit(X, Y + offset, W, offset=offset)
    np.testing.assert_allclose(moved.coef_, coef, atol=1e-6)


def test_bounds_hold_in_both_and_weights_of_the_penalty_in_the_lasso():
    upper = np.full(D, np.inf)
    upper[0] = 1.2
    model = sw.RelaxedLasso(0.2, gamma=0.5, upper=upper, positive=True).fit(X, Y)
    assert model.coef_.min() >= 0 and model.coef_[0] <= 1.2
    weights = np.r_[np.ones(3), np.full(D - 3, 100.0)]
    alone = sw.RelaxedLasso(0.2, gamma=0.0, penalty_weights=weights, standardize=True, tol=1e-12).fit(X, Y)
    assert np.flatnonzero(alone.coef_).tolist() == [0, 1, 2]
    own = linear_model.LinearRegression().fit(X[:, :3], Y)
    np.testing.assert_allclose(alone.coef_[:3], own.coef_, atol=1e-6)


def test_both_certificates_are_kept():
    model = sw.RelaxedLasso(0.2, gamma=0.5, keep_dual=True).fit(X, Y)
    lasso, (other,) = model.result_, model.refit_results_
    assert model.gap_ == max(lasso.relative_gap, other.relative_gap) <= 1e-6
    assert model.n_iter_ >= max(lasso.epochs, other.epochs) and lasso.x.shape == other.x.shape == (D,)
    np.testing.assert_allclose(model.coef_, (lasso.x + other.x) / 2)
    residual = Y - X @ other.x - other.intercept
    assert other.primal == pytest.approx((residual**2).mean() / 2, rel=1e-10)
    assert np.abs(X[:, other.x != 0].T @ residual).max() <= 1e-4 and model.dual_coef_.shape == (N,)


def test_an_empty_support_leaves_the_intercept():
    model = sw.RelaxedLasso(1e3).fit(X, Y)
    assert not model.coef_.any() and model.intercept_ == pytest.approx(Y.mean())
    bare = sw.RelaxedLasso(1e3, fit_intercept=False).fit(X, Y)
    assert not bare.coef_.any() and bare.intercept_ == 0


def test_more_features_than_samples_may_be_selected():
    wide = sw.RelaxedLasso(1e-6, gamma=0.0).fit(X[:20], Y[:20])
    assert wide.status_ and wide.score(X[:20], Y[:20]) >= 1 - 1e-5


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_cross_validation_scores_what_single_fits_would(form):
    folds = [(np.arange(30, N), np.arange(30)), (np.arange(50), np.arange(50, N))]
    alphas = [0.5, 0.2, 0.05]
    model = sw.RelaxedLassoCV(alphas=alphas, gammas=GAMMAS, cv=folds, tol=1e-12).fit(form(X), Y, W)
    assert model.gammas_.tolist() == [1.0, 0.3, 0.0] and model.scores_.shape == (2, 3, 3)
    for fold, (train, test) in enumerate(folds):
        test = test[W[test] > 0]
        for line, gamma in enumerate(model.gammas_):
            for point, alpha in enumerate(alphas):
                one = sw.RelaxedLasso(alpha, gamma=gamma, tol=1e-12).fit(X[train], Y[train], W[train])
                error = np.average((one.predict(X[test]) - Y[test]) ** 2, weights=W[test])
                assert model.scores_[fold, line, point] == pytest.approx(-error, rel=1e-5)
    best = np.unravel_index(model.scores_.mean(axis=0).argmax(), (3, 3))
    assert (model.gamma_, model.alpha_) == (model.gammas_[best[0]], alphas[best[1]])
    last = sw.RelaxedLasso(model.alpha_, gamma=model.gamma_, tol=1e-12).fit(X, Y, W)
    np.testing.assert_allclose(model.coef_, last.coef_, atol=1e-6)
    plain = sw.LassoCV(alphas=alphas, cv=folds, tol=1e-12).fit(form(X), Y, W)
    np.testing.assert_allclose(model.scores_[:, 0], -plain.mse_path_.T, rtol=1e-6)


def test_it_selects_fewer_features_than_the_lasso():
    lasso, relaxed = sw.LassoCV().fit(X, Y), sw.RelaxedLassoCV().fit(X, Y)
    assert set(np.flatnonzero(relaxed.coef_)) >= {0, 1, 2}
    assert np.count_nonzero(relaxed.coef_) < np.count_nonzero(lasso.coef_) and relaxed.gamma_ < 1
    assert relaxed.gap_ <= 1e-6 and np.abs(relaxed.coef_ - TRUE).max() < np.abs(lasso.coef_ - TRUE).max()


@pytest.mark.parametrize("gamma", GAMMAS)
def test_classifiers_mix_logistic_fits(gamma):
    model = sw.RelaxedLassoClassifier(0.1, gamma=gamma, tol=1e-12).fit(X, LABELS)
    lasso = sw.solve(X, LABELS == "b", loss="logistic", l1=0.1, intercept=True, tol=1e-12)
    used = np.flatnonzero(lasso.x)
    assert 0 < used.size < 10
    other = linear_model.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10**5).fit(X[:, used], LABELS)
    whole = np.zeros(D)
    whole[used] = other.coef_[0]
    np.testing.assert_allclose(model.coef_[0], gamma * lasso.x + (1 - gamma) * whole, atol=1e-4)
    assert model.predict_proba(X).shape == (N, 2) and model.gap_ <= 1e-12


@pytest.mark.parametrize("sparse_coef", [False, True])
def test_several_classes_and_their_cross_validation(sparse_coef):
    names = np.where(X[:, 5] + np.random.default_rng(1).normal(size=N) > 1.0, "c", LABELS)
    model = sw.RelaxedLassoClassifier(0.08, gamma=0.5, sparse_coef=sparse_coef).fit(X, names)
    coef = model.coef_.toarray() if sparse_coef else model.coef_
    for k, name in enumerate(model.classes_):
        one = sw.RelaxedLassoClassifier(0.08, gamma=0.5).fit(X, names == name)
        np.testing.assert_allclose(coef[k], one.coef_[0], atol=1e-3)
    chosen = sw.RelaxedLassoClassifierCV(alphas=5, eps=0.2, gammas=[0.0, 1.0], cv=3, sparse_coef=sparse_coef)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        chosen = chosen.fit(X, names)
    assert chosen.scores_.shape == (3, 2, 5) and np.isfinite(chosen.scores_).all()


def test_where_a_refit_would_separate_the_lasso_is_kept():
    labels = X[:, 0] > 0.5
    with pytest.warns(sw.ConvergenceWarning, match="no finite minimiser"):
        model = sw.RelaxedLassoClassifier(0.1).fit(X[:, :5], labels)
    lasso = sw.RelaxedLassoClassifier(0.1, gamma=1.0).fit(X[:, :5], labels)
    np.testing.assert_array_equal(model.coef_, lasso.coef_)  # it is kept
    chosen = sw.RelaxedLassoClassifierCV(alphas=[0.1, 0.05], gammas=[0.0, 1.0], cv=3, scoring="neg_log_loss")
    scores = chosen.fit(X[:, :5], labels).scores_
    np.testing.assert_allclose(scores[:, 0], scores[:, 1], rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.RelaxedLassoClassifier(0.1, gamma=1.0).fit(X[:, :5], labels)


def test_refits_that_the_time_does_not_allow_have_no_score():
    with pytest.warns(sw.ConvergenceWarning, match="models on folds did not reach"):
        model = sw.RelaxedLassoCV(alphas=10, max_seconds=1e-9).fit(X, Y)
    assert np.isnan(model.scores_[:, 1:]).all() and np.isnan(model.scores_[:, 0, 1:]).all() and model.gamma_ == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sw.RelaxedLasso(gamma=1.5).fit(X, Y), "gamma must be between 0 and 1"),
        (lambda: sw.RelaxedLasso(gamma="all").fit(X, Y), "gamma"),
        (lambda: sw.RelaxedLasso(-1.0).fit(X, Y), "alpha"),
        (lambda: sw.RelaxedLassoCV(gammas=[]).fit(X, Y), "gammas is empty"),
        (lambda: sw.RelaxedLassoCV(gammas=[0.5, -1.0]).fit(X, Y), "gammas"),
        (lambda: sw.RelaxedLassoClassifier(loss="squared").fit(X, LABELS), "not a loss for two classes"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
