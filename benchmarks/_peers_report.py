"""The report of the cases: a line for each as it finishes, then a CSV table, a plot and a summary."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from _peers_cases import Case
from _peers_race import TARGETS, Judged, Worker, race
from _timing import shown

HEAD = (
    f"{'case':36} {'1e-3':>8} {'1e-6':>8} {'proven':>8} {'best peer':>26} {'ratio':>8} {'at 1e-3':>8} {'passes':>7} "
    f"{'memory':>7}   peers' seconds to 1e-6"
)


def line(judged: Judged) -> str:
    """Our seconds to both targets and to a proof of 1e-6, the fastest peer's seconds, and the ratio."""
    loose, tight = TARGETS
    ours, judge = judged.ours, judged.judge
    seconds, name = judged.best(tight)
    peers = sorted((entry.seconds(tight, judge), entry.name) for entry in judged.entries)
    cells = [
        f"{judged.case.name:36}",
        *(f"{shown(value):>8}" for value in (*(ours.seconds(t, judge) for t in TARGETS), ours.certified(tight))),
        f"{name + ' ' + shown(seconds) if np.isfinite(seconds) else '-':>26}",
        *(f"{bounded(judged, target):>8}" for target in (tight, loose)),
        f"{ours.passes:7.1f}",
        f"{shown(judged.memory):>7}  ",
        ", ".join(f"{name} {shown(value)}" for value, name in peers),
    ]
    return " ".join(cells)


def bounded(judged: Judged, target: float) -> str:
    value, sign = judged.ratio(target)
    return sign + shown(value)


def rows(judged: Judged) -> list[dict]:
    """One for each solver."""
    judge, ask = judged.judge, judged.ask
    common = {
        "case": judged.case.name, "model": ask.model, "data": judged.case.data, "n": judged.shape[0],
        "d": judged.shape[1], "stored": judged.ours.stored, "l1": ask.l1, "l2": ask.l2, "intercept": ask.intercept,
        "threads": ask.threads, "optimum": float(judge.optimum), "zero_model": judge.scale,
        "optimum_known_to": max(0.0, float(judge.optimum - judged.dual) / judge.scale),
    }  # fmt: skip
    result = judged.ours.results[0]
    told = [
        {
            **common, "solver": "southwell",
            **{f"seconds_{target:.0e}": judged.ours.seconds(target, judge) for target in TARGETS},
            **{f"proven_{target:.0e}": judged.ours.certified(target) for target in TARGETS},
            "error": judge.error(result.primal), "passes": judged.ours.passes, "memory": judged.memory,
            "note": f"{result.status.name}: {result.method}", "limit": judged.limits[0],
        }
    ]  # fmt: skip
    for entry in judged.entries:
        reached = {target: entry.reaching(target, judge) for target in TARGETS}
        told.append(
            {
                **common, "solver": entry.name,
                **{f"seconds_{target:.0e}": run.seconds if run else np.inf for target, run in reached.items()},
                **{f"tol_{target:.0e}": run.tol if run else np.nan for target, run in reached.items()},
                "error": entry.best(judge), "first_fit": entry.first, "note": entry.note, "limit": judged.limits[1],
            }
        )  # fmt: skip
    return told


def write_rows(table: list[dict], path: Path) -> None:
    names = list(dict.fromkeys(name for row in table for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(table)


def summary(all_judged: list[Judged]) -> str:
    """The geometric mean of the ratios. If a solver ran out of time, the bound counts as the ratio."""
    ratios = {judged.case.name: judged.ratio(TARGETS[-1])[0] for judged in all_judged}
    unsolved = [name for name, value in ratios.items() if np.isnan(value)]
    ratios = {name: value for name, value in ratios.items() if not np.isnan(value)}
    if not ratios:
        return "No case was run."
    values = np.array(list(ratios.values()))
    worst = max(ratios, key=ratios.get)
    told = (
        f"{values.size} cases: a proof of 1e-6 takes {np.exp(np.log(values).mean()):.3g} of the best peer's time to "
        f"1e-6 (geometric mean); worst {ratios[worst]:.3g}, {worst}; above 1: {(values > 1).sum()}"
    )
    return told + (f"; left out, because no solver reached 1e-6 in time: {', '.join(unsolved)}" if unsolved else "")


def plot(all_judged: list[Judged], path: Path) -> None:
    """Ratios, sorted."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    told = [(*judged.ratio(TARGETS[-1]), judged) for judged in all_judged]
    told = sorted((item for item in told if not np.isnan(item[0])), key=lambda item: item[0])
    figure, axis = plt.subplots(figsize=(9, 1.5 + 0.22 * len(told)))
    for k, (value, sign, _) in enumerate(told):
        axis.plot(value, k, marker={"": "o", "<": "<", ">": ">"}[sign], color="C3" if value > 1 else "C0")
    for at in (0.33, 1.0):
        axis.axvline(at, color="grey", linestyle=":" if at < 1 else "-", linewidth=1)
    axis.set_yticks(range(len(told)), [f"{j.case.name} ({j.best(TARGETS[-1])[1]})" for *_, j in told], fontsize=7)
    axis.set(xscale="log", xlabel="seconds to a proof of 1e-6 / best peer's to 1e-6; arrows: a solver ran out of time")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


class CaseStudy:
    """Cases, reported as they finish."""

    def __init__(self, given):
        self.given, self.judged = given, []
        print(HEAD, flush=True)

    def add(self, worker: Worker, folder: Path, case: Case, A, b) -> None:
        given = self.given
        self.judged.append(race(worker, folder, case, A, b, given))
        print(line(self.judged[-1]), flush=True)

    def end(self) -> None:
        """Write the summary, also after an interrupted run."""
        if self.judged:
            table = [{"half": self.given.half, **row} for judged in self.judged for row in rows(judged)]
            write_rows(table, self.given.out / "peers.csv")
            plot(self.judged, self.given.out / "peers.png")
            print(f"\n{summary(self.judged)}\npeers.csv and peers.png are in {self.given.out}")
