"""Every saddle method reaches the answer, as fast as its theorem says, with true certificates; and can be stopped."""

import contextlib
import gc
import threading
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from cases import dual_objective
from saddles import BOUNDED, LOSSES, D, N, begin, cut, honest, norms_of, parts, penalties, problem_of, quietly
from southwell import reference
from southwell.methods import DGPD, DSPDC, FISTA, LBFGS, SAG, SAGA, SPDC, SVRG, AcceleratedSDCA, CoordinateDescent
from southwell.methods.dgpd import safe_weight
from southwell.methods.dspdc import safe_scale
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant
from test_control import hard, interrupted

SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
METHODS = {
    "spdc": SPDC(),
    "spdc, norms": SPDC(sampling="norms"),
    "spdc, batches": SPDC(batch=4),
    "dspdc": DSPDC(),
    "dspdc, blocks": DSPDC(rows=4, columns=3),
    "dspdc, point": DSPDC(aim="point", scale="safe"),
    "dgpd": DGPD(),
    "dgpd, together": DGPD(order="together"),
    "dgpd, few": DGPD(enter=2, passes=1),
    "dgpd, algorithm 1": DGPD(active_sets=False),
    "dgpd, several": DGPD(active_sets=False, columns=3, rows=2),
    "saga": SAGA(),
    "sag": SAG(),
    "svrg": SVRG(),
    "fista": FISTA(),
    "lbfgs": LBFGS(),
    "accelerated sdca": AcceleratedSDCA(),
    "accelerated sdca, uniform": AcceleratedSDCA(rule="uniform", inner_epochs=2),
}


def takes(name, loss, penalty, intercept=False):
    """Does the method claim such problems?"""
    kind = name.split(",")[0]
    strong = penalty.l2 > 0 and penalty.weights is None and not intercept
    if kind in ("saga", "sag", "svrg", "accelerated sdca") and loss not in BOUNDED:
        return False
    if kind in ("fista", "lbfgs") and loss not in SMOOTH:
        return False
    if kind == "sag":
        return penalty.l1 == 0 and penalty.lower is None
    return kind != "accelerated sdca" or strong


def solved(problem, method, tol=1e-8, **options):
    return quietly(problem, method=method, tol=tol, max_epochs=400_000, max_seconds=300, **options)


@cache
def optimum(loss, penalty, intercept):
    problem = problem_of(loss, penalty, intercept=intercept)
    r = quietly(problem, tol=1e-13, max_epochs=100_000)
    assert r.relative_gap <= 1e-11
    return r.primal


# The answer


@pytest.mark.parametrize(("l1", "l2"), [(0.02, 0.05), (0.0, 0.05), (0.05, 0.0)])
@pytest.mark.parametrize("name", METHODS)
def test_planted_answer(name, l1, l2):
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
def test_centred_sparse_data(method):
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


# The rates of the theorems, from the core's points


def distance(problem, best, at, weights):
    far_x, far_y = weights
    w = N * problem.weights
    return far_x * np.sum((at[0] - best[0]) ** 2) + np.sum(far_y * w * (at[1] - best[1]) ** 2)


def mean_distances(method, problem, best, weights, times, runs):
    total = np.zeros(len(times))
    for seed in range(runs):
        core, now = begin(method, problem, seed), 0
        for k, t in enumerate(times):
            core.lead(t - now)
            now = t
            total[k] += distance(problem, best, core.point(), weights)
    return total / runs


@cache
def rate_case(loss):
    problem = problem_of(loss, ElasticNet(l1=0.02, l2=0.1), "sparse")
    r = solved(problem, CoordinateDescent(side="dual"), tol=1e-15)
    y = problem.loss.derivative(parts(problem)[0] @ r.x, problem.targets)
    return problem, (r.x, y), 1 / problem.loss.smoothness


