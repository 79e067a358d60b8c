"""The accuracy paper's table 1 and its figures, from ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from veridical._core.numbers import number
from veridical._core.records import Interval
from veridical.experiments.findings import Curve, Picture, StudyTable
from veridical.papers.accuracy_data import TABLE_1, Published
from veridical.papers.accuracy_figures import TITLES, Figures, Mean, spread

# -- table 1 -------------------------------------------------------------------------


def make_table_1(figures: Figures) -> tuple[StudyTable, StudyTable]:
    """Put our counts, and our true accuracies, beside the published ones."""
    counts, accuracies = [], []
    for data in figures.data():
        row, facts = TABLE_1[data], figures.facts.get(data)
        counts.append(
            (
                row.title,
                _beside(facts, row, "n_attributes"),
                f"{row.n_sample} of {_beside(facts, row, 'n_cases')}",
                _beside(facts, row, "n_classes"),
                _beside(facts, row, "duplicates"),
            )
        )
        of_learners = []
        for learner in TITLES:
            truth = figures.truth(data, learner)
            of_learners.append("–" if truth is None else _plus_minus(truth))
            of_learners.append("{:.2f} ± {:.2f}".format(*row.accuracy(learner)))
        accuracies.append((row.title, *of_learners))
    return (
        StudyTable(
            "Table 1: the true accuracies",
            ("Data set", "C4.5, %", "published, %", "Naive Bayes, %", "published, %"),
            tuple(accuracies),
            (
                "True accuracy: learn from a random sample, test on all other cases; "
                "mean over the holdouts ± standard deviation of that mean.",
            ),
        ),
        StudyTable(
            "Table 1: the data",
            ("Data set", "Attributes", "Sample of all cases", "Classes", "Duplicates"),
            tuple(counts),
            (
                "In parentheses stands what the paper has instead.",
                "A duplicate agrees with an earlier case in all columns and the class.",
            ),
        ),
    )


def _beside(facts: pd.Series | None, row: Published, name: str) -> str:
    published = getattr(row, name)
    if facts is None:
        return f"– ({published})"
    ours = int(facts[name])
    return str(ours) if ours == published else f"{ours} ({published})"


def _plus_minus(mean: Mean) -> str:
    if not np.isfinite(mean.error):
        return f"{mean.value:.2f}"
    return f"{mean.value:.2f} ± {mean.error:.2f}"


# -- pictures ------------------------------------------------------------------------

_CURVES = {
    "plain": "Cross-validation",
    "stratified": "Stratified cross-validation",
    "bootstrap": ".632 bootstrap",
}


def draw_pictures(figures: Figures) -> Iterator[Picture]:
    """Bias and standard deviation of each estimate, per data set and learner."""
    folds = figures.settings("plain", "stratified")
    samples = figures.settings("bootstrap")
    sections = (
        ("folds (−k: k cases left out)", tuple(_label(k) for k in folds)),
        ("bootstrap samples", tuple(str(b) for b in samples)),
    )
    for data, learner in figures.pairs():
        truth = figures.truth(data, learner)
        if truth is None:
            continue
        group = TABLE_1[data].title
        _, low, high = truth.interval
        biases, sds = [], []
        for method, label in _CURVES.items():
            axis = [None] * len(folds) + samples if method == "bootstrap" else folds
            places, bias, sd = _curve(figures, (data, learner, method), axis, truth)
            if places:
                biases.append(Curve(label, places, bias))
                sds.append(Curve(label, places, sd))
        if not biases:
            continue
        yield Picture(
            group,
            f"{TITLES[learner]}: bias; true accuracy {truth.words(False, 'holdout')}",
            "bias, points",
            sections,
            tuple(biases),
            Interval(0.0, low - truth.value, high - truth.value),
        )
        yield Picture(
            group,
            f"{TITLES[learner]}: standard deviation of a single run",
            "standard deviation, points",
            sections,
            tuple(sds),
        )


def _curve(
    figures: Figures,
    which: tuple[str, str, str],
    axis: Sequence[int | None],
    truth: Mean,
) -> tuple[tuple[int, ...], tuple[Interval, ...], tuple[Interval, ...]]:
    """Where on the axis a curve has points, their biases and standard deviations."""
    places, biases, sds = [], [], []
    for place, setting in enumerate(axis):
        found = None if setting is None else figures.get(*which, setting)
        if found is None or len(found) < 2:
            continue
        places.append(place)
        mean = Mean.of(found).interval
        biases.append(Interval(*(value - truth.value for value in mean)))
        sds.append(spread(found))
    return tuple(places), tuple(biases), tuple(sds)


def _label(folds: int) -> str:
    return number(folds, 0)
