"""From accuracies to conclusions: optimism, bias, artefacts and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.numbers import (
    count,
    number,
    percent,
    percent_range,
    pvalue,
)
from veridical._core.records import Belief, Conclusion, Interval
from veridical._core.scoring import ACCURACY, ScoreInfo, write_number
from veridical._core.text import listing, shortened
from veridical.comparison.records import (
    Bias,
    Calibration,
    Comparison,
    Friedman,
    MeanAccuracy,
    MeasuredSize,
    PairVerdict,
    Sensitivity,
    TestResult,
    Truthfulness,
    Verdict,
    Winner,
)
from veridical.comparison.significance import Geometry, corrected_resampled_t
from veridical.comparison.testing import LEAST_DIFFERENCES, on_accuracies
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.evaluation.conclusions import (
    ALWAYS_MAJORITY,
    explain_interval,
    say_coverage,
    write_plain,
)
from veridical.evaluation.intervals import (
    at_least_wilson,
    clip,
    t_half_width,
    vary,
    wilson,
)
from veridical.evaluation.stability import stability

Accuracies = Mapping[str, FloatArray]


def means(values: FloatArray) -> FloatArray:
    """Average over estimators, repeats and folds, per selector."""
    return values.mean(axis=(1, 2, 3))


def bias_imbalance(accuracy: Accuracies) -> dict[str, float]:
    """Compute the largest difference between the biases of two selectors, per method.

    Bias is taken against TRUTH where it is known, else OUT's against IN.
    """
    reference = "truth" if "truth" in accuracy else "in"
    if reference not in accuracy:
        return {}
    result = {}
    for method in accuracy:
        if method != reference:
            bias = means(accuracy[method]) - means(accuracy[reference])
            result[method] = float(np.ptp(bias))
    return result


def measure_optimism(
    accuracy: Accuracies, geometry: Geometry, alpha: float, largest: float = 1.0
) -> tuple[Interval, ...]:
    """Compute OUT minus IN per selector, with the interval of the corrected t-test.

    The interval is NaN where all splits differ by the same, and with two splits.
    """
    if not {"in", "out"} <= set(accuracy):
        return ()
    result = []
    for inside, outside in zip(accuracy["in"], accuracy["out"], strict=True):
        one, other = (values.mean(axis=0).ravel() for values in (outside, inside))
        test = on_accuracies(
            corrected_resampled_t(
                one,
                other,
                n_train=geometry.n_train,
                n_test=geometry.n_test,
                alpha=alpha,
            ),
            largest,
        )
        result.append(Interval(test.mean_difference, *test.interval))
    return tuple(result)


def find_artefacts(record: Comparison) -> tuple[int, ...]:
    """Find the selectors whose OUT accuracy is an artefact of the selection.

    It is, where OUT is above the majority share, IN is not, and OUT is above IN.
    "Above" means that the whole interval of the mean is (corrected for overlapping
    training sets). Where a mean has no interval, nothing is called an artefact.

    Returns
    -------
    tuple of int
        Indices of the selectors.
    """
    found = record.means
    return tuple(
        i
        for i, gap in enumerate(record.optimism)
        if (gap.low > 0 if record.scoring.greater_is_better else gap.high < 0)
        and beats_majority(record, found["out"][i])
        and math.isfinite(found["in"][i].low)
        and not beats_majority(record, found["in"][i])
    )


def beats_majority(record: Comparison, mean: MeanAccuracy) -> bool:
    """Return whether the whole interval of a mean is better than guessing."""
    scoring = record.scoring
    if scoring.chance is None:
        return True
    nearest = mean.low if scoring.greater_is_better else mean.high
    return scoring.is_better(nearest, scoring.chance)


def mean_accuracies(record: Comparison) -> dict[str, tuple[MeanAccuracy, ...]]:
    """Average the accuracies per method and selector, with t intervals."""
    result = {}
    for method, accuracy in record.score.items():
        unit, sample = paired_accuracies(record, method)
        if unit == "test set":
            unknown = [(math.nan, math.nan)] * len(sample)
            bounds = record.bounds.get(method, unknown)
            result[method] = tuple(
                MeanAccuracy(float(value), *within, math.nan, 1)
                for (value,), within in zip(sample, bounds, strict=True)
            )
            continue
        ratio, n_tested = 0.0, None
        if unit == "fold":
            ratio = fold_ratio(record, accuracy.shape[3])
            if record.scoring.is_accuracy:
                n_tested = _count_tested(record, sample.shape[1])
        result[method] = tuple(
            mean_accuracy(own, ratio, record.alpha, record.scoring.range, n_tested)
            for own in sample
        )
    return result


def _count_tested(record: Comparison, n_splits: int) -> int | None:
    """Count the different samples in all test sets; None where that is not known."""
    if math.isnan(record.n_test):
        return None
    return min(record.data.n_samples, round(record.n_test * n_splits))


AccuracyUnit = Literal["fold", "data set", "repeat", "test set"]


def paired_accuracies(
    record: Comparison, method: str, most: int | None = None
) -> tuple[AccuracyUnit, FloatArray]:
    """Return the accuracies that are averaged for the mean of each selector.

    Parameters
    ----------
    record : Comparison
        What was found.
    method : str
        One of its methods.
    most : int, optional
        Where there are more accuracies of folds, those of each repeat are averaged, for
        a picture.

    Returns
    -------
    unit : {"fold", "data set", "repeat", "test set"}
        What one accuracy is of.
    values : array of shape (n_selectors, n)
        Averaged over the estimators.
    """
    values = np.asarray(record.score[method]).mean(axis=1)  # selector, repeat, fold
    if repeats_are_data_sets(record, method):
        return "data set", values.mean(axis=2)
    if record.one_test_set is not None:
        return "test set", values.reshape(len(values), -1)
    _, n_repeats, n_folds = values.shape
    if most is not None and n_repeats > 1 and n_repeats * n_folds > most:
        return "repeat", values.mean(axis=2)
    return "fold", values.reshape(len(values), -1)


def describe_interval(record: Comparison, method: str) -> str:
    """Write what the interval of a mean accuracy assumes."""
    unit, values = paired_accuracies(record, method)
    n = values.shape[1]
    if record.one_test_set is not None:
        kind = record.one_test_set
        said = explain_interval(kind, record.scoring, one_test_set=True)
        return f"one test set, {said}" if record.one_test_set else "one test set"
    if n < 2:
        return f"a single {unit}: no interval"
    if unit == "data set":
        return f"t interval over {count(n, 'independent data set')}"
    if record.scoring.is_accuracy and uses_wilson(values, _count_tested(record, n)):
        return (
            "Wilson's interval for the tested samples, because the accuracies of folds "
            f"say too little about their spread. {_covered(record, method)}"
        )
    ratio = fold_ratio(record, record.score[method].shape[3])
    said = (
        f"t interval over {count(n, 'fold')}, its variance enlarged by test/train = "
        f"{ratio:.3g} (Nadeau and Bengio 2003) because training sets overlap"
    )
    return f"{said}. {_covered(record, method)}"


def _covered(record: Comparison, method: str) -> str:
    """Say how often intervals of means cover the truth; no full stop at the end."""
    if method == "in" and not record.independent_repeats:
        return say_coverage(record.coverage).removesuffix(".")
    return "It is an approximation"


def shares_right(record: Comparison) -> dict[str, Interval]:
    """Compute how often each method reached the true verdict, with Wilson's bounds."""
    result = {}
    for method, right in record.n_right.items():
        n = len(record.set_verdicts[method])
        result[method] = Interval(right / n, *wilson(right / n, n))
    return result


