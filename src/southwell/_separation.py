"""Whether a problem has no minimiser, because unpenalised coefficients separate samples.

The loss of a sample may decrease for ever: the logistic loss as the margin of its class grows, the loss of a count of
zero with a log link as its mean vanishes. A direction in which no loss increases and that of some samples decreases is
a direction without a minimum; if there is none, and only then, a minimiser exists (Albert and Anderson 1984). Let S be
those samples. The infimum is that of the others, so at a point with a gap

    sum over S of s_i (phi_i - inf phi_i)  <=  gap:

samples whose loss is larger are not in S, and their margins must not change. What is left to choose is the null space
of their rows, in which a small linear programme decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._scipy import sparse as sp
from .losses import ClassLoss
from .penalties import ElasticNet

if TYPE_CHECKING:
    from .problem import Problem
    from .result import Result

MOST_WORK, MOST_NUMBERS, MOST_ENTRIES = 2e9, 2e7, 1e6
"""Multiplications and numbers of a decomposition, numbers of a linear programme: larger ones are not examined."""
NOTHING, SURE = 1e-9, 1e-6  # margins of a direction that are zero, and one that is not; in units of the largest


def separated(problem: Problem, result: Result) -> int:
    """A number of samples whose loss unpenalised coefficients can bring to its infimum, at no cost to the others."""
    loss = problem.loss
    if loss.own or not (loss.log_odds or loss.log_link):
        return 0
    free = _free(problem)
    if not free.any():
        return 0
    used = problem.weights > 0
    inner = problem.to_inner(problem.coefficients(result.x, "x"), result.intercept)
    margins = problem.total_margins(inner).reshape(problem.n_samples, -1)[used]
    weights, most = problem.weights[used], result.gap + 1e-15 * abs(result.primal)
    if isinstance(loss, ClassLoss):
        return _of_classes(problem, free, margins, weights, most)
    targets = problem.targets.reshape(problem.n_samples, -1)[used]
    found = 0
    for m, b in zip(margins.T, targets.T, strict=True):  # each target has coefficients of its own
        ways = b if loss.log_odds else np.where(b == 0, -1.0, 0.0)
        excess = np.asarray(loss.value(m, b)) + np.asarray(loss.conjugate(np.zeros_like(m), b))
        cheap = (ways != 0) & (weights * excess <= most)
        if cheap.any() and (columns := _columns(problem, free, used)) is not None:
            moved = _directed(columns[~cheap], ways[cheap, None] * columns[cheap], _signs(problem, free))
            found = max(found, moved.size)
    return found


def _of_classes(problem: Problem, free: np.ndarray, margins: np.ndarray, weights: np.ndarray, most: float) -> int:
    """The same for competing margins: a row for each sample and each class other than its own, that of the class."""
    labels, k = problem.targets[problem.weights > 0], margins.shape[1]
    from scipy.special import log_softmax  # SciPy is imported with the first data

    likely = np.exp(log_softmax(margins, axis=1))
    with np.errstate(divide="ignore"):
        cost = -weights[:, None] * np.log1p(-np.minimum(likely, 1.0))  # what is saved if a class is ruled out
    rivals = labels[:, None] != np.arange(k)
    cheap = rivals & (cost <= most)
    if not cheap.any():
        return 0
    columns = _columns(problem, free, problem.weights > 0, k)
    if columns is None:
        return 0

    def rows(pairs: np.ndarray) -> np.ndarray:
        own, other = np.nonzero(pairs)
        table = np.zeros((own.size, columns.shape[1], k))
        at = np.arange(own.size)
        table[at, :, labels[own]] = columns[own]
        table[at, :, other] = -columns[own]
        return table.reshape(own.size, columns.shape[1] * k)

    moved = _directed(rows(rivals & ~cheap), rows(cheap), np.repeat(_signs(problem, free), k))
    return np.unique(np.nonzero(cheap)[0][moved]).size


def _free(problem: Problem) -> np.ndarray:
    """Which features may move without a penalty."""
    size, penalty = problem.n_features, problem.penalty
    if penalty.free:
        return np.ones(size, bool)
    own = penalty.unpenalised(size)
    if penalty.ridge > 0:
        own = own & (penalty.ridges(size) == 0 if isinstance(penalty, ElasticNet) else np.zeros(size, bool))
    return np.asarray(own)


def _signs(problem: Problem, free: np.ndarray) -> np.ndarray:
    """For each column the sign that its coefficient may grow with: 0 for both, NaN for none."""
    penalty: Any = problem.penalty
    lower, upper = penalty.bounds(problem.n_features)
    below, above = np.isfinite(lower[free]), np.isfinite(upper[free])
    signs = np.where(below & above, np.nan, below.astype(float) - above)
    return np.append(signs, [0.0] * problem.intercept)


def _columns(problem: Problem, free: np.ndarray, used: np.ndarray, width: int = 1) -> np.ndarray | None:
    """The free columns over samples that count, each of norm 1, and a constant if there is an intercept, from which
    they are then apart; None if they are too many to examine."""
    n, size = int(used.sum()) * max(width - 1, 1), (int(free.sum()) + problem.intercept) * width
    if float(n) * size > MOST_NUMBERS or float(n) * size**2 > MOST_WORK:
        return None
    formed = problem.formed(int(MOST_NUMBERS)) if problem.factorised else problem
    if formed is None:
        return None
    given = formed.matrix.given
    chosen = given.tocsr()[used][:, free].toarray() if sp.issparse(given) else given[np.ix_(used, free)]
    table: np.ndarray = chosen.astype(float)
    if problem.intercept:
        table = np.column_stack([table - table.mean(axis=0), np.ones(len(table))])
    elif problem.means is not None:
        table = table - problem.means[free]
    sizes = np.sqrt((table**2).sum(axis=0))
    return table / np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)


def _directed(still: np.ndarray, rising: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The rows of ``rising`` that have a product > 0 with a direction whose product with none of them is below 0, with
    those of ``still`` is 0, and whose entries have these signs."""
    from scipy.optimize import linprog  # here, because its import takes longer than a small solve

    fixed = np.eye(signs.size)[np.isnan(signs)]
    basis = _null_space(np.vstack([still, fixed]), np.abs(rising).max())
    bounded = np.abs(signs) == 1
    ends = signs[bounded, None] * basis[bounded]
    gains = rising @ basis
    gains[np.abs(gains) <= NOTHING * np.abs(rising).max(axis=1, keepdims=True)] = 0.0
    if not gains.any() or gains.size > MOST_ENTRIES:
        return np.zeros(0, int)
    unit = np.abs(gains).max(axis=1, keepdims=True)
    gains = gains / np.where(unit > 0, unit, 1.0)
    table = np.vstack([gains, ends])
    found = linprog(
        -gains.sum(axis=0) / len(gains), A_ub=-table, b_ub=np.zeros(len(table)), bounds=(-1.0, 1.0), method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    if found.x is None:
        return np.zeros(0, int)
    reached = gains @ found.x
    sound = reached.max() > SURE and (table @ found.x).min() >= -NOTHING * reached.max()
    return np.flatnonzero(reached > SURE * reached.max()) if sound else np.zeros(0, int)


def _null_space(rows: np.ndarray, size: float) -> np.ndarray:
    """An orthonormal basis, in columns, of the vectors that all rows are orthogonal to up to rounding."""
    triangle = np.linalg.qr(rows, mode="r") if rows.shape[0] > rows.shape[1] else rows
    _, values, vectors = np.linalg.svd(triangle)
    least = max(rows.shape) * np.finfo(float).eps * max(values.max(initial=0.0), size)
    return np.asarray(vectors[int((values > least).sum()) :].T)
