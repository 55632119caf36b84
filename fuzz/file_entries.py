"""The entry points of ``southwell.data``, as in entries.py."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

import southwell as sw

from .entries import REAL, WEIGHTS, A, Entry, defaults
from .nasty import D, N


def data_files():
    folder = _folder()
    (folder / "data.svm").write_text("1 1:2\n0 2:1\n")
    (folder / "data.csv").write_text("a,b,c\n1,x,2\n3,y,4\n")
    load, tables = sw.data.load, ("zero_based", "multilabel", "n_features", "comments")
    yield Entry("data.load, rows", load, defaults(load, path=folder / "data.svm", n_threads=1))
    given = {name: value for name, value in defaults(load, path=folder / "data.csv").items() if name not in tables}
    yield Entry("data.load, table", load, given | {"n_threads": 1})
    store = sw.data.Store.write(folder / "store", A, REAL)
    yield Entry("Store.open", sw.data.Store.open, {"path": folder / "store", "check": "sizes"})
    written = {"A": A, "b": REAL, "weights": WEIGHTS, "qid": np.arange(N), "feature_names": list(map(str, range(D)))}
    written |= {"dtype": float, "shard_bytes": 1 << 20}
    yield Entry("Store.write", partial(_written, folder / "new"), written)
    yield Entry("Store.append", partial(_appended, store), {"A": A, "b": REAL, "weights": None, "qid": None})


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="southwell-fuzz-")
    _folder.kept = folder  # removed when the process ends
    return Path(folder.name)


def _written(path, **given):
    shutil.rmtree(path, ignore_errors=True)
    return sw.data.Store.write(path, **given)


def _appended(store, **given):
    fresh = _written(store.path.with_name("appended"), A=A, b=REAL)
    fresh.append(**given)
    return fresh
