"""A progress line for terminals and notebooks, and a log elsewhere."""

from __future__ import annotations

import logging
import math
import sys
import time
from typing import TYPE_CHECKING, TextIO

import numpy as np

from .._names import count
from .._typing import Given

if TYPE_CHECKING:
    from ..result import Progress

LOGGER = logging.getLogger("southwell")
PAUSE = 1.0  # seconds between two lines of a log


class ProgressLine:
    """If ``verbose`` is set: in terminals and notebooks a line that is overwritten, else a line of a log a second, and
    one at the end."""

    def __init__(self, name: str, verbose: Given, tol: float = 0.0) -> None:
        if not isinstance(verbose, bool | np.bool_):
            count("verbose", verbose, 0)
        self.name, self.tol, self.wanted, self.shown = name, tol, bool(verbose), False
        self.overwrites = sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())
        self._begun = self._logged = time.perf_counter()
        self._waiting = ""
        self._first: dict[int | None, tuple[float, float]] = {}  # of each problem, the time and the gap

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting:
            _log(self._waiting)
        if self.shown:
            print(file=sys.stderr)

    def round(self, k: int | None, progress: Progress) -> None:
        if not self.wanted:
            return
        which = "" if k is None else f"problem {k}, "
        self.show(
            f"{which}round {progress.epoch}, gap {progress.relative_gap:.1e}, {progress.nonzeros} nonzeros, "
            f"{progress.seconds:.1f} s{self._left(k, progress)}"
        )

    def _left(self, k: int | None, progress: Progress) -> str:
        """The time that is left, if the gap goes on to fall by the same factor a second."""
        now, gap = time.perf_counter(), progress.relative_gap
        begun, first = self._first.setdefault(k, (now, gap))
        if not 0 < self.tol < gap < first < math.inf:
            return ""
        return f", about {(now - begun) * math.log(gap / self.tol) / math.log(first / gap):.0f} s left"

    def share(self, done: int, number: int, what: str) -> None:
        """Report that some of equal parts are done."""
        left = (time.perf_counter() - self._begun) * (number - done) / max(done, 1)
        self.show(f"{done} of {number} {what}" + (f", about {left:.0f} s left" if done < number else ""))

    def show(self, text: str) -> None:
        if not self.wanted:
            return
        text = f"{self.name}: {text}"
        if self.overwrites:
            self.shown = True
            print(f"\r{text}"[:79].ljust(79), end="", file=sys.stderr, flush=True)
        elif time.perf_counter() - self._logged < PAUSE:
            self._waiting = text
        else:
            self._logged, self._waiting = time.perf_counter(), ""
            _log(text)


class _ToStandardError(logging.StreamHandler[TextIO]):
    """Writes to what ``sys.stderr`` is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            self.stream = sys.stderr
            super().emit(record)


def _log(text: str) -> None:
    """Log a line that ``verbose`` asked for; to standard error, if logging has not been set up."""
    if not LOGGER.hasHandlers():
        handler = _ToStandardError()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        LOGGER.addHandler(handler)
    if LOGGER.getEffectiveLevel() > logging.INFO:
        LOGGER.setLevel(logging.INFO)
    LOGGER.info(text)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
