"""Fitted models as scikit-learn's, and as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import linear_model, multiclass, svm
from sklearn.base import is_classifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_is_fitted

from .. import _tables
from .._data import readable


class Portable:
    """A mixin for estimators with ``coef_`` and ``intercept_``."""

    coef_: Any
    intercept_: Any

    def to_sklearn(self) -> Any:
        """A fitted estimator of scikit-learn with the same predictions, which needs no southwell.

        Regressors become a ``LinearRegression``; those with a log link a ``PoissonRegressor``; classifiers with
        probabilities a ``LogisticRegression``, others a ``LinearSVC``; several classes one against the rest with
        probabilities, and several labels, a ``OneVsRestClassifier`` of them. Converters to other formats, such as
        ONNX, know these classes. What is known of the fit (certificates, results) is left behind.

        Returns
        -------
        estimator

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import southwell as sw
        >>> X, y = load_iris(return_X_y=True)
        >>> model = sw.LogisticRegression().fit(X, y)
        >>> model.to_sklearn(), bool((model.to_sklearn().predict(X) == model.predict(X)).all())
        (LogisticRegression(), True)
        """
        check_is_fitted(self)
        coef = readable(self.coef_, "coef_")
        made = self._classifier(coef) if is_classifier(self) else self._regressor(coef)
        for name in ("n_features_in_", "feature_names_in_"):
            for one in (made, *getattr(made, "estimators_", [])):
                if hasattr(self, name):
                    setattr(one, name, getattr(self, name))
        return made

    def _regressor(self, coef: Any) -> Any:
        from ._means import MeanRegressor

        if isinstance(self, MeanRegressor) and self._loss().log_link:
            made = linear_model.PoissonRegressor()
            made._base_loss = made._get_loss()
        else:
            made = linear_model.LinearRegression()
        made.coef_ = coef.toarray() if sp.issparse(coef) else coef
        made.intercept_ = self.intercept_
        return made

    def _classifier(self, coef: Any) -> Any:
        labels: Any = self.classes_  # type: ignore[attr-defined]
        several, likely = bool(self.multilabel_), hasattr(self, "predict_proba")  # type: ignore[attr-defined]
        kind = linear_model.LogisticRegression if likely else svm.LinearSVC
        together = len(labels) == 2 or (self._softmax() if likely else True)  # type: ignore[attr-defined]
        if together and not several:
            return _with(kind, coef, self.intercept_, labels)
        rest = multiclass.OneVsRestClassifier(kind())
        signs, number = np.array([0, 1]), coef.shape[0]
        rest.estimators_ = [_with(kind, coef[[k]], self.intercept_[[k]], signs) for k in range(number)]
        rows = np.eye(len(labels), dtype=int) if several else labels
        rest.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(rows)
        if not hasattr(rest, "classes_"):  # in later versions of scikit-learn an attribute
            rest.classes_ = rest.label_binarizer_.classes_
        return rest

    def to_frame(self) -> Any:
        """The coefficients as a pandas DataFrame: a row for each feature and the last for the intercept, a column for
        each class or target.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> import southwell as sw
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> sw.Lasso(alpha=1.0).fit(X, y).to_frame().query("coefficient != 0").round(1)
                   coefficient
        bmi              367.7
        bp                 6.3
        s5               307.6
        intercept        152.1
        """
        check_is_fitted(self)
        coef = readable(self.coef_, "coef_")
        rows = coef.toarray() if sp.issparse(coef) else np.atleast_2d(coef)
        labels = getattr(self, "classes_", None)
        names = _tables.feature_names(getattr(self, "feature_names_in_", None), rows.shape[1])
        if labels is not None and len(labels) == rows.shape[0]:
            columns = [str(label) for label in np.asarray(labels).tolist()]
        else:
            columns = ["coefficient"] if rows.shape[0] == 1 else [f"target {k}" for k in range(rows.shape[0])]
        intercepts = np.broadcast_to(np.atleast_1d(self.intercept_), (rows.shape[0],))
        return _tables.coefficient_frame(names, columns, rows.T, intercepts)


def _with(kind: Any, coef: Any, intercepts: np.ndarray, labels: np.ndarray) -> Any:
    made = kind()
    made.coef_, made.intercept_, made.classes_ = coef, np.atleast_1d(intercepts), labels
    return made
