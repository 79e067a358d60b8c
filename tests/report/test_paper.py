"""Tables and words for a paper: right figures, and names that stay names."""

import re

import pytest
from tests.report import audit_records, estimates_records, records

from veridical import report as paper
from veridical._core.errors import InputError
from veridical._core.numbers import percent
from veridical.comparison import compare
from veridical.datasets import make_linear
from veridical.report import to_json


@pytest.fixture(scope="module")
def many():
    X, y = make_linear(60, 12, 4, random_state=0)
    return compare(
        ["anova", "correlation", "fcbf"],
        X,
        y,
        estimator="nb",
        n_features_to_select=4,
        cv=5,
        random_state=0,
    )


@pytest.fixture(params=["two", "truth", "many", "estimates", "audit"])
def record(request, many):
    return {
        "two": records.honest,
        "truth": records.with_truth,
        "many": lambda: many,
        "estimates": estimates_records.estimates,
        "audit": audit_records.leaky,
    }[request.param]()


def test_markdown_has_a_rule_and_equal_rows(record):
    lines = paper.to_markdown(record).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) >= 3
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert set(rows[1]) <= set("|-: ")


def test_latex_has_as_many_columns_as_it_says(record):
    text = paper.to_latex(record)
    (columns,) = re.findall(r"begin{tabular}{(\w+)}", text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) >= 2
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
    assert not re.findall(r"(?<!\\)%", text)  # a bare one would hide what follows


def test_the_figures_are_those_of_the_record():
    record = records.honest()
    table = paper.view(record).tables[0]
    summary = to_json(record)
    for row, method in zip(table.rows, summary["methods"], strict=True):
        assert row.cells[1].text == percent(method["a"]["value"])
        assert row.cells[2].text == percent(method["b"]["value"])


def test_the_paragraph_names_protocol_test_and_size(many):
    words = paper.method_section(many)
    assert "selected anew in each training set (IN) of stratified 5-fold" in words
    assert "corrected resampled t" in words
    assert "Holm" in words
    assert "Friedman" in words
    assert re.search(r"false-positive rate of this test (is|has not been) ", words)
    assert "random state 0" in words
    two = paper.method_section(records.honest())
    assert "We compared" in two
    assert two.count(".") > 3


def test_names_are_only_names():
    bad = r"a_b & 50% | <b>\input{x}*"
    record = records.honest(names=(bad, "plain"))
    latex = paper.to_latex(record)
    assert r"a\_b \& 50\% | $<$b$>$\textbackslash{}input\{x\}*" in latex
    assert r"\| \<b>\\input{x}\*" in paper.to_markdown(record)


def test_what_is_no_record_says_so():
    with pytest.raises(InputError, match="no report is known for a object"):
        paper.to_latex(object())


def test_records_offer_it_themselves(record):
    assert record.to_markdown() == paper.to_markdown(record)
    assert record.to_latex() == paper.to_latex(record)
    assert record.method_section() == paper.method_section(record)
