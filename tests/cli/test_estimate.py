"""``veridical estimate`` from a file to a table, a page or JSON."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from veridical.cli import estimate as verb
from veridical.datasets import make_linear, make_random_labels, read
from veridical.evaluation import (
    CrossValidation,
    default_interval,
    estimate,
)
from veridical.evaluation.arguments import make_selector
from veridical.evaluation.naming import make_method
from veridical.learning import make_estimator
from veridical.report.views.estimates import EstimatesSummary

FEW = ("--cv", "5,holdout")


def answer(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_table_sentence_and_page(run, table, tmp_path):
    out = tmp_path / "page.html"

    result = run("estimate", table, "--target", "kind", *FEW, "--out", out)

    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for words in (
        "Accuracy of C4.5 (table.csv: 60 samples, 6 features, 2 classes; majority "
        "class 50.0 %)",
        "stratified 5-fold cross-validation",
        "C4.5 classifies",
        "the Wilson interval assumes that test samples are independent draws",
        "Measured",
        "95 % corrected t interval",
        "95 % intervals covered the truth in",
    ):
        assert words in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1] == f"The report is in {out}"
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert hashlib.sha256(table.read_bytes()).hexdigest() in page


def test_json_and_nothing_else(run, table, tmp_path):
    out = tmp_path / "page.html"

    result = run(
        "estimate", table, "--target", "kind", "--estimator", "nb", *FEW, "--json",
        "--out", out,
    )  # fmt: skip

    found = answer(result)
    assert result.stderr == ""
    assert set(found) == set(EstimatesSummary.__annotations__) | {"page"}
    assert found["page"] == str(out)
    assert found["truth"] is None
    X, y = read(table, "kind")
    for shown, name in zip(found["estimates"], ("5", "holdout"), strict=True):
        expected = estimate(
            make_estimator("nb"), X, y, cv=make_method(name), random_state=0
        )
        assert shown["value"] == expected.value
        kind = default_interval(expected)
        assert shown["intervals"][0]["kind"] == kind
        assert tuple(
            shown["intervals"][0][end] for end in ("low", "high")
        ) == expected.interval(kind=kind)


@pytest.mark.parametrize("estimator", ["c45", "nb", "svm", "1nn", "logistic"])
def test_every_learner(run, table, estimator):
    found = answer(
        run(
            "estimate",
            table,
            "--target",
            "kind",
            "--estimator",
            estimator,
            *FEW,
            "--json",
        )
    )

    assert found["estimator"] == estimator
    assert found["estimates"][0]["value"] > 0.6


def test_leave_one_out_with_the_majority_is_explained(run, table):
    result = run(
        "estimate", table, "--target", "kind", "--estimator", "majority",
        "--cv", "loo,10", "--json",
    )  # fmt: skip

    out, ten = answer(result)["estimates"]
    assert (out["value"], ten["value"]) == (0.0, 0.5)
    assert "makes another class more frequent" in out["notes"][0]


def test_a_data_set_by_name_takes_another_class(run, table, monkeypatch):
    monkeypatch.setenv("VERIDICAL_DATA", str(table.parent))
    by_file = answer(run("estimate", table, "--target", "kind", *FEW, "--json"))

    by_name = answer(run("estimate", table.stem, "--target", "kind", *FEW, "--json"))
    assert by_name["estimates"] == by_file["estimates"]
    wrong = run("estimate", table.stem, "--target", "knid", *FEW)
    assert wrong.exit_code == 2
    assert "has no column 'knid'" in wrong.stderr


def test_the_command_on_the_page_repeats_the_run(run, table):
    first = run(
        "estimate", table, "--target", "kind", "--selector", "anova", "--estimator",
        "nb", "--cv", "3,boot632+-5", "--nested", "--seed", 7, "--json",
    )  # fmt: skip
    found = answer(first)
    command = shlex.split(found["settings"]["command"])
    assert command[0] == "veridical"

    assert answer(run(*command[1:], "--json")) == found
    # Half of what there is.
    assert found["estimator"] == "naive Bayes on 3 features by AnovaF"
    kinds = [b["kind"] for b in found["estimates"][0]["intervals"]]
    assert kinds == ["nested", "wilson", "corrected-t"]


def test_processes_do_not_matter(run, table):
    options = ("estimate", table, "--target", "kind", "--cv", "4", "--json")

    assert answer(run(*options)) == answer(run(*options, "--jobs", 2))


def test_usual_methods_leave_one_out_only_where_that_is_cheap(run, table, monkeypatch):
    options = ("estimate", table, "--target", "kind", "--estimator", "nb", "--json")

    def methods():
        return [e["method"] for e in answer(run(*options))["estimates"]]

    assert methods()[-1] == "leave-one-out"
    monkeypatch.setattr(verb, "MOST_LEFT_OUT", 59)
    assert len(methods()) == 3
    assert "leave-one-out" not in methods()


# ---- selection inside every split --------------------------------------------------


def test_selection_is_repeated_in_every_split(run, tmp_path):
    """Labels that mean nothing: selecting once would shine, selecting anew does not.

    In this sample it comes out at 67 %, where Wilson's interval alone would claim it.
    """
    X, y = make_random_labels(60, n_features=1000, random_state=1)
    path = tmp_path / "noise.npz"
    np.savez(path, X=X, y=y)

    found = answer(
        run(
            "estimate", path, "--selector", "anova", "--features", 10, "--estimator",
            "nb", "--cv", "10", "--json",
        )
    )  # fmt: skip

    pipeline = make_pipeline(
        make_selector("anova", n_features_to_select=10), make_estimator("nb")
    )
    expected = estimate(pipeline, X, y, cv=make_method("10"), random_state=0)
    assert found["estimates"][0]["value"] == expected.value < 0.7
    assert found["words"]["belief"] == "open"
    assert "selected on every training set" in found["settings"]["selection"]


def test_categorical_columns_reach_the_learner_behind_a_selector(run, tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.choice(["red", "green", "blue"], 90)
    frame = pd.DataFrame({"noise": rng.normal(size=90).round(2), "colour": kind})
    frame["class"] = np.where(kind == "red", "stop", "go")
    path = tmp_path / "colours.csv"
    frame.to_csv(path, index=False)

    found = answer(
        run("estimate", path, "--target", "class", "--selector", "information-gain",
            "--features", 1, "--cv", "3", "--json")
    )  # fmt: skip

    assert found["estimates"][0]["value"] == 1.0


@pytest.mark.parametrize("selection", [(), ("--selector", "anova")])
def test_sparse_matrices(run, tmp_path, selection):
    X, y = make_linear(60, random_state=0)
    X = sparse.csr_array(np.where(X > 0.5, X, 0))
    path = tmp_path / "counts.npz"
    np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)

    found = answer(
        run("estimate", path, "--estimator", "nb", *selection, "--cv", "3",
            "--json")
    )  # fmt: skip

    assert found["data"]["n_features"] == 60
    assert " at 0x" not in found["settings"]["estimator"]


# ---- failures that are explained -----------------------------------------------


def test_memorising_estimator_is_noticed(run, table):
    result = run("estimate", table, "--target", "kind", "--estimator", "1nn",
                 "--cv", "boot632-10,5")  # fmt: skip

    said = " ".join(result.stdout.split())
    assert "has memorised its training samples" in said
    assert "Use --cv boot632+ or --cv 10." in said
    assert "Bootstrap632" not in said
    assert "1-NN classifies" in result.stdout
    assert "by stratified 5-fold cross-validation" in result.stdout


def test_majority_classifier_is_noticed_under_leave_one_out(run, tmp_path):
    rows = "\n".join(f"1,{label}" for label in ["a", "b"] * 20)
    path = tmp_path / "flat.csv"
    path.write_text(f"x,class\n{rows}\n")

    found = answer(
        run("estimate", path, "--target", "class", "--cv", "loo,10", "--json")
    )

    loo, cv = found["estimates"]
    assert (loo["value"], cv["value"]) == (0.0, 0.5)
    assert any("leaving samples of a class out" in note for note in loo["notes"])
    assert any("Use --cv 10, which is" in note for note in loo["notes"])
    assert "CrossValidation" not in json.dumps(found["words"])


def test_a_doubt_is_told_once(run, table):
    """The library warns and notes; the command line shows the note."""
    text = table.read_text().replace("yes", "rare", 1)
    table.write_text(text)

    result = run("estimate", table, "--target", "kind", "--cv", "5")

    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.count("fewer than the 5 folds") == 1


def test_other_warnings_are_told_once(run, table, monkeypatch):
    import veridical.evaluation

    measure = veridical.evaluation.estimate

    def warn(*arguments, **options):
        for _ in range(3):
            warnings.warn("The light is dim.", UserWarning, stacklevel=1)
        return measure(*arguments, **options)

    monkeypatch.setattr(veridical.evaluation, "estimate", warn)
    result = run("estimate", table, "--target", "kind", "--cv", "holdout")

    assert result.stderr == "Note: The light is dim.\n"


# ---- a source whose truth is known -----------------------------------------------


def test_without_data_the_truth_is_known(run, monkeypatch):
    monkeypatch.setattr(verb, "N_FRESH", 3000)
    plain = run("estimate", "--estimator", "nb", *FEW)
    found = answer(run("estimate", "--estimator", "nb", *FEW, "--json"))

    assert plain.stdout.startswith("Without DATA, this uses the linear source")
    assert "the truth" in plain.stdout
    assert found["words"]["belief"] == "known"
    assert found["data"]["n_samples"] == 125
    truth = found["truth"]
    assert truth["n_test"] == 3000
    X, y = make_linear(125, random_state=0)
    model = make_estimator("nb").fit(X, y)
    fresh = make_linear(50_000, random_state=99)
    right = np.mean(model.predict(fresh[0]) == fresh[1])
    bounds = truth["intervals"][0]
    reach = bounds["high"] - bounds["low"]  # twice the interval's half: 4 errors
    assert abs(right - truth["value"]) < reach
    for shown in found["estimates"]:
        assert shown["off"] == pytest.approx(shown["value"] - truth["value"])


def test_the_fresh_samples_are_not_the_training_samples():
    train = make_linear(125, random_state=0)[0]
    rng = np.random.default_rng([0, 1])

    assert not np.isin(make_linear(verb.N_FRESH, random_state=rng)[0], train).any()


def test_repeats_come_before_folds(run, table):
    found = answer(run("estimate", table, "--target", "kind", "--cv", "2x3", "--json"))

    X, y = read(table, "kind")
    expected = estimate(
        make_estimator("c45"), X, y, cv=CrossValidation(3, n_repeats=2),
        random_state=0,
    )  # fmt: skip
    assert found["estimates"][0]["value"] == expected.value
    assert found["estimates"][0]["method"] == expected.method


# ---- lists of words ----------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["--cv", "3,holdout"],
        ["--cv", "3", "--cv", "holdout"],
        ["--cv=3, holdout"],
        ["--cv", "3,holdout,3"],
    ],
)
def test_ways_to_write_a_list(run, table, words):
    found = answer(run("estimate", table, "--target", "kind", *words, "--json"))

    assert [e["method"] for e in found["estimates"]] == [
        "stratified 3-fold cross-validation",
        "holdout",
    ]


@pytest.mark.parametrize("dashes", [(), ("--",)])
def test_a_file_may_come_after_a_list(run, table, monkeypatch, dashes):
    monkeypatch.chdir(table.parent)

    found = answer(
        run("estimate", "--target", "kind", "--json", "--cv", "3", *dashes,
            "table.csv")
    )  # fmt: skip

    assert found["data"]["name"] == "table.csv"


def test_brackets_in_names_are_not_markup(run, table, tmp_path):
    odd = table.rename(tmp_path / "[bold red]odd.csv")

    result = run("estimate", odd, "--target", "kind", "--cv", "3")

    assert "[bold red]odd.csv: 60 samples" in result.stdout
    assert os.listdir(tmp_path) == ["[bold red]odd.csv"]


def test_several_scores_and_what_was_not_measured(run, table):
    options = ("--target", "kind", "--estimator", "nb", "--cv", "5")
    result = run("estimate", table, *options, "--scoring", "balanced_accuracy,mcc")
    assert result.exit_code == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "Other scores of the same predictions" in said
    found = answer(
        run("estimate", table, *options, "--scoring", "balanced_accuracy", "--json")
    )
    assert found["scoring"]["label"] == "balanced accuracy"
    assert "--scoring balanced_accuracy" in found["settings"]["command"]
    wrong = run("estimate", table, *options, "--scoring", "balanced_acuracy")
    assert wrong.exit_code == 2
    assert "did you mean 'balanced_accuracy'" in wrong.stderr
