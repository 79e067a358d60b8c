"""Learners that compute with numbers alone name the column they cannot use."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from veridical._core.errors import InputError
from veridical.learning import (
    C45,
    DAGSVM,
    BiasCorrectedGaussianNB,
    BiasCorrectedNB,
    LUFe,
    LUFeCV,
    LUFeLogistic,
    MedianBinarizer,
    NaiveBayes,
    SVMPlus,
)
from veridical.selection import AnovaF

rng = np.random.default_rng(0)
Y = np.repeat(["no", "yes"], 10)
X = rng.normal(size=(20, 6)) + (Y == "yes")[:, None]
FRAME = pd.DataFrame(X, columns=list("abcdef"))
DATES = pd.date_range("2020-01-01", periods=20)
NUMERIC = [
    SVMPlus(),
    LUFe(AnovaF(2)),
    LUFeCV(AnovaF(2), Cs=[1.0], gammas=[1.0], cv=2, n_jobs=1),
    LUFeLogistic(AnovaF(2)),
    DAGSVM(),
    BiasCorrectedGaussianNB(2),
    MedianBinarizer(),
]
BAD_TABLES = {
    "text": (FRAME.assign(c="red"), r"Column 'c' of X holds 'red'.*OneHotEncoder"),
    "category": (
        FRAME.assign(c=pd.Categorical(["u", "v"] * 10)),
        "Column 'c' of X holds 'u'",
    ),
    "dates": (FRAME.assign(c=DATES), "Column 'c' of X holds dates or times"),
    "polars dates": (
        pl.DataFrame(FRAME).with_columns(c=pl.Series(DATES.to_numpy())),
        "Column 'c' of X holds dates or times",
    ),
    "polars text": (
        pl.DataFrame(FRAME).with_columns(c=pl.lit("red")),
        "Column 'c' of X holds 'red'",
    ),
    "text in an array": (
        np.where(np.arange(6) == 4, "red", X.astype(object)),
        "Column 4 of X holds 'red'",
    ),
    "one name twice": (
        pd.DataFrame(X, columns=list("abcdec")),
        "X has more than one column named 'c'",
    ),
    "missing": (
        FRAME.assign(c=[1.0, None] + [0.0] * 18),
        "X contains NaN: column 'c', row 1, is missing",
    ),
    "infinite": (
        np.where(np.arange(120).reshape(20, 6) == 13, np.inf, X),
        "X contains inf: column 1, row 2, is infinite",
    ),
}


def fit(learner, table, y=Y):
    learner = clone(learner)
    if isinstance(learner, SVMPlus):
        return learner.fit(table, y, X_privileged=X)
    return learner.fit(table, y)


@pytest.mark.parametrize("kind", BAD_TABLES)
@pytest.mark.parametrize("learner", NUMERIC, ids=lambda one: type(one).__name__)
def test_the_feature_is_named(learner, kind):
    table, message = BAD_TABLES[kind]
    with pytest.raises(InputError, match=message):
        fit(learner, table)


@pytest.mark.parametrize(
    "learner", [NaiveBayes(), C45(), BiasCorrectedNB(2)], ids=lambda o: type(o).__name__
)
def test_learners_with_categorical_features_refuse_a_name_twice(learner):
    with pytest.raises(InputError, match="more than one column named 'c'"):
        fit(learner, BAD_TABLES["one name twice"][0])


@pytest.mark.parametrize("learner", NUMERIC[:-1], ids=lambda one: type(one).__name__)
def test_a_sample_without_label_is_named(learner):
    labels = Y.astype(object)
    labels[3] = None
    with pytest.raises(InputError, match="no label in row 3"):
        fit(learner, X, labels)


@pytest.mark.parametrize("learner", NUMERIC[:-1], ids=lambda one: type(one).__name__)
def test_numbers_in_any_guise_are_numbers(learner):
    """Whole, boolean, nullable and text that reads as a number, from either library."""
    plain = FRAME.assign(a=np.arange(20), b=FRAME["b"] > 0)
    expected = fit(learner, plain.to_numpy(dtype=float)).predict(plain.to_numpy(float))
    guises = [
        plain,
        plain.assign(a=plain["a"].astype("Int64")),
        plain.assign(a=plain["a"].astype(str)),
        pl.DataFrame(plain),
        plain.to_numpy(dtype=object),
    ]
    for table in guises:
        np.testing.assert_array_equal(fit(learner, table).predict(table), expected)


def test_prediction_looks_at_the_selected_features_alone():
    model = LUFe(AnovaF(2)).fit(FRAME, Y)
    chosen = FRAME.columns[model.support_]
    others = FRAME.columns[~model.support_]
    expected = model.predict(FRAME)
    strange = FRAME.assign(**dict.fromkeys(others, "?"))
    np.testing.assert_array_equal(model.predict(strange), expected)
    for table in (FRAME, FRAME[chosen]):
        bad = table.assign(**{chosen[1]: "?"})
        with pytest.raises(InputError, match=rf"Column '{chosen[1]}' of X holds '\?'"):
            model.predict(bad)
        bad = table.assign(**{chosen[0]: np.nan})
        with pytest.raises(InputError, match=rf"column '{chosen[0]}', row 0"):
            model.predict(bad)
    bare = X.copy()
    bare[4, np.flatnonzero(model.support_)[1]] = np.nan
    nameless = LUFe(AnovaF(2)).fit(X, Y)
    place = np.flatnonzero(nameless.support_)[1]
    for table in (bare, sparse.csr_matrix(bare)):
        with pytest.raises(InputError, match=f"column {place}, row 4, is missing"):
            nameless.predict(table)
    with pytest.raises(InputError, match="more than one column named"):
        model.predict(FRAME[[chosen[0], chosen[1], chosen[1]]])


def test_privileged_features_are_read_with_the_same_care():
    def tell(hindsight):
        SVMPlus().fit(X, Y, X_privileged=hindsight)

    with pytest.raises(InputError, match="Column 'c' of X_privileged holds 'red'"):
        tell(BAD_TABLES["text"][0])
    with pytest.raises(InputError, match="X_privileged has more than one column"):
        tell(BAD_TABLES["one name twice"][0])
    with pytest.raises(InputError, match=r"X_privileged contains NaN: column 'c'"):
        tell(BAD_TABLES["missing"][0])
    holes = sparse.csr_matrix(np.where(np.arange(120).reshape(20, 6) == 13, np.nan, X))
    with pytest.raises(InputError, match=r"X_privileged contains NaN: column 1, row 2"):
        tell(holes)
    with pytest.raises(InputError, match="X_privileged has 19 rows, but X and y have"):
        tell(X[:-1])
