"""Data by name: from a file if there is one, else what scikit-learn ships, else a stand-in, else a generator.

Files are looked for in the folder that is given, then in ``SOUTHWELL_DATA``, then where tests look
(``southwell.testing.datasets``). They are in the format of LIBSVM, plain or compressed (.bz2, .xz, .gz), or ``.npz``:
sparse sets hold ``data, indices, indptr, shape``, dense ones ``X``; all hold ``y``, and ``n_train`` if there is an
official split.
"""

from __future__ import annotations

import hashlib
import lzma
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._names import unknown
from ..testing.datasets import folders
from . import generators
from .catalogue import DATA, SHIPPED, DataSet
from .findings import Source

ENDINGS = (".npz", "", ".bz2", ".xz", ".gz", ".svm", ".svm.bz2", ".libsvm", ".txt")
INSTEAD = ("stand-in", "synthetic", "nothing")
FORMATS = "as .npz or in LIBSVM's format, plain or compressed (.bz2, .xz, .gz)"
PARTS = ("train", "test", "all")


class Missing(FileNotFoundError):
    """Data were asked for, and nothing may stand in for them."""


@dataclass(frozen=True)
class Loaded:
    """A and labels as they are in a file; the first ``n_train`` rows are for training. ``classes`` are to be +1."""

    A: Any
    y: np.ndarray
    n_train: int | None
    kind: str
    note: str
    classes: tuple[Any, ...] = ()


def load(
    name: str,
    folder: Path | None = None,
    seed: int = 0,
    *,
    part: str = "train",
    rows: int | None = None,
    columns: int | None = None,
    binary: bool = False,
    standardise: bool = False,
    unit_rows: bool = False,
    instead: str = "stand-in",
) -> tuple[Any, np.ndarray, Source]:
    """A data set by the name that a paper gives it: A (CSR or dense, float64), targets, and where they came from.

    Parameters
    ----------
    name : str
        A name of ``catalogue.DATA``, or that of a file.
    folder : Path, optional
        Where files are looked for first.
    seed : int
        For generators and for ``rows`` and ``columns``.
    part : {"train", "test", "all"}
        Of the official split. A set without one is all training.
    rows, columns : int, optional
        At most so many, drawn at random; a generator makes data of that size. Columns without an entry are kept.
    binary : bool
        Targets -1 and +1 instead of the labels in the file.
    standardise : bool
        Columns of mean 0 and deviation 1; dense data only.
    unit_rows : bool
        Rows of length one; empty rows stay empty.
    instead : {"stand-in", "synthetic", "nothing"}
        What may stand in if there is no file: other real data, else generated ones; generated ones only; nothing.
    """
    for what, given, known in (("part", part, PARTS), ("instead", instead, INSTEAD)):
        if given not in known:
            raise unknown(what, given, known)
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    loaded = _loaded(name, folder, seed, instead, (rows, columns))
    A, y = _part(loaded, part, name)
    if rows is not None and rows < A.shape[0]:
        kept = np.sort(rng.permutation(A.shape[0])[:rows])
        A, y = A[kept], y[kept]
    if columns is not None and columns < A.shape[1]:
        A = A[:, np.sort(rng.permutation(A.shape[1])[:columns])]
    if binary:
        y = _signs(y, loaded.classes)
    A = _prepared(A, standardise, unit_rows, name)
    note = loaded.note + ("; its test part" if part == "test" else "")
    return A, y, Source(name, loaded.kind, tuple(map(int, A.shape)), note, digest(A, y))


def _loaded(name: str, folder: Path | None, seed: int, instead: str, sizes: tuple[int | None, int | None]) -> Loaded:
    known = DATA.get(name)
    if known is not None and known.of and not any(find(name, folder)):
        return _random_part(name, known, folder, seed, instead)
    path, test = find(name, folder)
    if path is not None:
        kind = "stand-in" if known is None or known.ours else "paper"
        raw = known is not None and known.ours and path.suffix == ".npz"  # counts
        read = _weighed(_read(path, test, kind), known if raw else None)
        return replace(read, classes=known.positive if known is not None else ())
    if name in SHIPPED:
        return _shipped(name)
    if known is None:
        raise unknown("data set", name, DATA, f"{', '.join(DATA)}, or the name of a file in {_places(folder)}")
    if instead == "nothing":
        raise Missing(f"No file of {name} was found ({_names(name)}). {searched(folder)}")
    other = known.stand_in
    if instead == "stand-in" and other and (other in SHIPPED or find(other, folder)[0] is not None):
        stood = _loaded(other, folder, seed, "nothing", sizes)
        weighed = stood if DATA[other].weighed else _weighed(stood, known)
        return replace(weighed, kind="stand-in", note=f"{other} instead of {name}: {weighed.note}")
    return _made(name, known, seed, sizes)


