"""Every method that moves blocks: it finds the answer, and moves as its slow twin in NumPy does."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from block_data import CLASSES, check, made
from saddles import close
from southwell import ConvergenceWarning, _core, reference
from southwell.methods import DSPDC, SPDC, CoordinateDescent, Start
from southwell.penalties import ElasticNet, Groups, MaxGroups

KINDS = ["squared", "logistic", "poisson", *CLASSES]


# Every method that moves blocks


METHODS = [name for name, known in sw.methods.ALL.items() if known.takes_blocks]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", ["squared", "logistic", *CLASSES])
def test_every_method_of_blocks_finds_the_answer(loss, method):
    A, b = made(loss)
    for penalty in (Groups(0.02, 0.01, 0.05, np.arange(8) // 2), ElasticNet(l2=0.1)):
        want = check(A, b, loss, penalty)
        r = sw.solve(sw.BlockProblem(A, b, loss, penalty), method=method, tol=1e-6, max_epochs=5000)
        assert r.status is sw.Status.CONVERGED
        assert want.dual <= r.primal + 1e-12 and r.dual <= want.primal + 1e-12


@pytest.mark.parametrize("method", [CoordinateDescent(side="dual"), SPDC(), DSPDC()], ids=lambda m: m.name)
def test_softmax_on_the_dual_side_under_a_small_l2(method):
    """Its steps are sharp, q about 1e6: two classes come to an answer, three come nearer with every epoch."""
    A, b = made("softmax")
    problem = sw.BlockProblem(30 * A, b, "softmax", ElasticNet(l2=1e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early, late = (sw.solve(problem, method=method, tol=1e-6, max_epochs=epochs) for epochs in (30, 300))
    assert late.status is sw.Status.MAX_EPOCHS and np.isfinite(late.x).all()
    assert late.dual > early.dual >= 0
    assert late.gap < early.gap < early.scale


def test_softmax_of_two_classes_on_the_dual_side_is_as_fast_as_the_logistic_loss():
    A, b = made("softmax", k=2)
    method = CoordinateDescent("dual", "cyclic", proximal=False)
    wide = sw.solve(30 * A, b, loss="softmax", l2=1e-4, method=method)
    one = sw.solve(30 * A, np.where(b == 1, 1.0, -1.0), loss="logistic", l2=5e-5, method=method)
    assert wide.status is sw.Status.CONVERGED and wide.epochs == one.epochs
    assert wide.dual == pytest.approx(one.dual, rel=1e-9)


def test_nearly_opposite_columns_in_a_group():
    """Where the loss bends most is across the direction in which all coefficients are alike."""
    rng = np.random.default_rng(0)
    u, v = np.linalg.qr(rng.normal(size=(40, 2)))[0].T * np.sqrt(40)
    A = np.stack([u + 0.1 * v, -u + 0.1 * v], axis=1)
    problem = sw.BlockProblem(A, rng.normal(size=(40, 2)) + u[:, None], "squared", Groups(0.01, groups=[0, 0]))
    assert sw.solve(problem, method=CoordinateDescent("primal")).status is sw.Status.CONVERGED


@pytest.mark.parametrize("method", METHODS)
def test_a_start_on_an_empty_column_is_left(method):
    A, b = made()
    A[:, 1] = 0.0
    start = np.zeros((8, 3))
    start[1] = 1.0
    r = sw.solve(A, b, penalty=Groups(0.05), method=method, warm_start=start, max_epochs=5000)
    assert r.status is sw.Status.CONVERGED and np.abs(r.x[1]).max() <= 1e-4


# Against their slow twins


GROUPS = np.array([2, 0, 1, 1, 0, 2, 3, 1])  # they do not lie in a row
TWINS = {
    "groups": Groups(0.02, 0.01, 0.05, GROUPS, "size"),
    "L2,1": Groups(0.02, l2=0.1),
    "sparse groups": Groups(0.02, 0.01, groups=GROUPS),
    "max groups": MaxGroups(0.03, 0.01, 0.05, GROUPS, positive=True),
    "weights": ElasticNet(0.01, 0.1, weights=np.linspace(0.5, 2.0, 8)),
}
STRONG = ["groups", "L2,1", "max groups", "weights"]
FORMS = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "sparse": sp.csr_array,
    "centred": lambda A: sw.Centred(sp.csr_array(np.where(A < 0.5, A + 0.5, 0.0))),
}


def stated(loss, penalty, form="dense", intercept=False):
    A, b = made(loss)
    s = np.random.default_rng(1).uniform(0.3, 2.0, len(A))
    penalty = TWINS[penalty] if isinstance(penalty, str) else penalty
    return sw.BlockProblem(FORMS[form](A), b, loss, penalty, sample_weight=s, intercept=intercept)


def parts(problem):
    """What the twins take, in the core's coordinates: an intercept is a last column of ones, a block of its own."""
    A = problem.data.rows.toarray() if problem.data.sparse else np.array(problem.data.rows, dtype=float)
    A = A + (0.0 if problem.shifts is None else problem.shifts)
    A = np.column_stack([A, np.ones((len(A), int(problem.intercept)))])
    blocks = reference.blocks_of(problem.penalty, problem.n_features)
    if problem.intercept:
        blocks.append(reference.blocks.Block(np.array([problem.n_features])))
    return A, problem.targets, problem.weights, problem.loss, blocks