def repeats_are_data_sets(record: Comparison, method: str) -> bool:
    """Return whether every repeat is a data set of its own, and so independent."""
    if method == "truth":
        return True
    return record.independent_repeats and record.score[method].shape[2] > 1


def fold_ratio(record: Comparison, n_folds: int) -> float:
    """Return test samples per training sample; if unknown, that of equal folds."""
    if math.isfinite(record.n_test) and record.n_train > 0:
        return record.n_test / record.n_train
    return 1 / (n_folds - 1) if n_folds > 1 else 0.0


def uses_wilson(values: FloatArray, n_tested: int | None) -> bool:
    """Return whether means of accuracies have Wilson's interval, as in `estimate`.

    They do with fewer than three splits, if every test set is a single sample, and if
    the accuracies of each selector are all equal.

    Parameters
    ----------
    values : array of shape (n_selectors, n_splits)
        Accuracies.
    n_tested : int or None
        Number of different samples in all test sets.
    """
    few = values.shape[1] < LEAST_DIFFERENCES or values.shape[1] == n_tested
    return n_tested is not None and (few or not any(vary(own) for own in values))


def mean_accuracy(
    values: FloatArray,
    test_to_train: float,
    alpha: float,
    limits: tuple[float, float] = (0.0, 1.0),
    n_tested: int | None = None,
) -> MeanAccuracy:
    """Average scores, with a t interval for the mean, within their range.

    Where all are equal, their spread says nothing: the interval is Wilson's for the
    tested samples, as in `veridical.estimate`, if their number is known; it is never
    narrower than that. There is none for a single accuracy.

    Parameters
    ----------
    values : array of shape (n,)
        One accuracy per fold or data set.
    test_to_train : float
        Size of a test set over the size of a training set; the variance of the mean is
        ``s² (1/n + test_to_train)``, because training sets overlap [1]_. Zero for
        independent data sets.
    alpha : float
        One minus the confidence.
    limits : tuple of float
        The smallest and the largest possible value.
    n_tested : int, optional
        Number of different samples in all test sets, of an accuracy.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine
       Learning 52 (2003).

    Examples
    --------
    >>> mean = mean_accuracy(np.array([0.5, 0.75, 1.0]), 0.0, 0.05)
    >>> mean.value, mean.std, round(mean.low, 3)
    (0.75, 0.25, 0.129)
    """
    n, mean = int(values.size), float(values.mean())
    if n < 2:
        return MeanAccuracy(mean, math.nan, math.nan, math.nan, n)
    std = float(values.std(ddof=1)) if vary(values) else 0.0
    if n_tested is not None and uses_wilson(values[None], n_tested):
        return MeanAccuracy(mean, *wilson(mean, n_tested, 1 - alpha), std, n)
    if std == 0:
        return MeanAccuracy(mean, math.nan, math.nan, std, n)
    half = float(t_half_width(values, test_to_train, 1 - alpha))
    bounds = clip((mean - half, mean + half), limits)
    if n_tested is not None:
        bounds = at_least_wilson(bounds, mean, n_tested, 1 - alpha)
    return MeanAccuracy(mean, *bounds, std, n)


def list_notes(record: Comparison) -> tuple[str, ...]:
    """Write why an interval or a p-value of a comparison is not available."""
    said = []
    for method, found in record.means.items():
        if record.one_test_set is not None:
            continue
        unit = "data set" if repeats_are_data_sets(record, method) else "fold"
        for name, mean in zip(record.names, found, strict=True):
            if math.isnan(mean.low) or mean.std == 0:
                why = _on_one_value(mean, unit, record.scoring)
                said.append(f"{method.upper()}, {shortened(name)}: {why}")
    for method, pairs in record.pairs.items():
        for pair in pairs:
            if note := pair.verdict.test.note:
                names = f"{shortened(pair.first)} minus {shortened(pair.second)}"
                said.append(f"{method.upper()}, {names}: {note}")
    for name, gap in zip(record.names, record.optimism, strict=False):
        if math.isnan(gap.low):
            n = record.means["in"][0].n
            what = f"there are {n} differences"
            if n >= LEAST_DIFFERENCES:
                what = f"all {n} differences are equal"
            said.append(
                f"OUT minus IN, {shortened(name)}: {what}, so there is no interval, "
                "and whether OUT is too optimistic is not known."
            )
    return tuple(said)


