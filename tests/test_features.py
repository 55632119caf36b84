"""Feature maps approximate their kernels as theory says, and bins are those of an obvious twin."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from feature_maps import MAPS, points
from southwell import _core
from southwell.features import RandomBinning, RandomFourier


def grams(kind, size, X, seeds, **options):
    """Z Z' for each seed."""
    for seed in seeds:
        Z = kind(size, random_state=seed, **options).fit_transform(X)
        G = Z @ Z.T
        yield G.toarray() if sp.issparse(G) else G


def exact(kind, X, gamma):
    """The kernel, and the variance of one component's share in it."""
    if kind is RandomFourier:
        K = rbf_kernel(X, gamma=gamma)
        return K, 1 + K**4 / 2 - K**2
    K = laplacian_kernel(X, gamma=gamma)
    return K, K * (1 - K)


def same(A, B):
    """Equal to the last bit, and in structure."""
    assert A.shape == B.shape and A.dtype == B.dtype
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(A, part), getattr(B, part))


# The kernels


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("gamma", [0.1, 0.7])
def test_kernels_are_approximated_without_bias(kind, gamma):
    X, seeds, size = points(12), 200, 20
    K, variance = exact(kind, X, gamma)
    mean = sum(grams(kind, size, X, range(seeds), gamma=gamma)) / seeds
    assert (abs(mean - K) <= 5 * np.sqrt(variance / (seeds * size)) + 1e-12).all()


@pytest.mark.parametrize("kind", MAPS)
def test_errors_fall_like_one_over_root_d(kind):
    X = points(25)
    K, variance = exact(kind, X, 0.3)
    for size in (16, 256, 4096):
        squares = np.mean([np.mean((G - K) ** 2) for G in grams(kind, size, X, range(12), gamma=0.3)])
        assert squares * size == pytest.approx(variance.mean(), rel=0.2)


def test_pitches_and_offsets_are_drawn_as_they_should_be():
    gamma, d = 2.5, 20_000
    scale, shift = _core.bin_grid(7, gamma, 3, d)
    pitch = np.sort(gamma / scale)
    distribution = 1 - (1 + pitch) * np.exp(-pitch)  # of Gamma(2)
    for uniform in (distribution, np.sort(shift + 0.5)):  # Kolmogorov and Smirnov, at one in 10,000
        assert abs(uniform - (np.arange(d) + 0.5) / d).max() < 2.2 / np.sqrt(d)
    assert abs(np.corrcoef(scale, shift)[0, 1]) < 5 / np.sqrt(d)
    other, _ = _core.bin_grid(7, gamma, 4, d)
    assert abs(np.corrcoef(1 / scale, 1 / other)[0, 1]) < 5 / np.sqrt(d)
    assert abs(np.corrcoef(1 / scale[1:], 1 / scale[:-1])[0, 1]) < 5 / np.sqrt(d)


# Bins


def twin(model, seed, X, grid):
    """The bin of each row, numbered: exact bin vectors as the keys of a dictionary."""
    scale, shift = _core.bin_grid(seed, model.gamma_, grid, X.shape[1])
    pitch = 1 / scale
    offset = (0.5 - shift) * pitch
    assert ((offset >= 0) & (offset <= pitch)).all()
    bins = np.floor((X - offset) / pitch)
    numbers = {}
    return np.array([numbers.setdefault(tuple(row), len(numbers)) for row in bins])


