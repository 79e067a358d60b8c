"""From accuracies to what may be said: optimism, bias, artefacts and plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.numbers import number, percent, pvalue
from veridical._core.records import Interval
from veridical._core.text import names
from veridical.comparison.records import (
    Comparison,
    PairVerdict,
    TestResult,
    Truthfulness,
    Verdict,
    Winner,
)
from veridical.comparison.significance import Geometry, corrected_resampled_t
from veridical.comparison.stability import stability
from veridical.comparison.truthfulness import binomial_truthfulness

Accuracies = Mapping[str, FloatArray]


def means(values: FloatArray) -> FloatArray:
    """Mean accuracy per selector over estimators, repeats and folds."""
    return values.mean(axis=(1, 2, 3))


def imbalance(accuracy: Accuracies) -> dict[str, float]:
    """Largest difference between the biases of two selectors, per method.

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
    accuracy: Accuracies, geometry: Geometry, alpha: float
) -> tuple[Interval, ...]:
    """OUT minus IN per selector, with the interval of the corrected t-test."""
    if not {"in", "out"} <= set(accuracy):
        return ()
    result = []
    for inside, outside in zip(accuracy["in"], accuracy["out"], strict=True):
        one, other = (values.mean(axis=0).ravel() for values in (outside, inside))
        test = _corrected(one, other, geometry, alpha)
        result.append(Interval(test.mean_difference, *test.interval))
    return tuple(result)


def _corrected(
    a: FloatArray, b: FloatArray, geometry: Geometry, alpha: float
) -> TestResult:
    return corrected_resampled_t(
        a, b, n_train=geometry.n_train, n_test=geometry.n_test, alpha=alpha
    )


def find_artefacts(
    accuracy: Accuracies,
    optimism: Sequence[Interval],
    chance: float,
    geometry: Geometry,
    alpha: float,
) -> tuple[int, ...]:
    """Find the selectors whose OUT accuracy is made by the selection and nothing else.

    So it is where OUT is above chance, IN is not, and OUT is above IN. "Above" means
    by the whole interval of the mean (corrected for overlapping training sets).

    Returns
    -------
    tuple of int
        Places of the selectors.
    """

    def above(method: str, i: int) -> bool:
        scores = accuracy[method][i].mean(axis=0).ravel()
        test = _corrected(scores, np.full_like(scores, chance), geometry, alpha)
        return test.interval[0] > 0

    return tuple(
        i
        for i, gap in enumerate(optimism)
        if gap.low > 0 and above("out", i) and not above("in", i)
    )


def measure_stability(
    selected: Mapping[str, IntArray], n_features: int, alpha: float
) -> dict[str, tuple[Interval, ...]]:
    """How steadily every selector chose, per method that chose more than once.

    Parameters
    ----------
    selected : mapping of method to array (n_selectors, n_repeats, n_folds, n_chosen)
        The columns chosen.
    n_features : int
        How many columns there are.
    alpha : float
        One minus the confidence.
    """
    result = {}
    for method, chosen in selected.items():
        sets = chosen.reshape(len(chosen), -1, chosen.shape[-1])
        if sets.shape[1] > 1:
            result[method] = tuple(
                stability(own, n_features, confidence=1 - alpha) for own in sets
            )
    return result


def count_truths(
    true: Winner, found: Mapping[str, Sequence[Winner]], alpha: float
) -> Truthfulness:
    """Count on how many data sets IN and OUT reached the true verdict."""
    right_in = np.array([winner == true for winner in found["in"]], dtype=bool)
    right_out = np.array([winner == true for winner in found["out"]], dtype=bool)
    return binomial_truthfulness(right_in, right_out, alpha=alpha)


# -- in words ------------------------------------------------------------------------


@dataclass(frozen=True)
class Wording:
    """What sentences about a pair need besides verdicts: names and levels."""

    names: Sequence[str]
    alpha: float
    chance: float

    def winner(self, verdict: Verdict) -> str:
        """Name the better selector."""
        return self.names[0 if verdict.mean_difference > 0 else 1]

    def loser(self, verdict: Verdict) -> str:
        """Name the worse selector."""
        return self.names[1 if verdict.mean_difference > 0 else 0]

    def evidence(self, verdict: Verdict, sign: int = 1) -> str:
        """Interval in points of accuracy, p-value, and what that is worth."""
        low, high = sorted(100 * sign * bound for bound in verdict.interval)
        return (
            f"{100 * (1 - self.alpha):.4g} % interval {number(low)} to {number(high)}, "
            f"{pvalue(verdict.pvalue)}{size_text(verdict)}"
        )


