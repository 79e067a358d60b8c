"""Estimate the accuracy of a classifier, by every method."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce
from veridical._core.records import Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import (
    ACCURACY,
    Averaging,
    Score,
    ScoreInfo,
    read_scoring,
    weighted_mean,
)
from veridical._core.seeds import root_seed, seeded
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Method,
    Split,
    count_units,
    describe_groups,
    split_table,
)
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical._core.types import (
    BatchLike,
    CovariatesLike,
    CVLike,
    EstimatorLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    ScoringLike,
    WeightsLike,
)
from veridical.evaluation import notes
from veridical.evaluation.arguments import (
    label_of,
    read_estimator,
    read_problem,
)
from veridical.evaluation.bootstrap import (
    OUTSIDE,
    Bootstrap632,
    leave_one_out_error,
    no_information_rate,
    plus_error,
)
from veridical.evaluation.curves import curves_of
from veridical.evaluation.engine import (
    Evaluation,
    Procedure,
    as_procedure,
    evaluate_table,
)
from veridical.evaluation.intervals import ASSUMES, vary
from veridical.evaluation.jackknife import (
    divide_test_set,
    has_jackknife,
    standard_error,
)
from veridical.evaluation.naming import read_cv
from veridical.evaluation.nested import DeferredNestedCV
from veridical.evaluation.outcome_curves import outcome_curves
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.situations import Situation, summarize_table
from veridical.evaluation.structured import coverages_near, is_structured
from veridical.evaluation.trust import choose_interval, coverage_of
from veridical.evaluation.units import Spread, describe_weights
from veridical.preparation.blocks import describe_blocks


@repeatable
def estimate(
    estimator: EstimatorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    cv: CVLike = 10,
    scoring: ScoringLike = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Estimate:
    """Estimate the accuracy, the R² or the concordance of an estimator on new samples.

    Parameters
    ----------
    estimator : str or classifier, regressor or survival estimator
        A name from ``veridical.learning.ESTIMATORS``, or any scikit-learn classifier,
        regressor or pipeline, or an estimator of scikit-survival. It is cloned, never
        fitted itself. A selector in the pipeline is refitted on every training set, by
        ``rank_many`` where that takes less time.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data, in any form that the estimator takes.
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels for a classifier; numbers for a regressor; for a survival estimator
        events and times, as scikit-survival takes them, or a frame with the two.
    groups : array-like of shape (n_samples,), str or list of str, optional
        Samples that belong together, of one patient, site or plate: the group of every
        sample, or the column of a data frame X with it, which is then no feature.
        Groups are never divided between training and test set, and are the units of
        permutations, bootstraps and intervals. Of nested groups, several columns, the
        outermost first, as in ``["site", "patient"]``.
    sample_weight : array-like of shape (n_samples,) or str, optional
        Weights of the samples, or the column of a data frame X with them. A sample of
        weight 3 counts as three equal samples, in selection, fits and scores.
    batch : column name or index, array-like of shape (n_samples,), ComBat or None
        The batch of every sample: a site, a scanner, a plate. A column of X is taken
        out of the features. Numeric features are corrected by
        `veridical.preparation.ComBat`, which is fitted on the training samples of
        every split; pass ``ComBat("site", parametric=False)`` to change how.
    covariates : list of column names or indices, array-like, Residualize or None
        Columns of X, which are taken out of the features, or values, one row per
        sample. Their linear effect on numeric features, learned on the training
        samples of every split, is subtracted, after the correction of batches, which
        keeps it.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How to split: a number of folds (stratified by class, or by event for survival
        times), repeats and folds such as "5x2", the name of a method such as "loo" or
        "boot632+" (see `METHODS`), or the method.
        Here `Bootstrap632` is the .632 or .632+ estimate; all other verbs use its
        splits alone, and test the samples outside each bootstrap sample.
    scoring : str, callable, list or mapping of these, or None
        A score by its name, such as "roc_auc", "sensitivity@0.3" or "log_loss", any
        other scorer of scikit-learn, or ``scorer(estimator, X, y)``. Of several, all
        computed from the same predictions, the first leads and the rest are `others`.
        None is accuracy for classes, R² for numbers and Harrell's concordance for
        survival times. Means over samples (accuracy, log loss, Brier score, absolute
        error) are pooled over all test samples, other scores are averaged over the
        splits on which they are defined; ``Estimate.scoring.averaging`` says which. A
        loss is a positive number, of which less is better.
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
        For fewer than two classes, a constant target, times that are not positive, more
        folds than samples, and the like.

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
    root = root_seed(random_state)
    learner = seeded(read_estimator(estimator), root)
    table = read_problem(
        [learner],
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        name=name,
        encoded=False,
        batch=batch,
        covariates=covariates,
    )
    chosen = read_cv(cv, table.n_samples, table.kind)
    method = chosen.describe() + describe_groups(table)
    scores = read_scoring(scoring, table.target)
    common: dict[str, Any] = {
        "estimator": label_of(estimator),
        "method": method,
        "random_state": root,
        "data": summarize_table(table, name),
    }
    run = Workers(n_jobs, progress)
    if isinstance(chosen, Bootstrap632):
        found = _by_bootstrap(chosen, learner, table, scores, root, run)
    else:
        found = _by_splits(chosen, learner, table, scores, root, run)
    settings: dict[str, Setting] = {
        "estimator": one_line(learner),
        "method": method,
        **describe_weights(table),
        "scoring": tuple(one["scoring"].full_label for one in found),
        "random_state": root,
        **describe_blocks(table),
        **_hash(table),
    }
    made = [
        Estimate(
            **common,
            **one,
            metric=one["scoring"].name,
            score_range=one["scoring"].range,
            settings=settings,
        )
        for one in found
    ]
    return replace(made[0], others=tuple(made[1:]))


