"""Many problems at once: the numbers of one by one, shared data, and every way to stop."""

import gc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from many_problems import CLASSES, FORMS, D, N, agrees, made, same
from saddles import factors, honest
from southwell.methods import DGPD, DSPDC, FISTA, LBFGS, SAGA, SPDC, CoordinateDescent
from southwell.penalties import ElasticNet, Groups, MaxGroups

# The numbers of one by one


@pytest.mark.parametrize("threads", [1, 2, 7, None])
@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_those_of_one_by_one(form, threads):
    A, labels = made()
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    for intercept in (False, True):
        options = {"loss": "logistic", "l1": 0.005, "l2": 0.01, "intercept": intercept, "seed": 3}
        results = sw.solve_many(FORMS[form](A), labels, n_threads=threads, **options)
        agrees(FORMS[form](A), targets, results, **options)
        assert results.converged and (results.classes == np.arange(CLASSES)).all()


@pytest.mark.parametrize(
    "method",
    [
        "auto", CoordinateDescent(side="primal"), CoordinateDescent(side="dual"), CoordinateDescent(rule="greedy"),
        CoordinateDescent(side="primal", rule="hybrid"), SPDC(), SPDC(batch=8), DSPDC(rows=4, columns=2),
        SAGA(), FISTA(), LBFGS(), DGPD(), DGPD(active_sets=False), "accelerated_sdca", "accelerated_cd",
    ],
    ids=str,
)  # fmt: skip
def test_every_method_gives_the_numbers_of_single_solves(method):
    A, labels = made()
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    options = {"loss": "smooth_hinge", "l2": 0.05, "method": method, "max_epochs": 5000}
    results = sw.solve_many(sp.csr_array(A), labels, n_threads=3, **options)
    agrees(sp.csr_array(A), targets, results, **options)


def test_between_factors():
    U, V = factors(N, D)
    labels = made()[1]
    results = sw.solve_many(sw.Factorised(U, V), labels, loss="squared_hinge", l2=0.05, max_epochs=5000)
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    agrees(sw.Factorised(U, V), targets, results, loss="squared_hinge", l2=0.05, max_epochs=5000)


def test_options_reach_every_problem():
    A, labels = made()
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    options = {
        "loss": sw.losses.SmoothHinge(0.5), "penalty": ElasticNet(0.01, 0.02, weights=np.arange(D) % 3, lower=-0.5),
        "sample_weight": np.arange(N) % 3 + 1, "tol": 1e-9, "check_every": 3, "seed": 11, "record_history": False,
        "max_epochs": 5000,
    }  # fmt: skip
    results = sw.solve_many(A, labels, **options)
    agrees(A, targets, results, **options)
    assert all(len(r.history["epoch"]) == 1 and r.tol == 1e-9 for r in results)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("penalty", [Groups, MaxGroups])
@pytest.mark.parametrize("form", ["dense", "centred"])
def test_groups_give_the_numbers_of_single_solves(form, penalty, loss):
    A, labels = made()
    A = A if form == "dense" else sw.Centred(sp.csr_array(A))
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    options = {"loss": loss, "penalty": penalty(0.02, groups=np.arange(D) // 2), "intercept": True, "tol": 1e-9}
    results = sw.solve_many(A, labels if loss == "logistic" else targets, n_threads=2, **options)
    agrees(A, targets, results, **options)
    assert results.converged
    margins = results.decision_function(A.A if form == "centred" else A)
    expected = np.column_stack([r.decision_function(A.A if form == "centred" else A) for r in results])
    np.testing.assert_allclose(margins, expected, atol=1e-12)


# Targets


@pytest.mark.parametrize("labels", ["strings", "bytes", "floats", "booleans", "list", "objects", "negative"])
def test_labels_of_any_kind(labels):
    A, codes = made()
    names = np.array(["ant", "bee", "cow", "dog"])
    given = {
        "strings": names[codes], "bytes": names.astype("S")[codes], "floats": codes / 2.0, "booleans": codes > 1,
        "list": names[codes].tolist(), "objects": names.astype(object)[codes], "negative": -codes,
    }[labels]  # fmt: skip
    results = sw.solve_many(A, given, loss="hinge", l2=0.1)
    classes = np.unique(given)
    assert (results.classes == classes).all() and len(results) == classes.size
    for k, name in enumerate(classes):
        same(results[k], sw.solve(A, np.where(np.asarray(given) == name, 1.0, -1.0), loss="hinge", l2=0.1))


def test_two_classes_are_two_problems_that_mirror_each_other():
    A, codes = made()
    one, other = sw.solve_many(A, codes > 1, loss="logistic", l2=0.1, tol=1e-10)
    np.testing.assert_allclose(one.x, -other.x, atol=1e-5)


@pytest.mark.parametrize(
    "form",
    [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array, lambda Y: Y.astype(bool), lambda Y: Y.astype(np.int8)],
)
def test_several_labels_give_the_numbers_of_single_solves(form):
    A, _ = made()
    marks = np.random.default_rng(1).random((N, 3)) < [0.5, 0.2, 0.8]
    results = sw.solve_many(A, form(marks.astype(float)), loss="squared_hinge", l2=0.1)
    agrees(A, np.where(marks, 1.0, -1.0), results, loss="squared_hinge", l2=0.1)
    signs = sw.solve_many(A, np.where(marks, 1, -1), loss="squared_hinge", l2=0.1)
    assert results.classes is None and signs.classes is None
    for r, q in zip(results, signs, strict=True):
        same(r, q)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.asfortranarray, lambda Y: Y.tolist()])
