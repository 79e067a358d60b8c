"""Estimate the accuracy of a classifier, by every method."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce
from veridical._core.reading import read_table
from veridical._core.records import DataSummary, Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import find_scorer, range_of
from veridical._core.seeds import root_seed, seeded
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Method,
    Split,
)
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical._core.types import (
    CVLike,
    EstimatorLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    ScoringLike,
)
from veridical.evaluation import notes
from veridical.evaluation.bootstrap import (
    OUTSIDE,
    Bootstrap632,
    leave_one_out_error,
    no_information_rate,
    plus_error,
)
from veridical.evaluation.engine import (
    Procedure,
    as_procedure,
    evaluate_table,
    score_splits,
)
from veridical.evaluation.intervals import ASSUMES, vary
from veridical.evaluation.naming import read_cv
from veridical.evaluation.nested import DeferredNestedCV
from veridical.evaluation.reading import label_of, name_of, read_estimator
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.situations import Situation, count_selected
from veridical.evaluation.trust import coverage_of


@repeatable
def estimate(
    estimator: EstimatorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
    cv: CVLike = 10,
    scoring: ScoringLike = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Estimate:
    """Estimate the accuracy of a classifier on new samples.

    Parameters
    ----------
    estimator : str or classifier
        A name from ``veridical.learning.ESTIMATORS``, or any scikit-learn classifier or
        pipeline. It is cloned, never fitted itself. A selector in the pipeline is
        refitted on every training set, by ``rank_many`` where that takes less time.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data, in any form that the estimator takes.
    y : array-like of shape (n_samples,)
        Class labels, numbers or text.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How to split: a number of stratified folds, repeats and folds such as "5x2", the
        name of a method such as "loo" or "boot632+" (see `METHODS`), or the method.
        Here `Bootstrap632` is the .632 or .632+ estimate; all other verbs use its
        splits alone, and test the samples outside each bootstrap sample.
    scoring : str, callable or None
        A scikit-learn scorer. None is accuracy, pooled over all test samples; any other
        score is averaged over the splits on which it is defined.
    random_state : int, numpy generator or None
        Decides the splits, and is the seed of the estimator unless it has its own. None
        draws a new seed, which ``Estimate.random_state`` shows.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    name : str, optional
        Name of the data.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` while the work goes on. By default, work
        that takes more than two seconds tells its cost and its progress on standard
        error; False is silent.

    Returns
    -------
    Estimate
        The value, its spread, intervals with their assumptions, and notes on what is
        doubtful about it.

    Raises
    ------
    InputError
        For fewer than two classes, more folds than samples, and the like.

    Warns
    -----
    UserWarning
        If a training set lacks a class or holds test samples, or a score is not
        defined on a test set; the estimate is still defined.

    See Also
    --------
    nested_cv : A better interval for cross-validation, for more fits.

    Notes
    -----
    With the same `random_state`, every estimator is evaluated on the same splits.
    Naive Bayes, nearest neighbours and the majority class are computed for all splits
    at once: the same predictions, in much less time.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy
       estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from veridical.evaluation import LeaveOut, estimate
    >>> X, y = load_iris(return_X_y=True)
    >>> found = estimate(GaussianNB(), X, y, cv=LeaveOut(1))
    >>> round(found.value, 4)
    0.9533
    >>> [round(bound, 2) for bound in found.interval(confidence=0.95)]
    [0.91, 0.98]
    """
    table = read_table(X, y, name=name, encoded=False)
    chosen = read_cv(cv, table.n_samples)
    root = root_seed(random_state)
    learner = seeded(read_estimator(estimator), root)
    metric, scorer = find_scorer(learner, scoring)
    common: dict[str, Any] = {
        "metric": metric,
        "estimator": label_of(estimator),
        "method": chosen.describe(),
        "random_state": root,
        "score_range": range_of(scorer),
        "data": _summary(table, name),
    }
    run = Workers(n_jobs, progress)
    if isinstance(chosen, Bootstrap632):
        found = _by_bootstrap(chosen, learner, table, scorer, root, run)
    else:
        found = _by_splits(chosen, learner, table, scorer, root, run)
    settings: dict[str, Setting] = {
        "estimator": one_line(learner),
        "method": chosen.describe(),
        "scoring": name_of(metric),
        "random_state": root,
        **_hash(table),
    }
    return Estimate(**common, **found, settings=settings)


# -- by splits -----------------------------------------------------------------------


def _by_splits(
    method: Method,
    learner: Any,
    table: Table,
    scorer: Any,
    root: int,
    run: Workers,
) -> dict[str, Any]:
    splits = method.split(table.labels, root)
    announce(run.progress, learner, len(splits))
    is_accuracy = scorer is None
    remarks = notes.warn_of_splits(
        method, table, splits, is_accuracy=is_accuracy, stacklevel=4
    )
    details: dict[str, float] = {}
    tests = [split.test for split in splits]
    if scorer is None:
        predicted = _predict(learner, table, splits, run)
        hits, scores = _hits(table, tests, predicted)
        value = float(np.count_nonzero(hits) / len(hits))
        details["mean_of_splits"] = float(scores.mean())
        remarks += notes.on_predictions(method, table, splits, predicted)
    else:
        scores = _defined(
            *score_splits(Procedure(learner), table, splits, scorer, run=run)
        )
        value = float(np.nanmean(scores))
        remarks += _warn(notes.on_undefined(scores))
        remarks += notes.on_equal_scores(method, scores)
    later = None
    if isinstance(method, CrossValidation):
        later = DeferredNestedCV(
            {
                "estimator": learner,
                "X": table,  # so that it is encoded once
                "y": table.labels,
                "n_folds": method.n_folds,
                "stratified": method.stratified,
                "random_state": root,
                "n_jobs": run.n_jobs,
            }
        )
    situation = None
    if is_accuracy and not isinstance(method, CompleteCV):  # of which nothing is known
        situation = _situation(table, learner, value)
    measured = coverage_of(splits, situation) if situation else {}
    return {
        **_from_scores(method, splits, value, scores, is_accuracy, measured),
        "details": details,
        "notes": tuple(remarks),
        "nested": later,
    }


def accuracy_of_hits(
    method: Method,
    splits: Sequence[Split],
    hits: Sequence[NDArray[np.bool_]],
    situation: Situation,
    *,
    random_state: int,
) -> Estimate:
    """Make an estimate from predictions that were made elsewhere.

    Parameters
    ----------
    method : Method
        What made the splits.
    splits : sequence of Split
        All splits.
    hits : sequence of bool arrays
        For every split, which of its test samples were predicted correctly.
    situation : Situation
        The table and the estimator.
    random_state : int
        The seed of the splits.

    Returns
    -------
    Estimate
        As `estimate` returns it, without the interval that takes more fits.
    """
    pooled = np.concatenate(hits)
    scores = np.array([one.mean() for one in hits])
    value = float(pooled.mean())
    measured = coverage_of(splits, situation._replace(accuracy=value))
    found = _from_scores(method, splits, value, scores, True, measured)
    assumes = {
        kind: text for kind, text in found["assumes"].items() if kind != "nested"
    }
    return Estimate(
        **{**found, "assumes": assumes},
        metric="accuracy",
        estimator=situation.estimator,
        method=method.describe(),
        random_state=random_state,
        details={"mean_of_splits": float(scores.mean())},
    )


def _from_scores(
    method: Method,
    splits: Sequence[Split],
    value: float,
    scores: FloatArray,
    is_accuracy: bool,
    measured: Mapping[str, Coverage],
) -> dict[str, Any]:
    """Compute spread, valid intervals and their coverage from the scores of splits."""
    assumes = _assumes(method, splits, splits[0].n_rows, is_accuracy, scores)
    sizes = [(len(split.test), split.n_train) for split in splits]
    mean_test, mean_train = np.mean(sizes, axis=0)
    n_test = len(np.unique(np.concatenate([split.test for split in splits])))
    return {
        "value": value,
        "std": _std(scores, value, n_test, is_accuracy),
        "scores": scores,
        "n_test": n_test,
        "test_share": float(mean_test / mean_train),
        "assumes": assumes,
        "coverage": {k: c for k, c in measured.items() if k in assumes},
    }


def _assumes(
    method: Method,
    splits: Sequence[Split],
    n: int,
    is_accuracy: bool,
    scores: FloatArray,
) -> dict[str, str]:
    """Return the valid kinds of interval, with the assumptions of each."""
    if any(split.overlaps for split in splits):
        return {}
    sizes = [len(split.test) for split in splits]
    result = {}
    if is_accuracy:
        times = np.bincount(
            np.concatenate([split.test for split in splits]), minlength=n
        )
        if len(splits) == 1:
            result["wilson"] = ASSUMES["holdout"]
        elif times.min() == times.max():  # every sample equally often
            result["wilson"] = ASSUMES["stable"]
        if (
            isinstance(method, CrossValidation)
            and method.n_folds >= 3
            and n >= 2 * method.n_folds
        ):
            result["nested"] = ASSUMES["nested"]
    # Scores of single samples are not normal, and those of all subsets not random;
    # scores that are all equal have no spread for an interval.
    is_random = min(sizes) > 1 and not isinstance(method, CompleteCV)
    if is_random and vary(scores[~np.isnan(scores)]):
        result["corrected-t"] = ASSUMES["corrected-t"]
    return result


# -- by bootstrap --------------------------------------------------------------------


def _by_bootstrap(
    method: Bootstrap632,
    learner: Any,
    table: Table,
    scorer: Any,
    root: int,
    run: Workers,
) -> dict[str, Any]:
    if method.plus and scorer is not None:
        raise InputError(
            ".632+ is defined for accuracy only, whose no-information rate is known; "
            "use Bootstrap632(plus=False) with this scoring."
        )
    splits, n_redrawn = method.draw(len(table), root)
    remarks = notes.warn_of_splits(
        method, table, splits, is_accuracy=scorer is None, stacklevel=4
    )
    everything = np.arange(len(table))
    jobs = [*splits, Split(everything, len(table), everything)]
    tests = [split.test for split in splits]
    if scorer is None:
        predicted = _predict(learner, table, jobs, run)
        hits, all_scores = _hits(table, [*tests, everything], predicted)
    else:
        all_scores = _defined(
            *score_splits(Procedure(learner), table, jobs, scorer, run=run)
        )
        remarks += _warn(notes.on_undefined(all_scores[:-1]))
    outside, resubstitution = all_scores[:-1], float(all_scores[-1])
    weight, parts = OUTSIDE, None
    details = {
        "resubstitution": resubstitution,
        "outside": float(np.nanmean(outside)),
    }
    if scorer is None:
        n = len(table)
        error = leave_one_out_error(np.concatenate(tests), hits[:-n], n)
        gamma = no_information_rate(table.y, predicted[-1], table.n_classes)
        parts = plus_error(1 - resubstitution, 1 - details["outside"], gamma)
        details |= {
            "outside_by_sample": 1 - error,
            "no_information_rate": gamma,
            "overfitting_rate": parts.overfitting_rate,
            "weight": parts.weight if method.plus else OUTSIDE,
        }
        if method.plus:
            weight = parts.weight
            details["cut_in_part"] = 1 - parts.cut_in_part
            # The same amount is added to every term: their mean is the estimate.
            outside = outside + ((1 - parts.outside) - details["outside"])
    scores = Bootstrap632.terms(outside, resubstitution, weight)
    value = float(np.nanmean(scores))
    remarks += notes.on_bootstrap(
        resubstitution=resubstitution,
        outside=details["outside"],
        n_redrawn=n_redrawn,
        plus=parts,
        is_plus=method.plus,
    )
    return {
        "value": value,
        "std": _std(scores, value, 0, False),
        "scores": scores,
        "n_test": len(np.unique(np.concatenate(tests))),
        "test_share": float(np.mean([len(test) for test in tests])) / len(table),
        "assumes": {},
        "details": details,
        "notes": tuple(remarks),
    }


def _predict(
    learner: Any, table: Table, splits: Sequence[Split], run: Workers
) -> list[IntArray]:
    procedure, seen = as_procedure(learner, table)
    (found,) = evaluate_table([procedure], seen, splits, run=run)
    return [codes[0] for codes in found.predictions]


# -- parts ---------------------------------------------------------------------------


def _summary(table: Table, name: str | None) -> DataSummary | None:
    """Describe the data; None where X is not a table but, say, a list of texts."""
    try:
        first = table.one_sample
    except (TypeError, ValueError):
        return None
    if first is None:
        return table.summary(name)
    names, counts = first.shown_names, table.target.counts()
    return DataSummary(name or "the data", table.n_samples, len(names), counts, names)


def _situation(table: Table, learner: Any, accuracy: float) -> Situation | None:
    """Describe the table and the estimator; None where X is not a table."""
    data = _summary(table, None)
    if data is None:
        return None
    n_selected = count_selected(learner, data.n_features)
    return Situation.from_summary(data, n_selected, learner, accuracy)


def _hash(table: Table) -> dict[str, str]:
    """Hash the table, where X is one; estimators of other packages may take more."""
    try:
        # Of a copy, so that features that no one else needs are not kept encoded.
        return {"table sha256": table.replace().sha256()}
    except (TypeError, ValueError):
        return {}


def _hits(
    table: Table, tests: Sequence[IntArray], predicted: Sequence[IntArray]
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which predictions are right, and the share of them per split."""
    hits = np.concatenate(predicted) == table.y[np.concatenate(tests)]
    sizes = np.array([len(test) for test in tests])
    starts = np.cumsum(sizes) - sizes
    return hits, np.add.reduceat(hits, starts, dtype=np.intp) / sizes


def _defined(scores: FloatArray, reason: str) -> FloatArray:
    """Return the scores; raise if they are not defined on any split."""
    if np.isnan(scores).all():
        raise InputError(
            "The score is not defined on any test set: each lacks a class, or there "
            f"is another reason{f' ({reason})' if reason else ''}. Use larger or "
            "stratified test sets, or another scoring."
        )
    return scores


def _std(scores: FloatArray, value: float, n_test: int, is_accuracy: bool) -> float:
    """Compute the spread of the scores; of one accuracy, its binomial deviation."""
    if np.count_nonzero(~np.isnan(scores)) > 1:
        return float(np.nanstd(scores, ddof=1))
    if is_accuracy:
        return math.sqrt(value * (1 - value) / n_test)
    return math.nan


def _warn(remarks: list[str]) -> list[str]:
    for remark in remarks:
        warnings.warn(remark, UserWarning, stacklevel=5)
    return remarks
