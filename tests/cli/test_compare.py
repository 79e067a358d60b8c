"""``veridical compare`` from a file to a table, a page or JSON."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from veridical.datasets import make_random_labels
from veridical.report.views.comparison import Summary

PAIR = ("--selectors", "relieff,information-gain")


def test_table_verdict_and_page(run, table, tmp_path):
    out = tmp_path / "page.html"

    result = run(
        "compare", table, "--target", "kind", *PAIR, "--features", 2, "--out", out
    )

    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for words in ("table.csv: 60 samples, 2 of 6 features", "IN", "OUT", "10 folds"):
        assert words in result.stdout
    assert result.stdout.splitlines()[-1] == f"The report is in {out}"
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    assert hashlib.sha256(table.read_bytes()).hexdigest() in page


def test_no_page_unless_asked(run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = run("compare", table, "--target", "kind", *PAIR)

    assert result.exit_code == 0
    assert "report is in" not in result.stdout
    assert os.listdir(tmp_path) == ["table.csv"]


def test_json_and_nothing_else(run, table, tmp_path):
    out = tmp_path / "page.html"

    result = run(
        "compare",
        table,
        "--target",
        "kind",
        *PAIR,
        "--json",
        "--out",
        out,
        "--cv",
        5,
    )

    answer = json.loads(result.stdout)
    assert result.stderr == ""
    assert set(answer) == set(Summary.__annotations__) | {"page"}
    assert answer["page"] == str(out)
    assert answer["names"] == {"a": "ReliefF", "b": "InformationGain"}
    assert answer["n_features_to_select"] == 3  # half of what there is
    assert [m["n_folds"] for m in answer["methods"]] == [5, 5]
    assert answer["data"]["name"] == "table.csv"


def test_the_command_on_the_page_repeats_the_run(run, table):
    first = run(
        "compare", table, "--target", "kind", *PAIR, "--features", 2, "--json",
        "--seed", 7, "--estimator", "nb", "--estimator", "1nn", "--test", "paired-t",
    )  # fmt: skip
    answer = json.loads(first.stdout)
    command = shlex.split(answer["settings"]["command"])
    assert command[0] == "veridical"

    second = run(*command[1:], "--json")

    again = json.loads(second.stdout)
    assert set(again.pop("seconds")) == set(answer.pop("seconds")) == {"a", "b"}
    assert again == answer  # all but how long it took
    assert [c["name"] for c in answer["by_estimator"]] == ["nb", "1nn"]


def test_without_data_several_run_on_a_source_and_say_so(run):
    words = ("--selectors", "anova,correlation,information-gain", *MANY)
    result = run("compare", *words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Without DATA, this uses the linear source")


def test_the_seed_decides_the_folds(run, table):
    def folds(seed):
        result = run(
            "compare", table, "--target", "kind", *PAIR, "--features", 1, "--seed",
            seed, "--json",
        )  # fmt: skip
        return json.loads(result.stdout)["methods"][0]["pairs"]

    assert folds(1) == folds(1)
    assert folds(1) != folds(2)


def test_packed_tables_and_warnings_in_plain_words(run, table, tmp_path):
    rows = table.read_text().splitlines()
    numbered = "\n".join([f",{rows[0]}"] + [f"{i},{r}" for i, r in enumerate(rows[1:])])
    packed = tmp_path / "numbered.csv.gz"
    packed.write_bytes(gzip.compress(numbered.encode()))

    result = run("compare", packed, "--target", "kind", *PAIR)

    assert result.exit_code == 0
    assert result.stderr.startswith("Note: The first column of")
    assert ".py:" not in result.stderr


def test_brackets_in_names_are_not_markup(run, table, tmp_path):
    odd = table.rename(tmp_path / "[bold red]odd.csv")

    result = run("compare", odd, "--target", "kind", *PAIR)

    assert "[bold red]odd.csv: 60 samples" in result.stdout


def test_the_papers_example_knows_the_truth(run, monkeypatch):
    from veridical.cli import compare

    monkeypatch.setattr(compare, "N_SETS", 4)
    plain = run("compare", "--cv", 5)
    answer = json.loads(run("compare", "--cv", 5, "--json").stdout)

    assert plain.exit_code == 0, plain.stderr
    assert plain.stdout.startswith("Without DATA, this runs the example of the paper")
    assert "TRUTH" in plain.stdout
    assert [m["label"] for m in answer["methods"]] == ["IN", "OUT", "TRUTH"]
    assert answer["names"] == {"a": "ReliefF", "b": "FCBF"}
    assert answer["n_features_to_select"] == 20
    assert answer["data"]["n_samples"] == 125
    assert answer["truth"]["n_sets"] == 4
    # Four data sets are too few to show which is better.
    assert answer["words"]["belief"] == "open"
    said = answer["words"]["headline"]
    assert said.startswith("4 fresh data sets do not show a difference")


def test_random_labels_are_noticed(run, tmp_path):
    """50 samples, 5000 columns, random labels: OUT shines, and the page says why."""
    X, y = make_random_labels(50, n_features=5000, random_state=0)
    path, out = tmp_path / "noise.npz", tmp_path / "page.html"
    np.savez(path, X=X, y=y)

    result = run(
        "compare", path, "--selectors", "anova,information-gain", "--out", out,
        "--json", "--estimator", "nb",
    )  # fmt: skip

    answer = json.loads(result.stdout)
    inside, outside = answer["methods"]
    for side in "ab":
        assert outside[side]["value"] > 0.8
        assert 0.3 < inside[side]["value"] < 0.7
    assert len(answer["words"]["artefacts"]) == 2
    assert "is an artefact of selecting on the same data" in out.read_text()


# ---- as a process of its own ----------------------------------------------------


def command(*argv, first="pass"):
    code = f"from veridical.__main__ import main; {first}; main()"
    return [sys.executable, "-c", code, *map(str, argv)]


def test_real_process_writes_the_page(table, tmp_path):
    out = tmp_path / "page.html"
    done = subprocess.run(
        command("compare", table, "--target", "kind", "--out", out, "--features", 2),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},  # a terminal poor in signs
    )

    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines(keepends=True)  # no bar where there is no terminal
    assert all(line.endswith("done once\n") and "\r" not in line for line in lines)
    assert done.stdout.rstrip().endswith(f"The report is in {out}")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_prints_a_short_message_and_exits_with_130(tmp_path):
    out = tmp_path / "page.html"
    endless = "from veridical.cli import compare; compare.N_SETS = 100_000"
    process = subprocess.Popen(
        command("compare", "--out", out, first=endless),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Without DATA")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)

    assert process.returncode == 130
    assert stderr.splitlines()[-1] == "Stopped. Nothing was written."
    assert os.listdir(tmp_path) == []


# -- several selectors ---------------------------------------------------------------


MANY = ("--features", 2, "--cv", 5, "--estimator", "nb")


@pytest.mark.parametrize(
    "words",
    [
        (
            *("--selectors", "anova", "--selectors", "correlation"),
            *("--selectors", "information-gain"),
        ),
        ("--selectors", "anova,correlation,information-gain"),
        ("--selectors", "anova, correlation", "--selectors", "information-gain"),
    ],
)
def test_several_selectors_in_any_writing(run, table, words):
    result = run("compare", table, "--target", "kind", *words, *MANY, "--json")
    answer = json.loads(result.stdout)
    assert answer["kind"] == "many"
    assert answer["names"] == ["AnovaF", "Correlation", "InformationGain"]
    assert [len(m["pairs"]) for m in answer["methods"]] == [3, 3]
    assert answer["correction"] == "holm"


def test_several_selectors_are_shown(run, table, tmp_path):
    page = tmp_path / "page.html"
    names = "anova,correlation,information-gain"
    result = run(
        "compare", table, "--target", "kind", "--selectors", names, *MANY, "--out", page
    )
    for words in (
        "IN: first minus second, in percentage points of accuracy; p-values corrected",
        "Holm's correction",
        "% (measured; nominal 5 %)",
        "Stability",
        f"The report is in {page}",
    ):
        assert words in " ".join(result.stdout.split())
    shown = re.search(r"<code>(veridical compare.*?)</code>", page.read_text())[1]
    command = re.sub("<[^>]*>", "", shown)
    again = run(*shlex.split(command)[1:], "--json")
    assert json.loads(again.stdout)["names"][1] == "Correlation"


def test_sizes_repeats_and_calibration_from_the_command_line(run, table):
    common = ("compare", table, "--target", "kind", *PAIR, "--features", 2)
    shown = run(*common, "--estimator", "nb")
    assert "IN: false-positive rate of the test" in " ".join(shown.stdout.split())
    halves = run(*common, "--cv", "5x2", "--test", "five-by-two-f", "--json")
    answer = json.loads(halves.stdout)
    assert answer["methods"][0]["difference"]["test"] == "5×2 cv F"
    assert "--cv 5x2" in answer["settings"]["command"]
    quick = ("--selectors", "anova,correlation", "--cv", 2, "--estimator", "nb")
    calibrated = run(
        *("compare", table, "--target", "kind", *quick, "--features", 2),
        *("--calibrated", "--json"),
    )
    answer = json.loads(calibrated.stdout)
    assert answer["methods"][0]["difference"]["size"]["calibrated"]
    assert answer["settings"]["command"].endswith("--calibrated --seed 0")


def test_the_same_selector_three_times_is_refused(run, table):
    result = run(
        "compare", table, "--target", "kind", "--selectors", "anova,fcbf,anova"
    )
    assert result.exit_code == 2
    assert "names anova twice" in result.stderr


def test_the_file_may_come_after_the_selectors(run, table):
    words = ("--target", "kind", "--selectors", "anova,fcbf", *MANY, "--json")
    before, after = run("compare", table, *words), run("compare", *words, table)
    answers = [json.loads(result.stdout) for result in (before, after)]
    assert answers[0].pop("seconds").keys() == answers[1].pop("seconds").keys()
    assert answers[0] == answers[1]


def test_spaces_between_selectors_are_told(run, table):
    result = run("compare", table, "--target", "kind", "--selectors", "anova", "fcbf")
    assert result.exit_code == 2
    assert "put commas between selectors" in " ".join(result.stderr.split())


@pytest.mark.parametrize("cv", ["loo", "subsampling5", "plain-4", "complete1"])
def test_any_way_to_split_that_gives_two_splits(run, table, cv):
    words = ("compare", table, "--target", "kind", *PAIR, "--estimator", "nb")
    answer = json.loads(run(*words, "--features", 2, "--cv", cv, "--json").stdout)
    n_splits = {"loo": 60, "subsampling5": 5, "plain-4": 4, "complete1": 60}[cv]
    assert [m["n_folds"] for m in answer["methods"]] == [n_splits, n_splits]
    assert f"--cv {cv} " in answer["settings"]["command"]


@pytest.mark.parametrize("cv", ["holdout", "resubstitution"])
def test_one_split_cannot_be_tested(run, table, cv):
    result = run("compare", table, "--target", "kind", *PAIR, "--cv", cv)
    assert result.exit_code == 2
    assert "cv yields 1 split(s), but a test needs at least 2" in result.stderr


def test_what_long_work_costs_is_said_beforehand(run, table):
    words = ("compare", table, "--target", "kind", *PAIR, "--features", 2)
    result = run(*words, "--estimator", "nb", "--cv", "20x10")
    told = "IN and OUT: about 2 × 2 × 200 fits of NaiveBayes: 800 fits"
    assert told in result.stderr
    assert run(*words, "--estimator", "nb").stderr == ""
