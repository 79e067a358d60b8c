"""Seeds and splits: every selector, method and estimator is scored on the same folds.

A seed depends on what it is for and on the number of the data set, never on a
selector, a worker or the order of the work. So comparisons stay paired, and any data
set can be rerun alone.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, RepeatedKFold, check_cv

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical._core.text import show
from veridical.comparison.significance import Geometry


@dataclass(frozen=True, eq=False)
class Splits:
    """Training and test rows of every split, in order of repeat and fold.

    They are partitions where every repeat tests every case exactly once.
    """

    train: tuple[IntArray, ...]
    test: tuple[IntArray, ...]
    n_repeats: int
    description: str
    partitions: bool

    def __len__(self) -> int:
        return len(self.train)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of repeats, number of folds in each."""
        return self.n_repeats, len(self) // self.n_repeats

    @property
    def geometry(self) -> Geometry:
        """What a significance test has to know of the splits."""
        return Geometry(
            n_train=tuple(rows.size for rows in self.train),
            n_test=tuple(rows.size for rows in self.test),
            n_repeats=self.shape[0],
            n_folds=self.shape[1],
            partitions=self.partitions,
        )


def make_splits(
    cv: Any, data: Table, seed: int, *, n_rows: int | None = None
) -> Splits:
    """Split the rows of a data set.

    Parameters
    ----------
    cv : int, str, scikit-learn splitter or iterable of (train, test)
        A number means that many plain shuffled folds, "10x5" ten repeats of five. A
        splitter that shuffles and has no seed of its own is given one.
    data : Table
        What is split.
    seed : int
        Decides the shuffling.
    n_rows : int, optional
        Split the leading rows only.

    Raises
    ------
    InputError
        If `cv` is not usable, or a training set would lack a class.
    """
    n_rows = data.n_samples if n_rows is None else n_rows
    splitter = _splitter(cv, n_rows, seed)
    labels = data.labels[:n_rows]
    try:
        pairs = [
            (np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp))
            for train, test in splitter.split(np.zeros((n_rows, 1)), labels)
        ]
    except ValueError as error:
        cure = " Pass cv=list(cv.split(X, y, groups))." * ("groups" in str(error))
        raise InputError(f"cv cannot split these data: {error}{cure}") from error
    for train, test in pairs:
        if train.size == 0 or test.size == 0:
            raise InputError("cv yields an empty training or test set; use another.")
    if len(pairs) < 2:
        raise InputError(
            f"cv yields {len(pairs)} split(s), but a test needs at least 2; use more "
            "folds or repeats."
        )
    tests = tuple(test for _, test in pairs)
    n_repeats = _count_repeats(tests, n_rows)
    splits = Splits(
        train=tuple(train for train, _ in pairs),
        test=tests,
        n_repeats=n_repeats,
        description=_describe(splitter),
        partitions=_are_partitions(tests, n_rows, n_repeats),
    )
    _refuse_missing_class(splits, data, n_rows)
    return splits


def refuse_small_classes(cv: Any, data: Table) -> None:
    """Refuse classes with fewer members than there are folds.

    With a number of folds some test folds would then hold no case of that class.
    """
    repeated = repeats_and_folds(cv)
    cv = repeated[1] if repeated else cv
    if not isinstance(cv, Integral):
        return
    sizes = np.bincount(data.y)
    smallest = int(sizes.argmin())
    if sizes[smallest] < cv:
        label = data.labels[np.flatnonzero(data.y == smallest)[0]]
        cure = f"use at most {sizes[smallest]} folds, " if sizes[smallest] > 1 else ""
        raise InputError(
            f"Class {show(label)} has {sizes[smallest]} member(s), fewer than the {cv} "
            f"folds; {cure}merge it with another class or drop it."
        )


def _splitter(cv: Any, n_rows: int, seed: int) -> Any:
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= n_rows:
            raise InputError(
                f"cv={cv} folds are not possible with {n_rows} cases; use 2 to "
                f"{n_rows}."
            )
        return KFold(int(cv), shuffle=True, random_state=seed)
    repeated = repeats_and_folds(cv)
    if repeated:
        n_repeats, n_folds = repeated
        if n_repeats < 1 or not 2 <= n_folds <= n_rows:
            raise InputError(
                f"cv={cv!r} is not possible with {n_rows} cases; use 1 repeat or more, "
                f"of 2 to {n_rows} folds."
            )
        return RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    if cv is None or isinstance(cv, (bool, str)):
        raise InputError(
            f"cv must be a number of folds, repeats and folds such as '5x2', a "
            f"scikit-learn splitter or a list of (train, test) pairs; got {cv!r}."
        )
    try:
        splitter = check_cv(cv)
    except ValueError as error:
        raise InputError(
            f"cv={cv!r} is no number of folds, scikit-learn splitter or list of "
            "(train, test) pairs."
        ) from error
    if getattr(splitter, "random_state", 0) is None:
        splitter = copy.copy(splitter)
        splitter.random_state = seed
    return splitter


def repeats_and_folds(cv: Any) -> tuple[int, int] | None:
    """Read "5x2": repeats, then folds; None if it is something else."""
    found = re.fullmatch(r"(\d+)x(\d+)", cv) if isinstance(cv, str) else None
    return (int(found[1]), int(found[2])) if found else None


def _count_repeats(tests: Sequence[IntArray], n_rows: int) -> int:
    """How often the test sets, in order, go through all rows; 1 if they do not."""
    n_repeats, rest = divmod(sum(rows.size for rows in tests), n_rows)
    if rest or n_repeats < 2 or len(tests) % n_repeats:
        return 1
    return n_repeats if _are_partitions(tests, n_rows, n_repeats) else 1


def _are_partitions(tests: Sequence[IntArray], n_rows: int, n_repeats: int) -> bool:
    """Whether each of so many equal runs of the test sets holds every row once."""
    every_row, n_folds = np.arange(n_rows), len(tests) // n_repeats
    return all(
        np.array_equal(np.sort(np.concatenate(tests[i : i + n_folds])), every_row)
        for i in range(0, len(tests), n_folds)
    )


def _describe(splitter: Any) -> str:
    text = " ".join(repr(splitter).split())
    return "the given list of splits" if "object at 0x" in text or "[" in text else text


def _refuse_missing_class(splits: Splits, data: Table, n_rows: int) -> None:
    codes = data.y[:n_rows]
    present = np.bincount(codes, minlength=1) > 0
    for number, train in enumerate(splits.train):
        missing = np.flatnonzero(
            present & (np.bincount(codes[train], minlength=present.size) == 0)
        )
        if missing.size:
            where = np.flatnonzero(codes == missing[0])
            raise InputError(
                f"Class {show(data.labels[where[0]])} ({where.size} member(s)) is "
                f"missing from the training set of split {number}; use stratified "
                "folds (cv=StratifiedKFold(n_splits=..., shuffle=True)), merge the "
                "class with another or drop it."
            )
