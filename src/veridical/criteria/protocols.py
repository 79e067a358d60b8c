"""Interface between criteria and selectors."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.kernels.trainsets import TrainSets

#: Relative error of quick scores, with a wide margin.
QUICK_ERROR = 1e-9


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
class QuickRelevance(Protocol):
    """A relevance that is computed faster where the last digits do not matter."""

    def quick_scores(
        self, data: Table, sets: TrainSets, n_threads: int
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return scores of shape (n_sets, n_features), and a bound on their error.

        Scores are NaN where digits were lost. The error, of shape (n_sets,), is added
        to `QUICK_ERROR` times the score. None where the scores cannot be computed
        quickly.
        """
