"""Methods that read rows of A = U V, or keep vectors between the factors, move as they do on the formed product."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import (
    BOUNDED,
    FACTOR_FORMS,
    TIMES,
    N,
    as_the_twin,
    begin,
    close,
    factorised,
    honest,
    incremental_twin,
    parts,
    quietly,
    somewhere,
    spdc_twin,
)
from southwell.methods import SAG, SAGA, SPDC, SVRG, CoordinateDescent
from southwell.penalties import ElasticNet

INCREMENTAL = [SAGA(), SAG(), SVRG()]
DUAL = CoordinateDescent("dual", coupling="mirror")
SMOOTH = ("l2",)


def formed(problem):
    """The same problem on the product; sparse with an intercept, because columns of dense data are then centred."""
    A = parts(problem)[0][:, : problem.n_features]
    return sw.Problem(
        sp.csr_array(A) if problem.intercept else np.ascontiguousarray(A), problem.targets, problem.loss,
        problem.penalty, intercept=problem.intercept, sample_weight=problem.weights,
    )  # fmt: skip


def moves_as_on_the_product(method, problem, start=None, times=TIMES):
    """The same draws, and the same numbers up to rounding."""
    where = {} if start is None else {"x": start["x"]}
    for t in times:
        one, other = (begin(method, p, **where) for p in (problem, formed(problem)))
        assert one.lead(t) == other.lead(t)
        for got, want in zip(one.point(), other.point(), strict=True):
            close(got, want)


@pytest.mark.parametrize("form", FACTOR_FORMS)
@pytest.mark.parametrize("method", [*INCREMENTAL, SPDC(), SPDC(sampling="norms"), DUAL], ids=str)
def test_rows_are_those_of_the_product(method, form):
    for loss in ("squared", "logistic"):
        for penalty in ("l2", "elastic net", "box"):
            if isinstance(method, SAG) and penalty not in SMOOTH:
                continue
            for intercept in (False, True):
                problem = factorised(loss, penalty, form, intercept)
                moves_as_on_the_product(method, problem, times=(1, 2, 50))
                moves_as_on_the_product(method, problem, somewhere(problem), times=(1, 50))


@pytest.mark.parametrize("method", INCREMENTAL, ids=str)
@pytest.mark.parametrize("loss", BOUNDED)
def test_incremental_steps_on_factors_are_those_of_the_twin(loss, method):
    problem = factorised(loss, "l2", "sparse times dense")
    as_the_twin(method, problem, incremental_twin(method, problem), dual=False)


@pytest.mark.parametrize("loss", ["hinge", "smooth_hinge", "quantile"])
@pytest.mark.parametrize("rule", ["cyclic", "shuffled", "uniform"])
def test_dual_steps_after_each_of_fifty(loss, rule):
    for penalty in ("l2", "elastic net", "l1"):
        problem = factorised(loss, penalty, "sparse")
        moves_as_on_the_product(CoordinateDescent("dual", rule, "mirror"), problem, times=range(1, 51))


def batch_twin(method, problem, start=None):
    """``lead`` tells the rows, and then all columns."""
    plain, m = spdc_twin(method, problem, start), method.batch
    size = problem.n_features + problem.intercept
    return lambda led: plain(np.reshape(led, (-1, m + size))[:, :m])


@pytest.mark.parametrize("form", FACTOR_FORMS)
@pytest.mark.parametrize("method", [SPDC(batch=5), SPDC(batch=N)], ids=str)
def test_batches_of_spdc_between_factors_are_those_of_the_twin(method, form):
    for loss in ("squared", "hinge"):
        for penalty in ("elastic net", "box", "l1"):
            for intercept in (False, True):
                problem = factorised(loss, penalty, form, intercept)
                as_the_twin(method, problem, batch_twin(method, problem), times=(1, 2, 50))
                start = somewhere(problem)
                as_the_twin(method, problem, batch_twin(method, problem, start), start, times=(1, 50))


@pytest.mark.parametrize(
    "method", [SAGA(), SAG(), SVRG(), SPDC(), SPDC(sampling="norms"), CoordinateDescent()], ids=str
)
def test_answers_on_factors_are_proven(method):
    for loss, penalty in (("squared", "l2"), ("smooth_hinge", "l2"), ("logistic", "elastic net")):
        if isinstance(method, SAG) and penalty not in SMOOTH:
            continue
        for intercept in (False, True):
            problem = factorised(loss, penalty, "mixed", intercept)
            r = quietly(problem, method=method, tol=1e-7, max_epochs=100_000)
            assert r.status is sw.Status.CONVERGED, r
            honest(r, quietly(formed(problem), tol=1e-12).primal)


def test_squares_of_rows_at_set_up_are_those_of_the_product():
    problem = factorised("squared", "l2", "sparse", True)
    np.testing.assert_allclose(problem.ready_layout().row_squared_norms(), np.sum(parts(problem)[0] ** 2, axis=1))


@pytest.mark.parametrize(
    ("method", "match"),
    [
        (CoordinateDescent("primal"), "for the dual side with coupling='mirror'; got side='primal'"),
        (CoordinateDescent("dual", coupling="gram"), "for the dual side with coupling='mirror'; got coupling='gram'"),
        (CoordinateDescent(rule="greedy"), "On factorised data the rule must be one of .*cyclic.*got greedy"),
    ],
    ids=str,
)
def test_what_would_read_columns_is_refused(method, match):
    with pytest.raises(ValueError, match=match):
        sw.solve(factorised("squared", "l2", "dense"), method=method)
    with pytest.raises(ValueError, match="Coordinate descent on the dual needs a penalty"):
        sw.solve(factorised("squared", ElasticNet(), "dense"), method=CoordinateDescent())


def test_rows_held_by_one_solve_are_not_those_of_another():
    """Two algorithms on one problem, in turns."""
    problem = factorised("squared", "l2", "dense")
    one, two, alone = (begin(SAGA(), problem, seed) for seed in (0, 1, 0))
    for _ in range(20):
        one.lead(1)
        two.lead(1)
    alone.lead(20)
    close(one.point()[0], alone.point()[0], 0.0)
