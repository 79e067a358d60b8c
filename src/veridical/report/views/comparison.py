"""Two or more selectors compared: which is better, and may I believe it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, TypeVar

import numpy as np
from typing_extensions import TypedDict

from veridical._core.arrays import FloatArray
from veridical._core.numbers import (
    MINUS,
    MISSING,
    count,
    number,
    percent,
    percent_range,
    pvalue,
    seconds,
)
from veridical._core.records import SIDES, Setting, Side
from veridical._core.text import capitalized, listing, shortened
from veridical.comparison.conclusions import describe_interval, paired_accuracies
from veridical.comparison.records import (
    Comparison,
    MeasuredSize,
    PairVerdict,
    Verdict,
    Winner,
)
from veridical.evaluation.arguments import name_of
from veridical.evaluation.conclusions import say_coverage
from veridical.report.plain import (
    CoverageSummary,
    DataInfo,
    IntervalSummary,
    ScoreSummary,
    SizeSummary,
    clean,
    concluded,
    covered,
    fill,
    finite,
    plain,
    to_json,
)
from veridical.report.view import (
    Block,
    Chart,
    Column,
    Fact,
    Figure,
    Heads,
    Mark,
    Notes,
    Pair,
    Pairs,
    Panel,
    Ranks,
    Rows,
    Section,
    TableCell,
    TableColumns,
    Text,
    View,
    Warn,
    answer,
    bare_pvalue,
    bold,
    bounded,
    by_columns,
    chance_level,
    confidence,
    data_facts,
    gap_in_unit,
    gap_written,
    in_numbers,
    in_points_or_not,
    in_unit,
    on_chance,
    on_direction,
    paragraph,
    provenance,
    read_info,
    sentence,
    sized_data,
    table,
    view,
    write_chance,
    written,
)

T = TypeVar("T")

SCHEMA = "veridical/comparison/1"
MANY_SCHEMA = "veridical/comparison-of-many/1"
SHOWN_METHODS = ("in", "out", "truth")
LABELS = {"in": "IN", "out": "OUT", "truth": "TRUTH"}
DETAILS = {
    "in": "selected inside every fold",
    "out": "selected once, on all samples",
    "truth": "fresh data, independent test sets",
}
EXPLAIN = {
    "in": (
        "IN repeats the selection inside every training fold, so the test samples take "
        "no part in the selection."
    ),
    "out": (
        "OUT selects once, on all samples, and cross-validates only the estimator: "
        "the labels of the test samples helped to choose the features, so its "
        "scores are too high on average."
    ),
    "truth": (
        "TRUTH draws fresh data sets from the known source, selects and trains on each "
        "data set as a whole, and tests on independent samples."
    ),
}
BADGES = {
    "yes": "Believe it",
    "care": "With care",
    "open": "Not decided",
    "no": "Do not believe it",
    "known": "The truth is known",
}
#: The same of one test set.
ON_ONE_TEST_SET = {
    "in": "selected on the training samples",
    "out": "selected once, on all samples",
}
EXPLAIN_ONE_TEST_SET = {
    "in": (
        "IN selects on the training samples, so the test samples take no part in the "
        "selection."
    ),
    "out": (
        "OUT selects once, on all samples, and keeps the test samples from the "
        "estimator alone: their labels helped to choose the features, so its scores "
        "are too high on average."
    ),
}
READINGS = {
    "higher": "OUT is too optimistic",
    "lower": "OUT is not too optimistic",
    "open": "not shown to differ",
}
QUESTION = "Which selector is better, and may I believe it?"
#: Tests that have no calibrated form.
UNCALIBRATED = ("conservative z", "DeLong", "jackknife")
_CELLS = ("only_in", "only_out", "both_right", "both_wrong")
MOST_PAIRS = 150  # more dots than this cannot be told apart: show a mean per repeat
MOST_FEATURES = 500  # rows of the table of features


class MeanSummary(IntervalSummary):
    """The mean accuracy of one selector under one method."""

    std: float | None
    n: int


class DifferenceSummary(IntervalSummary):
    """Selector ``a`` minus selector ``b``, with its significance test.

    ``size`` is None where it has not been measured. ``probabilities`` of "a", "rope"
    (no difference larger than ``rope``) and "b" are those of a Bayesian test. ``note``
    says why there is no interval or no p-value; where there is, it is empty.
    """

    winner: Winner
    pvalue: float | None
    test: str
    statistic: float | None
    df: float | None
    n: int
    alpha: float
    assumptions: str
    size: SizeSummary | None
    rope: float | None
    probabilities: dict[str, float | None] | None
    note: str


class PairSummary(TypedDict):
    """Both selectors on the same fold or data set."""

    label: str
    a: float
    b: float


class MethodSummary(TypedDict):
    """One method: its means, its verdict and the values behind them.

    ``unit`` says what one value is, "fold" or "data set"; ``interval`` says in words
    what the interval of a mean assumes. Where there are too many values to draw,
    ``pairs`` holds one mean per repeat.
    """

    method: str
    label: str
    unit: str
    n_repeats: int
    n_folds: int
    a: MeanSummary
    b: MeanSummary
    interval: str
    difference: DifferenceSummary | None
    pairs: list[PairSummary]
    pair_unit: str


class EstimatorMethod(TypedDict):
    """One estimator under one method."""

    method: str
    label: str
    a: float
    b: float
    difference: DifferenceSummary | None


class EstimatorSummary(TypedDict):
    """One estimator alone."""

    name: str
    methods: list[EstimatorMethod]


class FeatureCounts(TypedDict):
    """How often each selector chose one feature, per method."""

    index: int
    name: str
    a: dict[str, int]
    b: dict[str, int]


class VerdictCounts(TypedDict):
    """The verdicts of one method over many data sets, and how many were right."""

    method: str
    label: str
    a: int
    b: int
    draw: int
    right: int | None


class TruthfulnessSummary(TypedDict):
    """On how many data sets IN and OUT reached the true verdict."""

    n_sets: int
    only_in: int
    only_out: int
    both_right: int
    both_wrong: int
    pvalue: float | None
    better: str


class TruthSummary(TypedDict):
    """What a known source adds."""

    n_sets: int
    winner: Winner
    verdicts: list[VerdictCounts]
    truthfulness: TruthfulnessSummary | None


class ManyWords(TypedDict):
    """The summary in sentences.

    ``belief`` is "yes", "care", "open", "no" or, on a source, "known". ``sizes`` says
    of each method's test how often it errs, ``notes`` why an interval or a p-value is
    not available.
    """

    headline: str
    belief: str
    evidence: str
    protocols: list[str]
    sizes: list[str]
    notes: list[str]
    recommendation: str


class Words(ManyWords):
    """The summary of two selectors in sentences.

    ``artefacts`` has a sentence for each selector whose OUT accuracy is one.
    """

    artefacts: list[str]
    stability: list[str]
    truth: list[str]


class Compared(TypedDict):
    """What the summaries of two selectors and of more have in common."""

    schema: str
    estimators: list[str]
    n_features_to_select: int
    alpha: float
    data: DataInfo
    scoring: ScoreSummary
    scorings: list[ScoreSummary]
    n_selections: dict[str, int]
    coverage: CoverageSummary | None
    optimism_coverage: CoverageSummary | None
    independent_repeats: bool
    settings: dict[str, Setting]


class Summary(Compared):
    """Everything the page of two selectors shows, as plain numbers and strings.

    ``optimism_shown`` says whether OUT is shown to be "higher" or "lower" than IN.
    ``corrected`` has the differences by the corrected t-test, by method, where another
    test was chosen.
    """

    kind: Literal["comparison"]
    names: dict[Side, str]
    methods: list[MethodSummary]
    by_estimator: list[EstimatorSummary]
    corrected: dict[str, DifferenceSummary]
    optimism: dict[Side, IntervalSummary]
    optimism_shown: dict[Side, Literal["higher", "lower", "open"]]
    bias_imbalance: dict[str, float]
    bias_reference: str
    features: list[FeatureCounts]
    stability: dict[str, dict[Side, IntervalSummary]]
    seconds: dict[Side, float]
    truth: TruthSummary | None
    words: Words


class SelectorSummary(TypedDict):
    """One selector: its accuracies and ranks per method, and how it chose."""

    name: str
    means: dict[str, MeanSummary]
    ranks: dict[str, float]
    optimism: IntervalSummary | None
    stability: IntervalSummary | None
    n_distinct: int
    seconds: float


class ManyPair(TypedDict):
    """Two selectors, by their places; ``better`` is a place, or None for a draw."""

    first: int
    second: int
    better: int | None
    adjusted: float | None
    difference: DifferenceSummary


class RanksSummary(TypedDict):
    """Friedman's test on one method, with Nemenyi's critical difference.

    ``groups`` are the places of selectors, best first, that are not told apart.
    """

    mean_ranks: list[float]
    statistic: float | None
    df: list[float]
    pvalue: float
    chi2: float
    critical_difference: float
    n: int
    groups: list[list[int]]
    size: SizeSummary | None


class ManyMethod(TypedDict):
    """One method: all pairs, and all selectors at once."""

    method: str
    label: str
    n_repeats: int
    n_folds: int
    pairs: list[ManyPair]
    friedman: RanksSummary


class ManyFeature(TypedDict):
    """How often each selector chose one feature, per method, in their order."""

    index: int
    name: str
    times: dict[str, list[int]]


class ManySummary(Compared):
    """Everything the page of several selectors shows, as plain numbers and strings."""

    kind: Literal["many"]
    names: list[str]
    correction: str
    selectors: list[SelectorSummary]
    methods: list[ManyMethod]
    features: list[ManyFeature]
    words: ManyWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Comparison) -> Any:
    """Turn a comparison into plain numbers: of two selectors, or of more."""
    return summarize_pair(record) if len(record.names) == 2 else summarize_many(record)


def summarize_pair(record: Comparison) -> Summary:
    """Turn a comparison of two selectors into plain numbers and strings."""
    s: Summary = fill(
        Summary,
        record,
        schema=SCHEMA,
        kind="comparison",
        names=_by_side(record.names),
        methods=[_method(record, method) for method in _methods(record)],
        by_estimator=_by_estimator(record),
        optimism=_by_side(record.optimism),
        optimism_shown=_by_side(record.optimism_shown),
        bias_reference="TRUTH" if "truth" in record.score else "IN",
        n_selections=_n_selections(record),
        features=[
            {"index": j, "name": name, **_by_side(times)}
            for j, name, times in _features(record)
        ],
        stability={method: _by_side(own) for method, own in record.stability.items()},
        seconds=_by_side(record.seconds),
        corrected={
            m: summarize_difference(pair.verdict)
            for m, (pair,) in record.corrected.items()
        },
        truth=_truth(record),
        words=_words(record, artefacts=_on_artefacts(record), stability=[], truth=[]),
    )
    words, truth = s["words"], s["truth"]
    words["evidence"] = _evidence(s)
    words["stability"] = [text for side in SIDES if (text := _on_stability(s, side))]
    words["sizes"] = [
        on_size(m["label"], m["difference"], s["data"]["target"])
        for m in s["methods"]
        if m["difference"] is not None
        and (
            m["unit"] == "fold"
            or (m["unit"] == "test set" and not _is_exact(m["difference"]))
        )
    ]
    words["truth"] = [] if truth is None else _on_truth(s, truth)
    return s


def summarize_many(record: Comparison) -> ManySummary:
    """Turn a comparison of three selectors or more into plain numbers and strings."""
    s: ManySummary = fill(
        ManySummary,
        record,
        schema=MANY_SCHEMA,
        kind="many",
        selectors=[_selector(record, i) for i in range(len(record.names))],
        methods=[_many_method(record, method) for method in _methods(record)],
        n_selections=_n_selections(record),
        features=[
            {
                "index": j,
                "name": name,
                "times": {m: [own.get(m, 0) for own in times] for m in record.selected},
            }
            for j, name, times in _features(record)
        ],
        words=_words(record),
    )
    s["words"]["evidence"] = _many_evidence(s)
    s["words"]["sizes"] = _many_sizes(s)
    return s


def _methods(record: Comparison) -> list[str]:
    return [method for method in SHOWN_METHODS if method in record.score]


def _words(record: Comparison, **more: Any) -> dict[str, Any]:
    """Start the sentences of a summary; those about its numbers are added later."""
    return concluded(
        record,
        evidence="",
        sizes=[],
        notes=record.notes,
        protocols=[
            EXPLAIN[m] if record.one_test_set is None else EXPLAIN_ONE_TEST_SET[m]
            for m in _methods(record)
        ],
        recommendation=record.recommendation,
        **more,
    )


def _by_side(values: Sequence[T]) -> dict[Side, T]:
    """Call the values of two selectors a and b; there may be none."""
    return dict(zip(SIDES, values, strict=True)) if values else {}


def _n_selections(record: Comparison) -> dict[str, int]:
    return {m: int(s[0, ..., 0].size) for m, s in record.selected.items()}


def _difference_of_two(
    pairs: Mapping[str, Sequence[PairVerdict]], method: str
) -> DifferenceSummary | None:
    """Turn the verdict of a method on two selectors, if any, into plain numbers."""
    return summarize_difference(pairs[method][0].verdict) if method in pairs else None


def summarize_difference(verdict: Verdict) -> DifferenceSummary:
    """Turn a verdict into plain numbers and strings."""
    test = verdict.test
    found: DifferenceSummary = fill(
        DifferenceSummary,
        test,
        winner=verdict.winner,
        value=verdict.mean_difference,
        low=verdict.interval[0],
        high=verdict.interval[1],
        pvalue=verdict.pvalue,
        test=test.name,
        size=_size(test.size, test.calibrated),
    )
    return found


def _size(size: MeasuredSize | None, calibrated: bool) -> Any:
    return None if size is None else {**size._asdict(), "calibrated": calibrated}


def _method(record: Comparison, method: str) -> MethodSummary:
    _, _, n_repeats, n_folds = record.score[method].shape
    unit, _ = paired_accuracies(record, method)
    pair_unit, shown = paired_accuracies(record, method, MOST_PAIRS)
    a, b = record.means[method]
    return {
        "method": method,
        "label": LABELS[method],
        "unit": unit,
        "n_repeats": n_repeats,
        "n_folds": n_folds,
        "a": plain(a),
        "b": plain(b),
        "interval": describe_interval(record, method),
        "difference": _difference_of_two(record.pairs, method),
        "pairs": _pairs(shown, n_folds, pair_unit),
        "pair_unit": pair_unit,
    }


def _pairs(values: FloatArray, n_folds: int, unit: str) -> list[PairSummary]:
    several = unit == "fold" and values.shape[1] > n_folds
    pairs: list[PairSummary] = []
    for i, (a, b) in enumerate(values.T):
        label = f"{unit} {i + 1}"
        if several:
            label = f"repeat {i // n_folds + 1}, fold {i % n_folds + 1}"
        pairs.append({"label": label, "a": float(a), "b": float(b)})
    return pairs


def _by_estimator(record: Comparison) -> list[EstimatorSummary]:
    if len(record.estimators) < 2:
        return []
    means = record.estimator_means
    return [
        {
            "name": name,
            "methods": [
                {
                    "method": method,
                    "label": LABELS[method],
                    "a": means[name][method][0],
                    "b": means[name][method][1],
                    "difference": _difference_of_two(record.by_estimator[name], method),
                }
                for method in _methods(record)
            ],
        }
        for name in record.estimators
    ]


def _features(record: Comparison) -> list[tuple[int, str, list[dict[str, int]]]]:
    """List every feature chosen at least once, the most often chosen first.

    Returns
    -------
    list of (int, str, list of dict)
        Index, name, and for each selector how often it was chosen, by method.
    """
    n = len(record.names)
    counts: dict[int, list[dict[str, int]]] = {}
    for method, selected in record.selected.items():
        for i in range(n):
            for index, times in Counter(selected[i].ravel().tolist()).items():
                if index < 0:  # a selector that returned fewer than it was asked for
                    continue
                own = counts.setdefault(int(index), [{} for _ in range(n)])
                own[i][method] = times
    leading = next((m for m in SHOWN_METHODS if m in record.selected), "in")

    def often(index: int) -> tuple[int, int]:
        return -sum(own.get(leading, 0) for own in counts[index]), index

    known = record.data.feature_names
    return [
        (j, clean(known[j]) if j < len(known) else f"feature {j + 1}", counts[j])
        for j in sorted(counts, key=often)
    ]


def _truth(record: Comparison) -> Any:
    verdict = record.verdicts.get("truth")
    if "truth" not in record.score or verdict is None:
        return None
    outcome = record.truthfulness
    counts = {m: Counter(v) for m, v in record.set_verdicts.items() if v}
    return {
        "n_sets": int(record.score["truth"].shape[2]),
        "winner": verdict.winner,
        "verdicts": [
            {
                "method": method,
                "label": LABELS[method],
                **{who: counts[method][who] for who in (*SIDES, "draw")},
                "right": record.n_right[method],
            }
            for method in SHOWN_METHODS
            if method in counts
        ],
        "truthfulness": None
        if outcome is None
        else fill(
            TruthfulnessSummary,
            outcome,
            n_sets=sum(getattr(outcome, cell) for cell in _CELLS),
        ),
    }


def _selector(record: Comparison, i: int) -> Any:
    stabilities = record.stability.get("in")
    chosen = record.selected.get("in", next(iter(record.selected.values())))
    return {
        "name": record.names[i],
        "means": {method: own[i] for method, own in record.means.items()},
        "ranks": {m: float(f.mean_ranks[i]) for m, f in record.friedman.items()},
        "optimism": record.optimism[i] if record.optimism else None,
        "stability": stabilities[i] if stabilities else None,
        "n_distinct": int(np.unique(chosen[i][chosen[i] >= 0]).size),
        "seconds": float(record.seconds[i]),
    }


def _many_method(record: Comparison, method: str) -> Any:
    _, _, n_repeats, n_folds = record.score[method].shape
    ranks = record.friedman[method]
    places = combinations(range(len(record.names)), 2)
    return {
        "method": method,
        "label": LABELS[method],
        "n_repeats": n_repeats,
        "n_folds": n_folds,
        "pairs": [
            _pair(*ends, pair)
            for ends, pair in zip(places, record.pairs[method], strict=True)
        ],
        "friedman": fill(RanksSummary, ranks, size=_size(ranks.size, False)),
    }


def _pair(first: int, second: int, pair: PairVerdict) -> Any:
    better = {pair.first: first, pair.second: second}
    return {
        "first": first,
        "second": second,
        "better": None if pair.better is None else better[pair.better],
        "adjusted": pair.adjusted,
        "difference": summarize_difference(pair.verdict),
    }


# -- sentences -------------------------------------------------------------------------


def _level(s: Summary | ManySummary) -> str:
    return confidence(1 - s["alpha"])


def write_size(size: SizeSummary | None) -> str:
    """Write how often a test rejects where there is nothing to find.

    Examples
    --------
    >>> size = dict(nominal=0.05, rate=0.083, low=0.07, high=0.1, n_simulations=2000,
    ...             design="", n_designs=8, near=True, calibrated=False)
    >>> write_size(size)
    '7.0 to 10.0 % (measured; nominal 5 %)'
    """
    if size is None:
        return "not measured in designs like this one"
    rate = percent(size["rate"])
    if size["n_designs"] > 1:
        rate = percent_range(size["low"], size["high"])
    where = "measured" if size["near"] else "measured, but only in other designs"
    text = f"{rate} ({where}; nominal {100 * size['nominal']:g} %)"
    return f"{text} before calibration" if size["calibrated"] else text


def _rate(gap: DifferenceSummary) -> str:
    """Write the false-positive rate of a test into a table."""
    if gap["test"] == "conservative z":
        return "in the documentation"
    return write_size(gap["size"])


def on_size(label: str, gap: DifferenceSummary, target: str) -> str:
    """Say how often the test rejects where there is nothing to find."""
    size = gap["size"]
    if gap["test"] == "conservative z":
        return (
            f"{label}: the false-positive rate of this test was measured in a few "
            "designs, which are not looked up; they are in the documentation, on the "
            'page "How reliable is a p-value?".'
        )
    if size is None or not size["near"]:
        known = "" if size is None else f" ({_over_designs(size)})"
        cure = "; calibrated=True (--calibrated) measures it on data sets like these"
        if gap["test"] in UNCALIBRATED:
            cure = ""
        return (
            f"{label}: the false-positive rate of this test has not been measured in "
            f"designs like this one{known}{cure if target == 'classes' else ''}."
        )
    seen = f"n = {size['n_simulations']} data sets on which neither selector is better"
    if size["calibrated"]:
        return (
            f"{label}: p-value and interval come from a measured null. The false-"
            "positive rate of the test's own p-value is "
            f"{write_size(size).removesuffix(' before calibration')} "
            f"in this design ({size['design']}; 95 % interval "
            f"{percent_range(size['low'], size['high'])}, {seen})."
        )
    return f"{label}: false-positive rate of the test {_over_designs(size)} ({seen})."


def _over_designs(size: SizeSummary) -> str:
    """Write a range of rates, and the designs in which they were measured."""
    n, rates = count(size["n_designs"], "measured design"), write_size(size)
    if size["near"]:
        return f"{rates} in the {n} nearest to this one: {size['design']}"
    span = percent_range(size["low"], size["high"])
    level = f"nominal {100 * size['nominal']:g} %"
    return f"{span}, {level}, in all {n} with such or similar splits: {size['design']}"


def _on_artefacts(record: Comparison) -> list[str]:
    said = []
    for i in record.artefacts:
        inside, outside = record.means["in"][i], record.means["out"][i]
        unit, _ = paired_accuracies(record, "in")
        info = record.scoring
        guess = f"guessing ({info.write(info.chance)})"
        if info.is_accuracy:
            guess = (
                f"always predicting the most frequent class ({percent(info.chance)})"
            )
        said.append(
            f"The OUT {info.label} of {shortened(record.names[i])}, "
            f"{info.write(outside.value)}, is an artefact of selecting on the same "
            "data that it is tested on. With the selection inside the folds (IN), the "
            f"{info.label} is {info.write(inside.value)} "
            f"({confidence(1 - record.alpha)} "
            f"{info.write_range(finite(inside.low), finite(inside.high))}, n = "
            f"{count(inside.n, unit)}), not shown to be better than {guess}."
        )
    return said


def _evidence(s: Summary) -> str:
    """Say what the headline rests on: the most trustworthy method's figures."""
    methods = {m["method"]: m for m in s["methods"]}
    found = [methods[name] for name in ("truth", "in", "out") if name in methods]
    if not found:
        return ""
    method = found[0]
    means = listing(
        f"{shortened(s['names'][side])} {written(s, method[side]['value'])}"
        for side in SIDES
    )
    text = f"{_mean_of(s)} under {method['label']}: {means}"
    gap = method["difference"]
    if gap is None:
        return f"{text} (n = {count(method['a']['n'], method['unit'])})."
    size = ""
    if gap["size"] is not None:
        size = f" with false-positive rate {write_size(gap['size'])}"
    span = "no interval"
    if gap["low"] is not None:
        span = f"{_level(s)} {_gap_range(s, gap)}"
    return (
        f"{text}. Difference {gap_written(s, gap['value'])} ({span}; "
        f"{pvalue(gap['pvalue'])}, {gap['test']} test{size}, "
        f"n = {_n_differences(method, gap)})."
    )


