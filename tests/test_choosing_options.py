"""Weights, bounds, standardising and offsets in the estimators that choose their penalty or its weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.base import clone
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import LeaveOneOut

import southwell as sw
from southwell.selection import StabilitySelection

RNG = np.random.default_rng(0)
N, D = 60, 5
SCALES = np.array([1.0, 10.0, 0.1, 3.0, 0.5])
X = RNG.normal(size=(N, D)) * SCALES + np.r_[0.0, 5.0, 0.0, -2.0, 0.0]
Y = X @ (np.array([1.0, -0.5, 0.0, 0.3, 0.2]) / SCALES) + 0.3 * RNG.normal(size=N)
SIGNS = np.where(np.median(Y) < Y, 1, -1)
OFFSET = RNG.normal(size=N)
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.5])
ALPHAS = np.logspace(-2, 3, 6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"penalty_weights": WEIGHTS}, {"penalty_weights": WEIGHTS / 9}], ids=str)
@pytest.mark.parametrize("offset", [None, OFFSET], ids=["", "offset"])
def test_left_out_errors_are_those_of_fits_without_the_sample(form, options, offset):
    model = sw.RidgeCV(ALPHAS, store_cv_results=True, tol=1e-12, **options).fit(form(X), Y, offset=offset)
    one = sw.Ridge(tol=1e-13, **options)
    for k, alpha in enumerate(ALPHAS[::2]):
        for train, test in list(LeaveOneOut().split(X))[::7]:
            known = [None, None] if offset is None else [offset[train], offset[test]]
            fit = clone(one).set_params(alpha=alpha).fit(X[train], Y[train], offset=known[0])
            error = mean_squared_error(Y[test], fit.predict(X[test], offset=known[1]))
            assert model.cv_results_[test[0], 2 * k] == pytest.approx(error, rel=1e-4, abs=1e-9)
    alone = clone(one).set_params(alpha=model.alpha_).fit(X, Y, offset=offset)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", [sw.RidgeCV, sw.RidgeClassifierCV])
def test_left_out_errors_of_standardised_columns(kind):
    y = Y if kind is sw.RidgeCV else SIGNS
    ours = kind(ALPHAS, standardize=True, tol=1e-12).fit(X, y)
    by_hand = kind(ALPHAS, tol=1e-12).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(ours.scores_, by_hand.scores_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", [sw.RidgeCV, sw.RidgeClassifierCV])
@pytest.mark.parametrize("options", [{"upper": 0.1}, {"penalty_weights": WEIGHTS * [1, 1, 0, 1, 1]}], ids=str)
def test_what_no_decomposition_answers_is_left_to_folds(kind, options):
    y = Y if kind is sw.RidgeCV else SIGNS
    with pytest.raises(ValueError, match="give cv=5"):
        kind(ALPHAS, **options).fit(X, y)
    model = kind(ALPHAS, cv=5, **options).fit(X, y)
    assert model.coef_.max() <= options.get("upper", np.inf) and model.gap_ <= 1e-6


def test_least_squares_has_bounds_and_offsets():
    model = sw.LinearRegression(lower=-0.01, upper=[0.5, np.inf, 0.0, 1.0, 1.0]).fit(X, Y, offset=OFFSET)
    assert (model.coef_ >= -0.01).all() and model.coef_[0] <= 0.5 and model.coef_[2] <= 0 and model.gap_ <= 1e-6
    wide = RNG.normal(size=(20, 40))
    ours = sw.LinearRegression().fit(wide, Y[:20], offset=OFFSET[:20])
    plain = sw.LinearRegression().fit(wide, Y[:20] - OFFSET[:20])
    np.testing.assert_allclose(ours.coef_, plain.coef_, atol=1e-10)  # of least norm
    assert ours.rank_ == plain.rank_


@pytest.mark.parametrize(
    "model",
    [
        sw.AdaptiveLasso(0.05), sw.AdaptiveLasso(0.02, gamma=2.0), sw.AdaptiveLasso(0.05, first=sw.LinearRegression()),
        sw.ConcaveRegressor(l1=0.1), sw.ConcaveRegressor(l1=0.1, penalty="scad"), sw.ConcaveClassifier(l1=0.02),
        sw.ConcaveRegressor(l1=0.1, l2=0.2), sw.RidgeClassifier(3.0), sw.RelaxedLasso(0.1, gamma=0.5),
        sw.RelaxedLassoClassifier(0.1),
    ],
    ids=str,
)  # fmt: skip
def test_standardising_is_what_scaled_columns_give(model):
    y = SIGNS if hasattr(model, "decision_function") else Y
    model.set_params(tol=1e-10)
    ours, by_hand = clone(model).set_params(standardize=True).fit(X, y), clone(model).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-3)
    assert ours.coef_.any()


CHOOSERS = [
    sw.SparseLinearRegressorCV(l1s=5, cv=3), sw.SparseLinearRegressorIC(l1s=5),
    sw.SparseLinearClassifierIC(l1s=5), sw.AdaptiveLasso(1e-3), sw.AdaptiveLassoCV(alphas=5, cv=3),
    sw.ConcaveRegressor(l1=1e-3), sw.ConcaveRegressorCV(l1s=4, cv=3), sw.ConcaveClassifierCV(l1s=4, cv=3),
    sw.RidgeCV(cv=3), sw.RidgeClassifierCV(cv=3), sw.RidgeClassifier(), sw.RelaxedLasso(1e-3, gamma=0.5),
    sw.RelaxedLassoClassifier(1e-3, gamma=0.5), sw.RelaxedLassoCV(alphas=5, cv=3, gammas=[0.5]),
]  # fmt: skip


@pytest.mark.parametrize("model", CHOOSERS, ids=str)
def test_bounds_hold_and_weights_count(model):
    y = SIGNS if hasattr(model, "decision_function") else Y
    free = np.ravel(clone(model).fit(X, y).coef_)
    top = np.abs(free).max() / 2
    bounded = clone(model).set_params(lower=-top, upper=top).fit(X, y)
    assert np.abs(bounded.coef_).max() <= top and bounded.gap_ <= 1e-6
    held = np.ravel(clone(model).set_params(penalty_weights=np.where(np.arange(D) == 0, 1e6, 1.0)).fit(X, y).coef_)
    assert abs(held[0]) < 1e-2 * abs(free[0])


@pytest.mark.parametrize("model", CHOOSERS, ids=str)
def test_offsets_are_known_parts_of_the_margins(model):
    y = SIGNS if hasattr(model, "decision_function") else Y
    if y is Y:
        ours, plain = clone(model).fit(X, Y, offset=OFFSET), clone(model).fit(X, Y - OFFSET)
        np.testing.assert_allclose(ours.coef_, plain.coef_, atol=1e-6)
        np.testing.assert_allclose(ours.predict(X, offset=OFFSET), plain.predict(X) + OFFSET, atol=1e-4)
    else:  # a margin that tells the classes apart leaves nothing to learn
        known = y * (1.0 if "Ridge" in str(model) else 10.0)
        ours = clone(model).fit(X, y, offset=known)
        assert ours.score(X, y, offset=known) == 1.0 and ours.gap_ <= 1e-6


def test_degrees_of_freedom_leave_out_what_is_at_a_bound():
    free = sw.SparseLinearRegressorIC(l1s=[0.01]).fit(X, Y)
    top = np.sort(np.abs(free.coef_))[-1] / 2
    model = sw.SparseLinearRegressorIC(l1s=[0.01], lower=-top, upper=top, dispersion=1.0).fit(X, Y)
    inside = (model.coef_ != 0) & (np.abs(model.coef_) < top)
    assert model.degrees_of_freedom_[0, 0] == inside.sum() < (model.coef_ != 0).sum()


def test_stability_selection_is_of_the_model_that_is_meant():
    given = {"l1s": [0.3, 0.1], "n_pairs": 4, "random_state": 0}
    spread = X.std(axis=0)
    by_hand = StabilitySelection(penalty_weights=spread, **given).fit(X, Y).probabilities_
    np.testing.assert_allclose(by_hand, StabilitySelection(**given).fit(X / spread, Y).probabilities_)
    assert not StabilitySelection(upper=0.0, lower=0.0, **given).fit(X, Y).probabilities_.any()
    moved = StabilitySelection(**given).fit(X, Y, offset=OFFSET).probabilities_
    np.testing.assert_allclose(moved, StabilitySelection(**given).fit(X, Y - OFFSET).probabilities_)


def test_local_minima_know_offsets():
    given = {"penalty": sw.local.MCP(0.1), "intercept": True}
    ours, plain = sw.local.solve(X, Y, offset=OFFSET, **given), sw.local.solve(X, Y - OFFSET, **given)
    np.testing.assert_allclose(ours.x, plain.x, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X, offset=OFFSET), plain.predict(X) + OFFSET, atol=1e-8)
    r = sw.local.path(X, SIGNS, loss="logistic", offset=50.0 * SIGNS, l1s=[0.1, 0.01], **given)
    assert np.array_equal(r.predict(X, offset=50.0 * SIGNS)[:, 1], SIGNS) and abs(r.objectives[1]) < 1e-6


@pytest.mark.parametrize(
    "model",
    [
        sw.RidgeCV(ALPHAS), sw.RidgeClassifierCV(ALPHAS), linear_model.RidgeClassifier(2.0), sw.LinearRegression(),
        sw.SparseLinearRegressorIC(l1s=5), sw.SparseLinearClassifierIC(l1s=5), sw.AdaptiveLassoCV(alphas=5, cv=3),
        sw.RidgeCV(ALPHAS, standardize=True, penalty_weights=WEIGHTS),
    ],
    ids=str,
)  # fmt: skip
def test_the_audit_finds_the_gap_of_the_chosen_model(model):
    y = SIGNS if hasattr(model, "decision_function") else Y
    model = clone(model).fit(X, y)
    assert sw.audit(model, X, y).relative_gap <= 1.1 * getattr(model, "gap_", 1e-6)


def test_what_minimises_no_convex_problem_is_not_audited():
    for model in (sw.ConcaveRegressor(l1=0.1), sw.ConcaveRegressorCV(l1s=3, cv=3)):
        with pytest.raises(TypeError, match="not convex"):
            sw.audit(model.fit(X, Y), X, Y)
    with pytest.raises(TypeError, match="minimises no problem"):
        sw.audit(sw.RelaxedLasso(0.1, gamma=0.5).fit(X, Y), X, Y)
    assert sw.audit(sw.RelaxedLasso(0.1, gamma=1.0).fit(X, Y), X, Y).relative_gap <= 1e-6


@pytest.mark.parametrize("intercept", [True, False])
def test_grids_of_coefficients_above_zero_begin_where_the_first_of_them_enters(intercept):
    model = sw.LassoCV(alphas=3, cv=3, positive=True, fit_intercept=intercept).fit(X, -Y)
    top = model.alphas_[0]
    assert not sw.Lasso(1.001 * top, positive=True, fit_intercept=intercept).fit(X, -Y).coef_.any()
    assert sw.Lasso(0.98 * top, positive=True, fit_intercept=intercept, tol=1e-9).fit(X, -Y).coef_.any()
