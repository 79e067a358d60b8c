import numpy as np
import pytest
from tests.oracles.discovery import (
    f_ratio,
    permutation_pvalues,
    relief_null,
    step_down,
)

from veridical import discover
from veridical._core.reading import read_table
from veridical.discovery.association import ENOUGH, sequential_pvalues
from veridical.discovery.permuting import draw_pairs, make_permutations
from veridical.selection import (
    SELECTORS,
    AnovaF,
    InformationGain,
    ReliefF,
)


def example(n=24, p=7, seed=0):
    rng = np.random.default_rng(seed)
    y = np.resize([0, 1], n)
    X = rng.normal(size=(n, p))
    X[:, 0] += 1.5 * y
    X[:, 1] = rng.integers(0, 2, n)  # many ties
    X[:, 2] = 3.0  # no variance
    return X, y


@pytest.mark.parametrize("rate", ["fdr", "fwer", "pfer"])
def test_pvalues_equal_the_oracle(rate):
    X, y = example()
    found = discover(X, y, **{rate: 0.2}, n_permutations=60, random_state=3, n_pairs=0)
    table = read_table(X, y)
    orders = make_permutations(table, None, 3).draw(60)
    with np.errstate(invalid="ignore"):
        observed = np.array([f_ratio(x, y) for x in X.T])
        drawn = np.array([[f_ratio(x, y[o]) for x in X.T] for o in orders])
    known = np.delete(np.arange(7), 2)
    expected = permutation_pvalues(observed[known], drawn[:, known])
    np.testing.assert_allclose(found.pvalue[known], [float(p) for p in expected])
    assert found.pvalue[2] == 1.0
    assert (found.pvalue > 0).all()
    if rate == "fwer":
        adjusted = step_down(observed[known], drawn[:, known])
        np.testing.assert_allclose(found.qvalue[known], [float(p) for p in adjusted])
    if rate == "pfer":
        np.testing.assert_allclose(found.qvalue, found.pvalue * 7)


@pytest.mark.parametrize("name", ["anova", "information-gain", "correlation"])
def test_scores_of_permuted_outcomes_are_those_of_fitting(name):
    X, y = example(40, 9, 1)
    y = np.resize([0, 1, 2], 40)
    table = read_table(X, y)
    orders = make_permutations(table, None, 0).draw(5)
    columns = np.array([8, 0, 4])
    found = SELECTORS[name]().score_table(table, orders, columns)
    for row, order in zip(found, orders, strict=True):
        fitted = SELECTORS[name]().fit(X, y[order])
        np.testing.assert_allclose(row, fitted.scores_[columns], rtol=1e-9, atol=1e-12)


def test_weights_count_as_copies_in_permuted_scores():
    X, y = example(20, 4, 2)
    weights = np.resize([1, 2, 0, 1], 20)
    copies = np.repeat(np.arange(20), weights)
    table = read_table(X, y, sample_weight=weights)
    (found,) = AnovaF().score_table(table)
    np.testing.assert_allclose(
        found, AnovaF().fit(X[copies], y[copies]).scores_, rtol=1e-9
    )


def test_relieff_exchanges_the_values_of_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.resize([0, 1], 30)
    table = read_table(X, y)
    orders = make_permutations(table, None, 0).draw(3)
    found = ReliefF(n_neighbors=3).score_table(table, orders)
    for row, order in zip(found, orders, strict=True):
        np.testing.assert_allclose(row, relief_null(X, y, order, 3), atol=1e-12)
    (own,) = ReliefF(n_neighbors=3).score_table(table)
    np.testing.assert_array_equal(own, ReliefF(n_neighbors=3).fit(X, y).scores_)


@pytest.mark.parametrize("make", [AnovaF, InformationGain, ReliefF])
def test_leading_features_are_the_first_of_the_ranking(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    X[:, 5:15] = rng.integers(0, 2, (60, 10))
    X[:, 20] = X[:, 21]
    X[:, 7] = 0.0
    y = np.resize([0, 1], 60)
    table = read_table(X, y)
    halves = draw_pairs(table, 6, 0)
    leading = make().lead_table(table, halves, 12)
    orders = make().rank_table(table, halves)
    for first, order, half in zip(leading, orders, halves, strict=True):
        np.testing.assert_array_equal(first, order[: first.size])
        scores = make().fit(X[half], y[half]).scores_
        with np.errstate(invalid="ignore"):
            assert first.size == min(12, np.count_nonzero(scores > 1e-12))


def test_sequential_pvalues_are_uniform_under_the_null():
    """The exact p-value of Besag and Clifford: P(p ≤ a) ≤ a, and nearly equal."""
    rng = np.random.default_rng(0)
    n, p = 30, 3000
    y = np.resize([0, 1], n)
    table = read_table(rng.normal(size=(n, p)), y)
    permutations = make_permutations(table, None, 5)
    found = sequential_pvalues(
        lambda orders, columns: AnovaF().score_table(table, orders, columns),
        p,
        permutations,
        1000,
    )
    assert (found.pvalues > 0).all()
    for alpha in (0.01, 0.05, 0.1, 0.5):
        share = (found.pvalues <= alpha).mean()
        assert abs(share - alpha) < 4 * np.sqrt(alpha * (1 - alpha) / p) + 0.005
    stopped = found.n_drawn < 1000
    np.testing.assert_allclose(
        found.pvalues[stopped], ENOUGH / found.n_drawn[stopped], rtol=1e-12
    )


def test_halves_are_complementary_and_balanced():
    y = np.repeat(["a", "b"], (31, 12))
    table = read_table(np.zeros((43, 1)) + np.arange(43)[:, None], y)
    halves = draw_pairs(table, 5, 0)
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert not set(first) & set(second)
        assert [np.sum(y[first] == k) for k in "ab"] == [15, 6]
        assert [np.sum(y[second] == k) for k in "ab"] == [15, 6]


def test_groups_stay_whole_in_halves_and_permutations():
    groups = np.repeat(np.arange(12), 3)
    y = np.repeat(np.resize([0, 1], 12), 3)
    rng = np.random.default_rng(0)
    table = read_table(rng.normal(size=(36, 2)), y, groups=groups)
    for half in draw_pairs(table, 4, 0):
        assert np.bincount(groups[half], minlength=12).max() == 3
        assert set(np.bincount(groups[half], minlength=12)) <= {0, 3}
    for order in make_permutations(table, None, 0).draw(10):
        moved = y[order].reshape(12, 3)
        assert (moved == moved[:, :1]).all()


def test_strata_exchange_inside_only():
    strata = np.repeat([0, 1, 2], (10, 14, 6))
    y = np.resize([0, 1], 30)
    table = read_table(np.random.default_rng(0).normal(size=(30, 1)), y)
    for order in make_permutations(table, strata, 0).draw(10):
        np.testing.assert_array_equal(strata[order], strata)


def test_a_group_effect_is_no_discovery():
    """24 groups of 6, a strong group effect, outcome constant within groups."""
    claimed = naive = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(24), 6)
        y = np.repeat(rng.permutation(np.resize([0, 1], 24)), 6)
        X = rng.normal(size=(24, 1))[groups] * 2 + rng.normal(size=(144, 1))
        options = {"fwer": 0.05, "n_permutations": 99, "n_pairs": 0, "random_state": 0}
        claimed += discover(X, y, groups=groups, **options).claimed.size
        naive += discover(X, y, **options).claimed.size
    assert claimed <= 150 * 0.05 + 3 * np.sqrt(150 * 0.05)
    assert naive > 4 * claimed
