"""The five papers, and the studies and claims of their subpackages."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._names import unknown
from .study import Claim, Study


@dataclass(frozen=True)
class Paper:
    """A paper: who wrote it, when, and what it is called."""

    authors: str
    year: int
    title: str
    short: str  # as in "DGPD"


PAPERS: Mapping[str, Paper] = {
    "dgpd": Paper(
        "Q. Lei, I. E. H. Yen, C. Wu, I. S. Dhillon and P. Ravikumar", 2017,
        "Doubly greedy primal-dual coordinate descent for sparse empirical risk minimization", "DGPD",
    ),
    "sampling": Paper(
        "D. Perekrestenko, V. Cevher and M. Jaggi", 2017,
        "Faster coordinate descent via adaptive importance sampling", "Adaptive sampling",
    ),
    "spdc": Paper(
        "Y. Zhang and L. Xiao", 2015,
        "Stochastic primal-dual coordinate method for regularized empirical risk minimization", "SPDC",
    ),
    "dspdc": Paper(
        "A. W. Yu, Q. Lin and T. Yang", 2015,
        "Doubly stochastic primal-dual coordinate method for bilinear saddle-point problem", "DSPDC",
    ),
    "hybrid": Paper(
        "H. Fang, G. Fang, T. Yu and P. Li", 2021,
        "Efficient greedy coordinate descent via variable partitioning", "Hybrid coordinate descent",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Registry:
    """Studies by name, and claims in the order of the papers."""

    studies: Mapping[str, Study]
    claims: tuple[Claim, ...]

    def chosen(self, names: Iterable[str]) -> list[Study]:
        """The studies that these names of papers and studies mean, each once, in order; all without names."""
        wanted = list(names)
        for name in wanted:
            if name not in self.studies and name not in PAPERS:
                raise _unknown(name, [*PAPERS, *self.studies])
        return [s for s in self.studies.values() if not wanted or s.name in wanted or s.paper in wanted]


def _unknown(name: str, known: list[str]) -> ValueError:
    """Names have hyphens here, where ``unknown`` compares with underscores."""
    told = str(unknown("study or paper", name, [each.replace("-", "_") for each in known]))
    return ValueError(told.replace("_", "-"))


def registry() -> Registry:
    """What the subpackages of the papers hold."""
    studies: dict[str, Study] = {}
    claims: list[Claim] = []
    for key in PAPERS:
        module = importlib.import_module(f"{__package__}.{key}")
        studies |= {study.name: study for study in module.STUDIES}
        claims += module.CLAIMS
    return Registry(studies, tuple(claims))
