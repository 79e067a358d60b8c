"""Predictions for many splits and sizes are those of the loop, whatever the table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    RandomSubsampling,
    Resubstitution,
    Split,
)
from veridical._core.table import Table
from veridical.datasets import make_linear, make_monks
from veridical.evaluation import Bootstrap632, estimate
from veridical.learning import (
    C45,
    DAGSVM,
    LeavesOneOut,
    NaiveBayes,
    estimators_for,
    make_estimator,
    many,
    register_predict_table,
)
from veridical.learning.many import (
    fill_by_loop,
    has_predict_table,
    predict_loop,
    predict_table,
)
from veridical.learning.tabular import TabularClassifier

#: Names of estimators that share work over nested subsets.
NESTED = ("svm", "nb", "1nn", "tree", "c45", "majority")
METHODS = [
    LeaveOut(1),
    LeaveOut(4),
    CrossValidation(5, n_repeats=2),
    RandomSubsampling(6, 0.7),
    Bootstrap632(8),
    Holdout(),
]
SOME_METHODS = [
    pytest.param(method, marks=() if i % 2 == 0 else pytest.mark.slow)
    for i, method in enumerate(METHODS)
]
NEIGHBOURS = [KNeighborsClassifier(k) for k in (1, 2, 5)]
SHARING = [
    GaussianNB(),
    NaiveBayes(),
    DummyClassifier(strategy="prior"),
    *NEIGHBOURS,
    make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
]


def make(name):
    """Make an estimator by its name; "tree" gives ties to the frequent class."""
    if name == "tree":
        return TabularClassifier(C45(), scale=False, categorical_weight=None)
    return make_estimator(name)


# -- tables --------------------------------------------------------------------------


def tables(kind, n=70, seed=0, n_classes=2):
    """Numeric, categorical or mixed features, with missing values or without."""
    rng = np.random.default_rng(seed)
    if kind == "numeric":
        X, y = make_linear(n, random_state=seed)[:2]
        return np.asarray(X)[:, :8], np.asarray(y)
    if kind == "float32":
        X, y = tables("numeric", n, seed)
        return X.astype(np.float32), y
    if kind == "whole":  # equal values everywhere
        y = rng.integers(n_classes, size=n)
        return np.round(rng.normal(size=(n, 6)) + y[:, None]), y
    if kind == "sparse":
        y = rng.integers(n_classes, size=n)
        X = rng.poisson(0.4 + 0.6 * y[:, None], size=(n, 7)).astype(float)
        return sparse.csr_matrix(X), y
    if kind == "categorical":
        return make_monks(1 + seed % 3, n, random_state=seed)
    y = rng.integers(n_classes, size=n)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": pd.Categorical(rng.choice(list("rstu"), n)),
            "c": rng.normal(scale=30, size=n) - 10 * y,
            "d": pd.Categorical(np.where(rng.random(n) < 0.7, y, rng.integers(3))),
            "e": rng.random(n),
            "f": np.where(np.arange(n) == 7, "once", rng.choice(["x", "y"], n)),
            "g": pd.Categorical(rng.choice(list("ab"), size=n), list("abc")),
            "h": 4.0,
        }
    )
    if kind == "holes":  # so few values that training may see none
        X.loc[2:, "b"] = X.loc[2:, "c"] = np.nan
        X.loc[5:, "d"] = np.nan
        X.loc[:, "f"] = X["f"].where(rng.random(n) < 0.5, None)
    if kind in ("missing", "holes"):
        X.loc[rng.random(n) < 0.2, "a"] = np.nan
        X.loc[rng.random(n) < 0.1, "b"] = np.nan
        X.loc[y == 1, "e"] = np.nan
    return X, np.array(["x", "y", "z"])[y]


KINDS = [
    *("numeric", "float32", "whole", "sparse", "categorical", "mixed", "missing"),
    "holes",
]


def numbers(kind):
    """Numeric features that are hard on sums and distances."""
    rng = np.random.default_rng(8)
    n = 36
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4)) + 0.8 * y[:, None]
    if kind == "far":  # large means, small spreads
        X = X * [1e-6, 1.0, 1e3, 1.0] + [5.0, 1e6, -1e9, 0.0]
    elif kind == "whole":  # ties everywhere
        X = np.round(X)
    elif kind == "twins":  # every sample three times
        X, y = np.repeat(X[:12], 3, axis=0), np.repeat(y[:12], 3)
    elif kind == "rare":  # a class of two, a feature with one odd value, a constant
        y = np.r_[[2, 2], rng.integers(2, size=n - 2)]
        X[:, 1], X[5, 1], X[:, 2] = 1.0, 7.0, 3.25
    elif kind == "mirror":  # two classes alike: all predictions hang on a tie
        X = np.r_[X[:18], X[:18]]
        y = np.repeat([0, 1], 18)
    elif kind == "flat":  # one class does not vary in a feature
        X[y == 1, 0] = 2.0
    return X, np.array(["u", "v", "w"])[y]


NUMBERS = ["easy", "far", "whole", "twins", "rare", "mirror", "flat"]


def kinds_of_splits(y, seed=0):
    """Folds, leave-one-out, holdout, bootstrap, and a training set with one class."""
    n = len(y)
    rng = np.random.default_rng(seed)
    single = np.flatnonzero(y == y[0])
    return [
        *CrossValidation(2).split(y, seed),
        *LeaveOut(1).split(y)[:2],
        *Holdout().split(y, seed),
        *Bootstrap632(1).split(y, seed),
        Split(rng.permutation(n)[:9], n, rng.permutation(n)[:40]),
        Split(np.arange(n), n, single),
        Split(np.arange(n), n, np.arange(n)),
    ]


def oracle(estimator, X, y, train, test, columns=None):
    """The definition, written once more: a fresh fit on one subset."""
    if len(set(y[train])) == 1:
        return np.full(len(test), y[train][0])
    if sparse.issparse(X):
        X = X.toarray()
    X = pd.DataFrame(X) if isinstance(X, pd.DataFrame) else X
    part = X if columns is None else (
        X.iloc[:, columns] if isinstance(X, pd.DataFrame) else X[:, columns]
    )  # fmt: skip
    take = part.iloc.__getitem__ if isinstance(X, pd.DataFrame) else part.__getitem__
    return clone(estimator).fit(take(train), y[train]).predict(take(test))


def assert_fast_is_loop(estimator, table, splits, orders=None, sizes=None):
    """Every prediction is the loop's; returns how many splits the loop had to do."""
    found = predict_table(estimator, table, splits, orders, sizes)
    assert found is not None
    expected = predict_loop(estimator, table, splits, orders, sizes)
    for mine, right in zip(found, expected, strict=True):
        if mine is not None:
            np.testing.assert_array_equal(mine, right)
    return sum(mine is None for mine in found)


