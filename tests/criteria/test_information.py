"""Codes and cut points of the information criteria in single training sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import selection as oracle
from tests.selection.problems import examples, problems, train_sets

from veridical._core.table import Table
from veridical.criteria.information import (
    UncertaintyRedundancy,
    cut_points,
    gains,
    interval_codes,
)
from veridical.kernels.entropies import xlogx_table
from veridical.kernels.mdl import tabulate_bits
from veridical.kernels.trainsets import TrainSets


def test_intervals_are_open_on_the_left():
    x = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, np.nan])
    assert interval_codes(x, np.array([0.0, 1.0])).tolist() == [0, 0, 1, 1, 2, -1]
    assert interval_codes(x, np.empty(0)).tolist() == [0, 0, 0, 0, 0, -1]


@given(problem=problems(categorical=True, missing=True, max_rows=24), data=st.data())
@examples(60)
def test_cuts_and_redundancy_of_training_sets(problem, data):
    sets = data.draw(train_sets(problem.y))
    index = [np.flatnonzero(r) if r.dtype == bool else r for r in sets]
    if not index:
        return
    X = problem.X.copy()
    for j in np.flatnonzero(problem.categorical):  # criteria want codes 0, 1, 2, ...
        known = ~np.isnan(X[:, j])
        X[known, j] = np.unique(X[known, j], return_inverse=True)[1]
    labelled = Table.from_arrays(X, problem.categorical, problem.y)
    many = TrainSets.from_indices(index, len(problem.y))
    s = len(index) - 1
    part = problem.take(index[s])
    columns, y = part.columns(), part.y.tolist()
    redundancy = UncertaintyRedundancy(labelled, many, s, "cuts")
    codes = []
    for j, x in enumerate(columns):
        codes.append(oracle.coded(x, y, problem.categorical[j], "cuts"))
        if not problem.categorical[j]:
            wanted = oracle.mdl_cuts(x, y)
            got = cut_points(labelled, many, s, j, "cuts")
            assert len(got) == len(wanted)
            assert all(lo <= c < hi for c, (lo, hi) in zip(got, wanted, strict=True))
    for i in range(len(columns)):
        others = np.delete(np.arange(len(columns)), i)
        wanted = [oracle.symmetrical_uncertainty(codes[i], codes[j]) for j in others]
        got = redundancy.between(i, others)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)


def _half_samples_and_resamples(y, n_sets, rng):
    """Draw halves with the same class counts, and bootstrap samples with others."""
    for s in range(n_sets):
        if s % 4 == 3:
            yield rng.integers(0, y.size, y.size)
            continue
        rows = [rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)]
        yield np.concatenate([own[: own.size // 2] for own in rows])


@pytest.mark.parametrize("mdl_cost", ["cuts", "samples"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_gains_of_many_sets_are_those_of_each(n_classes, mdl_cost):
    """Whether a feature may be cut is looked up for all sets at once."""
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.resize(np.arange(n_classes), 46))
    X = rng.normal(size=(46, 40))
    X[:, :20] += rng.uniform(0, 2, 20) * y[:, None]
    X[:, ::3] = np.round(X[:, ::3])  # many ties
    X[:, 4] = 1.0
    X[3:9, 5] = np.nan
    table = Table.from_arrays(X, np.zeros(40, dtype=bool), y)
    index = list(_half_samples_and_resamples(y, 37, rng))
    sets = TrainSets.from_indices(index, 46)
    counts = sets.counts.astype(np.int32)
    totals = sets.class_counts(y, n_classes).astype(np.int32)
    tabulated = tabulate_bits(y, totals, counts, xlogx_table(46)).saved.size > 0
    assert tabulated == (n_classes < 4)
    found = gains(table, sets, 1, mdl_cost)
    for s, rows in enumerate(index):
        alone = gains(table, TrainSets.from_indices([rows], 46), 1, mdl_cost)
        for many, one in zip(found, alone, strict=True):
            np.testing.assert_array_equal(many[s], one[0])
    assert 0.05 < np.mean(found[0] > 0) < 0.9


def test_tables_of_bits_are_bounded():
    y = np.repeat([0, 1], 500)
    counts = np.ones((3, 1000), dtype=np.int32)
    totals = np.full((3, 2), 500, dtype=np.int32)
    assert not tabulate_bits(y, totals, counts, xlogx_table(1000)).saved.size
    few = tabulate_bits(y, totals // 10, counts, xlogx_table(1000))
    assert few.saved.size == 51 * 51
    for heavy, tabulated in ((1 << 15) - 1, False), ((1 << 15) - 2, True):
        totals = np.array([[1, heavy], [1, heavy]], dtype=np.int32)
        bits = tabulate_bits(np.arange(2), totals, totals, xlogx_table(1 << 16))
        assert bool(bits.saved.size) == tabulated  # a step has 16 bits


def test_the_gain_alone_is_the_first_of_both_scores():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 12)) + y[:, None]
    X[:, 4:8] = np.round(X[:, 4:8] % 3)
    table = Table.from_arrays(X, np.isin(np.arange(12), range(4, 8)), y)
    sets = TrainSets.from_indices([np.arange(40), np.arange(30), np.arange(9, 40)], 40)
    gain, uncertainty = gains(table, sets, 1)
    (alone,) = gains(table, sets, 1, n_scores=1)
    np.testing.assert_array_equal(alone, gain)
    assert (gain > 0).all(axis=0).any()
    assert not np.array_equal(gain, uncertainty)
