"""Saddle methods on odd data and from odd starts: no crash, and true certificates."""

import warnings
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddle_methods import METHODS, takes
from saddles import D, honest, problem_of, quietly
from southwell.penalties import ElasticNet

# Odd data


def rolled(d=6, n=12):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(n, d))
    return A, A @ rng.normal(size=d) + 0.3


def wide(A):
    A = sp.csr_array(A)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def odd_cases():
    A, b = rolled()
    holes = np.where(np.arange(6) % 2, A, 0) * (np.arange(12) % 3 > 0)[:, None]
    return {
        "one sample": (A[:1], b[:1], None),
        "one feature": (A[:, :1], b, None),
        "one number": (A[:1, :1], b[:1], None),
        "two samples": (sp.csr_array(A[:2]), b[:2], None),
        "empty rows and columns": (holes, b, None),
        "empty rows and columns, sparse": (sp.csc_array(holes), b, None),
        "constant targets": (A, np.ones(12), None),
        "targets of 0": (A, np.zeros(12), None),
        "nothing but zeros": (0 * A, b, None),
        "nothing at all": (sp.csr_array((12, 6)), b, None),
        "half of the weights 0": (A, b, np.arange(12) % 2),
        "weights of all sizes": (sp.csr_array(A), b, np.r_[1e-300, 1, np.zeros(4), 1e-12, np.ones(4), 1e6]),
        "duplicates": (np.repeat(A[:4], 3, axis=0)[:, [0, 0, 1, 1, 2, 2]], np.repeat(b[:4], 3), None),
        "ties": (np.ones((12, 6)), np.where(np.arange(12) % 2, 1.5, -0.5), None),
        "float32": (A.astype(np.float32), b.astype(np.float32), None),
        "int64 indices": (wide(A), b, None),
        "integers": (np.round(3 * A).astype(np.int16), np.round(b).astype(int), None),
        "Fortran order": (np.asfortranarray(A), b, None),
    }  # fmt: skip


ODD = list(odd_cases())


def odd_problem(case, loss, penalty, intercept):
    A, b, s = odd_cases()[case] if isinstance(case, str) else case
    kind = sw.losses.get(loss).targets
    if kind == "signs":
        b = np.where(b > np.median(b), 1.0, -1.0)
        b[-1], b[-2:-1] = 1.0, -1.0
        if b.size == 1:
            return None  # both classes are needed
    b = np.abs(b) if kind == "counts" else np.abs(b) + 0.1 if kind == "positive" else b
    return sw.Problem(A, b, loss, penalty, intercept=intercept, sample_weight=s)


def fitted(method, problem):
    """The method with no more rows and columns than there are."""
    most = {"batch": problem.n_samples, "rows": problem.n_samples, "columns": problem.n_features + problem.intercept}
    options = {
        name: min(given, most[name])
        for name in most
        if isinstance(given := getattr(method, name, None), int)
    }  # fmt: skip
    return replace(method, **options)


@cache
def bounds(case, loss, l1, l2, intercept):
    r = quietly(odd_problem(case, loss, ElasticNet(l1, l2), intercept), tol=1e-12, max_epochs=3000)
    return r.dual, r.primal


def odd_run(name, case, loss, l1, l2, intercept, between, epochs=60):
    """If the method takes such problems."""
    penalty = ElasticNet(l1, l2)
    if takes(name, loss, penalty, intercept) and (problem := odd_problem(case, loss, penalty, intercept)) is not None:
        r = quietly(problem, method=fitted(METHODS[name], problem), max_epochs=epochs, max_seconds=300)
        honest(r)
        low, high = between
        unit = max(abs(r.primal), r.scale, np.finfo(float).tiny)
        assert r.primal >= low - 1e-9 * unit and r.dual <= high + 1e-9 * unit
        assert r.status is not sw.Status.MAX_SECONDS


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("name", METHODS)
def test_certificates_agree_on_odd_data(name, case):
    """No crash, and certificates that agree with those of coordinate descent."""
    for loss in ("squared", "logistic", "hinge"):
        if odd_problem(case, loss, ElasticNet(), False) is None:
            continue
        for l1, l2, intercept in ((0.0, 0.1, False), (0.01, 0.1, True), (0.05, 0.0, False)):
            odd_run(name, case, loss, l1, l2, intercept, bounds(case, loss, l1, l2, intercept))


