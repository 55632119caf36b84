"""Sparse matrices in every form are read; broken ones are refused and never crash."""

import itertools
import subprocess
import sys
import warnings

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import southwell as sw
from inputs import CD, SPARSE, A, B, reference, refused
from southwell import ConvergenceWarning

# Sparse structure


def compressed(form, value=np.float64, index=np.int32, pointer=None):
    """A compressed matrix of A with the given types."""
    matrix = form(A.astype(value))
    matrix.indices = matrix.indices.astype(index)
    matrix.indptr = matrix.indptr.astype(pointer or index)
    return matrix


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize(
    "index, pointer",
    [("i4", "i4"), ("i4", "i8"), ("i8", "i4"), ("i8", "i8"), ("u4", "u4"), ("i2", "i8"), ("u8", "i8"), ("i1", "i2")],
)
def test_all_index_types_are_read(form, value, index, pointer):
    given = compressed(form, value, index, pointer)
    for side in ("primal", "dual"):
        r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-9, method=CD(side=side))
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-4)


@pytest.mark.parametrize("form", SPARSE)
def test_compressed_arrays_are_not_copied(form):
    for value, index in itertools.product([np.float32, np.float64], [np.int32, np.int64]):
        given = compressed(form, value, index)
        matrix = sw.Problem(given, B).data
        kept = matrix.rows if given.format == "csr" else matrix.columns
        for name in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(kept, name), getattr(given, name)), name


