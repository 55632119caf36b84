"""Whether a proof file proves what it claims."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .dual_point import DualPoint, is_feasible
from .enclosures import dyadic, integers, lowest_exponent, two_to
from .loss import Column, Enclosure
from .matrices import Design, Matrix, Refused
from .penalties import ElasticNet, Groups, penalty_of
from .proof import DATA, Proof, read


@dataclass(frozen=True)
class Verdict:
    """The result of a check. Its truth value is ``verified``.

    Attributes
    ----------
    verified : bool
        The claims hold: P(x) <= primal_at_most, and no x has an objective below dual_at_least.
    reasons : tuple of str
        Why the claims are not verified; empty if they are.
    statement : str
        The problem that the proof is about, in words; empty if the file could not be read.
    primal_at_most, dual_at_least : float or None
        The claims.
    primal, dual : (Fraction, Fraction) or None
        Lower and upper bounds of P(x), and of D(y') for the feasible y' that was found.
    """

    verified: bool
    reasons: tuple[str, ...]
    statement: str = ""
    primal_at_most: float | None = None
    dual_at_least: float | None = None
    primal: Enclosure | None = None
    dual: Enclosure | None = None

    @property
    def gap(self) -> float:
        """The proven bound on P(x) minus the optimum, rounded up; infinity if nothing is proven."""
        if not self.verified or self.primal_at_most is None or self.dual_at_least is None:
            return math.inf
        exact = Fraction(self.primal_at_most) - Fraction(self.dual_at_least)
        rounded = self.primal_at_most - self.dual_at_least
        return rounded if rounded >= exact else math.nextafter(rounded, math.inf)

    def __bool__(self) -> bool:
        return self.verified

    def __str__(self) -> str:
        lines = [f"VERIFIED: the optimum is within {self.gap:.6g} of P(x)" if self.verified else "NOT VERIFIED"]
        lines += [f"  because   {reason}" for reason in self.reasons]
        lines += [f"  problem   {self.statement}"] * bool(self.statement)
        for name, claim, sign, found in (
            ("P(x)", self.primal_at_most, "<=", self.primal),
            ("D(y)", self.dual_at_least, ">=", self.dual),
        ):
            if claim is not None:
                value = "not computed" if found is None else f"{_nearest(found[0]):.17g}"
                lines.append(f"  {name}      {value}   (claimed: {sign} {claim:.17g})")
        return "\n".join(lines)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def verify(path: str | os.PathLike[str], A: Any, b: Any, sample_weight: Any = None, offset: Any = None) -> Verdict:
    """Check a proof file against the data, in exact arithmetic.

    Parameters
    ----------
    path : str or path
        A file that ``write_proof`` wrote.
    A : array, sparse matrix (CSR, CSC or COO), or a pair (U, V)
        The data of the proof; ``Centred`` and ``Factorised`` of southwell are accepted too. Numbers are converted to
        float64. For centred data give A before centring: the means are in the file.
    b : array
        The targets.
    sample_weight : array, optional
        The sample weights, in any unit. None: equal weights; a proof for other weights is then not verified.
    offset : array, optional
        What is added to the margins. Of losses of a difference m - b it is subtracted from b, as in southwell.

    Returns
    -------
    Verdict
        ``verified`` and, if it is False, ``reasons``. A file that is damaged, belongs to other data or claims too much
        is never verified.

    Raises
    ------
    OSError
        If the file cannot be opened or read.
    TypeError
        If A, b or sample_weight are not arrays of numbers.
    """
    proof = None
    try:
        proof = read(path)
        design = _same_data(proof, A, b, sample_weight, offset)
        if proof.primal_at_most < proof.dual_at_least:
            raise Refused("its claims contradict each other: primal_at_most is less than dual_at_least")
        primal, dual, reasons = _bounds(proof, design)
    except Refused as refusal:
        if proof is None:
            return Verdict(False, (str(refusal),))
        return Verdict(False, (str(refusal),), proof.statement, proof.primal_at_most, proof.dual_at_least)
    return Verdict(
        not reasons, tuple(reasons), proof.statement, proof.primal_at_most, proof.dual_at_least, primal, dual
    )


def _same_data(proof: Proof, A: Any, b: Any, sample_weight: Any, offset: Any) -> Design:
    """The design, if the data are those of the proof."""
    names = DATA[proof.data]
    if type(A).__name__ == "Factorised":
        A = A.U, A.V
    elif type(A).__name__ == "Centred":
        if proof.data != "centred" or (A.means is not None and not np.array_equal(A.means, np.asarray(proof.means))):
            raise Refused("the data are centred in another way than those of the proof")
        A = A.A
    given = list(A) if isinstance(A, tuple) else [A]
    if len(given) != len(names):
        raise Refused(f"the proof is about {proof.data} data, {' and '.join(names)}; {len(given)} matrices were given")
    parts = [Matrix(one, name) for one, name in zip(given, names, strict=True)]
    for part, name in zip(parts, names, strict=True):
        if part.sha256 != proof.hashes[name]:
            raise Refused(
                f"{name}, of shape {part.shape}, is not the one of the proof, which has {proof.samples} samples and "
                f"{proof.features} features: the SHA-256 differs"
            )
    if (parts[0].shape[0], parts[-1].shape[1]) != (proof.samples, proof.features):
        raise Refused("the shape of the data is not the one the proof states")
    if len(parts) == 2 and parts[0].shape[1] != parts[1].shape[0]:
        raise Refused("the inner sizes of the factors do not agree")
    if offset is not None and proof.offset is None:
        targets, added = np.asarray(b, np.float64), np.asarray(offset, np.float64)
        if targets.shape[0] != added.shape[0]:
            raise Refused(f"offset has {added.shape[0]} rows; b has {targets.shape[0]}")
        b = targets - added.reshape(added.shape[0], *[1] * (targets.ndim - added.ndim), *added.shape[1:])
    elif proof.offset is not None:
        same = offset is not None and np.asarray(offset).shape[:1] == (proof.samples,)
        table = np.asarray(offset, np.float64).reshape(proof.samples, -1) if same else None
        if table is None or not np.array_equal(np.broadcast_to(table, proof.offset.shape), proof.offset):
            raise Refused("the proof is for other offsets; pass those of the problem as offset")
    if Matrix(b, "b").sha256 != proof.hashes["b"]:
        raise Refused("b is not the one of the proof: the SHA-256 differs")
    _same_weights(proof.s, sample_weight)
    return Design(parts, proof.means)


def _same_weights(s: np.ndarray, given: Any) -> None:
    """Weights must agree up to the rounding of their division by their sum."""
    if given is None:
        if (s != s[0]).any():
            raise Refused("the proof is for samples of unequal weight; pass them as sample_weight")
        return
    weights = Matrix(given, "sample_weight")
    if weights.shape != (s.size, 1):
        raise Refused(f"sample_weight has shape {weights.shape}; the proof has {s.size} samples")
    numbers = weights.columns([0])[0]
    own, exponent = dyadic(s)
    total, unit = sum(numbers), two_to(-exponent)
    slack = Fraction(s.size + 8, 1 << 50)
    if total <= 0 or any(abs(v * total - w * unit) > slack * w * unit for v, w in zip(own, numbers, strict=True)):
        raise Refused("sample_weight is not proportional to the weights of the proof")


def _bounds(proof: Proof, design: Design) -> tuple[Enclosure, Enclosure, list[str]]:
    """Enclosures of P(x) and of D at a feasible point, precise enough to decide, and the reasons against the claims."""
    columns = [Column(proof, c) for c in range(1 if proof.of_classes else proof.outputs)]
    penalty = penalty_of(proof.penalty)
    margins, unit = _margins(proof, design)
    upper, lower = Fraction(proof.primal_at_most), Fraction(proof.dual_at_least)
    first = _first_bits(proof)
    for bits in (first, 4 * first):
        values = [_value(columns, margins, unit, bits), penalty.value(proof.x, bits)]
        primal = _total(values)
        if primal[1] <= upper or primal[0] > upper:
            break
    point = DualPoint(proof, columns, design, penalty)
    for bits in (first, max(4 * first, 80 - math.frexp(proof.dual_at_least)[1])):  # it may be tiny beside P(x)
        dual = _best_dual(proof, columns, penalty, point, lower, bits)
        if dual[0] >= lower or dual[1] < lower:
            break
    reasons = []
    if not primal[1] <= upper:
        reasons.append(f"P(x) is not proven to be at most {proof.primal_at_most!r}: it is {_nearest(primal[1])!r}")
    if not dual[0] >= lower:
        reasons.append(f"D is not proven to be at least {proof.dual_at_least!r}: it is {_nearest(dual[0])!r}")
        reasons += point.reasons
    return primal, dual, reasons


def _first_bits(proof: Proof) -> int:
    """80 bits of the claims. If these do not decide, four times as many do, unless a claim is the exact value."""
    size = max(abs(proof.primal_at_most), abs(proof.dual_at_least))
    return max(80 - math.frexp(size)[1], 64)


def _margins(proof: Proof, design: Design) -> tuple[list[list[int]], Fraction]:
    """A x + c and the offsets, output by output, and the unit, a power of two."""
    numbers, exponent = dyadic(proof.x.ravel())
    products = design.times([numbers[c :: proof.outputs] for c in range(proof.outputs)])
    own = design.exponent + exponent
    added = np.zeros((proof.samples, proof.outputs)) if proof.offset is None else proof.offset
    lowest = (lowest_exponent(proof.c), lowest_exponent(added.ravel()))
    finest = min([own, *(exponent for exponent in lowest if exponent is not None)])
    shifts = integers(proof.c, finest)
    margins = [
        [(m << own - finest) + c + o for m, o in zip(column, integers(offset, finest), strict=True)]
        for column, c, offset in zip(products, shifts, added.T, strict=True)
    ]
    return margins, two_to(finest)


def _along_offset(proof: Proof, u: list[list[Any]], unit: Fraction) -> Fraction:
    """sum_i s_i <o_i, y_i>, which phi* is less by: phi(m + o) has the conjugate phi*(y) - <o, y>."""
    if proof.offset is None:
        return Fraction(0)
    numbers, exponent = dyadic(proof.offset.ravel())
    pairs = (zip(column, numbers[c :: proof.outputs], strict=True) for c, column in enumerate(u))
    return Fraction(sum(v * o for pair in pairs for v, o in pair)) * two_to(exponent) * unit


def _value(columns: list[Column], margins: list[list[int]], unit: Fraction, bits: int) -> Enclosure:
    if len(columns) < len(margins):
        return columns[0].loss.primal(columns[0], margins, unit, bits)
    found = [column.loss.primal(column, one, unit, bits) for column, one in zip(columns, margins, strict=True)]
    return _total(found)


def _total(parts: list[Enclosure]) -> Enclosure:
    return sum((low for low, _ in parts), Fraction(0)), sum((high for _, high in parts), Fraction(0))


def _best_dual(
    proof: Proof, columns: list[Column], penalty: ElasticNet | Groups, point: DualPoint, wanted: Fraction, bits: int
) -> Enclosure:
    """D at three points: u scaled as little as necessary, u scaled as if l2 were zero, and 0. Returns the first that is
    high enough, or what the best is between: at these bits it may not be known which that is."""
    found = []
    for choice in (False, True, None):
        scale = Fraction(0) if choice is None else penalty.scale(point.z, point.slope_unit, choice)
        unit = scale * point.unit
        if not is_feasible(proof, columns, point.u, unit):
            continue
        slopes = penalty.conjugate(point.z, scale * point.slope_unit, bits)
        if slopes is None:
            continue
        if proof.of_classes:
            own = [columns[0].loss.dual(columns[0], point.u, unit, bits)]
        else:
            own = [column.loss.dual(column, u, unit, bits) for column, u in zip(columns, point.u, strict=True)]
        along = _along_offset(proof, point.u, unit)
        own.append((-along, -along))
        low, high = (slopes[k] + sum(pair[k] for pair in own) for k in (0, 1))
        found.append((-high, -low))
        if -high >= wanted:
            return -high, -low
    if not found:
        raise Refused("no feasible dual point was found")
    return max(low for low, _ in found), max(high for _, high in found)
