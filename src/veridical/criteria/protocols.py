"""Interface between criteria and selectors."""

from __future__ import annotations

from typing import Protocol

from veridical._core.arrays import FloatArray
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
