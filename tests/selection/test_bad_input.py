"""Bad input is refused in words that say what is wrong, where, and what to do."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.selection.problems import Problem
from tests.selection.rows import each_selector

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.selection import (
    FCBF,
    MRMR,
    SELECTORS,
    AnovaF,
    Correlation,
    DifferentialPrioritization,
    InformationGain,
    MDLDiscretizer,
    ReliefF,
)
from veridical.selection._inputs import Abilities

X = np.random.default_rng(0).normal(size=(20, 4))
Y = np.arange(20) % 2


def make(row, **more):
    """The selector of a row, for data without categorical features."""
    return row.make(Problem(X, np.zeros(4, dtype=bool), Y), **more)


def with_value(value, row=3, column=2):
    table = X.copy()
    table[row, column] = value
    return table


# -- X -------------------------------------------------------------------------------


@each_selector()
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_missing_values_where_they_cannot_be_used(row, container):
    table = container(with_value(np.nan))
    if row.missing:
        assert make(row).fit(table, Y).n_features_ == 1
        return
    with pytest.raises(InputError, match=r"cannot use missing values.*impute"):
        make(row).fit(table, Y)


@each_selector()
def test_categorical_features_where_they_cannot_be_used(row):
    table = pd.DataFrame(X).assign(colour=pd.Categorical(["red", "blue"] * 10))
    table.columns = table.columns.astype(str)
    if row.categorical:
        fitted = row.selector(1, **row.parameters).fit(table, Y)
        assert fitted.get_feature_names_out().tolist() == ["colour"]
        return
    with pytest.raises(InputError, match=r"cannot use categorical features.*encode"):
        make(row).fit(table, Y)


@each_selector()
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_data_where_they_cannot_be_used(row, container):
    if row.sparse:
        assert make(row).fit(container(X), Y).n_features_ == 1
        return
    with pytest.raises(InputError, match=r"cannot use sparse data.*toarray"):
        make(row).fit(container(X), Y)


@pytest.mark.parametrize(
    ("ability", "table"),
    [
        ("missing", with_value(np.nan)),
        ("categorical", pd.DataFrame({"a": pd.Categorical(["red", "blue"] * 10)})),
    ],
)
def test_selectors_that_can_read_the_data_are_named(ability, table):
    with pytest.raises(InputError) as caught:
        AnovaF(1).fit(table, Y)
    named = re.search(r"\(([\w, ]+)\)\.$", str(caught.value))[1].split(", ")
    able = {cls for cls in SELECTORS.values() if getattr(cls._abilities, ability)}
    assert named == sorted(cls.__name__ for cls in able)
    for cls in able:
        assert cls(1).fit(table, Y).n_features_ == 1


@each_selector()
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_infinite_values(row, value, container):
    with pytest.raises(InputError, match=r"Column 2 of X .*infinite.*row 3"):
        make(row).fit(container(with_value(value)), Y)


@each_selector("sparse")
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_in_sparse_data(row, value):
    with pytest.raises(InputError, match=r"infinite"):
        make(row).fit(sparse.csr_array(with_value(value)), Y)


@pytest.mark.parametrize("selector", [AnovaF, Correlation])
def test_missing_values_in_sparse_data(selector):
    with pytest.raises(InputError, match=r"missing values"):
        selector(1).fit(sparse.csr_array(with_value(np.nan)), Y)


@each_selector()
def test_text_in_a_number_feature(row):
    table = pd.DataFrame(X.astype(object))
    table.columns = list("abcd")
    table.loc[5, "c"] = "tall"
    with pytest.raises(
        InputError, match=r"(?s)tall.*not a number|categorical features"
    ):
        make(row).fit(table, Y)


@each_selector()
@pytest.mark.parametrize(
    ("table", "words"),
    [(X[:, 0], "2D"), (X[:0], "0 sample"), (X[:, :0], "0 feature")],
    ids=["a vector", "no rows", "no columns"],
)
def test_no_table(row, table, words):
    with pytest.raises(ValueError, match=words):
        make(row).fit(table, Y[: len(table)])


# -- y -------------------------------------------------------------------------------


@each_selector()
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_one_class_only(row, container):
    with pytest.raises(InputError, match=r"one class only \('?only'?\)|one class only"):
        make(row).fit(container(X), ["only"] * 20)


@each_selector()
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_lengths_differ(row, container):
    with pytest.raises(ValueError, match=r"20.*19|19.*20"):
        make(row).fit(container(X), Y[:-1])


@each_selector()
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels(row, container, missing):
    y = np.array(["a", "b"] * 10, dtype=object)
    y[7] = missing
    with pytest.raises(InputError, match=r"no label in row 7"):
        make(row).fit(container(X), y)


@each_selector()
def test_missing_labels_among_numbers(row):
    y = Y.astype(float)
    y[4] = np.nan
    with pytest.raises(ValueError, match=r"NaN|no label in row 4"):
        make(row).fit(X, y)


class OnlyClasses(AnovaF):
    """A selector that reads classes alone."""

    _abilities = Abilities()


def test_numbers_that_are_no_classes():
    with pytest.raises(ValueError, match="continuous"):
        OnlyClasses().fit(X, X[:, 0])


@pytest.mark.parametrize("name", SELECTORS)
def test_a_target_that_is_not_read_and_who_reads_it(name):
    cls = SELECTORS[name]
    times = np.rec.fromarrays([Y == 0, np.abs(X[:, 0]) + 1.0])
    if "survival" not in cls._abilities.targets:
        with pytest.raises(InputError, match=r"y holds survival times.*CoxScore"):
            cls().fit(X, times)
    table = read_table(X, times)
    if "survival" not in cls._abilities.targets:
        with pytest.raises(InputError, match=r"y holds survival times.*CoxScore"):
            cls().rank_table(table, [np.arange(len(X))])
    if "classes" not in cls._abilities.targets:
        with pytest.raises(InputError, match=r"target of survival.*holds classes"):
            cls().rank_table(read_table(X, Y), [np.arange(len(X))])


@each_selector()
def test_labels_left_out(row):
    with pytest.raises(ValueError, match="requires y"):
        make(row).fit(X, None)


# -- parameters ----------------------------------------------------------------------


@each_selector()
@pytest.mark.parametrize("wanted", [0, -1, 1.5, 0.0, -0.5, np.nan, "x", True, [2]])
def test_wrong_number_of_features(row, wanted):
    with pytest.raises(InputError, match="n_features_to_select="):
        make(row, n_features_to_select=wanted).fit(X, Y)


@each_selector()
@pytest.mark.parametrize(
    ("wanted", "got"),
    [(1, 1), (3, 3), (4, 4), (0.5, 2), (0.1, 1), (1.0, 4), (np.int64(2), 2)],
)
def test_right_number_of_features(row, wanted, got):
    fitted = make(row, n_features_to_select=wanted).fit(X, Y)
    assert fitted.support_.sum() == fitted.n_features_ == got
    assert set(np.flatnonzero(fitted.support_)) == set(fitted.order_[:got])
    assert fitted.transform(X).shape == (20, got)


def test_a_share_is_counted_as_people_count():
    """0.29 of 100 columns are 29, though 0.29 * 100 is less than 29 in binary."""
    table = np.random.default_rng(1).normal(size=(20, 100))
    assert AnovaF(0.29).fit(table, Y).n_features_ == 29


@each_selector()
def test_more_features_than_there_are(row):
    with pytest.warns(UserWarning, match="more than the 4 features"):
        fitted = make(row, n_features_to_select=5).fit(X, Y)
    assert fitted.support_.all()


@pytest.mark.parametrize("k", [0, -2, 1.5, "x", None])
def test_wrong_number_of_neighbours(k):
    with pytest.raises(InputError, match="n_neighbors"):
        ReliefF(1, n_neighbors=k).fit(X, Y)


@pytest.mark.parametrize("n", [0, -2, 1.5, "x"])
def test_wrong_number_of_sampled_samples(n):
    with pytest.raises(InputError, match="n_samples"):
        ReliefF(1, n_samples=n).fit(X, Y)


@pytest.mark.parametrize("selector", [InformationGain, FCBF])
def test_unknown_cost_of_a_cut(selector):
    with pytest.raises(InputError, match="mdl_cost"):
        selector(1, mdl_cost="cut").fit(X, Y)


def test_unknown_cost_of_a_cut_in_the_discretizer():
    with pytest.raises(InputError, match="mdl_cost"):
        MDLDiscretizer(mdl_cost="cut").fit(X, Y)


@each_selector("categorical")
@pytest.mark.parametrize("columns", [[4], [-1], ["a"], [True, False], "all"])
def test_categorical_features_that_are_not_there(row, columns):
    with pytest.raises(InputError, match="categorical_features"):
        row.selector(1, categorical_features=columns).fit(X, Y)


# -- training sets -------------------------------------------------------------------


@each_selector()
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([0, 1, 20], r"Training set 1 names row 20, but X has 20 rows"),
        ([0, 1, -21], r"Training set 1 names row -21, but X has 20 rows"),
        ([], r"Training set 1 .*non-empty"),
        (np.zeros(20, dtype=bool), r"Training set 1 .*non-empty"),
        (np.ones(19, dtype=bool), r"Training set 1 is a mask of shape \(19,\)"),
        ([0.0, 1.0, 2.0], r"Training set 1 .*whole numbers"),
        ([[0, 1], [2, 3]], r"Training set 1 .*one-dimensional"),
        ((range(15), range(15, 20)), r"Training set 1 .*train for train, _ in"),
        ([0, 2, 4], r"Training set 1 holds one class only"),
        (["a"], r"Training set 1 .*whole numbers"),
    ],
    ids=[
        "large",
        "small",
        "empty",
        "no-mask",
        "short-mask",
        "floats",
        "matrix",
        "pair",
        "one-class",
        "text",
    ],
)
def test_bad_training_sets(row, rows, words):
    with pytest.raises(InputError, match=words):
        make(row).rank_many(X, Y, [np.arange(20), rows])


# -- weights -------------------------------------------------------------------------


@each_selector("weights")
@pytest.mark.parametrize(
    "weight", [np.ones(19), -np.ones(20), np.full(20, np.nan), np.full(20, np.inf)]
)
def test_weights_that_are_none(row, weight):
    with pytest.raises(ValueError, match=r"(?i)sample.?weight|Input"):
        make(row).fit(X, Y, sample_weight=weight)


@each_selector("weights")
def test_weights_that_leave_one_class(row):
    with pytest.raises(InputError, match="one class"):
        make(row).fit(X, Y, sample_weight=Y)


def test_fractions_of_samples_where_samples_are_counted():
    weight = np.full(20, 0.5)
    with pytest.raises(InputError, match=r"InformationGain.*whole numbers"):
        InformationGain(1).fit(X, Y, sample_weight=weight)
    for selector in (AnovaF, Correlation):
        assert selector(1).fit(X, Y, sample_weight=weight).n_features_ == 1


# -- nothing else is said ------------------------------------------------------------


@each_selector()
def test_good_input_gives_no_warning(row):
    table = np.column_stack([X, np.zeros(20), np.round(X[:, 0])])
    problem = Problem(table, np.zeros(6, dtype=bool), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row.make(problem).fit(table, Y)


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (FCBF(threshold="a"), "threshold='a'"),
        (FCBF(threshold=float("nan")), "threshold=nan"),
        (DifferentialPrioritization(alpha="x"), "alpha='x'"),
        (MRMR(n_searched=2.5), "n_searched=2.5"),
        (AnovaF(n_jobs=0), "n_jobs=0"),
    ],
    ids=["threshold", "nan", "alpha", "n_searched", "n_jobs"],
)
def test_parameters_of_the_wrong_kind(selector, words):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1] * 3
    with pytest.raises(InputError, match=re.escape(words)):
        selector.fit(X, y)


def test_the_feature_that_cannot_be_used_is_named():
    X = pd.DataFrame({"u": [1.0, 2.0, 3.0, 4.0], "v": ["a", "b", "a", "b"]})
    with pytest.raises(InputError, match="such as column 'v'"):
        AnovaF().fit(X, [0, 1, 0, 1])
