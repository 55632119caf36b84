"""Solves that do not end soon, and one that is interrupted."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from signals import signal_on_call
from southwell import ConvergenceWarning

CD = sw.methods.CoordinateDescent
SIDES = [  # of coordinate descent, with the losses that each takes
    *(("primal", loss) for loss in sorted(sw.losses.ALL) if sw.losses.get(loss).smooth),
    *(("dual", loss) for loss in sorted(sw.losses.ALL)),
]
FOREVER = {"tol": 0.0, "max_epochs": 10**9, "max_seconds": 300}  # which only ends what hangs


def made(n=200, d=50, seed=0, loss="squared"):
    """A well-conditioned problem with targets that suit the loss."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    m = A @ (rng.standard_normal(d) * (rng.random(d) < 0.3)) + 0.5 * rng.standard_normal(n) + 0.3
    targets = sw.losses.get(loss).targets
    if targets == "signs":
        return A, np.where(m >= 0, 1.0, -1.0)
    means = np.exp(np.clip(0.3 * m, -3, 3))
    return A, {"counts": rng.poisson(means).astype(float), "positive": means}.get(targets, m)


def hard(n=1500, d=800, seed=0):
    """Nearly collinear columns: no method ends soon."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 1)) + 0.05 * rng.standard_normal((n, d))
    return np.asfortranarray(A), rng.standard_normal(n)


def correlated(n, d, seed=0):
    rng = np.random.default_rng(seed)
    A = 0.1 * rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    return np.asfortranarray(A), np.sign(rng.standard_normal(n))


def wide_sparse(n, d, each, seed=0):
    """Random rows of `each` entries, in CSR."""
    rng = np.random.default_rng(seed)
    A = sp.csr_array((rng.standard_normal(n * each), rng.integers(0, d, n * each), np.arange(0, n * each + 1, each)))
    A.resize((n, d))
    A.sum_duplicates()
    return A, np.sign(rng.standard_normal(n))


LONG = {
    "primal": (lambda: hard(), {"l1": 1e-6, "method": CD(side="primal", coupling="mirror")}),
    "primal gram": (lambda: hard(), {"l1": 1e-6, "method": CD(side="primal", coupling="gram")}),
    "dual": (lambda: hard(), {"l2": 1e-9, "method": CD(side="dual")}),
    "logistic intercept": (
        lambda: wide_sparse(100_000, 50_000, 10),
        {"loss": "logistic", "l1": 1e-8, "intercept": True, "method": CD(side="primal")},
    ),
    "hinge": (lambda: wide_sparse(100_000, 50_000, 10), {"loss": "hinge", "l2": 1e-9}),
    "centred logistic": (
        lambda: (lambda A, b: (sw.Centred(A), b))(*wide_sparse(200_000, 2_000, 10)),
        {"loss": "logistic", "l2": 1e-8, "method": CD(side="primal")},
    ),
    "centred hinge with l1": (
        lambda: (lambda A, b: (sw.Centred(A), b))(*wide_sparse(20_000, 50_000, 10)),
        {"loss": "hinge", "l1": 1e-6, "l2": 1e-8},
    ),
    "unpenalised": (lambda: correlated(2000, 1000), {"loss": "logistic", "intercept": True}),
}


def interrupted(A, b, **options):
    """The exception of a solve interrupted a moment after its first certificate."""
    with signal_on_call() as send, pytest.raises(KeyboardInterrupt) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sw.solve(A, b, callback=send, **FOREVER, **options)
    return caught.value
