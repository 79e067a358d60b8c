"""What the page says, and what nobody can make it say."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter

import numpy as np
import pytest
from tests.report import records
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page

from veridical import report

SECTIONS = [
    "Accuracy, pair by pair",
    "Mean accuracy",
    "Difference between the selectors",
    "Optimism of selecting on all samples",
    "Selected features",
    "What may be claimed",
    "Method and provenance",
]


def source(record, tmp_path):
    return report.save(record, tmp_path / "page.html").read_text(encoding="utf-8")


def read(record, tmp_path):
    return Page(source(record, tmp_path))


# ---- its parts ------------------------------------------------------------------


def test_every_section_is_there_in_reading_order(tmp_path):
    page = read(records.honest(), tmp_path)

    assert [level for level, _ in page.headings] == [1] + [2] * len(SECTIONS) + [3]
    assert [text for _, text in page.headings[1:-1]] == SECTIONS


def test_several_estimators_are_also_shown_one_by_one(tmp_path):
    page = read(records.honest(estimators=("SVM", "naive Bayes")), tmp_path)

    assert "Each estimator alone" in [text for _, text in page.headings]
    assert "2 estimators are 2 tests" in page.text


def test_truth_is_shown_where_it_is_known(tmp_path):
    page = read(records.with_truth(), tmp_path)

    assert page.headings[0][1].startswith("ReliefF is truly better than FCBF")
    assert "Which method finds the truth?" in [text for _, text in page.headings]
    assert "only IN was right on 3 of 100 data sets, only OUT on 11" in page.text


def test_only_out_is_never_to_be_believed(tmp_path):
    page = read(records.comparison({"out": (0.95, 0.7)}, samples=100), tmp_path)

    assert "you may not believe it" in page.headings[0][1]
    assert "Optimism of selecting on all samples" not in [t for _, t in page.headings]


def test_provenance_tells_how_to_repeat_it(tmp_path):
    page = read(records.honest(), tmp_path)

    for words in (
        "no 63 (50.4 %)",
        "10 stratified folds",
        "veridical compare --seed 0",
    ):
        assert words in page.text


def test_features_are_counted_per_fold(tmp_path):
    record = records.honest()
    counts = Counter(record.selected["in"][0].ravel().tolist())
    index, most = max(counts.items(), key=lambda item: item[1])

    page = read(record, tmp_path)

    assert re.search(rf"\bx{index}\s?{most} of 10", page.text)


def test_many_features_scroll_under_their_head(tmp_path):
    names = tuple(f"gene {i}" for i in range(2000))
    rng = np.random.default_rng(0)
    record = records.honest(feature_names=names, n_repeats=20)
    few = {method: chosen % 20 for method, chosen in record.selected.items()}
    wide = {m: rng.integers(0, 2000, s.shape) for m, s in record.selected.items()}

    def tall(selected):
        changed = records.honest(feature_names=names, n_repeats=20, selected=selected)
        page = read(changed, tmp_path)
        boxes = [v for t, n, v in page.attributes if (t, n) == ("div", "class")]
        return boxes.count("vd-scroll vd-tall"), page.text

    # The accuracies behind the picture are many either way.
    before, text = tall(few)
    assert "more were chosen" not in text
    after, text = tall(wide)
    assert after == before + 1
    assert re.search(r"\d+ features more were chosen, less often; --json", text)
    assert text.count("gene ") >= 500


def test_hundreds_of_folds_are_drawn_as_repeats(tmp_path):
    page = read(records.honest(n_repeats=20), tmp_path)

    assert "n = 20 repeats" in page.text
    assert "200 folds" in page.text


# ---- the artefact ---------------------------------------------------------------


def test_random_labels_are_called_an_artefact_in_words(tmp_path):
    page = read(records.random_labels(), tmp_path)

    assert page.headings[0][1].startswith("Neither selector is shown to be better than")
    for name in records.NAMES:
        assert re.search(
            rf"The OUT accuracy of {name}, \d+\.\d %, is an artefact of selecting on "
            "the same data",
            page.text,
        )
    assert (
        "not shown to be better than always predicting the most frequent class (50.4 %)"
        in page.text
    )


@pytest.mark.parametrize("kind", ["honest", "undecided", "with_truth"])
def test_honest_accuracies_are_not_called_an_artefact(kind, tmp_path):
    page = read(getattr(records, kind)(), tmp_path)

    assert "artefact" not in page.text


# ---- a closed page --------------------------------------------------------------


def test_nothing_is_loaded_from_anywhere(tmp_path):
    text = source(records.with_truth(), tmp_path)
    page = Page(text)

    links = [a for a in page.attributes if a[1] in ("src", "href", "srcset", "data")]
    inside = [link for link in links if link[:2] == ("a", "href")]
    assert all(link[2].startswith("#") for link in inside)
    assert [link for link in links if link not in inside] == [
        ("link", "href", "data:,")
    ]
    assert not re.search(r"https?:|@import|url\(", text)
    tags = Counter(tag for tag, _ in page.elements)
    assert tags["script"] == 1
    assert not {"iframe", "object", "embed"} & set(tags)
    assert "style" not in {name for _, name, _ in page.attributes}


def test_policy_allows_our_style_sheet_and_script_and_nothing_else(tmp_path):
    text = source(records.honest(), tmp_path)
    policy = next(
        value
        for tag, name, value in Page(text).attributes
        if tag == "meta" and name == "content" and "default-src" in value
    )
    style, script = (
        base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        for tag in ("style", "script")
        for inside in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    )

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{style}'",
        f"script-src 'sha256-{script}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_page_can_be_read_without_seeing_it(tmp_path):
    page = read(records.with_truth(), tmp_path)
    attributes = {(tag, name): value for tag, name, value in page.attributes}
    tags = Counter(tag for tag, _ in page.elements)

    assert attributes["html", "lang"] == "en"
    assert tags["caption"] == tags["table"] > 5
    assert all("scope" in names for tag, names in page.elements if tag == "th")
    pictures = [v for t, n, v in page.attributes if (t, n) == ("svg", "aria-label")]
    assert len(pictures) == 3
    assert all("mean accuracy ReliefF" in words for words in pictures)
    hidden = [n for t, n in page.elements if t == "svg" and "role" not in n]
    assert all("aria-hidden" in names for names in hidden)


# ---- hostile names --------------------------------------------------------------


def named(text, second):
    features = tuple(f"{text}{i}" for i in range(30))
    return records.with_truth(
        names=(text, second),
        feature_names=features,
        class_names=(text, second),
        data_name=text,
        estimators=(text, second),
        recommendation=text,
        settings={"command": text, text: text},
    )


@pytest.mark.parametrize("payload", PAYLOADS[::8])  # all of them: test_markup_injection
def test_no_name_becomes_markup(payload, tmp_path):
    hostile = Page(source(named(payload, payload + " 2"), tmp_path))
    harmless = Page(source(named("name", "name 2"), tmp_path))

    assert Counter(hostile.elements) == Counter(harmless.elements)
    assert hostile.other == harmless.other
    assert Page(report.fragment(named(payload, payload + " 2"))).other == []


def test_names_are_shown_as_they_are(tmp_path):
    page = read(named("<b>x</b> & \"y\" 'z'", "other"), tmp_path)

    assert page.headings[0][1].startswith("<b>x</b> & \"y\" 'z' is truly better")


def test_endless_names_are_cut(tmp_path):
    text = source(named("x" * 100_000, "y" * 100_000), tmp_path)

    assert len(text) < 400_000


# ---- notebooks ------------------------------------------------------------------


def test_fragment_is_the_first_part_of_the_page():
    record = records.honest()
    fragment = Page(report.fragment(record))

    assert fragment.headings[0][0] == 1
    assert {"html", "head", "body", "meta"}.isdisjoint(t for t, _ in fragment.elements)
    assert "id" not in {name for _, name, _ in fragment.attributes}
    assert record._repr_html_() == report.fragment(record)


def test_a_comparison_made_in_python_tells_its_call_and_its_table(tmp_path):
    from veridical._core.hashing import table_hash
    from veridical.comparison import compare
    from veridical.datasets import make_linear

    X, y = make_linear(60, random_state=0)
    record = compare(
        ["anova", "correlation"], X, y, n_features_to_select=5, cv=3, random_state=0
    )
    assert "command" not in record.settings
    page = record.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "To repeat this analysis" in page
    call = (
        "compare(['anova', 'correlation'], X, y, n_features_to_select=5, cv=3, "
        "random_state=0)"
    )
    assert f"from veridical.comparison import compare\n{call}" in html.unescape(page)
    assert table_hash(X, y) in page
    assert "AnovaF" in page
