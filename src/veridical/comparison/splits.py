"""The splits of a comparison, and what a significance test must know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.splits import (
    CrossValidation,
    Split,
    count_units,
    describe_splits,
    split_table,
)
from veridical._core.table import Table
from veridical._core.text import listing
from veridical.comparison.significance import Geometry
from veridical.comparison.testing import ON_ONE_TEST_SET
from veridical.evaluation import notes
from veridical.evaluation.naming import read_cv


@dataclass(frozen=True, eq=False)
class Splits:
    """Training and test rows of every split, in order of repeat and fold.

    They are partitions where every repeat tests every sample exactly once. Where there
    are groups, tests count these and not samples.
    """

    splits: tuple[Split, ...]
    n_repeats: int
    description: str
    partitions: bool
    groups: IntArray | None = None

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def train(self) -> tuple[IntArray, ...]:
        """Training rows of every split."""
        return tuple(split.train for split in self.splits)

    @property
    def test(self) -> tuple[IntArray, ...]:
        """Test rows of every split."""
        return tuple(split.test for split in self.splits)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of repeats, number of folds in each."""
        return self.n_repeats, len(self) // self.n_repeats

    @property
    def geometry(self) -> Geometry:
        """What a significance test must know of the splits."""
        n_train, n_test = count_units(self.splits, self.groups)
        return Geometry(
            n_train=tuple(n_train.tolist()),
            n_test=tuple(n_test.tolist()),
            n_repeats=self.shape[0],
            n_folds=self.shape[1],
            partitions=self.partitions,
        )


def make_splits(
    cv: Any,
    table: Table,
    root: int,
    *,
    n_rows: int | None = None,
    warn: bool = False,
    where: str = "",
    alone: bool = False,
) -> Splits:
    """Split the samples of a table, as every verb does.

    Parameters
    ----------
    cv : int, str, scikit-learn splitter, iterable of (train, test) or method
        As in `veridical.evaluation.estimate`.
    table : Table
        The samples.
    root : int
        Decides the shuffling.
    n_rows : int, optional
        Split the leading rows only.
    warn : bool, default=False
        Whether to warn of splits that make an accuracy doubtful.
    where : str, default=""
        Start of each warning.
    alone : bool, default=False
        Whether one split is wanted, whose test samples are compared, and not several.

    Raises
    ------
    InputError
        If `cv` is not usable, or a training set would hold one class only.
    """
    part = table if n_rows is None else table.rows(slice(0, n_rows))
    method = read_cv(cv, part.n_samples, part.kind)
    splits = split_table(method, part, root)
    if alone and len(splits) > 1:
        raise InputError(
            f"cv yields {len(splits)} splits, but the test is for one test set; pass "
            "one split, such as Holdout() or [(train, test)], or test='corrected-t'."
        )
    if alone and splits[0].overlaps:
        raise InputError(
            "Some test samples of the split are also training samples, but a test on "
            "one test set is for samples that took no part in fitting; pass a split "
            "without common samples, such as Holdout() or [(train, test)]."
        )
    if len(splits) < 2 and not alone:
        raise InputError(
            f"cv yields {len(splits)} split(s), but a test needs at least 2; use more "
            "folds or repeats. compare() compares two selectors on one test set by "
            f"test={listing(map(repr, ON_ONE_TEST_SET), 'or')}."
        )
    notes.refuse_training_of_one_class(part, splits)
    if warn:
        notes.warn_of_splits(
            method,
            part,
            splits,
            is_accuracy=part.kind == "classes",
            where=where,
            stacklevel=4,
        )
    tests = [split.test for split in splits]
    n_repeats = _count_repeats(tests, part.n_samples)
    return Splits(
        splits=tuple(splits),
        n_repeats=n_repeats,
        description=describe_splits(method, part),
        groups=part.groups,
        partitions=_are_partitions(tests, part.n_samples, n_repeats),
    )


def _count_repeats(tests: Sequence[IntArray], n_rows: int) -> int:
    """Count how often the test sets, in order, cover all rows; 1 if they do not."""
    n_repeats, rest = divmod(sum(rows.size for rows in tests), n_rows)
    if rest or n_repeats < 2 or len(tests) % n_repeats:
        return 1
    return n_repeats if _are_partitions(tests, n_rows, n_repeats) else 1


def _are_partitions(tests: Sequence[IntArray], n_rows: int, n_repeats: int) -> bool:
    """Return whether every repeat of the test sets holds every row once."""
    every_row, n_folds = np.arange(n_rows), len(tests) // n_repeats
    return all(
        np.array_equal(np.sort(np.concatenate(tests[i : i + n_folds])), every_row)
        for i in range(0, len(tests), n_folds)
    )


def repeats_and_folds(cv: Any) -> tuple[int, int] | None:
    """Return repeats and folds of ``cv=``; None if it is not a cross-validation.

    Examples
    --------
    >>> repeats_and_folds("5x2"), repeats_and_folds(10), repeats_and_folds("loo")
    ((5, 2), (1, 10), None)
    """
    method = read_cv(cv)
    if not isinstance(method, CrossValidation):
        return None
    return method.n_repeats, method.n_folds
