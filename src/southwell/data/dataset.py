"""What readers return: ``Data``, and the batches of rows that it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import AnyMatrix
from ..model_files.files import Refused

MOST = 2**31 - 1  # columns


@dataclass
class Data:
    """Data from files.

    ``A, b = load(path)`` works too: iterating gives the data and the targets.

    Attributes
    ----------
    A : ndarray or csr_array of shape (n_samples, n_features)
        The data; also ``X``.
    targets : ndarray of shape (n_samples,), csr_array of shape (n_samples, n_labels), or None
        Numbers, or labels as strings. With several labels a row, an indicator matrix; its columns are ``classes``. Also
        ``b`` and ``y``. None if the files hold none.
    classes : ndarray or None
        The labels that the columns of ``targets`` stand for, if a row may have several.
    weights : ndarray of shape (n_samples,) or None
        Weights of the samples.
    qid : ndarray of shape (n_samples,) or None
        The query of each row, in ranking data.
    feature_names : list of str or None
        The names of the columns of ``A``; None where the format has none.
    comments : list of str or None
        The comment of each row, "" where there is none; only if they were asked for.
    """

    A: AnyMatrix
    targets: Any = None
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    qid: np.ndarray | None = None
    feature_names: list[str] | None = None
    comments: list[str] | None = None

    @property
    def X(self) -> AnyMatrix:
        return self.A

    @property
    def b(self) -> Any:
        return self.targets

    @property
    def y(self) -> Any:
        return self.targets

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.A.shape
        return int(rows), int(columns)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.A, self.targets))

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = f"sparse, {self.A.nnz:,} entries" if sp.issparse(self.A) else "dense"
        parts = [f"{rows:,} rows, {columns:,} columns", f"{kind}, {self.A.dtype}", _told(self.targets)]
        parts += [name for name in ("weights", "qid", "feature_names", "comments") if getattr(self, name) is not None]
        return f"Data({'; '.join(parts)})"


def _told(targets: Any) -> str:
    if targets is None:
        return "no targets"
    if sp.issparse(targets):
        return f"several labels a row, of {targets.shape[1]:,}"
    return "labels as targets" if targets.dtype.kind == "U" else "targets"


@dataclass
class Batch:
    """Consecutive rows. ``labels`` are those of all rows in order; ``label_sizes`` says how many each row has."""

    A: AnyMatrix
    targets: np.ndarray | None = None
    labels: np.ndarray | None = None
    label_sizes: np.ndarray | None = None
    weights: np.ndarray | None = None
    qid: np.ndarray | None = None
    comments: list[str] | None = None

    @property
    def rows(self) -> int:
        return int(self.A.shape[0])

    @property
    def bytes(self) -> int:
        """What its matrix takes in memory."""
        A = self.A
        return int(A.data.nbytes + A.indices.nbytes + A.indptr.nbytes if sp.issparse(A) else A.nbytes)

    def part(self, start: int, stop: int) -> Batch:
        """Some of its rows."""
        cut: dict[str, Any] = {
            name: None if (whole := getattr(self, name)) is None else whole[start:stop]
            for name in ("A", "targets", "label_sizes", "weights", "qid", "comments")
        }
        if self.labels is not None and self.label_sizes is not None:
            first, last = int(self.label_sizes[:start].sum()), int(self.label_sizes[:stop].sum())
            cut["labels"] = self.labels[first:last]
        return Batch(**cut)


class Again(Exception):
    """What was assumed of a file turned out wrong: the source has noted it, and its rows must be read again."""


def wider(A: AnyMatrix, columns: int) -> AnyMatrix:
    """A sparse matrix with more columns, which shares the arrays of this one."""
    return A if A.shape[1] == columns else csr(A.data, A.indices, A.indptr, columns)


def csr(values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: int) -> AnyMatrix:
    """A CSR array of int32 indices. Pointers are int64 only if they must be: SciPy copies indices of another width."""
    if indptr.dtype != np.int32 and indptr[-1] <= MOST:
        indptr = indptr.astype(np.int32)
    A = sp.csr_array((indptr.size - 1, columns), dtype=values.dtype)
    A.data, A.indices, A.indptr = values, indices, indptr
    return A


def joined(batches: list[Batch], columns: int) -> Batch:
    """All batches as one; one batch is not copied."""
    if len(batches) == 1:
        (one,) = batches
        if sp.issparse(one.A):
            one.A = wider(one.A, columns)
        return one
    matrices = [batch.A for batch in batches]
    if any(sp.issparse(A) for A in matrices):
        A = _stacked([sp.csr_array(A) for A in matrices], columns)
    else:
        A = np.concatenate(matrices)
    whole = Batch(A)
    for name in ("targets", "labels", "label_sizes", "weights", "qid"):
        parts = [getattr(batch, name) for batch in batches]
        held = [part for part in parts if part is not None]
        if len(held) == len(parts):
            setattr(whole, name, np.concatenate(held))
        elif held and name not in ("targets", "labels", "label_sizes"):
            raise Refused(f"some of its parts have {name} and others do not")
    if all(batch.comments is not None for batch in batches):
        whole.comments = [comment for batch in batches for comment in batch.comments or ()]
    return whole


def _stacked(parts: list[AnyMatrix], columns: int) -> AnyMatrix:
    """Rows of CSR arrays, one after the other, with int32 indices and int64 pointers."""
    starts = np.cumsum([0, *(part.indptr[-1] for part in parts)], dtype=np.int64)
    pointers = [part.indptr[1:].astype(np.int64) + start for part, start in zip(parts, starts, strict=False)]
    return csr(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices.astype(np.int32, copy=False) for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *pointers]),
        columns,
    )


def indicator(labels: np.ndarray, sizes: np.ndarray) -> tuple[AnyMatrix, np.ndarray]:
    """Labels of rows as an indicator matrix, and its classes, increasing."""
    classes, columns = np.unique(labels, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    matrix = csr(np.ones(labels.size), columns.astype(np.int32), indptr, classes.size)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0  # a label that a row repeats
    return matrix, classes
