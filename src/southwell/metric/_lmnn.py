"""Large margin nearest neighbours (Weinberger and Saul 2009), with a certificate."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyMatrix, Given
from ._estimator import LargeMargin, factor


class LargeMarginNearestNeighbor(ClassNamePrefixFeaturesOutMixin, LargeMargin):
    """A metric in which neighbours of the same class are near and points of other classes (impostors) are far away.

    Minimises over positive semi-definite M::

        (l2/2) ||M - I||^2 + (1/n) sum over (u, v) of d2(u, v) + (1/n) sum over (u, v, w) of phi(d2(u, w) - d2(u, v))

    where d2 is the squared distance under M, v runs over the ``n_neighbors`` nearest points of u's class, w over the
    ``n_impostors`` nearest of other classes, n is the number of triplets (u, v, w) and phi the smooth hinge. This is
    convex, so the solution has a certificate. Triplets are those of the Euclidean metric unless ``refresh`` is given.
    Points are measured in units of ``scale``, so that l2 and the margin of 1 do not depend on the units of X. Scale
    features to similar size first, as for any method based on distances.

    Parameters
    ----------
    n_neighbors : int
        Neighbours that should be near, also used for prediction. Each class must have more points.
    n_impostors : int
        Impostors of each point. If the largest class of a task leaves fewer points, this number is used for all
        points of the task.
    l2 : float
        Strength of the penalty on the distance from the Euclidean metric.
    corner : float
        The width over which the corner of the hinge is rounded.
    scale : "auto" or float
        The unit of length: M above is scale^2 times ``metric_``. "auto" is the root mean square distance of the
        neighbours; 1.0 does not scale X.
    refresh : int
        How many times new triplets are computed with the learned metric, followed by a warm-started fit; at most 1000.
    method : {"auto", "fista", "dual_fista", "dspdc", "spdc", "sdca"}
    rows, blocks, stretch
        As for ``MatrixRisk.solve``.
    tol : float
        Relative duality gap to reach.
    max_iter, max_seconds : int, float
        Limits: epochs for each solve, seconds for all of them and the searches between.
    random_state : int, RandomState or None
        For methods that use random numbers.
    n_jobs : int, optional
        Threads; the metric does not depend on it.
    dtype : {None, "float32", "float64"}
        Precision of points and products; None keeps that of X. The proof is in float64.
    memory_limit : float, optional
        The largest memory use in bytes; default: three quarters of the free memory.
    verbose : bool
        Show progress in terminals and notebooks.

    Attributes
    ----------
    metric_ : array of shape (n_features, n_features)
        In the units of X.
    components_ : array of shape (rank, n_features)
        ``components_.T @ components_`` is the metric; ``transform`` multiplies with it.
    classes_ : array
    scale_ : float
        The unit of length.
    gap_, status_, result_ : float, Status, Result
        Of the last solve; the gap is relative, and ``result_.x`` is M, in units of ``scale_``.
    n_iter_, n_triplets_ : int
        Epochs of all solves; triplets of the last.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MultiTaskLargeMarginNearestNeighbor : Several tasks that share a part of their metrics.

    References
    ----------
    K. Weinberger, L. Saul, "Distance Metric Learning for Large Margin Nearest Neighbor Classification", JMLR 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from southwell.metric import LargeMarginNearestNeighbor
    >>> X, y = load_wine(return_X_y=True)
    >>> model = LargeMarginNearestNeighbor().fit(scale(X)[::2], y[::2])
    >>> model.metric_.shape, model.status_, model.gap_ <= 1e-6
    ((13, 13), Status.CONVERGED, True)
    >>> model.score(scale(X)[1::2], y[1::2]) > 0.95
    True
    """

    def fit(self, X: Given, y: Given) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
        """
        self._fit(lambda: self._fit_one(X, y))
        return self

    def _fit_one(self, X: Given, y: Given) -> None:
        settings = self._checked_parameters()
        X, codes = self._read(X, y)
        self._refuse_few(codes, "The data")
        metrics, _ = self._learn(X, codes, np.array([0, len(X)]), self.l2, settings)
        self.metric_ = metrics[0]
        self.components_ = factor(self.metric_)
        self._n_features_out = len(self.components_)
        self._neighbours = self._voters(self._transformed(X), codes)

    def transform(self, X: Given) -> AnyMatrix:
        """Transformed points, whose Euclidean distances are those of the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, rank)
        """
        check_is_fitted(self)
        return self._transformed(self._points(X))

    def _transformed(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X @ self.components_.T.astype(X.dtype))

    def predict_proba(self, X: Given) -> np.ndarray:
        """The share of each class among the nearest training points, under the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        points = self.transform(X)
        return self._votes(self._neighbours, points)

    def predict(self, X: Given) -> np.ndarray:
        """The most frequent class among the nearest training points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def get_metric(self) -> Distance:
        """A function of two points that returns their distance, for the ``metric`` of scikit-learn's neighbours."""
        check_is_fitted(self)
        return Distance(self.components_)


class Distance:
    """||L (u - v)||."""

    def __init__(self, components: np.ndarray) -> None:
        self.components = components

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        return float(np.linalg.norm(self.components @ (np.asarray(u) - np.asarray(v))))
