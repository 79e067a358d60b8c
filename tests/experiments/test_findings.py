"""Numbers that decide about findings: slopes, rank correlations, counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from veridical.experiments import Mean, fisher_pvalue, fit_slope, rank_correlation


def test_a_slope_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    found, expected = fit_slope(x, y), stats.linregress(x, y)
    assert found.value == pytest.approx(expected.slope, rel=1e-12)
    assert found.error == pytest.approx(expected.stderr, rel=1e-10)
    assert (found.df, found.n) == (18, 20)
    less = stats.linregress(x, y, alternative="less").pvalue
    assert found.pvalue_below() == pytest.approx(less, rel=1e-9)
    assert fit_slope(x, -y).pvalue_below() == pytest.approx(1 - less, rel=1e-9)


def test_groups_have_levels_of_their_own():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    groups = np.array(list("abc") * 10)
    y += np.array([0.0, 100.0, -50.0] * 10)
    dummies = pd.get_dummies(groups).to_numpy(float)
    design = np.column_stack([x, dummies])
    beta, (rest,), *_ = np.linalg.lstsq(design, y, rcond=None)
    found = fit_slope(x, y, groups)
    assert found.value == pytest.approx(beta[0], rel=1e-9)
    assert found.df == 30 - 4
    error = np.sqrt(rest / 26 * np.linalg.inv(design.T @ design)[0, 0])
    assert found.error == pytest.approx(error, rel=1e-9)


def test_without_variation_there_is_no_slope():
    assert np.isnan(fit_slope([1.0, 1, 1], [1.0, 2, 3]).value)
    assert np.isnan(fit_slope([1.0, 2], [1.0, 2]).value)
    exact = fit_slope([0.0, 1, 2, 3], [0.0, -1, -2, -3])
    assert (exact.value, exact.error) == (-1, 0)
    assert exact.pvalue_below() == 1
    assert Mean(-1.0, np.inf, 1, 1).pvalue_below() == 0.5


def test_the_rank_correlation_is_spearmans():
    rng = np.random.default_rng(2)
    x, y = rng.integers(6, size=(2, 40)).astype(float)
    found = rank_correlation(x, y)
    assert found.value == pytest.approx(stats.spearmanr(x, y).statistic, rel=1e-12)
    assert -1 < found.low < found.value < found.high < 1
    assert rank_correlation(x, np.exp(y)) == pytest.approx(found)
    assert rank_correlation([1, 2, 3], [1, 2, 3])[1:] == (-1, 1)


def test_the_exact_test_is_that_of_scipy():
    rng = np.random.default_rng(4)
    counts = rng.integers(9, size=(5, 4, 2, 2)) + 1
    found = fisher_pvalue(counts)
    assert found.shape == (5, 4)
    for place in np.ndindex(5, 4):
        expected = stats.fisher_exact(counts[place], alternative="greater").pvalue
        assert found[place] == pytest.approx(expected, rel=1e-10)
        assert fisher_pvalue(counts[place]) == found[place]
