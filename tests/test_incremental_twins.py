"""SAGA, SAG, SVRG, SGD and MISO move as their slow twins in NumPy do."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import southwell as sw
from saddles import (
    ALL,
    BOUNDED,
    FORMS,
    TIMES,
    D,
    N,
    as_the_twin,
    begin,
    close,
    driven,
    forms,
    incremental_twin,
    parts,
    problem_of,
    somewhere,
)
from southwell import reference
from southwell.methods import MISO, SAG, SAGA, SGD, SVRG
from southwell.penalties import ElasticNet


def incremental_as_the_twin(method, problem, start=None, times=TIMES):
    """Their y are the derivatives at x; their tables stay inside."""
    as_the_twin(method, problem, incremental_twin(method, problem, start), start, times, dual=False)


FREE = {"none": ElasticNet(), "box alone": ElasticNet(lower=-0.1, upper=0.2), "tiny": ElasticNet(l1=0.01, l2=1e-8)}


@pytest.mark.parametrize("method", [SAGA(), SVRG(), SGD()])
@pytest.mark.parametrize("loss", BOUNDED)
def test_incremental_steps_are_those_of_the_twin(loss, method):
    for penalty in [*ALL, *FREE.values()]:
        for form in forms(loss):
            incremental_as_the_twin(method, problem_of(loss, penalty, form))


@pytest.mark.parametrize("loss", BOUNDED)
def test_sag_steps_are_those_of_the_twin(loss):
    for penalty in ("l2", ElasticNet(), ElasticNet(l2=0.1, weights=np.arange(D) % 3)):
        for form in forms(loss):
            incremental_as_the_twin(SAG(), problem_of(loss, penalty, form))


def well_shifted(problem, start):
    """The start with its best intercept, where the table of gradients begins."""
    A, b, s, loss, _ = parts(problem)
    if problem.intercept:
        start["x"][-1] += reference.best_shift(b, s, loss, A @ start["x"])
    return start


@pytest.mark.parametrize("method", [SAGA(), SVRG(), SAG(), SGD(), SAGA(step=0.05)])
def test_incremental_gradients_with_an_intercept_and_from_elsewhere(method):
    for form in FORMS:
        for penalty in ("l2", *(("box", "partly free", "l1") if method.name != "sag" else ())):
            for intercept in (False, True):
                problem = problem_of("logistic", penalty, form, intercept=intercept)
                for start in ({"x": np.zeros(D + intercept)}, somewhere(problem)):
                    incremental_as_the_twin(method, problem, well_shifted(problem, start), times=(1, 50))


@pytest.mark.parametrize("method", [SAGA(), SAG(), SVRG(), SGD()])
def test_incremental_gradients_after_each_of_fifty_steps(method):
    problem = problem_of("squared", "l2" if method.name == "sag" else "box", "sparse")
    incremental_as_the_twin(method, problem, times=range(1, 51))


@pytest.mark.parametrize("stage", [1, 7, 25])
def test_stages_of_svrg_are_those_of_the_twin(stage):
    """A certificate is a snapshot; without one, so is every snapshot_every-th epoch."""
    problem = problem_of("logistic", "elastic net", "sparse")
    core, led = begin(SVRG(), problem), []
    for _ in range(4):
        led += core.lead(stage)
        core.settle()
    close(core.point()[0], incremental_twin(SVRG(), problem, stage=stage)(led)[0])
    for every in (1, 3):
        method = SVRG(snapshot_every=every)
        led = begin(method, problem).draw(7 * N)
        close(driven(method, problem, 7).point()[0], incremental_twin(method, problem, stage=every * N)(led)[0])


@pytest.mark.parametrize("method", [SAGA(), SAG()])
def test_epochs_are_steps_on_as_many_rows(method):
    problem = problem_of("logistic", "l2", "sparse")
    led = begin(method, problem).draw(7 * N)
    close(driven(method, problem, 7).point()[0], incremental_twin(method, problem)(led)[0])


@pytest.mark.parametrize(
    ("penalty", "intercept"),
    [("elastic net", False), ("l1", False), ("box", False), ("l2", True), ("partly free", True)],
)
def test_steps_of_sgd_become_shorter_after_every_epoch(penalty, intercept):
    for form in FORMS:
        problem = problem_of("logistic", penalty, form, intercept=intercept)
        led = begin(SGD(), problem).draw(7 * N)
        start = {"x": np.zeros(D + intercept)}
        got = driven(SGD(), problem, 7).point()[0]
        close(got[:D], incremental_twin(SGD(), problem, start, stage=N)(led)[0][:D])


def test_sgd_comes_near():
    for penalty, tol in (("elastic net", 1e-2), ("l1", 3e-2)):
        r = sw.solve(problem_of("logistic", penalty, "sparse"), method=SGD(), tol=tol, max_epochs=5000)
        assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize("share", [None, 1.0, 0.3])
@pytest.mark.parametrize("loss", BOUNDED)
def test_miso_steps_are_those_of_the_twin(loss, share):
    for penalty in ("l2", "elastic net", "box", "weights"):
        for form in forms(loss):
            problem = problem_of(loss, penalty, form)
            A, _, s, phi, net = parts(problem)
            L = phi.smoothness * np.max(s.size * s * np.sum(A**2, axis=1))
            used = min(1.0, s.size * net.l2.min() / (2 * L)) if share is None else share
            as_the_twin(MISO(share), problem, lambda led, used=used, p=problem: reference.miso(*parts(p), led, used))


def test_the_share_of_miso_is_at_most_one():
    problem = problem_of("squared", ElasticNet(l2=1e3))
    assert MISO().prepare(problem, sw.methods.Start(np.zeros(D)), 0).description == "MISO, share 1"


@given(
    st.floats(-3, 3), st.floats(-0.5, 0.5), st.sampled_from([0.0, 1e-6, 0.05, 0.3]),
    st.sampled_from([0.0, 1e-12, 1e-8, 1e-3, 1.0]), st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([(-np.inf, np.inf), (-0.5, 0.7), (0.0, np.inf), (0.3, 2.0)]), st.floats(1e-3, 3.0),
    st.integers(0, 2**16),
)  # fmt: skip
def test_a_coordinate_that_waits(start, slope, l1, l2, weight, box, step, seed):
    """Column 0 is met by one row of 40, whose derivative is ``slope`` times 40 and changes little: it drifts for long,
    across zero, into bounds, to rest."""
    A = np.zeros((40, 2))
    A[0, 0], A[1:, 1] = 1.0, 0.1
    b = np.append(start - 40 * slope, np.ones(39))
    penalty = ElasticNet(l1, l2, weights=[weight, 1.0], lower=[box[0], -np.inf], upper=[box[1], np.inf])
    problem = sw.Problem(sp.csr_array(A), b, "huber", penalty)
    core = begin(SAGA(step=step), problem, seed, x=np.array([start, 0.0]))
    led = core.lead(300)
    x = np.array([np.clip(start, *box), 0.0])
    close(core.point()[0], reference.saga(*parts(problem), led, step, x=x)[0])
