"""Factorised data that do not fit together, and methods that need more than products, are refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from saddles import D, N, factors
from southwell.methods import DGPD, DSPDC, MISO, AcceleratedCD, AcceleratedSDCA


def refuses(error, match, *args, **options):
    with pytest.raises(error, match=match):
        sw.solve(*args, **options)


def test_factors_that_do_not_fit_are_refused():
    U, V = factors()
    refuses(ValueError, f"inner sizes .*U is {N} x 4, V is 3 x {D}", sw.Factorised(U, V[:3]), np.ones(N), l2=0.1)
    refuses(ValueError, f"b must have {N} entries", sw.Factorised(U, V), np.ones(N + 1), l2=0.1)
    refuses(ValueError, "^U must be 2-d", sw.Factorised(U[0], V), np.ones(N), l2=0.1)
    refuses(ValueError, "^V must be 2-d", sw.Factorised(U, V[0]), np.ones(N), l2=0.1)
    refuses(ValueError, "^V is empty", sw.Factorised(U, V[:, :0]), np.ones(N), l2=0.1)
    refuses(TypeError, "^U must hold real numbers.*U.astype", sw.Factorised(U.astype(complex), V), np.ones(N), l2=0.1)
    refuses(TypeError, "^V must hold real numbers.*V.astype", sw.Factorised(U, V.astype(str)), np.ones(N), l2=0.1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_factors_that_are_not_finite_are_refused(value, form):
    for k, name in enumerate("UV"):
        parts = list(factors())
        parts[k][1, 2] = value
        refuses(ValueError, f"^{name} contains NaN or infinity", sw.Factorised(*map(form, parts)), np.ones(N), l2=0.1)


def test_broken_sparse_factors_are_refused():
    U, V = factors()
    broken = sp.csr_array(U)
    broken.indices = broken.indices.copy()
    broken.indices[0] = 99
    refuses(ValueError, "^U is broken", sw.Factorised(broken, V), np.ones(N), l2=0.1)


def test_centred_factors_are_refused():
    refuses(
        TypeError, "Centred takes a matrix, not Factorised", sw.Centred(sw.Factorised(*factors())), np.ones(N), l2=0.1
    )


@pytest.mark.parametrize(
    "method",
    [
        AcceleratedCD(), AcceleratedSDCA(), MISO(), DGPD(), DGPD(active_sets=False),
    ],
    ids=repr,
)  # fmt: skip
def test_methods_that_walk_rows_or_columns_refuse_factors(method):
    match = f"{type(method).__name__} needs stored rows or columns of A.*dspdc, .*fista, lbfgs.*U @ V"
    refuses(ValueError, match, sw.Factorised(*factors()), np.arange(N), l2=0.1, method=method)


def test_a_safe_scale_needs_entries():
    match, method = "scale='safe' needs the entries of A.*scale='usual'", DSPDC(scale="safe")
    refuses(ValueError, match, sw.Factorised(*factors()), np.arange(N), l2=0.1, method=method)
