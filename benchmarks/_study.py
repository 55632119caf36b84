"""The suboptimality of a method by moves and seconds, where the time does not include certificates."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import southwell as sw


@dataclass
class Trace:
    """Relative suboptimality after ``moves`` moves and ``seconds`` seconds; ``setup`` seconds came before."""

    label: str
    moves: np.ndarray
    seconds: np.ndarray
    error: np.ndarray
    setup: float = 0.0

    def reached(self, target: float) -> tuple[float, float] | None:
        """Moves and seconds, setup included, at the first measurement at or below the target."""
        there = np.flatnonzero(self.error <= target)
        return (float(self.moves[there[0]]), float(self.seconds[there[0]] + self.setup)) if there.size else None


def descent(side: str, rule, **options) -> sw.methods.CoordinateDescent:
    """Textbook coordinate descent, without shrinking and proximal terms."""
    return sw.methods.CoordinateDescent(
        **{"side": side, "rule": rule, "coupling": "mirror", "shrinking": False, "proximal": False, **options}
    )


def trace(problem: sw.Problem, method, label: str, error, *, max_moves: float, max_seconds: float, seed=0) -> Trace:
    """Measure ``error(x, y)`` after 1, 2, 3, 4, 5, 7, ... moves, until it is below 1e-9 of its first value."""
    begun = time.perf_counter()
    prepared = method.prepare(problem, sw.methods.Start(np.zeros(problem.n_features)), seed)
    setup = time.perf_counter() - begun
    algorithm = prepared.algorithm
    algorithm.settle()
    moves, seconds, errors = [0], [0.0], [error(*algorithm.point())]
    while moves[-1] < max_moves and seconds[-1] < max_seconds and errors[-1] > 1e-9 * errors[0]:
        more = max(1, int(0.4 * moves[-1]))
        if moves[-1] and seconds[-1]:  # not far beyond the limit
            more = max(1, min(more, int((max_seconds - seconds[-1]) * moves[-1] / seconds[-1]) + 1))
        begun = time.perf_counter()
        algorithm.lead(more)
        seconds.append(seconds[-1] + time.perf_counter() - begun)
        moves.append(moves[-1] + more)
        errors.append(error(*algorithm.point()))
    errors = np.maximum(np.array(errors), 0.0) / errors[0]
    return Trace(label, np.array(moves), np.array(seconds), errors, setup)


def primal_error(problem: sw.Problem):
    """P(x) - P*, the optimum from a certified solve."""
    best = sw.solve(problem, tol=1e-12, max_epochs=20_000).primal
    return lambda x, y: problem.certify(x).primal - best


def dual_error(problem: sw.Problem):
    """D* - D(y)."""
    best = sw.solve(problem, tol=1e-9, max_epochs=20_000)
    return lambda x, y: best.primal - problem.certify(best.x, y).dual


def plot(groups: dict[str, list[Trace]], path) -> None:
    """A row of panels for each group: against moves and against seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(groups), 2, figsize=(13, 3.6 * len(groups)), squeeze=False)
    for row, (title, traces) in zip(axes, groups.items(), strict=True):
        for t in traces:
            row[0].loglog(np.maximum(t.moves, 1), np.maximum(t.error, 1e-12), label=t.label, linewidth=1)
            row[1].loglog(np.maximum(t.seconds + t.setup, 1e-6), np.maximum(t.error, 1e-12), label=t.label, linewidth=1)
        row[0].set(title=title, xlabel="moves", ylabel="suboptimality / initial")
        row[1].set(title=title, xlabel="seconds, clustering and index included")
        row[1].legend(fontsize=6, ncol=2)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
