"""What the pages of tests, studies and discoveries say beside their numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report import small_records, study_pages
from tests.report.all_records import KINDS
from tests.report.page_texts import plain

from veridical import report
from veridical.report.view import Curves, Figure, Rows


def blocks(view, kind):
    """Find the blocks of a kind."""
    return [b for section in view.sections for b in section.blocks if type(b) is kind]


def test_a_share_of_all_data_sets_comes_with_their_number():
    view = report.view(small_records.truthfulness())
    assert view.lead == (
        "Binomial test on 10 data sets where one alone was right, of 40 in all, at the "
        "significance level 5 %."
    )
    (rows,) = blocks(view, Rows)
    assert "as a share of the data sets (10 data sets" in rows.caption
    assert "of 40 in all" in rows.caption


def test_probabilities_without_a_sentence_of_their_own_begin_with_one():
    headline = small_records.calibration().conclusion.sentence
    assert headline.startswith('The model "uncorrected" misclassifies 8.0 % of 200')
    unnamed = replace(small_records.calibration(), label="")
    assert unnamed.conclusion.sentence.startswith("The classifier misclassifies")


def test_boxes_of_several_papers_are_in_the_order_of_several_tables():
    captions = [
        next(b.caption for b in blocks(report.view(KINDS[kind]()), Figure) if b.caption)
        for kind in ("study", "studies")
    ]
    assert "in the order of the table: " in captions[0]
    assert "in the order of the tables below: " in captions[1]


def test_a_study_that_is_complete_has_nothing_so_far():
    assert "so far" in study_pages.watched(plain)
    page = study_pages.finished(plain)
    assert "so far" not in page
    assert "may still change" not in page


@pytest.mark.parametrize(
    ("rate", "interval", "missed"),
    [("fdr", "99 % interval", "10 %"), ("pfer", "99.5 % interval", "5 %")],
)
def test_intervals_of_chosen_features_have_their_confidence(rate, interval, missed):
    record = replace(KINDS["discoveries"](), rate=rate)
    assert record.claimed.size == 4  # of 40
    rows = next(b for b in blocks(report.view(record), Rows) if "q-value" in b.caption)
    assert interval in [column.header for column in rows.columns]
    assert f"the false coverage rate is at most {missed}" in rows.caption


def test_curves_do_not_say_their_unit_twice():
    said = [
        block.title
        for kind in ("estimates-survival", "selection")
        for block in blocks(report.view(KINDS[kind]()), Figure)
    ]
    assert any(text.endswith("(without the event, %)") for text in said)
    assert any(text == "Antiredundancy of the first features" for text in said)
    # The axis is one of the two that the title names.
    drawn = Curves("", "Precision and recall", "precision", (("recall", ("0",)),), ())
    assert Figure.from_curves(drawn).title == "Precision and recall (precision)"
