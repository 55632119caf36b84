"""The compiled saddle methods move as their slow twins in NumPy do, and draw as they say."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import southwell as sw
from saddles import (
    BOUNDED,
    FORMS,
    LOSSES,
    STRONG,
    D,
    N,
    begin,
    close,
    cut,
    factors,
    norms_of,
    parts,
    penalties,
    problem_of,
)
from southwell import _core, reference
from southwell.methods import DGPD, DSPDC, FISTA, SAG, SAGA, SPDC, SVRG
from southwell.methods.dspdc import safe_scale
from southwell.methods.spdc import spdc_steps
from southwell.penalties import ElasticNet
from twins import chance

TIMES = (1, 2, 3, 5, 8, 20, 50)
ALL = list(penalties())


def forms(loss):
    """All of them for two losses; for the others, which share their code, one."""
    return FORMS if loss in ("squared", "logistic") else ("sparse",)


def somewhere(problem, seed=1):
    """A point with zeros and, for an intercept, its own number; and the dual point that methods begin with there."""
    A, b, _, loss, net = parts(problem)
    rng = np.random.default_rng(seed)
    x = np.clip(np.where(rng.random(net.l1.size) < 0.3, 0.0, rng.normal(size=net.l1.size)), net.lo, net.hi)
    return {"x": x, "y": loss.derivative(A @ x, b)}


def as_the_twin(method, problem, twin, start=None, times=TIMES, dual=True):
    """For each of ``times``: the method led so far without a stop stands where ``twin(led)`` does.

    An intercept is shown where its own problem would put it, so features are compared."""
    led = None
    for t in times[::-1]:
        core = begin(method, problem, **({"x": start["x"]} if start else {}))
        moves = core.lead(t)
        assert led is None or led[: len(moves)] == moves
        led = moves if led is None else led
        want, got = twin(moves), core.point()
        close(got[0][: problem.n_features], want[0][: problem.n_features])
        if dual:
            close(got[1], want[1])


# SPDC


def spdc_twin(method, problem, start=None):
    A, b, s, loss, net = parts(problem)
    at = method._conditioning(problem)
    firm = net.l2.min() + at.dx, 1 / loss.smoothness + at.dy
    weighted = method.sampling == "norms"
    steps = reference.spdc_steps(norms_of(problem), s.size, *firm, method.batch, weighted)
    options = {"perturb": (at.dx, at.dy), **(start or {})}
    if weighted:
        options["probabilities"] = reference.spdc_probabilities(norms_of(problem))

    def twin(led):
        return reference.spdc(A, b, s, loss, net, np.reshape(led, (-1, method.batch)), steps, **options)

    return twin


def spdc_as_the_twin(method, problem, start=None, times=TIMES):
    as_the_twin(method, problem, spdc_twin(method, problem, start), start, times)


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("loss", LOSSES)
def test_spdc(loss, penalty):
    """Where there is no strong convexity, around 0: while it is led, centres stay."""
    for form in forms(loss):
        spdc_as_the_twin(SPDC(), problem_of(loss, penalty, form))


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_spdc_by_norms(loss, penalty):
    for form in ("dense", "sparse"):
        spdc_as_the_twin(SPDC(sampling="norms"), problem_of(loss, penalty, form))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [4, N])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "huber"])
def test_spdc_in_batches(loss, batch, threads):
    for penalty in ALL:
        for form in ("dense", "sparse"):
            spdc_as_the_twin(SPDC(batch=batch, n_threads=threads), problem_of(loss, penalty, form), times=(1, 3, 50))


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SPDC(sampling="norms")])
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_spdc_after_each_of_fifty_steps(loss, method):
    problem = problem_of(loss, "box", "sparse")
    spdc_as_the_twin(method, problem, times=range(1, 51))
    core, twin, led = begin(method, problem), spdc_twin(method, problem), []
    for _ in range(50):  # one and the same, looked at after each
        led += core.lead(1)
        for got, want in zip(core.point(), twin(led), strict=True):
            close(got, want)


@pytest.mark.parametrize("perturb", [0.3, (0.2, 0.5), (0.4, 0.0), (0.0, 0.4)])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("loss", ["squared", "hinge", "poisson"])
def test_spdc_perturbed(loss, batch, perturb):
    if loss != "squared" and isinstance(perturb, tuple):
        perturb = (perturb[0], 0.5)  # they need it
    for penalty in ("elastic net", "box"):
        method = SPDC(batch=batch, perturb=perturb, recentre=False)
        spdc_as_the_twin(method, problem_of(loss, penalty, "sparse"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_spdc_with_an_intercept(loss, batch, form):
    for penalty in ("l2", "box", "partly free"):
        spdc_as_the_twin(SPDC(batch=batch), problem_of(loss, penalty, form, intercept=True))


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SPDC(sampling="norms")])
def test_spdc_from_elsewhere(method):
    for penalty in ALL:
        for intercept in (False, True):
            problem = problem_of("smooth_hinge", penalty, "sparse", intercept=intercept)
            spdc_as_the_twin(method, problem, somewhere(problem))


def test_spdc_with_steps_by_hand():
    problem, steps = problem_of("logistic", "box"), (0.3, 0.7, 0.4)
    method = SPDC(tau=0.3, sigma=0.7, theta=0.4)
    as_the_twin(method, problem, lambda led: reference.spdc(*parts(problem), np.reshape(led, (-1, 1)), steps))


def driven(method, problem, epochs, seed=0):
    """The compiled algorithm after so many epochs, with certificates before and after alone."""
    core = begin(method, problem, seed)
    _core.drive(core, 0.0, epochs, np.inf, 10**6, None, False)
    return core


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_centres_follow_after_their_epochs(loss, intercept):
    """Without extrapolation the twin may stop and go on, so its centres can be moved."""
    problem, steps = problem_of(loss, "l1", "sparse", intercept=intercept), (0.2, 0.7, 0.0)
    method = SPDC(tau=0.2, sigma=0.7, theta=0.0)
    at = method._conditioning(problem)
    every = int(np.ceil(2 * spdc_steps(at, 1, False)[1]))
    assert 1 < every < 50
    epochs = 2 * every + 1
    rows = begin(method, problem).draw(N * epochs)
    x, y = centre = np.zeros(D + intercept), np.zeros(N)
    for k in range(0, len(rows), N * every):
        some = np.reshape(rows[k : k + N * every], (-1, 1))
        options = {"x": x, "y": y, "perturb": (at.dx, at.dy), "centre": centre}
        x, y = centre = reference.spdc(*parts(problem), some, steps, **options)
    got = driven(method, problem, epochs).point()
    close(got[0][:D], x[:D])
    close(got[1], y)
    if loss == "hinge":
        return
    stayed = driven(SPDC(tau=0.2, sigma=0.7, theta=0.0, recentre=False), problem, epochs).point()
    assert np.abs(stayed[0][:D] - x[:D]).max() > 1e-6


# SAGA, SAG, SVRG


def incremental_twin(method, problem, start=None, stage=None):
    A, b, s, loss, net = parts(problem)
    part = {"saga": 1 / 3, "sag": 1.0, "svrg": 1 / 4}[method.name]
    step = part / (norms_of(problem).max() ** 2 * loss.smoothness) if method.step is None else method.step
    more = [stage or 10**9] if method.name == "svrg" else []
    x = None if start is None else start["x"]
    return lambda led: getattr(reference, method.name)(A, b, s, loss, net, led, step, *more, x=x)


def incremental_as_the_twin(method, problem, start=None, times=TIMES):
    """Their y are the derivatives at x; their tables stay inside."""
    as_the_twin(method, problem, incremental_twin(method, problem, start), start, times, dual=False)


FREE = {"none": ElasticNet(), "box alone": ElasticNet(lower=-0.1, upper=0.2), "tiny": ElasticNet(l1=0.01, l2=1e-8)}


@pytest.mark.parametrize("method", [SAGA(), SVRG()])
@pytest.mark.parametrize("loss", BOUNDED)
def test_incremental_gradients(loss, method):
    for penalty in [*ALL, *FREE.values()]:
        for form in forms(loss):
            incremental_as_the_twin(method, problem_of(loss, penalty, form))


@pytest.mark.parametrize("loss", BOUNDED)
def test_sag(loss):
    for penalty in ("l2", ElasticNet(), ElasticNet(l2=0.1, weights=np.arange(D) % 3)):
        for form in forms(loss):
            incremental_as_the_twin(SAG(), problem_of(loss, penalty, form))


def well_shifted(problem, start):
    """The start with its best intercept, where the table of gradients begins."""
    A, b, s, loss, _ = parts(problem)
    if problem.intercept:
        start["x"][-1] += reference.best_shift(b, s, loss, A @ start["x"])
    return start


@pytest.mark.parametrize("method", [SAGA(), SVRG(), SAG(), SAGA(step=0.05)])
def test_incremental_gradients_with_an_intercept_and_from_elsewhere(method):
    for form in FORMS:
        for penalty in ("l2", *(("box", "partly free", "l1") if method.name != "sag" else ())):
            for intercept in (False, True):
                problem = problem_of("logistic", penalty, form, intercept=intercept)
                for start in ({"x": np.zeros(D + intercept)}, somewhere(problem)):
                    incremental_as_the_twin(method, problem, well_shifted(problem, start), times=(1, 50))


@pytest.mark.parametrize("method", [SAGA(), SAG(), SVRG()])
def test_incremental_gradients_after_each_of_fifty_steps(method):
    problem = problem_of("squared", "l2" if method.name == "sag" else "box", "sparse")
    incremental_as_the_twin(method, problem, times=range(1, 51))


@pytest.mark.parametrize("stage", [1, 7, 25])
def test_stages_of_svrg(stage):
    """A certificate is a snapshot; without one, so is every snapshot_every-th epoch."""
    problem = problem_of("logistic", "elastic net", "sparse")
    core, led = begin(SVRG(), problem), []
    for _ in range(4):
        led += core.lead(stage)
        core.settle()
    close(core.point()[0], incremental_twin(SVRG(), problem, stage=stage)(led)[0])
    for every in (1, 3):
        method = SVRG(snapshot_every=every)
        led = begin(method, problem).draw(7 * N)
        close(driven(method, problem, 7).point()[0], incremental_twin(method, problem, stage=every * N)(led)[0])


@pytest.mark.parametrize("method", [SAGA(), SAG()])
def test_epochs_are_steps_on_as_many_rows(method):
    problem = problem_of("logistic", "l2", "sparse")
    led = begin(method, problem).draw(7 * N)
    close(driven(method, problem, 7).point()[0], incremental_twin(method, problem)(led)[0])


# DSPDC


BLOCKS = [(1, 1), (1, D), (N, 1), (3, 2), (5, 3), (N, D)]


def dspdc_twin(method, problem, start=None):
    A, b, s, loss, net = parts(problem)
    at, (n, d), (m, q) = method._conditioning(problem), A.shape, (method.rows, method.columns)
    firm = net.l2.min() + at.dx, 1 / loss.smoothness + at.dy
    steps = reference.dspdc_steps(method.scale, n, d, m, q, *firm, gap=method.aim == "gap")
    options = {"perturb": (at.dx, at.dy), **(start or {})}

    def twin(led):
        both = np.reshape(led, (-1, m + q))
        return reference.dspdc(A, b, s, loss, net, list(zip(both[:, :m], both[:, m:], strict=True)), steps, **options)

    return twin


def dspdc_as_the_twin(method, problem, start=None, times=TIMES):
    as_the_twin(method, problem, dspdc_twin(method, problem, start), start, times)


def dspdc(m=3, q=2, **options):
    return DSPDC(rows=m, columns=q, scale=2.0, **options)


def kept(m, q, problem):
    return (
        dspdc(m, q).prepare(problem, sw.methods.Start(np.zeros(problem.n_features + problem.intercept)), 0).description
    )


def test_blocks_of_dspdc_cover_all_ways_of_keeping():
    problem = problem_of()
    ways = [kept(m, q, problem) for m, q in BLOCKS]
    assert sum("A'y kept" in way for way in ways) == sum("A x kept" in way for way in ways) == 3
    factorised = sw.Problem(sw.Factorised(np.eye(3), np.eye(3)), [1.0, 2.0, 3.0], penalty=ElasticNet(l2=0.1))
    assert "between the factors kept" in kept(1, 1, factorised)


@pytest.mark.parametrize(("m", "q"), BLOCKS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_dspdc(loss, m, q):
    for penalty in ALL:
        for form in ("dense", "sparse"):
            dspdc_as_the_twin(dspdc(m, q), problem_of(loss, penalty, form), times=(1, 2, 3, 8, 50))


@pytest.mark.parametrize("loss", LOSSES)
def test_dspdc_with_every_loss(loss):
    for m, q in ((3, 2), (2, 2)):
        for form in FORMS:
            dspdc_as_the_twin(dspdc(m, q, aim="point"), problem_of(loss, "elastic net", form))


@pytest.mark.parametrize(("m", "q"), [(3, 2), (2, 2)])
@pytest.mark.parametrize("form", FORMS)
def test_dspdc_with_an_intercept_and_from_elsewhere(form, m, q):
    for penalty in ("l2", "box", "partly free"):
        for intercept in (False, True):
            problem = problem_of("smooth_hinge", penalty, form, intercept=intercept)
            dspdc_as_the_twin(dspdc(m, q), problem, times=(1, 2, 50))
            dspdc_as_the_twin(dspdc(m, q), problem, somewhere(problem), times=(1, 2, 50))


@pytest.mark.parametrize(("m", "q"), [(3, 2), (2, 2)])
def test_dspdc_after_each_of_fifty_steps(m, q):
    for perturb in (0.0, (0.3, 0.2)):
        dspdc_as_the_twin(dspdc(m, q, perturb=perturb), problem_of("squared", "box", "sparse"), times=range(1, 51))


def centred_sparse():
    A = problem_of().data.rows
    return lambda _: sw.Centred(sp.csr_array(A))


@pytest.mark.parametrize(("m", "q"), [(3, 2), (2, 2)])
def test_dspdc_on_centred_sparse_data(m, q):
    dspdc_as_the_twin(dspdc(m, q), problem_of("squared", "elastic net", centred_sparse()))


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SAGA(), SAG(), dspdc(3, 2), dspdc(2, 2)])
def test_certificates_change_nothing(method):
    problem = problem_of("logistic", "l2", "sparse")
    one, other = begin(method, problem), begin(method, problem)
    for k in (1, 10, 200):
        assert one.lead(k) == other.lead(k)
        one.settle()
        close(one.point()[0], other.point()[0])


# A = U V


FACTOR_FORMS = {
    "dense": (np.asarray, np.asarray),
    "sparse": (sp.csr_array, sp.csc_array),
    "the wrong way round": (sp.csc_array, sp.csr_array),
    "dense times sparse": (np.asfortranarray, sp.csr_array),
    "sparse times dense": (sp.csr_array, np.asarray),
    "float32": (lambda U: U.astype(np.float32), lambda V: V.astype(np.float32)),
    "mixed": (lambda U: sp.csr_array(U.astype(np.float32)), np.asarray),
}


def factorised(loss, penalty, form, intercept=False):
    plain = problem_of(loss, penalty)
    U, V = (to(part) for to, part in zip(FACTOR_FORMS[form], factors(), strict=True))
    return sw.Problem(
        sw.Factorised(U, V), plain.targets, loss, plain.penalty, intercept=intercept, sample_weight=plain.weights
    )


@pytest.mark.parametrize("form", FACTOR_FORMS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_dspdc_between_factors(loss, form):
    for m, q in BLOCKS:
        for penalty in ("elastic net", "box", "l1"):
            dspdc_as_the_twin(dspdc(m, q), factorised(loss, penalty, form), times=(1, 2, 3, 50))


@pytest.mark.parametrize("form", FACTOR_FORMS)
def test_dspdc_between_factors_with_an_intercept_and_from_elsewhere(form):
    for m, q in ((3, 2), (2, 2)):
        for intercept in (False, True):
            problem = factorised("smooth_hinge", "box", form, intercept)
            dspdc_as_the_twin(dspdc(m, q), problem)
            dspdc_as_the_twin(dspdc(m, q), problem, somewhere(problem))


# The bound that DSPDC's steps are made of


@pytest.mark.parametrize("form", ["dense", "sparse", "centred sparse"])
@pytest.mark.parametrize("intercept", [False, True])
def test_safe_scale_is_a_bound(form, intercept):
    A = sp.csr_array(problem_of(n=6, d=4).data.rows)
    form = {"dense": "dense", "sparse": "sparse", "centred sparse": lambda _: sw.Centred(A)}[form]
    problem = problem_of(form=form, intercept=intercept, n=6, d=4)
    A, _, s, _, _ = parts(problem)
    A = np.sqrt(6 * s)[:, None] * A
    for m in range(1, 7):
        for q in range(1, A.shape[1] + 1):
            blocks = [A[np.ix_(I, J)] for I in combinations(range(6), m) for J in combinations(range(A.shape[1]), q)]
            top = np.linalg.norm(blocks, ord=2, axis=(1, 2)).max() ** 2
            bound = safe_scale(problem, m, q)
            assert top <= bound * (1 + 1e-12)
            assert bound <= (A**2).sum() * (1 if form != "centred" else 4) * 4
            if m == q == 1 and not problem.data.sparse:
                assert bound == pytest.approx(top)


def test_usual_scale():
    problem = problem_of()
    for scale in ("usual", "auto"):
        if scale == "auto":
            problem = factorised("squared", "l2", "dense")
        want = 3 * 2 / D * norms_of(problem).max() ** 2
        got = begin(DSPDC(rows=3, columns=2, scale=scale), problem)
        same = begin(DSPDC(rows=3, columns=2, scale=want), problem)
        assert got.lead(20) == same.lead(20)
        close(got.point()[0], same.point()[0], 1e-12)


# Doubly greedy


def alike(got, want, scores):
    """Are these the picks, but for scores that rounding cannot tell apart?"""
    top = np.zeros((2, max(len(got), len(want))))
    top[0, : len(got)], top[1, : len(want)] = scores[got], scores[want]
    return len(set(got)) == len(got) and np.abs(top[0] - top[1]).max(initial=0.0) <= 1e-13


def greedy_as_the_twin(problem, picks, steps=50, perturb=0.0, other=None, start=None):
    """Whom it picks and where that leads, one iteration after the other."""
    columns, rows = picks
    method = DGPD(active_sets=False, columns=columns, rows=rows, step=4.0, perturb=perturb)
    core = begin(method, problem, **({"x": start["x"]} if start else {}))
    given = other or parts(problem)
    A, b, s, loss, net = given
    x, y = (np.zeros(A.shape[1]), np.zeros(N)) if start is None else (start["x"], start["y"])
    for _ in range(steps):
        want_x, want_y, [(J, I)] = reference.dgpd(*given, 1, picks=picks, q=N / 4.0, x=x, y=y)
        [(got_J, got_I)] = cut(core.lead(1), 2)
        if (got_J, got_I) != (J, I):  # then from its picks
            z = A.T @ (s * y)
            assert alike(got_J, J, net.value(x) + net.conjugate(-z) + z * x)
            want_x, want_y = x.copy(), y.copy()
            want_x[got_J] = net.conjugate_gradient(-z)[got_J]
            after = loss.maximise(A @ want_x, y, N / 4.0, b)
            assert len(got_I) == rows or np.abs(np.delete(after - y, got_I)).max(initial=0.0) <= 1e-13
            best = np.argsort(-np.sqrt(N * s) * np.abs(after - y), kind="stable")[: len(got_I)].tolist()
            assert alike(got_I, best, np.sqrt(N * s) * np.abs(after - y))
            want_y[got_I] = after[got_I]
        x, y = want_x, want_y
        got = core.point()
        close(got[0][: problem.n_features], x[: problem.n_features])
        close(got[1], y)


@pytest.mark.parametrize("picks", [(1, 1), (3, 2), (D, N)])
@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", BOUNDED)
def test_doubly_greedy(loss, penalty, picks):
    """From elsewhere, where no two samples score alike."""
    for form in forms(loss):
        problem = problem_of(loss, penalty, form)
        greedy_as_the_twin(problem, picks, 50 if form == "sparse" else 20, start=somewhere(problem))


@pytest.mark.parametrize("picks", [(1, 1), (3, 2)])
def test_doubly_greedy_from_nothing(picks):
    for form in FORMS:
        greedy_as_the_twin(problem_of("squared", "elastic net", form), picks)
        greedy_as_the_twin(problem_of("squared", "elastic net", form, weighted=False), picks)


@pytest.mark.parametrize("picks", [(1, 1), (3, 2)])
def test_doubly_greedy_perturbed(picks):
    """The hinge with a square around 0 at its conjugate is the smooth hinge; a square around 0 adds to l2."""
    problem = problem_of("hinge", ElasticNet(l1=0.02, l2=0.1), "sparse")
    more = parts(problem_of(sw.losses.SmoothHinge(0.7), ElasticNet(l1=0.02, l2=0.4), "sparse"))
    start = somewhere(problem_of(sw.losses.SmoothHinge(0.7), "elastic net", "sparse"))
    start["y"] = problem.loss.derivative(more[0] @ start["x"], more[1])
    greedy_as_the_twin(problem, picks, perturb=(0.3, 0.7), other=more, start=start)


@pytest.mark.parametrize("form", FORMS)
def test_doubly_greedy_with_an_intercept(form):
    """dx stands in for its curvature; the references have l2 on it."""
    problem = problem_of("squared", ElasticNet(l1=0.02, l2=0.1), form, intercept=True)
    A, b, s, loss, net = parts(problem)
    net = reference.ElasticNet(net.l1, net.l2 + 0.3, net.lo, net.hi)
    for picks in ((1, 1), (3, 2)):
        greedy_as_the_twin(problem, picks, perturb=(0.3, 0.0), other=(A, b, s, loss, net))


def test_doubly_greedy_passes_over_samples_without_weight_and_empty_fibers():
    plain = problem_of("squared")
    A, s = plain.data.rows.copy(), plain.weights.copy()
    A[:, [2, 9]], A[[3, 8]], s[[0, 8, 11]] = 0.0, 0.0, 0.0
    for form in ("dense", "sparse"):
        problem = sw.Problem(FORMS[form](A), plain.targets, "squared", plain.penalty, sample_weight=s)
        for picks in ((1, 1), (3, 2), (D, N)):
            greedy_as_the_twin(problem, picks)


# Active sets


def active_as_the_twin(problem, epochs=20, tol=1e-9, perturb=0.0, recentre_every=0, **options):
    method = DGPD(order="together", perturb=perturb, recentre=recentre_every > 0, **options)
    start = somewhere(problem)
    want = reference.active_sets(
        *parts(problem), epochs, **start, **options,
        perturb=perturb if isinstance(perturb, tuple) else (perturb, perturb), recentre_every=recentre_every,
    )  # fmt: skip
    core = begin(method, problem, x=start["x"])
    assert cut(core.lead(epochs), 2) == want[2]
    got = core.point()
    close(got[0][: problem.n_features], want[0][: problem.n_features], tol)
    close(got[1], want[1], tol)
    return want


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", BOUNDED)
def test_active_sets_together(loss, penalty):
    """Steps are lengthened until they are too long, which lets rounding grow."""
    for form in forms(loss):
        for enter, passes, tol in ((2, 1, 1e-9), (64, 1, 1e-9), (3, 5, 1e-6)):
            active_as_the_twin(problem_of(loss, penalty, form), tol=tol, enter=enter, passes=passes)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_come_and_go(form):
    """An l1 that empties most columns, and margins that leave samples at rest."""
    problem = problem_of("smooth_hinge", ElasticNet(l1=0.02, l2=0.02), form, n=60, d=90, density=0.3, seed=4)
    *_, active = active_as_the_twin(problem, epochs=30, tol=1e-7, enter=2, passes=2)
    for side in (0, 1):
        sizes = np.array([len(pair[side]) for pair in active])
        assert (np.diff(sizes) < 0).any() and (np.diff(sizes) > 0).any()
    left = [set(one[0]) - set(two[0]) for one, two in pairwise(active)]
    assert any(gone & set(later[0]) for k, gone in enumerate(left) for later in active[k + 2 :])  # and come back


@pytest.mark.parametrize("loss", ["squared", "hinge", "poisson"])
def test_active_sets_perturbed(loss):
    """Around 0, and with centres that follow after every second epoch."""
    for penalty in ("elastic net", "l1", "partly free"):
        problem = problem_of(loss, penalty, "sparse")
        for every in (0, 2):
            active_as_the_twin(problem, enter=3, passes=2, perturb=(0.3, 0.7), recentre_every=every)


@pytest.mark.parametrize("form", FORMS)
def test_active_sets_with_an_intercept(form):
    for every in (0, 2):
        problem = problem_of("squared", "box", form, intercept=True)
        active_as_the_twin(problem, enter=3, passes=2, perturb=(0.3, 0.0), recentre_every=every)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_in_turn_follow_some_order(loss, form):
    """One pass over five samples at a time: the core stands where one of the 120 orders leads."""
    problem = problem_of(loss, "elastic net", form, n=5, d=8)
    start = somewhere(problem)
    core = begin(DGPD(passes=1, enter=3, perturb=0.0), problem, x=start["x"])
    at = reference.ActiveSets(*parts(problem), **start, enter=3)
    orders = set()
    for _ in range(8):
        led = cut(core.lead(1), 2)
        got = core.point()
        at.search()
        before, found = (list(at.columns), list(at.rows), at.x.copy(), at.y.copy()), []
        for order in permutations(before[1]):
            at.columns, at.rows, at.x, at.y = list(before[0]), list(before[1]), before[2].copy(), before[3].copy()
            at.pass_in_turn(order)
            at.release()
            if np.abs(at.x - got[0]).max() + np.abs(at.y - got[1]).max() <= 1e-9:
                assert led == [(at.columns, at.rows)]
                found.append((order, at.x, at.y, list(at.columns), list(at.rows)))
        assert found  # perhaps several: samples that do not meet may change places
        order, at.x, at.y, at.columns, at.rows = found[0]
        orders.add(tuple(np.argsort(order)))
    assert len(orders) > 2


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "logistic"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_active_sets_in_turn_raise_the_dual(loss, form):
    """Of the problem restricted to the columns of the epoch; those that left had no part in it. And the gap closes."""
    problem = problem_of(loss, ElasticNet(l1=0.03, l2=0.05), form, n=60, d=40, seed=5)
    core = begin(DGPD(passes=2, enter=4, perturb=0.0), problem)
    at = reference.ActiveSets(*parts(problem), enter=4)
    for _ in range(60):
        at.search()
        before = at.dual()
        columns = list(at.columns)
        [(left_columns, left_rows)] = cut(core.lead(1), 2)
        at.x, at.y = (np.array(part) for part in core.point())
        assert set(left_columns) <= set(columns) and set(left_rows) <= set(at.rows) | set(left_rows)
        assert not at.x[np.setdiff1d(np.arange(40), left_columns)].any()
        assert not at.y[np.setdiff1d(np.arange(60), left_rows)].any()
        assert at.dual() >= before - 1e-13
        at.columns, at.rows = left_columns, left_rows
    assert reference.certificate(*parts(problem), at.x, at.y)[2] <= 1e-9


# FISTA


def fista(problem, iterations, x=None):
    """As its header says: v, a step that the line search accepts, momentum that restarts when it points uphill."""
    A, b, s, loss, net = parts(problem)
    x = np.clip(np.zeros(A.shape[1]), net.lo, net.hi) if x is None else x
    L, t, last = (s @ A**2).max() * (loss.smoothness if np.isfinite(loss.smoothness) else 1.0), 1.0, x

    def f(at):
        return s @ loss.value(A @ at, b)

    for _ in range(iterations):
        ahead = (1 + np.sqrt(1 + 4 * t**2)) / 2
        v = x + (t - 1) / ahead * (x - last)
        slopes = A.T @ (s * loss.derivative(A @ v, b))
        while True:
            after = net.prox(v - slopes / L, 1 / L)
            rise = f(after) - f(v) - slopes @ (after - v)
            if rise <= L / 2 * (after - v) @ (after - v) + 1e-14 * (abs(f(v)) + abs(f(after))):
                break
            L *= 2
        t = 1.0 if (v - after) @ (after - x) > 0 else ahead
        last, x, L = x, after, 0.95 * L
    return x


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("loss", [name for name in LOSSES if sw.losses.get(name).smooth])
def test_fista(loss, penalty):
    for form in forms(loss):
        for intercept in (False, True):
            problem = problem_of(loss, penalty, form, intercept=intercept)
            for start in (None, somewhere(problem)["x"]):
                for t in (1, 2, 3, 15):
                    core = begin(FISTA(), problem, x=start)
                    core.lead(t)
                    close(core.point()[0][:D], fista(problem, t, start)[:D])


def test_fista_between_factors():
    problem = factorised("logistic", "elastic net", "mixed", intercept=True)
    core = begin(FISTA(), problem)
    core.lead(15)
    close(core.point()[0][:D], fista(problem, 15)[:D])


# Lazy steps are eager steps


def thin(n, d, each, seed=0):
    """Rows of few entries: most coordinates wait long for their turn."""
    rng = np.random.default_rng([seed, n, d])
    A = np.zeros((n, d))
    for row in A:
        row[rng.choice(d, each, replace=False)] = rng.normal(size=each)
    return A


LAZY = {
    "tiny l2": ElasticNet(l2=1e-8),
    "tiny l2 and l1": ElasticNet(l1=0.003, l2=1e-8),
    "no l2": ElasticNet(l1=0.003),
    "nothing": ElasticNet(),
    "elastic net": ElasticNet(l1=0.002, l2=0.01),
    "box": ElasticNet(l1=0.001, l2=1e-3, lower=-0.1, upper=0.15),
    "weights": ElasticNet(l1=0.003, l2=0.01, weights=np.arange(300) % 4 / 2),
}


@pytest.mark.parametrize("penalty", LAZY)
@pytest.mark.parametrize("method", [SAGA(), SPDC(), SPDC(batch=4)])
def test_ten_thousand_lazy_steps(method, penalty):
    """The reference moves every coordinate at every step. The dual start pulls many across zero and back."""
    A = thin(40, 300, 3)
    rng = np.random.default_rng(7)
    b = A @ rng.normal(size=300) + rng.normal(size=40)
    problem = sw.Problem(sp.csr_array(A), b, "squared", LAZY[penalty], sample_weight=rng.uniform(0.3, 2.0, 40))
    x = np.clip(
        np.where(rng.random(300) < 0.3, 0.0, rng.normal(size=300)), *(parts(problem)[4].lo, parts(problem)[4].hi)
    )
    start = {"x": x, "y": problem.loss.derivative(A @ x, b)}
    steps = 3000 if method == SPDC(batch=4) else 10_000
    core = begin(method, problem, x=x)
    led = core.lead(steps)
    got = core.point()
    if isinstance(method, SAGA):
        close(got[0], incremental_twin(method, problem, start)(led)[0], 1e-10)
    else:
        for a, b in zip(got, spdc_twin(method, problem, start)(led), strict=True):
            close(a, b, 1e-10)


@given(
    st.floats(-3, 3), st.floats(-0.5, 0.5), st.sampled_from([0.0, 1e-6, 0.05, 0.3]),
    st.sampled_from([0.0, 1e-12, 1e-8, 1e-3, 1.0]), st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([(-np.inf, np.inf), (-0.5, 0.7), (0.0, np.inf), (0.3, 2.0)]), st.floats(1e-3, 3.0),
    st.integers(0, 2**16),
)  # fmt: skip
def test_a_coordinate_that_waits(start, slope, l1, l2, weight, box, step, seed):
    """Column 0 is met by one row of 40, whose derivative is ``slope`` times 40 and changes little: it drifts for long,
    across zero, into bounds, to rest."""
    A = np.zeros((40, 2))
    A[0, 0], A[1:, 1] = 1.0, 0.1
    b = np.append(start - 40 * slope, np.ones(39))
    penalty = ElasticNet(l1, l2, weights=[weight, 1.0], lower=[box[0], -np.inf], upper=[box[1], np.inf])
    problem = sw.Problem(sp.csr_array(A), b, "huber", penalty)
    core = begin(SAGA(step=step), problem, seed, x=np.array([start, 0.0]))
    led = core.lead(300)
    x = np.array([np.clip(start, *box), 0.0])
    close(core.point()[0], reference.saga(*parts(problem), led, step, x=x)[0])


# Threads and seeds


@pytest.mark.parametrize("batch", [2, 5, N])
def test_numbers_do_not_depend_on_threads(batch):
    for form in FORMS:
        for intercept in (False, True):
            problem = problem_of("logistic", "box", form, intercept=intercept)
            runs = [begin(SPDC(batch=batch, n_threads=k), problem, 5) for k in (1, 2, 3)]
            assert runs[0].lead(50) == runs[1].lead(50) == runs[2].lead(50)
            points = [core.point() for core in runs]
            for other in points[1:]:
                assert (other[0] == points[0][0]).all() and (other[1] == points[0][1]).all()


def test_more_threads_than_columns():
    problem = problem_of("squared", "l2", "sparse", d=2)
    runs = [begin(SPDC(batch=8, n_threads=k), problem) for k in (1, 3)]
    assert runs[0].lead(50) == runs[1].lead(50)
    assert (runs[0].point()[0] == runs[1].point()[0]).all()


SEEDED = [
    SPDC(),
    SPDC(batch=4),
    SPDC(sampling="norms"),
    SAGA(),
    SAG(),
    SVRG(),
    DSPDC(rows=3, columns=2),
    DGPD(passes=1),
]


@pytest.mark.parametrize("method", SEEDED, ids=repr)
def test_same_seed_same_numbers(method):
    problem = problem_of("logistic", "l2", "sparse")
    runs = [begin(method, problem, seed, x=somewhere(problem)["x"]) for seed in (3, 3, 4)]
    led = [core.lead(3 if isinstance(method, DGPD) else 40) for core in runs]
    points = [core.point()[0].tobytes() for core in runs]
    assert led[0] == led[1] and points[0] == points[1] != points[2]
    assert isinstance(method, DGPD) or led[0] != led[2]


# Draws


def test_norms_sampling_draws_by_its_probabilities():
    for loss, form in (("squared", "dense"), ("hinge", "sparse")):
        problem = problem_of(loss, "elastic net", form)
        p = reference.spdc_probabilities(norms_of(problem))
        core = begin(SPDC(sampling="norms"), problem)
        assert chance(core.draw(20_000), p) > 1e-4
        assert chance(core.lead(20_000), p) > 1e-4
        assert chance(begin(SPDC(), problem).draw(20_000), p) < 1e-4  # uniform: the test can tell


def test_rows_of_the_others_are_uniform():
    problem = problem_of("squared", "l2")
    for method in (SPDC(), SAGA(), SAG(), SVRG()):
        assert chance(begin(method, problem).lead(20_000), np.full(N, 1 / N)) > 1e-4


@pytest.mark.parametrize("m", [2, 5, N - 1, N])
def test_batches_are_uniform_subsets(m):
    """Each row with probability m/n; every place of a batch, and every pair, alike."""
    drawn = np.reshape(begin(SPDC(batch=m), problem_of("squared", "l2")).draw(4000), (-1, m))
    assert (np.diff(np.sort(drawn, axis=1), axis=1) > 0).all()
    if m == N:
        return
    for place in (0, m - 1):
        assert chance(drawn[:, place], np.full(N, 1 / N)) > 1e-4
    counts = np.bincount(drawn.ravel(), minlength=N)
    far = (counts - 4000 * m / N) ** 2 / (4000 * m / N * (1 - m / N))
    assert far.max() < 20 and 0.3 < far.mean() < 2.5
    ends = drawn[:, 0] * N + drawn[:, 1]
    p = (1.0 - np.eye(N)).ravel() / (N * (N - 1))
    assert chance(ends, p) > 1e-4
    shared = [np.intersect1d(a, b).size for a, b in zip(drawn[:-1:2], drawn[1::2], strict=True)]
    spread = np.sqrt(m * m / N * (1 - m / N) ** 2 * N / (N - 1))  # hypergeometric
    assert abs(np.mean(shared) - m * m / N) < 5 * max(spread, 0.1) / np.sqrt(len(shared))


@pytest.mark.parametrize(("m", "q"), [(1, 1), (3, 2), (N, 1), (2, D)])
def test_blocks_of_dspdc_are_uniform_subsets(m, q):
    drawn = np.reshape(begin(dspdc(m, q), problem_of()).lead(4000), (-1, m + q))
    for part, size in ((drawn[:, :m], N), (drawn[:, m:], D)):
        assert (np.diff(np.sort(part, axis=1), axis=1) > 0).all()
        if part.shape[1] < size:
            assert chance(part[:, 0], np.full(size, 1 / size)) > 1e-4
    if m < N and q < D:  # independent of each other
        both = drawn[:, 0] * D + drawn[:, m]
        assert chance(both, np.full(N * D, 1 / (N * D))) > 1e-4
