"""Selection rules: which coordinate moves next.

Coordinates are features on the primal side and samples on the dual. Some rules use scores, which
measure how far each coordinate is from its optimum.

>>> import southwell as sw
>>> sw.methods.CoordinateDescent(side="dual", rule=sw.rules.GapPerEpoch())
CoordinateDescent(side='dual', rule=GapPerEpoch(), coupling='auto', shrinking=True, proximal=True, curvature='local')
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from . import _core, _partition, _search
from ._names import count, listed, one_name, positive, resolve, settle, shown, unknown

if TYPE_CHECKING:
    from .problem import Problem

_ONCE = 2**63 - 1  # moves until scores are recomputed: never


class Rule:
    """Base of all rules."""

    name: ClassVar[str]
    blind: bool = False
    """Whether it uses no score. Then coordinates that do not move may be skipped (shrinking)."""
    random: bool = True
    """Whether it depends on the seed."""

    @property
    def follows(self) -> bool:
        """Whether all scores must be updated at every move."""
        return False

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        """The compiled rule, and the seconds spent on its set-up, by part."""
        return _core.Rule(self.name), {}


@dataclass(frozen=True)
class Cyclic(Rule):
    """0, 1, 2, ... in order: no random numbers, and the best use of caches."""

    name: ClassVar[str] = "cyclic"
    blind = True
    random = False


@dataclass(frozen=True)
class Shuffled(Rule):
    """Each coordinate once an epoch, in a new random order."""

    name: ClassVar[str] = "shuffled"
    blind = True


@dataclass(frozen=True)
class Uniform(Rule):
    """Independent uniform draws: what most theorems assume."""

    name: ClassVar[str] = "uniform"
    blind = True


class _Sampled(Rule):
    """Draws in proportion to a score, which is updated at every move or recomputed after a number of moves."""

    score: ClassVar[str]
    mix: float = 0.0
    refresh_every: int | None = None

    def __post_init__(self) -> None:
        if self.refresh_every is not None:
            settle(self, count, "refresh_every", least=1)

    @property
    def follows(self) -> bool:
        return self.refresh_every is None

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        return _core.Rule("sampled", self.score, self.refresh_every or 0, self.mix), {}


@dataclass(frozen=True)
class Importance(_Sampled):
    """p ~ L_k ||a_k||, the largest possible effect of a coordinate on the product. Fixed for the whole solve.

    L_k bounds the coordinate: by its domain or, if that is unbounded, by the values that a descent method can reach.
    (Zhao and Zhang 2015; Perekrestenko, Cevher and Jaggi 2017.)
    """

    name: ClassVar[str] = "importance"
    score: ClassVar[str] = "reach"
    refresh_every = _ONCE


@dataclass(frozen=True)
class SupportSet(_Sampled):
    """Uniform over the coordinates whose dual residual is not zero (Perekrestenko et al., eq. 16).

    Parameters
    ----------
    refresh_every : int, optional
        Recompute the scores only after so many moves, and keep the distribution meanwhile. Default: all scores are
        updated at every move, at the cost of the coordinates that share a row (or column) with the one that moved.
    """

    refresh_every: int | None = None
    name: ClassVar[str] = "support_set"
    score: ClassVar[str] = "residual"
    mix = 1.0


@dataclass(frozen=True)
class Adaptive(_Sampled):
    """``p ~ |kappa_k| ||a_k||``, kappa the dual residual (Perekrestenko et al., eq. 17).

    Parameters
    ----------
    refresh_every : int, optional
        As for ``SupportSet``.
    """

    refresh_every: int | None = None
    name: ClassVar[str] = "adaptive"
    score: ClassVar[str] = "residual"


@dataclass(frozen=True)
class AdaUniform(_Sampled):
    """A mixture of ``SupportSet`` and ``Adaptive`` (Perekrestenko et al., eq. 18).

    Parameters
    ----------
    mix : float
        The share of ``SupportSet``, between 0 and 1.
    refresh_every : int, optional
        As for ``SupportSet``.
    """

    mix: float = 0.5
    refresh_every: int | None = None
    name: ClassVar[str] = "ada_uniform"
    score: ClassVar[str] = "residual"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, positive, "mix", zero=True)
        if self.mix > 1:
            raise ValueError(f"mix is a share, between 0 and 1; got {shown(self.mix)}.")


@dataclass(frozen=True)
class AdaGap(_Sampled):
    """p ~ the coordinate's share of the duality gap, updated at every move (Perekrestenko et al., theorem 3.7).

    Parameters
    ----------
    refresh_every : int, optional
        As for ``SupportSet``.
    """

    refresh_every: int | None = None
    name: ClassVar[str] = "ada_gap"
    score: ClassVar[str] = "bracket"


@dataclass(frozen=True)
class GapPerEpoch(_Sampled):
    """p ~ the coordinate's share of the duality gap, computed once an epoch: what Perekrestenko et al. recommend."""

    name: ClassVar[str] = "gap_per_epoch"
    score: ClassVar[str] = "bracket"

    @property
    def follows(self) -> bool:
        return False

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        return _core.Rule("sampled", self.score, _coordinates(problem, side)), {}


