"""A = U V, known by its factors: the same problem as the product, for all that do with products."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import D, N, data, factors, honest, penalties, quietly
from southwell.methods import DSPDC, FISTA, LBFGS
from southwell.penalties import ElasticNet
from southwell.testing import check_design

FORMS = {
    "dense": (np.asarray, np.asarray),
    "Fortran": (np.asfortranarray, np.asfortranarray),
    "sparse": (sp.csr_array, sp.csc_array),
    "the wrong way round": (sp.csc_array, sp.csr_array),
    "dense times sparse": (np.asarray, sp.csr_array),
    "sparse times dense": (sp.coo_array, np.asarray),
    "float32": (lambda U: U.astype(np.float32), lambda V: sp.csc_array(V.astype(np.float32))),
    "mixed": (lambda U: U.astype(np.float32), np.asarray),
    "integers": (lambda U: np.round(4 * U).astype(int), lambda V: np.round(4 * V).astype(np.int8)),
}
METHODS = [DSPDC(), DSPDC(rows=3, columns=2), DSPDC(scale="usual", aim="point"), FISTA(), LBFGS(), "auto"]


def pair(loss="squared", penalty="elastic net", form="dense", intercept=False):
    """The same problem twice: by its factors, and formed."""
    _, b, loss, s = data(loss)
    U, V = (to(part) for to, part in zip(FORMS[form], factors(), strict=True))
    penalty = penalties()[penalty] if isinstance(penalty, str) else penalty
    product = np.asarray((sp.csr_array(U).astype(float) @ sp.csr_array(V).astype(float)).todense())
    return tuple(
        sw.Problem(A, b, loss, penalty, intercept=intercept, sample_weight=s) for A in (sw.Factorised(U, V), product)
    )


# Products


@pytest.mark.parametrize("form", FORMS)
def test_products_agree_with_the_formed_matrix(form):
    U, V = (to(part) for to, part in zip(FORMS[form], factors(), strict=True))
    dense = np.asarray((sp.csr_array(U).astype(float) @ sp.csr_array(V).astype(float)).todense())
    check_design(sw.Factorised(U, V), dense)
    check_design(sw.Factorised(U, V), dense, sample_weight=np.arange(N) + 1.0)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 5), (5, 1, 3), (3, 7, 1), (4, 9, 2)])
def test_products_of_odd_shapes(shape):
    n, k, d = shape
    U, V = factors(n, d, k)
    check_design(sw.Factorised(U, V), U @ V)
    check_design(sw.Factorised(sp.csr_array(U), sp.csr_array(V)), U @ V)


def test_norms_agree_with_the_formed_matrix():
    factorised, formed = pair(form="mixed", intercept=True)
    ours, theirs = factorised.ready_layout(), formed.data.ready_layout(None, True)
    w = np.arange(N) + 0.5
    np.testing.assert_allclose(ours.row_squared_norms(), theirs.row_squared_norms(), rtol=1e-12)
    np.testing.assert_allclose(ours.column_squared_norms(w), theirs.column_squared_norms(w), rtol=1e-12)


# The problem


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(  # integers make margins of hundreds, where poisson takes e to their power
    ("loss", "form"), [(loss, form) for loss in ("squared", "hinge", "poisson") for form in FORMS
                       if loss == "squared" or form != "integers"],
)  # fmt: skip
def test_certificates_are_those_of_the_product(loss, form, intercept):
    rng = np.random.default_rng(1)
    for penalty in ("elastic net", "l1", "box", ElasticNet(l1=0.02, l2=0.1, weights=np.arange(D) != 3)):
        factorised, formed = pair(loss, penalty, form, intercept)
        for _ in range(3):
            x = np.clip(0.1 * rng.normal(size=D), -0.2, 0.3)
            c = float(rng.normal()) if intercept else 0.0
            y = formed.loss.derivative(rng.normal(size=N), formed.targets)
            for given in (None, y):
                want = formed.certify(x, given, c)
                np.testing.assert_allclose(factorised.certify(x, given, c), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", [sp.csr_array, lambda A: sw.Factorised(A, np.eye(2))])
def test_the_trivial_bound_always_holds(form):
    """Two unpenalised features and an intercept. D(0) = 0 is a bound whatever y is."""
    U, V = (np.round(4 * part) for part in factors())
    _, b, _, s = data("quantile")
    for loss in ("quantile", "epsilon_insensitive"):
        free = ElasticNet(l1=0.1, weights=np.zeros(2))
        problem = sw.Problem(form(U @ V[:, :2]), b, loss, free, intercept=True, sample_weight=s)
        for seed in range(300):
            rng = np.random.default_rng(seed)
            assert problem.certify(rng.normal(size=2), intercept=float(rng.normal())).dual >= 0


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_lambda_max(loss, intercept):
    factorised, formed = pair(loss, "l1", intercept=intercept)
    top = sw.lambda_max(formed)
    assert sw.lambda_max(factorised) == pytest.approx(top, rel=1e-9)
    r = quietly(factorised.with_penalty(ElasticNet(1.001 * top)), method="fista" if loss != "hinge" else "dspdc")
    assert not r.x.any() or loss == "hinge"


def test_lambda_max_with_free_coefficients_works_or_refuses_kindly():
    factorised, formed = pair("squared", "l1")
    weights = np.where(np.arange(D) == 3, 0.0, 1.0)
    try:
        got = sw.lambda_max(factorised, weights=weights)
    except ValueError as error:
        assert "factorised" in str(error)
    else:
        assert got == pytest.approx(sw.lambda_max(formed, weights=weights), rel=1e-3)


def test_repr_and_properties():
    problem, formed = pair(form="sparse")
    U, V = factors()
    assert repr(problem).startswith(
        f"Problem({N} x {D} factorised, {np.count_nonzero(U) + np.count_nonzero(V)} entries"
    )
    assert problem.factorised and not formed.factorised
    assert problem.data.shape == (N, D) and not problem.data.has_columns()
    assert "Factorised" in repr(sw.Factorised(np.eye(2), np.eye(2)))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_pickles_and_copies(form, intercept):
    problem, _ = pair("logistic", "elastic net", form, intercept)
    r = quietly(problem, method="fista", max_epochs=50)
    for again in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem), copy.copy(problem)):
        assert repr(again) == repr(problem) and again.factorised
        q = quietly(again, method="fista", max_epochs=50)
        assert (q.x == r.x).all() and q.primal == r.primal
    result = pickle.loads(pickle.dumps(r))
    assert (result.x == r.x).all() and result.problem.certify(r.x, intercept=r.intercept) == problem.certify(
        r.x, intercept=r.intercept
    )


def test_other_penalties_and_targets_share_the_factors():
    problem, _ = pair()
    for other in (problem.with_penalty(ElasticNet(l2=1.0)), problem.with_targets(-problem.targets)):
        assert other.data is problem.data and other.factorised
        assert quietly(other, max_epochs=5).epochs <= 5


def test_the_product_is_never_formed():
    """3.2 GB it would be."""
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(20_000, 3)), rng.normal(size=(3, 20_000))
    b = np.sign(U[:, 0] + 0.1)
    tracemalloc.start()
    for method in ("auto", "fista", "lbfgs"):
        r = quietly(sw.Factorised(U, V), b, loss="logistic", l2=1.0, method=method, max_epochs=3)
        assert np.isfinite(r.gap)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


# The answer


@pytest.mark.parametrize(
    ("loss", "method"),
    [
        *((loss, method) for loss in ("squared", "logistic", "smooth_hinge") for method in METHODS),
        *(("hinge", method) for method in METHODS if not isinstance(method, FISTA | LBFGS)),
    ],
    ids=str,
)
def test_the_answer_is_that_of_the_product(loss, method):
    for form in ("dense", "sparse", "mixed"):
        for penalty in ("l2", "elastic net", "box"):
            factorised, formed = pair(loss, penalty, form)
            r = quietly(factorised, method=method, tol=1e-7, max_epochs=100_000)
            assert r.status is sw.Status.CONVERGED, r
            honest(r, quietly(formed, tol=1e-12, max_epochs=20_000).primal)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("penalty", ["l1", "elastic net"])
def test_with_an_intercept_and_without_l2(penalty, method):
    for intercept in (False, True):
        factorised, formed = pair("squared", penalty, "sparse", intercept)
        r = quietly(factorised, method=method, tol=1e-6, max_epochs=100_000)
        assert r.status is sw.Status.CONVERGED, r
        best = quietly(formed, tol=1e-12, max_epochs=20_000)
        honest(r, best.primal)
        if intercept:
            np.testing.assert_allclose(r.intercept, best.intercept, atol=0.05)


@pytest.mark.parametrize("method", [FISTA(), LBFGS()], ids=str)
def test_iterates_are_those_of_the_product(method):
    factorised, formed = pair("logistic", "elastic net", "mixed")
    one, other = (quietly(p, method=method, tol=0.0, max_epochs=12, check_every=1) for p in (factorised, formed))
    np.testing.assert_allclose(one.x, other.x, atol=1e-9)
    np.testing.assert_allclose(one.history["primal"], other.history["primal"], rtol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "hinge", "quantile"])
def test_auto_takes_one_that_can(loss, monkeypatch):
    problem, _ = pair(loss)
    assert "product formed" in quietly(problem, max_epochs=20).method
    monkeypatch.setattr(sw.Problem, "formed", lambda self, most: None)  # as if it were too large
    r = quietly(problem, max_epochs=20)
    if problem.loss.smooth:
        q = quietly(problem, method="fista", max_epochs=20)
        assert r.method == q.method and (r.x == q.x).all()
    else:
        assert "kinks softened" in r.method


def test_a_warm_start_is_proven_at_once():
    problem, formed = pair("smooth_hinge", "l2")
    first = quietly(formed, tol=1e-9, max_epochs=20_000)
    for method in METHODS:
        r = quietly(problem, method=method, warm_start=first, tol=1e-7, max_epochs=5)
        assert r.status is sw.Status.CONVERGED and r.epochs == 0


def test_entries_are_those_of_the_factors():
    """FISTA: a product with A', and one with A for each step tried."""
    problem, _ = pair(form="sparse")
    r = quietly(problem, method="fista", tol=0.0, max_epochs=6, check_every=1)
    each = np.diff(r.history["entries"])
    assert (each % problem.data.stored == 0).all() and (each >= 2 * problem.data.stored).all()