def _made(name: str, known: DataSet, seed: int, sizes: tuple[int | None, int | None]) -> Loaded:
    n, d = known.shape
    train = n if known.n_train is None else known.n_train
    tests = n - train
    if sizes[0] is not None and sizes[0] < train:
        train, tests = sizes[0], min(tests, sizes[0])
    d = min(d, sizes[1] or d)
    A, y = known.generator(train + tests, d, np.random.default_rng([seed, zlib.crc32(name.encode())]))
    return Loaded(A, y, train if tests else None, "synthetic", f"generated: {known.law}")


def _random_part(name: str, known: DataSet, folder: Path | None, seed: int, instead: str) -> Loaded:
    whole = _loaded(known.of, folder, seed, instead, (known.sizes[0] if known.sizes else None, None))
    A, y = _part(whole, "train", known.of)
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    A, y = generators.subsample(A, y, known.sizes or A.shape, rng)
    note = f"a random part of {known.of}, without empty rows and columns; {whole.note}"
    return replace(whole, A=A, y=y, n_train=None, note=note)


def find(name: str, folder: Path | None = None) -> tuple[Path | None, Path | None]:
    """The file of a data set, and that of its test part, if there are any."""
    known = DATA.get(name)
    stems = (name, *(known.files if known else ()))
    return _first(stems, folder), _first(known.test_files if known else (), folder)


def kind(name: str, folder: Path | None = None) -> str:
    """The kind of source that ``load`` would find now: "paper" if there is a file of the paper's data."""
    known = DATA.get(name)
    if known is None or known.ours:
        return "stand-in"
    if find(name, folder)[0] is not None or (known.of and kind(known.of, folder) == "paper"):
        return "paper"
    other = DATA[known.of].stand_in if known.of else known.stand_in
    return "stand-in" if other and (other in SHIPPED or find(other, folder)[0] is not None) else "synthetic"


def instead_of(source: Source) -> str:
    """What was looked for and what was used, if it was not a paper's own data; else nothing."""
    known = DATA.get(source.name)
    if known is None or known.ours or source.kind == "paper":
        return ""
    return f"No file of {source.name} ({_names(known.of or source.name)}). Used: {source.note}."


def searched(folder: Path | None = None) -> str:
    """Where files are looked for, and in which formats."""
    return f"Data files are looked for in {_places(folder)}, {FORMATS}."


def _first(stems: tuple[str, ...], folder: Path | None) -> Path | None:
    paths = (place / (stem + end) for place in folders(folder) for stem in stems for end in ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _names(name: str) -> str:
    return " or ".join((name, *DATA[name].files))


def _places(folder: Path | None) -> str:
    return ", ".join(map(str, folders(folder))) or "no folder: give --data, or set SOUTHWELL_DATA"


def _read(path: Path, test: Path | None, kind: str) -> Loaded:
    try:
        read = _read_npz(path, kind) if path.suffix == ".npz" else _read_svmlight(path, test, kind)
        _refuse_odd(read)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"The data file {path} cannot be read: {str(error).rstrip('.')}. Get it again, or remove it, so that other "
            "data stand in for it."
        ) from error
    return read


def _refuse_odd(read: Loaded) -> None:
    """Raise for what no study can use."""
    entries, n = getattr(read.A, "data", read.A), read.A.shape[0]
    if read.A.ndim != 2 or 0 in read.A.shape:
        raise ValueError(f"it should hold rows and columns, and holds an array of shape {read.A.shape}")
    if read.y.shape != (n,):
        raise ValueError(f"it has {n} rows and targets of shape {read.y.shape}")
    if not np.isfinite(entries).all() or (read.y.dtype.kind == "f" and not np.isfinite(read.y).all()):
        raise ValueError("it holds NaN or infinity")
    if read.n_train is not None and not 0 < read.n_train <= n:
        raise ValueError(f"its n_train is {read.n_train}, and it has {n} rows")


