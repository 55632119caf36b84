"""One self-contained HTML page, without scripts, from the rows of peers.csv: the heat map of cases by peers,
performance profiles, a table, and the conditions of the run."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable
from html import escape
from pathlib import Path

import numpy as np

import southwell as sw
from _timing import shown
from southwell.studies import svg
from southwell.studies.axes import Axis

OURS, SECONDS, PROVEN = "southwell", "seconds_1e-06", "proven_1e-06"
STYLE = """
.heat td { text-align: right; padding: .15rem .4rem; white-space: nowrap; color: #111; }
.heat td:not([class]) { min-width: 0; }
.heat th { font-weight: 500; white-space: nowrap; }
.heat thead th { writing-mode: vertical-rl; min-width: 0; }
.late { background: repeating-linear-gradient(135deg, #bcd8f2 0 4px, #e3eff9 4px 8px); }
.none { background: none; } td.none { color: var(--quiet); }
"""


def read(paths: Iterable[Path]) -> list[dict[str, str]]:
    rows = []
    for path in paths:
        with path.open(newline="") as file:
            rows += csv.DictReader(file)
    return rows


def number(told: object) -> float:
    return float(told) if told not in ("", None) else float("nan")


class Case:
    """The rows of a case: our seconds to a proof of 1e-6, and each peer's to an error of 1e-6."""

    def __init__(self, rows: list[dict]):
        ours = next(row for row in rows if row["solver"] == OURS)
        self.name, self.half = ours["case"], ours.get("half", "")
        self.ours, self.limit = number(ours[PROVEN]), number(ours["limit"])
        self.passes = number(ours["passes"])
        self.peers = {row["solver"]: (number(row[SECONDS]), row["note"], number(row["limit"]))
                      for row in rows if row["solver"] != OURS}  # fmt: skip
        self.best, self.winner = min(((s, name) for name, (s, _, _) in self.peers.items()), default=(np.inf, "-"))

    @property
    def ratio(self) -> float:
        """Ours over the best peer's; if only one of them got there, over the time that the other was given."""
        if np.isinf(self.ours):
            return np.nan if np.isinf(self.best) else self.limit / self.best
        given = max((limit for _, _, limit in self.peers.values()), default=np.nan)
        return self.ours / (self.best if np.isfinite(self.best) else given)


def cases_of(rows: list[dict]) -> list[Case]:
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["case"], []).append(row)
    return [Case(group) for group in groups.values()]


def figures(cases: list[Case]) -> str:
    """What is told of a set of cases in one sentence."""
    ratios = np.array([case.ratio for case in cases if np.isfinite(case.ratio)])
    if not ratios.size:
        return "no case was solved"
    return (
        f"{ratios.size} cases; a proof of 1e-6 takes {np.exp(np.log(ratios).mean()):.2f} of the time of the best peer "
        f"(geometric mean); above 1: {(ratios > 1).sum()}, above 1.2: {(ratios > 1.2).sum()}; worst {ratios.max():.2f}"
    )


def heat(cases: list[Case]) -> str:
    """A row for each case, a column for each peer: our seconds over the peer's, blue where we are faster."""
    count: dict[str, int] = {}
    for case in cases:
        for name in case.peers:
            count[name] = count.get(name, 0) + 1
    peers = sorted(count, key=lambda name: -count[name])
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in peers)
    lines = []
    for case in sorted(cases, key=lambda case: -np.nan_to_num(case.ratio)):
        cells = "".join(_cell(case, name) for name in peers)
        lines.append(f'<tr><th scope="row">{escape(case.name)}</th>{_ratio(case.ratio)}{cells}</tr>')
    return (
        '<div class="scroll"><table class="heat"><thead><tr><th scope="col">case</th><th scope="col">best peer</th>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(case: Case, name: str) -> str:
    if name not in case.peers:
        return '<td class="none"></td>'
    seconds, note, limit = case.peers[name]
    if np.isfinite(seconds):
        return _ratio(case.ours / seconds)
    if "no answer" in note or "stopped" in note:
        return f'<td class="late" title="{escape(note)}">&lt;{shown(case.ours / limit)}</td>'
    return f'<td class="none" title="{escape(note)}">-</td>'


def _ratio(ratio: float) -> str:
    if not np.isfinite(ratio):
        return '<td class="none">-</td>'
    part = float(np.clip(np.log10(ratio), -1.3, 1.3)) / 1.3
    hue, light = (10, 95 - 35 * part) if part > 0 else (208, 95 + 35 * part)
    return f'<td style="background:hsl({hue} 75% {light:.0f}%)">{shown(ratio)}</td>'


def profile(cases: list[Case]) -> str:
    """Performance profiles (Dolan and More 2002): the share of cases that a solver solves within a factor of the
    fastest. A solver that cannot state a case does not solve it."""
    solvers = [OURS, *sorted({name for case in cases for name in case.peers})]
    times = np.array([[case.ours if name == OURS else case.peers.get(name, (np.inf,))[0] for name in solvers]
                      for case in cases])  # fmt: skip
    fastest = times.min(axis=1)
    known = np.isfinite(fastest)
    factors = times[known] / fastest[known, None]
    best = np.argsort([-np.mean(factors[:, k] <= 4) for k in range(len(solvers))], kind="stable")[:8]
    across, up = Axis.over([np.array([1.0, 100.0])], True), Axis.over([np.array([0.0, 1.0])], False)
    curves, items = [], []
    for number_, k in enumerate(best):
        steps = np.sort(factors[:, k][np.isfinite(factors[:, k])])
        at = np.r_[1.0, np.repeat(steps[steps <= 100], 2), 100.0]
        share = np.repeat(np.arange(steps.size + 1) / len(factors), 2)[: at.size]
        curves.append(svg.curve(at, share, number_, "ours" if solvers[k] == OURS else "peer", across, up))
        line = f'<line class="curve c{number_ % svg.COLOURS}" x1="1" y1="8" x2="33" y2="8"/>'
        sample = f'<svg class="sample" viewBox="0 0 34 16" aria-hidden="true">{line}{svg.mark(number_, 17, 8)}</svg>'
        items.append(f"<li>{sample}{escape(solvers[k])}</li>")
    told = "share of cases solved, over the factor of the fastest solver's time"
    return (
        f'<svg class="plot" viewBox="0 0 {svg.WIDTH} {svg.HEIGHT}" role="img" aria-label="{told}"><title>{told}</title>'
        + "".join([*svg.frame(across, up), *curves])
        + f'</svg><ul class="legend">{"".join(items)}</ul>'
    )


def table(cases: list[Case]) -> str:
    lines = [
        f'<tr><td>{escape(case.name)}</td><td class="number">{shown(1e3 * case.ours)}</td>'
        f'<td class="number">{shown(case.passes)}</td><td>{escape(case.winner)}</td>'
        f'<td class="number">{shown(1e3 * case.best)}</td><td class="number">{shown(case.ratio)}</td></tr>'
        for case in cases
    ]
    names = ("case", "ours, ms, with proof", "passes", "best peer", "its ms", "ratio")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def page(rows: list[dict], versions: dict[str, str], threads: int) -> str:
    cases = cases_of(rows)
    halves = list(dict.fromkeys(case.half for case in cases))
    parts = [f"<p>All: {figures(cases)}.</p>"]
    for half in halves:
        own = [case for case in cases if case.half == half]
        parts.append(f"<h2>{escape(half or 'cases')}</h2><p>{figures(own)}.</p>{heat(own)}{table(own)}")
    about = ", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown"
    style = (Path(svg.__file__).parent / "page.css").read_text() + STYLE
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>southwell and its peers</title><style>{style}</style></head><body><h1>southwell and its peers</h1>"
        "<p>Seconds to a proven gap of 1e-6, divided by the seconds a peer needs to an error of 1e-6: below 1 (blue) "
        "we are faster, although only we prove it. Hatched: the peer ran out of time. A dash: it cannot state the "
        f"problem or fails; the reason is the cell's title.</p>{''.join(parts[:1])}<h2>Performance profile</h2>"
        f'<div class="panels">{profile(cases)}</div>{"".join(parts[1:])}<h2>Conditions</h2>'
        f"<p>southwell {escape(sw.__version__)}; {escape(about)}; Python {platform.python_version()}; "
        f"{escape(processor())}, {os.cpu_count()} processors; {threads} thread{'s' if threads > 1 else ''}, "
        f"{'seconds of the processor' if threads == 1 else 'seconds of the clock'}.</p></body></html>"
    )


def processor() -> str:
    try:
        told = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        return told[0].partition(":")[2].strip()
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def versions_of(python: str) -> dict[str, str]:
    """The peers' versions, as installed beside that Python."""
    import json
    import subprocess

    names = ["numpy", "scikit-learn", "celer", "skglm", "adelie", "cyanure", "snapml", "glum", "python-glmnet"]
    script = (
        "import json, importlib.metadata as m\n"
        f"told = {{}}\nfor n in {names!r}:\n"
        "    try: told[n] = m.version(n)\n    except m.PackageNotFoundError: pass\nprint(json.dumps(told))"
    )
    run = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)
