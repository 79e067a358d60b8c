"""Seeds and splits."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.seeds import Purpose, root_seed, seed_for
from veridical._core.splits import Split, class_counts
from veridical.comparison.splits import make_splits


@pytest.fixture
def data():
    return read_table(np.arange(80.0).reshape(40, 2), np.arange(40) % 2)


def test_seeds_differ_by_purpose_and_data_set_and_stay_the_same():
    seeds = {
        seed_for(root, purpose, b)
        for root in (0, 1)
        for purpose in Purpose
        for b in range(50)
    }
    assert len(seeds) == 2 * len(Purpose) * 50
    # Stored results depend on these numbers: they must never change.
    assert seed_for(0, Purpose.FOLDS) == 4088532484
    assert seed_for(7, Purpose.TEST_SET, 3) == 3453020843


def test_every_kind_of_random_state():
    assert root_seed(5) == root_seed(np.int64(5)) == 5
    assert root_seed(None) != root_seed(None)
    one, two = (root_seed(np.random.default_rng(1)) for _ in range(2))
    assert one == two
    assert isinstance(root_seed(np.random.RandomState(1)), int)


@pytest.mark.parametrize(
    ("cv", "shape"),
    [
        (4, (1, 4)),
        (KFold(5), (1, 5)),
        (RepeatedKFold(n_splits=4, n_repeats=3), (3, 4)),
        (ShuffleSplit(8, test_size=0.25), (1, 8)),  # not two times four folds
        (ShuffleSplit(5, test_size=0.5), (1, 5)),
    ],
)
def test_repeats_are_recovered(data, cv, shape):
    splits = make_splits(cv, data, 3)
    assert splits.shape == shape
    assert splits.geometry.n_folds * splits.geometry.n_repeats == len(splits)
    again = make_splits(cv, data, 3)
    assert all(map(np.array_equal, splits.test, again.test))
    for train, test in zip(splits.train, splits.test, strict=True):
        assert not np.intersect1d(train, test).size


def test_only_leading_rows_are_split(data):
    splits = make_splits(5, data, 0, n_rows=30)
    assert max(rows.max() for rows in splits.train + splits.test) == 29
    assert splits.geometry.n_test == (6,) * 5


def test_a_splitters_own_seed_is_kept(data):
    own = KFold(4, shuffle=True, random_state=8)
    one, two = make_splits(own, data, 1), make_splits(own, data, 2)
    assert all(map(np.array_equal, one.test, two.test))
    open_seed = KFold(4, shuffle=True)
    one, two = make_splits(open_seed, data, 1), make_splits(open_seed, data, 2)
    assert not all(map(np.array_equal, one.test, two.test))
    assert open_seed.random_state is None


def test_groups_are_kept_together_by_a_list_of_splits(data):
    groups = np.arange(40) // 4
    with pytest.raises(InputError, match=r"groups.*Pass groups"):
        make_splits(GroupKFold(5), data, 0)
    given = list(GroupKFold(5).split(np.zeros((40, 1)), groups=groups))
    splits = make_splits(given, data, 0)
    assert len(splits) == 5
    for train, test in zip(splits.train, splits.test, strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_classes_are_counted_among_the_rows_of_the_split():
    codes = np.array([0, 1, 1, 2, 2, 0])
    splits = [
        Split(np.array([1]), 6),
        Split(np.array([1]), 4),
        Split(np.array([5]), 4, np.array([0, 0, 3])),
    ]

    expected = [np.bincount(codes[split.train], minlength=3) for split in splits]

    assert np.array_equal(class_counts(splits, codes, 3), expected)
