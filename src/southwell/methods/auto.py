"""The default method: several movers on one saddle state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _core
from .._names import one_name, positive
from ..problem import Problem
from . import blocks
from .base import Method, Prepared, Start
from .full_gradient import FISTA, soft_fista
from .side import anchors_needed, anchors_pay, dual_start, firmness

# Entries of a product A = U V up to which it is formed: 8 MB.
_FORMED = 1_000_000


@dataclass(frozen=True)
class Auto(Method):
    """Whoever brings the gap down fastest moves: features, samples, or Newton on the support.

    Parameters
    ----------
    schedule : {"fixed", "timed"}
        What the movers are compared by: the entries of A they touch, so that the same seed gives the same numbers; or
        the seconds they take, which follows the machine.
    movers : {"auto", "primal", "dual"}
        Which to use.
    softness : float
        How far kinks of the loss are rounded off at first, in units of the zero model's objective; it makes no
        difference to the answer.
    """

    schedule: str = "fixed"
    movers: str = "auto"
    softness: float = 1.0
    name: ClassVar[str] = "auto"
    takes_factors: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for field, known in (("schedule", ("fixed", "timed")), ("movers", ("auto", "primal", "dual"))):
            one_name(field, getattr(self, field), known)
        positive("softness", self.softness)

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if problem.blocks:
            return blocks.newton(problem, start, self.softness)
        if problem.factorised:
            return self._prepare_factorised(problem, start, seed)
        movers = self._movers(problem)

        def dual() -> _core.DualMover:  # when its turn comes: the rows may have to be built
            return _core.DualMover(
                problem.layout(False), *firmness(problem, anchors_needed(problem) or anchors_pay(problem))
            )

        y = np.zeros(problem.n_samples) if start.y is None and movers == ["primal"] else dual_start(problem, start)
        algorithm = _core.relay(
            problem.core(), movers, dual if "dual" in movers else None, start.x, y, softness=self.softness,
            expected=_primal_price(problem), by_square=_dual_price(problem), seed=seed, timed=self.schedule == "timed",
        )  # fmt: skip
        return Prepared(algorithm, "auto")

    def _prepare_factorised(self, problem: Problem, start: Start, seed: int) -> Prepared:
        formed = problem.formed(_FORMED)
        if formed is not None:  # a product of this size is dense enough, and small enough, to be worked on itself
            inner = self.prepare(formed, start, seed)
            return Prepared(_core.restated(problem.core(), inner.algorithm), "auto, product formed", inner.setup)
        if problem.loss.smooth:
            return FISTA().prepare(problem, start, seed)
        return soft_fista(problem, start, self.softness)

    def _movers(self, problem: Problem) -> list[str]:
        if self.movers != "auto":
            return [self.movers]
        hopeless = problem.penalty.l2 == 0  # nothing holds x on the dual side but proximal terms
        slow = problem.shifts is not None and not problem.data.shifts_are_free  # every row would touch every feature
        # Of little data, Newton steps cost nothing, and give all digits.
        little = problem.loss.smooth and problem.data.stored <= 20_000
        return ["primal"] if hopeless or slow or little else ["primal", "dual"]


def _primal_price(problem: Problem) -> float:
    """Passes over the data, about, for a solution without zeros: few where the Hessian is cheap to form, by features
    (all pairs that meet in a row, those of dense data at the speed of vectors) or by samples, and fewer where once is
    enough; some hundreds through conjugate gradients, more where pieces meet; and several times as many round kinks,
    which have to be softened step by step."""
    once = problem.loss.name == "squared"
    passes = 250.0 if problem.loss.name in ("logistic", "poisson") else 700.0
    if problem.penalty.l2 > 0 and 4 * problem.n_samples**2 <= problem.data.stored:
        passes = 10.0 if once else 60.0
    elif problem.n_features <= 1000 and problem.n_features**2 <= problem.data.stored:
        forming = problem.data.stored / problem.n_samples / (2.0 if problem.matrix.sparse else 16.0)
        passes = 4.0 + forming if once else 24.0 + 6.0 * forming
    return passes * (1.0 if problem.loss.smooth else 5.0)


def _dual_price(problem: Problem) -> float:
    """What SDCA costs beyond 60 such passes, for each unit of mean ||a_i||^2: its epochs grow with kappa =
    mean ||a_i||^2 / (l2 gamma n). Found by trial."""
    if problem.penalty.l2 == 0:
        return np.inf
    smoothness = problem.loss.smoothness if np.isfinite(problem.loss.smoothness) else 1.0
    return 10.0 * smoothness / (problem.penalty.l2 * problem.n_samples)
