"""Numbers of every size, and problems at the edge: finite answers, and certificates that stay true.

The test of a certificate needs no other solver: the dual value of any solve is at most the objective of any other.
"""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import ConvergenceWarning

CD = sw.methods.CoordinateDescent
ElasticNet = sw.penalties.ElasticNet


def softplus(m):
    return np.maximum(m, 0) + np.log1p(np.exp(-np.abs(m)))


VALUES = {
    "squared": lambda m, b: (m - b) ** 2 / 2,
    "logistic": lambda m, b: softplus(-b * m),
    "hinge": lambda m, b: np.maximum(1 - b * m, 0),
    "squared_hinge": lambda m, b: np.maximum(1 - b * m, 0) ** 2 / 2,
    "smooth_hinge": lambda m, b: np.where(b * m < 0, 0.5 - b * m, np.maximum(1 - b * m, 0) ** 2 / 2),
    "huber": lambda m, b: np.where(np.abs(m - b) <= 1, (m - b) ** 2 / 2, np.abs(m - b) - 0.5),
    "quantile": lambda m, b: np.abs(m - b) / 2,
    "epsilon_insensitive": lambda m, b: np.maximum(np.abs(m - b) - 0.1, 0),
    "squared_epsilon_insensitive": lambda m, b: np.maximum(np.abs(m - b) - 0.1, 0) ** 2 / 2,
    "poisson": lambda m, b: np.exp(np.minimum(m, 600)) - b * m,
}
LOSSES = sorted(VALUES)
SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
MARGIN = [name for name in LOSSES if sw.losses.get(name).targets == "signs"]