# -- by splits -----------------------------------------------------------------------


def _by_splits(
    method: Method,
    learner: Any,
    table: Table,
    scores: Sequence[Score],
    root: int,
    run: Workers,
) -> list[dict[str, Any]]:
    """Evaluate once, and return the fields of one estimate per score."""
    splits = split_table(method, table, root)
    announce(run.progress, learner, len(splits))
    remarks = notes.warn_of_splits(
        method, table, splits, is_accuracy=scores[0].is_accuracy, stacklevel=4
    )
    found = _evaluate(learner, table, splits, scores, run)
    made = [
        _of_score(method, learner, table, splits, found, one, root, run, remarks)
        for one in scores
    ]
    made[0]["curves"] = outcome_curves(found, splits, table)
    made[0]["class_predictions"] = curves_of(found, splits, table, scores)
    return made


def _of_score(
    method: Method,
    learner: Any,
    table: Table,
    splits: Sequence[Split],
    found: Evaluation,
    score: Score,
    root: int,
    run: Workers,
    remarks: Sequence[str],
) -> dict[str, Any]:
    """Compute the fields of the estimate of one score."""
    remarks, others = list(remarks), []
    details: dict[str, float] = {}
    if score.is_accuracy:
        predicted = [codes[0] for codes in found.predictions]
        scores, value = found.accuracies()[0], float(found.pooled_accuracy()[0])
        info = describe_score(score, table, "pooled")
        details["mean_of_splits"] = float(np.nanmean(scores))
        on_predictions = notes.on_predictions(method, table, splits, predicted)
        remarks, others = [*remarks, *on_predictions.doubts], on_predictions.others
    else:
        scored = found.scored(score)
        warn_once(scored.warned)
        scores = scored.splits[0]
        value = _defined(float(scored.values[0]), scored.reason)
        info = describe_score(score, table, scored.averaging)
        several = len(splits) > 1
        if several and scored.averaging == "pooled" and not np.isnan(scores).all():
            details["mean_of_splits"] = float(np.nanmean(scores))
        remarks += _warn(notes.on_undefined(scores, info, pooled=score.pooled))
        remarks += notes.on_equal_scores(method, scores, info)
        remarks += notes.on_medians_and_extremes(splits, score)
        remarks += notes.on_small_test_sets(splits, info)
        details |= error_of_score(found, score, splits, table)
    later = None
    if (
        score.is_accuracy
        and isinstance(method, CrossValidation)
        and table.groups is None
        and table.weights is None
    ):
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
    if not isinstance(method, CompleteCV):
        situation = Situation.from_table(table, learner, value)
    n_shared = count_shared(score, table, splits)
    hits = [one[0] for one in found.hits] if score.is_accuracy else None
    return {
        **_from_scores(
            method,
            splits,
            value,
            scores,
            info,
            situation,
            n_shared,
            table,
            hits,
            details,
        ),
        "details": details,
        "notes": (*remarks, *others),
        "is_doubtful": bool(remarks),
        "nested": later,
    }


