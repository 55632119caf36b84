"""Data for studies: found by name, read in every format, stood in for, generated, and told apart."""

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from southwell.studies import datasets, generators
from southwell.studies.bench import Bench
from southwell.studies.catalogue import DATA
from southwell.testing import datasets as places

OPENERS = {"": open, ".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A folder that is the only place where data are looked for."""
    monkeypatch.setattr(datasets, "folders", lambda first=None: [tmp_path] if first is None else [first])
    return tmp_path


def small(n=12, d=5, seed=0):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, d), density=0.5, rng=rng, format="csr")
    A = sp.csr_array(sp.hstack([A[:, : d - 1], np.ones((n, 1))], format="csr"))  # files tell their width by this
    return A, np.where(np.arange(n) % 3 == 0, 1.0, -1.0)


@pytest.mark.parametrize("ending", OPENERS)
def test_files_of_libsvm_are_read(alone, ending):
    A, y = small()
    with OPENERS[ending](alone / f"rcv1_train.binary{ending}", "wb") as file:
        dump_svmlight_file(A, y, file, zero_based=False)
    read, labels, source = datasets.load("rcv1")
    np.testing.assert_allclose(read.toarray(), A.toarray())
    np.testing.assert_array_equal(labels, y)
    assert (source.name, source.kind, source.shape) == ("rcv1", "paper", (12, 5))
    assert source.note == f"rcv1_train.binary{ending}"


def test_a_test_file_is_another_part(alone):
    (A, y), (B, z) = small(), small(7, 5, 1)
    for name, (X, t) in {"rcv1_train.binary": (A, y), "rcv1_test.binary": (B, z)}.items():
        dump_svmlight_file(X, t, str(alone / name), zero_based=False)
    assert datasets.load("rcv1")[0].shape == (12, 5)
    np.testing.assert_allclose(datasets.load("rcv1", part="test")[0].toarray(), B.toarray())
    assert datasets.load("rcv1", part="all")[0].shape == (19, 5)


def test_npz_files_are_read_with_their_split(alone):
    A, y = small()
    parts = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "shape": A.shape}
    np.savez(alone / "mushrooms.npz", y=y, n_train=9, **parts)
    np.savez(alone / "leukemia.npz", y=y, X=A.toarray().astype(np.float32))
    read, labels, source = datasets.load("mushrooms")
    np.testing.assert_array_equal(read.toarray(), A.toarray()[:9])
    assert labels.shape == (9,) and source.kind == "paper"
    assert datasets.load("mushrooms", part="test")[0].shape == (3, 5)
    assert datasets.load("leukemia")[0].dtype == np.float64
    with pytest.raises(datasets.Missing, match=r"leukemia .* has no test part"):
        datasets.load("leukemia", part="test")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a9a", b"\x00\x01 no numbers"), ("a9a.bz2", b"not compressed"), ("a9a.gz", b"no"), ("a9a.xz", b"no"),
     ("a9a.npz", b"PK\x03\x04 torn"), ("a9a.npz", b"")],
)  # fmt: skip
def test_a_damaged_file_is_told_by_name(alone, name, content):
    (alone / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name} cannot be read: .*[^.]\. Get it again, or remove it") as told:
        datasets.load("a9a")
    assert "allow_pickle" not in str(told.value)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.ones(3), "y": np.ones(3)}, "rows and columns, and holds an array of shape (3,)"),
        ({"X": np.ones((0, 3)), "y": np.ones(0)}, "rows and columns, and holds an array of shape (0, 3)"),
        ({"X": np.ones((3, 2)), "y": np.ones(2)}, "it has 3 rows and targets of shape (2,)"),
        ({"X": np.full((3, 2), np.nan), "y": np.ones(3)}, "NaN or infinity"),
        ({"X": np.ones((3, 2)), "y": np.array([1, np.inf, 2])}, "NaN or infinity"),
        ({"X": np.ones((3, 2)), "y": np.ones(3), "n_train": 4}, "its n_train is 4, and it has 3 rows"),
        ({"X": np.ones((3, 2))}, "y is not a file in the archive"),
        ({"data": np.ones(2), "indices": [0, 5], "indptr": [0, 1, 2], "shape": (2, 3), "y": np.ones(2)}, "must be < 3"),
    ],
)  # fmt: skip
def test_arrays_that_no_study_can_use_are_told(alone, arrays, words):
    np.savez(alone / "a9a.npz", **arrays)
    with pytest.raises(ValueError, match=r"a9a\.npz cannot be read") as told:
        datasets.load("a9a")
    assert words in str(told.value)