def _read_npz(path: Path, kind: str) -> Loaded:
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not an archive of arrays")
    with np.load(path, allow_pickle=False) as file:
        if "Y_indptr" in file:
            raise ValueError("it holds several labels a row; a study needs one")
        if "X" in file:
            A: Any = file["X"].astype(np.float64)
        else:
            parts = (file["data"].astype(np.float64), file["indices"], file["indptr"])
            A = sp.csr_array(parts, tuple(map(int, file["shape"])))
            A.check_format(full_check=True)  # before an index beyond the columns is used
        n_train = int(file["n_train"]) if "n_train" in file else None
        return Loaded(A, file["y"], n_train, kind, path.name)


def _read_svmlight(path: Path, test: Path | None, kind: str) -> Loaded:
    from sklearn.datasets import load_svmlight_files

    opened = [path] if test is None else [path, test]
    handles = [_open(each) for each in opened]
    try:
        read = load_svmlight_files(handles)
    finally:
        for handle in handles:
            handle.close()
    A = sp.csr_array(sp.vstack([sp.csr_array(X) for X in read[::2]], format="csr"))
    y = np.concatenate(read[1::2])
    return Loaded(A, y, None if test is None else read[0].shape[0], kind, " and ".join(each.name for each in opened))


def _open(path: Path) -> Any:
    import bz2
    import gzip

    openers: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
    return openers.get(path.suffix, open)(path, "rb")


def _shipped(name: str) -> Loaded:
    import sklearn.datasets

    A, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return Loaded(A, y, None, "stand-in", f"{name} of scikit-learn")


def _weighed(loaded: Loaded, known: DataSet | None) -> Loaded:
    """With the weights of the set that the paper used, if these are raw counts or a stand-in."""
    if known is None or not known.weighed or not sp.issparse(loaded.A):
        return loaded
    A = generators.tf_idf(loaded.A) if known.weighed == "tfidf" else _unit(loaded.A)
    note = loaded.note + (", tf-idf, unit rows" if known.weighed == "tfidf" else ", unit rows")
    return replace(loaded, A=A, note=note)


def _part(loaded: Loaded, part: str, name: str) -> tuple[Any, np.ndarray]:
    n = loaded.n_train
    if part == "all" or (part == "train" and n is None):
        return loaded.A, loaded.y
    if n is None:
        raise Missing(f"{name} ({loaded.note}) has no test part. Ask for all of it, and split it.")
    return (loaded.A[:n], loaded.y[:n]) if part == "train" else (loaded.A[n:], loaded.y[n:])


def _signs(y: np.ndarray, positive: tuple[Any, ...]) -> np.ndarray:
    classes, sizes = np.unique(y, return_counts=True)
    if positive and set(positive) < set(classes.tolist()):
        chosen = positive
    else:
        chosen = (classes[-1],) if classes.size == 2 else (classes[np.argsort(sizes)[classes.size // 2]],)
    return np.where(np.isin(y, chosen), 1.0, -1.0)


def _prepared(A: Any, standardise: bool, unit_rows: bool, name: str) -> Any:
    if standardise:
        if sp.issparse(A):
            raise ValueError(
                f"{name} is sparse here, and standardising would make it dense. Use A.toarray() if it is small."
            )
        spread = A.std(axis=0)
        A = (A - A.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return _unit(A) if unit_rows else A


def _unit(A: Any) -> Any:
    norms = np.sqrt(A.multiply(A).sum(axis=1)) if sp.issparse(A) else np.linalg.norm(A, axis=1)
    scale = 1 / np.where(norms > 0, norms, 1.0)
    return sp.csr_array(A.multiply(scale[:, None])) if sp.issparse(A) else A * scale[:, None]


def digest(*arrays: Any) -> str:
    """SHA-256 of the arrays: kinds, shapes and bytes; of sparse ones data, indices and row starts."""
    found = hashlib.sha256()
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if sp.issparse(array) else (np.asarray(array),)
        found.update(str(array.shape).encode())
        for part in parts:
            kept = np.ascontiguousarray(part, dtype=np.int64 if part.dtype.kind in "iu" else None)
            found.update(kept.dtype.str.encode())
            found.update(kept.tobytes() if kept.dtype.kind != "O" else repr(kept.tolist()).encode())
    return found.hexdigest()
