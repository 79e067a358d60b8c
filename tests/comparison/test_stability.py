"""Stability against the formulas, against Kuncheva's index, and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.stability import kuncheva, stability_and_variance

from veridical._core.errors import InputError
from veridical.comparison import stability


@st.composite
def masks(draw):
    d = draw(st.integers(3, 12))
    rows = draw(st.integers(2, 8))
    row = st.lists(st.booleans(), min_size=d, max_size=d)
    return np.array(draw(st.lists(row, min_size=rows, max_size=rows)))


@given(masks())
def test_agrees_with_the_formulas(Z):
    result = stability(Z, Z.shape[1])
    if Z.all() or not Z.any():
        assert result.value == 1
        assert np.isnan(result[1:]).all()
        return
    value, variance = stability_and_variance(Z)
    reach = 1.959963984540054 * np.sqrt(variance)
    assert result.value == pytest.approx(value, abs=1e-12)
    if reach < 1e-12:  # no variance, no interval
        assert np.isnan(result[1:]).all()
        return
    assert result.low == pytest.approx(value - reach, abs=1e-9)
    assert result.high == pytest.approx(min(1, value + reach), abs=1e-9)


@given(masks(), st.randoms())
def test_order_of_anything_is_nothing(Z, rng):
    d = Z.shape[1]
    renamed = list(range(d))
    rng.shuffle(renamed)
    sets = [[renamed[j] for j in np.flatnonzero(row)] for row in Z]
    for one in sets:
        rng.shuffle(one)
    rng.shuffle(sets)
    expected = pytest.approx(tuple(stability(Z, d)), abs=1e-9, nan_ok=True)
    assert tuple(stability(sets, d)) == expected


@given(st.integers(1, 9), st.integers(2, 6), st.randoms())
def test_equal_sizes_give_kunchevas_index(k, m, rng):
    sets = [rng.sample(range(10), k) for _ in range(m)]
    assert stability(sets, 10).value == pytest.approx(kuncheva(sets, 10), abs=1e-12)


def test_stability_of_small_sets_by_hand():
    # Two selections of 1 of 4 features, different: p = 1/2, 1/2, 0, 0, so
    # 1 − 2 · (1/4 + 1/4)/4 / (1/4 · 3/4) = 1 − (1/4)/(3/16) = −1/3.
    assert stability([[0], [1]], 4).value == pytest.approx(-1 / 3)
    same = stability([[0, 1], [1, 0], [0, 1]], 4)
    assert same.value == 1
    assert np.isnan(same[1:]).all()  # no variance, no interval


def test_places_left_empty_do_not_count():
    padded = np.array([[2, 0, -1], [2, -1, -1], [0, 2, 1]])
    assert stability(padded, 5) == stability([[2, 0], [2], [0, 2, 1]], 5)


def test_random_choices_score_zero_and_the_interval_covers():
    rng = np.random.default_rng(0)
    # Independent choices with known probabilities: the limit value is known too.
    p = np.r_[np.full(5, 0.8), np.full(20, 0.1)]
    k = p.sum() / p.size
    true = 1 - np.mean(p * (1 - p)) / (k * (1 - k))
    hits, values = 0, []
    for _ in range(400):
        result = stability(rng.random((60, p.size)) < p, p.size)
        hits += result.low <= true <= result.high
        values.append(stability([rng.permutation(30)[:5] for _ in range(10)], 30).value)
    # 400 intervals of 95 %: 380 expected, 4.4 the standard deviation.
    assert 362 <= hits <= 396
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values))


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ([[0, 1]], "there is 1; make at least 2"),
        ([[0, 5], [1, 2]], "holds feature 5, but there are 5 features"),
        ([[0, -2], [1, 2]], "holds feature -2"),
        ([[True, False], [True, True]], "a mask of shape"),
        ([[0.5], [1.0]], "must be feature indices"),
        ([["x0"], ["x1"]], "must be feature indices"),
    ],
)
def test_bad_sets_are_refused_in_words(selected, message):
    with pytest.raises(InputError, match=message):
        stability(selected, 5)
    with pytest.raises(InputError, match="n_features must be a whole number"):
        stability([[0], [1]], 5.0)
    with pytest.raises(InputError, match="confidence"):
        stability([[0], [1]], 5, confidence=95)