def _on_one_value(mean: MeanAccuracy, unit: str, scoring: ScoreInfo) -> str:
    plural = "accuracies" if scoring.is_accuracy else "scores"
    if mean.n < 2:
        return f"one {unit} gives no interval."
    instead = "there is no interval"
    if not math.isnan(mean.low):
        instead = "the interval is Wilson's for the tested samples"
    return (
        f"the {scoring.label} is {scoring.write(mean.value)} on all {mean.n} {unit}s; "
        f"{plural} that do not vary say nothing about the error of their mean, so "
        f"{instead}."
    )


def measure_stability(
    selected: Mapping[str, IntArray], n_features: int, alpha: float
) -> dict[str, tuple[Interval, ...]]:
    """Measure the stability of every selector, per method that selects repeatedly.

    Under IN the selections share samples, and there is no interval.

    Parameters
    ----------
    selected : mapping of method to array (n_selectors, n_repeats, n_folds, n_chosen)
        The selected features.
    n_features : int
        Number of features.
    alpha : float
        One minus the confidence.
    """
    result = {}
    for method, chosen in selected.items():
        sets = chosen.reshape(len(chosen), -1, chosen.shape[-1])
        if sets.shape[1] > 1:
            result[method] = tuple(
                stability(
                    own, n_features, confidence=1 - alpha, independent=method != "in"
                )
                for own in sets
            )
    return result


def count_truths(
    true: Winner, found: Mapping[str, Sequence[Winner]], alpha: float
) -> Truthfulness:
    """Count on how many data sets IN and OUT reached the true verdict."""
    right_in = np.array([winner == true for winner in found["in"]], dtype=bool)
    right_out = np.array([winner == true for winner in found["out"]], dtype=bool)
    return binomial_truthfulness(right_in, right_out, alpha=alpha)


# -- recommendations -----------------------------------------------------------------


@dataclass(frozen=True)
class Wording:
    """Names, significance level and majority share, for sentences about selectors."""

    names: Sequence[str]
    alpha: float
    chance: float | None
    scoring: ScoreInfo = ACCURACY

    def winner(self, verdict: Verdict) -> str:
        """Return the name of the better selector."""
        better = self.scoring.sign * verdict.mean_difference > 0
        return self.names[0 if better else 1]

    def loser(self, verdict: Verdict) -> str:
        """Return the name of the worse selector."""
        better = self.scoring.sign * verdict.mean_difference > 0
        return self.names[1 if better else 0]

    def gap(self, value: float) -> str:
        """Write a difference: "1.5 points of accuracy", or a number and the score."""
        if self.scoring.percent:
            return f"{number(100 * value)} points of {self.scoring.label}"
        return f"{write_number(value)} of {self.scoring.label}"

    def span(self, low: float, high: float) -> str:
        """Write an interval of differences, without the unit."""
        if self.scoring.percent:
            return f"{number(100 * low)} to {number(100 * high)}"
        return f"{write_number(low)} to {write_number(high)}"

    @property
    def guess(self) -> str:
        """What a score is compared with: the majority class, or guessing."""
        if self.scoring.is_accuracy:
            return f"{ALWAYS_MAJORITY} ({percent(self.chance)})"
        return f"guessing ({self.scoring.write(self.chance)})"

    def evidence(self, verdict: Verdict, sign: int = 1) -> str:
        """Write the interval in points of accuracy, the p-value and the test's size."""
        if math.isnan(verdict.interval[0]):
            p = "no p-value"
            if not math.isnan(verdict.pvalue):
                p = f"{pvalue(verdict.pvalue)}{size_text(verdict)}"
            return f"no interval, {p}"
        low, high = sorted(sign * bound for bound in verdict.interval)
        return (
            f"{100 * (1 - self.alpha):.4g} % interval {self.span(low, high)}, "
            f"{pvalue(verdict.pvalue)}{size_text(verdict)}"
        )


def size_text(verdict: Verdict) -> str:
    """Write the false-positive rate of the test, if it was measured.

    A calibrated p-value accounts for it already.
    """
    if verdict.test.size is None or verdict.test.calibrated:
        return ""
    return f"; {false_positives(verdict.test.size)}"


def false_positives(size: MeasuredSize) -> str:
    """Write how often a test rejects where neither side is better.

    Examples
    --------
    >>> false_positives(MeasuredSize(0.05, 0.083, 0.07, 0.1, 2000, "10 folds", 8))
    'false-positive rate of the test 7.0 to 10.0 % (measured; nominal 5 %)'
    """
    where = "measured" if size.near else "measured, but only in other designs"
    return (
        f"false-positive rate of the test {percent_range(size.low, size.high)} "
        f"({where}; nominal {100 * size.nominal:g} %)"
    )


def recommend(record: Comparison) -> str:
    """Write what may be claimed and what may be used, as the paper concludes.

    Parameters
    ----------
    record : Comparison
        What was found on one data set.
    """
    artefacts = find_artefacts(record)
    wording = Wording(record.names, record.alpha, record.scoring.chance, record.scoring)
    if len(record.names) > 2:
        return recommend_several(record, artefacts, wording)
    inside = record.verdicts.get("in")
    return recommend_pair(
        record.verdicts,
        record.score,
        artefacts,
        record.optimism,
        wording,
        doubt="" if inside is None else find_doubt(record, inside),
    )


