"""The findings of the accuracy paper as checks.

The published values are those of the paper; where it gives words ("nearly unbiased"),
the rule of a check says how we read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical.experiments import (
    Check,
    Mean,
    PaperStudy,
    StudyReport,
    decide,
    decide_if_enough,
    format_interval,
    format_number,
)
from veridical.papers.accuracy_estimation.figures import (
    LEARNER_TITLES,
    TABLE_1,
    AccuracyRuns,
    draw_pictures,
    make_table_1,
    resample_spreads,
)

#: Allowed difference of a true accuracy, in points: copies of the data, and releases of
#: C4.5, differ.
_TABLE_TOLERANCE = 2.0
#: Largest bias that counts as "nearly unbiased", in points.
_NEARLY = 1.0
#: Number of runs; with fewer, findings without an interval are open.
_ENOUGH_RUNS = 40
#: Number of runs; with fewer, standard deviations are not resampled.
_FEWEST_RUNS = 10

FOLD_KINDS = ("plain", "stratified")


def report(study: PaperStudy, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells.

    Parameters
    ----------
    study : PaperStudy
        The study.
    frame : DataFrame
        data, learner, method, setting, run, status, accuracy, and the counts of the
        data.
    """
    figures = AccuracyRuns.from_cells(frame)
    checks = [
        *_check_cross_validation(figures),
        *_check_stratification(figures),
        *_check_bootstrap(figures),
        *_check_spreads(figures),
        *_check_true_accuracies(figures),
    ]
    return study.make_report(
        frame, checks, make_table_1(figures), draw_pictures(figures), _notes(figures)
    )


# -- checks --------------------------------------------------------------------------


def _decide_value(
    statement: str,
    published: str,
    rule: str,
    found: Mean | None,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    signed: bool = True,
) -> Check:
    """Decide about one value by its interval; signed for a difference."""
    if found is None:
        return Check.without_data(statement, published, rule)
    outcome = decide(found.interval, low, high)
    ours = found.words(signed, "run" if signed else "holdout")
    return Check(statement, outcome, published, ours, rule)


def _on(data: str, learner: str) -> str:
    return f"{LEARNER_TITLES[learner]} on {TABLE_1[data].title}"


def _check_cross_validation(figures: AccuracyRuns) -> Iterator[Check]:
    """Check that 2 folds are pessimistic, and ten to twenty folds nearly unbiased."""
    for data in ("soybean", "vehicle"):
        yield _decide_value(
            f"2-fold cross-validation is pessimistic: {_on(data, 'c45')}",
            "bias below 0",
            "the bias is below 0",
            figures.bias(data, "c45", "plain", 2),
            high=0,
        )
        biases = [figures.bias(data, "c45", "plain", k) for k in (2, 10, 20)]
        yield _falling(data, biases)
    for folds, most, word in ((10, 2.0, "reasonable"), (20, _NEARLY, "almost none")):
        yield _decide_value(
            f"The bias of {folds} folds, over all data sets and both learners",
            word,
            f"the mean bias of stratified folds is within ±{most:g} "
            f"{'point' if most == 1 else 'points'}",
            figures.mean_bias("stratified", folds),
            -most,
            most,
        )


def _falling(data: str, biases: list[Mean | None]) -> Check:
    statement = f"The bias falls with the number of folds: {_on(data, 'c45')}"
    published = "smaller with 10 folds than with 2, a little smaller with 20"
    rule = "|bias(2)| > |bias(10)| ≥ |bias(20)| − 0.3 points"
    if any(bias is None for bias in biases):
        return Check.without_data(statement, published, rule)
    known = [bias for bias in biases if bias is not None]
    two, ten, twenty = (abs(bias.value) for bias in known)
    ours = ", ".join(
        f"{format_number(bias.value, signed=True)} at {k}"
        for k, bias in zip((2, 10, 20), known, strict=True)
    )
    holds = two > ten >= twenty - 0.3
    outcome = decide_if_enough(holds, known[0].n, _ENOUGH_RUNS)
    return Check(statement, outcome, published, f"{ours}, {known[0].n} runs", rule)


