"""Gives the core the matrix product of the BLAS that SciPy carries."""

from scipy.linalg import cython_blas

from . import _core

# Not done by the core itself: the stub of the core is made by importing it where SciPy need not be installed.
_core.use_blas(cython_blas.__pyx_capi__["dgemm"])
