"""What a loss must define, and what the losses share.

A loss is a subclass of ``Loss`` in ``losses.py`` or ``class_losses.py``, found by its name. Margins are integers in a
unit, which is a power of two. Dual points are kept as u_i = s_i y_i, integers in a rational unit, so that
sum_i s_i y_i = 0 and z = A'u are exact. The sums enclosed are

    sum_i s_i phi(m_i; b_i)        and        sum_i s_i phi*(u_i / s_i; b_i).

Every function returns Fractions (low, high). Irrational values are enclosed to ``bits`` binary digits after the
point; quotients are rounded outward to as many.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from .enclosures import divided, dyadic, two_to

if TYPE_CHECKING:
    from .proof import Proof

Enclosure = tuple[Fraction, Fraction]
Ends = tuple[Fraction | None, Fraction | None]
REAL, SIGNS, COUNTS, POSITIVE, CLASSES = "real", "signs", "counts", "positive", "classes"


class Loss:
    """A loss with its parameter; subclasses are in ``known``, by name."""

    known: ClassVar[dict[str, type[Loss]]] = {}
    name: ClassVar[str]
    targets: ClassVar[str] = REAL
    allowed: ClassVar[Callable[..., bool] | None] = None  # what the parameter may be; None: there is none
    ends_at_targets: ClassVar[bool] = False  # does dom phi* begin at -b? Otherwise only the sign of b matters

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            Loss.known[cls.name] = cls

    def __init__(self, parameter: Fraction) -> None:
        self.parameter = parameter

    def domain(self, target: float) -> Ends:
        """The ends of dom phi*; None is infinity."""
        raise NotImplementedError

    def primal(self, column: Column, margins: list[Any], unit: Fraction, bits: int) -> Enclosure:
        """sum_i s_i phi(m_i; b_i); margins of classes come output by output."""
        raise NotImplementedError

    def dual(self, column: Column, u: list[Any], unit: Fraction, bits: int) -> Enclosure:
        """sum_i s_i phi*(u_i / s_i; b_i); u must be in the domain."""
        raise NotImplementedError


class Column:
    """One output: its loss, its targets and the sample weights, as integers."""

    def __init__(self, proof: Proof, output: int) -> None:
        self.loss = Loss.known[proof.loss](Fraction(proof.parameter))
        self.weights, weight = dyadic(proof.s)
        self.weight = two_to(weight)
        self.targets = proof.b if proof.of_classes else proof.b[:, output]


def squares_by_weight(column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
    """sum_i u_i^2 / s_i."""
    scale = unit * unit / column.weight
    finer = max(bits + scale.numerator.bit_length() - scale.denominator.bit_length() + 1, 0)
    low = high = 0
    for one, s in zip(u, column.weights, strict=True):
        if one:
            below, above = divided(one * one << finer, s)
            low, high = low + below, high + above
    return low * scale / (1 << finer), high * scale / (1 << finer)
