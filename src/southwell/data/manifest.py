"""What a store says of itself: one JSON object, read without trust.

A store is a folder of arrays in NumPy's format and ``manifest.json``, which names them. Arrays are never changed once
they are written: whatever changes a store writes new ones and replaces the manifest, so that it is the old store or the
new one at any moment. Files that the manifest does not name are left over from a writer that was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._names import shown
from ..model_files.files import Refused
from . import npy
from .dataset import MOST

MANIFEST = "manifest.json"
FORMAT, VERSION = "southwell store", 1
LARGEST = 1 << 28  # bytes of a manifest
FILE = re.compile(r"[a-z0-9_]+-[0-9a-f]{8}\.[A-Za-z_]+\.npy|manifest-[0-9a-f]{8}\.json")
LAYOUTS = {"csr": ("data", "indices", "indptr"), "dense": ("A",)}
ROW_PARTS = {
    "targets": np.float64, "codes": np.int32, "labels": np.float64, "label_sizes": np.int32, "weights": np.float64,
    "qid": np.int64,
}  # fmt: skip
STATISTICS = {"columns": np.int32, "counts": np.int64, "sums": np.float64, "squares": np.float64, "largest": np.float64}


@dataclass(frozen=True)
class Entry:
    """A file of the store."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardEntry:
    """Consecutive rows: their arrays by name."""

    rows: int
    entries: int
    files: dict[str, Entry]


@dataclass
class Manifest:
    """All of it."""

    layout: str
    dtype: str
    columns: int
    shards: list[ShardEntry] = field(default_factory=list)
    statistics: dict[str, Entry] = field(default_factory=dict)
    feature_names: list[str] | None = None
    classes: list[str] | None = None

    @property
    def rows(self) -> int:
        return sum(shard.rows for shard in self.shards)

    @property
    def entries(self) -> int:
        return sum(shard.entries for shard in self.shards)

    def files(self) -> list[Entry]:
        return [
            entry for files in (*(shard.files for shard in self.shards), self.statistics) for entry in files.values()
        ]

    def text(self) -> bytes:
        """As JSON."""
        whole = {"format": FORMAT, "version": VERSION, "rows": self.rows, "entries": self.entries, **asdict(self)}
        return json.dumps(whole, indent=1).encode("utf-8")


def read(folder: Path) -> Manifest:
    """The manifest of a store; an error says what is wrong with it."""
    try:
        content = _bytes(folder)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no store at {str(folder)!r}: it has no {MANIFEST}. A conversion that was interrupted leaves "
            f"none; run it again."
        ) from None
    try:
        text = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(f"its {MANIFEST} is not whole JSON ({error})") from None
    if not isinstance(text, dict) or text.get("format") != FORMAT:
        raise Refused(f"its {MANIFEST} is not that of a store of southwell")
    if text.get("version") != VERSION:
        raise Refused(
            f"it has version {shown(text.get('version'))} of the format; this southwell reads version {VERSION}"
        )
    return _checked(text)


def _bytes(folder: Path) -> bytes:
    path = folder / MANIFEST
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"its {MANIFEST} is not a regular file; links are not followed")
    if found.st_size > LARGEST:
        raise Refused(f"its {MANIFEST} has {found.st_size} bytes, more than any store needs")
    return path.read_bytes()


