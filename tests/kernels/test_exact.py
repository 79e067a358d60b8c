"""Pairs of doubles against fractions."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.kernels import exact

doubles = st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60)
scales = st.integers(-30, 30).map(lambda e: 10.0**e)
UNIT = Fraction(1, 2**53)


@st.composite
def pairs(draw):
    """A pair ``high + low`` with ``|low|`` at most a few last places of ``high``."""
    high = draw(doubles)
    low = high * draw(st.floats(-(2.0**-53), 2.0**-53))
    return high, low


def value(pair):
    return Fraction(pair[0]) + Fraction(pair[1])


def assert_near(got, wanted, units):
    """Equal to `units` squared rounding errors of a double, relatively."""
    assert abs(value(got) - wanted) <= units * UNIT**2 * abs(wanted)


@given(x=doubles, y=doubles)
@settings(max_examples=100, deadline=None)
def test_adding_two_doubles_loses_nothing(x, y):
    assert value(exact.add(x, 0.0, y, 0.0)) == Fraction(x) + Fraction(y)


@given(pair=pairs(), x=doubles)
@settings(max_examples=100, deadline=None)
def test_adding_a_double_to_a_pair(pair, x):
    got = exact.add(*pair, x, 0.0)
    size = abs(value(pair)) + abs(Fraction(x))
    assert abs(value(got) - value(pair) - Fraction(x)) <= 4 * UNIT**2 * size


@given(first=pairs(), second=pairs())
@settings(max_examples=100, deadline=None)
def test_products_and_quotients_of_pairs(first, second):
    assert_near(exact.multiply_pairs(*first, *second), value(first) * value(second), 8)
    if second[0] != 0:
        wanted = value(first) / value(second)
        assert_near(exact.divide_pairs(*first, *second), wanted, 16)


@given(values=st.lists(doubles, max_size=40))
@settings(max_examples=80, deadline=None)
def test_a_sum_is_right_to_twice_the_working_precision(values):
    high = low = 0.0
    for x in values:
        high, low = exact.add(high, low, x, 0.0)
    size = sum(abs(Fraction(x)) for x in values)
    wanted = sum((Fraction(x) for x in values), Fraction(0))
    bound = (len(values) + 1) ** 2 * UNIT**2 * size
    assert abs(value((high, low)) - wanted) <= bound


def test_what_is_added_and_taken_away_leaves_no_trace():
    values = (0.5, 1e16, 0.25, -1e16, -0.5)
    high = low = 0.0
    for x in values:
        high, low = exact.add(high, low, x, 0.0)
    assert high + low == 0.25
    assert sum(values) == -0.5, "plain doubles forget the small ones"


@given(pair=pairs())
@settings(max_examples=80, deadline=None)
def test_normalizing_keeps_the_value(pair):
    high, low = exact.normalize(*pair)
    assert value((high, low)) == value(pair)
    assert high == high + low


@given(pair=pairs(), x=doubles)
@settings(max_examples=100, deadline=None)
def test_a_pair_times_a_double_is_exact(pair, x):
    assert_near(exact.multiply_double(*pair, x), value(pair) * Fraction(x), 4)


@given(x=doubles, y=doubles)
@settings(max_examples=80, deadline=None)
def test_the_product_of_two_doubles_loses_nothing(x, y):
    assert value(exact.multiply_double(x, 0.0, y)) == Fraction(x) * Fraction(y)


@given(pair=pairs())
@settings(max_examples=100, deadline=None)
def test_the_square_of_a_pair_is_exact(pair):
    assert_near(exact.square(*pair), value(pair) ** 2, 8)


@given(pair=pairs(), x=doubles.filter(bool))
@settings(max_examples=100, deadline=None)
def test_a_pair_over_a_double_is_exact(pair, x):
    assert_near(exact.divide_double(*pair, x), value(pair) / Fraction(x), 8)


@pytest.mark.parametrize("n", [3, 7, 10, 1e9])
def test_a_third_is_a_third(n):
    high, low = exact.divide_double(1.0, 0.0, float(n))
    assert high == 1 / n
    assert low != 0, "the rest that a double cannot hold"
