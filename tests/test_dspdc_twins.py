"""DSPDC moves as its slow twin in NumPy does, with steps from a bound that holds, and draws as it says."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import (
    ALL,
    FACTOR_FORMS,
    FORMS,
    LOSSES,
    TIMES,
    D,
    N,
    as_the_twin,
    begin,
    close,
    dspdc,
    factorised,
    first_centre,
    norms_of,
    parts,
    problem_of,
    somewhere,
)
from southwell import reference
from southwell.methods import DSPDC
from southwell.methods.dspdc import safe_scale
from southwell.penalties import ElasticNet
from twins import chance

BLOCKS = [(1, 1), (1, D), (N, 1), (3, 2), (5, 3), (N, D)]


def dspdc_twin(method, problem, start=None):
    A, b, s, loss, net = parts(problem)
    at, (n, d), (m, q) = method._conditioning(problem), A.shape, (method.rows, method.columns)
    firm = net.l2.min() + at.dx, 1 / loss.smoothness + at.dy
    p = reference.spdc_probabilities(norms_of(problem)) if method.sampling == "norms" else None
    steps = reference.dspdc_steps(method.scale, n, d, m, q, *firm, gap=method.aim == "gap", probabilities=p)
    options = {"perturb": (at.dx, at.dy), "centre": first_centre(method, start), "probabilities": p, **(start or {})}

    def twin(led):
        both = np.reshape(led, (-1, m + q))
        return reference.dspdc(A, b, s, loss, net, list(zip(both[:, :m], both[:, m:], strict=True)), steps, **options)

    return twin


def dspdc_as_the_twin(method, problem, start=None, times=TIMES):
    as_the_twin(method, problem, dspdc_twin(method, problem, start), start, times)


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
def test_dspdc_steps_are_those_of_the_twin(loss, m, q):
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


@pytest.mark.parametrize("q", [1, 2, D])
@pytest.mark.parametrize("form", FORMS)
def test_dspdc_by_norms_is_its_twin(form, q):
    for loss in ("squared", "hinge"):
        for penalty in ("elastic net", "box", "l1"):
            for intercept in (False, True):
                problem = problem_of(loss, penalty, form, intercept=intercept)
                dspdc_as_the_twin(dspdc(1, q, sampling="norms"), problem, times=(1, 2, 50))
                dspdc_as_the_twin(
                    dspdc(1, q, sampling="norms", aim="point"), problem, somewhere(problem), times=(1, 50)
                )


@pytest.mark.parametrize("q", [1, 2])
def test_dspdc_by_norms_after_each_of_fifty_steps(q):
    for problem in (problem_of("squared", "box", "sparse"), factorised("squared", "box", "mixed")):
        dspdc_as_the_twin(dspdc(1, q, sampling="norms"), problem, times=range(1, 51))


def test_dspdc_by_norms_draws_by_its_probabilities():
    for problem in (problem_of(), factorised("squared", "l2", "dense")):
        p = reference.spdc_probabilities(norms_of(problem))
        for columns in ("auto", 3):
            core = begin(DSPDC(columns=columns, sampling="norms"), problem)
            q = len(core.draw(1)) - 1
            assert chance(np.reshape(core.draw(20_000), (-1, 1 + q))[:, 0], p) > 1e-4
            assert chance(np.reshape(core.lead(20_000), (-1, 1 + q))[:, 0], p) > 1e-4


def test_dspdc_by_norms_with_all_columns_is_algorithm_2_of_spdc():
    problem = problem_of("logistic", "elastic net")
    A, b, s, loss, net = parts(problem)
    p = reference.spdc_probabilities(norms_of(problem))
    core = begin(DSPDC(columns=D, sampling="norms", tau=0.3, sigma=0.2 * N, theta=0.9), problem)
    led = np.reshape(core.lead(50), (-1, 1 + D))[:, :1]
    want = reference.spdc(A, b, s, loss, net, led, (0.3, 0.2, 0.9), probabilities=p)
    for got, one in zip(core.point(), want, strict=True):
        close(got, one)


def centred_sparse():
    A = problem_of().data.rows
    return lambda _: sw.Centred(sp.csr_array(A))


@pytest.mark.parametrize(("m", "q"), [(3, 2), (2, 2)])
def test_dspdc_on_centred_sparse_data(m, q):
    dspdc_as_the_twin(dspdc(m, q), problem_of("squared", "elastic net", centred_sparse()))


# A = U V


@pytest.mark.parametrize("form", FACTOR_FORMS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_dspdc_steps_between_factors_are_those_of_the_twin(loss, form):
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
            shares = np.random.default_rng(m).uniform(0.5, 2.0, 6)
            shared = [A[np.ix_(I, J)] / shares[list(I), None] for I in combinations(range(6), m)
                      for J in combinations(range(A.shape[1]), q)]  # fmt: skip
            most = np.linalg.norm(shared, ord=2, axis=(1, 2)).max() ** 2
            assert most <= safe_scale(problem, m, q, shares) * (1 + 1e-12)
            assert top <= bound * (1 + 1e-12)
            assert bound <= 4 * (A**2).sum()
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


# Draws


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