def made(n=40, d=10, seed=0, loss="squared", spread=1.0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    m = spread * (A @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + 0.5 * rng.standard_normal(n) + 0.3)
    kind = sw.losses.get(loss).targets
    if kind == "signs":
        return A, np.where(m >= 0, 1.0, -1.0)
    return A, rng.poisson(np.exp(np.clip(0.3 * m, -3, 3))).astype(float) if kind == "counts" else m


def objective(A, b, loss, penalty, r, sample_weight=None):
    """P at the result, from scratch."""
    A = A.toarray() if sp.issparse(A) else np.asarray(A, float)
    s = np.ones(len(b)) if sample_weight is None else np.asarray(sample_weight, float)
    w = 1.0 if penalty.weights is None else penalty.weights
    value = (s / s.sum()) @ VALUES[loss](A @ r.x + r.intercept, np.asarray(b, float))
    return value + np.sum(w * (penalty.l1 * np.abs(r.x) + penalty.l2 / 2 * r.x**2))


def check(A, b, loss="squared", penalty=None, *, intercept=False, sample_weight=None, tols=(1e-6, 1e-10),
          converges=True, sides=("primal", "dual"), epochs=20_000, noise=1e-12, **options):  # fmt: skip
    """Solve on each side that can, and hold the results against each other. Returns the most exact one."""
    penalty = ElasticNet(0.01, 0.01) if penalty is None else penalty
    problem = sw.Problem(A, b, loss, penalty, intercept=intercept, sample_weight=sample_weight)
    sides = [s for s in sides if not (s == "primal" and not problem.loss.smooth)]
    sides = [s for s in sides if not (s == "dual" and penalty.l1 == 0 == penalty.l2)]
    assert sides
    epochs = epochs if problem.loss.smooth else 10 * epochs  # kinks are identified one by one
    results, limit = [], 300 if converges else 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for side, tol in itertools.product(sides, tols):
            r = sw.solve(problem, method=CD(side=side), tol=tol, max_epochs=epochs, max_seconds=limit, **options)
            results.append(r)
    for r in results:
        size = abs(r.primal) + abs(r.dual)
        assert np.isfinite(r.x).all() and np.isfinite(r.y).all() and np.isfinite(r.intercept), r
        assert np.isfinite([r.primal, r.dual, r.gap, r.scale]).all(), r
        assert r.gap >= 0, r
        assert abs(r.gap - (r.primal - r.dual)) <= 1e-12 * size, r
        lower = -np.inf if penalty.lower is None else penalty.lower
        upper = np.inf if penalty.upper is None else penalty.upper
        assert (r.x >= lower).all() and (r.x <= upper).all(), r
        again = objective(A, b, loss, penalty, r, sample_weight)
        np.testing.assert_allclose(r.primal, again, rtol=1e-9, atol=1e-13 * r.scale, err_msg=repr(r))
        assert r.status is not sw.Status.DIVERGED, r
        if r.gap <= r.tol * r.scale:
            assert r.status is sw.Status.CONVERGED, r
        if converges:  # as far as rounding lets it
            assert r.status in (sw.Status.CONVERGED, sw.Status.PRECISION), r
    best = min(results, key=lambda r: r.primal)
    for r in results:  # weak duality, across solves
        slack = noise * (abs(best.primal) + abs(r.dual)) + 1e-300
        assert r.dual <= best.primal + slack, (r, best)
        assert r.gap >= r.primal - best.primal - slack, (r, best)
    return best


def optimum(A, b, l1, *, loss, **options):
    penalty = ElasticNet(l1, **{k: options.pop(k) for k in ("l2", "weights") if k in options})
    method = CD(side="primal") if sw.losses.get(loss).smooth else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sw.solve(A, b, loss=loss, penalty=penalty, tol=1e-12, max_epochs=20_000, method=method, **options)


# The size of columns and targets


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_ordinary_problems(loss, intercept):
    A, b = made(loss=loss)
    for penalty in (ElasticNet(0.02, 0.0), ElasticNet(0.0, 0.02), ElasticNet(0.02, 0.01)):
        check(A, b, loss, penalty, intercept=intercept)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_one_column_far_smaller_or_larger(loss, intercept, size):
    A, b = made(loss=loss)
    A[:, 3] *= size / np.linalg.norm(A[:, 3])
    penalty = ElasticNet(0.02, 0.01)
    check(A, b, loss, penalty, intercept=intercept, tols=(1e-6,), converges=False, epochs=500)
    if loss in SMOOTH:
        check(A, b, loss, penalty, intercept=intercept, tols=(1e-6,), sides=("primal",))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("l1, l2", [(0.02, 0.0), (0.02, 0.01)])
def test_columns_of_all_sizes(loss, l1, l2):
    A, b = made(loss=loss)
    check(A * np.logspace(-7, 7, 10), b, loss, ElasticNet(l1, l2), sides=("primal",), tols=(1e-6,))
    # Beyond, the slope of a column of norm 1e12 is known to 1e-4 only: the answer may stay unproven, never untrue.
    check(A * np.logspace(-12, 12, 10), b, loss, ElasticNet(l1, l2), tols=(1e-6,), converges=False, epochs=1000)


@pytest.mark.parametrize("scale", [1e-10, 1e10])
@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_targets_tiny_or_huge(loss, scale, intercept):
    A, b = made(loss=loss)
    b = b * scale
    for share in (0.1, 0.5):
        l1 = share * sw.lambda_max(A, b, loss=loss, intercept=intercept)
        l1 = l1 if l1 > 0 else 0.1  # all targets within epsilon
        check(A, b, loss, ElasticNet(l1), intercept=intercept, converges=loss == "squared", epochs=3000, tols=(1e-6,))
    check(
        A, b, loss, ElasticNet(0.0, 0.01), intercept=intercept, converges=loss == "squared", epochs=3000, tols=(1e-6,)
    )


@pytest.mark.parametrize("scale", [1e-10, 1e10])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_squared_loss_knows_no_units(scale, intercept):
    A, b = made()
    r = sw.solve(A, b, l1=0.05, intercept=intercept, tol=1e-12)
    q = sw.solve(A, b * scale, l1=0.05 * scale, intercept=intercept, tol=1e-12)
    np.testing.assert_allclose(q.x / scale, r.x, atol=1e-9)
    assert q.status is r.status is sw.Status.CONVERGED
    p = sw.solve(A * scale, b, l1=0.05 * scale, intercept=intercept, tol=1e-12)
    np.testing.assert_allclose(p.x * scale, r.x, atol=1e-9)


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_targets_far_from_zero_need_the_intercept(offset, side):
    A, b = made()
    q = sw.solve(A, b, l1=0.05, intercept=True, tol=1e-12)
    tol = 1e-7 * q.scale / (offset**2 / 2)  # the unit of tol is the objective of the zero model
    r = check(A, b + offset, penalty=ElasticNet(0.05), intercept=True, tols=(tol,), sides=(side,), noise=1e-9)
    np.testing.assert_allclose(r.x, q.x, atol=1e-3)
    np.testing.assert_allclose(r.intercept - offset, q.intercept, atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_the_intercept_takes_up_any_offset_at_the_default_tolerance(loss):
    """b + 2000, years for example, is the same problem with another intercept: the answer must be as good."""
    A, b = made(100, 5)
    r, q = (sw.solve(A, t, loss=loss, l1=0.02, intercept=True, max_epochs=5000) for t in (b, b + 2000))
    assert q.primal <= r.primal + 1e-4 * r.primal
    np.testing.assert_allclose(q.x, r.x, atol=0.1)


@pytest.mark.parametrize("loss", MARGIN)
@pytest.mark.parametrize("intercept", [False, True])
def test_margins_in_the_thousands(loss, intercept):
    A, b = made(loss=loss)
    for factor in (1e3, 1e5):
        check(
            A * factor, b, loss, ElasticNet(0.1, 0.1), intercept=intercept, tols=(1e-6,), converges=False, epochs=2000
        )
    for start in (1e3, -1e3):
        check(A, b, loss, ElasticNet(0.02, 0.01), intercept=intercept, warm_start=np.full(10, start), tols=(1e-6, 1e-8))


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_from_far_away(side, intercept):
    A, b = made(loss="poisson")
    for start in (1e3, -1e3, 20.0):
        check(
            A, b, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=(side,), warm_start=np.full(10, start)
        )


@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_with_large_counts_and_columns(intercept):
    A, b = made(loss="poisson")
    check(A, b * 1e4, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=("primal",), noise=1e-11)
    check(A * 100, b, "poisson", ElasticNet(0.02, 0.01), intercept=intercept, sides=("primal",))
    check(A, np.zeros(40), "poisson", ElasticNet(0.02, 0.01), sides=("primal", "dual"))
    check(A, np.append(np.zeros(39), 1.0), "poisson", ElasticNet(0.02, 0.01), intercept=intercept)


def test_poisson_without_any_event():
    """The best intercept is minus infinity; the certificate must not mind."""
    A, _ = made(loss="poisson")
    r = check(A, np.zeros(40), "poisson", ElasticNet(0.02, 0.01), intercept=True, converges=False, tols=(1e-4,))
    assert r.primal <= 1e-3 and r.dual <= 0


# Repeated, constant and empty rows and columns


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_repeated_columns_and_rows(loss, form):
    A, b = made(20, 5, loss=loss)
    A, b = np.vstack([A, A]), np.concatenate([b, b])
    A = np.hstack([A, A, -A[:, :1]])
    r = check(form(A), b, loss, ElasticNet(0.02, 0.01), intercept=True)
    q = check(form(A[:20]), b[:20], loss, ElasticNet(0.02, 0.01), intercept=True)
    np.testing.assert_allclose(r.primal, q.primal, atol=1e-8 * r.scale)
    check(form(A), b, loss, ElasticNet(0.02), intercept=True, tols=(1e-6,))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_constant_and_zero_columns(loss, intercept, form):
    A, b = made(loss=loss)
    A[5], A[:, 1], A[:, 2] = 2.0, 3.0, 0.0
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02)):
        r = check(form(A), b, loss, penalty, intercept=intercept, tols=(1e-6,))
        assert r.x[2] == 0
        if intercept:
            assert abs(r.x[1]) < 1e-2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_constant_and_zero_rows(loss, intercept, form):
    A, b = made(loss=loss)
    A[4], A[5], A[6] = 0.0, 2.0, 0.0
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02)):
        check(form(A), b, loss, penalty, intercept=intercept, tols=(1e-6,))