def _checked(text: dict[str, Any]) -> Manifest:
    def known(name: str, kind: type | tuple[type, ...], of: dict[str, Any] = text) -> Any:
        value = of.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise Refused(f"{name!r} in its {MANIFEST} is {shown(value)}")
        return value

    def size(name: str, of: dict[str, Any], most: int = 2**62) -> int:
        value: int = known(name, int, of)
        if not 0 <= value <= most:
            raise Refused(f"{name!r} in its {MANIFEST} is {value}")
        return value

    def entries(of: dict[str, Any], names: set[str]) -> dict[str, Entry]:
        if set(of) - names:
            raise Refused(f"its {MANIFEST} names files that are unknown here: {shown(sorted(set(of) - names))}")
        made = {}
        for name, one in of.items():
            if not isinstance(one, dict):
                raise Refused(f"{name!r} in its {MANIFEST} is {shown(one)}")
            file, digest = known("name", str, one), known("sha256", str, one)
            if not FILE.fullmatch(file):
                raise Refused(f"its {MANIFEST} names the file {shown(file)}, which no store has")
            made[name] = Entry(file, size("bytes", one), digest)
        return made

    layout, dtype = known("layout", str), known("dtype", str)
    if layout not in LAYOUTS or dtype not in ("float32", "float64"):
        raise Refused(f"it has layout {shown(layout)} and dtype {shown(dtype)}, which this southwell does not read")
    shards = []
    for one in known("shards", list):
        if not isinstance(one, dict):
            raise Refused(f"a shard in its {MANIFEST} is {shown(one)}")
        files = entries(known("files", dict, one), {*LAYOUTS[layout], *ROW_PARTS})
        if set(LAYOUTS[layout]) - set(files):
            raise Refused(f"a shard in its {MANIFEST} has the files {shown(sorted(files))} only")
        shards.append(ShardEntry(size("rows", one), size("entries", one), files))
    if len({frozenset(shard.files) for shard in shards}) > 1:
        raise Refused(f"the shards in its {MANIFEST} do not have the same files")
    made = Manifest(
        layout, dtype, size("columns", text, MOST), shards, entries(known("statistics", dict), set(STATISTICS))
    )
    made.feature_names = _names(text.get("feature_names"), "feature_names", made.columns)
    made.classes = _names(text.get("classes"), "classes", None)
    if (made.classes is None) != (not shards or "codes" not in shards[0].files):
        raise Refused(f"its {MANIFEST} has classes without codes, or codes without classes")
    if len({entry.name for entry in made.files()}) != len(made.files()):
        raise Refused(f"its {MANIFEST} names a file twice")
    return made


def _names(given: Any, what: str, size: int | None) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Refused(f"{what!r} in its {MANIFEST} is {shown(given)}")
    if size is not None and len(given) != size:
        raise Refused(f"its {MANIFEST} has {len(given)} {what} for {size} columns")
    return given


def check_file(folder: Path, entry: Entry, checksum: bool) -> None:
    """Refuse a file that is missing, not regular, of another size or, if asked, of other content."""
    path = folder / entry.name
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise Refused(f"its file {entry.name!r} is missing") from None
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"its file {entry.name!r} is a link or no regular file; the files of a store lie in its folder")
    if found.st_size != entry.bytes:
        raise Refused(f"its file {entry.name!r} has {found.st_size} bytes and should have {entry.bytes}")
    if checksum and digest(path) != entry.sha256:
        raise Refused(f"its file {entry.name!r} has changed: its checksum is another one")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_array(folder: Path, entry: Entry, dtype: Any, size: tuple[int, ...] | None) -> tuple[Path, npy.Header]:
    """The checked header of an array that should have this type and shape; None stands for any length."""
    check_file(folder, entry, False)
    path = folder / entry.name
    with path.open("rb") as file:
        header = npy.Header(file, entry.bytes)
    shape = header.shape if size is None and len(header.shape) == 1 else size
    by_rows = not header.by_columns or len(header.shape) == 1
    if header.shape != shape or header.dtype != dtype or not by_rows:
        raise Refused(
            f"its file {entry.name!r} holds {header.dtype} of shape {header.shape}; it should be {np.dtype(dtype)} of "
            f"shape {size}, by rows"
        )
    return path, header


def stored_array(folder: Path, entry: Entry, dtype: Any, size: tuple[int, ...] | None, mapped: bool) -> np.ndarray:
    """An array of a store, mapped read-only or read into memory."""
    path, header = open_array(folder, entry, dtype, size)
    if mapped and header.bytes:
        return np.asarray(np.memmap(path, header.dtype, "r", header.length, header.shape))
    with path.open("rb") as file:
        file.seek(header.length)
        return npy.array(file, header)
