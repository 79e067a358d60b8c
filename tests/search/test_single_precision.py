"""Bounds in single precision never change which features are chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import incremental as oracle

from veridical._core.table import Table
from veridical.criteria.correlation import CorrelationRedundancy
from veridical.kernels.similarity import write_bounds
from veridical.kernels.trainsets import TrainSets
from veridical.search import incremental
from veridical.selection import MRMR, DifferentialPrioritization

ALPHAS = [0.1, 0.4, 0.7, 1.0]


def problem(seed=0, n=50, p=120, n_classes=3):
    """Features in groups, among them copies, near copies and a constant."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 10))[:, np.arange(p) % 10] + rng.normal(size=(n, p))
    X[:, :30] += rng.normal(size=(n_classes, 30))[y]
    X[:, 40:45] = -3 * X[:, :5] + 7
    X[:, 45:50] = X[:, :5] * (1 + 1e-9 * rng.normal(size=(n, 5)))
    X[:, 50] = 4.0
    return X, y


@pytest.fixture
def single_precision(monkeypatch):
    """Set the share of comparisons beyond which a search uses single precision.

    With -1 all searches use it, with 0 all that compare anything. Returns how many did.
    """
    taken = []

    def use_single(search, columns, plain=incremental.ForwardSearch.use_single):
        taken.append(columns.bounds.shape[0])
        plain(search, columns)

    monkeypatch.setattr(incremental.ForwardSearch, "use_single", use_single)

    def set_max_share(value):
        monkeypatch.setattr(incremental, "_MAX_SHARE", dict.fromkeys(range(3), value))
        before = len(taken)
        return lambda: taken[before:]

    return set_max_share


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("relevance", ["all-classes", "one-vs-all"])
def test_the_path_is_the_same_to_the_last_bit(single_precision, dtype, relevance):
    X, y = problem()
    selector = DifferentialPrioritization(60, relevance=relevance)
    found = []
    for max_share in (-1.0, np.inf):
        taken = single_precision(max_share)
        found.append(selector.path(X.astype(dtype), y, ALPHAS))
        assert bool(taken()) == (max_share < 0)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.order_, other.order_)
        if relevance == "all-classes":
            for name in ("relevance_path_", "antiredundancy_path_"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    "selector",
    [
        DifferentialPrioritization(40, alpha=0.2),
        DifferentialPrioritization(40, alpha=0.8),
        MRMR(40),
        MRMR(40, scheme="difference"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("outlier", [None, 1e8, 1e15])
def test_in_folds_and_bootstrap_samples_too(single_precision, selector, outlier):
    X, y = problem(1)
    rng = np.random.default_rng(2)
    sets = [np.arange(1, 50), rng.integers(50, size=50), rng.permutation(50)[:33]]
    n_single = 3
    if outlier is not None:
        X[0, [3, 60]] = outlier
        # Sets without row 0 do without: next to nothing is left of these columns.
        n_single = sum(0 in rows for rows in sets)
        assert n_single < 3
    orders = []
    for max_share in (-1.0, np.inf):
        taken = single_precision(max_share)
        orders.append(selector.rank_many(X, y, sets))
        assert len(taken()) == (n_single if max_share < 0 else 0)
    np.testing.assert_array_equal(*orders)


def test_weights_select_the_same_in_single_precision(single_precision):
    X, y = problem(3)
    weight = np.random.default_rng(4).integers(0, 5, 50).astype(float)
    orders = []
    for max_share in (-1.0, np.inf):
        single_precision(max_share)
        selector = DifferentialPrioritization(30, alpha=0.3)
        orders.append(selector.fit(X, y, sample_weight=weight).order_)
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_with_single_precision_it_is_brute_force(single_precision, alpha):
    X, y = problem(5, p=60)
    X = X[:, np.r_[0:40, 51:60]]  # without copies, which brute force ties by rounding
    taken = single_precision(-1.0)
    one = DifferentialPrioritization(16, alpha=alpha, n_searched=16).fit(X, y)
    assert taken() == [0]
    expected = oracle.prioritize(X.T.tolist(), y.tolist(), alpha=alpha, n_searched=16)
    assert one.order_.tolist() == expected[1]


def test_searches_of_one_set_share_their_bounds(single_precision):
    X, y = problem(6)
    taken = single_precision(0.0)
    DifferentialPrioritization(30).path(X, y, [0.1, 0.3, 0.5, 1.0])
    sizes = taken()
    assert len(sizes) == 3, "relevance alone compares nothing"
    assert len(set(sizes)) == 1
    assert sizes[0] >= 8


@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 31, 32, 33, 200]),
    st.sampled_from([0.0, 1e3, 1e7]),
    st.sampled_from([np.float64, np.float32]),
)
def test_bounds_are_below_all_similarities(seed, n, offset, dtype):
    """Less than all similarities, and less by no more than rounding explains."""
    rng = np.random.default_rng(seed)
    X = (offset + rng.normal(size=(n, 9))).astype(dtype)
    X[:, 1] = X[:, 0]
    data = Table.from_arrays(X, np.zeros(9, dtype=bool), np.arange(n) % 2)
    redundancy = CorrelationRedundancy(data, TrainSets.all_rows(n), 1)
    columns = redundancy.columns(0, single=True)
    width = columns.single.size // 9
    weighted_single = np.zeros((9, width), dtype=np.float32)
    weighted_single[:, :n] = [redundancy.unit_column(0, j) for j in range(9)]
    found = np.empty((9, 9), dtype=np.float32)
    write_bounds(columns, weighted_single, 0, 9, found)
    Z = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    length = np.sqrt((Z**2).sum(axis=0))
    Z = Z / np.where(length > 0, length, 1)
    exact = np.abs(Z.T @ Z)
    assert (found <= np.maximum(exact, 0) + 1e-15).all()
    assert (found >= exact - 3 * columns.rounding - 1e-15).all()
    assert columns.rounding < 2e-5


def test_no_single_precision_where_its_rounding_is_too_large():
    X, y = problem()
    data = Table.from_arrays(X, np.zeros(120, dtype=bool), y)
    heavy = TrainSets.from_counts(np.full((1, 50), 1e9))
    assert (
        CorrelationRedundancy(data, heavy, 1).columns(0, single=True).single.size == 0
    )
