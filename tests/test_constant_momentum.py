"""APCG for strongly convex problems moves as its slow twin in NumPy does; so does accelerated SDCA to an accuracy."""

import numpy as np
import pytest

import southwell as sw
from saddles import BOUNDED, N, as_the_twin, begin, close, driven, forms, parts, problem_of, quietly
from southwell import reference
from southwell.methods import AcceleratedCD, AcceleratedSDCA
from southwell.penalties import ElasticNet

STRONG = ["l2", "elastic net", "box", "weights"]


def apcg(side, **options):
    return AcceleratedCD(side, momentum="constant", **options)


def thick(loss, penalty, form="dense"):
    return problem_of(loss, penalty, form, density=0.8)  # no row and no column is empty


def first_of(pairs):
    return pairs[::2]


@pytest.mark.parametrize("penalty", STRONG)
@pytest.mark.parametrize("loss", BOUNDED)
def test_apcg_steps_on_features_are_those_of_the_twin(loss, penalty):
    for form in forms(loss):
        problem = thick(loss, penalty, form)
        for coupling in ("mirror", *(("gram",) if loss == "squared" else ())):
            method = apcg("primal", coupling=coupling)
            as_the_twin(
                method, problem, lambda led, p=problem: (reference.apcg_primal(*parts(p), first_of(led)), None),
                times=(1, 2, 3, 10, 50), dual=False,
            )  # fmt: skip


@pytest.mark.parametrize("penalty", ["l2", "elastic net", "box"])
@pytest.mark.parametrize("loss", BOUNDED)
def test_apcg_steps_on_samples_are_those_of_the_twin(loss, penalty):
    for form in forms(loss):
        problem = thick(loss, penalty, form)
        for t in (1, 2, 3, 10, 50):
            core = begin(apcg("dual"), problem)
            led = core.lead(t)
            close(core.point()[1], reference.apcg_dual(*parts(problem), first_of(led)))


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_apcg_goes_on_when_its_scale_would_underflow(side):
    """rho^k would be 1e-2000: u is scaled, and the answer stays."""
    problem = thick("squared", ElasticNet(l1=0.01, l2=1.0))
    core = begin(apcg(side), problem)
    core.lead(200_000)
    best = sw.solve(problem, tol=1e-14)
    close(core.point()[0], best.x, 1e-7)


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_apcg_loses_its_factor_each_step(side):
    """E F(x_k) - F* <= (1 - m/d)^k (F(x_0) - F* + (mu/2) ||x_0 - x*||_L^2), as a mean over seeds."""
    problem = thick("squared", "l2")
    A, _, s, _, net = parts(problem)
    best = sw.solve(problem, tol=1e-14)
    L = s @ A**2 if side == "primal" else s * s * (A**2 @ (1 / net.l2))
    c = (net.l2 / L).min() if side == "primal" else (s / L).min()
    d, m = L.size, np.sqrt(c / (1 + c))
    values = []
    for seed in range(20):
        r = quietly(problem, method=apcg(side), seed=seed, tol=0.0, max_epochs=40, check_every=1)
        values.append(r.history["latest_primal"] - best.primal if side == "primal"
                      else best.primal - r.history["latest_dual"])  # fmt: skip
    far = best.x if side == "primal" else best.y
    k = r.history["epoch"] * d
    start = values[0][0] + c / 2 * far @ (L * far)
    assert (np.mean(values, axis=0) <= 1.5 * (1 - m / d) ** k * start + 1e-11).all()


def test_constant_momentum_is_refused_where_it_knows_no_convexity():
    with pytest.raises(ValueError, match=r"takes the rule uniform; got hybrid.*growing"):
        AcceleratedCD("primal", "hybrid", momentum="constant")
    with pytest.raises(ValueError, match="Unknown momentum 'steady'"):
        AcceleratedCD(momentum="steady")
    for penalty, intercept in (("l1", False), ("partly free", False), ("l2", True)):
        with pytest.raises(ValueError, match=r"needs l2 > 0 on every coefficient and no intercept on the primal side"):
            sw.solve(problem_of("squared", penalty, intercept=intercept), method=apcg("primal"))
    with pytest.raises(ValueError, match="needs a loss of bounded curvature on the dual side"):
        sw.solve(problem_of("hinge", "l2"), method=apcg("dual"))


@pytest.mark.parametrize("rule", ["shuffled", "uniform"])
@pytest.mark.parametrize("penalty", ["l2", "elastic net"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_accelerated_sdca_solves_its_inner_problems_to_the_accuracy_of_the_paper(loss, penalty, rule):
    strength = {"l2": ElasticNet(l2=0.01), "elastic net": ElasticNet(0.02, 0.01)}[penalty]
    problem = problem_of(loss, strength, "sparse")
    A, _, s, phi, _ = parts(problem)
    kappa = np.max(s * np.sum(A**2, axis=1)) * phi.smoothness - 0.01
    assert kappa > 0
    method = AcceleratedSDCA(inner="accuracy", rule=rule)
    rows = np.reshape(begin(method, problem).draw(30 * N), (30, N))
    y, x, stages = reference.accelerated_sdca(*parts(problem), rows, kappa)
    assert 2 <= stages < 30 or (loss == "logistic" and stages == 30)  # not every epoch is enough
    got = driven(method, problem, 30).point()
    close(got[0], x)
    close(got[1], y)


def test_inner_problems_end_after_epochs_or_at_an_accuracy():
    with pytest.raises(ValueError, match=r"Unknown inner 'acuracy'.*Did you mean 'accuracy'"):
        AcceleratedSDCA(inner="acuracy")
    problem = problem_of("squared", ElasticNet(l2=1e-3))
    for method in (AcceleratedSDCA(), AcceleratedSDCA(inner="accuracy")):
        assert sw.solve(problem, method=method, tol=1e-12, max_epochs=20_000).status is sw.Status.CONVERGED
