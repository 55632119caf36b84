"""Parquet, Arrow and Feather files, by pyarrow (the extra ``southwell[arrow]``)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._names import shown
from ..model_files.files import Refused, open_regular
from .encoding import Frame
from .options import Options

ROWS = 1 << 16


class ArrowTable:
    """Parquet or Arrow files with the same columns, as one table."""

    def __init__(self, paths: list[Path], kind: str, options: Options) -> None:
        try:
            self.arrow: Any = importlib.import_module("pyarrow")
            self.reader: Any = importlib.import_module("pyarrow.parquet" if kind == "parquet" else "pyarrow.ipc")
        except ImportError:
            raise ImportError(
                "Parquet, Arrow and Feather files need pyarrow: pip install 'southwell[arrow]'."
            ) from None
        self.paths, self.kind = paths, kind
        self.threads = options.n_threads
        with open_regular(paths[0]) as file:
            schema = self._guarded(lambda: self._opened(file)[0])
            self.names = self._names(schema)
        if not self.names:
            raise Refused("it has no columns")
        self.text = [self._is_text(field) for field in schema]
        self.why_text: dict[int, str] = {}  # kinds are stated by the file

    def frames(self, limit: int | None) -> Iterator[tuple[Path, Frame]]:
        """Rows of about ``limit`` bytes at a time; with None, as they are stored."""
        rows = ROWS if limit is None else max(1, min(ROWS, limit // (8 * len(self.names))))
        for path in self.paths:
            row = 0
            with open_regular(path) as file:
                schema, batches = self._guarded(lambda file=file: self._opened(file, rows))
                if (names := self._names(schema)) != self.names:
                    raise Refused(f"its columns are {shown(names)}, and not {shown(self.names)} as in the first file")
                while (batch := self._guarded(lambda batches=batches: next(batches, None))) is not None:
                    self._guarded(
                        lambda batch=batch: batch.validate(full=True)
                    )  # offsets could lead out of its buffers
                    for start in range(0, batch.num_rows, rows):
                        frame = self._guarded(lambda batch=batch, start=start: self._frame(batch.slice(start, rows)))
                        frame.first_row = row
                        row += frame.rows
                        yield path, frame

    def _opened(self, file: Any, rows: int = ROWS) -> tuple[Any, Iterator[Any]]:
        """The schema and the record batches."""
        if self.kind == "parquet":
            parquet = self.reader.ParquetFile(file)
            return parquet.schema_arrow, parquet.iter_batches(batch_size=rows, use_threads=self.threads > 1)
        if self.kind == "arrow stream":
            stream = self.reader.open_stream(file)
            return stream.schema, iter(stream)
        opened = self.reader.open_file(file)
        return opened.schema, (opened.get_batch(k) for k in range(opened.num_record_batches))

    def _guarded(self, call: Any) -> Any:
        """What ``call`` returns; errors of pyarrow are those of the file."""
        try:
            return call()
        except (self.arrow.ArrowException, ValueError, KeyError, OverflowError, OSError) as error:
            if isinstance(error, Refused) or (isinstance(error, OSError) and error.errno is not None):
                raise
            raise Refused(
                f"pyarrow cannot read it ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
            ) from None

    def _names(self, schema: Any) -> list[str]:
        return [str(name) for name in self._guarded(lambda: schema.names)]

    def _is_text(self, field: Any) -> bool:
        types = self.arrow.types
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
            return True
        if types.is_dictionary(field.type) or not (
            types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
            or types.is_null(kind)
        ):  # fmt: skip
            raise Refused(
                f"column {field.name!r} holds {field.type}; numbers, truth values and texts are read. Convert or drop "
                f"it first"
            )
        return False

    def _frame(self, batch: Any) -> Frame:
        width = len(self.names)
        numbers = np.full((batch.num_rows, width), np.nan)
        texts: dict[int, np.ndarray] = {}
        for j in range(width):
            column = batch.column(j)
            if self.arrow.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            if self.text[j]:
                values = column.cast(self.arrow.string()).to_pylist()
                texts[j] = np.array([value or None for value in values] + [None], dtype=object)[:-1]
            else:
                numbers[:, j] = column.cast(self.arrow.float64()).to_numpy(zero_copy_only=False)
        if np.isinf(numbers).any():
            j = int(np.argwhere(np.isinf(numbers))[0][1])
            raise Refused(f"column {self.names[j]!r} holds an infinite number")
        return Frame(numbers, texts)
