"""``veridical discover``."""

import json

import pandas as pd
import pytest
from tests.cli.conftest import make_table
from tests.report.markup import Page

from veridical import discover
from veridical.datasets import read


def test_claims_of_a_table_are_shown_and_written(run, table, tmp_path):
    out = tmp_path / "page.html"
    done = run("discover", table, "--target", "kind", "--fdr", 0.1, "--out", out)
    assert done.exit_code == 0, done.output
    assert "You may claim: x0" in " ".join(done.output.split())
    page = Page(out.read_text())
    assert page.headings[0][1].startswith("You may claim: x0")
    assert "the feature and the outcome are independent" in page.text
    assert "veridical discover" in page.text


@pytest.mark.parametrize(
    "options",
    [
        {"claim": "association", "fwer": 0.1},
        {"claim": "conditional", "fdr": 0.2},
        {"claim": "stable", "pfer": 1.0},
    ],
)
def test_json_is_what_the_library_computes(run, table, options):
    words = [word for k, v in options.items() for word in (f"--{k}", v)]
    done = run("discover", table, "--target", "kind", *words, "--seed", 3, "--json")
    answer = json.loads(done.stdout)
    found = discover(*read(table, "kind"), **options, random_state=3)
    assert answer["claimed"] == found.claimed.tolist()
    assert answer["words"]["headline"] == found.conclusion.sentence
    assert answer["settings"]["command"].startswith(f"veridical discover {table}")


def test_missing_cells_and_categories_are_prepared(run, tmp_path):
    frame = make_table().assign(sex=["f", "m", "m"] * 20)
    frame.loc[3, "x0"] = None
    path = tmp_path / "clinic.csv"
    frame.to_csv(path, index=False)
    words = ("discover", path, "--target", "kind", "--selector", "anova", "--json")
    refused = run(*words)
    assert refused.exit_code == 2
    assert "--impute" in refused.stderr or "--encode" in refused.stderr
    done = run(*words, "--impute", "median", "--encode", "onehot")
    answer = json.loads(done.stdout)
    assert "sex_m" in {one["name"] for one in answer["features"]}
    assert "on all samples, without the outcome" in answer["settings"]["preparation"]
    assert "--impute median --encode onehot" in answer["settings"]["command"]
    prepared = frame.assign(
        x0=frame["x0"].fillna(frame["x0"].median()), sex=(frame["sex"] == "m") * 1.0
    )
    found = discover(prepared.drop(columns="kind"), frame["kind"], random_state=0)
    names = [prepared.drop(columns="kind").columns[j] for j in found.claimed]
    claimed = [one["name"] for one in answer["features"] if one["claimed"]]
    assert [name.replace("sex_m", "sex") for name in claimed] == names


def test_numbers_are_scaled_by_all_samples(run, tmp_path):
    frame = make_table().assign(wide=lambda one: 1e6 * one["x0"] + one["x1"])
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    words = ("discover", path, "--target", "kind", "--selector", "svm-rfe")
    words = (*words, "--permutations", 20, "--scale", "standard", "--json")
    answer = json.loads(run(*words).stdout)
    assert "mean 0 and standard deviation 1" in answer["settings"]["preparation"]
    assert "on all samples, without the outcome" in answer["settings"]["preparation"]
    assert "--scale standard" in answer["settings"]["command"]
    X = frame.drop(columns="kind")
    found = discover(
        (X - X.mean()) / X.std(ddof=0), frame["kind"], selector="svm-rfe",
        n_permutations=20, random_state=0,
    )  # fmt: skip
    shown = {one["index"]: one["pvalue"] for one in answer["features"]}
    assert len(shown) == X.shape[1]
    assert shown == {j: pytest.approx(found.pvalue[j]) for j in shown}


def test_strata_are_a_column_and_no_feature(run, tmp_path):
    frame = make_table().assign(site=["u", "v"] * 30)
    path = tmp_path / "sites.csv"
    frame.to_csv(path, index=False)
    done = run("discover", path, "--target", "kind", "--strata", "site", "--json")
    answer = json.loads(done.stdout)
    assert {one["name"] for one in answer["features"]} == {f"x{j}" for j in range(6)}
    assert "inside strata" in " ".join(answer["words"]["notes"])
    wrong = run("discover", path, "--target", "kind", "--strata", "sote")
    assert wrong.exit_code == 2
    assert "site" in wrong.stderr


def test_groups_stay_together(run, tmp_path):
    frame = make_table(60).assign(patient=pd.Series(range(60)) // 2)
    path = tmp_path / "groups.csv"
    frame.to_csv(path, index=False)
    done = run("discover", path, "--target", "kind", "--groups", "patient", "--json")
    assert done.exit_code == 0, done.stderr
    assert "group" in " ".join(json.loads(done.stdout)["words"]["notes"])


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("--fdr", 2), "--fdr 2.0 must be a number above 0 and below 1"),
        (("--fdr", 0.1, "--fwer", 0.05), "one of --fdr, --pfer and --fwer"),
        (("--claim", "stable", "--method", "dcrt"), "does not test --claim stable"),
        (("--method", "knockoffs", "--fwer", 0.1, "--claim", "conditional"), "--fdr"),
        (("--claim", "causal"), "association"),
        (("--method", "knockof"), "knockoffs"),
        (("--selector", "anvoa"), "anova"),
    ],
)
def test_bad_options_are_refused(run, table, words, cure):
    done = run("discover", table, "--target", "kind", *words)
    assert done.exit_code == 2
    assert cure in done.stderr


@pytest.mark.parametrize(
    ("values", "cure"),
    [([None, 1.0], ("--impute", "median")), (["u", "v"], ("--encode", "onehot"))],
)
def test_the_options_that_are_advised_help(run, tmp_path, values, cure):
    path = tmp_path / "more.csv"
    make_table().assign(more=values * 30).to_csv(path, index=False)
    assert run("discover", path, "--target", "kind").exit_code == 0
    words = ("discover", path, "--target", "kind", "--selector", "anova")
    done = run(*words)
    assert done.exit_code == 2
    assert " ".join(cure) in done.stderr
    assert "relieff" in done.stderr
    assert run(*words, *cure).exit_code == 0