def test_an_empty_file_is_told(alone):
    (alone / "a9a").write_bytes(b"")
    with pytest.raises(ValueError, match="rows and columns"):
        datasets.load("a9a")


def test_the_given_folder_comes_first(monkeypatch, tmp_path):
    A, y = small()
    for place, scale in (("first", 1.0), ("second", 2.0)):
        (tmp_path / place).mkdir()
        np.savez(tmp_path / place / "colon.npz", X=scale * A.toarray(), y=y)
    monkeypatch.setenv("SOUTHWELL_DATA", str(tmp_path / "second"))
    assert places.folders(tmp_path / "first")[:2] == [tmp_path / "first", tmp_path / "second"]
    for folder, scale in ((None, 2.0), (tmp_path / "first", 1.0)):
        np.testing.assert_allclose(datasets.load("colon", folder)[0], scale * A.toarray())


def test_without_a_file_other_data_stand_in_and_then_generated_ones(alone):
    assert datasets.load("rcv1", rows=50)[2].kind == "synthetic"
    A, _ = small(40, 6)
    counts = {"data": np.ceil(5 * A.data), "indices": A.indices, "indptr": A.indptr, "shape": A.shape}
    np.savez(alone / "20news_counts.npz", y=np.arange(40) % 20, **counts)
    found, labels, source = datasets.load("rcv1", binary=True)
    assert (source.kind, source.shape) == ("stand-in", (40, 6))
    assert source.note == "20news instead of rcv1: 20news_counts.npz, tf-idf, unit rows"
    np.testing.assert_allclose(sp.linalg.norm(found, axis=1), 1.0)
    assert np.count_nonzero(labels > 0) == 10  # comp.*: five of twenty groups
    assert datasets.load("rcv1", rows=50, instead="synthetic")[2].kind == "synthetic"
    assert datasets.load("rcv1*")[2].kind == "stand-in"
    for name in ("rcv1", "rcv1*"):
        assert datasets.kind(name) == "stand-in"
        told = datasets.instead_of(datasets.load(name)[2])
        assert "(rcv1 or rcv1_train.binary)" in told and "20news instead" in told
    assert str(alone) in datasets.searched() and ".bz2" in datasets.searched()
    with pytest.raises(datasets.Missing, match=r"No file of rcv1 was found \(rcv1 or rcv1_train\.binary\)"):
        datasets.load("rcv1", instead="nothing")


def test_a_part_of_a_set_comes_from_the_papers_data_if_they_are_there(alone):
    A, y = small(30, 8)
    dump_svmlight_file(A, y, str(alone / "rcv1_train.binary"), zero_based=False)
    part, _, source = datasets.load("rcv1*")
    assert source.kind == datasets.kind("rcv1*") == "paper"
    assert (np.diff(part.indptr) > 0).all() and (part.sum(axis=0) != 0).all()
    assert datasets.instead_of(source) == ""


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
def test_what_scikit_learn_ships_needs_no_file(alone, name):
    A, y, source = datasets.load(name)
    assert A.shape == DATA[name].shape and y.shape == A.shape[:1]
    assert source.kind == "stand-in" and "scikit-learn" in source.note


@pytest.mark.parametrize("name", DATA)
def test_every_set_can_be_had_without_any_file(alone, name):
    A, y, source = datasets.load(name, rows=300, binary=True, instead="synthetic")
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert A.shape[0] == y.size and A.shape[1] <= (DATA[name].sizes or DATA[name].shape)[1]
    assert np.isfinite(A.data if sp.issparse(A) else A).all()
    assert source.sha256 == datasets.digest(A, y)
    assert source.kind == datasets.kind(name) or DATA[name].ours or DATA[name].stand_in in datasets.SHIPPED


def test_generated_text_has_the_density_it_is_asked_for(alone):
    A, y, _ = datasets.load("real-sim", rows=2_000, instead="synthetic")
    assert A.shape[1] == 20_958
    assert 45 < A.nnz / A.shape[0] < 60
    np.testing.assert_allclose(sp.linalg.norm(A, axis=1), 1.0)
    often = np.sort(np.bincount(A.indices, minlength=A.shape[1]))[::-1]
    assert often[:200].sum() > 0.2 * A.nnz  # a hundredth of the words
    assert set(np.unique(y)) == {0, 1}
    bare, _, _ = datasets.load("rcv1*", instead="synthetic")
    assert 7_000 < bare.shape[0] < 8_000 and 750 < bare.shape[1] < 870  # 7438 x 809 in the paper
    assert 0.002 < bare.nnz / np.prod(bare.shape) < 0.004  # 0.3 %


