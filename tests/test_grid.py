"""Every loss, layout, type and side reaches the planted answer, with proof."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell.testing.planted import plant

LOSSES = sorted(sw.losses.ALL)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
SIDES = [("primal", name) for name in SMOOTH] + [("dual", name) for name in LOSSES]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "CSR64": lambda A: _wide(sp.csr_array(A)),
    "CSC64": lambda A: _wide(sp.csc_array(A)),
}


def _wide(A):
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def solve(planted, A=None, *, side, **options):
    problem = sw.Problem(
        planted.A if A is None else A, planted.b, planted.loss, planted.penalty, sample_weight=planted.sample_weight
    )
    method = sw.methods.CoordinateDescent(side=side, **options.pop("method", {}))
    return sw.solve(problem, method=method, **{"tol": 1e-8, "max_epochs": 30_000, **options})


@pytest.mark.parametrize("name", LOSSES)
def test_planted_pair_closes_the_gap(name):
    planted = plant(name, weighted=True)
    problem = sw.Problem(planted.A, planted.b, planted.loss, planted.penalty, sample_weight=planted.sample_weight)
    primal, dual, gap = problem.certify(planted.x, planted.y)
    assert primal == pytest.approx(planted.primal, rel=1e-12)
    assert abs(primal - dual) <= 1e-12 * abs(primal)
    assert 0 <= gap <= 1e-12 * abs(primal)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("side", "name"), SIDES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_planted_answer_is_found(side, name, layout, dtype):
    planted = plant(name)
    A = LAYOUTS[layout](planted.A.astype(dtype))
    result = solve(planted, A, side=side, tol=1e-8 if dtype == np.float64 else 1e-5)
    assert result.status is sw.Status.CONVERGED
    assert result.gap >= 0
    if dtype == np.float64:
        assert result.primal - planted.primal <= result.gap + 1e-14
        assert result.dual <= planted.primal + 1e-14
        assert np.abs(result.x - planted.x).max() <= np.sqrt(2 * result.gap / planted.penalty.l2) + 1e-9
    else:  # rounding the data moves the optimum a little
        assert result.primal == pytest.approx(planted.primal, rel=1e-4)


@pytest.mark.parametrize(("side", "name"), SIDES)
def test_pure_l1_is_proven(side, name):
    planted = plant(name, n=40, d=20, l1=0.05, l2=0.0, nonzeros=3)
    linear = not planted.loss.smooth  # then the problem is a linear programme, the hardest for coordinate methods
    result = solve(planted, side=side, tol=1e-5 if linear else 1e-8)
    assert result.status is sw.Status.CONVERGED
    assert -1e-14 <= result.primal - planted.primal <= result.gap + 1e-14


@pytest.mark.parametrize(("side", "name"), SIDES)
def test_pure_l2_finds_the_planted_answer(side, name):
    planted = plant(name, l1=0.0, l2=0.1, nonzeros=30)
    result = solve(planted, side=side)
    assert result.status is sw.Status.CONVERGED
    assert np.abs(result.x - planted.x).max() <= np.sqrt(2 * result.gap / 0.1) + 1e-9


@pytest.mark.parametrize("rule", ["cyclic", "shuffled", "uniform"])
@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("proximal", [True, False])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_every_option_reaches_the_answer(side, rule, shrinking, proximal):
    planted = plant("smooth_hinge")
    options = {"rule": rule, "shrinking": shrinking, "proximal": proximal}
    result = solve(planted, side=side, method=options)
    assert result.status is sw.Status.CONVERGED
    assert result.primal == pytest.approx(planted.primal, abs=result.gap + 1e-14)


@pytest.mark.parametrize(("side", "name"), SIDES)
@pytest.mark.parametrize("intercept", [False, True])
def test_dense_and_sparse_data_agree(side, name, intercept):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((50, 20)) * (rng.random((50, 20)) < 0.3)
    b = {
        "signs": np.sign(A[:, 0] + 0.3),
        "counts": rng.poisson(1.0, 50),
        "real": A[:, 0] + 0.1,
        "positive": np.exp(A[:, 0]),
    }[sw.losses.get(name).targets]
    b = np.where(b == 0, 1.0, b) if sw.losses.get(name).targets == "signs" else b
    options = {"loss": name, "l1": 0.01, "l2": 0.1, "intercept": intercept, "tol": 1e-11, "max_epochs": 20_000}
    method = sw.methods.CoordinateDescent(side=side)
    results = [sw.solve(to(A), b, method=method, **options) for to in LAYOUTS.values()]
    # Smooth losses settle to rounding. At kinks the gap of 1e-11 P(0) speaks: ||x - x*||^2 <= 2 gap / l2.
    for result in results[1:]:
        assert result.primal == pytest.approx(results[0].primal, rel=1e-10)
        assert np.abs(result.x - results[0].x).max() <= 2 * np.sqrt(2e-11 * max(results[0].scale, 1e-3) / 0.1) + 1e-12


@pytest.mark.parametrize("coupling", ["mirror", "gram"])
@pytest.mark.parametrize(("side", "name"), [("primal", "squared"), ("dual", "squared"), ("dual", "logistic")])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("layout", ["C", "F", "CSR", "CSC"])
def test_couplings_and_frames_agree_with_the_formed_matrix(side, name, coupling, intercept, centre, layout):
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 12)) + rng.uniform(-2, 2, 12)
    b = np.sign(A[:, 0] - A[:, 1]) if name == "logistic" else A[:, 0] + 3.0
    weights = rng.uniform(0.5, 1.5, 40)
    l1 = 0.0 if side == "dual" else 0.05
    options = {"loss": name, "l1": l1, "l2": 0.3, "intercept": intercept, "sample_weight": weights}
    given = sw.Centred(LAYOUTS[layout](A)) if centre else LAYOUTS[layout](A)
    formed = A - weights @ A / weights.sum() if centre else A
    method = sw.methods.CoordinateDescent(side=side, coupling=coupling)
    result = sw.solve(given, b, method=method, tol=1e-13, max_epochs=5000, **options)
    expected = sw.solve(formed, b, tol=1e-13, max_epochs=5000, **options)
    assert result.primal == pytest.approx(expected.primal, rel=1e-11)
    assert result.x == pytest.approx(expected.x, abs=1e-6)
    assert result.intercept == pytest.approx(expected.intercept, abs=5e-6)  # sqrt(gap / curvature)
    assert ("Gram" in result.method) == (coupling == "gram")


@pytest.mark.parametrize(("side", "name"), SIDES)
@pytest.mark.parametrize("intercept", [False, True])
def test_sample_weight_equals_repeated_rows(side, name, intercept):
    planted = plant(name, n=30, d=10, l1=0.01, l2=0.2)
    counts = np.random.default_rng(1).integers(0, 4, 30)
    counts[:4] = 1  # both classes stay
    repeated = np.repeat(np.arange(30), counts)
    options = {"loss": name, "l1": 0.01, "l2": 0.2, "intercept": intercept}
    # No certificate before the last epoch: a gap of rounding size leaves x an error of its square root.
    options |= {"tol": 0.0, "max_epochs": 3000, "check_every": 3000}
    method = sw.methods.CoordinateDescent(side=side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap of exactly zero may be out of reach
        weighted = sw.solve(planted.A, planted.b, sample_weight=counts, method=method, **options)
        copied = sw.solve(planted.A[repeated], planted.b[repeated], method=method, **options)
    assert weighted.scale == pytest.approx(copied.scale, rel=1e-14)
    assert weighted.primal == pytest.approx(copied.primal, rel=1e-10)
    assert np.abs(weighted.x - copied.x).max() <= 1e-10
    certified = sw.Problem(
        planted.A[repeated], planted.b[repeated], name, sw.penalties.ElasticNet(0.01, 0.2), intercept=intercept
    ).certify(weighted.x, intercept=weighted.intercept)[0]
    assert certified == pytest.approx(weighted.primal, rel=1e-12)


@pytest.mark.parametrize(("side", "name"), SIDES)
def test_same_seed_same_bits(side, name):
    planted = plant(name)
    runs = [solve(planted, side=side, seed=seed, method={"rule": "shuffled"}) for seed in (7, 7, 8)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes()
    assert runs[0].y.tobytes() == runs[1].y.tobytes()
    assert runs[0].history["gap"].tobytes() == runs[1].history["gap"].tobytes()
    assert runs[0].history["gap"].tobytes() != runs[2].history["gap"].tobytes()


@pytest.mark.parametrize("name", ["squared", "logistic", "smooth_hinge", "squared_hinge"])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
def test_the_intercept_converges_between_certificates(name, coupling):
    """On the dual side its anchor must follow it after every epoch, not only at certificates."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 100))
    b = np.sign(A[:, 0] + 0.5) if name != "squared" else A[:, 0] + 3.0
    method = sw.methods.CoordinateDescent(side="dual", coupling=coupling, proximal=False)
    options = {"loss": name, "l2": 0.1, "intercept": True, "method": method, "tol": 1e-9}
    result = sw.solve(A, b, max_epochs=2000, check_every=2000, **options)
    assert result.status is sw.Status.CONVERGED
    assert result.history["epoch"].tolist() == [0, 2000]


def test_certificates_cost_no_more_than_the_work_between_them():
    """An epoch of a small Gram matrix is far cheaper than a certificate over many samples, so they come seldom."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5000, 10)) + 3 * rng.standard_normal((5000, 1))
    runs = {}
    for coupling in ("mirror", "gram"):
        method = sw.methods.CoordinateDescent("primal", coupling=coupling)
        runs[coupling] = sw.solve(A, rng.standard_normal(5000), l1=1e-4, tol=1e-9, max_epochs=20_000, method=method)
    assert len(runs["gram"].history["epoch"]) < len(runs["mirror"].history["epoch"])
    for run in runs.values():
        assert run.status is sw.Status.CONVERGED
        assert (np.diff(run.history["entries"] + run.history["moves"])[:-1] >= 2 * A.size).all()