def begun(method, problem, seed=0, x=None, y=None):
    """The compiled algorithm, settled at x and y."""
    x = np.zeros(problem.inner_size) if x is None else np.ravel(x)
    y = np.zeros(problem.dual_size) if y is None else np.ravel(y)
    core = method.prepare(problem, Start(x, y), seed).algorithm
    core.settle()
    return core


def stands(core, problem, X, Y=None):
    """There, an intercept apart, which is shown where it is best."""
    x, y = core.point()
    size = problem.n_features
    close(np.reshape(x, (-1, problem.width))[:size], X[:size])
    if Y is not None:
        close(np.reshape(y, Y.shape), Y)


def driven(method, problem, epochs, **start):
    core = begun(method, problem, **start)
    _core.drive(core, 0.0, epochs, np.inf, 10**6, 1, 1, None, False)
    return core


def steepness(A, s, loss, block):
    """The core's bound on a block's curvature: the largest eigenvalue by powers and a tenth, or the trace."""
    H = A[:, block.features].T @ (s[:, None] * A[:, block.features])
    v, value = np.sin(1 + 2.39996 * np.arange(len(H))) + 0.1, 0.0
    for _ in range(50 if len(H) > 1 else 0):
        grown = H @ v
        before, value = value, np.linalg.norm(grown) / np.linalg.norm(v)
        v = grown / value
        if abs(value - before) <= 1e-4 * value:
            break
    return loss.smoothness * (min(1.1 * value, np.trace(H)) if len(H) > 1 else np.trace(H))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("penalty", TWINS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "smooth_hinge", *CLASSES])
def test_primal_descent_as_its_twin(loss, penalty, form):
    for intercept in (False, True):
        problem = stated(loss, penalty, form, intercept)
        A, b, s, wide, blocks = parts(problem)
        steep = [steepness(A, s, wide, block) for block in blocks]
        X = _core.null_model(problem.core())[1].reshape(-1, problem.width)
        for epochs in (1, 2, 5, 20):
            order = np.tile(np.arange(len(blocks)), epochs)
            want = reference.blocks.block_proximal_descent(A, b, s, wide, blocks, order, steep, X)
            stands(driven(CoordinateDescent("primal", "cyclic"), problem, epochs), problem, want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "poisson", *CLASSES])
def test_dual_ascent_as_its_twin(loss, penalty, form):
    problem = stated(loss, penalty, form)
    A, b, s, wide, blocks = parts(problem)
    Y = 0.3 * reference.blocks._derivative(wide, A @ np.random.default_rng(2).normal(size=(8, 3)), b)
    for start, epochs in ((0 * Y, 1), (0 * Y, 4), (Y, 2)):
        order = np.tile(np.arange(len(s)), epochs)
        want = reference.blocks.block_dual_ascent(A, b, s, wide, blocks, order, start)
        stands(driven(CoordinateDescent("dual", "cyclic"), problem, epochs, y=start), problem, *want)


