"""From a table of mixed features to a matrix of numbers, learned on training samples.

| symbol      | meaning                                              | shape    |
|-------------|------------------------------------------------------|----------|
| values      | numbers and category codes, NaN where missing        | (n, p)   |
| categorical | which features hold codes                            | (p,)     |
| low         | smallest training value of a numeric feature         | (p_num,) |
| span        | largest minus smallest, 1 for a constant feature     | (p_num,) |
| centre      | training mean, which replaces a missing number       | (p_num,) |
| codes       | categories of a categorical feature seen in training | (k,)     |

Studies fit millions of small models, so there is no ``ColumnTransformer`` here: a table
becomes one matrix in a few array operations. The columns of a feature are adjacent,
and features keep their order, so that the first features are the leading columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Expansion:
    """The mapping from a table of features to a matrix of numbers.

    Parameters
    ----------
    categorical : bool array of shape (n_features,)
        Which features hold codes.
    low, span, centre : arrays
        See the notation on top of the module.
    codes : tuple of arrays
        Of the categorical features, in order.
    weight : float
        Height of the indicators.
    """

    categorical: BoolArray
    low: FloatArray
    span: FloatArray
    centre: FloatArray
    codes: tuple[FloatArray, ...]
    weight: float

    @classmethod
    def learn(
        cls,
        values: FloatArray,
        categorical: BoolArray,
        *,
        scale: bool = True,
        weight: float = 1.0,
    ) -> Expansion:
        """Learn the scale of numeric and the categories of categorical features."""
        numbers = values[:, ~categorical] if categorical.any() else values
        centre = _feature_means(numbers)
        numbers = np.where(np.isnan(numbers), centre, numbers)
        low, span = np.zeros(centre.size), np.ones(centre.size)
        if scale and centre.size:
            low = numbers.min(axis=0)
            reach = numbers.max(axis=0) - low
            span = np.where(reach > 0, reach, 1.0)
        codes = tuple(np.unique(values[:, j]) for j in np.flatnonzero(categorical))
        return cls(categorical, low, span, centre, codes, weight)

    @cached_property
    def ends(self) -> IntArray:
        """Where the columns of each feature end in the matrix."""
        widths = np.ones(self.categorical.size, dtype=np.intp)
        widths[self.categorical] = [codes.size for codes in self.codes]
        return np.cumsum(widths)

    def subset(self, chosen: IntArray) -> IntArray:
        """Return the columns of the matrix that belong to some features, in order."""
        ends = self.ends
        if ends[-1] == ends.size:
            return chosen
        starts = np.concatenate([[0], ends[:-1]])
        return np.concatenate([np.arange(starts[j], ends[j]) for j in chosen])

    def matrix(self, values: FloatArray) -> FloatArray:
        """Return the matrix of a table of the same features, in C order."""
        some_categorical = bool(self.codes)
        numbers = values[:, ~self.categorical] if some_categorical else values
        numbers = np.ascontiguousarray(numbers)
        missing = np.isnan(numbers)
        if missing.any():
            numbers = np.where(missing, self.centre, numbers)
        numbers = (numbers - self.low) / self.span
        if not some_categorical:
            return numbers
        ends = self.ends
        result = np.empty((len(values), int(ends[-1])))
        result[:, ends[~self.categorical] - 1] = numbers
        for j, codes in zip(np.flatnonzero(self.categorical), self.codes, strict=True):
            block = slice(int(ends[j]) - codes.size, int(ends[j]))
            result[:, block] = _indicators(values[:, [j]], codes) * self.weight
        return result


def _feature_means(numbers: FloatArray) -> FloatArray:
    """Compute the mean of the known values of each feature; 0 where none is known."""
    by_feature = np.ascontiguousarray(numbers.T)  # sums do not depend on the layout
    known = ~np.isnan(by_feature)
    total = np.where(known, by_feature, 0.0).sum(axis=1)
    return total / np.maximum(known.sum(axis=1), 1)


def _indicators(column: FloatArray, codes: FloatArray) -> BoolArray:
    """Return one indicator per code; NaN, for missing values, is the last code."""
    same = column == codes
    if codes.size and np.isnan(codes[-1]):
        same[:, -1] = np.isnan(column[:, 0])
    return same
