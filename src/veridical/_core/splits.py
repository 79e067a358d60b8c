"""Splits into a training and a test set, and methods that make them.

Most training sets hold all rows outside the test set. Such a split stores its test rows
only, so that leave-one-out over n samples takes memory in proportion to n.

What a method divides are units: samples or, where samples belong together, groups of
samples, which are never divided between training and test set. Sizes of test sets,
numbers left out and bootstrap samples then count groups.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import TimeSeriesSplit

from veridical._core.advice import advise
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import folds_generator, root_seed
from veridical._core.targets import number_labels
from veridical._core.text import quote
from veridical._core.validation import check_count

#: Hint for users who pass something else than a list of splits.
_SPLITTER_HINT = " [*cv.split(X, y)] of a scikit-learn splitter will do."


class Split:
    """Training and test rows; unpacks as ``train, test``.

    Parameters
    ----------
    test : int array
        Test rows.
    n_rows : int
        Number of rows of the table.
    train : int array, optional
        Training rows, repeats counted; by default all rows outside the test set.

    Attributes
    ----------
    leaves_out : bool
        Whether the training set is exactly the rows outside the test set.
    """

    __slots__ = ("_train", "leaves_out", "n_rows", "test")

    def __init__(self, test: IntArray, n_rows: int, train: IntArray | None = None):
        self.test = test
        self.n_rows = n_rows
        self.leaves_out = train is None
        self._train = train

    def __iter__(self) -> Iterator[IntArray]:
        yield self.train
        yield self.test

    def __repr__(self) -> str:
        return f"Split({self.n_train} to learn from, {len(self.test)} to test on)"

    @property
    def train(self) -> IntArray:
        """Training rows."""
        if self._train is not None:
            return self._train
        kept = np.ones(self.n_rows, dtype=bool)
        kept[self.test] = False
        return np.flatnonzero(kept)

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        if self._train is not None:
            return len(self._train)
        return self.n_rows - len(self.test)

    @property
    def overlaps(self) -> bool:
        """Whether training and test set share rows."""
        if self._train is None:
            return False
        learned = np.zeros(self.n_rows, dtype=bool)
        learned[self._train] = True
        return bool(learned[self.test].any())


def trains_on_the_rest(splits: Sequence[Split]) -> bool:
    """Return whether every training set holds all rows outside the test set, once."""
    return all(
        split.leaves_out
        or (split.n_train + len(split.test) == split.n_rows and not split.overlaps)
        for split in splits
    )


def leave_out(fold: IntArray, n_folds: int) -> list[Split]:
    """Leave each fold out once; `fold` is the fold of each row."""
    order = np.argsort(fold, kind="stable").astype(np.intp)
    ends = np.cumsum(np.bincount(fold, minlength=n_folds)).tolist()
    starts = [0, *ends[:-1]]
    return [Split(order[a:b], len(fold)) for a, b in zip(starts, ends, strict=True)]


def flatten(tests: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Concatenate all test rows: the split of each, and the rows."""
    sizes = list(map(len, tests))
    return np.repeat(np.arange(len(tests)), sizes), np.concatenate(tests)


def class_counts(
    splits: Sequence[Split], codes: IntArray, n_classes: int
) -> FloatArray:
    """Count the samples of each class in every training set, shape (S, K).

    There may be more codes than a split has rows; the others are not counted.
    """
    counts = np.empty((len(splits), n_classes))
    by_n_rows: dict[int, list[int]] = {}  # splits by their number of rows
    for s, split in enumerate(splits):
        if split.leaves_out:
            by_n_rows.setdefault(split.n_rows, []).append(s)
        else:
            counts[s] = np.bincount(codes[split.train], minlength=n_classes)
    for n_rows, some in by_n_rows.items():
        which, rows = flatten([splits[s].test for s in some])
        cells = which * n_classes + codes[rows]
        tested = np.bincount(cells, minlength=len(some) * n_classes)
        of_all = np.bincount(codes[:n_rows], minlength=n_classes)
        counts[some] = of_all - tested.reshape(len(some), n_classes)
    return counts


# -- units ---------------------------------------------------------------------------


