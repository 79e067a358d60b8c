"""The tables of LeakBench are made of the cells that were measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.leakbench import __main__ as bench
from benchmarks.leakbench import page, parts

from veridical.evaluation.intervals import paired_shares


def cells(seed=4):
    """Three tables: a mistake that is found, one that is not, and a false alarm."""
    frame = pd.DataFrame(
        [
            ("mechanism", "duplicates", 0.5, "noise", 0, 0.2, "VD003 VD009"),
            ("mechanism", "duplicates", 0.5, "signal", 1, 0.0, "VD021"),
            ("control", "plain", 0.0, "noise", 0, 0.0, "VD009 VD012"),
        ],
        columns=["kind", "name", "dose", "source", "table", "moved", "flagged"],
    )
    return frame.assign(
        seed=seed, noted="", conclusion="no", largest="duplicates", part=0.1,
        signal=0.0, seconds=0.1, status="ok",
    )  # fmt: skip


def warnings_of(package, frame, warned):
    keys = ["seed", "kind", "name", "dose", "source", "table"]
    return frame[keys].assign(package=package, version="1", flagged=warned)


def test_packages_are_counted_on_the_tables_they_were_given():
    frame = cells()
    others = pd.concat(
        [
            warnings_of("one", frame, [0, 1, 1]),
            warnings_of("two", frame[:1], [1]),
        ]
    )
    total = page._rivals(frame, others)[3].splitlines()[2:]
    assert total[0].startswith("| audit | 50 % (9 to 91) of 2 | 100 %")
    assert total[0].endswith("100 % (21 to 100) of 1 |")
    assert total[1].startswith("| one | 50 % (9 to 91) of 2 | 0 %")
    assert total[2].endswith("| – of 0 |")
    assert page._rivals(cells(seed=5), others) == []


def test_cells_of_other_draws_leave_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "HERE", tmp_path)
    bench.export(cells(), 3, [])
    bench.export(cells(), 4, [])
    bench.export(cells()[:1], 4, [])
    written = pd.read_csv(tmp_path / "results.csv")
    assert (written["seed"] == 4).all()
    assert len(written) == 3
    bench.export(cells()[:1].assign(moved=0.3), 4, ["duplicates"])
    written = pd.read_csv(tmp_path / "results.csv").set_index("name")
    assert written["moved"].to_dict() == {"duplicates": 0.3, "plain": 0.0}


def test_warnings_that_are_not_counted_are_said():
    assert page._design(cells()).endswith("Tables with such a warning: VD009 1 of 1.")


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_intervals_of_overlap_are_those_of_the_audit(share):
    rng = np.random.default_rng(0)
    gains = (rng.random((30, 60)) < share).astype(float)
    hits, n = parts.count_of_gains(gains)
    assert n == 30
    assert hits >= 27
    low, high = paired_shares(gains[0].sum(), 0, 60)
    assert low <= gains.mean() <= high