@pytest.mark.parametrize("loss", LOSSES)
def test_centring_a_constant_column(loss):
    A, b = made(loss=loss)
    A[:, 1] = 3.0
    centred = A - A.mean(0)
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            r = sw.solve(sw.Centred(form(A)), b, loss=loss, l1=0.02, l2=0.01, tol=1e-9, max_epochs=20_000)
        q = sw.solve(centred, b, loss=loss, l1=0.02, l2=0.01, tol=1e-9, max_epochs=20_000)
        assert r.status is sw.Status.CONVERGED and abs(r.x[1]) < 1e-3
        np.testing.assert_allclose(r.primal, q.primal, atol=1e-8 * q.scale)
        assert r.dual <= q.primal * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature(loss, intercept):
    A, b = made(d=1, loss=loss)
    for penalty in (ElasticNet(0.02), ElasticNet(0.0, 0.02), ElasticNet(0.02, 0.01)):
        check(A, b, loss, penalty, intercept=intercept)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive", "poisson"])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_sample(loss, intercept):
    for d in (1, 4):
        r = check(np.arange(1.0, d + 1)[None, :], np.array([2.0]), loss, ElasticNet(0.1, 0.1), intercept=intercept)
        if intercept:
            assert not r.x.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_nothing_but_zeros_in_a(loss, intercept, form):
    _, b = made(loss=loss)
    for penalty in (ElasticNet(0.1), ElasticNet(0.0, 0.1), ElasticNet(0.1, 0.1)):
        r = check(form(np.zeros((40, 3))), b, loss, penalty, intercept=intercept)
        assert not r.x.any()