def recommend_pair(
    verdicts: Mapping[str, Verdict],
    accuracy: Accuracies,
    artefacts: Sequence[int],
    optimism: Sequence[Interval],
    wording: Wording,
    doubt: str = "",
) -> str:
    """Write what may be claimed of two selectors, and which of them may be used.

    `doubt` is why a significant difference under IN may not be claimed, see
    `find_doubt`. A difference that OUT alone finds is no reason to prefer a selector:
    OUT rewards the one that fits the test samples more.
    """
    sentences = []
    if artefacts:
        sentences.append(_on_artefacts(accuracy, artefacts, wording))
    sentences.append(_on_claims(verdicts.get("in"), wording, doubt))
    if {"in", "out"} <= set(verdicts):
        sentences.append(_on_picking(verdicts, artefacts, wording, doubt))
    if optimism and not artefacts:
        sentences.append(_on_reporting(accuracy["in"], optimism, wording))
    return " ".join(sentences)


def _on_reporting(
    inside: FloatArray, optimism: Sequence[Interval], wording: Wording
) -> str:
    """Write which accuracy to report, and how much higher that of OUT is."""
    found = means(inside)
    parts = []
    for i, gap in enumerate(optimism):
        value, low, high = gap
        span = "no interval"
        if math.isfinite(low):
            level = f"{100 * (1 - wording.alpha):.4g} %"
            span = f"{level} interval {wording.span(low, high)}"
        size = wording.scoring.write_gap(abs(value), signed=False)
        apart = f"{size} {'lower' if value < 0 else 'higher'}" if value else "equal"
        parts.append(
            f"{wording.scoring.write(found[i])} for {wording.names[i]} (OUT is "
            f"{apart}, {span})"
        )
    what = wording.scoring.label
    return f"The {what} to report is that under IN: {listing(parts)}."


def _on_artefacts(
    accuracy: Accuracies, artefacts: Sequence[int], wording: Wording
) -> str:
    found = {method: means(accuracy[method]) for method in ("in", "out")}

    def listed(method: str) -> str:
        return listing(
            f"{wording.scoring.write(found[method][i])} ({wording.names[i]})"
            for i in artefacts
        )

    return (
        "OUT is an artefact of selection here: OUT reports "
        f"{listed('out')}, but when the test samples are kept out of the selection, IN "
        f"reports {listed('in')}, not shown to be better than {wording.guess}."
    )


def _on_claims(inside: Verdict | None, wording: Wording, doubt: str) -> str:
    if inside is None:
        return (
            "Do not claim that either is better: OUT alone was run, and its test "
            "samples took part in the selection; run IN as well."
        )
    if inside.winner == "draw":
        return (
            f"Do not claim that either is better: under IN, {wording.names[0]} minus "
            f"{wording.names[1]} is {wording.gap(inside.mean_difference)} "
            f"({wording.evidence(inside)}).{_because(inside)}"
        )
    sign = 1 if inside.mean_difference > 0 else -1
    claim = f"{wording.winner(inside)} selects better than {wording.loser(inside)}"
    found = (
        f"under IN its {wording.scoring.label} is "
        f"{'higher' if wording.scoring.greater_is_better else 'lower'} by "
        f"{wording.scoring.write_gap(abs(inside.mean_difference), signed=False)} "
        f"({wording.evidence(inside, sign)})"
    )
    if doubt:
        return f"Do not claim that {claim}: {found}, but {doubt}."
    return f"You may claim that {claim} here: {found}."


def _because(verdict: Verdict) -> str:
    """Write the note of a test as one more sentence, if there is one."""
    return f" {verdict.test.note}" if verdict.test.note else ""


def _on_picking(
    verdicts: Mapping[str, Verdict],
    artefacts: Sequence[int],
    wording: Wording,
    doubt: str,
) -> str:
    inside, outside = verdicts["in"], verdicts["out"]
    if len(artefacts) == len(wording.names):
        return "Neither selection is shown to be worth using on this data set."
    goal = "To pick features for this data set alone"
    if inside.winner == outside.winner == "draw":
        return f"{goal}, take either: neither IN nor OUT finds a difference."
    if doubt and inside.winner != "draw":
        return f"{goal}, take either: {_MAY_NOT}"
    if inside.winner == outside.winner:
        return f"{goal}, take {wording.winner(inside)}: IN and OUT agree."
    if outside.winner == "draw":
        return f"{goal}, take {wording.winner(inside)}: only IN finds a difference."
    if inside.winner == "draw":
        if "ab".index(outside.winner) in artefacts:
            return f"{goal}, ignore the verdict of OUT: it rests on the artefact."
        return f"{goal}, take either: {_OUT_ALONE}"
    return (
        f"{goal}, trust neither: IN prefers {wording.winner(inside)} and OUT "
        f"{wording.winner(outside)}."
    )


def recommend_several(
    record: Comparison, artefacts: Sequence[int], wording: Wording
) -> str:
    """Write what may be claimed of three selectors or more, and which may be used."""
    sentences = []
    if artefacts:
        sentences.append(_on_artefacts(record.score, artefacts, wording))
    sentences.append(_on_several_claims(record))
    if {"in", "out"} <= set(record.pairs):
        sentences.append(_on_several_picks(record, artefacts))
    if "in" in record.score:
        shown = ", ".join(
            f"{record.scoring.write(mean)} for {name}"
            for name, mean in zip(record.names, means(record.score["in"]), strict=True)
        )
        what = "accuracies" if record.scoring.is_accuracy else "scores"
        sentences.append(f"The {what} to report are those under IN: {shown}.")
    return " ".join(sentences)


