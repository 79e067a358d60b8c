"""Several selectors on one data set: all pairs, and all at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.data import Data, read_data
from veridical._core.errors import InputError
from veridical._core.parallel import Progress, Workers
from veridical._core.records import Interval
from veridical._core.repeating import repeatable
from veridical._core.seeds import Purpose, root_seed, seed_for
from veridical._core.text import did_you_mean, listed
from veridical.comparison import conclusions as say
from veridical.comparison.engine import Design, Outcome, make_judges, run_data_set
from veridical.comparison.protocol import (
    by_repeat_and_fold,
    check_methods,
    check_n_features,
    chosen_by_repeat,
    column_order,
    count_jobs,
    describe_design,
    describe_splits,
)
from veridical.comparison.ranks import friedman
from veridical.comparison.records import Friedman, ManyComparison, PairVerdict
from veridical.comparison.significance import check_alpha, corrected_resampled_t
from veridical.comparison.sizes import measured_size
from veridical.comparison.splits import Splits, make_splits, refuse_small_classes
from veridical.comparison.testing import TESTS, check_fit, find_test
from veridical.comparison.verdicts import Court, Question, count_draws, measure_nulls
from veridical.evaluation.rankers import make_many_rankers

CORRECTIONS = ("holm", "bonferroni", "none")


@repeatable
def compare_many(
    selectors: Sequence[Any] | Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_features: int,
    classifier: Any = "svm",
    methods: Iterable[str] = ("in", "out"),
    cv: Any = 10,
    test: Any = "corrected-t",
    correction: str = "holm",
    alpha: float = 0.05,
    calibrated: bool | int = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    data_name: str | None = None,
    progress: Progress | None = None,
) -> ManyComparison:
    """Which of several feature selectors are better than which, on this data?

    All selectors are judged on the same folds, as in `compare`. Every pair gets a
    verdict whose p-value allows for the number of pairs; mean ranks over the folds are
    compared by Friedman's test with Nemenyi's critical difference.

    Parameters
    ----------
    selectors : sequence of selectors or names, or mapping of display name to them
        At least three; as in `compare`.
    X, y : data and class labels
        As in `compare`.
    n_features : int
        How many features each selector must return.
    classifier, methods, cv, test, alpha, calibrated, random_state, n_jobs
        As in `compare`; Bayesian tests, which have no p-value to correct, are refused.
        With ``calibrated=True`` more pairs need more null data sets, and get them.
    correction : {"holm", "bonferroni", "none"}, default="holm"
        How p-values allow for the number of pairs.
    data_name : str, optional
        Display name of the data.
    progress : callable, optional
        Called as ``progress(done, total)`` while the work goes on.

    Returns
    -------
    ManyComparison
        Accuracies, all pairs, mean ranks, stability, times and a recommendation.

    See Also
    --------
    compare : Two selectors, in more detail.
    friedman : The test on ranks, also for scores on several data sets.

    Notes
    -----
    Friedman's test takes the folds for independent, which they are not; ``size`` in its
    result says how often it rejects where all are equal. What may be claimed rests on
    the pairs under IN.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
       Journal of Machine Learning Research 7 (2006).
    .. [2] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from veridical.comparison import compare_many
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare_many(
    ...     ["anova", "correlation", "information-gain"],
    ...     X,
    ...     y,
    ...     n_features=3,
    ...     classifier="nb",
    ...     random_state=0,
    ... )
    >>> result.names
    ('AnovaF', 'Correlation', 'InformationGain')
    >>> len(result.pairs["in"]), len(result.friedman["in"].mean_ranks)
    (3, 3)
    """
    data = read_data(X, y)
    methods = check_methods(methods, ("in", "out"))
    test = _check_test(test, correction)
    check_alpha(alpha)
    root = root_seed(random_state)
    refuse_small_classes(cv, data)
    splits = make_splits(cv, data, seed_for(root, Purpose.FOLDS))
    check_fit(test, *splits.shape)
    design = Design(
        rankers=make_many_rankers(selectors, root),
        judges=make_judges(classifier, root),
        n_features=check_n_features(n_features, data.n_features),
        methods=methods,
    )
    n_pairs = math.comb(len(design.rankers), 2) if correction != "none" else 1
    n_draws = count_draws(calibrated, alpha, n_pairs)
    workers = Workers(n_jobs, progress, count_jobs(design, splits) + n_draws)
    columns = column_order(root, data.n_features)
    outcome = run_data_set(design, data, splits, columns, workers)
    question = Question(test, float(alpha), 0.0)
    nulls = measure_nulls(design, data, splits, question, root, n_draws, workers)
    court = Court(question, splits.geometry, data.n_samples, nulls)
    settings = {
        **describe_design(design, alpha, root),
        **describe_splits(splits, question, n_draws),
        "correction": correction,
        "table sha256": data.sha256(),
    }
    return _conclude(
        design, data, splits, outcome, court, correction, data_name, settings
    )


def _check_test(test: str, correction: str) -> str:
    test = find_test(test)
    if not TESTS[test].calibrated:
        raise InputError(
            f"The test {test!r} has no p-value that could allow for the number of "
            "pairs; use another here, or compare() for one pair."
        )
    if correction not in CORRECTIONS:
        raise InputError(
            f"There is no correction {correction!r}"
            f"{did_you_mean(str(correction), CORRECTIONS)} Use {listed(CORRECTIONS)}."
        )
    return test


def _conclude(
    design: Design,
    data: Data,
    splits: Splits,
    outcome: Outcome,
    court: Court,
    correction: str,
    data_name: str | None,
    settings: Mapping[str, str],
) -> ManyComparison:
    accuracy = by_repeat_and_fold(outcome.accuracy, splits)
    classifiers = tuple(judge.name for judge in design.judges)
    alpha = court.question.alpha
    selected = chosen_by_repeat(outcome.chosen, splits)
    summary = data.summary(data_name or "data")
    record = ManyComparison(
        names=tuple(ranker.name for ranker in design.rankers),
        classifiers=classifiers,
        n_features=design.n_features,
        data=summary,
        accuracy=accuracy,
        selected=selected,
        pairs=judge_pairs(court, accuracy, classifiers, correction),
        friedman={
            method: _rank(court, method, values, classifiers)
            for method, values in accuracy.items()
        },
        optimism=_optimism(court, accuracy),
        stability=say.measure_stability(
            {m: chosen for m, chosen in selected.items() if m == "in"},
            data.n_features,
            alpha,
        ),
        seconds=tuple(outcome.seconds.tolist()),
        correction=correction,
        alpha=alpha,
        recommendation="",
        settings=settings,
    )
    return replace(record, recommendation=recommend(record))


def judge_pairs(
    court: Court,
    accuracy: Mapping[str, FloatArray],
    classifiers: Sequence[str],
    correction: str,
) -> dict[str, tuple[PairVerdict, ...]]:
    """Judge every pair by every method, with p-values that allow for all pairs."""
    n_selectors = len(next(iter(accuracy.values())))
    places = list(combinations(range(n_selectors), 2))
    verdicts = [court.verdicts(accuracy, classifiers, pair)[0] for pair in places]
    result = {}
    for method in accuracy:
        own = [found[method] for found in verdicts]
        adjusted = adjust(np.array([v.pvalue for v in own]), correction)
        rows = []
        for (i, j), verdict, pvalue in zip(places, own, adjusted, strict=True):
            corrected = replace(verdict.test, pvalue=float(pvalue)).winner
            better = {"a": i, "b": j, "draw": None}[corrected]
            rows.append(PairVerdict(i, j, better, float(pvalue), verdict))
        result[method] = tuple(rows)
    return result


def adjust(pvalues: FloatArray, correction: str) -> FloatArray:
    """Make p-values allow for their number.

    Parameters
    ----------
    pvalues : array of shape (n,)
        One per pair.
    correction : {"holm", "bonferroni", "none"}
        Holm's step-down procedure rejects at least as much as Bonferroni's.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    n = pvalues.size
    if correction == "none":
        return pvalues.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, n * pvalues)
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * (n - np.arange(n)))
    result = np.empty(n)
    result[order] = np.minimum(1.0, stepped)
    return result


