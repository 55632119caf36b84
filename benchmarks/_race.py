"""Compares methods on one problem: the time each takes to a given distance from the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import southwell as sw
from southwell.methods.conditioning import row_norms


@dataclass
class Race:
    """Histories of several methods on one problem, and the best objective any of them reached."""

    title: str
    results: dict[str, sw.Result]
    relative: bool = True  # to P*; else to P(0), for optima near zero

    @property
    def optimum(self) -> float:
        return min(result.primal for result in self.results.values())

    def error(self, label: str) -> np.ndarray:
        """(P - P*) / P*, or / P(0), after each certificate."""
        result = self.results[label]
        return (result.history["primal"] - self.optimum) / (abs(self.optimum) if self.relative else result.scale)

    def reached(self, label: str, target: float, unit: str = "seconds") -> float:
        """Seconds or epochs to the first certificate with an error of at most ``target``; infinity if there is none."""
        there = np.flatnonzero(self.error(label) <= target)
        return float(self.results[label].history[unit][there[0]]) if there.size else np.inf

    def times(self, label: str, targets=(1e-3, 1e-6), unit: str = "seconds") -> str:
        """The same for several targets, as text; in brackets the error at the end, if a target was not reached."""
        told = [shown(self.reached(label, target, unit)) for target in targets]
        return " ".join(told) + (f" [{self.error(label)[-1]:.0e}]" if "-" in told else "")


def race(title: str, problem: sw.Problem, methods: dict[str, object], *, tol: float, seconds: float, **options) -> Race:
    """Run all methods, each until the tolerance or the time limit. Layouts are built before the clock starts, as in the
    papers."""
    problem.layout(True), problem.layout(False), row_norms(problem)
    results = {}
    for label, method in methods.items():
        results[label] = sw.solve(problem, method=method, tol=tol, max_seconds=seconds, max_epochs=10**7)
    return Race(title, results, **options)


def shown(value: float) -> str:
    return "-" if not np.isfinite(value) else f"{value:.3g}"


def plot(races: list[Race], path, unit: str = "seconds", columns: int = 3) -> None:
    """A panel for each race."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = -(-len(races) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 3.4 * rows), squeeze=False)
    for axis in axes.flat[len(races) :]:
        axis.set_axis_off()
    for axis, raced in zip(axes.flat, races, strict=False):
        for label, result in raced.results.items():
            if label != "referee":
                at = np.maximum(result.history[unit], 1e-4)
                axis.loglog(at, np.maximum(raced.error(label), 1e-13), label=label, linewidth=1)
        axis.set(title=raced.title, xlabel=unit, ylabel=f"(P - P*) / {'P*' if raced.relative else 'P(0)'}")
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
