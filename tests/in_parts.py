"""Problems whose samples are divided into parts, for tests of the interface to the samples."""

from itertools import pairwise

import numpy as np

import southwell as sw
from southwell import _core


def part_of(problem, begin, end, *, by_columns=False):
    """The compiled problem over these rows, with the weights and centres they have among all."""
    rows = problem.data.rows[begin:end]
    frame = np.empty(0) if problem.shifts is None else problem.shifts, problem.intercept
    if problem.data.sparse:
        fibers = rows.tocsc().T if by_columns else rows
        layout = _core.sparse_layout(fibers.data, fibers.indices, fibers.indptr, fibers.shape[1], by_columns, *frame)
    else:
        layout = _core.dense_layout(np.asfortranarray(rows).T if by_columns else rows, by_columns, *frame)
    targets, weights = problem.targets[begin:end], problem.weights[begin:end]
    offsets = problem.core_offset[begin:end]
    return _core.Problem(layout, problem.loss.core, targets, weights, problem.core_penalty, offsets)


def in_parts(problem, cuts=(), *, by_columns=False):
    """The problem with its rows divided at these places."""
    ends = [0, *cuts, problem.n_samples]
    return _core.ProblemInParts([part_of(problem, a, b, by_columns=by_columns) for a, b in pairwise(ends)])


def even_cuts(problem, parts):
    return [problem.n_samples * k // parts for k in range(1, parts)]


def drive(
    parts, size, tol=1e-10, *, max_epochs=200, max_seconds=np.inf, threads=1, callback=None, cancelled=None, policy=None
):
    algorithm = _core.newton_in_parts(parts, np.zeros(size), policy=policy or {})
    return _core.drive(algorithm, tol, max_epochs, max_seconds, 0, threads, threads, callback, True, cancelled)


def solved_in_parts(problem, cuts=(), tol=1e-10, *, by_columns=False, **options):
    return drive(in_parts(problem, cuts, by_columns=by_columns), problem.inner_size, tol, **options)


def random_problem(
    loss,
    seed=0,
    *,
    n=60,
    d=12,
    form=np.ascontiguousarray,
    intercept=True,
    weighted=True,
    mean=0.2,
    offset=0.0,
    l1=0.02,
    l2=0.0,
    offsets=False,
    **net,
):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5) + mean
    margins = A[:, :3] @ np.array([1.0, -2.0, 0.5])
    b = margins + rng.normal(size=n) + offset
    if loss in ("logistic", "smooth_hinge", "squared_hinge", "hinge"):
        b = np.where(b > np.median(b), 1.0, -1.0)
    elif loss == "poisson":
        b = rng.poisson(np.exp(np.clip(margins, -2, 2))).astype(float)
    weights = rng.integers(0, 3, n).astype(float) if weighted else None
    penalty = sw.penalties.ElasticNet(l1=l1, l2=l2, **net)
    known = rng.normal(size=n) if offsets else None
    return sw.Problem(form(A), b, loss, penalty, intercept=intercept, sample_weight=weights, offset=known)
