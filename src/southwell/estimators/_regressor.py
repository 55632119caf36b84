"""Regressors: one target, or several side by side."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import column_or_1d

from .._columns import Targets
from .._data import readable
from .._dense import numbers
from .._typing import AnyMatrix, Given
from ._base import FitData, LinearEstimator
from ._callbacks import with_callbacks


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A linear model of numbers."""

    _multi_output = True

    @with_callbacks
    def fit(self, X: Given, y: Given = None, sample_weight: Given = None, *, offset: Given = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or ``southwell.data.Store`` of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
            A store may hold them itself.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice.
        offset : array of shape (n_samples,), optional
            Known parts of the margins: the model is of X w + c + offset. Give ``predict`` those of its rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, offset=offset)

    def score(self, X: Given, y: Given, sample_weight: Given = None, *, offset: Given = None) -> float:
        """The coefficient of determination, R^2."""
        y, sample_weight = readable(y, "y"), readable(sample_weight, "sample_weight")
        with np.errstate(over="ignore", invalid="ignore"):  # squares of huge targets overflow, and the score is NaN
            return float(r2_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        if sp.issparse(y):
            y = readable(y, "y").toarray()
        X, y = self._read(X, y, y_numeric=True, multi_output=self._multi_output)
        if not self._multi_output:
            y = column_or_1d(y, warn=True)
        y = numbers("y", y)
        columns = y.reshape(X.shape[0], -1)
        targets = Targets(lambda k: columns[:, k], columns.shape[1])
        weights = self._weights(sample_weight, X)
        return FitData(X=X, y=y, targets=targets, weights=weights, sample_weight=weights, params=params, told={})

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        coef, intercepts = coef.astype(data.X.dtype), intercepts.astype(data.X.dtype)
        one = data.targets.count == 1
        return {"coef_": coef[0] if one else coef, "intercept_": self._intercept(intercepts, data.y.ndim == 1)}

    def _intercept(self, intercepts: np.ndarray, one: bool) -> Any:
        """``intercept_``, in the form that scikit-learn's class has: without an intercept 0.0, whatever the targets."""
        if not self.fit_intercept and not intercepts.any():
            return 0.0
        return intercepts[0] if one else intercepts

    def predict(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """X w + c, plus the offset of each row if there is one."""
        return self._margins(X, offset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.target_tags.single_output = True
        return tags
