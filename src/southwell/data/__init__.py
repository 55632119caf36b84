"""Data in files: ``load`` reads them into memory, and ``Store`` keeps large ones in a folder that NumPy can map."""

from __future__ import annotations

import os

import numpy as np

from .._typing import Given
from ..model_files.files import Refused
from . import formats
from .dataset import Again, Batch, Data, indicator, joined
from .manifest import MANIFEST
from .options import Options, narrowed, options_of, path_of, refusals
from .store import Shard, Statistics, Store

__all__ = ["Data", "Shard", "Statistics", "Store", "load"]


def load(
    path: str | os.PathLike[str],
    *,
    target: Given = None,
    weight: Given = None,
    format: str | None = None,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    multilabel: bool | str = "auto",
    comments: bool = False,
    delimiter: str | None = None,
    header: bool | str = "auto",
    categorical: Given = (),
    text: str = "one-hot",
    n_hashed: int = 1024,
    max_categories: int = 1000,
    missing: str = "refuse",
    dtype: Given = np.float64,
    n_threads: int | None = None,
) -> Data:
    """Read data from a file, a folder of files with the same columns, or a store.

    The format is told by content: SVMlight and LIBSVM, CSV, TSV and other delimiters, both also compressed (.gz, .bz2,
    .xz, .zst); Parquet, Arrow and Feather (with ``southwell[arrow]``); ``.npy``, ``.npz`` and MatrixMarket. Files are
    read, not mapped, and never unpickled.

    Parameters
    ----------
    path : str or PathLike
        The file or folder.
    target : str, int, PathLike, True or False, optional
        Of a table: the name or position of the target's column; None takes the one named target, label or y if there
        is one, True insists on it and False makes no column the target. Of a matrix: the position of a column, or a
        ``.npy`` file.
    weight : str or int, optional
        Of a table: the column of sample weights.
    format : str, optional
        "svmlight", "csv", "parquet", "arrow", "arrow stream", "npy", "npz" or "matrix market", if the content cannot
        tell.
    n_features : int, optional
        SVMlight: the number of columns; an index beyond it is an error. The default is what the indices need.
    zero_based : bool or "auto"
        SVMlight: whether indices begin at 0. "auto": they do if 0 occurs.
    multilabel : bool or "auto"
        SVMlight: whether a row may have several targets, or none. "auto": if one has several.
    comments : bool
        SVMlight: keep the comment of each row.
    delimiter : str, optional
        CSV: the character between fields. The default is found in the first lines.
    header : bool or "auto"
        CSV: whether the first row holds names. "auto": if no field of it is a number.
    categorical : sequence of str or int
        Tables: columns to be taken as texts, although they hold numbers.
    text : {"one-hot", "hash"}
        Tables: a column for each text of a column, or ``n_hashed`` columns for all of them together.
    n_hashed, max_categories : int
        The number of hashed columns; the most texts of a column that are made columns of their own.
    missing : {"refuse", "mean", "zero"}
        Tables: what happens where a value is missing. "mean" puts the mean of the column or its most frequent text,
        "zero" puts 0 or no text. Targets and weights must not be missing.
    dtype : numpy.float64 or numpy.float32
        The type of the data. Targets are float64.
    n_threads : int, optional
        The default is that of ``set_num_threads``.

    Returns
    -------
    Data
        With ``A``, ``targets``, ``weights``, ``feature_names`` and more. ``A, b = load(path)`` works too.

    Raises
    ------
    ValueError
        If the content is wrong; the message names file, line or row, and column.

    Examples
    --------
    >>> import tempfile
    >>> import southwell as sw
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     _ = file.write("1 1:0.5 3:2 # first\\n-1 2:4\\n")
    ...     file.flush()
    ...     A, b = sw.data.load(file.name)
    >>> A.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 4. , 0. ]])
    >>> b
    array([ 1., -1.])
    """
    kind, place = formats.checked_format(format), path_of(path)
    options = options_of({
        "target": target, "weight": weight, "n_features": n_features, "zero_based": zero_based,
        "multilabel": multilabel, "comments": comments, "delimiter": delimiter, "header": header,
        "categorical": categorical, "text": text, "n_hashed": n_hashed, "max_categories": max_categories,
        "missing": missing, "dtype": dtype, "n_threads": n_threads,
    })  # fmt: skip
    if (place / MANIFEST).exists():
        return Store.open(place).load()
    with refusals(place) as at:
        source = formats.source(formats.files_of(place), options, kind)
        while True:
            try:
                batches = []
                for at.path, batch in source.batches(None):
                    batches.append(batch)
                at.path = place
                return collected(batches, source, options)
            except Again:
                continue


def collected(batches: list[Batch], source: formats.Source, options: Options) -> Data:
    """All batches, as users see them."""
    if sum(batch.rows for batch in batches) == 0:
        raise Refused("it holds no rows")
    whole = joined(batches, source.columns)
    batches.clear()
    data = Data(narrowed(whole.A, options.dtype), whole.targets, weights=whole.weights, qid=whole.qid,
                feature_names=source.feature_names, comments=whole.comments)  # fmt: skip
    if whole.labels is not None and whole.label_sizes is not None:
        data.targets, data.classes = indicator(whole.labels, whole.label_sizes)
    return data
