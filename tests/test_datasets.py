"""Real data sets are loaded as they are stored, and standardised only when asked."""

import numpy as np
import pytest
import scipy.sparse as sp

from southwell.testing import datasets


@pytest.fixture
def stored(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    dense = np.column_stack([rng.normal(3.0, 2.0, 12), np.full(12, 7.0), rng.random(12)]).astype(np.float32)
    sparse, y = sp.csr_array(dense * (dense < 3)), np.arange(12) % 3
    np.savez(tmp_path / "thick.npz", X=dense, y=y, n_train=8)
    np.savez(tmp_path / "thin.npz", data=sparse.data, indices=sparse.indices, indptr=sparse.indptr,
             shape=sparse.shape, y=y)  # fmt: skip
    monkeypatch.setenv("SOUTHWELL_DATA", str(tmp_path))
    return dense, sparse, y


def test_data_are_raw_unless_asked(stored):
    dense, sparse, y = stored
    A, b = datasets.load("thick")
    np.testing.assert_array_equal(A, dense[:8])
    np.testing.assert_array_equal(b, y[:8])
    assert A.dtype == np.float64
    np.testing.assert_array_equal(datasets.load("thick", train=False)[0], dense)
    np.testing.assert_array_equal(datasets.load("thin")[0].toarray(), sparse.toarray())
    A, b = datasets.load_binary("thick", train=False)
    np.testing.assert_array_equal(A, dense)
    np.testing.assert_array_equal(b, np.where(y == 2, 1.0, -1.0))


def test_data_are_standardised_when_asked(stored):
    for load in (datasets.load, datasets.load_binary):
        A = load("thick", standardise=True)[0]
        assert A.shape == (8, 3)
        np.testing.assert_allclose(A.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(A.std(axis=0), [1.0, 0.0, 1.0])


def test_sparse_data_are_not_made_dense(stored):
    with pytest.raises(ValueError, match=r"'thin' is sparse, and standardising would make it dense.*Centred"):
        datasets.load("thin", standardise=True)
    with pytest.raises(FileNotFoundError, match="SOUTHWELL_DATA"):
        datasets.load("no such set")
