"""Runs cases in a separate process, which may crash or hang.

A case is a number: with the seed it determines the input. The worker gets ranges of them, writes the number of
each case to shared memory before running it, and answers each range with its findings. When the worker dies, or
stays at one case for too long, the shared memory says which case it was; a new worker repeats that case alone, so that
the report can say whether this case alone is enough.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from .report import Finding, Report

ROOT = Path(__file__).resolve().parent.parent
START = 120.0  # seconds a worker may take to import what it needs, on a busy machine
MUTED_AFTER = 2  # crashes with the same key; further cases of this kind are skipped


class Worker:
    """A process that runs cases of one part."""

    def __init__(self, part: str, seed: int, muted: set[str], memory: int):
        self.page_file = tempfile.NamedTemporaryFile(prefix="southwell-fuzz-")  # noqa: SIM115 (lives as long as the worker)
        self.page_file.write(bytes(mmap.PAGESIZE))
        self.page_file.flush()
        self.page = mmap.mmap(self.page_file.fileno(), mmap.PAGESIZE)
        struct.pack_into("<qq", self.page, 0, -1, 0)
        self.errors = tempfile.TemporaryFile(prefix="southwell-fuzz-")  # noqa: SIM115
        settings = json.dumps({"part": part, "seed": seed, "muted": sorted(muted), "page": self.page_file.name,
                               "memory": memory})  # fmt: skip
        environment = dict(os.environ, PYTHONFAULTHANDLER="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", settings], cwd=ROOT, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors, text=True,
        )  # fmt: skip
        self.stuck = False
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    @property
    def current(self) -> tuple[int, str]:
        """The number and the key of the current case."""
        number, size = struct.unpack_from("<qq", self.page, 0)
        return number, self.page[16 : 16 + size].decode(errors="replace")

    def ask(self, start: int, stop: int, limit: float) -> dict | None:
        """The answer for the range, or None if the worker died or stayed at one case for ``limit`` seconds."""
        try:
            self.process.stdin.write(f"{start} {stop}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        before, since = self.current[0], time.monotonic()
        while True:
            if self.selector.select(timeout=0.2):
                line = self.process.stdout.readline()
                return json.loads(line) if line else None
            if self.process.poll() is not None:
                return None
            if self.current[0] != before:
                before, since = self.current[0], time.monotonic()
            elif time.monotonic() - since > (limit if before >= 0 else max(limit, START)):
                self.stuck = True
                return None

    def close(self) -> str:
        """End it, and say how it ended."""
        if self.stuck:  # faulthandler then writes where each thread is
            self.process.send_signal(signal.SIGABRT)
        self.process.stdin.close()
        try:
            self.process.wait(timeout=5.0 if self.stuck else None)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.selector.close()
        code = self.process.returncode
        if self.stuck:
            return "hang"
        return f"crash ({signal.Signals(-code).name})" if code < 0 else f"exit {code}"

    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-1500:]


def run(part: str, seed: int, seconds: float, cases: int | None, *, first: int = 0, mute: tuple[str, ...] = (),
        batch: int = 50, limit: float = 20.0, memory: int = 4 << 30) -> Report:  # fmt: skip
    """Run cases ``first``, ``first + 1``, ... until the time or their number is used up; not those whose key holds a
    text of ``mute``."""
    report, muted = Report(part, seed), set(mute)
    crashes: Counter = Counter()
    begun, used = time.monotonic(), _processor()
    upcoming, again, worker = first, [], None  # again: ranges to repeat, because the worker died at a later case
    while (again or cases is None or upcoming < first + cases) and time.monotonic() - begun < seconds:
        if again:
            start, stop = again.pop()
        else:
            start, stop = upcoming, upcoming + batch if cases is None else min(upcoming + batch, first + cases)
            upcoming = stop
        worker = worker or Worker(part, seed, muted, memory)
        answer = worker.ask(start, stop, limit)
        if answer is not None:
            _add(report, answer)
            continue
        culprit, key = worker.current
        how, words = worker.close(), worker.last_words()
        worker = None
        if not start <= culprit < stop:
            raise RuntimeError(f"The worker of part {part!r} did not begin ({how}):\n{words}")
        alone = _alone(part, seed, culprit, limit, memory)
        note = f"alone: {alone}" if alone else f"not when run alone, after cases from {start}"
        report.findings.append(Finding(how.split()[0], key, f"{how}; {note}\n{words}", culprit))
        report.cases += 1
        crashes[key] += 1
        if crashes[key] >= MUTED_AFTER:
            muted.add(key)
        again += [(a, b) for a, b in ((culprit + 1, stop), (start, culprit)) if a < b]
    if worker is not None:
        worker.close()
    report.seconds, report.processor = time.monotonic() - begun, _processor() - used
    if muted:
        report.notes.append(f"muted, some after {MUTED_AFTER} crashes: {', '.join(sorted(muted))}")
    return report


def _processor() -> float:
    """Seconds of processor time of all workers that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _alone(part: str, seed: int, case: int, limit: float, memory: int) -> str:
    """How a new worker that runs only this case ends, or "" if it survives."""
    worker = Worker(part, seed, set(), memory)
    answer = worker.ask(case, case + 1, limit)
    if answer is None:
        return worker.close()
    worker.close()
    return ""


def _add(report: Report, answer: dict) -> None:
    report.cases += answer["cases"]
    report.counts.update(answer["counts"])
    report.findings += [Finding(*fields) for fields in answer["findings"]]
