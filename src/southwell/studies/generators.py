"""Random data with the size, density and law of row lengths of data sets that are not at hand.

Each generator takes the numbers of rows and columns and a random generator, and returns A (dense, or CSR) and labels.
Classes have words, levels or means of their own, so that models have something to learn.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

Made = tuple[Any, np.ndarray]
Generator = Callable[[int, int, np.random.Generator], Made]


def text(per_row: float, classes: int, spread: float = 0.6, weighed: bool = True) -> Generator:
    """Documents: ``per_row`` distinct words on average, log-normal lengths, Zipf word frequencies, tf-idf, unit rows.

    A third of the words of a document are drawn in the order of frequency of its class, two thirds in the common one.
    """

    def make(rows: int, columns: int, rng: np.random.Generator) -> Made:
        mean = min(per_row, columns / 4)
        lengths = np.maximum(mean * np.exp(spread * rng.standard_normal(rows) - spread**2 / 2), 1)
        labels = rng.integers(classes, size=rows)
        shuffled = rng.permutation(columns)
        offsets = rng.integers(columns, size=classes)

        def counted(chosen: np.ndarray, tokens: float) -> sp.csr_array:
            """Word counts of the chosen documents, drawn with ``tokens`` words for each distinct word expected."""
            row = np.repeat(np.arange(chosen.size), np.ceil(tokens * lengths[chosen]).astype(np.int64))
            rank = zipf(columns, row.size, rng)
            own = rng.random(row.size) < 1 / 3
            rank = np.where(own, (rank + offsets[labels[chosen]][row]) % columns, rank)
            counts = sp.coo_array((np.ones(row.size), (row, shuffled[rank])), (chosen.size, columns)).tocsr()
            counts.sum_duplicates()
            return sp.csr_array(counts)

        sample, tokens = np.arange(min(rows, 300)), 1.0
        for _ in range(6):  # words repeat, so more are drawn than are distinct
            tokens *= lengths[sample].sum() / counted(sample, tokens).nnz
        A = counted(np.arange(rows), tokens)
        return (tf_idf(A) if weighed else A), labels

    return make


def zipf(ranks: int, size: int, rng: np.random.Generator, exponent: float = 1.5, shift: float = 100.0) -> np.ndarray:
    """Ranks 0, 1, ... with probabilities about ``(rank + shift)**-exponent`` (Mandelbrot), by inversion.

    With these defaults a random part of generated rcv1 has the size and density that table 2 of the adaptive-sampling
    paper gives for rcv1*: 7,438 rows, 809 columns, 0.3 %.
    """
    low, high = shift ** (1 - exponent), (ranks + shift) ** (1 - exponent)
    drawn = (low + rng.random(size) * (high - low)) ** (1 / (1 - exponent)) - shift
    found: np.ndarray = np.clip(drawn.astype(np.int64), 0, ranks - 1)
    return found


def tf_idf(counts: sp.csr_array) -> sp.csr_array:
    """``1 + log`` of the counts times the inverse document frequency, rows of length one."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))


def one_hot(groups: int) -> Generator:
    """Categorical data: ``groups`` variables, each a group of indicator columns; two classes differ in frequencies."""

    def make(rows: int, columns: int, rng: np.random.Generator) -> Made:
        labels = rng.integers(2, size=rows)
        edges = np.linspace(0, columns, groups + 1).astype(int)
        held = [low + _levels(high - low, labels, rng) for low, high in itertools.pairwise(edges)]
        return _indicators(np.stack(held, axis=1), columns), labels

    return make


def forest(rows: int, columns: int, rng: np.random.Generator) -> Made:
    """Like covtype: 10 numbers in [0, 1], correlated as terrain is, then 4 and 40 indicators; two classes."""
    labels = rng.integers(2, size=rows)
    terrain = rng.standard_normal((rows, 3)) + 0.5 * labels[:, None] * np.array([1.0, -0.5, 0.0])
    mixed = terrain @ rng.standard_normal((3, 10)) / 2 + rng.standard_normal((rows, 10))
    means, spreads = np.linspace(0.25, 0.85, 10), np.linspace(0.14, 0.18, 10)
    numbers = np.clip(means + spreads * mixed / 1.4, 0, 1)
    kinds = 10 + np.stack([_levels(4, labels, rng), 4 + _levels(columns - 14, labels, rng)], axis=1)
    return sp.csr_array(sp.csr_array(numbers) @ sp.eye_array(10, columns) + _indicators(kinds, columns)), labels


def histograms(classes: int) -> Generator:
    """Like aloi: non-negative rows that sum to one, near the mean of their class; classes of equal size."""

    def make(rows: int, columns: int, rng: np.random.Generator) -> Made:
        labels = rng.permutation(np.arange(rows) % classes)
        means = rng.gamma(0.3, size=(classes, columns))
        noisy = means[labels] * rng.gamma(4.0, 0.25, size=(rows, columns)) + 0.02 * rng.gamma(0.3, size=(rows, columns))
        return noisy / noisy.sum(axis=1, keepdims=True), labels

    return make


def gaussian(factors: int, classes: int = 2, apart: float = 1.0) -> Generator:
    """Dense data: a few common factors, noise, and a mean for each class."""

    def make(rows: int, columns: int, rng: np.random.Generator) -> Made:
        labels = rng.integers(classes, size=rows)
        loadings = rng.standard_normal((factors, columns)) / np.sqrt(factors)
        means = apart * rng.standard_normal((classes, factors))
        A = (rng.standard_normal((rows, factors)) + means[labels]) @ loadings + rng.standard_normal((rows, columns))
        return A, labels

    return make


def subsample(A: Any, labels: np.ndarray, sizes: Sequence[int], rng: np.random.Generator) -> Made:
    """Rows and columns drawn at random, without those that are all zero (rcv1* of the adaptive-sampling paper)."""
    rows, columns = (np.sort(rng.permutation(n)[:size]) for n, size in zip(A.shape, sizes, strict=True))
    part = sp.csr_array(sp.csr_array(A[rows])[:, columns])
    part.eliminate_zeros()
    full, used = np.diff(part.indptr) > 0, np.bincount(part.indices, minlength=part.shape[1]) > 0
    return sp.csr_array(part[full][:, used]), labels[rows][full]


def _levels(levels: int, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A level for each row, with frequencies that depend on its class."""
    common = rng.gamma(0.7, size=levels) + 1e-3
    drawn = np.empty(labels.size, dtype=np.int64)
    for label in np.unique(labels):
        chances = common * np.exp(0.5 * rng.standard_normal(levels))
        at = labels == label
        drawn[at] = rng.choice(levels, size=int(at.sum()), p=chances / chances.sum())
    return drawn


def _indicators(columns_of: np.ndarray, columns: int) -> sp.csr_array:
    """A row for each row of column numbers, with ones there."""
    rows, each = columns_of.shape
    start = np.arange(0, rows * each + 1, each)
    return sp.csr_array((np.ones(rows * each), columns_of.ravel(), start), (rows, columns))