@pytest.mark.parametrize("loss", ["squared", "huber", "quantile"])
def test_regression_gives_the_numbers_of_single_solves(loss, form):
    A, _ = made()
    Y = A @ np.random.default_rng(2).normal(size=(D, 3)) + 0.1
    Y[Y < 0] = 0.0
    options = {"loss": loss, "l1": 0.01, "l2": 0.1, "intercept": True}
    results = sw.solve_many(A, form(Y), **options)
    agrees(A, Y, results, **options)
    assert results.classes is None


def test_counts_give_the_numbers_of_single_solves():
    A, _ = made()
    Y = np.random.default_rng(3).poisson(2.0, (N, 2))
    agrees(0.3 * A, Y, sw.solve_many(0.3 * A, Y, loss="poisson", l2=0.1), loss="poisson", l2=0.1)


def test_one_column_is_one_problem():
    A, _ = made()
    b = A[:, 0] + 1
    agrees(A, b[:, None], sw.solve_many(A, b[:, None], l2=0.1, n_threads=5), l2=0.1)


# What is shared


@pytest.mark.parametrize("form", FORMS)
def test_data_and_layouts_are_shared(form):
    A, labels = made()
    results = sw.solve_many(FORMS[form](A), labels, loss="hinge", l2=0.1)
    problems = [r.problem for r in results]
    first = problems[0]
    for other in problems[1:]:
        assert other.data is first.data and other.weights is first.weights
        assert other.targets is not first.targets
        for name in ("rows", "columns"):
            assert getattr(other.data, name) is getattr(first.data, name)


def test_what_is_computed_from_the_data_is_shared():
    A, labels = made()
    results = sw.solve_many(A, labels, loss="hinge", l2=0.1)
    first, other = results[0].problem, results[1].problem
    assert first.layout(False) is other.layout(False)
    assert first.keep("a key", lambda: 1) == other.keep("a key", lambda: 2)


def test_data_are_not_copied():
    """100 problems on 4 MB."""
    tracemalloc = pytest.importorskip("tracemalloc")
    rng = np.random.default_rng(0)
    A, labels = np.asfortranarray(rng.normal(size=(2000, 250))), np.arange(2000) % 100
    gc.collect()
    tracemalloc.start()
    results = sw.solve_many(
        A, labels, loss="squared_hinge", l2=1.0, method=CoordinateDescent(side="primal"), max_epochs=5
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(results) == 100
    assert peak < 2 * A.nbytes + 100 * 40 * (2000 + 250)


# The results


def test_results_are_a_sequence():
    A, labels = made()
    results = sw.solve_many(A, labels, loss="logistic", l1=0.01, l2=0.01, intercept=True)
    assert len(results) == CLASSES and [r is results[k] for k, r in enumerate(results)] == [True] * CLASSES
    assert results[-1] is results.results[-1]
    assert sp.issparse(results.x) and results.x.shape == (CLASSES, D)
    assert (results.x.toarray() == [r.x for r in results]).all() and results.x.nnz == sum(r.nonzeros for r in results)
    assert results.intercepts.tolist() == [r.intercept for r in results]
    assert results.gaps.tolist() == [r.relative_gap for r in results]
    assert results.converged and results.seconds > 0
    for r in results:
        honest(r)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda A: A.astype(np.float32)])
def test_margins(form):
    A, labels = made()
    results = sw.solve_many(A, labels, loss="logistic", l2=0.001, intercept=True)
    margins = results.decision_function(form(A))
    assert isinstance(margins, np.ndarray) and margins.shape == (N, CLASSES)
    np.testing.assert_allclose(margins, np.column_stack([A @ r.x + r.intercept for r in results]), atol=1e-5)
    assert np.mean(results.classes[np.argmax(margins, axis=1)] == labels) > 0.8


def test_results_are_shown_in_few_lines():
    A, labels = made()
    text = repr(sw.solve_many(A, labels, loss="hinge", l2=0.1))
    assert text.startswith(f"Results: {CLASSES} of {CLASSES} converged\n")
    assert "nonzeros" in text and "epochs" in text and len(text.splitlines()) == 4


def test_one_warning_for_all():
    A, labels = made()
    with pytest.warns(sw.ConvergenceWarning) as caught:
        results = sw.solve_many(A, labels, loss="logistic", l2=1e-4, tol=1e-14, max_epochs=1, method="spdc")
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert f"{CLASSES} of {CLASSES} problems" in text and "max_epochs" in text and "1e-14" in text
    assert f"{results.gaps.max():.3g}" in text
    assert not results.converged and repr(results).startswith(f"Results: 0 of {CLASSES} converged")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.solve_many(A, labels, loss="logistic", l2=0.1)
