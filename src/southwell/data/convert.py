"""Files to stores, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..model_files.files import Refused
from . import formats
from .dataset import Again
from .manifest import MANIFEST
from .options import At, Options, refusals
from .writing import Writer, writer

LIMIT = 1 << 24  # bytes of rows that a source gives at a time


def convert(
    paths: Sequence[Path], store: Path, options: Options, *, kind: str | None = None, mode: str = "new",
    shard_bytes: int = 1 << 26, progress: Callable[[int, int], None] | None = None,
) -> None:  # fmt: skip
    """Write the rows of files to a store: a new one, or more rows of one, or in the place of one.

    ``progress`` is called with the numbers of rows and of bytes of data so far.
    """
    with refusals(paths[0]) as at:
        files = []
        for at.path in paths:
            if (at.path / MANIFEST).exists():
                raise Refused("it is a store already")
            files += formats.files_of(at.path)
        at.path = paths[0]
        source = formats.source(files, options, kind)
        while True:
            try:
                with writer(store, mode, options.dtype, shard_bytes) as made:
                    _pass(source, made, at, progress)
                    at.path = store
                    made.commit(source.columns, source.feature_names)
                return
            except Again:
                continue


def _pass(source: formats.Source, made: Writer, at: At, progress: Callable[[int, int], None] | None) -> None:
    rows = size = 0
    for path, batch in source.batches(min(LIMIT, made.shard_bytes)):
        at.path = path
        rows, size = rows + batch.rows, size + batch.bytes
        made.add(batch)
        if progress is not None:
            progress(rows, size)
