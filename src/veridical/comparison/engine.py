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
from sklearn.base import is_classifier

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Job, Runner
from veridical._core.seeds import seeded
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical.comparison.splits import Splits
from veridical.evaluation.rankers import Ranker
from veridical.learning import make_estimator
from veridical.learning.many import fill_by_loop, predict_table

# -- classifiers ---------------------------------------------------------------------


@dataclass(frozen=True)
class Judge:
    """A classifier and the name it goes by.

    Estimators see labels and data frames as the user has them, since their parameters
    may refer to those; ours predict from the encoded table, with the same result.
    """

    classifier: Any
    name: str
    description: str

    def accuracy(
        self, data: Table, train: IntArray, test: IntArray, columns: IntArray
    ) -> float:
        """Fit on the training rows of some columns, count hits on the test rows."""
        split = Split(test, data.n_samples, train)
        request = (self.classifier, data, [split], [columns], (columns.size,))
        ((predicted,),) = fill_by_loop(predict_table(*request), *request)
        return float(np.mean(predicted == data.y[test]))


def make_judges(given: Any, seed: int) -> tuple[Judge, ...]:
    """Turn ``classifier=`` into judges with different names.

    Parameters
    ----------
    given : str, classifier or list of them
        Names as in `make_estimator`.
    seed : int
        For classifiers that use chance and have no seed of their own.
    """
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise InputError("classifier is an empty list; name at least one, 'svm' say.")
    names = [item if isinstance(item, str) else type(item).__name__ for item in several]
    judges = []
    for i, item in enumerate(several):
        classifier = make_estimator(item) if isinstance(item, str) else item
        known = hasattr(classifier, "__sklearn_tags__")
        if isinstance(classifier, type) or not (known and is_classifier(classifier)):
            raise InputError(
                f"classifier={item!r} is not a classifier; pass a name such as 'svm' "
                "or an instance of a scikit-learn classifier."
            )
        name = names[i]
        if names.count(name) > 1:
            name = f"{name} ({names[: i + 1].count(name)})"
        if isinstance(item, str):  # ours leave nothing to chance
            judges.append(Judge(classifier, name, item))
        else:
            classifier = seeded(classifier, seed)
            judges.append(Judge(classifier, name, one_line(classifier)))
    return tuple(judges)


# -- one data set --------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """What is done to a data set, whatever the data."""

    rankers: tuple[Ranker, ...]
    judges: tuple[Judge, ...]
    n_features: int
    methods: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Columns chosen and accuracies reached on one data set.

    Parameters
    ----------
    chosen : mapping of method to array (n_selectors, n_splits, n_features)
        One split for OUT and TRUTH, which choose once.
    accuracy : mapping of method to array (n_selectors, n_classifiers, n_splits)
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
    """Choose and judge on one data set, by every method of the design.

    Parameters
    ----------
    design : Design
        Selectors, classifiers and methods.
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
            jobs.append((score, (design.judges, data, train, test, subsets)))
    if "truth" in design.methods:
        unseen = np.arange(n_rows, data.n_samples)
        subsets = list(picks["truth"][:, 0])
        jobs.append((score, (design.judges, data, everything, unseen, subsets)))
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

    Each of shape (n_selectors, n_classifiers, n_splits).
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
    judges: Sequence[Judge],
    data: Table,
    train: IntArray,
    test: IntArray,
    subsets: Sequence[IntArray],
) -> FloatArray:
    """Accuracy of every classifier on every subset of columns, for one split.

    A subset is a set: its columns are put in the order of the data, so that two
    selectors which choose the same columns get the same model, fitted once.

    Returns
    -------
    array of shape (n_subsets, n_classifiers)
    """
    known: dict[bytes, list[float]] = {}
    rows = []
    for subset in subsets:
        columns = np.sort(subset)
        key = columns.tobytes()
        if key not in known:
            known[key] = [
                judge.accuracy(data, train, test, columns) for judge in judges
            ]
        rows.append(known[key])
    return np.array(rows)
