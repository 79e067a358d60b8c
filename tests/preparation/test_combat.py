"""ComBat: the paper, neuroCombat, new samples, unknown batches, what is refused."""

import contextlib
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from tests.oracles import preparation as oracle

from veridical._core.errors import InputError
from veridical.preparation import ComBat

NAMES = [f"g{j}" for j in range(12)]


def hospitals(seed=0, sizes=(16, 12, 9), n_features=12):
    """Samples of three sites that differ in mean and scale, with age and sex."""
    rng = np.random.default_rng(seed)
    site = np.repeat(["south", "north", "west"], sizes)
    n = len(site)
    age, sex = rng.integers(20, 80, n), rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, n_features)) * rng.uniform(0.5, 2, n_features)
    X += 0.03 * age[:, None] + (sex == "m")[:, None] * rng.normal(size=n_features)
    for k, name in enumerate(("south", "north", "west")):
        X[site == name] *= 1 + 0.4 * k
        X[site == name] += rng.normal(k, 0.7, n_features)
    order = rng.permutation(n)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(n_features)])
    return frame.assign(site=site, age=age, sex=sex).iloc[order].reset_index(drop=True)


@pytest.mark.parametrize("covariates", [[], ["age", "sex"]], ids=["none", "two"])
@pytest.mark.parametrize("parametric", [True, False])
@pytest.mark.parametrize("mean_only", [True, False])
@pytest.mark.parametrize("reference", [None, "north"])
def test_fitted_on_all_samples_it_is_neurocombat(
    covariates, parametric, mean_only, reference, monkeypatch
):
    pytest.importorskip("neuroCombat")
    monkeypatch.setattr(np, "int", int, raising=False)  # gone from numpy since 1.24
    from neuroCombat import neuroCombat

    X = hospitals()
    with contextlib.redirect_stdout(io.StringIO()):
        expected = neuroCombat(
            dat=X[NAMES].to_numpy().T,
            covars=X[["site", *covariates]],
            batch_col="site",
            categorical_cols=[c for c in covariates if c == "sex"],
            continuous_cols=[c for c in covariates if c == "age"],
            parametric=parametric,
            mean_only=mean_only,
            ref_batch=reference,
        )["data"].T
    ours = ComBat(
        "site",
        covariates=covariates,
        parametric=parametric,
        mean_only=mean_only,
        reference=reference,
    )
    part = X[[*NAMES, "site", *covariates]]
    np.testing.assert_allclose(ours.fit_transform(part), expected, rtol=0, atol=1e-10)


def test_a_reference_batch_stays_and_is_checked():
    X = hospitals()[[*NAMES, "site"]]
    fitted = ComBat("site", reference="north").fit(X[:30])
    north = X[X["site"] == "north"]
    np.testing.assert_array_equal(fitted.transform(north), north[NAMES])
    with pytest.raises(InputError, match=r"reference='nort' is no batch.*'north'"):
        ComBat("site", reference="nort").fit(X)
    with pytest.raises(InputError, match="use splits whose training sets all have it"):
        ComBat("site", reference="north").fit(X[X["site"] != "north"])
    alone = X[(X["site"] != "west") | (X["site"] == "west").cumsum().eq(1)]
    with pytest.raises(InputError, match="reference batch 'west' has one training"):
        ComBat("site", reference="west", mean_only=True).fit(alone)
    X.loc[X["site"] == "north", NAMES[1]] = np.nan
    with pytest.raises(InputError, match="Column 1 of X has no value in the reference"):
        ComBat("site", reference="north").fit(X)


@pytest.mark.parametrize("parametric", [True, False])
def test_new_samples_are_corrected_as_the_paper_says(parametric):
    X = hospitals(1)
    train = np.flatnonzero(np.arange(len(X)) % 3 > 0)
    coded = np.column_stack([X["age"], X["sex"] == "m"]).astype(float)
    expected = oracle.combat(
        X[NAMES].to_numpy(), X["site"].to_numpy(), coded, train, parametric=parametric
    )
    fitted = ComBat(
        "site", covariates=["age", "sex"], parametric=parametric, tol=1e-13
    ).fit(X.iloc[train])
    np.testing.assert_allclose(fitted.transform(X), expected, rtol=1e-9, atol=1e-9)