def size_text(verdict: Verdict) -> str:
    """Write how often the test errs where there is nothing to find, if measured.

    A calibrated p-value has that built in.
    """
    size = verdict.test.size
    if size is None or verdict.test.name.endswith(", calibrated"):
        return ""
    return f"; nominal {100 * size.nominal:g} %, measured {percent(size.rate)}"


def recommend(record: Comparison, artefacts: Sequence[int]) -> str:
    """Say what may be claimed and what may be used, after the paper's conclusions.

    Parameters
    ----------
    record : Comparison
        What was found on one data set.
    artefacts : sequence of int
        Selectors whose OUT accuracy is an artefact, by `find_artefacts`.
    """
    wording = Wording(record.names, record.alpha, record.data.majority_share)
    if len(record.names) > 2:
        return recommend_several(record, artefacts, wording)
    return recommend_pair(
        record.verdicts, record.accuracy, artefacts, record.optimism, wording
    )


def recommend_pair(
    verdicts: Mapping[str, Verdict],
    accuracy: Accuracies,
    artefacts: Sequence[int],
    optimism: Sequence[Interval],
    wording: Wording,
) -> str:
    """Say what may be claimed of two selectors, and which of them may be used.

    To claim that one selector is superior, use IN; to pick a subset for one data set,
    run both and trust the one that sees a difference.
    """
    sentences = []
    if artefacts:
        sentences.append(_on_artefacts(accuracy, artefacts, wording))
    sentences.append(_on_claims(verdicts.get("in"), wording))
    if {"in", "out"} <= set(verdicts):
        sentences.append(_on_picking(verdicts, artefacts, wording))
    if optimism and not artefacts:
        sentences.append(_on_reporting(accuracy["in"], optimism, wording))
    return " ".join(sentences)


def _on_reporting(
    inside: FloatArray, optimism: Sequence[Interval], wording: Wording
) -> str:
    """Which accuracy to report, and how much more OUT would have said."""
    found = means(inside)
    parts = []
    for i, gap in enumerate(optimism):
        value, low, high = (100 * bound for bound in gap)
        parts.append(
            f"{percent(found[i])} for {wording.names[i]} (OUT reads "
            f"{number(abs(value))} points {'lower' if value < 0 else 'higher'}, "
            f"{100 * (1 - wording.alpha):.4g} % interval {number(low)} to "
            f"{number(high)})"
        )
    return f"The accuracy to report is IN's: {names(parts)}."


def _on_artefacts(
    accuracy: Accuracies, artefacts: Sequence[int], wording: Wording
) -> str:
    found = {method: means(accuracy[method]) for method in ("in", "out")}

    def listed(method: str) -> str:
        return names(
            f"{percent(found[method][i])} ({wording.names[i]})" for i in artefacts
        )

    return (
        f"OUT is an artefact of selection here: it reports {listed('out')}, but when "
        f"the test cases are kept out of the selection, IN reports {listed('in')}, "
        "not shown to be above chance "
        f"({percent(wording.chance)}, always naming the largest class)."
    )


def _on_claims(inside: Verdict | None, wording: Wording) -> str:
    if inside is None:
        return (
            "Do not claim that either is better: OUT alone was run, and its test cases "
            "took part in the selection; run IN as well."
        )
    if inside.winner == "draw":
        return (
            f"Do not claim that either is better: under IN, {wording.names[0]} minus "
            f"{wording.names[1]} is {number(100 * inside.mean_difference)} points of "
            f"accuracy ({wording.evidence(inside)})."
        )
    sign = 1 if inside.mean_difference > 0 else -1
    return (
        f"You may claim that {wording.winner(inside)} selects better than "
        f"{wording.loser(inside)} here: under IN it is ahead by "
        f"{number(100 * abs(inside.mean_difference))} points of accuracy "
        f"({wording.evidence(inside, sign)})."
    )


