"""``--impute``, ``--scale`` and ``--encode``: learned on training samples alone."""

from __future__ import annotations

import json
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.conftest import make_table

from veridical._core.errors import InputError
from veridical._core.splits import CrossValidation
from veridical.cli.preparing import (
    ENCODERS,
    IMPUTERS,
    SCALERS,
    OneHotSelector,
    make_preparation,
)
from veridical.evaluation import Procedure, evaluate
from veridical.learning import make_estimator
from veridical.selection import MRMR, SVMRFE, AnovaF


def make_clinic(n=60, seed=0, missing=0.05):
    """Numbers of different scales, categories, and missing cells."""
    rng = np.random.default_rng(seed)
    frame = make_table(n, 4, seed).rename(columns={"x1": "days"})
    frame["days"] *= 1000
    noisy = np.where(rng.random(n) < 0.2, "none", frame["kind"])
    frame.insert(
        1, "grade", np.where(noisy == "yes", "III", rng.choice(["I", "II"], n))
    )
    frame.insert(3, "sex", rng.choice(["f", "m"], n))
    for column in frame.columns[:-1]:
        frame.loc[rng.random(n) < missing, column] = np.nan
    return frame


def split(frame):
    X = frame.drop(columns="kind")
    text = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(text, "category")), frame["kind"].to_numpy()


@pytest.fixture
def clinic(tmp_path):
    path = tmp_path / "clinic.csv"
    make_clinic().to_csv(path, index=False)
    return path


# -- nothing is learned from test samples ----------------------------------------------


def statistics(model, X, y):
    """All that the fitted steps hold, as text; and what they make of fixed samples."""
    fixed = split(make_clinic(20, seed=9))[0]
    columns = list(X.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model[:-1].transform(fixed[columns]).to_json(double_precision=15)


@pytest.mark.in_part(6)
@pytest.mark.parametrize("impute", IMPUTERS)
@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("encode", ENCODERS)
def test_training_statistics_do_not_depend_on_test_samples(impute, scale, encode):
    X, y = split(make_clinic())
    splits = [(s.train, s.test) for s in CrossValidation(3).split(y, 0)]
    prepared = make_preparation(X, impute, scale, encode)
    estimator = prepared.learn_by(make_estimator("nb"))
    selector = prepared.select_by(AnovaF())

    def run(X, y, chosen):
        learned = [Procedure(estimator), Procedure(estimator, selector, (3,))]
        return evaluate(learned, X, y, [chosen], apply=statistics)

    for train, test in splits[:1]:
        other = X.copy()
        for column in X.select_dtypes("number"):
            other.loc[test, column] = 1e4 * (1 + np.arange(len(test)))
        other.loc[test, "sex"] = np.where(np.arange(len(test)) % 2, "f", None)
        other.loc[test, "grade"] = "III"
        flipped = y.copy()
        flipped[test] = np.where(y[test] == "yes", "no", "yes")
        before, after = run(X, y, (train, test)), run(other, flipped, (train, test))
        for one, two in zip(before, after, strict=True):
            assert one.applied == two.applied
        assert np.array_equal(before[1].rankings[0].order, after[1].rankings[0].order)
        # The same change in a training sample is seen.
        seen = run(other, y, (np.append(train, test[0]), test[1:]))
        assert seen[0].applied != before[0].applied


@pytest.mark.parametrize("size", [1, 3])
def test_the_engine_does_what_a_loop_over_folds_does(size):
    frame = make_clinic().drop(columns=["grade", "sex"])
    X, y = split(frame)
    prepared = make_preparation(X, "median", "standard", None)
    splits = [(s.train, s.test) for s in CrossValidation(3).split(y, 0)]
    procedure = Procedure(
        prepared.learn_by(make_estimator("svm")), prepared.select_by(MRMR()), (size,)
    )
    (found,) = evaluate([procedure], X, y, splits)
    for (train, test), predicted in zip(splits, found.predictions, strict=True):
        scaler = StandardScaler().fit(X.iloc[train])
        imputer = SimpleImputer(strategy="median").fit(scaler.transform(X.iloc[train]))
        Z = imputer.transform(scaler.transform(X))
        kept = np.sort(MRMR(size).fit(Z[train], y[train]).order_[:size])
        model = make_estimator("svm").fit(Z[train][:, kept], y[train])
        expected = model.predict(Z[test][:, kept])
        assert np.array_equal(np.array(["no", "yes"])[predicted[0]], expected)


# -- one-hot columns -------------------------------------------------------------------


def test_a_feature_ranks_as_the_best_of_its_columns():
    X, y = split(make_clinic(missing=0))
    found = OneHotSelector(AnovaF(), 2).fit(X, y)
    columns = pd.get_dummies(X, drop_first=False, dtype=float)
    scores = AnovaF().fit(columns, y).scores_
    best = {
        name: scores[[c == name or c.startswith(f"{name}_") for c in columns]].max()
        for name in X.columns
    }
    expected = sorted(best, key=lambda name: -best[name])
    assert X.columns[found.order_].tolist() == expected
    assert X.columns[found.get_support()].tolist() == [
        name for name in X.columns if name in expected[:2]
    ]
    assert found.transform(X).shape == (len(X), 2)


@pytest.mark.parametrize("selector", [MRMR(), SVMRFE(), AnovaF()], ids=str)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_as_many_features_are_selected_as_asked_for(selector, n):
    X, y = split(make_clinic(missing=0))
    found = OneHotSelector(selector, n).fit(X, y)
    assert found.get_support().sum() == n
    assert sorted(found.order_) == list(range(X.shape[1]))


# -- from the command line -------------------------------------------------------------

PREPARED = ("--impute", "median", "--scale", "standard", "--encode", "onehot")
VERBS = {
    "select": ("--features", 3, "--cv", 3),
    "estimate": ("--selector", "mrmr", "--features", 3, "--cv", 3),
    "compare": ("--selectors", "mrmr,svm-rfe", "--features", 3, "--cv", 3),
    "audit": ("--selector", "anova", "--features", 3, "--cv", 3, "--permutations", 19),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_clinical_table_works_in_every_verb(run, clinic, verb):
    words = (verb, clinic, "--target", "kind", *PREPARED, *VERBS[verb], "--json")
    result = run(*words)
    assert result.exit_code in (0, 1), result.stderr
    found = json.loads(result.stdout)
    settings = found["settings"]
    assert "missing numbers are replaced by the median" in settings["preparation"]
    assert "learned on every training set" in settings["preparation"]
    assert not any("0x" in str(value) for value in settings.values())
    again = run(*shlex.split(settings["command"])[1:], "--json")
    assert json.loads(again.stdout)["settings"] == settings
    if verb == "select":
        names = {one["name"] for one in found["features"]}
        assert names <= set(pd.read_csv(clinic).columns)
        assert {"x0", "grade"} & names
        assert (found["selector"], found["estimator"]) == ("mrmr", "svm")


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "--selector", "anova", "--features", 2, "--first"),
        ("compare", "--selectors", "mrmr,mrmr", "--features", 2),
        ("select", "--selector", "svm-rfe", "--estimator", "dagsvm", "--features", 2),
    ],
)
def test_names_of_pipelines_are_those_of_their_selectors(run, clinic, words):
    more = ("--permutations", 19) if words[0] == "audit" else ()
    given = (words[0], clinic, "--target", "kind", *PREPARED, *words[1:], "--cv", 3)
    result = run(*given, *more)
    assert result.exit_code in (0, 1), result.stderr
    assert "ColumnTransformer" not in result.stdout
    assert "Prepared" not in result.stdout


