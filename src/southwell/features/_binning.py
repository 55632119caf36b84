"""Random binning features."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._names import count
from ._base import FeatureMap


class RandomBinning(FeatureMap):
    """Sparse features whose inner products approximate the Laplacian kernel ``exp(-gamma ||x - y||_1)``.

    Each of D random grids cuts the space into bins; two points share a bin of a grid with the kernel's probability. A
    point becomes a row with the value ``1 / sqrt(D)`` in one column of each grid, that of its bin. The inner product of
    two rows is the share of grids in which they are in the same bin: the kernel in expectation, with a standard
    deviation of at most ``1 / (2 sqrt(D))``.

    In a grid, feature j has a pitch ``delta ~ Gamma(2, 1 / gamma)`` and an offset ``u ~ U[0, delta]``, and a bin is a
    vector of ``floor((x_j - u_j) / delta_j)``, represented by a 64-bit hash. Zeros cost nothing, in dense and
    sparse ``X``.

    Parameters
    ----------
    n_grids : int
        D, the number of grids.
    gamma : float or "scale"
        "scale" is ``1 / (n_features * X.std())``, or 1 if all entries of ``X`` are equal.
    random_state : int, RandomState or None
        The same integer gives the same features.
    n_jobs : int, optional
        Threads; -1 for all processors. The numbers do not depend on it.

    Attributes
    ----------
    gamma_ : float
    starts_ : array of shape (n_grids + 1,)
        Columns ``starts_[g]`` to ``starts_[g + 1] - 1`` belong to grid g: the bins that the ``X`` of ``fit`` occupies.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``transform`` has columns for the bins of ``fit`` only: a new point in another bin has no entry in that grid. Inner
    products with rows of the fit are not affected; those between new points may be smaller.

    References
    ----------
    A. Rahimi and B. Recht, Random features for large-scale kernel machines, 2007.
    L. Wu, I. E. H. Yen, J. Chen and R. Yan, Revisiting random binning features, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> from southwell.features import RandomBinning
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Z = RandomBinning(n_grids=5000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(Z @ Z.T - laplacian_kernel(X, gamma=0.5)).max() < 0.05)
    True
    """

    def __init__(self, n_grids=100, *, gamma=1.0, random_state=None, n_jobs=None):
        self.n_grids = n_grids
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draw the grids and number the bins that the rows of ``X`` occupy.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X, places=False)
        return self

    def fit_transform(self, X, y=None):
        """``fit(X).transform(X)``, with each row hashed once.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        csr_array of shape (n_samples, n_bins)
            As from ``transform``.
        """
        return self._features(*self._fit(X, places=True))

    def transform(self, X):
        """The bin of each row in each grid.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        csr_array of shape (n_samples, n_bins)
            ``1 / sqrt(n_grids)`` at most once a grid, indices sorted; float32 if ``X`` is, else float64.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        ranks = np.empty((X.shape[0], self.starts_.size - 1), np.int32)
        _core.bin_ranks(_rows(X), self._seed, self.gamma_, self._bins, self.starts_, self._threads(), ranks)
        return self._features(ranks, X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.starts_[-1])

    def _fit(self, X, *, places: bool):
        grids = count("n_grids", self.n_grids, 1, bits=31)
        threads, seed = self._threads(), self._checked_seed()
        X = self._checked(X, reset=True)
        gamma = self._gamma_for(X, power=1)
        ranks = np.empty((X.shape[0], grids), np.int32) if places else None
        self._bins, self.starts_ = _core.bin_fit(_rows(X), seed, gamma, grids, threads, ranks)
        self._seed, self.gamma_ = seed, gamma
        return ranks, X.dtype

    def _features(self, ranks: np.ndarray, dtype) -> sp.csr_array:
        """The feature matrix, from the rank of each row's bin in each grid (-1: unknown bin). Overwrites ``ranks``."""
        n, grids = ranks.shape
        index = np.int32 if max(self.starts_[-1], ranks.size) < 2**31 else np.int64
        known = ranks >= 0
        indices = ranks.astype(index, copy=False)
        indices += self.starts_[:-1].astype(index)
        if known.all():
            indptr = np.arange(0, ranks.size + 1, grids, dtype=index)
            indices = indices.reshape(-1)
        else:
            indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(known, axis=1))]).astype(index)
            indices = indices[known]
        values = np.full(indices.size, 1.0 / np.sqrt(grids), dtype)
        Z = sp.csr_array((values, indices, indptr), shape=(n, self._n_features_out))
        Z.has_canonical_format = True  # columns increase from grid to grid, and each grid has one entry
        return Z

    def _threads(self) -> int:
        if self.n_jobs is not None and count("n_jobs", self.n_jobs, -(2**31)) == 0:
            raise ValueError("n_jobs must be a number of threads, -1 for all processors, or None for one; got 0.")
        return effective_n_jobs(self.n_jobs)


def _rows(X) -> _core.Rows:
    if sp.issparse(X):
        return _core.Rows(X.data, X.indices, X.indptr, X.shape[1])
    return _core.Rows(np.require(X, requirements="CA"))
