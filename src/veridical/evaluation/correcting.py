"""What correcting for feature selection changes on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.numbers import percent
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike
from veridical._core.reading import read_table, refuse_missing_or_infinite
from veridical._core.repeating import repeatable
from veridical._core.seeds import root_seed
from veridical._core.splits import Split, describe_splits, split_table
from veridical._core.table import Table
from veridical._core.types import CVLike, GroupsLike, RandomStateLike
from veridical.evaluation import notes
from veridical.evaluation.conclusions import predicts_its_error
from veridical.evaluation.engine import Procedure, evaluate_table
from veridical.evaluation.naming import read_cv
from veridical.evaluation.probabilities import LEAST_LOG_PROBABILITY, calibration_table
from veridical.evaluation.records import (
    CalibrationTable,
    Correction,
    Dependence,
    ScoreDifference,
)
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB
from veridical.learning.bias_corrected_nominal import CORRECTION

#: Classifiers that correct for selection, by name.
MODELS = {"binary": BiasCorrectedNB, "gaussian": BiasCorrectedGaussianNB}
#: Parameters of the models to compare; the last is fitted on all samples last.
MODEL_OPTIONS: dict[str, dict[str, Any]] = {
    "corrected": {},
    "uncorrected": {"correct": False},
    "sparse": {"null_share": "estimate", "base_rates": "estimate"},
}
#: Their names on pages.
MODEL_LABELS = {
    "corrected": "corrected",
    "uncorrected": "uncorrected",
    "sparse": "corrected, null features",
}


@repeatable
def correction(
    X: Any,
    y: Any,
    *,
    n_features_to_select: int = 10,
    model: str = "auto",
    groups: GroupsLike = None,
    cv: CVLike = 10,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Correction:
    """Measure what conditioning on the discarded features changes.

    A naive Bayes model on the features that correlate most with the class is evaluated
    by stratified cross-validation, with the selection repeated in every training set:
    corrected for that selection as published, not corrected, and corrected by a model
    that allows for features without effect and for unequal base rates. The folds are
    the same, and the models are compared by proper scores.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The features; none missing.
    y : array-like of shape (n_samples,)
        The class labels, two of them.
    n_features_to_select : int, default=10
        Number of features to retain.
    model : {"auto", "binary", "gaussian"}, default="auto"
        `BiasCorrectedNB` or `BiasCorrectedGaussianNB`; "auto" takes the binary one
        where there are categorical features, or features of 0 and 1 only.
    groups : array-like of shape (n_samples,), str or list of str, optional
        Samples that belong together, as in `estimate`.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How to split, as in `estimate`; every sample must be tested once.
    random_state : int, Generator, RandomState or None
        Decides the folds.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it.
    name : str, optional
        Name of the data on the page.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` after each fit. By default, work that
        takes more than two seconds tells its cost and its progress on standard error;
        False is silent.

    Returns
    -------
    Correction
        All calibrations, differences of scores, the posterior means of α, and a
        verdict in words.

    Examples
    --------
    >>> from veridical.datasets import make_beta_bernoulli
    >>> from veridical.evaluation import correction
    >>> X, y = make_beta_bernoulli(120, 2000, random_state=0)
    >>> found = correction(X, y, n_features_to_select=50, random_state=0)
    >>> kinds = (found.corrected, found.uncorrected)
    >>> corrected, uncorrected = (abs(k.error - k.expected_error) for k in kinds)
    >>> corrected < uncorrected
    True
    """
    X = X.toarray() if sparse.issparse(X) else X
    table = read_table(X, column_or_1d(y), groups=groups, kind="classes", name=name)
    if table.n_classes != 2:
        raise InputError(
            f"y holds {table.n_classes} classes, but the probabilities can be compared "
            "for two classes only; take two of the classes."
        )
    # Here the message has the row in X of a missing value; later, that in a fold.
    refuse_missing_or_infinite(table.values, table.names, CORRECTION)
    chosen = _suitable_model(table, model)
    root = root_seed(random_state)
    method = read_cv(cv, table.n_samples)
    splits = split_table(method, table, root)
    notes.refuse_training_of_one_class(table, splits)
    notes.warn_of_splits(method, table, splits, stacklevel=3)
    _check_tested_once(splits, table.n_samples)
    tables, alphas, losses = {}, {}, {}
    truth = table.labels == np.unique(table.labels)[-1]
    run = Workers(n_jobs, progress, len(MODEL_OPTIONS) * min(len(splits), 20))
    for kind, options in MODEL_OPTIONS.items():
        learner = _make_classifier(chosen, n_features_to_select, options)
        (found,) = evaluate_table(
            [Procedure(learner)], table, splits, run=run, apply=_log_probabilities
        )
        logs = np.empty((table.n_samples, 2))
        for split, part in zip(splits, found.applied, strict=True):
            logs[split.test] = part
        tables[kind] = calibration_table(
            table.labels, log_probability=logs, label=MODEL_LABELS[kind]
        )
        losses[kind] = _losses(logs, truth)
        whole = learner.fit(table.source, table.labels)
        alphas[kind] = whole.alpha_
    pairs = (("corrected", "uncorrected"), ("sparse", "uncorrected"))
    differences = tuple(
        _difference(first, second, losses, table.groups)
        for first, second in (*pairs, ("sparse", "corrected"))
    )
    dependence = measure_dependence(_retained_values(table, whole), truth)
    believed = _believe(tables, differences)
    return Correction(
        table.summary(name),
        chosen,
        whole.n_features_,
        whole.threshold_,
        tables["corrected"],
        tables["uncorrected"],
        tables["sparse"],
        alphas,
        whole.null_share_,
        differences,
        dependence,
        believed,
        _write_verdict(tables, differences, dependence, believed),
        {
            "cross-validation": describe_splits(method, table),
            "random_state": root,
            "table sha256": table.sha256(),
        },
    )


def _make_classifier(
    model: str, n_features_to_select: int, options: dict[str, Any]
) -> Any:
    """Make one of the classifiers; the Gaussian one has no base rates."""
    known = MODELS[model]().get_params()
    used = {key: value for key, value in options.items() if key in known}
    return MODELS[model](n_features_to_select, **used)


def _log_probabilities(model: Any, X: Any, y: NDArray[Any]) -> FloatArray:
    return np.asarray(model.predict_log_proba(X))


def _check_tested_once(splits: Sequence[Split], n_samples: int) -> None:
    tested = np.concatenate([split.test for split in splits])
    if not np.array_equal(np.sort(tested), np.arange(n_samples)):
        raise InputError(
            "cv does not test every sample once, which the calibration of "
            "probabilities needs; use a number of folds, or 'loo'."
        )


def _suitable_model(table: Table, model: str) -> str:
    """Return the name of the model that suits the features."""
    if model in MODELS:
        return model
    if model != "auto":
        raise InputError(f"model={model!r} must be 'auto', 'binary' or 'gaussian'.")
    binary = bool(np.isin(table.values, (0.0, 1.0)).all())
    return "binary" if binary or table.categorical.any() else "gaussian"


# -- what follows ----------------------------------------------------------------------


def _losses(logs: FloatArray, truth: NDArray[np.bool_]) -> tuple[FloatArray, ...]:
    """Compute log loss and squared error of every sample."""
    own = np.where(truth, logs[:, 1], logs[:, 0])
    other = np.where(truth, logs[:, 0], logs[:, 1])
    return -np.maximum(own, LEAST_LOG_PROBABILITY), np.exp(other) ** 2


def _difference(
    first: str,
    second: str,
    losses: dict[str, tuple[FloatArray, ...]],
    groups: IntArray | None,
) -> ScoreDifference:
    """Compare the scores of two models on the same samples."""
    found = []
    for a, b in zip(losses[first], losses[second], strict=True):
        gaps = a - b
        units = gaps - gaps.mean()
        if groups is not None:
            units = np.bincount(groups, units)
        error = np.sqrt(units.size / (units.size - 1) * (units @ units)) / gaps.size
        found += [float(gaps.mean()), float(error)]
    return ScoreDifference(first, second, *found)


def measure_dependence(values: FloatArray, y: NDArray[np.bool_]) -> Dependence:
    """Measure whether features depend on each other within two classes.

    Under independence any permutation of a feature within a class is equally probable,
    also after a selection by means and variances in the classes. The moments of the sum
    over all pairs of features are those over all permutations.

    Parameters
    ----------
    values : array of shape (n, k)
        Features; constant ones are left out.
    y : bool array of shape (n,)
        The class.
    """
    means = np.stack([values[y == c].mean(axis=0) for c in (False, True)])
    r = values - means[y.astype(np.intp)]
    spread = np.sqrt((r**2).sum(axis=0))
    used = spread > 1e-12 * np.abs(values).max(axis=0, initial=1.0)
    sign = np.where(means[1] >= means[0], 1.0, -1.0)
    r = (r * sign)[:, used] / spread[used]
    whole, alone = float((r.sum(axis=1) ** 2).sum()), float((r**2).sum())
    variance = 0.0
    for c in (False, True):
        squares = (r[y == c] ** 2).sum(axis=0)
        pairs = float(squares.sum() ** 2 - (squares**2).sum())
        variance += 2.0 * pairs / max(int((y == c).sum()) - 1, 1)
    if variance <= 0 or used.sum() < 2:
        return Dependence(1.0, 0.0)
    return Dependence(whole / alone, (whole - alone) / float(np.sqrt(variance)))


def _retained_values(table: Table, model: Any) -> FloatArray:
    """Return the retained features as numbers; none of three categories or more."""
    wide = table.categorical & (np.nan_to_num(table.values).max(axis=0) > 1)
    kept = np.flatnonzero(model.support_ & ~wide)
    values = np.asarray(table.values[:, kept], np.float64)
    if isinstance(model, BiasCorrectedNB):
        return (values > model.cuts_[kept]).astype(np.float64)
    span = np.abs(values).max(axis=0, initial=1.0)
    return values / np.where(span > 0, span, 1.0)


def _believe(
    tables: dict[str, CalibrationTable], differences: Sequence[ScoreDifference]
) -> str | None:
    """Choose the model whose probabilities may be believed; None if there is none.

    It is the first of the published correction, the correction with null features and
    the uncorrected model for which two things hold: its expected error rate differs
    from the measured one by at most two standard errors, and no other model has a log
    loss that is smaller by more than two standard errors.
    """
    worse = {one.first for one in differences if one.is_worse}
    worse |= {one.second for one in differences if -one.log_loss > 2 * one.log_loss_se}
    for kind in ("corrected", "sparse", "uncorrected"):
        if kind not in worse and predicts_its_error(tables[kind]):
            return kind
    return None


def _write_verdict(
    tables: dict[str, CalibrationTable],
    differences: Sequence[ScoreDifference],
    dependence: Dependence,
    believed: str | None,
) -> str:
    """Write what follows from all calibrations and scores."""
    without, corrected, sparse = (
        f"{percent(tables[kind].expected_error)}{verb} {percent(tables[kind].error)}"
        for kind, verb in (
            ("uncorrected", " of new samples and misclassifies"),
            ("corrected", " and misclassifies"),
            ("sparse", " and misclassifies"),
        )
    )
    parts = [
        f"Without the correction, the model expects to misclassify {without}; with the "
        f"correction, it expects {corrected}; with a correction that allows for null "
        f"features, it expects {sparse}.",
        f"Mean log loss: {tables['uncorrected'].log_loss:.3f}, "
        f"{tables['corrected'].log_loss:.3f} and {tables['sparse'].log_loss:.3f} nats.",
    ]
    names = {"corrected": "The published correction", "sparse": NULLS}
    for one in differences:
        if one.second == "uncorrected" and one.is_worse:
            parts.append(
                f"{names[one.first]} does harm here: it makes the log loss worse by "
                f"{one.log_loss:.3f} nats (standard error {one.log_loss_se:.3f})."
            )
        elif one.second == "corrected" and -one.log_loss > 2 * one.log_loss_se:
            parts.append(
                f"{NULLS} has a log loss that is better than that of the published one "
                f"by {-one.log_loss:.3f} nats (standard error {one.log_loss_se:.3f})."
            )
    if all(predicts_its_error(found) for found in tables.values()):
        parts.append(
            "No expected error rate differs from the measured one by more than chance "
            "can explain."
        )
    return " ".join([*parts, _advice(tables, dependence, believed)])


#: The subject of a sentence about the third model.
NULLS = "The correction that allows for null features"


def _advice(
    tables: dict[str, CalibrationTable], dependence: Dependence, believed: str | None
) -> str:
    """Write which probabilities to believe, and why none where there are none."""
    if believed == "sparse":
        return f"Believe the probabilities of the {NULLS[4:]}."
    if believed is not None:
        return f"Believe the {believed} probabilities."
    best = min(tables, key=lambda kind: tables[kind].log_loss)
    names = {"sparse": f"the {NULLS[4:]}", "corrected": "the published correction"}
    name = names.get(best, "the uncorrected model")
    off = tables[best].error - tables[best].expected_error
    if predicts_its_error(tables[best]):  # two models better than each other in part
        return f"Believe no model without further data; {name} has the best log loss."
    found = (
        "Do not believe the probabilities of any of the models: the best by log loss, "
        f"{name}, expects an error rate that is too {'low' if off > 0 else 'high'}."
    )
    if dependence.is_shown:
        return (
            f"{found} The retained features depend on each other within classes: their "
            f"sum varies {dependence.inflation:.1f} times as much as that of "
            "independent features. Naive Bayes does not model this, and no correction "
            "for selection can remove it."
        )
    return (
        f"{found} This is not because features depend on each other within classes: "
        "there is no evidence for it here."
    )
