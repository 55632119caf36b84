"""Estimators that choose their penalty: the same choice as scikit-learn's, any scorer, any splitter, Ctrl-C."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model
from sklearn.datasets import load_digits
from sklearn.metrics import get_scorer, log_loss, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold

import southwell as sw
from estimator_data import classes, numbers
from southwell.estimators._folds import best_of


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_the_same_choice_as_scikit_learn(form):
    X, y = numbers()
    ours, theirs = sw.LassoCV().fit(form(X), y), linear_model.LassoCV(tol=1e-8, max_iter=10**5).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    assert np.allclose(ours.alphas_, theirs.alphas_)
    assert np.allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-3)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3) and ours.gap_ <= 1e-6
    ratios = [0.2, 0.7, 0.95]
    ours = sw.ElasticNetCV(l1_ratio=ratios, cv=4, n_jobs=2).fit(form(X), y)
    theirs = linear_model.ElasticNetCV(l1_ratio=ratios, cv=4, tol=1e-8, max_iter=10**5).fit(X, y)
    assert (ours.l1_ratio_, ours.alpha_) == pytest.approx((theirs.l1_ratio_, theirs.alpha_), rel=1e-9)
    assert ours.mse_path_.shape == theirs.mse_path_.shape


def test_one_standard_error_chooses_the_simpler_model():
    X, y = numbers()
    least, simpler = sw.LassoCV().fit(X, y), sw.LassoCV(one_standard_error=True).fit(X, y)
    assert simpler.alpha_ > least.alpha_ and (simpler.coef_ != 0).sum() <= (least.coef_ != 0).sum()
    errors = least.mse_path_.mean(axis=1)
    spread = least.mse_path_[errors.argmin()].std(ddof=1) / np.sqrt(5)
    assert errors[least.alphas_ == simpler.alpha_] <= errors.min() + spread
    by_median = sw.LassoCV(scoring="neg_median_absolute_error").fit(X, y)
    assert by_median.mse_path_.shape == (100, 5) and (by_median.mse_path_ > 0).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_the_same_scores_as_scikit_learn(form, ratio):
    """One model a fold and C, by scikit-learn's own class on the same rows."""
    X, y = classes()
    Cs, folds = np.array([0.01, 0.1, 1.0]), StratifiedKFold(4)
    ours = sw.LogisticRegressionCV(
        use_legacy_attributes=False, Cs=Cs, l1_ratios=[ratio], cv=folds, scoring="neg_log_loss", tol=1e-9
    ).fit(form(X), y)
    assert ours.scores_.shape == (4, 1, 3) and ours.gap_ <= 1e-9
    for fold, (train, test) in enumerate(folds.split(X, y)):
        for at, C in enumerate(Cs):
            alone = sw.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-9).fit(X[train], y[train])
            assert ours.scores_[fold, 0, at] == pytest.approx(
                -log_loss(y[test], alone.predict_proba(X[test])), abs=1e-5
            )
    if ratio == 0:
        theirs = linear_model.LogisticRegression(C=ours.C_, tol=1e-10, max_iter=10**4).fit(X, y)
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_one_penalty_for_all_classes():
    X, y = load_digits(return_X_y=True)
    X = X[:600] / 16
    model = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=[0.01, 1.0], penalty="l1", cv=3).fit(X, y[:600])
    assert model.coef_.shape == (10, 64) and model.C_ == 1.0 and model.l1_ratio_ == 1.0
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    alone = sw.LogisticRegression("l1", C=1.0).fit(X, y[:600])
    assert np.allclose(model.coef_, alone.coef_, atol=1e-2)
    labels = np.column_stack([y[:600] % 2, y[:600] > 4])
    many = sw.SparseLinearClassifierCV("smooth_hinge", l1s=5, cv=3).fit(X, sp.csr_matrix(labels))
    assert many.predict(X).shape == labels.shape and many.scores_.shape == (3, 1, 5)


def test_l2_alone_can_be_chosen():
    X, y = classes()
    l2s = [1e-4, 1e-2, 1.0]
    model = sw.SparseLinearClassifierCV("hinge", l1s=[0.0], l2s=l2s, cv=3).fit(X, y)
    assert model.scores_.shape == (3, 3, 1) and model.l1_ == 0 and model.l2_ in l2s
    assert model.l2s_.tolist() == sorted(l2s, reverse=True) and model.l1s_.tolist() == [0.0]
    both = sw.SparseLinearClassifierCV(l1s=4, l2s=[0.0, 1e-2], cv=3).fit(X, y)
    assert both.scores_.shape == (3, 2, 4) and both.l2s_.tolist() == [1e-2, 0.0]
    assert not hasattr(model, "predict_proba") and both.predict_proba(X).shape == (len(y), 2)