def _gap_range(s: Mapping[str, Any], gap: DifferenceSummary) -> str:
    return read_info(s["scoring"]).write_gap_range(gap["low"], gap["high"])


def _n_differences(m: MethodSummary, gap: DifferenceSummary) -> str:
    if gap["test"] == "jackknife":
        return count(gap["n"], "unit")  # samples or groups, as its assumptions say
    return count(gap["n"], m["unit"] if gap["n"] == m["a"]["n"] else "pair")


def _on_stability(s: Summary, side: Side) -> str:
    """Say how stable a selector's choice is from fold to fold."""
    total = s["n_selections"].get("in", 0)
    if total < 2:
        return ""
    times = [f[side].get("in", 0) for f in s["features"]]
    value, _ = in_numbers(s["stability"].get("in", {}).get(side))
    measured = ""
    if value != MISSING:
        measured = (
            f" Stability {value} (1 is always the same, 0 is agreement as by chance; "
            "no interval, because folds share samples)."
        )
    return (
        f"{shortened(s['names'][side])} chose "
        f"{count(sum(n > 0 for n in times), 'feature')} at least once and "
        f"{sum(n == total for n in times)} of them in all {total} selections inside "
        "the folds; a perfectly stable selector would choose the same "
        f"{s['n_features_to_select']} every time.{measured}"
    )


