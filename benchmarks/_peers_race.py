"""One case: ours, and every peer at a sequence (ladder) of tolerances, compared by one objective function."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import southwell as sw
from _peers_cases import LOSSES, Case, objective
from _peers_fits import PEERS, Ask, Peer
from _peers_worker import load
from _timing import clock
from memory import peak_kilobytes, resident_kilobytes

TARGETS = (1e-3, 1e-6)
ENOUGH = 1e-7  # an error this small ends a ladder; below 1e-6 because the best known optimum may still decrease
FAST = 1.0  # seconds: shorter fits are run three times, and the fastest counts
HERE = Path(__file__).resolve().parent


class Worker:
    """A process of peers: started when needed, killed when it exceeds its time."""

    def __init__(self, python: str):
        self.python, self.process = python, None
        self.first: dict[tuple, dict] = {}  # kinds of fits already run in this process, and the result of the tiny fit

    def fit(self, folder: Path, study: str, ask: Ask, peer: str, tol: float, limit: float, l1s=None) -> dict:
        """The result, or {"error": ...} if there is none in time. The first fit of a kind is preceded by a tiny one."""
        request = {"folder": str(folder), "study": study, "ask": ask, "peer": peer, "tol": tol, "l1s": l1s}
        kind = (str(folder), study, ask.model, ask.intercept, peer)
        if self.process is None or kind not in self.first:
            first = self._ask({**request, "warm": True}, 120.0)
            self.first[kind] = first
        if "error" in self.first[kind]:
            return self.first[kind]
        by_processor = (
            ask.threads == 1
        )  # then the fit is ended by the worker, and the clock only ends a worker that hangs
        limits = {"limit": limit if by_processor else None, "patience": 20 * limit + 20 if by_processor else limit}
        return {**self._ask({**request, **limits, "warm": False}, limit), "first": self.first[kind]["seconds"]}

    def _ask(self, request: dict, limit: float) -> dict:
        if self.process is None:
            self.first = {}
            command = [self.python, "-W", "ignore", str(HERE / "_peers_worker.py")]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        with contextlib.suppress(BrokenPipeError):  # the process has ended, which the read below reports
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], request.get("patience", limit))[0]:
            self.stop()
            return {"error": f"no answer within {limit:.3g} s at tolerance {request['tol']:.0e}"}
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            return {"error": f"its process died at tolerance {request['tol']:.0e}"}
        return json.loads(line)

    def stop(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)  # and its child processes
            self.process.wait()
            self.process = None


@dataclass
class Judge:
    """Evaluates P and keeps the smallest: numbers for a case, arrays for the points of a path."""

    value: Callable | None
    optimum: float | np.ndarray
    scale: float

    def see(self, x, intercept: float):
        primal = self.value(x, intercept)
        primal = np.where(np.isfinite(primal), primal, np.inf)
        self.optimum = np.minimum(self.optimum, primal)
        return primal

    def errors(self, primal):
        """(P - P*) / P(0)."""
        return (primal - self.optimum) / self.scale

    def error(self, primal) -> float:
        """The largest of them."""
        return float(np.max(self.errors(primal)))


@dataclass
class Run:
    tol: float
    seconds: float
    primal: float | np.ndarray


@dataclass
class Entry:
    """The runs of one solver on a case."""

    name: str
    runs: list[Run] = field(default_factory=list)
    first: float = np.nan  # seconds of the tiny fit before: import and compilation
    note: str = ""

    def reaching(self, target: float, judge: Judge) -> Run | None:
        """The fastest run with an error of at most ``target``."""
        there = [run for run in self.runs if judge.error(run.primal) <= target]
        return min(there, key=lambda run: run.seconds, default=None)

    def seconds(self, target: float, judge: Judge) -> float:
        run = self.reaching(target, judge)
        return np.inf if run is None else run.seconds

    def best(self, judge: Judge) -> float:
        return min((judge.error(run.primal) for run in self.runs), default=np.inf)


def climb(worker: Worker, folder: Path, study: str, ask: Ask, name: str, peer: Peer, limit: float, judge: Judge,
          l1s=None) -> Entry:  # fmt: skip
    """Run a peer at tolerances from loose to tight, until it is accurate enough or has taken too long. When a target is
    first reached, a tolerance between the last two is tried too. Fast fits are run three times."""
    entry = Entry(name)

    def attempt(tol: float) -> float | None:
        reply = worker.fit(folder, study, ask, name, tol, limit, l1s)
        if "error" in reply:
            entry.note = reply["error"]
            return None
        entry.first = reply["first"]
        primal = judge.see(np.load(folder / "x.npy"), reply["intercept"])
        entry.runs.append(Run(tol, reply["seconds"], primal))
        return judge.error(primal)

    last, before = None, np.inf
    for tol in peer.tols:
        error = attempt(tol)
        if error is None:
            return entry
        for target in TARGETS:
            if error <= target < before:
                if last is not None:
                    attempt(np.sqrt(tol * last))
                best = entry.reaching(target, judge)
                for _ in range(2 if best and best.seconds < FAST else 0):
                    attempt(best.tol)
        last, before = tol, min(before, error)
        spent = sum(run.seconds for run in entry.runs)
        if error <= ENOUGH or spent > 3 * limit:
            break
    if entry.best(judge) > TARGETS[-1]:
        entry.note = f"stopped at tolerance {tol:.0e}, after {spent:.3g} s in all"
    return entry


@dataclass
class Ours:
    """Repeats of one solve, without their data. ``history`` holds time and objective at each certificate."""

    results: list[sw.Result]
    taken: list[float]  # seconds of the whole calls
    stretch: list[float]  # the same over those of the history, which are of the wall
    stored: int

    def seconds(self, target: float, judge: Judge) -> float:
        """Seconds until (P - P*) / P(0) was at most ``target``, whether proven or not."""
        return min(
            times * _first(r.history, judge.errors(r.history["primal"]) <= target)
            for r, times in zip(self.results, self.stretch, strict=True)
        )

    def certified(self, target: float) -> float:
        """Seconds until the relative gap was at most ``target``; for the tolerance of the solve, the whole call."""
        if target == TARGETS[-1]:
            return min(s if r.relative_gap <= target else np.inf for r, s in zip(self.results, self.taken, strict=True))
        return min(
            times * _first(r.history, r.history["gap"] <= target * r.scale)
            for r, times in zip(self.results, self.stretch, strict=True)
        )

    @property
    def passes(self) -> float:
        """Entries read or written, divided by the entries of A."""
        return float(self.results[0].history["entries"][-1] / self.stored)


def _first(history: dict, there: np.ndarray) -> float:
    return float(history["seconds"][there.argmax()]) if there.any() else np.inf


def options(threads: int) -> dict:
    return {"n_threads": threads} if "n_threads" in inspect.signature(sw.solve).parameters else {}


def solve_ours(A, b, ask: Ask, limit: float, method="auto", repeats: int = 3) -> tuple[Ours, sw.Result]:
    """Solve from raw arrays to a gap of 1e-6. Returns the repeats, and the last result with its problem."""
    results, taken, stretch, now = [], [], [], clock(ask.threads)
    while not results or (len(results) < repeats and taken[0] < FAST):
        begun, wall = now(), time.perf_counter()
        result = sw.solve(
            A, b, loss=LOSSES[ask.model], l1=ask.l1, l2=ask.l2, intercept=ask.intercept, method=method,
            tol=TARGETS[-1], max_epochs=10**7, max_seconds=limit, **options(ask.threads),
        )  # fmt: skip
        taken.append(now() - begun)
        stretch.append(taken[-1] / (time.perf_counter() - wall))
        results.append(replace(result, x=None, y=None, problem=None))
    return Ours(results, taken, stretch, result.problem.data.stored), result


@dataclass
class Judged:
    """The outcome of a case."""

    case: Case
    ask: Ask
    shape: tuple[int, int]
    judge: Judge
    dual: float  # the best lower bound of the optimum
    ours: Ours
    entries: list[Entry]
    limits: tuple[float, float]  # seconds, ours and the peers'
    memory: float = np.nan

    def best(self, target: float) -> tuple[float, str]:
        """The fastest peer."""
        return min(((entry.seconds(target, self.judge), entry.name) for entry in self.entries), default=(np.inf, "-"))

    def ratio(self, target: float) -> tuple[float, str]:
        """Our time to a proof over the best peer's time, and "<" or ">" if one of them ran out of time."""
        ours, theirs = self.ours.certified(target), self.best(target)[0]
        if np.isinf(ours) and np.isinf(theirs):
            return np.nan, ""
        if np.isinf(ours):
            return self.limits[0] / theirs, ">"
        return (ours / theirs, "") if np.isfinite(theirs) else (ours / self.limits[1], "<")


