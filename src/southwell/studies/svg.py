"""Figures as inline SVG, with colours from the style sheet of the page, so that they follow its dark mode."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

import numpy as np

from .axes import Axis
from .findings import Race, Trace

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 12, 54
COLOURS, MARKS = 8, 7  # no common divisor, so that 56 curves differ
NAMES = {
    "epoch": "epochs", "passes": "passes over the data", "moves": "coordinate moves", "seconds": "seconds",
    "error": "suboptimality, best point", "latest": "suboptimality, latest point", "gap": "duality gap, relative",
    "dual_error": "dual suboptimality, best point", "latest_dual": "dual suboptimality, latest point",
}  # fmt: skip


def panels(race: Race) -> list[str]:
    """A panel for each view of a race."""
    return [panel(race, x, y) for x, y in race.views]


def panel(race: Race, x: str, y: str) -> str:
    """The curves of ``y`` over ``x``. Traces without these columns are left out."""
    drawn = [(k, trace) for k, trace in enumerate(race.traces) if {x, y} <= set(trace.columns)]
    points = [_points(trace, x, y) for _, trace in drawn]
    across = Axis.over([p[0] for p in points], "x" in race.logarithmic)
    up = Axis.over([p[1] for p in points], "y" in race.logarithmic)
    below, beside = _name(race, x), _name(race, y)
    if x == "seconds" and any(trace.setup > 0 for _, trace in drawn):
        below += ", set-up included"
    told = f"{race.title}: {beside} over {below}, for {', '.join(trace.label for _, trace in drawn) or 'no method'}"
    curves = [curve(*p, k, trace.role, across, up) for (k, trace), p in zip(drawn, points, strict=True)]
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(told)}">',
        f"<title>{escape(told)}</title>", *_frame(across, up),
        *_lines(below, 50, f"translate({(LEFT + WIDTH - RIGHT) / 2:g} {HEIGHT - 12})"),
        *_lines(beside, 32, f"translate(13 {(TOP + HEIGHT - BOTTOM) / 2:g}) rotate(-90)"),
        *curves, "</svg>",
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def legend(traces: Sequence[Trace]) -> str:
    """A list of the methods, each with its line and mark."""
    items = []
    for k, trace in enumerate(traces):
        line = f'<line class="curve {trace.role} c{k % COLOURS}" x1="1" y1="8" x2="33" y2="8"/>'
        sample = f'<svg class="sample" viewBox="0 0 34 16" aria-hidden="true">{line}{mark(k, 17, 8)}</svg>'
        items.append(f"<li>{sample}{escape(trace.label)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def curve(x: np.ndarray, y: np.ndarray, number: int, role: str, across: Axis, up: Axis) -> str:
    """A line through the points, and a few marks on it."""
    if not x.size:
        return ""
    right = LEFT + across.place(x) * (WIDTH - LEFT - RIGHT)
    down = HEIGHT - BOTTOM - up.place(y) * (HEIGHT - TOP - BOTTOM)
    right, down = right.round(1), down.round(1)
    moved = np.r_[True, (np.diff(right) != 0) | (np.diff(down) != 0)]
    right, down = right[moved], down[moved]
    path = " ".join(f"{a:g},{b:g}" for a, b in zip(right, down, strict=True))
    line = f'<polyline class="curve {role} c{number % COLOURS}" points="{path}"/>' if right.size > 1 else ""
    return line + "".join(mark(number, right[k], down[k]) for k in _spaced(right, down, number))


def mark(number: int, x: float, y: float) -> str:
    """The mark of a curve."""
    shapes = (
        "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", "M-2.7-2.7h5.4v5.4h-5.4z", "M0-3.6L3.4 2.6H-3.4z",
        "M0-3.8L3.2 0L0 3.8L-3.2 0z", "M0 3.6L3.4-2.6H-3.4z", "M-3-1h2v-2h2v2h2v2h-2v2h-2v-2h-2z",
        "M-3.4-1.2h6.8v2.4h-6.8z",
    )  # fmt: skip
    return f'<path class="mark c{number % COLOURS}" transform="translate({x:g} {y:g})" d="{shapes[number % MARKS]}"/>'


def _points(trace: Trace, x: str, y: str) -> tuple[np.ndarray, np.ndarray]:
    """Finite points, with the set-up in the seconds."""
    across = np.asarray(trace.columns[x], dtype=np.float64) + (trace.setup if x == "seconds" else 0.0)
    up = np.asarray(trace.columns[y], dtype=np.float64)
    finite = np.isfinite(across) & np.isfinite(up)
    return across[finite], up[finite]


def _spaced(right: np.ndarray, down: np.ndarray, number: int, apart: float = 75.0) -> list[int]:
    """Points about ``apart`` pixels from each other along the curve, and the last; curves start at different places."""
    along = np.r_[0.0, np.cumsum(np.hypot(np.diff(right), np.diff(down)))]
    wanted = np.arange((number * 29) % apart, along[-1], apart)
    return sorted({*np.searchsorted(along, wanted).tolist(), right.size - 1})


def _frame(across: Axis, up: Axis) -> list[str]:
    parts = []
    for value, text in across.ticks():
        x = LEFT + float(across.place(np.array(value))) * (WIDTH - LEFT - RIGHT)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{text}</text>')
    for value, text in up.ticks():
        y = HEIGHT - BOTTOM - float(up.place(np.array(value))) * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    parts.append(f'<path class="axes" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    return parts


def _lines(text: str, wide: int, place: str) -> list[str]:
    """The name of an axis, in two lines if it is longer than ``wide``."""
    lines = textwrap.wrap(text, wide, max_lines=2, placeholder=" ...")
    first = -7 * (len(lines) - 1)
    return [
        f'<text class="name" transform="{place}" y="{first + 14 * k}" text-anchor="middle">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]


def _name(race: Race, column: str) -> str:
    return race.labels.get(column) or NAMES.get(column, column.replace("_", " "))
