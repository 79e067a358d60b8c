"""Bad input to ``veridical estimate``: a sentence, status 2, nothing written."""

from __future__ import annotations

import os

import pytest
from tests.cli.test_bad_input import GOOD, assert_refused, spoil

CASES = [
    ("one class", [], ["only one class", "'yes'", "at least two"]),
    ("no values", [], ["no value at all", "'x0'", "remove"]),
    ("same names", [], ["more than one column named 'x0'", "rename"]),
    ("header only", [], ["header but no rows"]),
    ("empty", [], ["table.csv is empty"]),
    ("junk", [], ["table.csv", "not a text file"]),
    (GOOD, ["--target", "kin"], ["no column 'kin'", "did you mean 'kind'"]),
    (GOOD, ["--estimator", "c54"], ["'c54'", "did you mean 'c45'", "logistic"]),
    (GOOD, ["--cv", "cv"], ["no method 'cv'", "10x5", "boot632"]),
    (GOOD, ["--cv", "1"], ["folds", "2"]),
    (GOOD, ["--cv", "61"], ["61 folds", "60 samples", "--cv loo"]),
    (GOOD, ["--cv", "leave60"], ["60 samples", "fewer than 60"]),
    (GOOD, ["--cv", "complete9"], ["ways to choose 9 of 60", "subsampling1000"]),
    (GOOD, ["--cv", "boot632-0"], ["'boot632-0'", "1 or more"]),
    (GOOD, ["--cv", "table.csv"], ["'table.csv'"]),
    (GOOD, ["--cv", "x" * 5000], ["no method"]),
    (GOOD, ["--selector", "relief"], ["'relief'", "did you mean 'relieff'"]),
    (GOOD, ["--features", "3"], ["--features 3", "--selector"]),
    (GOOD, ["--selector", "anova", "--features", "7"], ["7", "1 to 6"]),
    (GOOD, ["--selector", "anova", "--features", "0"], ["--features 0", "1 or more"]),
    (GOOD, ["--seed", "-1"], ["--seed -1"]),
    (GOOD, ["--jobs", "0"], ["--jobs 0"]),
]


@pytest.mark.parametrize(("how", "options", "words"), CASES)
def test_bad_input_is_named_with_its_cure(run, table, tmp_path, how, options, words):
    if how:
        spoil(table, how)
    out = tmp_path / "page.html"

    result = run("estimate", table, "--target", "kind", "--out", out, *options)

    assert_refused(result, words)
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_file_needs_a_target_and_a_target_a_file(run, table):
    assert_refused(run("estimate", table), ["Which column", "target", "'x0'"])
    assert_refused(run("estimate", "--target", "kind"), ["--target kind", "DATA"])


def test_bad_options_are_refused_without_data_too(run):
    for options in (["--seed", "-1"], ["--estimator", "c54"], ["--cv", "500"]):
        result = run("estimate", *options)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
