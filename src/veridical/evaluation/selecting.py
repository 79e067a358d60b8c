"""Select features, and tell how good the whole procedure is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.records import Interval
from veridical._core.repeating import repeatable
from veridical._core.seeds import seeded
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.evaluation import CrossValidation, wilson
from veridical.evaluation.rankers import make_selector
from veridical.evaluation.records import ClassResult, SelectedFeature, Selection
from veridical.learning import make_estimator
from veridical.learning.many import fill_by_loop, predict_table

#: Sizes shown for learners that have to be fitted at each of them.
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200, 300, 500)
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class _Fold:
    """What one fold found: predictions by size, the features, the exponent."""

    named: IntArray
    chosen: IntArray
    alpha: float | None


@repeatable
def select(
    selector: Any,
    X: Any,
    y: Any,
    *,
    max_features: int,
    learner: str | None = None,
    n_folds: int = 10,
    name: str = "the data",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Selection:
    """Select features on all cases, and estimate how good doing so is.

    In stratified cross-validation, the selector (with all that it chooses itself) and
    the learner are fitted on each training fold; the test fold is only named.

    Parameters
    ----------
    selector : str or selector
        A key of ``veridical.selection.SELECTORS`` or one of these selectors.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Class labels.
    max_features : int
        How many features to select; all where there are fewer.
    learner : str, optional
        ``"dagsvm"`` or a name that `make_estimator` knows; "dagsvm" by default where
        all columns are numbers without holes, else "svm".
    n_folds : int, default=10
        Number of folds; fewer where a class has fewer cases, but 2 at least.
    name : str
        What the data are called.
    random_state : int, default=0
        Decides the folds and whatever the selector leaves to chance.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.

    Returns
    -------
    Selection
        The features, the accuracy with its interval, and the classes.
    """
    data = read_table(X, y)
    if max_features < 1:
        raise InputError(f"max_features={max_features} selects nothing; use 1 or more.")
    asked, max_features = max_features, min(max_features, data.n_features)
    chosen = _make(selector, max_features, random_state)
    learner = _learner_for(data) if learner is None else learner
    _check_learner(learner, data)
    classes, codes = np.unique(data.labels, return_inverse=True)
    _check_abilities(chosen, data, codes)
    smallest = int(np.bincount(codes).min())
    folds = max(2, min(n_folds, smallest))
    splits = CrossValidation(folds).split(data.labels, random_state)
    _check_training(splits, codes, classes)
    sizes = _sizes(learner, max_features)
    tested = [np.asarray(split.test) for split in splits]
    orders = _rank(chosen, data, codes, [np.asarray(s.train) for s in splits], n_jobs)
    found: list[_Fold] = Parallel(n_jobs=n_jobs)(
        delayed(_one_fold)(learner, data, order, alpha, test, sizes)
        for (order, alpha), test in zip(orders, tested, strict=True)
    )
    right = np.concatenate(
        [fold.named == codes[test] for fold, test in zip(found, tested, strict=True)],
        axis=1,
    )
    truth = codes[np.concatenate(tested)]
    fitted = _fit(chosen, data, np.arange(data.n_samples), codes)
    order = np.asarray(fitted.order_)[:max_features]
    accuracy = float(right[-1].mean())
    return Selection(
        data=data.summary(name),
        selector=_name_of(selector),
        learner=learner,
        features=_features(fitted, order, data, found),
        accuracy=Interval(accuracy, *wilson(accuracy, truth.size, CONFIDENCE)),
        n_test=int(truth.size),
        n_folds=len(splits),
        classes=tuple(
            ClassResult(
                str(label),
                int((truth == k).sum()),
                float(right[-1][truth == k].mean()),
            )
            for k, label in enumerate(classes)
        ),
        sizes=tuple(int(size) for size in sizes),
        size_accuracy=tuple(float(row.mean()) for row in right),
        **_particulars(fitted, found, max_features),
        notes=tuple(_notes(asked, max_features, n_folds, folds, smallest)),
        settings={
            "estimator": " ".join(repr(chosen).split()),
            "folds": f"{folds} stratified",
            "random_state": str(random_state),
            "table sha256": data.sha256(),
        },
    )


# -- what to work with ---------------------------------------------------------------


def _make(selector: Any, max_features: int, seed: int) -> Any:
    if isinstance(selector, str):
        selector = make_selector(selector)
    elif not hasattr(selector, "rank_many"):
        raise InputError(
            f"{selector!r} is none of veridical's selectors; give a name such as "
            "'relieff', or one of veridical.selection."
        )
    made = clone(selector).set_params(n_features_to_select=max_features)
    return seeded(made, seed)


def _check_abilities(selector: Any, data: Table, codes: IntArray) -> None:
    """Refuse what the selector cannot read, by the names of the user's columns."""
    selector._abilities.check(data, type(selector).__name__)


