"""Targets: classes, numbers, or survival (a time and whether the event was seen).

All kinds have the same few parts: `kind`, ``labels`` (what an estimator of another
package gets as y), `take`, `strata` (by what folds are stratified) and `is_constant`
(whether some samples have nothing to learn from). To permute an outcome is to take all
samples in another order: ``target.take(rng.permutation(len(target)))``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.arrays import BoolArray, FloatArray, IntArray

#: The kinds of target.
Kind = Literal["classes", "numbers", "survival"]

#: What people call a target of each kind.
TARGET_NAMES: dict[Kind, str] = {
    "classes": "classes",
    "numbers": "numbers",
    "survival": "survival times",
}

#: Type of a survival target as scikit-survival takes it.
SURVIVAL_DTYPE = np.dtype([("event", np.bool_), ("time", np.float64)])


def number_labels(labels: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """Sort different labels, and number every label by its place among them.

    Examples
    --------
    >>> codes, found = number_labels(np.array(["b", "a", "b"]))
    >>> codes.tolist(), found.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    codes, factors = pd.factorize(labels)
    found = np.asarray(factors)
    try:
        order = np.argsort(found, kind="stable")
    except TypeError:  # text beside numbers
        order = np.argsort([str(label) for label in found], kind="stable")
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    return place[codes], found[order]


@dataclass(frozen=True, eq=False)
class Classes:
    """A target of classes.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The classes as they were given.
    classes : array of shape (n_classes,)
        The different labels, sorted.
    codes : int array of shape (n_samples,)
        The place of each label among the classes.
    """

    labels: NDArray[Any]
    classes: NDArray[Any]
    codes: IntArray

    kind: ClassVar[Kind] = "classes"

    @classmethod
    def from_labels(cls, labels: NDArray[Any]) -> Classes:
        """Sort the classes, and number every label by its place among them."""
        codes, classes = number_labels(labels)
        return cls(labels, classes, codes)

    @property
    def by_appearance(self) -> IntArray:
        """Codes of the classes in order of first occurrence."""
        return pd.factorize(self.codes)[0].astype(np.intp)

    @property
    def strata(self) -> NDArray[Any]:
        """By what folds are stratified: the classes."""
        return self.labels

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Any) -> Classes:
        """Take some samples; classes keep their numbers."""
        return replace(self, labels=self.labels[rows], codes=self.codes[rows])

    def is_constant(self, rows: Any) -> bool:
        """Return whether all of these samples are of one class."""
        codes = self.codes[rows]
        return bool((codes == codes[0]).all())

    def encode(self, predicted: Any) -> IntArray:
        """Return the codes of predicted labels; −1 for an unknown class."""
        index: Any = pd.Index(self.classes)
        return index.get_indexer(pd.Index(np.asarray(predicted)))

    def counts(self) -> dict[str, int]:
        """Count the samples of each class."""
        counts = np.bincount(self.codes, minlength=len(self.classes))
        return {
            str(label): int(count)
            for label, count in zip(self.classes, counts, strict=True)
            if count
        }

    def describe(self) -> str:
        """Describe the target in words."""
        listed = (f"{label} {count}" for label, count in self.counts().items())
        return ", ".join(listed)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A target of numbers, such as a blood pressure.

    Parameters
    ----------
    values : float array of shape (n_samples,)
        The numbers, none missing.
    """

    values: FloatArray

    kind: ClassVar[Kind] = "numbers"

    @property
    def labels(self) -> FloatArray:
        """The numbers, as an estimator gets them."""
        return self.values

    @property
    def strata(self) -> NDArray[Any]:
        """By what folds are stratified, if they are: the numbers."""
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Any) -> Numbers:
        """Take some samples."""
        return Numbers(self.values[rows])

    def is_constant(self, rows: Any) -> bool:
        """Return whether all of these samples have the same number."""
        return not np.ptp(self.values[rows])

    def counts(self) -> dict[str, int]:
        """Return nothing: there are no classes to count."""
        return {}

    def describe(self) -> str:
        """Describe the target in words: its range, mean and standard deviation."""
        values = self.values
        low, high, mean = (
            f"{one:.4g}" for one in (values.min(), values.max(), values.mean())
        )
        return (
            f"{low} to {high}, mean {mean}, standard deviation {values.std(ddof=1):.4g}"
        )


@dataclass(frozen=True, eq=False)
class Survival:
    """A target of times until an event, some of them censored.

    Parameters
    ----------
    time : float array of shape (n_samples,)
        Time until the event or, where it was not seen, until the last observation; all
        positive.
    event : bool array of shape (n_samples,)
        Whether the event was seen; False is censored.
    """

    time: FloatArray
    event: BoolArray

    kind: ClassVar[Kind] = "survival"

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Events and times as a structured array, as scikit-survival takes it."""
        found = np.empty(len(self.time), dtype=SURVIVAL_DTYPE)
        found["event"], found["time"] = self.event, self.time
        return found

    @property
    def strata(self) -> NDArray[Any]:
        """By what folds are stratified: whether the event was seen."""
        return self.event.astype(np.intp)

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: Any) -> Survival:
        """Take some samples; a time stays with its event."""
        return Survival(self.time[rows], self.event[rows])

    def is_constant(self, rows: Any) -> bool:
        """Return whether no two of these samples are known to differ in their time.

        They differ if the event of one was seen while the other was still observed.
        """
        time, event = self.time[rows], self.event[rows]
        if not event.any():
            return True
        first = time[event].min()
        return not ((time > first) | ((time == first) & ~event)).any()

    def counts(self) -> dict[str, int]:
        """Return nothing: there are no classes to count."""
        return {}

    def describe(self) -> str:
        """Describe the target in words: events, censored samples and the times."""
        n_events = int(self.event.sum())
        low, high = f"{self.time.min():.4g}", f"{self.time.max():.4g}"
        return (
            f"{n_events} events, {len(self) - n_events} censored; times {low} to {high}"
        )


Target = Classes | Numbers | Survival
