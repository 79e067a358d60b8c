"""What correcting for feature selection changes on somebody's data."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import column_or_1d

from veridical._core.arrays import FloatArray
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.hashing import table_hash
from veridical._core.numbers import percent
from veridical._core.parallel import Workers
from veridical._core.progress import Progress
from veridical._core.reading import refuse_missing_or_infinite
from veridical._core.records import DataSummary
from veridical._core.repeating import repeatable
from veridical._core.seeds import root_seed
from veridical._core.sklearn_private import take
from veridical.evaluation.probabilities import calibration_table
from veridical.evaluation.records import CalibrationTable, Correction
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB
from veridical.learning.bias_corrected_columns import WHO

MODELS = {"binary": BiasCorrectedNB, "gaussian": BiasCorrectedGaussianNB}


@repeatable
def correction(
    X: Any,
    y: Any,
    *,
    n_features: int = 10,
    model: str = "auto",
    n_folds: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
    name: str = "data",
    progress: Progress | None = None,
) -> Correction:
    """Show what conditioning on the discarded features changes.

    A naive Bayes model on the features that correlate most with the class is tried by
    stratified cross-validation, selection repeated in every training set, once
    corrected for that selection and once not. The same folds serve both.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The features; none missing.
    y : array-like of shape (n_samples,)
        The class labels, two of them.
    n_features : int, default=10
        How many features to retain.
    model : {"auto", "binary", "gaussian"}, default="auto"
        `BiasCorrectedNB` or `BiasCorrectedGaussianNB`; "auto" takes the binary one
        where there are nominal columns or nothing but zeros and ones.
    n_folds : int, default=10
        At most as many as the smaller class has cases.
    random_state : int, Generator, RandomState or None
        Decides the folds.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it.
    name : str, default="data"
        What the data are called on the page.
    progress : callable, optional
        Called as ``progress(done, total)`` after each fit.

    Returns
    -------
    Correction
        Both calibrations, what the models believe of α, and a verdict in words.

    Examples
    --------
    >>> from veridical.datasets import make_beta_bernoulli
    >>> from veridical.evaluation import correction
    >>> X, y = make_beta_bernoulli(120, 2000, random_state=0)
    >>> found = correction(X, y, n_features=50, random_state=0)
    >>> found.verdict.endswith("Believe the corrected probabilities.")
    True
    """
    X = X.toarray() if sparse.issparse(X) else X
    labels = column_or_1d(y)
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size != 2:
        raise InputError(
            f"y holds {classes.size} classes; the comparison of probabilities is made "
            "for two. Leave the correction out, or take two of the classes."
        )
    table = encode(X)  # refused here, a hole has the number of its row in X
    refuse_missing_or_infinite(table.values, table.names, WHO)
    chosen = _choose(X, model)
    if n_folds < 2:
        raise InputError(f"n_folds={n_folds} leaves nothing to test; give 2 or more.")
    folds = min(int(n_folds), int(counts.min()))
    if folds < 2:
        raise InputError(
            f"A class has {counts.min()} case; cross-validation needs two of each."
        )
    seed = root_seed(random_state)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed % 2**32)
    splits = list(splitter.split(np.zeros(len(labels)), labels))
    tables, alphas = {}, {}
    workers = Workers(n_jobs, progress, 2 * folds)
    for kind, correct in (("corrected", True), ("uncorrected", False)):
        learner = MODELS[chosen](n_features, correct)
        logs = _out_of_fold(learner, X, labels, splits, workers)
        tables[kind] = calibration_table(labels, log_probability=logs, label=kind)
        whole = learner.fit(X, labels)
        alphas[kind] = whole.alpha_
    return Correction(
        _summary(X, classes, counts, name),
        chosen,
        whole.n_features_,
        whole.threshold_,
        tables["corrected"],
        tables["uncorrected"],
        alphas,
        _verdict(tables["corrected"], tables["uncorrected"]),
        {
            "cross-validation": f"{folds} stratified folds",
            "random_state": str(seed),
            "table sha256": table_hash(X, labels),
        },
    )


def _choose(X: Any, model: str) -> str:
    """Find the model that fits the columns."""
    if model in MODELS:
        return model
    if model != "auto":
        raise InputError(f"model={model!r} must be 'auto', 'binary' or 'gaussian'.")
    table = encode(X)
    binary = bool(np.isin(table.values, (0.0, 1.0)).all())
    return "binary" if binary or table.categorical.any() else "gaussian"


def _out_of_fold(
    learner: Any,
    X: Any,
    y: NDArray[Any],
    splits: list[tuple[Any, Any]],
    workers: Workers,
) -> FloatArray:
    """Log-probabilities of every case by a model that has not seen it."""
    logs = np.empty((len(y), 2))
    found = workers((_test, (learner, X, y, *split)) for split in splits)
    for (_, test), part in zip(splits, found, strict=True):
        logs[test] = part
    return logs


def _test(learner: Any, X: Any, y: NDArray[Any], train: Any, test: Any) -> FloatArray:
    fitted = clone(learner).fit(take(X, train), y[train])
    return np.asarray(fitted.predict_log_proba(take(X, test)))


def _summary(X: Any, classes: Any, counts: Any, name: str) -> DataSummary:
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    names: tuple[str, ...] = ()
    if nw.dependencies.is_into_dataframe(X):
        names = tuple(str(column) for column in nw.from_native(X).columns)
    by_class = {str(label): int(n) for label, n in zip(classes, counts, strict=True)}
    return DataSummary(name, int(shape[0]), int(shape[1]), by_class, names)


def _verdict(corrected: CalibrationTable, uncorrected: CalibrationTable) -> str:
    """What a user should take from it."""
    gaps = [found.error - found.expected_error for found in (corrected, uncorrected)]
    first = (
        f"Without correction the model expects to be wrong about "
        f"{percent(uncorrected.expected_error)} of new cases and is wrong about "
        f"{percent(uncorrected.error)}; corrected, it expects "
        f"{percent(corrected.expected_error)} and is wrong about "
        f"{percent(corrected.error)}."
    )
    noise = [
        2 * np.sqrt(max(found.error * (1 - found.error), 0.01) / found.n)
        for found in (corrected, uncorrected)
    ]
    sure = (
        "too sure of itself" if gaps[0] > 0 else "less sure of itself than it could be"
    )
    dependent = (
        "features seem to depend on each other within classes, which naive Bayes does "
        f"not know and no correction for selection can mend; here it is {sure}."
    )
    if all(abs(gap) <= most for gap, most in zip(gaps, noise, strict=True)):
        return f"{first} Neither is off by more than chance can explain."
    if abs(gaps[0]) >= abs(gaps[1]):
        return f"{first} The correction does not help here: {dependent}"
    if abs(gaps[0]) > noise[0]:
        return f"{first} The correction goes part of the way: {dependent}"
    return f"{first} Believe the corrected probabilities."
