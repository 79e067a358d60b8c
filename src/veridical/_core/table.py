"""A table: features as numbers and codes, and a target.

What users pass (arrays, data frames, sparse matrices) becomes one
`Table` when it is read, once. Selectors, estimators and the evaluation work on it;
only estimators of other packages are given rows and columns as the user had them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Categories, Features, encode
from veridical._core.errors import InputError
from veridical._core.hashing import hash_columns
from veridical._core.records import DataSummary
from veridical._core.sklearn_private import take
from veridical._core.targets import (
    TARGET_NAMES,
    Classes,
    Kind,
    Numbers,
    Survival,
    Target,
)

#: The classes of a target without classes.
_NO_CLASSES: NDArray[Any] = np.empty(0, dtype=np.intp)


class Blocks(Protocol):
    """What features are corrected for; `veridical.preparation.blocks` has it."""

    def take(self, rows: Any) -> Blocks:
        """Take some samples."""
        ...

    def take_columns(self, features: Features, columns: IntArray) -> Blocks:
        """Take some features."""
        ...

    def correct(
        self, table: Table, train: IntArray, test: IntArray | None = None
    ) -> Table:
        """Correct samples by what training samples say."""
        ...

    def describe(self) -> dict[str, str]:
        """Say what is done."""
        ...

    def sha256(self) -> str:
        """Hash what features are corrected for, and how."""
        ...


class Table:
    """Samples with their features and target.

    Features are encoded once, when they are first used: estimators of other packages
    do not use them, and may accept values that cannot be encoded.

    Parameters
    ----------
    features : Features or None
        The features as numbers and codes; None encodes `source` when needed.
    target : Classes, Numbers or Survival
        The outcome.
    source : array, data frame, sparse matrix or sequence, optional
        The features as the user had them.
    groups : int array of shape (n_samples,), optional
        Samples that belong together have the same number, from 0 on. Splits keep them
        whole, and they are the units of permutations, bootstraps and intervals.
    subgroups : int array of shape (n_samples,), optional
        Groups within these groups, such as patients within sites; also from 0 on.
    group_names : array of shape (n_groups,), optional
        The groups as they were given.
    weights : float array of shape (n_samples,), optional
        Sample weights: a sample of weight 3 counts as three equal samples.
    blocks : Blocks, optional
        Batch and covariates, for which features are corrected on every training set.
    strata : int array of shape (n_samples,), optional
        Samples within which survival times are compared by score tests of Cox models;
        each stratum has a hazard of its own.
    name : str, default="X"
        Display name.
    """

    def __init__(
        self,
        features: Features | None,
        target: Target,
        *,
        source: Any = None,
        groups: IntArray | None = None,
        subgroups: IntArray | None = None,
        group_names: NDArray[Any] | None = None,
        weights: FloatArray | None = None,
        blocks: Blocks | None = None,
        strata: IntArray | None = None,
        name: str = "X",
    ) -> None:
        if features is not None:
            self.features = features
        self.target = target
        self.source = source
        self.groups = groups
        self.subgroups = subgroups
        self.group_names = group_names
        self.weights = weights
        self.blocks = blocks
        self.strata = strata
        self.name = name

    @classmethod
    def from_arrays(cls, values: Any, categorical: BoolArray, y: IntArray) -> Table:
        """Make a table of numbers, codes and numbered classes, unchecked."""
        n_codes = [
            int(np.nanmax(values[:, j], initial=0)) + 1 if c else None
            for j, c in enumerate(categorical)
        ]
        categories = tuple(None if n is None else np.arange(n) for n in n_codes)
        n_classes = int(np.max(y, initial=0)) + 1
        target = Classes(y, np.arange(n_classes), y)
        return cls(Features(values, categorical, categories), target)

    @cached_property
    def features(self) -> Features:
        """The features as numbers and codes."""
        return encode(self.source, name=self.name)

    def replace(self, **changes: Any) -> Table:
        """Copy the table with some parts changed."""
        kept = {
            "features": self.__dict__.get("features"),
            "target": self.target,
            "source": self.source,
            "groups": self.groups,
            "subgroups": self.subgroups,
            "group_names": self.group_names,
            "weights": self.weights,
            "blocks": self.blocks,
            "strata": self.strata,
            "name": self.name,
        }
        return Table(**{**kept, **changes})

    @property
    def values(self) -> Any:
        """Array or matrix of shape (n_samples, n_features); see `Features`."""
        return self.features.values

    @property
    def categorical(self) -> BoolArray:
        """Which features are categorical."""
        return self.features.categorical

    @property
    def categories(self) -> Categories:
        """The categories of each categorical feature."""
        return self.features.categories

    @cached_property
    def one_sample(self) -> Features | None:
        """The first sample, encoded by its data types alone; None without a source.

        So its categories are those that a data type declares. Where no data type does,
        the categories of a feature have to be collected from all samples.
        """
        if self.source is None:
            return None
        return encode(take(self.source, [0]), name=self.name)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, where the input has any."""
        return self.features.names

    def __len__(self) -> int:
        return len(self.target)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.target)

    @property
    def n_units(self) -> int:
        """Number of groups or, without groups, of samples."""
        return self.n_samples if self.groups is None else len(np.unique(self.groups))

    def show_group(self, group: int) -> Any:
        """Return a group, by its number, as it was given."""
        return group if self.group_names is None else self.group_names[group]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.features.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return self.features.is_sparse

    @property
    def is_lazy(self) -> bool:
        """Whether the values are read by blocks."""
        return self.features.is_lazy

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return self.features.has_missing

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, made up as x0, x1, ... where there are none."""
        return self.features.shown_names

    # -- the target ------------------------------------------------------------------

    @property
    def kind(self) -> Kind:
        """Kind of the target: "classes", "numbers" or "survival"."""
        return self.target.kind

    @property
    def as_classes(self) -> Classes:
        """The target, which must be classes; raise otherwise."""
        if isinstance(self.target, Classes):
            return self.target
        raise self._other_target("classes")

    @property
    def as_numbers(self) -> Numbers:
        """The target, which must be numbers; raise otherwise."""
        if isinstance(self.target, Numbers):
            return self.target
        raise self._other_target("numbers")

    @property
    def as_survival(self) -> Survival:
        """The target, which must be survival; raise otherwise."""
        if isinstance(self.target, Survival):
            return self.target
        raise self._other_target("survival")

    def _other_target(self, wanted: Kind) -> InputError:
        return InputError(
            f"The target of {self.name} is {TARGET_NAMES[self.kind]}, but this needs "
            f"{TARGET_NAMES[wanted]}; use another method, or another target."
        )

    @property
    def y(self) -> IntArray:
        """Class of each sample, numbered in the order of the sorted labels."""
        return self.as_classes.codes

    @property
    def classes(self) -> NDArray[Any]:
        """The different labels, sorted; none where the target is no classes."""
        return self.target.classes if isinstance(self.target, Classes) else _NO_CLASSES

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where the target is not classes."""
        return len(self.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """Target of each sample as an estimator gets it."""
        return self.target.labels

    def permuted(self, order: IntArray) -> Table:
        """Give each sample the outcome of another; a time stays with its event.

        Parameters
        ----------
        order : int array of shape (n_samples,)
            Sample i gets the outcome of sample ``order[i]``.
        """
        return self.replace(target=self.target.take(order))

    # -- parts -----------------------------------------------------------------------

    def take(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Take some samples of some features as a dense array of numbers and codes."""
        return self.features.take(rows, columns)

    def frame(self, rows: Any = None, columns: Any = None) -> Any:
        """Take some samples of some features as the user had them.

        Without a source: an array where all features are numeric, else a data frame
        in which categorical features have a category dtype.
        """
        if self.source is None:
            return self.features.frame(rows, columns)
        part = self.source if rows is None else take(self.source, rows)
        return part if columns is None else take(part, columns, axis=1)

    def permute(self, columns: IntArray) -> Table:
        """Put the features in another order, or take some of them."""
        blocks = None
        if self.blocks is not None:
            blocks = self.blocks.take_columns(self.features, columns)
        features = self.features.permute(columns)
        return self.replace(features=features, source=None, blocks=blocks)

    def take_columns(self, columns: IntArray) -> Table:
        """Take some features, here and in the table that the user passed."""
        part = self.permute(columns)
        return part.replace(source=self.frame(None, columns))

    def rows(self, rows: Any) -> Table:
        """Take some samples, all features; a slice does not copy the values."""
        features = self.__dict__.get("features")
        places = np.arange(self.n_samples)[rows]
        return self.replace(
            features=None if features is None else features.rows(rows),
            target=self.target.take(rows),
            source=None if self.source is None else take(self.source, places),
            groups=_renumber(self.groups, rows),
            subgroups=_renumber(self.subgroups, rows),
            group_names=_names_left(self.group_names, self.groups, rows),
            weights=None if self.weights is None else self.weights[rows],
            blocks=None if self.blocks is None else self.blocks.take(places),
            strata=None if self.strata is None else self.strata[rows],
        )

    def corrected(self, train: IntArray, test: IntArray | None = None) -> Table:
        """Correct training and test samples for batch and covariates, if there are any.

        Parameters
        ----------
        train : int array
            Rows from which the correction is learned.
        test : int array, optional
            Further rows to correct; all others are left as they are.
        """
        if self.blocks is None:
            return self
        return self.blocks.correct(self, train, test)

    # -- hash and summary --------------------------------------------------------------

    def sha256(self) -> str:
        """Hash the table, as `veridical.datasets.table_hash` does.

        For an array of numbers the features are not encoded.
        """
        X = self.source
        plain = isinstance(X, np.ndarray) and X.dtype.kind in "iuf" and X.ndim == 2
        if plain and "features" not in self.__dict__:
            none = np.zeros(X.shape[1], dtype=np.bool_)
            return hash_columns(X, none, (), None, self.labels)
        return hash_columns(
            self.values, self.categorical, self.categories, self.names, self.labels
        )

    def summary(self, name: str | None = None) -> DataSummary:
        """Describe the table for a report, by its name or as "the data"."""
        return DataSummary(
            name=name or "the data",
            n_samples=self.n_samples,
            n_features=self.n_features,
            classes=self.target.counts(),
            feature_names=self.feature_names,
            kind=self.kind,
            outcome=self.target.describe(),
        )


def _renumber(groups: IntArray | None, rows: Any) -> IntArray | None:
    """Take the groups of some rows, numbered from 0 on in the same order."""
    if groups is None:
        return None
    return np.unique(groups[rows], return_inverse=True)[1].astype(np.intp)


def _names_left(
    names: NDArray[Any] | None, groups: IntArray | None, rows: Any
) -> NDArray[Any] | None:
    if names is None or groups is None:
        return None
    return names[np.unique(groups[rows])]
