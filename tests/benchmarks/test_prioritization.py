"""The findings of differential prioritization that were looked into again."""

import csv

import numpy as np
from benchmarks.truth import prioritization as again

from veridical.selection import DifferentialPrioritization, class_relevance
from veridical.selection import count_class_features as count_by_us


def draw():
    """Samples of three classes, and 130 genes of which some tell them apart."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 12)
    X = rng.normal(size=(36, 130))
    X[:, :12] += rng.normal(size=(3, 12))[codes]
    return X, codes


def test_the_search_in_numpy_is_that_of_the_selector():
    X, codes = draw()
    chosen = again.select(X, codes)
    ours = DifferentialPrioritization(again.SIZE, alpha=again.ALPHA).fit(X, codes)
    assert chosen == ours.order_[: again.SIZE].tolist()


def test_class_features_are_counted_as_in_the_study():
    X, codes = draw()
    chosen = again.select(X, codes)
    ours = count_by_us(class_relevance(X, codes), np.array(chosen))
    assert again.count(X, codes, chosen, again.SIZE) == ours.tolist()


def test_the_page_has_the_measured_table():
    with again.FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shown = again.PAGE.read_text(encoding="utf-8")
    shown = shown.split(again.BEGIN)[1].split(again.END)[0]
    assert shown.strip() == again.tabulate(rows).strip()
    assert {row["data"] for row in rows if row["question"] == "means"} >= {"SRBC"}