def test_dense_arrays_are_not_copied():
    for given in (A, np.asfortranarray(A), A.astype(np.float32)):
        matrix = sw.Problem(given, B).data
        assert np.shares_memory(matrix.rows if given.flags.c_contiguous else matrix.columns, given)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "breakage, match",
    [
        (lambda m: m.indices.__setitem__(0, 100), "index 100 is outside"),
        (lambda m: m.indices.__setitem__(-1, 10**9), "outside"),
        (lambda m: m.indices.__setitem__(3, -1), "index -1 is outside"),
        (lambda m: m.indices.__setitem__(3, np.iinfo(m.indices.dtype).min), "outside"),
        (lambda m: m.indptr.__setitem__(2, m.indptr[1] - 1), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(1, -4), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(1, m.nnz + 50), "indptr decreases"),
        (lambda m: m.indptr.__setitem__(0, 1), "indptr must start at 0"),
        (lambda m: m.indptr.__setitem__(0, -1), "indptr must start at 0"),
        (lambda m: m.indptr.__setitem__(-1, m.indptr[-1] + 7), "beyond|values for"),
        (lambda m: m.indptr.__setitem__(-1, np.iinfo(m.indptr.dtype).max), "beyond|values for"),
        (lambda m: setattr(m, "indptr", m.indptr[:-1].copy()), "indptr has .* entries; its shape needs"),
        (lambda m: setattr(m, "indptr", np.append(m.indptr, m.indptr[-1])), "indptr has .* entries; its shape needs"),
        (lambda m: setattr(m, "indptr", m.indptr[:0].copy()), "indptr has 0 entries"),
        (lambda m: setattr(m, "data", m.data[:-2].copy()), "values for"),
        (lambda m: setattr(m, "data", m.data[:0].copy()), "0 values for"),
        (lambda m: setattr(m, "indices", m.indices[:-2].copy()), "beyond"),
        (lambda m: setattr(m, "indices", m.indices[:0].copy()), "beyond"),
        (lambda m: setattr(m, "indices", m.indices.astype(float)), "indices must be integers"),
        (lambda m: setattr(m, "indptr", m.indptr.astype(float)), "indices must be integers"),
        (lambda m: setattr(m, "indptr", m.indptr[:, None]), "A is broken"),
        (lambda m: setattr(m, "indices", m.indices[:, None]), "A is broken"),
        (lambda m: setattr(m, "data", m.data[:, None]), "A is broken"),
        (lambda m: setattr(m, "indices", np.full(m.nnz, 2**64 - 1, np.uint64)), "outside"),
    ],
)
def test_broken_structure_is_refused(form, index, breakage, match):
    matrix = compressed(form, index=index)
    breakage(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(match, matrix, B, error=(TypeError, ValueError))


def test_broken_coordinates_are_refused():
    """In a process of its own, because a bad row that is not refused overwrites memory."""
    code = """
import numpy as np, scipy.sparse as sp, southwell as sw
for name, bad in (("row", 2**31 - 1), ("row", -1), ("row", 12), ("col", 5), ("col", -1)):
    A = sp.coo_array(np.arange(60.0).reshape(12, 5))
    getattr(A, name)[2] = bad
    try:
        print(name, bad, sw.solve(A, np.arange(12.0), l1=0.1, max_epochs=5).status)
    except ValueError as error:
        print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == 5 and all(line.startswith("refused:") for line in said), said


@pytest.mark.parametrize("breakage", ["index", "pointer"])
def test_broken_blocks_are_refused(breakage):
    matrix = sp.bsr_array(A, blocksize=(2, 1))
    if breakage == "index":
        matrix.indices[0] = 77
    else:
        matrix.indptr[-1] += 5
    refused("A is broken|outside|exceed|index", matrix, B)


def unsorted(form):
    """A with the entries of each fiber reversed."""
    matrix = compressed(form)
    for start, end in itertools.pairwise(matrix.indptr.copy()):
        matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
        matrix.data[start:end] = matrix.data[start:end][::-1].copy()
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    return matrix


def repeated(form, claim):
    """A with each entry stored as two halves, flagged canonical or not."""
    plain = compressed(form)
    data, indices = np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2)
    matrix = form((data, indices, plain.indptr * 2), shape=A.shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = claim
    return matrix


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("kind", ["unsorted", "repeated", "repeated but called canonical"])
def test_structure_that_is_not_canonical_is_read(form, side, kind):
    given = unsorted(form) if kind == "unsorted" else repeated(form, kind != "repeated")
    kept = [getattr(given, name).copy() for name in ("data", "indices", "indptr")]
    for coupling in ("mirror", "gram"):
        method = CD(side=side, coupling=coupling)
        r = sw.solve(given, B, l2=0.05, tol=1e-10, method=method)
        q = sw.solve(form(A), B, l2=0.05, tol=1e-10, method=method)
        np.testing.assert_allclose(r.x, q.x, atol=1e-12)
    for name, before in zip(("data", "indices", "indptr"), kept, strict=True):
        np.testing.assert_array_equal(getattr(given, name), before)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_explicit_zeros_and_spare_entries_are_read(form, side):
    full = form((12, 5))
    dense = A if full.format == "csr" else A.T
    full.data = dense.ravel().copy()
    full.indices = np.tile(np.arange(dense.shape[1], dtype=np.int32), dense.shape[0])
    full.indptr = np.arange(0, dense.size + 1, dense.shape[1], dtype=np.int32)
    spare = compressed(form)
    spare.data = np.append(spare.data, [np.nan, 1e300])  # beyond the end: never read
    spare.indices = np.append(spare.indices, np.array([-7, 10**6], np.int32))
    for given in (full, spare):
        r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-10, method=CD(side=side))
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)


def test_read_only_arrays_in_any_order_are_read():
    for given in (unsorted(sp.csr_array), repeated(sp.csc_array, False), compressed(sp.csr_array)):
        for name in ("data", "indices", "indptr"):
            getattr(given, name).flags.writeable = False
        for side in ("primal", "dual"):
            r = sw.solve(given, B, l1=0.05, l2=0.01, tol=1e-10, method=CD(side=side))
            np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)


def test_strided_arrays_are_read():
    given = compressed(sp.csr_array)
    for name in ("data", "indices", "indptr"):
        setattr(given, name, np.repeat(getattr(given, name), 2)[::2])
    np.testing.assert_allclose(sw.solve(given, B, l1=0.05, tol=1e-10).x, reference().x, atol=1e-5)


@pytest.mark.parametrize("form", SPARSE)
def test_matrices_without_entries_are_solved(form):
    r = sw.solve(form((12, 5)), B, l1=0.1, intercept=True)
    assert r.status is sw.Status.CONVERGED and not r.x.any()
    np.testing.assert_allclose(r.intercept, B.mean())


# Whatever is in the index arrays: an exception or a sane result, never a crash.


@st.composite
def corrupted(draw):
    rows, cols = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    form = draw(st.sampled_from(SPARSE))
    index = draw(st.sampled_from([np.int32, np.int64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = form(np.where(rng.random((rows, cols)) < 0.6, rng.standard_normal((rows, cols)), 0.0))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    wild = st.one_of(st.integers(-3, 9), st.sampled_from([-(2**31), 2**31 - 1, 1000, -1000]))
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(["indices", "indptr", "data"]))
        array = getattr(matrix, name).copy()
        if draw(st.booleans()) and array.size:
            place = draw(st.integers(0, array.size - 1))
            array[place] = draw(st.floats(allow_nan=True, width=16) if name == "data" else wild)
        else:
            array = np.resize(array, max(array.size + draw(st.integers(-3, 3)), 0)) if array.size else array
        setattr(matrix, name, array)
    return matrix


@hypothesis.settings(max_examples=400, deadline=None, derandomize=True)
@hypothesis.given(matrix=corrupted(), side=st.sampled_from(["primal", "dual"]), intercept=st.booleans())
def test_corrupted_structure_is_refused_or_solved(matrix, side, intercept):
    kept = [getattr(matrix, name).copy() for name in ("data", "indices", "indptr")]
    b = np.arange(matrix.shape[0]) - 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            r = sw.solve(matrix, b, l1=0.05, l2=0.1, intercept=intercept, method=CD(side=side), max_epochs=200)
        except (ValueError, TypeError) as error:
            assert "A is broken" in str(error) or "A contains NaN or infinity" in str(error), str(error)
        else:
            assert np.isfinite(r.x).all() and np.isfinite(r.primal) and r.gap >= 0 and r.x.shape == (matrix.shape[1],)
            dense = np.zeros(matrix.shape)
            for k, (start, stop) in enumerate(itertools.pairwise(matrix.indptr)):
                for e in range(start, stop):
                    place = (k, matrix.indices[e]) if matrix.format == "csr" else (matrix.indices[e], k)
                    dense[place] += matrix.data[e]
            margins = dense @ r.x + r.intercept
            value = np.mean((margins - b) ** 2) / 2 + 0.05 * np.abs(r.x).sum() + 0.05 * r.x @ r.x
            np.testing.assert_allclose(r.primal, value, rtol=1e-9, atol=1e-12)
    for name, before in zip(("data", "indices", "indptr"), kept, strict=True):
        np.testing.assert_array_equal(getattr(matrix, name), before)


@pytest.mark.parametrize(
    "form",
    [sp.coo_matrix, sp.coo_array, sp.lil_matrix, sp.lil_array, sp.dok_matrix, sp.dok_array, sp.dia_matrix,
     sp.dia_array, sp.bsr_matrix, sp.bsr_array, *SPARSE],
)  # fmt: skip
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_all_sparse_formats_are_read(form, side):
    given = form(A)
    r = sw.solve(given, B, l1=0.05, l2=0.01, intercept=True, tol=1e-10, method=CD(side=side))
    np.testing.assert_allclose(r.x, reference(l2=0.01, intercept=True).x, atol=1e-5)
    np.testing.assert_array_equal(given.toarray(), A)