def _on_truth(s: Summary, truth: TruthSummary) -> list[str]:
    over = f"Over {count(truth['n_sets'], 'data set')} with independent test sets "
    if truth["winner"] == "draw":
        said = [
            f"{over}the two selectors do not differ significantly, so the right "
            "verdict is a draw."
        ]
    else:
        name = shortened(s["names"][truth["winner"]])
        said = [f"{over}{name} is significantly better, so that is the right verdict."]
    outcome = truth["truthfulness"]
    if outcome is None:
        return said
    tally = (
        f"only IN was right on {outcome['only_in']} of "
        f"{count(outcome['n_sets'], 'data set')}, only OUT on "
        f"{outcome['only_out']} (exact one-tailed binomial test, "
        f"{pvalue(outcome['pvalue'])}, significant below {s['alpha'] / 2:g})"
    )
    who = "Neither IN nor OUT"
    if outcome["better"] != "same":
        who = outcome["better"].upper()
    more = f"{who} reached the right verdict significantly more often"
    return [*said, f"{more}: {tally}."]


def _many_evidence(s: ManySummary) -> str:
    method = s["methods"][0]
    found = method["friedman"]
    ranked = "; ".join(
        f"{shortened(s['names'][i])} "
        f"{written(s, s['selectors'][i]['means'][method['method']]['value'])} "
        f"(mean rank {found['mean_ranks'][i]:.2f})"
        for i in _by_rank(found)
    )
    return (
        f"Mean {s['scoring']['label']} under {method['label']}, by mean rank over "
        f"{count(found['n'], 'fold')}: {ranked}. All selectors together: "
        f"{pvalue(found['pvalue'])} by Friedman's test in Iman and Davenport's form. "
        f"False-positive rate of this test: {write_size(found['size'])}."
    )


