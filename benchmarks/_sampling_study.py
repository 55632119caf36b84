"""Perekrestenko, Cevher, Jaggi 2017, figures 1 and 2: Lasso on mushrooms, SVM on ionosphere, seven sampling rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import southwell as sw
from _study import descent
from _timing import best, table
from southwell.testing.datasets import load_binary

SAMPLED = ("uniform", "importance", "support_set", "adaptive", "ada_uniform", "ada_gap", "gap_per_epoch")
SEEDS = range(5)


def lasso_on_mushrooms() -> tuple[sw.Problem, str]:
    """l1 such that 10 to 15 % of the features are in the support, as in the paper."""
    A, b = load_binary("mushrooms")
    top = sw.lambda_max(A, b)
    for fraction in np.geomspace(0.3, 0.001, 30):
        problem = sw.Problem(A, b, penalty=sw.penalties.ElasticNet(fraction * top))
        found = sw.solve(problem, tol=1e-8, max_epochs=20_000)
        if 0.10 <= found.nonzeros / A.shape[1] <= 0.15:
            return problem, "primal"
    raise RuntimeError("no l1 was found that gives this support")


def svm_on_ionosphere() -> tuple[sw.Problem, str]:
    A, b = load_binary("ionosphere", standardise=True)
    return sw.Problem(A, b, "hinge", sw.penalties.ElasticNet(l2=0.1)), "dual"


def sampling(out: Path | None) -> None:
    for name, (problem, side), epochs in (
        ("Lasso, mushrooms", lasso_on_mushrooms(), 400),
        ("SVM, ionosphere", svm_on_ionosphere(), 400),
    ):
        optimum = sw.solve(problem, tol=1e-12, max_epochs=50_000)
        rows, curves = [], {}
        for rule in SAMPLED:
            runs = [_history(problem, side, rule, seed, epochs, optimum) for seed in SEEDS]
            curves[rule] = runs
            row: dict[str, object] = {"rule": rule}
            for measure, target in (("gap", 1e-3), ("gap", 1e-6), ("suboptimality", 1e-6)):
                at = [_first(run, measure, target) for run in runs]
                for what, digits in (("epoch", 1), ("passes", 1), ("ms", 2)):
                    seen = [None if k is None else run[what][k] for run, k in zip(runs, at, strict=True)]
                    row[f"{measure[:6]} {target:g}: {what}"] = _spread(seen, digits)
            rows.append(row)
        print(f"\n{name}: {problem}")
        print(f"mean +- spread over {len(SEEDS)} seeds; passes are entries touched / stored entries")
        print(table(rows))
        if out:
            _plot_sampling(name, curves, out)


def _history(problem, side, rule, seed, epochs, optimum) -> dict[str, np.ndarray]:
    method = descent(side, rule)
    result = sw.solve(problem, method=method, tol=1e-9, max_epochs=epochs, check_every=1, seed=seed)
    h = result.history
    value, best_value, sign = (h["primal"], optimum.primal, 1) if side == "primal" else (h["dual"], optimum.primal, -1)
    # Seconds without certificates: from a second run that has only one certificate, at its end.
    last = int(h["epoch"][-1])
    alone = best(lambda: sw.solve(problem, method=method, tol=0, max_epochs=last, check_every=10**9, seed=seed), 1)
    work = h["entries"] + h["moves"]
    return {
        "epoch": h["epoch"],
        "passes": h["entries"] / problem.data.stored,
        "ms": 1e3 * alone * work / work[-1],
        "gap": h["gap"] / result.scale,
        "suboptimality": sign * (value - best_value) / result.scale,
    }


def _first(run, measure: str, target: float):
    there = np.flatnonzero(run[measure] <= target)
    return int(there[0]) if there.size else None


def _spread(values, digits: int) -> str:
    if any(v is None for v in values):
        return "-"
    return f"{np.mean(values):.{digits}f}+-{np.std(values):.{digits}f}"


def _plot_sampling(name: str, curves, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 8))
    for row, measure in zip(axes, ("gap", "suboptimality"), strict=True):
        for ax, against in zip(row, ("epoch", "passes", "ms"), strict=True):
            for rule, runs in curves.items():
                grid = np.linspace(0, max(run[against][-1] for run in runs), 200)
                logs = [np.interp(grid, r[against], np.log10(np.maximum(r[measure], 1e-13))) for r in runs]
                mean, std = np.mean(logs, axis=0), np.std(logs, axis=0)
                (line,) = ax.plot(grid, mean, label=rule)
                ax.fill_between(grid, mean - std, mean + std, alpha=0.15, color=line.get_color())
            ax.set(title=name, xlabel=against, ylabel=f"log10 relative {measure}")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out / f"sampling-{name.split(', ')[1]}.png", dpi=110)
    plt.close(figure)