class Units:
    """What a split does not divide: samples, or groups of samples.

    Parameters
    ----------
    n_rows : int
        Number of samples.
    groups : int array of shape (n_rows,), optional
        The group of each sample, from 0 to the number of groups less one. Groups of
        one sample each are the same as no groups.
    """

    def __init__(self, n_rows: int, groups: IntArray | None = None) -> None:
        self.n_rows = n_rows
        if groups is not None and int(groups.max(initial=-1)) + 1 == n_rows:
            groups = None
        self.groups = groups
        self.n = n_rows if groups is None else int(groups.max()) + 1

    @property
    def noun(self) -> str:
        """What the units are called in messages."""
        return "samples" if self.groups is None else "groups"

    def split(self, test: IntArray, train: IntArray | None = None) -> Split:
        """Make the split of rows from units; training units may be repeated."""
        if self.groups is None:
            return Split(test, self.n_rows, train)
        rows = None if train is None else np.sort(self._rows(train))
        return Split(np.sort(self._rows(test)), self.n_rows, rows)

    def leave_out(self, fold: IntArray, n_folds: int) -> list[Split]:
        """Leave each fold of units out once."""
        of_rows = fold if self.groups is None else fold[self.groups]
        return leave_out(of_rows, n_folds)

    def _rows(self, units: IntArray) -> IntArray:
        assert self.groups is not None
        order = np.argsort(self.groups, kind="stable")
        ends = np.cumsum(np.bincount(self.groups, minlength=self.n))
        parts = np.split(order, ends[:-1])
        return np.concatenate([parts[u] for u in units]).astype(np.intp)


