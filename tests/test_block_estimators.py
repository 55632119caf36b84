"""Estimators of blocks: groups, tasks, classes together."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_digits, load_iris, load_linnerud
from sklearn.preprocessing import scale

import southwell as sw

RNG = np.random.default_rng(0)


def tasks(n=60, d=30, k=4):
    X = RNG.normal(size=(n, d))
    W = np.zeros((k, d))
    W[:, :5] = RNG.normal(size=(k, 5))
    return X, X @ W.T + 0.3 * RNG.normal(size=(n, k)) + np.arange(k)


# Several targets


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_several_targets_are_those_of_scikit_learn(form, ratio, intercept):
    X, Y = tasks()
    for alpha in (0.5, 0.05, 0.005):
        theirs = linear_model.MultiTaskElasticNet(alpha, l1_ratio=ratio, fit_intercept=intercept, tol=1e-12,
                                                  max_iter=100_000).fit(X, Y)  # fmt: skip
        ours = sw.MultiTaskElasticNet(alpha, l1_ratio=ratio, fit_intercept=intercept, tol=1e-13).fit(form(X), Y)
        assert ours.status_ is sw.Status.CONVERGED
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
        assert np.array_equal(ours.coef_ != 0, theirs.coef_ != 0) or ratio < 0.1
        np.testing.assert_allclose(ours.predict(form(X)), theirs.predict(X), atol=1e-4)


def test_a_feature_is_used_for_all_targets_or_for_none():
    X, Y = tasks()
    model = sw.MultiTaskLasso(alpha=0.3).fit(X, Y)
    used = model.coef_ != 0
    assert np.array_equal(used.any(axis=0), used.all(axis=0)) and 0 < used.any(axis=0).sum() < X.shape[1]


def test_weights_of_tasks_are_repeated_rows():
    X, Y = tasks()
    w = RNG.integers(0, 3, size=len(X))
    weighted = sw.MultiTaskLasso(alpha=0.1, tol=1e-13).fit(X, Y, sample_weight=w)
    repeated = sw.MultiTaskLasso(alpha=0.1, tol=1e-13).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_one_target_is_sent_elsewhere():
    X, Y = tasks()
    with pytest.raises(ValueError, match=r"y of shape .* For one target use ElasticNet or Lasso"):
        sw.MultiTaskLasso().fit(X, Y[:, 0])
    one = sw.MultiTaskLasso(alpha=0.1, tol=1e-13).fit(X, Y[:, :1])
    np.testing.assert_allclose(one.coef_[0], sw.Lasso(alpha=0.1, tol=1e-13).fit(X, Y[:, 0]).coef_, atol=1e-6)


# Groups


@pytest.mark.parametrize("intercept", [True, False])
def test_groups_of_one_are_the_lasso(intercept):
    X, Y = tasks()
    for form in (np.asarray, sp.csr_array):
        group = sw.GroupLasso(groups=1, alpha=0.1, fit_intercept=intercept, tol=1e-13).fit(form(X), Y[:, 0])
        lasso = sw.Lasso(alpha=0.1, fit_intercept=intercept, tol=1e-13).fit(form(X), Y[:, 0])
        np.testing.assert_allclose(group.coef_, lasso.coef_, atol=1e-7)
        assert group.intercept_ == pytest.approx(lasso.intercept_, abs=1e-7)


def test_all_l1_is_the_lasso_and_all_l2_is_ridge():
    X, Y = tasks()
    y = Y[:, 0]
    plain = sw.GroupLasso(groups=5, alpha=0.1, l1_ratio=1.0, tol=1e-13).fit(X, y)
    np.testing.assert_allclose(plain.coef_, sw.Lasso(alpha=0.1, tol=1e-13).fit(X, y).coef_, atol=1e-7)
    elastic = sw.GroupLasso(groups=1, alpha=0.1, l2=0.3, tol=1e-13).fit(X, y)
    theirs = linear_model.ElasticNet(alpha=0.4, l1_ratio=0.25, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(elastic.coef_, theirs.coef_, atol=1e-6)


def test_groups_in_every_form_are_the_same():
    X, Y = tasks()
    y, order = Y[:, 0], RNG.permutation(30)
    by_size = sw.GroupLasso(groups=3, alpha=0.2, tol=1e-13).fit(X, y)
    labels = np.arange(30) // 3
    for groups in (labels, [f"{label:02d}" for label in labels], [np.flatnonzero(labels == g) for g in range(10)]):
        np.testing.assert_allclose(sw.GroupLasso(groups, 0.2, tol=1e-13).fit(X, y).coef_, by_size.coef_, atol=1e-9)
    mixed = sw.GroupLasso(labels[order], 0.2, tol=1e-13).fit(X[:, order], y)  # groups that do not lie together
    np.testing.assert_allclose(mixed.coef_, by_size.coef_[order], atol=1e-6)
    whole = (by_size.coef_ != 0).reshape(10, 3)
    assert np.array_equal(whole.any(axis=1), whole.all(axis=1)) and 0 < whole.any(axis=1).sum() < 10


def test_weights_of_groups():
    X, Y = tasks()
    y = Y[:, 0]
    by_size = sw.GroupLasso(3, 0.2, weights="size", tol=1e-13).fit(X, y)
    by_hand = sw.GroupLasso(3, 0.2, weights=np.full(10, np.sqrt(3)), tol=1e-13).fit(X, y)
    np.testing.assert_allclose(by_size.coef_, by_hand.coef_, atol=1e-9)
    np.testing.assert_allclose(by_size.coef_, sw.GroupLasso(3, 0.2 * np.sqrt(3), tol=1e-13).fit(X, y).coef_, atol=1e-7)
    heavy = sw.GroupLasso(3, 0.2, weights=[1e6, *[1.0] * 9]).fit(X, y)
    assert not heavy.coef_[:3].any() and heavy.coef_[3:].any()


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"groups": 0}, ValueError, "groups must be at least 1"),
        ({"groups": "pairs"}, TypeError, "groups must be an int"),
        ({"groups": [[0, 1], [1, 2]]}, ValueError, "more than one group"),
        ({"groups": [[0, 1], [3]]}, ValueError, "in no group"),
        ({"groups": [0, 1, 2]}, ValueError, "a label for each of the 30 features"),
        ({"groups": [[0, 40]]}, ValueError, "there are 0 to 29"),
        ({"alpha": 0.0}, ValueError, "alpha must be"),
        ({"l1_ratio": 2.0}, ValueError, "l1_ratio"),
        ({"weights": [1.0]}, ValueError, "weights must be"),
        ({"weights": "length"}, ValueError, "'size'"),
        ({"groups": 3, "weights": np.full(10, -1.0)}, ValueError, "must be >= 0"),
        ({"method": "dgpd"}, ValueError, "with blocks"),
    ],
)
def test_groups_that_cannot_be(parameters, error, words):
    X, Y = tasks()
    with pytest.raises(error, match=words):
        sw.GroupLasso(**parameters).fit(X, Y[:, 0])


def test_any_method_that_moves_blocks():
    X, Y = tasks()
    best = sw.GroupLasso(3, 0.1, l2=0.1, fit_intercept=False).fit(X, Y[:, 0])
    for method in (sw.methods.CoordinateDescent(side="dual"), sw.methods.CoordinateDescent(), "spdc", "dspdc"):
        other = sw.GroupLasso(3, 0.1, l2=0.1, fit_intercept=False, method=method).fit(X, Y[:, 0])
        assert other.status_ is sw.Status.CONVERGED
        np.testing.assert_allclose(other.coef_, best.coef_, atol=1e-2)


# Classes together


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_classes_together_are_those_of_scikit_learn(form, C, intercept):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X), np.array(["a", "b", "c"])[y]
    w = RNG.uniform(0.5, 2.0, size=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = linear_model.LogisticRegression(C=C, fit_intercept=intercept, class_weight="balanced", tol=1e-12,
                                                 solver="newton-cg", max_iter=10_000).fit(X, y)  # fmt: skip
    weighed = len(y) / (3 * np.unique(y, return_counts=True)[1][np.searchsorted(theirs.classes_, y)])
    ours = sw.LogisticRegression(C=C, fit_intercept=intercept, class_weight="balanced", tol=1e-13,
                                 keep_dual=True).fit(form(X), y)  # fmt: skip
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4 * max(1, np.abs(theirs.coef_).max()))
    np.testing.assert_allclose(ours.predict_proba(form(X)), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))
    assert np.array_equal(ours.predict(form(X)), theirs.predict(X)) and ours.dual_coef_.shape == (3, len(y))
    by_weight = sw.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-13).fit(X, y, weighed)
    np.testing.assert_allclose(by_weight.coef_, ours.coef_, atol=1e-6 * max(1, np.abs(ours.coef_).max()))
    again = sw.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-13).fit(X, y, w)
    assert again.status_ is sw.Status.CONVERGED


def test_two_classes_together_are_the_logistic_model():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    together = sw.LogisticRegression().fit(X, y)
    assert together.coef_.shape == (1, 4)
    assert np.array_equal(together.coef_, sw.LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_sparse_classes_together(penalty):
    X, y = load_digits(return_X_y=True)
    ratio = {} if penalty == "l1" else {"l1_ratio": 0.7}
    model = sw.LogisticRegression(penalty, C=0.01, **ratio).fit(X / 16, y)
    assert model.gap_ <= 1e-6 and 0 < (model.coef_ != 0).sum() < model.coef_.size / 2
    sparse = sw.LogisticRegression(penalty, C=0.01, sparse_coef=True, **ratio).fit(X / 16, y)
    assert sp.issparse(sparse.coef_) and np.array_equal(sparse.coef_.toarray(), model.coef_)
    assert np.array_equal(sparse.predict(X / 16), model.predict(X / 16))
    warm = sparse.set_params(warm_start=True).fit(X / 16, y)
    assert warm.n_iter_ <= 2


@pytest.mark.parametrize("parameters", [{"penalty": None}, {"C": np.inf}])
def test_classes_together_need_no_penalty(parameters):
    X, y = load_digits(return_X_y=True, n_class=4)
    X, y = X[:, 20:26] / 16, y  # too few features to tell the classes apart
    model = sw.LogisticRegression(tol=1e-9, **parameters).fit(X, y)
    assert model.gap_ <= 1e-9
    other = linear_model.LogisticRegression(C=np.inf, tol=1e-8, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-3)


def test_separable_classes_together_are_warned_about():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(sw.ConvergenceWarning, match="no finite minimiser"):
        model = sw.LogisticRegression(penalty=None).fit(X / 16, y)
    assert model.score(X / 16, y) == 1.0


def test_unknown_ways_to_treat_classes_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="multi_class"):
        sw.LogisticRegression(multi_class="softmax").fit(X, y)


def test_rows_that_weigh_nothing_are_not_there():
    X, y = load_iris(return_X_y=True)
    model = sw.LogisticRegression().fit(X, y, sample_weight=(y < 2).astype(float))
    assert model.classes_.tolist() == [0, 1] and model.coef_.shape == (1, 4)
    four = np.append(y, 3)
    model = sw.LogisticRegression(tol=1e-12).fit(
        np.vstack([X, X[:1]]), four, sample_weight=np.append(np.ones(150), 0.0)
    )
    plain = sw.LogisticRegression(tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)


def test_stored_models_are_the_same_when_read(tmp_path):
    X, y = load_iris(return_X_y=True)
    Z, Y = load_linnerud(return_X_y=True)
    for model, data in (
        (sw.LogisticRegression().fit(X, y), X),
        (sw.LogisticRegression("l1", sparse_coef=True).fit(X, y), X),
        (sw.MultiTaskLasso(alpha=5.0).fit(Z, Y), Z),
        (sw.GroupLasso([[0, 2], [1]], 5.0).fit(Z, Y[:, 0]), Z),
        (sw.GroupLasso([[0, 2], [1]], 5.0).fit(Z, Y), Z),
    ):
        model.save(tmp_path / "model")
        again = sw.load(tmp_path / "model")
        assert np.array_equal(again.predict(data), model.predict(data))


# Found by a reviewer


@pytest.mark.parametrize("loss", ["squared", "huber", "softmax", "multiclass_hinge", "logistic", "poisson"])
def test_only_an_intercept_is_left(loss):
    """The working set is empty: the penalty is too strong for any feature."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(51, 3)), 100 * rng.standard_cauchy(51) + 70
        kind = sw.losses.get(loss).targets
        y = {"classes": np.arange(51) % 3, "signs": np.where(y > 70, 1.0, -1.0), "counts": np.abs(np.round(y)),
             "positive": np.abs(y) + 1e-3}.get(kind, y)  # fmt: skip
        for form in (np.asarray, sp.csr_array):
            penalty = sw.penalties.Groups(1e6, groups=[0, 0, 1])
            r = sw.solve(form(X), y, loss=loss, penalty=penalty, intercept=True)
            assert r.status is sw.Status.CONVERGED and not r.x.any()


def test_a_warm_start_of_another_shape_begins_nowhere():
    X = RNG.normal(size=(60, 4))
    for sparse in (False, True):
        model = sw.LogisticRegression(warm_start=True, sparse_coef=sparse)
        for classes in (3, 4, 2, 3, 3):
            assert model.fit(X, np.arange(60) % classes).status_ is sw.Status.CONVERGED
    model = sw.MultiTaskLasso(0.01, warm_start=True).fit(X, X[:, :2])
    assert model.fit(X, X[:, :3]).coef_.shape == (3, 4)


def test_probabilities_are_those_of_the_fit():
    X, y = load_iris(return_X_y=True)
    model = sw.LogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    assert np.array_equal(model.set_params(multi_class="ovr").predict_proba(X), before)
