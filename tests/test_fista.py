"""FISTA moves as its slow twin in NumPy, which is here, does."""

import numpy as np
import pytest

import southwell as sw
from saddles import ALL, LOSSES, D, begin, close, factorised, forms, parts, problem_of, somewhere
from southwell.methods import FISTA, ProximalGradient


def fista(problem, iterations, x=None, method=None):
    """As its header says: v, a step that the line search accepts, momentum that restarts when it points uphill."""
    method = method or FISTA()
    plain, growing = isinstance(method, ProximalGradient), getattr(method, "momentum", "") == "growing"
    A, b, s, loss, net = parts(problem)
    x = np.clip(np.zeros(A.shape[1]), net.lo, net.hi) if x is None else x
    along = A.T @ s
    along = along / np.linalg.norm(along) if along.any() else np.ones(along.size) / np.sqrt(along.size)
    L, t, last = s @ (A @ along) ** 2 * (loss.smoothness if np.isfinite(loss.smoothness) else 1.0), 1.0, x

    def f(at):
        return s @ loss.value(A @ at, b)

    for _ in range(iterations):
        ahead = (1 + np.sqrt(1 + 4 * t**2)) / 2
        r = np.sqrt(net.l2.min() / (L + net.l2.min()))
        v = x + (0.0 if plain else (t - 1) / ahead if growing else (1 - r) / (1 + r)) * (x - last)
        slopes = A.T @ (s * loss.derivative(A @ v, b))
        while True:
            after = net.prox(v - slopes / L, 1 / L)
            rise = f(after) - f(v) - slopes @ (after - v)
            if rise <= L / 2 * (after - v) @ (after - v) + 1e-14 * (abs(f(v)) + abs(f(after))):
                break
            L *= 2
        t = 1.0 if (v - after) @ (after - x) > 0 and getattr(method, "restart", False) else ahead
        last, x = x, after
        L *= 0.95 if plain or (growing and method.restart) else 1.0
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


@pytest.mark.parametrize("method", [FISTA(restart=False), FISTA(momentum="constant"), ProximalGradient()], ids=repr)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_other_momenta_are_those_of_the_reference(method, loss):
    for penalty in ("elastic net", "box", "weights", *(("l1",) if method != FISTA(momentum="constant") else ())):
        for form in forms(loss):
            problem = problem_of(loss, penalty, form)
            for t in (1, 2, 3, 15, 50):
                core = begin(method, problem)
                core.lead(t)
                close(core.point()[0], fista(problem, t, method=method))


def test_momentum_helps_where_it_should():
    """Ill-conditioned ridge: iterations to the same gap, and what each momentum promises."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(100, 30)) * np.logspace(0, -2, 30)
    problem = sw.Problem(A, A @ rng.normal(size=30) + rng.normal(size=100), penalty=sw.penalties.ElasticNet(l2=1e-4))
    epochs = {
        method: sw.solve(problem, method=method, tol=1e-9, check_every=1, max_epochs=100_000).epochs
        for method in (FISTA(), FISTA(restart=False), FISTA(momentum="constant"), ProximalGradient())
    }
    assert 3 * max(epochs[FISTA()], epochs[FISTA(momentum="constant")]) < epochs[ProximalGradient()]


def test_without_restarts_the_error_falls_with_the_square_of_the_iterations():
    """P(x_k) - P* <= 2 L ||x_0 - x*||^2 / (k + 1)^2 with L at most twice that of the loss (Beck and Teboulle 2009,
    theorem 4.4). If L could fall, the momentum would make this problem diverge."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(100, 30)) * np.logspace(0, -2, 30)
    problem = sw.Problem(A, A @ rng.normal(size=30) + rng.normal(size=100), penalty=sw.penalties.ElasticNet(l2=1e-5))
    best = sw.solve(problem, tol=1e-14)
    with pytest.warns(sw.ConvergenceWarning):
        r = sw.solve(problem, method=FISTA(restart=False), tol=0.0, check_every=50, max_epochs=3000)
    L, k = 2 * np.linalg.norm(A, 2) ** 2 / 100, r.history["epoch"]
    error = r.history["latest_primal"] - best.primal
    assert (error[1:] <= 2 * L * best.x @ best.x / (k[1:] + 1) ** 2 + 1e-12).all() and error[-1] < 1e-3 * error[0]


def test_constant_momentum_loses_its_factor_each_iteration():
    """P(x_k) - P* <= (1 - r)^k (P(x_0) - P* + (mu/2) ||x_0 - x*||^2), r^2 = mu / (L + mu) for the largest L tried."""
    for penalty in ("l2", "elastic net"):
        problem = problem_of("squared", penalty)
        A, _, s, _, net = parts(problem)
        best = sw.solve(problem, tol=1e-14)
        r = sw.solve(problem, method=FISTA(momentum="constant"), tol=1e-12, check_every=1, max_epochs=10_000)
        L, mu = 2 * np.linalg.norm(np.sqrt(s)[:, None] * A, 2) ** 2, net.l2.min()
        rate, k = 1 - np.sqrt(mu / (L + mu)), r.history["epoch"]
        start = r.history["latest_primal"][0] - best.primal + mu / 2 * best.x @ best.x
        assert (r.history["latest_primal"] - best.primal <= rate**k * start + 1e-12).all()


def test_momenta_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"Unknown momentum 'constan'.*Did you mean 'constant'"):
        FISTA(momentum="constan")
    with pytest.raises(TypeError, match="restart must be True or False"):
        FISTA(restart=1)
    for penalty, intercept in (("l1", False), ("partly free", False), ("l2", True)):
        with pytest.raises(ValueError, match=r"needs l2 > 0 on every coefficient and no intercept.*growing"):
            sw.solve(problem_of("squared", penalty, intercept=intercept), method=FISTA(momentum="constant"))
