"""Which rows are learned from and tested on, and that chance is under control."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
)

from veridical._core.errors import InputError
from veridical._core.splits import class_counts
from veridical.evaluation import (
    METHODS,
    Bootstrap632,
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    PurgedKFold,
    RandomSubsampling,
    Resubstitution,
)
from veridical.evaluation.naming import make_method, read_cv

Y = np.array(["b"] * 31 + ["a"] * 20 + ["c"] * 6)

METHODS_TO_TRY = [
    Holdout(),
    Holdout(10),
    RandomSubsampling(5, 0.2),
    CrossValidation(5),
    CrossValidation(7, stratified=False, n_repeats=3),
    PurgedKFold(5, gap=2, embargo=3),
    LeaveOut(1),
    LeaveOut(10),
    Bootstrap632(9),
    ShuffleSplit(4),
    KFold(5, shuffle=True),
    KFold(5),
    LeaveOneOut(),
]


@pytest.mark.parametrize("method", METHODS_TO_TRY, ids=str)
def test_same_seed_same_splits(method):
    method = read_cv(method)
    first, again = method.split(Y, 3), method.split(Y, 3)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert not np.isin(one.test, one.train).any()


@pytest.mark.parametrize(
    "method", [Holdout(), CrossValidation(5), LeaveOut(10), Bootstrap632(9)], ids=str
)
def test_other_seed_other_splits(method):
    one, other = method.split(Y, 3), method.split(Y, 4)
    assert any(
        not np.array_equal(a.test, b.test) for a, b in zip(one, other, strict=True)
    )


@given(
    sizes=st.lists(st.integers(1, 30), min_size=2, max_size=6),
    n_folds=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
def test_stratified_folds_share_out_every_class(sizes, n_folds, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    np.random.default_rng(seed).shuffle(y)
    if n_folds > len(y):
        with pytest.raises(InputError, match="folds cannot be made"):
            CrossValidation(n_folds).split(y, seed)
        return
    splits = CrossValidation(n_folds).split(y, seed)
    tests = [split.test for split in splits]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(y)))
    counts = np.array([np.bincount(y[t], minlength=len(sizes)) for t in tests])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_stratification_does_not_see_the_names_of_classes():
    renamed = np.where(Y == "b", "zz", np.where(Y == "a", "mm", "aa"))
    for one, other in zip(
        CrossValidation(4).split(Y, 0),
        CrossValidation(4).split(renamed, 0),
        strict=True,
    ):
        np.testing.assert_array_equal(one.test, other.test)


@pytest.mark.parametrize(("n", "k"), [(10, 1), (10, 3), (10, 5), (11, 5)])
def test_leave_k_out_is_one_partition(n, k):
    splits = LeaveOut(k).split(np.arange(n) % 2, 0)
    assert len(splits) == math.ceil(n / k)
    tests = np.concatenate([split.test for split in splits])
    np.testing.assert_array_equal(np.sort(tests), np.arange(n))
    assert sorted(len(split.test) for split in splits)[1:] == [k] * (len(splits) - 1)


def test_complete_cv_is_every_choice():
    splits = CompleteCV(2).split(np.arange(6) % 2)
    chosen = {tuple(split.test) for split in splits}
    assert len(splits) == len(chosen) == 15


def test_bootstrap_samples_hold_the_right_share_of_samples():
    splits = Bootstrap632(400).split(np.zeros(500), 0)
    shares = [1 - len(split.test) / 500 for split in splits]
    assert np.mean(shares) == pytest.approx(0.632, abs=0.003)
    assert all(split.n_train == 500 for split in splits)


def test_fewer_bootstrap_samples_are_a_prefix_of_more():
    few, many = Bootstrap632(5).split(Y, 1), Bootstrap632(50).split(Y, 1)
    for one, other in zip(few, many[:5], strict=True):
        np.testing.assert_array_equal(one.train, other.train)


def test_samples_without_outside_samples_are_redrawn():
    splits, redrawn = Bootstrap632(200).draw(2, 0)
    assert len(splits) == 200
    assert all(len(split.test) for split in splits)
    assert redrawn > 50  # half of all bootstrap samples of two samples hold both


@pytest.mark.parametrize("method", METHODS_TO_TRY, ids=str)
def test_class_counts_of_training_sets(method):
    codes = np.unique(Y, return_inverse=True)[1]
    splits = read_cv(method).split(Y, 0)
    counts = class_counts(splits, codes, 3)
    for row, split in zip(counts, splits, strict=True):
        np.testing.assert_array_equal(row, np.bincount(codes[split.train], minlength=3))


def test_splitters_see_the_labels():
    splits = read_cv(StratifiedKFold(3)).split(Y)
    assert all(len(set(Y[split.test])) == 3 for split in splits)


def test_a_list_of_splits_may_hold_masks():
    mask = np.arange(len(Y)) % 2 == 0
    (split,) = read_cv([(mask, ~mask)]).split(Y)
    np.testing.assert_array_equal(split.train, np.flatnonzero(mask))
    assert read_cv([(mask, ~mask)]).describe() == "the given splits"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CrossValidation(1), "n_folds=1 must be a whole number, 2 or more"),
        (lambda: CrossValidation(2.5), "n_folds=2.5"),
        (lambda: CrossValidation(True), "n_folds=True"),
        (lambda: CrossValidation(5, n_repeats=0), "n_repeats=0"),
        (lambda: LeaveOut(0), "k=0"),
        (lambda: Holdout(0.0), "test_size=0.0 must be a share"),
        (lambda: Holdout(1.5), "test_size=1.5"),
        (lambda: Holdout("half"), "test_size='half'"),
        (lambda: Bootstrap632(0), "n_samples=0"),
        (lambda: CompleteCV(0), "n_test=0"),
        (lambda: CrossValidation(58).split(Y), "58 folds cannot be made of 57 samples"),
        (lambda: LeaveOut(57).split(Y), "57 of 57 samples out leaves no training"),
        (lambda: Holdout(57).split(Y), "57 of 57 samples leaves no training set"),
        (lambda: CompleteCV(57).split(Y), "57 of 57 samples leaves no training"),
        (lambda: CompleteCV(20).split(Y), "ways to choose 20 of 57"),
        (lambda: Bootstrap632(3).split([0]), "at least 2 samples"),
        (lambda: Holdout().split(Y, "seed"), "random_state='seed'"),
        (lambda: Holdout().split(Y, -1), "random_state=-1"),
        (lambda: read_cv(CrossValidation), "is the class CrossValidation"),
        (lambda: read_cv("cv1O"), "There is no method 'cv1O'"),
        (lambda: read_cv(True), "cv=True is not a way to split"),
        (lambda: read_cv(2.5), "cv=2.5 is not a way to split"),
        (lambda: read_cv(None), "cv=None is not a way to split"),
        (lambda: read_cv([([0], [99])]).split(Y), "names row 99"),
        (
            lambda: read_cv([([0.5, 1.5], [2])]).split(Y),
            "values of type float64 such as 0.5; give a non-empty",
        ),
        (
            lambda: read_cv([([0], [[1], [2]])]).split(Y),
            "array of 2 dimensions; give a non-empty",
        ),
        (
            lambda: read_cv([([True, False], [1])]).split(Y),
            r"mask of shape \(2,\), but X has \d+ rows",
        ),
        (lambda: read_cv([(1, 2, 3)]), r"cv\[0\] is \(1, 2, 3\), not a pair"),
        (lambda: read_cv([([0], [1]), 7]), r"cv\[1\] is 7, not a pair"),
        (lambda: read_cv([([0], [])]).split(Y), "empty training or test set"),
        (lambda: read_cv(KFold(99)).split(Y), "cannot split these data"),
        (lambda: read_cv(GroupKFold(3)).split(Y), "Pass groups"),
        (lambda: make_method("cv10"), "There is no method 'cv10'; did you mean '10'"),
    ],
)
def test_refusals_name_what_is_wrong(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("resubstitution", Resubstitution()),
        ("holdout", Holdout()),
        ("subsampling20", RandomSubsampling(20)),
        ("10", CrossValidation(10)),
        ("10x5", CrossValidation(5, n_repeats=10)),
        ("plain-5", CrossValidation(5, stratified=False)),
        ("loo", LeaveOut(1)),
        ("leave5", LeaveOut(5)),
        ("complete2", CompleteCV(2)),
        ("boot632", Bootstrap632(50)),
        ("boot632+-100", Bootstrap632(100, plus=True)),
    ],
)
def test_methods_have_names(name, method):
    assert make_method(name) == method
    assert read_cv(name) == method
    assert isinstance(method, Method)
    assert method.describe()
    assert len(METHODS) >= 10


@pytest.mark.parametrize("cv", [41, "41", "2x41", "plain-41", CrossValidation(41)])
def test_too_many_folds_have_one_message_however_they_are_given(cv):
    with pytest.raises(
        InputError, match="cv=41 folds are not possible with 40 samples"
    ):
        read_cv(cv, 40)


@pytest.mark.parametrize("cv", [1, "1"])
def test_too_few_folds_have_one_message_however_they_are_given(cv):
    with pytest.raises(InputError, match="cv=1 folds are not possible with 40 samples"):
        read_cv(cv, 40)
