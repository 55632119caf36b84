"""Matrices in .npy, .npz and MatrixMarket files; and what such files may claim in vain."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from southwell.data import arrays

A = np.arange(12.0).reshape(4, 3)
S = sp.csr_array(np.where(A % 2 == 0, A, 0))
HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 3), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3, 1), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (-1, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999), }", "(" * 500, "__import__('os')",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2, 6), }",
]  # fmt: skip


def same(found, expected):
    found, expected = (M.toarray() if sp.issparse(M) else np.asarray(M) for M in (found, expected))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i8", "u1", "?", "<f2"])
def test_arrays_are_read(tmp_path, order, dtype):
    given = np.asarray(A, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", given)
    same(sw.data.load(tmp_path / "a.npy").A, given.astype(float))


@pytest.mark.parametrize("target", [0, 2, -1])
def test_a_column_of_a_matrix_may_be_the_target(tmp_path, target):
    np.save(tmp_path / "a.npy", A)
    sp.save_npz(tmp_path / "s.npz", S)
    for name, whole in (("a.npy", A), ("s.npz", S.toarray())):
        data = sw.data.load(tmp_path / name, target=target)
        same(data.targets, whole[:, target])
        same(data.A, np.delete(whole, target % 3, axis=1))


def test_targets_may_be_in_another_file(tmp_path):
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", np.array(["u", "v", "u", "w"]))
    np.save(tmp_path / "short.npy", np.arange(3))
    assert sw.data.load(tmp_path / "a.npy", target=tmp_path / "b.npy").targets.tolist() == ["u", "v", "u", "w"]
    with pytest.raises(ValueError, match=r"4 rows, but .* holds 3 targets"):
        sw.data.load(tmp_path / "a.npy", target=tmp_path / "short.npy")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices_of_scipy_are_read(tmp_path, kind, compressed):
    sp.save_npz(tmp_path / "s.npz", S.asformat(kind), compressed=compressed)
    found = sw.data.load(tmp_path / "s.npz").A
    same(found, S)
    assert found.format == "csr" and found.indices.dtype == np.int32


def test_arrays_with_names_are_read(tmp_path):
    np.savez(tmp_path / "z.npz", X=A, y=np.arange(4), sample_weight=np.ones(4))
    np.savez(tmp_path / "s.npz", data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, y=np.arange(4))
    data = sw.data.load(tmp_path / "z.npz")
    same(data.A, A)
    assert data.b.tolist() == [0, 1, 2, 3] and data.weights.tolist() == [1] * 4
    data = sw.data.load(tmp_path / "s.npz")
    same(data.A, S)
    assert data.b.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("matrix", [S, A, sp.csr_array(np.tril(np.ones((3, 3))) + np.triu(np.ones((3, 3)), 1))])
def test_matrix_market_is_read(tmp_path, matrix):
    scipy.io.mmwrite(tmp_path / "m.mtx", matrix)
    same(sw.data.load(tmp_path / "m.mtx").A, matrix)


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_symmetric_matrices_are_those_of_scipy(tmp_path, symmetry, is_sparse):
    matrix = np.tril(np.arange(16.0).reshape(4, 4), -1)
    matrix = matrix - matrix.T if symmetry == "skew-symmetric" else matrix + matrix.T + np.eye(4)
    scipy.io.mmwrite(tmp_path / "m.mtx", sp.coo_array(matrix) if is_sparse else matrix, symmetry=symmetry)
    assert symmetry.encode() in (tmp_path / "m.mtx").read_bytes().split(b"\n")[0]
    same(sw.data.load(tmp_path / "m.mtx").A, matrix)


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_do_not_account_for_the_bytes_are_refused(tmp_path, header):
    text = header.encode().ljust(len(header) + 10) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(96)
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        archive.writestr("A.npy", content)
    for name in ("a.npy", "z.npz"):
        with pytest.raises(ValueError, match=name):
            sw.data.load(tmp_path / name)


def market(sizes: str, form: str = "coordinate real general") -> bytes:
    return f"%%MatrixMarket matrix {form}\n{sizes}\n1 1 5\n".encode()


MARKETS = [
    market("3 3 2000000000"), market("2000000000 3 1"), market("3 3"), market("x y z"), market("3 99999999999 1"),
    market("-1 3 1"), market("3 3 1", "coordinate nothing general"), market("100000 100000", "array real general"),
]  # fmt: skip


@pytest.mark.parametrize("content", MARKETS, ids=range(len(MARKETS)))
def test_sizes_that_the_bytes_do_not_account_for_are_refused(tmp_path, content):
    (tmp_path / "m.mtx").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.mtx"):
        sw.data.load(tmp_path / "m.mtx")


def test_archives_that_expand_too_far_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "UNSUSPECTED", 1 << 10)
    monkeypatch.setattr(arrays, "MOST_EXPANDED", 20)
    np.savez_compressed(tmp_path / "z.npz", A=np.zeros((500, 500)))
    with pytest.raises(ValueError, match="20 times as large"):
        sw.data.load(tmp_path / "z.npz")


WRONG = {
    "three dimensions": (np.zeros((2, 2, 2)), {}, "two dimensions"),
    "NaN": (np.array([[1.0], [np.nan]]), {}, "row 1, column 0"),
    "objects": (np.array([[None]], dtype=object), {}, "pickles are never read"),
    "texts": (np.array([["a"]]), {}, "not numbers"),
    "column": (A, {"target": 5}, "between -3 and 2"), "target": (A, {"target": 1.5}, "position of a column"),
    "weight": (A, {"weight": 1}, "weight names a column of a table"), "none": (np.zeros((0, 3)), {}, "no rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arrays_are_refused_in_words(tmp_path, name):
    content, options, words = WRONG[name]
    np.save(tmp_path / "a.npy", content, allow_pickle=True)
    with pytest.raises((ValueError, TypeError), match=words):
        sw.data.load(tmp_path / "a.npy", **options)


@settings(max_examples=60, deadline=None)
@given(
    place=st.integers(0, 10**6),
    byte=st.integers(0, 255),
    cut=st.none() | st.integers(0, 10**6),
    which=st.integers(0, 2),
)
def test_damaged_files_are_refused_or_read(tmp_path_factory, place, byte, cut, which):
    made = io.BytesIO()
    (lambda: np.save(made, A), lambda: sp.save_npz(made, S), lambda: scipy.io.mmwrite(made, S))[which]()
    content = bytearray(made.getvalue())
    content[place % len(content)] = byte
    path = tmp_path_factory.mktemp("damaged") / "file"
    path.write_bytes(content[: None if cut is None else cut % len(content)])
    try:
        found = sw.data.load(path).A
    except (ValueError, TypeError) as error:
        assert str(error)
    else:
        assert np.isfinite(found.data if sp.issparse(found) else found).all()


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        sw.data.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="folder holds no files"):
        sw.data.load(tmp_path)
    for wrong in (3, None, b"x", ["a"]):
        with pytest.raises(TypeError, match="path must be"):
            sw.data.load(wrong)
    with pytest.raises(ValueError, match="NUL"):
        sw.data.load("a\0b")
