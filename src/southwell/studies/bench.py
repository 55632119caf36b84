"""What a study is given: data by name, sizes and limits, and ways to measure a method."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..methods import Start
from ..methods.conditioning import row_norms
from ..result import Result
from . import datasets
from .findings import Source, Trace
from .machine import CLOCK
from .runs import quietly
from .stopwatch import Stopwatch

ROWS = 300  # of a trace
UNPROVEN = 1e-7  # a larger relative gap of an optimum is told


@dataclass
class Bench:
    """The workbench of one study.

    Attributes
    ----------
    quick : bool
        Smaller data and shorter runs: all studies together take at most ten minutes on two cores.
    folder : Path, optional
        Where data files are looked for first.
    sources : list of Source
        Which data the study has asked for.
    notes : list of str
        What went otherwise than it should, such as an optimum that was not reached; joins the notes of the findings.
    """

    quick: bool = False
    folder: Path | None = None
    seed: int = 0
    say: Callable[[str], None] = lambda text: None  # a line of progress; also where Ctrl-C is noticed
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def pick(self, full: Any, quick: Any) -> Any:
        """``quick`` in a quick run, else ``full``."""
        return quick if self.quick else full

    def data(self, name: str, **options: Any) -> Any:
        """A data set by the name that the paper gives it, as it is in its file: A (CSR or dense) and targets.

        From a file if there is one, else what scikit-learn ships, else a stand-in or a generator of the same shape and
        statistics; ``sources`` records which. Options: ``part`` ("train", "test", "all"), ``rows``, ``columns``,
        ``binary``, ``standardise``, ``unit_rows``, ``instead`` ("stand-in", "synthetic", "nothing"); see
        :func:`datasets.load`. Names: ``catalogue.DATA``.
        """
        self.say(f"data: {name}")
        A, y, source = datasets.load(name, self.folder, self.seed, **options)
        self._record(source)
        return A, y

    def made(self, name: str, A: Any, y: Any, note: str = "generated as the paper describes") -> tuple[Any, Any]:
        """Record data that the study made itself, and return them."""
        self._record(Source(name, "synthetic", tuple(map(int, A.shape)), note, datasets.digest(A, np.asarray(y))))
        return A, y

    def _record(self, source: Source) -> None:
        if source not in self.sources:
            self.sources.append(source)

    def solve(self, problem: Any, method: Any, label: str, role: str, optimum: float, *, tol: float = 1e-9,
              seconds: float, unit: float | None = None, **options: Any) -> Trace:  # fmt: skip
        """Run ``solve`` and trace it: epoch, passes, moves, seconds, error, latest, gap.

        ``error`` is ``(best primal - optimum) / unit`` and ``latest`` that of the latest point; the unit is P(0) unless
        given. ``dual_error`` and ``latest_dual`` are ``(optimum - dual) / unit``. Layouts and norms of rows are made
        before the clock starts, as in the papers. Seconds are those of the processor, on one thread. ``options`` are
        those of ``solve``.
        """
        self.say(label)
        problem.layout(True), problem.layout(False), row_norms(problem)
        watch = Stopwatch(seconds)
        options = {"tol": tol, "max_epochs": 10**7, "seed": self.seed, "n_threads": 1} | watch.options | options
        result = quietly(problem, method=method, **options)
        history = result.history
        unit = result.scale if unit is None else unit
        setup = float(watch.of(sum(result.setup.values())))
        columns = {
            "epoch": history["epoch"],
            "passes": history["entries"] / max(problem.data.stored, 1),
            "moves": history["moves"],
            "seconds": np.maximum(watch.of(history["seconds"]) - setup, 0.0),
            "error": (history["primal"] - optimum) / unit,
            "latest": (history["latest_primal"] - optimum) / unit,
            "dual_error": (optimum - history["dual"]) / unit,
            "latest_dual": (optimum - history["latest_dual"]) / unit,
            "gap": history["gap"] / unit,
            "nonzeros": history["nonzeros"],
        }
        return Trace(label, role, thinned(columns), setup)

    def moves(self, problem: Any, method: Any, label: str, role: str,
              error: Callable[[np.ndarray, np.ndarray], float], *, most: float, seconds: float) -> Trace:  # fmt: skip
        """Trace ``error(x, y)`` after 1, 2, 3, 4, 5, 7, ... moves, over seconds of the processor without certificates.

        Columns: moves; seconds; ``latest``, the error there; ``error``, the least so far. It ends after ``most``
        moves, ``seconds``, or below 1e-9 of the first error. The problem is copied, so that blocks and indices that
        other runs made are made again; ``setup`` is the time of making them.
        """
        self.say(label)
        problem = copy.deepcopy(problem)
        problem.layout(True), problem.layout(False)
        begun = CLOCK()
        prepared = method.prepare(problem, Start(np.zeros(problem.inner_size)), self.seed)
        try:
            setup = min(float(sum(prepared.setup.values())), CLOCK() - begun)  # several threads may share it
            columns = _led(prepared.algorithm, error, most, seconds)
            return Trace(label, role, thinned(columns), setup)
        finally:
            prepared.close()

    def optimum(self, problem: Any, tol: float = 1e-12, seconds: float | None = None) -> Result:
        """A certified answer of the default method, against which errors are measured.

        If rounding or ``seconds`` (60, or 20 in a quick run) end it above a relative gap of 1e-7, a note says so.
        """
        self.say("optimum")
        seconds = self.pick(60.0, 20.0) if seconds is None else seconds
        result = quietly(problem, seconds=seconds, tol=tol, max_epochs=10**6, seed=self.seed)
        if result.relative_gap > max(UNPROVEN, tol):
            self.notes.append(
                f"The optimum is known only to a relative gap of {result.relative_gap:.1e}: less is uncertain."
            )
        return result


def _led(algorithm: Any, error: Callable[[np.ndarray, np.ndarray], float], most: float,
         seconds: float) -> dict[str, np.ndarray]:  # fmt: skip
    """The columns of ``Bench.moves``."""
    algorithm.settle()
    moves, clock, errors = [0], [0.0], [float(error(*algorithm.point()))]
    while moves[-1] < most and clock[-1] < seconds and errors[-1] > 1e-9 * errors[0]:
        more = max(1, int(0.4 * moves[-1]))
        if moves[-1] and clock[-1]:  # not far beyond the limit
            more = max(1, min(more, int((seconds - clock[-1]) * moves[-1] / clock[-1]) + 1))
        begun = CLOCK()
        algorithm.lead(more)
        clock.append(clock[-1] + CLOCK() - begun)
        moves.append(moves[-1] + more)
        errors.append(float(error(*algorithm.point())))
    latest = np.maximum(np.array(errors), 0.0)
    best = np.minimum.accumulate(latest)
    return {"moves": np.array(moves), "seconds": np.array(clock), "error": best, "latest": latest}


def thinned(columns: dict[str, np.ndarray], rows: int = ROWS) -> dict[str, np.ndarray]:
    """At most ``rows`` rows: the first, the last, and others spread evenly over rows and over their logarithm."""
    count = len(next(iter(columns.values())))
    if count <= rows:
        return columns
    even = np.linspace(0, count - 1, rows // 2)
    early = np.geomspace(1, count, rows // 2) - 1
    kept = np.unique(np.concatenate([even, early]).round().astype(int))
    return {name: column[kept] for name, column in columns.items()}
