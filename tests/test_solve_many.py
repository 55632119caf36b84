"""Many problems at once: the numbers of one by one, shared data, and every way to stop."""

import gc
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import factors, honest
from signals import signal_on_call
from southwell.methods import DGPD, DSPDC, FISTA, LBFGS, SAGA, SPDC, CoordinateDescent
from southwell.penalties import ElasticNet
from test_control import hard

N, D, CLASSES = 90, 12, 4
FORMS = {
    "dense": np.asarray,
    "Fortran": np.asfortranarray,
    "sparse": sp.csr_array,
    "by columns": sp.csc_array,
    "centred": lambda A: sw.Centred(sp.csr_array(A)),
    "float32": lambda A: A.astype(np.float32),
}

CD = "coordinate_descent"  # it takes as long as one likes


def made(seed=0):
    """Data with holes, and the class whose direction is nearest."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    return A, np.argmax(A @ rng.normal(size=(D, CLASSES)) + 0.3 * rng.normal(size=(N, CLASSES)), axis=1)


def same(r, q):
    """Bit for bit, but for the time it took."""
    assert r.x.tobytes() == q.x.tobytes() and r.y.tobytes() == q.y.tobytes()
    fields = "intercept", "primal", "dual", "gap", "scale", "status", "epochs", "method", "tol"
    assert all(getattr(r, name) == getattr(q, name) for name in fields)
    for name, column in r.history.items():
        assert name == "seconds" or (column == q.history[name]).all()


def agrees(A, targets, results, **options):
    assert len(results) == targets.shape[1]
    for k in range(targets.shape[1]):
        same(results[k], sw.solve(A, targets[:, k], **options))


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
def test_with_every_method(method):
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
def test_multi_label(form):
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
def test_regression(loss, form):
    A, _ = made()
    Y = A @ np.random.default_rng(2).normal(size=(D, 3)) + 0.1
    Y[Y < 0] = 0.0
    options = {"loss": loss, "l1": 0.01, "l2": 0.1, "intercept": True}
    results = sw.solve_many(A, form(Y), **options)
    agrees(A, Y, results, **options)
    assert results.classes is None


def test_counts():
    A, _ = made()
    Y = np.random.default_rng(3).poisson(2.0, (N, 2))
    agrees(0.3 * A, Y, sw.solve_many(0.3 * A, Y, loss="poisson", l2=0.1), loss="poisson", l2=0.1)


def test_one_column():
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
    margins = results.margins(form(A))
    assert isinstance(margins, np.ndarray) and margins.shape == (N, CLASSES)
    np.testing.assert_allclose(margins, np.column_stack([A @ r.x + r.intercept for r in results]), atol=1e-5)
    assert np.mean(results.classes[np.argmax(margins, axis=1)] == labels) > 0.8


def test_repr():
    A, labels = made()
    text = repr(sw.solve_many(A, labels, loss="hinge", l2=0.1))
    assert text.startswith(f"Results: {CLASSES} of {CLASSES} converged\n")
    assert "nonzeros" in text and "epochs" in text and len(text.splitlines()) == 4


def test_one_warning_for_all():
    A, labels = made()
    with pytest.warns(sw.ConvergenceWarning) as caught:
        results = sw.solve_many(A, labels, loss="logistic", l2=1e-4, tol=1e-14, max_epochs=2)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert f"{CLASSES} of {CLASSES} problems" in text and "max_epochs" in text and "1e-14" in text
    assert f"{results.gaps.max():.3g}" in text
    assert not results.converged and repr(results).startswith(f"Results: 0 of {CLASSES} converged")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.solve_many(A, labels, loss="logistic", l2=0.1)


# Refusals


@pytest.mark.parametrize(
    ("Y", "options", "error", "match"),
    [
        (np.zeros(N), {}, ValueError, "at least two classes; got 1"),
        (np.zeros(N), {"loss": "squared"}, ValueError, "Y must be a matrix with a column for each problem"),
        (np.zeros((N, 2, 2)), {}, ValueError, r"got shape \(90, 2, 2\)"),
        (np.zeros((N, 0)), {}, ValueError, "a column for each problem"),
        (sp.csr_array((N, 0)), {}, ValueError, "no columns"),
        ([[1, 2], [3]], {}, ValueError, "mixed shapes"),
        (np.arange(N - 1) % 3, {}, ValueError, f"must have {N} entries"),
        (np.tile([0, 2], (N, 1)), {}, ValueError, r"takes targets -1 and \+1; got 0"),
        (np.tile([0, 1], (N, 1)), {}, ValueError, "needs both classes"),
        (np.full((N, 2), np.nan), {"loss": "squared"}, ValueError, "NaN or infinity"),
        (np.array([["a", "b"]] * N), {"loss": "squared"}, TypeError, "real numbers"),
        (-np.ones((N, 2)), {"loss": "poisson"}, ValueError, ">= 0"),
        (np.arange(N) % 3, {"n_threads": 0}, ValueError, "n_threads must be an integer >= 1"),
        (np.arange(N) % 3, {"n_threads": 1.5}, ValueError, "n_threads must be an integer >= 1"),
        (np.arange(N) % 3, {"callback": 3}, TypeError, "callback must be callable"),
        (np.arange(N) % 3, {"method": "spcd"}, ValueError, "Did you mean 'spdc'"),
        (np.arange(N) % 3, {"method": "saga", "loss": "hinge"}, ValueError, "needs a smooth loss"),
        (np.arange(N) % 3, {"l1": 0.1, "penalty": ElasticNet(l2=0.1)}, TypeError, "either penalty or l1 and l2"),
        (np.arange(N) % 3, {"tol": -1.0}, ValueError, "tol must be >= 0"),
        (np.arange(N) % 3, {"sample_weight": np.arange(N) % 3 == 0}, ValueError, "needs both classes"),
    ],
)  # fmt: skip
def test_refusals(Y, options, error, match):
    with pytest.raises(error, match=match):
        sw.solve_many(made()[0], Y, **{"loss": "logistic", "l2": 0.0 if "l1" in options else 0.1, **options})


def test_labels_without_a_value_are_refused():
    labels = np.where(np.arange(N) % 3 == 0, np.nan, np.arange(N) % 2)
    with pytest.raises(ValueError, match="NaN"):
        sw.solve_many(made()[0], labels, loss="hinge", l2=0.1)


def test_labels_that_cannot_be_sorted_are_refused_kindly():
    with pytest.raises((TypeError, ValueError), match="Y "):
        sw.solve_many(made()[0], [None, "a", "b"] * 30, loss="hinge", l2=0.1)


@pytest.mark.skipif(not hasattr(sp, "coo_array"), reason="needs sparse vectors")
def test_sparse_vectors_are_refused_kindly():
    flat = sp.coo_array(np.ones(N))
    if flat.ndim != 1:
        pytest.skip("before SciPy 1.13 there are no sparse vectors")
    with pytest.raises(ValueError, match="Y must"):
        sw.solve_many(made()[0], flat, loss="hinge", l2=0.1)


# Who may stop it


def test_callback_may_stop_one():
    A, labels = made()
    told = {k: [] for k in range(CLASSES)}

    def callback(k, progress):
        told[k].append(progress)
        return k == 2 and progress.epoch >= 1

    results = sw.solve_many(A, labels, loss="logistic", l2=0.01, tol=1e-9, callback=callback, n_threads=2)
    names = [r.status.name for r in results]
    assert names == ["CONVERGED", "CONVERGED", "STOPPED", "CONVERGED"]
    assert not results.converged
    for k, r in enumerate(results):
        assert all(isinstance(p, sw.Progress) for p in told[k])
        assert [p.gap for p in told[k]] == r.history["gap"].tolist()
        assert (told[k][-1].x == r.x).all()


def test_callbacks_come_one_at_a_time():
    inside, together = [], []

    def callback(k, progress):
        inside.append(k)
        if len(inside) > 1:
            together.append(k)
        time.sleep(0.002)
        inside.remove(k)

    A, labels = made()
    sw.solve_many(A, labels, loss="logistic", l2=0.01, callback=callback, n_threads=4)
    assert not together


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_callback_reaches_the_caller_and_the_others_stop(threads):
    A, b = hard(200, 100)
    Y = np.column_stack([b, -b, b + 1, b + 2])
    last = {}

    def callback(k, progress):
        last[k] = progress.epoch
        if k == 1 and progress.epoch >= 1:
            raise LookupError("odd")

    first = {"callback": lambda k, p: k == 0 or callback(k, p)} if threads == 1 else {"callback": callback}
    with pytest.raises(LookupError, match="odd") as caught:
        sw.solve_many(A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=300, n_threads=threads, method=CD, **first)
    assert "callback" in [entry.name for entry in caught.traceback]
    assert not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate())
    if threads == 1:
        assert 3 not in last  # it never began


def test_max_seconds_is_for_all(monkeypatch):
    """Each problem is told what the others have left."""
    module, left = sys.modules["southwell.solve_many"], []
    run = module.run

    def noted(problem, method, start, settings, *rest):
        left.append(settings.max_seconds)
        return run(problem, method, start, settings, *rest)

    monkeypatch.setattr(module, "run", noted)
    A, b = hard(200, 100)
    Y = np.column_stack([b + k for k in range(6)])
    for threads in (1, 2):
        left.clear()
        with pytest.warns(sw.ConvergenceWarning, match="6 of 6 problems"):
            results = sw.solve_many(
                A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=0.3, n_threads=threads, method=CD
            )
        assert len(left) == 6 and max(left) <= 0.3 and min(left) < max(left)
        if threads == 1:
            for own, following, r in zip(left[:-1], left[1:], results, strict=False):
                assert following <= max(own - r.seconds, 0.0) + 1e-6
        assert {r.status.name for r in results} == {"MAX_SECONDS"}
        for r in results:
            honest(r)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_leaves_what_there_is(threads):
    A, b = hard(200, 100)
    Y = np.column_stack([b, *(b + k for k in range(1, 6))])
    there = set()

    def callback(k, progress):
        there.add(k)
        if there == set(range(threads + 1)):  # the first has ended, and another has begun in its place
            send()
        return k == 0 and progress.epoch >= 2

    with signal_on_call() as send, pytest.raises(sw.Interrupted) as caught:
        sw.solve_many(
            A, Y, l2=1e-9, tol=0.0, max_epochs=10**9, max_seconds=300, n_threads=threads, method=CD, callback=callback
        )
    results = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt) and isinstance(results, sw.Results) and len(results) == 6
    begun = [r for r in results if r is not None]
    assert len(begun) == threads + 1 and results[5] is None
    assert results[0].status is sw.Status.STOPPED
    assert {r.status for r in begun[1:]} == {sw.Status.INTERRUPTED}
    for r in begun:
        honest(r)
    assert repr(results).startswith("Results: 0 of 6 converged")
    assert not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate())


def test_partial_results_have_not_converged():
    A, labels = made()
    done = sw.solve_many(A, labels, loss="hinge", l2=0.1)
    partial = sw.Results([done[0], None], done.classes[:2], 0.1)
    assert not partial.converged


def test_ctrl_c_in_a_callback():
    def callback(k, progress):
        raise KeyboardInterrupt

    A, labels = made()
    with pytest.raises(sw.Interrupted) as caught:
        sw.solve_many(A, labels, loss="hinge", l2=0.1, callback=callback)
    assert isinstance(caught.value.result, sw.Results)


def test_a_refusal_of_one_problem_is_raised_before_any_begins():
    A, labels = made()
    Y = np.column_stack([labels == 0, labels == 1, np.ones(N)])
    told = []
    with pytest.raises(ValueError, match="needs both classes"):
        sw.solve_many(A, Y, loss="hinge", l2=0.1, callback=lambda k, p: told.append(k))
    assert not told


def test_many_more_problems_than_threads():
    A, _ = made()
    labels = np.arange(N) % 30
    results = sw.solve_many(A, labels, loss="squared_hinge", l2=0.1, n_threads=3)
    assert len(results) == 30 and results.converged
    same(results[17], sw.solve(A, np.where(labels == 17, 1.0, -1.0), loss="squared_hinge", l2=0.1))
