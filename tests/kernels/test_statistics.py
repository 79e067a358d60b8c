"""Sums of squares, F and χ² against scipy and scikit-learn; Wilson elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.feature_selection import f_classif

from veridical.kernels.dirichlet_counts import association, pair_associations
from veridical.kernels.statistics import between_classes, chi_squares, f_ratio


def _members(y, n_classes):
    return [(y == k)[None, :].astype(float) for k in range(n_classes)]


@pytest.mark.parametrize("far", [0.0, 1e6], ids=["near zero", "far from zero"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_f_is_scikit_learns(kind, far):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)) + far, np.arange(30) % 3

    between, mean, weight = between_classes(kind(X), _members(y, 3))
    within = ((X - X.mean(axis=0)) ** 2).sum(axis=0) - between

    assert weight.tolist() == [[30.0]]
    assert np.allclose(mean, X.mean(axis=0), rtol=1e-12)
    expected = f_classif(X - far, y)[0]
    assert np.allclose(f_ratio(between, within, 3, 30)[0], expected, rtol=1e-6)


def test_sets_are_weighted_and_a_class_may_be_absent():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    weights = np.vstack([rng.uniform(size=20), np.where(y == 0, 1.0, 0.0)])

    between, mean, weight = between_classes(X, [weights * (y == k) for k in range(2)])

    for b, w in enumerate(weights):
        centre = np.average(X, axis=0, weights=w)
        parts = [
            w[y == k].sum()
            * (np.average(X[y == k], axis=0, weights=w[y == k]) - centre) ** 2
            for k in range(2)
            if w[y == k].sum() > 0
        ]
        assert np.allclose(between[b], np.sum(parts, axis=0), rtol=1e-12, atol=1e-15)
        assert np.allclose(mean[b], centre, rtol=1e-12)
        assert weight[b, 0] == pytest.approx(w.sum())


def test_chi_squares_are_scipys():
    rng = np.random.default_rng(2)
    columns = rng.integers(3, size=(40, 2))
    labels = np.stack([rng.permutation(np.arange(40) % 2) for _ in range(5)])
    cells = np.hstack([columns[:, [j]] == np.arange(3) for j in range(2)])
    owner = np.repeat([0, 1], 3)

    members = [(labels == k).astype(float) for k in range(2)]
    chi2, df = chi_squares(cells.astype(float), owner, members, 2)

    assert df.tolist() == [2, 2]
    for b, y in enumerate(labels):
        for j in range(2):
            table = stats.contingency.crosstab(columns[:, j], y).count
            expected = stats.chi2_contingency(table, correction=False).statistic
            assert chi2[b, j] == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any))
def test_associations_of_pairs_are_those_of_tables(counts):
    table = np.array(counts).reshape(2, 3)

    found = pair_associations(table[:1], table[1:])

    assert found.shape == (1, 1)
    assert found[0, 0] == association(table)
    if (table.sum(axis=0) > 0).all() and (table.sum(axis=1) > 0).all():
        chi2 = stats.chi2_contingency(table, correction=False).statistic
        assert found[0, 0] == pytest.approx(chi2 / table.sum(), abs=1e-12)