def _beaten(pairs: Sequence[PairVerdict]) -> dict[str, list[str]]:
    """Return the selectors that each selector is significantly better than."""
    result: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.better is not None:
            result.setdefault(pair.better, []).append(_worse(pair))
    return result


def _on_several_claims(record: Comparison) -> str:
    if "in" not in record.pairs:
        return (
            "Do not claim that any is better: OUT alone was run, and its test samples "
            "took part in the selection; run IN as well."
        )
    allowing = _allowing(record, len(record.pairs["in"]))
    pairs = [pair for pair in record.pairs["in"] if pair.better is not None]
    doubts = {_pair_doubt(record, pair) for pair in pairs} - {""}
    claims = [
        f"{better} selects better than {listing(worse)}"
        for better, worse in _beaten(pairs).items()
    ]
    if doubts:
        return (
            f"Do not claim any difference found under IN ({'; '.join(claims)}; "
            f"{allowing}): {listing(sorted(doubts))}."
        )
    if not claims:
        return (
            "Do not claim that any of these selectors is better than another: under IN "
            f"no difference is significant at {record.alpha:g} ({allowing})."
        )
    return f"You may claim, under IN ({allowing}): {'; '.join(claims)}."


def _on_several_picks(record: Comparison, artefacts: Sequence[int]) -> str:
    if len(artefacts) == len(record.names):
        return "No selection is shown to be worth using on this data set."
    goal = "To pick features for this data set alone"
    inside, outside = _beaten(record.pairs["in"]), _beaten(record.pairs["out"])
    if not inside and not outside:
        return f"{goal}, take any: neither IN nor OUT finds a difference."
    if any(
        pair.better is not None and _pair_doubt(record, pair)
        for pair in record.pairs["in"]
    ):
        return f"{goal}, take any: {_MAY_NOT}"
    seen = inside or outside
    method = "in" if inside else "out"
    values = record.scoring.sign * means(record.score[method])
    mean = dict(zip(record.names, values, strict=True))
    best = max(seen, key=lambda name: (len(seen[name]), mean[name]))
    if inside:
        also = ""
        if best in outside:
            also = f" OUT, too, finds {best} better than {listing(outside[best])}."
        return f"{goal}, take {best}: IN finds a difference.{also}"
    if record.names.index(best) in artefacts:
        return f"{goal}, ignore the verdicts of OUT: they rest on the artefact."
    return f"{goal}, take any: {_OUT_ALONE}"


def describe_truth(
    true: Verdict,
    found: Mapping[str, Sequence[Winner]],
    truthfulness: Truthfulness | None,
    wording: Wording,
    n_sets: int,
) -> str:
    """Say which selector is truly better, and how often IN and OUT found it."""
    if true.winner == "draw":
        text = (
            f"TRUTH does not show a difference over {n_sets} data sets from this "
            f"source ({wording.evidence(true)}).{_because(true)}"
        )
    else:
        sign = 1 if true.mean_difference > 0 else -1
        text = (
            f"On this source {wording.winner(true)} is truly better, by "
            f"{wording.gap(abs(true.mean_difference))} over "
            f"{n_sets} data sets ({wording.evidence(true, sign)})."
        )
    if found:
        counts = listing(
            f"{method.upper()} on {sum(winner == true.winner for winner in winners)}"
            for method, winners in found.items()
        )
        text += f" The same verdict was reached by {counts} of {n_sets} data sets"
        if truthfulness is None:
            return f"{text}."
        better = truthfulness.better
        who = "neither" if better == "same" else better.upper()
        p = pvalue(truthfulness.pvalue)
        text += f"; {who} reaches the true verdict significantly more often ({p})."
    return text


def advise_beside_truth(here: Comparison, known: Comparison) -> str:
    """Write what is true, what the data alone advise, and whether that is right.

    Parameters
    ----------
    here : Comparison
        IN and OUT on one data set.
    known : Comparison
        TRUTH, on the source of the data set.
    """
    said = f"{known.recommendation} Without TRUTH, the advice from these data is: "
    said += f'"{here.recommendation}"'
    if here.conclusion.belief != "yes":
        return said
    true = known.verdicts["truth"].winner
    if true == "draw":
        return f"{said} TRUTH does not confirm this claim."
    right = true == here.verdicts["in"].winner
    return f"{said} This claim is {'right' if right else 'wrong'}."


# -- may it be believed? ---------------------------------------------------------------

#: Tests that treat folds as independent, and therefore reject too often on them.
NAIVE_ON_FOLDS = ("paired t",)
#: Tests whose scores need not come from folds of one data set.
_NOT_OF_FOLDS = ("paired t", "DeLong", "conservative z")
#: Tests of one test set without a calibrated form, and tests that hold their level.
_OF_ONE_TEST_SET = ("DeLong", "jackknife")
_EXACT = ("exact McNemar",)
_LEAK = "the test samples took part in the selection"
_MAY_NOT = "the difference that IN finds may not be claimed."
_OUT_ALONE = (
    "IN finds no difference, and a difference that only OUT finds is no reason to "
    "choose a selector, because OUT rewards the selector that fits the test samples "
    "more."
)


def conclude(record: Comparison) -> Conclusion:
    """Write which selector is better, and decide whether it may be believed.

    Parameters
    ----------
    record : Comparison
        Two selectors or more, on data or on a source.
    """
    if len(record.names) > 2:
        return _conclude_several(record)
    return _conclude_pair(record)


