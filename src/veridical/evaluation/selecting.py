"""Select features, and estimate the accuracy of the whole procedure."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from veridical._core.advice import for_users
from veridical._core.arrays import IntArray
from veridical._core.defaults import default_n_features
from veridical._core.errors import InputError
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce
from veridical._core.records import Interval, Setting
from veridical._core.repeating import repeatable
from veridical._core.scoring import Score, read_scoring, weighted_mean
from veridical._core.seeds import root_seed, seeded
from veridical._core.splits import (
    Resubstitution,
    Split,
    Validation,
    describe_splits,
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
    SelectorLike,
    WeightsLike,
)
from veridical._core.validation import count_features
from veridical.evaluation import notes
from veridical.evaluation.arguments import (
    label_of,
    read_estimator,
    read_learner,
    read_selector,
)
from veridical.evaluation.curves import curves_of
from veridical.evaluation.engine import (
    NUMBER_OF_FEATURES,
    Evaluation,
    Procedure,
    evaluate_table,
    fit_selector,
    has_groups,
    own_size,
    scores_of,
    selecting_step,
)
from veridical.evaluation.estimating import (
    accuracy_of_hits,
    describe_score,
    estimate_of_score,
    warn_once,
)
from veridical.evaluation.naming import read_cv
from veridical.evaluation.records import (
    ClassResult,
    Estimate,
    ScoreResult,
    SelectedFeature,
    Selection,
)
from veridical.evaluation.situations import Situation
from veridical.evaluation.stability import stability
from veridical.evaluation.trust import default_interval
from veridical.evaluation.units import Spread, describe_weights
from veridical.learning import DAGSVM
from veridical.preparation.blocks import describe_blocks

#: Numbers of features evaluated where the estimator is fitted at each of them.
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200, 300, 500)


@repeatable
def select(
    selector: SelectorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
    estimator: EstimatorLike | None = None,
    n_features_to_select: int | float | Literal["auto"] | None = "auto",
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    layer: str | None = None,
    progress: ProgressLike = None,
) -> Selection:
    """Select features on all samples, and estimate the score of doing so.

    On every split the selector (with all that it chooses itself) and the estimator are
    fitted on the training samples; the test samples are only predicted.

    Parameters
    ----------
    selector : str or selector
        A key of ``veridical.selection.SELECTORS``, any selector with scikit-learn's
        ``fit`` and ``get_support``, or a pipeline whose last step is one and whose
        other steps keep the features and their names, such as a scaler.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data; also AnnData, and data that are read by blocks (see
        `veridical.datasets.by_blocks`).
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels, numbers, or events and times, as in `estimate`; of AnnData also a
        column of obs, as are `groups` and `sample_weight`.
    estimator : str, classifier, regressor, survival estimator or None
        Learns from the selected features: a name from
        ``veridical.learning.ESTIMATORS``, or an estimator or pipeline. It decides the
        kind of target. None is "svm" for classes, "ridge" for numbers and "cox" for
        survival times.
    n_features_to_select : int, float, "auto" or None, default="auto"
        How many features to select: a number, a share of all, or None for all that the
        selector keeps on all samples (`FCBF` drops redundant features; most selectors
        keep all). "auto" is what the selector itself was given, such as 5 for
        ``AnovaF(5)``; for a name it is 10, but at most half of the features; for a
        selector by a share or a threshold (``SelectPercentile()``,
        ``SelectFromModel(estimator)``) what it keeps on every training set.
    groups, sample_weight : optional
        Samples that belong together, and weights of samples, as in
        `veridical.evaluation.estimate`.
    batch : column name or index, array-like, ComBat or None
        As in `estimate`; the selected features are those of the corrected samples.
    covariates : list of column names or indices, array-like, Residualize or None
        As in `estimate`.
    scoring : str, callable, list or mapping of these, or None
        What counts, as in `estimate`; of several scores the first leads, and all are
        computed from the same predictions. None is accuracy, R² or concordance.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How to split, as in `estimate`: a number of folds, repeats and folds such as
        "5x2", the name of a method such as "loo", the method, or a splitter. The splits
        of a method are used: of the bootstrap, the samples outside each bootstrap
        sample are tested, and nothing is weighed as in `estimate`.
    random_state : int, numpy random generator or None, default=None
        Decides the folds, and is the seed of selector and estimator.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    name : str, optional
        Name of the data.
    layer : str, optional
        Of AnnData, the layer to use instead of X.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` while the work goes on. By default, work
        that takes more than two seconds tells its cost and its progress on standard
        error; False is silent.

    Returns
    -------
    Selection
        The features, the score with its interval and, for classes, each class.

    Raises
    ------
    InputError
        For data or parameters that do not allow a valid result; also if there are fewer
        features than asked for, or a training set holds one class only.

    Warns
    -----
    UserWarning
        If a training set lacks a class (its samples count as errors there), a class has
        fewer samples than there are folds, or test samples are also training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from veridical.evaluation import select
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = select("anova", X, y, n_features_to_select=3, random_state=0)
    >>> [feature.name for feature in found.features]
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    """
    estimator, table = read_learner(
        estimator,
        X,
        y,
        name=name,
        groups=groups,
        sample_weight=sample_weight,
        batch=batch,
        covariates=covariates,
        blocks=batch is None and covariates is None,
        layer=layer,
    )
    root = root_seed(random_state)
    chosen = seeded(read_selector(selector), root)
    if isinstance(selector, str) and n_features_to_select == "auto":
        n_features_to_select = default_n_features(table.n_features)
    n_selected, remarks = _read_n_features(n_features_to_select, chosen, table)
    learner = seeded(read_estimator(estimator), root)
    _check_learner(learner, table)
    method = read_cv(cv, table.n_samples, table.kind)
    if isinstance(method, Resubstitution):
        raise InputError(
            "Resubstitution tests the samples that the features were selected on, "
            "which does not measure the accuracy on new samples; use folds, such as "
            "cv=10. estimate() shows resubstitution beside other methods."
        )
    splits = split_table(method, table, root)
    notes.refuse_training_of_one_class(table, splits)
    scores = read_scoring(scoring, table.target)
    remarks += notes.warn_of_splits(
        method, table, splits, is_accuracy=table.kind == "classes", stacklevel=3
    )
    by_number = not has_groups(chosen)  # otherwise the number is known after a fit
    sizes = _sizes(learner, n_selected) if by_number else ()
    procedure = Procedure(learner, chosen, sizes)
    run = Workers(n_jobs, progress)
    announce(progress, learner, len(splits), max(len(procedure.sizes), 1))
    # On other samples, what is tested are the features of the training samples.
    rows = splits[0].train if isinstance(method, Validation) else np.arange(len(table))
    fitted, ranked = fit_selector(chosen, table, rows, n_selected)
    asked = [one for one in scores if not one.is_accuracy]
    (found,) = evaluate_table([procedure], table, splits, run=run, scores=asked)
    remarks += notes.on_method(method)
    summary = table.summary(name)
    situation = Situation.from_summary(summary, len(ranked.order), estimator, np.nan)
    if table.kind == "classes":
        predicted = [codes[-1] for codes in found.predictions]
        said = notes.on_predictions(method, table, splits, predicted)
        remarks += [*said.doubts, *said.others]
        estimate = accuracy_of_hits(
            method,
            splits,
            [hits[-1] for hits in found.hits],
            situation,
            random_state=root,
            table=table,
        )
    else:
        estimate = estimate_of_score(
            method, splits, found, scores[0], table, situation=situation
        )
    scored, size_scores, more = _compute_scores(
        method, splits, found, scores, table, estimate, situation
    )
    remarks += more
    return Selection(
        data=summary,
        selector=label_of(selector),
        estimator=label_of(estimator),
        features=_features(fitted, ranked.order, table, found),
        other_features=_other_features(fitted, ranked.order, table, found),
        stability=_stability(found, table.n_features),
        accuracy=Interval(estimate.value, *_bounds(estimate)),
        interval=default_interval(estimate) or "",
        coverage=estimate.coverage.get(default_interval(estimate) or ""),
        n_test=len(np.unique(np.concatenate([split.test for split in splits]))),
        n_folds=len(splits),
        classes=_by_class(found, table, splits),
        sizes=procedure.sizes or (len(ranked.order),),
        size_accuracy=_size_accuracy(found, size_scores, table),
        size_intervals=size_scores
        or _by_size(method, splits, found, situation, root, table, estimate),
        scores=scored,
        size_scores=size_scores,
        class_predictions=curves_of(found, splits, table, scores),
        **_selector_fields(selecting_step(fitted), found, len(ranked.order)),
        notes=tuple(remarks),
        is_validated=isinstance(method, Validation),
        settings={
            "selector": one_line(chosen),
            "estimator": one_line(learner),
            "cross-validation": describe_splits(method, table),
            **describe_weights(table),
            **describe_blocks(table),
            **({"scoring": tuple(_labels(scored))} if scored else {}),
            **_say_estimate(selecting_step(fitted)),
            "random_state": root,
            "table sha256": table.sha256(),
        },
    )


def _say_estimate(selector: Any) -> dict[str, Setting]:
    """Say how a selector estimated information, where it does."""
    said = getattr(selector, "estimate_", None)
    return {"information": said} if isinstance(said, str) else {}


def _size_accuracy(
    found: Evaluation, scores: Sequence[Interval], table: Table
) -> tuple[float, ...]:
    """Return the accuracy at every size; without classes, the leading score."""
    if table.kind == "classes":
        return tuple(float(v) for v in found.pooled_accuracy())
    return tuple(one.value for one in scores)


def _labels(scores: Sequence[ScoreResult]) -> list[str]:
    return [one.scoring.full_label for one in scores]


def _compute_scores(
    method: Any,
    splits: Sequence[Split],
    found: Evaluation,
    scores: Sequence[Score],
    table: Table,
    accuracy: Estimate,
    situation: Situation,
) -> tuple[tuple[ScoreResult, ...], tuple[Interval, ...], list[str]]:
    """Compute all scores, the leading one at every size, and notes on them.

    Nothing where the accuracy is the only score.
    """
    if [one.is_accuracy for one in scores] == [True]:
        return (), (), []
    results: list[ScoreResult] = []
    remarks: list[str] = []
    for score in scores:
        if score.is_accuracy:
            info, one = describe_score(score, table, "pooled"), accuracy
        else:
            warn_once(found.scored(score).warned)
            one = estimate_of_score(
                method, splits, found, score, table, situation=situation
            )
            info = one.scoring
            if np.isnan(one.value):
                raise InputError(
                    f"The {score.label} is not defined on these test sets: "
                    f"{found.scored(score).reason}; use larger or stratified test "
                    "sets, or another scoring."
                )
            remarks += [n for n in one.notes if n not in remarks]
        kind = default_interval(one) or ""
        results.append(
            ScoreResult(
                info,
                Interval(one.value, *_bounds(one)),
                kind,
                one.coverage.get(kind),
            )
        )
    if scores[0].is_accuracy:
        return tuple(results), (), remarks
    by_size = []
    for k in range(len(found.predictions[0]) - 1):
        one = estimate_of_score(method, splits, found, scores[0], table, size=k)
        by_size.append(Interval(one.value, *_bounds(one)))
    return tuple(results), (*by_size, results[0].score), remarks


def _read_n_features(
    wanted: Any, selector: Any, table: Table
) -> tuple[int | None, list[str]]:
    """Return the number of features to select; None is what the selector keeps.

    The number that the caller asks for must be possible. A selector that was made for
    more features than there are keeps all, as its own ``fit`` does.
    """
    named = wanted is not None and not (isinstance(wanted, str) and wanted == "auto")
    asked = wanted if named else _own_number(wanted, selector, table)
    if asked is None:
        return None, []
    if has_groups(selector):  # it counts groups beside the features that are kept
        selecting_step(selector).set_params(n_features_to_select=asked)
        return None, []
    n_selected = count_features(asked, table.n_features, strict=named)
    if isinstance(asked, Integral) and int(asked) > table.n_features:
        return n_selected, [
            f"There are {table.n_features} features: all of them are selected."
        ]
    return n_selected, []


def _own_number(wanted: Any, selector: Any, table: Table) -> Any:
    """Return the number of features that a selector was made for, or keeps."""
    if wanted is None and has_groups(selector):
        selecting_step(selector).set_params(n_features_to_select=None)
        return None
    if wanted is None:
        return _n_kept_without_limit(selector, table)
    own = own_size(selector)
    if own is not None:
        return own
    step = selecting_step(selector)
    parameters: dict[str, Any] = getattr(step, "get_params", dict)()
    if any(name in parameters for name in NUMBER_OF_FEATURES[:2]):
        return _n_kept(selector, table)  # None, "all" and the like
    # By a threshold or a share: what it keeps on every training set.
    return (
        None if hasattr(step, "get_support") else default_n_features(table.n_features)
    )


def _n_kept_without_limit(selector: Any, table: Table) -> int | None:
    """Return the number of features kept without a limit; None if that varies.

    Our selectors then keep all that they do not drop, scikit-learn's ``SelectKBest``
    all, and others what they keep by default, such as half of the features.
    """
    unlimited = clone(selector, safe=False)
    step = selecting_step(unlimited)
    parameters: dict[str, Any] = getattr(step, "get_params", dict)()
    if "k" in parameters:
        step.set_params(k="all")
    elif hasattr(step, "fit_table"):
        step.set_params(n_features_to_select=None)
    elif "n_features_to_select" in parameters:
        by_default = signature(type(step)).parameters["n_features_to_select"].default
        step.set_params(n_features_to_select=by_default)
    else:  # by a threshold or a share: what it keeps on every training set
        return None if hasattr(step, "get_support") else table.n_features
    return _n_kept(unlimited, table)


def _n_kept(selector: Any, table: Table) -> int:
    """Count the features that a selector keeps on all samples."""
    _, ranked = fit_selector(selector, table, np.arange(table.n_samples), None)
    return len(ranked.order)


def _bounds(estimate: Any) -> tuple[float, float]:
    """Return the bounds of the default 95 % interval; NaN where there is none."""
    none = (float("nan"), float("nan"))
    return next(iter(estimate.intervals.values()), none)


def _check_learner(learner: Any, table: Table) -> None:
    if isinstance(learner, DAGSVM) and (table.categorical.any() or table.has_missing):
        options = for_users("", ", or add --impute median or --encode onehot")
        raise InputError(
            "dagsvm needs numeric features without missing values; use the estimator "
            f"svm, which takes all features{options}."
        )


def _sizes(learner: Any, most: int | None) -> tuple[int, ...]:
    if most is None:
        return ()
    if isinstance(learner, DAGSVM):  # all sizes take little more time than one
        return tuple(range(1, most + 1))
    return (*(s for s in SIZES if s < most), most)


# -- parts of the record -------------------------------------------------------------


def _features(
    fitted: Any,
    wanted: IntArray,
    table: Table,
    found: Evaluation,
) -> tuple[SelectedFeature, ...]:
    """Describe features, with the number of folds that selected each."""
    times = _count_folds(found, table.n_features)
    scores = scores_of(fitted, table)
    return SelectedFeature.from_arrays(wanted, table.feature_names, scores, times)


def _count_folds(found: Evaluation, n_features: int) -> IntArray:
    """Count the folds that selected each feature."""
    times = np.zeros(n_features, dtype=np.intp)
    for ranked in found.rankings:
        if ranked is not None:
            times[ranked.order] += 1
    return times


def _other_features(
    fitted: Any, order: IntArray, table: Table, found: Evaluation
) -> tuple[SelectedFeature, ...]:
    """Describe the features that folds selected but that are not in the list."""
    times = _count_folds(found, table.n_features)
    times[order] = 0
    often = np.argsort(-times, kind="stable")[: np.count_nonzero(times)]
    return _features(fitted, often, table, found)


def _stability(found: Evaluation, n_features: int) -> Interval | None:
    """Measure the agreement of the sets that the folds select."""
    sets = [r.order for r in found.rankings if r is not None]
    if len(sets) < 2:
        return None
    return stability(sets, n_features, independent=False)


def _by_size(
    method: Any,
    splits: Sequence[Split],
    found: Evaluation,
    situation: Situation,
    root: int,
    table: Table,
    last: Estimate,
) -> tuple[Interval, ...]:
    """Estimate the accuracy at every size; `last` is that of the largest size."""
    result = []
    for k in range(len(found.hits[0]) - 1):
        hits = [one[k] for one in found.hits]
        estimate = accuracy_of_hits(
            method,
            splits,
            hits,
            situation,
            random_state=root,
            table=table,
            with_coverage=False,
        )
        result.append(Interval(estimate.value, *_bounds(estimate)))
    return (*result, Interval(last.value, *_bounds(last)))


def _by_class(
    found: Evaluation, table: Table, splits: Sequence[Split]
) -> tuple[ClassResult, ...]:
    """Compute the accuracy of each class; nothing where there are no classes."""
    if table.kind != "classes":
        return ()
    right = np.concatenate([hits[-1] for hits in found.hits])
    truth = np.concatenate(found.targets)
    tested = np.concatenate([split.test for split in splits])
    weights = None if found.weights is None else np.concatenate(found.weights)
    results = []
    for k, label in enumerate(table.classes):
        own = truth == k
        share = float("nan")
        if own.any():
            share = float(
                weighted_mean(right[own], None if weights is None else weights[own])
            )
        of_class = [one == k for one in found.targets]
        hits = [one[-1] for one in found.hits]
        spread = Spread.from_part(table, splits, of_class, hits)
        n_test = len(np.unique(tested[own]))
        results.append(ClassResult(str(label), n_test, share, *spread))
    return tuple(results)


def _selector_fields(fitted: Any, found: Evaluation, n_selected: int) -> dict[str, Any]:
    """Return the fields that only some selectors have."""
    told: dict[str, Any] = {}
    paths = {
        label: tuple(float(v) for v in np.asarray(getattr(fitted, name))[:n_selected])
        for label, name in (
            ("mean relevance", "relevance_path_"),
            ("antiredundancy", "antiredundancy_path_"),
        )
        if hasattr(fitted, name)
    }
    if paths:
        told["paths"] = paths
    if hasattr(fitted, "alpha_"):
        told["alpha"] = float(fitted.alpha_)
    if hasattr(fitted, "alpha_accuracy_"):
        told["alphas"] = tuple(float(alpha) for alpha in fitted.alphas_)
        told["alpha_accuracy"] = tuple(float(v) for v in fitted.alpha_accuracy_)
        told["fold_alphas"] = tuple(
            float(r.alpha or 0) for r in found.rankings if r is not None
        )
    return told
