"""The work of a comparison: choose features, fit, count hits; on one core or many.

IN chooses anew on the training rows of each fold, OUT once on all rows before the
folds are looked at, TRUTH also once on all rows, to be tested on cases drawn apart.
The three share everything they can: data, folds, and, where the same columns were
chosen, the fitted models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Job, Runner
from veridical._core.seeds import seeded
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical.comparison.splits import Splits
from veridical.evaluation.rankers import Ranker
from veridical.learning.nested import NESTED, nested_accuracies
from veridical.learning.tabular import TabularClassifier, make_classifier

# -- estimators ----------------------------------------------------------------------


@dataclass(frozen=True)
class NamedEstimator:
    """A classifier and the name it goes by.

    One of ours (``named``) is given codes as they are, which spares it the way through
    a data frame, and numbered classes; most have a still shorter way. Other people's
    see labels and data frames as the user has them, since their parameters may refer to
    those.
    """

    estimator: Any
    name: str
    description: str
    named: bool = False

    def accuracy(
        self, data: Table, train: IntArray, test: IntArray, columns: IntArray
    ) -> float:
        """Fit on the training rows of some columns, count hits on the test rows."""
        if self.named and self.description in NESTED:
            names, sizes = (self.description,), (columns.size,)
            return float(
                nested_accuracies(names, data, train, test, columns, sizes)[0, 0]
            )
        if self.named:
            with config_context(assume_finite=True, skip_parameter_validation=True):
                predicted = self._predict_encoded(data, train, test, columns)
            return float(np.mean(predicted == data.y[test]))
        model = clone(self.estimator)
        model.fit(data.frame(train, columns), data.labels[train])
        predicted = np.asarray(model.predict(data.frame(test, columns)))
        return float(np.mean(predicted == data.labels[test]))

    def _predict_encoded(
        self, data: Table, train: IntArray, test: IntArray, columns: IntArray
    ) -> Any:
        model, nominal = self.estimator, data.categorical[columns]
        known, unknown = data.take(train, columns), data.take(test, columns)
        if isinstance(model, TabularClassifier):
            model.fit_encoded(known, nominal, data.y[train])
            return model.predict_encoded(unknown)
        if "categorical_features" in model.get_params(deep=False):
            model.set_params(categorical_features=nominal if nominal.any() else None)
        return model.fit(known, data.y[train]).predict(unknown)


def make_estimators(given: Any, seed: int) -> tuple[NamedEstimator, ...]:
    """Turn ``estimator=`` into estimators with different names.

    Parameters
    ----------
    given : str, classifier or list of them
        Names as in `make_classifier`.
    seed : int
        For classifiers that use chance and have no seed of their own.
    """
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise InputError("estimator is an empty list; name at least one, 'svm' say.")
    names = [item if isinstance(item, str) else type(item).__name__ for item in several]
    estimators = []
    for i, item in enumerate(several):
        estimator = make_classifier(item) if isinstance(item, str) else item
        known = hasattr(estimator, "__sklearn_tags__")
        if isinstance(estimator, type) or not (known and is_classifier(estimator)):
            raise InputError(
                f"estimator={item!r} is not a classifier; pass a name such as 'svm' "
                "or an instance of a scikit-learn classifier."
            )
        name = names[i]
        if names.count(name) > 1:
            name = f"{name} ({names[: i + 1].count(name)})"
        if isinstance(item, str):  # ours leave nothing to chance
            estimators.append(NamedEstimator(estimator, name, item, named=True))
        else:
            estimator = seeded(estimator, seed)
            estimators.append(NamedEstimator(estimator, name, one_line(estimator)))
    return tuple(estimators)


# -- one data set --------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """What is done to a data set, whatever the data."""

    rankers: tuple[Ranker, ...]
    estimators: tuple[NamedEstimator, ...]
    n_features: int
    methods: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Columns chosen and accuracies reached on one data set.

    Parameters
    ----------
    chosen : mapping of method to array (n_selectors, n_splits, n_features)
        One split for OUT and TRUTH, which choose once.
    accuracy : mapping of method to array (n_selectors, n_estimators, n_splits)
        One split for TRUTH, its independent test set.
    seconds : array of shape (n_selectors,)
        How long each selector took to choose, all its training sets together.
    """

    chosen: dict[str, IntArray]
    accuracy: dict[str, FloatArray]
    seconds: FloatArray


