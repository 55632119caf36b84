"""Numbers of every type and arrays in every layout are read, and nothing given is changed."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from inputs import CD, SPARSE, A, B, ElasticNet, reference

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix


# Number types and memory layouts


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "?", ">f4", ">f8", ">i4", "g"])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_all_real_types_are_read(dtype, form, side):
    whole = np.clip(np.round(np.abs(A) * 3), 0, 1 if dtype == "?" else 100)
    given = whole.astype(dtype)
    if form in (sp.csr_array, sp.csc_array):
        matrix = form(whole)
        matrix.data = matrix.data.astype(dtype)
        given = matrix
    else:
        given = form(given)
    options = {"l1": 0.05, "l2": 0.01, "tol": 1e-9, "method": CD(side=side)}
    expected, got = sw.solve(whole, B, **options), sw.solve(given, B, **options)
    np.testing.assert_allclose(got.x, expected.x, atol=1e-12)
    np.testing.assert_allclose(sw.solve(whole, np.round(B * 3).astype("i4"), **options).x,
                               sw.solve(whole, np.round(B * 3).astype(">f8"), **options).x, atol=1e-12)  # fmt: skip


def layouts():
    wide = np.zeros((24, 15))
    wide[::2, ::3] = A
    back = np.ascontiguousarray(A[::-1, ::-1])
    frozen = A.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + A.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(A.shape)
    return {
        "C": np.ascontiguousarray(A),
        "F": np.asfortranarray(A),
        "strided": wide[::2, ::3],
        "backwards": back[::-1, ::-1],
        "rows backwards": np.ascontiguousarray(A[::-1])[::-1],
        "columns backwards": np.asfortranarray(A[:, ::-1])[:, ::-1],
        "read-only": frozen,
        "read-only F": np.asfortranarray(frozen),
        "transposed": np.ascontiguousarray(A.T).T,
        "unaligned": unaligned,
        "list": A.tolist(),
        "tuple": tuple(map(tuple, A)),
        "list of arrays": list(A),
        "matrix": np.asmatrix(A),
        "subclass": A.view(type("Own", (np.ndarray,), {})),
    }


@pytest.mark.parametrize("name", layouts())
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_all_dense_layouts_are_read(name, side, coupling):
    given = layouts()[name]
    kept = copy.deepcopy(given)
    method = CD(side=side, coupling=coupling)
    r = sw.solve(given, B, l2=0.05, intercept=True, tol=1e-10, method=method)
    np.testing.assert_allclose(r.x, reference(l1=0, l2=0.05, intercept=True).x, atol=1e-5)
    assert r.x.flags.writeable and r.x.shape == (5,) and r.y.shape == (12,)
    np.testing.assert_array_equal(given, kept)


def test_broadcast_arrays_are_read():
    given = np.broadcast_to(A[:1], (12, 5))
    np.testing.assert_array_equal(sw.solve(given, B, l1=0.05).x, sw.solve(given.copy(), B, l1=0.05).x)
    assert np.isfinite(sw.solve(A, np.broadcast_to(np.float64(2.0), 12), l1=0.05).primal)


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_are_read_and_not_written(tmp_path, mode, order, dtype):
    path = tmp_path / "A.bin"
    np.asarray(A, dtype).ravel(order).tofile(path)
    before = path.read_bytes()
    mapped = np.memmap(path, dtype=dtype, mode=mode, shape=A.shape, order=order)
    for side in ("primal", "dual"):
        r = sw.solve(mapped, B, l1=0.05, l2=0.01, method=CD(side=side), tol=1e-10)
        np.testing.assert_allclose(r.x, reference(l2=0.01).x, atol=1e-5)
    assert path.read_bytes() == before


# The caller's arrays


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, np.float32, *SPARSE])
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_nothing_given_is_modified(form, side, coupling):
    given = form(A)
    b, w, pw, start = B.copy(), np.arange(12.0), np.arange(1.0, 6.0), np.ones(5)
    arrays = [b, w, pw, start, *([given.data, given.indices, given.indptr] if sp.issparse(given) else [given])]
    kept = [a.copy() for a in arrays]
    r = sw.solve(
        given, b, penalty=ElasticNet(0, 0.05, weights=pw), sample_weight=w, intercept=True, warm_start=start,
        method=CD(side=side, coupling=coupling),
    )  # fmt: skip
    sw.lambda_max(given, b, weights=pw, sample_weight=w, intercept=True)
    for array in (r.x, r.y):
        assert not any(np.shares_memory(array, a) for a in arrays)
        array[:] = 7.0
    for array, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_targets_and_weights_changed_later_do_not_change_the_problem():
    b, w = B.copy(), np.ones(12)
    problem = sw.Problem(A, b, penalty=ElasticNet(0.05), sample_weight=w)
    expected = sw.solve(problem, tol=1e-10).x
    b[:], w[:] = np.nan, 0.0
    np.testing.assert_array_equal(sw.solve(problem, tol=1e-10).x, expected)
