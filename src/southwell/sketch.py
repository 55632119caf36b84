"""Randomised reductions of features or instances, as factorised data (Yu, Lin and Yang 2015, section 4.2)."""

from __future__ import annotations

import numpy as np

from . import _data
from ._data import Factorised
from ._names import count, one_name
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given


def sketch_features(A: Given, size: int, *, kind: str = "gaussian", seed: int = 0) -> Factorised:
    """``A G'G`` as ``Factorised(A G', G)``, G a random size x d matrix: the features projected on ``size`` directions.

    Since E G'G = I, solving with l1 > 0 recovers the support of a sparse model of ``A``, if ``size`` is large enough
    for its sparsity.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_features)
    size : int
        Rows of G, k below; an iteration of DSPDC on the result costs O(k (rows + columns)).
    kind : {"gaussian", "sparse"}
        Entries of N(0, 1/k), or very sparse ones, which keep a sparse A cheap to multiply; both by scikit-learn.
    seed : int

    Returns
    -------
    Factorised

    Examples
    --------
    A sparse model is recovered from 60 random combinations of 200 features:

    >>> import numpy as np, southwell as sw
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(2000, 200))
    >>> b = np.sign(A[:, :5].sum(axis=1) + 0.1 * rng.normal(size=2000))
    >>> r = sw.solve(sw.sketch_features(A, 60), b, loss="smooth_hinge", l1=0.05, l2=0.01)
    >>> sorted(int(j) for j in np.argsort(-np.abs(r.x))[:5])
    [0, 1, 2, 3, 4]
    """
    data = _data.Matrix(A)
    G = _directions(size, data.shape[1], kind, seed)
    rows = data.rows
    return Factorised(_product(rows, G.T), G)


def sketch_instances(A: Given, size: int, *, kind: str = "gaussian", seed: int = 0) -> Factorised:
    """``G'G A`` as ``Factorised(G', G A)``, G a random size x n matrix: ``size`` combinations of the samples.

    Parameters
    ----------
    A, size, kind, seed
        As for ``sketch_features``, with G of shape (size, n_samples).

    Returns
    -------
    Factorised

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> A = np.random.default_rng(0).normal(size=(500, 30))
    >>> sketched = sw.sketch_instances(A, 50)
    >>> sketched.U.shape, sketched.V.shape
    ((500, 50), (50, 30))
    """
    data = _data.Matrix(A)
    G = _directions(size, data.shape[0], kind, seed)
    return Factorised(G.T, _product(G, data.rows))


def _directions(size: int, of: int, kind: str, seed: int) -> AnyMatrix:
    from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

    kinds = {"gaussian": GaussianRandomProjection, "sparse": SparseRandomProjection}
    projection = kinds[one_name("kind", kind, kinds)](count("size", size, 1), random_state=_generator(seed))
    shape = sp.csr_array((1, of))  # the random matrix depends only on the number of columns
    return projection.fit(shape).components_


def _generator(seed: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937(count("seed", seed, 0)))


def _product(first: AnyMatrix, second: AnyMatrix) -> AnyMatrix:
    with np.errstate(over="ignore", invalid="ignore"):
        product = first @ second
    if not np.isfinite(product.data if sp.issparse(product) else product).all():
        raise ValueError("The sketch of A overflows: entries of A are too large. Scale A down.")
    return product if sp.issparse(product) else np.ascontiguousarray(product)