def test_a_scorer_sees_a_fitted_model():
    """Of its own fold, on any rows it likes."""
    X, y = classes()
    seen = []

    def own(estimator, rows, targets):
        seen.append(estimator)
        assert np.array_equal(estimator.predict(rows), estimator.predict(rows.copy()))
        assert estimator.predict_proba(X[:3]).shape == (3, 2)
        return estimator.score(rows, targets)

    by_hand = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=3, scoring=own).fit(
        X, y, sample_weight=np.ones(len(y))
    )
    named = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=3).fit(X, y)
    assert np.allclose(by_hand.scores_, named.scores_) and len(seen) == 9
    assert by_hand.predict(X[:3]).shape == (3,)
    weighted = sw.LassoCV(scoring="neg_mean_absolute_error", alphas=5).fit(*numbers(), sample_weight=np.arange(442.0))
    plain = sw.LassoCV(scoring=make_scorer(lambda t, p: -np.abs(t - p).mean()), alphas=5).fit(*numbers())
    assert weighted.mse_path_.shape == plain.mse_path_.shape == (5, 5)


def test_folds_and_threads_do_not_change_numbers():
    X, y = classes()
    one, two = (sw.SparseLinearClassifierCV(l1s=6, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.scores_, two.scores_) and np.array_equal(one.coef_, two.coef_)


def test_groups_are_routed():
    X, y = numbers()
    groups = np.arange(len(y)) % 7
    with sklearn.config_context(enable_metadata_routing=True):
        model = sw.LassoCV(cv=GroupKFold(4), alphas=5).fit(X, y, groups=groups)
        scorer = get_scorer("neg_mean_absolute_error").set_score_request(sample_weight=True)
        other = sw.LassoCV(cv=4, alphas=5, scoring=scorer).set_fit_request(sample_weight=True)
        assert other.fit(X, y, sample_weight=1.0 + groups).mse_path_.shape == (5, 4)
    splits = list(GroupKFold(4).split(X, y, groups))
    by_hand = sw.LassoCV(cv=splits, alphas=5).fit(X, y)
    assert np.array_equal(model.mse_path_, by_hand.mse_path_)
    with pytest.raises(ValueError, match="fit got groups"):
        sw.LassoCV().fit(X, y, groups=groups)


def test_a_fold_must_have_something_to_learn_from():
    X, y = classes()
    order = np.argsort(y)
    with pytest.raises(ValueError, match="The rows that fold 1 learns from are alike"):
        sw.SparseLinearClassifierCV(cv=[(np.arange(569), np.arange(9)), (order[:100], order[100:])]).fit(X, y)
    with pytest.raises(ValueError, match="Fold 0 has 0 rows"):
        sw.LassoCV(cv=[(np.arange(0), np.arange(9))]).fit(*numbers())


def test_the_best_score_or_the_simplest_near_it_is_chosen():
    scores = np.array([[[0.0, 2.0, 3.0], [1.0, 1.0, 1.0]], [[1.0, 3.5, 3.0], [1.0, 1.0, 1.0]]])
    assert best_of(scores, False) == best_of(scores, True) == (0, 2)  # no spread at all
    scores[:, 0, 2] = 3.0, 5.0  # 4 +- 1: the point before, of 2.75, is not within
    assert best_of(scores, True) == (0, 2)
    scores[:, 0, 2] = 2.0, 5.0  # 3.5 +- 1.5: it is, and the one before that is not
    assert best_of(scores, False) == (0, 2) and best_of(scores, True) == (0, 1)
    scores[:, 0, 2] = np.nan
    assert best_of(scores, False) == (0, 1)
    with pytest.raises(ValueError, match="every score is NaN"):
        best_of(np.full((2, 1, 3), np.nan), False)


# What a reviewer found


def test_folds_in_any_form():
    """Masks, lists and ranges name rows as index arrays do."""
    X, y = classes()
    first = np.arange(len(y)) % 3 > 0
    by_index = [(np.flatnonzero(first), np.flatnonzero(~first))]
    expected = (
        sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=by_index, scoring="neg_log_loss")
        .fit(X, y)
        .scores_
    )
    for splits in ([(first, ~first)], [tuple(map(list, by_index[0]))]):
        assert np.array_equal(
            sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=splits, scoring="neg_log_loss")
            .fit(X, y)
            .scores_,
            expected,
        )
    assert sw.LassoCV(cv=[(range(300), range(300, 442))], alphas=3).fit(*numbers()).mse_path_.shape == (3, 1)
    spent = iter(by_index)
    model = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=spent).fit(X, y)
    for cv in (spent, []):
        with pytest.raises(ValueError, match="There are no folds"):
            model.set_params(cv=cv).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        sw.LassoCV(cv=iter([(np.arange(300), np.arange(300, 442))]), alphas=3).fit(*numbers())


