"""Interface between criteria and selectors."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.kernels.trainsets import TrainSets


class Relevance(Protocol):
    """A score for every feature in every training set, larger is better.

    ``rtol`` and ``atol`` bound the difference of scores that are equal in exact
    arithmetic; see :func:`veridical.kernels.ordering.order_by_score`.
    """

    @property
    def rtol(self) -> float:
        """Relative error of a score."""

    @property
    def atol(self) -> float:
        """Absolute error of a score."""

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return scores of shape (n_sets, n_features); NaN where undefined."""


@runtime_checkable
class PermutedRelevance(Protocol):
    """A relevance that shares what does not depend on the outcome."""

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return scores of all samples for many outcomes, shape (B, n_columns).

        Parameters
        ----------
        data : Table
            The samples.
        orders : int array of shape (B, n_samples)
            In outcome b, sample i has the outcome of sample ``orders[b, i]``.
        columns : int array of shape (n_columns,)
            The features to score.
        n_threads : int
            Number of threads.
        """


@runtime_checkable
class LeadingRelevance(Protocol):
    """A relevance that finds the first features without scoring all of them."""

    def leading_scores(
        self, data: Table, sets: TrainSets, n_features: int, n_threads: int
    ) -> list[tuple[IntArray, FloatArray]] | None:
        """Return the features that could be among the first of each set.

        Parameters
        ----------
        data : Table
            The samples.
        sets : TrainSets
            The training sets.
        n_features : int
            How many features lead.
        n_threads : int
            Number of threads.

        Returns
        -------
        list of (int array, array), or None
            Features, ascending, and their scores, which give them the order of
            `Relevance.scores`. None where scoring all features is as fast.
        """
