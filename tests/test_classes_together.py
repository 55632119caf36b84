"""Classes that are fitted together: the default of logistic models, also in cross-validation, and Crammer and Singer's
hinge."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn import linear_model, svm
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import scale

import southwell as sw

RNG = np.random.default_rng(0)


def test_several_classes_are_fitted_together():
    X, y = load_iris(return_X_y=True)
    ours, theirs = sw.LogisticRegression(tol=1e-9).fit(X, y), linear_model.LogisticRegression(max_iter=10**4).fit(X, y)
    assert log_loss(y, ours.predict_proba(X)) == pytest.approx(log_loss(y, theirs.predict_proba(X)), rel=1e-3)
    apart = sw.LogisticRegression(multi_class="ovr").fit(X, y)
    assert log_loss(y, apart.predict_proba(X)) > 2 * log_loss(y, ours.predict_proba(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_every_fold_scores_the_model_of_its_rows(form, ratio):
    X, y = load_wine(return_X_y=True)
    X, y = scale(X), np.array(["red", "rose", "white"])[y]
    Cs, folds = np.array([0.01, 0.1, 1.0]), StratifiedKFold(3)
    model = sw.LogisticRegressionCV(
        use_legacy_attributes=False, Cs=Cs, l1_ratios=[ratio], cv=folds, scoring="neg_log_loss", tol=1e-10
    )
    model.fit(form(X), y)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        for at, C in enumerate(Cs):
            alone = sw.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-10).fit(X[train], y[train])
            expected = -log_loss(y[test], alone.predict_proba(X[test]))
            assert model.scores_[fold, 0, at] == pytest.approx(expected, abs=1e-4)
    whole = sw.LogisticRegression(C=model.C_, l1_ratio=ratio, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-4)
    assert model.gap_ <= 1e-10 and model.coef_.shape == (3, 13)


def test_the_same_choice_as_scikit_learn_of_several_classes():
    X, y = load_iris(return_X_y=True)
    ours = sw.LogisticRegressionCV(use_legacy_attributes=False, scoring="neg_log_loss", tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = linear_model.LogisticRegressionCV(solver="newton-cg", tol=1e-8, scoring="neg_log_loss").fit(X, y)
    assert np.ravel(ours.C_)[0] == pytest.approx(np.ravel(theirs.C_)[0])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_class_that_a_fold_lacks_has_no_probability(multi_class, intercept):
    X, y = load_iris(return_X_y=True)
    seen = []

    def scorer(model, rows, targets):
        seen.append((targets[0], model.predict_proba(rows)))  # in any order: folds are solved on threads
        return model.score(rows, targets)

    cv = KFold(3)  # the rows are sorted: each fold is judged by a class that it has not seen
    model = sw.LogisticRegressionCV(
        use_legacy_attributes=False, Cs=[0.1], cv=cv, scoring=scorer, multi_class=multi_class, fit_intercept=intercept
    )
    model.fit(X, y)
    assert (model.scores_ == 0).all()
    for lacking, shares in seen:
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (shares[:, lacking] == 0).all() or multi_class == "ovr"
    for scoring in ("neg_log_loss", "neg_brier_score", "roc_auc_ovr"):
        if scoring != "roc_auc_ovr":
            model.set_params(scoring=scoring).fit(X, y)
            assert np.isfinite(model.scores_).all()


def test_a_fold_of_a_single_class():
    X, y = np.arange(6.0)[:, None], np.array(["a", "a", "b", "b", "c", "c"])
    splits = [(np.arange(2), np.arange(2, 6)), (np.arange(6), np.arange(6))]
    model = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=[1.0], cv=splits).fit(X, y)
    assert model.scores_[0] == 0.0 and model.scores_[1] > 0


def test_no_penalty_may_be_chosen():
    X, y = load_digits(return_X_y=True, n_class=4)
    X = X[:, 20:26] / 16  # too few features to tell the classes apart
    model = sw.LogisticRegressionCV(
        use_legacy_attributes=False, Cs=[1e-3, np.inf], scoring="neg_log_loss", tol=1e-9
    ).fit(X, y)
    assert np.isposinf(model.C_) and model.gap_ <= 1e-9
    free = sw.LogisticRegression(penalty=None, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), free.predict_proba(X), atol=1e-4)


# The hinge of Crammer and Singer


def hinge(X, y, coef, intercept):
    margins = X @ coef.T + intercept
    own = np.arange(len(coef)) == y[:, None]
    return (margins + ~own).max(axis=1) - margins[own]


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_crammer_and_singer(penalty, C):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = sw.LinearSVC(penalty, C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-7).fit(X, y)
    value = C * hinge(X, y, model.coef_, 0.0).sum()
    value += np.abs(model.coef_).sum() if penalty == "l1" else (model.coef_**2).sum() / 2
    assert model.gap_ <= 1e-7 and model.coef_.shape == (3, 4)
    if penalty == "l2":
        theirs = svm.LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-9, max_iter=10**6)
        theirs.fit(X, y)
        best = C * hinge(X, y, theirs.coef_, 0.0).sum() + (theirs.coef_**2).sum() / 2
        assert best - model.dual_gap_ <= value * (1 + 1e-9) and value <= best * (1 + 1e-6)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=5e-3)
    else:  # a linear program
        n, d, k = *X.shape, 3
        rows, limits = [], []
        for i in range(n):
            for c in set(range(k)) - {y[i]}:
                row = np.zeros(2 * d * k + n)
                for sign, at in ((1, c), (-1, y[i])):
                    row[at * d : (at + 1) * d] += sign * X[i]
                    row[(k + at) * d : (k + at + 1) * d] -= sign * X[i]
                row[2 * d * k + i] = -1
                rows.append(row)
                limits.append(-1.0)
        cost = np.r_[np.ones(2 * d * k), np.full(n, C)]
        best = linprog(cost, np.array(rows), limits).fun
        assert best - 1e-9 <= value <= best + model.dual_gap_ + 1e-9


def test_crammer_and_singer_of_two_classes():
    """One row of coefficients; the hinge of the difference of both margins."""
    X, y = load_iris(return_X_y=True)
    X, y = scale(X[y > 0]), y[y > 0]
    model = sw.LinearSVC(C=0.1, multi_class="crammer_singer", fit_intercept=False, tol=1e-8).fit(X, y)
    plain = sw.LinearSVC(loss="hinge", C=0.2, fit_intercept=False, tol=1e-8).fit(X, y)
    assert model.coef_.shape == (1, 4) and model.decision_function(X).shape == (100,)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3)
    assert set(model.predict(X)) == {1, 2}


def test_crammer_and_singer_with_weights_and_an_intercept(tmp_path):
    X, y = load_iris(return_X_y=True)
    weights = RNG.integers(0, 3, len(y))
    model = sw.LinearSVC(C=0.1, multi_class="crammer_singer", tol=1e-8)
    weighted = model.fit(X, y, sample_weight=weights).coef_
    whole = sw.LinearSVC(C=0.1, multi_class="crammer_singer", tol=1e-8)
    whole.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, whole.coef_, atol=1e-3)
    model.save(tmp_path / "model")
    assert np.array_equal(sw.load(tmp_path / "model").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="multi_class"):
        sw.LinearSVC(multi_class="multinomial").fit(X, y)
    with pytest.warns(sw.ConvergenceWarning, match="did not|ran out|limit|epochs"):
        sw.LinearSVC(C=100.0, multi_class="crammer_singer", max_iter=0).fit(X, y)


def test_contradictions_are_refused():
    X, y = load_iris(return_X_y=True)
    for model in (
        sw.LogisticRegression("l1", l1_ratio=0.5),
        sw.LogisticRegression("l2", l1_ratio=0.5),
        sw.LogisticRegression(None, l1_ratio=0.5),
        sw.LinearSVC("l2", l1_ratio=0.5),
        sw.LogisticRegressionCV(use_legacy_attributes=False, penalty="l1", l1_ratios=[0.5]),
    ):
        with pytest.raises(ValueError, match="contradict each other"):
            model.fit(X, y)