def _by_rank(found: RanksSummary) -> list[int]:
    ranks = found["mean_ranks"]
    return sorted(range(len(ranks)), key=lambda i: ranks[i])


def _many_sizes(s: ManySummary) -> list[str]:
    said = []
    for method in s["methods"]:
        gap = method["pairs"][0]["difference"]
        label = f"{method['label']}, pairs ({gap['test']} test)"
        said.append(on_size(label, gap, s["data"]["target"]))
        size = method["friedman"]["size"]
        rate = write_size(None) if size is None else _over_designs(size)
        text = (
            f"{method['label']}, Friedman's test treats folds as independent: "
            f"false-positive rate {rate}"
        )
        said.append(f"{text}. Mean ranks show an order; claims rest on the pairs.")
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Comparison) -> View:
    """Show a comparison: of two selectors pair by pair, of more by their ranks."""
    return show_pair(record) if len(record.names) == 2 else show_many(record)


def show_pair(record: Comparison) -> View:
    """Show two selectors on every fold, their means, differences and features."""
    s = summarize_pair(record)
    words, names, gap = s["words"], s["names"], s["methods"][0]["difference"]
    sections = [
        Section(_title(s), _pair_figure(s), first=True),
        Section(
            _mean_of(s),
            (*_pair_means(s), *_other_scores(record)),
            first=True,
        ),
        Section("Difference between the selectors", _differences(s), first=True),
    ]
    if s["optimism"]:
        sections.append(Section("Optimism of selecting on all samples", _optimism(s)))
    sections.append(Section("Selected features", _pair_features(s)))
    sections.append(_claim(words))
    if s["by_estimator"]:
        sections.append(Section("Each estimator alone", _estimators(s)))
    if s["truth"] is not None:
        blocks = _found_truth(s, s["truth"])
        sections.append(Section("Which method finds the truth?", blocks))
    warnings: tuple[Warn, ...] = ()
    if words["artefacts"]:
        artefacts = tuple(words["artefacts"])
        warnings = (Warn(f"Do not report the OUT {s['scoring']['label']}.", artefacts),)
    return View(
        **_shared(s, [names["a"], names["b"]], [] if gap is None else _on_testing(gap)),
        title=f"{names['a']} or {names['b']}? {s['data']['name']}",
        facts=(*compared(s, "by each"), *_on_split(s)),
        sections=tuple(sections),
        tables=(_pair_table(s),),
        remarks=(*words["artefacts"], *words["notes"], *words["sizes"]),
        warnings=warnings,
    )


def show_many(record: Comparison) -> View:
    """Show several selectors by mean ranks, all pairs, and features."""
    s = summarize_many(record)
    words, n = s["words"], f"{len(s['names'])} selectors"
    pairs = [_all_pairs(s, m) for m in s["methods"]]
    return View(
        **_shared(s, s["names"], _on_ranking(s)),
        title=f"Which of {n}? {s['data']['name']}",
        facts=compared(s, f"by each of {n}"),
        sections=(
            Section("Mean ranks and the critical difference", (_ranks(s),), first=True),
            Section(
                f"Mean {s['scoring']['label']}",
                (*_many_means(s), *_other_scores(record)),
                first=True,
            ),
            _claim(words),
            Section("All pairs", (*pairs, _on_pairs(s))),
            Section("Selected features", _many_features(s)),
        ),
        tables=(_many_table(s), pairs[0]),
        remarks=(words["recommendation"], *words["notes"], *words["sizes"]),
    )


def _shared(
    s: Summary | ManySummary, names: Sequence[str], tested: Sequence[str]
) -> dict[str, Any]:
    """Return the parts of a view that do not depend on the number of selectors."""
    said = (
        f"We compared {listing(names)}, each selecting {s['n_features_to_select']} of "
        f"{count(s['data']['n_features'], 'feature')}, by the "
        f"{read_info(s['scoring']).full_label} of "
        f"{listing(map(name_of, s['estimators']))} on {sized_data(s['data'])}."
    )
    return {
        **answer(s["words"], BADGES),
        "question": QUESTION,
        "provenance": provenance(s, (), origin(s)),
        "method": paragraph(s["settings"], [said, *_on_resampling(s), *tested]),
    }


def compared(s: Any, by: str) -> tuple[Fact, ...]:
    """Name the data, the number of features and the estimators of a comparison."""
    estimators = list(map(name_of, s["estimators"]))
    return (
        *data_facts(s["data"]),
        Fact("Selected", f"{count(s['n_features_to_select'], 'feature')} {by}"),
        Fact("Estimators" if estimators[1:] else "Estimator", ", ".join(estimators)),
    )


def origin(s: Any) -> list[Fact]:
    """Say for the provenance how many features were selected, and the estimators."""
    facts = [Fact("Features selected", f"{s['n_features_to_select']} by each selector")]
    return [*facts, Fact("Estimator", ", ".join(map(name_of, s["estimators"])))]


def _claim(words: ManyWords) -> Section:
    blocks = [Text(" ".join(words["protocols"]))]
    if words["recommendation"]:
        blocks.insert(0, Text(words["recommendation"], "claim"))
    return Section("What may be claimed", tuple(blocks), first=True)


def _panel(m: MethodSummary | ManyMethod, picture: Chart, verdict: str) -> Panel:
    method = m["method"]
    alone = m.get("unit") == "test set"
    detail = (ON_ONE_TEST_SET if alone else DETAILS)[method]
    return Panel(picture, m["label"], detail, verdict, method)


# -- two selectors ---------------------------------------------------------------------


