"""What several saddle methods have in common: lazy steps are eager steps, certificates change nothing, seeds, draws."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import (
    FACTOR_FORMS,
    N,
    begin,
    close,
    dspdc,
    factorised,
    incremental_twin,
    parts,
    problem_of,
    somewhere,
    spdc_twin,
)
from southwell.methods import DGPD, DSPDC, SAG, SAGA, SPDC, SVRG
from southwell.penalties import ElasticNet
from twins import chance

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
def test_thousands_of_lazy_steps(method, penalty):
    """The reference moves every coordinate at every step. The dual start pulls many across zero and back."""
    A = thin(40, 300, 3)
    rng = np.random.default_rng(7)
    b = A @ rng.normal(size=300) + rng.normal(size=40)
    problem = sw.Problem(sp.csr_array(A), b, "squared", LAZY[penalty], sample_weight=rng.uniform(0.3, 2.0, 40))
    x = np.clip(
        np.where(rng.random(300) < 0.3, 0.0, rng.normal(size=300)), *(parts(problem)[4].lo, parts(problem)[4].hi)
    )
    start = {"x": x, "y": problem.loss.derivative(A @ x, b)}
    steps = 1000 if method == SPDC(batch=4) else 3000  # each coordinate is skipped a hundred times in a row
    core = begin(method, problem, x=x)
    led = core.lead(steps)
    got = core.point()
    if isinstance(method, SAGA):
        close(got[0], incremental_twin(method, problem, start)(led)[0], 1e-10)
    else:
        for a, b in zip(got, spdc_twin(method, problem, start)(led), strict=True):
            close(a, b, 1e-10)


# Certificates, seeds and draws


@pytest.mark.parametrize("method", [SPDC(), SPDC(batch=4), SAGA(), SAG(), dspdc(3, 2), dspdc(2, 2)])
def test_certificates_change_nothing(method):
    problem = problem_of("logistic", "l2", "sparse")
    one, other = begin(method, problem), begin(method, problem)
    for k in (1, 10, 200):
        assert one.lead(k) == other.lead(k)
        one.settle()
        close(one.point()[0], other.point()[0])


@pytest.mark.parametrize("form", FACTOR_FORMS)
@pytest.mark.parametrize("method", [dspdc(3, 2), dspdc(2, 2)])
def test_certificates_change_nothing_between_factors(method, form):
    problem = factorised("logistic", "l2", form)
    one, other = begin(method, problem), begin(method, problem)
    for k in (1, 10, 200):
        assert one.lead(k) == other.lead(k)
        one.settle()
        close(one.point()[0], other.point()[0])


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


def test_rows_of_the_others_are_uniform():
    problem = problem_of("squared", "l2")
    for method in (SPDC(), SAGA(), SAG(), SVRG()):
        assert chance(begin(method, problem).lead(20_000), np.full(N, 1 / N)) > 1e-4