@pytest.mark.parametrize("intercept", [False, True])
def test_no_penalty_and_nothing_in_a(intercept):
    _, b = made()
    r = check(np.zeros((40, 3)), b, "squared", ElasticNet(), intercept=intercept)
    assert not r.x.any() and r.intercept == pytest.approx(b.mean() if intercept else 0.0)


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_nothing_to_explain(loss, intercept):
    A, b = made()
    for penalty in (ElasticNet(0.1), ElasticNet(0.0, 0.1), ElasticNet(1e-9, 1e-9)):
        r = check(A, 0 * b, loss, penalty, intercept=intercept, tols=(1e-6, 0.0))
        assert r.scale == r.primal == r.gap == 0 and not r.x.any() and r.epochs == 0


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_nothing_to_explain_and_no_penalty(loss):
    A, b = made()
    assert check(A, 0 * b, loss, ElasticNet(), intercept=True).gap == 0


@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "epsilon_insensitive", "poisson"])
def test_targets_all_equal(loss):
    A, _ = made()
    r = check(A, np.full(40, 3.0), loss, ElasticNet(0.1), intercept=True)
    assert not r.x.any()


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_more_features_than_samples_and_no_penalty(loss, intercept):
    if loss == "logistic":
        pytest.skip("separable data have no minimiser")
    A, b = made(10, 30, loss=loss)
    b = b + 1 if loss == "poisson" else b
    check(A, b, loss, ElasticNet(), intercept=intercept, tols=(1e-6,), epochs=5000)


