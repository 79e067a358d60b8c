"""VD014: samples that belong together although no groups were given."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from veridical import audit
from veridical._core.reading import read_table
from veridical._core.splits import read_split
from veridical.auditing.kinship import by_folds, name_subjects

FEW = {"n_permutations": 19, "random_state": 0}


def patients(shuffle=False, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(24), 6)
    y = (np.arange(24) % 2)[groups]
    X = rng.normal(size=(24, 8))[groups] + 0.5 * rng.normal(size=(144, 8))
    order = rng.permutation(144) if shuffle else np.arange(144)
    return X[order], y[order], groups[order]


def codes(found):
    return [one.code for one in found.findings]


def test_folds_that_keep_patients_whole_are_found():
    X, y, groups = patients(shuffle=True)
    folds = list(GroupKFold(4, shuffle=True, random_state=0).split(X, y, groups))
    found = audit("nb", X, y, cv=folds, **FEW)
    (said,) = [one for one in found.findings if one.code == "VD014"]
    assert "splits seem to keep groups together" in said.evidence
    assert "VD014" not in codes(audit("nb", X, y, cv=4, **FEW))
    grouped = audit("nb", X, y, groups=groups, cv=folds, **FEW)
    assert "VD014" not in codes(grouped)


def test_names_of_subjects_are_found():
    X, y, groups = patients(shuffle=True)
    frame = pd.DataFrame(X).rename(columns=str).assign(patient=groups)
    found = name_subjects(read_table(frame, y))
    assert found[:2] == ("patient", "24 subjects")
    same = groups[:, None] == groups[None, :]
    np.testing.assert_array_equal(found.codes[:, None] == found.codes[None, :], same)
    without = frame.astype({"patient": object})
    without.loc[:1, "patient"] = None  # each of two unknown ones is a subject
    found = name_subjects(read_table(without, y))
    assert np.unique(found.codes).size == 26
    frame = frame.drop(columns="patient")
    ids = [f"K{g:02}_{i}" for i, g in enumerate(groups)]
    numbered = frame.assign(id=ids)
    assert name_subjects(read_table(numbered, y)) is None  # endings do not begin anew
    ids = [f"S{g:02}_{i}" for i, g in enumerate(groups)]
    named = frame.assign(id=ids)  # an S with a number is a subject
    words = "24 subjects (such as 'S02', 6 samples)"
    found = name_subjects(read_table(named, y))
    assert found[:2] == ("id", words)
    np.testing.assert_array_equal(found.codes[:, None] == found.codes[None, :], same)
    assert name_subjects(read_table(X, y)) is None


@pytest.mark.parametrize("seed", range(5))
def test_independent_samples_give_no_finding(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(90, 12)), np.sort(np.arange(90) % 3)
    X[:, 0] += y
    table = read_table(X, y)
    folds = [
        read_split((np.flatnonzero(np.arange(90) % 5 != k), np.arange(k, 90, 5)), 90)
        for k in range(5)
    ]
    assert not by_folds(table, folds, seed).is_shown


def test_splits_that_are_no_folds_are_not_judged():
    X, y, _ = patients()
    one = read_split((np.arange(100), np.arange(100, 144)), 144)
    assert by_folds(read_table(X, y), [one], 0) is None
