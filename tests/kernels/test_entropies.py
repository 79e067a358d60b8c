"""Entropies of contingency tables, with values that are missing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import selection as oracle

from veridical.kernels.entropies import pair_uncertainty

codes = st.sampled_from([None, 0, 1, 2])
samples = st.lists(st.tuples(codes, codes), min_size=1, max_size=25)


def as_codes(values):
    return np.array([-1 if v is None else v for v in values], dtype=np.intp)


@given(samples=samples)
@settings(max_examples=80, deadline=None)
def test_pairs_with_missing_values(samples):
    a, b = [u for u, _ in samples], [v for _, v in samples]
    got = pair_uncertainty(as_codes(a), as_codes(b), np.ones(len(samples)), 3, 3)
    assert got == pytest.approx(oracle.symmetrical_uncertainty(a, b), abs=1e-12)
    swapped = pair_uncertainty(as_codes(b), as_codes(a), np.ones(len(samples)), 3, 3)
    assert swapped == pytest.approx(got, abs=1e-14)


@given(samples=samples, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_a_count_is_a_number_of_copies(samples, seed):
    counts = np.random.default_rng(seed).integers(0, 4, len(samples))
    a = as_codes([u for u, _ in samples])
    b = as_codes([v for _, v in samples])
    weighted = pair_uncertainty(a, b, counts.astype(float), 3, 3)
    rows = np.repeat(np.arange(len(samples)), counts)
    copied = pair_uncertainty(a[rows], b[rows], np.ones(rows.size), 3, 3)
    assert weighted == pytest.approx(copied, abs=1e-12)


def test_a_feature_with_itself_and_with_noise():
    a = np.repeat([0, 1, 2], 4)
    b = np.tile([0, 1], 6)
    ones = np.ones(12)
    assert pair_uncertainty(a, a, ones, 3, 3) == pytest.approx(1.0)
    assert pair_uncertainty(a, b, ones, 3, 2) == pytest.approx(0.0, abs=1e-15)
    assert pair_uncertainty(a, np.zeros(12, dtype=np.intp), ones, 3, 1) == 0.0
    assert pair_uncertainty(a, np.full(12, -1), ones, 3, 0) == 0.0