def test_generated_forests_and_histograms_have_their_shape(alone):
    A, _, _ = datasets.load("covtype", rows=500, instead="synthetic")
    dense = A.toarray()
    assert ((dense[:, :10] >= 0) & (dense[:, :10] <= 1)).all()
    for group in (slice(10, 14), slice(14, 54)):
        np.testing.assert_array_equal(dense[:, group].sum(axis=1), 1.0)
    A, y, _ = datasets.load("aloi", rows=2_000, instead="synthetic")
    np.testing.assert_allclose(A.sum(axis=1), 1.0)
    assert (A >= 0).all() and np.unique(y).size == 1_000


def test_the_same_seed_gives_the_same_data_and_another_one_others(alone):
    hashes = [datasets.load("rcv1", seed=seed, rows=100)[2].sha256 for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_rows_and_columns_are_drawn_and_data_prepared_only_if_asked(alone):
    A, y = small(60, 7)
    np.savez(alone / "colon.npz", X=10 * A.toarray(), y=y)
    raw, _, _ = datasets.load("colon")
    np.testing.assert_array_equal(raw, 10 * A.toarray())
    fewer, labels, source = datasets.load("colon", rows=20, columns=3)
    assert fewer.shape == source.shape == (20, 3) and labels.shape == (20,)
    level, _, _ = datasets.load("colon", standardise=True)
    np.testing.assert_allclose(level.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(level.std(axis=0)[:-1], 1)
    unit, _, _ = datasets.load("colon", unit_rows=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)


def test_empty_rows_stay_empty_and_sparse_data_are_not_centred(alone):
    A = sp.csr_array(np.array([[0.0, 0.0], [3.0, 4.0]]))
    parts = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "shape": A.shape}
    np.savez(alone / "w8a.npz", y=[1, -1], **parts)
    np.testing.assert_allclose(datasets.load("w8a", unit_rows=True)[0].toarray(), [[0, 0], [0.6, 0.8]])
    with pytest.raises(ValueError, match="w8a is sparse"):
        datasets.load("w8a", standardise=True)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("rvc1", {}, "Unknown data set 'rvc1'. Did you mean 'rcv1'"), ("rcv1", {"part": "tset"}, "Did you mean 'test'"),
     ("rcv1", {"instead": "none"}, "Unknown instead 'none'")],
)  # fmt: skip
def test_wrong_names_are_told(alone, name, options, words):
    with pytest.raises(ValueError, match=words):
        datasets.load(name, **options)


def test_any_file_of_a_folder_can_be_asked_for(alone):
    A, y = small()
    dump_svmlight_file(A, y, str(alone / "mine.svm"), zero_based=False)
    assert datasets.load("mine")[2].kind == "stand-in"


def test_the_bench_records_each_source_once(alone):
    bench = Bench()
    for _ in range(2):
        bench.data("breast_cancer", rows=20)
    bench.made("blobs", np.eye(3), [1, 2, 3])
    assert [(s.name, s.kind, s.shape) for s in bench.sources] == [
        ("breast_cancer", "stand-in", (20, 30)), ("blobs", "synthetic", (3, 3)),
    ]  # fmt: skip
    assert all(len(source.sha256) == 64 for source in bench.sources)


def test_zipf_frequencies_fall_like_a_power():
    ranks = generators.zipf(1_000, 200_000, np.random.default_rng(0), exponent=1.1, shift=10.0)
    seen = np.bincount(ranks, minlength=1_000) / ranks.size
    expected = (np.arange(1_000) + 10.5) ** -1.1
    np.testing.assert_allclose(seen[:200], (expected / expected.sum())[:200], rtol=0.25)


@pytest.mark.parametrize("name", [name for name, known in DATA.items() if not known.ours])
def test_the_documentation_lists_every_set(name):
    page = (Path(__file__).resolve().parents[1] / "docs" / "reproduce.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    rows, columns = DATA[name].shape
    assert f"{DATA[name].n_train or rows:,} x {columns:,}" in row
    assert any(f"`{file}`" in row for file in (*DATA[name].files, name))