def find_doubt(
    record: Comparison, verdict: Verdict, adjusted: float | None = None
) -> str:
    """Write why a significant difference may not be claimed; "" where it may.

    Headline and recommendation both ask this function, so that they cannot disagree.
    `adjusted` is the p-value that allows for the number of pairs, if there are several.
    """
    if not any(beats_majority(record, mean) for mean in record.means["in"]):
        who = "neither" if len(record.names) == 2 else "no selector"
        return f"{who} is shown to be better than {_guess(record)}"
    return _doubt_test(
        verdict.test,
        on_folds=not repeats_are_data_sets(record, "in")
        and verdict.test.name not in _EXACT,
        adjusted=adjusted,
    )


def _doubt_test(
    test: TestResult, *, on_folds: bool, adjusted: float | None = None
) -> str:
    """Write why a significant test may not be believed; "" where it may."""
    size = test.size
    too_often = "rejects too often in such a design"
    if size is not None:
        too_often += f" ({false_positives(size)})"
    if test.name in NAIVE_ON_FOLDS and on_folds:
        return (
            f"the test treats folds as independent and therefore {too_often}; believe "
            "the result only if the corrected test agrees"
        )
    if test.calibrated:
        return ""
    if test.name == "conservative z":
        return (
            "the false-positive rate of the test was measured in a few designs only; "
            f"{_cure(test)}"
        )
    if on_folds and (size is None or not size.near):
        return (
            "the false-positive rate of the test was not measured in designs like this "
            f"one; {_cure(test)}"
        )
    if size is None or size.claim_level is None:
        return ""
    found = _error_probability(test, adjusted)
    if found <= size.claim_level:
        return ""
    if size.claim_level:
        too_often += f", where p up to {size.claim_level:.2g} may be claimed"
    return f"the test {too_often}; {_cure(test)}"


def _cure(test: TestResult) -> str:
    """Write which other result would support that of a test."""
    if test.name in _OF_ONE_TEST_SET:
        return "believe the result only if other test samples confirm it"
    other = "corrected" if test.name == "conservative z" else "calibrated"
    return f"believe the result only if the {other} test agrees"


def _error_probability(test: TestResult, adjusted: float | None) -> float:
    """Return the p-value; of a Bayesian test, the probability of being wrong."""
    if test.probabilities is not None:
        return 1 - max(test.probabilities["a"], test.probabilities["b"])
    return test.pvalue if adjusted is None else adjusted


def conclude_test(record: TestResult) -> Conclusion:
    """Write whether a test shows a difference, or how many of many tests do."""
    if np.ndim(record.pvalue):
        return _conclude_tests(record, "a is better", "b", "a difference")
    belief: Belief = "open"
    doubt, found = "", "The difference is not significant"
    if math.isnan(record.pvalue):
        found = "Whether there is a difference is not known"
    elif record.winner != "draw":
        found = f"{record.winner} is significantly better"
        on_folds = record.size is not None or record.name not in _NOT_OF_FOLDS
        doubt = _doubt_test(record, on_folds=on_folds)
        belief = "care" if doubt else "yes"
    p = pvalue(None if math.isnan(record.pvalue) else record.pvalue)
    gap = write_plain(record.mean_difference)
    but = f", but {doubt}" if doubt else ""
    return Conclusion(belief, f"{found}: the mean difference is {gap} ({p}){but}.")


def _conclude_tests(record: TestResult, a: str, b: str, what: str) -> Conclusion:
    """Count the tests that show a difference, for each side; `a` has the verb."""
    winners = np.asarray(record.winner)
    n, n_a, n_b = winners.size, int((winners == "a").sum()), int((winners == "b").sum())
    n_unknown = int(np.isnan(record.pvalue).sum())
    lack = "has" if n_unknown == 1 else "have"
    without = f"; {n_unknown} {lack} no p-value" if n_unknown else ""
    if not n_a + n_b:
        return Conclusion("open", f"None of {count(n, 'test')} shows {what}{without}.")
    verb = "shows" if n_a + n_b == 1 else "show"
    return Conclusion(
        "care",
        f"{n_a + n_b} of {count(n, 'test')} {verb} {what}: {a} in {n_a} and {b} in "
        f"{n_b}{without}. The p-values are not corrected for the number of tests.",
    )


def conclude_truthfulness(record: Truthfulness) -> Conclusion:
    """Write whether IN or OUT reaches the true verdict more often."""
    if np.ndim(record.pvalue):
        what = "that IN or OUT reaches the true verdict more often"
        return _conclude_tests(record, "IN does", "OUT", what)
    if record.better == "same":
        said = "Neither IN nor OUT is shown to reach the true verdict more often"
    else:
        first, second = ("IN", "OUT") if record.better == "in" else ("OUT", "IN")
        said = f"{first} reaches the true verdict significantly more often than "
        said += second
    return Conclusion(
        "open" if record.better == "same" else "yes",
        f"{said}: IN alone did on {count(record.only_in, 'data set')}, OUT alone on "
        f"{record.only_out} ({pvalue(record.pvalue)}, one tail).",
    )


def conclude_bias(record: Bias) -> Conclusion:
    """Write whether accuracies are shown to lie above or below the true one."""
    if np.ndim(record.pvalue):
        return _conclude_tests(record, "it is upward", "downward", "a bias")
    gap = record.mean_difference
    where = f"{write_plain(abs(gap))} {'below' if gap < 0 else 'above'} the true one"
    if gap == 0:
        where = "equal to the true one"
    if math.isnan(record.pvalue):
        said = f"Whether there is a bias is not known: the mean accuracy is {where}"
        return Conclusion("open", f"{said} ({pvalue(None)}).")
    p = pvalue(record.pvalue)
    if record.winner == "draw":
        return Conclusion(
            "open", f"No bias is shown: the mean accuracy is {where} ({p})."
        )
    size = "high" if gap > 0 else "low"
    said = f"The accuracy is significantly too {size}: its mean is {where} ({p})."
    return Conclusion("care", said)


