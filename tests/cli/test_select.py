"""``veridical select``."""

import json

import numpy as np
import pytest
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page

from veridical import report
from veridical._core.records import DataSummary, Interval
from veridical.datasets import read
from veridical.evaluation.records import (
    ClassResult,
    Coverage,
    SelectedFeature,
    Selection,
)
from veridical.evaluation.selecting import select
from veridical.report.views.selection import make_curves
from veridical.selection import SELECTORS


def test_features_of_a_table_are_shown_and_written(run, table, tmp_path):
    out = tmp_path / "page.html"
    done = run(
        "select", table, "--target", "kind", "--selector", "relieff",
        "--features", 2, "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "With 2 features by ReliefF, linear SVM classifies" in " ".join(
        done.output.split()
    )
    page = Page(out.read_text())
    assert page.headings[0][1].startswith("With 2 features by ReliefF")
    assert "x0" in page.text
    assert "yes" in page.text
    assert "veridical select" in page.text


def test_json_is_what_the_library_computes(run, table):
    done = run(
        "select", table, "--target", "kind", "--selector", "ddp", "--alpha", "auto",
        "--features", 3, "--cv", 3, "--seed", 4, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    X, y = read(table, "kind")
    selector = SELECTORS["ddp"](alpha="auto")
    direct = select(selector, X, y, n_features_to_select=3, cv=3, random_state=4)
    assert found["accuracy"] == direct.accuracy.value
    assert [f["name"] for f in found["features"]] == [f.name for f in direct.features]
    assert found["fold_alphas"] == list(direct.fold_alphas)
    assert len(found["alphas"]) == 10
    assert found["page"] is None
    assert {c["name"] for c in found["classes"]} == {"yes", "no"}
    again = run(*found["settings"]["command"].split()[1:], "--json")
    assert json.loads(again.stdout) == found


def test_without_data_it_says_what_it_runs_on(run):
    done = run("select", "--selector", "anova", "--features", 5)
    assert done.exit_code == 0
    assert done.output.startswith("Without DATA, this uses the linear source")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--selector", "dpp"], "did you mean 'ddp'"),
        (["--selector", "mrmr", "--alpha", "0.3"], "--alpha is for ddp"),
        (["--selector", "ddp", "--alpha", "2"], "must be a number in (0, 1], or auto"),
        (["--selector", "ddp", "--alpha", "much"], "must be a number"),
        (["--selector", "ddp", "--relevance", "some"], "one-vs-all"),
        (["--features", "0"], "selects nothing"),
        (["--cv", "1"], "has no test set"),
        (["--jobs", "0"], "--jobs 0"),
        (["--seed", "-1"], "below 0"),
        (["--target", "kind"], "there is no file"),
        (["--estimator", "cart"], "no estimator 'cart'"),
        (["nowhere.csv", "--target", "kind"], "nowhere.csv"),
    ],
)
def test_bad_input_is_a_sentence(run, argv, words):
    done = run("select", *argv)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


# -- the page ------------------------------------------------------------------------


def record(name="gene", **changes):
    parts = {
        "data": DataSummary(name, 40, 9, {name: 30, f"{name}2": 10}, (name,) * 9),
        "selector": name,
        "estimator": name,
        "features": tuple(SelectedFeature(j, name, 1.5, 3) for j in range(3)),
        "accuracy": Interval(0.9, 0.8, 0.95),
        "n_test": 40,
        "n_folds": 5,
        "classes": (ClassResult(name, 30, 0.95), ClassResult(f"{name}2", 10, 0.75)),
        "sizes": (1, 2, 3),
        "size_accuracy": (0.5, 0.7, 0.9),
        "paths": {"antiredundancy": (0.0, 0.4, 0.5)},
        "alphas": (0.5, 1.0),
        "alpha_accuracy": (0.8, 0.7),
        "alpha": 0.5,
        "fold_alphas": (0.5,) * 5,
        "notes": (name,),
        "settings": {"command": name},
    }
    return Selection(**{**parts, **changes})


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_becomes_markup(payload):
    plain, hostile = Page(report.page(record())), Page(report.page(record(payload)))
    assert hostile.elements == plain.elements
    assert hostile.other == plain.other


@pytest.mark.parametrize(
    ("low", "high", "belief", "words"),
    [
        (0.8, 0.95, "yes", "clearly more than the 75.0 %"),
        (0.7, 0.95, "open", "not shown to be more than"),
        (0.5, 0.7, "no", "less than the 75.0 %"),
    ],
)
def test_the_headline_compares_with_chance(low, high, belief, words):
    covered = Coverage(0.93, 0.99, "10 folds", 0.95)
    accuracy = Interval(0.72, low, high)
    summary = report.to_json(record(accuracy=accuracy, coverage=covered))
    assert summary["words"]["belief"] == belief
    assert words in summary["words"]["headline"]


def test_best_and_worst_class_are_told_only_where_they_differ():
    def words(*accuracies):
        classes = [ClassResult(f"c{k}", 9, a) for k, a in enumerate(accuracies)]
        return report.to_json(record(classes=tuple(classes)))["words"]["evidence"]

    said = "highest for class c1 (90.0 %) and lowest for class c0 (80.0 %)."
    assert f"The accuracy is {said}" in words(0.8, 0.9)
    said = "highest for classes c1 and c2 (90.0 %) and lowest for class c0"
    assert said in words(0.8, 0.9, 0.9)
    assert "lowest for 4 classes (80.0 %)" in words(0.9, 0.8, 0.8, 0.8, 0.8)
    assert "Every class has the same accuracy, 100.0 %." in words(1.0, 1.0)


def test_the_summary_is_json_and_keeps_the_numbers():
    summary = report.to_json(
        record(features=(SelectedFeature(4, "g", float("inf"), 2),))
    )
    json.dumps(summary, allow_nan=False)
    assert summary["features"] == [
        {
            "rank": 1,
            "index": 4,
            "name": "g",
            "score": None,
            "n_folds": 2,
            "support": "weak",
        }
    ]
    assert summary["sizes"][1] == {"size": 2, "accuracy": 0.7}
    assert summary["alphas"][0] == {"alpha": 0.5, "accuracy": 0.8}


def test_a_record_saves_its_own_page(tmp_path):
    path = record().save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == report.page(record())


def test_axes_name_few_places():
    sizes = tuple(range(1, 101))
    drawn = make_curves(
        record(sizes=sizes, size_accuracy=tuple(np.linspace(0.5, 1, 100)))
    )
    named = [place for place in drawn[0].sections[0][1] if place]
    assert named[0] == "1"
    assert named[-1] == "100"
    assert 5 <= len(named) <= 13
