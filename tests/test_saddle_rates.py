"""The compiled saddle methods are as fast as their theorems say."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import southwell as sw
from cases import dual_objective
from saddle_methods import solved
from saddles import D, N, begin, norms_of, parts, problem_of
from southwell import reference
from southwell.methods import DGPD, DSPDC, SPDC, CoordinateDescent
from southwell.methods.dgpd import safe_weight
from southwell.methods.dspdc import safe_scale
from southwell.penalties import ElasticNet


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


@pytest.mark.parametrize("q", [1, 4, D])
@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_theorem_1_of_dspdc_by_norms(loss, q):
    """With gamma/(p_i n) for y, as in theorem 2 of SPDC."""
    problem, best, gamma = rate_case(loss)
    p = reference.spdc_probabilities(norms_of(problem))
    scale = safe_scale(problem, 1, q, N * p)
    tau, sigma, theta = reference.dspdc_steps(scale, N, D, 1, q, 0.1, gamma, probabilities=p)
    far_x, rate = D / (2 * q * tau) + D * 0.1 / q, theta * q / D
    times = [int(k / (1 - rate)) for k in (1, 4, 10)]
    start = distance(problem, best, (np.zeros(D), np.zeros(N)), (far_x, N / (2 * sigma) + gamma / (p * N)))
    weights = far_x, N / (4 * sigma) + gamma / (p * N)
    method = DSPDC(columns=q, scale="safe", aim="point", sampling="norms")
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
