"""Bad input: one sentence that names the thing and the cure, status 2, no page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from veridical._core.errors import InputError
from veridical.cli import compare, estimate, failures

GOOD = None  # the table as it is


def spoil(table: Path, how: str) -> None:
    """Write a table that cannot be used."""
    lines = table.read_text().splitlines()
    header, rows = lines[0], lines[1:]
    if how == "one class":
        rows = [row.rpartition(",")[0] + ",yes" for row in rows]
    elif how == "rare class":
        rows = [rows[0].rpartition(",")[0] + ",rare", *rows[1:]]
    elif how == "no values":
        rows = [",".join(["", *row.split(",")[1:]]) for row in rows]
    elif how == "same names":
        header = header.replace("x1", "x0")
    elif how == "ragged":
        rows[7] += ",1"
    elif how == "text among numbers":
        rows[3] = rows[3].replace(rows[3].split(",")[0], "n/a?", 1)
    elif how == "header only":
        rows = []
    elif how == "no class":
        rows[5] = rows[5].rpartition(",")[0] + ","
    table.write_text("\n".join([header, *rows, ""]))
    if how == "empty":
        table.write_bytes(b"")
    elif how == "junk":
        table.write_bytes(bytes(range(256)) * 40)
    elif how == "cut short":
        table.write_bytes(b"\x1f\x8b\x08\x00junk")


CASES = [
    # what is wrong with the file, further options, words of the message
    ("one class", [], ["only one class", "'yes'", "at least two"]),
    ("no values", [], ["no value at all", "'x0'", "remove"]),
    ("same names", [], ["more than one column named 'x0'", "rename"]),
    ("ragged", [], ["Line 9", "8 values", "7 columns"]),
    ("text among numbers", [], ["Line 5", "'n/a?'", "'x0'"]),
    ("header only", [], ["header but no rows"]),
    ("no class", [], ["target is missing", "line 7"]),
    ("empty", [], ["table.csv is empty"]),
    ("junk", [], ["table.csv", "not a text file"]),
    ("cut short", [], ["damaged"]),
    (GOOD, ["--target", "kin"], ["no column 'kin'", "did you mean 'kind'", "x0"]),
    (GOOD, ["--selectors", "relief,fcbf"], ["'relief'", "did you mean 'relieff'"]),
    (GOOD, ["--selectors", "zzz,fcbf"], ["'zzz'", "information-gain", "relieff"]),
    (GOOD, ["--estimator", "smv"], ["'smv'", "did you mean", "'svm'", "1nn"]),
    (GOOD, ["--features", "7"], ["7", "6 feature", "1 to 6"]),
    (GOOD, ["--features", "0"], ["--features 0", "1 or more"]),
    (GOOD, ["--features", "-3"], ["--features -3", "1 or more"]),
    (GOOD, ["--cv", "1"], ["--cv 1", "2 folds or more"]),
    (GOOD, ["--cv", "61"], ["61 folds"]),
    (GOOD, ["--cv", "ten"], ["'ten'", "number of folds", "10x5"]),
    (GOOD, ["--features", "ten"], ["--features ten", "0.1"]),
    (GOOD, ["--test", "corected-t"], ["did you mean 'corrected-t'", "paired-t"]),
    (GOOD, ["--seed", "-1"], ["-1"]),
]


@pytest.mark.parametrize(("how", "options", "words"), CASES)
def test_bad_input_is_named_with_its_cure(run, table, tmp_path, how, options, words):
    if how:
        spoil(table, how)
    out = tmp_path / "page.html"

    result = run(
        "compare", table, "--target", "kind", "--features", 2, "--out", out, *options
    )

    assert_refused(result, words)
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("select", ["--selector", "anova", "--features", 2]),
        ("estimate", ["--cv", "10"]),
        ("compare", ["--selectors", "anova,correlation", "--features", 2]),
        ("audit", []),
    ],
)
def test_a_class_that_a_training_set_lacks_is_warned_of(run, table, verb, options):
    spoil(table, "rare class")
    result = run(verb, table, "--target", "kind", "--estimator", "nb", *options)
    assert result.exit_code in ((0, 1) if verb == "audit" else (0,))
    said = " ".join(f"{result.stderr} {result.stdout}".split())
    assert "'rare' is missing from the training set of 1 of 10 splits" in said


@pytest.mark.parametrize("verb", ["select", "compare", "probabilities"])
def test_more_features_than_there_are(run, table, verb):
    result = run(verb, table, "--target", "kind", "--features", 7)
    assert_refused(result, ["7", "6 feature", "1 to 6"])


def test_select_takes_every_way_to_split(run, table):
    common = ("select", table, "--target", "kind", "--selector", "anova", "--json")
    repeated = run(*common, "--cv", "2x3")
    assert json.loads(repeated.stdout)["n_folds"] == 6
    bootstrap = run(*common, "--cv", "boot632-4")
    settings = json.loads(bootstrap.stdout)["settings"]
    words = "4 bootstrap samples, tested on the samples outside each"
    assert settings["cross-validation"] == words
    assert_refused(run(*common, "--cv", "61"), ["61 folds", "--cv loo"])


def assert_refused(result, words):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("veridical: ")
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_missing_file_and_near_misses(run, table):
    wrong = table.with_name("tabel.csv")

    assert_refused(run("compare", wrong, "--target", "kind"), [str(wrong), "table.csv"])


def test_a_folder_is_no_file(run, tmp_path):
    assert_refused(run("compare", tmp_path, "--target", "kind"), ["is a folder"])


def test_a_file_needs_a_target(run, table):
    assert_refused(run("compare", table), ["Which column", "target", "'x0'"])


def test_a_target_needs_a_file(run):
    assert_refused(run("compare", "--target", "kind"), ["--target kind", "DATA"])


VERBS = {"compare": (compare, "_run"), "estimate": (estimate, "_on_file")}


@pytest.mark.parametrize("verb", VERBS)
def test_where_the_page_goes_is_checked_before_the_work(run, table, monkeypatch, verb):
    def work(*_):
        raise AssertionError("worked in vain")

    monkeypatch.setattr(*VERBS[verb], work)
    out = table.parent / "no such folder" / "page.html"

    assert_refused(
        run(verb, table, "--target", "kind", "--out", out),
        ["'page.html'", "no such folder", "make the folder first"],
    )
    assert_refused(
        run(verb, table, "--target", "kind", "--out", table.parent), ["a folder"]
    )


@pytest.mark.parametrize("verb", VERBS)
def test_an_older_page_survives_bad_input(run, table, tmp_path, verb):
    out = tmp_path / "page.html"
    out.write_text("old")

    result = run(verb, table, "--target", "nothing", "--out", out)

    assert result.exit_code == 2
    assert out.read_text() == "old"


# ---- the rest -------------------------------------------------------------------


def fail_with(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(compare, "_run", fail)


def test_messages_cannot_move_the_cursor(run, table, monkeypatch):
    fail_with(monkeypatch, InputError("column '\x1b[2J\x1b[1;1H'\nis bad"))

    result = run("compare", table)

    assert_refused(result, ["column '\ufffd[2J\ufffd[1;1H' is bad"])


def test_unexpected_errors_are_short_and_name_the_debug_option(run, table, monkeypatch):
    fail_with(monkeypatch, RuntimeError("boom"))

    result = run("compare", table)

    assert result.exit_code == 1
    assert "RuntimeError: boom" in result.stderr
    assert "VERIDICAL_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_debugging_shows_everything(run, table, monkeypatch):
    fail_with(monkeypatch, InputError("bad"))
    monkeypatch.setattr(failures, "DEBUG", "VERIDICAL_DEBUG_TEST")
    monkeypatch.setenv("VERIDICAL_DEBUG_TEST", "1")

    result = run("compare", table)

    assert isinstance(result.exception, InputError)


def test_ctrl_c_ends_with_130_and_one_sentence(run, table, monkeypatch):
    fail_with(monkeypatch, KeyboardInterrupt())

    result = run("compare", table)

    assert result.exit_code == 130
    assert result.stderr == "Stopped. Nothing was written.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_device_is_reported():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "veridical", "study", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "veridical: cannot write: No space left on device; free some space, or write "
        "elsewhere.\n"
    )


@pytest.mark.parametrize(
    "verb", ["select", "estimate", "compare", "audit", "probabilities"]
)
def test_a_cluster_is_for_studies(run, verb):
    result = run(verb, "--dask", "local")
    assert result.exit_code == 2
    told = " ".join(result.stderr.replace("│", " ").split())
    assert "A cluster runs studies: veridical study run NAME --dask" in told
    assert "Possible options" not in told
