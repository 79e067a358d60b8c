"""``veridical probabilities``, from the file to the verdict."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.report.markup import Page
from typer.testing import CliRunner

from veridical.cli import app
from veridical.datasets import make_beta_bernoulli
from veridical.evaluation import correction


@pytest.fixture
def weak(tmp_path):
    X, y = make_beta_bernoulli(80, 300, random_state=0)
    frame = pd.DataFrame(X).add_prefix("f").assign(label=np.where(y, "sick", "well"))
    path = tmp_path / "weak.csv"
    frame.to_csv(path, index=False)
    return path


def invoke(*words):
    return CliRunner().invoke(app, ["probabilities", *map(str, words)])


def test_it_says_what_the_library_says(weak, tmp_path):
    call = (weak, "--target", "label", "--features", 30)
    result = invoke(*call, "--cv", 5, "--json", "--out", tmp_path / "p.html")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    frame = pd.read_csv(weak)
    found = correction(
        frame.drop(columns="label"),
        frame["label"],
        n_features_to_select=30,
        cv=5,
        random_state=0,
    )
    assert content["kind"] == "correction"
    assert content["models"][0]["error"] == found.corrected.error
    assert content["models"][1]["expected_error"] == found.uncorrected.expected_error
    assert content["page"] == str(tmp_path / "p.html")
    assert "veridical probabilities" in content["settings"]["command"]
    text = Page((tmp_path / "p.html").read_text(encoding="utf-8")).text
    assert "Probabilities with and without the correction" in text


def test_terminal_output_has_the_numbers(weak):
    result = invoke(weak, "--target", "label", "--cv", 4)
    assert result.exit_code == 0, result.output
    for words in (
        "uncorrected",
        "Expected",
        "0.9 to 1.0",
        "Without the correction",
    ):
        assert words in result.stdout


def test_without_data_it_says_what_stands_in():
    result = invoke("--features", 20, "--cv", 3)
    assert result.exit_code == 0, result.output
    assert "Without DATA, this uses the beta-bernoulli source" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cv", "1"), "--cv 1 has no test set"),
        (("--cv", "10x5"), "use a number of folds, or loo"),
        (("--cv", "boot632"), "--cv boot632 does not test every sample once"),
        (("--cv", "many"), "There is no method 'many'"),
        (("--features", "0"), "--features 0"),
    ],
)
def test_what_makes_no_sense_is_refused(words, message):
    result = invoke(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not result.stdout


def test_the_advice_for_too_many_folds_can_be_followed(tmp_path):
    X, y = make_beta_bernoulli(16, 30, random_state=0)
    path = tmp_path / "few.csv"
    pd.DataFrame(X).add_prefix("f").assign(label=y).to_csv(path, index=False)
    common = (path, "--target", "label", "--features", 0.2)
    refused = invoke(*common, "--cv", 100)
    assert refused.exit_code == 2
    assert "--cv loo" in refused.stderr
    assert "LeaveOut" not in refused.stderr
    done = invoke(*common, "--cv", "loo", "--json")
    assert done.exit_code == 0, done.output
    settings = json.loads(done.stdout)["settings"]
    assert "leave-one-out" in settings["cross-validation"]
    assert "--features 6 --cv loo" in settings["command"]


def test_three_classes_are_refused(tmp_path):
    path = tmp_path / "three.csv"
    pd.DataFrame({"a": [0, 1] * 6, "y": list("uvw") * 4}).to_csv(path, index=False)
    result = invoke(path, "--target", "y")
    assert result.exit_code == 2
    assert "3 classes" in result.stderr
