"""Passes the matrix product of SciPy's BLAS to the core."""

from scipy.linalg import cython_blas

from . import _core

# The core does not do this itself, because its stub is made by importing it where SciPy may not be installed.
_core.use_blas(cython_blas.__pyx_capi__["dgemm"])
