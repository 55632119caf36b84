"""A progress line for terminals and notebooks."""

from __future__ import annotations

import sys

import numpy as np

from .._names import count


class ProgressLine:
    """A line that is overwritten, shown in terminals and notebooks if ``verbose`` is set."""

    def __init__(self, name: str, verbose):
        if not isinstance(verbose, bool | np.bool_):
            count("verbose", verbose, 0)
        self.name, self.shown = name, False
        self.wanted = bool(verbose) and sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_) -> None:
        if self.shown:
            print(file=sys.stderr)

    def round(self, k: int | None, progress) -> None:
        which = "" if k is None else f"problem {k}, "
        self.show(
            f"{which}round {progress.epoch}, gap {progress.relative_gap:.1e}, {progress.nonzeros} nonzeros, "
            f"{progress.seconds:.1f} s"
        )

    def show(self, text: str) -> None:
        if self.wanted:
            self.shown = True
            print(f"\r{self.name}: {text}"[:79].ljust(79), end="", file=sys.stderr, flush=True)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
