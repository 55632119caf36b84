"""Problems of blocks that are the same have the same answer."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from block_problems import CLASSES, LABELS, PENALTIES, TASKS, data, solved
from southwell.penalties import ElasticNet, Groups


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", TASKS)
def test_groups_of_one_feature_are_the_lasso(loss, intercept):
    A, b = data(loss, kind="one")
    weights = np.linspace(0.5, 2.0, 8)
    for l2 in (0.0, 0.02):
        pairs = [
            (Groups(0.03, l2=l2), ElasticNet(0.03, l2)),
            (Groups(0.01, l1=0.02, l2=l2), ElasticNet(0.03, l2)),
        ]
        if l2 == 0:
            pairs.append((Groups(0.03, weights=weights), ElasticNet(0.03, weights=weights)))
        for blocks, net in pairs:
            wide = sw.solve(A, b, loss=loss, penalty=blocks, intercept=intercept, tol=1e-11)
            single = sw.solve(A, b, loss=loss, penalty=net, intercept=intercept, tol=1e-11)
            assert wide.scale == pytest.approx(single.scale, rel=1e-9)
            assert wide.primal == pytest.approx(single.primal, abs=3e-11 * single.scale)
            np.testing.assert_allclose(wide.x, single.x, atol=1e-4)
            assert wide.intercept == pytest.approx(single.intercept, abs=1e-4)


@pytest.mark.parametrize("loss", TASKS)
def test_one_task_in_a_column_is_a_single_target(loss):
    A, b = data(loss, kind="one")
    table = sw.solve(sw.BlockProblem(A, b[:, None], loss, PENALTIES["groups"], intercept=True))
    single = sw.solve(sw.BlockProblem(A, b, loss, PENALTIES["groups"], intercept=True))
    assert table.x.shape == (8, 1) and table.y.shape == (40, 1) and table.intercept.shape == (1,)
    np.testing.assert_array_equal(table.x[:, 0], single.x)


@pytest.mark.parametrize("loss", TASKS)
def test_tasks_that_share_nothing_are_single_problems(loss):
    A, b = data(loss)
    together = solved(sw.BlockProblem(A, b, loss, ElasticNet(0.02, 0.01), intercept=True), 1e-11)
    apart = [sw.solve(A, column, loss=loss, l1=0.02, l2=0.01, intercept=True, tol=1e-11) for column in b.T]
    np.testing.assert_allclose(together.x, np.stack([r.x for r in apart], axis=1), atol=1e-4)
    assert together.primal == pytest.approx(sum(r.primal for r in apart), rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("wide", "one"), [
    (sw.losses.Softmax(), sw.losses.Logistic()), (sw.losses.MulticlassHinge(0.5), sw.losses.SmoothHinge(1.0)),
])  # fmt: skip
def test_two_classes_are_one_margin(wide, one, intercept):
    """With l2 on both columns: half of it on their difference, as the columns are opposite."""
    A, b = data("softmax", k=2)
    r = solved(sw.BlockProblem(A, b, wide, ElasticNet(l2=0.1), intercept=intercept), 1e-12)
    single = sw.solve(A, np.where(b == 1, 1.0, -1.0), loss=one, l2=0.05, intercept=intercept, tol=1e-12)
    np.testing.assert_allclose(r.x[:, 1] - r.x[:, 0], single.x, atol=1e-6)
    np.testing.assert_allclose(r.x.sum(axis=1), 0, atol=1e-6)
    assert r.primal == pytest.approx(single.primal, rel=1e-10)
    if intercept:
        assert r.intercept[1] - r.intercept[0] == pytest.approx(single.intercept, abs=1e-6)
    # l1 pays for the difference once, on either column.
    r = solved(sw.BlockProblem(A, b, wide, ElasticNet(0.03), intercept=intercept), 1e-10)
    single = sw.solve(A, np.where(b == 1, 1.0, -1.0), loss=one, l1=0.03, intercept=intercept, tol=1e-10)
    assert r.primal == pytest.approx(single.primal, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", *CLASSES])
def test_a_weight_of_two_is_the_row_twice(loss):
    A, b = data(loss)
    s = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    s[5] = 0.0
    rows = np.repeat(np.arange(40), s.astype(int))
    for penalty in ("sparse groups", "elastic"):
        weighed = solved(sw.BlockProblem(A, b, loss, PENALTIES[penalty], intercept=True, sample_weight=s), 1e-11)
        repeated = solved(sw.BlockProblem(A[rows], b[rows], loss, PENALTIES[penalty], intercept=True), 1e-11)
        assert weighed.primal == pytest.approx(repeated.primal, rel=1e-9)
        np.testing.assert_allclose(weighed.x, repeated.x, atol=1e-4)
        np.testing.assert_allclose(weighed.intercept, repeated.intercept, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "huber", *CLASSES])
def test_order_of_features_groups_and_columns_does_not_matter(loss):
    A, b = data(loss)
    rng = np.random.default_rng(4)
    penalty = Groups(0.03, 0.01, 0.02, LABELS)
    r = solved(sw.BlockProblem(A, b, loss, penalty, intercept=True), 1e-11)
    order = rng.permutation(8)
    other = solved(
        sw.BlockProblem(A[:, order], b, loss, Groups(0.03, 0.01, 0.02, LABELS[order]), intercept=True), 1e-11
    )
    np.testing.assert_allclose(other.x, r.x[order], atol=1e-5)
    named = Groups(0.03, 0.01, 0.02, np.array(["x", "c", "zz", "a"])[LABELS])
    np.testing.assert_allclose(
        sw.solve(sw.BlockProblem(A, b, loss, named, intercept=True), tol=1e-11).x, r.x, atol=1e-5
    )
    lists = Groups(0.03, 0.01, 0.02, [np.flatnonzero(g == LABELS)[::-1] for g in (3, 1, 0, 2)])
    np.testing.assert_allclose(
        sw.solve(sw.BlockProblem(A, b, loss, lists, intercept=True), tol=1e-11).x, r.x, atol=1e-5
    )
    columns = np.array([2, 0, 1])
    turned = np.argsort(columns)[b] if loss in CLASSES else b[:, columns]
    other = sw.solve(sw.BlockProblem(A, turned, loss, penalty, intercept=True), tol=1e-11)
    np.testing.assert_allclose(other.x, r.x[:, columns], atol=1e-5)
    rows = rng.permutation(40)
    other = sw.solve(sw.BlockProblem(A[rows], b[rows], loss, penalty, intercept=True), tol=1e-11)
    np.testing.assert_allclose(other.x, r.x, atol=1e-5)


def test_labels_in_order_and_lists_are_the_same_problem():
    A, b = data("squared", kind="one")
    lists = [np.flatnonzero(g == LABELS) for g in range(4)]
    weights = np.array([1.0, 0.3, 2.0, 0.7])
    one, other = (sw.solve(A, b, penalty=Groups(0.1, groups=g, weights=weights)) for g in (LABELS, lists))
    np.testing.assert_array_equal(one.x, other.x)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_layouts_agree(loss):
    A, b = data(loss)
    forms = [np.asfortranarray(A), sp.csr_array(A), sp.csc_matrix(A), A.tolist(), A.astype(np.float32)]
    want = solved(sw.BlockProblem(A, b, loss, PENALTIES["sparse groups"], intercept=True), 1e-11)
    for form in forms:
        r = sw.solve(form, b, loss=loss, penalty=PENALTIES["sparse groups"], intercept=True, tol=1e-11)
        np.testing.assert_allclose(r.x, want.x, atol=1e-5)
        np.testing.assert_allclose(np.diff(r.intercept), np.diff(want.intercept), atol=1e-5)
    centred = sw.solve(sw.Centred(A), b, loss=loss, penalty=PENALTIES["sparse groups"], intercept=True, tol=1e-11)
    np.testing.assert_allclose(centred.x, want.x, atol=1e-5)
    np.testing.assert_allclose(np.diff(centred.intercept), np.diff(want.intercept + A.mean(axis=0) @ want.x), atol=1e-5)
    plain = sw.solve(sw.Centred(A), b, loss=loss, penalty=PENALTIES["ridge"], tol=1e-11)
    direct = sw.solve(A - A.mean(axis=0), b, loss=loss, penalty=PENALTIES["ridge"], tol=1e-11)
    np.testing.assert_allclose(plain.x, direct.x, atol=1e-5)


@pytest.mark.parametrize("loss", CLASSES)
def test_intercepts_of_classes_sum_to_zero_whatever_the_layout(loss):
    """A constant added to all of them changes nothing; which it is should not depend on how A is stored."""
    A, b = data(loss)
    for form in (sp.csr_array, np.asarray):
        r = sw.solve(form(A), b, loss=loss, penalty=ElasticNet(0.02), intercept=True)
        assert r.intercept.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("penalty", [ElasticNet(0.01), ElasticNet(lower=0.0), Groups(0.02)])
def test_a_penalty_given_later_makes_the_same_problem(penalty):
    """Without kinks dense columns are not centred; a penalty with kinks needs that, whenever it is given."""
    A, b = data("softmax")
    A = A + np.arange(A.shape[1])
    plain = sw.BlockProblem(A, b, "softmax", intercept=True)
    assert plain.with_penalty(ElasticNet(l2=0.1)).shifts is None
    later, whole = plain.with_penalty(penalty), sw.BlockProblem(A, b, "softmax", penalty, intercept=True)
    np.testing.assert_array_equal(later.shifts, whole.shifts)
    first, second = sw.solve(later), sw.solve(whole)
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(first.intercept, second.intercept)
