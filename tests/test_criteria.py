"""Information criteria along a path: degrees of freedom, formulas, planted supports; cross-validation by loss."""

import numpy as np
import pytest
from scipy.special import comb
from sklearn.linear_model import LassoLarsIC

import southwell as sw
from estimator_data import classes, numbers
from southwell.estimators.general_ic import degrees_of_freedom


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_of_the_lasso_it_is_that_of_scikit_learn(criterion):
    X, y = numbers()
    theirs = LassoLarsIC(criterion=criterion, noise_variance=0.5).fit(X, y)
    l1s = theirs.alphas_[theirs.alphas_ > 0]
    ours = sw.SparseLinearRegressorIC(criterion=criterion, dispersion=0.5, l1s=l1s, tol=1e-12).fit(X, y)
    differences = ours.criterion_[0] - theirs.criterion_[theirs.alphas_ > 0]
    # At a knot of the path the coefficient that enters is zero; a rounding decides if it counts.
    step = 2.0 if criterion == "aic" else np.log(len(y))
    odd = (differences + len(y) * np.log(np.pi)) / step
    assert np.abs(odd - odd.round()).max() <= 1e-6 and set(odd.round()) <= {0.0, 1.0}
    between = np.sqrt(l1s[1:] * l1s[:-1])
    model = sw.SparseLinearRegressorIC(criterion=criterion, dispersion=0.5, l1s=between, tol=1e-12).fit(X, y)
    for l1, own in zip(between, model.criterion_[0], strict=True):
        fit = sw.Lasso(l1, tol=1e-12).fit(X, y)
        assert own == pytest.approx(((y - fit.predict(X)) ** 2).sum() / 0.5 + step * (fit.coef_ != 0).sum(), rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(30, 5), (8, 20)])
def test_degrees_of_freedom_are_the_trace_of_the_map_to_the_fit(intercept, shape):
    rng = np.random.default_rng(0)
    X, n, l2 = rng.standard_normal(shape), shape[0], 0.3
    rows = X - X.mean(axis=0) * intercept
    hat = rows @ np.linalg.solve(rows.T @ rows / n + l2 * np.eye(shape[1]), rows.T / n)
    found = degrees_of_freedom(X, np.arange(shape[1]), np.full(n, 1 / n), np.full(shape[1], l2), intercept)
    assert found == pytest.approx(np.trace(hat))
    assert degrees_of_freedom(X, np.arange(3), np.full(n, 1 / n), np.zeros(3), intercept) == 3
    ridge = rng.uniform(0.1, 1.0, shape[1]) * (np.arange(shape[1]) > 1)
    hat = rows @ np.linalg.solve(rows.T @ rows / n + np.diag(np.maximum(ridge, 1e-9)), rows.T / n)
    assert degrees_of_freedom(X, np.arange(shape[1]), np.full(n, 1 / n), ridge, intercept) == pytest.approx(
        np.trace(hat), rel=1e-6
    )


@pytest.mark.parametrize("loss", ["squared", "quantile", "poisson"])
@pytest.mark.parametrize("criterion", ["bic", "ebic"])
def test_a_planted_support_is_found(loss, criterion):
    rng = np.random.default_rng(3)
    X, truth = rng.standard_normal((300, 60)), np.zeros(60)
    truth[[3, 20, 41]] = [0.6, -0.8, 0.7]
    y = rng.poisson(np.exp(X @ truth)).astype(float) if loss == "poisson" else X @ truth + rng.standard_normal(300) / 2
    model = sw.SparseLinearRegressorIC(loss, criterion=criterion, l1s=40).fit(X, y)
    assert set(np.flatnonzero(truth)) <= set(np.flatnonzero(model.coef_)) and (model.coef_ != 0).sum() <= 8
    assert model.gap_ <= 1e-6 and model.l1_ in model.l1s_
    best = np.unravel_index(np.argmin(model.criterion_), model.criterion_.shape)
    assert model.l1_ == model.l1s_[best[1]] and model.degrees_of_freedom_[best] == (model.coef_ != 0).sum()


def test_ebic_adds_the_number_of_supports():
    X, y = numbers()
    bic, ebic = (
        sw.SparseLinearRegressorIC(criterion=own, gamma=0.7, l1s=[0.3, 0.05]).fit(X, y) for own in ("bic", "ebic")
    )
    more = 2 * 0.7 * np.log(comb(X.shape[1], bic.degrees_of_freedom_))
    np.testing.assert_allclose(ebic.criterion_ - bic.criterion_, more)


def test_classes_and_several_l2s():
    X, y = classes()
    model = sw.SparseLinearClassifierIC(l1s=10, l2s=[0.0, 0.01]).fit(X, y)
    assert model.criterion_.shape == model.degrees_of_freedom_.shape == (2, 10)
    weights = np.ones(len(y))
    cost = -2 * np.log(model.predict_proba(X)[np.arange(len(y)), y]).sum()
    if model.l2_ == 0:
        assert model.criterion_.min() == pytest.approx(cost + np.log(len(y)) * (model.coef_ != 0).sum(), rel=1e-4)
    again = sw.SparseLinearClassifierIC(l1s=10, l2s=[0.0, 0.01]).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(again.criterion_, model.criterion_, rtol=1e-6)
    only = sw.SparseLinearClassifierIC(l1s=[0.01], l2s=[0.0, 0.01]).fit(X, y)
    assert only.criterion_.shape == only.degrees_of_freedom_.shape == (2, 1)
    hinge = sw.SparseLinearClassifierIC("hinge", dispersion=1.0, l1s=5).fit(X, y)
    assert np.isfinite(hinge.criterion_).all()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sw.SparseLinearRegressorIC(criterion="mdl"), "criterion must be one of 'aic', 'bic', 'ebic'"),
        (sw.SparseLinearRegressorIC(gamma=2.0), "gamma must be between 0 and 1"),
        (sw.SparseLinearRegressorIC(dispersion=0.0), "dispersion"),
        (sw.SparseLinearRegressorIC("huber"), "not a likelihood with a known scale: give dispersion"),
        (sw.SparseLinearRegressorIC("quantile", l2s=0.1), "degrees of freedom are known for losses with a second"),
    ],
    ids=str,
)
def test_criteria_that_mean_nothing_are_refused(model, words):
    X, y = numbers()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("loss", [sw.losses.Squared(), sw.losses.Huber(0.5), sw.losses.Quantile(0.8)], ids=repr)
def test_cross_validation_is_by_the_loss_that_is_minimised(loss):
    X, y = numbers()
    model = sw.SparseLinearRegressorCV(loss, l1s=5, l2s=[0.0, 0.1], cv=3).fit(X, y)
    rows = np.arange(len(y))
    test = np.array_split(rows, 3)[1]
    train = np.setdiff1d(rows, test)
    one = sw.SparseLinearRegressor(loss, l1=model.l1s_[2], l2=model.l2s_[0], tol=1e-9).fit(X[train], y[train])
    assert model.scores_[1, 0, 2] == pytest.approx(-loss.value(one.predict(X[test]), y[test]).mean(), rel=1e-3)
    means = model.scores_.mean(axis=0)
    assert means.max() == means[list(model.l2s_).index(model.l2_), list(model.l1s_).index(model.l1_)]