def _check_stratification(figures: AccuracyRuns) -> Iterator[Check]:
    """Check how far stratified folds raise the estimate."""
    for learner, published in (("c45", "+7 points"), ("nb", "higher")):
        yield _decide_value(
            f"Stratified 2-fold is higher than plain: {_on('soybean', learner)}",
            published,
            "stratified minus plain is +3 to +10 points",
            figures.gain("soybean", learner, 2),
            3,
            10,
        )
    for data, folds, published in (
        ("soybean", 5, "+4.7 points"),
        ("vehicle", 2, "+2.8 points"),
        ("vehicle", 5, "+1.9 points"),
    ):
        yield _decide_value(
            f"Stratified {folds}-fold is higher than plain: {_on(data, 'c45')}",
            published,
            "stratified minus plain is above 0",
            figures.gain(data, "c45", folds),
            0,
        )


def _check_bootstrap(figures: AccuracyRuns) -> Iterator[Check]:
    """Check where .632 is biased and where it is not."""
    samples = max(figures.settings("bootstrap"), default=0)
    name = f".632 bootstrap of {samples}"
    yield _decide_value(
        f"{name} is optimistic: {_on('vehicle', 'c45')}",
        "+9.8 points",
        "the bias is +5 to +14 points",
        figures.bias("vehicle", "c45", "bootstrap", samples),
        5,
        14,
    )
    for data, learner in (
        ("soybean", "c45"),
        ("vehicle", "nb"),
        ("rand", "c45"),
        ("rand", "nb"),
    ):
        yield _decide_value(
            f"{name} is clearly biased: {_on(data, learner)}",
            "clearly biased",
            f"the bias is above +{_NEARLY:g} point",
            figures.bias(data, learner, "bootstrap", samples),
            _NEARLY,
        )
    for data in ("chess", "hypothyroid", "mushroom"):
        for learner in LEARNER_TITLES:
            yield _decide_value(
                f"{name} is nearly unbiased: {_on(data, learner)}",
                "nearly unbiased",
                f"the bias is within ±{_NEARLY:g} point",
                figures.bias(data, learner, "bootstrap", samples),
                -_NEARLY,
                _NEARLY,
            )


def _check_spreads(figures: AccuracyRuns) -> Iterator[Check]:
    """Check which estimate varies more from sample to sample."""
    yield _two_folds_vary_more(figures)
    yield _stratified_varies_no_more(figures)
    yield _bootstrap_varies_less(figures)


def _fewest_runs(figures: AccuracyRuns) -> int:
    """Return the smallest number of runs of an estimate."""
    return min(
        (len(values) for key, values in figures.cells.items() if key[2] != "truth"),
        default=0,
    )