# -- nested subsets ------------------------------------------------------------------


TWO_OR_THREE = pytest.mark.parametrize(
    "n_classes", [pytest.param(2, marks=pytest.mark.slow), 3]
)


@pytest.mark.in_part(2)
@TWO_OR_THREE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NESTED)
def test_sizes_as_one_subset_at_a_time(name, kind, n_classes):
    X, y = tables(kind, seed=n_classes, n_classes=n_classes)
    table = read_table(X, y)
    splits = kinds_of_splits(table.labels)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(table.n_features) for _ in splits]
    sizes = [1, 3, table.n_features, 2, 3]

    left = assert_fast_is_loop(make(name), table, splits, orders, sizes)

    assert left <= len(splits) // 2


@pytest.mark.in_part(2)
@TWO_OR_THREE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NESTED)
def test_all_features_are_predicted_as_in_a_loop(name, kind, n_classes):
    X, y = tables(kind, seed=n_classes, n_classes=n_classes)
    table = read_table(X, y)
    splits = kinds_of_splits(table.labels)

    left = assert_fast_is_loop(make(name), table, splits)

    assert left <= len(splits) // 2


def test_an_estimator_without_a_routine_is_fitted_on_each_subset():
    X, y = tables("missing")
    table = read_table(X, y)
    splits = CrossValidation(2).split(y, 0)
    orders = [np.array([0, 1, 5]), np.array([1, 2, 3])]

    assert not assert_fast_is_loop(
        make_estimator("logistic"), table, splits, orders, [1, 3]
    )
    assert not assert_fast_is_loop(make_estimator("logistic"), table, splits)


