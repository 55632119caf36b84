"""solve_many refuses targets and options that it cannot use, in words."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from many_problems import N, made
from southwell.penalties import ElasticNet


@pytest.mark.parametrize(
    ("Y", "options", "error", "match"),
    [
        (np.zeros(N), {}, ValueError, "at least two classes; got 1"),
        (np.zeros(N), {"loss": "squared"}, ValueError, "Y must be a matrix with a column for each problem"),
        (np.zeros((N, 2, 2)), {}, ValueError, r"got shape \(90, 2, 2\)"),
        (np.zeros((N, 0)), {}, ValueError, "a column for each problem"),
        (sp.csr_array((N, 0)), {}, ValueError, "no columns"),
        ([[1, 2], [3]], {}, ValueError, "mixed shapes"),
        (np.arange(N - 1) % 3, {}, ValueError, f"must have {N} entries"),
        (np.tile([0, 2], (N, 1)), {}, ValueError, "needs both classes"),
        (np.tile([0, 1], (N, 1)), {}, ValueError, "needs both classes"),
        (np.full((N, 2), np.nan), {"loss": "squared"}, ValueError, "NaN or infinity"),
        (np.array([["a", "b"]] * N), {"loss": "squared"}, TypeError, "real numbers"),
        (-np.ones((N, 2)), {"loss": "poisson"}, ValueError, ">= 0"),
        (np.arange(N) % 3, {"n_threads": 0}, ValueError, "n_threads must be an integer >= 1"),
        (np.arange(N) % 3, {"n_threads": 1.5}, ValueError, "n_threads must be an integer >= 1"),
        (np.arange(N) % 3, {"callback": 3}, TypeError, "callback must be callable"),
        (np.arange(N) % 3, {"method": "spcd"}, ValueError, "Did you mean 'spdc'"),
        (np.arange(N) % 3, {"method": "saga", "loss": "hinge"}, ValueError, "needs a smooth loss"),
        (np.arange(N) % 3, {"l1": 0.1, "penalty": ElasticNet(l2=0.1)}, TypeError, "either penalty or l1 and l2"),
        (np.arange(N) % 3, {"tol": -1.0}, ValueError, "tol must be >= 0"),
        (np.arange(N) % 3, {"sample_weight": np.arange(N) % 3 == 0}, ValueError, "needs both classes"),
    ],
)  # fmt: skip
def test_bad_targets_and_options_are_refused(Y, options, error, match):
    with pytest.raises(error, match=match):
        sw.solve_many(made()[0], Y, **{"loss": "logistic", "l2": 0.0 if "l1" in options else 0.1, **options})


def test_labels_without_a_value_are_refused():
    labels = np.where(np.arange(N) % 3 == 0, np.nan, np.arange(N) % 2)
    with pytest.raises(ValueError, match="NaN"):
        sw.solve_many(made()[0], labels, loss="hinge", l2=0.1)


def test_labels_that_cannot_be_sorted_are_refused():
    with pytest.raises((TypeError, ValueError), match="Y "):
        sw.solve_many(made()[0], [None, "a", "b"] * 30, loss="hinge", l2=0.1)


@pytest.mark.skipif(not hasattr(sp, "coo_array"), reason="needs sparse vectors")
def test_sparse_vectors_are_refused():
    flat = sp.coo_array(np.ones(N))
    if flat.ndim != 1:
        pytest.skip("before SciPy 1.13 there are no sparse vectors")
    with pytest.raises(ValueError, match="Y must"):
        sw.solve_many(made()[0], flat, loss="hinge", l2=0.1)


@pytest.mark.parametrize("form", ["csr", "lil", "coo", "bsr"])
def test_sparse_starts_are_refused_before_they_are_read(form):
    start = sp.csr_array(np.ones((3, 5))).asformat(form)
    start.data = start.data[:-1]  # broken: SciPy would fail in the middle of it
    with pytest.raises(TypeError, match="warm_start must be a sequence, one start a problem; got a sparse matrix"):
        sw.solve_many(made()[0], np.arange(N) % 3, loss="logistic", l2=0.1, warm_start=start)


def test_a_matrix_of_objects_that_cannot_be_ordered_is_refused():
    with pytest.raises((TypeError, ValueError), match="b must have 4 entries"):
        sw.solve_many(np.eye(4), np.full((3, 2), None, dtype=object), loss="logistic")
