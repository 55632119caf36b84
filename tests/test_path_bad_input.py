"""Paths refuse grids and options that they cannot use, in words."""

import numpy as np
import pytest

import southwell as sw
from test_path import problem_of

NESTED: list = []
for _ in range(5000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"l1s": [0.1, -0.2]}, ValueError, r"l1s must be positive; the smallest is -0\.2"),
        ({"l1s": [0.1, 0.0]}, ValueError, "l1s must be positive; the smallest is 0"),
        ({"l1s": [0.1, np.nan]}, ValueError, "l1s contains NaN"),
        ({"l1s": [0.1, np.inf]}, ValueError, "l1s contains NaN or infinity"),
        ({"l1s": []}, ValueError, "l1s is empty: give at least one strength, or 'auto'"),
        ({"l1s": "auot"}, ValueError, "Unknown l1s 'auot'. Did you mean 'auto'"),
        ({"l1s": ["a", "b"]}, TypeError, "l1s must hold real numbers"),
        ({"l1s": [[0.1, 0.2], [0.3, 0.4]]}, ValueError, r"l1s must be one-dimensional; got shape \(2, 2\)"),
        ({"l1s": None}, TypeError, "l1s must hold real numbers"),
        ({"l1s": [0.1, 0.2, 0.3], "l2s": [0.1, 0.2]}, ValueError, "l2s must be one number, or 3, one for each.*got 2"),
        ({"l1s": [0.1], "l2s": -1.0}, ValueError, "l2s must be >= 0; the smallest is -1"),
        ({"l1s": [0.1], "l2s": [np.nan]}, ValueError, "l2s contains NaN"),
        ({"l1s": [0.1], "l2s": "a"}, TypeError, "l2s must hold real numbers"),
        ({"l1s": [0.1], "l2s": []}, ValueError, "l2s is empty"),
        ({"l1s": [0.1], "l2s": [0.1, [0.2]]}, TypeError, "l2s must be an array or lists of equal lengths"),
        ({"l2s": NESTED}, TypeError, "l2s must be an array or lists of equal lengths"),
        ({"l1s": NESTED}, ValueError, "l1s must be one-dimensional numbers"),
        ({"ratio": 0.0}, ValueError, "ratio must be > 0 and finite; got 0"),
        ({"ratio": -0.1}, ValueError, "ratio must be > 0 and finite; got -0.1"),
        ({"ratio": 1.5}, ValueError, "ratio must be at most 1.*got 1.5"),
        ({"ratio": np.nan}, ValueError, "ratio must be > 0"),
        ({"ratio": "0.1"}, TypeError, "ratio must be a number; got '0.1'"),
        ({"n_points": 0}, ValueError, "n_points must be an integer >= 1.*got 0"),
        ({"n_points": -3}, ValueError, "n_points must be an integer >= 1.*got -3"),
        ({"n_points": 2.5}, ValueError, "n_points must be an integer >= 1.*got 2.5"),
        ({"n_points": True}, ValueError, "n_points must be an integer >= 1.*got True"),
        ({"stop_at": 0.0}, ValueError, "stop_at must be > 0 and finite; got 0"),
        ({"stop_at": -1}, ValueError, "stop_at must be > 0 and finite; got -1"),
        ({"stop_at": "all"}, TypeError, "stop_at must be a number; got 'all'"),
        ({"stop_at": np.nan}, ValueError, "stop_at must be > 0"),
        ({"tol": -1.0}, ValueError, "tol must be >= 0"),
        ({"max_epochs": -1}, ValueError, "max_epochs must be an integer >= 0"),
        ({"max_seconds": 0.0}, ValueError, "max_seconds must be > 0"),
        ({"seed": -1}, ValueError, "seed must be an integer >= 0"),
        ({"n_threads": 0}, ValueError, "n_threads must be an integer >= 1"),
        ({"method": "spcd"}, ValueError, "Did you mean 'spdc'"),
        ({"callback": 3}, TypeError, "callback must be callable; got int"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else None,
)  # fmt: skip
def test_a_path_refuses_bad_options(options, error, match):
    with pytest.raises(error, match=match):
        sw.path(problem_of(), **options)


@pytest.mark.parametrize("given", [None, 3, (np.eye(3), np.ones(3))])
def test_a_path_needs_targets_or_a_problem(given):
    with pytest.raises(TypeError, match=r"path\(A, b, ...\) needs targets b, or a Problem or Store alone"):
        sw.path(given)
    with pytest.raises(TypeError, match="A Problem already holds b"):
        sw.path(problem_of(), [0.1])


def test_a_method_that_cannot_is_refused_before_any_work():
    told = []
    with pytest.raises(ValueError, match="needs a smooth loss; got hinge"):
        sw.path(problem_of("hinge"), method="fista", callback=lambda k, p: told.append(k))
    with pytest.raises(ValueError, match="factorised data"):
        sw.path(sw.Problem(sw.Factorised(np.eye(3), np.eye(3)), np.ones(3)), method="dgpd")
    assert not told


def test_a_grid_from_nothing_is_refused():
    with pytest.raises(ValueError, match=r"lambda_max is 0.*Give l1s as an array"):
        sw.path(sw.Problem(np.zeros((3, 2)), np.ones(3)))


@pytest.mark.parametrize(
    ("options", "match"),
    [({"names": ["a"]}, "names must have 30 entries.*got 1"), ({"top": -1}, "top must be an integer >= 0")],
)
def test_a_plot_refuses_bad_options(pyplot, options, match):
    with pytest.raises(ValueError, match=match):
        sw.path(problem_of(), n_points=2).plot(**options)