GREEDY_SCORES = {"gs": "violation", "gs-s": "violation", "gs-r": "step", "gs-q": "decrease"}


@dataclass(frozen=True)
class Greedy(Rule):
    """Gauss-Southwell: the coordinate with the largest score (Nutini et al. 2015). The first of equals.

    Parameters
    ----------
    score : {"gs-s", "gs", "gs-r", "gs-q"}
        "gs-s": the shortest subgradient. "gs": the gradient, which is the same without kinks and bounds, and is refused
        otherwise. "gs-r": the longest proximal step. "gs-q": the largest decrease that the curvature bound promises.
    refresh_every : int, optional
        Recompute the scores only after so many moves; meanwhile the largest, the second largest and so on move.
        Default: all scores are updated at every move.
    """

    score: str = "gs-s"
    refresh_every: int | None = None
    name: ClassVar[str] = "greedy"
    random = False

    def __post_init__(self) -> None:
        _known_score(self.score)
        if self.refresh_every is not None:
            settle(self, count, "refresh_every", least=1)

    @property
    def follows(self) -> bool:
        return self.refresh_every is None

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        _refuse_score(self.score, problem, side)
        return _core.Rule("greedy", GREEDY_SCORES[self.score], self.refresh_every or 0), {}


@dataclass(frozen=True)
class Hybrid(Rule):
    """One uniform candidate from each block; the best of them moves (Fang, Fang, Yu and Li 2021).

    With blocks of similar coordinates it approximates the greedy rule at the cost of ``blocks`` readings.

    Parameters
    ----------
    blocks : int, optional
        The number of blocks. Default: 8, or as many as there are coordinates, or as many as ``partition`` has.
    partition : {"kmeans", "minibatch-kmeans", "spectral"}, array or list of arrays
        How coordinates are grouped: a clustering by scikit-learn of the columns (rows, on the dual side) of A; or the
        block of each coordinate; or the coordinates of each block. An intercept is a block of its own.
    score : {"gs-s", "gs", "gs-r", "gs-q"}
        How candidates are compared; see ``Greedy``.
    """

    blocks: int | None = None
    partition: object = "kmeans"
    score: str = "gs-s"
    name: ClassVar[str] = "hybrid"

    def __post_init__(self) -> None:
        _known_score(self.score)
        if self.blocks is not None:
            settle(self, count, "blocks", least=1)
        if isinstance(self.partition, str) and self.partition not in _partition.CLUSTERINGS:
            raise unknown("partition", self.partition, _partition.CLUSTERINGS)
        object.__setattr__(self, "partition", _partition.frozen(self.partition))  # so that rules can be compared

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        _refuse_score(self.score, problem, side)
        begun = time.perf_counter()
        block_of = _partition.blocks(problem, side, self.blocks, self.partition, seed)
        seconds = time.perf_counter() - begun
        return _core.Rule("hybrid", GREEDY_SCORES[self.score], block_of=block_of), {"partition": seconds}

    def __repr__(self) -> str:
        partition = self.partition if isinstance(self.partition, str) else "given"
        return f"Hybrid(blocks={self.blocks}, partition={partition!r}, score={self.score!r})"