def race(worker: Worker, folder: Path, case: Case, A, b, given) -> Judged:
    """``folder`` holds A and b for the worker; ``given`` are the arguments of peers.py."""
    threads, limit = given.threads, given.limit
    ask = case.ask(A, b, threads)
    ours, result = solve_ours(A, b, ask, limit)
    tight = sw.solve(result.problem, tol=1e-11, warm_start=result, max_epochs=10**7, max_seconds=2 * limit)
    judge = Judge(lambda x, intercept: objective(A, b, case.loss, ask, x, intercept), np.inf, tight.scale)
    for known in (result, tight):
        judge.see(known.x, known.intercept)
    dual = tight.dual
    del result, tight, known  # to free the layouts that their problem keeps
    patience = float(np.clip(given.patience * ours.certified(TARGETS[-1]), given.patience / 10, limit))
    entries = [
        climb(worker, folder, "PEERS", ask, name, peer, patience, judge)
        for name, peer in PEERS[case.model].items()
        if not (given.without and re.search(given.without, name))
    ]
    if case.model == "smooth_hinge":
        entries.append(fista(solve_ours(A, b, ask, patience, "fista")[0], judge))
    judge.value = None  # it refers to A
    extra = extra_memory(folder, ask, limit) if not given.no_memory else np.nan
    return Judged(case, ask, A.shape, judge, dual, ours, entries, (limit, patience), extra)


