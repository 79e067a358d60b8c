"""A split: the rows to learn from and the rows to test on.

Most splits learn from all rows that they do not test on. Such a split keeps its test
rows only, so that leave-one-out over n cases takes memory in proportion to n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from veridical._records import FloatArray, IntArray


class Split:
    """Training and test rows; unpacks as ``train, test``.

    Parameters
    ----------
    test : int array
        Rows to test on.
    n_rows : int
        Number of rows there are.
    train : int array, optional
        Rows to learn from, repeats counted; by default all that are not tested.
    """

    __slots__ = ("_train", "n_rows", "test")

    def __init__(self, test: IntArray, n_rows: int, train: IntArray | None = None):
        self.test = test
        self.n_rows = n_rows
        self._train = train

    def __iter__(self) -> Iterator[IntArray]:
        yield self.train
        yield self.test

    def __repr__(self) -> str:
        return f"Split({self.n_train} to learn from, {len(self.test)} to test on)"

    @property
    def train(self) -> IntArray:
        """Rows to learn from."""
        if self._train is not None:
            return self._train
        kept = np.ones(self.n_rows, dtype=bool)
        kept[self.test] = False
        return np.flatnonzero(kept)

    @property
    def leaves_out(self) -> bool:
        """Whether it learns from exactly the rows that it does not test on."""
        return self._train is None

    @property
    def n_train(self) -> int:
        """Number of rows to learn from."""
        if self._train is not None:
            return len(self._train)
        return self.n_rows - len(self.test)


def leave_out(fold: IntArray, n_folds: int) -> list[Split]:
    """Leave each fold out once; `fold` says which one each row is in."""
    order = np.argsort(fold, kind="stable").astype(np.intp)
    ends = np.cumsum(np.bincount(fold, minlength=n_folds)).tolist()
    starts = [0, *ends[:-1]]
    return [Split(order[a:b], len(fold)) for a, b in zip(starts, ends, strict=True)]


def flatten(tests: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Put all test rows in one line: which split each belongs to, and the rows."""
    sizes = [len(test) for test in tests]
    return np.repeat(np.arange(len(tests)), sizes), np.concatenate(tests)


def class_counts(
    splits: Sequence[Split], codes: IntArray, n_classes: int
) -> FloatArray:
    """Count the cases of each class in every training set, shape (S, K)."""
    counts = np.empty((len(splits), n_classes))
    counts[:] = np.bincount(codes, minlength=n_classes)
    nothing = np.empty(0, dtype=np.intp)
    left_out = [split.test if split.leaves_out else nothing for split in splits]
    which, rows = flatten(left_out)
    np.subtract.at(counts, (which, codes[rows]), 1)
    for s, split in enumerate(splits):
        if not split.leaves_out:
            counts[s] = np.bincount(codes[split.train], minlength=n_classes)
    return counts
