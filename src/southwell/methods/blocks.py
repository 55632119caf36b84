"""How methods of single coordinates move blocks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core, rules
from ..problem import Problem
from .base import Prepared, Start
from .side import dual_start

if TYPE_CHECKING:
    from .coordinate_descent import CoordinateDescent

IN_TURN = [name for name, rule in rules.ALL.items() if rule.blind]


def refuse_factors(problem: Problem) -> None:
    if problem.factorised:
        raise ValueError("Problems of blocks do not take factorised data; give U @ V, if it fits in memory.")


def smooth_or_refused(problem: Problem) -> None:
    """Primal steps on blocks need a gradient."""
    if not problem.loss.smooth:
        raise ValueError(
            f"Moving blocks on the primal side needs a smooth loss; got {problem.loss.name}. Take a smooth relative "
            "(smooth_hinge or squared_hinge for hinge, huber for quantile and epsilon_insensitive), DSPDC, or with "
            "l2 > 0 and no intercept CoordinateDescent(side='dual')."
        )


def dual_refusal(problem: Problem) -> str | None:
    """Why the dual side cannot move, if it cannot."""
    if not problem.intercept and problem.penalty.least_l2 > 0:
        return None
    without = "l2 = 0" if problem.penalty.ridge == 0 else "features of weight 0"
    given = "an intercept" if problem.intercept else without
    return f"Block coordinate descent on the dual side needs l2 > 0 and no intercept; this problem has {given}."


def descent(method: CoordinateDescent, problem: Problem, start: Start, seed: int) -> Prepared:
    """Block coordinate descent: groups in turn, or samples (SDCA)."""
    refuse_factors(problem)
    side = method.side
    if side == "auto":
        side = "primal" if problem.loss.smooth and np.isfinite(problem.loss.smoothness) else "dual"
    if side == "primal":
        smooth_or_refused(problem)
        if not np.isfinite(problem.loss.smoothness):
            raise ValueError(
                f"Block coordinate descent needs a bound on the loss's curvature; {problem.loss.name} has none. Use "
                "method='auto'."
            )
    elif (refusal := dual_refusal(problem)) is not None:
        raise ValueError(f"{refusal} Use side='primal', DSPDC, or method='auto'.")
    automatic = isinstance(method.rule, str) and method.rule == "auto"
    rule = rules.get({"primal": "cyclic", "dual": "shuffled"}[side] if automatic else method.rule)
    if not rule.blind:
        raise ValueError(f"Blocks move in turn: rule must be one of {', '.join(IN_TURN)}; got {rule.name}.")
    if method.coupling == "gram":
        raise ValueError("Block coordinate descent keeps margins or slopes; use coupling='auto'.")
    primal = side == "primal"
    algorithm = _core.block_descent(
        problem.core(), primal, rule.name, problem.layout(primal), start.x if primal else dual_start(problem, start),
        problem.penalty.least_l2, seed,
    )  # fmt: skip
    return Prepared(algorithm, f"block coordinate descent, {side} side, {rule.name}")


def saddle(problem: Problem, spec: _core.Dspdc, by_columns: bool, start: Start, seed: int) -> _core.Algorithm:
    """DSPDC on blocks; with all of them, SPDC."""
    refuse_factors(problem)
    rows, columns = None if by_columns else problem.layout(False), problem.layout(True) if by_columns else None
    return _core.block_dspdc(problem.core(by_columns), spec, rows, columns, start.x, dual_start(problem, start), seed)