def count_units(
    splits: Sequence[Split], groups: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Count the units of every training and of every test set.

    Tests and intervals on the scores of splits depend on these numbers: a score over
    the samples of m groups has the information of about m samples.

    Returns
    -------
    n_train, n_test : int arrays of shape (n_splits,)
        Numbers of samples (repeats in training count), or of different groups.
    """
    if groups is None:
        sizes = [(split.n_train, len(split.test)) for split in splits]
    else:
        sizes = [
            (len(np.unique(groups[split.train])), len(np.unique(groups[split.test])))
            for split in splits
        ]
    counted = np.array(sizes, dtype=np.intp).reshape(-1, 2)
    return counted[:, 0], counted[:, 1]


@runtime_checkable
class Method(Protocol):
    """A way to split data."""

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every split; groups stay whole."""
        ...

    def describe(self) -> str:
        """Describe the method in words."""
        ...


def describe_splits(method: Method, table: Any = None) -> str:
    """Describe the splits of a method in words, for functions that use them alone.

    A method that is more than its splits, such as the .632 bootstrap, has its own
    ``describe_splits``. With a table, its groups are mentioned.
    """
    said = str(getattr(method, "describe_splits", method.describe)())
    return said if table is None else said + describe_groups(table)


# -- methods -------------------------------------------------------------------------


@dataclass(frozen=True)
class Resubstitution:
    """Test on the training set itself: optimistic, for comparison only.

    Examples
    --------
    >>> from veridical.evaluation import Resubstitution
    >>> [(train.tolist(), test.tolist()) for train, test in
    ...  Resubstitution().split(["a", "b", "a"])]
    [([0, 1, 2], [0, 1, 2])]
    """

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return all rows, as training and as test set."""
        rows = np.arange(len(y))
        return [Split(rows, len(y), rows)]

    def describe(self) -> str:
        """Describe the method in words."""
        return "resubstitution"


@dataclass(frozen=True)
class RandomSubsampling:
    """The mean of several holdouts, each with a random test set of its own.

    Parameters
    ----------
    n_repeats : int
        Number of holdouts.
    test_size : float or int, default=1/3
        Share of the samples to test on, or their number; of the groups, where there
        are groups.
    """

    n_repeats: int
    test_size: float = 1 / 3

    def __post_init__(self) -> None:
        check_count("n_repeats", self.n_repeats, 1)
        _check_test_size(self.test_size)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every holdout."""
        rng, units = folds_generator(random_state), Units(len(y), groups)
        n_test = _count_test_units(self.test_size, units)
        return [
            units.split(np.sort(rng.permutation(units.n)[:n_test]))
            for _ in range(self.n_repeats)
        ]

    def describe(self) -> str:
        """Describe the method in words."""
        return f"random subsampling, {self.n_repeats} holdouts"


@dataclass(frozen=True)
class Holdout:
    """Train on a random part of the samples, test on the rest, once.

    Parameters
    ----------
    test_size : float or int, default=1/3
        Share of the samples to test on, or their number; of the groups, where there
        are groups.
    """

    test_size: float = 1 / 3

    def __post_init__(self) -> None:
        _check_test_size(self.test_size)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows."""
        return RandomSubsampling(1, self.test_size).split(y, random_state, groups)

    def describe(self) -> str:
        """Describe the method in words."""
        return "holdout"


@dataclass(frozen=True)
class CrossValidation:
    """Test each sample once by a classifier built without its fold.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds.
    stratified : bool, default=True
        Whether each fold has the class shares of the data, as nearly as it can: class
        counts of two folds differ by one at most, and so do their sizes. Of numbers
        that are not whole, each fold has small and large ones alike. Where there are
        groups, each goes as a whole to the fold that lacks its classes most.
    n_repeats : int, default=1
        Number of repeats, each with other folds.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy
       estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> from veridical.evaluation import CrossValidation
    >>> splits = CrossValidation(2).split(["a", "b", "a", "b"], random_state=0)
    >>> sorted(len(test) for _, test in splits)
    [2, 2]
    """

    n_folds: int = 10
    stratified: bool = True
    n_repeats: int = 1

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)
        check_count("n_repeats", self.n_repeats, 1)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every fold of every repeat."""
        units = Units(len(y), groups)
        if self.n_folds > units.n:
            raise InputError(
                f"{self.n_folds} folds cannot be made of {units.n} {units.noun}; use "
                f"at most {units.n}, which is leave-one-out: "
                f"{advise('LeaveOut(1)', 'loo')}."
            )
        rng = folds_generator(random_state)
        codes = _strata(np.asarray(y), self.n_folds)
        splits: list[Split] = []
        for _ in range(self.n_repeats):
            if not self.stratified:
                fold = np.empty(units.n, dtype=np.intp)
                fold[rng.permutation(units.n)] = np.arange(units.n) % self.n_folds
            elif units.groups is None:
                fold = stratified_folds(codes, self.n_folds, rng)
            else:
                fold = grouped_folds(codes, units.groups, self.n_folds, rng)
            splits.extend(units.leave_out(fold, self.n_folds))
        return splits

    def describe(self) -> str:
        """Describe the method in words."""
        kind = "stratified " if self.stratified else ""
        times = f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        return f"{kind}{self.n_folds}-fold cross-validation{times}"


@dataclass(frozen=True)
class PurgedKFold:
    """Test consecutive samples; leave their neighbours in time out of training.

    Samples must be in the order of time. Each fold is a stretch of them. Neighbours in
    time are alike, and outcomes that take a while overlap: training samples near the
    test samples would know part of the answer, so they are left out.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds.
    gap : int, default=0
        Number of samples on either side of a fold that training leaves out (the purge).
    embargo : int, default=0
        Number of further samples after a fold that training leaves out: what follows
        the test samples may still depend on them.

    Notes
    -----
    Unlike scikit-learn's ``TimeSeriesSplit``, every sample is tested once, and
    training samples lie before and after the fold. So use it to compare methods and to
    measure accuracy where the process does not drift; if the model will always be used
    on later samples, ``TimeSeriesSplit(gap=)`` is what happens in use.

    Where there are groups, training samples of groups that are tested are left out too.

    References
    ----------
    .. [1] M. López de Prado, "Advances in Financial Machine Learning", Wiley 2018,
       chapter 7.

    Examples
    --------
    >>> from veridical.evaluation import PurgedKFold
    >>> for train, test in PurgedKFold(3, gap=1, embargo=1).split([0, 1] * 4):
    ...     print(train.tolist(), test.tolist())
    [5, 6, 7] [0, 1, 2]
    [0, 1] [3, 4, 5]
    [0, 1, 2, 3, 4] [6, 7]
    """

    n_folds: int = 10
    gap: int = 0
    embargo: int = 0

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)
        check_count("gap", self.gap, 0)
        check_count("embargo", self.embargo, 0)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every fold; nothing is random."""
        n = len(y)
        if self.n_folds > n:
            raise InputError(
                f"{self.n_folds} folds cannot be made of {n} samples; use at most {n}."
            )
        rows = np.arange(n)
        splits = []
        for test in np.array_split(rows, self.n_folds):
            first = int(test[0]) - self.gap
            last = int(test[-1]) + self.gap + self.embargo
            train = rows[(rows < first) | (rows > last)]
            if not train.size:
                raise InputError(
                    f"gap={self.gap} and embargo={self.embargo} leave no training "
                    f"sample for the fold of rows {test[0]} to {test[-1]} of {n}; use "
                    "a smaller gap, or other folds."
                )
            split = read_split((train, test), n)
            splits.append(split if groups is None else _purge(split, groups))
        return splits

    def describe(self) -> str:
        """Describe the method in words."""
        said = f"purged {self.n_folds}-fold cross-validation in the order of samples"
        if self.gap:
            said += f", gap {self.gap}"
        return f"{said}, embargo {self.embargo}" if self.embargo else said


@dataclass(frozen=True)
class LeaveOut:
    """Leave k samples out at a time: all samples, in ⌈n/k⌉ random sets.

    Parameters
    ----------
    k : int, default=1
        Number of samples to leave out; 1 is leave-one-out. The last set may be
        smaller. Where there are groups, k of them are left out.
    """

    k: int = 1

    def __post_init__(self) -> None:
        check_count("k", self.k, 1)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every set left out."""
        units = Units(len(y), groups)
        n = units.n
        if self.k >= n:
            raise InputError(
                f"Leaving {self.k} of {n} {units.noun} out leaves no training set; "
                f"leave out fewer than {n}."
            )
        fold = np.arange(n) // self.k
        if self.k > 1:  # single samples need no shuffling
            fold = fold[folds_generator(random_state).permutation(n)]
        return units.leave_out(fold, math.ceil(n / self.k))

    def describe(self) -> str:
        """Describe the method in words."""
        return "leave-one-out" if self.k == 1 else f"leave-{self.k}-out"


