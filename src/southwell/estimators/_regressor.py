"""Regressors: one target, or several side by side."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from ._base import LinearEstimator


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A linear model of numbers."""

    _multi_output = True

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        if sp.issparse(y):
            y = y.toarray()
        X, y = self._read(X, y, y_numeric=True, multi_output=self._multi_output)
        if not self._multi_output:
            y = column_or_1d(y, warn=True)
        targets = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
        results = self._fit_targets(X, targets, self._weights(sample_weight, X))
        coef = np.array([result.x for result in results], dtype=X.dtype)
        intercept = np.array([result.intercept for result in results], dtype=X.dtype)
        one = targets.shape[1] == 1
        self.coef_ = coef[0] if one else coef
        self.intercept_ = intercept[0] if y.ndim == 1 else intercept
        return self

    def predict(self, X) -> np.ndarray:
        """X w + c."""
        return self._margins(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.target_tags.single_output = True
        return tags
