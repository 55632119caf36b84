"""Runs the Python blocks of a page, and compares what they print with what the page shows."""

import contextlib
import io
import math
import re
from pathlib import Path

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Each Python block with the text block that follows it at once, which shows its output; "" if there is none."""
    return re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page.read_text(encoding="utf-8"), re.DOTALL)


def run(page: Path) -> None:
    """Run the blocks of a page one after the other, in one namespace."""
    names: dict = {"__name__": "__main__"}
    for source, shown in blocks(page):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(source, page.name, "exec"), names)
        if shown:
            assert differences(printed.getvalue(), shown) == []


def differences(printed: str, shown: str) -> list[tuple[str, str]]:
    """Pairs of lines that differ. How much work a solve took depends on the machine and is not compared."""
    pairs = [[line for line in text.splitlines() if not line.startswith("  work")] for text in (printed, shown)]
    if len(pairs[0]) != len(pairs[1]):
        return [(printed, shown)]
    return [pair for pair in zip(*pairs, strict=True) if not same_line(*pair)]


def same_line(printed: str, shown: str) -> bool:
    """Whether words are equal and numbers agree. Those of the line "method" count steps, which may change."""
    if shown.startswith("  method"):
        return printed.split()[:3] == shown.split()[:3]
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", shown).split():
        return False
    return all(map(agree, NUMBER.findall(printed), NUMBER.findall(shown)))


def agree(printed: str, shown: str) -> bool:
    """Numbers in scientific notation are gaps and the like: their size is compared. Others agree to six digits."""
    a, b = float(printed), float(shown)
    if "e" in shown:
        return a == b or (a * b > 0 and abs(math.log10(a / b)) <= 2)
    return math.isclose(a, b, rel_tol=1e-6)