@dataclass(frozen=True)
class CompleteCV:
    """Every way to choose the test samples: cross-validation without randomness.

    Parameters
    ----------
    n_test : int
        Number of test samples of a split; of test groups, where there are groups.
    max_splits : int, default=100_000
        Raise if there are more ways than that; their number grows fast.
    """

    n_test: int
    max_splits: int = 100_000

    def __post_init__(self) -> None:
        check_count("n_test", self.n_test, 1)
        check_count("max_splits", self.max_splits, 1)

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every choice, in order."""
        units = Units(len(y), groups)
        n = units.n
        if self.n_test >= n:
            raise InputError(
                f"Testing on {self.n_test} of {n} {units.noun} leaves no training set; "
                f"test on fewer than {n}."
            )
        n_splits = math.comb(n, self.n_test)
        if n_splits > self.max_splits:
            n_few = min(1000, self.max_splits)
            cure = advise(
                f"RandomSubsampling({n_few}, test_size={self.n_test}), or raise "
                "max_splits",
                f"subsampling{n_few}",
            )
            raise InputError(
                f"There are {n_splits:,} ways to choose {self.n_test} of {n} "
                f"{units.noun}, more than the {self.max_splits:,} allowed; use {cure}."
            )
        return [
            units.split(np.array(chosen, dtype=np.intp))
            for chosen in itertools.combinations(range(n), self.n_test)
        ]

    def describe(self) -> str:
        """Describe the method in words."""
        return f"complete cross-validation, {self.n_test} samples left out"


@dataclass(frozen=True)
class Validation:
    """Train on the leading samples, and test on the others, which come from elsewhere.

    Parameters
    ----------
    n_train : int
        Number of leading samples.
    trained_on, tested_on : str
        What the two sets are, in words.
    name : str
        Name of the test set.

    Examples
    --------
    >>> (split,) = Validation(2).split(["a", "b", "a"])
    >>> split.train.tolist(), split.test.tolist()
    ([0, 1], [2])
    """

    n_train: int
    trained_on: str = "the leading samples"
    tested_on: str = "the other samples"
    name: str = "the other samples"

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the leading rows as training set, and the others as test set."""
        rows = np.arange(len(y))
        return [Split(rows[self.n_train :], len(y), rows[: self.n_train])]

    def describe(self) -> str:
        """Describe the method in words."""
        return f"validation on {self.tested_on} after training on {self.trained_on}"


