"""Groups: reading, whole in every split, and permutations by groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)

from veridical._core.errors import InputError
from veridical._core.groups import read_groups, take_named
from veridical._core.permutations import OutcomePermuter
from veridical._core.reading import read_table
from veridical._core.splits import (
    Splitter,
    count_units,
    grouped_folds,
    split_table,
)
from veridical.evaluation import (
    Bootstrap632,
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    PurgedKFold,
    RandomSubsampling,
)

METHODS = [
    CrossValidation(4),
    CrossValidation(4, stratified=False),
    CrossValidation(3, n_repeats=2),
    Holdout(),
    Holdout(2),
    RandomSubsampling(3),
    LeaveOut(1),
    LeaveOut(3),
    CompleteCV(2),
    Bootstrap632(5),
    Splitter(GroupKFold(3)),
    Splitter(StratifiedGroupKFold(3, shuffle=True)),
    Splitter(LeaveOneGroupOut()),
]


def _table(n_groups=12, seed=0, **more):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_groups)
    groups = rng.permutation(np.repeat(np.arange(n_groups), sizes))
    y = np.arange(n_groups)[groups] % 2
    X = rng.normal(size=(len(y), 3))
    return read_table(X, y, groups=groups, **more)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_method_keeps_groups_whole(method):
    table = _table()
    splits = split_table(method, table, 0)
    assert splits
    for train, test in splits:
        assert not set(table.groups[train]) & set(table.groups[test])
        for g in np.unique(table.groups[test]):
            assert np.isin(np.flatnonzero(table.groups == g), test).all()


@pytest.mark.parametrize("method", [m for m in METHODS if not isinstance(m, Splitter)])
def test_groups_of_one_sample_are_no_groups(method):
    y = np.arange(15) % 2
    rows = np.random.default_rng(1).permutation(15)
    for one, other in zip(method.split(y, 3), method.split(y, 3, rows), strict=True):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.test, other.test)


def test_units_of_methods_are_groups():
    table = _table()
    (holdout,) = split_table(Holdout(2), table, 0)
    assert len(np.unique(table.groups[holdout.test])) == 2
    assert len(split_table(LeaveOut(1), table, 0)) == 12
    assert len(split_table(CompleteCV(2), table, 0)) == 66
    boot = split_table(Bootstrap632(1), table, 0)[0]
    drawn = np.bincount(table.groups[boot.train], minlength=12)
    sizes = np.bincount(table.groups)
    assert (drawn % sizes == 0).all()  # whole groups, perhaps several times
    assert (drawn / sizes).sum() == 12


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_folds_of_groups_are_balanced(seed, n_folds, n_classes, equal):
    """With a constant class and equal sizes, classes differ by one group at most."""
    rng = np.random.default_rng(seed)
    m = n_folds * 4
    sizes = np.full(m, 3) if equal else rng.integers(1, 5, m)
    classes = rng.integers(n_classes, size=m)
    groups = np.repeat(np.arange(m), sizes)
    fold = grouped_folds(classes[groups], groups, n_folds, rng)
    assert fold.shape == (m,)
    assert len(np.unique(fold)) == n_folds
    if equal:
        for k in np.unique(classes):
            counts = np.bincount(fold[classes == k], minlength=n_folds)
            assert np.ptp(counts) <= 1


def test_folds_of_groups_do_not_depend_on_the_names_of_groups():
    y, groups = np.array([0, 0, 1, 1, 0, 0, 1, 1]), list("aabbccdd")
    renamed = [{"a": 9, "b": 11, "c": 12, "d": 40}[g] for g in groups]
    X = np.zeros((8, 1))
    one = split_table(CrossValidation(2), read_table(X, y, groups=groups), 5)
    other = split_table(CrossValidation(2), read_table(X, y, groups=renamed), 5)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(one, other, strict=True))


def test_units_are_counted():
    table = _table()
    splits = split_table(CrossValidation(4), table, 0)
    n_train, n_test = count_units(splits, table.groups)
    assert n_test.sum() == 12
    assert (n_train + n_test == 12).all()
    n_train, n_test = count_units(splits, None)
    assert n_test.sum() == table.n_samples


def test_a_splitter_that_divides_groups_is_an_error():
    with pytest.raises(InputError, match=r"groups have samples both .* GroupKFold"):
        split_table(Splitter(KFold(3)), _table(), 0)


def test_time_order_purges_the_groups_that_are_tested():
    X, y = np.zeros((12, 1)), np.array([0, 1] * 6)
    groups = [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
    table = read_table(X, y, groups=groups)
    for train, test in split_table(Splitter(TimeSeriesSplit(3, gap=1)), table, 0):
        assert train.max() < test.min() - 1
        assert not set(table.groups[train]) & set(table.groups[test])


@given(
    n=st.integers(4, 40),
    n_folds=st.integers(2, 8),
    gap=st.integers(0, 6),
    embargo=st.integers(0, 6),
)
def test_purged_folds_leave_out_the_neighbours_in_time(n, n_folds, gap, embargo):
    method = PurgedKFold(n_folds, gap, embargo)
    if n_folds > n:
        with pytest.raises(InputError, match="folds cannot be made"):
            method.split(np.zeros(n))
        return
    stretches = np.array_split(np.arange(n), n_folds)
    allowed = [
        [
            i
            for i in range(n)
            if all(i < t - gap or i > t + gap + embargo for t in stretch)
        ]
        for stretch in stretches
    ]
    if not all(allowed):
        with pytest.raises(InputError, match="leave no training sample"):
            method.split(np.zeros(n))
        return
    splits = method.split(np.zeros(n), n)
    for split, stretch, train in zip(splits, stretches, allowed, strict=True):
        assert split.test.tolist() == stretch.tolist()
        assert split.train.tolist() == train
        assert split.leaves_out == (len(train) + len(stretch) == n)


def test_purged_folds_leave_out_the_groups_that_are_tested():
    groups = [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
    table = read_table(np.zeros((12, 1)), np.array([0, 1] * 6), groups=groups)
    splits = split_table(PurgedKFold(4, gap=1), table, 0)
    assert [split.test.tolist() for split in splits] == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
    ]
    for train, test in splits:
        assert not set(table.groups[train]) & set(table.groups[test])
        assert not set(train) & set(range(test.min() - 1, test.max() + 2))
    assert splits[0].train.tolist() == [5, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_nested_groups_keep_the_outer_whole_and_number_the_inner(library):
    """Patients are numbered anew at each site; sites are what splits keep whole."""
    site = np.repeat(["x", "y", "z"], 6)
    patient = np.tile(np.repeat([1, 2, 3], 2), 3)
    given = np.column_stack([site.astype(object), patient])
    if library == "pandas":
        given = pd.DataFrame({"site": site, "patient": patient})
    found = read_groups(given, 18)
    assert found.names.tolist() == ["x", "y", "z"]
    assert found.codes.tolist() == np.repeat([0, 1, 2], 6).tolist()
    assert found.inner.tolist() == np.repeat(np.arange(9), 2).tolist()
    table = read_table(np.zeros((18, 1)), np.tile([0, 1], 9), groups=given)
    for train, test in split_table(CrossValidation(3), table, 0):
        assert not set(site[train]) & set(site[test])


def test_a_class_in_one_group_is_an_error():
    table = read_table(np.zeros((6, 1)), [0, 0, 1, 1, 0, 0], groups=list("aabbcc"))
    with pytest.raises(InputError, match="class 1 are in one group, 'b'"):
        split_table(CrossValidation(2), table, 0)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 4, "one group only, 'a'"),
        (["a", "b"], "2 labels, but X has 4 samples"),
        (["a", None, "b", "b"], "no label in row 1"),
        (7, "one label for each sample"),
        ("patient", "names a column, but X has no column names"),
    ],
)
def test_bad_groups_are_errors(groups, message):
    with pytest.raises(InputError, match=message):
        read_table(np.zeros((4, 1)), [0, 1, 0, 1], groups=groups)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_groups_and_weights_may_be_columns(library):
    pytest.importorskip(library)
    X = pd.DataFrame(
        {"a": [1.0, 2, 3, 4], "p": list("xxyy"), "b": [0.0, 1, 0, 1], "w": [1, 2, 3, 4]}
    )
    if library == "polars":
        import polars

        X = polars.from_pandas(X)
    if library == "pyarrow":
        import pyarrow

        X = pyarrow.Table.from_pandas(X)
    table = read_table(X, [0, 1, 0, 1], groups="p", sample_weight="w")
    assert table.names == ("a", "b")
    assert table.groups.tolist() == [0, 0, 1, 1]
    assert table.weights.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match=r"'q' is not a column of X.*'p'"):
        read_table(X, [0, 1, 0, 1], groups="q")


def test_nested_groups_keep_the_outermost_whole():
    X = pd.DataFrame(
        {"x": np.arange(8.0), "site": list("aaaabbbb"), "p": [1, 1, 2, 2] * 2}
    )
    table = read_table(X, [0, 1] * 4, groups=["site", "p"])
    assert table.names == ("x",)
    assert table.groups.tolist() == [0] * 4 + [1] * 4
    assert table.subgroups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]  # numbered anew
    part = table.rows(np.array([4, 5, 6, 7]))
    assert part.groups.tolist() == [0] * 4
    assert part.show_group(0) == "b"


def test_a_list_of_labels_is_not_columns():
    values, X = take_named(pd.DataFrame({"a": [1, 2]}), ["a", "b"], "groups")
    assert values == ["a", "b"]
    assert list(X.columns) == ["a"]


def test_groups_that_all_differ_are_none():
    assert read_groups([3, 1, 2], 3) is None


# -- permutations ----------------------------------------------------------------------


def test_constant_outcomes_move_between_groups_of_equal_size():
    sizes = np.repeat([2, 3], 10)
    groups = np.repeat(np.arange(20), sizes)
    outcome = (np.arange(20) % 2)[groups]
    permuter = OutcomePermuter(outcome, groups)
    seen = set()
    for b in range(20):
        permuted = outcome[permuter.draw(np.random.default_rng(b))]
        by_group = [set(permuted[groups == g]) for g in range(20)]
        assert all(len(one) == 1 for one in by_group)
        for size in (2, 3):  # as many positive groups of each size as before
            of_size = [by_group[g] == {1} for g in np.flatnonzero(sizes == size)]
            assert sum(of_size) == 5
        seen.add(permuted.tobytes())
    assert len(seen) > 15
    assert "between groups of equal size" in permuter.describe()


def test_groups_of_any_size_are_exchanged_where_equal_ones_are_few():
    groups = np.repeat(np.arange(20), np.arange(1, 21))
    outcome = (np.arange(20) % 2)[groups]
    permuter = OutcomePermuter(outcome, groups)
    permuted = outcome[permuter.draw(np.random.default_rng(0))]
    assert sum(permuted[groups == g][0] for g in range(20)) == 10
    assert not np.array_equal(permuted, outcome)
    assert "of any size" in permuter.describe()


def test_outcomes_that_vary_within_groups_stay_there():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 5)
    outcome = rng.integers(2, size=30)
    outcome[::5], outcome[1::5] = 0, 1
    permuter = OutcomePermuter(outcome, groups)
    permuted = outcome[permuter.draw(rng)]
    for g in range(6):
        assert permuted[groups == g].sum() == outcome[groups == g].sum()
    assert permuter.describe() == "within groups, where they vary"


def test_innermost_groups_move_whole_within_the_outermost():
    """Patients of equal size exchange outcomes within their site."""
    sites = np.repeat([0, 1], 12)
    patients = np.repeat(np.arange(8), 3)
    outcome = (np.arange(8) % 2)[patients]
    permuter = OutcomePermuter(outcome, sites, patients)
    for b in range(5):
        permuted = outcome[permuter.draw(np.random.default_rng(b))]
        assert all(np.ptp(permuted[patients == p]) == 0 for p in range(8))
        assert permuted[sites == 0].sum() == 6


def test_without_groups_a_permutation_is_one_of_samples():
    rows = OutcomePermuter(np.arange(5)).draw(np.random.default_rng(3))
    assert rows.tolist() == np.random.default_rng(3).permutation(5).tolist()
