"""Callbacks are told what the history keeps, and may stop a solve."""

import numpy as np
import pytest

import southwell as sw
from long_solves import CD, made


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_a_callback_is_told_what_the_history_keeps(side, intercept):
    A, b = made()
    told = []
    r = sw.solve(A, b, l1=0.02, l2=0.01, intercept=intercept, method=CD(side=side), callback=told.append)
    assert r.status is sw.Status.CONVERGED
    assert len(told) == len(r.history["epoch"])
    for name, column in r.history.items():
        np.testing.assert_array_equal([getattr(p, name) for p in told], column)
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(0.02, 0.01), intercept=intercept)
    for p in told:
        assert isinstance(p, sw.Progress) and p.scale == r.scale and p.x.shape == (50,)
        margins = A @ p.x + p.intercept
        value = np.mean((margins - b) ** 2) / 2 + 0.02 * np.abs(p.x).sum() + 0.005 * p.x @ p.x
        np.testing.assert_allclose(value, p.primal, rtol=1e-10)
        assert p.nonzeros == np.count_nonzero(p.x)
    np.testing.assert_array_equal(told[-1].x, r.x)
    assert told[-1].intercept == r.intercept
    np.testing.assert_allclose(problem.certify(r.x, r.y, r.intercept), (r.primal, r.dual, r.gap), rtol=1e-9, atol=1e-12)


def test_what_a_callback_does_to_its_copy_changes_nothing():
    A, b = made()

    def vandal(progress):
        progress.x[:] = np.nan

    np.testing.assert_array_equal(sw.solve(A, b, l1=0.02, callback=vandal).x, sw.solve(A, b, l1=0.02).x)


def test_a_callback_may_stop_the_solve():
    A, b = made()
    seen = []
    r = sw.solve(
        A, b, l1=0.01, tol=0.0, method="coordinate_descent", callback=lambda p: seen.append(p.epoch) or len(seen) == 3
    )
    assert r.status is sw.Status.STOPPED and not r.status
    assert r.epochs == seen[-1] and len(seen) == 3
    assert r.gap > 0 and np.isfinite(r.primal)


@pytest.mark.parametrize("answer", [None, False, 0, "", []])
def test_a_false_answer_lets_the_solve_go_on(answer):
    A, b = made()
    assert sw.solve(A, b, l1=0.01, callback=lambda p: answer).status is sw.Status.CONVERGED


@pytest.mark.parametrize("at", [0, 2])
def test_exceptions_of_a_callback_pass_unchanged(at):
    class Odd(Exception):
        pass

    odd, count = Odd("so odd"), []

    def callback(progress):
        count.append(1)
        if len(count) > at:
            raise odd

    A, b = made()
    with pytest.raises(Odd) as caught:
        sw.solve(A, b, l1=0.01, tol=0.0, callback=callback)
    assert caught.value is odd
    assert len(count) == at + 1
    names = [entry.name for entry in caught.traceback]
    assert "callback" in names


def test_an_answer_that_has_no_truth_is_an_error_of_the_callback():
    A, b = made()
    with pytest.raises(ValueError, match="ambiguous"):
        sw.solve(A, b, l1=0.01, callback=lambda p: p.x > 0)


def test_a_callback_may_solve():
    A, b = made()
    inner = []
    r = sw.solve(A, b, l1=0.01, callback=lambda p: inner.append(sw.solve(A, b, l1=0.1).primal) and None)
    assert r.status is sw.Status.CONVERGED and len(set(inner)) == 1
