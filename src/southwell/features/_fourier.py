"""Random Fourier features."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._names import count
from .._typing import AnyMatrix, Given
from ._base import FeatureMap

SLAB_BYTES = 1 << 22  # a slab of the output stays in the cache from the product to the cosine


class RandomFourier(FeatureMap):
    """Dense features whose inner products approximate the Gaussian kernel ``exp(-gamma ||x - y||^2)``.

    A point x becomes ``sqrt(2 / D) cos(W'x + c)`` with D columns ``w ~ N(0, 2 gamma I)`` and phases ``c`` uniform on
    [0, 2 pi]. The inner product of two such rows is the kernel in expectation, with a standard deviation of at most
    ``1 / sqrt(D)``.

    Parameters
    ----------
    n_components : int
        D, the number of features.
    gamma : float or "scale"
        "scale" is ``1 / (n_features * X.var())``, or 1 if all entries of ``X`` are equal.
    random_state : int, RandomState or None
        The same integer gives the same features.

    Attributes
    ----------
    gamma_ : float
    frequencies_ : array of shape (n_features, n_components)
        W, in the precision of the ``X`` of ``fit``.
    phases_ : array of shape (n_components,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    A. Rahimi and B. Recht, Random features for large-scale kernel machines, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from southwell.features import RandomFourier
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Z = RandomFourier(n_components=10_000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(Z @ Z.T - rbf_kernel(X, gamma=0.5)).max() < 0.05)
    True
    """

    def __init__(self, n_components: int = 100, *, gamma: float | str = 1.0,
                 random_state: int | np.random.RandomState | None = None) -> None:  # fmt: skip
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Given, y: Given = None) -> Self:
        """Draw frequencies and phases; only the number of features, the dtype and (for gamma="scale") the variance of
        ``X`` are used.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        size = count("n_components", self.n_components, 1, bits=31)
        random = np.random.default_rng(self._checked_seed())
        X = self._checked(X, reset=True)
        self.gamma_ = self._gamma_for(X, power=2)
        frequencies = random.standard_normal((X.shape[1], size))
        frequencies *= np.sqrt(2.0) * np.sqrt(self.gamma_)  # 2 gamma might overflow
        with np.errstate(over="ignore"):
            self.frequencies_ = frequencies.astype(X.dtype, copy=False)
        if not np.isfinite(self.frequencies_).all():
            raise ValueError(
                f"gamma={self.gamma_:.3g} gives frequencies beyond the largest number of {X.dtype}. Lower gamma"
                + (", or pass X as float64." if X.dtype == np.float32 else ".")
            )
        self.phases_ = random.uniform(0.0, 2 * np.pi, size).astype(X.dtype, copy=False)
        self._n_features_out = size
        return self

    def transform(self, X: Given) -> AnyMatrix:
        """The features of each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
            float32 if ``X`` is, else float64.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        W, phases = (part.astype(X.dtype, copy=False) for part in (self.frequencies_, self.phases_))
        out = np.empty((X.shape[0], phases.size), X.dtype)
        factor = np.sqrt(2.0 / phases.size)
        step = max(1, SLAB_BYTES // (phases.size * X.dtype.itemsize))
        for start in range(0, X.shape[0], step):
            slab = out[start : start + step]
            with np.errstate(over="ignore", invalid="ignore"):
                if sp.issparse(X):
                    slab[:] = X[start : start + step] @ W
                else:
                    np.matmul(X[start : start + step], W, out=slab)
            if not _core.cosines(slab, phases, factor):
                raise ValueError(
                    f"X times the frequencies overflows {X.dtype} in rows {start} to {start + len(slab) - 1}: their "
                    f"entries are too large for gamma={self.gamma_:.3g}. Rescale X, or lower gamma."
                )
        return out
