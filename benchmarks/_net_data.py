"""Synthetic data of the kinds that users bring: click logs, word pairs, short texts, sensors, counts, rare labels, bad
scales. Every generator returns (A, b), A as CSR or as a dense array, and is a function of its arguments alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def one_hot(rows: int, columns: int = 1_000_000, fields: int = 30, seed: int = 0, tail: float = 1.33):
    """Click logs: each of the fields has one value a row, drawn from a heavy tail (Zipf's law with this exponent), and
    a column for each of its values. Sizes of fields are geometric, from 10 values to most of the columns; the values
    that were never seen have empty columns. Labels follow a model of a tenth of the values, and a tenth of them are
    random."""
    rng = np.random.default_rng(seed)
    low, high = 1.0, 4.0
    for _ in range(60):  # find the ratio of the sizes such that they add up to `columns`
        ratio = (low + high) / 2
        sizes = 10 * ratio ** np.arange(fields)
        low, high = (low, ratio) if sizes.sum() > columns else (ratio, high)
    sizes = sizes.astype(int)
    indices, start = np.empty((rows, fields), np.int32), 0
    for field, size in enumerate(sizes):
        indices[:, field] = start + _names(rng, size, tail, rows)
        start += size
    A = sp.csr_array((np.ones(indices.size), indices.ravel(), np.arange(0, indices.size + 1, fields, np.int32)),
                     (rows, columns))  # fmt: skip
    weights = np.random.default_rng(seed + 1).standard_normal(columns) * (
        np.random.default_rng(seed + 2).random(columns) < 0.1
    )
    margins = A @ weights
    b = np.where(margins > np.quantile(margins, 0.7), 1.0, -1.0)
    chance = rng.random(rows) < 0.1
    b[chance] = rng.choice([-1.0, 1.0], int(chance.sum()))
    return A, b


def _names(rng: np.random.Generator, size: int, tail: float, rows: int) -> np.ndarray:
    """Values of one field; frequent ones lie anywhere in it."""
    below = np.cumsum((np.arange(size) + 1.0) ** -tail)
    names = rng.permutation(size)
    return names[np.searchsorted(below, rng.random(rows) * below[-1])]


def bags(lengths: np.ndarray, draw, d: int):
    """Counts of the words of each text, as CSR; ``draw(m)`` draws m words."""
    rows = np.repeat(np.arange(lengths.size, dtype=np.int64), lengths)
    cells, counts = np.unique(rows * d + draw(rows.size), return_counts=True)
    starts = np.searchsorted(cells, np.arange(lengths.size + 1) * d).astype(np.int32)
    return sp.csr_array((counts.astype(float), (cells % d).astype(np.int32), starts), (lengths.size, d))


def _zipf(rng: np.random.Generator, d: int, shift: float = 3.0):
    below = np.cumsum(1 / (np.arange(d) + shift))
    return lambda size: np.searchsorted(below, rng.random(size) * below[-1])


def unit_rows(A):
    """The rows of a CSR matrix divided by their lengths."""
    lengths = np.sqrt(A.multiply(A).sum(axis=1))
    scales = np.repeat(1 / np.where(lengths > 0, lengths, 1.0), np.diff(A.indptr))
    return sp.csr_array((A.data * scales, A.indices, A.indptr), A.shape)


def _labels(margins: np.ndarray, positive: float, noise: float, rng: np.random.Generator) -> np.ndarray:
    """A share of 1, all others -1; a share of all is random."""
    b = np.where(margins > np.quantile(margins, 1 - positive), 1.0, -1.0)
    chance = rng.random(b.size) < noise
    b[chance] = np.where(rng.random(int(chance.sum())) < positive, 1.0, -1.0)
    return b


def pairs(n: int = 10_000, d: int = 400_000, length: int = 60, seed: int = 1):
    """Pairs of neighbouring words in texts, hashed to one of d columns; most columns hold one entry. Each text has one
    of two topics, which prefers its own half of the frequent words; the label is the topic."""
    rng = np.random.default_rng(seed)
    vocabulary, topic = 30_000, rng.random(n) < 0.4
    lengths = 2 + rng.poisson(length, n)
    words = _zipf(rng, vocabulary)(int(lengths.sum()))
    swap = (rng.random(words.size) < 0.25) & (words % 2 != np.repeat(topic, lengths))
    words[swap] ^= 1
    ends = np.cumsum(lengths)
    inside = np.ones(words.size - 1, bool)
    inside[ends[:-1] - 1] = False
    hashed = ((words[:-1] * 2_654_435_761 + words[1:] * 40_503) % 2_147_483_647 % d)[inside]
    cells = np.unique(np.repeat(np.arange(n), lengths - 1) * np.int64(d) + hashed)
    starts = np.searchsorted(cells, np.arange(n + 1) * np.int64(d)).astype(np.int32)
    A = sp.csr_array((np.ones(cells.size), (cells % d).astype(np.int32), starts), (n, d))
    return unit_rows(A), np.where(topic, 1.0, -1.0)


def titles(n: int = 30_000, d: int = 25_000, length: int = 6, seed: int = 2):
    """Short texts of a few words, tf-idf, rows of length 1."""
    rng = np.random.default_rng(seed)
    A = bags(1 + rng.poisson(length, n), _zipf(rng, d, 20.0), d)
    A.data = (1 + np.log(A.data)) * (1 + np.log(n / (1 + np.bincount(A.indices, minlength=d))))[A.indices]
    A = unit_rows(A)
    return A, _labels(A @ rng.standard_normal(d), 0.35, 0.15, rng)


def sensors(n: int = 4_000, d: int = 250, seed: int = 3):
    """Dense readings in time: few common factors, a slow drift of each sensor (a random walk), noise; offsets and units
    differ from sensor to sensor. The target follows twenty sensors and drifts too."""
    rng = np.random.default_rng(seed)
    factors = np.cumsum(rng.standard_normal((n, 8)), axis=0) / np.sqrt(n) + 0.5 * rng.standard_normal((n, 8))
    drift = np.cumsum(rng.standard_normal((n, d)), axis=0) / np.sqrt(n)
    clean = factors @ rng.standard_normal((8, d)) + drift + 0.3 * rng.standard_normal((n, d))
    weights = np.zeros(d)
    weights[rng.choice(d, 20, replace=False)] = rng.standard_normal(20)
    b = clean @ weights + np.cumsum(rng.standard_normal(n)) / np.sqrt(n) + rng.standard_normal(n)
    return np.ascontiguousarray(clean * rng.lognormal(0, 0.5, d) + rng.normal(0, 3, d)), (b - b.mean()) / b.std()


def counts(n: int = 8_000, d: int = 3_000, seed: int = 4):
    """Sparse counts; b counts too, with an intensity that is log-linear in them."""
    rng = np.random.default_rng(seed)
    A = bags(1 + rng.negative_binomial(3, 0.06, n), _zipf(rng, d, 5.0), d)
    A.data = np.log1p(A.data)
    weights = rng.standard_normal(d) * (rng.random(d) < 0.05)
    margins = A @ weights
    return A, rng.poisson(np.exp(0.5 + 0.6 * (margins - margins.mean()) / margins.std())).astype(float)


def rare(n: int = 20_000, d: int = 60, seed: int = 5):
    """Dense, heavy-tailed features in rows; 1 % of the labels are positive."""
    rng = np.random.default_rng(seed)
    A = rng.standard_t(4, (n, d)) @ (np.eye(d) + 0.2 * rng.standard_normal((d, d)) / np.sqrt(d))
    return A, _labels(A @ rng.standard_normal(d), 0.01, 0.3, rng)


def tall(n: int = 100_000, d: int = 20, seed: int = 6):
    """Many samples of few features."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    margins = A @ rng.standard_normal(d) + 2 * rng.standard_normal(n)
    return A, margins / margins.std()


def wide(n: int = 80, d: int = 20_000, seed: int = 7):
    """Few samples of many features, correlated in blocks of 40, in Fortran order; 30 of them matter."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.standard_normal((n, d // 40)), 40, axis=1)
    A = np.asfortranarray(0.7 * common + 0.7 * rng.standard_normal((n, d)))
    weights = np.zeros(d)
    weights[rng.choice(d, 30, replace=False)] = rng.standard_normal(30)
    margins = A @ weights + rng.standard_normal(n)
    return A, (margins - margins.mean()) / margins.std()


def scales(n: int = 3_000, d: int = 150, decades: float = 2.0, seed: int = 8):
    """Columns in units that differ by a factor of up to 10^(2 decades), correlated, with means that are not zero."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) @ (np.eye(d) + rng.standard_normal((d, d)) / np.sqrt(d)) + rng.standard_normal(d)
    margins = A @ rng.standard_normal(d) / np.sqrt(d) + 0.5 * rng.standard_normal(n)
    return A * 10 ** rng.uniform(-decades, decades, d), (margins - margins.mean()) / margins.std()


def sparse_scales(n: int = 6_000, d: int = 5_000, seed: int = 9):
    """Sparse data of which a hundredth of the columns are in units a hundred times smaller or larger."""
    rng = np.random.default_rng(seed)
    A = bags(5 + rng.poisson(40, n), _zipf(rng, d, 10.0), d)
    units = np.where(rng.random(d) < 0.01, 10.0 ** rng.choice([-2, 2], d), 1.0)
    A.data *= units[A.indices]
    return A, _labels(A @ (rng.standard_normal(d) / units), 0.5, 0.1, rng)
