"""ReliefF asked of some samples only; distances; samples within a radius."""

import warnings

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array
from tests.oracles import selection as oracle

from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical._core.targets import Numbers
from veridical.criteria import (
    MultiSurfRelevance,
    RegressionReliefRelevance,
    ReliefRelevance,
    relief,
)
from veridical.criteria.relief import RegressionMultiSurfRelevance
from veridical.kernels.distance import (
    LEVELS,
    coarse_error,
    error_bound,
    numeric_distance,
    scale_columns,
    scale_samples,
    sum_pairs,
    sum_rows,
)
from veridical.kernels.relief import (
    Neighbourhood,
    Samples,
    exact_distance,
    find_within,
)
from veridical.kernels.sparse_distance import SparseDistances, SparseSamples, Stored
from veridical.kernels.trainsets import TrainSets
from veridical.selection import MultiSURF, ReliefF, _relieff

RNG = np.random.default_rng(40)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 7)) + np.outer(Y, [1, 0.5, 0, 0, 0, 0, 0])
DATA = Table.from_arrays(X, np.zeros(7, dtype=bool), Y)
ALL = TrainSets.all_rows(60)


def weights(queries):
    relevance = ReliefRelevance(5, np.atleast_2d(queries))
    return relevance.scores(DATA, ALL, 1)[0]


def test_the_mean_over_single_samples_is_the_score_of_all():
    single = [weights(np.arange(60) == i) for i in range(60)]
    np.testing.assert_allclose(
        np.mean(single, axis=0), weights(np.ones(60)), atol=1e-13
    )


def test_a_repeated_sample_counts_twice():
    twice = weights(np.where(np.arange(60) == 3, 2.0, np.arange(60) == 8))
    one, other = weights(np.arange(60) == 3), weights(np.arange(60) == 8)
    np.testing.assert_allclose(twice, (2 * one + other) / 3, atol=1e-13)


def test_sampling_all_samples_is_the_default():
    everyone = ReliefF(1, n_neighbors=5).fit(X, Y).scores_
    for n in (60, 1000):
        sampled = ReliefF(1, n_neighbors=5, n_samples=n, random_state=0).fit(X, Y)
        np.testing.assert_allclose(sampled.scores_, everyone, atol=1e-14)


def test_a_seed_fixes_the_samples_and_another_changes_them():
    def score(seed):
        return ReliefF(1, n_samples=10, random_state=seed).fit(X, Y).scores_

    np.testing.assert_array_equal(score(1), score(1))
    assert np.abs(score(1) - score(2)).max() > 1e-6


@pytest.mark.parametrize("n_samples", [5, 20])
def test_many_training_sets_draw_as_fit_draws(n_samples):
    folds = [np.flatnonzero(np.arange(60) % 6 != f) for f in range(6)]
    folds.append(RNG.integers(0, 60, 60))
    selector = ReliefF(1, n_samples=n_samples, random_state=7)
    for rows, order in zip(folds, selector.rank_many(X, Y, folds), strict=True):
        assert order.tolist() == selector.fit(X[rows], Y[rows]).order_.tolist()


def test_features_that_matter_only_together():
    table = RNG.random((200, 6))
    y = (table[:, 1] > 0.5) ^ (table[:, 4] > 0.5)
    assert set(ReliefF(2).fit(table, y).order_[:2]) == {1, 4}


def near_ties(scale):
    """Samples in twos, so alike that single precision cannot tell who is nearer."""
    rng = np.random.default_rng(8)
    half = rng.integers(0, 3, size=(15, 6)).astype(float)
    table = np.repeat(half, 2, axis=0) + scale * rng.random((30, 6))
    table[0], table[1] = 0.0, 3.0
    return table, np.arange(30) // 2 % 2


@pytest.mark.parametrize("scale", [1e-3, 1e-6, 1e-8])
def test_double_precision_decides_between_near_neighbours(scale):
    table, y = near_ties(scale)
    exact = oracle.relieff(table.T.tolist(), y.tolist(), [False] * 6, n_neighbors=4)
    found = ReliefF(1, n_neighbors=4).fit(table, y).scores_
    np.testing.assert_allclose(found, np.array(exact, dtype=float), atol=1e-13)


