"""The penalties and their conjugates, exact or enclosed.

Slopes z = A'u come as integers Z in a unit, output by output. A conjugate g*(-z) may be infinite if l2 = 0; then
``scale`` is the factor by which y must be scaled towards 0 to make it finite.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np

from . import proof
from .enclosures import divided, dyadic, root, two_to
from .loss import Enclosure
from .matrices import Refused

GRID = 1 << 128  # scales are multiples of 1 / GRID, so that numbers stay short


def penalty_of(given: proof.ElasticNet | proof.Groups) -> ElasticNet | Groups:
    if isinstance(given, proof.ElasticNet):
        return ElasticNet(given)
    return {"groups": Groups, "max_groups": MaxGroups}[given.kind](given)


def _common(*numbers: Fraction) -> tuple[Fraction, list[int]]:
    """A unit in which all numbers are integers, and those integers."""
    unit = Fraction(1, lcm(*(number.denominator for number in numbers)))
    return unit, [int(number / unit) for number in numbers]


def _magnitude(number: Fraction) -> int:
    """The least integer k, or one more, with number < 2^k, for a number > 0."""
    return number.numerator.bit_length() - number.denominator.bit_length() + 1


class ElasticNet:
    """sum_j w_j l1 |x_j| + r_j (l2/2) x_j^2 on lower_j <= x_j <= upper_j, with exact products."""

    def __init__(self, given: proof.ElasticNet) -> None:
        self.l1, self.l2 = Fraction(given.l1), Fraction(given.l2)
        self.weights, exponent = dyadic(given.weights)
        self.weight = two_to(exponent)
        self.ridges, exponent = dyadic(given.ridge_weights)
        self.ridge = two_to(exponent)
        self.lower, self.upper = given.lower, given.upper
        self.bounds = list(zip(given.lower.tolist(), given.upper.tolist(), strict=True))
        self.bounded = bool(np.isfinite(given.lower).any() or np.isfinite(given.upper).any())

    def value(self, x: np.ndarray, bits: int) -> Enclosure:
        if (x < self.lower[:, None]).any() or (x > self.upper[:, None]).any():
            raise Refused("x lies outside its bounds: P(x) is infinite")
        numbers, exponent = dyadic(x.ravel())
        unit, k = two_to(exponent), x.shape[1]
        sizes = squares = 0
        for j, (w, r) in enumerate(zip(self.weights, self.ridges, strict=True)):
            for v in numbers[j * k : (j + 1) * k]:
                if v:
                    sizes, squares = sizes + w * abs(v), squares + r * v * v
        total = self.l1 * sizes * unit * self.weight + self.l2 / 2 * squares * unit * unit * self.ridge
        return total, total

    def free(self, z: list[int]) -> list[int]:
        """The unpenalised features of one output whose slope is not zero, as it must be."""
        held = self._held()
        return [j for j, one in enumerate(z) if one and not held[j] and self._open(j, one)]

    def _held(self) -> list[bool]:
        """Which coefficients have a penalty, the bounds apart."""
        pairs = zip(self.weights, self.ridges, strict=True)
        return [bool((self.l1 and w) or (self.l2 and r)) for w, r in pairs]

    def _open(self, j: int, slope: int) -> bool:
        """Whether x_j is unbounded in the direction of -slope."""
        low, high = self.bounds[j]
        return bool(high == inf if slope < 0 else low == -inf)

    def scale(self, z: list[list[int]], unit: Fraction, tight: bool) -> Fraction:
        """The largest scale t <= 1 of y with finite g*; with ``tight``, as if l2 were zero."""
        _, (by_z, by_w) = _common(unit, self.l1 * self.weight)
        top, bottom = 1, 1
        for column in z:
            for j, (one, w, r) in enumerate(zip(column, self.weights, self.ridges, strict=True)):
                size, limit = abs(one) * by_z, w * by_w
                needs = size > limit and (tight or self.l2 == 0 or r == 0) and self._open(j, one)
                if needs and limit * bottom < top * size:
                    top, bottom = limit, size
        return Fraction(top * GRID // bottom, GRID)

    def conjugate(self, z: list[list[int]], unit: Fraction, bits: int) -> Enclosure | None:
        """sum_j g_j*(-z_j); None if it is infinite."""
        step, (by_z, by_w) = _common(unit, self.l1 * self.weight)
        scale = step * step / (2 * self.l2 * self.ridge) if self.l2 else Fraction(1)
        finer = max(bits + scale.numerator.bit_length() - scale.denominator.bit_length() + 1, 0)
        low = high = 0
        others = [0, 0]
        for column in z:
            for j, (one, w, r) in enumerate(zip(column, self.weights, self.ridges, strict=True)):
                if self.bounded and self.bounds[j] != (-inf, inf):
                    value = self._bounded(j, -one * unit)
                    if value is None:
                        return None
                    below, above = divided(value.numerator << bits, value.denominator)
                    others[0] += below
                    others[1] += above
                elif (excess := abs(one) * by_z - w * by_w) > 0:
                    if self.l2 == 0 or r == 0:
                        return None
                    below, above = divided(excess * excess << finer, r)
                    low, high = low + below, high + above
        scale /= 1 << finer
        return low * scale + Fraction(others[0], 1 << bits), high * scale + Fraction(others[1], 1 << bits)

    def _bounded(self, j: int, v: Fraction) -> Fraction | None:
        """sup over x in the bounds of v x - l1 |x| - (l2/2) x^2."""
        l1, l2 = self.l1 * self.weights[j] * self.weight, self.l2 * self.ridges[j] * self.ridge
        low, high = (None if abs(end) == inf else Fraction(end) for end in self.bounds[j])
        pull = v - l1 if v > l1 else v + l1 if v < -l1 else Fraction(0)
        if l2 == 0 and pull:
            x = high if pull > 0 else low
            if x is None:
                return None
        else:
            x = pull / l2 if pull else pull
            x = low if low is not None and x < low else high if high is not None and x > high else x
        return v * x - l1 * abs(x) - l2 / 2 * x * x


class Groups:
    """sum_g strength_g ||X_g|| + l1 ||X||_1 + (l2/2) ||X||^2; norms differ in the methods that follow ``free``."""

    def __init__(self, given: proof.Groups) -> None:
        self.l1, self.l2, self.positive = Fraction(given.l1), Fraction(given.l2), given.positive
        self.strengths = [Fraction(one) for one in given.strengths.tolist()]
        self.members: list[list[int]] = [[] for _ in self.strengths]
        for j, g in enumerate(given.group_of.tolist()):
            self.members[g].append(j)

    def value(self, x: np.ndarray, bits: int) -> Enclosure:
        if self.positive and (x < 0).any():
            raise Refused("x lies outside its bounds: P(x) is infinite")
        numbers, exponent = dyadic(x.ravel())
        unit, k = two_to(exponent), x.shape[1]
        low = high = Fraction(0)
        for strength, members in zip(self.strengths, self.members, strict=True):
            block = [v for j in members for v in numbers[j * k : (j + 1) * k]]
            if any(block) and strength:
                finer = max(bits + _magnitude(strength), 0)  # errors of the norm are multiplied by the strength
                below, above = self._norm(block, unit, finer)
                low, high = low + strength * below / (1 << finer), high + strength * above / (1 << finer)
        exact = self.l1 * sum(map(abs, numbers)) * unit + self.l2 / 2 * sum(v * v for v in numbers) * unit * unit
        return exact + low, exact + high

    def free(self, z: list[int]) -> list[int]:
        """The unpenalised features of one output whose slope is not zero, as it must be; if coefficients are >= 0, that
        is negative."""
        if self.l1 or self.l2:
            return []
        groups = zip(self.strengths, self.members, strict=True)
        loose = (j for strength, members in groups if not strength for j in members)
        return [j for j in loose if (z[j] < 0 if self.positive else z[j])]

    def _norm(self, block: list[int], unit: Fraction, bits: int) -> tuple[Fraction | int, Fraction | int]:
        """The norm of a block, enclosed, times 2^bits."""
        return root(sum(v * v for v in block) * unit * unit, bits)

    def _inside(self, excess: list[int], limit: Fraction) -> bool:
        """Whether the dual norm of these numbers >= 0 is at most ``limit``."""
        return sum(one * one for one in excess) <= limit * limit

    def _square(self, excess: list[int], unit: Fraction, strength: Fraction, bits: int) -> Enclosure:
        """The square of the distance of these numbers from the dual ball of radius ``strength``, enclosed."""
        square = sum(one * one for one in excess) * unit * unit
        # Errors of the root are multiplied by the excess, which is less than the root, and divided by l2.
        finer = max(bits + _magnitude(square) // 2 + 2 - _magnitude(self.l2), 0)
        below, above = (max(Fraction(end, 1 << finer) - strength, Fraction(0)) for end in root(square, finer))
        return below * below, above * above

    def _blocks(self, z: list[list[int]]) -> Any:
        for strength, members in zip(self.strengths, self.members, strict=True):
            block = [max(-column[j], 0) if self.positive else abs(column[j]) for j in members for column in z]
            if any(block):
                yield strength, block

    def scale(self, z: list[list[int]], unit: Fraction, tight: bool) -> Fraction:
        best = GRID
        if self.l2 and not tight:
            return Fraction(1)
        step, (by_z, l1) = _common(unit, self.l1)
        for strength, block in self._blocks(z):
            limit = strength / step * GRID

            def fits(t: int, block: Any = block, limit: Any = limit) -> bool:
                return self._inside([max(one * by_z * t - l1 * GRID, 0) for one in block], limit)

            if fits(best):
                continue
            low, high = 0, best  # N*(soft(t v, l1)) rises with t
            while high - low > 1 + (high >> 80):
                middle = (low + high) // 2
                low, high = (middle, high) if fits(middle) else (low, middle)
            best = low
        return Fraction(best, GRID)

    def conjugate(self, z: list[list[int]], unit: Fraction, bits: int) -> Enclosure | None:
        """sum_g dist(soft(z_g, l1), strength_g times the dual ball)^2 / (2 l2); None if it is infinite."""
        step, (by_z, l1) = _common(unit, self.l1)
        low = high = Fraction(0)
        for strength, block in self._blocks(z):
            excess = [max(one * by_z - l1, 0) for one in block]
            if self._inside(excess, strength / step):
                continue
            if self.l2 == 0:
                return None
            # Errors of a root are multiplied by the excess, which is less than the root, and divided by l2.
            square = sum(one * one for one in excess) * step * step
            finer = max(bits + _magnitude(square) // 2 + 2 - _magnitude(self.l2), 0)
            below, above = self._square(excess, step, strength, finer)
            low, high = low + below, high + above
        return (low / (2 * self.l2), high / (2 * self.l2)) if self.l2 else (low, high)


class MaxGroups(Groups):
    """sum_g strength_g max |X_g| + l1 ||X||_1 + (l2/2) ||X||^2, whose dual norm is the sum of sizes: all is exact."""

    def _norm(self, block: list[int], unit: Fraction, bits: int) -> tuple[Fraction | int, Fraction | int]:
        exact = max(map(abs, block)) * unit * (1 << bits)
        return exact, exact

    def _inside(self, excess: list[int], limit: Fraction) -> bool:
        return sum(excess) <= limit

    def _square(self, excess: list[int], unit: Fraction, strength: Fraction, bits: int) -> Enclosure:
        """The nearest point of the ball lowers numbers above a level c to c, with sum_e max(w_e - c, 0) = strength."""
        numbers = sorted(excess, reverse=True)
        total, level = 0, Fraction(0)
        for count, one in enumerate(numbers, 1):
            total += one
            level = (total - strength / unit) / count
            if count == len(numbers) or numbers[count] <= level:
                break
        square = sum((min(Fraction(one), level) ** 2 for one in numbers), Fraction(0)) * unit * unit
        return square, square
