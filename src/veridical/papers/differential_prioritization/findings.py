"""The findings of the prioritization paper as checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from veridical.experiments import (
    Check,
    Interval,
    Outcome,
    PaperStudy,
    StudyReport,
    decide_if_enough,
    fit_slope,
    format_count,
    format_interval,
    format_number,
    rank_correlation,
)
from veridical.papers.differential_prioritization.figures import (
    DataSetResult,
    PredictorSetResults,
    correlate_with_classes,
    draw_pictures,
    make_tables,
    over_splits,
)
from veridical.papers.expression import DATA

#: Numbers of data sets and of splits; with fewer, findings are open.
_ENOUGH_DATA, _ENOUGH_SPLITS = 5, 5
#: More than this many classes are "many classes" in the paper's first hypothesis.
_MANY_CLASSES = 6


def report(study: PaperStudy, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells.

    Parameters
    ----------
    study : PaperStudy
        The study.
    frame : DataFrame
        As `veridical.papers.differential_prioritization.study` describes it.
    """
    figures = PredictorSetResults.from_cells(frame)
    results = figures.with_relevance("all-classes")
    checks = [
        *_check_trends(results),
        *_check_imbalance(results),
        *_check_accuracy_and_features(results),
        *_one_vs_all(figures),
        *_check_tradeoff(results),
    ]
    tables, pictures = make_tables(figures), draw_pictures(figures)
    return study.make_report(frame, checks, tables, pictures, _notes(figures))


# -- checks --------------------------------------------------------------------------


def _enough(results: list[DataSetResult]) -> bool:
    splits = min((one.n_splits for one in results), default=0)
    return len(results) >= _ENOUGH_DATA and splits >= _ENOUGH_SPLITS


def _decide_sign(found: Interval, *, below: bool, enough: bool) -> Outcome:
    """Decide whether an interval lies below, or above, zero; open if too few."""
    if not enough:
        return "open"
    low, high = (found.low, found.high) if below else (-found.high, -found.low)
    if high < 0:
        return "reproduced"
    return "not reproduced" if low > 0 else "open"


def _size(results: list[DataSetResult]) -> str:
    splits = min((one.n_splits for one in results), default=0)
    return f"{len(results)} data sets, {format_count(splits, 'split')}"


def _signed(found: Interval) -> str:
    return format_interval(*found, 2, signed=True)


def _check_trends(results: list[DataSetResult]) -> Iterator[Check]:
    """Check what changes with the number of classes K."""
    trends: list[tuple[str, str, Callable[[DataSetResult], float], bool]] = [
        (
            "The best alpha falls with the number of classes",
            "falls (no figures printed)",
            lambda one: one.best_alpha,
            True,
        ),
        (
            "The highest size-averaged accuracy falls with the number of classes",
            "falls",
            lambda one: one.highest,
            True,
        ),
        (
            "The range of class accuracies grows with the number of classes",
            "grows",
            lambda one: one.spread,
            False,
        ),
        (
            "Fewer class features with more classes: mean over classes and alphas",
            "tends to be larger for few classes",
            lambda one: float(one.counts.mean()),
            True,
        ),
    ]
    for statement, published, statistic, below in trends:
        rule = f"Spearman's correlation with K is {'below' if below else 'above'} 0"
        if len(results) < 3:
            ours = f"{_size(results)} are too few"
            yield Check(statement, "open", published, ours, rule)
            continue
        found = correlate_with_classes(results, statistic)
        outcome = _decide_sign(found, below=below, enough=_enough(results))
        ours = f"{_signed(found)}, {_size(results)}"
        yield Check(statement, outcome, published, ours, rule)


def _tally(
    statement: str,
    published: str,
    rule: str,
    held: dict[str, bool],
    shown: dict[str, str],
    results: list[DataSetResult],
    wanted: int | None = None,
) -> Check:
    """Count the data sets on which a rule holds; all, or `wanted`, must."""
    if not held:
        return Check.without_data(statement, published, rule)
    least = len(held) if wanted is None else wanted
    n = sum(held.values())
    outcome = decide_if_enough(n >= least, int(_enough(results)), 1)
    details = ", ".join(f"{title} {text}" for title, text in shown.items())
    ours = f"on {n} of {len(held)} data sets: {details}; {_size(results)}"
    return Check(statement, outcome, published, ours, rule)


def _check_imbalance(results: list[DataSetResult]) -> Iterator[Check]:
    """Check the relevance of predictor sets to the classes."""
    many = [one for one in results if one.n_classes >= 3]
    yield _tally(
        "Class relevance is unbalanced already at the smallest alpha",
        "most minus least class features above 8 on every data set",
        "above 8, averaged over splits, on every data set",
        {one.title: bool(one.imbalance[0] > 8) for one in many},
        {one.title: f"{one.imbalance[0]:.1f}" for one in many},
        many,
    )
    high = {
        one.title: _imbalance_above(one, 0.7) for one in many if one.alphas[-1] > 0.7
    }
    yield _tally(
        "The imbalance is strongest for alpha above 0.7",
        "strongest there",
        "mean of most minus least class features is larger above 0.7 than up to 0.7, "
        "on every data set",
        {title: a > b for title, (a, b) in high.items()},
        {title: f"{a:.1f} against {b:.1f}" for title, (a, b) in high.items()},
        many,
    )
    near = {one.title: _middle(one) for one in many}
    yield _tally(
        "The median class has class features nearer to the lowest than to the highest",
        "nearer to the least on five data sets, half-way on two",
        "the median lies below the middle on five data sets or more",
        {title: share < 0.5 for title, share in near.items()},
        {
            title: f"at {100 * share:.0f} % of the range"
            for title, share in near.items()
        },
        many,
        wanted=5,
    )


