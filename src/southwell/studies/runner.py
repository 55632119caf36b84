"""Runs studies, each once: what has been run with the same version, seed, size and data is kept.

Findings are written to ``OUT/traces/STUDY.json`` as soon as a study has ended, so that an interruption loses at most
the study that was running.
"""

from __future__ import annotations

import errno
import os
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from .. import __version__
from . import datasets
from .bench import Bench
from .catalogue import DATA
from .findings import Findings
from .machine import machine, versions
from .progress import Progress
from .store import Damaged, Record, read, save
from .study import Study


class Unwritable(OSError):
    """The findings of a study could not be written; the message says why, and what is kept."""


@dataclass
class Runner:
    """Runs studies and keeps their findings in a folder.

    Attributes
    ----------
    out : Path
        The folder; traces are in its subfolder ``traces``.
    again : bool
        Run studies that have been run already, too.
    failed : dict
        The errors of studies that raised, by name.
    told : set
        What has been said of missing data.
    """

    out: Path
    progress: Progress
    quick: bool = False
    folder: Path | None = None
    seed: int = 0
    again: bool = False
    failed: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def path(self, name: str) -> Path:
        """The trace file of a study."""
        return self.out / "traces" / f"{name}.json"

    def run(self, studies: Iterable[Study]) -> None:
        """Run those that have not been run, in order. One that raises is reported, and the others go on."""
        todo = list(studies)
        self.make_room()
        for number, study in enumerate(todo, 1):
            head = f"[{number}/{len(todo)}] {study.name}"
            kept = None if self.again else self.kept(study)
            if kept is not None:
                self.progress.line(f"{head}: kept from {kept.ended} ({kept.seconds:.1f} s)")
                continue
            self.progress.begin(head)
            try:
                record = self.one(study)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                told = f"{type(error).__name__}: {error}"
                self.failed[study.name] = f"{told} ({Path(where.filename).name}, line {where.lineno})"
                self.progress.line(f"{head}: FAILED, {self.failed[study.name]}")
                continue
            self.write(record)
            self.progress.line(f"{head}: {record.seconds:.1f} s ({record.processor:.1f} s of the processor)")
            self.tell(record)

    def one(self, study: Study) -> Record:
        """Run a study."""
        bench = Bench(quick=self.quick, folder=self.folder, seed=self.seed, say=self.progress.say)
        begun = time.perf_counter(), time.process_time()
        found = study.run(bench)
        seconds, processor = time.perf_counter() - begun[0], time.process_time() - begun[1]
        if not isinstance(found, Findings):
            raise TypeError(f"A study returns Findings; {study.name} returned {type(found).__name__}.")
        found = replace(found, notes=(*found.notes, *dict.fromkeys(bench.notes)))
        ended = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return Record(study.name, found, tuple(bench.sources), self.quick, self.seed, __version__, seconds, ended,
                      machine(), versions(), processor)  # fmt: skip

    def tell(self, record: Record) -> None:
        """Which data of the papers were not found, and what stood in; once each."""
        missed = [words for source in record.sources if (words := datasets.instead_of(source))]
        for words in (datasets.searched(self.folder), *missed) if missed else ():
            if words not in self.told:
                self.told.add(words)
                self.progress.line(f"  {words}")

    def kept(self, study: Study) -> Record | None:
        """What this study found before, if running it again would use the same code, sizes, seed and data."""
        try:
            record = read(self.path(study.name))
        except FileNotFoundError:
            return None
        except (Damaged, OSError) as error:
            self.progress.line(f"{error} {study.name} is run again.")
            return None
        same = (record.study, record.quick, record.seed, record.version) == (
            study.name, self.quick, self.seed, __version__,
        )  # fmt: skip
        return record if same and not any(self.newer(source.name, source.kind) for source in record.sources) else None

    def newer(self, name: str, kind: str) -> bool:
        """Whether the paper's data are at hand now, and were not then."""
        return name in DATA and kind != "paper" and datasets.kind(name, self.folder) == "paper"

    def make_room(self) -> None:
        """Make the folder, and see that it can be written to before hours are spent."""
        probe = self.path(f".probe-{os.getpid()}")
        try:
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise Unwritable(f"The folder {self.out} cannot be written to: {error.strerror or error}.") from error

    def write(self, record: Record) -> None:
        """Write a record. If that fails no study can be kept, so the run ends."""
        try:
            save(record, self.path(record.study))
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "there is no room left on the disk" if full else (error.strerror or str(error))
            raise Unwritable(
                f"The findings of {record.study} could not be written to {self.path(record.study)}: {why}. The studies "
                "that ended before are kept; run the same command again to go on from there."
            ) from error
