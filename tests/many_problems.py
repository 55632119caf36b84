"""Data for many problems at once, and results that are the same bit for bit."""

import numpy as np
import scipy.sparse as sp

import southwell as sw

N = 90
D = 12
CLASSES = 4
FORMS = {
    "dense": np.asarray,
    "Fortran": np.asfortranarray,
    "sparse": sp.csr_array,
    "by columns": sp.csc_array,
    "centred": lambda A: sw.Centred(sp.csr_array(A)),
    "float32": lambda A: A.astype(np.float32),
}
CD = "coordinate_descent"  # it takes as long as one likes


def made(seed=0):
    """Data with holes, and the class whose direction is nearest."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    return A, np.argmax(A @ rng.normal(size=(D, CLASSES)) + 0.3 * rng.normal(size=(N, CLASSES)), axis=1)


def same(r, q):
    """Bit for bit, but for the time it took."""
    assert r.x.tobytes() == q.x.tobytes() and r.y.tobytes() == q.y.tobytes()
    fields = "intercept", "primal", "dual", "gap", "scale", "status", "epochs", "method", "tol"
    assert all(getattr(r, name) == getattr(q, name) for name in fields)
    for name, column in r.history.items():
        assert name == "seconds" or (column == q.history[name]).all()


def agrees(A, targets, results, **options):
    assert len(results) == targets.shape[1]
    for k in range(targets.shape[1]):
        same(results[k], sw.solve(A, targets[:, k], **options))