@pytest.mark.parametrize("kind", ["numeric", "float32", "whole", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dagsvm_on_sizes(kind, n_classes):
    X, y = tables(kind, seed=n_classes, n_classes=n_classes)
    table = read_table(X, y)
    splits = kinds_of_splits(table.labels)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(table.n_features) for _ in splits]

    for model in (DAGSVM(), make_estimator("dagsvm")):
        assert not assert_fast_is_loop(model, table, splits, orders, [1, 2, 5, 6])


def test_dagsvm_has_no_fast_way_for_other_kernels_and_leaves_complaints_to_the_loop():
    X, y = tables("numeric")
    table = read_table(X, y)
    splits = CrossValidation(2).split(y, 0)
    orders = [np.arange(8)] * 2

    assert predict_table(DAGSVM(kernel="rbf"), table, splits, orders, [3]) is None
    assert predict_table(DAGSVM(), table, splits) is None
    X, y = tables("missing")
    table = read_table(X, y)
    splits = CrossValidation(2).split(y, 0)
    orders = [np.array([0, 2])] * 2
    assert predict_table(DAGSVM(), table, splits, orders, [1, 2]) == [None, None]
    with pytest.raises(InputError, match=r"column 'a', row .* is missing"):
        predict_loop(DAGSVM(), table, splits, orders, [1, 2])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(NESTED), data=st.data())
def test_any_subsets_of_any_table(seed, name, data):
    kind = data.draw(st.sampled_from(KINDS))
    X, y = tables(kind, 40, seed, n_classes=data.draw(st.sampled_from([2, 3])))
    table = read_table(X, y)
    rng = np.random.default_rng(seed)
    n = len(y)
    train = rng.integers(n, size=25)
    splits = [Split(rng.permutation(n)[:15], n, train), *LeaveOut(13).split(y, seed)]
    orders = [rng.permutation(table.n_features) for _ in splits]
    sizes = data.draw(st.lists(st.integers(1, table.n_features), min_size=1))

    assert_fast_is_loop(make(name), table, splits, orders, sizes)
    assert_fast_is_loop(make(name), table, splits)


def test_the_loop_is_a_fit_for_each_subset():
    for kind in ("numeric", "mixed", "missing", "sparse"):
        X, y = tables(kind)
        table = read_table(X, y)
        y = table.labels
        splits = kinds_of_splits(y)[::2]
        order = np.random.default_rng(0).permutation(table.n_features)
        for name in ("nb", "tree", "1nn"):
            model = make(name)
            found = predict_loop(model, table, splits, [order] * len(splits), [2, 4])
            whole = predict_loop(model, table, splits)
            for (train, test), mine, all_of_them in zip(
                splits, found, whole, strict=True
            ):
                for row, size in zip(mine, (2, 4), strict=True):
                    columns = np.sort(order[:size])
                    right = oracle(model, X, y, train, test, columns)
                    assert np.array_equal(table.target.classes[row], right)
                right = oracle(model, X, y, train, test)
                assert np.array_equal(table.target.classes[all_of_them[0]], right)


