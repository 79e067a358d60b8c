"""DeLong's test against the definition, and the conservative z-test by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from veridical._core.errors import InputError
from veridical.comparison import conservative_z, delong


def oracle(y, a, b):
    """Compute the difference of areas and its variance from all pairs of samples."""

    def psi(x, z):
        return 1.0 if x > z else 0.5 if x == z else 0.0

    above, below = [], []
    for s in (a, b):
        pos, neg = s[y == 1], s[y == 0]
        above.append([np.mean([psi(x, z) for z in neg]) for x in pos])
        below.append([np.mean([psi(x, z) for x in pos]) for z in neg])
    s10, s01 = np.cov(above), np.cov(below)
    s = s10 / len(above[0]) + s01 / len(below[0])
    gap = np.mean(above[0]) - np.mean(above[1])
    return gap, s[0, 0] + s[1, 1] - 2 * s[0, 1]


@st.composite
def samples(draw):
    m, n = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    levels = draw(st.sampled_from([3, 1000]))
    y = rng.permutation(np.r_[np.ones(m, int), np.zeros(n, int)])
    return y, *rng.integers(0, levels, (2, m + n)).astype(float)


@settings(deadline=None, max_examples=100)
@given(samples())
def test_it_equals_the_definition(drawn):
    y, a, b = drawn
    gap, variance = oracle(y, a, b)
    found = delong(y, a, b)
    assert found.mean_difference == pytest.approx(gap, abs=1e-12)
    wanted = roc_auc_score(y, a) - roc_auc_score(y, b)
    assert found.mean_difference == pytest.approx(wanted, abs=1e-12)
    if variance > 1e-12:
        z = gap / math.sqrt(variance)
        assert found.statistic == pytest.approx(z, rel=1e-9, abs=1e-9)
        assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), abs=1e-9)
        low, high = found.interval
        assert -1 <= low < high <= 1
    swapped = delong(y, b, a)
    assert swapped.mean_difference == pytest.approx(-gap, abs=1e-12)


def test_many_tests_at_once_equal_one_after_the_other():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [30, 20])
    a, b = rng.normal(size=(2, 3, 4, 50)) + 0.5 * y
    found = delong(y, a, b)
    for place in np.ndindex(3, 4):
        one = delong(y, a[place], b[place])
        assert found.pvalue[place] == one.pvalue
        assert found.winner[place] == one.winner
        assert tuple(bound[place] for bound in found.interval) == one.interval


def test_its_size_is_right_where_both_sides_are_equally_good():
    """Under equality about 5 % of 2000 data sets reject."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [60, 40])
    signal = rng.normal(size=(2000, 100)) + y
    a, b = signal + rng.normal(size=(2, 2000, 100))
    rate = float(np.mean(delong(y, a, b).pvalue < 0.05))
    assert 0.035 < rate < 0.065


def test_equal_sides_are_a_draw_without_an_interval():
    y, a = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.3, 0.9])
    found = delong(y, a, 2 * a)
    assert found.winner == "draw"
    assert found.pvalue == 1
    assert math.isnan(found.interval[0])
    assert "no interval" in found.note


@pytest.mark.parametrize(
    ("y", "words"),
    [([0, 0, 0, 0], "1 class"), ([0, 1, 2, 2], "3 class"), ([0, 1, 1, 1], "two")],
)
def test_bad_input_is_refused(y, words):
    with pytest.raises(InputError, match=words):
        delong(y, [1, 2, 3, 4], [4, 3, 2, 1])


def test_scores_of_another_length_are_refused():
    with pytest.raises(InputError, match="one value per sample"):
        delong([0, 0, 1, 1], [1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="not a class"):
        delong([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4], positive="x")


def test_conservative_z_by_hand():
    a, b = np.array([0.9, 0.8, 0.7]), np.array([0.7, 0.7, 0.7])
    halves_a, halves_b = [[0.8, 0.7], [0.9, 0.6]], [[0.7, 0.7], [0.7, 0.7]]
    found = conservative_z(a, b, halves_a=halves_a, halves_b=halves_b)
    error = math.sqrt((0.1**2 + 0.3**2) / 4)
    assert found.statistic == pytest.approx(0.1 / error)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(0.1 / error))
    assert found.interval[1] - 0.1 == pytest.approx(stats.norm.isf(0.025) * error)
    with pytest.raises(InputError, match="n_pairs, 2"):
        conservative_z(a, b, halves_a=[0.1, 0.2], halves_b=[0.1, 0.2])


def test_leading_axes_of_conservative_z_count_tests():
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 3, 4, 5, 2))
    halves_a, halves_b = rng.random((2, 3, 4, 6, 2))
    halves_a[1, 1] = halves_b[1, 1] = 0.5  # no variance
    a[2] += 3
    found = conservative_z(a, b, halves_a=halves_a, halves_b=halves_b)
    assert found.pvalue.shape == (3, 4)
    assert set(found.winner.ravel()) == {"a", "draw"}
    for place in np.ndindex(3, 4):
        one = conservative_z(
            a[place], b[place], halves_a=halves_a[place], halves_b=halves_b[place]
        )
        assert isinstance(one.statistic, float)
        for what in ("statistic", "pvalue", "mean_difference"):
            expected = pytest.approx(getattr(one, what), rel=1e-12, nan_ok=True)
            assert getattr(found, what)[place] == expected
        bounds = tuple(bound[place] for bound in found.interval)
        assert bounds == pytest.approx(one.interval, rel=1e-12, nan_ok=True)
        assert found.winner[place] == one.winner
    with pytest.raises(InputError, match="for every test"):
        conservative_z(a, b, halves_a=halves_a[0], halves_b=halves_b[0])
