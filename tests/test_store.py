"""A store holds what was written to it, appears whole, and is refused when it is damaged."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from southwell.data import Store, column_totals, folders
from southwell.model_files import files


def sparse(rows=50, columns=8, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)).astype(dtype)


def dense(M):
    return M.toarray() if sp.issparse(M) else np.asarray(M)


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 40), columns=st.integers(1, 9), is_sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]), shard=st.sampled_from([1, 100, 1 << 20]),
    targets=st.sampled_from([None, "numbers", "labels"]), parts=st.integers(1, 3),
)  # fmt: skip
def test_what_is_written_is_read_back(tmp_path_factory, rows, columns, is_sparse, dtype, shard, targets, parts):
    path = tmp_path_factory.mktemp("store") / "s"
    given_A = [sparse(rows, columns, k, dtype) for k in range(parts)]
    given_A = given_A if is_sparse else [A.toarray() for A in given_A]
    b = [None if targets is None else np.arange(rows) * 0.5 + k for k in range(parts)]
    if targets == "labels":
        b = [np.array([f"label {value % 3}" for value in one]) for one in b]
    weights, qid = np.arange(rows) + 1.0, np.arange(rows)
    store = Store.write(path, given_A[0], b[0], weights=weights, qid=qid, shard_bytes=shard)
    for A, y in zip(given_A[1:], b[1:], strict=True):
        store.append(A, y, weights=weights, qid=qid)
    whole = np.vstack([dense(A) for A in given_A])
    for found in (store, Store.open(path, check="checksums")):
        assert found.shape == whole.shape and found.dtype == dtype and found.layout == ("csr" if is_sparse else "dense")
        data = found.load()
        np.testing.assert_array_equal(dense(data.A), whole)
        np.testing.assert_array_equal(np.vstack([dense(one.A) for one in found]), whole)
        np.testing.assert_array_equal(data.weights, np.tile(weights, parts))
        np.testing.assert_array_equal(data.qid, np.tile(qid, parts))
        assert data.targets is None if targets is None else data.targets.tolist() == np.concatenate(b).tolist()
        totals = found.statistics()
        wide = whole.astype(float)
        np.testing.assert_array_equal(totals.counts, (whole != 0).sum(axis=0))
        np.testing.assert_allclose(totals.sums, wide.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(totals.squares, (wide**2).sum(axis=0))
        np.testing.assert_array_equal(totals.largest, np.abs(wide).max(axis=0))


def test_a_store_is_readable_by_numpy_and_scipy_alone(tmp_path):
    A = sparse()
    Store.write(tmp_path / "s", A, np.arange(50.0), feature_names=[f"f{j}" for j in range(8)], shard_bytes=600)
    text = json.loads((tmp_path / "s" / "manifest.json").read_text())
    parts = []
    for shard in text["shards"]:
        arrays = {name: np.load(tmp_path / "s" / one["name"], mmap_mode="r") for name, one in shard["files"].items()}
        assert arrays["indices"].dtype == np.int32 and arrays["indptr"].dtype == np.int64
        csr = (arrays["data"], arrays["indices"], arrays["indptr"])
        parts.append(sp.csr_array(csr, shape=(shard["rows"], text["columns"])))
    np.testing.assert_array_equal(sp.vstack(parts).toarray(), A.toarray())
    assert len(parts) > 2 and text["feature_names"][3] == "f3"


def test_several_labels_a_row_are_kept(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1,3 1:1\n 2:1\n2 1:1\n")
    data = sw.data.load(path)
    store = Store.write(tmp_path / "s", data, shard_bytes=1)
    found = store.load()
    assert found.classes.tolist() == [1, 2, 3] and len(store.shards()) == 3
    np.testing.assert_array_equal(found.targets.toarray(), data.targets.toarray())


def test_shards_are_mapped(tmp_path):
    (shard,) = Store.write(tmp_path / "s", np.ones((5, 2)), np.arange(5)).shards()
    assert not shard.A.flags.owndata and not shard.A.flags.writeable and shard.shape == (5, 2)
    assert sw.solve(shard.A, shard.targets, l1=0.1).gap < 1e-5


def test_a_store_is_loaded_as_files_are(tmp_path):
    Store.write(tmp_path / "s", sparse(), np.arange(50))
    np.testing.assert_array_equal(sw.data.load(tmp_path / "s").A.toarray(), sparse().toarray())


@pytest.mark.parametrize("limit", [1, 5000])
def test_statistics_of_many_columns_are_merged_from_files(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(column_totals, "MOST_BYTES", limit)
    monkeypatch.setattr(column_totals, "RANGE", 100)
    rng = np.random.default_rng(0)
    columns = np.unique(np.concatenate([rng.integers(0, 2**31 - 1, 300), np.arange(150), [2**31 - 2]]))
    rows = rng.integers(0, 40, columns.size)
    A = sp.csr_array((rng.normal(size=columns.size), (rows, columns.astype(np.int32))), shape=(40, 2**31 - 1))
    store = Store.write(tmp_path / "s", A, shard_bytes=500)
    store.append(A)
    found = store.stored_statistics()
    np.testing.assert_array_equal(found["columns"], columns)
    np.testing.assert_array_equal(found["counts"], np.full(columns.size, 2))
    order = np.argsort(A.indices)
    np.testing.assert_array_equal(found["sums"], 2 * A.data[order])
    np.testing.assert_array_equal(found["largest"], np.abs(A.data[order]))
    assert not [name for name in left_in(tmp_path / "s") if name.startswith("spilled")]


def shard_files(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".npy")


def test_every_file_that_is_missing_short_or_changed_is_named(tmp_path):
    folder = tmp_path / "s"
    Store.write(folder, sparse(), np.arange(50), shard_bytes=1000)
    assert len(shard_files(folder)) > 10
    for path in shard_files(folder):
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(ValueError, match=f"'{path.name}' is missing"):
            Store.open(folder)
        path.write_bytes(content[:-1])
        with pytest.raises(ValueError, match=f"'{path.name}' has {len(content) - 1} bytes"):
            Store.open(folder)
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        Store.open(folder)
        with pytest.raises(ValueError, match=f"'{path.name}' has changed"):
            Store.open(folder, check="checksums")
        path.unlink()
        (tmp_path / "elsewhere").write_bytes(content)
        path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ValueError, match=f"'{path.name}' is a link"):
            Store.open(folder)
        path.unlink()
        path.write_bytes(content)
    Store.open(folder, check="checksums")


def test_indices_out_of_range_are_refused_before_they_are_read(tmp_path):
    folder = tmp_path / "s"
    Store.write(folder, sparse())
    (path,) = [path for path in shard_files(folder) if ".indices." in path.name]
    content = bytearray(path.read_bytes())
    content[-4:] = (10**6).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"outside 0\.\.7"):
        Store.open(folder).shards()[0].A  # noqa: B018


def test_sizes_of_labels_are_checked_before_they_are_used(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1,3 1:1\n 2:1\n2 1:1\n")
    Store.write(tmp_path / "s", sw.data.load(path))
    (sizes,) = [path for path in shard_files(tmp_path / "s") if ".label_sizes." in path.name]
    content = sizes.read_bytes()
    sizes.write_bytes(content[:-12] + np.array([5, -3, 1], np.int32).tobytes())
    with pytest.raises(ValueError, match="wrong sizes"):
        Store.open(tmp_path / "s").load()


def test_damaged_numbers_are_refused_when_they_are_loaded(tmp_path):
    Store.write(tmp_path / "s", np.ones((3, 2)))
    (path,) = [path for path in shard_files(tmp_path / "s") if ".A." in path.name]
    path.write_bytes(path.read_bytes()[:-8] + np.array([np.nan]).tobytes())
    with pytest.raises(ValueError, match="NaN or infinity"):
        Store.open(tmp_path / "s").load()


MANIFESTS = [
    lambda text: "{", lambda text: "[]", lambda text: "[" * 100_000, lambda text: {**text, "format": "x"},
    lambda text: {**text, "version": 2}, lambda text: {**text, "layout": "coo"}, lambda text: {**text, "columns": -1},
    lambda text: {**text, "columns": 10**30}, lambda text: {**text, "columns": True},
    lambda text: {**text, "shards": {}}, lambda text: {**text, "shards": [1]},
    lambda text: {**text, "feature_names": ["a"]}, lambda text: {**text, "classes": ["a"]},
    lambda text: {**text, "statistics": {"x": {}}}, lambda text: {**text, "dtype": "object"},
    lambda text: json.loads(json.dumps(text).replace("shard_000000", "../shard_000000")),
    lambda text: json.loads(json.dumps(text).replace('"rows": 50', '"rows": 5')),
    lambda text: {**text, "shards": text["shards"] * 2},
]  # fmt: skip


@pytest.mark.parametrize("damage", MANIFESTS, ids=range(len(MANIFESTS)))
def test_wrong_manifests_are_refused(tmp_path, damage):
    path = tmp_path / "s" / "manifest.json"
    Store.write(tmp_path / "s", sparse(), np.arange(50))
    made = damage(json.loads(path.read_text()))
    path.write_text(made if isinstance(made, str) else json.dumps(made))
    with pytest.raises(ValueError, match=str(tmp_path / "s")):
        Store.open(tmp_path / "s").load()


def test_something_else_is_never_overwritten(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="already"):
        Store.write(folder, sparse())
    with pytest.raises(FileNotFoundError, match="There is no store"):
        Store.write(folder, sparse(), overwrite=True)
    assert left_in(folder) == ["mine.txt"] and left_in(tmp_path) == ["s"]


def test_overwriting_leaves_nothing_of_the_old_store(tmp_path):
    first = Store.write(tmp_path / "s", sparse(), np.arange(50), shard_bytes=500)
    mapped = first.shards()[1].A
    before = mapped.toarray()
    second = Store.write(tmp_path / "s", np.eye(3), overwrite=True)
    np.testing.assert_array_equal(second.load().A, np.eye(3))
    assert len(left_in(tmp_path / "s")) == 1 + 6
    np.testing.assert_array_equal(mapped.toarray(), before)  # what was mapped stays readable


def test_errors_leave_the_old_store(tmp_path):
    store = Store.write(tmp_path / "s", sparse(), np.arange(50))
    before = left_in(tmp_path / "s")
    for wrong in (
        lambda: store.append(sparse(5, 8)), lambda: store.append(np.ones((5, 8)), ["a"] * 5),
        lambda: store.append([[np.nan]], [1]),
        lambda: Store.write(tmp_path / "s", np.array([[1e300]]), dtype=np.float32, overwrite=True),
        lambda: Store.write(tmp_path / "s", np.zeros((0, 3)), overwrite=True),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"rows|A |float32"):
            wrong()
    assert left_in(tmp_path / "s") == before and left_in(tmp_path) == ["s"]
    np.testing.assert_array_equal(Store.open(tmp_path / "s", check="checksums").load().targets, np.arange(50))


@pytest.mark.parametrize("mode", ["new", "append", "overwrite"])
def test_a_full_disk_leaves_the_old_store_and_says_how_to_go_on(tmp_path, monkeypatch, mode):
    if mode != "new":
        store = Store.write(tmp_path / "s", sparse(), shard_bytes=500)
    before = {path.name: left_in(path) for path in tmp_path.iterdir()}
    own, written = os.fsync, []

    def full(descriptor):
        written.append(descriptor)
        if len(written) > 9:
            raise OSError(28, "No space left on device")
        own(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no store was made" if mode == "new" else "the store is as it was") as caught:
        if mode == "append":
            store.append(sparse())
        Store.write(tmp_path / "s", sparse(), shard_bytes=500, overwrite=mode != "new")
    assert "run the same again" in str(caught.value)
    assert {path.name: left_in(path) for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(files.fcntl is None, reason="no locks here")
def test_only_one_process_writes_to_a_store(tmp_path):
    store = Store.write(tmp_path / "s", sparse())
    with folders.locked(tmp_path / "s"), pytest.raises(ValueError, match="another process is writing"):
        store.append(sparse())
    store.append(sparse())
    assert store.shape == (100, 8)


@pytest.mark.skipif(files.fcntl is None, reason="no locks here")
def test_folders_of_killed_writers_are_removed_and_those_at_work_are_not(tmp_path):
    code = (
        "import os, signal, sys, pathlib\nfrom southwell.data import folders\n"
        "with folders.appearing(pathlib.Path(sys.argv[1])) as part:\n"
        "    (part / 'file').write_text('x')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "killed")])
    assert len(left_in(tmp_path)) == 1
    with folders.appearing(tmp_path / "one") as part:
        assert left_in(tmp_path) == [part.name]
        Store.write(tmp_path / "two", sparse())
        assert part.exists()
    assert left_in(tmp_path) == ["one", "two"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature_names": sp.eye_array(8)}, "must be 8 strings"), ({"feature_names": ["a"]}, "must be 8 strings"),
        ({"feature_names": 3}, "8 strings"), ({"weights": -np.ones(50)}, "weights must be >= 0"),
        ({"qid": np.ones(50)}, "qid must be integers"), ({"b": [1]}, "b must have 50 entries"),
        ({"dtype": int}, "dtype"), ({"shard_bytes": 0}, "shard_bytes"), ({"A": "x"}, "A must be a matrix"),
        ({"A": [[np.inf]]}, "NaN or infinite"),
        ({"path": "\ud800"}, "a name that files can have"), ({"path": 3}, "must be a path"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments_are_refused_in_words(tmp_path, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Store.write(**{"path": tmp_path / "s", "A": sparse()} | options)
    assert left_in(tmp_path) == []


def test_names_may_be_those_of_a_frame(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame(np.eye(2), columns=["a", "b"])
    assert Store.write(tmp_path / "s", frame, feature_names=frame.columns).feature_names == ["a", "b"]
