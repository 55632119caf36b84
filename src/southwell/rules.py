"""Selection rules: which coordinate moves next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._names import resolve


class Rule:
    """Base of all rules."""

    name: ClassVar[str]


@dataclass(frozen=True)
class Cyclic(Rule):
    """0, 1, 2, ... in order: no random numbers, best use of memory."""

    name: ClassVar[str] = "cyclic"


@dataclass(frozen=True)
class Shuffled(Rule):
    """Each coordinate once an epoch, in a fresh random order."""

    name: ClassVar[str] = "shuffled"


@dataclass(frozen=True)
class Uniform(Rule):
    """Independent uniform draws: what most theorems assume."""

    name: ClassVar[str] = "uniform"


ALL: dict[str, type[Rule]] = {rule.name: rule for rule in (Cyclic, Shuffled, Uniform)}


def get(given: str | Rule) -> Rule:
    """A rule from its name or itself."""
    return resolve("rule", given, ALL, Rule)