def test_other_sizes_and_the_order_of_rows_change_nothing():
    for seed in range(12):
        X, y = tables("categorical" if seed % 2 else "numeric", 50, seed)
        table = read_table(X, y)
        rng = np.random.default_rng(seed)
        order = rng.permutation(table.n_features)
        # An odd number: of equally frequent classes the first to occur goes first.
        train, test = np.arange(31), np.arange(31, 50)
        split = Split(test, 50, train)
        mixed = Split(test, 50, rng.permutation(train))
        for name in NESTED:

            def accuracies(split, sizes, name=name, table=table, order=order):
                request = (make(name), table, [split], [order], sizes)
                (found,) = fill_by_loop(predict_table(*request), *request)
                return (found == table.y[split.test]).mean(axis=1)

            every = accuracies(split, [1, 2, 4, 6])
            assert np.array_equal(accuracies(split, [2, 6]), every[[1, 3]])
            assert np.array_equal(accuracies(split, [6, 2]), every[[3, 1]])
            assert accuracies(mixed, [1, 2, 4, 6]) == pytest.approx(every, abs=1e-12)


def test_the_order_within_a_subset_changes_nothing():
    X, y = make_monks(1, 60, random_state=5)
    table = read_table(X, y)
    split = Split(np.arange(40, 60), 60)

    for name in NESTED:
        found = [
            predict_table(
                make(name), table, [split], [np.array(order)], [4]
            )[0]
            for order in ([0, 1, 2, 3], [3, 1, 0, 2])
        ]  # fmt: skip
        assert np.array_equal(*found)


def test_equal_subsets_are_computed_once(monkeypatch):
    X, y = tables("numeric")
    table = read_table(X, y)
    seen = []

    class Counting(NaiveBayes):
        def _predict_table(self, table, splits, orders, sizes):
            seen.append((len(splits), sizes))
            return NaiveBayes._predict_table(self, table, splits, orders, sizes)

    folds = CrossValidation(3).split(y, 0)
    orders = [np.arange(8), np.arange(8), np.arange(8)[::-1]]
    found = predict_table(
        Counting(),
        table,
        [*folds, *folds],
        [*orders, *orders[:2], orders[0]],
        [4, 2, 4],
    )

    assert seen == [(4, (2, 4))]
    assert all(np.array_equal(found[s], found[s + 3]) for s in (0, 1))
    assert all(np.array_equal(one[0], one[2]) for one in found)


@pytest.mark.parametrize("name", NESTED)
def test_one_class_alone_is_predicted(name):
    X, y = make_linear(30, random_state=0)[:2]
    table = read_table(X, y)
    everyone = np.arange(30)
    split = Split(everyone, 30, np.flatnonzero(table.y == 1))

    (found,) = predict_table(make(name), table, [split], [np.arange(3)], [1, 3])

    assert found.tolist() == np.ones((2, 30)).tolist()


def test_a_category_unknown_to_training():
    """The tree treats it as missing; the others give it no indicator, no evidence."""
    values = np.array([[0.0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 2, np.nan]]).T
    y = np.array([0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0])
    table = Table.from_arrays(values, np.array([True]), y)
    text = np.array(["no", "yes", "perhaps", None], dtype=object)
    words = text[np.where(np.isnan(values), 3, values).astype(int)]
    frame = pd.DataFrame(words, columns=["word"])
    split = Split(np.arange(8, 12), 12, np.arange(8))

    for name in ("svm", "nb", "1nn", "tree", "c45"):
        for data in (table, read_table(frame, y)):
            request = (make(name), data, [split])
            (found,) = fill_by_loop(predict_table(*request), *request)
            # Shares are equal, so the first class wins where nothing is known.
            assert found.tolist() == [[0, 1, 0, 0]], name
            assert predict_loop(*request)[0].tolist() == [[0, 1, 0, 0]], name


