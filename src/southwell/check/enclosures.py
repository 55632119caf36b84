"""Floats as integers, and integers below and above roots, exponentials and logarithms.

A float64 is an integer times a power of two, so sums and products of floats are exact in Python's integers. Irrational
values are enclosed: each function returns integers ``(low, high)`` with ``low <= value * 2**bits <= high``. The float
functions of ``math`` give first guesses only; no bound depends on them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np


def two_to(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def lowest_exponent(values: np.ndarray) -> int | None:
    """The largest e such that all values are integers times 2**e; None if all are zero."""
    values = values[values != 0]
    if values.size == 0:
        return None
    fractions, exponents = np.frexp(values)
    digits = np.ldexp(fractions, 53).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1  # zeros at the end of the digits
    return int((exponents - 53 + trailing).min())


def integers(values: np.ndarray, exponent: int) -> list[int]:
    """Each value divided by 2**exponent, which must be at most ``lowest_exponent``."""
    if values.size == 0:
        return []
    fractions, exponents = np.frexp(values)
    if int(exponents.max()) - exponent <= 62:  # they fit into 63 bits, where conversion is exact
        return np.ldexp(values, -exponent).astype(np.int64).tolist()
    digits = np.ldexp(fractions, 53).astype(np.int64).tolist()
    shifts = (exponents.astype(np.int64) - 53 - exponent).tolist()
    return [d << k if k >= 0 else d >> -k for d, k in zip(digits, shifts, strict=True)]


def dyadic(values: np.ndarray, *others: Fraction) -> tuple[list[int], int]:
    """Integers and one exponent for all; ``others`` are dyadic numbers that must be integers in that unit too."""
    exponents = [1 - number.denominator.bit_length() for number in others if number]
    own = lowest_exponent(values)
    exponent = min([*exponents, 0 if own is None else own])
    return integers(values, exponent), exponent


def divided(numerator: int, denominator: int) -> tuple[int, int]:
    """The integers below and above a quotient; equal if the quotient is an integer."""
    quotient, rest = divmod(numerator, denominator)
    return quotient, quotient + (rest != 0)


def shifted(value: int, by: int) -> int:
    """floor(value * 2**by)."""
    return value << by if by >= 0 else value >> -by


def root(square: Fraction, bits: int) -> tuple[int, int]:
    """The square root of a number >= 0."""
    scaled = (square.numerator << 2 * bits) // square.denominator
    low = math.isqrt(scaled)
    exact = low * low * square.denominator == square.numerator << 2 * bits
    return low, low + (not exact)


@cache
def log_of_two(bits: int) -> int:
    """log 2 times 2**bits, with an error of less than one.

    log 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749), with artanh(1/q) = sum of 1 / (k q^k) over odd k.
    In units of the guard bits the error of a term is less than 2, and so is the rest of the series. There are at most
    bits / 9 + 8 terms in a series, and 28 = 18 + 2 + 8 series: together less than an eighth of a unit of 2**-bits.
    """
    guard = (28 * (bits + 64)).bit_length() + 2
    total = 0
    for factor, q in ((18, 26), (-2, 4801), (8, 8749)):
        power, k = (1 << (bits + guard)) // q, 1
        while power:
            total += factor * (power // k)
            power //= q * q
            k += 2
    return (total + (1 << guard - 1)) >> guard


def exponential(argument: int, unit: int, bits: int) -> tuple[int, int]:
    """exp(argument * 2**unit).

    argument = k log 2 + r with 0 <= r < log 2. exp(r / 2^h) by its series, then h squarings. Errors in units of
    2^-p: at most |k| + 2 for r, 2 for each of N terms, 2 for the rest of the series; a squaring multiplies the error of
    a number below 2 by at most 4 and adds 1. So the error of exp(r) is less than 4^h (2 N + |k| + 8).
    """
    if argument == 0:
        return 1 << bits, 1 << bits
    size = argument.bit_length() + unit  # |argument| < 2^size
    if argument < 0 and size > 40:  # exp(-2^39) is zero at any precision used here
        return 0, 1
    halvings = 4 + math.isqrt(bits) // 4
    coarse = shifted(argument, unit + 64) // log_of_two(64)  # k, up to one
    guard = 2 * halvings + 24 + max(size, 0)
    p = bits + max(coarse, 0) + guard
    k, r = divmod(shifted(argument, unit + p), log_of_two(p))
    if bits + k < -1:
        return 0, 1
    x = r >> halvings
    total = term = 1 << p
    terms = 0
    while term:
        terms += 1
        term = (term * x >> p) // terms
        total += term
    for _ in range(halvings):
        total = total * total >> p
    error = (2 * terms + abs(k) + 8) << 2 * halvings
    by = bits + k - p
    return max(shifted(total - error, by), 0), -shifted(-(total + error), by)


def logarithm(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """log(numerator / denominator), both > 0.

    The quotient is 2^k x with 1/2 < x < 2. With a float guess g of log x and E = exp(g) enclosed,
    log x = g + 2 artanh((x - E) / (x + E)), whose series needs a few terms since x - E is tiny.
    """
    if numerator == denominator:
        return 0, 0
    k = numerator.bit_length() - denominator.bit_length()
    p = bits + 12 + abs(k).bit_length()
    x = shifted(numerator, p - k) // denominator if p >= k else (numerator // denominator) >> (k - p)
    guess = int(math.log(shifted(x, 60 - p) / (1 << 60)) * (1 << 60))
    low, high = exponential(guess, -60, p)
    # The error of x is at most 1 unit, that of E high - low; both are above 1/4, so log(x / E) has at most 4 times
    # that.
    error = 4 * (1 + high - low) + 2
    ratio = ((x - low) << p) // (x + low)
    sign, ratio = (1, ratio) if ratio >= 0 else (-1, -ratio)
    power, n, half = ratio, 1, 0
    while power:
        half += power // n
        power = (power * ratio >> p) * ratio >> p
        n += 2
        error += 4  # a term is rounded down three times; the rest of the series is less than one unit
    error += abs(k) + 8
    centre = k * log_of_two(p) + shifted(guess, p - 60) + 2 * sign * half
    return (centre - error) >> (p - bits), -(-(centre + error) >> (p - bits))


def x_log_x(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """x log x at x = numerator / denominator >= 0, and 0 at 0."""
    if numerator == 0:
        return 0, 0
    more = max(numerator.bit_length() - denominator.bit_length() + 1, 0)  # x < 2^more
    low, high = logarithm(numerator, denominator, bits + more)
    scale = denominator << more
    return numerator * low // scale, -(-numerator * high // scale)
