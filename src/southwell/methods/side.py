"""The primal and the dual side of a problem: which to choose, and what each needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem import Problem
from .base import Start
from .policy import default_number


def _mean_squared_row(problem: Problem) -> float:
    """sum_i s_i ||a_i||^2, without the intercept; kept, because it takes a pass over the data."""

    def measure() -> float:
        return float(problem.ready_layout().column_squared_norms(problem.weights)[: problem.n_features].sum())

    return problem.keep("mean squared row", measure)


def choose_side(problem: Problem) -> str:
    """The dual side if it is needed, or if l2 makes it well conditioned: an epoch of SDCA reduces the gap by about
    1/(1 + kappa) of it, with kappa = mean ||a_i||^2 / (l2 gamma n)."""
    if not problem.loss.smooth:
        return "dual"
    if problem.penalty.ridge == 0 or not np.isfinite(problem.loss.smoothness):
        return "primal"
    wide = problem.n_features > problem.n_samples
    kappa = _mean_squared_row(problem) * problem.loss.smoothness / (problem.penalty.ridge * problem.n_samples)
    if problem.penalty.quadratic:  # dual steps are exact: measured ahead wherever d > n, and for margins up to a limit,
        limit = 20 if problem.loss.self_concordance > 0 else 300  # lower where primal steps use the true curvature
        return "dual" if wide or (problem.loss.targets == "signs" and kappa <= limit) else "primal"
    return "dual" if kappa <= 5 and (wide or not problem.loss.quadratic) else "primal"


def refuse_impossible(problem: Problem, side: str) -> None:
    if side == "primal" and not problem.loss.smooth:
        raise ValueError(
            f"Coordinate descent on the primal needs a smooth loss; got {problem.loss.name}. Use side='dual', "
            "or a smooth relative: smooth_hinge or squared_hinge for hinge, huber for quantile and epsilon_insensitive."
        )
    if side == "dual" and problem.penalty.free:
        advice = "side='primal'" if problem.loss.smooth else "a small l2, say 1e-6"
        raise ValueError(f"Coordinate descent on the dual needs a penalty; got l1 = 0 and l2 = 0. Use {advice}.")


def refuse_shifted_rows(problem: Problem, method: object) -> None:
    if problem.shifts is not None and not problem.data.shifts_are_free:
        raise ValueError(
            f"{type(method).__name__} would touch every feature in every step of sparse data with Centred. Pass A "
            "itself with intercept=True, which gives the same coefficients, or use CoordinateDescent."
        )


def anchors_needed(problem: Problem) -> bool:
    """Whether a coefficient needs a proximal term on the dual side, because its l2 is zero."""
    return not problem.penalty.strongly_convex


def anchors_pay(problem: Problem) -> bool:
    """Whether proximal terms speed up the dual side: with l1 or bounds, and for regression losses. For classification
    losses with l2 alone they cost epochs."""
    return not problem.penalty.quadratic or problem.loss.targets == "real"


def firmness(problem: Problem, anchored: bool, number: Callable[[str], float] = default_number) -> tuple[float, float]:
    """The least l2 + mu on the dual side, for features and for the intercept; mu is the weight of the proximal term.

    The first is mean ||a_i||^2 / (2 sqrt(n d)), tuned on dense and sparse data of many shapes: within a
    factor of 3 of the best constant in most cases. The second treats the intercept like a column of typical size,
    with a limit if l2 is huge; or ten times as firmly, where the loss is known to bend by about one: then the steps of
    rows are hardly shorter for it, and the intercept still finds its place in a few epochs. ``number`` gives the
    numbers of the policy."""
    row = _mean_squared_row(problem)
    row = row if row > np.finfo(float).tiny else 1.0  # data are zero: any value works
    most = number("anchor_shape")
    shape = np.clip(np.sqrt(problem.n_samples / problem.n_features), 1 / most, most)
    natural = float(number("anchor") * shape * row / problem.n_samples)
    feature = natural if anchored else 0.0
    intercept = min(max(problem.penalty.ridge, feature), number("anchor_intercept") * natural) / row
    if problem.loss.quadratic or problem.loss.targets == "signs":
        intercept = max(intercept, min(number("intercept_firmer") * intercept, number("intercept_firm")))
    return feature, intercept


def with_null_intercept(problem: Problem, start: Start) -> Start:
    """A start at zero with the best intercept, which methods with small steps would take long to reach."""
    if not problem.intercept or start.x.any() or start.y is not None:
        return start
    return Start(problem.null_model())


def dual_start(problem: Problem, start: Start) -> np.ndarray:
    if start.y is not None:
        return np.ascontiguousarray(start.y)
    return problem.loss_slopes(start.x) if start.x.any() else np.zeros(problem.dual_size)


def gram(problem: Problem, side: str, intercept_firmness: float) -> np.ndarray:
    """The inner products of the coordinates: A'SA on the primal side, -A L^-1 A' on the dual, for A with its frame."""
    dense = None if problem.matrix.sparse else problem.shifts  # added while the data are read
    shifts = np.zeros(problem.n_features) if problem.shifts is None or dense is not None else problem.shifts
    if side == "primal":
        products = problem.matrix.weighted_gram(problem.weights, True, dense)
        means = problem.data.ready_layout(dense, False).adjoint(problem.weights)
        products += np.outer(means, shifts) + np.outer(shifts, means) + np.outer(shifts, shifts)
        if problem.intercept:
            border = means + shifts
            products = np.block([[products, border[:, None]], [border[None, :], np.ones((1, 1))]])
        return np.ascontiguousarray(products)
    inverse = 1.0 / problem.penalty.ridges(problem.n_features)
    products = problem.matrix.weighted_gram(inverse, False, dense)
    along = problem.data.ready_layout(dense, False).apply(np.ascontiguousarray(inverse * shifts))
    products += along[:, None] + along[None, :] + (inverse * shifts) @ shifts
    if problem.intercept:
        products += 1.0 / intercept_firmness
    return -products


def may_use_gram(problem: Problem, side: str) -> bool:
    """Whether a move changes the slopes (or margins) of other coordinates by a fixed matrix times the move."""
    return problem.loss.quadratic if side == "primal" else problem.penalty.quadratic


def gram_pays(problem: Problem, side: str) -> bool:
    """Whether a Gram matrix saves time. With k coordinates on vectors of length m, an epoch costs k^2 instead of the
    stored entries. The matrix itself costs k (dense, by BLAS) or stored/m (sparse) operations for each stored entry,
    which tens of epochs repay."""
    few, many = problem.n_features, problem.n_samples
    if side == "dual":
        few, many = many, few
    stored = problem.data.stored
    repaid = stored / many <= 200 if problem.matrix.sparse else few <= 2000
    return 20 * few <= many and 4 * few * few <= stored and repaid


def kept_gram(problem: Problem, side: str, intercept_firmness: float) -> np.ndarray:
    """The Gram matrix, kept for later solves; on the primal side it does not depend on the penalty."""
    if side == "primal":
        return problem.keep("gram", lambda: gram(problem, side, 0.0))
    key = problem.penalty, intercept_firmness  # the same for many targets
    last: dict[object, np.ndarray] = problem.keep("dual gram", dict)
    found = last.get(key)
    if found is None:
        found = gram(problem, side, intercept_firmness)
        last.clear()  # only the last is kept, since along a path each penalty has its own
        last[key] = found
    return found
