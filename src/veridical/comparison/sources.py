"""TRUTH: what IN and OUT should have said, on a source that can be sampled for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.parallel import Progress, Workers, serial
from veridical._core.records import DataSummary, Interval
from veridical._core.repeating import repeatable
from veridical._core.seeds import Purpose, root_seed, seed_for
from veridical._core.table import Table
from veridical._core.validation import check_count
from veridical.comparison import conclusions as say
from veridical.comparison.draws import Lottery, find_source
from veridical.comparison.engine import Design, Outcome, make_judges, run_data_set
from veridical.comparison.protocol import (
    check_methods,
    check_n_features,
    column_order,
    describe_design,
)
from veridical.comparison.records import SIDES, Comparison, Side, Verdict, Winner
from veridical.comparison.significance import Geometry, check_alpha, paired_t
from veridical.comparison.splits import make_splits
from veridical.comparison.testing import apply_test, check_fit, find_test
from veridical.evaluation.rankers import make_rankers

METHODS = ("truth", "in", "out")


@repeatable
def truth(
    a: Any,
    b: Any,
    source: Any,
    *,
    n_features: int | float,
    n_train: int,
    classifier: Any = "svm",
    n_sets: int = 100,
    n_test: int | None = None,
    methods: Iterable[str] = METHODS,
    cv: Any = 10,
    test: Any = "paired-t",
    alpha: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    names: Mapping[Side, str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Which selector is truly better on a source, and do IN and OUT find out?

    Many training sets are drawn from the source, each with an independent test set.
    TRUTH selects and learns on a whole training set and is tested on its test set; IN
    and OUT see the training set alone. TRUTH gives one verdict on all data sets, IN
    and OUT one on each, and those are compared with the true one.

    Parameters
    ----------
    a, b : selector or str
        As in `compare`.
    source : str or callable
        A name in ``veridical.datasets.SOURCES``, or a function
        ``source(n_samples, random_state=...)`` that returns ``X, y``. If it has a
        method ``test`` of the same kind, test sets are drawn from that.
    n_features : int or float
        How many features each selector must return.
    n_train : int
        Cases in a training set.
    classifier : str, classifier or list of them, default="svm"
        As in `compare`.
    n_sets : int, default=100
        How many data sets are drawn.
    n_test : int, optional
        Cases in a test set; as many as in a training set by default.
    methods : iterable of {"truth", "in", "out"}
        Protocols to run; all three by default.
    cv : int or scikit-learn splitter, default=10
        Folds of IN and OUT; a number means plain shuffled folds.
    test : str or function, default="paired-t"
        How IN and OUT test the folds of one data set, as in `compare`; the default is
        the paper's. The verdict of TRUTH is always a paired t-test, since its data sets
        are independent.
    alpha : float, default=0.05
        Significance level of all tests.
    random_state : int, numpy random generator or None, default=None
        Decides everything that is left to chance. What is drawn for a data set depends
        on it and on the number of the set, not on how many there are.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. The result does not depend on it.
    names : mapping of "a" and "b" to str, optional
        Display names of the selectors.
    progress : callable, optional
        Called as ``progress(done, total)`` after each data set.

    Returns
    -------
    Comparison
        ``verdicts`` holds "truth" alone; those of IN and OUT, one per data set, are in
        ``set_verdicts``, and how often they were right in ``truthfulness``.

    See Also
    --------
    compare : IN and OUT on one data set.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import truth
    >>> result = truth(
    ...     SelectKBest(f_classif),
    ...     SelectKBest(chi2),
    ...     "linear",
    ...     n_features=10,
    ...     n_train=60,
    ...     n_sets=5,
    ...     classifier="1nn",
    ...     random_state=0,
    ...     names={"a": "ANOVA F", "b": "chi-squared"},
    ... )
    >>> result.accuracy["truth"].shape, len(result.set_verdicts["in"])
    ((2, 1, 5, 1), 5)
    """
    name, draw = find_source(source)
    methods = check_methods(methods, METHODS)
    test = find_test(test)
    check_alpha(alpha)
    check_count("n_sets", n_sets, 2)
    check_count("n_train", n_train, 2)
    n_test = n_train if n_test is None else n_test
    check_count("n_test", n_test, 1)
    root = root_seed(random_state)
    lottery = Lottery(draw, n_train, n_test if "truth" in methods else 0, cv, root)
    first, _ = lottery.draw(0)
    if {"in", "out"} & set(methods):
        seed = seed_for(root, Purpose.FOLDS)
        check_fit(test, *make_splits(cv, first, seed, n_rows=n_train).shape)
    one, other = make_rankers(a, b, names, root)
    design = Design(
        rankers=(one.on_one_thread(), other.on_one_thread()),
        judges=make_judges(classifier, root),
        n_features=check_n_features(n_features, first.n_features),
        methods=methods,
    )
    workers = Workers(n_jobs, progress, n_sets)
    results = workers((_one_set, (design, lottery, number)) for number in range(n_sets))
    settings = {
        **describe_design(design, alpha, root),
        "cross-validation": f"cv={cv!r} on each data set",
        "n_sets": str(n_sets),
        "n_train": str(n_train),
        "n_test": str(n_test),
        "test": f"paired-t over data sets for TRUTH, {test} over folds for IN and OUT",
    }
    summary = _summarize(first, name, n_train, [result.classes for result in results])
    return _conclude(design, results, summary, test, alpha, settings)


