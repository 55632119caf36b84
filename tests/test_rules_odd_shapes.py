"""Data that leave little to choose, or numbers near the ends of what float64 holds: rules stay sane."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _partition, _search, rules
from southwell.methods import AcceleratedCD, CoordinateDescent, Start
from southwell.penalties import ElasticNet
from southwell.reference.rules import SCORES
from twins import LOSSES, PENALTIES, SMOOTH, D, Twins, chance, data, exact_index

RULES = {
    **{name: kind() for name, kind in rules.ALL.items()},
    "greedy gs-r": rules.Greedy("gs-r"),
    "greedy gs-q": rules.Greedy("gs-q"),
    "greedy in turn": rules.Greedy(refresh_every=3),
    "adaptive now and then": rules.Adaptive(refresh_every=3),
    "hybrid gs-q": rules.Hybrid(1, score="gs-q"),
}
BASE = np.random.default_rng(0).normal(size=(12, 8))
BASE.flags.writeable = False


def without(A, rows, columns):
    A = A.copy()
    A[rows] = 0
    A[:, columns] = 0
    return A


SHAPES = {
    "one feature": BASE[:, :1],
    "one sample": BASE[:1],
    "one of each": BASE[:1, :1],
    "empty rows and columns": without(BASE, [0, 4], [2, 7]),
    "nothing but zeros": np.zeros((12, 8)),
    "columns twice": np.hstack([BASE, BASE]),
    "rows twice": np.vstack([BASE, BASE]),
    "one column many times": np.repeat(BASE[:, :1], 20, axis=1),
}


@pytest.fixture(autouse=True)
def search(monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)


def targets(loss, n, size=1.0):
    kind = sw.losses.get(loss).targets
    if kind == "real":
        return size * np.linspace(-1, 2, n)
    return np.where(np.arange(n) % 3 == 0, -1.0, 1.0) if kind == "signs" else np.arange(n) % 4 * 1.0


def solve(A, b, method, max_epochs=500, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        r = sw.solve(A, b, method=method, max_epochs=max_epochs, max_seconds=300, **options)
    assert r.epochs <= max_epochs and r.status is not sw.Status.MAX_SECONDS
    assert np.isfinite(r.x).all() and np.isfinite(r.y).all() and np.isfinite([r.primal, r.dual]).all() and r.gap >= 0
    return r


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", RULES)
def test_rules_take_data_of_any_shape(name, shape):
    A, cases = SHAPES[shape], [("primal", "squared"), ("primal", "logistic"), ("dual", "squared"), ("dual", "hinge")]
    for (side, loss), form in itertools.product(cases, (np.asarray, sp.csr_array)):
        if A.shape[0] == 1 and loss != "squared":
            continue
        b, method = targets(loss, A.shape[0]), CoordinateDescent(side, RULES[name])
        for options in ({"l1": 0.01, "l2": 0.1}, {"l2": 0.1, "intercept": True}):
            if options.get("intercept") and (loss == "hinge" or isinstance(RULES[name], rules.MaxInnerProduct)):
                continue  # slow: an anchor follows, or the index does not know the intercept
            assert solve(form(A), b, method, loss=loss, **options).status is sw.Status.CONVERGED


@pytest.mark.parametrize(
    ("clustering", "shape"),
    [
        *((clustering, shape) for clustering in ("kmeans", "spectral") for shape in SHAPES),
        *(("minibatch-kmeans", shape) for shape in ("nothing but zeros", "one sample")),  # slow, much like the first
    ],
)
def test_partitions_cover_all_coordinates(clustering, shape):
    """Every coordinate in a block, no block empty, and no more of them than asked for."""
    for side, size in zip(("dual", "primal"), SHAPES[shape].shape, strict=True):
        problem = sw.Problem(SHAPES[shape], targets("squared", SHAPES[shape].shape[0]))
        labels = _partition.blocks(problem, side, min(3, size), clustering, 0)
        assert labels.size == size and set(labels) == set(range(labels.max() + 1)) and labels.max() < 3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", ["uniform", "hybrid", "greedy"])
def test_accelerated_rules_take_data_of_any_shape(rule, shape):
    A = SHAPES[shape]
    for side, form, coupling in itertools.product(("primal", "dual"), (np.asarray, sp.csr_array), ("mirror", "gram")):
        method = AcceleratedCD(side, rule, coupling)
        assert solve(form(A), targets("squared", A.shape[0]), method, l2=0.1).status is sw.Status.CONVERGED


@pytest.mark.parametrize("name", RULES)
def test_samples_without_weight_do_not_count(name):
    s = np.where(np.arange(12) % 4 == 0, 0.0, 1.0)
    for side, loss in (("primal", "logistic"), ("dual", "hinge"), ("dual", "squared")):
        b, method = targets(loss, 12), CoordinateDescent(side, RULES[name])
        options = {"loss": loss, "l1": 0.01, "l2": 0.1, "tol": 1e-9}
        r = solve(BASE, b, method, sample_weight=s, max_epochs=3000, **options)
        fewer = solve(BASE[s > 0], b[s > 0], "auto", max_epochs=3000, **options)
        assert r.status is fewer.status is sw.Status.CONVERGED
        assert r.primal == pytest.approx(fewer.primal, rel=1e-8)


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (loss, name)
        for loss in ("squared", "logistic", "poisson")
        for name in RULES
        if loss != "poisson" or getattr(RULES[name], "score", "") not in ("gs-r", "gs-q")  # which need a bound of phi''
    ],
)
def test_zero_is_proven_at_lambda_max_before_the_first_move(loss, name):
    """And moves that are made all the same leave x at zero."""
    b = targets(loss, 12)
    for factor, intercept in itertools.product((1.0 + 1e-9, 10.0, 1e150), (False, True)):
        l1 = factor * sw.lambda_max(BASE, b, loss=loss, intercept=intercept)
        method = CoordinateDescent("primal", RULES[name])
        r = solve(BASE, b, method, loss=loss, l1=l1, intercept=intercept)
        assert r.status is sw.Status.CONVERGED and r.epochs == 0 and not r.x.any()
        problem = sw.Problem(BASE, b, loss, ElasticNet(l1), intercept=intercept)
        core = method.prepare(problem, Start(np.zeros(8 + intercept)), 0).algorithm
        core.settle()
        assert len(core.draw(20)) == len(core.lead(20)) == 20
        assert not core.point()[0][:8].any()


SCALES = {
    "A": lambda s: (BASE * s, 1.0, 0.01),
    "b": lambda s: (BASE, s, 0.01),
    "l1": lambda s: (BASE, 1.0, 0.01 * s),
    "all": lambda s: (BASE * s, s, 0.01 * s * s),
}


@pytest.mark.parametrize("what", SCALES)
@pytest.mark.parametrize("size", [1e150, 1e-150])
@pytest.mark.parametrize("name", RULES)
def test_rules_take_data_of_any_scale(name, size, what):
    A, factor, l1 = SCALES[what](size)
    for side, loss, l2 in itertools.product(("primal", "dual"), ("squared", "logistic", "hinge", "huber"), (0.0, 0.1)):
        if side == "primal" and not sw.losses.get(loss).smooth:
            continue
        solve(A, targets(loss, 12, factor), CoordinateDescent(side, RULES[name]), 20, loss=loss, l1=l1, l2=l2)


@pytest.mark.parametrize("what", SCALES)
@pytest.mark.parametrize("size", [1e150, 1e-150])
@pytest.mark.parametrize("rule", ["uniform", "hybrid", "greedy"])
def test_accelerated_rules_take_data_of_any_scale(rule, size, what):
    A, factor, _ = SCALES[what](size)
    for side, coupling in itertools.product(("primal", "dual"), ("mirror", "gram")):
        method = AcceleratedCD(side, rule, coupling)
        solve(A, targets("squared", 12, factor), method, 20, l2=0.1 * (size**2 if what == "all" else 1))


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e40])
def test_hnswlib_takes_data_of_any_scale(size, monkeypatch):
    """Its vectors are float32; numbers beyond that must not end in warnings or NaN."""
    monkeypatch.undo()
    for side in ("primal", "dual"):
        A, b = BASE * size, targets("squared", 12)
        solve(A, b, CoordinateDescent(side, "max_inner_product"), 20, l1=0.01, l2=0.1)
        solve(BASE, size * b, CoordinateDescent(side, "max_inner_product"), 20, l1=0.01, l2=0.1)


@pytest.mark.parametrize("size", [1.0, 1e20, 1e150, 1e-150])
@pytest.mark.parametrize("rule", ["cyclic", "greedy", "ada_gap"])
def test_a_gram_matrix_with_an_intercept_at_any_scale(rule, size):
    b = size * targets("squared", 12)
    for coupling in ("mirror", "gram"):
        r = solve(BASE, b, CoordinateDescent("primal", rule, coupling), l2=0.05, intercept=True)
        assert r.status is sw.Status.CONVERGED, coupling


# The unit of measurement


METHODS = {
    **{score: CoordinateDescent("primal", rules.Greedy(score)) for score in ("gs-s", "gs-r", "gs-q")},
    **{name: CoordinateDescent("primal", name) for name in SCORES},
    "hybrid": CoordinateDescent("primal", rules.Hybrid(partition=np.arange(D) % 5)),
    "accelerated uniform": AcceleratedCD("primal"),
    "accelerated greedy": AcceleratedCD("primal", "greedy"),
}
STRENGTHS = {"l1": (0.01, 0.0), "elastic net": (0.01, 0.005), "l2": (0.0, 0.005)}


@pytest.mark.parametrize("power", [-300, -100, 100, 300])
@pytest.mark.parametrize(
    ("name", "penalty"),
    [(m, p) for m in METHODS for p in STRENGTHS if p == "l2" or m != "accelerated greedy"],  # which needs a smooth one
)
def test_units_do_not_matter(name, penalty, power):
    """A power of two on A and b, its square on the penalty: every score is the same but for a factor."""
    A, b, loss, s = data("squared")

    def led(power):
        unit = 2.0**power
        net = ElasticNet(*(unit**2 * strength for strength in STRENGTHS[penalty]))
        problem = sw.Problem(A * unit, b * unit, loss, net, sample_weight=s)
        core = METHODS[name].prepare(problem, Start(np.zeros(D)), 1).algorithm
        core.settle()
        return core.lead(100)

    assert led(power) == led(0)


# Ends of the parameters


def test_mixtures_at_their_ends():
    problem = sw.Problem(BASE, targets("squared", 12), penalty=ElasticNet(0.01, 0.1))
    for mix, same in ((0.0, rules.Adaptive()), (1.0, rules.SupportSet())):
        assert Twins(problem, "primal", rules.AdaUniform(mix)).core.lead(50) == Twins(
            problem, "primal", same
        ).core.lead(50)


def test_a_refresh_longer_than_any_run():
    problem = sw.Problem(BASE, targets("squared", 12), penalty=ElasticNet(0.01, 0.1))
    for every in (10**6, 2**62, 2**63 - 1):
        twins = Twins(problem, "primal", rules.AdaGap(refresh_every=every))
        p = twins.scores("bracket") / twins.scores("bracket").sum()
        twins.core.lead(100)
        assert chance(twins.core.draw(20_000), p) > 1e-4


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_more_candidates_than_coordinates(side):
    method = CoordinateDescent(side, rules.MaxInnerProduct(10**6))
    assert solve(BASE, targets("squared", 12), method, l1=0.01, l2=0.1).status is sw.Status.CONVERGED


@pytest.mark.parametrize("name", RULES)
def test_boxes_without_zero_or_of_one_point_are_kept(name):
    """Coordinates that cannot move at all, and a box that excludes 0."""
    for lower, upper in ((0.3, 0.3), (0.5, 2.0), ([0.0] * 4 + [-1.0] * 4, [0.0] * 4 + [1.0] * 4)):
        penalty = ElasticNet(0.01, 0.1, lower=lower, upper=upper)
        for side in ("primal", "dual"):
            r = solve(BASE, targets("squared", 12), CoordinateDescent(side, RULES[name]), penalty=penalty)
            assert r.status is sw.Status.CONVERGED
            assert (r.x >= lower).all() and (r.x <= upper).all()


@pytest.mark.parametrize("name", SCORES)
def test_every_loss_under_every_penalty(name):
    for loss, penalty in itertools.product(LOSSES, PENALTIES):
        for side in ("primal", "dual")[0 if loss in SMOOTH else 1 :]:
            A, b, kind, s = data(loss, seed=3)
            twins = Twins(sw.Problem(sp.csc_array(A), b, kind, PENALTIES[penalty], sample_weight=s), side, name)
            twins.core.lead(200)
            assert np.isfinite(twins.stands()).all()


def test_empty_columns_do_not_capture_importance():
    rng = np.random.default_rng(0)
    A = 1e-4 * rng.standard_normal((40, 20)) * (np.arange(20) % 2)
    problem = sw.Problem(A, A[:, 1] + 0.1, penalty=ElasticNet(1e-12), intercept=True)
    core = CoordinateDescent("primal", "importance", "mirror").prepare(problem, Start(np.zeros(21)), 0).algorithm
    assert not set(core.draw(2000)) & set(range(0, 20, 2))