# Weights


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_of_zero_drop_rows(loss, intercept):
    A, b = made(loss=loss)
    w = np.ones(40)
    w[::4] = 0
    bad = A.copy()
    bad[::4] *= 1e6
    for penalty in (ElasticNet(0.02), ElasticNet(0.02, 0.01)):
        r = check(bad, b, loss, penalty, intercept=intercept, sample_weight=w, tols=(1e-9,))
        q = check(A[w > 0], b[w > 0], loss, penalty, intercept=intercept, tols=(1e-9,))
        np.testing.assert_allclose(r.primal, q.primal, atol=3e-9 * q.scale)
        np.testing.assert_allclose(r.scale, q.scale)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_repeat_rows(loss, intercept):
    A, b = made(loss=loss)
    w = np.arange(40) % 4 + 1
    r = check(A, b, loss, ElasticNet(0.02, 0.01), intercept=intercept, sample_weight=w, tols=(1e-10,))
    q = check(np.repeat(A, w, 0), np.repeat(b, w), loss, ElasticNet(0.02, 0.01), intercept=intercept, tols=(1e-10,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-10 * q.scale)
    np.testing.assert_allclose(r.scale, q.scale)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_all_sizes(loss):
    A, b = made(loss=loss)
    w = np.logspace(-12, 0, 40)
    check(A, b, loss, ElasticNet(0.02, 0.01), intercept=True, sample_weight=w, tols=(1e-6,), sides=("primal", "dual"))
    r = sw.solve(A, b, loss=loss, l1=0.02, l2=0.01, sample_weight=w)
    q = sw.solve(A, b, loss=loss, l1=0.02, l2=0.01, sample_weight=w * 1e200)
    np.testing.assert_allclose(r.x, q.x, atol=1e-9)


# Strengths of all sizes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1, l2", [(1e300, 0.0), (0.0, 1e300), (1e10, 1e10), (1e150, 1e-150)])
@pytest.mark.parametrize("intercept", [False, True])
def test_huge_strengths(loss, l1, l2, intercept):
    A, b = made(loss=loss)
    r = check(A, b, loss, ElasticNet(l1, l2), intercept=intercept)
    np.testing.assert_allclose(r.x, 0, atol=1e-9)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "l1, l2", [(1e-12, 0.0), (0.0, 1e-12), (1e-12, 1e-12), (1e-300, 0.0), (0.0, 1e-300), (0.0, 0.0)]
)
def test_tiny_strengths(loss, l1, l2):
    """Next to nothing is harder to certify than nothing: slopes must fall below l1. The answer is right even so."""
    A, b = made(200, 5, loss=loss)
    b = b.copy()
    b[:40] = b[:40][::-1] if loss == "poisson" else -b[:40]  # not separable
    certified = l1 == 0 and l2 in (0.0, 1e-12)
    r = check(A, b, loss, ElasticNet(l1, l2), sides=("primal",), tols=(1e-6,), converges=certified)
    free = check(A, b, loss, ElasticNet(), sides=("primal",), tols=(1e-6,))
    np.testing.assert_allclose(r.primal, free.primal, atol=3e-6 * r.scale)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l2", [1e-8, 1e-16, 1e-30, 1e-300])
def test_l1_with_a_trace_of_l2_is_l1(loss, l2):
    A, b = made(loss=loss)
    r = check(A, b, loss, ElasticNet(0.03, l2), tols=(1e-6,))
    q = check(A, b, loss, ElasticNet(0.03, 0.0), tols=(1e-6,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-6 * q.scale)


# The largest useful l1


def null_problem(loss, n=41, d=6):
    A, b = made(n, d, seed=3, loss=loss)
    return A, b, np.random.default_rng(5).random(n) + 0.1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", ["equal", "weighted", "some unpenalised"])
def test_lambda_max_is_where_coefficients_vanish(loss, intercept, weighted, features):
    A, b, s = null_problem(loss)
    s = s if weighted else None
    weights = {"equal": None, "weighted": np.arange(1.0, 7.0), "some unpenalised": np.array([0, 1, 1, 0, 2, 1.0])}[
        features
    ]
    options = {"loss": loss, "intercept": intercept, "sample_weight": s}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        top = sw.lambda_max(A, b, weights=weights, **options)
    assert np.isfinite(top) and top > 0
    penalised = slice(None) if weights is None else weights > 0
    close = optimum(A, b, top * (1 + 1e-6), weights=weights, **options)
    above = optimum(A, b, top * 1.001, weights=weights, **options)
    below = optimum(A, b, top * 0.97, weights=weights, **options)
    null = optimum(A, b, top * 1e4, weights=weights, **options)
    # Above: no better than without the penalised features, and they are exactly zero.
    for r in (close, above):
        assert null.primal <= r.primal + 1e-8 * r.scale
    np.testing.assert_array_equal(above.x[penalised], 0)
    if loss in SMOOTH:
        assert np.any(below.x[penalised] != 0)
        assert below.primal < null.primal


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("factor", [1.0, 1.000001, 2.0, 1e6])
def test_at_lambda_max_coefficients_are_exactly_zero(loss, side, intercept, factor):
    if side == "primal" and loss not in SMOOTH:
        pytest.skip("the primal side needs a smooth loss")
    if factor == 1.0 and loss not in SMOOTH:
        pytest.skip("with kinks the null model need not be the only optimum there")
    A, b, _ = null_problem(loss)
    top = sw.lambda_max(A, b, loss=loss, intercept=intercept)
    r = sw.solve(A, b, loss=loss, l1=top * factor, intercept=intercept, method=CD(side=side), max_epochs=20_000)
    assert r.status is sw.Status.CONVERGED
    np.testing.assert_array_equal(r.x, 0)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, np.float32, sp.csr_array, sp.csc_array, sw.Centred])
