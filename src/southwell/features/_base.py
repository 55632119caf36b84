"""What the feature maps share: validation of X, the seed, and gamma."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from .._data import Matrix, readable
from .._names import count, integral, positive, unknown
from .._typing import Given
from ..estimators._parameters import drawn_seed


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer of dense or sparse rows that keeps their precision."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: Given, *, reset: bool) -> Any:
        """A finite array, or a CSR matrix without duplicates."""
        X = readable(X, "X")
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        return Matrix(X).rows if sp.issparse(X) else X

    def _checked_seed(self) -> int:
        """Checks ``gamma`` and returns the seed."""
        if isinstance(self.gamma, str):
            if self.gamma != "scale":
                raise unknown("gamma", self.gamma, ("scale",))
        else:
            positive("gamma", self.gamma)
        if integral(self.random_state):
            return count("random_state", self.random_state, 0)
        return drawn_seed(self.random_state)

    def _gamma_for(self, X: Given, power: int) -> float:
        """gamma as given; for "scale", 1 / (n_features * spread**power), or 1 if all entries of X are equal."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        width = spread(X)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            value = float(1.0 / (X.shape[1] * np.float64(width) ** power)) if width > 0 else 1.0
        if not 0 < value < np.inf:
            raise ValueError(
                f"gamma='scale' gives {value:g}: the entries of X have the standard deviation {width:.3g}. "
                "Rescale X, for example with StandardScaler or MaxAbsScaler, or give gamma as a number."
            )
        return value


def spread(X: Given, step: int = 1 << 18) -> float:
    """The standard deviation over all entries, in float64, some at a time; no sum or square overflows."""
    stored = X.data if sp.issparse(X) else np.ravel(X, order="K")
    size = X.shape[0] * X.shape[1]
    low, high = float(stored.min(initial=np.inf)), float(stored.max(initial=-np.inf))
    if stored.size < size:  # all others are zero
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return 0.0  # exactly zero, without rounding error
    top = max(-low, high)

    def slabs() -> Iterator[np.ndarray]:
        return (stored[k : k + step].astype(np.float64) / top for k in range(0, stored.size, step))

    mean = float(sum(slab.sum() for slab in slabs())) / size
    squares = sum(np.square(slab - mean).sum() for slab in slabs()) + (size - stored.size) * mean**2
    return top * float(np.sqrt(squares / size))
