"""Small problems of blocks."""

import warnings

import numpy as np
import pytest

import southwell as sw
from southwell.penalties import Groups

CLASSES = list(sw.losses.OF_CLASSES)


def made(loss="squared", n=40, d=8, k=3, seed=0):
    rng = np.random.default_rng([seed, n, d, k])
    A = rng.normal(size=(n, d))
    M = A @ (rng.normal(size=(d, k)) * (rng.random((d, 1)) < 0.6)) + 0.7 * rng.normal(size=(n, k))
    if loss in CLASSES:
        b = M.argmax(axis=1)
        b[:k] = np.arange(k)[:n]
        return A, b
    kind = sw.losses.get(loss).targets
    if kind == "signs":
        M = np.where(M > 0, 1.0, -1.0)
        M[0], M[-1] = 1.0, -1.0
    if kind in ("counts", "positive"):
        M = rng.poisson(np.exp(np.clip(M / 2, -2, 2))) + (0.5 if kind == "positive" else 0.0)
    return A, M


def check(A, b, loss="squared", penalty=None, tol=1e-8, max_epochs=1000, **options):
    """Solve, and hold the answer against its own certificate; the dual value is below any objective."""
    problem = sw.BlockProblem(A, b, loss, Groups(0.05) if penalty is None else penalty, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = sw.solve(problem, tol=tol, max_epochs=max_epochs)
    assert r.status is sw.Status.CONVERGED, r
    assert np.isfinite(r.x).all() and np.isfinite(r.y).all() and np.isfinite(r.intercept).all()
    assert 0 <= r.gap <= tol * r.scale + 1e-15 * (abs(r.primal) + abs(r.dual))
    again = problem.certify(r.x, r.y, r.intercept)
    size = abs(r.primal) + abs(r.dual)
    assert again.primal == pytest.approx(r.primal, rel=1e-9, abs=1e-11 * size + 1e-13 * r.scale)
    assert again.dual >= r.dual - 1e-9 * size - tol * r.scale
    return r
