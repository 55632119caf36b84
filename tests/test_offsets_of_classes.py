"""Offsets where the margins of a sample compete: a column for each class."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax

import southwell as sw
from southwell.check import verify
from southwell.penalties import ElasticNet, Groups, MaxGroups

LOSSES = sorted(sw.losses.OF_CLASSES)
N, D, K = 60, 6, 3
RNG = np.random.default_rng(0)
A = RNG.normal(size=(N, D))
OFFSET = RNG.normal(size=(N, K))
B = np.argmax(A[:, :K] + OFFSET + RNG.gumbel(size=(N, K)), axis=1)
NAMES = np.array(["x", "y", "z"])[B]
PENALTIES = [
    ElasticNet(0.02),
    ElasticNet(0.01, 0.05),
    ElasticNet(l2=0.1),
    Groups(0.03, groups=[0, 0, 1, 1, 2, 2]),
    MaxGroups(0.03),
]


def value(loss, r, penalty, offset=OFFSET):
    return float(np.mean(sw.losses.get(loss).value(A @ r.x + r.intercept + offset, B))) + penalty.value(r.x)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: repr(p)[:24])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_is_of_the_moved_margins(loss, penalty, intercept):
    r = sw.solve(A, B, loss=loss, penalty=penalty, intercept=intercept, offset=OFFSET, tol=1e-9)
    assert r.status and r.primal == pytest.approx(value(loss, r, penalty), rel=1e-12)
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1.0):  # no point near or far is better than the bound
        other = replace(r, x=r.x + size * rng.normal(size=r.x.shape))
        assert value(loss, other, penalty) >= r.dual
    assert r.problem.certify(np.zeros((D, K)), r.y).dual == pytest.approx(r.dual, rel=1e-9)


def test_the_answer_is_that_of_another_solver():
    def objective(flat):
        x, c = flat[: D * K].reshape(D, K), flat[D * K :]
        likely = log_softmax(A @ x + c + OFFSET, axis=1)
        slope = (np.exp(likely) - np.eye(K)[B]) / N
        value = -likely[np.arange(N), B].mean() + 0.05 * (x**2).sum()
        return value, np.r_[(A.T @ slope + 0.1 * x).ravel(), slope.sum(axis=0)]

    best = minimize(objective, np.zeros(D * K + K), jac=True, options={"gtol": 1e-10})
    r = sw.solve(A, B, loss="softmax", l2=0.1, intercept=True, offset=OFFSET, tol=1e-12)
    assert r.dual <= best.fun and r.primal == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(r.x, best.x[: D * K].reshape(D, K), atol=1e-5)


@pytest.mark.parametrize("method", ["auto", "dspdc", sw.methods.CoordinateDescent("primal"),
                                    sw.methods.CoordinateDescent("dual")], ids=str)  # fmt: skip
@pytest.mark.parametrize("loss", LOSSES)
def test_every_method_of_blocks_knows_the_offset(method, loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = sw.solve(A, B, loss=loss, l1=0.01, l2=0.05, offset=OFFSET, method=method, max_epochs=3000)
    best = sw.solve(A, B, loss=loss, l1=0.01, l2=0.05, offset=OFFSET, tol=1e-10)
    assert r.dual <= best.primal <= r.primal + 1e-12 and r.relative_gap <= 1e-5


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sw.Centred])
@pytest.mark.parametrize("penalty", [*PENALTIES, ElasticNet(l2=0.1, weights=np.r_[0.0, np.ones(D - 1)])],
                         ids=lambda p: repr(p)[:24])  # fmt: skip
@pytest.mark.parametrize("loss", LOSSES)
def test_proofs_hold_with_the_offset_and_only_with_it(loss, penalty, form, tmp_path):
    path = tmp_path / "answer.proof"
    r = sw.solve(form(A), B, loss=loss, penalty=penalty, offset=OFFSET, intercept=True, tol=1e-8)
    proof = r.prove()
    assert proof.dual <= r.primal and proof.gap <= 1e-7 * r.scale
    proof.save(path)
    assert verify(path, A, B, offset=OFFSET)
    assert not verify(path, A, B)
    assert not verify(path, A, B, offset=OFFSET + 1e-9)


def test_what_all_classes_have_in_common_changes_nothing():
    common = np.random.default_rng(2).normal(size=(N, 1))
    plain = sw.solve(A, B, loss="softmax", l2=0.1, offset=OFFSET, intercept=True, tol=1e-10)
    moved = sw.solve(A, B, loss="softmax", l2=0.1, offset=OFFSET + common, intercept=True, tol=1e-10)
    np.testing.assert_allclose(moved.x, plain.x, atol=1e-5)
    constant = np.array([1.0, 0.0, -1.0])
    shifted = sw.solve(A, B, loss="softmax", l2=0.1, offset=OFFSET + constant, intercept=True, tol=1e-10)
    np.testing.assert_allclose(shifted.intercept, plain.intercept - constant, atol=1e-5)


def test_paths_and_strongest_penalties_know_the_offset():
    path = sw.path(A, B, loss="softmax", offset=OFFSET, intercept=True, n_points=6, tol=1e-8)
    top = sw.lambda_max(A, B, loss="softmax", offset=OFFSET, intercept=True)
    assert path.strengths[0] == pytest.approx(top) and not path[0].x.any() and path[1].x.any()
    one = sw.solve(A, B, loss="softmax", l1=path.strengths[4], offset=OFFSET, intercept=True, tol=1e-8)
    np.testing.assert_allclose(path[4].x, one.x, atol=1e-3)
    np.testing.assert_array_equal(path.predict(A, offset=OFFSET)[:, 4], path[4].predict(A, offset=OFFSET))


MODELS = [
    sw.LogisticRegression(), sw.LogisticRegression(multi_class="ovr"), sw.LinearSVC(),
    sw.LinearSVC(multi_class="crammer_singer"), sw.GroupLassoClassifier(groups=2), sw.SparseLinearClassifier(),
    sw.RidgeClassifier(), sw.LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False),
    sw.LogisticRegressionCV(Cs=3, cv=3, multi_class="ovr", use_legacy_attributes=False), sw.RidgeClassifierCV(),
    sw.RidgeClassifierCV(cv=3), sw.SparseLinearClassifierCV(cv=3, l1s=[0.1, 0.01]),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_classifiers_of_several_classes_use_the_offset(model):
    model = model.fit(A, NAMES, offset=OFFSET)
    margins = model.decision_function(A, offset=OFFSET)
    np.testing.assert_allclose(margins, model.decision_function(A) + OFFSET, atol=1e-12)
    np.testing.assert_array_equal(model.predict(A, offset=OFFSET), model.classes_[margins.argmax(axis=1)])
    assert model.score(A, NAMES, offset=OFFSET) > model.score(A, NAMES)
    assert model.gap_ <= 1e-6


def test_each_class_against_the_rest_has_its_own_column():
    model = sw.LogisticRegression(multi_class="ovr", tol=1e-10).fit(A, NAMES, offset=OFFSET)
    for k, name in enumerate(model.classes_):
        one = sw.LogisticRegression(tol=1e-10).fit(A, name == NAMES, offset=OFFSET[:, k])
        np.testing.assert_allclose(model.coef_[k], one.coef_[0], atol=1e-5)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_cross_validation_judges_with_the_offset(multi_class):
    given = {"multi_class": multi_class, "tol": 1e-8}
    folds = [(np.arange(20, N), np.arange(20)), (np.arange(40), np.arange(40, N))]
    found = sw.LogisticRegressionCV(
        Cs=[0.1, 1.0], cv=folds, scoring="neg_log_loss", use_legacy_attributes=False, **given
    )
    found = found.fit(A, NAMES, offset=OFFSET)
    for (train, test), scores in zip(folds, found.scores_[:, 0], strict=True):
        for C, score in zip((0.1, 1.0), scores, strict=True):
            one = sw.LogisticRegression(C=C, **given).fit(A[train], NAMES[train], offset=OFFSET[train])
            likely = one.predict_proba(A[test], offset=OFFSET[test])
            assert score == pytest.approx(np.log(likely[np.arange(test.size), B[test]]).mean(), rel=1e-4)


def test_folds_without_a_class_leave_its_column_out():
    rare = np.where(np.arange(N) < 4, "z", np.where(B > 0, "y", "x"))
    folds = [(np.arange(4, N), np.arange(4)), (np.arange(30), np.arange(30, N))]
    model = sw.LogisticRegressionCV(Cs=3, cv=folds, use_legacy_attributes=False).fit(A, rare, offset=OFFSET)
    assert model.scores_[0].max() == 0.0 and model.gap_ <= 1e-6


@pytest.mark.parametrize("model", [sw.LogisticRegression(), sw.LogisticRegression(multi_class="ovr")], ids=repr)
def test_an_audit_knows_the_offset(model):
    model = model.fit(A, NAMES, offset=OFFSET)
    assert sw.audit(model, A, NAMES, offset=OFFSET).relative_gap <= 1e-6
    assert sw.audit(model, A, NAMES).relative_gap > 1e-3


def test_refusals_say_what_is_needed():
    for bad, words in (
        (OFFSET[:, 0], "column for each"), (OFFSET[:, :2], "column for each"), (OFFSET[:5], "row for each"),
        (np.full((N, K), np.nan), "NaN|finite"), ("far", "offset"),
    ):  # fmt: skip
        for call in (
            lambda bad=bad: sw.LogisticRegression().fit(A, NAMES, offset=bad),
            lambda bad=bad: sw.LinearSVC().fit(A, NAMES, offset=bad),
            lambda bad=bad: sw.LogisticRegressionCV(cv=3).fit(A, NAMES, offset=bad),
            lambda bad=bad: sw.solve(A, B, loss="softmax", l2=0.1, offset=bad),
        ):
            with pytest.raises((ValueError, TypeError), match=words):
                call()
    with pytest.raises(ValueError, match="would change nothing"):
        sw.LogisticRegression().fit(A, NAMES, offset=OFFSET[:, 0])
