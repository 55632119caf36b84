"""What the commands that read data share: options, the data themselves, and errors told in one line."""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data import Data, Store

FORMATS = (
    "Formats: svmlight, CSV and TSV (also .gz, .bz2, .xz, .zst), Parquet, Arrow, .npy, .npz, MatrixMarket; a store."
)
READ = 2  # the exit code if something cannot be read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``southwell.data.load``."""
    group = parser.add_argument_group("how files are read")
    group.add_argument("--target", metavar="COLUMN", help="the name or position of the target's column; or a .npy file")
    group.add_argument("--no-target", action="store_true", help="no column is the target, whatever its name")
    group.add_argument("--weight", metavar="COLUMN", help="the column of sample weights")
    group.add_argument("--format", help="the format, if the content cannot tell")
    group.add_argument("--features", type=int, metavar="N", dest="n_features", help="svmlight: the number of columns")
    group.add_argument("--base", choices=("0", "1", "auto"), default="auto", help="svmlight: where indices begin")
    group.add_argument("--multilabel", action="store_true", help="svmlight: rows have several targets, or none")
    group.add_argument("--delimiter", help="CSV: the character between fields")
    group.add_argument("--header", choices=("yes", "no", "auto"), default="auto", help="CSV: whether row 1 is names")
    group.add_argument("--categorical", action="append", default=[], metavar="COLUMN",
                       help="a column of texts that look like numbers")  # fmt: skip
    group.add_argument("--text", default="one-hot", choices=("one-hot", "hash"), help="how columns of text are written")
    group.add_argument("--hashed", type=int, default=1024, metavar="N", dest="n_hashed",
                       help="the number of hashed columns")  # fmt: skip
    group.add_argument("--missing", default="refuse", choices=("refuse", "mean", "zero"),
                       help="what to do with missing values")  # fmt: skip
    group.add_argument("--float32", action="store_true", help="keep numbers in 32 bits")
    group.add_argument("--threads", type=int, metavar="N", dest="n_threads", help="the default is every processor")


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same as keywords of ``southwell.data.load``, its format apart."""
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


def read(name: str, arguments: argparse.Namespace, n_features: int | None = None) -> Data | Store:
    """The data of that name, "-" being standard input; a store is opened, and not loaded. ``n_features`` are those of a
    model, for formats that do not tell how many columns there are."""
    from ..data import Store, load
    from ..data.manifest import MANIFEST

    if (Path(name) / MANIFEST).exists():
        return Store.open(name, memory=getattr(arguments, "memory", None))
    given = options(arguments)
    if n_features is not None and given["n_features"] is None:
        given["n_features"] = n_features
    with _file(name) as path:
        return load(path, format=arguments.format, **given)


@contextlib.contextmanager
def _file(name: str) -> Iterator[str]:
    if name != "-":
        yield name
        return
    with tempfile.NamedTemporaryFile(prefix="southwell-") as file:  # formats are told by content, which is read twice
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield file.name


@contextlib.contextmanager
def told(command: str) -> Iterator[None]:
    """Errors of reading and of wrong data leave with one line and the exit code 2."""
    try:
        yield
    except (OSError, TypeError, ValueError, ImportError, MemoryError) as error:
        print(f"southwell {command}: {error or type(error).__name__}", file=sys.stderr)
        raise SystemExit(READ) from None


def selection(names: list[str] | None, columns: int, wanted: list[str] | None, n_features: int) -> Any:
    """What data of these columns are multiplied by to have those of a model, found by name where both have names; None
    if they are the same. Columns that are missing are zero."""
    import numpy as np
    import scipy.sparse as sp

    if names is None or wanted is None or list(names) == list(wanted):
        if columns != n_features:
            raise ValueError(f"The model has {n_features} columns, and the data {columns}.")
        return None
    place = {name: j for j, name in enumerate(names)}
    found = [(k, place[name]) for k, name in enumerate(wanted) if name in place]
    if not found:
        raise ValueError(f"The data have none of the model's columns; its first is {wanted[0]!r}, theirs {names[0]!r}.")
    lost = len(wanted) - len(found)
    if lost:
        print(f"{lost} of the model's {len(wanted)} columns are not in the data, and count as zero.", file=sys.stderr)
    to, place_of = np.array(found).T
    return sp.csr_array((np.ones(len(found), np.float32), (place_of, to)), shape=(len(names), len(wanted)))


def text(value: Any) -> str:
    """A label or number: all digits, and none more than there are."""
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")
