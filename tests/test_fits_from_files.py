"""Fits of data that stay in files, and are read in parts: the answers are those of data in memory."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell.data import Store
from southwell.methods import Auto, CoordinateDescent
from southwell.penalties import ElasticNet, Groups

LOSSES = ["squared", "logistic", "hinge", "squared_hinge", "poisson", "quantile", "huber"]
N, D = 300, 20


class Own(sw.losses.Custom):
    """Half the squared error."""

    def value(self, m, b):
        return (m - b) ** 2 / 2

    def derivative(self, m, b):
        return m - b


def drawn(loss, form, seed=0):
    rng = np.random.default_rng([seed, len(loss)])
    A = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4) + (0.3 if form == "dense" else 0.0)
    A[:, 7] = 2.0 if form == "dense" else 0.0
    m = A[:, :3] @ [1.0, -1.0, 0.5] + rng.normal(size=N)
    if sw.losses.get(loss).targets == "signs":
        b = np.where(m > np.median(m), "yes", "no")
    else:
        b = rng.poisson(np.exp(np.clip(m, -2, 2))).astype(float) if loss == "poisson" else m
    return (sp.csr_array(A) if form == "csr" else A), b


@pytest.fixture
def stored(tmp_path):
    def write(A, b, *, memory=1000, weights=None, **options):
        Store.write(tmp_path / "store", A, b, weights=weights, shard_bytes=1 << 12, overwrite=True, **options)
        return Store.open(tmp_path / "store", memory=memory)

    return write


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("loss", LOSSES)
def test_answers_are_those_of_data_in_memory(stored, loss, form, intercept):
    A, b = drawn(loss, form)
    store = stored(A, b)
    assert len(store.shards()) > 3 and not store.fits
    for net in (
        {"l1": 0.02},
        {"l2": 0.1},
        {"penalty": ElasticNet(0.01, 0.01, weights=np.linspace(0.5, 2, D), lower=-0.5)},
    ):
        usual = sw.solve(A, b, loss=loss, intercept=intercept, tol=1e-8, **net)
        r = sw.solve(store, loss=loss, intercept=intercept, tol=1e-8, **net)
        assert r.status is sw.Status.CONVERGED and r.y is None
        assert abs(r.primal - usual.primal) <= 1.1e-8 * usual.scale
        assert r.scale == pytest.approx(usual.scale, rel=1e-12)
        np.testing.assert_allclose(r.x, usual.x, atol=1e-2)
        assert r.predict(store).dtype == usual.predict(A).dtype
        told, known = r.problem.certify(r.x, intercept=r.intercept), usual.problem.certify(r.x, intercept=r.intercept)
        assert told.primal == pytest.approx(known.primal, rel=1e-12)


@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_paths_go_on_from_point_to_point(stored, loss, form):
    A, b = drawn(loss, form)
    store = stored(A, b)
    usual = sw.path(A, b, loss=loss, intercept=True, n_points=10)
    path = sw.path(store, loss=loss, intercept=True, n_points=10)
    assert path.converged
    np.testing.assert_allclose(path.strengths, usual.strengths, rtol=1e-12)
    np.testing.assert_allclose(path.primal, usual.primal, atol=2e-6 * path.primal[0])
    cold = sum(sw.solve(store, loss=loss, intercept=True, penalty=p).epochs for p in path.penalties)
    assert path.epochs.sum() < cold
    assert sw.lambda_max(sw.Problem(store, loss=loss, intercept=True)) == pytest.approx(path.strengths[0])


def test_what_the_store_holds_is_used(stored):
    A, b = drawn("squared", "csr")
    weights = np.random.default_rng(0).integers(0, 3, N).astype(float)
    names = [f"word {j}" for j in range(D)]
    for memory in (1000, "1 GB"):
        store = stored(A, b, weights=weights, feature_names=names, memory=memory)
        r = sw.solve(store, l1=0.02, tol=1e-9)
        assert r.problem.in_parts == (memory == 1000)
        usual = sw.solve(A, b, l1=0.02, sample_weight=weights, tol=1e-9)
        assert r.primal == pytest.approx(usual.primal, rel=1e-8)
        assert r.problem.names == names
        other = sw.solve(store, -b, l1=0.02, sample_weight=np.ones(N), tol=1e-9)  # or others in their place
        assert other.primal == pytest.approx(sw.solve(A, -b, l1=0.02, tol=1e-9).primal, rel=1e-8)


@pytest.mark.parametrize("form", ["csr", "dense"])
def test_centred_rows(stored, form):
    A, b = drawn("logistic", form)
    store = stored(A, b)
    for means in (None, np.arange(D) / 10):
        usual = sw.solve(sw.Centred(A, means), b, loss="logistic", l1=0.01, tol=1e-10)
        r = sw.solve(sw.Centred(store, means), b, loss="logistic", l1=0.01, tol=1e-10)
        np.testing.assert_allclose(r.x, usual.x, atol=1e-6)
        np.testing.assert_array_equal(r.predict(store), usual.predict(A))


def test_offsets_and_callbacks_and_warm_starts(stored):
    A, b = drawn("poisson", "csr")
    offset, store = np.random.default_rng(1).normal(size=N), stored(A, b)
    usual = sw.solve(A, b, loss="poisson", l1=0.01, offset=offset, tol=1e-9)
    r = sw.solve(store, loss="poisson", l1=0.01, offset=offset, tol=1e-9)
    assert r.primal == pytest.approx(usual.primal, rel=1e-8)
    again = sw.solve(store, loss="poisson", l1=0.01, offset=offset, tol=1e-9, warm_start=r)
    assert again.epochs <= 1
    stopped = sw.solve(store, loss="poisson", l1=0.01, offset=offset, callback=lambda p: p.epoch >= 1)
    assert stopped.status is sw.Status.STOPPED and stopped.gap >= 0


def test_the_same_numbers_every_time_and_with_any_number_of_threads(stored):
    A, b = drawn("logistic", "dense")
    store = stored(A, b)
    one, *others = [sw.solve(store, loss="logistic", l1=0.01, n_threads=k) for k in (1, 1, 2)]
    for other in others:
        np.testing.assert_array_equal(one.x, other.x)


@pytest.mark.parametrize(
    "kind", [sw.Lasso, sw.ElasticNet, sw.Ridge, sw.LogisticRegression, sw.LinearSVC, sw.SparseLinearRegressor]
)
@pytest.mark.parametrize("form", ["csr", "dense"])
def test_estimators_take_stores(stored, kind, form):
    A, b = drawn("hinge" if issubclass(kind, (sw.LogisticRegression, sw.LinearSVC)) else "squared", form)
    options = {"l1": 0.01} if kind is sw.SparseLinearRegressor else {}
    usual = kind(**options).set_params(tol=1e-8).fit(A, b)
    for memory in (1000, "1 GB"):
        store = stored(A, b, memory=memory)
        model = kind(**options).set_params(tol=1e-8).fit(store)
        np.testing.assert_allclose(model.coef_, usual.coef_, atol=1e-3)
        assert model.gap_ <= 1e-8 and model.n_features_in_ == D
        told, known = model.predict(store), model.predict(A)
        assert (
            told.dtype == known.dtype and (told == known if known.dtype.kind == "U" else abs(told - known) < 1e-9).all()
        )


def test_cross_validation_takes_a_store_that_fits(stored):
    A, b = drawn("squared", "csr")
    model = sw.LassoCV(cv=3, alphas=5).fit(stored(A, b, memory="1 GB"))
    assert model.alpha_ == pytest.approx(sw.LassoCV(cv=3, alphas=5).fit(A, b).alpha_)


def test_what_needs_rows_in_memory_says_so(stored):
    A, b = drawn("squared", "csr")
    store = stored(A, b)
    with pytest.raises(ValueError, match=r"needs all rows in memory.*Use auto"):
        sw.solve(store, l1=0.1, method=CoordinateDescent("primal"))
    with pytest.raises(ValueError, match="dual mover needs all rows"):
        sw.solve(store, l2=0.1, method=Auto(movers="dual"))
    with pytest.raises(ValueError, match="groups need all rows of A in memory"):
        sw.solve(store, penalty=Groups(0.1))
    with pytest.raises(ValueError, match="penalty on every feature"):
        sw.solve(store)
    with pytest.raises(ValueError, match="penalty on every feature"):
        sw.solve(store, penalty=ElasticNet(0.1, weights=np.arange(D)))
    with pytest.raises(ValueError, match="a loss of your own, needs all rows"):
        sw.solve(store, loss=Own(), l1=0.1)
    with pytest.raises(ValueError, match="LassoCV needs all rows in memory"):
        sw.LassoCV().fit(store)
    with pytest.raises(ValueError, match="exact arithmetic need all rows"):
        sw.solve(store, l1=0.1, rigorous=True)
    with pytest.raises(ValueError, match="do not give y"):
        sw.Problem(store, penalty=ElasticNet(0.1)).certify(np.zeros(D), y=np.zeros(N))
    with pytest.raises(ValueError, match="no dual point"):
        sw.solve(store, l1=0.1).prove()


@pytest.mark.parametrize("given", ["2 QB", -1, "much", True, "0 GB", 1e300])
def test_memory_is_bytes_or_words(stored, given):
    A, b = drawn("squared", "csr")
    store = stored(A, b)
    with pytest.raises(ValueError, match='memory must be a number of bytes, or words such as "2 GB"'):
        Store.open(store.path, memory=given)


def test_nan_in_one_shard_is_refused(stored):
    A, b = drawn("squared", "dense")
    store = stored(A, b)
    last = max(store.path.glob("*.A.npy"))
    np.load(last, mmap_mode="r+")[0, 3] = np.nan  # as no writer leaves it
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        sw.solve(store, l1=0.1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_pages_are_let_go(stored):
    """Mapped data that were read do not stay in memory: the resident set is that of the arrays of the samples."""
    A = np.random.default_rng(0).normal(size=(40_000, 100))
    b = A[:, 0] + 1.0
    store = Store.write(stored(A[:2], b[:2]).path, A, b, shard_bytes=1 << 20, overwrite=True)
    store = Store.open(store.path, memory="1 MB")

    def mapped():
        with open("/proc/self/smaps") as file:
            lines = file.read().splitlines()
        total, ours = 0, False
        for line in lines:
            if "-" in line.split()[0]:  # the addresses of a mapping and its file
                ours = str(store.path) in line
            if ours and line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
        return total

    parts = [shard.A for shard in store]
    assert all(part.sum() for part in parts) and mapped() >= 0.9 * A.nbytes  # pages that are not let go are found
    del parts
    problem = sw.Problem(store, loss="squared", penalty=ElasticNet(0.1), intercept=True)
    most = []
    r = sw.solve(problem, callback=lambda p: most.append(mapped()))
    assert r.status is sw.Status.CONVERGED
    assert max(most) <= 0.2 * A.nbytes
