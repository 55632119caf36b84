"""Classifiers: two classes, many one against the rest, or several labels at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._names import flag
from ._base import LinearEstimator


class LinearClassifier(ClassifierMixin, LinearEstimator):
    """A linear model of classes, a problem for each but where there are two."""

    _multilabel = False

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels, of any kind.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        if sp.issparse(y):
            y = y.toarray()
        X, y = self._read(X, y, multi_output=self._multilabel)
        if y.ndim == 1 or y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = self._weights(sample_weight, X)
        sparse = flag("sparse_coef", getattr(self, "sparse_coef", False))
        multilabel = y.ndim == 2
        classes, targets, weights = (self._labels if multilabel else self._classes)(y, weights)
        results = self._fit_targets(X, targets, weights)
        coef = [result.x.astype(X.dtype) for result in results]
        self.classes_, self.multilabel_ = classes, multilabel  # after all that may fail
        self.coef_ = sp.csr_matrix(sp.vstack([sp.csr_array(x[None, :]) for x in coef])) if sparse else np.array(coef)
        self.intercept_ = np.array([result.intercept for result in results], dtype=X.dtype)
        return self

    def _classes(self, y, weights):
        """The classes, a column of -1 and +1 for each (or for the second of two), and weights. Rows that weigh nothing
        are not there."""
        there = np.ones(y.size, bool) if weights is None else weights > 0
        classes = np.unique(y[there])
        if classes.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes; there is one class: {classes.tolist()}."
            )
        codes = np.searchsorted(classes, np.where(there, y, classes[0]))
        if getattr(self, "class_weight", None) is not None:
            by_class = compute_class_weight(self.class_weight, classes=classes, y=y[there])
            if not (by_class > 0).all():
                raise ValueError(f"class_weight must be positive for every class; got {self.class_weight!r}.")
            weights = by_class[codes] * (1.0 if weights is None else weights)
        columns = [1] if classes.size == 2 else range(classes.size)
        return classes, np.column_stack([np.where(codes == k, 1.0, -1.0) for k in columns]), weights

    def _labels(self, y, weights):
        """The same for an indicator matrix."""
        if type_of_target(y) != "multilabel-indicator":
            raise ValueError(
                f"{type(self).__name__} takes labels of shape (n_samples,), or an indicator matrix of 0 and 1 with a "
                f"column for each label; got {type_of_target(y)} of shape {y.shape}."
            )
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight is not for several labels at once; give sample_weight.")
        there = y if weights is None else y[weights > 0]
        alike = np.flatnonzero((there == there[0]).all(axis=0))
        if alike.size:
            raise ValueError(f"Label {alike[0]} is the same for all samples: there is nothing to learn. Leave it out.")
        return np.arange(y.shape[1]), np.where(y > 0, 1.0, -1.0), weights

    def decision_function(self, X) -> np.ndarray:
        """X w + c: for two classes one number a sample, positive for the second; else one for each class."""
        margins = self._margins(X)
        return margins.ravel() if margins.shape[1] == 1 and not self.multilabel_ else margins

    def predict(self, X) -> np.ndarray:
        """The class, or the labels, of each sample."""
        margins = self.decision_function(X)
        if self.multilabel_:
            return (margins > 0).astype(int)
        return self.classes_[(margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)]

    def sparsify(self):
        """Store ``coef_`` as a sparse matrix."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self):
        """Store ``coef_`` as an array."""
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._multilabel
        return tags
