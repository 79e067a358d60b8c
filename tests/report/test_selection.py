"""The page of a selection: do folds support the list of features?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.report.all_records import KINDS
from tests.report.markup import Page

from veridical import report
from veridical.datasets import make_linear
from veridical.evaluation import ClassResult, select, wilson
from veridical.evaluation.records import Coverage, SelectedFeature
from veridical.evaluation.stability import stability
from veridical.report.view import Rows
from veridical.report.views.selection import make_curves


def tables(record):
    return [
        block
        for section in report.view(record).sections
        for block in section.blocks
        if isinstance(block, Rows)
    ]


def test_features_that_folds_do_not_support_are_marked():
    record = KINDS["selection-unstable"]()
    (features, *_) = tables(record)
    marks = [(row.cells[5].text, row.cells[5].tone) for row in features.rows]
    for feature, mark in zip(record.features, marks, strict=True):
        if feature.n_folds == 0:
            assert mark == ("in no fold", "no")
        elif feature.n_folds < 4:
            assert mark == ("weak", "care")
        else:
            assert mark == ("", None)
    page = Page(report.page(record))
    assert "Some listed features were selected in no fold." in page.text
    assert "3 of the 9 listed features were selected in at least half" in page.text
    assert "Support is weak where fewer than half of the folds selected" in page.text


def test_the_record_decides_what_the_page_shows():
    record = KINDS["selection-unstable"]()
    summary = report.to_json(record)
    for one, made in zip(summary["classes"], record.classes, strict=True):
        assert (one["low"], one["high"]) == wilson(made.accuracy, made.n_test)
    for one, made in zip(summary["features"], record.features, strict=True):
        assert one["support"] == made.support(record.n_folds)
        assert (one["support"] == "half") == (2 * made.n_folds >= record.n_folds)
    assert summary["n_supported"] == record.n_supported == 3
    untested = ClassResult("none", 0, float("nan")).interval
    assert np.isnan(untested).all()


def test_a_list_that_folds_do_not_support_has_no_green_badge():
    record = KINDS["selection-unstable"]()
    assert record.accuracy.low > record.data.majority_share
    assert not record.is_stable
    assert record.conclusion.belief == "care"
    assert "the list of features is not stable: 6 of 9" in record.conclusion.sentence
    stable = replace(
        record, features=tuple(replace(f, n_folds=8) for f in record.features)
    )
    assert stable.conclusion.belief == "yes"
    assert report.view(record).badge.text == "The list is not stable"
    assert "Support" in [column.header for column in tables(record)[0].columns]
    assert "Support" not in [column.header for column in tables(stable)[0].columns]


def test_the_badge_blames_the_list_only_where_folds_do_not_support_it():
    record = KINDS["selection-unstable"]()
    features = tuple(replace(f, n_folds=8) for f in record.features)
    doubtful = replace(record, features=features, coverage=None)
    assert doubtful.conclusion.belief == "care"
    assert report.view(doubtful).badge.text == "With care"


@pytest.mark.parametrize(
    ("coverage", "why"),
    [
        (None, "coverage not measured in designs like this one). So claim only with"),
        (Coverage(0.57, 0.98, "leave-one-out", 0.7), "miss the truth too often"),
    ],
)
def test_an_interval_that_may_not_be_believed_has_no_green_badge(coverage, why):
    record = replace(KINDS["selection-unstable"](), coverage=coverage)
    stable = replace(
        record, features=tuple(replace(f, n_folds=8) for f in record.features)
    )
    for one in (record, stable):
        assert one.conclusion.belief == "care"
        assert why in one.conclusion.sentence
        assert "laim only with care that" in one.conclusion.sentence
        assert "clearly" not in one.conclusion.sentence
    assert "not stable" in record.conclusion.sentence


def test_features_that_the_list_lacks_appear():
    record = KINDS["selection"]()
    lacking = next(t for t in tables(record) if "outside the list" in t.caption)
    shown = [(row.cells[0].text, row.cells[3].text) for row in lacking.rows]
    assert shown == [
        (f.name, f"{f.n_folds} of {record.n_folds}") for f in record.other_features
    ]
    assert [f.name for f in record.consensus] == report.to_json(record)["consensus"]
    text = Page(report.page(record)).text
    assert "Consensus list, selected in at least half of the folds" in text
    assert "The stability of the selection over the folds is 0.62: 1 means" in text


def test_select_counts_what_folds_selected():
    X, y = make_linear(60, 12, 4, random_state=0)
    record = select(
        "anova", X, y, estimator="nb", n_features_to_select=4, cv=5, random_state=0
    )
    listed = {f.index for f in record.features}
    others = {f.index: f.n_folds for f in record.other_features}
    assert not listed & set(others)
    total = sum(f.n_folds for f in record.features) + sum(others.values())
    assert total == 4 * 5  # every fold selects four features
    assert min(others.values(), default=1) > 0
    assert record.stability is not None
    times = np.array([f.n_folds for f in (*record.features, *record.other_features)])
    share = times / 5
    # Nogueira's measure from the counts alone, by hand: d = 12, k = 4, M = 5.
    spread = (4 / 12) * (1 - 4 / 12)
    expected = 1 - (5 / 4) * (share * (1 - share)).sum() / 12 / spread
    assert np.isclose(record.stability.value, expected)
    assert stability([[0], [0]], 3).value == 1.0
    assert [i.value for i in record.size_intervals] == list(record.size_accuracy)
    assert all(i.low <= i.value <= i.high for i in record.size_intervals)


def test_the_path_has_a_band_and_no_forced_zero():
    record = KINDS["selection"]()
    path = make_curves(record)[0]
    assert path.ribbon
    assert not path.from_zero
    page = report.page(record)
    assert page.count('class="vd-ribbon"') >= 1


def test_a_choice_marks_features_that_folds_do_not_support():
    found = KINDS["choice"]()
    times = {"always": found.n_folds, "seldom": 1, "never": 0}
    features = [SelectedFeature(0, name, 1.0, n) for name, n in times.items()]
    record = replace(found, features=tuple(features))
    supports = [one["support"] for one in report.to_json(record)["features"]]
    assert supports == ["half", "weak", "none"]
    listed = next(t for t in tables(record) if "on all samples" in t.caption)
    assert [row.cells[-1].text for row in listed.rows] == ["", "weak", "in no fold"]
    page = Page(report.page(record))
    assert "Some listed features were selected in no fold." in page.text
    assert "never in none." in page.text


def test_a_selector_without_scores_has_no_column_of_scores():
    record = KINDS["selection-unstable"]()
    assert all("Score" in [c.header for c in t.columns] for t in listed(record))
    without = {
        key: tuple(replace(f, score=None) for f in getattr(record, key))
        for key in ("features", "other_features")
    }
    for one in listed(replace(record, **without)):
        assert "Score" not in [column.header for column in one.columns]
        assert {len(row.cells) for row in one.rows} == {len(one.columns)}


def listed(record):
    """Find the tables of features."""
    found = [t for t in tables(record) if "Feature" in [c.header for c in t.columns]]
    assert len(found) == 2
    return found


def test_the_headline_names_the_interval():
    sentence = KINDS["selection"]().conclusion.sentence
    assert (
        "(95 % interval 80.0 to 95.0 %, measured coverage 93.0 to 99.0 %)" in sentence
    )