def _rank(
    court: Court, method: str, values: FloatArray, classifiers: Sequence[str]
) -> Friedman:
    scores = values.mean(axis=1).reshape(len(values), -1)
    geometry, alpha = court.geometry, court.question.alpha
    size = measured_size(
        "friedman",
        method,
        geometry.shape,
        n_samples=court.n_samples,
        classifier=classifiers[0] if len(classifiers) == 1 else "",
        accuracy=float(scores.mean()),
        alpha=alpha,
        n_selectors=len(values),
    )
    return replace(friedman(scores, alpha=alpha), size=size)


def _optimism(court: Court, accuracy: Mapping[str, FloatArray]) -> tuple[Interval, ...]:
    """OUT minus IN per selector, with the interval of the corrected t-test."""
    if not {"in", "out"} <= set(accuracy):
        return ()
    inside, outside = (
        accuracy[m].mean(axis=1).reshape(len(accuracy[m]), -1) for m in ("in", "out")
    )
    geometry = court.geometry
    result = []
    for one, other in zip(outside, inside, strict=True):
        gap = corrected_resampled_t(
            one,
            other,
            n_train=geometry.n_train,
            n_test=geometry.n_test,
            alpha=court.question.alpha,
        )
        result.append(Interval(gap.mean_difference, *gap.interval))
    return tuple(result)


