"""Numbers and survival times on the command line."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from veridical.datasets import make_linear_regression, make_survival, read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a table of numbers and one of survival times."""
    where = tmp_path_factory.mktemp("targets")
    X, y = make_linear_regression(60, 6, 3, r2=0.8, random_state=0)
    names = [f"gene{j}" for j in range(6)]
    frame = pd.DataFrame(X, columns=names).assign(pressure=y)
    frame["whole"] = np.arange(60) % 30
    frame.to_csv(where / "numbers.csv", index=False)
    X, y = make_survival(80, 6, 3, strength=2.0, random_state=0)
    frame = pd.DataFrame(X, columns=names)
    frame["days"], frame["died"] = y["time"], np.where(y["event"], "yes", "no")
    frame["code"] = y["event"].astype(int)
    frame.to_csv(where / "survival.csv", index=False)
    return where


def _json(run, *words):
    result = run(*words, "--json", "--quiet")
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def test_a_number_is_estimated_by_ridge_regression(run, folder):
    found = _json(
        run, "estimate", folder / "numbers.csv", "--target", "pressure", "--drop",
        "whole", "--cv", "5",
    )  # fmt: skip
    assert found["estimator"] == "ridge"
    assert found["data"]["target"] == "numbers"
    assert found["data"]["chance"] is None
    assert found["estimates"][0]["value"] > 0.5


def test_a_survival_time_is_estimated_by_the_cox_model(run, folder):
    words = ["--time", "days", "--event", "died", "--drop", "code", "--cv", "5"]
    found = _json(run, "estimate", folder / "survival.csv", *words)
    assert found["estimator"] == "cox"
    assert found["estimates"][0]["value"] > 0.7
    assert "--time days --event died" in found["settings"]["command"]


def test_a_survival_time_is_chosen_for_and_discovered(run, folder):
    words = [folder / "survival.csv", "--time", "days", "--event", "died"]
    words += ["--drop", "code"]
    few = ["--selectors", "cox-score", "--features", "2", "--cv", "3"]
    found = _json(run, "choose", *words, *few, "--correction", "bbc")
    assert found["data"]["target"] == "survival"
    assert "--time days --event died" in found["settings"]["command"]
    found = _json(run, "discover", *words, "--permutations", "99")
    assert found["selector"] == "cox-score"
    assert "survival times" in found["words"]["measured"]
    assert "--time days --event died" in found["settings"]["command"]


def test_survival_times_are_compared_by_selectors_that_read_them(run, folder):
    words = [folder / "survival.csv", "--time", "days", "--event", "died"]
    found = _json(run, "compare", *words, "--drop", "code", "--cv", "3")
    assert list(found["names"].values()) == ["ReliefF", "CoxScore"]


def test_data_show_describes_every_target(run, folder):
    numbers, times = folder / "numbers.csv", folder / "survival.csv"
    found = _json(run, "data", "show", numbers, "--target", "pressure")
    assert (found["target"], found["classes"]) == ("numbers", {})
    assert "mean" in found["outcome"]
    words = ["--time", "days", "--event", "died"]
    assert _json(run, "data", "show", times, *words)["target"] == "survival"
    shown = run("data", "show", times, *words).stdout
    assert re.search(r"Target of survival times: \d+ events, \d+ censored", shown)
    assert "Classes: no" in run("data", "show", times, "--target", "died").stdout
    whole = [numbers, "--target", "whole"]
    assert "--numbers" in run("data", "show", *whole).stderr
    assert _json(run, "data", "show", *whole, "--numbers")["target"] == "numbers"
    assert len(_json(run, "data", "show", *whole, "--classes")["classes"]) == 30


def test_whole_numbers_are_numbers_if_one_says_so(run, folder):
    data = folder / "numbers.csv"
    words = ["--target", "whole", "--drop", "pressure", "--cv", "5"]
    asked = run("estimate", data, *words)
    assert asked.exit_code == 2
    assert "add --numbers" in asked.stderr
    for option in (["--numbers"], ["--estimator", "knn"]):
        found = _json(run, "estimate", data, *words, *option)
        assert found["data"]["target"] == "numbers"