def describe_score(score: Score, table: Table, averaging: Averaging) -> ScoreInfo:
    """Describe a score of a table, with what guessing reaches there."""
    return score.info_for(table.target, averaging, table.weights)


def count_shared(score: Score, table: Table, splits: Sequence[Split]) -> int:
    """Count the samples that a score is a share of; 0 where it is no such share."""
    if score.requires not in ("positive", "negative") or not score.percent:
        return 0
    tested = table.y[np.unique(np.concatenate([split.test for split in splits]))]
    positive = tested == score.place_of_positive(table.classes)
    return int(np.count_nonzero(positive == (score.requires == "positive")))


def warn_once(warned: Sequence[tuple[type[Warning], str]]) -> None:
    """Give the warnings of scikit-learn about scores, each once."""
    for category, text in warned:
        warnings.warn(text, category, stacklevel=5)


def accuracy_of_hits(
    method: Method,
    splits: Sequence[Split],
    hits: Sequence[NDArray[np.bool_]],
    situation: Situation,
    *,
    random_state: int,
    table: Table | None = None,
    with_coverage: bool = True,
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
    table : Table, optional
        The samples, whose groups and weights count.
    with_coverage : bool, default=True
        Whether to look up how often such intervals have covered the truth.

    Returns
    -------
    Estimate
        As `estimate` returns it, without the interval that takes more fits.
    """
    weights = None if table is None else table.weights
    parts = [None if weights is None else weights[split.test] for split in splits]
    scores = np.array(
        [weighted_mean(one, w) for one, w in zip(hits, parts, strict=True)]
    )
    tested = np.concatenate([split.test for split in splits])
    value = float(
        weighted_mean(
            np.concatenate(hits), None if weights is None else weights[tested]
        )
    )
    place = situation._replace(accuracy=value) if with_coverage else None
    found = _from_scores(method, splits, value, scores, ACCURACY, place, 0, table, hits)
    assumes = {
        kind: text for kind, text in found["assumes"].items() if kind != "nested"
    }
    return Estimate(
        **{**found, "assumes": assumes},
        metric="accuracy",
        estimator=situation.estimator,
        method=method.describe(),
        random_state=random_state,
        details={"mean_of_splits": float(np.nanmean(scores))},
    )


def estimate_of_score(
    method: Method,
    splits: Sequence[Split],
    found: Evaluation,
    score: Score,
    table: Table,
    *,
    size: int = -1,
    random_state: int = 0,
    situation: Situation | None = None,
) -> Estimate:
    """Make an estimate of any score from an evaluation that was made elsewhere.

    Parameters
    ----------
    method : Method
        What made the splits.
    splits : sequence of Split
        All splits.
    found : Evaluation
        Predictions on all splits.
    score : Score
        One of those that the evaluation was made for, but not the accuracy; see
        `accuracy_of_hits`.
    table : Table
        The samples.
    size : int, default=-1
        Place of the number of features among those evaluated.
    random_state : int
        The seed of the splits.
    situation : Situation, optional
        The table and the estimator, to look up how often such intervals have covered
        the truth.

    Returns
    -------
    Estimate
        As `estimate` returns it. Its value is NaN where the score is not defined.
    """
    scored = found.scored(score)
    scores, value = scored.splits[size], float(scored.values[size])
    info = describe_score(score, table, scored.averaging)
    n_shared = count_shared(score, table, splits)
    place = None if situation is None else situation._replace(accuracy=value)
    details = error_of_score(found, score, splits, table, size)
    fields = _from_scores(
        method, splits, value, scores, info, place, n_shared, table, details=details
    )
    remarks = notes.on_undefined(scores, info, pooled=score.pooled)
    remarks += notes.on_equal_scores(method, scores, info)
    remarks += notes.on_medians_and_extremes(splits, score)
    return Estimate(
        **fields,
        metric=info.name,
        score_range=info.range,
        estimator="",
        method=method.describe(),
        random_state=random_state,
        details=details,
        notes=tuple(remarks),
    )


def error_of_score(
    found: Evaluation,
    score: Score,
    splits: Sequence[Split],
    table: Table,
    size: int = -1,
) -> dict[str, float]:
    """Compute the standard error of a score on one test set, by the jackknife.

    Parameters
    ----------
    found : Evaluation
        Predictions.
    score : Score
        Any but the accuracy, which has intervals of its own.
    splits : sequence of Split
        All splits.
    table : Table
        The samples, whose groups are left out as a whole.
    size : int, default=-1
        Place of the number of features among those evaluated.

    Returns
    -------
    dict
        ``standard_error``, and the number of ``blocks`` that were left out one at a
        time; empty with several splits, for a score that the jackknife is not valid
        for, and where the error is not known.
    """
    if len(splits) != 1 or splits[0].overlaps or not has_jackknife(score):
        return {}
    left_out = found.left_out(score, divide_test_set(table, splits[0].test))
    error = float(standard_error(left_out)[size])
    if math.isnan(error):
        return {}
    return {"standard_error": error, "blocks": float(len(left_out))}


def _from_scores(
    method: Method,
    splits: Sequence[Split],
    value: float,
    scores: FloatArray,
    info: ScoreInfo,
    situation: Situation | None,
    n_shared: int = 0,
    table: Table | None = None,
    hits: Sequence[NDArray[np.bool_]] | None = None,
    details: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Compute spread, valid intervals and their coverage from the scores of splits."""
    is_accuracy = info.is_accuracy
    groups = None if table is None else table.groups
    n_train, n_units_tested = count_units(splits, groups)
    spread = None
    if table is not None and (groups is not None or table.weights is not None):
        spread = Spread.from_hits(table, splits, hits if is_accuracy else None)
    assumes = _assumes(
        method, splits, splits[0].n_rows, is_accuracy, scores, n_units_tested, spread
    )
    is_equal = n_shared and not vary(scores[~np.isnan(scores)])
    if is_equal and spread is None and not _tests_training_samples(splits):
        assumes["exact"] = ASSUMES["exact"]
    low, high = info.range
    if details and "standard_error" in details and low < value < high:
        assumes["jackknife"] = ASSUMES["jackknife"]
    units = "samples" if groups is None else "groups"
    assumes = {kind: text.format(units=units) for kind, text in assumes.items()}
    n_test = len(np.unique(np.concatenate([split.test for split in splits])))
    lead = choose_interval(assumes, len(scores)) or ""
    measured = _look_up(info, splits, table, situation, lead)
    return {
        "value": value,
        "std": _std(scores, value, n_test, is_accuracy),
        "scores": scores,
        "n_test": n_test,
        "test_share": float(n_units_tested.mean() / n_train.mean()),
        "n_units": 0 if spread is None else spread.n_units,
        "n_effective": 0.0 if spread is None else spread.n_effective,
        "assumes": assumes,
        "coverage": {k: c for k, c in measured.items() if k in assumes},
        "scoring": info,
        "n_shared": n_shared,
    }


def _look_up(
    info: ScoreInfo,
    splits: Sequence[Split],
    table: Table | None,
    situation: Situation | None,
    lead: str,
) -> Mapping[str, Coverage]:
    """Look up how often intervals covered, by kind; nothing without a situation."""
    if situation is None:
        return {}
    if table is not None and is_structured(info, table):
        return coverages_near(info.name, splits, table, situation, lead)
    return coverage_of(splits, situation, lead=lead)


def _tests_training_samples(splits: Sequence[Split]) -> bool:
    """Return whether some test samples are also training samples."""
    return any(split.overlaps for split in splits)


def _assumes(
    method: Method,
    splits: Sequence[Split],
    n: int,
    is_accuracy: bool,
    scores: FloatArray,
    n_units_tested: IntArray,
    spread: Spread | None,
) -> dict[str, str]:
    """Return the valid kinds of interval, with the assumptions of each."""
    if _tests_training_samples(splits):
        return {}
    sizes = [len(split.test) for split in splits]
    result = {}
    if is_accuracy and spread is not None:
        if spread.n_units > 1:
            result["cluster-wilson"] = ASSUMES["cluster-wilson"]
    elif is_accuracy:
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
    if max(n_units_tested) == 1 and len(splits) > 1:
        is_random = False  # one group at a time: nothing of the spread within folds
    if is_random and vary(scores[~np.isnan(scores)]):
        result["corrected-t"] = ASSUMES["corrected-t"]
    elif is_accuracy and not result:
        result["wilson"] = ASSUMES["stable"]
    return result


# -- by bootstrap --------------------------------------------------------------------


def _by_bootstrap(
    method: Bootstrap632,
    learner: Any,
    table: Table,
    scores: Sequence[Score],
    root: int,
    run: Workers,
) -> list[dict[str, Any]]:
    if method.plus and not all(one.is_accuracy for one in scores):
        raise InputError(
            ".632+ is defined for accuracy only, whose no-information rate is known; "
            "use Bootstrap632(plus=False) with this scoring."
        )
    splits, n_redrawn = method.draw(len(table), root, table.groups)
    remarks = notes.warn_of_splits(
        method, table, splits, is_accuracy=scores[0].is_accuracy, stacklevel=4
    )
    everything = np.arange(len(table))
    jobs = [*splits, Split(everything, len(table), everything)]
    found = _evaluate(learner, table, jobs, scores, run)
    return [
        _bootstrap_score(method, table, splits, found, one, n_redrawn, remarks)
        for one in scores
    ]


def _bootstrap_score(
    method: Bootstrap632,
    table: Table,
    splits: Sequence[Split],
    found: Evaluation,
    score: Score,
    n_redrawn: int,
    remarks: Sequence[str],
) -> dict[str, Any]:
    """Compute the fields of the bootstrap estimate of one score."""
    remarks = list(remarks)
    tests = [split.test for split in splits]
    info = describe_score(score, table, "mean of folds")
    if score.is_accuracy:
        predicted = [codes[0] for codes in found.predictions]
        hits = np.concatenate([one[0] for one in found.hits])
        all_scores = found.accuracies()[0]
    else:
        scored = found.scored(score)
        warn_once(scored.warned)
        all_scores = scored.splits[0]
        _defined(math.nan if np.isnan(all_scores).all() else 0.0, scored.reason)
        remarks += _warn(notes.on_undefined(all_scores[:-1], info))
    outside, resubstitution = all_scores[:-1], float(all_scores[-1])
    weight, parts = OUTSIDE, None
    details = {
        "resubstitution": resubstitution,
        "outside": float(np.nanmean(outside)),
    }
    if score.is_accuracy:
        n = len(table)
        error = leave_one_out_error(np.concatenate(tests), hits[:-n], n)
        gamma = no_information_rate(
            table.y, predicted[-1], table.n_classes, table.weights
        )
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
        "scoring": info,
    }


def _evaluate(
    learner: Any,
    table: Table,
    splits: Sequence[Split],
    scores: Sequence[Score],
    run: Workers,
) -> Evaluation:
    """Predict all splits once, with what the scores need."""
    if any(one.needs == "model" for one in scores):
        procedure, seen = Procedure(learner), table  # scorers get the whole estimator
    else:
        procedure, seen = as_procedure(learner, table)
    asked = [one for one in scores if not one.is_accuracy]
    (found,) = evaluate_table([procedure], seen, splits, run=run, scores=asked)
    return found


# -- parts ---------------------------------------------------------------------------


def _hash(table: Table) -> dict[str, str]:
    """Return the hash of the table; nothing for X of other kinds, such as texts."""
    try:
        # Of a copy, so that features that no one else needs are not kept encoded.
        return {"table sha256": table.replace().sha256()}
    except (TypeError, ValueError):
        return {}


def _defined(value: float, reason: str) -> float:
    """Return a score; raise if it is not defined on any split."""
    if math.isnan(value):
        raise InputError(
            "The score is not defined on any test set"
            f"{f': {reason}' if reason else ''}. Use larger or stratified test sets, "
            "or another scoring."
        )
    return value


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
