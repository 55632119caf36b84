"""Every method over matrices reaches the proven optimum; DSPDC is its twin, and SPDC with all blocks."""

import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import southwell as sw
from metric_methods import LOSSES, METHODS, able, huge
from metrics import FORMS, in_cone, measurements, problem, quietly, symmetric
from southwell.methods.conditioning import Conditioning
from southwell.methods.dspdc import dspdc_steps
from southwell.methods.spdc import spdc_steps
from southwell.metric import MatrixRisk
from southwell.metric._dspdc import DSPDC
from southwell.metric._fista import FISTA
from southwell.metric._methods import Choice, made, steps
from southwell.metric._workers import ALONE
from southwell.reference.matrix_dspdc import matrix_dspdc, nearest_psd

# The answer


@pytest.mark.parametrize(("loss", "method"), [(loss, m) for loss in LOSSES for m in METHODS if able(m, loss)])
def test_every_method_proves_its_answer(method, loss):
    risk = problem(loss)
    r = risk.solve(method, **METHODS[method], tol=1e-6, max_epochs=100_000)
    assert r.status is sw.Status.CONVERGED and 0 <= r.gap <= 1e-6 * r.scale
    assert r.x.shape == (3, 4, 4) and np.linalg.eigvalsh(r.x).min() > -1e-12
    proof = risk.certify(r.x, r.y)
    assert proof.primal == pytest.approx(r.primal, rel=1e-9) and proof.dual >= r.dual - 1e-9 * r.scale
    assert (r.history["gap"] >= 0).all() and r.problem is risk and r.intercept == 0.0 and r.movers == r.setup == {}
    zero = risk.certify(np.zeros((3, 4, 4)), np.zeros(30))
    assert r.scale == pytest.approx(zero.gap, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_data_has_the_same_answer(method, form):
    data, D = measurements(form)
    b = np.where(np.arange(len(D)) % 3 == 0, -1.0, 1.0)
    options = {**METHODS[method], **({"blocks": 1} if method == "dspdc" else {})}
    options = {name: max(1, len(D) // 3) if name == "rows" else size for name, size in options.items()}
    answers = [MatrixRisk(given, b, "logistic", 2.0).solve(method, **options, tol=1e-7) for given in (data, D)]
    assert answers[0].primal == pytest.approx(answers[1].primal, rel=1e-6)
    np.testing.assert_allclose(answers[0].x, answers[1].x, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_planted_answer_is_found(method):
    """X of rank 2, any y; the linear part makes them a saddle point: centre - (W + linear) / l2 = X - N, N X = 0."""
    rng = np.random.default_rng(3)
    n, p, d = 40, 3, 5
    D, y, l2, centre = symmetric(rng, n, p, d), rng.normal(size=n), np.array([0.5, 1.0, 2.0]), symmetric(rng, p, d)
    basis = np.linalg.qr(rng.normal(size=(p, d, d)))[0]
    X = basis[:, :, :2] @ basis[:, :, :2].swapaxes(1, 2)
    N = basis[:, :, 2:] @ basis[:, :, 2:].swapaxes(1, 2)
    W = np.einsum("i,ipab->pab", y / n, D)
    risk = MatrixRisk(
        D, np.einsum("ipab,pab->i", D, X) - y, l2=l2, centre=centre,
        linear=l2[:, None, None] * (centre - X + N) - W,
    )  # fmt: skip
    assert risk.certify(X, y).gap == pytest.approx(0.0, abs=1e-12)
    r = risk.solve(method, **METHODS[method], tol=1e-12)
    np.testing.assert_allclose(r.x, X, atol=1e-4)
    np.testing.assert_allclose(r.y, y, atol=1e-3)


@hypothesis.given(seed=st.integers(0, 10**6), loss=st.sampled_from(LOSSES), scale=st.sampled_from([1e-3, 1.0, 1e3]))
@hypothesis.settings(max_examples=10)
def test_the_gap_bounds_the_error_at_every_certificate(seed, loss, scale):
    if loss == "poisson":
        scale = 1.0
    risk = problem(loss, n=8, p=2, d=3, seed=seed)
    risk = MatrixRisk(scale * risk.data.flat.reshape(8, 2, 3, 3), risk.targets, loss, 0.3)
    best = quietly(risk.solve, tol=1e-8, max_epochs=1000)
    r = quietly(risk.solve, "sdca", rows=2, tol=1e-4, max_epochs=50, check_every=1, seed=seed)
    slack = 1e-12 * (r.scale + abs(best.primal))
    assert (r.history["gap"] >= r.history["primal"] - best.primal - slack).all()
    assert (r.history["dual"] <= best.primal + slack).all()
    np.testing.assert_array_equal(r.history["primal"], np.minimum.accumulate(r.history["latest_primal"]))
    np.testing.assert_array_equal(r.history["dual"], np.maximum.accumulate(r.history["latest_dual"]))


def test_weights_are_repetitions():
    risk = problem("logistic")
    D, b = risk.data.flat.reshape(30, 3, 4, 4), risk.targets
    times = np.arange(30) % 3 + 1
    once = MatrixRisk(D, b, "logistic", 0.3, sample_weight=times).solve(tol=1e-10)
    often = MatrixRisk(np.repeat(D, times, axis=0), np.repeat(b, times), "logistic", 0.3).solve(tol=1e-10)
    np.testing.assert_allclose(once.x, often.x, atol=1e-4)
    assert once.primal == pytest.approx(often.primal, rel=1e-8)


def test_one_number_of_each():
    """n = p = d = 1: min over x >= 0 of (2 x - 1)^2 / 2 + x^2 / 2 is at 2/5."""
    for method in METHODS:
        assert MatrixRisk([[[2.0]]], [1.0], l2=1.0).solve(method, tol=1e-12).x.item() == pytest.approx(0.4, abs=1e-5)
    assert MatrixRisk([[[-2.0]]], [1.0], l2=1.0).solve().x.item() == 0.0


def test_data_of_zeros_are_solved_at_once():
    for method in METHODS:
        r = MatrixRisk(np.zeros((3, 2, 2, 2)), [1.0, 2.0, 3.0]).solve(method)
        assert r.status and not r.x.any()


# DSPDC


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("m", "q"), [(1, 1), (2, 1), (9, 1), (3, 2), (2, 3), (12, 3)])
def test_dspdc_is_its_twin_step_by_step(form, m, q):
    data, D = measurements(form)
    rng = np.random.default_rng(4)
    n, p, d = len(D), data.n_blocks, data.size
    m, q = (n, p) if m == 12 else (m * n // 12, min(q, p))
    l2, centre, linear = rng.uniform(0.3, 2.0, p), symmetric(rng, p, d), symmetric(rng, p, d)
    risk = MatrixRisk(data, np.sign(rng.normal(size=n)), "logistic", l2, centre=centre, linear=linear,
                      sample_weight=rng.uniform(0.5, 2.0, n))  # fmt: skip
    x, y = in_cone(rng, p, d), -risk.targets * rng.uniform(0, 1, n)
    fast = DSPDC(risk, ALONE, x.copy(), y.copy(), 0, m, q, tau=0.3, weight=0.7, theta=0.9)
    batches = []
    for _ in range(12):
        batches.append((np.sort(rng.choice(n, m, replace=False)), np.sort(rng.choice(p, q, replace=False))))
        fast.move(*(None if len(some) == among else some for some, among in zip(batches[-1], (n, p), strict=True)))
        slow = matrix_dspdc(
            D, risk.targets, risk.weights, risk.loss, l2, centre, linear, batches, (0.3, n / 0.7, 0.9), X=x, y=y
        )
        np.testing.assert_allclose(fast.x, slow[0], atol=1e-9)
        np.testing.assert_allclose(fast.y, slow[1], atol=1e-9)
    if form == "dense":
        assert fast.by_blocks == (m * p > q * n)


def test_dspdc_with_all_blocks_and_one_sample_is_spdc():
    """Zhang and Xiao (2015), algorithm 1, with u = (1/n) sum_i y_i a_i kept."""
    risk = problem("smooth_hinge", l2=0.3, centre=None, linear=None, sample_weight=None)
    D, n = risk.data.flat.reshape(30, 3, 4, 4), 30
    R = np.sqrt(np.sum(D**2, axis=(1, 2, 3)).max() / 0.3)
    want, _ = spdc_steps(Conditioning(n, np.array([R]), 1.0, 1.0), 1, False)
    got = steps(risk, "spdc", 1, 3)
    assert got["tau"] == pytest.approx(want["tau"]) and got["theta"] == pytest.approx(want["theta"])
    assert 1 / got["weight"] == pytest.approx(want["sigma"])
    order = np.random.default_rng(0).integers(0, n, 40)
    x, y, tau = np.zeros((3, 4, 4)), np.zeros(n), want["tau"] / 0.3
    fast = DSPDC(risk, ALONE, x.copy(), y.copy(), 0, 1, 3, **got)
    xe, u = x, np.zeros_like(x)
    for i in order:
        fast.move(np.array([i]), None)
        after = risk.loss.maximise(np.vdot(D[i], xe), y[i], 1 / want["sigma"], risk.targets[i])
        change, y[i] = after - y[i], after
        new = np.array(
            [nearest_psd((X / tau - V) / (0.3 + 1 / tau)) for X, V in zip(x, u + change * D[i], strict=True)]
        )
        u = u + change * D[i] / n
        xe, x = new + want["theta"] * (new - x), new
        np.testing.assert_allclose(fast.x, x, atol=1e-11)
        np.testing.assert_allclose(fast.y, y, atol=1e-11)
    assert np.abs(x).max() > 0


def test_steps_by_hand_are_those_of_the_twin():
    """In the units of the paper for blocks of l2 = 1; SPDC's sigma is 1/n of DSPDC's."""
    rng = np.random.default_rng(7)
    risk = problem("smooth_hinge", l2=np.array([0.3, 0.5, 1.0]))
    D, n = risk.data.flat.reshape(30, 3, 4, 4), 30
    zero, centre, linear = np.zeros((3, 4, 4)), risk.penalty.centre, risk.penalty.linear
    for name, unit, q in (("dspdc", 1, 2), ("spdc", n, 3)):
        choice = Choice(name, 4, 2 if name == "dspdc" else None, tau=0.4, sigma=3.0, theta=0.8)
        fast = made(risk, choice, ALONE, zero.copy(), np.zeros(n), 0)
        batches = []
        for _ in range(50):
            batches.append((np.sort(rng.choice(n, 4, replace=False)), np.sort(rng.choice(3, q, replace=False))))
            fast.move(batches[-1][0], batches[-1][1] if q < 3 else None)
        slow = matrix_dspdc(
            D, risk.targets, risk.weights, risk.loss, np.array([0.3, 0.5, 1.0]), centre, linear, batches,
            (0.4, unit * 3.0, 0.8), X=zero, y=np.zeros(n),
        )  # fmt: skip
        np.testing.assert_allclose(fast.x, slow[0], atol=1e-9)
        np.testing.assert_allclose(fast.y, slow[1], atol=1e-9)


def test_the_aim_and_single_steps_are_those_of_the_theorems():
    risk = problem()
    at, scale = Conditioning(30, risk.norms.rows, 1.0, 1 / risk.loss.smoothness), risk.norms.coupling(4, 2)
    for aim in ("gap", "point"):
        want = dspdc_steps(at, 3, 4, 2, scale, aim == "gap")[0]
        got = steps(risk, "dspdc", 4, 2, Choice(aim=aim))
        assert got == pytest.approx({"tau": want["tau"], "weight": 30 / want["sigma"], "theta": want["theta"]})
    own = steps(risk, "dspdc", 4, 2, Choice(theta=0.5, sigma=2.0))
    want = dspdc_steps(at, 3, 4, 2, scale, True)[0]
    assert own == pytest.approx({"tau": want["tau"], "weight": 30 / 2.0, "theta": 0.5})


@pytest.mark.parametrize("options", [{"aim": "point"}, {"theta": 0.0}])
def test_other_steps_lead_to_the_same_answer(options):
    risk = problem()
    plain, other = (risk.solve("dspdc", rows=4, blocks=2, tol=1e-9, **more) for more in ({}, options))
    assert other.status
    np.testing.assert_allclose(other.x, plain.x, atol=1e-4)
    assert (other.x != plain.x).any()


def test_dspdc_decomposes_only_its_blocks():
    risk = problem(p=5)
    algorithm = made(risk, Choice("dspdc", 3, 2), ALONE, np.zeros((5, 4, 4)), np.zeros(30), 0)
    algorithm.epoch(lambda work: False)
    assert algorithm.eigendecompositions == 2 * algorithm.iterations == 20
    assert "eigendecompositions" in risk.solve("dspdc", rows=3, blocks=2, tol=1e-3).method


@pytest.mark.parametrize(
    ("method", "rows", "blocks"),
    [("dspdc", 3, 2), ("dspdc", 20, 1), ("dspdc", 30, 1), ("dspdc", 30, 3), ("spdc", 30, None), ("sdca", 4, None),
     ("sdca", 30, None), ("fista", None, None), ("dual_fista", None, None)],
)  # fmt: skip
def test_products_that_are_kept_stay_true(method, rows, blocks):
    risk = problem()
    algorithm = made(risk, Choice(method, rows, blocks), ALONE, np.zeros((3, 4, 4)), np.zeros(30), 0)
    for _ in range(200):
        algorithm.step()
    assert hasattr(algorithm, "m") or hasattr(algorithm, "W")
    if hasattr(algorithm, "m"):
        np.testing.assert_allclose(algorithm.m, risk.data.apply(algorithm.x), atol=1e-11)
    if hasattr(algorithm, "W"):
        np.testing.assert_allclose(algorithm.W, risk.data.adjoint(risk.weights * algorithm.y), atol=1e-11)


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_proof_is_the_best_that_can_be_told(method):
    risk = problem(loss="smooth_hinge")
    r = risk.solve(method, **METHODS[method], max_epochs=2, tol=1e-14)
    assert r.gap <= risk.certify(r.x).gap * (1 + 1e-9)


def test_an_epoch_is_short_where_samples_are_many():
    risk = problem(p=5)
    for rows, blocks, iterations in ((1, 1, 30), (3, 1, 10), (1, 5, 10), (30, 1, 5), (30, 5, 1)):
        choice = Choice("dspdc", rows, blocks)
        assert made(risk, choice, ALONE, np.zeros((5, 4, 4)), np.zeros(30), 0).iterations == iterations


@pytest.mark.parametrize(
    ("method", "stretch"),
    [("dspdc", 3.0), ("spdc", 2.0), ("sdca", 1.5), ("dspdc", (4.0, 0.5)), ("spdc", np.array([2.0, 1.0]))],
)
def test_stretched_steps_lead_to_the_same_answer(method, stretch):
    risk, options = problem(), METHODS[method]
    plain, stretched = (risk.solve(method, **options, tol=1e-9, stretch=one) for one in (1.0, stretch))
    assert plain.status and stretched.status
    np.testing.assert_allclose(stretched.x, plain.x, atol=1e-4)
    assert stretched.epochs != plain.epochs


@pytest.mark.filterwarnings("ignore::southwell.ConvergenceWarning")
@pytest.mark.parametrize("stretch", [1e6, 1e300, (1e300, 1e-300), (1e-300, 1e300), 5e-324])
@pytest.mark.parametrize("method", ["dspdc", "spdc", "sdca"])
def test_steps_of_any_length_end_with_a_true_gap(method, stretch):
    risk = problem()
    r = risk.solve(method, stretch=stretch, max_epochs=50)
    assert np.isfinite(r.x).all()
    assert r.primal >= risk.solve(tol=1e-10).dual * (1 - 1e-9)


# Extremes


def test_matrices_that_are_nearly_symmetric_have_no_negative_gap():
    u = np.random.default_rng(0).normal(size=(30, 5))
    D = np.einsum("ni,nj->nij", u, u).astype("f")
    D -= np.tril(np.full((5, 5), 0.9e-6 * abs(D).max()), -1).astype("f")
    r = quietly(MatrixRisk(D, np.ones(30), "logistic", 1e-3).solve, tol=1e-9, max_epochs=300)
    assert r.gap >= -1e-12
    for exact in (True, False):
        W = MatrixRisk(D, np.ones(30)).data.adjoint(np.ones(30), exact=exact)
        np.testing.assert_array_equal(W, W.swapaxes(1, 2))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("D", "b", "l2"), [(1e100, 1, 1e-3), (np.float32(1e19), 1, 1e-3), (1.0, 1, 1e-200), (1.0, 1e160, 1e-3)]
)
def test_huge_numbers_end_with_finite_answers(method, D, b, l2, n_threads):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        r = huge(D, b, l2).solve(method, max_epochs=30, n_threads=n_threads)
    ends = (sw.Status.MAX_EPOCHS, sw.Status.CONVERGED, sw.Status.DIVERGED, sw.Status.PRECISION)
    assert np.isfinite(r.x).all() and r.status in ends
    if b > 1:
        assert r.status is sw.Status.DIVERGED


def test_steps_that_cannot_be_made_end_the_solve(monkeypatch):
    for error in (np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError):
        monkeypatch.setattr(FISTA, "step", lambda self, error=error: exec("raise error", {"error": error}))
        r = quietly(problem().solve, "fista")
        assert r.status is sw.Status.DIVERGED and np.isfinite(r.x).all()


def test_backtracking_stops_at_a_floor(monkeypatch):
    monkeypatch.setattr(FISTA, "_excess", lambda *_: np.inf)
    monkeypatch.setattr(FISTA, "_noise", lambda *_: -1.0)
    assert quietly(problem().solve, "fista").status is sw.Status.DIVERGED
