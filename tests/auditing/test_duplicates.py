"""Copies and near-copies of samples."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_iris
from tests.oracles.audit import near_copies

from veridical._core.reading import read_table
from veridical.auditing.duplicates import (
    MOST_BY_CHANCE,
    NEAR,
    NEIGHBOURS,
    across_folds,
    exact_pairs,
    expected_copies,
    find_copies,
    near_pairs,
)
from veridical.datasets import load, make_monks
from veridical.evaluation import CrossValidation

needs_data = pytest.mark.skipif(
    not os.environ.get("VERIDICAL_DATA"), reason="VERIDICAL_DATA names no folder"
)


def samples(n=40, p=50, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), np.arange(n) % 2


def test_exact_copies_in_groups():
    X, y = samples()
    X[7] = X[3]
    X[9] = X[3]
    X[20] = X[21]
    X[5, 0], X[6] = 0.0, X[5]
    X[6, 0] = -0.0  # the same number

    pairs = exact_pairs(read_table(X, y))

    assert pairs.tolist() == [[5, 6], [3, 7], [3, 9], [20, 21]]
    packed = exact_pairs(read_table(sparse.csr_array(X), y))
    assert packed.tolist() == pairs.tolist()


def test_near_copies_against_the_obvious_code():
    rng = np.random.default_rng(1)
    X, y = samples(30, 20)
    X[4] = X[11] + 0.02 * rng.normal(size=20)
    X[28] = X[2] + 0.3 * rng.normal(size=20)

    pairs, nearness = near_pairs(read_table(X, y))

    expected = near_copies(X, NEAR, NEIGHBOURS, MOST_BY_CHANCE)
    assert (4, 11) in expected
    assert {tuple(pair) for pair in pairs.tolist()} == set(expected)
    for pair, r in zip(pairs.tolist(), nearness, strict=True):
        assert r == pytest.approx(expected[tuple(pair)])


def test_scale_of_features_does_not_matter():
    X, y = samples()
    X[8] = X[30] + 1e-3
    moved = X * 10.0 ** np.arange(-25, 25) + 3

    for table in (X, moved, X.astype(np.float32)):
        pairs, _ = near_pairs(read_table(table, y))
        assert pairs.tolist() == [[8, 30]]


def test_nothing_is_found_where_nothing_is():
    for seed in range(10):
        for p in (2, 5, 30, 500):
            X, y = samples(60, p, seed)
            assert len(find_copies(read_table(X, y)).pairs) == 0, (seed, p)


def test_few_dimensions_have_near_pairs_by_nature():
    X, y = load_iris(return_X_y=True)

    copies = find_copies(read_table(X, y))

    assert copies.exact.all()
    assert copies.pairs.tolist() == [[101, 142]]
    assert copies.explained  # two digits, and correlated features
    assert copies.expected > 0.5


def test_copies_to_expect_where_there_are_few_values():
    X, y = make_monks(1, 200, random_state=0)
    copies = find_copies(read_table(X, y))
    n = int(copies.exact.sum())
    assert n == len(copies.pairs) > 10
    # 200 draws of 432 equally likely rows: a group of m rows gives m − 1 pairs.
    assert copies.expected > n / 2
    assert copies.explained


def test_rounding_explains_as_many_copies_as_it_makes():
    """Equal rows are explained, correlated or not; too many are expected, not few."""
    for correlation in (0.0, 0.9):
        found, expected = [], []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = np.sqrt(1 - correlation) * rng.normal(size=(150, 4))
            X += np.sqrt(correlation) * rng.normal(size=(150, 1))
            copies = find_copies(read_table(np.round(3 * X), np.arange(150) % 2))
            found.append(copies.n_equal)
            expected.append(
                expected_copies(read_table(np.round(3 * X), np.arange(150) % 2))
            )
            assert copies.explained
        assert 0.5 < np.mean(expected) / np.mean(found) < 5


def test_copies_of_continuous_rows_are_not_explained():
    X, y = samples()
    X[7] = X[3]
    copies = find_copies(read_table(X, y))
    assert copies.expected < 1e-6
    assert not copies.explained


def mostly_zero(n, p, seed, share=0.7):
    """Draw amounts of which a share is zero, and classes."""
    rng = np.random.default_rng(seed)
    amounts = np.exp(rng.normal(size=(n, p)))
    return np.where(rng.random((n, p)) < share, 0.0, amounts), np.arange(n) % 2


@pytest.mark.parametrize("p", [3, 5, 8, 15])
def test_rows_that_are_mostly_zero_are_alike_by_chance(p):
    n_reported = 0
    for seed in range(50):
        copies = find_copies(read_table(*mostly_zero(40, p, seed)))
        near = np.count_nonzero(~copies.exact)
        n_reported += near > 0 or (copies.exact.any() and not copies.explained)
    assert n_reported <= 2


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("factor", [1.0, 1.001])
def test_copies_among_zeros_are_found(container, factor):
    X, y = mostly_zero(40, 60, 0)
    X[7] = factor * X[3]
    copies = find_copies(read_table(container(X), y))
    assert copies.pairs.tolist() == [[3, 7]]
    assert copies.exact.tolist() == [factor == 1]
    assert not copies.exact.any() or not copies.explained


def test_tables_of_every_kind():
    X, y = samples(20, 4)
    assert len(find_copies(read_table(X[:3], y[:3])).pairs) == 0
    mixed = pd.DataFrame(X).assign(kind=pd.Categorical(list("ab") * 10))
    mixed.iloc[3] = mixed.iloc[1]
    assert find_copies(read_table(mixed, y)).pairs.tolist() == [[1, 3]]
    missing = X.copy()
    missing[0, 0] = np.nan
    assert len(find_copies(read_table(missing, y)).pairs) == 0


def test_folds_that_part_a_pair():
    y = np.arange(20) % 2
    splits = CrossValidation(5).split(y, 0)
    together = next(split.test[:2] for split in splits)
    apart = np.array([splits[0].test[0], splits[1].test[0]])

    parted = across_folds(np.stack([together, apart]), splits)

    assert parted.tolist() == [0, 2]


@needs_data
def test_the_known_pair_of_srbct():
    X, y = load("srbct")

    copies = find_copies(read_table(X, y))

    assert not copies.exact.any()
    assert copies.pairs[0].tolist() == [9, 72]
    assert copies.nearness[0] < 0.02


@needs_data
@pytest.mark.parametrize("name", ["colon", "golub_amlall3", "mll", "nci60"])
def test_no_pair_in_other_tables(name):
    X, y = load(name)
    assert len(find_copies(read_table(X, y)).pairs) == 0


def test_ranks_within_samples_are_equal_by_chance():
    """Features of different sizes have nearly the same ranks in every sample."""
    rng = np.random.default_rng(0)
    raw = np.arange(10) + rng.normal(size=(100, 10))
    ranks = stats.rankdata(raw, axis=1)
    found = find_copies(read_table(ranks, np.arange(100) % 2))
    assert found.n_equal > 0
    assert found.explained
    assert not (found.nearness > 0).any()
    ranks = stats.rankdata(rng.normal(size=(100, 10)), axis=1)
    ranks[50:] = ranks[:50]  # copies are still found
    assert not find_copies(read_table(ranks, np.arange(100) % 2)).explained