@dataclass(frozen=True)
class MaxInnerProduct(Rule):
    """Approximate greedy by maximum inner product search; needs ``pip install southwell[search]``.

    The columns (rows, on the dual side) of A are indexed once by hnswlib, as dense float32 vectors. Each move asks the
    index for the coordinates at zero with the largest scores; they and all coordinates that are not zero are scored
    exactly, and the best of them moves. With an exact index this is the greedy choice. A move costs a search, and a
    read of the fibers of all nonzero coordinates: little while the answer is sparse, a pass over the data where it is
    dense (ridge). Where the penalty is absent, the index knows the scores of nonzero coordinates too, and nothing else
    is read. (Dhillon, Ravikumar and Tewari 2011; Karimireddy et al. 2019.)

    Parameters
    ----------
    candidates : int
        The number of candidates that the index gives. 1 is the method of the papers.
    explore : float
        The share of moves, from 0 to 1, whose candidates are drawn uniformly instead. The index is approximate; with 0
        the method may stall where the index never finds some coordinate.
    score : {"gs-s", "gs", "gs-r", "gs-q"}
        How candidates are compared; see ``Greedy``. On the primal side the index searches by this score, on the dual
        side by "gs-s". There, losses that are not piecewise quadratic (logistic, Poisson) have no score at zero that an
        index could search: all samples are scored at every move.
    breadth : int
        The breadth of the search (``ef`` of hnswlib): larger is more accurate, and slower.
    links : int
        Links of each vector in the index (``M``).
    """

    candidates: int = 8
    explore: float = 0.1
    score: str = "gs-s"
    breadth: int = 64
    links: int = 16
    name: ClassVar[str] = "max_inner_product"

    def __post_init__(self) -> None:
        _known_score(self.score)
        settle(self, count, "candidates", "breadth", least=1)
        settle(self, count, "links", least=2)
        settle(self, positive, "explore", zero=True)
        if self.explore > 1:
            raise ValueError(f"explore is a share, between 0 and 1; got {shown(self.explore)}.")

    def core(self, problem: Problem, side: str, seed: int) -> tuple[_core.Rule, dict[str, float]]:
        _refuse_score(self.score, problem, side)
        begun = time.perf_counter()
        at_zero = _search.at_zero(problem, side, self.score)
        find = _search.index(problem, side, at_zero, seed, self.breadth, self.links)
        seconds = time.perf_counter() - begun
        coordinates = _coordinates(problem, side)
        rule = _core.Rule(
            "search", GREEDY_SCORES[self.score], candidates=min(self.candidates, coordinates), explore=self.explore,
            search=find, coordinates=coordinates, apart=at_zero.apart, by_reading=at_zero.by_reading,
        )  # fmt: skip
        return rule, {"index": seconds}


ALL: dict[str, type[Rule]] = listed(Rule)


def get(given: str | Rule) -> Rule:
    """The rule with this name; a Rule is returned as it is."""
    return resolve("rule", given, ALL, Rule)


def _coordinates(problem: Problem, side: str) -> int:
    return problem.n_features + problem.intercept if side == "primal" else problem.n_samples


def _known_score(score: object) -> None:
    one_name("score", score, GREEDY_SCORES)


def _refuse_score(score: str, problem: Problem, side: str) -> None:
    if score == "gs" and not smooth(problem, side):
        kinks = "l1 = 0 and no bounds" if side == "primal" else "the squared loss"
        raise ValueError(f"The score 'gs' uses gradients only and needs {kinks} on the {side} side; use 'gs-s'.")
    if score in ("gs-r", "gs-q") and side == "primal" and not np.isfinite(problem.loss.smoothness):
        raise ValueError(
            f"The score {score!r} needs a bound on the loss's curvature; {problem.loss.name} has none. Use 'gs-s'."
        )


def smooth(problem: Problem, side: str) -> bool:
    """Whether the separable part of the objective (g, or phi* on the dual side) is smooth and unbounded."""
    if side == "dual":
        return problem.loss.quadratic
    return problem.penalty.smooth
