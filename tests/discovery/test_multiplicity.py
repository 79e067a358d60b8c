"""Corrections for many features: their definitions, and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.discovery import (
    benjamini_hochberg_claims,
    e_benjamini_hochberg_claims,
)

from veridical.discovery import (
    benjamini_hochberg,
    benjamini_yekutieli,
    e_benjamini_hochberg,
    holm,
    knockoff_evalues,
    knockoff_threshold,
)
from veridical.discovery.multiplicity import claim

PVALUES = st.lists(st.integers(1, 40), min_size=1, max_size=30).map(
    lambda values: np.array(values) / 40
)
RATES = st.sampled_from([0.05, 0.1, 0.25, 0.5])


@given(PVALUES, RATES)
def test_benjamini_hochberg_claims_what_its_definition_does(pvalues, rate):
    # Not on the edge, where rounding of k rate / p decides.
    steps = rate * np.arange(1, pvalues.size + 1) / pvalues.size
    if (np.abs(pvalues[:, None] - steps) < 1e-9).any():
        return
    claimed = set(claim(benjamini_hochberg(pvalues), rate).tolist())
    assert claimed == benjamini_hochberg_claims(pvalues, rate)


@given(PVALUES)
def test_corrections_are_ordered(pvalues):
    adjusted = benjamini_hochberg(pvalues)
    assert (adjusted >= pvalues - 1e-15).all()
    assert (benjamini_yekutieli(pvalues) >= adjusted - 1e-15).all()
    assert (holm(pvalues) >= adjusted - 1e-15).all()
    assert (holm(pvalues) <= np.minimum(pvalues * pvalues.size, 1) + 1e-15).all()


def test_benjamini_hochberg_agrees_with_scipy():
    from scipy.stats import false_discovery_control

    pvalues = np.random.default_rng(0).random(200) ** 3
    for method, ours in (("bh", benjamini_hochberg), ("by", benjamini_yekutieli)):
        theirs = false_discovery_control(pvalues, method=method)
        np.testing.assert_allclose(ours(pvalues), theirs, rtol=1e-12)


@given(st.lists(st.integers(0, 200), min_size=1, max_size=30), RATES)
def test_e_values_claim_what_their_definition_does(values, rate):
    evalues = np.array(values, dtype=float)
    steps = evalues.size / (rate * np.arange(1, evalues.size + 1))
    if (np.abs(evalues[:, None] - steps) < 1e-9).any():
        return
    claimed = set(claim(e_benjamini_hochberg(evalues), rate).tolist())
    assert claimed == e_benjamini_hochberg_claims(evalues, rate)


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=40), st.sampled_from([0.1, 0.3])
)
def test_knockoff_threshold_is_the_least_of_its_definition(values, rate):
    W = np.array(values, dtype=float)
    sizes = sorted({abs(w) for w in W if w})
    good = [
        t
        for t in sizes
        if (1 + (-t >= W).sum()) / max(1, (t <= W).sum()) <= rate + 1e-12
    ]
    assert knockoff_threshold(W, rate) == (good[0] if good else np.inf)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=60))
def test_e_values_of_one_draw_claim_what_knockoffs_claim(values):
    W = np.array(values, dtype=float)
    selected = np.flatnonzero(knockoff_threshold(W, 0.2) <= W)
    adjusted = e_benjamini_hochberg(knockoff_evalues(W, 0.2))
    assert claim(adjusted, 0.2).tolist() == selected.tolist()


def test_e_values_have_mean_at_most_one_under_the_null():
    rng = np.random.default_rng(1)
    size = rng.exponential(size=(4000, 30))
    W = size * rng.choice([-1, 1], size=size.shape)
    W[:, :12] = np.abs(W[:, :12])  # true features
    total = np.array([knockoff_evalues(row, 0.2)[12:].sum() for row in W])
    error = total.std() / np.sqrt(len(total))
    assert total.mean() <= 30 + 3 * error


@pytest.mark.parametrize("fdr", [0.1, 0.2])
def test_knockoffs_control_the_rate_if_signs_of_nulls_are_coins(fdr):
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(1500):
        W = rng.exponential(size=60) * rng.choice([-1, 1], size=60)
        W[:20] = np.abs(W[:20]) + 1
        claimed = np.flatnonzero(knockoff_threshold(W, fdr) <= W)
        shares.append((claimed >= 20).sum() / max(len(claimed), 1))
    assert np.mean(shares) <= fdr + 3 * np.std(shares) / np.sqrt(len(shares))
