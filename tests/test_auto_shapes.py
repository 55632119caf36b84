"""The default method on shapes that ask for another way each: more features than samples, a tiny l1, columns far from
centred, many more samples than features, samples at a bound."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from cases import CENTRED, FORMS, SMOOTH, sparse_model
from saddles import proven
from southwell.methods import Auto, CoordinateDescent
from southwell.penalties import ElasticNet


def passes(r, stored):
    return r.history["entries"][-1] / stored


# More features than samples, and no l1: Newton steps through matrices as large as there are samples


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [*FORMS, *CENTRED])
def test_ridge_by_its_formula(form, intercept):
    A, b = sparse_model("squared", 15, 400, 0, density=0.6, offset=2.0)
    l2 = 0.3
    r = sw.solve({**FORMS, **CENTRED}[form](A), b, l2=l2, intercept=intercept, method=Auto(movers="primal"), tol=1e-12)
    proven(r, 1e-12)
    if form in CENTRED or intercept:
        A = A - A.mean(axis=0)
    c = b - b.mean() if intercept else b
    x = A.T @ np.linalg.solve(A @ A.T + 15 * l2 * np.eye(15), c)
    assert np.abs(r.x - x).max() <= 1e-7 * np.abs(x).max()
    assert r.movers["newton"].rounds <= 3


@pytest.mark.parametrize("kind", ["plain", "some free", "weights", "signs"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_many_features_and_no_l1(loss, kind):
    rng = np.random.default_rng(0)
    net = {
        "plain": ElasticNet(0.0, 0.1),
        "some free": ElasticNet(0.0, 0.1, weights=np.r_[0.0, 0.0, np.ones(298)]),
        "weights": ElasticNet(0.0, 0.1, weights=rng.uniform(0.2, 3.0, 300)),
        "signs": ElasticNet(0.0, 0.1, lower=0.0),
    }[kind]
    A, b = sparse_model(loss, 20, 300, 1, density=0.7, offset=0.3)
    for form in FORMS.values():
        problem = sw.Problem(form(A), b, loss, net, intercept=kind != "some free")
        r = sw.solve(problem, method=Auto(movers="primal"), tol=1e-10)
        proven(r)
        q = sw.solve(problem, method=CoordinateDescent(side="dual"), tol=1e-8, max_epochs=20_000)
        unit = 1e-12 * max(abs(r.primal), r.scale)
        assert r.dual <= q.primal + unit and q.dual <= r.primal + unit


def test_more_samples_are_left_to_other_ways():
    """Nothing as large as n x n where that is more than the data."""
    A, b = sparse_model("logistic", 3000, 3500, 0, density=0.002)
    proven(sw.solve(sp.csr_array(A), b, loss="logistic", l2=1e-3, method=Auto(movers="primal")), 1e-6)


# A tiny l1, from zero


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_a_tiny_l1_is_reached_by_way_of_larger_ones(loss, form):
    A, b = sparse_model(loss, 40, 1500, 2)
    A = FORMS[form](A)
    l1 = 1e-3 * sw.lambda_max(A, b, loss=loss, intercept=True)
    r = sw.solve(A, b, loss=loss, l1=l1, intercept=True, tol=1e-8)
    proven(r, 1e-8)
    assert r.epochs <= 30
    again = sw.solve(A, b, loss=loss, l1=l1, intercept=True, tol=1e-8, warm_start=r)
    proven(again, 1e-8)
    assert again.epochs <= 2  # at its end already: not by way of anything


def test_on_the_way_the_certificates_are_of_the_problem_itself():
    A, b = sparse_model("squared", 40, 1500, 2)
    l1 = 1e-3 * sw.lambda_max(A, b)
    seen = []
    sw.solve(A, b, l1=l1, callback=lambda progress: seen.append((progress.x.copy(), progress.primal)))
    assert len(seen) > 4
    for x, primal in seen:
        assert primal == pytest.approx(np.mean((A @ x - b) ** 2) / 2 + l1 * np.abs(x).sum(), rel=1e-12)


# An intercept, and columns far from centred


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_an_intercept_costs_no_more_than_centring(loss, form):
    """Also where columns and the intercept say almost the same."""
    A, b = sparse_model(loss, 300, 40, 3)
    far = FORMS[form](A + 30.0)
    options = {"loss": loss, "l1": 0.01, "intercept": True, "tol": 1e-8, "method": Auto(movers="primal")}
    r, q = sw.solve(far, b, **options), sw.solve(FORMS[form](A - A.mean(axis=0)), b, **options)
    proven(r, 1e-8)
    assert r.primal == pytest.approx(q.primal, rel=1e-7)
    assert passes(r, A.size) <= 2 * passes(q, A.size) + 10


# Many more samples than features: a sample of them shapes the first steps


def test_centring_that_is_never_formed_takes_about_as_many_rounds():
    """A Newton step moves the constants of the columns too. Where that is forgotten, answers are proven all the same,
    but only after many times as many rounds."""
    rounds = np.zeros(2)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        A = (rng.random((200, 800)) < 0.03) * (1 + rng.random((200, 800)))
        formed = A - A.mean(axis=0)
        x = np.where(rng.random(800) < 0.2, 3 * rng.standard_normal(800), 0)
        b = np.sign(formed @ x + 0.3 * rng.standard_normal(200))
        l1 = 0.02 * sw.lambda_max(formed, b, loss="squared_hinge")
        for k, data in enumerate((sw.Centred(sp.csc_array(A)), np.asfortranarray(formed))):
            r = sw.solve(data, b, loss="squared_hinge", l1=l1, tol=1e-10, method=Auto(movers="primal"))
            proven(r, 1e-10)
            rounds[k] += r.epochs
    assert rounds[0] <= 4 * rounds[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_many_samples_are_proven(loss, form):
    """One feature is met in three samples: hardly by those that were drawn."""
    A, b = sparse_model(loss, 20_000, 12, 4, density=0.5)
    A[:, 5] = 0.0
    A[[100, 9_000, 17_000], 5] = 3.0
    A = FORMS[form](A)
    for l1, l2, intercept in ((1e-5, 0.0, True), (1e-4, 1e-4, True), (0.0, 1e-5, False)):
        r = sw.solve(A, b, loss=loss, l1=l1, l2=l2, intercept=intercept, tol=1e-10)
        proven(r)
    assert r.x[5] != 0


# The Hessian is mended where curvatures have changed, and read from rows where the data lie by them


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
def test_however_the_data_lie_the_answer_is_the_same(loss, intercept):
    A, b = sparse_model(loss, 3000, 40, 7, density=0.2, offset=0.5)
    A[:, 3] *= 30.0
    weight = np.random.default_rng(0).integers(0, 3, 3000)
    options = {"loss": loss, "l1": 2e-3, "l2": 1e-4, "intercept": intercept, "sample_weight": weight, "tol": 1e-10}
    answers = [sw.solve(form(A), b, method=Auto(movers="primal"), **options) for form in FORMS.values()]
    for r in answers:
        proven(r)
        assert np.abs(r.x - answers[0].x).max() <= 1e-3 * np.abs(r.x).max()


def test_a_changed_curvature_costs_its_own_rows():
    """Of a loss in pieces few samples change theirs from one step to the next: forming H again costs little."""
    A, b = sparse_model("squared_hinge", 20_000, 60, 8, density=0.3)
    A = sp.csr_array(A)
    r = sw.solve(A, b, loss="squared_hinge", l2=1e-4, method=Auto(movers="primal"), tol=1e-10)
    proven(r)
    whole = 0.3 * 60 / 2  # passes to form H once: pairs that meet in a row
    assert r.movers["newton"].rounds >= 4
    assert passes(r, A.nnz) <= 4 * whole + 2 * r.movers["newton"].rounds


# Samples at a bound


@pytest.mark.parametrize("form", FORMS)
def test_the_few_that_move_go_on_among_themselves(form):
    """A support vector machine of many samples: most of them sit at a bound, and are left alone."""
    A, b = sparse_model("hinge", 4000, 10, 5, density=0.5)
    A = FORMS[form](A)
    stored = A.nnz if sp.issparse(A) else A.size
    r = sw.solve(A, b, loss="hinge", l2=1e-3, method=Auto(movers="dual"))
    proven(r, 1e-6)
    q = sw.solve(
        A, b, loss="hinge", l2=1e-3, method=CoordinateDescent(side="dual", coupling="mirror"), max_epochs=10**5
    )
    assert r.dual <= q.primal + 1e-12 and q.dual <= r.primal + 1e-12
    assert passes(r, stored) < 0.7 * passes(q, stored)


# Columns without curvature


@pytest.mark.parametrize("kind", ["empty", "constant"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_a_warm_start_on_a_column_that_tells_nothing(loss, form, kind):
    """As when a rare feature is absent from a fold: nothing but the penalty moves it, to zero."""
    A, b = sparse_model(loss, 40, 5, 9, share=1.0)
    A[:, 2] = 0.0 if kind == "empty" else 1.0
    for l1, l2 in ((1e-3, 0.0), (0.0, 1e-3), (1e-3, 1e-3)):
        options = {"loss": loss, "l1": l1, "l2": l2, "intercept": kind == "constant", "tol": 1e-8}
        plain = sw.solve(FORMS[form](A), b, **options)
        start = plain.x + np.array([0.0, 0.0, 0.1, 0.0, 0.0])
        start = (start, plain.intercept - 0.1) if kind == "constant" else start
        again = sw.solve(FORMS[form](A), b, warm_start=start, **options)
        proven(again, 1e-8)
        assert abs(again.x[2]) <= 1e-4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_sample_far_on_the_wrong_side(form):
    """There the logistic loss is straight, and a word of that sample alone would be sent to infinity."""
    A = np.zeros((2000, 3))
    b = np.where(np.arange(2000) % 2 == 0, 1.0, -1.0)
    A[:, 0], A[0, 0], A[0, 1] = b, -100.0, 1.0
    A[:, 2] = np.random.default_rng(0).standard_normal(2000)
    start = np.array([3.0, 0.0, 0.0])
    r = sw.solve(form(A), b, loss="logistic", l1=1e-5, intercept=True, warm_start=start, max_epochs=50)
    assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize("intercept", [True, False])
def test_words_of_one_text_alone(intercept):
    """They are alike, so Newton directions are long and signs change at once: rounds must not creep."""
    rounds = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, d = 400, 3000
        texts = [np.unique(np.minimum(rng.zipf(1.3, size=20), d) - 1) for _ in range(n)]
        counts = (np.ones(sum(map(len, texts))), np.concatenate(texts), np.cumsum([0, *map(len, texts)]))
        A = sp.csr_array(counts, shape=(n, d))
        A = sp.csr_array(A / np.sqrt(A.multiply(A).sum(axis=1))[:, None])
        b = np.where(A @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
        l1 = 1e-3 * sw.lambda_max(A, b, loss="logistic", intercept=intercept)
        r = sw.solve(A, b, loss="logistic", l1=l1, intercept=intercept, max_epochs=240)
        assert r.status is sw.Status.CONVERGED
        rounds.append(r.epochs)
    assert sum(rounds) <= 240  # how many of them a single one takes depends on rounding: 7 to 70


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared"])
@pytest.mark.parametrize("d", [400, 3000])
def test_an_intercept_costs_the_dual_mover_hardly_an_epoch(loss, d):
    """Where columns and targets are centred, its place is zero; only its proximal term could hold up the others."""
    rng = np.random.default_rng(0)
    n = 400 if d == 400 else 200
    A = rng.standard_normal((n, d))
    A -= A.mean(axis=0)
    m = A @ rng.standard_normal(d) / np.sqrt(d) + 0.02 * rng.standard_normal(n)
    b = m if loss == "squared" else np.sign(m)
    without, with_it = (
        sw.solve(A, b, loss=loss, l2=10 / n, intercept=intercept, method=Auto(movers="dual"), n_threads=1)
        for intercept in (False, True)
    )
    assert without.status and with_it.status
    assert with_it.epochs <= 1.3 * without.epochs + 5, (with_it.epochs, without.epochs)
