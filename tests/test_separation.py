"""Problems without a minimiser are warned of, and no others: against a linear programme over all samples."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import southwell as sw

WORDS = "no finite minimiser"


def told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return any(WORDS in str(one.message) for one in caught)


def pairs(A, b, classes):
    """A row for each inequality (w_b - w_c)'a >= 0."""
    rows = []
    for a, own in zip(A, b, strict=True):
        for c in range(classes):
            if c != own:
                row = np.zeros((classes, a.size))
                row[own], row[c] = a, -a
                rows.append(row.ravel())
    return np.array(rows)


def has_direction(rows, equal=()):
    """Whether all products can be >= 0, one of them > 0, with those of ``equal`` zero."""
    free = [(None, None)] * rows.shape[1]
    n, d = rows.shape
    equal = np.atleast_2d(np.array(equal).reshape(-1, d))
    found = linprog(
        np.r_[np.zeros(d), -np.ones(n)], A_ub=np.c_[-rows, np.eye(n)], b_ub=np.zeros(n),
        A_eq=np.c_[equal, np.zeros((len(equal), n))] if len(equal) else None,
        b_eq=np.zeros(len(equal)) if len(equal) else None, bounds=free + [(0, 1)] * n,
    )  # fmt: skip
    return -found.fun > 0.5  # z may be scaled up to 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.booleans(), st.integers(1, 3))
def test_a_warning_tells_exactly_that_no_minimiser_exists(seed, classes, intercept, d):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 24))
    A = rng.integers(-2, 3, size=(n, d)).astype(float)
    b = np.r_[np.arange(classes), rng.integers(classes, size=n - classes)]
    loss = "logistic" if classes == 2 else "softmax"
    full = np.c_[A, np.ones(n)] if intercept else A
    ours = told(lambda: sw.solve(A, b, loss=loss, intercept=intercept, max_epochs=200))
    assert ours == has_direction(pairs(full, b, classes))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_counts_of_zero_may_be_separated_too(seed, intercept):
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-1, 2, size=(12, 2)).astype(float), rng.integers(0, 3, size=12).astype(float)
    full = np.c_[A, np.ones(12)] if intercept else A
    ours = told(lambda: sw.solve(A, b, loss="poisson", intercept=intercept, max_epochs=200))
    zero = b == 0
    assert ours == (zero.any() and has_direction(-full[zero], full[~zero]))


def quasi(n=300, d=5, classes=2, seed=0):
    """A level, in a tenth of the samples, that all are of the last class."""
    rng = np.random.default_rng(seed)
    level = rng.random(n) < 0.1
    y = np.where(level, classes - 1, rng.integers(classes, size=n))
    return np.c_[rng.normal(size=(n, d)), level], y


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_quasi_separable_classes_are_warned_of(classes, form, turned):
    X, y = quasi(classes=classes)
    if turned:  # no single column separates
        X = X @ np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    with pytest.warns(sw.ConvergenceWarning, match=f"{WORDS}: unpenalised coefficients can separate .* say C=1e6"):
        sw.LogisticRegression(C=np.inf).fit(form(X), y)
    keep = X[:, :-1] if not turned else np.random.default_rng(2).normal(size=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.LogisticRegression(C=np.inf).fit(form(keep), y)
        sw.LogisticRegression(C=1e3).fit(form(X), y)


def test_only_unpenalised_coefficients_separate():
    X, y = quasi()
    weights = np.r_[np.ones(5), 0.0]
    assert told(lambda: sw.LogisticRegression(penalty_weights=weights).fit(X, y))
    assert not told(lambda: sw.LogisticRegression(penalty_weights=1.0 - weights).fit(X, y))
    assert told(lambda: sw.LogisticRegression(C=np.inf, lower=0.0).fit(X, y))
    assert not told(lambda: sw.LogisticRegression(C=np.inf, upper=np.r_[np.full(5, np.inf), 2.0]).fit(X, y))


def test_samples_without_weight_and_samples_that_nearly_separate_do_not_count():
    X, y = quasi()
    one = int(np.flatnonzero(X[:, -1])[0])
    y[one] = 0  # the only one that keeps the level from separating
    assert not told(lambda: sw.LogisticRegression(C=np.inf).fit(X, y))
    assert told(lambda: sw.LogisticRegression(C=np.inf).fit(X, y, sample_weight=np.arange(len(y)) != one))


def test_one_of_several_targets_is_enough():
    X, y = quasi()
    both = np.c_[np.where(np.random.default_rng(3).random(len(y)) < 0.5, 1.0, -1.0), 2.0 * y - 1]
    assert told(lambda: sw.solve(X, both, loss="logistic", intercept=True))
    assert not told(lambda: sw.solve(X, both[:, [0, 0]], loss="logistic", intercept=True))


def test_centred_and_factorised_data_are_examined():
    X, y = quasi()
    b = 2.0 * y - 1
    assert told(lambda: sw.solve(sw.Centred(X), b, loss="logistic", intercept=True))
    left = np.random.default_rng(4).normal(size=(6, 6))
    factors = sw.Factorised(X @ np.linalg.inv(left), left)
    assert told(lambda: sw.solve(factors, b, loss="logistic", intercept=True))
