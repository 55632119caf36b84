"""A path may be left at any of its points, refuses what it cannot walk, and reads well."""

import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import southwell as sw
from long_solves import hard
from signals import signal_on_call
from southwell import ConvergenceWarning
from southwell.methods import Auto
from test_path import made, problem_of, sound

# What ends a path


def test_a_path_stops_where_enough_is_explained():
    problem = problem_of()
    whole = sw.path(problem, n_points=20)
    path = sw.path(problem, n_points=20, stop_at=0.5)
    assert len(path) < 20 and path.explained[-1] >= 0.5 and (path.explained[:-1] < 0.5).all()
    assert path.x.toarray() == pytest.approx(whole.x.toarray()[: len(path)], abs=1e-6)
    assert path.last.problem.penalty.l1 == path.l1s[-1]


def test_max_seconds_is_for_all():
    A, b = hard(600, 400)

    def wait(k, progress):  # the time runs out within a point; between two points none would be told of it
        time.sleep(0.5 * (k == 1))

    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        path = sw.path(
            sw.Problem(A, b, "quantile"), n_points=50, ratio=1e-4, tol=0.0, max_epochs=10**9, max_seconds=0.5,
            callback=wait,
        )  # fmt: skip
    assert 1 <= len(path) < 50
    assert path.last.status is sw.Status.MAX_SECONDS


def test_no_point_follows_one_that_the_time_limit_ended(monkeypatch):
    """A solve ends before its limit by the time of a certificate, so the clock alone would allow another point."""
    A, b = hard(600, 400)
    now = time.perf_counter()
    monkeypatch.setattr(sys.modules["southwell.path"], "time", SimpleNamespace(perf_counter=lambda: now))
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        path = sw.path(sw.Problem(A, b, "quantile"), n_points=5, ratio=1e-4, tol=0.0, max_epochs=10**9, max_seconds=0.1)
    assert path.last.status is sw.Status.MAX_SECONDS and path.statuses.count(sw.Status.MAX_SECONDS) == 1


def test_max_epochs_is_for_each_and_one_warning_for_all():
    problem = problem_of("hinge")
    with pytest.warns(ConvergenceWarning) as caught:
        path = sw.path(problem, n_points=6, tol=0.0, max_epochs=2)
    assert len(caught) == 1 and caught[0].filename == __file__
    short = int((path.gaps > 0).sum())
    text = str(caught[0].message)
    assert " of 6 points" in text and "max_epochs" in text and f"{path.gaps.max():.3g}" in text
    assert (path.epochs <= 2).all() and not path.converged and short > 0
    sound(path, problem)


def test_nobody_is_warned_of_a_converged_path():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sw.path(problem_of(), n_points=5).converged


def test_a_path_has_converged_where_its_points_have():
    A, b = made()
    path = sw.path(sw.Problem(A, b + 1e7, intercept=True), n_points=5)
    assert path.last.status is sw.Status.CONVERGED and path.converged


def test_a_callback_is_told_and_ends_the_path_after_its_point():
    told = []

    def callback(k, progress):
        told.append((k, progress))
        return k == 2

    path = sw.path(problem_of("logistic"), n_points=8, callback=callback)
    assert len(path) == 3 and path.last.status is sw.Status.STOPPED
    assert {k for k, _ in told} == {0, 1, 2} and all(isinstance(p, sw.Progress) for _, p in told)
    for k in range(3):
        last = [p for j, p in told if j == k][-1]
        assert last.primal == path.primal[k] and (last.x == path.x.toarray()[k]).all()


def test_what_a_callback_raises_reaches_the_caller():
    def callback(k, progress):
        if k == 1:
            raise LookupError("odd")

    with pytest.raises(LookupError, match="odd"):
        sw.path(problem_of(), n_points=4, callback=callback)


@pytest.mark.parametrize("method", ["auto", Auto(movers="primal"), "coordinate_descent", "lbfgs"])
def test_ctrl_c_leaves_what_there_is(method):
    """The first point is at hand, the second takes for ever."""
    A, b = hard(600, 400)
    problem = sw.Problem(np.ascontiguousarray(A), b, "huber" if method == "lbfgs" else "quantile")
    with signal_on_call() as send, pytest.raises(KeyboardInterrupt) as caught:
        sw.path(
            problem, l1s=[1e3, 1e-3, 1e-6], method=method, tol=0.0, max_epochs=10**9, max_seconds=300,
            callback=lambda k, progress: send() if k == 1 else None,
        )  # fmt: skip
    assert isinstance(caught.value, sw.Interrupted)
    path = caught.value.result
    assert isinstance(path, sw.Path) and len(path) == 2
    assert path.last.status is sw.Status.INTERRUPTED
    assert path.x.shape == (2, 400) and path.l1s.tolist() == [1e3, 1e-3]
    assert np.isfinite(path.x.data).all() and np.isfinite(path.primal).all() and (path.gaps >= 0).all()
    assert "Path" in repr(path)


def test_ctrl_c_between_cheap_points():
    """Each takes less than a millisecond, so that the signal is met on the way from one to the next."""
    with signal_on_call() as send, pytest.raises(KeyboardInterrupt) as caught:
        sw.path(problem_of(), l1s=np.geomspace(1.0, 1e-3, 100_000), callback=lambda k, _: send() if k == 3 else None)
    assert isinstance(caught.value, sw.Interrupted)
    assert 1 < len(caught.value.result) < 100_000


def interrupted_in_a_callback():
    def callback(k, progress):
        if k == 2:
            raise KeyboardInterrupt

    with pytest.raises(sw.Interrupted) as caught:
        sw.path(problem_of(), n_points=5, callback=callback)
    return caught.value.result


def test_ctrl_c_in_a_callback():
    path = interrupted_in_a_callback()
    assert isinstance(path, sw.Path) and len(path) == 3


def test_ctrl_c_in_a_callback_is_told_as_such():
    assert interrupted_in_a_callback().last.status is sw.Status.INTERRUPTED


# How it reads


def test_a_path_is_shown_in_few_lines():
    path = sw.path(problem_of(), n_points=6)
    text = repr(path)
    assert text.startswith("Path: 6 points, l1 from ") and len(text.splitlines()) == 5
    assert f"{path.nonzeros[0]} to {path.nonzeros[-1]} of 30" in text and "explained" in text and "asked: 1e-06" in text


def test_a_plot_shows_the_coefficients(pyplot):
    path = sw.path(problem_of(), n_points=6)
    ax = path.plot()
    used = int((abs(path.x).sum(axis=0) > 0).sum())
    assert isinstance(ax, pyplot.Axes) and len(ax.lines) == used
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "l1" and ax.xaxis_inverted()
    names = [f"feature {j}" for j in range(30)]
    other = path.plot(names, top=2, ax=pyplot.subplots()[1])
    labels = [text.get_text() for text in other.get_legend().get_texts()]
    assert len(labels) == 2 and set(labels) <= set(names)
    assert path.plot(ax=ax) is ax


def test_plot_of_nothing_and_of_one_point(pyplot):
    problem = problem_of()
    assert isinstance(sw.path(problem, l1s=[1e9, 2e9]).plot(), pyplot.Axes)
    assert isinstance(sw.path(problem, l1s=[0.1]).plot(), pyplot.Axes)
    assert sw.path(problem, l1s=np.zeros(3), l2s=[1.0, 0.5, 0.1]).plot(top=0).get_xlabel() == "l2"
