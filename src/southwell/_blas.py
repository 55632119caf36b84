"""Passes the matrix product of SciPy's BLAS to the core."""

from functools import cache

from . import _core


@cache
def use() -> None:
    """When the first data are read, not at import, which SciPy's linear algebra would more than double."""
    from scipy.linalg import cython_blas

    # The core does not do this itself, because its stub is made by importing it where SciPy may not be installed.
    _core.use_blas(cython_blas.__pyx_capi__["dgemm"])
