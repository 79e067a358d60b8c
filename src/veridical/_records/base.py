"""The smallest records: bad input, arrays, a labelled problem, an interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]


class InputError(ValueError):
    """Bad input, said in words: what is wrong, where, and what to do about it.

    The command line prints the message alone and exits with status 2.
    """


@dataclass(frozen=True, eq=False)
class Labelled:
    """A classification problem as arrays, the form in which criteria see it.

    Parameters
    ----------
    values : array or CSC matrix of shape (n_samples, n_features)
        float64 or float32; NaN is a missing value; nominal columns hold codes.
    nominal : bool array of shape (n_features,)
        Which columns hold codes ``0..v-1`` rather than numbers.
    y : int array of shape (n_samples,)
        Classes ``0..n_classes-1``.
    n_classes : int
        Number of classes in `y`.
    """

    values: Any
    nominal: NDArray[np.bool_]
    y: IntArray
    n_classes: int


@dataclass(frozen=True)
class Ranking:
    """Features from best to worst, as one training set sees them.

    Parameters
    ----------
    order : array of shape (n_features,)
        Every feature index once, best first.
    scores : array of shape (n_features,) or None
        Score per column, larger is better; None where the method has no score.
    n_kept : int
        How many leading features the method itself would keep.
    """

    order: IntArray
    scores: FloatArray | None
    n_kept: int


class Interval(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class DataSummary:
    """What a report needs to know of the data: its name, size, classes and columns."""

    name: str
    n_samples: int
    n_features: int
    classes: Mapping[str, int]
    feature_names: tuple[str, ...]

    def __repr__(self) -> str:
        size = f"{self.n_samples} cases, {self.n_features} features"
        return f"DataSummary({self.name!r}, {size}, {len(self.classes)} classes)"

    @property
    def majority_share(self) -> float:
        """Accuracy of always naming the most frequent class: chance level."""
        return max(self.classes.values()) / sum(self.classes.values())