@dataclass(frozen=True, eq=False)
class Splitter:
    """A scikit-learn splitter, or a list of splits, as a method.

    Parameters
    ----------
    cv : splitter or iterable of (train, test)
        The splitter. One that shuffles and has no seed is given one.
    """

    cv: Any

    def split(
        self, y: Any, random_state: Any = None, groups: IntArray | None = None
    ) -> list[Split]:
        """Return the training and test rows of every split."""
        splitter = self.cv
        if getattr(splitter, "random_state", 0) is None:
            seed = root_seed(random_state) % 2**32  # what scikit-learn can take
            splitter = copy.copy(splitter)
            # Folds that are not shuffled do not accept a seed.
            if getattr(splitter, "shuffle", True):
                splitter.random_state = seed
        given = () if groups is None or not takes_groups(splitter) else (groups,)
        try:
            pairs = list(splitter.split(np.zeros((len(y), 1)), y, *given))
        except (ValueError, TypeError) as error:
            cure = " Pass groups." * ("groups" in str(error) and groups is None)
            raise InputError(f"cv cannot split these data: {error}{cure}") from error
        if not pairs or any(
            not np.size(train) or not np.size(test) for train, test in pairs
        ):
            raise InputError(
                "cv yields no split, or one with an empty training or test set; "
                "use another splitter."
            )
        splits = [read_split(pair, len(y)) for pair in pairs]
        if groups is None:
            return splits
        if isinstance(splitter, TimeSeriesSplit):
            return [_purge(split, groups) for split in splits]
        for i, split in enumerate(splits):
            refuse_divided_groups(split, groups, f"split {i + 1} of cv")
        return splits

    def describe(self) -> str:
        """Describe the method in words."""
        text = " ".join(repr(self.cv).split())
        return "the given splits" if "object at 0x" in text or "[" in text else text


def takes_groups(splitter: Any) -> bool:
    """Return whether a splitter uses groups, rather than warn that it does not."""
    request = getattr(splitter, "get_metadata_routing", None)
    if request is None:
        return "groups" in inspect.signature(splitter.split).parameters
    return "groups" in str(request())


def _purge(split: Split, groups: IntArray) -> Split:
    """Leave out the training samples whose groups are tested."""
    tested = np.isin(groups[split.train], groups[split.test])
    train = split.train[~tested]
    if not train.size:
        raise InputError(
            "All groups of a training set are in its test set too, so that nothing is "
            "left to learn from; use larger or fewer test sets."
        )
    return Split(split.test, split.n_rows, train) if tested.any() else split


def refuse_divided_groups(split: Split, groups: IntArray, name: str) -> None:
    """Raise if a split, called by a name, has a group in training and in test set."""
    shared = np.intersect1d(groups[split.train], groups[split.test])
    if shared.size:
        raise InputError(
            f"{shared.size} of {int(groups.max()) + 1} groups have samples both in the "
            f"training and in the test set of {name}, but groups must stay whole; use "
            "a number of folds, such as cv=10, or a splitter that takes groups, such "
            "as GroupKFold."
        )


# -- splits of a table ---------------------------------------------------------------