# -- in words ------------------------------------------------------------------------


def recommend(record: ManyComparison) -> str:
    """Say what may be claimed (by IN) and what may be used, after the paper.

    To claim that one selector is superior, use IN; to pick a subset for one data set,
    run both and trust the one that sees a difference.
    """
    sentences = [_on_claims(record)]
    if {"in", "out"} <= set(record.pairs):
        sentences.append(_on_picking(record))
    if "in" in record.accuracy:
        means = 100 * record.scores["in"].mean(axis=1)
        shown = ", ".join(
            f"{mean:.1f} % for {name}"
            for name, mean in zip(record.names, means, strict=True)
        )
        sentences.append(f"The accuracies to report are IN's: {shown}.")
    return " ".join(sentences)


def _beaten(record: ManyComparison, method: str) -> dict[int, list[int]]:
    """Who is significantly better than whom."""
    result: dict[int, list[int]] = {}
    for pair in record.pairs[method]:
        if pair.better is not None:
            worse = pair.second if pair.better == pair.first else pair.first
            result.setdefault(pair.better, []).append(worse)
    return result


def _and(words: Sequence[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last


def _on_claims(record: ManyComparison) -> str:
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
        f"{record.names[better]} selects better than "
        f"{_and([record.names[j] for j in worse])}"
        for better, worse in _beaten(record, "in").items()
    ]
    if not claims:
        return (
            "Do not claim that any of these selectors is better than another: under IN "
            f"no difference is significant at {record.alpha:g} ({allowing})."
        )
    return f"You may claim, under IN ({allowing}): {'; '.join(claims)}."


def _on_picking(record: ManyComparison) -> str:
    goal = "To pick features for this data set alone"
    inside, outside = _beaten(record, "in"), _beaten(record, "out")
    if not inside and not outside:
        return f"{goal}, take any: neither IN nor OUT sees a difference."
    seen = inside or outside
    method = "in" if inside else "out"
    means = record.scores[method].mean(axis=1)
    best = max(seen, key=lambda i: (len(seen[i]), means[i]))
    if inside:
        also = " OUT agrees that it beats some." if best in outside else ""
        return f"{goal}, take {record.names[best]}: IN sees a difference.{also}"
    return (
        f"{goal}, {record.names[best]} is the better bet: OUT sees a difference where "
        "IN does not."
    )
