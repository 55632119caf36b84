"""Offsets of many problems on the same data: one for all, or one for each."""

import numpy as np
import pytest

import southwell as sw

N, D, K = 50, 6, 3
RNG = np.random.default_rng(4)
A = RNG.normal(size=(N, D))
OFFSETS = RNG.normal(size=(N, K))
Y = {"squared": RNG.normal(size=(N, K)), "poisson": RNG.poisson(2.0, size=(N, K)).astype(float)}
Y["logistic"] = (Y["squared"] > 0).astype(int)


@pytest.mark.parametrize("method", ["auto", "fista"])
@pytest.mark.parametrize("own", [False, True], ids=["one for all", "one for each"])
@pytest.mark.parametrize("loss", list(Y))
def test_the_numbers_are_those_of_one_by_one(loss, own, method):
    offset = OFFSETS if own else OFFSETS[:, 0]
    options = {"loss": loss, "l2": 0.05, "intercept": True, "method": method, "n_threads": 1}
    results = sw.solve_many(A, Y[loss], offset=offset, **options)
    margins = results.decision_function(A, offset=offset)
    for k, r in enumerate(results):
        column = OFFSETS[:, k if own else 0]
        alone = sw.solve(A, Y[loss][:, k], offset=column, **options)
        np.testing.assert_array_equal(r.x, alone.x)
        assert (r.primal, r.dual, r.intercept) == (alone.primal, alone.dual, alone.intercept)
        np.testing.assert_allclose(margins[:, k], alone.decision_function(A, offset=column), rtol=1e-12)
        again = r.problem.certify(r.x, r.y, r.intercept)
        assert again.primal == pytest.approx(r.primal, rel=1e-12)
    predicted = results.predict(A, offset=offset)
    assert predicted.shape[0] == N and np.isfinite(predicted).all()


def test_classes_against_the_rest_have_offsets():
    labels = np.arange(N) % K
    results = sw.solve_many(A, labels, loss="logistic", l2=0.1, offset=OFFSETS)
    for k, r in enumerate(results):
        alone = sw.solve(A, labels == k, loss="logistic", l2=0.1, offset=OFFSETS[:, k])
        np.testing.assert_allclose(r.x, alone.x, atol=1e-10)


@pytest.mark.parametrize(
    ("offset", "words"),
    [(OFFSETS[:, :2], "a column for each of 3"), (OFFSETS[:-1], "offset must have 50"), (OFFSETS * np.nan, "NaN"),
     (np.zeros((N, K, 1)), "one vector for all"), (np.zeros(N - 1), "offset must have 50"),
     (np.c_[OFFSETS[:, :2], np.full(N, 1e308)], "Problem 2: .*overflows")],
)  # fmt: skip
def test_bad_offsets_are_refused_in_words(offset, words):
    with pytest.raises(ValueError, match=words):
        sw.solve_many(A, np.full((N, K), -1e308), offset=offset)
