"""The cone of positive semi-definite matrices, for stacks of symmetric ones."""

from __future__ import annotations

import numpy as np

from ._workers import ALONE, Workers


def project(stack: np.ndarray, workers: Workers = ALONE) -> np.ndarray:
    """The nearest positive semi-definite matrix to each: eigenvalues below zero become zero.

    Examples
    --------
    >>> import numpy as np
    >>> project(np.array([[[0.0, 2.0], [2.0, 0.0]]]))
    array([[[1., 1.],
            [1., 1.]]])
    """
    return np.array(workers.map(_projected, stack)).reshape(stack.shape)


def positive_squares(stack: np.ndarray, workers: Workers = ALONE) -> np.ndarray:
    """The squared norm of each projection, from eigenvalues alone."""
    return np.array(workers.map(lambda T: float(np.sum(np.maximum(np.linalg.eigvalsh(T), 0.0) ** 2)), stack))


def _projected(T: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(T)
    negative = int(np.searchsorted(values, 0.0))
    if 2 * negative < values.size:  # fewer columns to multiply
        part = vectors[:, :negative]
        nearest = T - (part * values[:negative]) @ part.T if negative else T
    else:
        part = vectors[:, negative:]
        nearest = (part * values[negative:]) @ part.T
    return np.asarray((nearest + nearest.T) / 2)
