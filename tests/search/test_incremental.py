"""Pieces of the incremental searches."""

from itertools import pairwise

import numpy as np
import pytest
from tests.oracles import incremental as oracle

from veridical.search.incremental import append_rest, take_turns
from veridical.selection import MRMR, AnovaF, DifferentialPrioritization

RNG = np.random.default_rng(30)
Y = np.arange(60) % 4
FACTORS = RNG.normal(size=(60, 8)) + np.outer(Y, RNG.random(8))
X = FACTORS @ RNG.normal(size=(8, 120)) + RNG.normal(size=(60, 120))


def test_the_rest_follows_by_relevance():
    by_relevance = np.array([3, 1, 2, 4, 0])
    assert append_rest([4, 1], by_relevance).tolist() == [4, 1, 3, 2, 0]
    assert append_rest([], by_relevance).tolist() == [3, 1, 2, 4, 0]


def test_classes_take_turns():
    assert take_turns([[1, 2, 3], [2, 1, 0]], 4) == [1, 2, 3, 0]
    assert take_turns([[5, 6], [5, 7]], 3) == [5, 7, 6]
    assert take_turns([[5, 6], [5, 6]], 3) == [5, 6], "nobody knows what came next"


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.8, 1.0])
def test_prioritization_is_brute_force(alpha):
    """The specification's own size: 120 features, 12 of them searched."""
    order = oracle.prioritize(X.T.tolist(), Y.tolist(), alpha=alpha, n_searched=12)[1]
    fitted = DifferentialPrioritization(12, alpha=alpha, n_searched=12).fit(X, Y)
    assert fitted.order_.tolist() == order


def test_alpha_one_is_the_f_ranking():
    fitted = DifferentialPrioritization(None, alpha=1.0, n_searched=None).fit(X, Y)
    assert fitted.order_.tolist() == AnovaF(1).fit(X, Y).order_.tolist()
    F = AnovaF(1).fit(X, Y).scores_
    np.testing.assert_allclose(fitted.scores_ * (60 - 4) / (4 - 1), F, rtol=1e-12)


def test_sets_are_nested_and_begin_alike():
    firsts = set()
    for alpha in (0.1, 0.5, 1.0):
        orders = [
            DifferentialPrioritization(k, alpha=alpha, n_searched=k).fit(X, Y).order_
            for k in (1, 5, 12)
        ]
        for small, (k, large) in zip(orders, [(1, 1), (5, 2)], strict=False):
            assert orders[large][:k].tolist() == small[:k].tolist()
        firsts.add(int(orders[0][0]))
    assert len(firsts) == 1


def test_a_small_alpha_prefers_features_that_differ():
    def mean_correlation(columns):
        R = np.abs(np.corrcoef(X[:, columns].T))
        return R[np.triu_indices(len(columns), 1)].mean()

    chosen = {
        alpha: DifferentialPrioritization(20, alpha=alpha).fit(X, Y)
        for alpha in (0.1, 0.5, 1.0)
    }
    alike = [mean_correlation(chosen[a].order_[:20]) for a in (0.1, 0.5, 1.0)]
    assert all(a < b for a, b in pairwise(alike))
    relevance = [chosen[a].scores_[chosen[a].order_[:20]].mean() for a in (0.1, 0.5, 1)]
    assert all(a < b for a, b in pairwise(relevance))


def test_the_path_holds_mean_relevance_and_antiredundancy():
    fitted = DifferentialPrioritization(6, alpha=0.4, n_searched=6).fit(X, Y)
    for size in range(1, 7):
        group = fitted.order_[:size]
        V = fitted.scores_[group].mean()
        U = (1 - np.abs(np.corrcoef(X[:, group].T).reshape(size, size))).mean()
        assert fitted.relevance_path_[size - 1] == pytest.approx(V, rel=1e-12)
        assert fitted.antiredundancy_path_[size - 1] == pytest.approx(U, abs=1e-12)


def test_with_two_classes_one_against_the_rest_is_all_classes():
    y = Y % 2
    orders = [
        DifferentialPrioritization(9, relevance=relevance, n_searched=9)
        .fit(X, y)
        .order_
        for relevance in ("all-classes", "one-vs-all")
    ]
    assert orders[0].tolist() == orders[1].tolist()


