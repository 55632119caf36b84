"""Coordinate descent, on either side, with any rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _core, rules
from .._names import flag, one_name, settle
from ..problem import Problem
from ..rules import Rule
from . import blocks
from .base import Method, Prepared, Start
from .side import (
    anchors_needed,
    anchors_pay,
    choose_side,
    dual_start,
    firmness,
    gram_pays,
    kept_gram,
    may_use_gram,
    refuse_impossible,
)  # fmt: skip

COLUMN_ROOM = 2**25
"""The cache for columns of inner products, in numbers (256 MiB), for rules that update all scores at every move."""


@dataclass(frozen=True)
class Descent(Method):
    """The options of plain and accelerated coordinate descent: a side, a rule, a coupling."""

    side: str = "auto"
    rule: str | Rule = "auto"
    coupling: str = "auto"

    def __post_init__(self) -> None:
        for field, known in (("side", ("auto", "primal", "dual")), ("coupling", ("auto", "mirror", "gram"))):
            one_name(field, getattr(self, field), known)
        if not (isinstance(self.rule, str) and self.rule == "auto"):
            rules.get(self.rule)

    def _side(self, problem: Problem) -> str:
        side = choose_side(problem) if self.side == "auto" else self.side
        refuse_impossible(problem, side)
        return side

    def _use_gram(self, problem: Problem, side: str) -> bool:
        able = may_use_gram(problem, side)
        if self.coupling == "gram" and not able:
            raise ValueError(
                "coupling='gram' needs the squared loss on the primal side, or l1 = 0, l2 > 0 and no bounds on the "
                "dual; use coupling='mirror'."
            )
        return self.coupling == "gram" or (self.coupling == "auto" and able and gram_pays(problem, side))


def begin(
    problem: Problem,
    start: Start,
    side: str,
    rule: _core.Rule,
    gram: bool = False,
    across: bool = False,
    **options: Any,
) -> _core.Algorithm:
    """The compiled algorithm; ``across`` if the rule reads sparse data along the other axis too."""
    by_columns = side == "primal"
    return _core.coordinate_descent(
        problem.core(None if gram else by_columns),
        rule,
        _core.Descent(side=side, **options),
        start.x if by_columns else dual_start(problem, start),
        start.x,
        kept_gram(problem, side, options.get("intercept_firmness", 0.0)) if gram else None,
        problem.layout(not by_columns) if across and not gram and problem.matrix.sparse else None,
    )


@dataclass(frozen=True)
class CoordinateDescent(Descent):
    """Coordinate descent on the primal side (features) or the dual side (samples; also known as SDCA).

    Parameters
    ----------
    side : {"auto", "primal", "dual"}
        The primal side needs a smooth loss, the dual side a penalty. "auto" chooses by conditioning.
    rule : str or Rule
        Which coordinate moves next; see ``southwell.rules``. "auto" is cyclic on the primal side, shuffled on the dual.
    coupling : {"auto", "mirror", "gram"}
        What is updated when a coordinate moves. "mirror": the residual (primal) or the coefficients (dual). "gram": all
        slopes (primal) or margins (dual), through the inner products between all pairs of coordinates; faster if
        coordinates are few and vectors long. It needs the squared loss on the primal side, l1 = 0 without bounds on the
        dual. "auto" chooses by cost.
    shrinking : bool
        Skip up to seven visits of coordinates that do not move. False visits all coordinates. It applies to the rules
        "cyclic", "shuffled" and "uniform".
    proximal : bool
        On the dual side with a small l2, add a proximal term that follows the iterate, if that helps (l1, bounds,
        regression losses): the same solution in far fewer epochs. False omits it if l2 > 0: plain SDCA. If l2 = 0 (pure
        L1, an unpenalised coefficient, the intercept) the dual side always needs it.
    curvature : {"local", "coordinate", "largest"}
        The curvature that steps on the primal side assume. "local": the second derivative at the current point, made
        safe, where the loss allows it (logistic, Poisson), else as "coordinate". "coordinate": a bound L_j for each
        feature, the step 1/L_j of the papers. "largest": the largest L_j for all, the step 1/L_max. The last two need a
        loss with bounded curvature, and single coefficients.

    Notes
    -----
    Rules that update all scores at every move (``SupportSet``, ``Adaptive``, ``AdaUniform``, ``AdaGap``, ``Greedy``)
    read sparse data along both axes. For the squared loss on the primal side, and l1 = 0 without bounds on the dual,
    they cache columns of inner products, in at most 256 MiB (or one column, if that is more).

    On problems of blocks the rules are "cyclic", "shuffled" and "uniform". The primal side moves groups by proximal
    steps; the dual side, which needs l2 > 0 and no intercept, the dual blocks of samples.
    """

    shrinking: bool = True
    proximal: bool = True
    curvature: str = "local"
    name: ClassVar[str] = "coordinate_descent"
    takes_blocks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, flag, "shrinking", "proximal")
        one_name("curvature", self.curvature, ("local", "coordinate", "largest"))

    def prepare(self, problem: Problem, start: Start, seed: int) -> Prepared:
        if problem.blocks:
            if self.curvature != "local":
                raise ValueError(
                    f"curvature={self.curvature!r} is for single coefficients; steps on blocks always use "
                    "their bounds. Leave curvature out."
                )
            return blocks.descent(self, problem, start, seed)
        side = self._side(problem)
        automatic = isinstance(self.rule, str) and self.rule == "auto"
        rule = rules.get({"primal": "cyclic", "dual": "shuffled"}[side] if automatic else self.rule)
        self._refuse_curvature(problem, side)
        gram = self._use_gram(problem, side) and not self._keeps_mirror(problem, side, rule)
        options: dict[str, Any] = {
            "seed": seed, "shrinking": self.shrinking and rule.blind, "room": COLUMN_ROOM, "curvature": self.curvature,
        }  # fmt: skip
        if side == "dual":
            anchored = not gram and self._anchored(problem, rule)
            options["firmness"], options["intercept_firmness"] = firmness(problem, anchored)
        core_rule, setup = rule.core(problem, side, seed)
        algorithm = begin(problem, start, side, core_rule, gram, rule.follows, **options)
        description = f"coordinate descent, {side} side, {rule.name}"
        if gram:
            description += ", Gram matrix"
        elif rule.follows and may_use_gram(problem, side):
            description += f", Gram columns within {COLUMN_ROOM // 2**17} MiB"
        return Prepared(algorithm, description, setup)

    def _refuse_curvature(self, problem: Problem, side: str) -> None:
        if self.curvature == "local":
            return
        if side == "dual":
            raise ValueError(
                f"curvature={self.curvature!r} is for steps on the primal side; steps on the dual side are exact. Use "
                "side='primal', or leave curvature out."
            )
        if not np.isfinite(problem.loss.smoothness):
            raise ValueError(
                f"curvature={self.curvature!r} needs a bound on the loss's curvature; {problem.loss.name} has none. "
                "Use curvature='local'."
            )

    def _anchored(self, problem: Problem, rule: Rule) -> bool:
        """Whether coefficients get a proximal term on the dual side. Not with MaxInnerProduct, which visits coordinates
        at their optimum so often that the centres would move too early."""
        wanted = self.proximal and anchors_pay(problem) and not isinstance(rule, rules.MaxInnerProduct)
        return anchors_needed(problem) or wanted

    def _keeps_mirror(self, problem: Problem, side: str, rule: Rule) -> bool:
        """Whether the coupling must be "mirror": for a search, and for proximal terms on the dual side."""
        if isinstance(rule, rules.MaxInnerProduct):
            if self.coupling == "gram":
                raise ValueError("MaxInnerProduct needs the vector that 'mirror' keeps; use coupling='mirror'.")
            return True
        return self.coupling == "auto" and side == "dual" and self._anchored(problem, rule)
