"""Many problems at once can be stopped in every way."""

import pickle
import sys
import threading
import time

import numpy as np
import pytest

import southwell as sw
from long_solves import hard
from many_problems import CD, CLASSES, N, made, same
from saddles import honest
from signals import signal_on_call


def test_callback_may_stop_one():
    A, labels = made()
    told = {k: [] for k in range(CLASSES)}

    def callback(k, progress):
        told[k].append(progress)
        return k == 2

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
        begun = [r for r in results if r.status is not sw.Status.NOT_BEGUN]
        assert threads <= len(left) == len(begun) and max(left) <= 0.3
        if threads == 1:
            for own, following, r in zip(left[:-1], left[1:], begun, strict=False):
                assert following <= max(own - r.seconds, 0.0) + 1e-6
        assert {r.status.name for r in begun} == {"MAX_SECONDS"}
        for r in begun:
            honest(r)


def test_problems_whose_turn_does_not_come_are_not_begun(monkeypatch):
    """They get zeros that take no memory, an infinite gap and a status; their targets are made when asked for."""
    module = sys.modules["southwell.solve_many"]
    run, clock = module.run, [0.0]

    def slow(*given):
        answer = run(*given)
        clock[0] += 10.0  # of the limit of 15 seconds
        return answer

    monkeypatch.setattr(module, "run", slow)
    monkeypatch.setattr(module.time, "perf_counter", lambda start=time.perf_counter: start() + clock[0])
    A, labels = made()
    with pytest.warns(sw.ConvergenceWarning, match="2 of 4 problems.*turn"):
        results = sw.solve_many(A, labels, loss="logistic", l2=0.01, tol=1e-6, max_seconds=15.0, n_threads=1)
    assert [r.status.name for r in results] == ["CONVERGED", "CONVERGED", "NOT_BEGUN", "NOT_BEGUN"]
    assert not results.converged and not results[3].status
    for r in results.results[2:]:
        assert not r.x.any() and r.x.strides == (0,)
        assert r.gap == r.relative_gap == np.inf and (r.primal, r.dual) == (np.inf, -np.inf)
    assert results.x.shape == (4, A.shape[1]) and results.gaps[2] == np.inf
    assert results.predict(A).shape == labels.shape
    assert "2 of 4 converged" in repr(results)


def test_results_keep_no_targets():
    """They are made again when a result is proved or pickled, so memory grows by x and y alone."""
    A, labels = made()
    results = sw.solve_many(A, labels, loss="logistic", l2=0.01)
    for k, r in enumerate(results):
        assert "targets" not in vars(r.problem)
        assert np.array_equal(r.problem.targets, np.where(labels == k, 1.0, -1.0))
        assert r.prove().gap <= 1e-5
        again = pickle.loads(pickle.dumps(r))
        assert np.array_equal(again.problem.targets, r.problem.targets)
        other = r.problem.with_targets(-r.problem.targets)
        assert np.array_equal(other.at_hand().targets, -r.problem.targets)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        r.problem.nothing  # noqa: B018


def test_only_doubtful_problems_are_made_ahead(monkeypatch):
    made_targets = []
    checked = sw.Problem._checked_targets

    def noted(self, b):
        made_targets.append(np.array(b))
        return checked(self, b)

    monkeypatch.setattr(sw.Problem, "_checked_targets", noted)
    A, labels = made()
    begun = []

    def callback(k, progress):
        if k not in begun:
            begun.append(k)
            assert len(made_targets) <= 2 + len(begun)  # the first twice: for the data, and for layouts

    sw.solve_many(A, labels, loss="logistic", l2=0.01, n_threads=1, callback=callback)
    assert begun == list(range(CLASSES))


@pytest.mark.parametrize("column", [np.full(N, 2.0), np.r_[np.nan, np.ones(N - 1)], np.r_[0.5, np.ones(N - 1)]])
def test_bad_targets_of_a_late_problem_are_refused_before_any_work(column):
    A, _ = made()
    good = np.where(np.arange(N) % 2, 1.0, -1.0)
    with pytest.raises(ValueError, match="Problem 2: "):
        sw.solve_many(
            A, np.column_stack([good, -good, column]), loss="logistic", l2=0.1, callback=lambda *_: pytest.fail("work")
        )


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


def test_classes_of_an_estimator_whose_turn_does_not_come_have_zeros():
    A, labels = made()
    model = sw.LinearSVC(C=1.0, tol=1e-15, max_iter=10**6, max_seconds=1e-6)
    with pytest.warns(sw.ConvergenceWarning, match="turn"):
        model.fit(A, labels)
    assert model.coef_.shape == (CLASSES, A.shape[1]) and not model.coef_[1:].any()
    assert model.predict(A).shape == labels.shape
