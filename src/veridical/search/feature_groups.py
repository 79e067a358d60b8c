"""Groups of features that are ranked as one, and features that are always selected.

A group takes the place of its best feature. In searches that look at several features
together, it is added or dropped as a whole.

| symbol | meaning                                                     | shape       |
|--------|-------------------------------------------------------------|-------------|
| number | group of each feature; groups are numbered by first feature | (p,)        |
| kept   | whether a group is always selected, outside the count       | (n_groups,) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from veridical._core.arrays import BoolArray, IntArray
from veridical._core.records import Ranking


@dataclass(frozen=True)
class FeatureGroups:
    """Groups of features; a feature without others is a group of its own.

    Parameters
    ----------
    number : int array of shape (n_features,)
        Group of each feature, numbered in the order of their first features.
    kept : bool array of shape (n_groups,)
        Which groups are always selected. The others are called free.

    Examples
    --------
    >>> groups = FeatureGroups(np.array([0, 1, 0, 2]), np.array([False, True, False]))
    >>> groups.n_free, groups.kept_features.tolist()
    (2, [1])
    >>> groups.arrange(Ranking(np.array([3, 2, 1, 0]), None, 4)).order.tolist()
    [1, 3, 0, 2]
    """

    number: IntArray
    kept: BoolArray

    @cached_property
    def members(self) -> list[IntArray]:
        """The features of each group."""
        order = np.argsort(self.number, kind="stable")
        ends = np.cumsum(np.bincount(self.number, minlength=self.kept.size))
        return np.split(order, ends[:-1])

    @property
    def n_free(self) -> int:
        """Number of groups that are not always selected."""
        return int(np.count_nonzero(~self.kept))

    @cached_property
    def kept_features(self) -> IntArray:
        """The features that are always selected, group by group."""
        return self.join(np.flatnonzero(self.kept))

    def join(self, groups: IntArray) -> IntArray:
        """Return the features of some groups, one group after the other."""
        none = np.empty(0, dtype=np.intp)
        return np.concatenate([none, *(self.members[g] for g in groups)])

    def in_order(self, features: IntArray) -> IntArray:
        """Return the free groups in the order of their first features in a list."""
        numbers = self.number[features]
        found, first = np.unique(numbers, return_index=True)
        ordered = found[np.argsort(first)]
        return ordered[~self.kept[ordered]]

    def arrange(self, ranking: Ranking) -> Ranking:
        """Put kept features first, and each group at the place of its best feature."""
        free = self.in_order(ranking.order)
        order = np.concatenate([self.kept_features, self.join(free)])
        accepted = self.in_order(ranking.order[: ranking.n_kept]).size
        return replace(ranking, order=order, n_kept=self.count_leading(order, accepted))

    def count_leading(self, order: IntArray, n_groups: int) -> int:
        """Count the leading features: the kept ones and those of `n_groups` more."""
        return self.kept_features.size + self.join(self.in_order(order)[:n_groups]).size

    def ranks(self, order: IntArray) -> IntArray:
        """Rank every feature, from 1; features of a group have the rank of the group.

        Parameters
        ----------
        order : int array of shape (n_features,)
            An order that `arrange` has made.
        """
        place = np.empty(self.kept.size, dtype=np.intp)
        ordered = np.concatenate([np.flatnonzero(self.kept), self.in_order(order)])
        place[ordered] = np.arange(1, self.kept.size + 1)
        return place[self.number]
