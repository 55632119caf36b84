"""What a study is given: data by name, sizes and limits, and ways to measure a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..result import Result
from .findings import Source, Trace


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
    """

    quick: bool = False
    folder: Path | None = None
    seed: int = 0
    say: Callable[[str], None] = lambda text: None  # a line of progress; also where Ctrl-C is noticed
    sources: list[Source] = field(default_factory=list)

    def pick(self, full: Any, quick: Any) -> Any:
        """``quick`` in a quick run, else ``full``."""
        return quick if self.quick else full

    def data(self, name: str, **options: Any) -> Any:
        """A data set by the name that the paper gives it, as it is in its file: A (CSR or dense) and targets.

        From a file if there is one, else what scikit-learn ships, else a stand-in or a generator of the same shape and
        statistics; ``sources`` records which.
        """
        raise NotImplementedError

    def solve(self, problem: Any, method: Any, label: str, role: str, optimum: float, *, tol: float = 1e-9,
              seconds: float, unit: float | None = None, **options: Any) -> Trace:  # fmt: skip
        """Run ``solve`` and trace it: epoch, passes, moves, seconds, error, latest, gap.

        ``error`` is ``(best primal - optimum) / unit`` and ``latest`` that of the latest point; the unit is P(0) unless
        given. Layouts and norms of rows are made before the clock starts, as in the papers.
        """
        raise NotImplementedError

    def moves(self, problem: Any, method: Any, label: str, role: str,
              error: Callable[[np.ndarray, np.ndarray], float], *, most: float, seconds: float) -> Trace:  # fmt: skip
        """Trace ``error(x, y)`` after 1, 2, 3, 4, 5, 7, ... moves, on a clock that stops for certificates."""
        raise NotImplementedError

    def optimum(self, problem: Any, tol: float = 1e-12) -> Result:
        """A certified answer of the default method, against which errors are measured."""
        raise NotImplementedError
