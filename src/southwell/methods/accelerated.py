"""Accelerated coordinate descent: random, hybrid and greedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import rules
from .._names import flag, one_name, settle
from ..problem import Problem
from ..rules import Greedy, Hybrid, Rule, Uniform
from .base import Prepared, Start
from .conditioning import strong_convexity
from .coordinate_descent import Descent, begin
from .side import firmness


@dataclass(frozen=True)
class AcceleratedCD(Descent):
    """Coordinate descent with Nesterov's momentum; a step does no work of order n or d.

    Parameters
    ----------
    side : {"auto", "primal", "dual"}
        As for ``CoordinateDescent``. The dual side needs l2 > 0 and no intercept.
    rule : str or Rule
        "uniform" (accelerated randomised, proximal: Fercoq and Richtarik 2015), ``Hybrid(...)`` or ``Greedy(...)``
        (Fang, Fang, Yu and Li 2021, algorithm 3; Lu, Freund and Mirrokni 2018). With several candidates the theory
        covers smooth objectives only: l1 = 0 and no bounds on the primal side, the squared loss on the dual.
        Candidates are compared by ``|gradient| / sqrt(curvature)``, whatever ``score`` the rule has.
    coupling : {"auto", "mirror", "gram"}
        As for ``CoordinateDescent``. A greedy step needs all gradients, since momentum changes them all: one number
        each with a Gram matrix, a pass over the data without.
    restart : bool
        Consider after each epoch whether to restart the momentum: if the objective has risen; if it is lower at the
        sequence z that carries the momentum than at x, an average of past z that is slow to reach bounds; and, with
        l2 > 0 (or a strongly convex phi* on the dual side), at intervals that depend on the strong convexity.
    momentum : {"growing", "constant"}
        "growing" is APPROX, for convex objectives. "constant" is APCG for strongly convex ones (Lin, Lu and Xiao 2015):
        it needs the rule "uniform" and, on the primal side, l2 > 0 on every coefficient and no intercept; on the dual,
        a smooth loss. It knows the strong convexity and never restarts. APCG for other convex objectives is APPROX.
    """

    rule: str | Rule = "uniform"
    restart: bool = True
    momentum: str = "growing"
    name: ClassVar[str] = "accelerated_cd"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flag, "restart")
        one_name("momentum", self.momentum, ("growing", "constant"))
        if not isinstance(self._rule(), Uniform) and self.momentum == "constant":
            raise ValueError(
                f"AcceleratedCD(momentum='constant') takes the rule uniform; got {self._rule().name}. "
                "Use momentum='growing'."
            )

    def _rule(self) -> Rule:
        rule = Uniform() if isinstance(self.rule, str) and self.rule == "auto" else rules.get(self.rule)
        if not isinstance(rule, Uniform | Hybrid | Greedy):
            raise ValueError(f"AcceleratedCD takes the rules uniform, hybrid and greedy; got {rule.name}.")
        if isinstance(rule, Greedy) and rule.refresh_every is not None:
            raise ValueError(
                "AcceleratedCD cannot use refresh_every, because momentum changes every gradient. Leave it out."
            )
        return rule

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        side, rule = self._side(problem), self._rule()
        _refuse(problem, side, rule)
        constant = self.momentum == "constant"
        if constant:
            _refuse_weak(problem, side)
        gram = self._use_gram(problem, side)
        options: dict[str, Any] = {"seed": seed, "accelerated": True, "restarts": self.restart, "constant": constant}
        if side == "dual":
            options["firmness"], options["intercept_firmness"] = firmness(problem, False)
        chosen = rule
        if isinstance(rule, Greedy):  # every coordinate is a block of its own
            chosen = Hybrid(partition=np.arange(problem.n_features if side == "primal" else problem.n_samples))
        core_rule, setup = chosen.core(problem, side, seed)
        setup = {} if isinstance(rule, Greedy) else setup
        algorithm = begin(problem, start, side, core_rule, gram, **options)
        description = f"accelerated coordinate descent, {side} side, {rule.name}"
        description += (", constant momentum" if constant else "") + (", Gram matrix" if gram else "")
        return Prepared(algorithm, description, setup)


def _refuse_weak(problem: Problem, side: str) -> None:
    firm = strong_convexity(problem) > 0 if side == "primal" else np.isfinite(problem.loss.smoothness)
    if not firm:
        needs = "l2 > 0 on every coefficient and no intercept" if side == "primal" else "a loss of bounded curvature"
        raise ValueError(
            f"AcceleratedCD(momentum='constant') needs {needs} on the {side} side. Use momentum='growing'."
        )


def _refuse(problem: Problem, side: str, rule: Rule) -> None:
    several = not isinstance(rule, Uniform)
    if several and not rules.smooth(problem, side):
        allowed = "l1 = 0 and no bounds" if side == "primal" else "the squared loss"
        raise ValueError(
            f"AcceleratedCD with the rule {rule.name} is only known to converge for smooth objectives: {allowed} on "
            f"the {side} side. Use rule='uniform', which takes any penalty, or CoordinateDescent."
        )
    if side == "primal" and not np.isfinite(problem.loss.smoothness):
        raise ValueError(
            f"AcceleratedCD needs a bound on the loss's curvature on the primal side; {problem.loss.name} has none. "
            "Use CoordinateDescent, or side='dual'."
        )
    if side == "dual" and (problem.intercept or not problem.penalty.strongly_convex):
        raise ValueError(
            "AcceleratedCD on the dual side needs l2 > 0 on every coefficient and no intercept. "
            "Use side='primal' with a smooth loss, or CoordinateDescent."
        )
