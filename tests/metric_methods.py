"""The methods over matrices, and which losses each of them takes."""

import numpy as np

import southwell as sw
from southwell.metric import MatrixRisk

METHODS = {
    "auto": {},
    "fista": {},
    "dual_fista": {},
    "sdca": {"rows": 5},
    "spdc": {"rows": 5},
    "dspdc": {"rows": 6, "blocks": 2},
}
SMOOTH = [name for name in sw.losses.ALL if np.isfinite(sw.losses.get(name).smoothness)]
LOSSES = list(sw.losses.ALL)


def able(method, loss):
    loss = sw.losses.get(loss)
    return method in ("auto", "dual_fista", "sdca") or (loss.smooth if method == "fista" else loss.name in SMOOTH)


def huge(D, b, l2):
    u = np.random.default_rng(0).normal(size=(30, 5))
    data = (np.einsum("ni,nj->nij", u, u) * float(D)).astype(np.asarray(D).dtype)
    return MatrixRisk(data, b * np.where(np.arange(30) % 2, 1.0, -1.0), "squared", l2)
