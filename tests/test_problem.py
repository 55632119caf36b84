"""What a Problem promises: one answer in any frame, layouts shared along a path, no change after the checks."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw


def noisy(offset, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((300, 8))
    return A + offset, A[:, 0] - A[:, 1] + 0.1 * rng.standard_normal(300)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "huber"])
@pytest.mark.parametrize("offset", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_far_from_zero_do_not_slow_a_fit_with_intercept(loss, offset, order):
    A, b = noisy(0.0)
    b = np.sign(b) if loss in ("logistic", "hinge") else b
    options = {"loss": loss, "l1": 0.01, "l2": 0.01, "intercept": True, "tol": 1e-8, "max_epochs": 20_000}
    near, far = (sw.solve(np.array(A + shift, order=order), b, **options) for shift in (0.0, offset))
    assert far.epochs <= 3 * near.epochs + 50
    assert far.primal == pytest.approx(near.primal, abs=2e-8 * near.scale)
    assert far.intercept == pytest.approx(near.intercept - offset * far.x.sum(), abs=1e-3 * offset)


@pytest.mark.parametrize("to", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 1.0]])
def test_a_constant_column_centred_is_no_column(to, weights):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3))
    A[:, 1] = 7.3
    penalty = sw.penalties.ElasticNet(l1=0.01 if weights else 0.0, weights=weights)
    result = sw.solve(sw.Centred(to(A)), A[:, 0] + 1, penalty=penalty)
    assert result.status is sw.Status.CONVERGED
    assert result.x[1] == 0.0


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("coupling", ["mirror", "gram"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_centring_dense_data_loses_no_digits(offset, coupling, order):
    A, b = noisy(offset)
    exact = (A - A.mean(0), b)  # the same rounding of A, centred before it is given
    method = sw.methods.CoordinateDescent(side="primal", coupling=coupling)
    result = sw.solve(sw.Centred(np.array(A, order=order)), b, l1=0.1, tol=1e-10, method=method)
    assert result.status is sw.Status.CONVERGED and result.gap >= 0
    assert result.primal == pytest.approx(sw.solve(*exact, l1=0.1, tol=1e-12).primal, rel=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_centred_with_an_intercept_only_renames_it(sparse, loss):
    A, b = noisy(2.0)
    b = np.sign(b) if loss == "logistic" else b
    given = sp.csr_array(A) if sparse else A
    options = {"loss": loss, "l1": 0.02, "intercept": True, "tol": 1e-12, "max_epochs": 20_000}
    plain, centred = sw.solve(given, b, **options), sw.solve(sw.Centred(given), b, **options)
    assert centred.x == pytest.approx(plain.x, abs=1e-5)
    assert centred.intercept == pytest.approx(plain.intercept + A.mean(0) @ plain.x, abs=1e-4)
    again = sw.Problem(sw.Centred(given), b, loss, sw.penalties.ElasticNet(0.02), intercept=True)
    assert again.certify(centred.x, intercept=centred.intercept).primal == pytest.approx(centred.primal, rel=1e-12)


def test_a_path_shares_layouts_and_gram():
    A, b = noisy(0.0)
    problem = sw.Problem(A, b)
    top = sw.lambda_max(problem)
    assert top == sw.lambda_max(A, b)
    warm = None
    for l1 in top * np.array([0.9, 0.5, 0.1]):
        step = problem.with_penalty(sw.penalties.ElasticNet(l1))
        warm = sw.solve(step, warm_start=warm, tol=1e-10)
        assert warm.primal == pytest.approx(sw.solve(A, b, l1=l1, tol=1e-10).primal, rel=1e-9)
        assert step.layout(True) is problem.layout(True)
        assert step.penalty.l1 == l1 and problem.penalty.l1 == 0.0
    with pytest.raises(TypeError, match="penalty must be"):
        problem.with_penalty("l1")
    with pytest.raises(TypeError, match="already holds"):
        sw.lambda_max(problem, b)


def test_a_problem_does_not_change():
    A, b = noisy(0.0)
    targets = b[:, None].copy()  # a column is accepted, and copied
    problem = sw.Problem(A, targets)
    targets[:] = np.nan
    assert np.isfinite(problem.targets).all()
    with pytest.raises(AttributeError, match="cannot be changed"):
        problem.penalty = sw.penalties.ElasticNet(1.0)


def test_an_intercept_needs_a_problem_with_one():
    A, b = noisy(0.0)
    with pytest.raises(ValueError, match="no intercept"):
        sw.Problem(A, b).certify(np.zeros(8), intercept=1.0)
    with pytest.raises(ValueError, match="no intercept"):
        sw.solve(A, b, l1=0.1, warm_start=(np.zeros(8), 1.0))


def test_poisson_overflows_to_infinity_and_never_to_a_wrong_number():
    problem = sw.Problem([[1.0], [2.0]], [1.0, 2.0], "poisson", sw.penalties.ElasticNet(l1=0.1))
    for x in (650.0, 1e10, 1e262):
        certificate = problem.certify([x])
        assert certificate.primal >= np.exp(600.0) and certificate.gap == certificate.primal - certificate.dual > 0


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize(("loss", "far"), [("logistic", 1e3), ("poisson", 500.0), ("poisson", -1e3), ("squared", 1e9)])
def test_a_start_worse_than_none_is_dropped(side, loss, far):
    A, b = noisy(0.0)
    b = np.sign(b) if loss == "logistic" else np.abs(b).round() if loss == "poisson" else b
    method = sw.methods.CoordinateDescent(side=side)
    result = sw.solve(A, b, loss=loss, l1=0.01, l2=0.01, warm_start=np.full(8, far), method=method)
    assert result.status is sw.Status.CONVERGED


def test_progress_and_certificate_carry_names():
    A, b = noisy(0.0)
    seen = []
    result = sw.solve(A, b, l1=0.1, callback=lambda progress: seen.append(progress.relative_gap))
    assert seen[-1] == pytest.approx(result.relative_gap)
    assert result.problem.certify(result.x)._fields == ("primal", "dual", "gap")
