"""The report of all claims: one HTML file without scripts, drawn from the trace files alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from ..model_files.files import replacing
from .cards import claim_card, judged, scrolling, source_line, study_part, style
from .misprints import MISPRINTS
from .papers import PAPERS, Registry
from .store import Damaged, Record, read
from .study import OUTCOMES, Claim, Verdict

SHORT = {"cannot tell": "cannot tell here"}


@dataclass(frozen=True)
class Report:
    """What was written: counts of the outcomes, and what went wrong on the way."""

    path: Path
    counts: Mapping[str, int]
    faults: tuple[str, ...]


def write(out: Path, registry: Registry) -> Report:
    """Draw ``OUT/report.html`` from ``OUT/traces``."""
    records, faults = gathered(out, registry)
    findings = {name: record.findings for name, record in records.items()}
    verdicts: dict[str, Verdict] = {}
    for claim in registry.claims:
        verdicts[claim.name], fault = judged(claim, findings)
        faults += [fault] if fault else []
    text = page(registry, records, verdicts)
    path = out / "report.html"
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
    return Report(path, Counter(v.outcome for v in verdicts.values()), tuple(faults))


def gathered(out: Path, registry: Registry) -> tuple[dict[str, Record], list[str]]:
    """The records of the studies that are known, and what was wrong with their files."""
    records: dict[str, Record] = {}
    faults = []
    for name in registry.studies:
        try:
            records[name] = read(out / "traces" / f"{name}.json")
        except FileNotFoundError:
            continue
        except (Damaged, OSError) as error:
            faults.append(f"{error} Run it again: southwell reproduce {name}")
    return records, faults


def page(registry: Registry, records: Mapping[str, Record], verdicts: Mapping[str, Verdict]) -> str:
    """The whole file."""
    css = files(__package__).joinpath("page.css").read_text("utf-8")
    by_paper = {key: [claim for claim in registry.claims if claim.paper == key] for key in PAPERS}
    drawn: dict[str, str] = {}
    parts = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Five papers, reproduced with southwell</title>", f"<style>\n{css}</style>", "</head>", "<body>",
        "<header>", "<h1>Five papers, reproduced</h1>",
        "<p>Every experiment of five papers on coordinate and primal-dual methods, run again with "
        "<code>southwell reproduce</code>, and what became of each claim here. A solid line is the algorithm as "
        "printed, a dashed one a variant of it, a thin one a method that the paper compares with.</p>",
        "</header>", "<main>",
        matrix(by_paper, verdicts), counts(by_paper, verdicts), provenance(records),
    ]  # fmt: skip
    for key, paper in PAPERS.items():
        parts += [
            f'<section id="paper-{key}">', f"<h2>{escape(paper.short)}</h2>",
            f'<p class="quiet">{escape(paper.authors)}: {escape(paper.title)}, {paper.year}.</p>',
            *(claim_card(c, verdicts[c.name], registry.studies, records, drawn) for c in by_paper[key]),
            *(f'<div class="card">{study_part(study, records[study.name])}</div>'
              for study in registry.studies.values()
              if study.paper == key and study.name in records and study.name not in drawn),
            "</section>",
        ]  # fmt: skip
    return "\n".join([*parts, misprints(), "</main>", "</body>", "</html>", ""])


def matrix(by_paper: Mapping[str, list[Claim]], verdicts: Mapping[str, Verdict]) -> str:
    """All claims, coloured and named by their verdicts."""
    rows = []
    for key, claims in by_paper.items():
        cells = "".join(_cell(claim, verdicts[claim.name]) for claim in claims)
        held = f"<ul>{cells}</ul>" if cells else '<p class="quiet">No claims.</p>'
        rows.append(f'<li><h3><a href="#paper-{key}">{escape(PAPERS[key].short)}</a></h3>{held}</li>')
    return f'<section><h2>All claims</h2><ul class="matrix">{"".join(rows)}</ul></section>'


def _cell(claim: Claim, verdict: Verdict) -> str:
    told = SHORT.get(verdict.outcome, verdict.outcome)
    return (f'<li><a class="{style(verdict.outcome)}" href="#{escape(claim.name)}" title="{escape(claim.says)}">'
            f"<b>{escape(claim.name)}</b>{told}</a></li>")  # fmt: skip


def counts(by_paper: Mapping[str, list[Claim]], verdicts: Mapping[str, Verdict]) -> str:
    """How many claims of each paper have which outcome."""
    heads = {"paper": False} | {SHORT.get(outcome, outcome): True for outcome in OUTCOMES} | {"claims": True}
    rows = [(PAPERS[key].short, [verdicts[c.name].outcome for c in claims]) for key, claims in by_paper.items()]
    rows.append(("All", [outcome for _, each in rows for outcome in each]))
    cells = ([escape(name), *(str(found.count(o)) for o in OUTCOMES), str(len(found))] for name, found in rows)
    return scrolling("Counts", heads, cells)


def provenance(records: Mapping[str, Record]) -> str:
    """Machine, versions, seeds and data."""
    if not records:
        return "<p>No study has been run: <code>southwell reproduce</code></p>"
    machines = _each("; ".join(f"{k} {v}" for k, v in r.machine.items()) for r in records.values())
    versions = _each(", ".join(f"{k} {v}" for k, v in r.versions.items()) for r in records.values())
    sizes = _each("quick" if r.quick else "full" for r in records.values())
    seeds = _each(str(r.seed) for r in records.values())
    total, processor = (sum(getattr(r, name) for r in records.values()) for name in ("seconds", "processor"))
    sources = {(s.name, s.sha256): s for r in records.values() for s in r.sources}
    rows = ([source_line(s), f"<code>{s.sha256}</code>"] for s in sources.values())
    listed = scrolling("Data sets", {"data": False, "SHA-256 of the arrays": False}, rows)
    data = f"<details><summary>Data sets and their SHA-256 ({len(sources)})</summary>{listed}</details>"
    facts = {"Machine": machines, "Versions": versions, "Size": sizes, "Seed": seeds,
             "Time": f"{total:,.1f} s, {processor:,.1f} s of the processor; studies run: {len(records)}"}  # fmt: skip
    facts_listed = "".join(f"<dt>{name}</dt><dd>{escape(what)}</dd>" for name, what in facts.items())
    return f'<section aria-label="Machine and data"><dl>{facts_listed}</dl>{data if sources else ""}</section>'


def _each(values: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(values))


def misprints() -> str:
    """What does not hold as printed, by paper."""
    parts = ['<section id="misprints">', "<h2>Misprints, and theorems that fail as printed</h2>"]
    for key, paper in PAPERS.items():
        items = "".join(
            f"<li><b>{escape(m.where.capitalize())}.</b> Printed: {escape(m.printed)}. "
            f"What holds: {escape(m.correct)}.</li>"
            for m in MISPRINTS if m.paper == key
        )  # fmt: skip
        parts.append(f"<h3>{escape(paper.short)}</h3><ul>{items}</ul>")
    return "\n".join([*parts, "</section>"])