def test_mrmr_is_brute_force_on_wide_data():
    for scheme in ("quotient", "difference"):
        order = oracle.mrmr(X.T.tolist(), Y.tolist(), scheme=scheme, n_searched=12)[1]
        fitted = MRMR(12, scheme=scheme, n_searched=12).fit(X, Y)
        assert fitted.order_.tolist() == order


def test_correlations_below_a_thousandth_are_as_good_as_none():
    """mRMR chooses by relevance among features that hardly repeat the first."""
    rng = np.random.default_rng(31)
    y = np.arange(400) % 2
    noise = np.linalg.qr(np.column_stack([np.ones(400), y, rng.normal(size=(400, 3))]))[
        0
    ]
    within = noise[:, 2:]  # three directions of no use, orthogonal to all the rest
    means = (y - 0.5) / np.linalg.norm(y - 0.5)
    first = means + 0.5 * within[:, 0]

    def feature(relevance, correlation, direction):
        """A feature with about this much of the class, and this correlation."""
        x = relevance * means + within[:, direction]
        x -= (x @ first) / (first @ first) * first
        x /= np.linalg.norm(x)
        return x + correlation * first / np.linalg.norm(first)

    strict, slight = feature(0.2, 0.0, 1), feature(0.3, 6e-4, 2)
    table = np.column_stack([strict, first, slight])
    F = AnovaF(1).fit(table, y).scores_
    R = np.abs(np.corrcoef(table.T))[1]
    assert F[1] > F[2] > F[0]
    assert R[0] < 1e-9 < 5e-4 < R[2] < 1e-3
    assert MRMR(1).fit(table, y).order_.tolist() == [1, 2, 0]


def _with_constants():
    """Twelve features: three constants, and a copy of a relevant one at the end."""
    rng = np.random.default_rng(5)
    y = np.arange(48) % 3
    table = rng.normal(size=(48, 12)) + 0.8 * rng.random(12) * y[:, None]
    table[:, 1], table[:, 4], table[:, 7] = 0.0, 0.1, -1e6
    table[:, 11] = 2 * table[:, 3] + 1
    return table, y


@pytest.mark.parametrize("n_searched", [3, 100, None])
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (DifferentialPrioritization, {}),
        (DifferentialPrioritization, {"alpha": 0.05}),
        (DifferentialPrioritization, {"relevance": "one-vs-all", "alpha": 0.2}),
        (MRMR, {}),
        (MRMR, {"scheme": "difference"}),
    ],
)
def test_constant_features_come_last(make, options, n_searched):
    table, y = _with_constants()
    order = make(3, n_searched=n_searched, **options).fit(table, y).order_.tolist()
    assert order[-3:] == [1, 4, 7]
    assert sorted(order) == list(range(12))


@pytest.mark.parametrize("scheme", ["quotient", "difference"])
def test_mrmr_with_constants_is_brute_force(scheme):
    table, y = _with_constants()
    order = oracle.mrmr(table.T.tolist(), y.tolist(), scheme=scheme)[1]
    found = MRMR(3, scheme=scheme).fit(table, y)
    assert found.order_.tolist() == order


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_prioritization_with_constants_is_brute_force(alpha):
    table, y = _with_constants()
    order = oracle.prioritize(table.T.tolist(), y.tolist(), alpha=alpha)[1]
    found = DifferentialPrioritization(3, alpha=alpha).fit(table, y)
    assert found.order_.tolist() == order


@pytest.mark.parametrize(
    "selector",
    [
        DifferentialPrioritization(3),
        DifferentialPrioritization(3, relevance="one-vs-all"),
        MRMR(3),
        MRMR(3, scheme="difference"),
    ],
)
def test_what_is_constant_in_a_training_set_comes_last_there(selector):
    table, y = _with_constants()
    table[:40, 2] = 0.3  # constant in every training set that leaves the end out
    sets = [np.arange(39), np.arange(1, 40), np.arange(48), np.arange(36).repeat(2)]
    for rows, order in zip(sets, selector.rank_many(table, y, sets), strict=True):
        assert order.tolist() == selector.fit(table[rows], y[rows]).order_.tolist()
        constants = [1, 4, 7] if rows.max() > 40 else [1, 2, 4, 7]
        assert order[-len(constants) :].tolist() == constants
