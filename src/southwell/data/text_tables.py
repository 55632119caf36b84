"""Tables as text: CSV, TSV and their relatives. The core reads the fields; here are names, kinds and words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .. import _core
from .._names import shown
from ..model_files.files import Refused
from .dataset import Again
from .encoding import Frame, is_number
from .options import Options
from .streams import Stream, chunks, view
from .svmlight import Fault, in_words, not_finite, quoted

DELIMITERS = ",\t;|"
HEAD = 1 << 16


class TextTable:
    """Text files with the same columns, as one table."""

    def __init__(self, paths: list[Path], options: Options) -> None:
        self.paths, self.options = paths, options
        first = _head(paths[0])
        self.delimiter = options.delimiter or _delimiter(first)
        records = _records(first, self.delimiter)
        if not records:
            raise Refused("it holds no rows")
        self.header = _has_header(records) if options.header == "auto" else bool(options.header)
        width = len(records[0])
        self.names = _unique(records[0]) if self.header else [f"column {j}" for j in range(width)]
        self.text = [False] * width
        self.why_text: dict[int, str] = {}  # the first field that is no number
        self.above = 0  # lines above the rows

    def frames(self, limit: int | None) -> Iterator[tuple[Path, Frame]]:
        """Rows of about ``limit`` bytes at a time; with None, of a whole file."""
        for k, path in enumerate(self.paths):
            row = 0
            for frame in self._frames_of(path, k == 0, limit):
                frame.first_row = row
                row += frame.rows
                yield path, frame

    def _frames_of(self, path: Path, first: bool, limit: int | None) -> Iterator[Frame]:
        parts: list[dict[int, np.ndarray]] = []
        bytes_held, known = 0, first and not any(self.text)
        with Stream(path) as stream:
            reader = self._reader()
            skipped = self.above = 0
            for buffer, size in chunks(stream, _records_end, ahead=self.options.n_threads > 1):
                if self.header and skipped == 0:
                    skipped = self._skip_header(buffer, size)
                    if skipped == size:
                        continue
                    text = view(buffer, size)[skipped:]
                else:
                    text = view(buffer, size)
                if not reader.feed(text):
                    raise Refused(self._in_words(reader.fault))
                if self._look(reader):
                    if not known or parts:
                        raise Again
                    reader = self._reader()  # the first chunk: its kinds are known now
                    reader.feed(text)
                    self._look(reader)
                parts.append(self._texts(reader, text))
                known = False
                bytes_held += size
                if limit is not None and bytes_held >= limit:
                    yield self._frame(reader, parts)
                    parts, bytes_held = [], 0
            yield self._frame(reader, parts)

    def _reader(self) -> _core.TableReader:
        return _core.TableReader(self.delimiter, np.array(self.text), self.options.n_threads)

    def _skip_header(self, buffer: bytearray, size: int) -> int:
        """How many bytes the first record takes; its names must be those of the first file."""
        stop, found, quotes = 0, False, 0
        while stop < size and not (found and quotes % 2 == 0):
            start, stop = stop, buffer.find(b"\n", stop, size) + 1
            found = found or bool(buffer[start:stop].strip())
            quotes += buffer.count(b'"', start, stop)
        self.above = buffer.count(b"\n", 0, stop)
        records = _records(bytes(buffer[:stop]), self.delimiter)
        if not records or _unique(records[0]) != self.names:
            raise Refused(f"its columns are {shown(records[:1])}, and not {shown(self.names)} as in the first file")
        return stop

    def _look(self, reader: _core.TableReader) -> bool:
        """Whether columns turned out to be text."""
        found = False
        for j, (_, _, odd) in enumerate(reader.columns):
            if odd is None or self.text[j]:
                continue
            reason = not_finite(odd[3])
            if reason:
                raise Refused(f"line {odd[1] + self.above}, column {self.names[j]!r}: {reason}")
            self.text[j] = found = True
            self.why_text[j] = f"{quoted(odd[3])} on line {odd[1] + self.above}"
        return found

    def _texts(self, reader: _core.TableReader, text: np.ndarray) -> dict[int, np.ndarray]:
        columns = [j for j, is_text in enumerate(self.text) if is_text]
        if not columns:
            return {}
        starts, lengths = (part.reshape(-1, len(columns)) for part in reader.fields())
        whole = text.tobytes()
        known: dict[bytes, str | None] = {b"": None}
        return {j: self._decoded(whole, starts[:, k], lengths[:, k], known, j) for k, j in enumerate(columns)}

    def _decoded(self, whole: bytes, starts: np.ndarray, lengths: np.ndarray, known: dict[bytes, str | None],
                 j: int) -> np.ndarray:  # fmt: skip
        """The fields of a column as strings, None where there is none. Equal ones are one object."""
        made = np.empty(starts.size, dtype=object)
        for i, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
            field = whole[start : start + length] if length >= 0 else whole[start : start - 1 - length]
            if length < 0:
                field = field.replace(b'""', b'"')
            try:
                made[i] = known[field]
            except KeyError:
                try:
                    made[i] = known[field] = field.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise Refused(
                        f"column {self.names[j]!r} holds {quoted(field)}, which is not UTF-8 ({error.reason}); convert "
                        f"the file, for example with iconv -f LATIN1 -t UTF-8"
                    ) from None
        return made

    def _frame(self, reader: _core.TableReader, parts: list[dict[int, np.ndarray]]) -> Frame:
        numbers = reader.take().reshape(-1, len(self.names))
        texts = {
            j: np.concatenate([part[j] for part in parts]) if parts else np.empty(0, dtype=object)
            for j, is_text in enumerate(self.text)
            if is_text
        }
        return Frame(numbers, texts)

    def _in_words(self, fault: Fault) -> str:
        kind, line, column, found = fault
        place = f"line {line + self.above}, column {column}"
        if kind == "fields":
            return (
                f"{place}: the row does not have {len(self.names)} fields as the first one has (the delimiter is taken "
                f"to be {self.delimiter!r}); it goes on with {quoted(found)}"
            )
        if kind == "quote":
            return (
                f"{place}: a quotation mark is not closed, or stands within a field, at {quoted(found)}. Put such "
                f"fields between quotation marks and double those within"
            )
        return in_words(fault)


def _records_end(buffer: bytearray, size: int) -> int:
    return int(_core.records_end(view(buffer, size)))


def _head(path: Path) -> bytes:
    """The first records, at least one."""
    head = b""
    with Stream(path) as stream:
        for buffer, size in chunks(stream, _records_end):
            head += bytes(buffer[:size])
            if len(head) >= HEAD:
                break
    return head


def _delimiter(head: bytes) -> str:
    """The delimiter that divides the first lines into the same number of fields, as many as possible."""
    lines = [line for line in head.split(b"\n", 20)[:20] if line.strip()]
    best, most = ",", 1
    for delimiter in DELIMITERS:
        try:
            widths = {len(next(csv.reader([line.decode("latin-1")], delimiter=delimiter), [])) for line in lines}
        except csv.Error:
            continue
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = delimiter, width
    return best


def _records(head: bytes, delimiter: str) -> list[list[str]]:
    """The first two records."""
    try:
        lines = io.StringIO(head.decode("utf-8", "replace"), newline="")
        found = (record for record in csv.reader(lines, delimiter=delimiter) if any(map(str.strip, record)))
        return [record for record, _ in zip(found, range(2), strict=False)]
    except csv.Error as error:
        raise Refused(f"its first rows cannot be read ({error})") from None


def _has_header(records: list[list[str]]) -> bool:
    """Whether the first record holds names: different texts, none of them a number."""
    first = records[0]
    return len(set(first)) == len(first) and not any(is_number(field) or not field.strip() for field in first)


def _unique(names: list[str]) -> list[str]:
    names = [name.strip() for name in names]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise Refused(f"two columns have the name {shown(twice)}; give header=False if the first row holds no names")
    return names
