"""A dual point that satisfies all constraints exactly, made from one that satisfies them up to rounding.

The point is kept as u_i = s_i y_i, integers times one unit. In these variables the constraints are on integers:

    u_i in s_i dom phi*,     sum_i u_i = 0 where there is an intercept,     z_j = sum_i a_ij u_i = 0 where x_j is free.

Any change of the point is allowed, since every feasible point gives a lower bound; only the constraints must hold.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from operator import mul
from typing import Any

import numpy as np

from .enclosures import dyadic, two_to
from .loss import Column
from .matrices import Design
from .penalties import ElasticNet, Groups
from .proof import Proof

REFINED = 64  # extra bits, so that rounding errors are negligible
MOST_FREE = 40  # unpenalised features whose slopes are made zero together
ROUNDS = 12


def is_feasible(proof: Proof, columns: list[Column], u: list[list[int]], unit: Fraction) -> bool:
    """Whether u_i / s_i is in dom phi* for all samples and, with an intercept, the sum of each column is zero.

    The proof relies on this check and on a finite conjugate of the penalty, not on how u was computed.
    """
    if proof.intercept and any(sum(column) for column in u):
        return False
    ratio = unit / columns[0].weight
    sizes = [s * ratio.denominator for s in columns[0].weights]  # s in units of u
    if proof.of_classes:
        labels = columns[0].targets.astype(int).tolist()
        if any(sum(row) for row in zip(*u, strict=True)):
            return False
        rows = zip(sizes, labels, zip(*u, strict=True), strict=True)
        return all(v * ratio.numerator >= (-size if c == b else 0) for size, b, row in rows for c, v in enumerate(row))
    for column, values in zip(columns, u, strict=True):
        for b, v, size in zip(column.targets.tolist(), values, sizes, strict=True):
            low, high = column.loss.domain(b)
            v *= ratio.numerator
            if low is not None and v * low.denominator < low.numerator * size:
                return False
            if high is not None and v * high.denominator > high.numerator * size:
                return False
    return True


class DualPoint:
    """u, output by output, its unit, and z = A'u in ``slope_unit``; ``reasons`` say what failed."""

    def __init__(self, proof: Proof, columns: list[Column], design: Design, penalty: ElasticNet | Groups) -> None:
        self.reasons: list[str] = []
        self._design, self._intercept = design, proof.intercept
        if proof.of_classes:
            self._classes(proof, columns[0], penalty)
        else:
            self._scalar(proof, columns, penalty)
        self.slope_unit = self.unit * two_to(design.exponent)

    def _classes(self, proof: Proof, column: Column, penalty: ElasticNet | Groups) -> None:
        start, self.unit, sizes = _in_simplex(proof, column)
        labels = column.targets.astype(int).tolist()
        self.u = balanced_classes(start, labels, sizes) if proof.intercept else start
        self.z = self._design.transposed_times(self.u)
        free: list[int] = []
        while more := sorted({j for z in self.z for j in penalty.free(z)} - set(free)):
            free = sorted({*free, *more})
            corrected = self._classes_without_slopes(start, labels, free)
            if corrected is None:
                self.u, self.z = [[0] * len(labels) for _ in self.u], [[0] * len(z) for z in self.z]
                return
            u, denominator = corrected
            # Scaled towards 0 until each sample has at most its weight.
            shares = [Fraction(-u[b][i], denominator * sizes[i]) for i, b in enumerate(labels) if sizes[i]]
            bottom = denominator * max([Fraction(1), *shares])
            self.u, self.z = u, self._design.transposed_times(u)
        if free:
            self.unit /= bottom

    def _classes_without_slopes(self, u: list[list[int]], labels: list[int],
                                free: list[int]) -> tuple[list[list[int]], int] | None:  # fmt: skip
        """u with the slopes of unpenalised features, and with an intercept the sums, exactly zero; and its denominator.

        The numbers u_ic >= 0 of the other classes c are free; that of class b is minus their sum. So a slope of class e
        is a sum over them of u_ic times a_ij ([c = e] - [b = e]); slopes of the first class are minus the sum of the
        others. Corrections are in proportion to u_ic, so that they keep its sign.
        """
        k = len(u)
        if (len(free) + self._intercept) * (k - 1) > MOST_FREE:
            self.reasons.append(
                f"more than {MOST_FREE} slopes of unpenalised features must vanish, which is not supported"
            )
            return None
        places = [(i, c) for i, b in enumerate(labels) for c in range(k) if c != b and u[c][i] > 0]
        given = [u[c][i] for i, c in places]
        columns = self._design.columns(free) + [[1] * len(labels)] * self._intercept
        constraints = [[a[i] * ((c == e) - (labels[i] == e)) for i, c in places] for a in columns for e in range(1, k)]
        rough = max(max(given, default=0).bit_length() - 60, 0)
        found = projected(given, [0] * len(given), [None] * len(given), [v >> rough for v in given], constraints)
        if found is None:
            self.reasons.append("y cannot be moved so that the slopes of unpenalised features are exactly zero")
            return None
        moved, denominator = found
        corrected = [[0] * len(labels) for _ in u]
        for (i, c), v in zip(places, moved, strict=True):
            corrected[c][i] = v
            corrected[labels[i]][i] -= v
        return corrected, denominator

    def _scalar(self, proof: Proof, columns: list[Column], penalty: ElasticNet | Groups) -> None:
        clipped, self.unit = _in_domain(proof, columns)
        start = [one[0] for one in clipped]
        self.u = [balanced(u) for u in start] if proof.intercept else start
        self.z = self._design.transposed_times(self.u)
        found = [penalty.free(z) for z in self.z]
        if not any(found):
            return
        self._denominator = 1  # all outputs have one unit: the denominators of their corrections are multiplied
        for c, (column, (u, low, high)) in enumerate(zip(columns, clipped, strict=True)):
            if found[c] and not self._without_slopes(c, column, u, low, high, penalty, found[c]):
                self.u[c], self.z[c] = [0] * len(u), [0] * len(self.z[c])

    def _without_slopes(self, c: int, column: Column, u: Any, low: Any, high: Any, penalty: Any,
                        free: list[int]) -> bool:  # fmt: skip
        """Make the slopes of unpenalised features, and with an intercept the sum, exactly zero."""
        everywhere: list[int] = []
        for _ in range(ROUNDS):
            everywhere = sorted({*everywhere, *free})
            if len(everywhere) + self._intercept > MOST_FREE:
                self.reasons.append(f"more than {MOST_FREE} features are unpenalised, which is not supported")
                return False
            constraints = self._design.columns(everywhere) + [[1] * len(u)] * self._intercept
            corrected = projected(u, low, high, column.weights, constraints)
            if corrected is None:
                self.reasons.append("y cannot be moved so that the slopes of unpenalised features are exactly zero")
                return False
            own, denominator = corrected
            z = self._design.transposed_times([own])[0]
            free = penalty.free(z)
            if not free:
                for other in range(len(self.u)):
                    factor = self._denominator if other == c else denominator
                    before = (own, z) if other == c else (self.u[other], self.z[other])
                    self.u[other], self.z[other] = ([v * factor for v in part] for part in before)
                self._denominator *= denominator
                self.unit /= denominator
                return True
        self.reasons.append("moving y for some unpenalised features broke others")
        return False