@pytest.mark.parametrize("name", ["svm", "1nn", "logistic"])
def test_an_unseen_category_is_not_a_missing_value(name):
    """Training knows missing values; a category it has not seen is something else."""
    rng = np.random.default_rng(3)
    word = rng.choice(["a", "b", None, "new"], size=80, p=[0.4, 0.3, 0.2, 0.1])
    x = rng.normal(size=80)
    y = (x + (word == "a") - 2 * pd.isna(word) > 0).astype(int)
    X = pd.DataFrame({"word": word, "x": x})
    new = word == "new"
    table = read_table(X, y)
    split = Split(np.flatnonzero(new), 80)

    assert not assert_fast_is_loop(make(name), table, [split])
    declared = read_table(X.astype({"word": "category"}), y)
    assert np.array_equal(
        predict_loop(make(name), table, [split])[0],
        predict_loop(make(name), declared, [split])[0],
    )


# -- many splits ---------------------------------------------------------------------


@pytest.mark.in_part(3)
@pytest.mark.parametrize("method", SOME_METHODS, ids=str)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("model", SHARING, ids=str)
def test_numbers_are_predicted_as_in_a_loop(model, kind, method):
    X, y = numbers(kind)
    table = read_table(X, y)
    splits = method.split(y, 4)
    if len(splits) > 1 or isinstance(model, NaiveBayes):
        assert_fast_is_loop(model, table, splits)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("method", SOME_METHODS, ids=str)
@pytest.mark.parametrize("kind", ["categorical", "mixed", "missing", "holes"])
@pytest.mark.parametrize("zero_counts", ["0.5/n", "laplace"])
def test_categories_and_missing_values(zero_counts, kind, method):
    X, y = tables(kind, 50, n_classes=3)
    table = read_table(X, y)
    model = NaiveBayes(zero_counts=zero_counts)
    assert_fast_is_loop(model, table, method.split(table.labels, 4))


def test_codes_in_an_array():
    X, y = numbers("whole")
    X[::7, 1] = np.nan
    plain, marked = read_table(X, y), read_table(X, y, categorical_features=[1, 2])
    for method in METHODS:
        splits = method.split(y, 4)
        for table in (plain, marked):  # the estimator says what is categorical
            for model in (
                NaiveBayes([1, 2], zero_counts="laplace"),
                NaiveBayes(),
                NaiveBayes(None),
                C45(categorical_features=[False, True, True, False]),
            ):
                assert_fast_is_loop(model, table, splits)
    orders = [np.arange(4)] * len(splits)
    assert predict_table(NaiveBayes([1, 2]), plain, splits, orders, [2]) is None
    assert_fast_is_loop(NaiveBayes(), marked, splits, orders, [2, 3])


@pytest.mark.parametrize("model", SHARING, ids=str)
def test_every_choice_of_a_small_set(model):
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:4, 50:54, 100:104]
    if model in NEIGHBOURS:
        model = KNeighborsClassifier(3)
    table = read_table(X[rows], y[rows])
    assert_fast_is_loop(model, table, CompleteCV(2).split(y[rows]))


@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes()], ids=str)
def test_few_splits_need_the_loop_on_ordinary_data(model):
    X, y = make_classification(300, 10, random_state=1)
    splits = LeaveOut(1).split(y)
    found = predict_table(model, read_table(X, y), splits)
    assert all(codes is not None for codes in found)


def test_features_that_are_nearly_constant_in_training_are_left_to_the_loop():
    X, y = make_classification(60, 4, random_state=1)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    splits = CrossValidation(6).split(y, 0)
    found = predict_table(model, read_table(X, y), splits)
    assert all(codes is not None for codes in found)
    X[:, 1] = 3.0  # constant: not scaled
    assert not assert_fast_is_loop(model, read_table(X, y), splits)
    X[::7, 1] += 4e-16  # scikit-learn takes it for constant
    assert predict_table(model, read_table(X, y), splits) == [None] * 6
    assert_fast_is_loop(model, read_table(X, y), splits)


def test_a_feature_that_is_constant_in_training_needs_no_loop():
    X, y = make_classification(60, 4, random_state=1)
    X[:, 1], X[3, 1] = 0.1, 7.0
    table = read_table(X, y)
    assert not assert_fast_is_loop(NaiveBayes(), table, LeaveOut(1).split(y))