@pytest.mark.parametrize("X", [
    points(300, 3), points(300, 40, zeros=0.8), 100 * points(200, 5), 1e-3 * points(200, 5),
    np.random.default_rng(0).integers(-3, 4, (400, 2)), points(50, 1), points(1, 6), np.zeros((5, 3)),
    np.full((7, 2), -3.25), np.repeat(points(10, 9), 6, axis=0), points(40, 700, zeros=0.5),
], ids=lambda X: f"{X.shape[0]}x{X.shape[1]}")  # fmt: skip
@pytest.mark.parametrize("gamma", [0.05, 1.0, "scale"])
def test_the_bins_are_those_of_an_obvious_twin(X, gamma):
    model = RandomBinning(20, gamma=gamma, random_state=5)
    Z = model.fit_transform(X)
    assert Z.nnz == Z.data.size == 20 * X.shape[0]
    columns = Z.indices.reshape(X.shape[0], 20)
    for grid in range(20):
        mine, theirs = columns[:, grid], twin(model, 5, X, grid)
        bins = theirs.max() + 1
        assert len(set(zip(mine, theirs, strict=True))) == len(set(mine)) == bins, "one to one"
        assert (model.starts_[grid], model.starts_[grid + 1] - 1) == (mine.min(), mine.max())
        assert model.starts_[grid + 1] - model.starts_[grid] == bins, "every column is occupied"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_form_of_the_output(dtype):
    model = RandomBinning(9, random_state=0)
    X = points().astype(dtype)
    Z = model.fit_transform(X)
    assert isinstance(Z, sp.csr_array) and Z.dtype == dtype
    assert Z.indices.dtype == Z.indptr.dtype == np.int32
    fresh = sp.csr_array((Z.data, Z.indices, Z.indptr), shape=Z.shape)
    assert fresh.has_sorted_indices and fresh.has_canonical_format
    np.testing.assert_array_equal(Z.data, dtype(1 / 3))
    np.testing.assert_array_equal(np.diff(Z.indptr), 9)
    assert Z.shape == (30, model.starts_[-1]) and len(model.get_feature_names_out()) == Z.shape[1]
    same(model.transform(X), Z)
    same(clone(model).fit(X).transform(X), Z)


def test_unseen_bins_have_no_entry():
    X = points(200, 3)
    new = np.vstack([X[:5], X[5:10] + 1e-3, X[10:15] + 0.5, X[:1] + 1e6])
    model = RandomBinning(50, gamma=0.5, random_state=1).fit(X)
    Z = model.transform(new)
    assert Z.has_canonical_format and Z.shape == (16, model.starts_[-1])
    entries = np.diff(Z.indptr)
    assert (entries[:5] == 50).all() and entries[-1] == 0 and 0 < entries[10:15].min() < 50
    together = RandomBinning(50, gamma=0.5, random_state=1).fit(np.vstack([X, new]))
    np.testing.assert_allclose(  # what rows of the fit meet, they meet anyway
        (model.transform(new) @ model.transform(X).T).toarray(),
        (together.transform(new) @ together.transform(X).T).toarray(),
    )
    far = model.transform(X + 1e6)
    assert far.nnz == 0 and far.shape == (200, model.starts_[-1]) and far.indices.dtype == np.int32


# What must not matter