def run_data_set(
    design: Design,
    data: Table,
    splits: Splits | None,
    columns: IntArray,
    run: Runner,
    *,
    n_rows: int | None = None,
) -> Outcome:
    """Select and score on one data set, by every method of the design.

    Parameters
    ----------
    design : Design
        Selectors, estimators and methods.
    data : Table
        The cases; for TRUTH the rows from `n_rows` on are the independent test set.
    splits : Splits or None
        Folds over the leading rows; None if TRUTH alone is asked for.
    columns : int array
        Order in which selectors see the columns.
    run : callable
        Does a series of jobs, see `serial` and `Workers`.
    n_rows : int, optional
        How many leading rows may be learned from; all by default.
    """
    n_rows = data.n_samples if n_rows is None else n_rows
    everything = np.arange(n_rows)
    once = bool({"out", "truth"} & set(design.methods))
    inside = splits.train if splits is not None and "in" in design.methods else ()
    train_sets = ([everything] if once else []) + list(inside)
    chosen, seconds = _choose(design, data, n_rows, columns, train_sets, run)
    picks = {
        "in": chosen[:, int(once) :],
        "out": chosen[:, :1],
        "truth": chosen[:, :1],
    }
    jobs: list[Job] = []
    if splits is not None:
        for f, (train, test) in enumerate(zip(splits.train, splits.test, strict=True)):
            subsets = [
                picks[method][side, f if method == "in" else 0]
                for method in design.methods
                if method != "truth"
                for side in range(len(design.rankers))
            ]
            jobs.append((score, (design.estimators, data, train, test, subsets)))
    if "truth" in design.methods:
        unseen = np.arange(n_rows, data.n_samples)
        subsets = list(picks["truth"][:, 0])
        jobs.append((score, (design.estimators, data, everything, unseen, subsets)))
    return Outcome(
        chosen={method: picks[method] for method in design.methods},
        accuracy=_by_method(design, run(jobs)),
        seconds=seconds,
    )


def _choose(
    design: Design,
    data: Table,
    n_rows: int,
    columns: IntArray,
    train_sets: Sequence[IntArray],
    run: Runner,
) -> tuple[IntArray, FloatArray]:
    """Choose for every selector and training set, and take the time of each selector.

    Returns
    -------
    array of shape (n_selectors, n_train_sets, n_features)
    array of shape (n_selectors,)
    """
    parts = [ranking_parts(ranker, train_sets) for ranker in design.rankers]
    jobs = [
        (_timed, (ranker.choose, data, n_rows, columns, part, design.n_features))
        for ranker, own in zip(design.rankers, parts, strict=True)
        for part in own
    ]
    done = run(jobs)
    owner = np.repeat(np.arange(len(parts)), [len(own) for own in parts])
    seconds = np.zeros(len(parts))
    np.add.at(seconds, owner, [taken for _, taken in done])
    chosen = np.concatenate([columns for columns, _ in done])
    return chosen.reshape(len(parts), len(train_sets), design.n_features), seconds


def _timed(routine: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    return routine(*arguments), time.perf_counter() - start


def ranking_parts(
    ranker: Ranker, train_sets: Sequence[IntArray]
) -> list[Sequence[IntArray]]:
    """Cut the ranking into jobs: one if the selector shares work, else one per set."""
    if ranker.ranks_many:
        return [train_sets]
    return [[rows] for rows in train_sets]


def _by_method(design: Design, scored: list[FloatArray]) -> dict[str, FloatArray]:
    """Sort what `score` returned, split by split, by method.

    Each of shape (n_selectors, n_estimators, n_splits).
    """
    accuracy, n = {}, len(design.rankers)
    if "truth" in design.methods:
        accuracy["truth"] = scored[-1][:, :, np.newaxis]
        scored = scored[:-1]
    folded = [method for method in design.methods if method != "truth"]
    for i, method in enumerate(folded):
        accuracy[method] = np.stack([part[n * i : n * (i + 1)] for part in scored], -1)
    return {method: accuracy[method] for method in design.methods}


def score(
    estimators: Sequence[NamedEstimator],
    data: Table,
    train: IntArray,
    test: IntArray,
    subsets: Sequence[IntArray],
) -> FloatArray:
    """Accuracy of every estimator on every subset of columns, for one split.

    A subset is a set: its columns are put in the order of the data, so that two
    selectors which choose the same columns get the same model, fitted once.

    Returns
    -------
    array of shape (n_subsets, n_estimators)
    """
    known: dict[bytes, list[float]] = {}
    rows = []
    for subset in subsets:
        columns = np.sort(subset)
        key = columns.tobytes()
        if key not in known:
            known[key] = [
                estimator.accuracy(data, train, test, columns)
                for estimator in estimators
            ]
        rows.append(known[key])
    return np.array(rows)
