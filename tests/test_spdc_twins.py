"""SPDC moves as its slow twin in NumPy does, whatever the number of threads, and draws as it says."""

import numpy as np
import pytest

from saddles import (
    ALL,
    FORMS,
    LOSSES,
    TIMES,
    D,
    N,
    as_the_twin,
    begin,
    close,
    driven,
    forms,
    norms_of,
    parts,
    problem_of,
    somewhere,
    spdc_twin,
)
from southwell import reference
from southwell.methods import SPDC
from southwell.methods.spdc import spdc_steps
from twins import chance


def spdc_as_the_twin(method, problem, start=None, times=TIMES):
    as_the_twin(method, problem, spdc_twin(method, problem, start), start, times)


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("loss", LOSSES)
def test_spdc_steps_are_those_of_the_twin(loss, penalty):
    """Where there is no strong convexity, around 0: while it is led, centres stay."""
    for form in forms(loss):
        spdc_as_the_twin(SPDC(), problem_of(loss, penalty, form))


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_spdc_steps_by_norms_are_those_of_the_twin(loss, penalty):
    for form in ("dense", "sparse"):
        spdc_as_the_twin(SPDC(sampling="norms"), problem_of(loss, penalty, form))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [4, N])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "huber"])
def test_spdc_steps_in_batches_are_those_of_the_twin(loss, batch, threads):
    for penalty in ALL:
        for form in ("dense", "sparse"):
            spdc_as_the_twin(SPDC(batch=batch, n_threads=threads), problem_of(loss, penalty, form), times=(1, 3, 50))


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SPDC(sampling="norms")])
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_spdc_agrees_with_the_twin_after_each_of_fifty_steps(loss, method):
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
def test_perturbed_spdc_steps_are_those_of_the_twin(loss, batch, perturb):
    if loss != "squared" and isinstance(perturb, tuple):
        perturb = (perturb[0], 0.5)  # they need it
    for penalty in ("elastic net", "box"):
        method = SPDC(batch=batch, perturb=perturb, recentre=False)
        spdc_as_the_twin(method, problem_of(loss, penalty, "sparse"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_spdc_steps_with_an_intercept_are_those_of_the_twin(loss, batch, form):
    for penalty in ("l2", "box", "partly free"):
        spdc_as_the_twin(SPDC(batch=batch), problem_of(loss, penalty, form, intercept=True))


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SPDC(sampling="norms")])
def test_spdc_steps_from_elsewhere_are_those_of_the_twin(method):
    for penalty in ALL:
        for intercept in (False, True):
            problem = problem_of("smooth_hinge", penalty, "sparse", intercept=intercept)
            spdc_as_the_twin(method, problem, somewhere(problem))


def test_spdc_takes_steps_given_by_hand():
    problem, steps = problem_of("logistic", "box"), (0.3, 0.7, 0.4)
    method = SPDC(tau=0.3, sigma=0.7, theta=0.4)
    as_the_twin(method, problem, lambda led: reference.spdc(*parts(problem), np.reshape(led, (-1, 1)), steps))


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
    if loss == "squared":  # else so short a run may end at the same point
        stayed = driven(SPDC(tau=0.2, sigma=0.7, theta=0.0, recentre=False), problem, epochs).point()
        assert np.abs(stayed[0][:D] - x[:D]).max() > 1e-6


# Threads


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


# Draws


def test_norms_sampling_draws_by_its_probabilities():
    for loss, form in (("squared", "dense"), ("hinge", "sparse")):
        problem = problem_of(loss, "elastic net", form)
        p = reference.spdc_probabilities(norms_of(problem))
        core = begin(SPDC(sampling="norms"), problem)
        assert chance(core.draw(20_000), p) > 1e-4
        assert chance(core.lead(20_000), p) > 1e-4
        assert chance(begin(SPDC(), problem).draw(20_000), p) < 1e-4  # uniform: the test can tell


@pytest.mark.parametrize("m", [2, 5, N - 1, N])
def test_batches_are_subsets(m):
    drawn = np.reshape(begin(SPDC(batch=m), problem_of("squared", "l2")).draw(4000), (-1, m))
    assert (np.diff(np.sort(drawn, axis=1), axis=1) > 0).all()


@pytest.mark.parametrize("m", [2, 5, N - 1])
def test_batches_are_uniform(m):
    """Each row with probability m/n; every place of a batch, and every pair, alike."""
    drawn = np.reshape(begin(SPDC(batch=m), problem_of("squared", "l2")).draw(4000), (-1, m))
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
