"""Accelerated coordinate descent: random, hybrid and greedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import rules
from .._names import flag, one_name, positive, settle, shown
from ..problem import Problem
from ..rules import Greedy, Hybrid, Rule, Uniform
from .base import Prepared, Start
from .conditioning import strong_convexity
from .coordinate_descent import COLUMN_ROOM, Descent, begin
from .side import firmness, may_use_gram


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
        Candidates are compared as ``compare`` says, whatever ``score`` the rule has.
    coupling : {"auto", "mirror", "gram"}
        As for ``CoordinateDescent``. A greedy step needs all gradients, since momentum changes them all: one number
        each with a Gram matrix. Without one, where gradients are linear (the squared loss on the primal side, l1 = 0
        without bounds on the dual), it keeps all of them and caches columns of inner products, in at most 256 MiB;
        otherwise it costs a pass over the data.
    restart : bool
        Consider after each epoch whether to restart the momentum: if the objective has risen; if it is lower at the
        sequence z that carries the momentum than at x, an average of past z that is slow to reach bounds; and, with
        l2 > 0 (or a strongly convex phi* on the dual side), at intervals that depend on the strong convexity.
    momentum : {"growing", "constant"}
        "growing" is APPROX, for convex objectives. "constant" is APCG for strongly convex ones (Lin, Lu and Xiao 2015):
        it needs the rule "uniform" and, on the primal side, l2 > 0 on every coefficient and no intercept; on the dual,
        a smooth loss. It uses the strong convexity and never restarts. APCG for other convex objectives is APPROX.
    curvature : {"coordinate", "largest"}
        The curvature that steps assume: L_k, a bound for each coordinate, or the largest of them for all, L_max, as in
        algorithm 3 (primal side only).
    compare : {"scaled", "gradient"}
        How candidates are compared: by ``|gradient| / sqrt(curvature)``, or by ``|gradient|`` as in algorithm 3. With
        ``curvature="largest"`` both are the same. No theory covers "gradient" with a curvature for each coordinate.
    theta0 : float, optional
        Where theta starts, and starts again after a restart: from one over the number of coordinates, the default, to
        1, which algorithm 3 has. Larger values than the default are refused for one candidate with l1 or bounds (or a
        loss other than squared on the dual side): x would leave its bounds.

    Notes
    -----
    ``AcceleratedCD("primal", Hybrid(...), curvature="largest", compare="gradient", theta0=1.0, restart=False)`` is
    algorithm 3 of Fang et al. as printed. On the primal side steps never use the true curvature of a loss.
    """

    rule: str | Rule = "uniform"
    restart: bool = True
    momentum: str = "growing"
    curvature: str = "coordinate"
    compare: str = "scaled"
    theta0: float | None = None
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
        one_name("curvature", self.curvature, ("coordinate", "largest"))
        one_name("compare", self.compare, ("scaled", "gradient"))
        if self.theta0 is not None:
            settle(self, positive, "theta0")
            if self.theta0 > 1:
                raise ValueError(f"theta0 must be above 0 and at most 1; got {shown(self.theta0)}.")
        if self.momentum == "constant" and (self.curvature, self.compare, self.theta0) != (
            "coordinate",
            "scaled",
            None,
        ):
            raise ValueError(
                "curvature, compare and theta0 belong to momentum='growing'. Leave them out, or leave "
                "momentum='constant' out."
            )
        self._rule()

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
        if self.momentum == "constant":
            _refuse_weak(problem, side)
        self._refuse_options(problem, side, rule)
        gram = self._use_gram(problem, side)
        options: dict[str, Any] = {
            "seed": seed, "accelerated": True, "restarts": self.restart, "curvature": self.curvature,
            "theta": self.theta0 or 0.0, "scaled": self.compare == "scaled", "constant": self.momentum == "constant",
        }  # fmt: skip
        keeps = isinstance(rule, Greedy) and not gram and may_use_gram(problem, side)
        if keeps:
            options["room"] = COLUMN_ROOM
        if side == "dual":
            options["firmness"], options["intercept_firmness"] = firmness(problem, False)
        chosen = rule
        if isinstance(rule, Greedy):  # every coordinate is a block of its own
            chosen = Hybrid(partition=np.arange(problem.n_features if side == "primal" else problem.n_samples))
        core_rule, setup = chosen.core(problem, side, seed)
        setup = {} if isinstance(rule, Greedy) else setup
        algorithm = begin(problem, start, side, core_rule, gram, keeps, **options)
        description = f"accelerated coordinate descent, {side} side, {rule.name}"
        description += ", constant momentum" if self.momentum == "constant" else ""
        if gram:
            description += ", Gram matrix"
        elif keeps:
            description += f", Gram columns within {COLUMN_ROOM // 2**17} MiB"
        return Prepared(algorithm, description, setup)

    def _refuse_options(self, problem: Problem, side: str, rule: Rule) -> None:
        if self.curvature == "largest" and side == "dual":
            raise ValueError(
                "curvature='largest' is for the primal side, where steps assume a bound on the curvature; steps on the "
                "dual side are exact. Use side='primal' or curvature='coordinate'."
            )
        size = problem.n_features + problem.intercept if side == "primal" else problem.n_samples
        if self.theta0 is not None and self.theta0 * size < 1 - 1e-9:  # x would lose digits: it is theta^2 u + z
            raise ValueError(
                f"theta0 must be at least one over the number of coordinates, {size}, and at most 1; got "
                f"{self.theta0:g}. Leave it out for the least."
            )
        if (
            self.theta0 is not None
            and self.theta0 * size > 1 + 1e-9
            and isinstance(rule, Uniform)
            and not rules.smooth(problem, side)
        ):
            allowed = "l1 = 0 and no bounds" if side == "primal" else "the squared loss"
            raise ValueError(
                f"theta0 = {self.theta0:g} is above one over the number of coordinates, {size}. With rule='uniform' "
                f"this needs {allowed} on the {side} side, or x leaves the domain. Leave theta0 out."
            )


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
