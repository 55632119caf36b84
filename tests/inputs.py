"""A small problem to be given in right and wrong ways, and ``refused``."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw

CD = sw.methods.CoordinateDescent
ElasticNet = sw.penalties.ElasticNet
RNG = np.random.default_rng(0)
A = RNG.standard_normal((12, 5))
A[RNG.random((12, 5)) < 0.4] = 0.0
B = RNG.standard_normal(12)
SIGNS = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
SPARSE = [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array]
MARGIN_LOSSES = ["logistic", "hinge", "squared_hinge", "smooth_hinge"]


def refused(match, *arguments, error=ValueError, **options):
    """solve, Problem and lambda_max alike refuse, with a message that matches."""
    options.setdefault("l1", 0.1)
    with pytest.raises(error, match=match) as caught:
        sw.solve(*arguments, **options)
    text = str(caught.value)
    assert "incompatible function arguments" not in text, "the compiled core's own words"
    assert len(text) < 600
    return text


def reference(**options):
    return sw.solve(A, B, **({"l1": 0.05, "tol": 1e-10} | options))
