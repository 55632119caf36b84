"""Readers against others, in megabytes a second: python benchmarks/readers.py [--mb 200] [--repeats 3] [--folder DIR]

Each reader reads the same files in turn, several times; the best time counts. On one thread it is the time of the
processor, on two that of the wall, so figures for two threads on a busy machine are too low. Ratios are to scikit-learn
(SVMlight) and pandas (CSV) in the same run. Files are in the cache of the system: this is not the speed of a disk.
``read`` is one pass over the bytes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from _timing import markdown
from southwell.data import load


def svmlight(path: Path, size: int, form: str) -> None:
    """Rows like those of text: 75 entries of 47,236 columns, small columns more often."""
    rng, written = np.random.default_rng(0), 0
    with path.open("w") as file:
        while written < size:
            columns = np.unique((rng.random(75) ** 3 * 47_236).astype(np.int64)) + 1
            values = rng.random(columns.size)
            entries = " ".join(f"{column}:{format(value, form)}" for column, value in zip(columns, values, strict=True))
            written += file.write(f"{rng.choice([-1, 1])} {entries}\n")


def table(path: Path, size: int) -> None:
    """Twenty columns of numbers with six digits."""
    rng, written = np.random.default_rng(0), 0
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(20)) + "\n")
        while written < size:
            rows = rng.normal(size=(1000, 20))
            written += file.write("".join(",".join(f"{value:.6f}" for value in row) + "\n" for row in rows))


def plain(path: Path) -> int:
    buffer, read = bytearray(1 << 22), 0
    with path.open("rb", buffering=0) as file:
        while got := file.readinto(buffer):
            read += got
    return read


def readers(path: Path, of_table: bool) -> dict[str, tuple[Callable[[], object], int]]:
    """What reads this file, and with how many threads."""
    found: dict[str, tuple[Callable[[], object], int]] = {
        "southwell, 1 thread": (lambda: load(path, n_threads=1), 1),
        "southwell, 2 threads": (lambda: load(path, n_threads=2), 2),
        "read": (lambda: plain(path), 1),
    }
    if not of_table:
        return {"scikit-learn": (lambda: load_svmlight_file(str(path)), 1), **found}
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        found = {"pandas": (lambda: pd.read_csv(path), 1), **found}
    if importlib.util.find_spec("polars"):
        import polars as pl

        found["polars, 2 threads"] = (lambda: pl.read_csv(path), 2)
    return found


def race(path: Path, of_table: bool, repeats: int) -> list[dict[str, object]]:
    """The best of several times of each, one after the other."""
    runners, best = readers(path, of_table), {}
    for _ in range(repeats):
        for name, (run, threads) in runners.items():
            clock = time.process_time if threads == 1 else time.perf_counter
            begun = clock()
            run()
            best[name] = min(best.get(name, np.inf), clock() - begun)
    size, first = path.stat().st_size / 1e6, next(iter(runners))
    return [
        {"file": path.name, "reader": name, "MB/s": f"{size / time:.0f}", f"times {first}": f"{best[first] / time:.2f}"}
        for name, time in best.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=200, help="megabytes of each file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", help="where files are made")
    arguments = parser.parse_args()
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name, form in (("short decimals", ".6g"), ("17 digits", ".17g")):
            path = Path(folder) / f"{name}.svm"
            svmlight(path, arguments.mb * 10**6, form)
            print(markdown(race(path, False, arguments.repeats)) + "\n")
        path = Path(folder) / "table.csv"
        table(path, arguments.mb * 10**6)
        print(markdown(race(path, True, arguments.repeats)))


if __name__ == "__main__":
    main()