def _in_domain(proof: Proof, columns: list[Column]) -> tuple[list[tuple[Any, ...]], Fraction]:
    """u clipped to dom phi*, with its smallest and largest allowed values for each output, and the unit."""
    at_targets = columns[0].loss.ends_at_targets
    signs = (1.0,) if at_targets else (1.0, -1.0)
    ends = {end for sign in signs for end in columns[0].loss.domain(sign) if end is not None}
    values = np.concatenate([proof.y.ravel(), proof.b.ravel()]) if at_targets else proof.y.ravel()
    numbers, exponent = dyadic(values, *ends)
    unit, outputs = two_to(exponent), proof.outputs
    found = []
    for c, column in enumerate(columns):
        own = numbers[c : proof.samples * outputs : outputs]
        low: list[int | None]
        high: list[int | None]
        if at_targets:
            low = [-b for b in numbers[proof.samples * outputs + c :: outputs]]
            end = column.loss.domain(1.0)[1]
            high = [None if end is None else int(end / unit)] * len(own)
        else:
            positive, negative = (
                [None if end is None else int(end / unit) for end in column.loss.domain(sign)] for sign in (1.0, -1.0)
            )
            pairs = [positive if b > 0 else negative for b in column.targets.tolist()]
            low, high = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        clipped = []
        for y, least, most in zip(own, low, high, strict=True):
            y = least if least is not None and y < least else y
            clipped.append(most if most is not None and y > most else y)
        by = [s << REFINED for s in column.weights]
        found.append(tuple([None if v is None else v * s for v, s in zip(part, by, strict=True)]
                           for part in (clipped, low, high)))  # fmt: skip
    return found, unit * columns[0].weight / (1 << REFINED)


