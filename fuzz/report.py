"""The findings of a fuzzer, and their report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """Something that must not happen. ``key`` groups findings with the same cause; ``case`` repeats it."""

    kind: str
    key: str
    detail: str
    case: int = -1


@dataclass
class Report:
    """Counts and findings of one part."""

    part: str
    seed: int
    cases: int = 0
    seconds: float = 0.0
    processor: float = 0.0  # seconds of processor time, which does not depend on the load of the machine
    counts: Counter = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line: cases, rate, counts, findings."""
        kinds = Counter(finding.kind for finding in self.findings)
        parts = [f"{self.cases} cases", f"{self.seconds:.0f} s"]
        parts += [f"{self.cases / self.processor:.0f} a second of processor time"] if self.processor > 0 else []
        parts += [f"{name} {number}" for name, number in sorted(self.counts.items())]
        parts += [f"FOUND {name} {number}" for name, number in sorted(kinds.items())] or ["findings 0"]
        parts += [f"skipped: {', '.join(self.skipped)}"] if self.skipped else []
        return f"{self.part:9s} {', '.join(parts)}"

    def details(self, most: int = 3) -> str:
        """The findings by key, ``most`` of each, with the command that repeats them."""
        by_key: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            by_key.setdefault((finding.kind, finding.key), []).append(finding)
        lines = []
        for (kind, key), group in sorted(by_key.items(), key=lambda item: (item[0][0], -len(item[1]))):
            lines.append(f"  {kind}: {key} ({len(group)} times)")
            for finding in group[:most]:
                again = f"python fuzz/run.py {self.part} --seed {self.seed} --case {finding.case}"
                lines += [f"    {again}", *(f"      {text}" for text in finding.detail.splitlines()[:12])]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])
