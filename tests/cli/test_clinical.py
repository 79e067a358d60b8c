"""Tables as they come from a clinic: no header, measurements, identifiers."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import veridical
from veridical._core.errors import InputError

QUICK = ("--estimator", "nb", "--cv", 3)


def answer(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# -- a file without names --------------------------------------------------------------


@pytest.fixture
def without_names(table):
    frame = pd.read_csv(table)
    frame.to_csv(table, index=False, header=False)
    return table


def test_a_file_without_names_is_said_and_can_be_decided(run, without_names):
    words = ("estimate", without_names, "--target", "column_7", *QUICK, "--json")
    told = run(*words)
    assert told.stderr.startswith("Note: The first row of ")
    assert "columns are named column_1 to column_7" in told.stderr
    assert "--header yes" in told.stderr
    found = answer(told)
    assert found["data"]["n_samples"] == 60

    decided = run(*words, "--header", "no")
    assert decided.stderr == ""
    again = shlex.split(answer(decided)["settings"]["command"])
    assert again[again.index("--header") + 1] == "no"

    wrong = run(*words, "--header", "yes")
    assert wrong.exit_code == 2
    assert "no column 'column_7'" in wrong.stderr
    for target, meant in (("kind", "column_7"), ("3", "column_3")):
        wrong = run("estimate", without_names, "--target", target)
        assert wrong.exit_code == 2
        assert "its first row holds no names" in wrong.stderr
        assert f"such as --target {meant};" in wrong.stderr


def test_years_as_names_are_asked_about(run, table):
    frame = pd.read_csv(table)
    frame["kind"] = (frame["kind"] == "yes").astype(int)
    frame.columns = [str(year) for year in range(2018, 2025)]
    frame.to_csv(table, index=False)
    words = ("estimate", table, "--target", "2024", *QUICK, "--json")
    told = run(*words)
    assert told.exit_code == 2
    assert "--header yes if they are names, or --header no" in told.stderr
    found = answer(run(*words, "--header", "yes"))
    assert found["data"]["n_features"] == 6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("estimate", "DATA", "--header", "maybe"), "no --header 'maybe'"),
        (("estimate", "--header", "no"), "--header no is given, but there is no file"),
        (("select", "--classes"), "--classes is given, but there is no file"),
        (("data", "show", "monks-1", "--header", "no"), "--header is for files"),
    ],
)
def test_header_that_cannot_be(run, table, words, said):
    words = [table if word == "DATA" else word for word in words]
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr


# -- a target that measures something --------------------------------------------------


def days(n=60, seed=0):
    return np.random.default_rng(seed).integers(1, 3000, n)


@pytest.mark.parametrize(
    "verb", ["select", "estimate", "compare", "audit", "probabilities"]
)
def test_measurements_are_not_classes(run, table, verb):
    pd.read_csv(table).assign(time=days()).to_csv(table, index=False)
    result = run(verb, table, "--target", "time")
    assert result.exit_code == 2
    assert "column 'time' of table.csv" in result.stderr
    assert "different whole numbers" in result.stderr
    assert "measurements, not classes" in result.stderr
    assert "--classes" in result.stderr


def test_classes_takes_numbers_as_classes(run, table):
    codes = np.concatenate([np.arange(24), np.arange(24), np.arange(12)])
    pd.read_csv(table).assign(code=codes).to_csv(table, index=False)
    words = ("estimate", table, "--target", "code", *QUICK, "--json")
    assert run(*words).exit_code == 2
    found = answer(run(*words, "--classes"))
    assert len(found["data"]["classes"]) == 24
    assert "--classes" in shlex.split(found["settings"]["command"])


def test_many_whole_numbers_that_may_be_classes_are_noted(run, table):
    pd.read_csv(table).assign(age=np.arange(60) % 20 + 40).to_csv(table, index=False)
    words = ("estimate", table, "--target", "age", *QUICK, "--json")
    assert "read as classes" not in run(*words).stderr
    frame = pd.concat([pd.read_csv(table), pd.read_csv(table)])
    frame.assign(age=np.arange(120) % 24 + 40).to_csv(table, index=False)
    noted = run(*words)
    assert "'age' of table.csv are 24 different whole numbers" in noted.stderr
    assert "add --numbers" in noted.stderr
    assert "read as classes" not in run(*words, "--classes").stderr


@pytest.mark.parametrize("whole", [int, float, object])
def test_python_refuses_measurements_too(whole):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = days().astype(whole)
    with pytest.raises(InputError, match=r"measurements, not classes.*astype\(str\)"):
        veridical.estimate("nb", X, y)
    with pytest.raises(InputError, match="measurements, not classes"):
        veridical.select("anova", X, y, estimator="nb")


@pytest.mark.parametrize(
    "y",
    [
        np.arange(200) // 5,  # 40 classes of five samples, as faces are
        np.concatenate([np.arange(20), np.arange(20)]),  # twenty codes
        np.concatenate([np.repeat(np.arange(30), 10), [30]]),  # one rare code
        days().astype(str),
    ],
)
def test_codes_of_classes_are_classes(y):
    from veridical._core.reading import refuse_measurements

    assert refuse_measurements(y, "The labels") is None


# -- identifiers -----------------------------------------------------------------------


def with_ids(table, **columns):
    frame = pd.read_csv(table)
    for name, values in columns.items():
        frame.insert(0, name, values)
    frame.to_csv(table, index=False)
    return table


@pytest.mark.parametrize(
    "verb", ["select", "estimate", "compare", "audit", "probabilities"]
)
def test_an_identifier_is_an_error_with_its_cure(run, table, verb):
    with_ids(table, Name=[f"case {i}" for i in range(60)])
    result = run(verb, table, "--target", "kind")
    assert result.exit_code == 2
    assert "column 'Name' differs in every sample" in result.stderr
    assert result.stderr.rstrip().endswith("add --drop Name.")
    assert result.stdout == ""


def test_all_identifiers_are_named_at_once(run, table):
    with_ids(
        table,
        code=[f"q{i}" for i in range(60)],
        **{"a, b": [f"r{i}" for i in range(60)]},
    )
    words = ("estimate", table, "--target", "kind", *QUICK)
    result = run(*words)
    assert result.exit_code == 2
    assert "--drop 'a, b' --drop code." in result.stderr
    # What is proposed works.
    result = run(*words, "--drop", "a, b", "--drop", "code")
    assert result.exit_code == 0


def _subjects(table, n_each):
    """Give every subject samples of one kind only."""
    frame = pd.read_csv(table).sort_values("kind", kind="stable")
    frame.to_csv(table, index=False)
    return [f"S{i // n_each:02}" for i in range(60)]


def test_a_column_of_subjects_is_groups_until_told_otherwise(run, table):
    with_ids(table, subject=_subjects(table, 3))
    words = ("estimate", table, "--target", "kind", *QUICK, "--json")
    result = run(*words)
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "Note: Column 'subject' of table.csv names 20 subjects"
    )
    assert "kept together, as groups" in result.stderr
    assert "--groups none" in result.stderr
    (assumed,) = answer(result)["estimates"]
    assert "20 groups kept whole" in assumed["method"]
    (said,) = answer(run(*words, "--groups", "subject"))["estimates"]
    assert said["value"] == assumed["value"]
    found = answer(run(*words, "--groups", "none", "--drop", "subject"))
    assert "groups" not in found["estimates"][0]["method"]
    assert "--groups none" in found["settings"]["command"]
    result = run(*words, "--groups", "none")
    assert result.exit_code == 2
    assert "add --drop subject." in result.stderr


def test_a_subject_that_is_not_known_is_an_error(run, table):
    subjects = _subjects(table, 3)
    subjects[4] = None
    with_ids(table, subject=subjects)
    words = ("estimate", table, "--target", "kind", *QUICK)
    result = run(*words)
    assert result.exit_code == 2
    assert "has no value in row 4, counted from 0" in result.stderr
    assert "--drop subject --groups none" in result.stderr
    assert run(*words, "--drop", "subject", "--groups", "none").exit_code == 0
    named = run(*words, "--groups", "subject")
    assert named.exit_code == 2
    assert "--groups subject has no label in row 4" in named.stderr


def test_one_group_is_named_with_its_option(run, table):
    with_ids(table, site=["A"] * 60, ward=[f"w{i % 9}" for i in range(60)])
    words = ("estimate", table, "--target", "kind", *QUICK, "--groups")
    result = run(*words, "site", "--drop", "ward")
    assert result.exit_code == 2
    assert "--groups site holds one group only, 'A'" in result.stderr
    assert "leave --groups site out" in result.stderr
    nested = run(*words, "site,ward")
    assert nested.exit_code == 2
    assert "give the inner groups alone" in nested.stderr


def test_numbers_that_identify_are_a_note(run, table):
    with_ids(table, patient_id=np.arange(60), weight=np.arange(60) + 50)
    result = run("estimate", table, "--target", "kind", *QUICK)
    assert result.exit_code == 0
    assert "column 'patient_id' differs in every sample" in result.stderr
    assert "--drop patient_id, unless it is a measurement" in result.stderr
    assert "weight" not in result.stderr


@pytest.mark.parametrize("drop", [(), ("--drop", "id")])
def test_identifiers_with_a_stem_are_several_samples_of_a_subject(run, table, drop):
    stems = _subjects(table, 6)
    with_ids(table, id=[f"phon_R01_{s}_{i % 6 + 1}" for i, s in enumerate(stems)])
    words = ("estimate", table, "--target", "kind", *QUICK, *drop, "--json")
    result = run(*words)
    assert result.exit_code == 0
    assert "several samples of each of 10 subjects" in result.stderr
    assert "kept together, as groups" in result.stderr
    (found,) = answer(result)["estimates"]
    assert "10 groups kept whole" in found["method"]
    named = run(*words, "--groups", "id")
    assert "groups are the beginnings of its values" in named.stderr
    assert answer(named)["estimates"][0]["value"] == found["value"]


def test_groups_and_weights_by_column(run, table):
    sites = [["north", "south"][i % 2] + str(i % 3) for i in range(60)]
    with_ids(table, site=sites, w=np.arange(60) % 3 + 1)
    words = ("estimate", table, "--target", "kind", "--cv", "3", "--json")
    found = answer(run(*words, "--groups", "site", "--weights", "w"))
    assert "6 groups kept whole" in found["estimates"][0]["method"]
    command = found["settings"]["command"]
    assert "--groups site --weights w" in command
    result = run(*words, "--groups", "sits")
    assert result.exit_code == 2
    assert "no such column in table.csv" in result.stderr
    assert "'site'" in result.stderr
    result = run("estimate", "--groups", "site")
    assert result.exit_code == 2
    assert "there is no file" in result.stderr


def test_subjects_are_groups_for_numbers_and_survival_times_too(run, table):
    rng = np.random.default_rng(0)
    subject = np.arange(60) // 4
    with_ids(table, subject=subject, pressure=rng.normal(size=15)[subject])
    frame = pd.read_csv(table).drop(columns="kind")
    frame.assign(time=rng.exponential(size=60), event=1).to_csv(table, index=False)
    for words in (
        ("--target", "pressure", "--drop", "time,event"),
        ("--time", "time", "--event", "event", "--drop", "pressure"),
    ):
        result = run("estimate", table, *words, "--cv", 3, "--json")
        assert "names 15 subjects" in result.stderr
        assert "15 groups kept whole" in answer(result)["estimates"][0]["method"]


def test_as_many_default_folds_as_a_class_has_groups(run, table):
    subjects = _subjects(table, 3)
    with_ids(table, subject=subjects)
    frame = pd.read_csv(table)
    few = frame["kind"].eq("yes") & ~frame["subject"].isin(sorted(set(subjects))[-5:])
    frame[~few].to_csv(table, index=False)
    result = run("estimate", table, "--target", "kind", "--estimator", "nb", "--json")
    first = answer(result)["estimates"][0]
    assert first["method"].startswith("stratified 5-fold")
    assert not any("fewer than" in note for note in first["notes"])
    asked = run(
        "estimate", table, "--target", "kind", "--estimator", "nb", "--cv", 10, "--json"
    )
    assert "fewer than the 10 folds" in " ".join(answer(asked)["estimates"][0]["notes"])


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (-1, "Negative values in --weights w: -1 in row 3, counted from 0"),
        ("a", "of table.csv must hold numbers, but it is 'a' in row 0, counted from 0"),
        (None, "NaN in --weights w: nan in row 3, counted from 0"),
    ],
)
def test_bad_weights_are_named_with_their_option(run, table, weight, said):
    weights = pd.Series(np.ones(60), dtype=object)
    weights[0 if weight == "a" else 3 :] = weight
    with_ids(table, w=weights)
    result = run("estimate", table, "--target", "kind", "--weights", "w")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("option", ["--groups", "--weights"])
def test_the_target_is_no_group_and_no_weight(run, table, option):
    result = run("estimate", table, "--target", "kind", option, "kind")
    assert result.exit_code == 2
    assert f"{option} kind: this column of table.csv is the target" in result.stderr


def test_stems_that_are_the_classes_are_no_subjects(run, table):
    kind = pd.read_csv(table)["kind"]
    with_ids(table, id=[f"{k}{i % 2}_{i % 15}_{i}" for i, k in enumerate(kind)])
    result = run("estimate", table, "--target", "kind", *QUICK, "--drop", "id")
    assert (result.exit_code, result.stderr) == (0, "")