@pytest.mark.parametrize("m", [1, 4, N])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_1_of_spdc(loss, m):
    problem, best, gamma = rate_case(loss)
    tau, sigma, theta = reference.spdc_steps(norms_of(problem), N, 0.1, gamma, m)
    far_x, times = 1 / (2 * tau) + 0.1, [int(k / (1 - theta)) for k in (1, 4, 10)]
    start = distance(problem, best, (np.zeros(D), np.zeros(N)), (far_x, (1 / (2 * sigma) + gamma) / m))
    weights = far_x, (1 / (4 * sigma) + gamma) / m
    got = mean_distances(SPDC(batch=m), problem, best, weights, times, 60 if m < N else 1)
    assert (got <= 1.05 * theta ** np.array(times) * start).all()


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_2_of_spdc(loss):
    """With gamma/(p_i n) for y on both sides, as its proof has it."""
    problem, best, gamma = rate_case(loss)
    norms = norms_of(problem)
    tau, sigma, theta = reference.spdc_steps(norms, N, 0.1, gamma, weighted=True)
    far_x, far_y = 1 / (2 * tau) + 0.1, gamma / (reference.spdc_probabilities(norms) * N)
    times = [int(k / (1 - theta)) for k in (1, 4, 10)]
    start = distance(problem, best, (np.zeros(D), np.zeros(N)), (far_x, 1 / (2 * sigma) + far_y))
    weights = far_x, 7 / (16 * sigma) + far_y
    got = mean_distances(SPDC(sampling="norms"), problem, best, weights, times, 60)
    assert (got <= 1.05 * theta ** np.array(times) * start).all()


@pytest.mark.parametrize(("m", "q"), [(1, 1), (1, D), (3, 2), (N, 1)])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_1_of_dspdc(loss, m, q):
    problem, best, gamma = rate_case(loss)
    scale = safe_scale(problem, m, q)
    tau, sigma, theta = reference.dspdc_steps(scale, N, D, m, q, 0.1, gamma)
    far_x, rate = D / (2 * q * tau) + D * 0.1 / q, theta * q / D
    times = [int(k / (1 - rate)) for k in (1, 4, 10)]
    start = distance(problem, best, (np.zeros(D), np.zeros(N)), (far_x, N / (2 * m * sigma) + gamma / m))
    weights = far_x, N / (4 * m * sigma) + gamma / m
    method = DSPDC(rows=m, columns=q, scale="safe", aim="point")
    got = mean_distances(method, problem, best, weights, times, 30)
    assert (got <= 1.05 * rate ** np.array(times) * start).all()


@pytest.mark.parametrize("size", [0.05, 1.0])
def test_theorem_of_dgpd_mended(size):
    """By rho^2 gamma/(2 n q), at each step: see reference/dgpd.py. The core's q is safe, and at most twice what is safe
    when all features are misplaced."""
    A, b, s, loss, net = parts(problem_of("squared", ElasticNet(l1=0.02, l2=0.1)))
    problem = sw.Problem(size * A, b, "squared", ElasticNet(l1=0.02, l2=0.1), sample_weight=s)
    method = DGPD(active_sets=False, adapt=False, perturb=0.0)
    top, data = solved(problem, "auto", tol=1e-15).primal, parts(problem)
    q = 2 * D * safe_weight(method._conditioning(problem))
    core, y, found = begin(method, problem), np.zeros(N), []
    for _ in range(400):
        core.lead(1)
        x, after = core.point()
        saddle = net.value(x).sum() + s @ (y * (data[0] @ x) - loss.conjugate(y, b))
        now = dual_objective(*data, y)
        found.append(saddle - now + top - now)
        y = after
    a = (q / (q + 1)) ** 2 / (2 * N * q)
    assert all(after <= before / (1 + a) + 1e-12 for before, after in pairwise(found))
    assert found[-1] < 0.9 * found[0]


def test_doubly_greedy_adapts_to_advantage():
    problem = problem_of("squared", ElasticNet(l1=0.02, l2=0.1), "sparse", n=60, d=40)
    epochs = [solved(problem, DGPD(active_sets=False, adapt=adapt)).epochs for adapt in (True, False)]
    assert epochs[0] < epochs[1] / 2


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


# Who may stop them


LONG = {name: METHODS[name] for name in METHODS if name not in ("dspdc, point", "dgpd, few", "dgpd, several")}
LONG["spdc, batches"] = SPDC(batch=50, n_threads=2)


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c(name):
    A, b = hard(600, 300)
    problem = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9))
    stop = interrupted(problem, None, method=LONG[name])
    assert isinstance(stop, sw.Interrupted)
    assert stop.result.status is sw.Status.INTERRUPTED
    honest(stop.result)