def test_an_outlier_left_out_changes_the_scale_and_nothing_else():
    table, y = near_ties(1e-8)
    table[5, 2] = 1e9  # with it, column 2 tells no two other samples apart
    folds = [np.flatnonzero(np.arange(30) != i) for i in range(30)]
    selector = ReliefF(1, n_neighbors=4)
    for rows, order in zip(folds, selector.rank_many(table, y, folds), strict=True):
        fitted = selector.fit(table[rows], y[rows])
        np.testing.assert_array_equal(order, fitted.order_)
        exact = oracle.relieff(
            table[rows].T.tolist(), y[rows].tolist(), [False] * 6, n_neighbors=4
        )
        np.testing.assert_allclose(
            fitted.scores_, np.array(exact, dtype=float), atol=1e-13
        )


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_error_of_quick_distances_stays_within_its_bound(precision):
    rng = np.random.default_rng(9)
    table = rng.lognormal(size=(40, 3000)) + 1e6
    low, inverse = table.min(axis=0), 1 / np.ptp(table, axis=0)
    rows = np.arange(40)
    D = np.zeros((40, 40), dtype=precision)
    scaled = scale_samples(table, rows, low, inverse, 1, precision)
    sum_pairs(scaled, D, rows, D, [(0, 40)], 1)
    exact = np.array(
        [[numeric_distance(table, i, j, inverse) for j in rows] for i in rows]
    )
    plain = (np.abs(table[:, None] - table[None]) * inverse).sum(axis=2)
    np.testing.assert_allclose(exact, plain, rtol=1e-12)
    bound = error_bound(3000, scaled.largest_size, float(D.max()), precision)
    assert 0 < np.abs(D - plain).max() < bound


def test_quick_distances_are_near_where_most_of_a_range_is_empty():
    """One outlier per feature: all other values lie at one end of the range."""
    rng = np.random.default_rng(10)
    table = rng.normal(size=(30, 60)) * 1e-3
    table[np.arange(60) % 30, np.arange(60)] = rng.choice([-1e3, 1e3], 60)
    y = np.arange(30) % 2
    exact = oracle.relieff(table.T.tolist(), y.tolist(), [False] * 60, n_neighbors=3)
    found = ReliefF(1, n_neighbors=3).fit(table, y).scores_
    np.testing.assert_allclose(found, np.array(exact, dtype=float), atol=1e-13)


@pytest.mark.parametrize("y", [Y, Y % 2], ids=["three classes", "two classes"])
def test_sums_over_many_sets_are_those_of_each(y):
    """Sets of one size share most pulls, those of other sizes must not spoil them."""
    data = Table.from_arrays(X, np.zeros(7, dtype=bool), y)
    rows = [np.flatnonzero(np.arange(60) % 6 != f) for f in range(6)]
    rows += [np.arange(60), np.arange(40), RNG.integers(0, 60, 60), np.arange(40, 60)]
    relevance = ReliefRelevance(4)
    many = relevance.scores(data, TrainSets.from_indices(rows, 60), 2)
    for scores, chosen in zip(many, rows, strict=True):
        alone = relevance.scores(data, TrainSets.from_indices([chosen], 60), 1)[0]
        np.testing.assert_allclose(scores, alone, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        *((np.float64, size) for size in (1e2, 1e6, 1e20, 1e100, 1e307, 1.7e308)),
        *((np.float32, size) for size in (1e2, 1e6, 1e20, 3e38)),
    ],
)
def test_sets_without_an_outlier_share_none_of_its_rounding_error(dtype, size):
    """Most sets hold row 7, so that its pairs are among those added up once for all."""
    table = X.astype(dtype)
    table[7, [0, 3]] = size
    table[8, 3] = -table[7, 3] / 1e3
    data = Table.from_arrays(table, np.zeros(7, dtype=bool), Y)
    rows = [np.delete(np.arange(60), i) for i in range(20)]
    rows += [np.delete(np.arange(60), [7, 8]), np.arange(10, 60)]
    relevance = ReliefRelevance(3)
    many = relevance.scores(data, TrainSets.from_indices(rows, 60), 2)
    for s in (7, 8, 20, 21):
        part = Table.from_arrays(table[rows[s]], data.categorical, Y[rows[s]])
        every = TrainSets.all_rows(rows[s].size)
        alone = relevance.scores(part, every, 1)[0]
        np.testing.assert_allclose(many[s], alone, rtol=0, atol=1e-13)


