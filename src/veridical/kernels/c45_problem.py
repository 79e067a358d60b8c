"""The training table of a C4.5 tree: columns, their orders, tables of logarithms.

| symbol  | meaning                                                        | shape    |
|---------|----------------------------------------------------------------|----------|
| columns | the table, one column per row; NaN is missing, names are codes | (p, n)   |
| order   | cases by rising value of a numeric column, missing ones last   | (q, n)   |
| known   | number of cases whose value is known                           | (q,)     |
| slot    | row of `order` that belongs to a numeric column                | (p,)     |
| rows    | cases at the node                                              | (m,)     |
| w       | weight of each case at the node                                | (n,)     |
| xlogx   | ``x log2 x`` for whole x                                       | (N + 1,) |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray

Int32Array = NDArray[np.int32]

#: Gains, ratios and weights that differ by less are equal.
EPS = 1e-6
#: A nominal column is many-valued from this share of the number of cases on; it then
#: stays out of the average, which its large gain would spoil for the others.
MANY_VALUED = 0.3
#: Largest table of x log2 x: beyond it logarithms are cheaper than memory.
_LARGEST_TABLE = 1 << 20


class Problem(NamedTuple):
    """The training table; see the notation on top of the module."""

    columns: FloatArray
    n_values: IntArray  # number of names of a nominal column, 0 for a numeric one
    slot: IntArray
    order: Int32Array
    known: IntArray
    gap: FloatArray  # neighbouring numbers must differ by more to be told apart
    in_average: NDArray[np.bool_]  # which columns count in the average gain
    y: Int32Array
    n_classes: int
    min_weight: float
    xlogx: FloatArray


def make_problem(
    columns: FloatArray,
    n_values: IntArray,
    y: Int32Array,
    n_classes: int,
    total_weight: float,
    min_weight: float,
) -> Problem:
    """Sort the numeric columns and prepare all that the search needs."""
    numeric = n_values == 0
    numbers = columns[numeric]
    order = np.argsort(numbers, axis=1)  # equal values may stand in any order
    known = np.count_nonzero(~np.isnan(numbers), axis=1)
    gap = np.zeros(len(columns))
    for j, c, m in zip(np.flatnonzero(numeric), order, known, strict=True):
        if m:  # a column of small numbers has a small scale to be judged by
            lowest, highest = columns[j, c[0]], columns[j, c[m - 1]]
            gap[j] = 1e-5 * min(1.0, highest - lowest)
    few = numeric | (n_values < MANY_VALUED * total_weight - EPS)
    size = int(min(np.ceil(total_weight) + 1, _LARGEST_TABLE))
    logs = np.arange(size, dtype=np.float64)
    logs[1:] *= np.log2(logs[1:])
    return Problem(
        columns,
        n_values,
        np.cumsum(numeric) - 1,
        order.astype(np.int32),
        known,
        gap,
        few if few.any() else np.ones_like(few),
        y,
        n_classes,
        min_weight,
        logs,
    )


@njit(cache=True, nogil=True)
def xlogx(x: float, table: FloatArray) -> float:
    """Look ``x log2 x`` up, or compute it; 0 where x is none."""
    if x < EPS:
        return 0.0
    whole = int(x)
    if whole == x and whole < table.size:
        return table[whole]
    return x * np.log2(x)
