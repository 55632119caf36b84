"""``southwell convert``: files to a store, in bounded memory."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Write data from files to a store, a folder of arrays that NumPy can map. Files are read in parts, so memory stays below
500 MB whatever their size. The store appears when it is complete; if the command is interrupted or killed, there is no
store, or the old one as it was. The exit code is 0 if the store was written, and 2 if files cannot be read or written.
"""
EPILOG = "Formats: svmlight, CSV and TSV (also .gz, .bz2, .xz, .zst), Parquet, Arrow, .npy, .npz, MatrixMarket."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files, or folders of files, with the same columns")
    parser.add_argument("store", metavar="STORE", help="the folder to write")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--append", action="store_true", help="add the rows to the store")
    how.add_argument("--overwrite", action="store_true", help="replace the store")
    parser.add_argument(
        "--target", metavar="COLUMN", help="the name or position of the target's column; or a .npy file"
    )
    parser.add_argument("--no-target", action="store_true", help="no column is the target, whatever its name")
    parser.add_argument("--weight", metavar="COLUMN", help="the column of sample weights")
    parser.add_argument("--format", help="the format, if the content cannot tell")
    parser.add_argument("--features", type=int, metavar="N", dest="n_features", help="svmlight: the number of columns")
    parser.add_argument("--base", choices=("0", "1", "auto"), default="auto", help="svmlight: where indices begin")
    parser.add_argument("--multilabel", action="store_true", help="svmlight: rows have several targets, or none")
    parser.add_argument("--delimiter", help="CSV: the character between fields")
    parser.add_argument(
        "--header", choices=("yes", "no", "auto"), default="auto", help="CSV: whether the first row is names"
    )
    parser.add_argument(
        "--categorical", action="append", default=[], metavar="COLUMN", help="a column of texts that look like numbers"
    )
    parser.add_argument(
        "--text", default="one-hot", choices=("one-hot", "hash"), help="how columns of text are written"
    )
    parser.add_argument(
        "--hashed", type=int, default=1024, metavar="N", dest="n_hashed", help="the number of hashed columns"
    )
    parser.add_argument(
        "--missing", default="refuse", choices=("refuse", "mean", "zero"), help="what to do with missing values"
    )
    parser.add_argument("--float32", action="store_true", help="keep numbers in 32 bits")
    parser.add_argument("--threads", type=int, metavar="N", dest="n_threads", help="the default is every processor")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


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
        given = _options(arguments)
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


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("n_features", "delimiter", "text", "n_hashed", "missing", "n_threads")
    given = {name: getattr(arguments, name) for name in names}
    given["target"] = False if arguments.no_target else _column(arguments.target)
    given["weight"] = _column(arguments.weight)
    given["categorical"] = [_column(name) for name in arguments.categorical]
    given["zero_based"] = {"0": True, "1": False}.get(arguments.base, "auto")
    given["multilabel"] = True if arguments.multilabel else "auto"
    given["header"] = {"yes": True, "no": False}.get(arguments.header, "auto")
    if arguments.delimiter == "\\t":
        given["delimiter"] = "\t"
    if arguments.float32:
        given["dtype"] = "float32"
    return given


def _column(given: str | None) -> str | int | None:
    return int(given) if given is not None and re.fullmatch(r"-?\d{1,9}", given) else given


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
