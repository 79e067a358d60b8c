"""Splits into a training and a test set, and methods that make them.

Most training sets hold all rows outside the test set. Such a split stores its test rows
only, so that leave-one-out over n samples takes memory in proportion to n.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.advice import advise
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import folds_generator, root_seed
from veridical._core.text import show
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


@runtime_checkable
class Method(Protocol):
    """A way to split data."""

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every split."""
        ...

    def describe(self) -> str:
        """Describe the method in words."""
        ...


def describe_splits(method: Method) -> str:
    """Describe the splits of a method in words, for functions that use them alone.

    A method that is more than its splits, such as the .632 bootstrap, has its own
    ``describe_splits``.
    """
    return str(getattr(method, "describe_splits", method.describe)())


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

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
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
        Share of the samples to test on, or their number.
    """

    n_repeats: int
    test_size: float = 1 / 3

    def __post_init__(self) -> None:
        check_count("n_repeats", self.n_repeats, 1)
        _check_test_size(self.test_size)

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every holdout."""
        rng = folds_generator(random_state)
        n_test = _count_test_samples(self.test_size, len(y))
        return [
            Split(np.sort(rng.permutation(len(y))[:n_test]), len(y))
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
        Share of the samples to test on, or their number.
    """

    test_size: float = 1 / 3

    def __post_init__(self) -> None:
        _check_test_size(self.test_size)

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows."""
        return RandomSubsampling(1, self.test_size).split(y, random_state)

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
        that are not whole, each fold has small and large ones alike.
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

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every fold of every repeat."""
        if self.n_folds > len(y):
            raise InputError(
                f"{self.n_folds} folds cannot be made of {len(y)} samples; use at most "
                f"{len(y)}, which is leave-one-out: {advise('LeaveOut(1)', 'loo')}."
            )
        rng = folds_generator(random_state)
        codes = _strata(np.asarray(y), self.n_folds)
        splits: list[Split] = []
        for _ in range(self.n_repeats):
            if self.stratified:
                fold = stratified_folds(codes, self.n_folds, rng)
            else:
                fold = np.empty(len(codes), dtype=np.intp)
                fold[rng.permutation(len(codes))] = np.arange(len(codes)) % self.n_folds
            splits.extend(leave_out(fold, self.n_folds))
        return splits

    def describe(self) -> str:
        """Describe the method in words."""
        kind = "stratified " if self.stratified else ""
        times = f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        return f"{kind}{self.n_folds}-fold cross-validation{times}"


@dataclass(frozen=True)
class LeaveOut:
    """Leave k samples out at a time: all samples, in ⌈n/k⌉ random groups.

    Parameters
    ----------
    k : int, default=1
        Number of samples to leave out; 1 is leave-one-out. The last group may be
        smaller.
    """

    k: int = 1

    def __post_init__(self) -> None:
        check_count("k", self.k, 1)

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every group."""
        n = len(y)
        if self.k >= n:
            raise InputError(
                f"Leaving {self.k} of {n} samples out leaves no training set; "
                f"leave out fewer than {n}."
            )
        group = np.arange(n) // self.k
        if self.k > 1:  # single samples need no shuffling
            group = group[folds_generator(random_state).permutation(n)]
        return leave_out(group, math.ceil(n / self.k))

    def describe(self) -> str:
        """Describe the method in words."""
        return "leave-one-out" if self.k == 1 else f"leave-{self.k}-out"


@dataclass(frozen=True)
class CompleteCV:
    """Every way to choose the test samples: cross-validation without randomness.

    Parameters
    ----------
    n_test : int
        Number of test samples of a split.
    max_splits : int, default=100_000
        Raise if there are more ways than that; their number grows fast.
    """

    n_test: int
    max_splits: int = 100_000

    def __post_init__(self) -> None:
        check_count("n_test", self.n_test, 1)
        check_count("max_splits", self.max_splits, 1)

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every choice, in order."""
        n = len(y)
        if self.n_test >= n:
            raise InputError(
                f"Testing on {self.n_test} of {n} samples leaves no training set; "
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
                f"There are {n_splits:,} ways to choose {self.n_test} of {n} samples, "
                f"more than the {self.max_splits:,} allowed; use {cure}."
            )
        return [
            Split(np.array(chosen, dtype=np.intp), n)
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

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
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

    def split(self, y: Any, random_state: Any = None) -> list[Split]:
        """Return the training and test rows of every split."""
        splitter = self.cv
        if getattr(splitter, "random_state", 0) is None:
            seed = root_seed(random_state) % 2**32  # what scikit-learn can take
            splitter = copy.copy(splitter)
            # Folds that are not shuffled do not accept a seed.
            if getattr(splitter, "shuffle", True):
                splitter.random_state = seed
        try:
            pairs = list(splitter.split(np.zeros((len(y), 1)), y))
        except (ValueError, TypeError) as error:
            cure = " Pass list(cv.split(X, y, groups))." * ("groups" in str(error))
            raise InputError(f"cv cannot split these data: {error}{cure}") from error
        if not pairs or any(
            not np.size(train) or not np.size(test) for train, test in pairs
        ):
            raise InputError(
                "cv yields no split, or one with an empty training or test set; "
                "use another splitter."
            )
        return [read_split(pair, len(y)) for pair in pairs]

    def describe(self) -> str:
        """Describe the method in words."""
        text = " ".join(repr(self.cv).split())
        return "the given splits" if "object at 0x" in text or "[" in text else text


# -- reading and drawing -------------------------------------------------------------


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
    return f"values of type {rows.dtype} such as {show(rows[0])}"


def _check_test_size(size: Any) -> None:
    if isinstance(size, Real) and not isinstance(size, bool):
        number = float(size)
        if number >= 1 if isinstance(size, Integral) else 0 < number < 1:
            return
    raise InputError(
        f"test_size={size!r} must be a share between 0 and 1, or a number of samples."
    )


def _count_test_samples(size: float, n: int) -> int:
    number = int(size) if isinstance(size, Integral) else max(1, round(size * n))
    if number >= n:
        raise InputError(
            f"test_size={size!r} of {n} samples leaves no training set; test on fewer."
        )
    return number