def _in_simplex(proof: Proof, column: Column) -> tuple[list[list[int]], Fraction, list[int]]:
    """y = p - e_b with p a probability vector: u output by output, the unit, and each s in it."""
    numbers, exponent = dyadic(proof.y.ravel(), Fraction(1))
    k, one = proof.outputs, 1 << (REFINED - exponent)
    columns: list[list[int]] = [[] for _ in range(k)]
    for i, (b, s) in enumerate(zip(column.targets.tolist(), column.weights, strict=True)):
        row = [max(v, 0) << REFINED for v in numbers[i * k : (i + 1) * k]]
        row[int(b)] = 0
        if (total := sum(row)) > one:
            row = [v * one // total for v in row]
        row[int(b)] = -sum(row)
        for c, v in enumerate(row):
            columns[c].append(v * s)
    return columns, two_to(exponent - REFINED) * column.weight, [s * one for s in column.weights]


def balanced(u: list[int]) -> list[int]:
    """u with sum zero: the positive or the negative part is scaled towards 0, which is in dom phi*."""
    total = sum(u)
    if total == 0:
        return u
    sign = 1 if total > 0 else -1
    size = sum(v for v in u if v * sign > 0) * sign
    wanted = size - abs(total)
    scaled, rests = list(u), []
    for i, v in enumerate(u):
        if v * sign > 0:
            part, rest = divmod(v * sign * wanted, size)
            scaled[i] = part * sign
            if rest:
                rests.append(i)
    for i in rests[: abs(sum(scaled))]:  # return what rounding down has taken, at most one unit each
        scaled[i] += sign
    return scaled


def balanced_classes(u: list[list[int]], labels: list[int], sizes: list[int]) -> list[list[int]]:
    """u with sum zero for each class: probability is moved from the own class of samples to other classes.

    Let e_c be the sum of column c. If e_c > 0, samples of class c move the excess to classes with e < 0, for which
    their own p_b must be large enough. If it is not, u is scaled towards 0 first, which makes p_b larger.
    """
    k, nothing = len(u), [[0] * len(labels) for _ in u]
    of_class: list[list[int]] = [[] for _ in range(k)]
    for i, b in enumerate(labels):
        of_class[b].append(i)
    for attempt in range(3):
        sums = [sum(column) for column in u]
        room = [[sizes[i] + u[c][i] for i in of_class[c]] for c in range(k)]
        rooms = [sum(own) for own in room]
        if all(e <= own for e, own in zip(sums, rooms, strict=True)):
            break
        whole = [sum(sizes[i] for i in members) for members in of_class]
        factor = min(Fraction(w, e + w - own) for e, w, own in zip(sums, whole, rooms, strict=True) if e > own)
        factor *= 1 - Fraction(1, 1 << 40)  # a margin for rounding errors
        if attempt == 2 or factor <= 0:
            return nothing
        top, bottom = int(factor * (1 << REFINED)), 1 << REFINED
        columns = [[v * top // bottom if v > 0 else 0 for v in column] for column in u]
        for i, b in enumerate(labels):
            columns[b][i] = -sum(column[i] for c, column in enumerate(columns) if c != b)
        u = columns
    u = [list(column) for column in u]
    for giver in range(k):
        for taker in range(k):
            amount = min(sums[giver], -sums[taker])
            if amount <= 0:
                continue
            sums[giver] -= amount
            sums[taker] += amount
            for i, part in zip(of_class[giver], _shared(amount, room[giver]), strict=True):
                u[taker][i] += part
                u[giver][i] -= part
    return u


def _shared(amount: int, room: list[int]) -> list[int]:
    """Divides the amount into parts proportional to ``room`` and at most as large, and subtracts them from ``room``."""
    total = sum(room)
    parts = [amount * own // total for own in room]
    rest = amount - sum(parts)
    for i, own in enumerate(room):
        more = min(rest, own - parts[i])
        parts[i] += more
        rest -= more
        room[i] -= parts[i]
    return parts


def projected(
    u: list[int], low: list[Any], high: list[Any], weights: list[int], constraints: list[list[int]]
) -> tuple[list[int], int] | None:
    """u' with sum_i a_i u'_i = 0 for each constraint a, times a common denominator, and that denominator; None if none
    is found.

    Samples strictly inside their domain are moved. If these cannot meet the constraints, all are, and the result is
    scaled towards 0 until it lies in the domain: constraints hold for its multiples too.
    """
    inside = [
        s > 0 and (least is None or v > least) and (most is None or v < most)
        for v, least, most, s in zip(u, low, high, weights, strict=True)
    ]
    return _projected(u, low, high, weights, constraints, inside) or _scaled(
        _projected(u, [None] * len(u), [None] * len(u), weights, constraints, [s > 0 for s in weights]), low, high
    )


def _scaled(found: tuple[list[int], int] | None, low: list[Any], high: list[Any]) -> tuple[list[int], int] | None:
    if found is None:
        return None
    u, denominator = found
    part = Fraction(1)
    for v, least, most in zip(u, low, high, strict=True):
        end = most if v > 0 else least
        if v == 0 or end is None or abs(v) <= abs(end) * denominator:
            continue
        if (end > 0) != (v > 0):  # 0 is not in the domain, or an end of it
            return None
        part = min(part, Fraction(end * denominator, v))
    return [v * part.numerator for v in u], denominator * part.denominator


def _projected(
    u: list[int], low: list[Any], high: list[Any], weights: list[int], constraints: list[list[int]], inside: list[bool]
) -> tuple[list[int], int] | None:
    """u' = u - s o (sum of w_a a) on the samples ``inside``: with G = sum_i s_i a_i a_i' over those,
    G w = sum_i a_i u_i. Samples that would leave their domain are fixed, and the rest is solved again.
    """
    wanted = [sum(map(mul, a, u)) for a in constraints]
    for _ in range(ROUNDS):
        held = [s if free else 0 for s, free in zip(weights, inside, strict=True)]
        weighed = [list(map(mul, a, held)) for a in constraints]
        gram = [[sum(map(mul, row, a)) for a in constraints] for row in weighed]
        solution, denominator = solved(gram, wanted)
        moved = [v * denominator for v in u]
        for w, row in zip(solution, weighed, strict=True):
            if w:
                moved = [v - w * a for v, a in zip(moved, row, strict=True)]
        outside = [
            i
            for i, (v, least, most) in enumerate(zip(moved, low, high, strict=True))
            if (least is not None and v < least * denominator) or (most is not None and v > most * denominator)
        ]
        if not outside:
            exact = not any(sum(map(mul, a, moved)) for a in constraints)
            return (moved, denominator) if exact else None
        for i in outside:
            inside[i] = False
    return None


def solved(matrix: list[list[int]], right: list[int]) -> tuple[list[int], int]:
    """Integers W and d > 0 with matrix (W / d) = right, by elimination without fractions (Bareiss 1968).

    The matrix is symmetric and positive semi-definite: if a diagonal entry is zero, its row is zero and is left out.
    """
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    before, used = 1, []
    for p in range(len(rows)):
        pivot = rows[p][p]
        if pivot == 0:
            continue
        for i, row in enumerate(rows):
            if i != p:
                factor = row[p]
                rows[i] = [(pivot * a - factor * b) // before for a, b in zip(row, rows[p], strict=True)]
        before = pivot
        used.append(p)
    solution = [rows[p][-1] if p in used else 0 for p in range(len(rows))]
    common = gcd(before, *solution)
    return [w // common for w in solution], before // common
