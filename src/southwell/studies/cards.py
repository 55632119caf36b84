"""The parts of a report: a claim with its verdict, a study with its figures and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from . import svg
from .findings import Findings, Race, Source, Table
from .store import Record
from .study import Claim, Study, Verdict

SHORT = 26  # letters of a cell that is not broken into lines
FIGURES = 3  # of a study are shown at once; the others when asked for
CASES = 12  # of a verdict are shown at once
KINDS = {"paper": "the paper's data", "stand-in": "stand-in", "synthetic": "synthetic"}


def judged(claim: Claim, findings: Mapping[str, Findings]) -> tuple[Verdict, str]:
    """The verdict on a claim, and the error of its ``judge`` if that raised."""
    lacking = [name for name in claim.studies if name not in findings]
    if lacking:
        return Verdict("cannot tell", f"not run: southwell reproduce {' '.join(lacking)}"), ""
    try:
        verdict = claim.judge({name: findings[name] for name in claim.studies})
        if not isinstance(verdict, Verdict):
            raise TypeError(f"judge returned {type(verdict).__name__} instead of a Verdict")
        return verdict, ""
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        return Verdict("cannot tell", f"The verdict could not be computed ({told})."), f"claim {claim.name}: {told}"


def style(outcome: str) -> str:
    """The class of an outcome in the style sheet."""
    return outcome.replace(" ", "-")


def claim_card(claim: Claim, verdict: Verdict, studies: Mapping[str, Study], records: Mapping[str, Record],
               drawn: dict[str, str]) -> str:  # fmt: skip
    """A card. Studies that an earlier card shows are linked; ``drawn`` says which card that is."""
    told = f"<b>{escape(verdict.outcome)}</b>{_here(verdict)}: {unbroken(escape(verdict.because))}"
    parts = [
        f'<article class="card" id="{escape(claim.name)}">',
        f"<h3>{escape(claim.name)}. {escape(claim.says)}</h3>",
        f'<p class="quiet">{escape(claim.where)}</p>',
        f'<div class="verdict {style(verdict.outcome)}"><p>{told}</p>{_cases(verdict)}</div>',
    ]
    if claim.differs:
        parts.append(f"<p><b>What differs.</b> {escape(claim.differs)}</p>")
    for name in claim.studies:
        if name in drawn:
            link = f'<a href="#study-{escape(name)}">{escape(studies[name].title)}</a>'
            parts.append(
                f"<p>{link} ({escape(studies[name].where)}), {_run(records[name])}. Figures and tables: at "
                f"{escape(drawn[name])}.</p>"
            )
        elif name in records:
            drawn[name] = claim.name
            parts.append(study_part(studies[name], records[name]))
    return "\n".join([*parts, "</article>"])


def _cases(verdict: Verdict) -> str:
    """A list; a long one is shown when asked for."""
    if not verdict.cases:
        return ""
    items = "".join(f"<li>{unbroken(escape(case))}</li>" for case in verdict.cases)
    if len(verdict.cases) <= CASES:
        return f"<ul>{items}</ul>"
    return f"<details><summary>{len(verdict.cases)} cases</summary><ul>{items}</ul></details>"


def _here(verdict: Verdict) -> str:
    return " here" if verdict.outcome == "cannot tell" else ""


def _run(record: Record) -> str:
    """Size and data of a study, in a line."""
    data = (f"{escape(source.name)} ({KINDS.get(source.kind, source.kind)})" for source in record.sources)
    return ", on ".join(filter(None, (_size(record), ", ".join(dict.fromkeys(data)))))


def _size(record: Record) -> str:
    return "quick" if record.quick else "full size"


def _time(record: Record) -> str:
    return f"{record.seconds:.1f} s, {record.processor:.1f} s of the processor"


def study_part(study: Study, record: Record) -> str:
    """What a study was run on, what it measured, and how to run it again."""
    found = record.findings
    command = ("southwell", "reproduce", study.name, *(["--quick"] if record.quick else []), "--again")
    words = " ".join(f"<span>{escape(word)}</span>" for word in command)  # a line does not break within one
    facts = [
        ("Data", *map(source_line, record.sources)),
        ("Run", f"{_size(record)}, seed {record.seed}, {_time(record)}, {escape(record.ended)}"),
        ("Again", f"<code>{words}</code>"),
    ]
    listed = "".join(f"<dt>{name}</dt>" + "".join(f"<dd>{each}</dd>" for each in told) for name, *told in facts if told)
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    figures = [figure(race, record.sources) for race in found.races]
    shown, hidden = figures[:FIGURES], figures[FIGURES:]
    count = f"{len(hidden)} more figure{'s' * (len(hidden) > 1)}"
    more = f"<details><summary>{count}</summary>{''.join(hidden)}</details>" if hidden else ""
    parts = [
        f'<section id="study-{escape(study.name)}">',
        f"<h4>{escape(study.title)} ({escape(study.where)})</h4>",
        f"<dl>{listed}</dl>",
        f"<ul>{notes}</ul>" if notes else "",
        *map(table, found.tables),
        *shown,
        more,
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def source_line(source: Source) -> str:
    """Where data came from, in a line."""
    shape = " x ".join(f"{size:,}" for size in source.shape)
    note = f", {escape(source.note)}" if source.note else ""
    return f'{escape(source.name)} <span class="kind">{KINDS.get(source.kind, source.kind)}</span> {shape}{note}'


def figure(race: Race, sources: Sequence[Source] = ()) -> str:
    """A race: its panels, the legend and the caption, which tells the data."""
    told = "".join(f" {_kind(source)}" for source in _behind(race, sources))
    caption = f"<b>{escape(race.title)}.</b> {escape(race.caption)}".strip() + told
    return "\n".join(
        ["<figure>", f"<figcaption>{caption}</figcaption>", svg.legend(race.traces), '<div class="panels">',
         *svg.panels(race), "</div>", "</figure>"]
    )  # fmt: skip


def _behind(race: Race, sources: Sequence[Source]) -> list[Source]:
    """The data of a race: those that its title names, by the longest name; else those of the study, if all are of one
    kind. One source for each kind."""
    named = [source for source in sources if source.name.split(".")[0] in race.title]
    longest = max((len(source.name.split(".")[0]) for source in named), default=0)
    chosen = [source for source in named if len(source.name.split(".")[0]) == longest]
    if not named and len({source.kind for source in sources}) == 1:
        chosen = list(sources)
    return list({source.kind: source for source in chosen}.values())


def _kind(source: Source) -> str:
    """As a label; a stand-in with its name."""
    instead = source.note.split(":")[0] if source.kind == "stand-in" and " instead of " in source.note else ""
    return f'<span class="kind">{escape(instead or KINDS.get(source.kind, source.kind))}</span>'


def table(given: Table) -> str:
    """A table of a study."""
    names = list(dict.fromkeys(name for row in given.rows for name in row))
    heads = {escape(str(name)): all(_number(row.get(name)) for row in given.rows) for name in names}
    rows = [[escape(cell(row.get(name))) for name in names] for row in given.rows]
    return f"<h4>{escape(given.title)}</h4>{scrolling(given.title, heads, rows)}"


def scrolling(label: str, heads: Mapping[str, bool], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls where it is too wide, of cells in HTML; ``heads`` says which columns are numbers."""
    rows = [list(row) for row in rows]
    short = [all(len(row[k]) <= SHORT for row in rows) for k in range(len(heads))]
    kinds = [
        ' class="number"' if numeric else ' class="short"' if brief else ""
        for numeric, brief in zip(heads.values(), short, strict=True)
    ]

    def line(tag: str, cells: Iterable[str]) -> str:
        ended = tag.split(" ")[0]
        held = "".join(f"<{tag}{kind}>{each}</{ended}>" for kind, each in zip(kinds, cells, strict=True))
        return f"<tr>{held}</tr>"

    head, body = line('th scope="col"', map(unbroken, heads)), "".join(line("td", row) for row in rows)
    inner = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{inner}</div>'


def unbroken(text: str) -> str:
    """Without breaks of lines within 1e-6."""
    return re.sub(r"(\de)-(\d)", "\\1\N{NON-BREAKING HYPHEN}\\2", text)


def cell(value: Any) -> str:
    """A cell as text: numbers to three digits, a dash for what was not reached."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return "-"
        return f"{number:,.0f}" if 1000 <= abs(number) < 1e7 else f"{number:.3g}"
    return ", ".join(map(cell, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | np.number) and not isinstance(value, bool))
