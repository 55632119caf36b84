"""Columns of sparse data that hold nothing are left out by the default method; answers are those of all columns."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _empty_columns

AUTO = sw.methods.Auto(policy={"cache": 10})  # otherwise only wide data are looked at
PROBLEMS = [
    {"loss": "hinge", "l2": 0.01},
    {"loss": "logistic", "l2": 0.01, "intercept": True},
    {"loss": "logistic", "l1": 0.002, "l2": 0.01},
    {"loss": "squared", "l1": 0.02, "intercept": True},
    {"loss": "squared_hinge", "l2": 0.1},
]


def rare(n=60, d=400, seed=0):
    """A matrix of which about a quarter of the columns hold anything, and signs."""
    rng = np.random.default_rng(seed)
    columns = rng.choice(d, d // 4, replace=False)
    A = sp.csr_array((rng.standard_normal(5 * n), (np.repeat(np.arange(n), 5), rng.choice(columns, 5 * n))), (n, d))
    A.sum_duplicates()
    return A, np.where(rng.random(n) < 0.5, -1.0, 1.0)


@pytest.mark.parametrize("options", PROBLEMS, ids=lambda options: f"{options['loss']}-{len(options)}")
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_the_answer_is_that_of_the_used_columns(options, form):
    A, b = rare()
    used = np.flatnonzero(np.bincount(A.indices, minlength=A.shape[1]))
    whole = sw.solve(A.asformat(form), b, method=AUTO, tol=1e-9, **options)
    part = sw.solve(A[:, used].asformat(form), b, method=AUTO, tol=1e-9, **options)
    assert whole.x.shape == (A.shape[1],)
    assert np.array_equal(whole.x[used], part.x)
    assert not np.delete(whole.x, used).any()
    assert (whole.intercept, whole.primal, whole.dual, whole.epochs) == (
        part.intercept, part.primal, part.dual, part.epochs,
    )  # fmt: skip
    assert np.array_equal(whole.y, part.y)
    certified = whole.problem.certify(whole.x, whole.y, whole.intercept)  # over all columns
    assert whole.gap == pytest.approx(certified.gap, abs=1e-14)


def test_screened_features_are_counted_over_all_columns():
    A, b = rare()
    result = sw.solve(A, b, loss="logistic", l1=0.01, method=AUTO, tol=1e-9)
    mask = result.screened.features
    assert mask.shape == (A.shape[1],)
    empty = np.bincount(A.indices, minlength=A.shape[1]) == 0
    assert mask[empty].all()  # l1 holds them at zero
    assert not result.x[mask].any()
    assert not sw.solve(A, b, loss="logistic", l2=0.01, method=AUTO).screened.features.any()


def test_weights_and_bounds_are_those_of_the_used_columns():
    A, b = rare()
    rng = np.random.default_rng(1)
    weights = rng.random(A.shape[1]) + 0.5
    penalty = sw.penalties.ElasticNet(l1=0.002, l2=0.01, weights=weights, upper=rng.random(A.shape[1]))
    whole = sw.solve(A, b, loss="logistic", penalty=penalty, method=AUTO, tol=1e-9)
    full = sw.solve(A, b, loss="logistic", penalty=penalty, tol=1e-9)  # few columns: all are kept
    assert np.allclose(whole.x, full.x, atol=1e-6)
    assert whole.gap <= 1e-9 * whole.scale


def test_callbacks_warm_starts_and_paths_see_all_columns():
    A, b = rare()
    sizes = []
    cold = sw.solve(A, b, loss="hinge", l2=0.01, method=AUTO, callback=lambda progress: sizes.append(progress.x.size))
    assert sizes and set(sizes) == {A.shape[1]}
    warm = sw.solve(A, b, loss="hinge", l2=0.01, method=AUTO, warm_start=cold)
    assert warm.epochs < cold.epochs
    problem = sw.Problem(A, b, "logistic", sw.penalties.ElasticNet(l1=1.0, l2=0.01))
    path, full = (sw.path(problem, n_points=6, tol=1e-12, method=method) for method in (AUTO, "auto"))
    assert path.converged
    assert path.x.shape == (6, A.shape[1])
    assert np.allclose(path.x.toarray(), full.x.toarray(), atol=1e-4)


def test_coefficients_that_cannot_be_zero_keep_their_columns():
    A, b = rare()
    penalty = sw.penalties.ElasticNet(l2=0.1, lower=0.25)
    result = sw.solve(A, b, penalty=penalty, method=AUTO)
    assert (result.x >= 0.25).all()


def test_data_whose_columns_are_used_are_left_as_they_are():
    A, b = rare()
    used = np.flatnonzero(np.bincount(A.indices, minlength=A.shape[1]))
    problem = sw.Problem(A[:, used], b, "hinge", sw.penalties.ElasticNet(l2=0.1))
    assert _empty_columns.compact(problem, 0.5, 10, 32) is None
    problem = sw.Problem(A, b, "hinge", sw.penalties.ElasticNet(l2=0.1))
    small = _empty_columns.compact(problem, 0.5, 10, 32)
    assert np.array_equal(small.used, used)
    assert np.shares_memory(small.problem.matrix.given.data, problem.matrix.given.data)  # values are not copied


def test_data_without_any_entry():
    A = sp.csr_array((4, 500))
    result = sw.solve(A, [-1.0, 1.0, 1.0, -1.0], loss="logistic", l2=0.1, intercept=True, method=AUTO)
    assert result.status
    assert not result.x.any()
