"""The page of several selectors: numbers, sentences, critical differences."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.report import injection_payloads
from tests.report.markup import Page

from veridical import report
from veridical._core.records import DataSummary
from veridical.comparison import compare
from veridical.evaluation.conclusions import write_coverage
from veridical.report.render import svg
from veridical.report.view import Figure
from veridical.report.views.comparison import ManySummary


class Fixed:
    """Ranks the columns in an order of its own."""

    def __init__(self, first):
        self.first = first

    def rank_many(self, X, y, train_sets):
        merit = X[0] if self.first else -X[0]
        return [np.argsort(merit) for _ in train_sets]


def made(gap=0.0, methods=("in", "out"), names=("Alpha", "Beta", "Gamma"), **options):
    rng = np.random.default_rng(0)
    y = np.resize(["no", "yes"], 100)
    X = rng.normal(size=(100, 9))
    X[:, :3] += gap * (y == "yes")[:, None]
    X[0] = np.arange(9)  # the first row tells a selector which columns are good
    selectors = dict(zip(names, (Fixed(True), Fixed(False), Fixed(False)), strict=True))
    return compare(
        selectors,
        X,
        y,
        n_features_to_select=3,
        estimator="nb",
        methods=methods,
        random_state=0,
        **options,
    )


@pytest.fixture(scope="module")
def decided():
    return made(2.0)


def test_intervals_of_means_carry_their_measured_coverage(decided):
    page = report.page(decided).replace("\N{NO-BREAK SPACE}", " ")

    assert decided.coverage is not None
    assert f"covered the truth in {write_coverage(decided.coverage)}" in page


def test_places_that_a_selector_left_empty_are_no_feature(decided):
    """A selector that returns fewer features than asked for fills up with -1."""
    before = report.to_json(decided)["selectors"][0]["n_distinct"]
    selected = {method: chosen.copy() for method, chosen in decided.selected.items()}
    selected["in"][0, 0, 0, -1] = -1
    again = report.to_json(replace(decided, selected=selected))
    assert again["selectors"][0]["n_distinct"] == before
    assert all(feature["index"] >= 0 for feature in again["features"])


def test_summary_survives_json(decided):
    summary = report.to_json(decided)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == set(ManySummary.__annotations__)


def test_the_first_sentence_answers(decided):
    words = report.to_json(decided)["words"]
    assert words["belief"] == "yes"
    assert words["headline"].startswith("Alpha is better than Beta and Gamma")
    assert "mean rank 1.00" in words["evidence"]
    assert "by Friedman's test in Iman and Davenport's form." in words["evidence"]
    assert "False-positive rate of this test: " in words["evidence"]
    undecided = report.to_json(made())["words"]
    assert undecided["belief"] == "open"
    assert "do not show which of the 3 selectors is best" in undecided["headline"]
    leaky = report.to_json(made(2.0, methods=("out",)))["words"]
    assert leaky["belief"] == "no"


@pytest.mark.parametrize(
    ("better", "starts", "evidence", "more"),
    [
        # The same selector is better than two others.
        (
            ("Alpha", "Alpha", None),
            "Alpha is better than Gamma and Beta ",
            "the strongest difference from Gamma is ",
            False,
        ),
        # Two selectors are better than one other each.
        (
            ("Alpha", None, "Beta"),
            "Beta is better than Gamma ",
            "the strongest difference is ",
            True,
        ),
    ],
)
def test_the_headline_names_the_strongest_difference(
    decided, better, starts, evidence, more
):
    """Of p = 0.031 and p = 0.014 the second, though its pair comes later."""
    pvalues = {"Alpha": 0.014, "Beta": 0.014, None: 0.4}
    pairs = [
        pair._replace(better=name, adjusted=pvalues[name] if i else 0.031)
        for i, (pair, name) in enumerate(zip(decided.pairs["in"], better, strict=True))
    ]
    record = replace(decided, pairs={**decided.pairs, "in": tuple(pairs)})

    headline = report.to_json(record)["words"]["headline"]

    headline = headline.replace("\N{NO-BREAK SPACE}", " ")
    assert headline.startswith(starts)
    assert evidence in headline
    assert "p = 0.014" in headline
    assert "0.031" not in headline
    assert ("1 other difference is significant too." in headline) == more


def test_a_test_that_claims_too_much_is_believed_with_care():
    record = made(1.0, test="paired-t", cv="10x10")
    words = report.to_json(record)["words"]
    assert words["belief"] == "care"
    assert (
        "rejects too often in such a design (false-positive rate of the test "
        in words["headline"]
    )


def test_sizes_stand_beside_pvalues(decided):
    sizes = report.to_json(decided)["words"]["sizes"]
    assert sizes[0].startswith(
        "IN, pairs (corrected resampled t test): false-positive rate of the test "
    )
    assert "% (measured; nominal 5 %)" in sizes[0]
    assert "measured designs nearest to this one: 10 folds under IN, " in sizes[0]
    assert "data sets on which neither selector is better" in sizes[0]
    assert sizes[1].startswith(
        "IN, Friedman's test treats folds as independent: false-positive rate "
    )
    page = report.page(decided)
    assert "measured" in page


def test_the_picture_shows_ranks_and_groups(decided):
    figure = report.view(decided).sections[0].blocks[0]
    assert isinstance(figure, Figure)
    assert figure.panels[0].protocol == "in"
    picture = ET.fromstring(svg.draw(figure)[0])
    dots = [e for e in picture.iter() if e.tag.endswith("circle")]
    assert len(dots) == 3
    (clique,) = (e for e in picture.iter() if e.get("class") == "vd-clique")
    line = next(e for e in clique if e.tag.endswith("line"))
    place = [float(line.get(end).rstrip("%")) for end in ("x1", "x2")]
    # Beta and Gamma share their rank, 2.5 of 3: three quarters of the way.
    at = svg.RANK_LEFT + 0.75 * (svg.RANK_RIGHT - svg.RANK_LEFT)
    assert place == pytest.approx([at - 0.5, at + 0.5], abs=0.1)
    words = picture.get("aria-label")
    assert "mean ranks over 10 folds, 1 is best: Alpha 1.00, Beta 2.50" in words
    assert "Not distinguished: Beta and Gamma." in words


def test_the_page_is_whole_and_closed(decided, tmp_path):
    text = decided.save(tmp_path / "many.html").read_text()
    page = Page(text)
    assert [level for level, _ in page.headings][:2] == [1, 2]
    for name in decided.names:
        assert text.count(name) > 3
    assert "http" not in text.split("</head>")[1].replace("http-equiv", "")
    assert "Holm" in text
    assert text.count("<script") == 1
    assert decided._repr_html_().startswith("<style>")


def test_names_with_markup_stay_text(decided):
    tame = Page(report.page(decided))
    for bad in injection_payloads.PAYLOADS[::6]:
        record = replace(decided, names=(bad, "Beta", "Gamma"), recommendation=bad)
        wild = Page(report.page(record))
        assert wild.elements == tame.elements


def test_data_is_described(decided):
    assert isinstance(decided.data, DataSummary)
    assert report.to_json(decided)["data"]["n_samples"] == 100
