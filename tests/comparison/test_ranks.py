"""Friedman's test and Nemenyi's distances, against scipy and Demšar's figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from veridical._core.errors import InputError
from veridical.comparison import friedman
from veridical.comparison.ranks import rank_splits

# Demšar (2006), AUC of C4.5 and three variants on 14 data sets; one value carries a
# fourth digit, because his ranks tell apart what three digits do not.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
).T


def test_demsars_example():
    result = friedman(DEMSAR)
    assert result.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    # He prints χ² = 9.28 and F = 3.69 without the correction for ties.
    r = np.array(result.mean_ranks)
    plain = 12 * 14 / (4 * 5) * ((r**2).sum() - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=0.005)
    assert result.chi2 >= plain
    assert result.df == (3, 39)
    # q = 2.569 for four classifiers at 0.05: CD = 2.569 √(4 · 5 / (6 · 14)) = 1.25.
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)


@given(
    st.integers(3, 6).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=3, max_size=12
        )
    )
)
def test_chi_squared_is_scipys(rows):
    scores = np.array(rows, dtype=float).T / 7
    ours = friedman(scores)
    if np.ptp(scores, axis=0).max() == 0:
        assert (ours.chi2, ours.pvalue) == (0, 1)
        return
    theirs = stats.friedmanchisquare(*scores)
    assert ours.chi2 == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.chi2_pvalue == pytest.approx(theirs.pvalue, abs=1e-9)
    assert sum(ours.mean_ranks) == pytest.approx(
        len(scores) * (len(scores) + 1) / 2, abs=1e-9
    )


def test_nemenyi_agrees_with_the_critical_difference():
    result = friedman(DEMSAR)
    gaps = np.abs(np.subtract.outer(result.mean_ranks, result.mean_ranks))
    n_selectors, n = np.shape(DEMSAR)
    error = np.sqrt(n_selectors * (n_selectors + 1) / (12 * n))
    pvalues = stats.studentized_range.sf(gaps / error, n_selectors, np.inf)
    assert np.array_equal(pvalues < 0.05, gaps > result.critical_difference)
    edge = friedman(DEMSAR, alpha=float(pvalues[0, 1]))
    assert edge.critical_difference == pytest.approx(gaps[0, 1], abs=1e-6)


def test_total_agreement_and_rounding():
    same = friedman([[0.9] * 5, [0.8] * 5, [0.7] * 5])
    assert same.statistic == np.inf
    assert same.pvalue == pytest.approx(6.0**-4)  # four splits as the first by chance
    third = np.array([[0.1 + 0.2, 0.3], [0.3, 0.3], [0.2, 0.4]])
    assert rank_splits(third)[:2, 0].tolist() == [1.5, 1.5]


def test_rejects_five_percent_of_independent_noise():
    rng = np.random.default_rng(0)
    pvalues = [friedman(rng.random((4, 30))).pvalue for _ in range(2000)]
    assert 0.034 <= np.mean(np.array(pvalues) < 0.05) <= 0.066


@pytest.mark.parametrize("scores", [[[1, 2], [2, 3]], [[1], [2], [3]], [1, 2, 3]])
def test_bad_scores_are_refused_in_words(scores):
    with pytest.raises(InputError, match="at least three selectors"):
        friedman(scores)
    with pytest.raises(InputError, match="finite"):
        friedman([[1, 2], [2, 3], [np.nan, 1]])


def test_leading_axes_count_tests():
    rng = np.random.default_rng(0)
    scores = rng.integers(6, size=(2, 3, 4, 5)) / 6
    scores[1, 0] = np.arange(4)[:, None] / 4  # all splits rank alike
    scores[1, 1] = 0.5  # all are tied
    found = friedman(scores)
    assert found.pvalue.shape == (2, 3)
    assert found.mean_ranks.shape == (2, 3, 4)
    for i, place in enumerate(np.ndindex(2, 3)):
        one = friedman(scores[place])
        assert isinstance(one.pvalue, float)
        assert tuple(found.mean_ranks[place]) == one.mean_ranks
        for what in ("chi2", "chi2_pvalue", "statistic", "pvalue"):
            assert getattr(found, what)[place] == getattr(one, what)
        assert found.groups[i] == one.groups
        assert found.critical_difference == one.critical_difference
    assert friedman(scores[1, 0]).pvalue == pytest.approx(24.0**-4, rel=1e-12)
    assert friedman(scores[1, 1]).pvalue == 1
    assert "6 tests of 4 selectors" in repr(found)
    assert found.to_frame().loc[4:7, "pvalue"].tolist() == [found.pvalue[0, 1]] * 4
    n_significant = int((found.pvalue < 0.05).sum())
    assert found.conclusion.sentence.startswith(f"{n_significant} of 6 tests show")