def _on_picking(
    verdicts: Mapping[str, Verdict], artefacts: Sequence[int], wording: Wording
) -> str:
    inside, outside = verdicts["in"], verdicts["out"]
    if len(artefacts) == len(wording.names):
        return "Neither selection is shown to be worth using on this data set."
    goal = "To pick features for this data set alone"
    if inside.winner == outside.winner == "draw":
        return f"{goal}, take either: neither IN nor OUT sees a difference."
    if inside.winner == outside.winner:
        return f"{goal}, take {wording.winner(inside)}: IN and OUT agree."
    if outside.winner == "draw":
        return f"{goal}, take {wording.winner(inside)}: IN alone sees a difference."
    if inside.winner == "draw":
        if "ab".index(outside.winner) in artefacts:
            return f"{goal}, do not follow OUT's verdict: it rests on the artefact."
        return (
            f"{goal}, {wording.winner(outside)} is the better bet: OUT sees a "
            f"difference where IN does not ({pvalue(outside.pvalue)})."
        )
    return (
        f"{goal}, trust neither: IN prefers {wording.winner(inside)} and OUT "
        f"{wording.winner(outside)}."
    )


def recommend_several(
    record: Comparison, artefacts: Sequence[int], wording: Wording
) -> str:
    """Say what may be claimed of three selectors or more, and which may be used."""
    sentences = []
    if artefacts:
        sentences.append(_on_artefacts(record.accuracy, artefacts, wording))
    sentences.append(_on_several_claims(record))
    if {"in", "out"} <= set(record.pairs):
        sentences.append(_on_several_picks(record, artefacts))
    if "in" in record.accuracy:
        shown = ", ".join(
            f"{percent(mean)} for {name}"
            for name, mean in zip(
                record.names, means(record.accuracy["in"]), strict=True
            )
        )
        sentences.append(f"The accuracies to report are IN's: {shown}.")
    return " ".join(sentences)


def _beaten(pairs: Sequence[PairVerdict]) -> dict[str, list[str]]:
    """Who is significantly better than whom."""
    result: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.better is not None:
            worse = pair.second if pair.better == pair.first else pair.first
            result.setdefault(pair.better, []).append(worse)
    return result


def _and(words: Sequence[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last


def _on_several_claims(record: Comparison) -> str:
    if "in" not in record.pairs:
        return (
            "Do not claim that any is better: OUT alone was run, and its test cases "
            "took part in the selection; run IN as well."
        )
    n_pairs = len(record.pairs["in"])
    allowing = (
        f"{n_pairs} pairs, {record.correction.capitalize()}'s correction"
        if record.correction != "none"
        else f"{n_pairs} pairs, without any correction for their number"
    )
    claims = [
        f"{better} selects better than {_and(worse)}"
        for better, worse in _beaten(record.pairs["in"]).items()
    ]
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
        return f"{goal}, take any: neither IN nor OUT sees a difference."
    seen = inside or outside
    method = "in" if inside else "out"
    mean = dict(zip(record.names, means(record.accuracy[method]), strict=True))
    best = max(seen, key=lambda name: (len(seen[name]), mean[name]))
    if inside:
        also = " OUT agrees that it beats some." if best in outside else ""
        return f"{goal}, take {best}: IN sees a difference.{also}"
    if record.names.index(best) in artefacts:
        return f"{goal}, do not follow OUT's verdicts: they rest on the artefact."
    return f"{goal}, {best} is the better bet: OUT sees a difference where IN does not."


def describe_truth(
    true: Verdict,
    found: Mapping[str, Sequence[Winner]],
    truthfulness: Truthfulness | None,
    wording: Wording,
    n_sets: int,
) -> str:
    """Say what is true on a source, and how often IN and OUT found it."""
    if true.winner == "draw":
        text = (
            f"TRUTH sees no difference over {n_sets} data sets from this source "
            f"({wording.evidence(true)})."
        )
    else:
        sign = 1 if true.mean_difference > 0 else -1
        text = (
            f"On this source {wording.winner(true)} is truly better, by "
            f"{number(100 * abs(true.mean_difference))} points of accuracy over "
            f"{n_sets} data sets ({wording.evidence(true, sign)})."
        )
    if found:
        counts = names(
            f"{method.upper()} on {sum(winner == true.winner for winner in winners)}"
            for method, winners in found.items()
        )
        text += f" The same verdict was reached by {counts} of {n_sets} data sets"
        if truthfulness is None:
            return f"{text}."
        better = truthfulness.better
        who = "neither" if better == "same" else better.upper()
        p = pvalue(truthfulness.pvalue)
        text += f"; {who} is significantly more truthful ({p})."
    return text
