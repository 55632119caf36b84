"""Stores from data in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._data import column, vector
from .._names import count, flag, shown
from .._typing import Given
from ..model_files.files import Refused
from . import manifest
from .arrays import numbers
from .dataset import Batch, Data
from .options import _float, refusals
from .writing import writer


def write(path: Path, A: Given, b: Given, weights: Given, qid: Given, feature_names: Given, dtype: Given,
          shard_bytes: int, overwrite: bool) -> None:  # fmt: skip
    """``Store.write``."""
    batch, names = _batch(A, b, weights, qid, feature_names)
    shard_bytes, overwrite = count("shard_bytes", shard_bytes, 1), flag("overwrite", overwrite)
    kind = batch.A.dtype if dtype is None else _float(dtype)
    mode = "overwrite" if overwrite and path.exists() else "new"
    with refusals(path), writer(path, mode, kind, shard_bytes) as made:
        _add(made, batch, shard_bytes)
        made.commit(int(batch.A.shape[1]), names)


def append(path: Path, A: Given, b: Given, weights: Given, qid: Given) -> None:
    """``Store.append``."""
    batch, names = _batch(A, b, weights, qid, None)
    with refusals(path):
        entries = manifest.read(path).shards
        shard_bytes = max((sum(one.bytes for one in shard.files.values()) for shard in entries), default=1)
        with writer(path, "append", None, shard_bytes) as made:
            if not sp.issparse(batch.A) and made.layout == "csr":
                batch.A = numbers(sp.csr_array(batch.A))
            _add(made, batch, shard_bytes)
            made.commit(int(batch.A.shape[1]), names)


def _add(made: Any, batch: Batch, shard_bytes: int) -> None:
    step = max(1, int(batch.rows * shard_bytes / max(batch.bytes, 1)))
    for start in range(0, batch.rows, step):
        made.add(batch.part(start, min(start + step, batch.rows)))


def _batch(A: Given, b: Given, weights: Given, qid: Given, feature_names: Given) -> tuple[Batch, list[str] | None]:
    """Checked data of users."""
    if isinstance(A, Data):
        others = {"b": b, "weights": weights, "qid": qid, "feature_names": feature_names}
        given = [name for name, value in others.items() if value is not None]
        if given:
            raise ValueError(f"{', '.join(given)} must not be given with a Data, which has its own.")
        A, b, weights, qid, feature_names, classes = A.A, A.targets, A.weights, A.qid, A.feature_names, A.classes
    else:
        classes = None
    try:
        checked = numbers(A if sp.issparse(A) else _array(A))
    except Refused as error:
        raise ValueError(f"A cannot be written: {error}.") from None
    rows, columns = map(int, checked.shape)
    batch = Batch(checked)
    if classes is not None:
        batch.labels, batch.label_sizes = np.asarray(classes, np.float64)[b.indices], np.diff(b.indptr).astype(np.int32)
    elif b is not None:
        targets = column(b, "b", rows, "A", "targets")
        if targets.dtype.kind == "O" and all(isinstance(label, str) for label in targets):
            targets = targets.astype(np.str_)
        batch.targets = targets if targets.dtype.kind == "U" else vector(targets, "b", rows)
    if weights is not None:
        batch.weights = vector(weights, "weights", rows)
        if batch.weights.size and batch.weights.min() < 0:
            raise ValueError(f"weights must be >= 0; the smallest is {batch.weights.min()}.")
    if qid is not None:
        batch.qid = column(qid, "qid", rows, "A", "integers")
        if batch.qid.dtype.kind not in "iu":
            raise ValueError(f"qid must be integers; got {batch.qid.dtype}.")
    return batch, _names(feature_names, columns)


def _array(A: Given) -> np.ndarray:
    if hasattr(A, "to_numpy"):
        A = A.to_numpy()
    try:
        made = np.asarray(A)
    except (TypeError, ValueError):
        made = np.empty(0, dtype=object)
    if made.ndim != 2 or made.dtype.kind not in "biuf":
        raise ValueError(f"A must be a matrix of numbers, samples by features; got {shown(A)}.")
    return made


def _names(given: Given, columns: int) -> list[str] | None:
    if given is None:
        return None
    if isinstance(given, np.ndarray) or type(given).__module__.startswith("pandas"):
        given = np.asarray(given)
    names = (
        list(given) if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1) else []
    )
    if len(names) != columns or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names must be {columns} strings, one for each column; got {shown(given)}.")
    return [str(name) for name in names]