def led_as_its_twin(method, problem, steps, sizes, start=None, times=(1, 2, 3, 8, 50)):
    """For each of ``times``: led so far without a stop, it stands where its twin does."""
    (m, q), at = sizes, method._conditioning(problem)
    X, Y = (
        np.zeros((problem.inner_size // problem.width, problem.width)),
        np.zeros((problem.n_samples, problem.width)),
    )
    X, Y = (X, Y) if start is None else start
    for t in times:
        core = begun(method, problem, x=X, y=Y)
        led = np.reshape(core.lead(t), (t, m + q))
        moves = list(zip(led[:, :m], led[:, m:], strict=True))
        centre = (X, Y) if method.recentre else None
        want = reference.blocks.block_dspdc(*parts(problem), moves, steps, X, Y, (at.dx, at.dy), centre)
        stands(core, problem, *want)


def dspdc_steps(method, problem):
    at, n, d = method._conditioning(problem), problem.n_samples, problem.n_blocks
    return reference.dspdc_steps(
        method.scale, n, d, method.rows, method.columns, at.l2, at.gamma, gap=method.aim == "gap"
    )


@pytest.mark.parametrize(("m", "q"), [(1, 1), (3, 2), (1, 4), (40, 1), (40, 4)])
@pytest.mark.parametrize("penalty", ["groups", "sparse groups"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", *CLASSES])
def test_dspdc_as_its_twin(loss, penalty, m, q):
    for form in FORMS:
        problem, method = stated(loss, penalty, form), DSPDC(rows=m, columns=q, scale=2.0)
        led_as_its_twin(method, problem, dspdc_steps(method, problem), (m, q))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["squared", "poisson", *CLASSES])
def test_dspdc_with_an_intercept_and_from_elsewhere_as_its_twin(loss, form):
    for penalty in ("groups", "L2,1", "weights"):
        for intercept in (False, True):
            problem = stated(loss, penalty, form, intercept)
            A, b, _, wide, _ = parts(problem)
            X = 0.3 * np.random.default_rng(3).normal(size=(A.shape[1], 3))
            start = X, reference.blocks._derivative(wide, A @ X, b)
            for options in ({}, {"perturb": (0.3, 0.2)}, {"perturb": (0.3, 0.2), "recentre": False, "aim": "point"}):
                method = DSPDC(rows=3, columns=2, scale=2.0, **options)
                led_as_its_twin(method, problem, dspdc_steps(method, problem), (3, 2), start)


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("loss", ["squared", "hinge", *CLASSES])
def test_spdc_as_its_twin(loss, batch):
    for form in FORMS:
        problem, method = stated(loss, "groups", form), SPDC(batch=batch)
        at = method._conditioning(problem)
        A, _, s, _, blocks = parts(problem)
        norms = np.sqrt(len(s) * s) * np.linalg.norm(A, axis=1)
        tau, sigma, theta = reference.spdc_steps(norms, len(s), at.l2, at.gamma, batch)
        led_as_its_twin(method, problem, (tau, len(s) * sigma, theta), (batch, len(blocks)))


@pytest.mark.parametrize("loss", ["squared", *CLASSES])
def test_dspdc_with_all_blocks_and_one_row_is_spdc(loss):
    """Its sigma is n times that of SPDC: the paper of DSPDC divides its prox terms by n."""
    for intercept in (False, True):
        problem = stated(loss, "groups", intercept=intercept)
        steps = {"tau": 0.03, "theta": 0.97, "perturb": 0.1}
        one = begun(SPDC(sigma=0.4, **steps), problem)
        other = begun(DSPDC(rows=1, columns=problem.n_blocks, sigma=0.4 * problem.n_samples, **steps), problem)
        for _ in range(20):
            assert one.lead(7) == other.lead(7)
            for got, want in zip(one.point(), other.point(), strict=True):
                np.testing.assert_array_equal(got, want)


SINGLE = ["squared", "logistic", "hinge", "poisson", "quantile"]


def single(loss, form, intercept):
    """A problem of blocks of one number, and the same of numbers."""
    A, b = made(loss)
    A, b, s = FORMS[form](A), b[:, 0], np.random.default_rng(1).uniform(0.3, 2.0, len(A))
    options = {"sample_weight": s, "intercept": intercept}
    blocks = sw.BlockProblem(A, b, loss, Groups(0.02, l2=0.1), **options)
    return blocks, sw.Problem(A, b, loss, ElasticNet(0.02, 0.1), **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", SINGLE)
def test_dspdc_on_blocks_of_one_number_is_that_on_numbers(loss, form):
    for intercept in (False, True):
        pair = single(loss, form, intercept)
        for m, q in ((1, 1), (3, 2), (1, 8), (40, 1)):
            method = DSPDC(rows=m, columns=q, perturb=(0.2, 0.1))
            blocks, numbers = (begun(method, problem) for problem in pair)
            for _ in range(5):
                assert blocks.lead(11) == numbers.lead(11)
                x, y = numbers.point()
                close(blocks.point()[0][:8], x[:8], 1e-12)
                close(blocks.point()[1], y, 1e-12)


@pytest.mark.parametrize("loss", SINGLE)
def test_spdc_and_descent_on_blocks_of_one_number_are_those_on_numbers(loss):
    for form in FORMS:
        blocks, numbers = single(loss, form, False)
        spdc = SPDC(tau=0.05, sigma=0.3, theta=0.95, perturb=(0.2, 0.1))
        core = begun(spdc, blocks)
        rows = np.reshape(core.lead(60), (60, -1))[:, :1]
        A, b, s, one, _ = parts(blocks)
        net = reference.ElasticNet.of(numbers.penalty, 8, False)
        want = reference.spdc(A, b, s, one, net, rows, (0.05, 0.3, 0.95), perturb=(0.2, 0.1))
        stands(core, blocks, want[0][:, None], want[1][:, None])
        sdca = CoordinateDescent("dual", "cyclic", "mirror", shrinking=False, proximal=False)
        want = driven(sdca, numbers, 5).point()
        stands(driven(sdca, blocks, 5), blocks, want[0][:, None], want[1][:, None])


EVERY = {
    "auto": "auto",
    "primal": CoordinateDescent("primal"),
    "dual": CoordinateDescent("dual"),
    "SPDC": SPDC(),
    "SPDC by batches": SPDC(batch=4),
    "DSPDC": DSPDC(),
    "DSPDC one by one": DSPDC(rows=1, columns=1),
}


def epochs(loss, targets, n, d, strength):
    """Of sixty small problems."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        A, b = rng.normal(size=(n, d)), targets(rng)
        problem = sw.BlockProblem(A, b, loss, sw.penalties.Groups(strength), intercept=True)
        found.append(sw.solve(problem, max_epochs=1000).epochs)
    return np.array(found)


def test_few_samples_of_classes_are_no_trouble():
    """Where the softmax is flat its model is good for short steps alone."""
    found = epochs("softmax", lambda rng: np.arange(3), 3, 22, 1e-4)
    assert np.median(found) <= 12 and found.max() < 1000


def test_directions_that_nothing_holds_are_left_alone():
    """Blocks of one number have no roundness, and Huber's loss has flats."""
    found = epochs("huber", lambda rng: rng.normal(size=9), 9, 11, 7e-4)
    assert np.median(found) <= 10 and found.max() < 100


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", ["squared", "logistic", "smooth_hinge", *CLASSES])
def test_methods_agree(loss, penalty, form):
    """To gaps of 1e-6, known to rounding; so, at l2 = 0.05, within sqrt(2 gap / l2) of the answer."""
    problem = stated(loss, penalty, form)
    want = sw.solve(problem, tol=1e-10)
    for name, method in EVERY.items():
        r = sw.solve(problem, method=method, max_epochs=3000)
        assert r.status is sw.Status.CONVERGED and r.gap <= 1e-6 * r.scale, name
        assert want.dual - 1e-12 <= r.primal <= want.primal + 1e-6 * r.scale + 1e-12, name
        gap = r.gap + want.gap + 1e-15 * r.scale
        assert np.linalg.norm(r.x - want.x) <= 2 * np.sqrt(2 * gap / problem.penalty.least_l2), name
