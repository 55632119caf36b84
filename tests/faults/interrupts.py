"""Signals at random moments: runs a job while a timer rings, and looks after each time whether the next answer is
right. A script: a crash ends this process and not the tests. Prints a line of JSON: how the attempts ended."""

from __future__ import annotations

import collections
import faulthandler
import json
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np

import southwell as sw
from faults.allocations import same
from faults.operations import data, dense
from southwell.penalties import ElasticNet


class Bell(Exception):
    """Raised by the handler of a signal."""


def ring(*_):
    raise Bell


HANDLERS = {"ctrl-c": signal.default_int_handler, "bell": ring, "silent": lambda *_: None}


def solve():
    A, b = data(1500, 200)
    given = {"method": sw.methods.CoordinateDescent(side="primal", coupling="mirror"), "tol": 0.0, "max_epochs": 300}
    return lambda: [sw.solve(A, b, l1=1e-6, **given).x]  # a few tenths of a second: longer than signals are left alone


def solve_many():
    A, _ = data(300, 40)
    Y = A[:, :6] + A[:, 6:12] ** 2
    return lambda: [dense(sw.solve_many(A, Y, l1=0.01, tol=1e-9, n_threads=2).x)]


def path():
    A, b = data(200, 60)
    problem = sw.Problem(A, b, penalty=ElasticNet(0.01, 0.01))
    return lambda: [dense(sw.path(problem, n_points=20).x)]


def cross_validation():
    A, b = data(100, 20)
    return lambda: [sw.LassoCV(cv=3, alphas=10).fit(A, b).coef_]


def metric():
    A, b = data(40, 5)
    return lambda: [sw.metric.LargeMarginNearestNeighbor(n_neighbors=1, n_jobs=2).fit(A, b > 0).components_]


def lbfgs():
    A, b = data(300, 60)
    return lambda: [sw.solve(A, b, l2=1e-3, method="lbfgs", tol=1e-8).x]


def search():
    A, b = data(200, 40)
    method = sw.methods.CoordinateDescent(side="primal", rule=sw.rules.MaxInnerProduct())
    return lambda: [sw.solve(A, b, l1=0.01, l2=0.01, method=method).x]


def binning():
    A, _ = data(3000, 10)
    return lambda: [sw.features.RandomBinning(n_grids=60, random_state=0, n_jobs=2).fit_transform(A).indices]


JOBS = {job.__name__: job for job in (solve, solve_many, path, cross_validation, metric, lbfgs, search, binning)}


def silence() -> None:
    """Stop the timer, whatever still rings."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            return
        except (Bell, KeyboardInterrupt):
            continue


def _names(error: BaseException) -> list[str]:
    """Of the functions an error came through."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def working(job):
    return job()


def only_at_work(handler):
    """A handler that does nothing outside ``working``: a late ring must not end the script itself."""

    def ring(number, frame):
        at = frame
        while at is not None and at.f_code is not working.__code__:
            at = at.f_back
        if at is not None:
            handler(number, frame)

    return ring if callable(handler) else handler


def ended(job, delay: float, interval: float, handler) -> tuple[str, object]:
    """How a job ended at which a timer rang."""
    try:
        signal.signal(signal.SIGALRM, only_at_work(handler))
        signal.setitimer(signal.ITIMER_REAL, delay, interval)
        answer = working(job)
    except (Bell, KeyboardInterrupt) as error:
        silence()
        return type(error).__name__, error
    except (KeyError, RuntimeError) as error:  # CPython: a signal within Thread.start leaves its books in disorder
        silence()
        if not isinstance(error.__context__, Bell | KeyboardInterrupt) or "start" not in _names(error):
            raise
        return "lost by Thread.start", error
    silence()
    return "right", answer


def main(name: str, handler: str, seed: int, attempts: int) -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    job, rng = JOBS[name](), np.random.default_rng(seed)
    reference = job()
    begun = time.perf_counter()
    assert same(job(), reference), "the job does not repeat itself"
    lasts = time.perf_counter() - begun
    threads = threading.active_count()
    told: collections.Counter[str] = collections.Counter()
    for k in range(attempts):
        delay, interval = rng.uniform(1e-4, 1.1 * lasts), 0.003 if k % 3 == 2 and handler != "silent" else 0.0
        how, found = ended(job, delay, interval, HANDLERS[handler])
        if how == "right":
            assert same(found, reference), f"attempt {k}: a signal was not told, and the answer is wrong"
        elif how == "Interrupted" and isinstance(found.result, sw.Result):
            r = found.result
            assert r.status is sw.Status.INTERRUPTED and r.gap >= 0
            assert not np.isfinite(r.gap) or r.problem.certify(r.x, intercept=r.intercept).primal <= r.primal + 1e-9
        told[how] += 1
        found = None
        assert same(job(), reference), f"attempt {k}: the answer after {how} is wrong"
    for _ in range(200):
        if threading.active_count() <= threads:
            break
        time.sleep(0.05)
    assert threading.active_count() <= threads, threading.enumerate()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
