"""The methods over matrices by name: their requirements and step sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._dense import plain
from .._names import at_most, count, one_name, positive, shown
from .._question import Start
from .._typing import Given
from ..losses import Loss
from ..methods import Prepared
from ..methods.conditioning import Conditioning
from ..methods.dspdc import dspdc_steps
from ..methods.spdc import by_hand, spdc_steps
from ._algorithm import MatrixAlgorithm, within_numbers
from ._dspdc import DSPDC
from ._dual_fista import DualFISTA
from ._fista import FISTA
from ._sdca import SDCA
from ._workers import ALONE, Workers

if TYPE_CHECKING:
    from ._risk import MatrixRisk

NAMES = ("auto", "dspdc", "dual_fista", "fista", "sdca", "spdc")


@dataclass(frozen=True)
class Choice:
    """The method and its options, as given by the user."""

    method: str = "auto"
    rows: int | None = None
    blocks: int | None = None
    stretch: float | tuple[float, float] = 1.0
    tau: float | None = None
    sigma: float | None = None
    theta: float | None = None
    aim: str = "gap"

    @property
    def given(self) -> dict[str, object]:
        """Step sizes and aim, as far as they are given."""
        steps = {"tau": self.tau, "sigma": self.sigma, "theta": self.theta}
        found: dict[str, object] = {name: step for name, step in steps.items() if step is not None}
        if self.aim != "gap":
            found["aim"] = self.aim
        return found

    def checked(self) -> Choice:
        """The same with step sizes that are floats."""
        one_name("aim", self.aim, ("gap", "point"))
        tau, sigma = (None if v is None else positive(k, v) for k, v in (("tau", self.tau), ("sigma", self.sigma)))
        theta = None if self.theta is None else positive("theta", self.theta, zero=True)
        return replace(self, tau=tau, sigma=sigma, theta=theta)

    @property
    def stretches(self) -> tuple[float, float]:
        """The factors of primal and of dual steps."""
        given: Given = self.stretch
        several = isinstance(given, tuple | list) or plain("stretch", given).ndim == 1
        each = tuple(given) if several else (given, given)
        if len(each) != 2 or any(isinstance(one, bool | np.bool_) for one in each):
            raise ValueError(f"stretch must be a number or two, for primal and dual steps; got {shown(self.stretch)}.")
        primal, dual = (positive("stretch", one) for one in each)
        return primal, dual

    def named(self, risk: MatrixRisk) -> str:
        """The name of the method. "auto": FISTA, which took the fewest eigendecompositions in all measurements; on the
        dual if samples are so few that their matrices may be nearly orthogonal, because then the primal is flat, and
        phi'(m) gives a good dual point only late."""
        if one_name("method", self.method, NAMES) != "auto":
            return self.method
        if self.rows is not None or self.blocks is not None or self.stretches != (1, 1) or self.given:
            raise ValueError(
                "rows, blocks and stretch are for method='dspdc', 'spdc' or 'sdca', and tau, sigma, theta and aim for "
                "'dspdc' (the first three for 'spdc' too); with 'auto' leave them out."
            )
        unknowns = risk.n_blocks * risk.size * (risk.size + 1) // 2
        return "fista" if risk.loss.smooth and 50 * risk.n_samples > unknowns else "dual_fista"


@dataclass(frozen=True)
class OnWorkers:
    """A choice and the threads it works on: a method, as ``southwell.solve.run`` takes it."""

    choice: Choice
    workers: Workers

    def prepare(self, problem: MatrixRisk, start: Start, seed: int) -> Prepared:
        x = start.x.reshape(problem.n_blocks, problem.size, problem.size)
        y = np.zeros(problem.n_samples) if start.y is None else start.y
        with within_numbers():
            return made(problem, self.choice, self.workers, x, y, seed).prepared()


