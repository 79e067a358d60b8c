"""Residualize: least squares on the training samples, subtracted from any."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.oracles import preparation as oracle
from tests.preparation.test_combat import NAMES, hospitals

from veridical._core.errors import InputError
from veridical.preparation import ComBat, Residualize


def test_it_is_least_squares_on_training_samples():
    X = hospitals().drop(columns="site")
    train = np.arange(0, len(X), 2)
    coded = np.column_stack([X["age"], X["sex"] == "m"]).astype(float)
    fitted = Residualize(["age", "sex"]).fit(X.iloc[train])
    found = fitted.transform(X)
    expected = oracle.residuals(X[NAMES].to_numpy(), coded, train)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    reference = LinearRegression().fit(coded[train], X[NAMES].iloc[train])
    np.testing.assert_allclose(fitted.coef_, reference.coef_.T, rtol=1e-9)
    np.testing.assert_allclose(fitted.intercept_, reference.intercept_, rtol=1e-9)


def test_units_of_covariates_do_not_matter():
    X = hospitals().drop(columns="site")
    plain = Residualize(["age", "sex"]).fit_transform(X)
    X["age"] = 365.25 * X["age"] + 1e4
    X["sex"] = np.where(X["sex"] == "f", "2", "1")  # the first category changes
    again = Residualize(["age", "sex"]).fit_transform(X)
    np.testing.assert_allclose(again, plain, rtol=1e-8, atol=1e-8)


def test_a_missing_value_leaves_out_its_sample_for_its_feature():
    X = hospitals().drop(columns=["site", "sex"])
    holes = X.copy()
    holes.loc[5, "g3"] = np.nan
    found = Residualize("age").fit_transform(holes)
    alone = Residualize("age").fit(X[["g3", "age"]].drop(index=5))
    expected = alone.transform(holes[["g3", "age"]])[:, 0]
    np.testing.assert_allclose(found[:, 3], expected, equal_nan=True)
    plain = Residualize("age").fit_transform(X)
    np.testing.assert_allclose(np.delete(found, 3, 1), np.delete(plain, 3, 1))


def test_batches_and_covariates_one_after_the_other():
    X = hospitals()
    combat = ComBat("site", covariates=["age", "sex"], remove=False)
    kept = combat.set_output(transform="pandas").fit_transform(X)
    out = Residualize(["age", "sex"]).fit_transform(kept.drop(columns="site"))
    assert abs(np.corrcoef(out[:, 0], X["age"])[0, 1]) < 1e-9


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_polars_and_pandas_give_the_same_features(kind):
    X = hospitals().drop(columns="site")
    expected = Residualize(["age", "sex"]).fit_transform(X)
    given = X
    if kind == "polars":
        given = pytest.importorskip("polars").from_pandas(X)
    kept = Residualize(["age", "sex"], remove=False).set_output(transform=kind)
    out = kept.fit_transform(given)
    assert type(out) is type(given)
    assert list(out.columns) == list(X.columns)
    np.testing.assert_allclose(out[NAMES].to_numpy(), expected)


def test_covariates_as_an_argument():
    X = hospitals()
    for side in (X[["age", "sex"]], X["age"], X["age"].to_numpy()):
        found = Residualize().fit_transform(X[NAMES], covariates=side)
        named = list(side.columns) if isinstance(side, pd.DataFrame) else ["age"]
        expected = Residualize(named).fit_transform(X[[*NAMES, *named]])
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X: Residualize("age").fit(X[["age"]]), r"1 feature\(s\), and all"),
        (lambda X: Residualize(["g0", "g1"]).fit(X[NAMES][:3]), "explained entirely"),
        (lambda X: Residualize(5.0).fit(X), "does not name columns"),
        (
            lambda X: Residualize("age").fit(X[[*NAMES, "age"]], covariates=X["age"]),
            "use one of the two ways",
        ),
        (
            lambda X: Residualize().fit(X[NAMES], covariates=X["age"][:5]),
            "covariates has 5 rows, but X has 37",
        ),
        (
            lambda X: (
                Residualize()
                .fit(X[NAMES], covariates=X["age"])
                .transform(X[NAMES])
            ),
            "fit had covariates, but transform has none",
        ),
        (
            lambda X: Residualize().fit(X[NAMES], covariates=X["age"] / [0, *[1] * 36]),
            "'age' is infinite in row 0",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_the_cure(make, said):
    with pytest.raises(InputError, match=said):
        make(hospitals().astype({"age": float}))