@pytest.mark.parametrize("name", METHODS)
def test_certificates_agree_on_odd_data_with_counts(name):
    for case in ("one sample", "targets of 0", "nothing at all", "weights of all sizes", "ties"):
        for l1, l2 in ((0.0, 0.1), (0.05, 0.0)):
            odd_run(name, case, "poisson", l1, l2, False, bounds(case, "poisson", l1, l2, False))


@pytest.mark.parametrize(
    "case", ["one number", "nothing at all", "targets of 0", "ties", "duplicates", "int64 indices"]
)
@pytest.mark.parametrize("name", [name for name in METHODS if takes(name, "squared", ElasticNet(l2=0.1))])
def test_easy_odd_data_are_solved(name, case):
    """These are easy."""
    problem = odd_problem(case, "squared", ElasticNet(l2=0.1), False)
    r = sw.solve(problem, method=fitted(METHODS[name], problem), max_epochs=10_000)
    assert r.status is sw.Status.CONVERGED
    if case in ("nothing at all", "targets of 0"):
        assert not r.x.any()


def scaled(what, size):
    A, b = rolled()
    columns = np.where(np.arange(6) % 2, size, 1.0)
    return {"A": (size * A, b, None), "b": (A, size * b, None), "columns": (A * columns, b, None)}[what]


@pytest.mark.parametrize("what", ["A", "b", "columns"])
@pytest.mark.parametrize("name", METHODS)
def test_answers_are_honest_where_numbers_overflow_or_vanish(name, what):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for size, loss in product((1e-150, 1e-30, 1e30, 1e150), ("squared", "logistic")):
            for l1, l2, intercept in ((0.0, 0.1, False), (0.01, 0.1, True)):
                if not takes(name, loss, ElasticNet(l1, l2), intercept):
                    continue
                problem = odd_problem(scaled(what, size), loss, ElasticNet(l1, l2), intercept)
                r = quietly(problem, method=fitted(METHODS[name], problem), max_epochs=30)
                assert np.isfinite(r.x).all() and not np.isnan([r.primal, r.dual, r.gap]).any()
                if r.status:
                    honest(r)


def test_huge_counts_are_honest():
    A, b = rolled()
    for method in ("fista", "spdc", "dspdc", "dgpd"):
        honest(quietly(A, 1e30 * np.abs(b), loss="poisson", l1=0.01, l2=0.1, method=method, max_epochs=30))


# Warm starts


BOX = ElasticNet(l1=0.01, l2=0.1, lower=-0.1, upper=0.2)


@pytest.mark.parametrize("name", [name for name in METHODS if takes(name, "squared", BOX)])
def test_starts_outside_the_box_are_brought_inside(name):
    problem = problem_of("squared", BOX, "sparse")
    r = quietly(problem, method=METHODS[name], warm_start=np.full(D, 0.3), max_epochs=3)
    assert r.x.min() >= -0.1 and r.x.max() <= 0.2
    honest(r)


@pytest.mark.parametrize("name", METHODS)
def test_a_result_of_other_targets_may_be_a_start(name):
    """Its y is outside the domain of phi*, or of another length."""
    other = problem_of("squared", ElasticNet(l2=0.1))
    first = sw.solve(sw.Problem(other.data.rows, 50 * other.targets, penalty=ElasticNet(l2=0.1)))
    for loss in ("logistic", "huber"):
        problem = problem_of(loss, ElasticNet(l2=0.1))
        if takes(name, loss, problem.penalty):
            r = quietly(problem, method=METHODS[name], warm_start=first, max_epochs=20_000)
            assert r.status is sw.Status.CONVERGED
            honest(r)
