"""Methods: how the answer is found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from . import _core, rules
from ._names import flag, resolve, unknown
from .problem import Problem
from .rules import Rule


@dataclass(frozen=True)
class Start:
    """Where to begin: coefficients as the core holds them, and a dual point if there is one."""

    x: np.ndarray
    y: np.ndarray | None = None


class Method(ABC):
    """Base of all methods."""

    name: ClassVar[str]

    @abstractmethod
    def prepare(self, problem: Problem, start: Start, seed: int) -> tuple[_core.Algorithm, str]:
        """The compiled algorithm at its start, and a description of what was chosen."""


@dataclass(frozen=True)
class CoordinateDescent(Method):
    """One coordinate at a time, on the primal side (features) or the dual side (samples, also known as SDCA).

    Parameters
    ----------
    side : {"auto", "primal", "dual"}
        The primal side needs a smooth loss, the dual side a penalty. "auto" chooses by conditioning.
    rule : str or Rule
        Which coordinate moves next: "cyclic", "shuffled", "uniform". "auto" is cyclic on the primal side, shuffled on
        the dual.
    coupling : {"auto", "mirror", "gram"}
        What is kept while coordinates move. "mirror" keeps the residual (primal) or the coefficients (dual); "gram" the
        inner products between all pairs of coordinates, which pays when coordinates are few and vectors long: the
        squared loss on the primal side, l1 = 0 without bounds on the dual. "auto" chooses by cost.

    shrinking : bool
        Let coordinates that do not move sit out up to seven visits. False visits all, as the textbook does.
    proximal : bool
        On the dual side with a small l2, add a proximal term that follows the iterate, where that helps (l1, bounds,
        losses of regression): the same answer in far fewer epochs. False leaves it out wherever l2 > 0: plain SDCA.
        Where l2 = 0 (pure L1, an unpenalised coefficient, the intercept) the dual side cannot do without.
    """

    side: str = "auto"
    rule: str | Rule = "auto"
    coupling: str = "auto"
    shrinking: bool = True
    proximal: bool = True
    name: ClassVar[str] = "coordinate_descent"

    def __post_init__(self):
        for field, known in (("side", ("auto", "primal", "dual")), ("coupling", ("auto", "mirror", "gram"))):
            if getattr(self, field) not in known:
                raise unknown(field, getattr(self, field), known)
        if self.rule != "auto":
            rules.get(self.rule)
        flag("shrinking", self.shrinking)
        flag("proximal", self.proximal)

    def prepare(self, problem: Problem, start: Start, seed: int):
        side = _choose_side(problem) if self.side == "auto" else self.side
        _refuse_impossible(problem, side)
        rule = rules.get({"primal": "cyclic", "dual": "shuffled"}[side] if self.rule == "auto" else self.rule)
        gram = self._use_gram(problem, side)
        core = problem.core(None if gram else side == "primal")
        firmness, intercept_firmness = 0.0, 0.0
        if side == "dual":
            firmness, intercept_firmness = _firmness(problem, not gram and self._anchored(problem))
        products = None
        if gram and side == "primal":
            products = problem.keep("gram", lambda: _gram(problem, side, 0.0))  # it does not depend on the penalty
        elif gram:
            products = _gram(problem, side, intercept_firmness)
        begin = start.x if side == "primal" else _dual_start(problem, start)
        algorithm = _core.coordinate_descent(
            core, side, rule.name, seed, self.shrinking, begin, start.x, firmness, intercept_firmness, products
        )
        description = f"coordinate descent, {side} side, {rule.name}" + (", Gram matrix" if gram else "")
        return algorithm, description

    def _anchored(self, problem: Problem) -> bool:
        """Do coefficients get a proximal term on the dual side? They must where l2 = 0; it pays where grad g* bends and
        where the loss pulls both ways, and costs epochs for margin losses under a plain square."""
        must = problem.penalty.l2 == 0 or not _weights_positive(problem)
        return must or (self.proximal and (not _quadratic(problem) or problem.loss.targets == "real"))

    def _use_gram(self, problem: Problem, side: str) -> bool:
        if side == "primal":
            able = problem.loss.name == "squared"
            few, many = problem.n_features, problem.n_samples
        else:
            able = _quadratic(problem)
            few, many = problem.n_samples, problem.n_features
        if self.coupling == "gram" and not able:
            raise ValueError(
                "coupling='gram' needs the squared loss on the primal side, or l1 = 0, l2 > 0 and no bounds on the "
                "dual; use coupling='mirror'."
            )
        if self.coupling != "auto":
            return self.coupling == "gram"
        # An epoch costs few^2 against the stored entries; the matrix itself costs as much as few (dense, by BLAS)
        # or as stored/many (sparse) entries for every stored one, repaid over tens of epochs.
        stored = problem.data.stored
        repaid = stored / many <= 200 if problem.data.sparse else few <= 2000
        able = able and not (side == "dual" and self._anchored(problem))
        return able and 20 * few <= many and 4 * few * few <= stored and repaid


@dataclass(frozen=True)
class Auto(Method):
    """Coordinate descent with side, rule and coupling chosen from the problem's shape and conditioning."""

    name: ClassVar[str] = "auto"

    def prepare(self, problem: Problem, start: Start, seed: int):
        return CoordinateDescent().prepare(problem, start, seed)


