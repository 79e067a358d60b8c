"""Impute: scikit-learn's imputers on the numbers of a frame, categories beside them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer, SimpleImputer

from veridical._core.errors import InputError
from veridical.preparation import IMPUTERS, Impute


def clinic(n=30, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, n),
            "sex": rng.choice(["f", "m"], n, p=[0.7, 0.3]),
            "days": rng.integers(0, 5, n).astype(float),
            "grade": pd.Categorical(rng.choice(["I", "II", "III"], n)),
        }
    )
    for column in frame:
        frame.loc[rng.random(n) < 0.15, column] = None
    return frame


@pytest.mark.parametrize("how", IMPUTERS)
def test_numbers_are_those_of_scikit_learn(how):
    X = clinic()
    train = np.arange(20)
    out = Impute(how).fit(X.iloc[train]).transform(X)
    plain = (
        KNNImputer() if how == "knn" else SimpleImputer(strategy=how.replace("-", "_"))
    )
    numbers = ["age", "days"]
    expected = plain.fit(X[numbers].iloc[train]).transform(X[numbers])
    np.testing.assert_array_equal(out[numbers], expected)
    assert list(out.columns) == list(X.columns)
    assert not out.isna().to_numpy().any()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_are_the_most_frequent_of_the_training_samples(kind):
    X = clinic()
    train = X.iloc[:20]
    common = train["sex"].value_counts().idxmax()
    grade = train["grade"].value_counts().idxmax()
    given = X
    if kind == "polars":
        given = pytest.importorskip("polars").from_pandas(X)
    out = Impute().fit(given[:20]).transform(given)
    assert type(out) is type(given)
    missing = X["sex"].isna().to_numpy()
    assert set(np.asarray(out["sex"])[missing]) == {common}
    assert set(np.asarray(out["grade"])[X["grade"].isna().to_numpy()]) == {grade}
    if kind == "pandas":
        assert out["grade"].dtype == X["grade"].dtype


def test_an_unknown_way():
    with pytest.raises(InputError, match="did you mean 'median'"):
        Impute("medan").fit(clinic())