def made(risk: MatrixRisk, choice: Choice, workers: Workers, x: np.ndarray, y: np.ndarray,
         seed: int) -> MatrixAlgorithm:  # fmt: skip
    """The algorithm at its start. Raises for combinations that cannot work."""
    choice = choice.checked()
    name, stretches = choice.named(risk), choice.stretches
    m = _size("rows", choice.rows, risk.n_samples, "samples", name, ("dspdc", "spdc", "sdca"))
    q = _size("blocks", choice.blocks, risk.n_blocks, "blocks", name, ("dspdc",))
    if stretches != (1, 1):
        _refuse_others("stretch", choice.stretch, name, ("dspdc", "spdc", "sdca"))
    for option, value in choice.given.items():
        _refuse_others(option, value, name, ("dspdc",) if option == "aim" else ("dspdc", "spdc"))
    if stretches != (1, 1) and not {"tau", "sigma"}.isdisjoint(choice.given):
        raise ValueError(
            "stretch multiplies the steps of theory, and tau or sigma replaces them; give one or the other."
        )
    _refuse_losses(risk.loss, name)
    risk.norms.refuse_overflow()
    algorithm: MatrixAlgorithm
    if name == "fista":
        algorithm = FISTA(risk, workers, x, y)
        algorithm.description = "FISTA, backtracking and restarts"
        return algorithm
    if name == "dual_fista":
        algorithm = DualFISTA(risk, workers, x, y, _ascent_weights(risk, risk.n_samples, workers))
        algorithm.description = "FISTA on the dual, restarts"
        return algorithm
    if m is None:
        m = _rows(risk, q)
    if name == "sdca":
        algorithm = SDCA(risk, workers, x, y, seed, m, _ascent_weights(risk, m, workers) / stretches[1])
        algorithm.description = f"SDCA, batches of {m} samples"
        return algorithm
    if name == "spdc":
        q = risk.n_blocks
    elif q is None:
        q = max(1, round(risk.n_blocks / 5))
    saddle = DSPDC(risk, workers, x, y, seed, m, q, **steps(risk, name, m, q, choice, workers))
    kept = "A x" if saddle.by_blocks else "A'y"
    saddle.description = f"{name.upper()}, {m} samples and {q} blocks, {kept} kept"
    return saddle


def steps(risk: MatrixRisk, name: str, m: int, q: int, choice: Choice | None = None,
          workers: Workers = ALONE) -> dict[str, float]:  # fmt: skip
    """Step sizes in the units of _norms.py, where every block has l2 = 1: tau of the papers times l2_j.

    Those that are given replace those of the theorem; with them nothing is stretched."""
    choice = Choice() if choice is None else choice
    at = Conditioning(risk.n_samples, risk.norms.rows, 1.0, 1.0 / risk.loss.smoothness)
    whole = all(step is not None for step in (choice.tau, choice.sigma, choice.theta))
    scale = 1.0 if whole else risk.norms.coupling(m, q, workers)
    if name == "spdc":  # m R^2 bounds the norm of a batch; a sharper bound replaces it
        at = replace(at, norms=np.array([np.sqrt(scale / m)]))
        found, unit = spdc_steps(at, m, False)[0], 1.0
    else:
        found, unit = dspdc_steps(at, risk.n_blocks, m, q, scale, choice.aim == "gap")[0], float(at.n)
    taken, (primal, dual) = by_hand(choice, found), choice.stretches
    return {
        "tau": taken["tau"] * primal,
        "weight": float(np.divide(unit, taken["sigma"])) / dual,
        "theta": taken["theta"],
    }


def _ascent_weights(risk: MatrixRisk, m: int, workers: Workers) -> np.ndarray:
    """The weights of the proximal terms when m samples move on the dual together."""
    overlap = risk.norms.overlap(m, workers)
    return np.maximum(overlap * risk.norms.rows**2 / risk.n_samples, np.finfo(float).tiny)


def _rows(risk: MatrixRisk, q: int | None) -> int:
    """The same share of the samples as of the blocks, but at least a fifth: eigendecompositions are costly."""
    part = 0.2 if q is None else max(q / risk.n_blocks, 0.2)
    return max(1, round(part * risk.n_samples))


def _size(name: str, given: Given, most: int, what: str, method: str, takers: tuple[str, ...]) -> int | None:
    if given is None:
        return None
    _refuse_others(name, given, method, takers)
    return at_most(name, count(name, given, 1), most, what)


def _refuse_others(name: str, given: Given, method: str, takers: tuple[str, ...]) -> None:
    if method not in takers:
        raise ValueError(
            f"{name} is for method={' or '.join(map(repr, takers))}; got {name}={shown(given)} with {method!r}."
        )


def _refuse_losses(loss: Loss, name: str) -> None:
    if name == "fista" and not loss.smooth:
        raise ValueError(
            f"FISTA needs a smooth loss; {loss.name} is not. Use method='dual_fista' or 'sdca', or a smoothed loss."
        )
    if name in ("dspdc", "spdc") and not np.isfinite(loss.smoothness):
        other = (
            "method='fista'"
            if loss.smooth
            else "method='dual_fista' or 'sdca', or a smoothed loss such as SmoothHinge(0.1)"
        )
        raise ValueError(
            f"{name.upper()} needs a loss whose second derivative is bounded; that of {loss.name} is not. Use {other}."
        )