def split_table(
    method: Method, table: Any, random_state: Any, labels: Any = None
) -> list[Split]:
    """Split the samples of a table by a method; groups are kept whole.

    Parameters
    ----------
    method : Method
        How to split.
    table : Table
        The samples. ``table.target.strata`` is what stratified folds are balanced by.
    random_state : int, numpy generator or None
        Decides the splits.
    labels : array of shape (n_samples,), optional
        Other classes than those of the table, by a permutation say.

    Raises
    ------
    InputError
        If the splits are not possible, or all samples of a class are in one group.
    """
    target = table.target
    if labels is None:
        labels = target.strata
    if table.groups is None:
        return method.split(labels, random_state)
    if target.kind == "classes" and not isinstance(method, Splitter | Validation):
        _refuse_class_in_one_group(np.asarray(labels), table)
    if "groups" not in inspect.signature(method.split).parameters:
        raise InputError(
            f"{type(method).__name__} does not keep groups whole: its split has no "
            "parameter groups; use a number of folds, such as cv=10."
        )
    groups = table.groups
    if isinstance(method, Splitter) and table.group_names is not None:
        # scikit-learn's splitters number groups in the order of their labels.
        groups = number_labels(table.group_names)[0][groups]
    return method.split(labels, random_state, groups)


def _refuse_class_in_one_group(labels: NDArray[Any], table: Any) -> None:
    codes, classes = pd.factorize(labels)
    pairs = np.unique(np.column_stack([codes, table.groups]), axis=0)
    alone = np.flatnonzero(np.bincount(pairs[:, 0]) == 1)
    if alone.size and len(classes) > 1:
        group = int(pairs[pairs[:, 0] == alone[0], 1][0])
        raise InputError(
            f"All samples of class {quote(classes[alone[0]])} are in one group, "
            f"{quote(table.show_group(group))}: where that group is tested, the class "
            "cannot be learned. Merge the class with another, drop it, or use groups "
            "that are divided more finely."
        )


def describe_groups(table: Any) -> str:
    """Write how many groups are kept whole, after a comma; empty without groups."""
    if table.groups is None:
        return ""
    return f", {table.n_units} groups kept whole"


# -- reading and drawing -------------------------------------------------------------


def grouped_folds(
    codes: IntArray, groups: IntArray, n_folds: int, rng: np.random.Generator
) -> IntArray:
    """Assign whole groups to folds, stratified by class as nearly as possible.

    Groups are taken in random order, the larger first and, of equal ones, those of the
    most frequent class. Each goes to the fold where it adds least to Σ (share of a
    class in a fold)², that is, to the fold that lacks its classes most; of equal folds
    to the one with the fewest samples, then with the fewest groups.

    Parameters
    ----------
    codes : int array of shape (n,)
        Classes from 0 on.
    groups : int array of shape (n,)
        Groups from 0 on, at least as many as folds.
    n_folds : int
        Number of folds.
    rng : Generator
        Random number generator.

    Returns
    -------
    int array of shape (n_groups,)
        The fold of each group.
    """
    n_groups, n_classes = int(groups.max()) + 1, int(codes.max()) + 1
    cells = np.bincount(groups * n_classes + codes, minlength=n_groups * n_classes)
    counts = cells.reshape(n_groups, n_classes).astype(np.float64)
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    place = np.empty(n_classes, dtype=np.intp)
    place[np.argsort(-totals, kind="stable")] = np.arange(n_classes)
    shuffled = rng.permutation(n_groups)
    keys = (place[counts[shuffled].argmax(axis=1)], -sizes[shuffled])
    shares = counts / np.maximum(totals, 1)
    held = np.zeros((n_folds, n_classes))  # shares of the classes in each fold
    samples, members = np.zeros(n_folds), np.zeros(n_folds)
    fold = np.empty(n_groups, dtype=np.intp)
    for done, g in enumerate(shuffled[np.lexsort(keys)]):
        own = shares[g]
        added = 2 * held @ own
        near = added <= added.min() + 1e-9
        if n_groups - done <= np.count_nonzero(members == 0):
            near = members == 0  # so that no fold stays empty
        left = np.flatnonzero(near)
        best = left[np.lexsort((members[left], samples[left]))[0]]
        fold[g] = best
        held[best] += own
        samples[best] += sizes[g]
        members[best] += 1
    return fold