def test_a_range_too_large_for_a_double_is_a_range():
    table, small = X.copy(), X.copy()
    small[:, 2] = np.where(np.arange(60) % 2, 1.0, -1.0)
    table[:, 2] = 1.7e308 * small[:, 2]
    fitted, wanted = ReliefF(3).fit(table, Y), ReliefF(3).fit(small, Y)
    np.testing.assert_allclose(fitted.scores_, wanted.scores_, atol=1e-14)


@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.1, 10.0])
def test_what_quick_distances_cannot_tell_exact_ones_decide(error):
    """Distances that are off by up to `error` give the neighbours of exact ones."""
    rng = np.random.default_rng(12)
    order = np.argsort(Y, kind="stable")
    inverse, none = 1 / np.ptp(X, axis=0), np.empty(0)
    samples = Samples(
        X, inverse, np.empty((60, 0)), none, none, np.empty(0, dtype=np.intp), order
    )
    counts = rng.integers(1, 4, 60).astype(float)
    exact = np.array(
        [[numeric_distance(X, i, j, inverse) for j in order] for i in order]
    )
    noise = np.tril(rng.uniform(-error, error, exact.shape), -1)
    everyone, fixed = np.arange(60), (counts, counts, np.arange(4) * 20, samples)
    found = [
        find_within(
            Neighbourhood(D.__getitem__, 60, everyone, off, *fixed, everyone, 60, 1)
        )
        for D, off in ((exact, 0.0), (exact + noise + noise.T, error))
    ]
    for wanted, got in zip(*found, strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert 60 < found[0].weight.size < 60 * 59 / 2


def tall_table(n, p, rng, kind):
    """Return features, the categorical ones, and a target, with ties and copies."""
    table = rng.normal(size=(n, p))
    table[:, 1] = rng.integers(0, 3, n)
    table[:, 2] = 5.0
    table[n // 2 :: 7] = table[: n // 2 : 7][: len(table[n // 2 :: 7])]
    categorical = np.zeros(p, dtype=bool)
    if kind == "mixed":
        categorical[1] = True
        table[::9, 3] = np.nan
    if kind == "outliers":  # coarse distances cannot tell samples apart
        table[np.arange(p) % n, np.arange(p)] = 1e7
    y = rng.integers(0, 3, n)
    return Table.from_arrays(table, categorical, y)


@pytest.mark.parametrize("kind", ["plain", "mixed", "outliers"])
@pytest.mark.parametrize("n_features", [5, 300])
def test_tiles_give_the_scores_of_all_distances_at_once(kind, n_features, monkeypatch):
    rng = np.random.default_rng(14)
    data = tall_table(150, n_features, rng, kind)
    numbers = data.replace(target=Numbers(rng.normal(size=150)))
    rows = [np.arange(150), np.arange(100), rng.integers(0, 150, 150)]
    sets = TrainSets.from_indices(rows, 150)
    queries = (rng.random((3, 150)) < 0.2) * (sets.counts > 0)
    cases = [
        (data, ReliefRelevance(4)),
        (data, ReliefRelevance(4, queries.astype(float))),
        (data, MultiSurfRelevance()),
        (numbers, RegressionReliefRelevance(4)),
        (numbers, RegressionReliefRelevance(6, decay=2.0)),
        (numbers, RegressionMultiSurfRelevance()),
    ]
    at_once = [relevance.scores(table, sets, 1) for table, relevance in cases]
    monkeypatch.setattr(relief, "MAX_BYTES", 0)
    monkeypatch.setattr(relief, "TILE_BYTES", 0)
    monkeypatch.setattr(relief, "MAX_PAIRS", 150 * 20)
    monkeypatch.setattr(relief.PlainRelief, "is_tall", True)
    for n_threads in (1, 2):
        for (table, relevance), wanted in zip(cases, at_once, strict=True):
            found = relevance.scores(table, sets, n_threads)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


def test_coarse_distances_stay_within_their_bound():
    rng = np.random.default_rng(15)
    table, rows = rng.lognormal(size=(300, 101)), np.arange(300)
    low, inverse = table.min(axis=0), 1 / np.ptp(table, axis=0)
    inverse[5] = 0.0  # constant in the training set
    scaling = low, LEVELS * inverse
    columns = scale_columns(table, rows, *scaling, 1, np.uint16)
    D = np.empty((7, 300), dtype=np.float32)
    sum_rows(scale_samples(table, rows[3:10], *scaling, 1, np.uint16), columns, D)
    exact = [[numeric_distance(table, i, j, inverse) for j in rows] for i in rows[3:10]]
    bound = coarse_error(101, columns.largest_rounding)
    assert 0 < np.abs(D - exact).max() < bound < 0.7 * 101 / LEVELS


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [3, 700])
def test_rows_of_distances_are_those_of_pairs(n_features, precision):
    rng = np.random.default_rng(16)
    table, rows = rng.normal(size=(130, n_features)), np.arange(130)
    scaling = table.mean(axis=0), 1 / np.ptp(table, axis=0)
    columns = scale_columns(table, rows, *scaling, 2, precision)
    D = np.empty((130, 130), dtype=precision)
    sum_rows(scale_samples(table, rows, *scaling, 1, precision), columns, D)
    plain = (np.abs(table[:, None] - table[None]) * scaling[1]).sum(axis=2)
    bound = error_bound(
        n_features, columns.largest_size, 2 * columns.largest_size, precision
    )
    assert np.abs(D - plain).max() < bound


# -- sparse features -----------------------------------------------------------------


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
def test_distances_of_stored_values(precision, density):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < density)
    X[:, 3] = 1e6 + rng.normal(size=40)  # all stored, far from zero
    spread = np.ptp(X, axis=0)
    inverse = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
    found = SparseDistances(csr_array(X), inverse, precision)
    some = np.array([0, 7, 39])
    exact = np.abs(X[some, None] - X) @ inverse
    assert np.abs(found(some) - exact).max() <= found.error
    assert found.error < 1000 * np.finfo(precision).eps * exact.max()
    samples = SparseSamples(Stored.from_matrix(csr_array(X)), inverse, np.arange(40))
    assert exact_of(samples, 7, 20) == pytest.approx(exact[1, 20], rel=1e-13)


@njit
def exact_of(samples, i, j):
    return exact_distance(samples, i, j)


def test_missing_values_in_sparse_data():
    X = csr_array(np.where(np.eye(6), np.nan, 0.0))
    with pytest.raises(InputError, match="sparse and holds missing values"):
        ReliefF(1).fit(X, np.arange(6) % 2)


# -- many samples --------------------------------------------------------------------


def test_distances_of_wide_tables_are_summed_by_blocks_of_features(monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(80, 300)), np.arange(80) % 3
    for selector in (ReliefF(3), MultiSURF(3)):
        whole = selector.fit(X, y).scores_
        monkeypatch.setattr(relief, "SCALED_BYTES", 80 * 8 * 70)
        np.testing.assert_array_equal(selector.fit(X, y).scores_, whole)
        monkeypatch.undo()


def test_a_large_comparison_says_what_it_costs(monkeypatch):
    monkeypatch.setattr(_relieff, "MANY_SAMPLES", 60)
    with pytest.warns(UserWarning, match=r"compares all 60 samples.*n_samples=500"):
        ReliefF(1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReliefF(1, n_samples=20).fit(X, Y)