@pytest.mark.parametrize("impute", IMPUTERS)
def test_the_default_selector_with_missing_cells(run, table, impute):
    frame = pd.read_csv(table)
    frame.iloc[[3, 17], 2] = np.nan
    frame.to_csv(table, index=False)
    words = ("select", table, "--target", "kind", "--features", 2, "--cv", 3)
    refused = run(*words)
    assert refused.exit_code == 2
    assert "add --impute median, or use a selector" in refused.stderr
    assert "relieff" in refused.stderr  # as --selector takes it
    assert run(*words, "--impute", impute).exit_code == 0


def test_categories_are_encoded_or_the_option_is_named(run, clinic):
    words = ("select", clinic, "--target", "kind", "--features", 2, "--cv", 3)
    refused = run(*words, "--impute", "median")
    assert refused.exit_code == 2
    assert "add --encode onehot" in refused.stderr
    for how in ENCODERS:
        assert run(*words, "--impute", "median", "--encode", how).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--impute", "medan"), "no --impute 'medan'; did you mean 'median'"),
        (("--scale", "big"), "There is no --scale 'big'"),
        (("--encode", "hot"), "There is no --encode 'hot'"),
        (("--encode", "onehot"), "all columns are numbers already"),
    ],
)
def test_what_cannot_be_prepared(run, table, words, said):
    result = run("select", table, "--target", "kind", *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_sparse_data_are_not_prepared():
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match="--scale standard is not for sparse data"):
        make_preparation(csr_array(np.eye(3)), None, "standard", None)


def test_a_pipeline_of_ours_ranks_as_the_selector_alone():
    """Scores may be equal up to rounding, and a search has none: order_ counts."""
    X, y = split(make_clinic().drop(columns=["grade", "sex"]))
    Z = StandardScaler().fit_transform(X.fillna(X.median()))
    expected = MRMR(3).fit(Z, y).order_[:3]
    everything = [(np.arange(len(y)), np.arange(len(y)))]
    procedure = Procedure(
        make_estimator("nb"), make_pipeline(StandardScaler(), MRMR()), (1, 2, 3)
    )
    (found,) = evaluate([procedure], X.fillna(X.median()), y, everything)
    assert np.array_equal(found.rankings[0].order, expected)
