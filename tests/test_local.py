"""MCP and SCAD: majorisation, stationarity, planted coefficients, and results that call themselves local."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import southwell as sw
from estimator_data import classes

PENALTIES = [sw.local.MCP(0.3), sw.local.MCP(0.3, 1.5), sw.local.SCAD(0.3), sw.local.SCAD(0.3, 2.2)]
WITH_SQUARES = [replace(penalty, l2=0.4) for penalty in PENALTIES]


def planted(seed=0, n=120, d=300):
    rng = np.random.default_rng(seed)
    A, x = rng.standard_normal((n, d)), np.zeros(d)
    x[:6] = [2.0, -1.5, 1.0, -2.0, 1.5, 1.0]
    return A, A @ x + rng.standard_normal(n) / 2, x


def objective(A, b, x, penalty, intercept=0.0):
    return 0.5 * np.mean((A @ x + intercept - b) ** 2) + penalty.value(x)


@pytest.mark.parametrize("penalty", PENALTIES + WITH_SQUARES, ids=repr)
@pytest.mark.parametrize("t", [0.0, 0.1, 0.3, 0.5, 1.0, 3.0])
def test_values_are_integrals_of_slopes(penalty, t):
    bends = sorted({min(t, 0.3), min(t, 0.3 * penalty.gamma)})
    area = quad(lambda u: float(penalty.slopes(u)) * 0.3 + penalty.l2 * u, 0, t, points=bends)[0]
    assert penalty.value([t]) == pytest.approx(area, abs=1e-8) and penalty.value([-t]) == penalty.value([t])


@given(st.sampled_from(PENALTIES), st.floats(-5, 5), st.floats(-5, 5))
def test_the_tangent_lies_above(penalty, x, other):
    tangent = penalty.value([x]) + 0.3 * float(penalty.slopes(x)) * (abs(other) - abs(x))
    assert penalty.value([other]) <= tangent + 1e-12


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("kind", [sw.local.MCP, sw.local.SCAD])
@pytest.mark.parametrize("positive", [False, True])
def test_the_answer_is_stationary_and_no_worse_than_the_lasso(kind, positive, l2):
    A, b, _ = planted()
    penalty = kind(0.2, l2=l2)
    r = sw.local.solve(
        A, b, penalty=penalty, intercept=True, positive=positive, tol=1e-12, settled=1e-6, max_rounds=1000
    )
    assert r.local and r.status is sw.Status.CONVERGED and r.change <= 1e-6 and r.rounds > 1
    assert r.objective == pytest.approx(objective(A, b, r.x, penalty, r.intercept))
    bounds = sw.penalties.ElasticNet(0.2, l2, lower=0.0 if positive else None)
    lasso = sw.solve(A, b, penalty=bounds, intercept=True)
    assert r.objective < objective(A, b, lasso.x, penalty, lasso.intercept)
    slopes = A.T @ (A @ r.x + r.intercept - b) / len(b) + l2 * r.x
    used = r.x != 0
    np.testing.assert_allclose(slopes[used], -0.2 * penalty.slopes(r.x[used]) * np.sign(r.x[used]), atol=1e-4)
    assert (-slopes[~used]).max() <= 0.2 + 1e-4 and (positive or np.abs(slopes[~used]).max() <= 0.2 + 1e-4)
    assert r.x.min() >= 0 or not positive
    # A step in any direction raises the objective, to first order.
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = 1e-3 * rng.standard_normal(r.x.size)
        moved = np.maximum(r.x + step, 0) if positive else r.x + step
        assert objective(A, b, moved, penalty, r.intercept) >= r.objective


@pytest.mark.parametrize("kind", [sw.local.MCP, sw.local.SCAD])
def test_planted_coefficients_are_hardly_shrunk(kind):
    A, b, _ = planted()
    path = sw.local.path(A, b, penalty=kind(1.0), n_points=20)
    assert len(path) == 20 and path.local and path.converged and path.convex.gaps.max() <= 1e-6
    assert path.changes.max() <= 1e-4 and path.convex.nonzeros[0] == 0 and path.penalties[3].l1 == path.l1s[3]
    oracle, *_ = np.linalg.lstsq(A[:, :6], b)
    errors = [np.abs(row - np.r_[oracle, np.zeros(294)]).max() for row in path.x.toarray()]
    lasso = sw.path(A, b, l1s=path.l1s).x.toarray()
    assert min(errors) <= 1e-5  # least squares on the true support
    assert min(np.abs(row - np.r_[oracle, np.zeros(294)]).max() for row in lasso) >= 0.05
    for k in (5, 10, 15):
        assert path.objectives[k] == pytest.approx(objective(A, b, path.x[[k]].toarray()[0], path.penalties[k]))
    assert path.predict(A).shape == (120, 20)


@pytest.mark.parametrize("penalty", WITH_SQUARES, ids=repr)
def test_on_orthonormal_columns_each_coefficient_has_a_closed_form(penalty):
    """Firm thresholding and shrinking by l2 (Breheny and Huang 2011); 1 + l2 > 1 / gamma, so there is one minimum."""
    rng = np.random.default_rng(0)
    n, d = 40, 12
    A = np.sqrt(n) * np.linalg.qr(rng.normal(size=(n, d)))[0]
    z = np.linspace(0.0, 2.4, d) * np.tile([1.0, -1.0], d // 2)
    r = sw.local.solve(A, A @ z, penalty=penalty, tol=1e-13, settled=1e-8, max_rounds=2000)
    size, l1, gamma, l2 = np.abs(z), penalty.l1, penalty.gamma, penalty.l2
    soft = np.maximum(size - l1, 0.0)
    if penalty.name == "MCP":
        known = np.where(size <= gamma * l1 * (1 + l2), soft / (1 + l2 - 1 / gamma), size / (1 + l2))
    else:
        bent = np.maximum(size - gamma * l1 / (gamma - 1), 0.0) / (1 + l2 - 1 / (gamma - 1))
        known = np.where(size <= l1 * (2 + l2), soft / (1 + l2), bent)
        known = np.where(size > gamma * l1 * (1 + l2), size / (1 + l2), known)
    np.testing.assert_allclose(r.x, known * np.sign(z), atol=1e-5)


def descended(A, b, penalty, rounds=3000):
    """Cyclic coordinate descent with the closed form of MCP (Breheny and Huang 2011)."""
    x, sizes = np.zeros(A.shape[1]), (A**2).mean(axis=0)
    left = b.astype(float)
    for _ in range(rounds):
        for j, v in enumerate(sizes):
            z = A[:, j] @ left / len(b) + v * x[j]
            curved = v + penalty.l2
            new = np.sign(z) * max(abs(z) - penalty.l1, 0.0) / (curved - 1 / penalty.gamma)
            if abs(z) > penalty.gamma * penalty.l1 * curved:
                new = z / curved
            left += A[:, j] * (x[j] - new)
            x[j] = new
    return x


def test_where_squares_make_it_convex_the_minimum_is_that_of_coordinate_descent():
    A, b, _ = planted(n=60, d=80)
    A[:, 1] = A[:, 0] + 0.1 * A[:, 1]
    penalty = sw.local.MCP(0.2, 3.0, l2=0.5)  # 1/3 < l2: convex whatever the data are
    r = sw.local.solve(A, b, penalty=penalty, tol=1e-13, settled=1e-8, max_rounds=2000)
    np.testing.assert_allclose(r.x, descended(A, b, penalty, 400), atol=1e-6)
    path = sw.local.path(A, b, penalty=penalty, l1s=[0.5, 0.3, 0.2], tol=1e-13, settled=1e-8, max_rounds=2000)
    np.testing.assert_allclose(path.x[[2]].toarray()[0], r.x, atol=1e-6)
    assert path.l2s.tolist() == [0.5] * 3


def test_l2_may_follow_l1_along_a_path():
    A, b, _ = planted(n=60, d=30)
    l1s = np.array([0.5, 0.2])
    path = sw.local.path(A, b, penalty=sw.local.SCAD(1.0), l1s=l1s, l2s=l1s / 4, tol=1e-10)
    assert path.l2s.tolist() == (l1s / 4).tolist() and [p.l2 for p in path.penalties] == path.l2s.tolist()
    for k, kind in enumerate(path.penalties):
        x = path.x[[k]].toarray()[0]
        assert path.objectives[k] == pytest.approx(objective(A, b, x, kind))


def test_squares_keep_the_weights_of_coefficients():
    A, b, _ = planted(n=60, d=10)
    weights = np.linspace(0.5, 2.0, 10)
    model = sw.ConcaveRegressor(l1=0.1, l2=0.3, gamma=1e8, penalty_weights=weights, tol=1e-12).fit(A, b)
    plain = sw.SparseLinearRegressor(l1=0.1, l2=0.3, penalty_weights=weights, tol=1e-12).fit(A, b)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)


def test_weak_concavity_is_the_lasso():
    A, b, _ = planted(n=60, d=30)
    for l2 in (0.0, 0.3):
        r = sw.local.solve(A, b, penalty=sw.local.MCP(0.2, gamma=1e8, l2=l2), tol=1e-10)
        np.testing.assert_allclose(r.x, sw.solve(A, b, l1=0.2, l2=l2, tol=1e-10).x, atol=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "huber", "squared_hinge", "quantile"])
def test_other_losses(loss):
    A, b, x = planted(n=200, d=50)
    b = np.sign(b) if loss in ("logistic", "squared_hinge") else b
    r = sw.local.solve(A, b, loss=loss, penalty=sw.local.SCAD(0.05), intercept=True)
    assert r.status and r.convex.relative_gap <= 1e-6 and set(np.flatnonzero(x)) <= set(np.flatnonzero(r.x))
    assert "no bound tells" in repr(r)


def test_what_is_cut_short_says_so():
    A, b, _ = planted()
    with pytest.warns(sw.ConvergenceWarning, match="1 of 1 local minima are not"):
        r = sw.local.solve(A, b, penalty=sw.local.MCP(0.2), max_rounds=1)
    assert r.status is sw.Status.MAX_EPOCHS and r.rounds == 1 and r.change > 0.1
    np.testing.assert_allclose(r.x, sw.solve(A, b, l1=0.2).x)
    short = sw.local.path(A, b, penalty=sw.local.MCP(0.2), max_seconds=1e-9)
    assert len(short) == len(short.objectives) < 50  # as of other paths, points that have not begun are left out
    with pytest.warns(sw.ConvergenceWarning, match="have not settled. Raise max_rounds"):
        model = sw.ConcaveRegressor(l1=0.2, max_rounds=1).fit(A, b)
    assert model.status_ is sw.Status.MAX_EPOCHS


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda A, b: sw.solve(A, b, penalty=sw.local.MCP(0.1)), "not convex.*southwell.local.solve"),
        (lambda A, b: sw.local.solve(A, b, penalty=sw.penalties.ElasticNet(0.1)), "southwell.local.MCP or SCAD"),
        (lambda A, b: sw.local.solve(sw.Problem(A, b), b, penalty=sw.local.MCP(0.1)), "not a Problem"),
        (lambda A, b: sw.local.MCP(0.1, gamma=1.0), "gamma of MCP must be above 1"),
        (lambda A, b: sw.local.SCAD(0.1, gamma=2.0), "gamma of SCAD must be above 2"),
        (lambda A, b: sw.local.MCP(0.0), "l1"),
        (lambda A, b: sw.local.SCAD(0.1, l2=-1.0), "l2"),
        (lambda A, b: sw.local.path(A, b, penalty=sw.local.MCP(0.1), l2s=[0.1, 0.2, 0.3]), "l2s must be one number"),
        (lambda A, b: sw.local.path(A, b, penalty=sw.local.MCP(0.1), l1s="all"), "l1s"),
        (lambda A, b: sw.local.path(A, b, penalty=sw.local.MCP(0.1), l1s=[0.0]), "l1s must be positive"),
        (lambda A, b: sw.local.path(A, b, penalty=sw.local.MCP(0.1), ratio=2.0), "ratio must be at most 1"),
        (lambda A, b: sw.local.path(A, 0 * b, penalty=sw.local.MCP(0.1)), "lambda_max is 0"),
        (lambda A, b: sw.ConcaveRegressor(penalty="l0").fit(A, b), "penalty must be one of 'mcp', 'scad'"),
        (lambda A, b: sw.ConcaveRegressor(gamma=0.5).fit(A, b), "gamma of MCP must be above 1"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(call, words):
    A, b, _ = planted(n=30, d=10)
    with pytest.raises((ValueError, TypeError), match=words):
        call(A, b)


# Estimators


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_estimators_find_the_same(penalty):
    A, b, x = planted()
    kind = {"mcp": sw.local.MCP, "scad": sw.local.SCAD}[penalty]
    model = sw.ConcaveRegressor(penalty=penalty, l1=0.2, tol=1e-10).fit(A, b)
    r = sw.local.solve(A, b, penalty=kind(0.2), intercept=True, tol=1e-10)
    np.testing.assert_allclose(model.coef_, r.x, atol=1e-8)
    assert model.local_ and model.rounds_ == r.rounds and model.change_ == pytest.approx(r.change, abs=1e-9)
    both = sw.ConcaveRegressorCV(penalty=penalty, l1s=6, l2s=[0.0, 0.1], cv=3).fit(A, b)
    assert both.scores_.shape == (3, 2, 6) and both.l2_ in (0.0, 0.1) and both.l2s_.tolist() == [0.1, 0.0]
    only = sw.ConcaveRegressorCV(penalty=penalty, l1s=[0.2], l2s=[0.0, 0.1, 1.0], cv=3).fit(A, b)
    assert only.scores_.shape == (3, 3, 1) and only.l2_ < 1.0
    chosen = sw.ConcaveRegressorCV(penalty=penalty, l1s=15).fit(A, b)
    path = sw.local.path(A, b, penalty=kind(1.0), l1s=chosen.l1s_[chosen.l1s_ >= chosen.l1_], intercept=True)
    np.testing.assert_allclose(chosen.coef_, path.x[[-1]].toarray()[0], atol=1e-4)
    assert set(np.flatnonzero(x)) <= set(np.flatnonzero(chosen.coef_)) and chosen.scores_.shape == (5, 1, 15)


def test_several_classes():
    X, y = classes()
    labels = y + (X[:, 0] > 1)
    model = sw.ConcaveClassifier(l1=0.02, gamma=20.0).fit(X, labels)
    for k in range(3):
        one = sw.ConcaveClassifier(l1=0.02, gamma=20.0).fit(X, labels == k)
        np.testing.assert_allclose(model.coef_[k], one.coef_[0], atol=1e-8)
    assert model.predict_proba(X).shape == (len(y), 3)