def survives_pickling(model, X, y) -> float:
    return float(np.allclose(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X)))


def test_what_is_routed_reaches_the_scorer():
    """Whose settings are those of the thread that asked for the fit."""
    X, y = numbers()

    def error(truth, guess, amount=None):
        return -np.average((truth - guess) ** 2, weights=amount)

    amount = np.arange(1.0, 443.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(error).set_score_request(amount=True)
        model = sw.LassoCV(cv=3, alphas=4, scoring=scorer).fit(X, y, amount=amount)
    assert model.mse_path_.shape == (4, 3)
    with pytest.raises(ZeroDivisionError, match="Class A"):  # errors pass as they are
        sw.LassoCV(scoring=lambda *_: (_ for _ in ()).throw(ZeroDivisionError("Class A is missing"))).fit(X, y)
    for value, words in ((np.ones(2), "must return a number"), ("3", "must return a number")):
        with pytest.raises(ValueError, match=words):
            sw.LassoCV(alphas=3, scoring=lambda *_, value=value: value).fit(X, y)
    sw.LassoCV(alphas=3, one_standard_error=True, scoring=lambda *_: np.inf).fit(X, y)
    assert sw.LassoCV(alphas=3, cv=2, scoring=survives_pickling).fit(X, y).mse_path_.tolist() == [[-1.0, -1.0]] * 3


def test_rows_of_no_weight_are_in_no_fold():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, np.minimum(y[:300], 2)
    weights = (y < 2).astype(float)
    model = sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=3, cv=3, scoring="neg_log_loss").fit(
        X, y, sample_weight=weights
    )
    assert model.classes_.tolist() == [0, 1] and np.isfinite(model.scores_).all()


def test_folds_that_end_early_are_told():
    X, y = classes()
    with pytest.warns(sw.estimators.ConvergenceWarning, match="of 10 models on folds did not reach the tolerance"):
        sw.LogisticRegressionCV(use_legacy_attributes=False, Cs=[1e-4, 1e6], penalty="l1", max_iter=1).fit(X, y)


def test_models_that_overflow_are_not_judged():
    X, y = numbers()
    with pytest.warns(sw.estimators.ConvergenceWarning, match="models on folds"):
        model = sw.LassoCV(alphas=5, cv=3).fit(X * 1e-10, y * 1e150)
    assert np.isnan(model.mse_path_).any() and not np.isnan(model.mse_path_[model.alphas_ == model.alpha_]).any()


def test_grids_may_be_given_in_other_forms():
    X, y = numbers()
    model = sw.LassoCV(alphas=[0.1, 0.0], cv=3).fit(X, y)
    assert model.alphas_.tolist() == [0.1, 0.0]
    assert sw.ElasticNetCV(l1_ratio=[0.5], alphas=4).fit(X, y).mse_path_.shape == (4, 5)
    with pytest.raises(ValueError, match="eps must be at most 1"):
        sw.LassoCV(eps=10.0).fit(X, y)
    X, y = classes()
    model = sw.SparseLinearClassifierCV(l1s=0.0, l2s=[0.1, 0.1], cv=3).fit(X, y)
    assert model.l1s_.tolist() == [0.0] and model.l2s_.tolist() == [0.1] and model.scores_.shape == (3, 1, 1)


def test_folds_are_let_go():
    """One at a time is there, where one is worked on at a time."""
    X = np.random.default_rng(0).standard_normal((4000, 500))
    tracemalloc.start()
    sw.LassoCV(alphas=3, cv=8, n_jobs=1).fit(X, X[:, 0])
    assert tracemalloc.get_traced_memory()[1] < 2.5 * X.nbytes
    tracemalloc.stop()
    X, y = load_digits(return_X_y=True)
    sparse = sw.SparseLinearClassifierCV(l1s=3, cv=2, sparse_coef=True, scoring="balanced_accuracy").fit(X / 16, y)
    dense = sw.SparseLinearClassifierCV(l1s=3, cv=2, scoring="balanced_accuracy").fit(X / 16, y)
    assert np.array_equal(sparse.scores_, dense.scores_)
