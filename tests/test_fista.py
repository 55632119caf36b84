"""FISTA moves as its slow twin in NumPy, which is here, does."""

import numpy as np
import pytest

import southwell as sw
from saddles import ALL, LOSSES, D, begin, close, factorised, forms, parts, problem_of, somewhere
from southwell.methods import FISTA


def fista(problem, iterations, x=None):
    """As its header says: v, a step that the line search accepts, momentum that restarts when it points uphill."""
    A, b, s, loss, net = parts(problem)
    x = np.clip(np.zeros(A.shape[1]), net.lo, net.hi) if x is None else x
    along = A.T @ s
    along = along / np.linalg.norm(along) if along.any() else np.ones(along.size) / np.sqrt(along.size)
    L, t, last = s @ (A @ along) ** 2 * (loss.smoothness if np.isfinite(loss.smoothness) else 1.0), 1.0, x

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
def test_fista_steps_are_those_of_the_reference(loss, penalty):
    for form in forms(loss):
        for intercept in (False, True):
            problem = problem_of(loss, penalty, form, intercept=intercept)
            for start in (None, somewhere(problem)["x"]):
                for t in (1, 2, 3, 15):
                    core = begin(FISTA(), problem, x=start)
                    core.lead(t)
                    close(core.point()[0][:D], fista(problem, t, start)[:D])


def test_fista_steps_between_factors_are_those_of_the_reference():
    problem = factorised("logistic", "elastic net", "mixed", intercept=True)
    core = begin(FISTA(), problem)
    core.lead(15)
    close(core.point()[0][:D], fista(problem, 15)[:D])