def test_what_is_learned_does_not_depend_on_test_samples():
    X = hospitals(2)
    train, test = np.arange(25), np.arange(25, len(X))
    other = X.copy()
    other.loc[test, NAMES] = 100.0
    one, two = (ComBat("site").fit(F[[*NAMES, "site"]].iloc[train]) for F in (X, other))
    np.testing.assert_array_equal(one.gamma_, two.gamma_)
    np.testing.assert_array_equal(one.delta_, two.delta_)


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-5, 5))
def test_units_and_order_do_not_matter(seed, factor, shift):
    X = hospitals(seed % 5)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(12)
    part = X[[*NAMES, "site"]]
    plain = pd.DataFrame(ComBat("site").fit_transform(part), columns=NAMES)
    moved = part.iloc[rows, [*columns, 12]].copy()
    names = [NAMES[j] for j in columns]
    moved[names] = factor * moved[names] + shift
    again = ComBat("site").fit_transform(moved)
    expected = factor * plain.iloc[rows][names] + shift
    np.testing.assert_allclose(again, expected, rtol=1e-9, atol=1e-9 * (1 + factor))


def test_named_columns_are_removed_or_stay():
    X = hospitals()
    removed = ComBat("site", covariates=["age", "sex"]).set_output(transform="pandas")
    out = removed.fit_transform(X)
    assert list(out.columns) == NAMES == removed.get_feature_names_out().tolist()
    kept = ComBat("site", covariates=["age", "sex"], remove=False)
    whole = kept.set_output(transform="pandas").fit_transform(X)
    assert list(whole.columns) == list(X.columns)
    assert whole["site"].tolist() == X["site"].tolist()
    assert whole["age"].dtype == X["age"].dtype
    np.testing.assert_array_equal(whole[NAMES], out)


def test_columns_of_an_array_are_indices():
    X = hospitals()[[*NAMES, "site"]]
    codes = pd.factorize(X["site"])[0]
    array = np.column_stack([codes, X[NAMES].to_numpy()])
    np.testing.assert_allclose(
        ComBat(0).fit_transform(array), ComBat("site").fit_transform(X), rtol=1e-12
    )


def test_the_two_ways_mean_the_same():
    X = hospitals()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, len(X))
    columns = make_pipeline(ComBat("site"), LogisticRegression())
    as_columns = cross_validate(columns, X[[*NAMES, "site"]], y, cv=4)
    with config_context(enable_metadata_routing=True):
        step = ComBat().set_fit_request(batch=True).set_transform_request(batch=True)
        routed = cross_validate(
            make_pipeline(step, LogisticRegression()),
            X[NAMES],
            y,
            cv=4,
            params={"batch": X["site"]},
        )
    np.testing.assert_array_equal(as_columns["test_score"], routed["test_score"])


def test_an_unknown_batch_is_estimated_as_if_it_had_been_there():
    """With its own mean and variance; only σ and the mean come from other samples."""
    X = hospitals(3)[[*NAMES, "site"]]
    old, new = X[X["site"] != "west"], X[X["site"] == "west"]
    refused = ComBat("site").fit(old)
    with pytest.raises(InputError, match="'west' is not among the training samples"):
        refused.transform(new)
    fitted = ComBat("site", unknown="estimate").fit(old)
    out = fitted.transform(new)
    # Shrinkage leaves little of the difference from the other batches.
    gap = out.mean(axis=0) - fitted.transform(old).mean(axis=0)
    before = new[NAMES].mean() - old[NAMES].mean()
    assert np.abs(gap).max() < 0.5 * np.abs(before).max()
    assert np.abs(gap).mean() < 0.2 * np.abs(before).mean()
    together = fitted.transform(X)
    np.testing.assert_allclose(together[(X["site"] == "west").to_numpy()], out)


