"""Classifiers: two classes, many one against the rest, or several labels at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

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
        X, y = self._read(X, y, multi_output=self._multilabel)
        if not sp.issparse(y) and (y.ndim == 1 or y.shape[1] == 1):
            y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = self._weights(sample_weight, X)
        if self._multilabel and type_of_target(y) == "multilabel-indicator":
            labels = np.asarray(y.todense()) if sp.issparse(y) else np.asarray(y)
            self.classes_ = np.arange(labels.shape[1])
            self.multilabel_ = True
            targets = np.where(labels > 0, 1.0, -1.0)
        else:
            self.classes_, codes = np.unique(np.ravel(y), return_inverse=True)
            self.multilabel_ = False
            if self.classes_.size < 2:
                raise ValueError(
                    f"{type(self).__name__} needs samples of at least two classes; there is one class: "
                    f"{self.classes_[0]!r}."
                )
            weights = self._class_weights(np.ravel(y), codes, weights)
            columns = [1] if self.classes_.size == 2 else range(self.classes_.size)
            targets = np.column_stack([np.where(codes == k, 1.0, -1.0) for k in columns])
        results = self._fit_targets(X, targets, weights)
        coef = [result.x for result in results]
        if getattr(self, "sparse_coef", False):
            self.coef_ = sp.csr_matrix(sp.vstack([sp.csr_array(x[None, :].astype(X.dtype)) for x in coef]))
        else:
            self.coef_ = np.array(coef, dtype=X.dtype)
        self.intercept_ = np.array([result.intercept for result in results], dtype=X.dtype)
        return self

    def _class_weights(self, y, codes, weights):
        if getattr(self, "class_weight", None) is None:
            return weights
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=weights)
        return by_class[codes] * (1.0 if weights is None else weights)

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
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self):
        """Store ``coef_`` as an array."""
        self.coef_ = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._multilabel
        return tags
