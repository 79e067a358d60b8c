"""What correcting for feature selection changes on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.numbers import percent
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike
from veridical._core.reading import read_table, refuse_missing_or_infinite
from veridical._core.repeating import repeatable
from veridical._core.seeds import root_seed
from veridical._core.splits import Split, describe_splits
from veridical._core.table import Table
from veridical._core.types import CVLike, RandomStateLike
from veridical.evaluation import notes
from veridical.evaluation.conclusions import two_standard_errors
from veridical.evaluation.engine import Procedure, evaluate_table
from veridical.evaluation.naming import read_cv
from veridical.evaluation.probabilities import calibration_table
from veridical.evaluation.records import CalibrationTable, Correction
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB
from veridical.learning.bias_corrected_nominal import CORRECTION

#: Classifiers that correct for selection, by name.
MODELS = {"binary": BiasCorrectedNB, "gaussian": BiasCorrectedGaussianNB}


@repeatable
def correction(
    X: Any,
    y: Any,
    *,
    n_features_to_select: int = 10,
    model: str = "auto",
    cv: CVLike = 10,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Correction:
    """Measure what conditioning on the discarded features changes.

    A naive Bayes model on the features that correlate most with the class is evaluated
    by stratified cross-validation, with the selection repeated in every training set:
    once corrected for that selection and once not, on the same folds.

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
        Both calibrations, the posterior means of α, and a verdict in words.

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
    table = read_table(X, column_or_1d(y), name=name)
    if table.n_classes != 2:
        raise InputError(
            f"y holds {table.n_classes} classes, but the probabilities can be compared "
            "for two classes only; take two of the classes."
        )
    # Here the message has the row in X of a missing value; later, that in a fold.
    refuse_missing_or_infinite(table.values, table.names, CORRECTION)
    chosen = _choose(table, model)
    root = root_seed(random_state)
    method = read_cv(cv, table.n_samples)
    splits = method.split(table.labels, root)
    notes.refuse_training_of_one_class(table, splits)
    notes.warn_of_splits(method, table, splits, stacklevel=3)
    _check_tested_once(splits, table.n_samples)
    tables, alphas = {}, {}
    run = Workers(n_jobs, progress, 2 * min(len(splits), 20))
    for kind, correct in (("corrected", True), ("uncorrected", False)):
        learner = MODELS[chosen](n_features_to_select, correct)
        (found,) = evaluate_table(
            [Procedure(learner)], table, splits, run=run, apply=_log_probabilities
        )
        logs = np.empty((table.n_samples, 2))
        for split, part in zip(splits, found.applied, strict=True):
            logs[split.test] = part
        tables[kind] = calibration_table(table.labels, log_probability=logs, label=kind)
        whole = learner.fit(X, table.labels)
        alphas[kind] = whole.alpha_
    return Correction(
        table.summary(name),
        chosen,
        whole.n_features_,
        whole.threshold_,
        tables["corrected"],
        tables["uncorrected"],
        alphas,
        _verdict(tables["corrected"], tables["uncorrected"]),
        {
            "cross-validation": describe_splits(method),
            "random_state": root,
            "table sha256": table.sha256(),
        },
    )


def _log_probabilities(model: Any, X: Any, y: NDArray[Any]) -> FloatArray:
    return np.asarray(model.predict_log_proba(X))


def _check_tested_once(splits: Sequence[Split], n_samples: int) -> None:
    tested = np.concatenate([split.test for split in splits])
    if not np.array_equal(np.sort(tested), np.arange(n_samples)):
        raise InputError(
            "cv does not test every sample once, which the calibration of "
            "probabilities needs; use a number of folds, or 'loo'."
        )


def _choose(table: Table, model: str) -> str:
    """Return the name of the model that suits the features."""
    if model in MODELS:
        return model
    if model != "auto":
        raise InputError(f"model={model!r} must be 'auto', 'binary' or 'gaussian'.")
    binary = bool(np.isin(table.values, (0.0, 1.0)).all())
    return "binary" if binary or table.categorical.any() else "gaussian"


def _verdict(corrected: CalibrationTable, uncorrected: CalibrationTable) -> str:
    """Write what follows from both calibrations."""
    gaps = [found.error - found.expected_error for found in (corrected, uncorrected)]
    first = (
        "Without the correction, the model expects to misclassify "
        f"{percent(uncorrected.expected_error)} of new samples and misclassifies "
        f"{percent(uncorrected.error)}; with the correction, it expects "
        f"{percent(corrected.expected_error)} and misclassifies "
        f"{percent(corrected.error)}."
    )
    noise = [two_standard_errors(found) for found in (corrected, uncorrected)]
    sure = "low" if gaps[0] > 0 else "high"
    dependent = (
        "features seem to depend on each other within classes, which naive Bayes does "
        "not model and no correction for selection can remove; here the expected error "
        f"is too {sure}."
    )
    if all(abs(gap) <= most for gap, most in zip(gaps, noise, strict=True)):
        return f"{first} Neither difference is larger than chance can explain."
    if abs(gaps[0]) >= abs(gaps[1]):
        return f"{first} The correction does not help here: {dependent}"
    if abs(gaps[0]) > noise[0]:
        return f"{first} The correction helps in part: {dependent}"
    return f"{first} Believe the corrected probabilities."
