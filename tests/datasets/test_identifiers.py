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
        ["a_1", "a_2", "b_1"],
        ["a_1", "a_1", "b_1", "b_1", "c_1", "c_1"],  # not all different
        list(range(40)),
    ],
    ids=str,
)
def test_other_identifiers_are_not(ids):
    assert find_groups_in_ids(ids) is None


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
