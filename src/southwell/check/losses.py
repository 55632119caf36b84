"""The losses of one margin and their conjugates, summed over samples and enclosed.

A new loss is a class in this file; ``loss.py`` says what it must define.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from operator import mul

from .enclosures import dyadic, exponential, logarithm, two_to, x_log_x
from .loss import SIGNS, Column, Enclosure, Ends, Loss, squares_by_weight

ZERO, ONE = Fraction(0), Fraction(1)


def against(target: float, cap: Fraction | None) -> Ends:
    """y has the sign of minus the target, and at most the size ``cap``."""
    return (None if cap is None else -cap, ZERO) if target > 0 else (ZERO, cap)


class Piecewise(Loss):
    """phi*(y) = b y + eps |y| + (kappa/2) y^2 on the domain."""

    def kappa(self) -> Fraction:
        return ONE

    def eps(self) -> Fraction:
        return ZERO

    def domain(self, target: float) -> Ends:
        return None, None

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
        """phi(m) = max over y in the domain of y r - eps |y| - (kappa/2) y^2 with r = m - b.

        With p = r moved towards 0 by eps the maximiser is p / kappa, or the end of the domain before it: inside,
        phi = p^2 / (2 kappa); at an end e, phi = e p - kappa e^2 / 2.
        """
        kappa, eps = self.kappa(), self.eps()
        ends = {positive: self.domain(1.0 if positive else -1.0) for positive in (True, False)}
        marks = [kappa * end for pair in ends.values() for end in pair if end is not None]
        targets, exponent = dyadic(column.targets, unit, eps, *marks)
        finest = two_to(exponent)
        factor, tube = int(unit / finest), int(eps / finest)
        reach = {
            sign: [None if end is None else int(kappa * end / finest) for end in pair] for sign, pair in ends.items()
        }
        inside = 0
        at_end: dict[Fraction, list[int]] = defaultdict(lambda: [0, 0])
        for m, b, s in zip(margins, targets, column.weights, strict=True):
            own, r = b > 0, m * factor - b
            pull = r - tube if r > tube else r + tube if r < -tube else 0
            low, high = reach[own]
            end = None
            if pull > 0 and high is not None and pull >= high:
                end = ends[own][1]
            elif pull < 0 and low is not None and pull <= low:
                end = ends[own][0]
            if end is None:
                inside += s * pull * pull
            else:
                at_end[end][0] += s * pull
                at_end[end][1] += s
        total = inside * finest**2 / (2 * kappa) if inside else Fraction(0)
        for edge, (pulls, mass) in at_end.items():
            total += edge * pulls * finest - kappa / 2 * edge * edge * mass
        value = total * column.weight
        return value, value

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        targets, target = dyadic(column.targets)
        linear = sum(map(mul, targets, u)) * two_to(target) * unit + self.eps() * sum(map(abs, u)) * unit
        kappa = self.kappa()
        if kappa == 0:
            return linear, linear
        low, high = squares_by_weight(column, u, unit, bits)
        return linear + kappa / 2 * low, linear + kappa / 2 * high


class Squared(Piecewise):
    name = "squared"


class SmoothHinge(Piecewise):
    name, targets = "smooth_hinge", SIGNS
    allowed = staticmethod(lambda corner: corner > 0)

    def kappa(self) -> Fraction:
        return self.parameter

    def domain(self, target: float) -> Ends:
        return against(target, ONE)


class Hinge(Piecewise):
    name, targets = "hinge", SIGNS

    def kappa(self) -> Fraction:
        return ZERO

    def domain(self, target: float) -> Ends:
        return against(target, ONE)


class SquaredHinge(Piecewise):
    name, targets = "squared_hinge", SIGNS

    def domain(self, target: float) -> Ends:
        return against(target, None)


class Huber(Piecewise):
    name = "huber"
    allowed = staticmethod(lambda delta: delta > 0)

    def domain(self, target: float) -> Ends:
        return -self.parameter, self.parameter


class Quantile(Piecewise):
    name = "quantile"
    allowed = staticmethod(lambda q: 0 < q < 1)

    def kappa(self) -> Fraction:
        return ZERO

    def domain(self, target: float) -> Ends:
        return -self.parameter, ONE - self.parameter


class EpsilonInsensitive(Piecewise):
    name = "epsilon_insensitive"
    allowed = staticmethod(lambda epsilon: epsilon >= 0)

    def kappa(self) -> Fraction:
        return ZERO

    def eps(self) -> Fraction:
        return self.parameter

    def domain(self, target: float) -> Ends:
        return -ONE, ONE


class SquaredEpsilonInsensitive(Piecewise):
    name = "squared_epsilon_insensitive"
    allowed = staticmethod(lambda epsilon: epsilon >= 0)

    def eps(self) -> Fraction:
        return self.parameter


class Logistic(Loss):
    name, targets = "logistic", SIGNS

    def domain(self, target: float) -> Ends:
        return against(target, ONE)

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
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

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        """t log t + (1 - t) log(1 - t), t = -b y."""
        ratio = unit / column.weight
        low = high = 0
        for one, s in zip(u, column.weights, strict=True):
            if one:
                n, whole = abs(one) * ratio.numerator, s * ratio.denominator
                a, b = x_log_x(n, whole, bits), x_log_x(whole - n, whole, bits)
                low, high = low + s * (a[0] + b[0]), high + s * (a[1] + b[1])
        return Fraction(low, 1 << bits) * column.weight, Fraction(high, 1 << bits) * column.weight


class ModifiedHuber(Piecewise):
    name, targets = "modified_huber", SIGNS

    def kappa(self) -> Fraction:
        return ONE / 2

    def domain(self, target: float) -> Ends:
        return against(target, Fraction(4))
