"""The study counts what the audit says of planted mistakes and of honest work."""

from __future__ import annotations

import pandas as pd
import pytest

from veridical.experiments import Serial, run_study
from veridical.leakbench.rates import Rate, count_alarms, count_detections
from veridical.leakbench.study import STUDY


def cells(**columns):
    defaults = {"kind": "mechanism", "name": "smote", "dose": 0.4, "moved": 0.1}
    n = max(len(v) for v in columns.values() if isinstance(v, list))
    frame = {k: [v] * n for k, v in {**defaults, "noted": ""}.items()}
    return pd.DataFrame({**frame, **columns})


def test_only_codes_of_the_mechanism_count():
    frame = cells(
        flagged=["VD027", "VD003 VD009", "VD012", "", "VD009"],
        noted=["", "", "VD027", "VD003", ""],
    )
    (row,) = count_detections(frame).to_dict("records")
    assert (row["n"], row["found"], row["noted"], row["cleared"]) == (5, 2, 2, 2)


def test_findings_about_the_design_are_no_false_alarms():
    frame = cells(
        kind="control",
        name=["plain", "plain", "tiny", "tiny"],
        flagged=["VD009", "VD021", "", "VD021 VD022"],
    )
    by_control, by_code = count_alarms(frame)
    assert by_control == {"": Rate(2, 4), "plain": Rate(1, 2), "tiny": Rate(1, 2)}
    assert by_code == {"VD021": Rate(2, 4), "VD022": Rate(1, 4)}


def test_a_rate_has_an_interval_inside_its_bounds():
    for hits in (0, 7, 10):
        low, high = Rate(hits, 10).bounds
        assert 0 <= low <= hits / 10 <= high <= 1
        assert high > low


@pytest.mark.slow
def test_the_smallest_scale_runs_and_reports(tmp_path):
    spec = STUDY.plan("smoke").model_copy(
        update={"mechanisms": ("duplicates", "scaling"), "controls": ("plain",)}
    )
    done = run_study(STUDY, spec, tmp_path / "store.db", executor=Serial())
    assert done.counts.ok == 4
    found = STUDY.report(tmp_path / "store.db", spec)
    assert {table.title for table in found.tables} == {
        "Detection of planted mistakes",
        "False alarms on honest work",
        "The part of a planted mistake",
    }
    assert found.checks
