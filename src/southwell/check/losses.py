"""The losses and their conjugates, summed over samples and enclosed.

Margins are integers in a unit, which is a power of two. Dual points are kept as u_i = s_i y_i, integers in a rational
unit, so that sum_i s_i y_i = 0 and z = A'u are exact. The sums enclosed are

    sum_i s_i phi(m_i; b_i)        and        sum_i s_i phi*(u_i / s_i; b_i).

Every function returns Fractions (low, high). Irrational values are enclosed to ``bits`` binary digits after the
point; quotients are rounded outward to as many.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from operator import mul

from .enclosures import divided, dyadic, exponential, logarithm, two_to, x_log_x
from .matrices import Refused
from .proof import Proof

Enclosure = tuple[Fraction, Fraction]
LARGEST_EXPONENT = 4096  # exp of it, times the smallest weight, is larger than any float


class Column:
    """One output: its targets and the sample weights, as integers."""

    def __init__(self, proof: Proof, output: int):
        self.loss, self.parameter = proof.loss, Fraction(proof.parameter)
        self.weights, weight = dyadic(proof.s)
        self.weight = two_to(weight)
        self.targets = proof.b if proof.of_classes else proof.b[:, output]

    def domain(self, target: float) -> tuple[Fraction | None, Fraction | None]:
        """The ends of dom phi*; None is infinity."""
        one, zero = Fraction(1), Fraction(0)
        match self.loss:
            case "squared" | "squared_epsilon_insensitive":
                return None, None
            case "huber":
                return -self.parameter, self.parameter
            case "quantile":
                return -self.parameter, one - self.parameter
            case "epsilon_insensitive":
                return -one, one
            case "poisson":
                return -Fraction(target), None
            case "squared_hinge":
                return (None, zero) if target > 0 else (zero, None)
        return (-one, zero) if target > 0 else (zero, one)  # logistic, hinge, smooth_hinge


# phi*(y) = b y + eps |y| + (kappa/2) y^2 on the domain


def _curvature(column: Column) -> Fraction:
    if column.loss == "smooth_hinge":
        return column.parameter
    return Fraction(column.loss in ("squared", "squared_hinge", "huber", "squared_epsilon_insensitive"))


def _tube(column: Column) -> Fraction:
    return column.parameter if column.loss.endswith("epsilon_insensitive") else Fraction(0)


def primal(column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
    """sum_i s_i phi(m_i; b_i)."""
    if column.loss == "logistic":
        return _logistic(column, margins, unit, bits)
    if column.loss == "poisson":
        return _poisson(column, margins, unit, bits)
    value = _piecewise(column, margins, unit)
    return value, value


def dual(column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
    """sum_i s_i phi*(u_i / s_i; b_i); u must be in the domain."""
    if column.loss == "logistic":
        return _logistic_conjugate(column, u, unit, bits)
    if column.loss == "poisson":
        return _poisson_conjugate(column, u, unit, bits)
    targets, target = dyadic(column.targets)
    linear = sum(map(mul, targets, u)) * two_to(target) * unit + _tube(column) * sum(map(abs, u)) * unit
    kappa = _curvature(column)
    if kappa == 0:
        return linear, linear
    low, high = squares_by_weight(column, u, unit, bits)
    return linear + kappa / 2 * low, linear + kappa / 2 * high


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


def _piecewise(column: Column, margins: list[int], unit: Fraction) -> Fraction:
    """phi(m) = max over y in the domain of y r - eps |y| - (kappa/2) y^2 with r = m - b.

    With p = r moved towards 0 by eps the maximiser is p / kappa, or the end of the domain before it: inside,
    phi = p^2 / (2 kappa); at an end e, phi = e p - kappa e^2 / 2.
    """
    kappa, eps = _curvature(column), _tube(column)
    ends = {positive: column.domain(1.0 if positive else -1.0) for positive in (True, False)}
    marks = [kappa * end for pair in ends.values() for end in pair if end is not None]
    targets, exponent = dyadic(column.targets, unit, eps, *marks)
    finest = two_to(exponent)
    factor, tube = int(unit / finest), int(eps / finest)
    reach = {sign: [None if end is None else int(kappa * end / finest) for end in pair] for sign, pair in ends.items()}
    inside = 0
    at_end: dict[Fraction, list[int]] = defaultdict(lambda: [0, 0])
    for m, b, s in zip(margins, targets, column.weights, strict=True):
        own, r = b > 0, m * factor - b
        pull = r - tube if r > tube else r + tube if r < -tube else 0
        low, high = reach[own]
        if pull > 0 and high is not None and pull >= high:
            end = at_end[ends[own][1]]
        elif pull < 0 and low is not None and pull <= low:
            end = at_end[ends[own][0]]
        else:
            inside += s * pull * pull
            continue
        end[0] += s * pull
        end[1] += s
    total = inside * finest**2 / (2 * kappa) if inside else Fraction(0)
    for end, (pulls, mass) in at_end.items():
        total += end * pulls * finest - kappa / 2 * end * end * mass
    return total * column.weight


def _logistic(column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
    """log(1 + e^t) = max(t, 0) + log(1 + e^-|t|), t = -b m."""
    exponent = -unit.denominator.bit_length() + unit.numerator.bit_length()  # the unit is a power of two
    positive = low = high = 0
    one = 1 << bits
    for m, b, s in zip(margins, column.targets.tolist(), column.weights, strict=True):
        if not s:
            continue
        t = -m if b > 0 else m
        positive += s * max(t, 0)
        least, most = exponential(-abs(t), exponent, bits)
        below, above = logarithm(one + least, one, bits)
        low, high = low + s * below, high + s * (above + most - least)
    exact = positive * unit
    return (exact + Fraction(low, one)) * column.weight, (exact + Fraction(high, one)) * column.weight


def _logistic_conjugate(column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
    """t log t + (1 - t) log(1 - t), t = -b y."""
    ratio = unit / column.weight
    low = high = 0
    for one, s in zip(u, column.weights, strict=True):
        if one:
            n, whole = abs(one) * ratio.numerator, s * ratio.denominator
            a, b = x_log_x(n, whole, bits), x_log_x(whole - n, whole, bits)
            low, high = low + s * (a[0] + b[0]), high + s * (a[1] + b[1])
    return Fraction(low, 1 << bits) * column.weight, Fraction(high, 1 << bits) * column.weight


def _poisson(column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
    """e^m - b m."""
    exponent = -unit.denominator.bit_length() + unit.numerator.bit_length()
    targets, target = dyadic(column.targets)
    linear = low = high = 0
    for m, b, s in zip(margins, targets, column.weights, strict=True):
        if not s:
            continue
        if m * unit > LARGEST_EXPONENT:
            raise Refused("P(x) is larger than any float: a margin of the Poisson loss is above 4096")
        linear += s * b * m
        below, above = exponential(m, exponent, bits)
        low, high = low + s * below, high + s * above
    exact = linear * unit * two_to(target)
    return (Fraction(low, 1 << bits) - exact) * column.weight, (Fraction(high, 1 << bits) - exact) * column.weight


def _poisson_conjugate(column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
    """v log v - v, v = y + b."""
    targets, target = dyadic(column.targets)
    step, weighted = unit.denominator, two_to(target) * column.weight
    finest = Fraction(1, step * weighted.denominator)
    by_u, by_b = int(unit / finest), int(weighted / finest)
    ratio = finest / column.weight
    mass = low = high = 0
    for one, b, s in zip(u, targets, column.weights, strict=True):
        own = one * by_u + s * b * by_b  # s v
        if own:
            mass += own
            below, above = x_log_x(own * ratio.numerator, s * ratio.denominator, bits)
            low, high = low + s * below, high + s * above
    exact = mass * finest
    scale = column.weight / (1 << bits)
    return low * scale - exact, high * scale - exact
