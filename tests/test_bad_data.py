"""Data, targets and weights that cannot be used are refused before any work, in words."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from inputs import MARGIN_LOSSES, RNG, SIGNS, SPARSE, A, B, reference, refused

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix


# Numbers that are not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, np.float32, *SPARSE, sp.coo_array])
@pytest.mark.parametrize("place", [(0, 0), (11, 4), (5, 2)])
def test_data_that_are_not_finite_are_refused(bad, form, place):
    broken = A.copy()
    broken[place] = bad
    refused("A contains NaN or infinity", form(broken), B)
    with pytest.raises(ValueError, match="A contains NaN or infinity"):
        sw.Problem(form(broken), B)
    with pytest.raises(ValueError, match="A contains NaN or infinity"):
        sw.lambda_max(form(broken), B)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 4097])
def test_one_nan_is_found_wherever_it_is(size):
    for k in {0, size // 2, size - 1}:
        column = np.ones((size, 1))
        column[k] = np.nan
        refused("A contains NaN", column, np.ones(size))


def test_numbers_whose_sum_overflows_are_finite():
    big = np.full((4, 2), 1.5e308)
    assert sw.Problem(big, np.ones(4)).n_samples == 4
    assert sw.Problem(big, np.full(4, 1.5e308)).n_samples == 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_targets_and_weights_that_are_not_finite_are_refused(bad, dtype):
    broken = np.ones(12, dtype)
    broken[3] = bad
    refused("b contains NaN or infinity", A, broken)
    refused("sample_weight contains NaN or infinity", A, B, sample_weight=broken)


# Shapes


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("size", [0, 1, 11, 13])
def test_lengths_that_disagree_are_refused(form, size):
    refused(f"b must have 12 entries.*got {size}", form(A), np.ones(size))
    refused(f"sample_weight must have 12 entries.*got {size}", form(A), B, sample_weight=np.ones(size))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
@pytest.mark.parametrize("form", [np.zeros, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_empty_data_are_refused(shape, form):
    refused("A is empty: its shape is", form(shape), np.ones(shape[0]))


@pytest.mark.parametrize("b", [np.float64(3.0), np.ones((12, 1, 1))])
def test_targets_of_other_dimensions_are_refused(b):
    refused("b must be one-dimensional; got shape", A, b)


def test_a_column_or_a_row_of_targets_is_a_vector():
    for b in (B[:, None], B[None, :], B.tolist(), tuple(B), np.asmatrix(B)):
        np.testing.assert_array_equal(reference().x, sw.solve(A, b, l1=0.05, tol=1e-10).x)


def test_data_of_other_dimensions_are_refused():
    text = refused("A must be 2-d", A[:, 0], B)
    assert "reshape(-1, 1)" in text
    refused("A must be 2-d", A[:, :, None], B)
    refused("A must be 2-d", 3.0, B)
    if (flat := sp.coo_array(A[:, 0])).ndim == 1:  # SciPy before 1.13 makes a row of it
        refused("A must be 2-d", flat, B)
    refused("A must be", None, B, error=(TypeError, ValueError))
    refused("A must be", "data.csv", B, error=(TypeError, ValueError))
    refused("A must be", [[1.0, 2.0], [3.0]], [1.0, 2.0], error=(TypeError, ValueError))
    refused("A must be", {1: 2}, B, error=(TypeError, ValueError))


def test_missing_targets_are_refused():
    refused("needs targets b", A, error=TypeError)
    refused("b must", A, "labels", error=(TypeError, ValueError))
    refused("b must", A, sp.csr_array(B[:, None]), error=(TypeError, ValueError))


# Targets and weights


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_three_labels_are_too_many(loss):
    text = refused(f"The {loss} loss takes two classes; got 3: -1, 0, 1", A, np.resize((-1, 0, 1), 12), loss=loss)
    assert "solve_many" in text and "softmax" in text
    refused("takes two classes; got 3: 'a', 'b', 'c'", A, np.resize(list("abc"), 12), loss=loss)


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ((0.5, 1), r"labels of classes.*got float64: 0\.5, 1\.0"), ((None, 1.0), "missing labels"),
        ((1.0, np.nan), "NaN"), ((1j, 2), "got complex128"), (("a", 1), None), ((b"a", 1.5), None),
    ],
)  # fmt: skip
def test_what_cannot_be_labels_is_refused(loss, labels, match):
    given = np.array([*labels] * 6, dtype=object if match is None else None)
    refused(match or "cannot be compared", A, given, loss=loss)


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_class_is_refused(loss, sign):
    refused("needs both classes", A, np.full(12, sign), loss=loss)
    refused("needs both classes", A, SIGNS, loss=loss, sample_weight=sign == SIGNS)


def test_many_labels_are_not_all_shown():
    assert len(refused("takes two classes", RNG.standard_normal((3000, 2)), np.arange(3000), loss="hinge")) < 300


def test_negative_counts_are_refused():
    refused("poisson loss takes targets >= 0; the smallest is -0.5", A, np.where(B < 0, -0.5, 1.0), loss="poisson")


def test_bad_weights_are_refused_and_only_ratios_matter():
    refused("sample_weight must be >= 0; the smallest is -1", A, B, sample_weight=SIGNS)
    refused("positive, finite sum", A, B, sample_weight=np.zeros(12))
    huge = sw.solve(A, B, l1=0.1, sample_weight=np.full(12, 1e308))  # only ratios matter, even if the sum overflows
    np.testing.assert_allclose(huge.x, sw.solve(A, B, l1=0.1).x)
    refused("sample_weight must", A, B, sample_weight="balanced", error=(TypeError, ValueError))
    refused("sample_weight must", A, B, sample_weight=3.0, error=(TypeError, ValueError))
    refused("sample_weight must", A, B, sample_weight=np.ones((12, 2)))
    for w in (np.full(12, 7), [2.0] * 12, np.ones(12, bool), np.ones(12, np.float16), np.full(12, 5e-324)):
        np.testing.assert_allclose(reference(sample_weight=w).x, reference().x, atol=1e-12)


@pytest.mark.parametrize("dtype", [object, complex, "U8", "S8", "datetime64[s]", "timedelta64[s]", [("x", float)]])
def test_numbers_that_are_not_real_are_refused(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odd = np.zeros((12, 5), dtype=dtype)
    text = refused("A must hold real numbers; got dtype", odd, B, error=TypeError)
    assert "astype" in text
    refused("b must hold real numbers; got dtype", A, odd[:, 0], error=TypeError)
    refused("sample_weight must hold real numbers; got dtype", A, B, sample_weight=odd[:, 0], error=TypeError)


@pytest.mark.parametrize("form", [*SPARSE, sp.coo_array])
def test_complex_sparse_matrices_are_refused(form):
    refused("A must hold real numbers; got dtype complex", form(A.astype(complex)), B, error=TypeError)
