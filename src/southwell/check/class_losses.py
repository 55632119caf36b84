"""The losses over classes and their conjugates, as in ``losses.py``.

Dual points are y = p - e_b, p a probability vector and b the class of the sample: entries are >= 0 except that of class
b, which is minus the sum of the others and at least -1.
"""

from __future__ import annotations

from fractions import Fraction

from .enclosures import divided, exponential, logarithm, x_log_x
from .losses import Column, Enclosure, squares_by_weight


def primal(column: Column, margins: list[list[int]], unit: Fraction, bits: int) -> Enclosure:
    """sum_i s_i phi(m_i; b_i), of margins output by output."""
    value = _softmax if column.loss == "softmax" else _hinge
    return value(column, list(zip(*margins, strict=True)), unit, bits)


def dual(column: Column, u: list[list[int]], unit: Fraction, bits: int) -> Enclosure:
    """sum_i s_i phi*(u_i / s_i; b_i)."""
    if column.loss == "softmax":
        return _softmax_conjugate(column, list(zip(*u, strict=True)), unit, bits)
    own = sum(u[int(b)][i] for i, b in enumerate(column.targets)) * unit  # phi*(y) = y_b + (corner/2) ||y||^2
    squares = [squares_by_weight(column, one, unit, bits) for one in u]
    low, high = (own + column.parameter / 2 * sum(pair[k] for pair in squares) for k in (0, 1))
    return low, high


def _softmax(column: Column, margins: list[tuple[int, ...]], unit: Fraction, bits: int) -> Enclosure:
    """log sum_c exp(m_c) - m_b = m_top - m_b + log sum_c exp(m_c - m_top)."""
    exponent = -unit.denominator.bit_length() + unit.numerator.bit_length()
    lead = low = high = 0
    one = 1 << bits
    for row, b, s in zip(margins, column.targets.tolist(), column.weights, strict=True):
        if not s:
            continue
        top = max(row)
        lead += s * (top - row[int(b)])
        terms = [(one, one) if m == top else exponential(m - top, exponent, bits) for m in row]
        least, most = (sum(pair[k] for pair in terms) for k in (0, 1))
        below, above = logarithm(least, one, bits)
        low, high = low + s * below, high + s * (above + most - least)  # the slope of log is at most 1 above 1
    exact = lead * unit
    return (exact + Fraction(low, one)) * column.weight, (exact + Fraction(high, one)) * column.weight


def _softmax_conjugate(column: Column, u: list[tuple[int, ...]], unit: Fraction, bits: int) -> Enclosure:
    """sum_c p_c log p_c."""
    ratio = unit / column.weight
    low = high = 0
    for row, b, s in zip(u, column.targets.tolist(), column.weights, strict=True):
        if not s:
            continue
        whole = s * ratio.denominator
        for c, one in enumerate(row):
            below, above = x_log_x(one * ratio.numerator + (whole if c == b else 0), whole, bits)
            low, high = low + s * below, high + s * above
    return Fraction(low, 1 << bits) * column.weight, Fraction(high, 1 << bits) * column.weight


def _hinge(column: Column, margins: list[tuple[int, ...]], unit: Fraction, bits: int) -> Enclosure:
    """max over probability vectors p of <y, q> - (corner/2) ||y||^2 with y = p - e_b, q_c = m_c - m_b + [c != b].

    The maximiser p is the projection of q / corner + e_b onto the simplex: a threshold is subtracted from its entries,
    and what is below 0 is set to 0 (Held, Wolfe and Crowder 1974). In integers: corner p_c = max(v_c - h, 0) with
    v = q + corner e_b and h = (the sum of the largest v - corner) / their number.
    """
    step = Fraction(1, max(unit.denominator, column.parameter.denominator))
    factor, one, corner = int(unit / step), int(1 / step), int(column.parameter / step)
    scale = step * step / (2 * column.parameter)
    finer = max(bits + scale.numerator.bit_length() - scale.denominator.bit_length() + 1, 0)
    low = high = 0
    for row, b, s in zip(margins, column.targets.tolist(), column.weights, strict=True):
        if not s:
            continue
        own = row[int(b)]
        q = [(m - own) * factor + (0 if c == b else one) for c, m in enumerate(row)]
        v = [p + corner if c == b else p for c, p in enumerate(q)]
        total = count = taken = held = 0
        for entry in sorted(v, reverse=True):
            total, count = total + entry, count + 1
            if entry * count > total - corner:
                taken, held = total - corner, count
        y = [max(entry * held - taken, 0) - (corner * held if c == b else 0) for c, entry in enumerate(v)]
        # y is count corner y_c: the value is (2 count <y, q> - ||y||^2) / (2 corner count^2), units apart
        value = sum((2 * held * p - one_y) * one_y for one_y, p in zip(y, q, strict=True))
        below, above = divided(value << finer, held * held)
        low, high = low + s * below, high + s * above
    scale *= column.weight / (1 << finer)
    return low * scale, high * scale
