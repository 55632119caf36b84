"""How fast a solve ends after Ctrl-C or max_seconds: python benchmarks/reaction.py

For each method the time from Ctrl-C to the end of the solve, and how far a solve goes beyond max_seconds = 0.5. The
tests check that both end a solve; the delay is measured here, on an otherwise idle machine. Five runs each, dense
data of 2000 x 1000 whose columns are nearly alike, so that no method converges.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import numpy as np

import southwell as sw

RUNS, LIMIT = 5, 0.5
METHODS = ("auto", "coordinate_descent", "accelerated_cd", "fista", "lbfgs", "spdc", "dspdc", "saga", "svrg")
FOREVER = {"tol": 0.0, "max_epochs": 10**9}


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(2000, 1)) + 0.05 * rng.normal(size=(2000, 1000)), rng.normal(size=2000)


def seconds_after_ctrl_c(problem: sw.Problem, method: str) -> float:
    sent = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(LIMIT, send)
    timer.start()
    try:
        sw.solve(problem, method=method, max_seconds=60, **FOREVER)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    raise RuntimeError(f"{method} was not interrupted")


def seconds_beyond_limit(problem: sw.Problem, method: str) -> float:
    begun = time.perf_counter()
    sw.solve(problem, method=method, max_seconds=LIMIT, **FOREVER)
    return time.perf_counter() - begun - LIMIT


def main() -> None:
    warnings.simplefilter("ignore")
    A, b = data()
    problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(l2=1e-9))
    print(f"{'method':20s} {'after Ctrl-C, ms':>28s} {'beyond max_seconds, ms':>28s}")
    for method in (name for name in METHODS if name in sw.methods.ALL):
        sw.solve(problem, method=method, max_epochs=1)  # builds layouts, loads libraries
        rows = []
        for measure in (seconds_after_ctrl_c, seconds_beyond_limit):
            times = [1e3 * measure(problem, method) for _ in range(RUNS)]
            rows.append(f"median {np.median(times):6.0f}, worst {max(times):6.0f}")
        print(f"{method:20s} {rows[0]:>28s} {rows[1]:>28s}", flush=True)


if __name__ == "__main__":
    main()
