"""The process that runs cases: ``python -m fuzz.worker SETTINGS``, started by workers.py."""

from __future__ import annotations

import importlib
import json
import mmap
import os
import resource
import struct
import sys
from collections import Counter

PARTS = {name: f"fuzz.{name}" for name in ("problems", "proofs", "hostile", "files", "readers")}


class Page:
    """Shared memory in which the parent sees the current case of the worker."""

    def __init__(self, path: str):
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), mmap.PAGESIZE)

    def at(self, number: int, key: str) -> None:
        text = key.encode()[:1000]
        self.page[16 : 16 + len(text)] = text
        struct.pack_into("<qq", self.page, 0, number, len(text))


def load(part: str):
    """The module of a part: one of those here, or a module by its name."""
    return importlib.import_module(PARTS.get(part, part))


def main() -> None:
    settings = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (settings["memory"],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")  # so that output of the library is not mistaken for an answer
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    part = load(settings["part"])
    page, muted = Page(settings["page"]), set(settings["muted"])
    for line in sys.stdin:
        start, stop = map(int, line.split())
        counts, findings, done = Counter(), [], 0
        for number in range(start, stop):
            page.at(number, "while the case was made")
            case = part.make(settings["seed"], number)
            page.at(number, case.key)
            if any(text in case.key for text in muted):
                counts["muted"] += 1
                continue
            done += 1
            found, counted = case.run()
            counts.update(counted)
            findings += [(f.kind, f.key, f.detail, number) for f in found]
        print(json.dumps({"cases": done, "counts": counts, "findings": findings}), file=answers, flush=True)


if __name__ == "__main__":
    main()