def _two_folds_vary_more(figures: AccuracyRuns) -> Check:
    def difference(spreads: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        means = [sd[:, :2].mean(axis=1) - sd[:, 2:].mean(axis=1) for sd in spreads]
        return np.mean(means, axis=0)

    which = [(kind, folds) for folds in (2, 10) for kind in FOLD_KINDS]
    return _compare_spreads(
        "2 folds vary more than 10, C4.5, mean over the data sets",
        "more",
        "the mean standard deviation of a run is larger with 2 folds than with 10",
        [figures.runs(data, "c45", which) for data in figures.data()],
        difference,
        signed=True,
        low=0,
    )


def _stratified_varies_no_more(figures: AccuracyRuns) -> Check:
    def ratio(spreads: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        pairs = np.concatenate(spreads, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = pairs[:, 1::2] / pairs[:, ::2]
        return np.nanmean(np.where(np.isfinite(ratios), ratios, np.nan), axis=1)

    # Leave-one-out has no folds to stratify: both are the same number.
    folds = [k for k in figures.settings(*FOLD_KINDS) if k != -1]
    which = [(kind, k) for k in folds for kind in FOLD_KINDS]
    return _compare_spreads(
        "Stratified folds vary no more than plain ones, C4.5",
        "less, or the same",
        "the mean ratio of standard deviations over data sets and folds is at most 1.1",
        [figures.runs(data, "c45", which) for data in figures.data()],
        ratio,
        high=1.1,
    )


def _compare_spreads(
    statement: str,
    published: str,
    rule: str,
    blocks: list[NDArray[np.float64] | None],
    statistic: Callable[[list[NDArray[np.float64]]], NDArray[np.float64]],
    *,
    signed: bool = False,
    low: float = -np.inf,
    high: float = np.inf,
) -> Check:
    """Decide about standard deviations by resampling the runs."""
    known = [block for block in blocks if block is not None and len(block)]
    n = min((len(block) for block in known), default=0)
    if n < _FEWEST_RUNS:
        ours = f"{n} runs are too few" if n else "no data"
        return Check(statement, "open", published, ours, rule)
    found = resample_spreads(known, statistic)
    text = format_interval(*found, 2, signed=signed) + " points" * signed
    ours = f"{text}, {len(known)} data sets, {n} runs"
    return Check(statement, decide(found, low, high), published, ours, rule)


def _bootstrap_varies_less(figures: AccuracyRuns) -> Check:
    statement = "From 20 samples on the bootstrap varies less than 10-fold"
    published = "low variance on all data sets"
    rule = "on every data set, for both learners, against plain and stratified folds"
    counted, exceptions = 0, []
    for data, learner in figures.pairs():
        for samples in figures.settings("bootstrap"):
            mine = figures.sd(data, learner, "bootstrap", samples)
            folds = [figures.sd(data, learner, kind, 10) for kind in FOLD_KINDS]
            if samples < 20 or mine is None or folds[0] is None or folds[1] is None:
                continue
            counted += 1
            if not mine < min(folds[0], folds[1]):
                exceptions.append(f"{_on(data, learner)} with {samples}")
    if not counted:
        return Check.without_data(statement, published, rule)
    n = _fewest_runs(figures)
    ours = f"on {counted - len(exceptions)} of {counted}, {n} runs"
    if exceptions:
        ours += f"; not {', '.join(exceptions)}"
    return Check(
        statement,
        decide_if_enough(not exceptions, n, _ENOUGH_RUNS),
        published,
        ours,
        rule,
    )


def _check_true_accuracies(figures: AccuracyRuns) -> Iterator[Check]:
    """Check table 1, where the features are the paper's."""
    for data, row in TABLE_1.items():
        for learner in LEARNER_TITLES:
            value, error = row.accuracy(learner)
            strict = (data, learner) == ("breast", "nb")
            within = 0.5 if strict else _TABLE_TOLERANCE
            check = _decide_value(
                f"True accuracy of {_on(data, learner)}, {row.n_sample} samples",
                f"{value:.2f} ± {error:.2f} %",
                f"within ±{within:g} points",
                figures.truth(data, learner),
                value - within,
                value + within,
                signed=False,
            )
            yield _open_if_features_differ(check, figures, data)


def _open_if_features_differ(check: Check, figures: AccuracyRuns, data: str) -> Check:
    facts, published = figures.facts.get(data), TABLE_1[data].n_attributes
    if facts is None or int(facts["n_attributes"]) == published:
        return check
    ours = (
        f"{check.ours}; this copy has {int(facts['n_attributes'])} attributes, the "
        f"paper's had {published}"
    )
    return Check(check.statement, "open", check.published, ours, check.rule)


# -- notes ---------------------------------------------------------------------------


def _notes(figures: AccuracyRuns) -> Iterator[str]:
    yield (
        "Bias is the mean estimate minus the true accuracy, in percentage points; "
        "intervals are 95 % t intervals for means over random samples of these files."
    )
    yield (
        "Bars are 95 % intervals (of a standard deviation: for normally distributed "
        "estimates); the grey band is the 95 % interval of the true accuracy."
    )
    yield (
        "A finding is reproduced where the whole interval meets the rule, not "
        "reproduced where the whole interval fails it, and open otherwise. Intervals "
        "of differences and ratios of standard deviations are percentiles over "
        f"resampled runs; figures without an interval stay open below {_ENOUGH_RUNS} "
        "runs."
    )
    missing = [row.title for name, row in TABLE_1.items() if name not in figures.data()]
    if missing:
        yield (
            f"Not in this run: {', '.join(missing)}; what the paper says of them is "
            "open."
        )
    runs = {len(values) for key, values in figures.cells.items() if key[2] != "truth"}
    if len(runs) > 1:
        yield (
            f"The study is not complete: there are {min(runs)} to {max(runs)} runs of "
            "each estimate."
        )