def fista(ours: Ours, judge: Judge) -> Entry:
    """Our FISTA, a textbook baseline for cases with few peers. Its history is used in place of a ladder."""
    entry = Entry("our-fista", note="" if ours.results[0].relative_gap <= TARGETS[-1] else "ran out of time")
    for result in ours.results:
        told = zip(result.history["seconds"], result.history["primal"], strict=True)
        entry.runs += [Run(np.nan, seconds, primal) for seconds, primal in told]
    return entry


def extra_memory(folder: Path, ask: Ask, limit: float) -> float:
    """Peak memory of our solve beyond A, relative to the size of A, measured in a separate process. Linux only."""
    command = [sys.executable, "-W", "ignore", __file__, str(folder), json.dumps(ask), str(limit)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        print(f"memory: {(run.stderr.strip() or 'no answer').splitlines()[-1]}", file=sys.stderr)
        return np.nan
    return float(run.stdout)


def measure(folder: Path, ask: Ask, limit: float) -> float:
    A, b = load(folder)
    size = A.nbytes if isinstance(A, np.ndarray) else A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    small = np.random.default_rng(1).standard_normal((50, 5))
    sw.solve(small, np.sign(small[:, 0]), loss="hinge", l2=0.1)  # loads what is loaded only once
    before = resident_kilobytes()
    Path("/proc/self/clear_refs").write_text("5")
    solve_ours(A, b, ask, limit, repeats=1)
    return (peak_kilobytes() - before) * 1024 / size


if __name__ == "__main__":
    print(measure(Path(sys.argv[1]), Ask(*json.loads(sys.argv[2])), float(sys.argv[3])))
