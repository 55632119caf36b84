"""Real data sets for tests and benchmarks, if their files are available.

They are ``.npz`` files, looked for in the folder ``SOUTHWELL_DATA`` names, then in ``../shared/data`` beside the
checkout. Sparse sets hold ``data, indices, indptr, shape``; dense ones ``X``; all hold ``y``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def folders(first: Path | None = None) -> list[Path]:
    """Where data files are looked for: ``first``, if given, then the other places."""
    places = [first, os.environ.get("SOUTHWELL_DATA") or None, Path.cwd() / ".." / "shared" / "data"]
    places += [parent.parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    return [Path(place) for place in places if place is not None and Path(place).is_dir()]


def find(name: str) -> Path | None:
    """The file of a data set, or None."""
    name = "20news_counts" if name == "20news" else name
    paths = (folder / f"{name}.npz" for folder in folders())
    return next((path for path in paths if path.is_file()), None)


def load(name: str, train: bool = True, standardise: bool = False) -> Any:
    """``A`` (CSR or dense, float64) and labels ``y``, as they are stored.

    "20news" is ``20news_counts`` with sublinear tf-idf weights and rows of length one.

    Parameters
    ----------
    name : str
        The file's name without ``.npz``.
    train : bool
        Only the training part, if the set has one.
    standardise : bool
        Subtract from each column of a dense set its mean, and divide it by its standard deviation, over the rows that
        are returned; constant columns become zero. Sparse sets are refused, because they would become dense.
    """
    path = find(name)
    if path is None:
        raise FileNotFoundError(
            f"Data set {name!r} was not found. Put {name}.npz into a folder and set SOUTHWELL_DATA to that folder."
        )
    with np.load(path) as file:
        y = file["y"]
        if "X" in file:
            A = file["X"].astype(np.float64)
        else:
            A = sp.csr_array((file["data"].astype(np.float64), file["indices"], file["indptr"]), tuple(file["shape"]))
        n = int(file["n_train"]) if train and "n_train" in file else A.shape[0]
    A, y = A[:n], y[:n]
    if name == "20news":
        from sklearn.feature_extraction.text import TfidfTransformer

        A = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(A))
    if standardise:
        if sp.issparse(A):
            raise ValueError(
                f"{name!r} is sparse, and standardising would make it dense. Load it with standardise=False; "
                "southwell.Centred subtracts column means without forming the result."
            )
        spread = A.std(axis=0)
        A = (A - A.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return A, y


def load_binary(name: str, train: bool = True, standardise: bool = False) -> Any:
    """``load`` with targets -1 and +1: comp.* against the rest for 20news, else the largest label against the rest."""
    A, y = load(name, train, standardise)
    if name == "20news":
        return A, np.where(np.isin(y, (1, 2, 3, 4, 5)), 1.0, -1.0)
    classes = np.unique(y)
    return A, np.where(y == classes[-1], 1.0, -1.0)
