"""Enclosures of the checker hold the true values, computed with ``decimal`` to more digits."""

import decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from southwell.check import enclosures

BITS = st.sampled_from([20, 64, 96, 200, 400])
POSITIVE = st.one_of(st.integers(1, 50), st.integers(1, 2**70), st.integers(1, 2**200))


@pytest.fixture(autouse=True)
def many_digits():
    with decimal.localcontext() as context:
        context.prec = 250
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        yield


def holds(low, high, value, bits, width):
    scaled = value * 2**bits
    return low <= scaled <= high and high - low <= width


def exact(fraction: Fraction) -> decimal.Decimal:
    return decimal.Decimal(fraction.numerator) / decimal.Decimal(fraction.denominator)


@given(st.integers(-(2**80), 2**80), st.integers(-300, 0), BITS)
def test_the_exponential_is_enclosed(argument, unit, bits):
    size = argument * enclosures.two_to(unit)
    if size > 300 or size < -1000:  # decimal takes long
        argument, size = argument % 7, argument % 7 * enclosures.two_to(unit)
    low, high = enclosures.exponential(argument, unit, bits)
    assert holds(low, high, exact(size).exp(), bits, 2)


def test_exponential_far_below_zero():
    assert enclosures.exponential(-1, 45, 100) == (0, 1)
    assert enclosures.exponential(-(3**400), -100, 5000) == (0, 1)
    assert enclosures.exponential(-100, 0, 100) == (0, 1)
    assert enclosures.exponential(0, -7, 100) == (2**100, 2**100)


@given(POSITIVE, POSITIVE, BITS)
def test_logarithm_and_x_log_x(numerator, denominator, bits):
    x = Fraction(numerator, denominator)
    assert holds(*enclosures.logarithm(numerator, denominator, bits), exact(x).ln(), bits, 3)
    assert holds(*enclosures.x_log_x(numerator, denominator, bits), exact(x) * exact(x).ln(), bits, 5)


@given(st.integers(1, 2**60), st.integers(-3, 3), BITS)
def test_the_logarithm_near_one_is_enclosed(denominator, off, bits):
    numerator = max(denominator + off, 1)
    value = exact(Fraction(numerator, denominator)).ln()
    assert holds(*enclosures.logarithm(numerator, denominator, bits), value, bits, 3)


@given(POSITIVE, POSITIVE, BITS)
def test_the_root_is_enclosed(numerator, denominator, bits):
    square = Fraction(numerator, denominator)
    low, high = enclosures.root(square, bits)
    assert low**2 <= square * 4**bits <= high**2
    assert high - low <= 1
    assert enclosures.root(square**2 / 4**bits, bits)[0] == numerator // denominator


@pytest.mark.parametrize("bits", [1, 10, 64, 700])
def test_the_logarithm_of_two_is_near(bits):
    assert abs(enclosures.log_of_two(bits) - decimal.Decimal(2).ln() * 2**bits) < 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6), st.integers(0, 90))
def test_floats_are_integers_times_a_power_of_two(values, finer):
    array = np.array(values, dtype=float)
    lowest = enclosures.lowest_exponent(array)
    if lowest is None:
        assert not array.any()
    else:
        numbers = enclosures.integers(array, lowest - finer)
        assert [n * enclosures.two_to(lowest - finer) for n in numbers] == [Fraction(v) for v in values]
        assert any(n % 2 for n in enclosures.integers(array, lowest))  # no smaller numbers will do