def stratified_folds(
    codes: NDArray[Any], n_folds: int, rng: np.random.Generator
) -> IntArray:
    """Assign samples to folds, stratified by class.

    Samples are shuffled within their class, classes are concatenated, the largest
    first, and folds are assigned in turn; so fold sizes, and class counts per fold,
    differ by one at most.
    """
    shuffled = rng.permutation(len(codes))
    sizes = np.bincount(codes)
    place = np.empty(sizes.size, dtype=np.intp)
    place[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    ordered = shuffled[np.argsort(place[codes[shuffled]], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[ordered] = np.arange(len(codes)) % n_folds
    return fold


def _strata(y: NDArray[Any], n_folds: int) -> IntArray:
    """Return the class of each sample; of numbers, a bin of n_folds samples."""
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        rank = np.empty(len(y), dtype=np.intp)
        rank[np.argsort(y, kind="stable")] = np.arange(len(y))
        return rank // n_folds
    return pd.factorize(y)[0].astype(np.intp)


def stratified_split(
    codes: IntArray, test_share: float, rng: np.random.Generator
) -> Split:
    """Draw test samples from every class, at random.

    Parameters
    ----------
    codes : int array of shape (n,)
        Classes from 0 on.
    test_share : float
        Share of each class to test on, rounded; one sample at least stays in training.
    rng : Generator
        Random number generator.
    """
    test = np.zeros(codes.size, dtype=bool)
    for k in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == k)
        n_test = min(int(test_share * members.size + 0.5), members.size - 1)
        if n_test > 0:
            test[rng.permutation(members)[:n_test]] = True
    return Split(np.flatnonzero(test), codes.size)


def read_split(given: Any, n: int) -> Split:
    """Read a pair (train, test); training rows are stored only if necessary."""
    if isinstance(given, Split):
        return given
    train, test = (read_rows(rows, n, "A split", hint=_SPLITTER_HINT) for rows in given)
    plain = Split(test, n)
    is_rest = plain.n_train == len(train) and np.array_equal(plain.train, train)
    return plain if is_rest else Split(test, n, train)


def read_rows(given: Any, n: int, name: str, *, hint: str = "") -> IntArray:
    """Read rows of a table: indices, repeats and all, or a boolean mask.

    Parameters
    ----------
    given : array-like
        As the user gave them; an index below 0 counts from the end.
    n : int
        Number of rows of the table.
    name : str
        Their name in messages, such as "Training set 3".
    hint : str, optional
        Added to the message for values that are not rows.

    Returns
    -------
    int array
        From 0 to ``n - 1``.

    Examples
    --------
    >>> read_rows([True, False, True], 3, "A split").tolist()
    [0, 2]
    """
    try:
        rows = np.asarray(given)
    except ValueError:  # arrays of different lengths
        rows = np.empty(0)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise InputError(
                f"{name} is a mask of shape {rows.shape}, but X has {n} rows; "
                "give a mask with one value per row, or row indices."
            )
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise InputError(
            f"{name} is not a list of row indices, but {_describe_kind(rows)}; give a "
            "non-empty one-dimensional array of whole numbers, or a boolean mask with "
            f"one value per row.{hint}"
        )
    outside = rows[(rows < -n) | (rows >= n)]
    if outside.size:
        raise InputError(
            f"{name} names row {int(outside[0])}, but X has {n} rows, 0 to {n - 1}."
        )
    return np.where(rows < 0, rows + n, rows).astype(np.intp)


def _describe_kind(rows: NDArray[Any]) -> str:
    if rows.ndim != 1:
        return f"an array of {rows.ndim} dimensions"
    if not rows.size:
        return "empty"
    return f"values of type {rows.dtype} such as {quote(rows[0])}"


def _check_test_size(size: Any) -> None:
    if isinstance(size, Real) and not isinstance(size, bool):
        number = float(size)
        if number >= 1 if isinstance(size, Integral) else 0 < number < 1:
            return
    raise InputError(
        f"test_size={size!r} must be a share between 0 and 1, or a number of samples."
    )


def _count_test_units(size: float, units: Units) -> int:
    n = units.n
    number = int(size) if isinstance(size, Integral) else max(1, round(size * n))
    if number >= n:
        raise InputError(
            f"test_size={size!r} of {n} {units.noun} leaves no training set; test on "
            "fewer."
        )
    return number