def test_the_outcome_is_protected_by_training_samples_alone():
    """Half the class effect would be taken for one of the batch."""
    rng = np.random.default_rng(0)
    n = 400
    site = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.75, site, 1 - site)
    X = rng.normal(size=(n, 20)) + 2 * y[:, None] + 1.5 * site[:, None]
    plain = ComBat().fit(X, y, batch=site)
    protected = ComBat(protect_outcome=True).fit(X, y, batch=site)

    def effect(fitted):
        Z = fitted.transform(X, batch=site)
        return (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)).mean()

    assert effect(plain) < 1.75 < 1.9 < effect(protected) < 2.1
    with pytest.raises(InputError, match="requires y to be passed"):
        ComBat(protect_outcome=True).fit(X, batch=site)
    with pytest.raises(InputError, match="outcome is determined by the batch"):
        ComBat(protect_outcome=True).fit(X, site, batch=site)


def test_missing_values_stay_and_do_not_touch_other_features():
    X = hospitals()[[*NAMES, "site"]]
    holes = X.copy()
    holes.loc[[3, 9, 17], "g2"] = np.nan
    out = ComBat("site").fit_transform(holes)
    assert np.isnan(out[[3, 9, 17], 2]).all()
    assert np.isfinite(np.delete(out, 2, axis=1)).all()
    full = ComBat("site").fit_transform(X)
    # Priors are common to all features, so the others change a little.
    np.testing.assert_allclose(np.delete(out, 2, 1), np.delete(full, 2, 1), atol=0.3)


def test_features_that_are_constant_within_batches():
    X = hospitals()[[*NAMES, "site"]]
    X["g0"] = np.where(X["site"] == "north", 5.0, 1.0)
    X["g1"] = 7.0
    X["g2"] = np.where(X["site"] == "north", 3.0, X["g2"])
    out = pd.DataFrame(ComBat("site").fit_transform(X), columns=NAMES)
    assert np.ptp(out["g0"]) < 1e-12
    assert np.ptp(out["g1"]) < 1e-12
    by_site = out["g2"].groupby(X["site"]).mean()
    assert np.ptp(by_site) < 1e-9
    assert np.isfinite(out.to_numpy()).all()


def test_one_feature_is_not_shrunk():
    X = hospitals(n_features=1)[["g0", "site"]]
    out = ComBat("site").fit_transform(X)[:, 0]
    by_site = pd.Series(out).groupby(X["site"])
    assert np.ptp(by_site.mean()) < 1e-12
    assert np.ptp(by_site.var()) < 1e-12


def refused(X, covariates=("age", "sex"), **more):
    return ComBat("site", covariates=covariates, **more).fit(X)


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        ({"site": ["x"] + ["y"] * 36}, {}, "'x' has one training sample only.*mean_on"),
        ({"site": [None] + ["y"] * 36}, {}, "'site' is missing in row 0"),
        ({"age": [None] * 2 + [1] * 35}, {}, "missing in rows 0, 1"),
        (
            {},
            {"covariates": "agee"},
            "'agee', which is not a col.*did you.*columns are",
        ),
        ({}, {"covariates": ["site"]}, "'site' is named as batch and as covariate"),
        ({}, {"covariates": ["age", "age"]}, "names 'age' twice"),
        ({"g1": ["a"] * 37}, {}, "'g1' of X.*number"),
        ({}, {"unknown": "guess"}, "'error', which"),
        ({}, {"tol": 0}, "tol=0 must be above 0"),
    ],
)
def test_bad_input_is_refused_with_the_cure(change, more, said):
    with pytest.raises(InputError, match=said):
        refused(hospitals().assign(**change), **more)


def test_a_covariate_that_follows_the_batch():
    X = hospitals()
    X["ward"] = X["site"].str.upper()
    with pytest.raises(InputError, match="batch and the covariates 'ward' determine"):
        refused(X[[*NAMES, "site", "ward"]], covariates="ward")


def test_a_new_category_of_a_covariate():
    X = hospitals()
    fitted = refused(X)
    with pytest.raises(InputError, match=r"'sex' is 'x' in row 0.*only 'f', 'm'"):
        fitted.transform(X.assign(sex="x"))
