"""``--validate``: train on one file, test on another."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from tests.cli.conftest import make_table

from veridical.evaluation.intervals import wilson
from veridical.learning import make_estimator
from veridical.selection import AnovaF


@pytest.fixture
def files(tmp_path):
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    frame = make_table(100)
    frame.insert(0, "id", [f"s{i}" for i in range(100)])
    frame[:60].to_csv(here, index=False)
    # Other order of columns, and one more.
    frame[60:].assign(more=1).iloc[:, ::-1].to_csv(there, index=False)
    return here, there


WORDS = ("--target", "kind", "--drop", "id")


def answer(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def expected(here, there, columns, name="nb"):
    first, second = pd.read_csv(here), pd.read_csv(there)
    model = make_estimator(name).fit(first[columns], first["kind"])
    return model.predict(second[columns]) == second["kind"].to_numpy()


def test_estimate_trains_here_and_tests_there(run, files, tmp_path):
    here, there = files
    page = tmp_path / "page.html"
    words = ("estimate", here, *WORDS, "--estimator", "nb", "--validate", there)
    result = run(*words, "--json", "--out", page)
    found = answer(result)
    hits = expected(here, there, [f"x{j}" for j in range(6)])
    (one,) = found["estimates"]
    assert one["value"] == hits.mean()
    low, high = wilson(hits.mean(), hits.size)
    (interval,) = one["intervals"]
    assert (interval["low"], interval["high"]) == pytest.approx((low, high))
    assert (
        found["data"]["n_samples"] == 40
    )  # the majority class is that of the test set
    assert "validation on there.csv (40 samples)" in page.read_text()
    assert "Column 'more' of there.csv is not used" in result.stderr
    again = answer(run(*shlex.split(found["settings"]["command"])[1:], "--json"))
    assert again["estimates"] == found["estimates"]


def test_the_page_of_a_selection_shows_no_folds(run, files, tmp_path):
    here, there = files
    words = ("select", here, *WORDS, "--selector", "anova", "--estimator", "nb")
    page = tmp_path / "page.html"
    for options, has_folds in ((("--validate", there), False), ((), True)):
        result = run(*words, *options, "--out", page)
        assert result.exit_code == 0, result.stderr
        shown = page.read_text()
        assert ("Selected in folds" in shown) == has_folds
        assert ("Selected in folds" in result.stdout) == has_folds
        assert ("Cross-validated accuracy" in shown) == has_folds


def test_curves_of_one_test_set_are_no_mean_of_folds(run, files, tmp_path):
    here, there = files
    words = ("estimate", here, *WORDS, "--estimator", "nb", "--scoring", "roc_auc")
    page = tmp_path / "page.html"
    for options, has_band in ((("--validate", there), False), (("--cv", 5), True)):
        result = run(*words, *options, "--out", page)
        assert result.exit_code == 0, result.stderr
        shown = page.read_text()
        assert "ROC curve" in shown
        assert ("mean of the folds with a 95 % band" in shown) == has_band


def test_out_writes_the_format_of_its_name(run, files, tmp_path):
    here, there = files
    words = ("select", here, *WORDS, "--selector", "anova", "--features", 2)
    path = tmp_path / "found.csv"
    result = run(*words, "--validate", there, "--out", path)
    assert result.exit_code == 0, result.stderr
    assert pd.read_csv(path)["rank"].tolist() == [1, 2]


def test_select_shows_the_features_of_the_training_file(run, files):
    here, there = files
    words = ("select", here, *WORDS, "--selector", "anova", "--features", 2)
    found = answer(run(*words, "--estimator", "nb", "--validate", there, "--json"))
    first = pd.read_csv(here)
    X = first[[f"x{j}" for j in range(6)]]
    order = AnovaF(2).fit(X, first["kind"]).order_[:2]
    assert [one["index"] for one in found["features"]] == order.tolist()
    hits = expected(here, there, X.columns[np.sort(order)].tolist())
    assert found["accuracy"] == hits.mean()
    assert found["is_validated"]
    assert (found["n_folds"], found["n_test"]) == (1, 40)
    assert found["interval"] == "wilson"
    assert "selected on the training samples" in " ".join(found["words"]["notes"])


@pytest.mark.parametrize(
    ("options", "test"),
    [
        ((), "exact McNemar"),
        (("--scoring", "roc_auc,sensitivity"), "DeLong"),
        (("--scoring", "log_loss"), "jackknife"),
        (("--test", "jackknife"), "jackknife"),
        (("--weights", "x5"), "jackknife"),
    ],
)
def test_compare_trains_here_and_tests_there(run, files, tmp_path, options, test):
    here, there = files
    for path in files:
        frame = pd.read_csv(path)
        frame["x5"] = np.arange(len(frame)) % 3 + 1
        frame.to_csv(path, index=False)
    page = tmp_path / "page.html"
    words = ("compare", here, *WORDS, "--selectors", "anova,variance")
    words = (
        *words,
        "--features",
        1,
        "--estimator",
        "nb",
        "--validate",
        there,
        *options,
    )
    result = run(*words, "--json", "--out", page)
    found = answer(result)
    (method,) = found["methods"]
    assert (method["method"], method["unit"]) == ("in", "test set")
    assert method["difference"]["test"] == test
    assert found["data"]["n_samples"] == 40
    first = pd.read_csv(here)
    columns = [f"x{j}" for j in range(5 if "--weights" in options else 6)]
    X = first[columns]
    order = AnovaF(1).fit(X, first["kind"]).order_[:1]
    if not options:
        hits = expected(here, there, X.columns[order].tolist())
        assert method["a"]["value"] == hits.mean()
        bounds = wilson(hits.mean(), 40)
        assert (method["a"]["low"], method["a"]["high"]) == pytest.approx(bounds)
    shown = page.read_text()
    assert "validation on there.csv (40 samples)" in shown
    assert "inside every fold" not in shown
    assert "every training fold" not in shown
    again = answer(run(*shlex.split(found["settings"]["command"])[1:], "--json"))
    assert again["methods"] == found["methods"]


@pytest.mark.parametrize("verb", ["audit", "choose", "discover", "probabilities"])
def test_other_verbs_name_those_that_validate(run, files, verb):
    here, there = files
    result = run(verb, here, *WORDS, "--validate", there)
    assert result.exit_code == 2
    assert "estimate, select and compare" in result.stderr
    assert "--validate" not in run(verb, "--help").stdout


def test_compare_refuses_what_one_test_set_cannot_have(run, files):
    here, there = files
    words = ("compare", here, *WORDS, "--validate", there)
    for options, said in (
        (("--selectors", "anova,relieff,fcbf"), "name two"),
        (("--cv", "5"), "exclude each other"),
        (("--test", "corrected-t"), "with --validate leave --test out"),
        (("--test", "paired-t"), "use mcnemar, delong or jackknife"),
        (("--test", "conservative-z"), "--test conservative-z needs several splits"),
        (("--test", "delong"), "scoring='roc_auc'"),
        (("--calibrated",), "no calibrated form"),
    ):
        result = run(*words, *options)
        assert result.exit_code == 2, options
        assert said in result.stderr


def test_nothing_is_learned_from_the_second_file(run, files):
    """Values and classes there change the score alone."""
    here, there = files
    words = ("select", here, *WORDS, "--features", 2, "--scale", "standard")
    words = (*words, "--validate", there, "--json")
    before = answer(run(*words))
    frame = pd.read_csv(there)
    for j in range(6):
        frame[f"x{j}"] = 1000.0 * np.arange(40)
    frame.to_csv(there, index=False)
    after = answer(run(*words))
    assert after["features"] == before["features"]
    assert after["accuracy"] != before["accuracy"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop(columns="x3"), "there.csv lacks column 'x3' of here.csv"),
        (lambda f: f.rename(columns={"x3": "x33"}), "did you mean"),
        (lambda f: f.assign(x3="high"), "'x3' holds numbers in here.csv, but text"),
        (
            lambda f: f.replace({"kind": {"yes": "maybe"}}),
            "there.csv has class 'maybe', which here.csv does not have",
        ),
        (lambda f: f.drop(columns="kind"), "no column 'kind'"),
        (lambda f: f.assign(kind="yes"), "only one class"),
    ],
)
def test_files_that_do_not_fit(run, files, change, said):
    here, there = files
    change(pd.read_csv(there)).to_csv(there, index=False)
    result = run("estimate", here, *WORDS, "--validate", there)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--validate", "nowhere.csv"), "There is no file nowhere.csv"),
        (("--validate", "there.csv", "--cv", "5"), "exclude each other"),
    ],
)
def test_options_that_do_not_fit(run, files, monkeypatch, words, said):
    monkeypatch.chdir(files[0].parent)
    for verb in ("select", "estimate"):
        result = run(verb, "here.csv", *WORDS, *words)
        assert result.exit_code == 2
        assert said in result.stderr


def test_columns_without_names_cannot_be_matched(run, files):
    here, there = files
    for path in files:
        pd.read_csv(path).rename(columns={"kind": "y"}).to_csv(path, index=False)
    frame, bare = pd.read_csv(there), there.with_suffix(".npz")
    np.savez(bare, X=frame[["x0", "x1"]].to_numpy(), y=frame["y"].to_numpy(str))
    result = run("estimate", here, "--target", "y", "--drop", "id", "--validate", bare)
    assert result.exit_code == 2
    assert "but those of there.npz have none" in result.stderr


def test_there_must_be_a_file_to_train_on(run):
    result = run("select", "--validate", "there.csv")
    assert result.exit_code == 2
    assert "veridical select DATA --validate there.csv" in result.stderr


def test_categories_and_whole_classes(run, files):
    """Categories that only one file has, and classes that are numbers."""
    here, there = files
    for path, grades in ((here, ["I", "II"]), (there, ["II", "III"])):
        frame = pd.read_csv(path)
        frame["grade"] = np.resize(grades, len(frame))
        frame["kind"] = (frame["kind"] == "yes").astype(int)
        frame.to_csv(path, index=False)
    words = ("select", here, *WORDS, "--encode", "onehot", "--impute", "mean")
    found = answer(run(*words, "--features", 3, "--validate", there, "--json"))
    assert [one["name"] for one in found["classes"]] == ["0", "1"]
    assert found["n_test"] == 40


def _with_subjects(files, labels):
    for path, own in zip(files, labels, strict=True):
        pd.read_csv(path).assign(patient=own).to_csv(path, index=False)


@pytest.mark.parametrize("named", [True, False])
def test_subjects_of_the_second_file_are_groups_too(run, files, named):
    """Named or recognised: an interval counts the subjects of the test set."""
    here, there = files
    first = [f"A{i}" for i in np.arange(60) // 3]
    second = [f"B{i}" for i in np.arange(40) // 4]
    _with_subjects(files, (first, second))
    words = ("estimate", here, *WORDS, "--estimator", "nb", "--validate", there)
    result = run(*words, "--json", *(("--groups", "patient") if named else ()))
    found = answer(result)
    assert result.stderr.count("names 20 subjects") == (not named)
    assert "names 10 subjects" not in result.stderr
    (interval,) = found["estimates"][0]["intervals"]
    assert interval["kind"] == "cluster-wilson"
    scored = answer(run(*words, "--json", "--scoring", "roc_auc"))
    (area,) = scored["estimates"][0]["intervals"]
    assert area["kind"] == "jackknife"
    for text in (interval["assumes"], area["assumes"]):
        assert "groups" in text
        assert "(with" not in text
    plain = answer(run(*words, "--json", "--groups", "none", "--drop", "patient"))
    (other,) = plain["estimates"][0]["intervals"]
    assert other["kind"] == "wilson"
    assert (interval["low"], interval["high"]) != (other["low"], other["high"])
    hits = expected(here, there, [f"x{j}" for j in range(6)])
    # With groups: the spread between ten subjects.
    sums = (hits - hits.mean()).reshape(10, 4).sum(axis=1)
    variance = 10 / 9 * (sums**2).sum() / 40**2
    share = hits.mean()
    n = np.clip(share * (1 - share) / variance, 10, 40)
    from veridical.evaluation.intervals import cluster_wilson

    bounds = cluster_wilson(share, n, 10)
    assert (interval["low"], interval["high"]) == pytest.approx(bounds)


def test_subjects_are_recognised_in_the_second_file_alone(run, files):
    here, there = files
    _with_subjects(
        files, ([f"A{i}" for i in range(60)], [f"B{i}" for i in np.arange(40) // 4])
    )
    words = ("estimate", here, *WORDS, "--drop", "patient", "--estimator", "nb")
    result = run(*words, "--validate", there, "--json")
    found = answer(result)
    assert "'patient' of there.csv names 10 subjects" in result.stderr
    (interval,) = found["estimates"][0]["intervals"]
    assert interval["kind"] == "cluster-wilson"


@pytest.mark.parametrize("options", [(), ("--groups", "patient")])
@pytest.mark.parametrize("verb", ["estimate", "select", "compare"])
def test_a_subject_in_both_files_is_an_error(run, files, verb, options):
    here, there = files
    first = [f"A{i}" for i in np.arange(60) // 3]
    second = [f"B{i}" for i in np.arange(36) // 4] + ["A3"] * 4
    _with_subjects(files, (first, second))
    result = run(verb, here, *WORDS, "--validate", there, *options)
    assert result.exit_code == 2
    assert "Group 'A3' is in here.csv and in there.csv" in result.stderr
    assert "Remove them from one of the files" in result.stderr


@pytest.mark.parametrize("verb", ["estimate", "select", "compare"])
def test_a_file_is_not_tested_on_itself(run, files, verb):
    here, _ = files
    result = run(verb, here, *WORDS, "--validate", here)
    assert result.exit_code == 2
    assert "Every sample of here.csv has the same target" in result.stderr
    assert "name a file of other samples" in result.stderr


def test_samples_that_are_in_both_files_are_counted(run, files, tmp_path):
    """Not those of which a value or the target differs; missing values are equal."""
    here, there = files
    first, second = pd.read_csv(here), pd.read_csv(there)
    first.loc[0, "x1"] = np.nan
    first.to_csv(here, index=False)
    more = first[:5].copy()
    more.loc[3, "x0"] += 1e-9
    more.loc[4, "kind"] = {"yes": "no", "no": "yes"}[more.loc[4, "kind"]]
    more["id"] = [f"t{i}" for i in range(5)]
    pd.concat([second, more]).to_csv(there, index=False)
    page = tmp_path / "page.html"
    words = ("estimate", here, *WORDS, "--impute", "median", "--estimator", "nb")
    result = run(*words, "--validate", there, "--out", page)
    assert result.exit_code == 0
    said = "3 of 45 samples of there.csv have the same target"
    assert said in " ".join(result.stderr.split())
    assert "there.csv (45 samples, 3 equal to samples of here.csv)" in page.read_text()
    first[40:].to_csv(there, index=False)
    result = run(*words, "--validate", there)
    assert result.exit_code == 2


def test_samples_of_few_different_values_may_be_equal(run, files):
    here, there = files
    for path in files:
        frame = pd.read_csv(path)
        frame["x0"] = (frame["x0"] > 0).astype(int)
        frame[["id", "x0", "kind"]].to_csv(path, index=False)
    result = run("estimate", here, *WORDS, "--estimator", "nb", "--validate", there)
    assert result.exit_code == 0
    assert "40 of 40 samples of there.csv" in " ".join(result.stderr.split())