@pytest.mark.parametrize("intercept", [False, True])
def test_lambda_max_of_the_squared_loss(form, intercept):
    A, b, s = null_problem("squared")
    s = s / s.sum()
    dense = A - s @ A if form is sw.Centred else A
    r = b - s @ b if intercept else b
    got = sw.lambda_max(form(A), b, intercept=intercept, sample_weight=s)
    np.testing.assert_allclose(got, np.abs(dense.T @ (s * r)).max(), rtol=1e-6 if form is np.float32 else 1e-12)


@pytest.mark.parametrize("q", [0.1, 0.3, 0.5, 0.77])
@pytest.mark.parametrize("n", [7, 12, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_lambda_max_of_quantiles_with_an_intercept(q, n, weighted):
    A, b = made(n, 6, seed=n)
    s = np.random.default_rng(1).random(n) + 0.1 if weighted else None
    loss = sw.losses.Quantile(q)
    top = sw.lambda_max(A, b, loss=loss, intercept=True, sample_weight=s)
    assert top > 0
    options = {"loss": loss, "intercept": True, "sample_weight": s, "tol": 1e-9, "max_epochs": 50_000}
    assert sw.solve(A, b, l1=1.01 * top, **options).status is sw.Status.CONVERGED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so near, many answers are nearly as good
        r = sw.solve(A, b, l1=1.000001 * top, **options)
    share = np.full(n, 1 / n) if s is None else s / s.sum()
    null = min(share @ (q * np.maximum(b - c, 0) + (1 - q) * np.maximum(c - b, 0)) for c in b)
    assert r.primal >= null - 2e-9 * r.scale, "a model with coefficients beats the null model at lambda_max"


def test_lambda_max_of_nothing():
    A, b = made()
    assert sw.lambda_max(A, 0 * b) == 0
    assert sw.lambda_max(A, 0 * b + 2.0, intercept=True) == pytest.approx(0, abs=1e-14)
    assert sw.lambda_max(0 * A, b) == 0


# Bounds


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "bounds",
    [{"lower": 0}, {"upper": 0}, {"lower": -0.1, "upper": 0.1}, {"lower": 0, "upper": 0.2}, {"lower": 0, "upper": 0}],
)
@pytest.mark.parametrize("l1, l2", [(0.02, 0.0), (0.0, 0.02), (0.02, 0.01)])
def test_bounds(loss, intercept, bounds, l1, l2):
    A, b = made(loss=loss)
    r = check(A, b, loss, ElasticNet(l1, l2, **bounds), intercept=intercept, tols=(1e-6, 1e-9))
    if bounds == {"lower": 0, "upper": 0}:
        assert not r.x.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "bounds", [{"lower": 0.5}, {"upper": -0.5}, {"lower": 0.2, "upper": 0.7}, {"lower": 0.3, "upper": 0.3}]
)
def test_boxes_without_zero(loss, intercept, bounds):
    A, b = made(loss=loss)
    for l1, l2 in ((0.02, 0.0), (0.02, 0.01)):
        check(A, b, loss, ElasticNet(l1, l2, **bounds), intercept=intercept, tols=(1e-6,))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "bounds", [{"lower": 0}, {"lower": -0.1, "upper": 0.1}, {"lower": 0.5}, {"lower": 0.3, "upper": 0.3}]
)
def test_bounds_without_a_penalty(loss, bounds):
    A, b = made(loss=loss)
    check(A, b, loss, ElasticNet(**bounds), tols=(1e-6,), epochs=3000)


def test_bounds_differ_between_features():
    A, b = made()
    lower, upper = np.full(10, -np.inf), np.full(10, np.inf)
    lower[:3], upper[2:5], lower[7], upper[7] = 0.0, 0.1, 0.25, 0.25
    r = check(A, b, "squared", ElasticNet(0.02, 0.0, lower=lower, upper=upper), intercept=True)
    assert r.x[7] == 0.25


