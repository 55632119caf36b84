"""Damaged data files through ``southwell.data``: they must be refused in words, or read; in little memory.

Text is read twice, in chunks of a few bytes and at once: both must give the same. What is read as SVMlight's format
must be what scikit-learn reads, if it reads it. Stores get damaged manifests and arrays.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import random
import resource
import shutil
import tempfile
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import southwell as sw
from southwell.data import streams

from .hostile import describe, unclear_because
from .mutations import BYTE_CHANGES
from .report import Finding

MOST = 600 << 20  # bytes of memory that the files here, of a few kilobytes, may need beyond what imports take
WORDS = [b"nan", b"inf", b"-", b"+", b".", b"e", b"1e999", b":", b"1:", b":1", b"0:1", b"2147483647:1", b"2147483648:1",
         b"99999999999999999999", b"qid:", b"qid:1", b"#", b",", b";", b"\t", b'"', b'""', b"\n", b"\r", b"\r\n", b"\0",
         b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"NA", b"x", b"%%MatrixMarket", b"-1", b"0" * 400,
         b"1" * 400]  # fmt: skip
SVMLIGHT = [b"1 1:0.5 3:2.25e-3 # a\n-1 2:1 7:1e5\n\n# c\n0.5 1:3\n", b"1,2 qid:1 1:1\n qid:1 3:2\n2 qid:1 1:4\n",
            b"1 qid:3 1:1\n2 qid:4 0:1 2:2\n" * 20]  # fmt: skip
TABLES = [b"a,b,target\n1,2,3\n4,,6\n", b'size;city;y\n1;"New ""York""\nNY";0\n2;Paris;1\n', b"1\t2\n3\t4.5e-3\n" * 20]
A = np.arange(12.0).reshape(4, 3)


@cache
def corpus() -> list[tuple[str, bytes]]:
    """Sound files, by format."""
    made = [("svmlight", text) for text in SVMLIGHT] + [("csv", text) for text in TABLES]
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        made.append(("compressed", compress(SVMLIGHT[2])))
    for name, write in (
        ("npy", lambda file: np.save(file, A)), ("npz", lambda file: np.savez(file, X=A, y=A[:, 0])),
        ("npz", lambda file: sp.save_npz(file, sp.csr_array(A))),
        ("mtx", lambda file: scipy.io.mmwrite(file, sp.coo_array(A))),
        ("mtx", lambda file: scipy.io.mmwrite(file, A)),
    ):  # fmt: skip
        file = io.BytesIO()
        write(file)
        made.append((name, file.getvalue()))
    if importlib.util.find_spec("pyarrow"):
        made += _of_arrow()
    return made


def _of_arrow() -> list[tuple[str, bytes]]:
    import pyarrow as arrow
    import pyarrow.feather
    import pyarrow.parquet

    table = arrow.table({"a": [1.0, 2.0], "c": ["x", "y"], "y": [0, 1]})
    made = []
    for name, write in (("parquet", arrow.parquet.write_table), ("arrow", arrow.feather.write_feather)):
        file = arrow.BufferOutputStream()
        write(table, file)
        made.append((name, file.getvalue().to_pybytes()))
    return made


@cache
def _scratch() -> Path:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # files are written thousands of times
    folder = tempfile.TemporaryDirectory(prefix="southwell-fuzz-", dir=memory)
    _scratch.kept = folder  # removed when the process ends
    return Path(folder.name)


def _word(content: bytes, rng: random.Random, _: object) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(WORDS) + content[at + rng.choice([0, 0, 1, 5]) :]


def _repeat(content: bytes, rng: random.Random, _: object) -> bytes:
    start, stop = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:stop] + content[start:stop] * rng.choice([1, 2, 50]) + content[stop:]


def _digit(content: bytes, rng: random.Random, _: object) -> bytes:
    places = [k for k, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        return content
    at = rng.choice(places)
    return content[:at] + rng.choice([b"0", b"1", b"7", b"9", b"10", b""]) + content[at + 1 :]


class Case:
    """One file, or a store with one damaged file."""

    def __init__(self, seed: int, number: int):
        rng = random.Random(seed * 2**40 + number)
        self.store = rng.random() < 0.1
        self.name, content = ("store", b"") if self.store else rng.choice(corpus())
        self.rng, words = rng, []
        others = [one for kind, one in corpus() if kind == self.name]
        for _ in range(0 if self.store else rng.choice([1, 1, 2, 4])):
            change = rng.choice([*BYTE_CHANGES, _word, _word, _word, _repeat, _digit, _digit])
            words.append(change.__name__.lstrip("_"))
            content = change(content, rng, others)
        self.content, self.key = content, f"{self.name}: {' + '.join(words)}"
        self.options = {}
        if self.name in ("svmlight", "csv") and rng.random() < 0.5:
            self.options["format"] = self.name
        if self.name in ("csv", "parquet", "arrow"):
            self.options["missing"] = rng.choice(["refuse", "mean", "zero"])
            self.options["text"] = rng.choice(["one-hot", "hash"])

    def run(self) -> tuple[list[Finding], Counter]:
        corpus()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        path = self._damaged_store() if self.store else _scratch() / "file"
        if not self.store:
            path.write_bytes(self.content)
        found, counts, data = self._read(path)
        if not found and self.name in ("svmlight", "csv", "compressed"):
            found = self._in_other_chunks(path, data)
        if not found and data is not None and self.options.get("format") == "svmlight":
            found = self._as_scikit_learn(path, data)
        taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if taken > MOST:
            found.append(Finding("memory", self.key, f"{taken >> 20} MB for {len(self.content)} bytes"))
        return found, counts

    def _read(self, path: Path) -> tuple[list[Finding], Counter, object]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                data = sw.data.load(
                    path, n_threads=self.rng.choice([1, 2]), comments=self.name == "svmlight", **self.options
                )
            except (ValueError, OSError, ImportError) as error:
                unclear = unclear_because(error)
                return [describe(unclear, self.key, error)] if unclear else [], Counter({"refused": 1}), None
            except Exception as error:
                return [describe("unclear error", self.key, error)], Counter({"refused": 1}), None
        values = data.A.data if sp.issparse(data.A) else data.A
        if not np.isfinite(values).all():
            return [Finding("not finite", self.key, repr(data))], Counter({"read": 1}), data
        return [], Counter({"read": 1}), data

    def _in_other_chunks(self, path: Path, data: object) -> list[Finding]:
        chunk, streams.CHUNK = streams.CHUNK, self.rng.choice([1, 7, 64])
        try:
            _, _, other = self._read(path)
        finally:
            streams.CHUNK = chunk
        return [] if _same(data, other) else [Finding("chunks differ", self.key, f"{data!r}, {other!r}")]

    def _as_scikit_learn(self, path: Path, data: object) -> list[Finding]:
        from sklearn.datasets import load_svmlight_file

        if data.classes is not None or streams.Stream(path).compression:
            return []
        try:
            theirs, y = load_svmlight_file(str(path))
        except Exception:  # it refuses some blanks, and comments that are not UTF-8
            return []
        same = np.array_equal(data.A.data, theirs.data) and np.array_equal(data.A.indices, theirs.indices)
        same = same and np.array_equal(data.A.indptr, theirs.indptr) and np.array_equal(data.y, y)
        return [] if same else [Finding("unlike scikit-learn", self.key, f"{data!r}, {theirs!r}")]

    def _damaged_store(self) -> Path:
        rng, folder = self.rng, _scratch() / "store"
        shutil.rmtree(folder, ignore_errors=True)
        if rng.random() < 0.3:
            (_scratch() / "file").write_bytes(b"1,2 1:1\n 3:2\n2 1:4\n")
            sw.data.Store.write(folder, sw.data.load(_scratch() / "file", n_threads=1), shard_bytes=64)
        else:
            given = sp.csr_array(A) if rng.random() < 0.5 else A
            sw.data.Store.write(folder, given, np.array(["u", "v", "u", "w"]), shard_bytes=64)
        path = rng.choice([folder / "manifest.json", *sorted(folder.iterdir())])
        self.key = f"store: {path.name.partition('-')[0]} {path.suffixes[0]}"
        content = path.read_bytes()
        for _ in range(rng.choice([1, 1, 3])):
            content = rng.choice([*BYTE_CHANGES, _word, _repeat])(content, rng, [content])
        path.write_bytes(content)
        return folder


def _same(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    first, second = (M.toarray() if sp.issparse(M) and M.shape[1] < 10**5 else M for M in (one.A, other.A))
    if sp.issparse(first):
        return first.shape == second.shape and np.array_equal(first.data, second.data)
    return np.array_equal(first, second) and one.feature_names == other.feature_names


def make(seed: int, number: int) -> Case:
    return Case(seed, number)
