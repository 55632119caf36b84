"""Classifiers: two classes, many one against the rest, or several labels at once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import gen_batches
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from .._columns import Targets
from .._data import readable
from .._names import shown
from .._shards import InFiles
from .._typing import AnyMatrix, Given
from ._base import FitData, LinearEstimator
from ._callbacks import with_callbacks
from ._parameters import refuse_no_classes

AT_ONCE = 2**25  # margins in memory at a time, if only the best class is needed


class LinearClassifier(ClassifierMixin, LinearEstimator):
    """A linear model of classes: one problem for two classes, else one for each class."""

    _multilabel = False

    @with_callbacks
    def fit(self, X: Given, y: Given = None, sample_weight: Given = None, *, offset: Given = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or ``southwell.data.Store`` of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels, of any kind. A store may hold them itself.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 equals the row twice.
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Known parts of the margins: the model is of X w + c + offset. Three classes and more take a column for each,
            in the order of ``classes_``. Give ``predict`` those of its rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, offset=offset)

    def _data(self, X: Given, y: Given, sample_weight: Given, params: dict[str, Any]) -> FitData:
        X, y = self._read(X, y, multi_output=self._multilabel)
        if y.ndim == 1 or y.shape[1] == 1:
            y = column_or_1d(y.toarray() if sp.issparse(y) else y, warn=True)
        refuse_no_classes(y)
        given = self._weights(sample_weight, X)
        multilabel = y.ndim == 2
        classes, targets, weights = (self._labels if multilabel else self._classes)(y, given)
        told = {"classes_": classes, "multilabel_": multilabel}
        return FitData(X=X, y=y, targets=targets, weights=weights, sample_weight=given, params=params, told=told)

    def _classes(self, y: Given, weights: np.ndarray | None) -> tuple[np.ndarray, Targets, np.ndarray | None]:
        """The classes, a column of -1 and +1 for each (for two classes: for the second), and weights. Rows of weight
        zero do not count."""
        there = np.ones(y.size, bool) if weights is None else weights > 0
        classes = np.unique(y[there])
        if classes.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes; there is one class: {classes.tolist()}."
            )
        codes = np.searchsorted(classes, np.where(there, y, classes[0]))
        if getattr(self, "class_weight", None) is not None:
            if isinstance(self.class_weight, str) and self.class_weight == "balanced":  # equal totals for all classes
                totals = np.bincount(codes[there], None if weights is None else weights[there])
                by_class = totals.sum() / (classes.size * totals)
            elif not isinstance(self.class_weight, dict):
                raise ValueError(
                    "class_weight must be None, 'balanced' or a dict from classes to their weights; got "
                    f"{shown(self.class_weight)}."
                )
            else:
                by_class = compute_class_weight(self.class_weight, classes=classes, y=y[there])
            if not (by_class > 0).all():
                raise ValueError(f"class_weight must be positive for every class; got {shown(self.class_weight)}.")
            with np.errstate(over="ignore"):  # refused with their sum
                weights = by_class[codes] * (1.0 if weights is None else weights)
        two = classes.size == 2
        targets = Targets(lambda k: np.where(codes == k + two, 1.0, -1.0), 1 if two else classes.size)
        return classes, targets, weights

    def _labels(self, y: Given, weights: np.ndarray | None) -> tuple[np.ndarray, Targets, np.ndarray | None]:
        """The same for an indicator matrix, which may be sparse."""
        if type_of_target(y) != "multilabel-indicator":
            raise ValueError(
                f"{type(self).__name__} takes labels of shape (n_samples,), or an indicator matrix of 0 and 1 with a "
                f"column for each label; got {type_of_target(y)} of shape {y.shape}."
            )
        values = np.unique(y.data if sp.issparse(y) else y)
        if not np.isin(values, (0, 1)).all():
            raise ValueError(f"An indicator matrix of labels holds 0 and 1; got {values.tolist()[:5]}.")
        if getattr(self, "class_weight", None) is not None:
            raise ValueError("class_weight cannot be used with several labels at once; give sample_weight.")
        there = sp.csc_array(y if weights is None else y[weights > 0])
        there.eliminate_zeros()
        filled = np.diff(there.indptr)
        alike = np.flatnonzero((filled == 0) | (filled == there.shape[0]))
        if alike.size:
            raise ValueError(f"Label {alike[0]} is the same for all samples: there is nothing to learn. Leave it out.")
        columns = sp.csc_array(y)
        targets = Targets(lambda k: np.where(columns[:, [k]].toarray().ravel() > 0, 1.0, -1.0), y.shape[1])
        return np.arange(y.shape[1]), targets, weights

    def _shaped(self, coef: AnyMatrix, intercepts: np.ndarray, data: FitData) -> dict[str, Any]:
        return {"coef_": coef.astype(data.X.dtype), "intercept_": intercepts.astype(data.X.dtype)}

    def decision_function(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """X w + c, plus the offset of each row if there is one. For two classes one number a sample, positive for the
        second; else one for each class."""
        margins = self._margins(X, offset)
        one = margins.ndim == 1 or (margins.shape[1] == 1 and not self.multilabel_)
        return margins.ravel() if one else margins

    def predict(self, X: Given, *, offset: Given = None) -> np.ndarray:
        """The class, or the labels, of each sample."""
        check_is_fitted(self)
        if isinstance(X, InFiles):
            if offset is not None:
                raise ValueError("Of rows in files predictions take no offset: predict shard by shard, from shards().")
            return np.concatenate([self.predict(shard.A) for shard in X.shards()])
        X = readable(X, "X")
        samples, rows = _num_samples(X), readable(self.coef_, "coef_").shape[:-1]
        together = max(1, AT_ONCE // (rows[0] if rows else 1))
        if (
            samples > together
            and offset is None
            and not hasattr(self, "_known")
            and (isinstance(X, np.ndarray) or sp.issparse(X))
        ):
            X = X.tocsr() if sp.issparse(X) else X
            return np.concatenate([self.predict(X[batch]) for batch in gen_batches(samples, together)])
        margins = self.decision_function(X, offset=offset)
        if self.multilabel_:
            return (margins > 0).astype(int)
        return np.asarray(self.classes_[(margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)])

    def score(self, X: Given, y: Given, sample_weight: Given = None, *, offset: Given = None) -> float:
        """The mean accuracy."""
        y, sample_weight = readable(y, "y"), readable(sample_weight, "sample_weight")
        with np.errstate(over="ignore", invalid="ignore"):  # huge labels and weights
            return float(accuracy_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    def sparsify(self) -> Self:
        """Store ``coef_`` as a sparse matrix."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(readable(self.coef_, "coef_"))
        return self

    def densify(self) -> Self:
        """Store ``coef_`` as an array."""
        check_is_fitted(self)
        self.coef_ = readable(self.coef_, "coef_").toarray() if sp.issparse(self.coef_) else self.coef_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._multilabel
        return tags