def forms(X):
    """The same numbers, however they are stored."""
    zeros = sp.csr_array(X + 1000.0)
    zeros.data -= 1000.0
    zeros.data[:] = X.ravel()  # all entries stored, zeros too
    rows, columns = X.nonzero()
    twice = sp.csr_array((np.tile(X[rows, columns] / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)
    split = sp.csr_array(X.shape)
    order = np.argsort(np.tile(rows, 2), kind="stable")
    split.data = np.tile(X[rows, columns] / 2, 2)[order]
    split.indices = np.tile(columns, 2)[order].astype(np.int32)
    split.indptr = 2 * sp.csr_array(X).indptr
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield from (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X + 0.0, np.where(X == 0, -0.0, X))
    yield from (sp.csr_array(X), sp.csr_matrix(X), sp.csc_array(X), sp.coo_array(X), zeros, twice, split, wide)


@pytest.mark.parametrize("gamma", [0.4, "scale"])
def test_how_the_data_are_stored(gamma):
    X = points(60, 12, zeros=0.6)
    X[7], X[:, 3] = 0.0, 0.0
    fourier, binning = (kind(40, gamma=gamma, random_state=2).fit(X) for kind in MAPS)
    Z, F = binning.transform(X), fourier.transform(X)
    for form in forms(X):
        before = form.copy()
        again = clone(binning).fit(form)
        assert again.gamma_ == pytest.approx(binning.gamma_, rel=1e-12)
        again.gamma_ = binning.gamma_
        same(again.transform(form), Z)
        same(binning.transform(form), Z)
        same(clone(binning).set_params(gamma=binning.gamma_).fit_transform(form), Z)
        np.testing.assert_allclose(clone(fourier).fit_transform(form), F, rtol=0, atol=1e-13)
        assert abs(form - before).max() == 0, "what was given is not changed"


def test_single_precision():
    X = points(80, 6, zeros=0.3).astype(np.float32)
    for form in (X, sp.csr_array(X)):
        Z, wide = (RandomBinning(30, gamma=0.3, random_state=3).fit_transform(A) for A in (form, form.astype(float)))
        assert Z.dtype == np.float32
        same(Z.astype(np.float64), sp.csr_array((np.float64(Z.data), wide.indices, wide.indptr), shape=wide.shape))
        F, wide = (RandomFourier(30, gamma=0.3, random_state=3).fit_transform(A) for A in (form, form.astype(float)))
        assert F.dtype == np.float32
        np.testing.assert_allclose(F, wide, rtol=0, atol=2e-6)
    model = RandomFourier(30, random_state=3).fit(X)
    assert model.frequencies_.dtype == model.phases_.dtype == np.float32
    assert model.transform(X.astype(float)).dtype == np.float64


@pytest.mark.parametrize(("n", "d", "zeros"), [(9000, 3, 0.3), (60, 700, 0.0), (3, 40_000, 0.1), (5000, 4, 1.0)])
def test_slabs_and_threads(n, d, zeros):
    """Rows are packed some at a time: what a row becomes does not depend on its company, nor on who works on it."""
    X = points(n, d, zeros=zeros)
    model = RandomBinning(70, gamma=0.5 / d, random_state=4)
    Z = model.fit_transform(X)
    for n_jobs in (2, 3, 16, -1):
        same(clone(model).set_params(n_jobs=n_jobs).fit_transform(X), Z)
        same(clone(model).set_params(n_jobs=n_jobs).fit(X).transform(X), Z)
    for some in (slice(0, 1), slice(n // 2, n // 2 + 20), slice(n - 2, n)):
        same(model.transform(X[some]), Z[some])
        same(model.transform(sp.csr_array(X[some])), Z[some])


def test_slabs_of_the_fourier_map(monkeypatch):
    X = points(50, 6, zeros=0.5)
    model = RandomFourier(16, random_state=0).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr("southwell.features._fourier.SLAB_BYTES", 1000)
    for form in (X, sp.csr_array(X)):
        np.testing.assert_allclose(model.transform(form), whole, rtol=0, atol=1e-14)
    np.testing.assert_allclose(whole, np.sqrt(2 / 16) * np.cos(X @ model.frequencies_ + model.phases_), atol=1e-14)


def test_other_grids_and_absent_features():
    X = points(100, 5)
    few, many = (RandomBinning(size, gamma=0.4, random_state=6).fit(X) for size in (7, 40))
    np.testing.assert_array_equal(few.starts_, many.starts_[:8])
    np.testing.assert_array_equal(few.transform(X).toarray() > 0, many.transform(X).toarray()[:, : few.starts_[-1]] > 0)
    same(RandomBinning(7, gamma=0.4, random_state=6).fit_transform(np.hstack([X, np.zeros((100, 3))])),
         few.transform(X))  # fmt: skip


@pytest.mark.parametrize("factor", [2.0**-900, 0.5, 2.0**300])
def test_gamma_and_the_scale_of_the_data(factor):
    X = points(100, 5)
    same(RandomBinning(20, gamma=0.3 / factor, random_state=0).fit_transform(X * factor),
         RandomBinning(20, gamma=0.3, random_state=0).fit_transform(X))  # fmt: skip


@pytest.mark.parametrize("kind", MAPS)
def test_scale(kind):
    X = points(50, 6, zeros=0.4) + 3.0
    power = 2 if kind is RandomFourier else 1
    expected = 1 / (6 * X.std() ** power)
    for form in (X, sp.csr_array(X), X.astype(np.float32)):
        assert kind(5, gamma="scale").fit(form).gamma_ == pytest.approx(expected, rel=1e-5)
    assert kind(5, gamma="scale").fit(1e100 * X).gamma_ == pytest.approx(expected / 1e100**power)
    for constant in (0.0, 0.1, 1e300):
        assert kind(5, gamma="scale").fit(np.full((9, 3), constant)).gamma_ == 1.0


@pytest.mark.parametrize("kind", MAPS)
def test_same_seed_same_numbers(kind):
    X = points()

    def features(state):
        Z = kind(20, random_state=state).fit_transform(X)
        return Z if isinstance(Z, np.ndarray) else Z.indices

    np.testing.assert_array_equal(features(3), features(3))
    np.testing.assert_array_equal(features(2**63 - 1), features(np.int64(2**63 - 1)))
    np.testing.assert_array_equal(features(np.random.RandomState(1)), features(np.random.RandomState(1)))
    for other in (4, 2**40, None):
        assert not np.array_equal(features(3), features(other))


# Far out


@pytest.mark.parametrize("gamma", [1e-300, 1e-3, 1.0, 1e308])
def test_huge_values_are_mapped(gamma):
    """Nothing overflows into nonsense: equal points meet, and what is far apart does not."""
    huge = np.array([0.0, 1.0, -1.0, 1e18, 2e18, -1e18, 1e200, 2e200, -2e200, 1.7e308, -1.7e308, 5e-324])
    X = np.tile(huge[:, None], (2, 3))
    model = RandomBinning(30, gamma=gamma, random_state=0)
    Z = model.fit_transform(X)
    assert (np.diff(Z.indptr) == 30).all()
    meet = (Z @ Z.T).toarray()
    np.testing.assert_allclose(meet[:12, 12:], meet[:12, :12])
    with np.errstate(over="ignore"):
        apart = gamma * abs(huge[:, None] - huge) * 3
        overflows = gamma * abs(huge) > 1e300
    apart[overflows[:, None] & overflows & (np.sign(huge[:, None]) == np.sign(huge))] = 1  # may share the last bin
    np.testing.assert_array_equal(meet[:12, :12][apart > 100], 0.0)
    np.testing.assert_allclose(meet[:12, :12][apart < 1e-10], 1.0)
    single = RandomBinning(30, gamma=1.0, random_state=0).fit_transform(np.float32([[3e38], [-3e38], [0]]))
    assert single.shape == (3, 90)


def test_huge_values_in_the_fourier_map():
    X = np.array([[1e300, 1.0], [0.0, 1e15], [1e308, -1e308], [0.0, 0.0]])
    Z = RandomFourier(50, gamma=1e-3, random_state=0).fit_transform(X)
    assert (abs(Z) <= np.sqrt(2 / 50) * (1 + 1e-15)).all()
    with pytest.raises(ValueError, match=r"overflows float64 in rows 0 to 3: .* too large for gamma=1e\+06"):
        RandomFourier(50, gamma=1e6, random_state=0).fit_transform(X)
    with pytest.raises(ValueError, match="overflows float32"):
        RandomFourier(50, gamma=1e6, random_state=0).fit_transform(np.float32([[3e38]]))


def test_cosines_are_accurate():
    z = np.concatenate([np.linspace(-20, 20, 4001), np.pi * np.arange(-50, 50) / 4, [0.0, 1e-300, 1e6, -1e6]])
    phases, values = np.array([0.0, 1.0]), np.column_stack([z, z])
    truth = 2.0 * np.cos(values + phases)
    assert _core.cosines(values, phases, 2.0)
    assert (abs(values - truth) <= 1e-15 + 4e-16 * np.maximum(abs(z), 1.0)[:, None]).all()
    assert not _core.cosines(np.array([[1.0, np.inf]]), phases, 1.0)
    assert not _core.cosines(np.array([[np.nan, 1.0]]), phases, 1.0)
    far = np.array([[1e300, -1e17]])
    assert _core.cosines(far, phases, 1.0) and (abs(far) <= 1).all()


# At home in scikit-learn


@parametrize_with_checks([RandomFourier(), RandomFourier(gamma="scale"), RandomBinning(), RandomBinning(7, n_jobs=2)])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", MAPS)
def test_maps_can_be_cloned_and_pickled(kind):
    X = points()
    model = kind(12, gamma="scale", random_state=1).fit(X)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.gamma_ == model.gamma_
    assert abs(again.transform(X) - model.transform(X)).max() == 0
    assert make_pipeline(MaxAbsScaler(), clone(model)).fit_transform(X).shape[0] == 30


def test_names_in_and_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points(), columns=list("abcd"))
    model = RandomFourier(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.transform(frame).columns.tolist() == ["randomfourier0", "randomfourier1", "randomfourier2"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("dcba")])


def test_names_out():
    assert RandomFourier(2).fit(points()).get_feature_names_out().tolist() == ["randomfourier0", "randomfourier1"]
    names = RandomBinning(1, random_state=0).fit(np.zeros((3, 2))).get_feature_names_out()
    assert names.tolist() == ["randombinning0"]


def test_scikit_learn_is_imported_lazily():
    """And not before: importing southwell must not wait for scikit-learn."""
    code = "import sys, southwell as sw; assert 'sklearn' not in sys.modules; print(sw.features.RandomBinning.__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "RandomBinning\n"


# Signals


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a process there")
def test_ctrl_c_is_obeyed(n_jobs):
    X = points(2000, 500)
    model = RandomBinning(300_000, gamma=1e-5, n_jobs=n_jobs)  # minutes, were it left alone
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert not hasattr(model, "gamma_"), "half a fit is none"
    assert model.set_params(n_grids=5).fit_transform(X).nnz == 10_000
