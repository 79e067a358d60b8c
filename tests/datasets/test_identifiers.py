"""Columns that identify samples, and samples of one subject."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from veridical.datasets import find_groups_in_ids
from veridical.datasets.identifiers import find_identifiers


@pytest.mark.parametrize(
    "ids",
    [
        [f"phon_R01_S{i:02}_{j}" for i in range(8) for j in range(6)],
        [f"P{i}-{j}" for i in range(5) for j in "ab"],
        [f"P{i:02}{j}" for i in range(5) for j in "abc"],
        [f"P{i} visit{j}" for i in range(20) for j in range(2)],
        [f"mouse{i}.{j}.CEL" for i in range(6) for j in range(3)],
        [f"P{i} ({j})" for i in range(6) for j in range(3)],
        [f"P{i}_2021-0{j + 1}-{10 + i % 7}" for i in range(9) for j in range(3)],
        [f"12{i:02}{j}" for i in range(6) for j in range(1, 5)],  # the last digit
    ],
    ids=str,
)
def test_stems_are_subjects(ids):
    order = np.random.default_rng(0).permutation(len(ids))
    ids = np.array(ids)[order]
    labels, description = find_groups_in_ids(ids)
    stems = set(labels)
    assert all(one.startswith(stem) for one, stem in zip(ids, labels, strict=True))
    assert description.startswith(f"{len(stems)} subjects (such as '")
    counts = pd.Series(labels).value_counts()
    assert counts.nunique() == 1
    assert counts.iloc[0] * len(stems) == len(ids)


@pytest.mark.parametrize(
    "ids",
    [
        [f"sample_{i}" for i in range(40)],  # one stem
        [f"{kind}_{i}" for i in range(20) for kind in ("tumour", "normal")],
        [f"{site}-{i}" for i, site in enumerate("ABCD" * 10)],  # numbers go on
        [f"{row}{i}" for row in "ABCDEFGH" for i in range(12)],  # wells of a plate
        [f"GSM{i}" for i in range(100, 140)],
        [f"P{i}_1" for i in range(40)],  # one sample each
        [f"2019-{i}" for i in range(40)],
        [f"X{i}" for i in range(100, 200, 2)],  # even numbers
        ["a_1", "a_2", "b_1"],
        ["a_1", "a_1", "b_1", "b_1", "c_1", "c_1"],  # not all different
        list(range(40)),
        ["2", "foo", float("nan"), "1", "3", "9"],
        [None, *(f"P{i}-{j}" for i in range(5) for j in "ab")],
    ],
    ids=str,
)
def test_other_identifiers_are_not(ids):
    assert find_groups_in_ids(ids) is None


@pytest.mark.parametrize(
    "ids",
    [
        [f"biopsy{j}_patient{i}" for i in range(9) for j in range(3)],
        [f"{kind}-P{i:02}" for i in range(9) for kind in ("pre", "post")],
        [f"2020_subject {i}_{side}" for i in range(9) for side in "LR"],
    ],
    ids=str,
)
def test_a_subject_that_is_named_at_another_place(ids):
    labels, description = find_groups_in_ids(ids)
    assert description.startswith("9 subjects")
    assert pd.Series(labels).value_counts().nunique() == 1


@pytest.mark.parametrize("form", ["patient{}_visit{}_rep{}", "sub-{}_ses-{}_run-{}"])
def test_visits_belong_to_a_subject_that_is_called_so(form):
    ids = [form.format(i, v, r) for i in range(10) for v in "12" for r in "12"]
    assert find_groups_in_ids(ids)[1].startswith("10 subjects")


def test_decimal_numbers_may_count_samples_of_subjects():
    visits = [i + j / 10 for i in range(1, 8) for j in range(1, 4)]
    X = pd.DataFrame({"id": visits, "dose": visits})
    assert find_identifiers(X) == {"id": "identifier"}
    assert find_groups_in_ids(X["id"])[1] == "7 subjects (such as '1', 3 samples)"


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "patientid",
        "pat_id",
        "PtNo",
        "SUBJID",
        "MRN",
        "case_id",
        "record id",
    ],
)
def test_names_of_subjects_that_repeat(name):
    assert find_identifiers(pd.DataFrame({name: np.arange(40) // 4})) == {
        name: "subjects"
    }


@pytest.mark.parametrize("name", ["PT", "pat", "site_id", "severity index", "code"])
def test_names_that_may_be_measurements(name):
    assert find_identifiers(pd.DataFrame({name: np.arange(40) // 4})) == {}


def test_kinds_of_samples_are_no_subjects():
    kinds = ["blood", "urine", "saliva", "skin", "hair"] * 8
    assert find_identifiers(pd.DataFrame({"sample": kinds})) == {}


def test_columns_that_identify():
    n = 12
    X = pd.DataFrame(
        {
            "code": pd.Categorical([f"x{i}" for i in range(n)]),
            "PatientID": np.arange(n),
            "sample_no": np.arange(n) * 1.0,
            "subject": np.arange(n) // 3,
            "Donor": pd.Categorical([f"d{i // 2}" for i in range(n)]),
            "weight": np.arange(n),
            "sample size": np.arange(n),
            "colour": pd.Categorical(["red", "blue"] * 6),
            "patient age": np.arange(n) // 2,
            "id_score": np.linspace(0, 1, n),
            "id": np.linspace(0, 1, n),
        }
    )
    assert find_identifiers(X) == {
        "code": "identifier",
        "PatientID": "identifier",
        "sample_no": "identifier",
        "subject": "subjects",
        "Donor": "subjects",
    }


def test_the_voices_of_parkinsons_patients():
    folder = os.environ.get("VERIDICAL_DATA")
    if not folder:
        pytest.skip("VERIDICAL_DATA is not set")
    frame = pd.read_csv(Path(folder) / "parkinsons_voice.csv.gz")
    labels, description = find_groups_in_ids(frame["name"])
    assert labels.tolist() == frame["subject"].tolist()
    assert description.startswith("32 subjects")
