"""Whatever way data are stored, they act as the dense matrix they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import southwell as sw
from southwell.testing import check_design


def sparse(make, index):
    def convert(A):
        A = make(A)
        A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
        return A

    return convert


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr32": sparse(sp.csr_array, np.int32),
    "csc32": sparse(sp.csc_array, np.int32),
    "csr64": sparse(sp.csr_matrix, np.int64),
    "csc64": sparse(sp.csc_matrix, np.int64),
}
# Numbers that float32 holds exactly, zero often: rows and columns without entries come by themselves.
NUMBERS = st.one_of(st.just(0.0), st.floats(-100.0, 100.0, width=32, allow_subnormal=False))
MATRICES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=8).flatmap(
    lambda s: hnp.arrays(float, s, elements=NUMBERS)
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@given(dense=MATRICES)
def test_every_layout_obeys_the_laws(layout, dtype, dense):
    check_design(LAYOUTS[layout](dense.astype(dtype)), dense)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=20)  # with three checks each
@given(dense=MATRICES, data=st.data())
def test_centred_data_obey_the_laws(layout, dtype, dense, data):
    A = LAYOUTS[layout](dense.astype(dtype))
    check_design(sw.Centred(A), dense - dense.mean(axis=0))
    means = data.draw(hnp.arrays(float, dense.shape[1], elements=NUMBERS))
    check_design(sw.Centred(A, means), dense - means)
    weights = data.draw(hnp.arrays(float, dense.shape[0], elements=st.floats(0.125, 8.0)))
    check_design(sw.Centred(A), dense - weights @ dense / weights.sum(), sample_weight=weights)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (3, 4)])
def test_data_without_entries_obey_the_laws(layout, shape):
    check_design(LAYOUTS[layout](np.zeros(shape)), np.zeros(shape))
    check_design(sw.Centred(LAYOUTS[layout](np.zeros(shape))), np.zeros(shape))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_means_lose_no_digits(layout):
    """Centring 1e6 + noise loses ten digits of the square and none of the products."""
    dense = 1e6 + np.random.default_rng(0).normal(size=(40, 3))
    dense[:, 2] = 1e6  # centred, this column is nothing
    check_design(sw.Centred(LAYOUTS[layout](dense)), dense - dense.mean(axis=0))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16, ">f8", np.longdouble])
def test_other_number_types_obey_the_laws(dtype):
    dense = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0]])
    A = dense.astype(dtype)
    check_design(A, dense)
    check_design(np.asfortranarray(A), dense)
    if dtype not in (np.float16, ">f8"):  # SciPy stores neither
        check_design(sp.csr_array(A), dense)


def test_views_and_read_only_arrays():
    full = np.random.default_rng(1).normal(size=(12, 10))
    check_design(full[::2, 1::3], full[::2, 1::3])
    check_design(full.T, full.T)
    check_design(full[:, :1], full[:, :1])
    kept = full.copy()
    for A in (full, np.asfortranarray(full)):
        A.setflags(write=False)
        check_design(A, kept)
    A = sp.csr_array(full)
    for part in (A.data, A.indices, A.indptr):
        part.setflags(write=False)
    check_design(A, kept)


def test_memory_maps_obey_the_laws(tmp_path):
    dense = np.random.default_rng(2).normal(size=(6, 4))
    np.save(tmp_path / "A.npy", dense)
    check_design(np.load(tmp_path / "A.npy", mmap_mode="r"), dense)


def test_other_sparse_formats_unsorted_and_duplicate_entries():
    dense = np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 4.0]])
    for format in ("coo", "lil", "dok", "bsr", "dia"):
        check_design(sp.csr_array(dense).asformat(format), dense)
    # Row 0 is 1 + 2 at column 1; row 1 has column 2 before column 0.
    A = sp.csr_array((np.array([1.0, 2.0, 4.0, 1.0]), np.array([1, 1, 2, 0]), np.array([0, 2, 4])), shape=(2, 3))
    check_design(A, dense)
    assert A.indices.tolist() == [1, 1, 2, 0], "the given matrix was changed"
    stored_zero = sp.csc_array((np.array([0.0, 5.0]), np.array([0, 1]), np.array([0, 2, 2])), shape=(2, 2))
    check_design(stored_zero, stored_zero.toarray())


def test_no_copy_of_a_usable_layout():
    dense = np.random.default_rng(3).normal(size=(5, 4))
    for A, by_columns in ((np.asfortranarray(dense), True), (dense, False)):
        data = sw.Problem(A, np.zeros(5)).data
        assert np.shares_memory(data.columns if by_columns else data.rows, A)
    A = sp.csc_array(dense)
    assert np.shares_memory(sw.Problem(A, np.zeros(5)).data.columns.data, A.data)


def test_real_data_obey_the_laws(shared_data):
    given = shared_data("mushrooms")
    A = sp.csr_array((given["data"], given["indices"], given["indptr"]), shape=tuple(given["shape"]))[:200, :30]
    dense = A.toarray().astype(float)
    check_design(A, dense)
    check_design(sw.Centred(A.astype(np.float32)), dense - dense.mean(axis=0))


@pytest.mark.parametrize("change", ["entry", "transposed", "not centred", "weights", "shape"])
def test_laws_catch_another_matrix(change):
    dense = np.random.default_rng(4).normal(size=(5, 5)) + 1
    weights = np.arange(1.0, 6.0)
    other = dense.copy()
    other[3, 2] += 1e-9
    A, other, given = {
        "entry": (dense, other, None),
        "transposed": (dense, dense.T, None),
        "not centred": (sw.Centred(dense), dense, None),
        "weights": (sw.Centred(dense), dense - dense.mean(axis=0), weights),
        "shape": (dense, dense[:, :4], None),
    }[change]
    with pytest.raises(AssertionError, match="breaks a law"):
        check_design(A, other, sample_weight=given)


@pytest.mark.parametrize("method", ["apply", "adjoint", "column_squared_norms"])
@pytest.mark.parametrize("axis", [True, False])
def test_laws_catch_a_wrong_product(method, axis, monkeypatch):
    right = sw.Problem.layout

    class Wrong:
        def __init__(self, layout):
            self.layout = layout

        def __getattr__(self, name):
            answer = getattr(self.layout, name)
            # Wrong in the last coordinate only, and only by a little.
            return (lambda v: answer(v) + 1e-9 * np.eye(answer(v).size)[-1]) if name == method else answer

    monkeypatch.setattr(
        sw.Problem, "layout", lambda self, by: Wrong(right(self, by)) if by == axis else right(self, by)
    )
    with pytest.raises(AssertionError, match="columns" if axis else "rows"):
        check_design(np.random.default_rng(5).normal(size=(6, 3)), np.random.default_rng(5).normal(size=(6, 3)))