def conclude_ranks(record: Friedman) -> Conclusion:
    """Write whether Friedman's test shows that selectors differ, or how many do.

    On folds it shows nothing: it treats them as independent, and its measured size,
    which only results on folds have, is far above the nominal one.
    """
    if np.ndim(record.pvalue):
        n, n_found = (
            np.size(record.pvalue),
            int(np.less(record.pvalue, record.alpha).sum()),
        )
        what = f"that {np.shape(record.mean_ranks)[-1]} selectors differ in their ranks"
        if not n_found:
            return Conclusion("open", f"None of {count(n, 'test')} shows {what}.")
        return Conclusion(
            "care",
            f"{n_found} of {count(n, 'test')} {'shows' if n_found == 1 else 'show'} "
            f"{what}. The p-values are not corrected for the number of tests.",
        )
    is_significant = record.pvalue < record.alpha
    said = "differ" if is_significant else "are not shown to differ"
    found = (
        f"{count(len(record.mean_ranks), 'selector')} {said} in their ranks on "
        f"{count(record.n, 'split')} ({pvalue(record.pvalue)})"
    )
    if not is_significant:
        return Conclusion("open", f"{found}.")
    if record.size is None:
        return Conclusion("yes", f"{found}.")
    return Conclusion(
        "care",
        f"{found}, but the test treats folds as independent and therefore rejects too "
        f"often ({false_positives(record.size)}); believe the tests of pairs.",
    )


def conclude_size(record: Calibration) -> Conclusion:
    """Write how often a test rejects, and whether that exceeds the nominal level.

    It does where the whole interval of the rate lies above.
    """
    size = record.size
    return Conclusion(
        "care" if size.low > size.nominal else "yes",
        f"The {record.test} test rejects on {percent(size.rate)} of "
        f"{count(size.n_simulations, 'data set')} on which neither side is better "
        f"(95 % interval {percent_range(size.low, size.high)}; nominal "
        f"{percent(size.nominal)}).",
    )


def _conclude_pair(record: Comparison) -> Conclusion:
    n_features = record.data.n_features
    if record.n_features_to_select >= n_features:
        return Conclusion(
            "open",
            f"Nothing was compared: both selectors keep all "
            f"{count(n_features, 'feature')}; ask for fewer.",
        )
    verdicts = record.verdicts
    if "truth" in verdicts:
        belief: Belief = "open" if verdicts["truth"].winner == "draw" else "known"
        return Conclusion(belief, _on_known_truth(record, verdicts))
    if "in" not in verdicts:
        return Conclusion("no", _on_out_alone(record, verdicts.get("out")))
    if len(record.artefacts) == 2:
        return Conclusion(
            "no",
            f"Neither selector is shown to be better than {_guess(record)}: the "
            f"{record.scoring.label} under OUT is an artefact of selecting on the same "
            "data.",
        )
    inside = verdicts["in"]
    if inside.winner == "draw":
        return Conclusion("open", _on_draw(record, inside, verdicts.get("out")))
    better, worse = _ordered(record, inside)
    if doubt := find_doubt(record, inside):
        return Conclusion(
            "care", f"{better} looks better than {worse} on these data, but {doubt}."
        )
    if record.one_test_set is not None:
        return Conclusion(
            "yes",
            f"{better} is better than {worse} on samples like those of the test set, "
            f"and you may believe it: {_by_how_much(record, inside)}, with features "
            "selected on the training samples alone.",
        )
    return Conclusion(
        "yes",
        f"{better} is better than {worse} on these data, and you may believe it: "
        f"{_by_how_much(record, inside)} with the selection repeated inside every "
        "fold.",
    )


def _guess(record: Comparison) -> str:
    return ALWAYS_MAJORITY if record.scoring.is_accuracy else "guessing"


def _by_how_much(record: Comparison, verdict: Verdict) -> str:
    """Write how much better the better side is."""
    scoring = record.scoring
    gap = scoring.write_gap(abs(verdict.mean_difference), signed=False)
    if scoring.is_accuracy:
        return f"{gap} more accurate"
    return f"{gap} {'more' if scoring.greater_is_better else 'less'} {scoring.label}"


def _ordered(record: Comparison, verdict: Verdict) -> tuple[str, str]:
    """Return the names of the better and the worse of two selectors."""
    first, second = (shortened(name) for name in record.names)
    return (second, first) if verdict.winner == "b" else (first, second)


def _on_draw(record: Comparison, inside: Verdict, outside: Verdict | None) -> str:
    a, b = (shortened(name) for name in record.names)
    start = f"These data do not show which of {a} and {b} is better"
    if outside is not None and outside.winner != "draw":
        better, _ = _ordered(record, outside)
        return (
            f"{start}: OUT prefers {better}, but that may not be claimed, because with "
            "honest selection (IN) the difference is not significant."
        )
    gap = record.scoring.write_gap(abs(inside.mean_difference), signed=False)
    if math.isnan(inside.pvalue) and record.one_test_set is not None:
        return f"{start}: how much the difference of {gap} varies is not known."
    if math.isnan(inside.pvalue):
        few = inside.test.n < LEAST_DIFFERENCES
        why = (
            f"{inside.test.n} folds are too few" if few else "it is equal in all folds"
        )
        return f"{start}: the difference of {gap} cannot be tested ({why})."
    return f"{start}: the difference of {gap} is not significant."


def _on_out_alone(record: Comparison, outside: Verdict | None) -> str:
    if outside is not None and outside.winner != "draw":
        better, worse = _ordered(record, outside)
        return (
            f"OUT finds {better} better than {worse}, but you may not believe it: "
            f"{_LEAK}."
        )
    return f"OUT finds no difference, and OUT alone supports no claim: {_LEAK}."