def test_ties_of_scikit_learn_are_left_to_the_loop_and_ours_are_decided():
    X, y = numbers("mirror")
    table = read_table(X, y)
    splits = 2 * Resubstitution().split(y)
    for model in (GaussianNB(), KNeighborsClassifier(1)):
        assert predict_table(model, table, splits) == [None, None]
    for codes in predict_table(NaiveBayes(), table, splits):
        assert not codes.any()  # the first to occur
    # Each sample of both classes twice, the second class first.
    later = Split(np.arange(36), 36, np.r_[np.arange(18, 36), np.arange(18)])
    (codes,) = predict_table(NaiveBayes(), table, [later])
    assert codes.all()


def test_without_a_fast_way():
    X, y = numbers("easy")
    table, splits = read_table(X, y), CrossValidation(4).split(y, 0)
    for model in (
        GaussianNB(priors=[0.2, 0.3, 0.5]),
        KNeighborsClassifier(3, weights="distance"),
        KNeighborsClassifier(3, metric="manhattan"),
        make_pipeline(StandardScaler(), KNeighborsClassifier(metric="manhattan")),
        make_pipeline(StandardScaler(with_std=False), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), KNeighborsClassifier(), memory="unused"),
        DummyClassifier(strategy="constant", constant="u"),
        type("Other", (NaiveBayes,), {})(),
    ):
        assert predict_table(model, table, splits) is None
    single = read_table(X.astype(np.float32), y)
    assert predict_table(GaussianNB(), single, splits) is None
    assert not has_predict_table(type("Other", (GaussianNB,), {})())


@pytest.mark.parametrize("model", SHARING, ids=str)
def test_subsets_that_are_the_same_in_all_splits(model):
    X, y = numbers("easy")
    table, splits = read_table(X, y), CrossValidation(4).split(y, 0)
    same = [np.array([2, 0, 3, 1])] * 4
    assert_fast_is_loop(model, table, splits, same, [3, 1])
    assert_fast_is_loop(model, table.permute(np.arange(4)), splits, same, [3, 1])
    other = [*same[1:], np.array([1, 2, 3, 0])]
    found = predict_table(model, table, splits, other, [3, 1])
    ours = isinstance(model, (NaiveBayes, DummyClassifier))
    assert (found is None) != ours


def test_bad_parameters_and_data_are_refused_as_ever():
    X, y = numbers("easy")
    method = CrossValidation(3)
    for model, word in (
        (GaussianNB(var_smoothing=-1), "var_smoothing"),
        (NaiveBayes(min_std=0), "min_std"),
        (NaiveBayes(zero_counts="none"), "zero_counts"),
        (KNeighborsClassifier(0), "n_neighbors"),
        (C45(confidence=2), "confidence"),
        (make_estimator("svm").set_params(estimator__C=-1), "C=-1"),
        (make("tree").set_params(estimator__confidence=2), "confidence"),
        (DAGSVM(C=-1), "C=-1"),
    ):
        with pytest.raises(ValueError, match=word):
            estimate(model, X, y, cv=method)
    with pytest.raises(ValueError, match="NaN"):
        estimate(GaussianNB(), np.where(X > 1, np.nan, X), y, cv=method)
    huge = X.copy()
    huge[:, 0] *= 1e200
    with pytest.raises(InputError, match="too large to be squared"):
        estimate(NaiveBayes(), huge, y, cv=method)


