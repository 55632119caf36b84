"""The default method: several movers on one saddle state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from .. import _core
from .._empty_columns import compact
from .._names import one_name, positive, settle
from ..problem import Problem
from . import blocks
from .base import Method, Prepared, Start
from .full_gradient import FISTA, soft_fista
from .policy import default_number, default_policy
from .side import anchors_needed, anchors_pay, dual_start, firmness


@dataclass(frozen=True)
class Auto(Method):
    """Newton's method on working sets and dual coordinate descent; the one that lowers the gap fastest
    continues.

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
    policy : mapping
        Other values for some of the numbers this method decides by, to study them;
        ``southwell.methods.default_policy()`` lists them with their reasons. They change the way to the answer, not the
        answer.
    """

    schedule: str = "fixed"
    movers: str = "auto"
    softness: float = 1.0
    policy: Mapping[str, float] = field(default_factory=dict, hash=False)
    name: ClassVar[str] = "auto"
    takes_factors: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True
    takes_own_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, known in (("schedule", ("fixed", "timed")), ("movers", ("auto", "primal", "dual"))):
            one_name(name, getattr(self, name), known)
        settle(self, positive, "softness")
        if not isinstance(self.policy, Mapping):
            raise TypeError(f"policy must be a mapping from names to numbers; got {type(self.policy).__name__}.")
        policy = {}
        for key, number in self.policy.items():
            one_name("policy", key, tuple(default_policy()), "the keys of southwell.methods.default_policy()")
            policy[key] = positive(f"policy[{key!r}]", number, below=1e15)  # some of them are sizes
        object.__setattr__(self, "policy", policy)

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if problem.in_parts:
            return self._prepare_in_parts(problem, start)
        if problem.blocks:
            blocks.refuse_factors(problem)
        elif problem.factorised:
            return self._prepare_factorised(problem, start, seed)
        small = compact(problem, *(self.number(name) for name in ("columns_in_use", "cache", "entries_a_column")))
        if small is not None:
            return replace(self._prepare(small.problem, small.start(start), seed), compact=small)
        return self._prepare(problem, start, seed)

    def _prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        movers = self._movers(problem)

        def dual() -> _core.DualMover:  # when its turn comes: the rows may have to be built
            held = (0.0, 0.0)
            if not problem.blocks:
                held = firmness(problem, anchors_needed(problem) or anchors_pay(problem), self.number)
            return _core.DualMover(problem.layout(False), *held)

        if start.y is None and movers == ["primal"]:
            y = np.zeros(problem.dual_size)
        else:
            y = dual_start(problem, start)
        algorithm = _core.relay(
            problem.core(), movers, dual if "dual" in movers else None, start.x, y, softness=self.softness,
            seed=seed, timed=self.schedule == "timed", policy=dict(self.policy),
        )  # fmt: skip
        return Prepared(algorithm, "auto")

    def _prepare_in_parts(self, problem: Problem, start: Start) -> Prepared:
        if self.movers == "dual":
            raise ValueError("The dual mover needs all rows in memory, and these stay in files. Use movers='auto'.")
        algorithm = _core.newton_in_parts(problem.core(), start.x, softness=self.softness, policy=dict(self.policy))
        return Prepared(algorithm, "auto, on rows in files")

    def _prepare_factorised(self, problem: Problem, start: Start, seed: int) -> Prepared:
        formed = problem.formed(int(self.number("formed")))
        if formed is not None:  # a product of this size is dense enough, and small enough, to be worked on itself
            inner = self._prepare(formed, start, seed)
            return Prepared(_core.restated(problem.core(), inner.algorithm), "auto, product formed", inner.setup)
        if problem.loss.smooth:
            return FISTA().prepare(problem, start, seed)
        return soft_fista(problem, start, self.softness, self.policy)

    def _movers(self, problem: Problem) -> list[str]:
        refusal = blocks.dual_refusal(problem) if problem.blocks else None
        if problem.loss.own:
            refusal = f"{problem.loss.name} is a loss of your own, which has no dual steps."
        if self.movers == "dual" and refusal is not None:
            raise ValueError(f"{refusal} Use movers='primal' or 'auto'.")
        if self.movers != "auto":
            return [self.movers]
        hopeless = refusal is not None or problem.penalty.ridge == 0  # proximal terms alone would hold x there
        slow = problem.shifts is not None and not problem.data.shifts_are_free  # every row would touch every feature
        little = problem.loss.smooth and problem.data.stored <= self.number("little")
        return ["primal"] if hopeless or slow or little else ["primal", "dual"]

    def number(self, name: str) -> float:
        """One of the numbers this method decides by."""
        return float(self.policy[name]) if name in self.policy else default_number(name)
