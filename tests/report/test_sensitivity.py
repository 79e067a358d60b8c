"""The page of a sensitivity analysis."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.report import injection_payloads
from tests.report.markup import Page

from veridical import report
from veridical.comparison import sensitivity
from veridical.evaluation import wilson
from veridical.report.views.sensitivity import SensitivitySummary


@pytest.fixture(scope="module")
def record():
    rng = np.random.default_rng(0)
    y = np.resize(["no", "yes"], 60)
    X = rng.normal(size=(60, 10)) + 0.8 * (y == "yes")[:, None] * (np.arange(10) < 3)
    return sensitivity(
        ["anova", "correlation"],
        X,
        y,
        n_features_to_select=3,
        estimator="nb",
        cv=5,
        n_sets=5,
        n_test=100,
        strengths=(0.5, 1),
        random_state=0,
        name="made up",
    )


def test_summary_survives_json(record):
    summary = report.to_json(record)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == set(SensitivitySummary.__annotations__)
    frame = record.to_frame()
    for row, source in zip(frame.to_dict("records"), summary["sources"], strict=True):
        assert source["right"]["in"] == row["in_right"]
        share = source["share_right"]["in"]
        assert share["value"] == row["in_right"] / row["n_sets"]
        assert (share["low"], share["high"]) == wilson(share["value"], row["n_sets"])
        assert source["means"]["truth"]["a"] == pytest.approx(row["truth_a"])


def test_page_has_the_conclusion(record, tmp_path):
    text = record.save(tmp_path / "page.html").read_text()
    words = " ".join(Page(text).words)
    assert "the true verdict about AnovaF and Correlation more often" in words
    assert "On data like these" in words
    assert "At strength 0.5" in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "Interactions between features are left out." in words
    assert "protocol" not in words
    assert record._repr_html_().startswith("<style>")


def test_names_with_markup_stay_text(record):
    tame = Page(report.page(record))
    for bad in injection_payloads.PAYLOADS[::8]:
        wild = replace(record, names=(bad, "Beta"), recommendation=bad)
        assert Page(report.page(wild)).elements == tame.elements