# -- one data set --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SetResult:
    """One data set: the outcome, its folds and how many cases each class has."""

    outcome: Outcome
    geometry: Geometry | None
    classes: Mapping[str, int]


def _one_set(design: Design, lottery: Lottery, number: int) -> SetResult:
    data, n_train = lottery.draw(number)
    splits = None
    if {"in", "out"} & set(design.methods):
        seed = seed_for(lottery.root, Purpose.FOLDS, number)
        splits = make_splits(lottery.cv, data, seed, n_rows=n_train)
    columns = column_order(lottery.root, data.n_features, number)
    outcome = run_data_set(design, data, splits, columns, serial, n_rows=n_train)
    classes = data.summary("").classes
    return SetResult(outcome, splits.geometry if splits else None, classes)


def _summarize(
    first: Table, name: str, n_train: int, counts: list[Mapping[str, int]]
) -> DataSummary:
    """Describe the source; its classes are counted over all that was drawn."""
    classes = {
        label: sum(count.get(label, 0) for count in counts)
        for label in sorted(set().union(*counts))
    }
    return DataSummary(name, n_train, first.n_features, classes, first.feature_names)


# -- all data sets -------------------------------------------------------------------


def _conclude(
    design: Design,
    results: list[SetResult],
    summary: DataSummary,
    test: str,
    alpha: float,
    settings: Mapping[str, str],
) -> Comparison:
    outcomes = [result.outcome for result in results]
    accuracy = {
        m: np.stack([outcome.accuracy[m] for outcome in outcomes], axis=2)
        for m in design.methods
    }
    selected = {
        m: np.stack([outcome.chosen[m] for outcome in outcomes], axis=1)
        for m in design.methods
    }
    seconds = np.sum([outcome.seconds for outcome in outcomes], axis=0).tolist()
    classifiers = tuple(judge.name for judge in design.judges)
    verdicts: dict[str, Verdict] = {}
    by_classifier: dict[str, dict[str, Verdict]] = {name: {} for name in classifiers}
    if "truth" in accuracy:
        verdicts, by_classifier = say.true_verdicts(
            accuracy["truth"], classifiers, alpha
        )
    found = {
        m: _judge_sets(accuracy[m], results, test, alpha)
        for m in design.methods
        if m != "truth"
    }
    return _record(
        Comparison(
            names={s: r.name for s, r in zip(SIDES, design.rankers, strict=True)},
            classifiers=classifiers,
            n_features=design.n_features,
            data=summary,
            accuracy=accuracy,
            selected=selected,
            verdicts=verdicts,
            by_classifier=by_classifier,
            optimism=_optimism(accuracy, alpha),
            bias_imbalance=say.imbalance(accuracy),
            recommendation="",
            set_verdicts=found,
            settings=settings,
            stability=_steady(selected, summary.n_features, alpha),
            seconds=dict(zip(SIDES, seconds, strict=True)),
        ),
        alpha,
    )


def _steady(
    selected: Mapping[str, IntArray], n_features: int, alpha: float
) -> dict[str, dict[Side, Interval]]:
    """How steady a choice is from data set to data set: OUT's, which is TRUTH's too."""
    method = next((m for m in ("truth", "out") if m in selected), None)
    if method is None:
        return {}
    found = say.measure_stability({method: selected[method]}, n_features, alpha)
    return {m: dict(zip(SIDES, own, strict=True)) for m, own in found.items()}


def _record(record: Comparison, alpha: float) -> Comparison:
    """Add what follows from comparing the verdicts with the true one."""
    if "truth" not in record.verdicts:
        return replace(
            record,
            recommendation="TRUTH was not run, so it is not known which is better.",
        )
    true, found = record.verdicts["truth"], record.set_verdicts
    truthfulness = None
    if {"in", "out"} <= set(found):
        truthfulness = say.count_truths(true.winner, found, alpha)
    wording = say.Wording(record.names, alpha, record.data.majority_share)
    n_sets = record.accuracy["truth"].shape[2]
    return replace(
        record,
        truthfulness=truthfulness,
        recommendation=say.describe_truth(true, found, truthfulness, wording, n_sets),
    )


def _judge_sets(
    accuracy: FloatArray, results: list[SetResult], test: str, alpha: float
) -> tuple[Winner, ...]:
    a, b = accuracy.mean(axis=1)
    return tuple(
        apply_test(test, a[i], b[i], result.geometry, alpha).winner
        for i, result in enumerate(results)
        if result.geometry is not None
    )


def _optimism(accuracy: Mapping[str, FloatArray], alpha: float) -> dict[Side, Interval]:
    """OUT minus IN per data set, with a t interval: data sets are independent."""
    if not {"in", "out"} <= set(accuracy):
        return {}
    optimism: dict[Side, Interval] = {}
    for i, side in enumerate(SIDES):
        inside, outside = (accuracy[m][i].mean(axis=(0, 2)) for m in ("in", "out"))
        result = paired_t(outside, inside, alpha=alpha)
        optimism[side] = Interval(result.mean_difference, *result.interval)
    return optimism