def _on_known_truth(record: Comparison, verdicts: Mapping[str, Verdict]) -> str:
    true = verdicts["truth"]
    better, worse = _ordered(record, true)
    said = {m: v.winner for m, v in verdicts.items() if m != "truth"}
    if true.winner == "draw":
        return _on_open_truth(record, said)
    fact = f"{better} is truly better than {worse} on this source"
    right = [m.upper() for m, winner in said.items() if winner == true.winner]
    wrong = [m.upper() for m, winner in said.items() if winner != true.winner]
    if not said:
        return f"{fact}."
    if not wrong:
        return f"{fact}, and {listing(right)} {'agree' if right[1:] else 'agrees'}."
    if not right:
        verb = "do" if wrong[1:] else "does"
        return f"{fact}; here {listing(wrong)} {verb} not find that."
    return f"{fact}; here {listing(right)} finds that and {listing(wrong)} does not."


def _on_open_truth(record: Comparison, said: Mapping[str, Winner]) -> str:
    """Write that TRUTH shows no difference, and whether IN and OUT do."""
    a, b = (shortened(name) for name in record.names)
    n_sets = record.score["truth"].shape[2]
    verb = "does" if n_sets == 1 else "do"
    fact = f"{count(n_sets, 'fresh data set')} {verb} not show a difference between "
    fact += f"{a} and {b}"
    none = [m.upper() for m, winner in said.items() if winner == "draw"]
    one = [m.upper() for m, winner in said.items() if winner != "draw"]
    if not said:
        return f"{fact}."
    if not one:
        return f"{fact}, nor {'do' if none[1:] else 'does'} {listing(none)}."
    finds = f"{fact}; here {listing(one)} {'find' if one[1:] else 'finds'} one"
    return f"{finds} and {listing(none)} does not." if none else f"{finds}."


def _conclude_several(record: Comparison) -> Conclusion:
    if "in" not in record.pairs:
        return Conclusion("no", f"OUT alone supports no claim: {_LEAK}.")
    pairs = sorted(
        (pair for pair in record.pairs["in"] if not math.isnan(pair.adjusted)),
        key=lambda pair: (
            pair.adjusted,
            _error_probability(pair.verdict.test, None),
            -abs(pair.verdict.mean_difference),
        ),
    )
    significant = [pair for pair in pairs if pair.better is not None]
    allowing = _allowing(record, len(record.pairs["in"]))
    if not significant:
        said = (
            f"These data do not show which of the {len(record.names)} selectors is "
            "best: no difference between two of them is significant"
        )
        if not pairs:
            return Conclusion("open", f"{said} ({allowing}).")
        a, b = shortened(pairs[0].first), shortened(pairs[0].second)
        size = abs(pairs[0].verdict.mean_difference)
        gap = record.scoring.write_gap(size, signed=False)
        return Conclusion(
            "open",
            f"{said}. The strongest difference is {gap} between {a} and {b} "
            f"({pvalue(pairs[0].adjusted)}; {allowing}).",
        )
    strongest = significant[0]
    best = strongest.better
    beaten = [_worse(pair) for pair in significant if pair.better == best]
    listed = listing(shortened(name) for name in beaten)
    name, rest = shortened(str(best)), f"better than {listed} on these data"
    gap = record.scoring.write_gap(abs(strongest.verdict.mean_difference), signed=False)
    to = f" from {shortened(beaten[0])}" if len(beaten) > 1 else ""
    evidence = (
        f"the strongest difference{to} is {gap} ({pvalue(strongest.adjusted)}; "
        f"{allowing})"
        if len(significant) > 1
        else f"the difference is {gap} ({pvalue(strongest.adjusted)}; {allowing})"
    )
    doubts = {_pair_doubt(record, pair) for pair in significant} - {""}
    if doubts:
        why = listing(sorted(doubts))
        return Conclusion("care", f"{name} looks {rest}, but {why}.")
    more = len(significant) - len(beaten)
    others = ""
    if more:
        verb = "is" if more == 1 else "are"
        others = f" {count(more, 'other difference')} {verb} significant too."
    believe = f"and you may believe it: {evidence}.{others}"
    return Conclusion("yes", f"{name} is {rest}, {believe}")


def _pair_doubt(record: Comparison, pair: PairVerdict) -> str:
    return find_doubt(record, pair.verdict, pair.adjusted)


def _worse(pair: PairVerdict) -> str:
    """Return the worse selector of a pair."""
    return pair.second if pair.better == pair.first else pair.first


def _allowing(record: Comparison, n_pairs: int) -> str:
    if record.correction == "none":
        return f"{n_pairs} pairs, without any correction for their number"
    return f"{n_pairs} pairs, {record.correction.capitalize()}'s correction"


def conclude_sensitivity(record: Sensitivity) -> Conclusion:
    """Write which method finds the true verdict more often on such sources."""
    a, b = (shortened(name) for name in record.names)
    better = {
        source.truthfulness.better
        for source in record.sources
        if source.truthfulness is not None
    }
    verdict = f"the true verdict about {a} and {b} more often"
    if better == {"in"}:
        return Conclusion("yes", f"On data like these IN reaches {verdict} than OUT.")
    if better == {"out"}:
        return Conclusion("care", f"On data like these OUT reaches {verdict} than IN.")
    if better == {"same"}:
        said = f"On data like these neither IN nor OUT is shown to reach {verdict}."
        return Conclusion("open", said)
    return Conclusion(
        "care",
        f"Whether IN or OUT reaches {verdict} on data like these depends on how strong "
        "the features are.",
    )
