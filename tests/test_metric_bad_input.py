"""Refusals say what was given, what is allowed and what to do."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

import southwell as sw
from metric_methods import LOSSES, METHODS, able, huge
from metrics import planted, problem
from southwell.metric import LargeMarginNearestNeighbor, LowRank, MatrixRisk, MultiTaskLargeMarginNearestNeighbor

EYES = np.broadcast_to(np.eye(2), (3, 1, 2, 2))
B = [1.0, 2.0, 3.0]
SKEW = EYES + np.array([[0.0, 1.0], [0.0, 0.0]])
NAN = np.where(EYES == 1, np.nan, EYES)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: MatrixRisk(SKEW, B), ValueError, r"symmetric.*\(D \+ D.swapaxes\(-1, -2\)\) / 2"),
        (lambda: MatrixRisk(np.ones((3, 2, 3)), B), ValueError, r"square.*got \(3, 2, 3\)"),
        (lambda: MatrixRisk(np.ones((3, 2)), B), ValueError, r"square.*got \(3, 2\)"),
        (lambda: MatrixRisk(np.ones((0, 2, 2)), []), ValueError, "empty"),
        (lambda: MatrixRisk(NAN, B), ValueError, "D contains NaN"),
        (lambda: MatrixRisk(EYES.astype(str), B), TypeError, "real numbers"),
        (lambda: MatrixRisk(EYES, B[:2]), ValueError, "b must have 3 entries.*got 2"),
        (lambda: MatrixRisk(EYES, [1.0, np.nan, 2.0]), ValueError, "b contains NaN"),
        (lambda: MatrixRisk(EYES, B, "hinge"), ValueError, "targets -1 and"),
        (lambda: MatrixRisk(EYES, [-1.0, 0.0, 1.0], "poisson"), ValueError, "targets >= 0"),
        (lambda: MatrixRisk(EYES, B, "hnge"), ValueError, "Did you mean 'hinge'"),
        (lambda: MatrixRisk(EYES, [0, 1, 2], "softmax"), ValueError, "one margin.*softmax"),
        (lambda: MatrixRisk(EYES, B, l2=0.0), ValueError, "l2 must be > 0.*got .*0.0"),
        (lambda: MatrixRisk(EYES, B, l2=-1.0), ValueError, "l2 must be > 0"),
        (lambda: MatrixRisk(EYES, B, l2=[1.0, 2.0]), ValueError, "one number or 1.*got 2"),
        (lambda: MatrixRisk(EYES, B, centre=np.eye(3)), ValueError, r"centre must have shape .*got \(3, 3\)"),
        (lambda: MatrixRisk(EYES, B, linear=SKEW[0]), ValueError, "linear must be symmetric"),
        (lambda: MatrixRisk(EYES, B, centre=NAN[0]), ValueError, "centre contains NaN"),
        (lambda: MatrixRisk(EYES, B, sample_weight=[1, 1]), ValueError, "sample_weight must have 3"),
        (lambda: MatrixRisk(EYES, B, memory_limit=100), MemoryError, "GiB; memory_limit allows"),
        (lambda: MatrixRisk(LowRank(np.ones((1, 10**7))), [1.0]), MemoryError, r"10000000 x 10000000.*PCA"),
        (lambda: MatrixRisk(EYES, B, centre=1j * np.eye(2)), TypeError, "centre must hold real numbers; got .*complex"),
        (lambda: MatrixRisk(EYES, B, linear=[["a", "b"], ["b", "a"]]), TypeError, "linear must hold real numbers"),
        (lambda: MatrixRisk(EYES, B, linear=[[1.0], [1.0, 2.0]]), TypeError, "linear must be an array of shape"),
        (lambda: MatrixRisk(EYES, B).certify([[None]]), TypeError, "x must hold real numbers"),
        (lambda: MatrixRisk(EYES, B).certify(-np.eye(2)), ValueError, r"smallest eigenvalue of x\[0\] is -1\."),
        (lambda: MatrixRisk(EYES, B).solve(warm_start="here"), TypeError, "warm_start must hold real numbers"),
        (lambda: MatrixRisk(scipy.sparse.linalg.aslinearoperator(np.eye(2)), B), TypeError, "D must"),
        (lambda: LowRank([[1.0]], samples=[10**13]), MemoryError, "largest index in samples is 10000000000000"),
        (lambda: LowRank(np.ones(3)), ValueError, r"shape \(n_terms, d\)"),
        (lambda: LowRank([[np.inf]]), ValueError, "vectors contains NaN or infinity"),
        (lambda: LowRank(np.eye(2), [1.0]), ValueError, "coefficients must have 2 entries"),
        (lambda: LowRank(np.eye(2), samples=[0, -1]), ValueError, "samples must be 2 integers >= 0"),
        (lambda: LowRank(np.eye(2), blocks=[0.0, 1.0]), ValueError, "blocks must be 2 integers"),
        (lambda: LowRank(np.eye(2), n_samples=1), ValueError, "n_samples must be an integer >= 2"),
    ],
)
def test_bad_problems_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "dspcd"}, "Unknown method 'dspcd'. Did you mean 'dspdc'"),
        ({"method": "dspdc", "rows": 31}, "rows must be 1 to 30, the number of samples; got 31"),
        ({"method": "dspdc", "blocks": 4}, "blocks must be 1 to 3, the number of blocks; got 4"),
        ({"method": "dspdc", "blocks": 0}, "blocks must be an integer >= 1"),
        ({"method": "spdc", "blocks": 2}, "blocks is for method='dspdc'"),
        ({"method": "fista", "rows": 2}, "rows is for method='dspdc' or 'spdc' or 'sdca'"),
        ({"rows": 2}, "with 'auto' leave them out"),
        ({"stretch": 2.0}, "with 'auto' leave them out"),
        ({"method": "fista", "stretch": 2.0}, r"stretch is for method='dspdc' or 'spdc' or 'sdca'; got stretch=2.0"),
        ({"method": "dspdc", "stretch": 0.0}, "stretch must be > 0 and finite; got 0.0"),
        ({"method": "dspdc", "stretch": np.nan}, "stretch must be > 0 and finite"),
        ({"method": "spdc", "stretch": (1.0, -1.0)}, "stretch must be > 0"),
        ({"method": "spdc", "stretch": True}, "a number or two, for primal and dual steps; got True"),
        ({"method": "spdc", "stretch": np.ones(3)}, "a number or two, for primal and dual steps"),
        ({"method": "sdca", "stretch": (1.0, 2.0, 3.0)}, r"a number or two, for primal and dual steps; got \(1.0, 2.0"),
        ({"tau": 1.0}, "with 'auto' leave them out"),
        ({"aim": "point"}, "with 'auto' leave them out"),
        ({"method": "fista", "theta": 0.5}, "theta is for method='dspdc' or 'spdc'; got theta=0.5 with 'fista'"),
        ({"method": "sdca", "sigma": 0.5}, "sigma is for method='dspdc' or 'spdc'; got sigma=0.5 with 'sdca'"),
        ({"method": "spdc", "aim": "point"}, "aim is for method='dspdc'; got aim='point' with 'spdc'"),
        ({"method": "dspdc", "aim": "gaps"}, "Unknown aim 'gaps'. Did you mean 'gap'"),
        ({"method": "dspdc", "tau": 0.0}, "tau must be > 0 and finite; got 0.0"),
        ({"method": "spdc", "sigma": np.inf}, "sigma must be > 0 and finite"),
        ({"method": "dspdc", "theta": -0.1}, "theta must be >= 0"),
        ({"method": "dspdc", "tau": 1.0, "stretch": 2.0}, "give one or the other"),
        ({"tol": -1.0}, "tol must be"),
        ({"max_seconds": 0}, "max_seconds must be"),
        ({"warm_start": np.eye(3)}, r"warm_start must have shape \(3, 4, 4\)"),
    ],
)
def test_bad_options_of_a_solve_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        problem().solve(**options)


def test_a_callback_that_is_not_callable_is_refused():
    with pytest.raises(TypeError, match="callback must be callable"):
        problem().solve(callback=3)


X, Y = planted(points=30)
TASKS = np.repeat(["a", "b"], 15)


@pytest.mark.parametrize("kind", [LargeMarginNearestNeighbor, MultiTaskLargeMarginNearestNeighbor])
@pytest.mark.parametrize(
    ("options", "data", "error", "words"),
    [
        ({}, (X, np.zeros(30)), ValueError, "The data has one class only, 0.0"),
        (
            {"n_neighbors": 10},
            (X, Y),
            ValueError,
            r"has 10 of class 0; each needs n_neighbors=10.*lower n_neighbors to 9",
        ),
        ({}, (X, np.r_[7, np.arange(29) % 2]), ValueError, r"has 1 of class 7.*To go on, leave the class out"),
        ({}, (sp.csr_array(X), Y), TypeError, "(?i)sparse.*dense"),
        ({}, (np.where(X > 1, np.nan, X), Y), ValueError, "NaN"),
        ({}, (X, Y[:-1]), ValueError, "inconsistent"),
        ({"l2": 0}, (X, Y), ValueError, "l2 must be > 0"),
        ({"n_impostors": 0}, (X, Y), ValueError, "n_impostors must be an integer >= 1"),
        ({"refresh": -1}, (X, Y), ValueError, "refresh must be"),
        ({"refresh": 2**53}, (X, Y), ValueError, "refresh must be at most 1000; got 9007199254740992"),
        ({"scale": 0}, (X, Y), ValueError, "scale must be"),
        ({"corner": 0}, (X, Y), ValueError, "corner must be"),
        ({"dtype": "float16"}, (X, Y), ValueError, "dtype must be one of None, 'float32', 'float64'"),
        ({"method": "newton"}, (X, Y), ValueError, "Unknown method"),
        ({"memory_limit": 1000}, (X, Y), MemoryError, "900 triplets needs about .*lower n_impostors"),
        ({"max_iter": 0}, (X, Y), ValueError, "max_iter must be an integer >= 1"),
        ({"verbose": "no"}, (X, Y), ValueError, "verbose must be"),
        ({}, (1e155 * X, Y), ValueError, r"between 1e-150 and 1e\+150 apart.*neighbours are .*e\+155"),
        ({}, (1e-155 * X, Y), ValueError, "between 1e-150 and .*neighbours are .*e-155"),
        ({}, (1e-200 * X, Y), ValueError, "between 1e-150 and .*neighbours are .*e-200"),
        ({"dtype": "float32"}, (1e-42 * X, Y), ValueError, "between 1e-37 and"),
        ({"scale": 1.0}, (1e100 * X, Y), ValueError, "times scale from their mean; .*give scale='auto'"),
        ({"n_jobs": 0}, (X, Y), ValueError, "n_jobs must be"),
    ],
)
def test_bad_parameters_and_data_of_a_fit_are_refused(kind, options, data, error, words):
    with pytest.raises(error, match=words):
        kind(**options).fit(*data)


@pytest.mark.parametrize(
    ("labels", "tasks", "words"),
    [
        (Y, TASKS[:-1], "tasks must have 30 entries, one for each row of X; got 29"),
        (np.where(TASKS == "b", 0, Y), TASKS, "Task 'b' has one class only, 0"),
        (Y, np.r_[["c"], TASKS[1:]], "Task 'c' has one class only"),
        (
            Y,
            np.where(np.arange(30) < 24, "a", "b"),
            r"Task 'b' \(n_samples = 6.*has 2 of class 0.*lower n_neighbors to 1",
        ),
    ],
)
def test_bad_tasks_are_refused(labels, tasks, words):
    with pytest.raises(ValueError, match=words):
        MultiTaskLargeMarginNearestNeighbor().fit(X, labels, tasks)
    with pytest.raises(ValueError, match="task_l2 must be > 0"):
        MultiTaskLargeMarginNearestNeighbor(task_l2=0).fit(X, Y, TASKS)


def test_unknown_tasks_are_refused():
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-1).fit(X, Y, TASKS)
    with pytest.raises(ValueError, match="There are 2 tasks: give tasks="):
        model.predict(X)
    with pytest.raises(ValueError, match=r"Task 'z' was not there.*Known: 'a', 'b'"):
        model.transform(X[:2], ["a", "z"])
    with pytest.raises(ValueError, match="tasks must have 30 entries, one for each row of X; got 29"):
        model.predict(X, TASKS[:-1])
    with pytest.raises(ValueError, match="There are 2 tasks: name one"):
        model.get_metric()
    with pytest.raises(ValueError, match="Task 'z' was not there"):
        model.get_metric("z")


@pytest.mark.parametrize(
    ("tasks", "error", "words"),
    [
        ([None, *TASKS[1:]], ValueError, "tasks must name a task for each row of X; entry 0 is missing: None"),
        ([0.0, np.nan] * 15, ValueError, "tasks must name a task.*entry 1 is missing: nan"),
        (["a", 1] * 15, TypeError, "tasks must be all text or all numbers"),
        ([(1,)] * 30, ValueError, r"tasks must be of shape \(30,\)"),
        ([1j] * 30, TypeError, "tasks must be text or numbers; entry 0"),
        (TASKS[:, None], ValueError, r"tasks must be of shape \(30,\).*got shape \(30, 1\)"),
        (TASKS[:-1], ValueError, "tasks must have 30 entries"),
    ],
)
def test_bad_names_of_tasks_are_refused(tasks, error, words):
    with pytest.raises(error, match=words):
        MultiTaskLargeMarginNearestNeighbor().fit(X, Y, tasks)
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-1).fit(X, Y, TASKS)
    with pytest.raises(error, match=words):
        model.predict(X, tasks)


def test_text_is_not_the_number_it_says():
    model = MultiTaskLargeMarginNearestNeighbor(tol=1e-1).fit(X, Y, np.repeat([0, 1], 15))
    with pytest.raises(ValueError, match="Task '0' was not there"):
        model.predict(X, np.repeat(["0", "1"], 15))


def test_a_fit_that_fails_keeps_the_last_one():
    model = LargeMarginNearestNeighbor(tol=1e-2).fit(X, Y)
    before = model.metric_
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(30))
    assert model.metric_ is before and set(model.predict(X)) <= set(Y)
    assert sw.Status.CONVERGED is model.status_


@pytest.mark.parametrize(("loss", "method"), [(loss, m) for loss in LOSSES for m in METHODS if not able(m, loss)])
def test_methods_refuse_losses_that_they_cannot_take(method, loss):
    with pytest.raises(ValueError, match=rf"{method.upper()} needs .*{loss}.* Use "):
        problem(loss).solve(method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("D", "l2", "words"),
    [(1e160, 1e-3, r"The squares of D overflow\. Scale D down"),
     (1e200, 1e-3, r"The squares of D overflow\. Scale D down"), (1e10, 1e-300, "Raise l2")],
)  # fmt: skip
def test_numbers_that_overflow_are_refused(method, D, l2, words):
    with pytest.raises(ValueError, match=words):
        huge(D, 1, l2).solve(method)


def test_indices_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match=r"blocks must be 3 integers >= 0 \(and below"):
        LowRank(np.ones((3, 2)), blocks=np.array([0, 1, 2**64 - 2], np.uint64))


def test_a_dual_point_that_overflows_is_refused():
    risk = MatrixRisk(LowRank(np.ones((3, 2))), np.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="y is too large: A'y overflows"):
            risk.certify(np.eye(2)[None], np.full(3, 1e308))


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_small_integers_of_numpy_are_counts(kind):
    options = {"n_neighbors": 2, "n_impostors": 20, "refresh": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        small = LargeMarginNearestNeighbor(**{name: kind(value) for name, value in options.items()}).fit(X, Y)
    assert np.array_equal(small.components_, LargeMarginNearestNeighbor(**options).fit(X, Y).components_)


class Tolerance:
    def __float__(self):
        return 1e-12


def test_a_tolerance_may_be_anything_with_a_float():
    with pytest.warns(sw.ConvergenceWarning, match="tol is 1e-12"):
        LargeMarginNearestNeighbor(tol=Tolerance(), max_iter=1).fit(X, Y)