def _imbalance_above(one: DataSetResult, alpha: float) -> tuple[float, float]:
    high = one.alphas > alpha + 1e-9
    return float(one.imbalance[high].mean()), float(one.imbalance[~high].mean())


def _middle(one: DataSetResult) -> float:
    """Return the place of the median class between lowest (0) and highest (1)."""
    most, median, least = (float(part.mean()) for part in one.class_feature_range())
    return (median - least) / (most - least) if most > least else 0.5


def _check_accuracy_and_features(results: list[DataSetResult]) -> Iterator[Check]:
    """Check whether classes with more class features have higher accuracies."""
    features = [one.counts[one.at_best] for one in results]
    accuracy = [one.class_accuracy for one in results]
    if not results:
        return
    x, y = np.concatenate(features), np.concatenate(accuracy)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    n = f"{x.size} classes of {_size(results)}"
    rule = "Spearman's correlation over all classes is above 0, its interval as well"
    statement = "Class accuracy rises with class features"
    if x.size < 8:
        yield Check(statement, "open", "rises", f"{n} are too few", rule)
        return
    found = rank_correlation(x, y)
    outcome = _decide_sign(found, below=False, enough=_enough(results))
    yield Check(statement, outcome, "rises", f"{_signed(found)}, {n}", rule)
    low = x <= np.median(x)
    slopes = [fit_slope(x[part], y[part]).value for part in (low, ~low)]
    below, above = (format_number(slope, 2, signed=True) for slope in slopes)
    yield Check(
        "Then class accuracy stops rising",
        decide_if_enough(slopes[1] < slopes[0], int(_enough(results)), 1),
        "stagnates or falls (NCI60, MLL, AML/ALL)",
        f"{below} points per feature below the median of {np.median(x):.0f} features, "
        f"{above} above; {n}",
        "the slope above the median is smaller than below",
    )


def _one_vs_all(figures: PredictorSetResults) -> Iterator[Check]:
    pairs = figures.pairs()
    several = [(a, b) for a, b in pairs if a.n_classes >= _MANY_CLASSES]
    results = [a for a, _ in pairs]
    gaps = {
        a.title: (float(a.imbalance.mean()), float(b.imbalance.mean()))
        for a, b in several
    }
    yield _tally(
        "One-vs-all relevance is more balanced over classes, with 6 classes or more",
        "argued for",
        "most minus least class features, averaged over alphas, is smaller one-vs-all "
        "on each of these data sets",
        {title: b < a for title, (a, b) in gaps.items()},
        {title: f"{a:.1f} to {b:.1f}" for title, (a, b) in gaps.items()},
        results,
    )
    for a, b in pairs:
        if a.n_classes <= _MANY_CLASSES:
            continue
        gain = over_splits(b.A[b.at_best] - a.A[a.at_best], a.data)
        ours = f"{format_interval(*gain, signed=True)} points"
        yield Check(
            f"With many classes one-vs-all relevance is more accurate: {a.title}, "
            f"{a.n_classes} classes",
            _decide_sign(gain, below=False, enough=a.n_splits >= _ENOUGH_SPLITS),
            "relevance for all classes at once is inefficient above 6 classes",
            f"{ours}, {a.n_splits} splits",
            "one-vs-all minus all classes, each at its best alpha, is above 0",
        )


def _check_tradeoff(results: list[DataSetResult]) -> Iterator[Check]:
    """Check that alpha weighs relevance against antiredundancy."""
    for statement, rule, values in (
        (
            "A predictor set is more correlated at the largest than at the least alpha",
            "mean |R| is larger on every data set",
            {one.title: one.correlation.mean(axis=1) for one in results},
        ),
        (
            "A predictor set is more relevant at the largest than at the least alpha",
            "mean BSS/WSS is larger on every data set",
            {one.title: one.relevance.mean(axis=1) for one in results},
        ),
    ):
        yield _tally(
            statement,
            "by construction",
            rule,
            {title: bool(v[-1] > v[0]) for title, v in values.items()},
            {title: f"{v[0]:.2f} to {v[-1]:.2f}" for title, v in values.items()},
            results,
        )


# -- notes ---------------------------------------------------------------------------


def _notes(figures: PredictorSetResults) -> Iterator[str]:
    yield (
        "Accuracies are averaged over predictor sets of 2 genes up to the largest. "
        "Intervals of correlations with the number of classes contain 95 % of the "
        "values on resampled splits: they measure the variation over splits, not over "
        "data sets."
    )
    yield (
        "A finding with an interval is reproduced where the whole interval meets the "
        "rule, not reproduced where the whole interval fails it, and open otherwise; a "
        "finding without an interval is decided by its value. Below "
        f"{_ENOUGH_DATA} data sets or {_ENOUGH_SPLITS} splits everything is open."
    )
    yield (
        "The highest accuracy is that of the alpha that did best on the same test "
        "samples, as in the paper, so it is slightly optimistic. Use alpha='auto' to "
        "choose alpha inside the training data."
    )
    yield (
        "Class features of a class: of the largest predictor set, how many are among "
        "as many genes that separate this class best from the rest on the training "
        "data."
    )
    yield (
        "Genes were filtered on all samples, without their labels, as published; "
        "relevance and correlations are those of the training samples."
    )
    names = {data for _, data in figures.results}
    different = [
        f"{row.title} ({row.difference})"
        for name, row in DATA.items()
        if name in names and row.difference
    ]
    if different:
        yield f"Not the paper's own data: {'; '.join(different)}."
    missing = [row.title for name, row in DATA.items() if name not in names]
    if missing:
        yield f"Not in this run: {', '.join(missing)}."