@pytest.mark.parametrize("name", LONG)
def test_clock_and_callbacks(name):
    A, b = hard(200, 100)
    problem, options = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9)), {"method": LONG[name], "tol": 0.0}
    r = quietly(problem, max_epochs=10**9, max_seconds=0.15, **options)
    assert r.status is sw.Status.MAX_SECONDS
    told = []
    r = quietly(problem, max_epochs=6, check_every=2, callback=told.append, **options)
    assert [p.epoch for p in told] == [0, 2, 4, 6]
    for field in ("primal", "dual", "gap", "moves", "entries"):
        assert [getattr(p, field) for p in told] == r.history[field].tolist()
    assert r.status is sw.Status.MAX_EPOCHS and r.epochs == 6
    r = sw.solve(problem, callback=lambda p: p.epoch >= 3, **options)
    assert r.status is sw.Status.STOPPED and r.epochs >= 3
    honest(r)

    def broken(progress):
        if progress.epoch >= 2:
            raise LookupError("odd")

    with pytest.raises(LookupError, match="odd"):
        sw.solve(problem, callback=broken, **options)


@pytest.mark.parametrize("name", LONG)
def test_same_seed_same_result(name):
    problem = problem_of("logistic", "l2", "sparse", n=60, d=40)
    runs = [quietly(problem, method=LONG[name], max_epochs=7, tol=0.0, seed=seed) for seed in (3, 3)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes() and runs[0].y.tobytes() == runs[1].y.tobytes()
    assert runs[0].history["entries"].tolist() == runs[1].history["entries"].tolist()


# The thread of L-BFGS


def settled_threads(before):
    """Threads beyond those of before, once those that end have ended; without the help of the garbage collector."""
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=300)
    return set(threading.enumerate()) - before


@pytest.fixture
def no_threads_left():
    before = set(threading.enumerate())
    gc.collect()
    gc.disable()
    yield lambda: settled_threads(before) == set()
    gc.enable()
    gc.collect()
    for thread in settled_threads(before):  # not to disturb the next test
        assert thread.daemon


def test_lbfgs_leaves_no_thread(no_threads_left):
    A, b = hard(200, 100)
    problem = sw.Problem(A, b, penalty=ElasticNet(l2=1e-9))
    for options in ({"l2": 0.1}, {"l1": 0.1, "loss": "logistic"}):
        assert sw.solve(A, np.sign(b), method="lbfgs", **options).status is sw.Status.CONVERGED
        assert no_threads_left()
    quietly(problem, method="lbfgs", tol=0.0, max_epochs=5)
    assert no_threads_left()
    quietly(problem, method="lbfgs", tol=0.0, max_seconds=0.1, max_epochs=10**9)
    assert no_threads_left()
    sw.solve(problem, method="lbfgs", tol=0.0, callback=lambda p: p.epoch >= 3)
    assert no_threads_left()
    threads = threading.active_count()
    core = begin(LBFGS(), problem)
    core.lead(3)
    assert threading.active_count() == threads + 1
    del core
    assert no_threads_left()


def test_lbfgs_leaves_no_thread_after_an_error(no_threads_left):
    A, b = hard(200, 100)
    with contextlib.suppress(ZeroDivisionError):
        sw.solve(A, b, l2=1e-9, method="lbfgs", tol=0.0, callback=lambda p: p.epoch >= 3 and 1 / 0)
    assert no_threads_left()


def test_lbfgs_leaves_no_thread_after_ctrl_c_while_scipy_works(no_threads_left, monkeypatch):
    """The signal may come while the solve waits for SciPy: then advance() raises."""
    advance = sw.methods.full_gradient._Quasi.advance

    def pressed(self):
        if self.thread is not None:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(sw.methods.full_gradient._Quasi, "advance", pressed)
    A, b = hard(200, 100)
    with contextlib.suppress(sw.Interrupted):
        quietly(A, b, l2=1e-9, method="lbfgs", tol=0.0)
    gc.collect()
    assert no_threads_left()


def test_an_error_within_lbfgs_reaches_the_caller(no_threads_left, monkeypatch):
    calls = []
    inner = sw.methods.full_gradient._core.loss_and_slopes

    def broken(*args):
        calls.append(1)
        if len(calls) > 4:
            raise FloatingPointError("odd")
        return inner(*args)

    class Core:
        in_python, loss_and_slopes = staticmethod(sw.methods.full_gradient._core.in_python), staticmethod(broken)

    A, b = hard(200, 100)
    monkeypatch.setattr(sw.methods.full_gradient, "_core", Core)
    try:
        sw.solve(A, b, l2=1e-9, method="lbfgs", tol=0.0)
    except FloatingPointError as error:
        assert str(error) == "odd"
    assert len(calls) > 4 and no_threads_left()