def _title(s: Summary) -> str:
    alone = all(_is_one_test_set(m) for m in s["methods"])
    return f"{_what(s)}, {'side by side' if alone else 'pair by pair'}"


def _is_one_test_set(m: MethodSummary) -> bool:
    """Return whether the only pair of scores is that of the two large marks."""
    return m["pair_unit"] == "test set"


def _pair_figure(s: Summary) -> tuple[Block, ...]:
    panels = []
    for m in s["methods"]:
        axis, pairs = s["scoring"]["label"], []
        if not _is_one_test_set(m):
            axis += f", one dot per {m['pair_unit']}"
            pairs = m["pairs"]
        picture = Pairs(
            _describe(s, m),
            _mark(s, m, "a"),
            _mark(s, m, "b"),
            tuple(Pair(p["label"], p["a"], p["b"]) for p in pairs),
            chance_level(read_info(s["scoring"])),
            axis,
            read_info(s["scoring"]).unit,
            s["scoring"]["greater_is_better"],
        )
        verdict = f"n = {count(len(m['pairs']), m['pair_unit'])}"
        if m["difference"] is not None:
            p = pvalue(m["difference"]["pvalue"])
            verdict = f"{_verdict(s, m['difference']).text}, {p}, {verdict}"
        panels.append(_panel(m, picture, verdict))
    unit = " or ".join(dict.fromkeys(m["pair_unit"] for m in s["methods"]))
    keynote = (
        f"Large mark: mean with its {_level(s)}. Small marks: one "
        f"{unit} each; a line joins both selectors on the same {unit} and has the "
        "colour of the better one."
    )
    if unit == "test set":
        keynote = f"Mark: {s['scoring']['label']} with its {_level(s)}."
    key = tuple((s["names"][side], side) for side in SIDES)
    scoring = read_info(s["scoring"])
    share = f"{_what(s)} on the test samples. {on_direction(scoring)}".strip()
    if scoring.is_accuracy:
        share = "Share of test samples classified correctly."
    caption = f"{share} {on_chance(scoring, s['data'])}".strip()
    figure = Figure(tuple(panels), caption, key, keynote)
    folded = (_behind(s, m) for m in s["methods"] if not _is_one_test_set(m))
    return (figure, *folded)


def _mark(s: Summary, m: MethodSummary, side: Side) -> Mark:
    mean = m[side]
    bounds = bounded(mean["low"], mean["high"])
    return Mark(s["names"][side], mean["value"], bounds, side, f"n = {mean['n']}")


def _describe(s: Summary, m: MethodSummary) -> str:
    """Describe a panel for screen readers."""
    names = [shortened(s["names"][side], 26) for side in SIDES]
    a, b = (
        f"{name} {written(s, m[side]['value'])}"
        for name, side in zip(names, SIDES, strict=True)
    )
    wins = sum(pair["a"] > pair["b"] for pair in m["pairs"])
    losses = sum(pair["a"] < pair["b"] for pair in m["pairs"])
    if not s["scoring"]["greater_is_better"]:
        wins, losses = losses, wins
    levels = "".join(
        f" {capitalized(name)}: {written(s, value)}."
        for name, value, _ in chance_level(read_info(s["scoring"]))
    )
    gap = m["difference"]
    by = "" if gap is None else f", difference {gap_written(s, gap['value'])}"
    return (
        f"{m['label']}: mean {s['scoring']['label']} {a}, {b}{by}. Of "
        f"{count(len(m['pairs']), m['pair_unit'])} {names[0]} is better on "
        f"{wins}, {names[1]} on {losses}.{levels}"
    )


def _verdict(s: Summary, gap: DifferenceSummary) -> TableCell:
    winner = gap["winner"]
    if winner == "draw":
        return TableCell("no significant difference")
    return TableCell(f"{shortened(s['names'][winner])} better", side=winner)


def _sides(s: Summary, suffix: str = "") -> list[Column]:
    return [
        Column(f"{s['names'][side]}{suffix}", number=True, side=side) for side in SIDES
    ]


def _name_cells(s: Summary) -> list[TableCell]:
    return [TableCell(s["names"][side], side=side) for side in SIDES]


def _behind(s: Summary, m: MethodSummary) -> Rows:
    unit = m["pair_unit"]
    heads: Heads = [f"{unit.capitalize()}!", *_sides(s), f"Difference{_pts(s)}#"]
    rows = [
        (
            pair["label"],
            written(s, pair["a"]),
            written(s, pair["b"]),
            gap_written(s, pair["a"] - pair["b"], unit=False),
        )
        for pair in m["pairs"]
    ]
    caption = f"{m['label']}: {s['scoring']['label']} per {unit}"
    plural = "accuracies" if s["scoring"]["name"] == "accuracy" else "scores"
    folded = f"{m['label']}: the {plural} behind the picture"
    return table(caption, heads, rows, folded, m["method"])


def _pair_means(s: Summary) -> tuple[Block, ...]:
    rows: list[Any] = []
    alike: dict[str, list[str]] = {}
    for m in s["methods"]:
        alike.setdefault(m["interval"], []).append(m["label"])
        for side, name in zip(SIDES, _name_cells(s), strict=True):
            mean = m[side]
            spread = gap_written(s, mean["std"], signed=False, unit=False)
            spreads = [] if _has_one_test_set(s) else [spread]
            row = (name, *in_unit(s, mean), *spreads, count(mean["n"], m["unit"]))
            first = (TableCell(m["label"], span=2),) if side == "a" else ()
            rows.append(((*first, *row), m["method"]))
    alone = _has_one_test_set(s)
    heads = f"Method! | Selector | {_mean_of(s) if alone else 'Mean'}#* | {_level(s)}# "
    heads += "| n#" if alone else f"| Standard deviation{_pts(s)}# | n#"
    notes = [f"{listing(labels)}: {text}." for text, labels in alike.items()]
    cut = f"{_say_where_cut(s)}{_averaged(s)}"
    caption = f"{_mean_of(s)} of each selector under each method"
    return table(caption, heads, rows), Notes((*notes, cut))


def _say_where_cut(s: Summary | ManySummary) -> str:
    """Say where intervals are cut."""
    scoring = read_info(s["scoring"])
    if scoring.is_accuracy:
        return "Intervals are cut at 0 % and 100 %."
    return "Intervals are cut at the smallest and the largest possible score."


def _averaged(s: Summary | ManySummary) -> str:
    n = len(s["estimators"])
    plural = "Accuracies" if s["scoring"]["name"] == "accuracy" else "Scores"
    return f" {plural} are averaged over {n} estimators." if n > 1 else ""


def _pts(s: Mapping[str, Any]) -> str:
    return in_points_or_not(s)


def _has_one_test_set(s: Mapping[str, Any]) -> bool:
    return bool(s["methods"][0].get("unit") == "test set")


def _mean_of(s: Mapping[str, Any], label: str = "") -> str:
    """Name the score: a mean, unless it is that of one estimator on one test set."""
    label = label or s["scoring"]["label"]
    alone = _has_one_test_set(s) and len(s["estimators"]) == 1
    return capitalized(label) if alone else f"Mean {label}"


