"""Studies, claims and verdicts: what is run, what a paper says, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .findings import Findings

if TYPE_CHECKING:
    from .bench import Bench

OUTCOMES = ("holds", "in part", "fails", "cannot tell")


@dataclass(frozen=True)
class Study:
    """An experiment of a paper: ``run(bench)`` returns what it measured."""

    name: str  # for the command line: "dgpd-classes"
    paper: str  # a key of PAPERS
    title: str
    where: str  # section, figure and table of the paper
    run: Callable[[Bench], Findings]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds here, why, and the numbers of each case that decided it."""

    outcome: str
    because: str  # sentences: what was compared, by which measure, and what came out
    cases: tuple[str, ...] = ()  # a line each

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"A verdict is one of {', '.join(OUTCOMES)}; got {self.outcome!r}.")


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper. ``judge`` is a function of the findings of the studies it names, by study."""

    name: str  # as in "D1"
    paper: str
    where: str
    says: str  # the claim in our words
    studies: tuple[str, ...]
    judge: Callable[[Mapping[str, Findings]], Verdict]
    differs: str = ""  # what is not as in the paper, in words
