"""Files of SVMlight and LIBSVM. The core reads the lines; here are the decisions and the words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from ..model_files.files import Refused
from .dataset import MOST, Again, Batch, csr
from .options import Options
from .streams import Stream, chunks, view

ENTRY_BYTES = 12
Fault: TypeAlias = Any
"""Kind, line, column and what stands there, as the core tells."""

FAULTS = {
    "index": "{token} is not index:value, with an index of digits",
    "repeated": "index {token} is repeated; each row may hold an index once",
    "falling": "index {token} follows a larger one; the indices of a row must increase",
    "large": f"index {{token}} exceeds {MOST}, the most that 32 bits hold",
    "qid": "{token} is not a query number, an integer of 64 bits",
}


class Svmlight:
    """The rows of files in SVMlight's format, as one matrix."""

    def __init__(self, paths: list[Path], options: Options) -> None:
        if not (options.target is None or options.target is True) or options.weight is not None:
            raise ValueError(
                "Files of SVMlight's format begin each row with its target and have no weights: leave out target and "
                "weight."
            )
        self.paths, self.options = paths, options
        self.zero_based = None if options.zero_based == "auto" else bool(options.zero_based)
        self.multilabel = None if options.multilabel == "auto" else bool(options.multilabel)
        self.queries: bool | None = None
        self.given = False  # whether rows were returned under the decisions so far
        self.columns = options.n_features or 0
        self.feature_names: list[str] | None = None

    def batches(self, limit: int | None) -> Iterator[tuple[Path, Batch]]:
        """Rows of about ``limit`` bytes at a time; with None, of a whole file."""
        self.given = False
        for path in self.paths:
            reader = _core.SvmlightReader(self.options.comments, self.options.n_threads)
            with Stream(path) as stream:
                for buffer, size in chunks(stream, ahead=self.options.n_threads > 1):
                    if not reader.feed(view(buffer, size)):
                        raise Refused(in_words(reader.fault))
                    if limit is None or reader.entries * ENTRY_BYTES < limit:
                        continue
                    without, several, *_ = reader.first_lines
                    if without and not several and self.multilabel is None:
                        reader.take()  # a later row with several targets would explain it: look, then begin again
                    else:
                        yield path, self._taken(reader)
                    self.given = True
            yield path, self._taken(reader)
            self.given = True

    def _taken(self, reader: _core.SvmlightReader) -> Batch:
        values, labels, indices, label_sizes, sizes, qids, comment_sizes, comments = reader.take()
        self._settle(reader, indices.size > 0)
        if not self.zero_based:
            indices -= 1
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        batch = Batch(csr(values, indices, indptr, self.columns), qid=qids if self.queries else None)
        if self.multilabel:
            batch.labels, batch.label_sizes = labels, label_sizes
        else:
            batch.targets = labels
        if self.options.comments:
            batch.comments = _texts(comments, comment_sizes)
        return batch

    def _settle(self, reader: _core.SvmlightReader, entries: bool) -> None:
        """Decide what is not known yet by the rows so far. If an earlier decision was wrong, begin again."""
        without, several, query, no_query = reader.first_lines
        if query and no_query:
            raise Refused(f"line {no_query}: the row has no qid, but others do, as on line {query}")
        if self.queries not in (None, bool(query)) and (query or no_query):
            raise Refused("some files have a qid in their rows and others do not")
        if query or no_query:
            self.queries = bool(query)
        if self.multilabel is None and several:
            self.multilabel = True
            if self.given:
                raise Again
        if not self.multilabel:
            if several:
                raise Refused(f"line {several}: the row has several targets; multilabel=False allows one")
            if without:
                raise Refused(
                    f"line {without}: the row has no target. Rows begin with one, except in data with several labels a "
                    f"row (multilabel=True)"
                )
        if entries and reader.least == 0 and self.zero_based is not True:
            if self.zero_based is False and self.options.zero_based is not False:
                self.zero_based = True  # the rows before had no index 0, and were taken to be one-based
                raise Again
            if self.zero_based is False:
                raise Refused("an index is 0, but zero_based=False says that they begin at 1")
            self.zero_based = True
        if entries and self.zero_based is None:
            self.zero_based = False
        found = reader.largest + (1 if self.zero_based else 0)
        if found > MOST:
            raise Refused(f"index {reader.largest} exceeds {MOST - 1}, the largest one if indices begin at 0")
        if self.options.n_features is not None and found > self.columns:
            raise Refused(
                f"index {reader.largest} needs {found} columns, but n_features={self.columns} (indices begin at "
                f"{0 if self.zero_based else 1})"
            )
        self.columns = max(self.columns, found)


def _texts(comments: np.ndarray, sizes: np.ndarray) -> list[str]:
    whole, stops = comments.tobytes(), np.cumsum(sizes)
    try:
        return [whole[stop - size : stop].decode("utf-8").strip() for stop, size in zip(stops, sizes, strict=True)]
    except UnicodeDecodeError as error:
        raise Refused(
            f"a comment is not text in UTF-8 ({error.reason}); convert the file, or leave comments out"
        ) from None


def in_words(fault: Fault) -> str:
    """A fault that the core has found."""
    kind, line, column, found = fault
    token = quoted(found)
    if kind in ("target", "value"):
        what = not_finite(found) or (f"{token} is not a number" if found else "a number is missing")
        if kind == "target":
            what = f"the target must be a number: {what}"
    else:
        what = FAULTS[kind].format(token=token)
    return f"line {line}, column {column}: {what}{_hint(found)}"


def not_finite(token: bytes) -> str:
    """Why this number is none that can be used: NaN, infinite, or beyond the range of doubles; else ""."""
    try:
        value = float(token)
    except ValueError:
        return ""
    if b"n" in token.lower():  # nan, inf
        return f"{quoted(token)} is not a finite number"
    return f"{quoted(token)} is beyond the range of numbers of 64 bits" if math.isinf(value) else ""


def quoted(token: bytes) -> str:
    return repr(token.decode("utf-8", "backslashreplace"))


def _hint(token: bytes) -> str:
    if b"\0" in token:
        return ". The file holds NUL bytes: it is not text, or it is UTF-16 and must be converted to UTF-8"
    if any(byte >= 128 for byte in token):
        return ". Numbers must be written in ASCII"
    return ""