def _on_split(s: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Name training and test samples where there is one test set."""
    split = s["settings"].get("cross-validation")
    return (Fact("Split", str(split)),) if split and _has_one_test_set(s) else ()


def _what(s: Mapping[str, Any]) -> str:
    return capitalized(s["scoring"]["label"])


def _in_unit_of(s: Mapping[str, Any]) -> str:
    """Write the unit of differences: ", in percentage points of accuracy"."""
    scoring = read_info(s["scoring"])
    if scoring.percent:
        return f", in percentage points of {scoring.label}"
    better = "" if scoring.greater_is_better else "; less is better"
    return f", in {scoring.full_label}{better}"


def _other_scores(record: Comparison) -> list[Rows]:
    """Tabulate the means of further scores, which verdicts do not rest on."""
    rows = []
    for info in record.scorings[1:]:
        for method, means in record.further_means[info.name].items():
            rows.append((info.full_label, method.upper(), *map(info.write, means)))
    heads: Heads = ["Score!", "Method"]
    heads += [Column(name, number=True) for name in record.names]
    caption = "Further scores of the same predictions"
    caption += "" if record.one_test_set is not None else ": means over the folds"
    return [table(caption, heads, rows)] if rows else []


def _differences(s: Summary) -> tuple[Block, ...]:
    rows, notes = [], []
    for m in s["methods"]:
        gap = m["difference"]
        if gap is None:
            continue
        size = "exact: data sets are independent"
        if m["unit"] == "fold" or (m["unit"] == "test set" and not _is_exact(gap)):
            size = _rate(gap)
        elif m["unit"] == "test set":
            size = "exact: at most the level"
        n = _n_differences(m, gap)
        row = (
            m["label"],
            _verdict(s, gap),
            *gap_in_unit(s, gap),
            pvalue(gap["pvalue"]),
        )
        rows.append(((*row, size, n), m["method"]))
        notes.append(_on_test(s, m["label"], gap))
    pts = _pts(s)
    heads = f"Method! | Verdict~ | Difference{pts}#* | {_level(s)}{pts}# | "
    heads += "p-value# | False-positive rate of the test~ | n#"
    caption = f"{s['names']['a']} minus {s['names']['b']}{_in_unit_of(s)}"
    found = table(caption, heads, rows)
    notes = [*s["words"]["notes"], *notes, *s["words"]["sizes"]]
    return found, Notes(tuple(notes)), *_by_corrected_t(s)


def _is_exact(gap: DifferenceSummary) -> bool:
    """Whether a test holds its level whatever the samples."""
    return gap["test"] == "exact McNemar"


def _by_corrected_t(s: Summary) -> tuple[Block, ...]:
    """Tabulate the same differences by the corrected t-test, where it is another."""
    rows = []
    for method, gap in s["corrected"].items():
        verdict, size = _verdict(s, gap), _rate(gap)
        row = (LABELS[method], verdict, *gap_in_unit(s, gap), pvalue(gap["pvalue"]))
        rows.append(((*row, size), method))
    if not rows:
        return ()
    pts = _pts(s)
    heads = f"Method! | Verdict~ | Difference{pts}#* | {_level(s)}{pts}# | "
    heads += "p-value# | False-positive rate of the test~"
    caption = "The same differences by the corrected resampled t-test, for comparison"
    return (table(caption, heads, rows),)


def _on_test(s: Summary, label: str, gap: DifferenceSummary) -> str:
    said = f"{label}: {gap['test']} test"
    if gap["statistic"] is not None:
        said += f", statistic {number(gap['statistic'], 2)}"
    if gap["df"] is not None:
        said += f" with {gap['df']:g} degrees of freedom"
    said += f"; significant where p < {gap['alpha']:g}. "
    said += assumed(gap["assumptions"])
    shares = gap["probabilities"]
    if shares is not None and shares["rope"] is not None:
        said += (
            f" The probability that {s['names']['a']} is better is "
            f"{percent(shares['a'])}, that both selectors are practically equivalent "
            f"(within {gap_written(s, gap['rope'], signed=False)}) "
            f"{percent(shares['rope'])}, "
            f"and that {s['names']['b']} is better {percent(shares['b'])}."
        )
    return said


def assumed(assumptions: str) -> str:
    """Begin assumptions with a word that says what they are.

    Examples
    --------
    >>> assumed("The differences are normal.")
    'Assumptions: the differences are normal.'
    """
    return f"Assumptions: {assumptions[:1].lower()}{sentence(assumptions)[1:]}"


def _optimism(s: Summary) -> tuple[Block, ...]:
    rows = []
    first = s["methods"][0]
    for side, name in zip(SIDES, _name_cells(s), strict=True):
        gap, reading = s["optimism"][side], READINGS[s["optimism_shown"][side]]
        n = count(first["a"]["n"], first["unit"])
        rows.append((name, *gap_in_unit(s, gap), n, reading))
    pts, what = _pts(s), s["scoring"]["label"]
    heads = f"Selector! | OUT {MINUS} IN{pts}#* | {_level(s)}{pts}# | n# | "
    caption = f"Optimism: {what} under OUT minus {what} under IN"
    if pts:
        caption += ", in percentage points"
    elif not s["scoring"]["greater_is_better"]:
        caption += "; a loss that is too low is optimistic"
    blocks: list[Block] = [table(caption, f"{heads}Reading~", rows)]
    blocks += _on_optimism(s)
    if s["bias_imbalance"]:
        listed = ", ".join(
            f"{method.upper()} {gap_written(s, value, signed=False)}"
            for method, value in s["bias_imbalance"].items()
        )
        note = f"Bias imbalance: {listed}. The bias of a selector is its {what} under "
        note += f"the method minus that under {s['bias_reference']}; the imbalance is "
        note += "how far the biases of the two selectors differ."
        blocks.append(Text(note, "note"))
    return tuple(blocks)


def _on_optimism(s: Compared) -> list[Block]:
    """Say how often intervals of the optimism cover it."""
    if s["independent_repeats"]:
        return []
    said = say_coverage(covered(s["optimism_coverage"]))
    return [Text(f"Intervals of the optimism: {said[:1].lower()}{said[1:]}", "note")]


def _pair_features(s: Summary) -> tuple[Block, ...]:
    blocks: list[Block] = [Text(text) for text in s["words"]["stability"]]
    if s["stability"] or s["seconds"]:
        method = _counted(s)
        found = [
            sum(f[side].get(method, 0) > 0 for f in s["features"]) for side in SIDES
        ]
        columns = _chosen(s, _name_cells(s), found)
        for method, own in s["stability"].items():
            columns += _stability(s, f"Stability, {method.upper()}", own.values())
        if s["seconds"]:
            columns.append(_times(s["seconds"].values()))
        caption = "Number of features, stability and time of each selector"
        note = f"{ON_STABILITY if s['stability'] else ''}{ON_TIME}"
        blocks += [by_columns(caption, columns), Text(note, "note")]
    made = [(side, *one) for side in SIDES for one in s["n_selections"].items()]
    heads: Heads = ["Feature!"]
    for side, method, total in made:
        name = f"{s['names'][side]}, {method.upper()}"
        heads.append(Column(name, number=total > 1, side=side, protocol=method))
    rows = [
        (
            f["name"],
            *(times_chosen(f[side].get(m, 0), total, side) for side, m, total in made),
        )
        for f in s["features"]
    ]
    return (*blocks, *_feature_table(heads, rows, max(s["n_selections"].values())))


def times_chosen(n: int, total: int, side: Side = "a") -> TableCell:
    """Write how many of all selections chose a feature, with a bar."""
    if total == 1:
        return TableCell("yes" if n else MISSING)
    return TableCell(f"{n} of {total}", side=side, share=n / total)


def _feature_table(
    heads: Any, rows: list[Any], total: int, method: str = ""
) -> list[Block]:
    """Tabulate features; those beyond `MOST_FEATURES` are counted in a note."""
    caption = "How many of all selections chose each feature, most often chosen first"
    if total == 1:
        caption = "Which selector chose each feature"
    if method:
        caption = f"{method.upper()}: {caption[:1].lower()}{caption[1:]}"
    shown = rows[:MOST_FEATURES]
    found = table(caption, heads, shown, "", method or None)
    more = len(rows) - MOST_FEATURES
    if more <= 0:
        return [found]
    left = f"{count(more, 'feature')} more were chosen, less often; --json lists all."
    return [found, Text(left, "note")]


# -- columns of the table of how selectors chose ---------------------------------------

ON_STABILITY = (
    "Stability is the measure of Nogueira, Sechidis and Brown (2018): 1 where every "
    "selection is the same, 0 where selections agree as by chance. The training folds "
    "of IN share samples, so there is no interval for it. "
)
ON_TIME = (
    "Time is that of all selections of a selector together, on the machine that made "
    "this page."
)


def _chosen(
    s: Summary | ManySummary, names: Sequence[str | TableCell], found: Sequence[int]
) -> TableColumns:
    return [
        ("Selector!", list(names)),
        ("Features each time#", [str(s["n_features_to_select"])] * len(names)),
        (f"Different features, {_counted(s).upper()}#", [str(n) for n in found]),
    ]


def _counted(s: Summary | ManySummary) -> str:
    """Return the method whose different features are counted."""
    made = s["n_selections"]
    return "in" if "in" in made else next(iter(made))


def _stability(
    s: Summary | ManySummary, head: str, found: Iterable[IntervalSummary | None]
) -> TableColumns:
    values, spans = zip(*map(in_numbers, found), strict=True)
    return [(f"{head}#*", [*values]), (f"{_level(s)}#", [*spans])]


def _times(taken: Iterable[float]) -> tuple[str, list[str]]:
    return "Time to select (s)#", [seconds(one) for one in taken]


def _estimators(s: Summary) -> tuple[Block, ...]:
    rows = []
    for one in s["by_estimator"]:
        for m in one["methods"]:
            gap = m["difference"]
            found: list[str | TableCell] = [gap_written(s, m["a"] - m["b"], unit=False)]
            found += [MISSING] * 3
            if gap is not None:
                found = [gap_in_unit(s, gap)[0], pvalue(gap["pvalue"])]
                found += [count(gap["n"], "pair"), _verdict(s, gap)]
            row = (
                name_of(one["name"]),
                m["label"],
                written(s, m["a"]),
                written(s, m["b"]),
                *found,
            )
            rows.append((row, m["method"]))
    heads: Heads = ["Estimator!", "Method", *_sides(s), f"Difference{_pts(s)}#"]
    n = len(s["by_estimator"])
    caption = f"Mean {s['scoring']['label']} with each estimator, and the difference"
    caption += " in percentage points" if _pts(s) else ""
    warning = f"{n} estimators are {n} tests: the more tests, the more likely that "
    return (
        table(caption, [*heads, "p-value#", "n#", "Verdict~"], rows),
        Text(f"{warning}one is wrong.", "note"),
    )


def _found_truth(s: Summary, truth: TruthSummary) -> tuple[Block, ...]:
    blocks: list[Block] = [Text(text) for text in s["words"]["truth"]]
    if truth["verdicts"]:
        rows = []
        for v in truth["verdicts"]:
            n = v["a"] + v["b"] + v["draw"]
            found = [
                f"{times} of {n}" for times in (v["a"], v["b"], v["draw"], v["right"])
            ]
            rows.append(((v["label"], *found), v["method"]))
        heads: Heads = ["Method!", *_sides(s, " better"), "No significant difference#"]
        caption = f"Verdicts on {truth['n_sets']} data sets from the source, each alone"
        blocks.append(table(caption, [*heads, "Right#*"], rows))
    t = truth["truthfulness"]
    if t is not None:
        square = [
            ("IN right", str(t["both_right"]), str(t["only_in"])),
            ("IN wrong", str(t["only_out"]), str(t["both_wrong"])),
        ]
        caption = f"Number of data sets, of {t['n_sets']}, on which each method reached"
        caption += " the true verdict"
        blocks.append(
            table(caption, "Verdict of IN! | OUT right# | OUT wrong#", square)
        )
        note = "A right verdict is not an unbiased accuracy: a method may find the "
        note += "better selector and still overestimate its accuracy."
        blocks.append(Text(note, "note"))
    return tuple(blocks)


def _pair_table(s: Summary) -> Rows:
    """Tabulate two selectors, method by method."""
    rows = []
    for m in s["methods"]:
        gap = m["difference"]
        found: Sequence[str] = [""] * 5
        if gap is not None:
            better = "neither" if gap["winner"] == "draw" else s["names"][gap["winner"]]
            p, size = bare_pvalue(gap["pvalue"]), _rate(gap)
            found = [*gap_in_unit(s, gap), p, better, size]
        means = (written(s, m[side]["value"]) for side in SIDES)
        rows.append([m["label"], *means, *found, count(m["a"]["n"], m["unit"])])
    level = f"{_level(s)}{_pts(s)}#"
    heads: Heads = ["Selection!", *_sides(s), f"Diff.{_pts(s)}#", level, "p-value#"]
    return table(_caption(s), [*heads, "Better", "False-positive rate^", "n#"], rows)


def _caption(s: Summary | ManySummary, more: str = "") -> str:
    data, scoring = s["data"], read_info(s["scoring"])
    guess = "".join(f", {level}" for level in write_chance(scoring))
    caption = (
        f"{_mean_of(s, scoring.full_label)} on {data['name']}: "
        f"{count(data['n_samples'], 'sample')}, "
        f"{s['n_features_to_select']} of {count(data['n_features'], 'feature')} "
        f"selected, {', '.join(map(name_of, s['estimators']))}{guess}"
        f"{more}. IN: selected anew in each training fold."
    )
    if _has_one_test_set(s):
        caption = caption.replace("anew in each training fold", "on training samples")
    labels = {m["label"] for m in s["methods"]}
    if "OUT" in labels:
        caption += " OUT: selected once, on all samples."
    return caption


# -- method sections -------------------------------------------------------------------


def _on_ranking(s: ManySummary) -> list[str]:
    first = s["methods"][0]
    ranks = first["friedman"]
    how = f"corrected by the method of {s['correction'].capitalize()}"
    if s["correction"] == "none":
        how = "not corrected for their number"
    return [
        f"All pairs were tested, and p-values were {how}; Friedman's test on the ranks "
        f"gave {pvalue(ranks['pvalue'])}, with a critical difference of "
        f"{ranks['critical_difference']:.2f} mean ranks (Nemenyi).",
        *(_on_testing(first["pairs"][0]["difference"]) if first["pairs"] else []),
    ]


def _on_resampling(s: Summary | ManySummary) -> list[str]:
    methods = {method["method"]: method for method in s["methods"]}
    said = []
    if "in" in methods:
        first: Any = methods["in"]
        drawn = f"{first['n_repeats']} × {first['n_folds']}-fold cross-validation"
        splits = s["settings"].get("cross-validation", drawn)
        if first.get("unit") == "test set":
            said.append(
                "Features were selected on the training samples (IN), and both "
                f"selectors were compared on the same test set: {splits}."
            )
        else:
            said.append(
                f"Features were selected anew in each training set (IN) of {splits}, "
                "the same folds for all selectors."
            )
    if "out" in methods:
        said.append(
            "For comparison, features were also selected once on all samples (OUT), "
            "so that test samples took part in the selection."
        )
    if "truth" in methods:
        truth: Any = methods["truth"]
        said.append(
            f"The true accuracy was measured on {truth['n_repeats']} training "
            "sets drawn from the source, each tested on fresh samples (TRUTH)."
        )
    return said


def _on_testing(gap: DifferenceSummary) -> list[str]:
    said = [
        f"Differences were tested by the {gap['test']} test at the level "
        f"{100 * gap['alpha']:g} %. {assumed(gap['assumptions'])}"
    ]
    size = gap["size"]
    if _is_exact(gap):
        return said
    if size is None:
        said.append(
            "The false-positive rate of this test has not been measured for this "
            "design."
        )
        return said
    if not size["near"]:
        said.append(
            "The false-positive rate of this test has not been measured in designs "
            f"like this one; it is {_over_designs(size)}."
        )
        return said
    if size["n_designs"] > 1:
        said.append(f"The false-positive rate of this test is {_over_designs(size)}.")
        return said
    said.append(
        f"On {size['n_simulations']} simulated data sets in which neither selector "
        f"is better ({size['design']}), the test at the nominal level "
        f"{100 * size['nominal']:g} % rejected in {percent(size['rate'])} (95 % "
        f"interval {percent_range(size['low'], size['high'])}): this is its "
        "false-positive rate"
        + ("; p-values are calibrated to that." if size["calibrated"] else ".")
    )
    return said


# -- several selectors -----------------------------------------------------------------


def _ranks(s: ManySummary) -> Figure:
    panels = []
    for m in s["methods"]:
        found = m["friedman"]
        means = [one["means"][m["method"]]["value"] for one in s["selectors"]]
        what = s["scoring"]["label"]
        notes = [f", mean {what} {written(s, mean)}" for mean in means]
        verdict = f"Friedman {pvalue(found['pvalue'])}, false-positive rate "
        verdict += f"{write_size(found['size'])}, n = {count(found['n'], 'fold')}"
        panels.append(
            _panel(m, ranks_of(found, s["names"], notes, m["label"]), verdict)
        )
    caption = (
        f"Every fold ranks the selectors by {s['scoring']['label']}, 1 for the "
        "best; dots are mean ranks. A thick line joins selectors whose mean ranks lie "
        "within Nemenyi's critical difference of each other: these selectors are not "
        "distinguished. "
        "Friedman's test treats folds as independent, which they are not; the measured "
        "false-positive rate of the test stands above, and claims rest on the pairs "
        "below."
    )
    return Figure(tuple(panels), caption)


def ranks_of(
    found: RanksSummary,
    names: Sequence[str],
    notes: Sequence[str] = (),
    label: str = "",
    unit: str = "fold",
) -> Ranks:
    """Make the picture of mean ranks.

    Parameters
    ----------
    found : RanksSummary
        Friedman's test.
    names, notes : sequence of str
        Of the selectors; a note follows the mean rank, there may be none.
    label : str
        The method.
    unit : str
        What ranks the selectors, "fold" or "split".
    """
    ranks, shown = found["mean_ranks"], [shortened(name, 26) for name in names]
    ordered = ", ".join(f"{shown[i]} {ranks[i]:.2f}" for i in _by_rank(found))
    groups = "; ".join(listing(shown[i] for i in group) for group in found["groups"])
    apart = f"Not distinguished: {groups}." if groups else "All are distinguished."
    start = f"{label}: mean" if label else "Mean"
    told = zip(ranks, notes or [""] * len(ranks), strict=True)
    return Ranks(
        f"{start} ranks over {count(found['n'], unit)}, 1 is best: {ordered}. "
        f"Critical difference {found['critical_difference']:.2f}. {apart}",
        tuple(names),
        tuple(ranks),
        tuple(f"mean rank {rank:.2f}{note}" for rank, note in told),
        found["critical_difference"],
        tuple(tuple(group) for group in found["groups"]),
    )


def _many_means(s: ManySummary) -> tuple[Block, ...]:
    columns: TableColumns = [("Selector!", s["names"])]
    level = _level(s)
    for m in s["methods"]:
        found = [in_unit(s, one["means"][m["method"]]) for one in s["selectors"]]
        parts: TableColumns = [
            (m["label"], [bold(mean) for mean, _ in found]),
            (level, [span for _, span in found]),
            (f"Mean rank, {m['label']}", _mean_ranks(s, m)),
        ]
        columns += [
            (Column(str(head), number=True, protocol=m["method"]), cells)
            for head, cells in parts
        ]
    n = count(s["methods"][0]["friedman"]["n"], "fold")
    columns.append(("n#", [n] * len(s["names"])))
    scoring = read_info(s["scoring"])
    start = f"{on_direction(scoring)} "
    if scoring.is_accuracy:
        start = (
            "Always predicting the most frequent class is correct for "
            f"{percent(s['data']['chance'])} of "
            f"{count(s['data']['n_samples'], 'sample')}. "
        )
    elif scoring.chance is not None:
        start += f"Guessing reaches {scoring.write(scoring.chance)}. "
    note = (
        f"{start.lstrip()}Intervals are t intervals over folds, their variance "
        "enlarged because training sets overlap (Nadeau and Bengio 2003). "
        f"{_on_coverage(s)}{_say_where_cut(s)}{_averaged(s)}"
    )
    caption = f"Mean {scoring.label} of each selector, with its {level}, and mean rank"
    return by_columns(caption, columns), Text(note, "note")


def _on_coverage(s: ManySummary) -> str:
    """Say how often the intervals of means under IN cover the truth."""
    if not any(m["method"] == "in" for m in s["methods"]):
        return ""
    said = say_coverage(covered(s["coverage"]))
    return f"Under IN, {said[:1].lower()}{said[1:]} "


def _mean_ranks(s: ManySummary, m: ManyMethod) -> list[str]:
    return [f"{one['ranks'][m['method']]:.2f}" for one in s["selectors"]]


def _all_pairs(s: ManySummary, m: ManyMethod) -> Rows:
    rows = []
    for pair in m["pairs"]:
        gap = pair["difference"]
        verdict = "no significant difference"
        if pair["better"] is not None:
            verdict = f"{shortened(s['names'][pair['better']])} better"
        names = (s["names"][i] for i in (pair["first"], pair["second"]))
        p, corrected = bare_pvalue(gap["pvalue"]), bare_pvalue(pair["adjusted"])
        rows.append((*names, *gap_in_unit(s, gap), p, corrected, verdict))
    pts = _pts(s)
    heads = f"First! | Second | Difference{pts}#* | {_level(s)}{pts}# | "
    heads += "p-value# | Corrected p# | Verdict~"
    caption = f"{m['label']}: first minus second{_in_unit_of(s)}; "
    caption += f"p-values corrected for {count(len(rows), 'pair')}"
    return table(caption, heads, rows, protocol=m["method"])


def _on_pairs(s: ManySummary) -> Notes:
    gap = s["methods"][0]["pairs"][0]["difference"]
    first = (
        f"{sentence(gap['test'])[:-1]} test on n = {count(gap['n'], 'difference')} "
        f"each; significant where the corrected p < {s['alpha']:g}. Intervals hold for "
        f"each pair alone. {assumed(gap['assumptions'])}"
    )
    return Notes((*s["words"]["notes"], first, *s["words"]["sizes"]))


def _many_features(s: ManySummary) -> tuple[Block, ...]:
    selectors = s["selectors"]
    columns = _chosen(s, s["names"], [one["n_distinct"] for one in selectors])
    if selectors[0]["stability"] is not None:
        columns += _stability(s, "Stability", [one["stability"] for one in selectors])
    gaps = [one["optimism"] for one in selectors if one["optimism"] is not None]
    if gaps:
        values, spans = zip(*(gap_in_unit(s, g) for g in gaps), strict=True)
        columns.append((f"OUT {MINUS} IN{_pts(s)}#", [*values]))
        columns.append((f"{_level(s)}{_pts(s)}#", [*spans]))
    columns.append(_times(one["seconds"] for one in selectors))
    caption = "Number of features, stability, optimism of selecting on all samples "
    blocks: list[Block] = [by_columns(f"{caption}(OUT {MINUS} IN) and time", columns)]
    blocks.append(Text(f"{ON_STABILITY}{ON_TIME}", "note"))
    if gaps:
        blocks += _on_optimism(s)
    # A table for each method: with many selectors rows are long.
    for method, total in s["n_selections"].items():
        own = (Column(name, number=total > 1) for name in s["names"])
        heads: Heads = ["Feature!", *own]
        rows = [
            (f["name"], *(times_chosen(n, total) for n in f["times"][method]))
            for f in s["features"]
            if any(f["times"][method])
        ]
        blocks += _feature_table(heads, rows, total, method)
    return tuple(blocks)


def _many_table(s: ManySummary) -> Rows:
    """Tabulate several selectors."""
    selectors = s["selectors"]
    columns: TableColumns = [("Selector!", s["names"])]
    for m in s["methods"]:
        means = [written(s, one["means"][m["method"]]["value"]) for one in selectors]
        columns.append((f"{m['label']}#", means))
        columns.append((f"{m['label']} rank#", _mean_ranks(s, m)))
    stabilities = [in_numbers(one["stability"])[0] for one in selectors]
    columns += [
        ("Stability#", ["" if value == MISSING else value for value in stabilities]),
        ("Features#", [str(one["n_distinct"]) for one in selectors]),
        ("Time (s)#", [seconds(one["seconds"]) for one in selectors]),
    ]
    more = f", n = {count(s['methods'][0]['friedman']['n'], 'fold')}"
    caption = f"{_caption(s, more)} Mean ranks over folds; Nogueira's stability, and "
    caption += "the number of different features that the folds selected."
    return by_columns(caption, columns)
