"""The losses of one margin with a log link and their conjugates, summed over samples and enclosed.

A new loss is a class in this file; ``loss.py`` says what it must define.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from .enclosures import dyadic, exponential, logarithm, shifted, two_to, x_log_x
from .loss import COUNTS, POSITIVE, Column, Enclosure, Ends, Loss
from .matrices import Refused

LARGEST_EXPONENT = 4096  # exp of it, times the smallest weight, is larger than any float


def exponentials(column: Column, margins: list[int], unit: Fraction, rate: Fraction, bits: int,
                 times: list[int] | None = None) -> Enclosure:  # fmt: skip
    """sum_i s_i e^(rate m_i) for a dyadic rate, each term ``times`` so many."""
    step = rate * unit
    exponent = 1 - step.denominator.bit_length()
    low = high = 0
    for m, s, t in zip(margins, column.weights, times or [1] * len(margins), strict=True):
        if not s * t:
            continue
        if m * step > LARGEST_EXPONENT:
            raise Refused(
                f"P(x) is larger than any float: the {column.loss.name} loss takes e to a power above "
                f"{LARGEST_EXPONENT}, because a margin is so large"
            )
        below, above = exponential(m * step.numerator, exponent, bits)
        low, high = low + s * t * below, high + s * t * above
    return low * column.weight / (1 << bits), high * column.weight / (1 << bits)


def plus(column: Column, u: list[int], unit: Fraction, sign: int, numbers: Iterable[int],
         exponent: int) -> tuple[list[int], Fraction]:  # fmt: skip
    """s_i (k_i + sign y_i), for k_i given as integers and an exponent: integers and their unit."""
    weighted = two_to(exponent) * column.weight
    finest = Fraction(1, unit.denominator * weighted.denominator)
    by_u, by_k = sign * int(unit / finest), int(weighted / finest)
    return [v * by_u + s * k * by_k for v, s, k in zip(u, column.weights, numbers, strict=True)], finest


def entropies(column: Column, masses: list[int], unit: Fraction, bits: int) -> Enclosure:
    """sum_i s_i v_i log v_i, for s_i v_i given as integers in a unit."""
    ratio = unit / column.weight
    low = high = 0
    for own, s in zip(masses, column.weights, strict=True):
        if own:
            below, above = x_log_x(own * ratio.numerator, s * ratio.denominator, bits)
            low, high = low + s * below, high + s * above
    return low * column.weight / (1 << bits), high * column.weight / (1 << bits)


def sums(*parts: Enclosure | Fraction) -> Enclosure:
    pairs = [part if isinstance(part, tuple) else (part, part) for part in parts]
    return sum((low for low, _ in pairs), Fraction(0)), sum((high for _, high in pairs), Fraction(0))


def times(factor: Fraction, of: Enclosure) -> Enclosure:
    low, high = factor * of[0], factor * of[1]
    return (low, high) if factor >= 0 else (high, low)


def linear(column: Column, margins: list[int], unit: Fraction, by: list[int]) -> Fraction:
    """sum_i s_i k_i m_i."""
    return sum(s * k * m for m, k, s in zip(margins, by, column.weights, strict=True)) * unit * column.weight


class Poisson(Loss):
    name, targets = "poisson", COUNTS
    ends_at_targets = True

    def domain(self, target: float) -> Ends:
        return -Fraction(target), None

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
        """e^m - b m."""
        targets, target = dyadic(column.targets)
        exact = linear(column, margins, unit, targets) * two_to(target)
        return sums(exponentials(column, margins, unit, Fraction(1), bits), -exact)

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        """v log v - v, v = y + b."""
        masses, finest = plus(column, u, unit, 1, *dyadic(column.targets))
        return sums(entropies(column, masses, finest, bits), -sum(masses) * finest)


class Gamma(Loss):
    name, targets = "gamma", POSITIVE

    def domain(self, target: float) -> Ends:
        return None, Fraction(1)

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
        """m + b e^-m."""
        targets, target = dyadic(column.targets)
        of_targets = exponentials(column, margins, unit, Fraction(-1), bits, targets)
        return sums(times(two_to(target), of_targets), linear(column, margins, unit, [1] * len(margins)))

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        """v log v - v - v log b, v = 1 - y."""
        masses, finest = plus(column, u, unit, -1, [1] * len(u), 0)
        low = high = 0
        for v, b in zip(masses, column.targets.tolist(), strict=True):
            top, bottom = b.as_integer_ratio()
            below, above = logarithm(top, bottom, bits)
            low, high = low - v * above, high - v * below
        scale = finest / (1 << bits)
        return sums(entropies(column, masses, finest, bits), -sum(masses) * finest, (low * scale, high * scale))


class NegativeBinomial(Loss):
    name, targets = "negative_binomial", COUNTS
    allowed = staticmethod(lambda theta: theta > 0)
    ends_at_targets = True

    def domain(self, target: float) -> Ends:
        return -Fraction(target), self.parameter

    def _log_theta(self, bits: int) -> Enclosure:
        low, high = logarithm(self.parameter.numerator, self.parameter.denominator, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
        """(b + theta) (log(theta + e^m) - log theta) - b m; for m > 0, log(theta + e^m) = m + log(1 + theta e^-m)."""
        numbers, exponent = dyadic(column.targets, self.parameter)
        theta, scale = int(self.parameter / two_to(exponent)), two_to(exponent) * column.weight
        size, one = unit.numerator.bit_length() - unit.denominator.bit_length(), 1 << bits
        top, bottom = self.parameter.as_integer_ratio()
        whole = exact = low = high = 0
        for m, b, s in zip(margins, numbers, column.weights, strict=True):
            share = s * (b + theta)
            whole += share
            exact += share * max(m, 0) - s * b * m
            for side, e in enumerate(exponential(-abs(m), size, bits)):
                ratio = (bottom * one + top * e, bottom * one) if m > 0 else (top * one + bottom * e, bottom * one)
                value = share * logarithm(ratio[0], ratio[1], bits)[side]
                low, high = low + value * (side == 0), high + value * (side == 1)
        enclosed = Fraction(low, one) * scale, Fraction(high, one) * scale
        return sums(enclosed, exact * unit * scale, times(-whole * scale, self._log_theta(bits)))

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        """v log v + w log w - N log N + v log theta, v = y + b, w = theta - y, N = b + theta."""
        numbers, exponent = dyadic(column.targets, self.parameter)
        theta = int(self.parameter / two_to(exponent))
        v = plus(column, u, unit, 1, numbers, exponent)
        w = plus(column, u, unit, -1, [theta] * len(u), exponent)
        both = plus(column, [0] * len(u), unit, 1, [b + theta for b in numbers], exponent)
        mixed = [entropies(column, *masses, bits) for masses in (v, w, both)]
        return sums(mixed[0], mixed[1], times(Fraction(-1), mixed[2]), times(sum(v[0]) * v[1], self._log_theta(bits)))


class Tweedie(Loss):
    """phi(m) = e^(a m) / a + b e^(-c m) / c with a = 2 - power, c = power - 1."""

    name, targets = "tweedie", COUNTS
    allowed = staticmethod(lambda power: 1 < power < 2)

    @property
    def a(self) -> Fraction:
        return 2 - self.parameter

    @property
    def c(self) -> Fraction:
        return self.parameter - 1

    def domain(self, target: float) -> Ends:
        return (None if target > 0 else Fraction(0)), None

    def primal(self, column: Column, margins: list[int], unit: Fraction, bits: int) -> Enclosure:
        targets, target = dyadic(column.targets)
        up = exponentials(column, margins, unit, self.a, bits)
        down = exponentials(column, margins, unit, -self.c, bits, targets)
        return sums(times(1 / self.a, up), times(two_to(target) / self.c, down))

    def dual(self, column: Column, u: list[int], unit: Fraction, bits: int) -> Enclosure:
        """y log y - y for b = 0, over a. Else y m - phi(m) at the m where phi' = y: it is concave in m, so if that m is
        between l and h, the value is between that at l and that plus (y - phi'(l)) (h - l)."""
        ratio, flat = unit / column.weight, [v if b == 0 else 0 for v, b in zip(u, column.targets, strict=True)]
        closed = sums(entropies(column, flat, unit, bits), -sum(flat) * unit)
        found = []
        for v, b, s in zip(u, column.targets.tolist(), column.weights, strict=True):
            if b > 0 and s:
                low, high = self._conjugate(Fraction(v, s) * ratio, Fraction(b), bits)
                scale = s * column.weight
                found.append((scale * low, scale * high))
        return sums(times(1 / self.a, closed), *found)

    def _conjugate(self, y: Fraction, b: Fraction, bits: int) -> Enclosure:
        guess = Fraction(self._margin(y, b))
        apart = (1 + abs(guess)) / (1 << 44)
        for _ in range(bits):
            low, high = guess - apart, guess + apart
            (up, down), (far_up, far_down) = self._powers(low, bits), self._powers(high, bits)
            slope = up[0] - b * down[1], up[1] - b * down[0]
            if slope[1] <= y <= far_up[0] - b * far_down[1]:
                value = sums(y * low, times(-1 / self.a, up), times(-b / self.c, down))
                raised = value[1] + (y - slope[0]) * 2 * apart
                return _outward(value[0], raised, bits + 8)
            apart *= 4
        raise Refused("a conjugate of the Tweedie loss could not be enclosed")

    def _powers(self, m: Fraction, bits: int) -> tuple[Enclosure, Enclosure]:
        """e^(a m) and e^(-c m)."""
        found = []
        for power in (self.a * m, -self.c * m):
            low, high = exponential(power.numerator, 1 - power.denominator.bit_length(), bits)
            found.append((Fraction(low, 1 << bits), Fraction(high, 1 << bits)))
        return found[0], found[1]

    def _margin(self, y: Fraction, b: Fraction) -> float:
        """About where phi' = y: a m = log(y + b e^(-c m)); for y < 0 the same of -m, a and c exchanged."""
        a, c, own = float(self.a), float(self.c), _log(b)
        if y == 0:
            return own
        size, sign = _log(abs(y)), 1
        if y < 0:
            a, c, size, own, sign = c, a, size - own, -own, -1
        m = max(size / a, own)
        for _ in range(60):
            other = own - c * m
            top = max(size, other)
            share = 1 / (1 + math.exp(min(size - other, 700.0)))
            m -= (a * m - top - math.log1p(math.exp(-abs(size - other)))) / (a + c * share)
        return sign * m


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _outward(low: Fraction, high: Fraction, bits: int) -> Enclosure:
    """The same with few digits, rounded outward."""
    return (
        Fraction(shifted(low.numerator, bits) // low.denominator, 1 << bits),
        Fraction(-(shifted(-high.numerator, bits) // high.denominator), 1 << bits),
    )
