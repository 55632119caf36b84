"""Ridge regression by a singular value decomposition: where small problems begin.

Where alpha is near 0 and there are more features than samples, coefficients hardly matter to the objective, so a
tolerance on it does not determine them. The answer of a decomposition is that of least norm, as alpha goes to 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._typing import AnyMatrix

SMALL, LARGE = 2**26, 2**31  # multiplications: what is done for accuracy, and what only if alpha is near 0
NEAR = 1e-8  # of the mean squared singular value


def least_norm(X: AnyMatrix, targets: Sequence[np.ndarray], weights: np.ndarray, l2s: Sequence[float],
               intercept: bool) -> list[tuple[np.ndarray, float]] | None:  # fmt: skip
    """Coefficients and intercept for each target: the minimiser of ``sum_i s_i (x_i'w + c - y_i)^2 + l2 ||w||^2`` of
    least norm, weights s summing to one. None if the decomposition would take long or has overflowed."""
    n, d = X.shape
    work = n * d * min(n, d)
    if work > LARGE or min(n, d) == 0:
        return None
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    with np.errstate(all="ignore"):
        means = weights @ dense if intercept else np.zeros(d)
        roots = np.sqrt(weights)
        rows = roots[:, None] * (dense - means)
        mean_square = float((rows**2).sum()) / min(n, d)
        if not np.isfinite(mean_square) or (work > SMALL and min(l2s) > NEAR * mean_square):
            return None
        try:
            left, values, right = scipy.linalg.svd(rows, full_matrices=False, check_finite=True)
        except (ValueError, np.linalg.LinAlgError):
            return None
        kept = values > values.max(initial=0.0) * max(n, d) * np.finfo(float).eps
        answers = []
        for y, l2 in zip(targets, l2s, strict=True):
            mean = float(weights @ y) if intercept else 0.0
            inner = left.T @ (roots * (y - mean))
            coef = right.T @ np.where(kept, values * inner / np.where(kept, values**2 + l2, 1.0), 0.0)
            if not np.isfinite(coef).all():
                return None
            answers.append((coef, mean - float(means @ coef)))
    return answers
