"""The default method: it proves its answer for every loss, penalty and layout, says who moved, and stops when told."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import southwell as sw
from cases import CENTRED, FORMS, LOSSES, SMOOTH, sparse_model
from saddles import factors, honest, proven, quietly
from southwell import ConvergenceWarning, _threads, reference
from southwell.methods import Auto
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant
from twins import Formulas

KINKED = [name for name in LOSSES if name not in SMOOTH]
METHODS = {
    "default": "auto",
    "timed": Auto(schedule="timed"),
    "primal": Auto(movers="primal"),
    "dual": Auto(movers="dual"),
}
STRENGTHS = {"both": (0.02, 0.05), "l1": (0.02, 0.0), "l2": (0.0, 0.05)}


def made(loss="squared", n=60, d=12, seed=0, density=1.0):
    return sparse_model(loss, n, d, seed, density=density, share=0.4, noise=0.5, offset=0.3)


def agree(r, q, slack=1e-12):
    """Two certificates of one problem: neither objective is below the other's bound."""
    unit = slack * max(abs(r.primal), abs(r.dual), r.scale, 1e-300)
    assert r.dual <= q.primal + unit and q.dual <= r.primal + unit


# What was planted


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("loss", LOSSES)
def test_planted(loss, strength, method):
    """To 1e-10 of the zero model, in every layout; on the dual side alone pure L1 is a long way round."""
    tol, epochs = (1e-3, 20_000) if (method, strength) == ("dual", "l1") else (1e-10, 1000)
    l1, l2 = STRENGTHS[strength]
    for k, form in enumerate(FORMS.values()):
        p = plant(loss, *((60, 30), (30, 60))[k // 2], l1=l1, l2=l2, weighted=k % 2 == 1, seed=k)
        r = sw.solve(
            form(p.A), p.b, loss=p.loss, penalty=p.penalty, sample_weight=p.sample_weight, method=METHODS[method],
            tol=tol, max_epochs=epochs,
        )  # fmt: skip
        proven(r, tol)
        assert abs(r.primal - p.primal) <= tol * r.scale + 1e-14
        assert r.dual <= p.primal + 1e-14


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("loss", LOSSES)
def test_planted_in_single_precision(loss, strength):
    l1, l2 = STRENGTHS[strength]
    p = plant(loss, l1=l1, l2=l2)
    for form in FORMS.values():
        r = sw.solve(form(p.A.astype(np.float32)), p.b, loss=p.loss, penalty=p.penalty)
        proven(r, 1e-6)
        assert r.primal == pytest.approx(p.primal, abs=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_combination_is_proven(loss, strength, intercept):
    """Of weights of samples and of coefficients, some of these zero, and bounds, with the layouts in turn."""
    A, b = made(loss, 80, 10, density=0.8)
    rng = np.random.default_rng(0)
    weights = [None, rng.uniform(0.2, 3.0, 10), np.arange(10) % 4]
    bounds = [(None, None), (-0.1, rng.choice([0.0, 0.2, np.inf], 10)), (0.05, 0.5)]
    samples = [None, rng.uniform(0.2, 2.0, 80)]
    l1, l2 = STRENGTHS[strength]
    for k, (w, (lower, upper), s) in enumerate(product(weights, bounds, samples)):
        form = [*FORMS.values(), *CENTRED.values()][k % 8]
        problem = sw.Problem(
            form(A), b, loss, ElasticNet(l1, l2, w, lower, upper), intercept=intercept, sample_weight=s
        )
        r, q = (sw.solve(problem, method=METHODS[name], tol=1e-10, max_epochs=5000) for name in ("default", "primal"))
        proven(r)
        proven(q)
        agree(r, q)


# The slow twin, other methods, a linear program


def penalty_of(kind, d, rng):
    return {
        "l1": ElasticNet(0.05),
        "l2": ElasticNet(0.0, 0.05),
        "both": ElasticNet(0.02, 0.03),
        "weights": ElasticNet(0.05, 0.01, weights=rng.uniform(0.2, 3.0, d)),
        "partly free": ElasticNet(0.05, 0.01, weights=np.arange(d) % 3),
        "box": ElasticNet(0.02, 0.01, lower=-0.2, upper=rng.choice([0.0, 0.1, np.inf], d)),
        "away from 0": ElasticNet(0.02, lower=0.1, upper=0.5),
    }[kind]


PENALTIES = ["l1", "l2", "both", "weights", "partly free", "box", "away from 0"]


@settings(max_examples=60)
@given(
    loss=st.sampled_from(SMOOTH), kind=st.sampled_from(PENALTIES), form=st.sampled_from([*FORMS, *CENTRED]),
    intercept=st.booleans(), weighted=st.booleans(), n=st.integers(8, 16), d=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_the_answer_of_the_slow_twin(loss, kind, form, intercept, weighted, n, d, seed):
    A, b = made(loss, n, d, seed, density=0.8)
    rng = np.random.default_rng(seed)
    problem = sw.Problem(
        {**FORMS, **CENTRED}[form](A), b, loss, penalty_of(kind, d, rng), intercept=intercept,
        sample_weight=rng.uniform(0.2, 2.0, n) if weighted else None,
    )  # fmt: skip
    r = quietly(problem, method=Auto(movers="primal"), tol=1e-10)
    honest(r)
    twin = Formulas(problem, "primal")
    x = reference.proximal_newton(*twin.parts)
    value = twin.s @ twin.loss.value(twin.A @ x, twin.b) + twin.net.value(x).sum()
    unit = 1e-9 * max(r.scale, 1e-3)
    assert r.dual - unit <= value
    if kind != "partly free":  # a coefficient that nothing holds may have no end to go to
        proven(r)
        assert abs(r.primal - value) <= unit
    if kind in ("l2", "both", "weights", "box"):  # else the solution may not be unique
        assert np.abs(x[:d] - r.x).max() <= 1e-3


@settings(max_examples=150)
@given(
    loss=st.sampled_from(LOSSES), kind=st.sampled_from(PENALTIES), form=st.sampled_from([*FORMS, *CENTRED]),
    intercept=st.booleans(), weighted=st.booleans(), shape=st.sampled_from([(40, 8), (20, 20), (10, 40)]),
    method=st.sampled_from(list(METHODS)), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_other_methods_agree(loss, kind, form, intercept, weighted, shape, method, seed):
    """Bounds hold for both, converged or not; and with some l2 both converge."""
    A, b = made(loss, *shape, seed, density=0.7)
    rng = np.random.default_rng(seed)
    problem = sw.Problem(
        {**FORMS, **CENTRED}[form](A), b, loss, penalty_of(kind, shape[1], rng), intercept=intercept,
        sample_weight=rng.uniform(0.2, 2.0, shape[0]) if weighted else None,
    )  # fmt: skip
    r = quietly(problem, method=METHODS[method], tol=1e-8, seed=seed)
    honest(r)
    for other in ("coordinate_descent", "fista", "lbfgs") if loss in SMOOTH else ("coordinate_descent",):
        agree(r, quietly(problem, method=other, tol=1e-8, max_epochs=200))
    if loss in SMOOTH and kind in ("l2", "both") and method != "dual":
        proven(r, 1e-8)


def linear_program(problem):
    """The optimum of a loss made of lines, t_i >= slope m_i + height, under l1 and bounds: x = p - q."""
    A, b, s, loss, net = Formulas(problem, "primal").parts
    n, d = A.shape
    lines = {
        "quantile": lambda: [(0 * b - loss.q, loss.q * b), (0 * b + 1 - loss.q, (loss.q - 1) * b)],
        "epsilon_insensitive": lambda: [(0 * b + 1, -b - loss.epsilon), (0 * b - 1, b - loss.epsilon), (0 * b, 0 * b)],
        "hinge": lambda: [(-b, 0 * b + 1), (0 * b, 0 * b)],
    }[loss.name]()
    rows = np.vstack([np.hstack([slope[:, None] * A, -slope[:, None] * A, -np.eye(n)]) for slope, _ in lines])
    within = np.hstack([np.eye(d), -np.eye(d), np.zeros((d, n))])
    rows = np.vstack([rows, within[np.isfinite(net.hi)], -within[np.isfinite(net.lo)]])
    right = np.concatenate(
        [*(-height for _, height in lines), net.hi[np.isfinite(net.hi)], -net.lo[np.isfinite(net.lo)]]
    )
    bounds = [(0, None)] * (2 * d) + [(None, None)] * n
    return linprog(np.concatenate([net.l1, net.l1, s]), rows, right, bounds=bounds).fun


@settings(max_examples=150)
@given(
    loss=st.sampled_from(KINKED), l1=st.sampled_from([0.0, 0.01, 0.1]), intercept=st.booleans(),
    form=st.sampled_from(list(FORMS)), seed=st.integers(0, 10**6), box=st.booleans(), weighted=st.booleans(),
)  # fmt: skip
def test_linear_programs_are_solved(loss, l1, intercept, form, seed, box, weighted):
    """Least absolute deviations and its relatives, with l1, with bounds, and with nothing."""
    A, b = made(loss, 40, 4, seed)
    penalty = ElasticNet(l1, lower=-0.3 if box else None, upper=0.4 if box else None)
    weights = np.random.default_rng(seed).uniform(0.2, 2.0, 40) if weighted else None
    problem = sw.Problem(FORMS[form](A), b, loss, penalty, intercept=intercept, sample_weight=weights)
    r = sw.solve(problem, tol=1e-8, max_epochs=10_000)
    proven(r, 1e-8)
    assert r.primal == pytest.approx(linear_program(problem), abs=2e-8 * r.scale)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_median_is_found(intercept):
    A = np.zeros((5, 1)) if intercept else np.ones((5, 1))
    r = sw.solve(A, [3.0, 1.0, 7.0, 2.0, 100.0], loss="quantile", intercept=intercept, tol=1e-12)
    proven(r, 1e-12)
    assert (A @ r.x + r.intercept)[0] == pytest.approx(3.0)


# Odd data


def odd(kind, loss):
    """Data with one thing wrong."""
    fewest = 2 if sw.losses.get(loss).targets == "signs" else 1
    shape = {
        "few features": (400, 3), "few samples": (5, 200), "a sample": (fewest, 6), "a feature": (30, 1),
    }.get(kind, (40, 15))  # fmt: skip
    A, b = made(loss, *shape, seed=3, density=0.7)
    rng = np.random.default_rng(0)
    if kind == "unscaled":
        A *= 10.0 ** rng.integers(-8, 9, A.shape[1])
    if kind == "duplicates":
        A[:, 5:] = A[:, rng.integers(0, 5, 10)] * rng.choice([-1.0, 1.0], 10)
    if kind == "constants":
        A[:, ::5] = [3.0, -1.0, 1e3]
    if kind == "holes":
        A[:, ::4] = A[::4] = 0.0
    if kind == "ties":
        A = np.round(A)
        b = {"signs": b, "positive": np.ceil(b)}.get(sw.losses.get(loss).targets, np.round(b))
    return A, b


ODD = [
    "few features", "few samples", "a sample", "a feature", "unscaled", "duplicates", "constants", "holes", "ties",
]  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("loss", LOSSES)
def test_odd_data_are_proven(loss, kind):
    A, b = odd(kind, loss)
    forms = (*FORMS.values(), *CENTRED.values())
    for k, (form, (l1, l2)) in enumerate(product(forms, STRENGTHS.values())):
        problem = sw.Problem(form(A), b, loss, ElasticNet(l1, l2), intercept=k % 2 == 0)
        # A slope of 0.02 on a column of 1e8 is known to a millionth, and so is the dual point scaled by it.
        proven(sw.solve(problem, tol=1e-8, max_epochs=5000), 1e-8, slack=1e-7 if kind == "unscaled" else 1e-9)


@pytest.mark.parametrize("l2", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_tiny_l2_alone_is_proven(loss, l2):
    A, b = made(loss, 80, 6)
    for form in FORMS.values():
        for intercept in (False, True):
            proven(sw.solve(form(A), b, loss=loss, l2=l2, intercept=intercept, tol=1e-8), 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_penalty_at_all(loss):
    A, b = made(loss, 80, 4, seed=1)
    for form in (*FORMS.values(), *CENTRED.values()):
        for intercept in (False, True):
            proven(sw.solve(form(A), b, loss=loss, intercept=intercept, tol=1e-8), 1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_centred_data_are_what_they_stand_for(loss, intercept):
    A, b = made(loss, 50, 10, density=0.4)
    weights = np.random.default_rng(0).uniform(0.2, 2.0, 50)
    options = {"loss": loss, "l1": 0.02, "l2": 0.01, "intercept": intercept, "sample_weight": weights, "tol": 1e-10}
    formed = sw.solve(A - weights @ A / weights.sum(), b, **options)
    for form in FORMS.values():
        r = sw.solve(sw.Centred(form(A)), b, **options)
        proven(r)
        assert r.primal == pytest.approx(formed.primal, abs=3e-10 * r.scale)
        assert r.x == pytest.approx(formed.x, abs=1e-4)
        assert r.intercept == pytest.approx(formed.intercept, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_factorised_data_are_solved(loss):
    U, V = factors(60, 20)
    b = made(loss, 60, 20)[1]
    options = {"loss": loss, "l1": 0.01, "l2": 0.05, "max_epochs": 20_000}
    r = sw.solve(sw.Factorised(U, V), b, **options)
    proven(r, 1e-6)
    agree(r, sw.solve(U @ V, b, **options))
    assert r.movers.keys() & {"primal", "dual"}  # they work on the product


@pytest.mark.parametrize("counts", [1.0, 2.0])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_large_counts_are_proven(strength, counts):
    """The likelihood of large counts is above that of nothing: the objective is negative."""
    counted(strength, counts)


@pytest.mark.parametrize("counts", [4.0, 30.0])
@pytest.mark.parametrize("strength", ["both", "l2", "l1"])
def test_larger_counts_are_proven(strength, counts):
    counted(strength, counts)


def counted(strength, counts):
    A, b = made("poisson", 60, 6)
    l1, l2 = STRENGTHS[strength]
    for intercept in (False, True):
        proven(quietly(0.3 * A, counts * b, loss="poisson", l1=l1, l2=l2, intercept=intercept), 1e-6)


@pytest.mark.parametrize("movers", ["auto", "primal", "dual"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", KINKED)
def test_an_intercept_and_nothing_else(loss, form, movers):
    """Data without an entry that is not zero."""
    A, b = FORMS[form](np.zeros((5, 2))), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    weights = [0.2, 0.1, 0.3, 0.15, 0.25]
    r = quietly(A, b, loss=loss, l2=0.1, intercept=True, sample_weight=weights, method=Auto(movers=movers))
    proven(r, 1e-6)


def test_no_mover_holds_the_floor_for_ever():
    """Features alone solve these in 20 to 45 rounds, so the default may not need a thousand."""
    options = {"loss": "epsilon_insensitive", "l1": 1e-4, "intercept": True, "tol": 1e-9}
    for seed in range(2, 8):
        A, b = made("epsilon_insensitive", 60, 40, seed)
        proven(sw.solve(A, b, method=Auto(movers="primal"), max_epochs=100, **options), 1e-9)
        proven(quietly(A, b, **options), 1e-9)


# Nothing to be found


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_without_a_finite_minimiser_the_end_is_honest(loss, intercept):
    """A feature that tells some samples for certain wants to be infinite."""
    A, b = made(loss, 60, 4, seed=2)
    A[:, 0] = np.where(b > 0, 0.0, 1.0) * (np.arange(60) % 2)
    for tol in (1e-6, 1e-15):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            r = sw.solve(A, b, loss=loss, intercept=intercept, tol=tol, max_epochs=300)
        honest(r)
        minimised = [w for w in caught if "no finite minimiser" not in str(w.message)]
        assert bool(r.status) == (not minimised)
        assert all(issubclass(w.category, ConvergenceWarning) for w in caught)


def test_a_separable_problem_has_an_infimum():
    A, b = made("logistic", 40, 3)
    b = np.where(A[:, 0] > 0, 1.0, -1.0)
    with pytest.warns(ConvergenceWarning, match="no finite minimiser"):
        r = sw.solve(A, b, loss="logistic", intercept=True, max_epochs=100)
    honest(r)
    assert -1e-12 <= r.dual <= 1e-12 and r.primal <= 1e-5


def test_an_objective_that_overflows_is_not_proven():
    """The bounds exclude zero, and the zero model is worth infinity: so is the unit of the gap."""
    A = np.array([[1e5], [2e5]])
    r = quietly(A, [1.0, 2.0], loss="poisson", penalty=ElasticNet(0.1, lower=0.1, upper=0.5))
    assert r.status is not sw.Status.CONVERGED or np.isfinite(r.primal)


# The same numbers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "squared_hinge"])
def test_the_same_seed_gives_the_same_numbers(loss, form, monkeypatch):
    monkeypatch.setattr(_threads, "processors", lambda: 4)
    A, b = made(loss, 300, 200, density=1.0)
    for l1, l2 in ((0.01, 0.0), (0.001, 0.01)):
        options = {"loss": loss, "l1": l1, "l2": l2, "intercept": True, "seed": 7, "tol": 1e-8, "max_epochs": 20}
        first = quietly(FORMS[form](A), b, n_threads=1, **options)
        for threads in (1, 2, 4):
            again = quietly(FORMS[form](A), b, n_threads=threads, **options)
            assert first.x.tobytes() == again.x.tobytes() and first.y.tobytes() == again.y.tobytes()
            assert (first.primal, first.dual, first.epochs) == (again.primal, again.dual, again.epochs)
            assert first.screened.features.tobytes() == again.screened.features.tobytes()
            for name, column in first.history.items():
                assert name == "seconds" or (column == again.history[name]).all()
            assert first.method == again.method


def test_another_seed_gives_another_way_to_the_same_place():
    A, b = made("hinge", 100, 20)
    one, other = (sw.solve(A, b, loss="hinge", l2=0.1, method=Auto(movers="dual"), seed=s, tol=1e-9) for s in (1, 2))
    assert one.x.tobytes() != other.x.tobytes()
    assert one.x == pytest.approx(other.x, abs=1e-3)
