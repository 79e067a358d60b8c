"""Permutation p-values with early stopping, against a plain loop."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.oracles.discovery import (
    f_ratio,
    permutation_pvalues,
    relief_null,
    step_down,
)

from veridical import discover
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.criteria import relief
from veridical.criteria.relief import SETS_AT_ONCE
from veridical.discovery import permuting, stable
from veridical.discovery.permutation_pvalues import ENOUGH_ABOVE, sequential_pvalues
from veridical.discovery.permuting import draw_pairs, make_permutations
from veridical.kernels.distance import LEVELS
from veridical.kernels.ordering import first_by_score, near_first
from veridical.kernels.relief import NeighbourPairs
from veridical.kernels.relief_sums import sum_levels
from veridical.kernels.trainsets import TrainSets
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


@pytest.mark.parametrize("rate", ["fdr", "fwer"])
@pytest.mark.parametrize(
    ("y", "groups", "strata"),
    [
        ("aaabbb", None, None),
        ("aabbcc", None, None),
        ("aaaabbbb", [0, 0, 1, 1, 2, 2, 3, 3], None),
        ("aaabbbbb", [0, 0, 0, 1, 2, 2, 3, 3], None),
        ("abbbaaab", [0, 0, 0, 0, 1, 1, 1, 1], None),
        ("abbbaaab", None, [0, 0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_few_arrangements_are_all_counted(y, groups, strata, rate):
    """p is the share of different arrangements with a score at least as large."""
    y, n = np.array(list(y)), len(y)
    X = np.random.default_rng(1).normal(size=(n, 5)).round(1)
    X[:, 0] += 3 * (y == "a")
    options = {"groups": groups, "strata": strata, rate: 0.5, "n_pairs": 0}
    found = discover(X, y, selector="anova", random_state=0, **options)
    again = discover(X, y, selector="anova", random_state=1, **options)
    blocks = np.array(groups or strata or [0] * n)
    ways = {tuple(order) for order in itertools.permutations(y.tolist())}
    if groups and len(set(zip(y, groups, strict=True))) == len(set(groups)):
        # The outcome of a group moves as a whole, and 4 groups have few arrangements.
        first = np.unique(blocks, return_index=True)[1]
        ways = {tuple(np.array(w)[blocks]) for w in itertools.permutations(y[first])}
    else:
        kept = [sorted(y[blocks == b]) for b in set(blocks)]
        ways = {
            w
            for w in ways
            if [sorted(np.array(w)[blocks == b]) for b in set(blocks)] == kept
        }
    drawn = np.array(
        [[f_ratio(x, np.array(w)) for x in X.T] for w in ways if w != tuple(y)]
    )
    observed = np.array([f_ratio(x, y) for x in X.T])
    expected = permutation_pvalues(observed, drawn)
    np.testing.assert_allclose(found.pvalue, [float(p) for p in expected])
    np.testing.assert_array_equal(found.pvalue, again.pvalue)
    assert found.pvalue.min() >= 1 / len(ways)
    assert found.settings["permutations"] == len(ways) - 1
    assert any(f"in all {len(ways)} different ways" in note for note in found.notes)
    if rate == "fwer":
        adjusted = step_down(observed, drawn)
        np.testing.assert_allclose(found.qvalue, [float(p) for p in adjusted])


def test_arrangements_are_counted_where_they_are_fewer_than_the_permutations():
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.resize([0, 1], 6)
    for n, n_used in ((18, 18), (19, 19), (500, 19)):
        found = discover(X, y, n_permutations=n, random_state=0, n_pairs=0)
        assert found.settings["permutations"] == n_used
        assert any("in all 20" in note for note in found.notes) == (n >= 19)


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


def _awkward(kind, n, rng):
    """Features in which a quick score loses digits, or in which many are equal."""
    X = rng.normal(size=(n, 60))
    if kind == "ties":
        X = rng.integers(0, 3, (n, 60)).astype(float)
    if kind == "copies":
        X[:, 30:] = X[:, :30]
    if kind == "far from zero":
        X += 1e8
    if kind == "outliers":
        X[0] *= 1e6
        X[-1, ::2] = 1e9
    if kind == "constant":
        X[:, ::3] = 2.5
    if kind == "perfect":
        X[:, 7] = np.arange(n) % 3 == 0
        X[:, 8] = (np.arange(n) % 3 == 0) + 1e-9 * X[:, 8]
    return X


@pytest.mark.parametrize("n", [48, 51])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "kind",
    ["ties", "copies", "far from zero", "outliers", "constant", "perfect", "plain"],
)
def test_quick_sums_lead_with_the_features_of_the_ranking(kind, weighted, n):
    rng = np.random.default_rng(3)
    X, y = _awkward(kind, n, rng), np.arange(n) % 3
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    table = read_table(X, y, sample_weight=weights)
    halves = draw_pairs(table, 6, 0)
    sets = [*halves, np.arange(n), halves[0][:-1]]  # not all are halves of a pair
    _leads_as_ranked(AnovaF(), table, sets)


def _leads_as_ranked(selector, table, sets):
    ranked = selector.rank_table(table, sets)
    for n_features in (1, 12, 59, 60):
        leading = selector.lead_table(table, sets, n_features)
        assert min(map(len, leading)) > 0
        for first, order in zip(leading, ranked, strict=True):
            np.testing.assert_array_equal(first, order[: first.size])
    assert max(first.size for first in leading) > 15  # others have no weight above 0


@pytest.mark.parametrize("outcome", ["classes", "numbers"])
@pytest.mark.parametrize("n_samples", [None, 20])
@pytest.mark.parametrize(
    "kind",
    ["ties", "copies", "far from zero", "outliers", "constant", "perfect", "plain"],
)
def test_rounded_weights_lead_with_the_features_of_the_ranking(
    kind, n_samples, outcome
):
    rng = np.random.default_rng(3)
    n = 51
    y = np.arange(n) % 3 if outcome == "classes" else rng.normal(size=n)
    X = _awkward(kind, n, rng)
    table = read_table(X, y, kind=outcome)
    halves = draw_pairs(table, 40, 0)
    assert len(halves) > SETS_AT_ONCE
    selector = ReliefF(5, n_neighbors=4, n_samples=n_samples, random_state=0)
    _leads_as_ranked(selector, table, halves)


def test_small_sets_of_complete_numbers_are_not_weighed_as_a_whole(monkeypatch):
    """Otherwise the tests above would compare a routine with itself."""
    rng = np.random.default_rng(0)
    table = read_table(rng.normal(size=(40, 30)), np.resize([0, 1], 40))
    halves = draw_pairs(table, 2, 0)

    def refuse(self):
        raise AssertionError("weighed all features")

    monkeypatch.setattr(relief.PlainRelief, "weights", refuse)
    assert len(ReliefF(5).lead_table(table, halves, 5)) == 4
    with pytest.raises(AssertionError, match="all features"):
        ReliefF(5).lead_table(table, [half[:-1] for half in [np.arange(40)] * 2], 5)


@pytest.mark.parametrize("levels_of_weights", [2, 500])
def test_rounded_sums_stay_within_their_error(levels_of_weights):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 70))
    pairs = NeighbourPairs(
        *rng.integers(0, 40, (2, 500)),
        rng.choice(rng.normal(size=levels_of_weights), 500),
    )
    found, error = sum_levels(np.rint(LEVELS * X).astype(np.uint16), pairs)
    differences = np.abs(X[pairs.first] - X[pairs.second])
    wanted = LEVELS * pairs.weight @ differences
    assert np.abs(found - wanted).max() <= error
    assert error < 0.02 * LEVELS * np.abs(pairs.weight).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_a_second_half_are_what_the_first_leaves(weighted):
    rng = np.random.default_rng(0)
    n = 43
    weights = rng.integers(0, 3, n).astype(float) if weighted else None
    table = read_table(np.zeros((n, 1)) + np.arange(n)[:, None], np.arange(n) % 2)
    halves = draw_pairs(table, 4, 0)
    sets = [*halves, np.arange(n), halves[1][:3], np.resize([0, 1], 9)]
    made = TrainSets.from_indices(sets, n, weights)
    firsts, seconds, neither = made.complements()
    whole = np.ones(n) if weights is None else weights
    sums = rng.normal(size=n)
    found = dict(zip(firsts.tolist(), made.counts[firsts] @ sums, strict=True))
    for first, second, left in zip(firsts, seconds, neither, strict=True):
        if second >= 0:
            found[int(second)] = (
                whole @ sums - found[int(first)] - (whole * left) @ sums
            )
    assert sorted(found) == list(range(len(sets)))
    np.testing.assert_allclose([found[s] for s in range(len(sets))], made.counts @ sums)


def test_halves_of_a_pair_are_summed_once():
    table = read_table(np.eye(43), np.arange(43) % 2)
    made = TrainSets.from_indices(draw_pairs(table, 4, 0), 43)
    firsts, seconds, _ = made.complements()
    assert firsts.tolist() == [0, 2, 4, 6]
    assert seconds.tolist() == [1, 3, 5, 7]


@pytest.mark.parametrize("each", [False, True])
def test_an_order_is_clear_only_where_errors_cannot_change_it(each):
    rng = np.random.default_rng(0)
    n_clear = 0
    for number in range(300):
        scores = rng.random(20)
        if number % 2:
            scores = rng.choice([0.0, *scores], 20)
        error = rng.uniform(0, 2e-3, 20) if each else 1e-3
        noisy = scores * rng.uniform(1 - 1e-3, 1 + 1e-3, 20)
        noisy += rng.uniform(-1, 1, 20) * error
        n = int(rng.integers(1, 22))
        near, is_clear = near_first(noisy, n, rtol=1e-3, atol=error)
        wanted = first_by_score(scores, n, rtol=1e-12)
        assert set(wanted) <= set(near)
        own = near[first_by_score(scores[near], n, rtol=1e-12)]
        np.testing.assert_array_equal(own, wanted)
        if is_clear:
            n_clear += 1
            np.testing.assert_array_equal(near[np.argsort(-noisy[near])], wanted)
    assert 20 < n_clear < 280


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
        found.pvalues[stopped], ENOUGH_ABOVE / found.n_drawn[stopped], rtol=1e-12
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


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("options", [{"fdr": 0.2}, {"fwer": 0.1}, {"claim": "stable"}])
def test_how_many_are_drawn_together_changes_nothing(grouped, options, monkeypatch):
    """Of many samples orders and halves are drawn a few at a time, to bound memory."""
    rng = np.random.default_rng(2)
    y = np.repeat(np.resize([0, 1], 20), 3)
    X = rng.normal(size=(60, 12))
    X[:, 0] += y
    groups = np.repeat(np.arange(20), 3) if grouped else None
    options |= {"groups": groups, "random_state": 0, "n_pairs": 4}
    usual = discover(X, y, **options)
    monkeypatch.setattr(permuting, "ORDERS_BYTES", 7 * 8 * len(y))
    monkeypatch.setattr(stable, "_HALVES_BYTES", 1)
    sizes, pieces = [], permuting.Permutations.chunks

    def chunks(self, n):
        for orders in pieces(self, n):
            sizes.append(len(orders))
            yield orders

    monkeypatch.setattr(permuting.Permutations, "chunks", chunks)
    few = discover(X, y, **options)
    assert max(sizes, default=0) <= 7
    pd.testing.assert_frame_equal(usual.to_frame(), few.to_frame())


def all_arrangements(y, blocks):
    """Yield every different arrangement of outcomes inside blocks."""
    inside = [
        sorted(set(itertools.permutations(y[blocks == b]))) for b in np.unique(blocks)
    ]
    for chosen in itertools.product(*inside):
        made = np.empty_like(y)
        for b, values in zip(np.unique(blocks), chosen, strict=True):
            made[blocks == b] = values
        yield made


@pytest.mark.parametrize("kind", ["strata", "groups that vary", "whole groups"])
def test_pvalues_are_shares_of_all_arrangements(kind):
    """Every arrangement is enumerated; features with and without equal values."""
    rng = np.random.default_rng(1)
    n, y = 10, np.resize([0, 1], 10)
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.integers(0, 3, n)]
    blocks = np.repeat([0, 1], (4, 6))
    given = {"strata": blocks} if kind == "strata" else {"groups": blocks}
    if kind == "whole groups":
        given = {"groups": np.arange(n) // 2}
        each = np.array([0, 1, 0, 1, 1])
        y = np.repeat(each, 2)
        every = [np.repeat(a, 2) for a in all_arrangements(each, np.zeros(5, int))]
    else:
        every = list(all_arrangements(y, blocks))
    X[:, 0] += 2 * y
    scores = np.array([[f_ratio(x, a) for x in X.T] for a in (y, *every)])
    shares = np.mean(scores[1:] >= scores[0] * (1 - 1e-9) - 1e-11, axis=0)
    n_permutations = 4000
    found = discover(
        X, y, n_permutations=n_permutations, n_pairs=0, random_state=0, **given
    )
    error = np.sqrt(shares * (1 - shares) / n_permutations) + 1 / n_permutations
    assert (np.abs(found.pvalue - shares) <= 4 * error).all()
    assert shares.min() < 0.3


def test_strata_exchange_inside_only():
    strata = np.repeat([0, 1, 2], (10, 14, 6))
    y = np.resize([0, 1], 30)
    table = read_table(np.random.default_rng(0).normal(size=(30, 1)), y)
    for order in make_permutations(table, strata, 0).draw(10):
        np.testing.assert_array_equal(strata[order], strata)


def test_strata_of_one_sample_keep_their_outcome():
    strata = np.r_[np.repeat([0, 1], 6), 2:8]
    y = np.resize([0, 1], 18)
    X = np.random.default_rng(0).normal(size=(18, 2))
    for order in make_permutations(read_table(X, y), strata, 0).draw(10):
        np.testing.assert_array_equal(strata[order], strata)
    with pytest.raises(InputError, match="stands alone"):
        discover(X, y, strata=np.arange(18))


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
