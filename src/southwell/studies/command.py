"""``southwell reproduce``: runs studies and draws the report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .papers import PAPERS, Registry, registry
from .progress import Progress

if TYPE_CHECKING:
    from .runner import Runner
    from .study import Study

DESCRIPTION = (
    "Run the experiments of five papers again and report what became of their claims. The exit code is 0 if all "
    "studies ran, 1 if one failed or could not be written, 2 if the command is wrong, and 130 after Ctrl-C; what had "
    "ended by then is kept, and the next run goes on from there."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="PAPER or STUDY", help="which; default: all (see --list)")
    parser.add_argument("--quick", action="store_true", help="smaller data and shorter runs: ten minutes for all")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where data files are looked for first")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("reproduction"), help="default: %(default)s")
    parser.add_argument("--seed", type=_seed, default=0, help="of random choices; default: %(default)s")
    parser.add_argument("--again", action="store_true", help="run studies that have been run, too")
    parser.add_argument("--report-only", action="store_true", help="draw the report from the findings that are there")
    parser.add_argument("--list", action="store_true", help="list papers, studies and claims")


def run(arguments: argparse.Namespace, known: Registry | None = None) -> int:
    """Run, report, and return the exit code."""
    from .runner import Runner, Unwritable  # with all of the solver, when it is needed

    known = registry() if known is None else known
    try:
        studies = known.chosen(arguments.names)
        if arguments.data is not None and not arguments.data.is_dir():
            raise ValueError(f"--data {arguments.data} is not a folder.")
    except ValueError as error:
        print(f"southwell reproduce: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        print(listing(known, studies))
        return 0
    progress = Progress(sys.stdout)
    runner = Runner(arguments.out, progress, arguments.quick, arguments.data, arguments.seed, arguments.again)
    try:
        if not arguments.report_only:
            runner.run(studies)
        elif not runner.path("").parent.is_dir():
            raise Unwritable(
                f"There are no findings in {runner.out / 'traces'} to draw a report from. Leave --report-only out, or "
                "give the --out of the run."
            )
        return _report(runner, known)
    except Unwritable as error:
        progress.clear()
        print(f"southwell reproduce: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress.line(
            f"The studies that had ended are kept in {runner.out / 'traces'}. The same command goes on from there."
        )
        raise


def _report(runner: Runner, known: Registry) -> int:
    from . import report
    from .runner import Unwritable

    try:
        written = report.write(runner.out, known)
    except OSError as error:
        raise Unwritable(
            f"The report could not be written to {runner.out}: {error.strerror or error}. The findings are kept; "
            f"then: southwell reproduce --report-only --out {runner.out}"
        ) from error
    counted = ", ".join(f"{number} {outcome}" for outcome, number in written.counts.items())
    runner.progress.line(f"Report: {written.path} ({counted or 'no claims'})")
    for fault in written.faults:
        print(f"southwell reproduce: {fault}", file=sys.stderr)
    for name, why in runner.failed.items():
        print(f"southwell reproduce: {name} failed: {why}", file=sys.stderr)
    return 1 if runner.failed or written.faults else 0


def listing(known: Registry, studies: list[Study]) -> str:
    """Papers, those of their studies that were asked for, and claims."""
    lines = []
    for key, paper in PAPERS.items():
        own = [study for study in studies if study.paper == key]
        if own:
            lines.append(f"{key}: {paper.authors}, {paper.year}. {paper.title}.")
        for study in own:
            claims = ", ".join(claim.name for claim in known.claims if study.name in claim.studies)
            lines.append(f"  {study.name:<26} {study.title} ({study.where}){f': {claims}' if claims else ''}")
    return "\n".join(lines)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"it must be an integer >= 0 and below 2**63; got {text!r}")
    return int(text)
