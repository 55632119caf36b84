"""Dual steps of the logistic loss that end Newton's method early: the same optimum, in about as many epochs."""

import numpy as np
import pytest

import southwell as sw
from southwell.methods import Auto

EXACT = {"dual_settled": 1e-8, "estimated_by": 1e9}


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) / np.sqrt(d)
    return A, np.where(A @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)


def dual(A, b, C, tol, policy):
    method = Auto(movers="dual", policy=policy)
    return sw.solve(A, b, loss="logistic", l2=1 / (C * len(b)), method=method, tol=tol, max_epochs=5000)


@pytest.mark.parametrize("settled", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_rough_steps_reach_every_digit(settled, C):
    A, b = data(200, 50)
    result = dual(A, b, C, 1e-10, {"dual_settled": settled})
    assert result.status, result.status
    assert np.allclose(result.x, dual(A, b, C, 1e-10, EXACT).x, atol=1e-4 * np.abs(result.x).max())


@pytest.mark.parametrize("C", [0.1, 10.0, 100.0])
def test_rough_steps_need_hardly_more_epochs(C):
    A, b = data(5000, 30)
    rough, exact = (dual(A, b, C, 1e-7, policy) for policy in ({}, EXACT))
    assert rough.status and exact.status
    assert rough.epochs <= 1.2 * exact.epochs + 5


@pytest.mark.parametrize("one_in", [1, 4, 50])
def test_an_estimate_from_some_samples_is_about_the_estimate_from_all(one_in):
    A, b = data(5000, 30)
    result = dual(A, b, 1.0, 1e-6, {"estimated_by": 5000 / one_in})
    assert result.status
    assert len(result.history["gap"]) <= 6  # certificates are not wasted on estimates that are far too small
    assert result.epochs <= dual(A, b, 1.0, 1e-6, EXACT).epochs + 5
