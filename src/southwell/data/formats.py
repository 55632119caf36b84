"""Which format a file has, by its content; and the source that reads it."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from .._names import one_name, shown
from ..model_files.files import Refused, open_regular
from .arrays import Arrays
from .arrow_tables import ArrowTable
from .dataset import Batch
from .encoding import Encoded, is_number
from .options import Options
from .streams import OTHER_ENCODINGS, UTF_8, Stream
from .svmlight import Svmlight
from .text_tables import TextTable

HEAD = 1 << 16
FORMATS = ("svmlight", "csv", "parquet", "arrow", "arrow stream", "npy", "npz", "matrix market")
MAGIC = {
    b"\x93NUMPY": "npy", b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream",
    b"%%MatrixMarket": "matrix market",
}  # fmt: skip
STRANGERS = {
    b"FEA1": "Feather, version 1: write it again with a current pyarrow",
    b"\x80\x02": "a pickle, and pickles are never read", b"\x80\x03": "a pickle, and pickles are never read",
    b"\x80\x04": "a pickle, and pickles are never read", b"\x80\x05": "a pickle, and pickles are never read",
    b"\x89HDF": "HDF5; save its arrays as .npy or Parquet", b"%PDF": "a PDF", b"Obj\x01": "Avro; convert it to Parquet",
    b"ORC": "ORC; convert it to Parquet", b"{": "JSON; convert it to CSV or Parquet",
    b"[": "JSON; convert it to CSV or Parquet",
}  # fmt: skip
ENTRY = re.compile(rb"(?:^|\s)\d+:[-+.\d]")
BY_NAME = re.compile(r"\.(svm|svmlight|libsvm)(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)
DATA_IN_PARTS = re.compile(r"[._]")  # names that begin with these hold no data: _SUCCESS, .crc


class Source(Protocol):
    """Rows in batches, and what is known of the columns once all were read. ``batches`` may raise ``Again``."""

    columns: int
    feature_names: list[str] | None

    def batches(self, limit: int | None) -> Iterator[tuple[Path, Batch]]: ...


def files_of(path: Path) -> list[Path]:
    """The file, or the files of a folder by name. Links out of the folder are refused."""
    if not path.is_dir():
        return [path]
    found = []
    whole = path.resolve()
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if DATA_IN_PARTS.match(entry.name):
            continue
        if entry.is_symlink() and whole not in Path(entry.path).resolve().parents:
            raise Refused(f"its entry {entry.name!r} is a link out of the folder; copy the file into it")
        if entry.is_dir():
            raise Refused(f"it holds the folder {entry.name!r}; a folder of data holds files alone")
        found.append(Path(entry.path))
    if not found:
        raise Refused("the folder holds no files")
    return found


def source(paths: Sequence[Path], options: Options, kind: str | None = None) -> Source:
    """What reads these files, which must all have one format."""
    kinds = [kind or format_of(path) for path in paths]
    for path, found in zip(paths, kinds, strict=True):
        if found != kinds[0]:
            raise Refused(f"{path.name!r} is {found}, but {paths[0].name!r} is {kinds[0]}; give files of one format")
    files = list(paths)
    if kinds[0] == "svmlight":
        return Svmlight(files, options)
    if kinds[0] == "csv":
        return Encoded(TextTable(files, options), options)
    if kinds[0] in ("parquet", "arrow", "arrow stream"):
        return Encoded(ArrowTable(files, kinds[0], options), options)
    return Arrays(files, kinds[0], options)


def format_of(path: Path) -> str:
    """The format of a file, by its first bytes."""
    with open_regular(path) as file:
        head = file.read(HEAD)
        if head.startswith(b"PK\x03\x04"):
            return _of_archive(path)
    if not head:
        raise Refused("it is empty")
    found = _by_magic(head)
    if found is None:
        with Stream(path) as stream:
            head = stream.read(HEAD)
            if stream.compression and (found := _by_magic(head)) not in (None, "matrix market"):
                raise Refused(f"it is {found} within {stream.compression}; decompress it first")
    return found or _of_text(head, path)


def _by_magic(head: bytes) -> str | None:
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    for magic, what in STRANGERS.items():
        if head.startswith(magic):
            raise Refused(f"it is {what}")
    return None


def _of_archive(path: Path) -> str:
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise Refused(f"it is a damaged archive ({error})") from None
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise Refused(f"it is an archive of {shown(names[:3])}; unpack it, or save the data in another format")


def _of_text(head: bytes, path: Path) -> str:
    for mark, name in OTHER_ENCODINGS.items():
        if head.startswith(mark):
            raise Refused(f"it is text in {name}; convert it, for example with iconv -f {name} -t UTF-8")
    lines = head.removeprefix(UTF_8).split(b"\n")
    lines = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    rows = [line for line in lines[:50] if line.strip() and not line.lstrip().startswith(b"#")]
    if BY_NAME.search(path.name) or (any(map(ENTRY.search, rows)) and _mostly_rows(rows)):
        return "svmlight"
    if not rows:
        raise Refused("it holds no rows")
    if b"\0" in head:
        raise Refused(f"it is of no format that is read; it begins with the bytes {shown(head[:16])}")
    return "csv"


def _mostly_rows(rows: list[bytes]) -> bool:
    """Whether the first rows are those of SVMlight's format, whatever errors others have."""
    return 2 * sum(map(_is_row, rows)) > len(rows)


def _is_row(line: bytes) -> bool:
    """Whether a line is targets, if any, and then index:value. (A regular expression could take for ever.)"""
    words = line.partition(b"#")[0].split()
    if words and b":" not in words[0]:
        targets = words.pop(0).decode("latin-1").split(",")
        if not all(map(is_number, targets)):
            return False
    parts = [word.partition(b":") for word in words]
    return all(colon and (index.isdigit() or index == b"qid") for index, colon, _ in parts)


def checked_format(given: object) -> str | None:
    """A format by name, or None."""
    return None if given is None else one_name("format", given, FORMATS)