@pytest.mark.parametrize("seed", range(5))
def test_a_box_of_one_point_that_fits_exactly(seed):
    """The objective of the box's point is 0 up to rounding: there is nothing left to do."""
    A, _ = made(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = sw.solve(A, A @ np.full(10, 0.1), penalty=ElasticNet(lower=0.1, upper=0.1))
    assert r.status is sw.Status.PRECISION and r.scale == 0
    np.testing.assert_array_equal(r.x, 0.1)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_an_objective_below_zero(side):
    """Poisson's is negative for large counts; its tolerance needs a positive unit all the same."""
    rng = np.random.default_rng(0)
    A, b = rng.random((40, 3)) + 1, np.full(40, 100.0)
    r = check(A, b, "poisson", ElasticNet(0.01, 0.01, lower=0.5), sides=(side,), tols=(1e-6,))
    assert r.primal < 0


# Unpenalised features


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("l1, l2", [(0.03, 0.0), (0.0, 0.03), (0.03, 0.01)])
def test_unpenalised_features(loss, intercept, l1, l2):
    A, b = made(80, 8, loss=loss)
    b = b.copy()
    b[:20] = b[:20][::-1] if loss == "poisson" else -b[:20]  # not separable
    weights = np.array([0, 0, 1, 1, 1, 2, 0.5, 1])
    check(A, b, loss, ElasticNet(l1, l2, weights=weights), intercept=intercept, tols=(1e-6, 1e-9))


@pytest.mark.parametrize("loss", SMOOTH)
def test_unpenalised_features_that_repeat_or_vanish(loss):
    A, b = made(80, 8, loss=loss)
    b = b.copy()
    b[:20] = b[:20][::-1] if loss == "poisson" else -b[:20]
    A[:, 1], A[:, 2], A[:, 3] = A[:, 0], 0.0, 1.0
    weights = np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    check(A, b, loss, ElasticNet(0.03, 0.0, weights=weights), intercept=True, tols=(1e-6,))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_no_penalty_at_all(loss, intercept):
    A, b = made(200, 5, loss=loss)
    b = b.copy()
    b[:60] = b[:60][::-1] if loss == "poisson" else -b[:60]
    check(A, b, loss, ElasticNet(), intercept=intercept, tols=(1e-6, 1e-9))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_separable_data_without_a_minimiser(loss):
    """An unpenalised feature that separates: no optimum is attained, no bound may lie above the infimum."""
    A, b = made(loss=loss)
    A[:, 0] = b * (1 + np.arange(40) / 40)
    weights = np.ones(10)
    weights[0] = 0
    r = check(A, b, loss, ElasticNet(0.05, 0.05, weights=weights), converges=False, tols=(1e-4,), epochs=500)
    assert r.dual <= 1e-12


# Single precision


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_float32(loss, form):
    A, b = made(loss=loss)
    A = A.astype(np.float32)
    r = check(form(A), b.astype(np.float32), loss, ElasticNet(0.02, 0.01), intercept=True, tols=(1e-6, 1e-12))
    q = check(A.astype(float), b.astype(np.float32), loss, ElasticNet(0.02, 0.01), intercept=True, tols=(1e-12,))
    np.testing.assert_allclose(r.primal, q.primal, atol=3e-12 * q.scale)
    assert r.x.dtype == np.float64


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_float32_at_its_limits(size):
    A, b = made()
    A = (A * size).astype(np.float32)
    l1 = 0.1 * sw.lambda_max(A, b)
    r = check(A, b, "squared", ElasticNet(l1), tols=(1e-9,), sides=("primal",))
    q = sw.solve(A.astype(float) / size, b, l1=l1 / size, tol=1e-9)
    np.testing.assert_allclose(r.primal, q.primal, rtol=1e-8)


@pytest.mark.parametrize("size", [1e-150, 1e150, 1e-200, 1e200])
@pytest.mark.parametrize("what", ["A", "b"])
def test_beyond_reason_the_answer_is_honest(size, what):
    """Squares overflow or vanish: converged with a true certificate, or not converged and said so."""
    A, b = made()
    A, b = (A * size, b) if what == "A" else (A, b * size)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for side in ("primal", "dual"):
            r = sw.solve(A, b, l1=0.05, l2=0.01, method=CD(side=side), max_epochs=50)
            assert np.isfinite(r.x).all() and not np.isnan([r.primal, r.dual, r.gap]).any()
            if r.status:
                assert np.isfinite(r.gap) and np.isfinite(r.primal)
