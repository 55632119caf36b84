"""Groups and several targets with their strength chosen by cross-validation: as scikit-learn, and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold

import southwell as sw
from southwell import ConvergenceWarning


def made(n=60, d=12, k=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    W = rng.normal(size=(d, k)) * (np.arange(d)[:, None] < 4)
    return X, X @ W + noise * rng.normal(size=(n, k)) + 2.0


FORMS = {"dense": np.asarray, "Fortran": np.asfortranarray, "CSR": sp.csr_array, "CSC": sp.csc_matrix}
MODELS = {
    "tasks": (lambda **options: sw.MultiTaskLassoCV(**options), lambda Y: Y),
    "elastic tasks": (lambda **options: sw.MultiTaskElasticNetCV(l1_ratio=[0.3, 0.9], **options), lambda Y: Y),
    "groups": (lambda **options: sw.GroupLassoCV(3, **options), lambda Y: Y[:, 0]),
    "sparse groups": (lambda **options: sw.GroupLassoCV(3, l1_ratio=[0.0, 0.5, 1.0], **options), lambda Y: Y[:, 0]),
}


def alone(name, alpha, ratio, tol=1e-10):
    """The model with a strength of its own."""
    if "tasks" in name:
        return sw.MultiTaskElasticNet(alpha, l1_ratio=ratio, tol=tol)
    return sw.GroupLasso(3, alpha, l1_ratio=ratio, tol=tol)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ratio", [0.5, [0.2, 0.8]])
def test_as_scikit_learn(ratio, form, intercept):
    X, Y = made()
    options = {"l1_ratio": ratio, "alphas": 12, "fit_intercept": intercept, "cv": 4}
    ours = sw.MultiTaskElasticNetCV(**options, tol=1e-10).fit(FORMS[form](X), Y)
    theirs = linear_model.MultiTaskElasticNetCV(**options, tol=1e-10, max_iter=10**5).fit(X, Y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_) and ours.l1_ratio_ == theirs.l1_ratio_
    for name in ("alphas_", "mse_path_", "coef_", "intercept_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, atol=1e-5)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-3)
    assert ours.gap_ <= 1e-10 and ours.status_ is sw.Status.CONVERGED


def test_the_lasso_as_scikit_learn():
    X, Y = made()
    ours = sw.MultiTaskLassoCV(alphas=[0.5, 0.1, 0.02], tol=1e-10).fit(X, Y)
    theirs = linear_model.MultiTaskLassoCV(alphas=[0.5, 0.1, 0.02], tol=1e-10, max_iter=10**5).fit(X, Y)
    assert ours.alpha_ == theirs.alpha_ and ours.alphas_.tolist() == [0.5, 0.1, 0.02]
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_choice_is_the_best_and_refitted_to_all(name):
    make, targets = MODELS[name]
    X, Y = made()
    y = targets(Y)
    model = make(alphas=8, cv=3, tol=1e-8, keep_dual=True).fit(X, y)
    means = np.atleast_2d(model.mse_path_.mean(axis=-1))
    line, point = np.unravel_index(means.argmin(), means.shape)
    assert model.alpha_ == np.atleast_2d(model.alphas_)[line, point] and model.l1_ratio_ == model.l1_ratios_[line]
    other = alone(name, model.alpha_, model.l1_ratio_).set_params(keep_dual=True).fit(X, y)
    assert model.coef_ == pytest.approx(other.coef_, abs=1e-3) and model.coef_.shape == other.coef_.shape
    assert model.result_.primal == pytest.approx(other.result_.primal, rel=1e-7)
    assert model.gap_ <= 1e-8 and np.shape(model.intercept_) == np.shape(other.intercept_)


@pytest.mark.parametrize("name", MODELS)
def test_the_first_alpha_of_each_line_is_where_all_is_zero(name):
    make, targets = MODELS[name]
    X, Y = made()
    y = targets(Y)
    model = make(alphas=3).fit(X, y)
    for alpha, ratio in zip(np.atleast_2d(model.alphas_)[:, 0], model.l1_ratios_, strict=True):
        for factor, zero in ((1.001, True), (0.98, False)):
            assert (not alone(name, factor * alpha, ratio).fit(X, y).coef_.any()) == zero


@pytest.mark.parametrize("name", MODELS)
def test_folds_by_hand(name):
    """The error of each fold is that of a model fitted to its rows."""
    make, targets = MODELS[name]
    X, Y = made(n=40)
    y = targets(Y)
    model = make(alphas=[0.3, 0.1], cv=KFold(3), tol=1e-10).fit(X, y)
    errors = model.mse_path_.reshape(-1, 2, 3)
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        for line, ratio in enumerate(model.l1_ratios_):
            for point, alpha in enumerate([0.3, 0.1]):
                other = alone(name, alpha, ratio).fit(X[train], y[train])
                error = mean_squared_error(y[test], other.predict(X[test]))
                assert errors[line, point, fold] == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_scorers_are_given_a_fitted_model(name):
    make, targets = MODELS[name]
    X, Y = made()
    y = targets(Y)
    plain = make(alphas=4, cv=3).fit(X, y)
    scored = make(alphas=4, cv=3, scoring="neg_mean_squared_error").fit(X, y)
    assert scored.mse_path_ == pytest.approx(plain.mse_path_) and scored.alpha_ == plain.alpha_
    seen = []

    def scorer(model, rows, target):
        seen.append((np.shape(model.coef_), model.predict(rows).shape == target.shape))
        return -mean_squared_error(target, model.predict(rows.copy()))

    by_hand = make(alphas=4, cv=3, scoring=scorer, n_jobs=1).fit(X, y)
    assert by_hand.mse_path_ == pytest.approx(plain.mse_path_)
    assert {shape for shape, _ in seen} == {plain.coef_.shape} and all(same for _, same in seen)


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_one_are_none_and_zeros_remove_rows(name):
    make, targets = MODELS[name]
    X, Y = made()
    y = targets(Y)
    plain = make(alphas=4, cv=3).fit(X, y)
    ones = make(alphas=4, cv=3).fit(X, y, sample_weight=np.ones(60))
    assert ones.mse_path_ == pytest.approx(plain.mse_path_, rel=1e-6)
    keep = np.ones(60)
    keep[::7] = 0.0
    weighted = make(alphas=[0.2, 0.1], tol=1e-10, cv=[(np.arange(40), np.arange(40, 60))])
    weighted.fit(X, y, sample_weight=keep)
    kept = np.flatnonzero(keep)
    rest = make(alphas=[0.2, 0.1], tol=1e-10, cv=[(np.flatnonzero(kept < 40), np.flatnonzero(kept >= 40))])
    rest.fit(X[kept], y[kept])
    assert weighted.mse_path_ == pytest.approx(rest.mse_path_, rel=1e-4)
    assert weighted.coef_ == pytest.approx(rest.coef_, abs=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_one_standard_error_is_a_stronger_penalty(name):
    make, targets = MODELS[name]
    X, Y = made()
    best, simpler = (make(alphas=10, one_standard_error=flag).fit(X, targets(Y)) for flag in (False, True))
    assert simpler.alpha_ >= best.alpha_ and simpler.l1_ratio_ == best.l1_ratio_


@pytest.mark.parametrize("name", MODELS)
def test_threads_do_not_matter(name):
    make, targets = MODELS[name]
    X, Y = made()
    one, two = (make(alphas=5, n_jobs=k).fit(X, targets(Y)) for k in (1, 2))
    assert one.mse_path_.tobytes() == two.mse_path_.tobytes() and one.coef_.tobytes() == two.coef_.tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_stored_models_are_the_same_when_read(name, tmp_path):
    make, targets = MODELS[name]
    X, Y = made()
    model = make(alphas=4, cv=3).fit(X, targets(Y))
    model.save(tmp_path / "model")
    again = sw.load(tmp_path / "model")
    assert type(again) is type(model) and again.get_params() == model.get_params()
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    for name_ in ("alpha_", "l1_ratio_", "gap_", "status_"):
        assert getattr(again, name_) == getattr(model, name_)
    assert again.mse_path_.tobytes() == model.mse_path_.tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_plot(name, pyplot):
    make, targets = MODELS[name]
    X, Y = made()
    model = make(alphas=5).fit(X, targets(Y))
    assert sw.plots.cross_validation(model).get_xlabel() == "alpha"


def test_groups_and_weights_of_every_kind():
    X, Y = made()
    labels = np.arange(12) // 3
    models = [
        sw.GroupLassoCV(groups, weights="size", alphas=5).fit(X, Y[:, 0])
        for groups in (3, labels, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], list("aaabbbcccddd"))
    ]
    for model in models[1:]:
        assert model.mse_path_ == pytest.approx(models[0].mse_path_) and model.alpha_ == pytest.approx(models[0].alpha_)
    elastic = sw.GroupLassoCV(3, l2=0.3, alphas=[0.1]).fit(X, Y[:, 0])
    other = sw.GroupLasso(3, 0.1, l2=0.3).fit(X, Y[:, 0])
    assert elastic.coef_ == pytest.approx(other.coef_, abs=1e-3)


def test_it_can_be_cloned_and_searched():
    X, Y = made()
    model = sw.MultiTaskLassoCV(alphas=3, cv=3)
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(model, {"fit_intercept": [True, False]}, cv=2, scoring=make_scorer(mean_squared_error))
    assert search.fit(X, Y).best_estimator_.coef_.shape == (3, 12)


def test_ended_early_is_told():
    X, Y = made()
    with (
        pytest.warns(ConvergenceWarning, match="The epochs ran out"),
        pytest.warns(match="models on folds did not reach"),
    ):
        sw.MultiTaskLassoCV(alphas=[1e-3], max_iter=1, tol=1e-15).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (sw.MultiTaskLassoCV(alphas=[0.1, 0.0]), "alphas must be positive"),
        (sw.MultiTaskLassoCV(alphas=[]), "alphas must be positive"),
        (sw.MultiTaskElasticNetCV(l1_ratio=0.0), "No alpha gives the zero model"),
        (sw.MultiTaskElasticNetCV(l1_ratio=[]), "l1_ratio is empty"),
        (sw.MultiTaskElasticNetCV(l1_ratio=1.5), "l1_ratio must be between 0 and 1"),
        (sw.MultiTaskLassoCV(eps=1.5), "eps must be at most 1"),
        (sw.MultiTaskLassoCV(selection="greedy"), "selection must be one of"),
        (sw.GroupLassoCV(alphas=[0.1, -1.0]), "alphas must be positive"),
        (sw.GroupLassoCV(groups=0), "groups must be at least 1"),
        (sw.GroupLassoCV(groups=[0, 1]), "a label for each of the 12 features"),
        (sw.GroupLassoCV(weights=[1.0, 0.0]), "weights must be one number or 12"),
        (sw.GroupLassoCV(l2=-1.0), "l2 must be >= 0"),
        (sw.GroupLassoCV(cv=1), "(?i)k-fold"),
    ],
)  # fmt: skip
def test_refusals(model, match):
    X, Y = made()
    with pytest.raises(ValueError, match=match):
        model.fit(X, Y[:, 0] if isinstance(model, sw.GroupLassoCV) else Y)


def test_one_target_or_several():
    X, Y = made()
    with pytest.raises(ValueError, match=r"takes y of shape .* For one target use ElasticNetCV or LassoCV"):
        sw.MultiTaskLassoCV().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        sw.GroupLassoCV().fit(X, Y)
    assert sw.MultiTaskLassoCV(alphas=3).fit(X, Y[:, :1]).coef_.shape == (1, 12)
    pure = sw.MultiTaskElasticNetCV(l1_ratio=0.0, alphas=[1.0, 0.1]).fit(X, Y)
    assert (pure.coef_ != 0).all()