ALL: dict[str, type[Method]] = {method.name: method for method in (Auto, CoordinateDescent)}


def get(given: str | Method) -> Method:
    """A method from its name or itself."""
    return resolve("method", given, ALL, Method)


def _quadratic(problem: Problem) -> bool:
    penalty = problem.penalty
    unbounded = penalty.lower is None and penalty.upper is None
    return penalty.l1 == 0 and penalty.l2 > 0 and unbounded and _weights_positive(problem)


def _weights_positive(problem: Problem) -> bool:
    return problem.penalty.weights is None or bool(np.min(problem.penalty.weights) > 0)


def _mean_squared_row(problem: Problem) -> float:
    """sum_i s_i ||a_i||^2 over the features, the intercept apart; a pass over the data, so it is kept."""

    def measure() -> float:
        return float(problem.ready_layout().column_squared_norms(problem.weights)[: problem.n_features].sum())

    return problem.keep("mean squared row", measure)


def _choose_side(problem: Problem) -> str:
    """Dual if it must be, or if l2 makes it well conditioned: an epoch of SDCA takes off about 1/(1 + kappa) of the
    gap, with kappa = mean ||a_i||^2 / (l2 gamma n)."""
    if not problem.loss.smooth:
        return "dual"
    if problem.penalty.l2 == 0 or not np.isfinite(problem.loss.smoothness):
        return "primal"
    wide = problem.n_features > problem.n_samples
    kappa = _mean_squared_row(problem) * problem.loss.smoothness / (problem.penalty.l2 * problem.n_samples)
    if _quadratic(problem):  # each dual step is exact: measured ahead wherever d > n, and for margins up to a limit,
        limit = 20 if problem.loss.name == "logistic" else 300  # lower where primal steps use the true curvature
        return "dual" if wide or (problem.loss.targets == "signs" and kappa <= limit) else "primal"
    return "dual" if kappa <= 5 and (wide or problem.loss.name != "squared") else "primal"


def _refuse_impossible(problem: Problem, side: str) -> None:
    if side == "primal" and not problem.loss.smooth:
        raise ValueError(
            f"CoordinateDescent on the primal needs a smooth loss; got {problem.loss.name}. Use side='dual', "
            "or a smooth relative: smooth_hinge or squared_hinge for hinge, huber for quantile and epsilon_insensitive."
        )
    if side == "dual" and problem.penalty.l1 == 0 and problem.penalty.l2 == 0:
        advice = "side='primal'" if problem.loss.smooth else "a small l2, say 1e-6"
        raise ValueError(f"CoordinateDescent on the dual needs a penalty; got l1 = 0 and l2 = 0. Use {advice}.")


def _firmness(problem: Problem, anchored: bool) -> tuple[float, float]:
    """What l2 + mu should be at least on the dual side, for features and for the intercept.

    The first is mean ||a_i||^2 / (2 sqrt(n d)), found by trial on dense and sparse data of all shapes: within a
    factor of 3 of the best constant in most cases. The second treats the intercept as a column of typical size,
    within reason when l2 is huge."""
    row = _mean_squared_row(problem)
    row = row if row > np.finfo(float).tiny else 1.0  # no data to speak of: any firmness will do
    shape = np.clip(np.sqrt(problem.n_samples / problem.n_features), 0.1, 10.0)
    natural = float(0.5 * shape * row / problem.n_samples)
    feature = natural if anchored else 0.0
    return feature, min(max(problem.penalty.l2, feature), 1e4 * natural) / row


def _dual_start(problem: Problem, start: Start) -> np.ndarray:
    if start.y is not None:
        return start.y
    if not start.x.any():
        return np.zeros(problem.n_samples)
    return problem.loss.derivative(problem.ready_layout().apply(start.x), problem.targets)


def _gram(problem: Problem, side: str, intercept_firmness: float) -> np.ndarray:
    """The inner products of the coordinates: A'SA on the primal side, -A L^-1 A' on the dual, for A with its frame."""
    dense = None if problem.data.sparse else problem.shifts  # added as the slabs are read
    shifts = np.zeros(problem.n_features) if problem.shifts is None or dense is not None else problem.shifts
    if side == "primal":
        products = problem.data.weighted_gram(problem.weights, True, dense)
        means = problem.data.ready_layout(dense, False).adjoint(problem.weights)
        products += np.outer(means, shifts) + np.outer(shifts, means) + np.outer(shifts, shifts)
        if problem.intercept:
            border = means + shifts
            products = np.block([[products, border[:, None]], [border[None, :], np.ones((1, 1))]])
        return np.ascontiguousarray(products)
    weights = 1.0 if problem.penalty.weights is None else np.asarray(problem.penalty.weights, dtype=float)
    inverse = np.broadcast_to(1.0 / (problem.penalty.l2 * weights), (problem.n_features,))
    products = problem.data.weighted_gram(inverse, False, dense)
    along = problem.data.ready_layout(dense, False).apply(np.ascontiguousarray(inverse * shifts))
    products += along[:, None] + along[None, :] + (inverse * shifts) @ shifts
    if problem.intercept:
        products += 1.0 / intercept_firmness
    return -products
