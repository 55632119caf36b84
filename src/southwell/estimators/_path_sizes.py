"""How many features the models of a cross-validation use, for plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._folds import Scores


def mean_sizes(scores: Scores) -> np.ndarray:
    """The number of features with a coefficient that is not zero for some class or target: its mean over folds, of
    shape (n_lines, n_points)."""
    folds, lines, points = scores.values.shape
    problems = len(scores.walks) // (folds * lines)
    sizes = np.empty((folds * lines, points))
    for k in range(folds * lines):
        keys = []
        for walk in scores.walks[k * problems : (k + 1) * problems]:
            entries, (rows, features) = walk.rows.tocoo(), walk.rows.shape
            used = entries.data != 0
            keys.append(entries.row[used].astype(np.int64) // (rows // points) * features + entries.col[used])
        sizes[k] = np.bincount(np.unique(np.concatenate(keys)) // features, minlength=points)
    return np.asarray(sizes.reshape(folds, lines, points).mean(axis=0))