# -- estimators that offer it themselves ---------------------------------------------


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows how to leave one out; an ordinary fit would fail."""

    def fit(self, X, y):
        raise AssertionError("not asked for")

    def leave_one_out_predictions(self, X, y):
        return np.where(X[:, 0] > 0, y, "u")


def test_an_estimator_may_leave_one_out_by_itself():
    X, y = numbers("easy")
    assert isinstance(Oracle(), LeavesOneOut)
    expected = np.mean(np.where(X[:, 0] > 0, y, "u") == y)
    assert estimate(Oracle(), X, y, cv=LeaveOut(1)).value == expected
    assert estimate(Oracle(), X, y, cv=LeaveOneOut()).value == expected
    with pytest.raises(AssertionError, match="not asked for"):
        estimate(Oracle(), X, y, cv=LeaveOut(2))


def test_a_fast_way_can_be_registered(monkeypatch):
    monkeypatch.setattr(many, "_REGISTERED", {})

    class Constant(Oracle):
        leave_one_out_predictions = None

    @register_predict_table(Constant)
    def constant(estimator, table, splits, orders, sizes):
        return [np.zeros((1, len(s.test)), dtype=int) for s in splits]

    X, y = numbers("easy")
    assert has_predict_table(Constant())
    assert not has_predict_table(Oracle())
    assert estimate(Constant(), X, y, cv=CrossValidation(3)).value == np.mean(y == "u")


# -- the public method ---------------------------------------------------------------


def test_predict_many_takes_what_people_have():
    X, y = tables("missing")
    splits = list(StratifiedKFold(3).split(X, y))
    masks = [tuple(np.isin(np.arange(70), rows) for rows in pair) for pair in splits]
    orders = [np.array([0, 3, 1]), np.array([2, 1, 0]), np.array([4, 0, 7])]
    model = NaiveBayes()

    whole = model.predict_many(X, y, splits)
    some = model.predict_many(X, y, iter(masks), orders, range(1, 3))
    ranked = model.predict_many(X, y, splits, orders)

    assert not hasattr(model, "classes_")
    for s, (train, test) in enumerate(splits):
        assert np.array_equal(whole[s], oracle(model, X, y, train, test))
        assert some[s].shape == (2, len(test))
        columns = np.sort(orders[s][:2])
        assert np.array_equal(some[s][1], oracle(model, X, y, train, test, columns))
        columns = np.sort(orders[s])
        assert np.array_equal(ranked[s][0], oracle(model, X, y, train, test, columns))


def test_every_estimator_of_ours_has_it():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    splits = list(StratifiedKFold(3).split(X, y))
    for name in estimators_for("classes"):
        if name == "majority":
            continue
        found = make_estimator(name).predict_many(
            X, names, splits, [[3, 2, 1, 0]] * 3, [1, 2]
        )
        hits = [
            (labels == names[test]).mean(axis=1)
            for labels, (_, test) in zip(found, splits, strict=True)
        ]
        assert np.min(hits) > 0.8


def test_what_predict_many_refuses():
    X, y = numbers("easy")
    model = NaiveBayes()
    rows = np.arange(36)
    with pytest.raises(InputError, match="one ranking per split"):
        model.predict_many(X, y, [(rows, rows)], [[0], [1]], [1])
    with pytest.raises(InputError, match="sizes needs orders"):
        model.predict_many(X, y, [(rows, rows)], sizes=[1])
    for sizes in ([0], [], [1.5]):
        with pytest.raises(InputError, match="whole numbers"):
            model.predict_many(X, y, [(rows, rows)], [[0]], sizes)
    with pytest.raises(InputError, match="largest size is 2"):
        model.predict_many(X, y, [(rows, rows)], [[0]], [1, 2])
    with pytest.raises(InputError, match="but empty"):
        model.predict_many(X, y, [(rows, rows[:0])])
    with pytest.raises(InputError, match="names row 36"):
        model.predict_many(X, y, [(rows, rows + 1)])


@pytest.mark.parametrize("model", SHARING, ids=str)
def test_a_split_of_the_leading_rows_learns_from_no_other_row(model):
    X, y = tables("numeric", 60)
    table = read_table(X, y)
    n_rows = 30
    splits = [Split(np.arange(i, i + 3), n_rows) for i in range(0, n_rows, 3)]

    found = fill_by_loop(predict_table(model, table, splits), model, table, splits)

    expected = predict_loop(model, table.rows(slice(0, n_rows)), splits)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
