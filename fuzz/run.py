"""Fuzz southwell: ``python fuzz/run.py WHAT --seconds N --seed S``. WHAT is a part, or "all"; see README.md."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fuzz import workers  # noqa: E402 (the folder must be on the path)
from fuzz.report import Report  # noqa: E402

SETTINGS = {  # how many cases a worker gets at a time, and after how many seconds one counts as a hang
    "problems": {"batch": 10, "limit": 60.0},
    "proofs": {"batch": 10, "limit": 60.0},
    "hostile": {"batch": 200, "limit": 20.0},
    "files": {"batch": 200, "limit": 20.0},
    "readers": {"batch": 200, "limit": 20.0},
}
SHARES = {
    "problems": 0.4,
    "proofs": 0.1,
    "hostile": 0.25,
    "files": 0.1,
    "readers": 0.1,
    "sparse": 0.05,
}  # of the seconds of "all"


def fuzz(part: str, seconds: float, seed: int, cases: int | None, first: int, mute: tuple[str, ...]) -> Report:
    """Run one part."""
    if part == "sparse":
        from fuzz import sparse

        return sparse.run(seed, seconds, cases)
    report = workers.run(part, seed, seconds, cases, first=first, mute=mute, **SETTINGS[part])
    if part == "problems" and importlib.util.find_spec("cvxpy") is None:
        report.skipped.append("Clarabel (cvxpy is not installed: pip install '.[fuzz]')")
    return report


def again(part: str, seed: int, case: int) -> int:
    """Run one case in this process and print its findings; for a debugger."""
    from fuzz.worker import load

    found, counts = load(part).make(seed, case).run()
    for finding in found:
        print(f"{finding.kind}: {finding.key}\n{finding.detail}\n")
    print(dict(counts))
    return int(bool(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=[*SHARES, "all"])
    parser.add_argument("--seconds", type=float, default=60.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, help="at most so many of each part")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="repeat this case alone, in this process")
    parser.add_argument("--mute", nargs="*", default=[], help="do not run cases whose key holds one of these texts")
    parser.add_argument("--json", type=Path, help="write all findings to this file")
    arguments = parser.parse_args()
    if arguments.case is not None:
        return again(arguments.what, arguments.seed, arguments.case)
    parts = SHARES if arguments.what == "all" else {arguments.what: 1.0}
    reports = []
    for part, share in parts.items():
        report = fuzz(
            part, share * arguments.seconds, arguments.seed, arguments.cases, arguments.first, (*arguments.mute,)
        )
        reports.append(report)
        print(report.line(), flush=True)
        if report.findings or report.notes:
            print(report.details(), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([[r.part, r.line(), [vars(f) for f in r.findings]] for r in reports]))
    return int(any(report.findings for report in reports))


if __name__ == "__main__":
    sys.exit(main())
