"""``southwell convert``: files to a store, in bounded memory."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from . import reading

DESCRIPTION = """\
Write data from files to a store, a folder of arrays that NumPy can map. Files are read in parts, so memory stays below
500 MB whatever their size. The store appears when it is complete; if the command is interrupted or killed, there is no
store, or the old one as it was. The exit code is 0 if the store was written, and 2 if files cannot be read or written.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = reading.FORMATS
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files, or folders of files, with the same columns")
    parser.add_argument("store", metavar="STORE", help="the folder to write")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--append", action="store_true", help="add the rows to the store")
    how.add_argument("--overwrite", action="store_true", help="replace the store")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    reading.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Convert, and return the exit code."""
    from ..data.convert import convert
    from ..data.formats import checked_format
    from ..data.options import options_of, path_of
    from ..data.store import Store

    store = Path(arguments.store)
    mode = "append" if arguments.append else "overwrite" if arguments.overwrite else "new"
    before = store.exists()
    ticker = _Ticker(arguments.json)
    try:
        given = reading.options(arguments)
        convert([path_of(name) for name in arguments.inputs], path_of(store), options_of(given),
                kind=checked_format(arguments.format), mode=mode, progress=ticker)  # fmt: skip
        made = Store.open(store)
    except (OSError, TypeError, ValueError, ImportError) as error:
        ticker.clear()
        print(f"southwell convert: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        ticker.clear()
        left = "The store is as it was." if before else "No store was made."
        print(f"\nInterrupted. {left} Run the same command to begin again.", file=sys.stderr)
        return 130
    ticker.clear()
    rows, columns = made.shape
    if arguments.json:
        print(json.dumps({"store": str(store), "rows": rows, "columns": columns, "entries": made.entries,
                          "layout": made.layout, "dtype": str(made.dtype), "shards": len(made.shards())}))  # fmt: skip
    else:
        print(f"{store}: {rows:,} rows, {columns:,} columns, {made.entries:,} entries, {made.layout}, {made.dtype}")
    return 0


class _Ticker:
    """Rows and seconds so far, on one line of a terminal; elsewhere, silence."""

    def __init__(self, silent: bool) -> None:
        self.live = sys.stderr.isatty() and not silent
        self.begun = self.shown = time.monotonic()

    def __call__(self, rows: int, size: int) -> None:
        now = time.monotonic()
        if self.live and now - self.shown > 0.2:
            self.shown = now
            print(
                f"\r{rows:,} rows, {size / 2**20:,.0f} MB, {now - self.begun:.0f} s ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def clear(self) -> None:
        if self.live:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
