"""Every saddle method reaches the answer, with true certificates."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddle_methods import METHODS, optimum, solved, takes
from saddles import BOUNDED, LOSSES, begin, cut, honest, penalties, problem_of, quietly
from southwell.methods import DGPD, DSPDC, FISTA, LBFGS
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant

# The answer


@pytest.mark.parametrize(("l1", "l2"), [(0.02, 0.05), (0.0, 0.05), (0.05, 0.0)])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_the_planted_answer(name, l1, l2):
    """Where l2 = 0 what is missing is perturbed, but for those that do without."""
    for k, loss in enumerate(LOSSES):
        p = plant(loss, n=40, d=20, l1=l1, l2=l2, nonzeros=4 if l1 > 0 else 20, weighted=True)
        if not takes(name, loss, p.penalty):
            continue
        form = (np.asarray, sp.csr_array)[(k + (l1 == 0)) % 2]  # in turn; both for each loss where l2 > 0
        problem = sw.Problem(form(p.A), p.b, loss, p.penalty, sample_weight=p.sample_weight)
        r = solved(problem, METHODS[name], seed=1)
        assert r.status is sw.Status.CONVERGED, (loss, r)
        assert r.relative_gap <= 1e-8
        honest(r, p.primal, 1e-12)
        if l2 > 0:
            assert l2 / 2 * np.sum((r.x - p.x) ** 2) <= r.gap + 1e-13


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", ["box", "partly free", "l1"])
@pytest.mark.parametrize("name", METHODS)
def test_other_penalties_and_intercepts(name, penalty, intercept):
    for loss in ("squared", "huber") if penalty == "partly free" else ("squared", "logistic", "hinge"):
        if not takes(name, loss, penalties()[penalty], intercept):
            continue
        best = optimum(loss, penalty, intercept)
        for form in ("dense", "sparse") if loss == "squared" else ("sparse",):
            problem = problem_of(loss, penalty, form, intercept=intercept)
            r = solved(problem, METHODS[name], tol=1e-6)
            assert r.status is sw.Status.CONVERGED, (loss, r)
            honest(r, best)


@pytest.mark.parametrize(
    "method", [DSPDC(), DSPDC(rows=3, columns=2), DGPD(), DGPD(active_sets=False), FISTA(), LBFGS()]
)
def test_centred_sparse_data_are_solved(method):
    plain = problem_of("logistic", "elastic net")
    A = plain.data.rows
    centred, formed = (
        sw.Problem(data, plain.targets, "logistic", plain.penalty, sample_weight=plain.weights)
        for data in (sw.Centred(sp.csr_array(A)), A - plain.weights @ A)
    )
    r = solved(centred, method)
    assert r.status is sw.Status.CONVERGED
    honest(r, solved(formed, "auto", tol=1e-13).primal)


@pytest.mark.parametrize("name", METHODS)
def test_sparse_samples_and_wide_data(name):
    """More features than samples, empty rows and columns, samples without weight."""
    plain = problem_of("smooth_hinge", "elastic net", n=20, d=60, density=0.1, seed=2)
    A, s = plain.data.rows.copy(), plain.weights.copy()
    A[:, ::7], A[[3, 9]], s[[3, 5]] = 0.0, 0.0, 0.0
    problem = sw.Problem(sp.csr_array(A), plain.targets, "smooth_hinge", ElasticNet(l2=0.02), sample_weight=s)
    r = solved(problem, METHODS[name])
    assert r.status is sw.Status.CONVERGED
    honest(r, solved(problem, "auto", tol=1e-13).primal)
    assert not r.x[::7].any()


@pytest.mark.parametrize("name", METHODS)
def test_a_warm_start_at_the_answer_stays_there(name):
    p = plant("smooth_hinge", n=40, d=20, l1=0.0, l2=0.05, nonzeros=20, weighted=True)
    problem = sw.Problem(p.A, p.b, "smooth_hinge", p.penalty, sample_weight=p.sample_weight)
    first = solved(problem, METHODS[name], tol=1e-10)
    again = quietly(problem, method=METHODS[name], tol=0.0, max_epochs=5, check_every=1, warm_start=first)
    assert first.status is sw.Status.CONVERGED
    # Who keeps one half begins with its mirror image, and the best halves may come from different certificates.
    assert (np.abs(again.history["gap"]) <= 1.1 * first.gap + 1e-14).all()
    honest(again, p.primal, 1e-12)


# Badly conditioned


def ill(loss, form, kappa=1e6):
    """R^2 / (l2 gamma) = kappa; the optimum is known."""
    p = plant(loss, n=60, d=30, l1=0.0, l2=0.05, nonzeros=30)
    gamma = 1 / p.loss.smoothness if np.isfinite(p.loss.smoothness) else 1.0
    l2 = (p.A**2).sum(axis=1).max() / (gamma * kappa)
    p = plant(loss, n=60, d=30, l1=0.01, l2=l2, nonzeros=10, weighted=True)
    return p, sw.Problem(form(p.A), p.b, loss, p.penalty, sample_weight=p.sample_weight)


def ill_conditioned(name, loss, epochs):
    p, problem = ill(loss, sp.csr_array if name in ("spdc", "saga") else np.asarray)
    r = quietly(problem, method=METHODS[name], tol=1e-8, max_epochs=epochs, max_seconds=300)
    honest(r, p.primal, 1e-12)
    assert r.status in (sw.Status.CONVERGED, sw.Status.MAX_EPOCHS)
    assert bool(r.status) == (r.relative_gap <= 1e-8)
    assert (np.diff(r.history["primal"]) <= 0).all() and (np.diff(r.history["dual"]) >= 0).all()
    assert (r.history["primal"] >= p.primal * (1 - 1e-12)).all() and (r.history["dual"] <= p.primal * (1 + 1e-12)).all()
    return r


@pytest.mark.parametrize("name", METHODS)
def test_ill_conditioned_is_honest(name):
    for loss in LOSSES:
        if takes(name, loss, ElasticNet(0.01, 1e-6)):
            ill_conditioned(name, loss, 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_ill_conditioned_for_long(name):
    for loss in LOSSES:
        if takes(name, loss, ElasticNet(0.01, 1e-6)):
            r = ill_conditioned(name, loss, 20_000)
            if name in ("spdc", "dgpd", "accelerated sdca", "fista", "lbfgs") and loss in BOUNDED:
                assert r.status is sw.Status.CONVERGED, (loss, r)


# Perturbed for good


@pytest.mark.parametrize("name", ["spdc", "dspdc", "dgpd"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_centres_that_stay_end_near_the_perturbation(name, loss):
    """At dx/2 ||x*||^2 (and the same for y), by the certificate of the problem itself."""
    p = plant(loss, n=40, d=20, l1=0.05, l2=0.0, nonzeros=4, weighted=True)
    problem = sw.Problem(p.A, p.b, loss, p.penalty, sample_weight=p.sample_weight)
    gaps = []
    for delta in (1e-2, 1e-3):
        dy = delta if loss == "hinge" else 0.0
        method = type(METHODS[name])(perturb=(delta, dy), recentre=False)
        r = quietly(problem, method=method, tol=1e-10, max_epochs=10_000 if name == "dspdc" else 2000)
        order = delta / 2 * (p.x @ p.x) + dy / 2 * (problem.weights @ p.y**2)
        assert r.status is sw.Status.MAX_EPOCHS
        assert order / 10 <= r.gap <= 3 * order
        honest(r, p.primal, 1e-12)
        certified = problem.certify(r.x, r.y)
        assert certified.primal == pytest.approx(r.primal, rel=1e-12)
        assert certified.dual == pytest.approx(r.dual, rel=1e-9)
        gaps.append(r.gap)
    assert gaps[1] < gaps[0] / 5


@pytest.mark.parametrize("perturb", [1e-3, 0.1, (1.0, 0.3)])
@pytest.mark.parametrize("name", ["spdc", "dspdc", "dgpd", "dgpd, algorithm 1"])
def test_centres_that_follow_reach_the_answer(name, perturb):
    """However large the perturbation."""
    base = METHODS[name]
    options = {"perturb": perturb, **({"active_sets": base.active_sets} if isinstance(base, DGPD) else {})}
    for loss in ("squared", "hinge"):
        p = plant(loss, n=40, d=20, l1=0.02, l2=0.05, nonzeros=4, weighted=True)
        problem = sw.Problem(p.A, p.b, loss, p.penalty, sample_weight=p.sample_weight)
        r = solved(problem, type(base)(**options), tol=1e-7)
        assert r.status is sw.Status.CONVERGED, (loss, r)
        honest(r, p.primal, 1e-12)


# Active sets


def test_active_sets_are_sparse_on_both_sides():
    """Samples with margins to spare have no part in the work."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(400, 60))
    b = np.sign(A[:, 0] + 0.3 * A[:, 1])
    problem = sw.Problem(4 * A, b, "smooth_hinge", ElasticNet(l1=0.2, l2=0.01))
    core = begin(DGPD(), problem)
    columns, rows = cut(core.lead(40), 2)[-1]
    x, y = core.point()
    assert set(np.flatnonzero(x)) <= set(columns) and len(columns) < 20
    assert set(np.flatnonzero(y)) <= set(rows) and len(rows) < 300
    assert solved(problem, DGPD()).status is sw.Status.CONVERGED