def test_the_file_is_read_with_time_and_event(folder):
    X, y = read(folder / "survival.csv", time="days", event="died")
    assert list(X.columns) == [*(f"gene{j}" for j in range(6)), "code"]
    assert y.dtype.names == ("event", "time")
    assert 0 < y["event"].mean() < 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--time", "days"], "--time needs --event"),
        (["--event", "died"], "--event needs --time"),
        (["--time", "days", "--event", "died", "--numbers"], "say different things"),
        (["--time", "days", "--event", "dead"], "no column 'dead'.*did you mean"),
        (["--time", "days", "--event", "gene1"], "must be 1 .*or 0"),
        (["--time", "gene1", "--event", "died"], "must be positive"),
        (["--time", "days", "--event", "days"], "given for the time and for the event"),
        (["--time", "code", "--event", "days"], "'code' are 0 and 1, .* swapped"),
        (["--time", "died", "--event", "code"], "'(yes|no)' in row 0, counted from 0"),
        (["--target", "died", "--numbers"], "must be numbers, but row 0"),
        (
            ["--time", "days", "--event", "died", "--estimator", "svm"],
            "linear SVM learns classes, but.*cox",
        ),
    ],
)
def test_bad_targets_end_with_status_2(run, folder, words, message):
    result = run("estimate", folder / "survival.csv", *words)
    assert result.exit_code == 2
    flat = " ".join(result.stderr.split())
    assert re.search(message, flat), flat


def test_a_word_among_measurements_is_no_class(run, folder, tmp_path):
    frame = pd.read_csv(folder / "numbers.csv").astype({"pressure": object})
    frame.loc[[4, 9], "pressure"] = "not done"
    frame.to_csv(tmp_path / "words.csv", index=False)
    words = [tmp_path / "words.csv", "--target", "pressure", "--cv", "3"]
    result = run("estimate", *words)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "are numbers, but that in row 4, counted from 0, is 'not done'" in said
    assert "(and 1 more such row" in said
    assert "add --classes" in said
    found = _json(run, "data", "show", *words[:3], "--classes")
    assert found["classes"]["not done"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"days": (4, 0.0)}, "time .* must be positive, but it is 0.0 in row 4"),
        ({"days": (4, np.nan)}, r"target is missing in line 6 \(column 'days'"),
        ({"died": (4, None)}, "event is missing in row 4"),
        ({"died": (slice(None), "no")}, "has no event: all 80 times are censored"),
    ],
)
def test_bad_times_and_events_name_the_row(run, folder, tmp_path, change, message):
    frame = pd.read_csv(folder / "survival.csv")
    for column, (rows, value) in change.items():
        frame.loc[rows, column] = value
    frame.to_csv(tmp_path / "bad.csv", index=False)
    words = ["--time", "days", "--event", "died", "--drop", "code"]
    for verb in ("estimate", "select", "choose", "discover"):
        result = run(verb, tmp_path / "bad.csv", *words)
        assert result.exit_code == 2
        assert re.search(message, " ".join(result.stderr.split())), result.stderr


@pytest.mark.parametrize(
    ("words", "estimators"),
    [
        (["survival.csv", "--time", "days", "--event", "died"], {"ridge Cox model"}),
        (
            ["numbers.csv", "--target", "pressure"],
            {"ridge regression", "regression tree"},
        ),
    ],
)
def test_choose_has_candidates_for_a_prepared_target(run, folder, words, estimators):
    words = [folder / words[0], *words[1:], "--impute", "mean", "--cv", "3"]
    found = _json(run, "choose", *words, "--features", "1", "--correction", "bbc")
    assert {one["estimator"] for one in found["candidates"]} >= estimators