def _check_training(
    splits: Sequence[Split], codes: IntArray, classes: NDArray[Any]
) -> None:
    """Refuse data of which some fold leaves a single class to learn from."""
    if all(np.unique(codes[split.train]).size > 1 for split in splits):
        return
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    raise InputError(
        f"Class {str(classes[rarest])!r} has {counts[rarest]} of {codes.size} cases, "
        "too few to test and to learn from in cross-validation; add cases, or merge "
        "it with another class."
    )


def _name_of(selector: Any) -> str:
    return selector if isinstance(selector, str) else type(selector).__name__


def _learner_for(data: Table) -> str:
    holes = not sparse.issparse(data.values) and bool(np.isnan(data.values).any())
    return "svm" if data.categorical.any() or holes else "dagsvm"


def _check_learner(learner: str, data: Table) -> None:
    if learner != "dagsvm":
        make_estimator(learner)
    elif _learner_for(data) != "dagsvm":
        raise InputError(
            "dagsvm needs columns of numbers without missing values; use the learner "
            "svm, which reads all."
        )


def _sizes(learner: str, most: int) -> IntArray:
    if learner == "dagsvm":
        return np.arange(1, most + 1, dtype=np.intp)
    return np.array([*(s for s in SIZES if s < most), most], dtype=np.intp)


# -- one fold ------------------------------------------------------------------------


def _rank(
    selector: Any,
    data: Table,
    codes: IntArray,
    train_sets: Sequence[IntArray],
    n_jobs: int | None,
) -> list[tuple[IntArray, float | None]]:
    """Order the features on every training set, and tell the exponent chosen there."""
    if getattr(selector, "alpha", None) != "auto":
        orders = clone(selector).rank_many(_table(data), codes, train_sets)
        return [(order, None) for order in orders]
    fits = Parallel(n_jobs=n_jobs)(
        delayed(_fit)(selector, data, rows, codes) for rows in train_sets
    )
    return [(fitted.order_, fitted.alpha_) for fitted in fits]


def _one_fold(
    learner: str,
    data: Table,
    order: IntArray,
    alpha: float | None,
    test: IntArray,
    sizes: IntArray,
) -> _Fold:
    chosen = np.asarray(order)[: sizes[-1]]
    train = np.setdiff1d(np.arange(data.n_samples), test)
    named = _predict(learner, data, chosen, train, test, sizes)
    return _Fold(named, chosen, alpha)


def _fit(selector: Any, data: Table, rows: IntArray, codes: IntArray) -> Any:
    X = _table(data)
    return clone(selector).fit(
        X.iloc[rows] if hasattr(X, "iloc") else X[rows], codes[rows]
    )


def _table(data: Table) -> Any:
    """All rows and columns, in the form that selectors take."""
    return data.features.frame()


def _predict(
    learner: str,
    data: Table,
    order: IntArray,
    train: IntArray,
    test: IntArray,
    sizes: IntArray,
) -> IntArray:
    """Predict the test samples with the first features, at every size."""
    request = (
        make_estimator(learner),
        data,
        [Split(test, data.n_samples, train)],
        [order],
        tuple(sizes.tolist()),
    )
    return fill_by_loop(predict_table(*request), *request)[0]


# -- what came of it -----------------------------------------------------------------


def _features(
    fitted: Any, order: IntArray, data: Table, found: Sequence[_Fold]
) -> tuple[SelectedFeature, ...]:
    times = np.zeros(data.n_features, dtype=np.intp)
    for fold in found:
        times[fold.chosen] += 1
    scores: NDArray[Any] | None = getattr(fitted, "scores_", None)
    return tuple(
        SelectedFeature(
            int(j),
            data.feature_names[j],
            None if scores is None else float(scores[j]),
            int(times[j]),
        )
        for j in order
    )


def _particulars(
    fitted: Any, found: Sequence[_Fold], max_features: int
) -> dict[str, Any]:
    """What only some selectors can tell."""
    told: dict[str, Any] = {}
    paths = {
        label: tuple(float(v) for v in _beginning(fitted, name, max_features))
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
        told["fold_alphas"] = tuple(float(fold.alpha or 0) for fold in found)
    return told


def _beginning(fitted: Any, name: str, n: int) -> FloatArray:
    return np.asarray(getattr(fitted, name))[:n]


def _notes(
    asked: int, selected: int, n_folds: int, folds: int, smallest: int
) -> list[str]:
    notes = []
    if selected < asked:
        notes.append(f"There are {selected} features: all of them are selected.")
    if folds < n_folds:
        notes.append(
            f"{folds} folds instead of {n_folds}, because the smallest class has "
            f"{smallest} case{'s' * (smallest != 1)}."
        )
    return notes
