"""Small problems over positive semi-definite matrices, and points with a planted metric."""

from __future__ import annotations

import warnings

import numpy as np

import southwell as sw
from southwell.metric import LowRank, MatrixRisk
from southwell.metric._neighbours import triplets

FORMS = ("dense", "low rank", "triplets", "one task")


def symmetric(rng, *shape) -> np.ndarray:
    stack = rng.normal(size=(*shape, shape[-1]))
    return (stack + stack.swapaxes(-1, -2)) / 2


def in_cone(rng, *shape) -> np.ndarray:
    stack = rng.normal(size=(*shape, shape[-1]))
    return stack @ stack.swapaxes(-1, -2) / shape[-1]


def low_rank(rng, n=12, p=3, d=4, terms=40, dtype=np.float64) -> LowRank:
    """Some samples and blocks have several terms, some none."""
    samples, blocks = rng.integers(0, n, terms), rng.integers(0, p, terms)
    vectors = rng.normal(size=(terms, d)).astype(dtype)
    return LowRank(vectors, rng.normal(size=terms), samples, blocks, n_samples=n, n_blocks=p)


def some_triplets(rng, tasks=3, d=4, points=24, dtype=np.float64):
    starts = np.arange(tasks + 1) * points
    labels = np.tile(np.arange(points) % 3, tasks)
    Z = (rng.normal(size=(starts[-1], d)) + 5).astype(dtype)
    return triplets(Z, labels, starts, [lambda own: own] * tasks, 2, 3, None)


def outer(data) -> np.ndarray:
    """All measurement matrices of triplets, from the definition."""
    D = np.zeros((data.n_samples, data.n_blocks, data.size, data.size))
    Z = data.points.astype(np.float64)
    for i in range(data.n_samples):
        for pair, sign in ((data.far[i], 1.0), (data.near[i], -1.0)):
            u, v = data.pairs[pair]
            task = np.searchsorted(data.starts, u, side="right") - 1
            Z_i = sign * np.outer(Z[u] - Z[v], Z[u] - Z[v])
            D[i, 0] += Z_i
            if data.n_blocks > 1:
                D[i, task + 1] += Z_i
    return D


def measurements(form: str, seed=0, dtype=np.float64):
    """Data in a form, and all its matrices."""
    rng = np.random.default_rng(seed)
    if form == "dense":
        D = symmetric(rng, 12, 3, 4).astype(dtype)
        return sw.metric._dense.Dense(D), D.astype(np.float64)
    if form == "low rank":
        data = low_rank(rng, dtype=dtype)
        return data, data.toarray()
    data = some_triplets(rng, tasks=3 if form == "triplets" else 1, dtype=dtype)
    return data, outer(data)


def problem(loss="smooth_hinge", n=30, p=3, d=4, seed=0, dtype=np.float64, **options) -> MatrixRisk:
    """Uneven weights, l2, centres and linear parts; targets of planted matrices."""
    rng = np.random.default_rng(seed)
    D = symmetric(rng, n, p, d).astype(dtype)
    loss = sw.losses.get(loss)
    m = np.einsum("ipab,pab->i", D, in_cone(rng, p, d)) + 0.3 * rng.normal(size=n)
    means = np.exp(np.clip(m, -2, 2))
    b = {"real": m, "signs": np.where(m > 0, 1.0, -1.0), "counts": np.round(means), "positive": means}[loss.targets]
    given = {
        "l2": np.linspace(0.2, 0.6, p), "centre": symmetric(rng, p, d), "linear": 0.1 * symmetric(rng, p, d),
        "sample_weight": rng.uniform(0.3, 2.0, n),
    }  # fmt: skip
    return MatrixRisk(D, b, loss, **(given | options))


def planted(seed=0, points=150, d=6, noise=6.0):
    """Two directions tell three classes apart, the others are loud: points, labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(points) % 3
    X = rng.normal(size=(points, d)) * noise
    X[:, :2] = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[y] + rng.normal(size=(points, 2))
    return X / noise, y


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.ConvergenceWarning)
        return function(*args, **options)
