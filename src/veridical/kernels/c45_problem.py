"""The training table of a C4.5 tree: columns, their orders, tables of logarithms.

| symbol  | meaning                                                        | shape    |
|---------|----------------------------------------------------------------|----------|
| numbers | the numeric columns, one per row; NaN is missing               | (q, n)   |
| codes   | the nominal columns, one per row; −1 is missing                | (p−q, n) |
| slot    | row of `numbers` or `codes` that belongs to a column           | (p,)     |
| members | two nominal columns with few names, to be counted together     | (g, 2)   |
| pairs   | their codes in one                                             | (g, n)   |
| order   | cases by rising value of a numeric column, missing ones last   | (q, n)   |
| known   | number of cases whose value is known                           | (q,)     |
| rows    | cases at the node                                              | (m,)     |
| w       | weight of each case at the node                                | (n,)     |
| xlogx   | ``x log2 x`` for whole x                                       | (N + 1,) |
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

Int32Array = NDArray[np.int32]

#: Gains, ratios and weights that differ by less are equal.
EPS = 1e-6
#: A nominal column is many-valued from this share of the number of cases on; it then
#: stays out of the average, which its large gain would spoil for the others.
MANY_VALUED = 0.3
#: Two columns are counted together if their table has at most so many cells, and the
#: node that many cases for each.
_LARGEST_PAIR = 1024
CASES_PER_CELL = 4
#: Largest table of x log2 x: beyond it logarithms are cheaper than memory.
_LARGEST_TABLE = 1 << 20


class Problem(NamedTuple):
    """The training table; see the notation on top of the module."""

    numbers: FloatArray
    codes: Int32Array
    n_values: IntArray  # number of names of a nominal column, 0 for a numeric one
    slot: IntArray
    members: IntArray
    pairs: Int32Array
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
    """Sort the numeric columns and prepare all that the search needs.

    `columns` holds one column per row, names as codes; NaN is missing.
    """
    slot, codes, members, pairs = _read_names(columns, n_values, n_classes)
    numbers, order, known, gap = _sort_numbers(columns, n_values == 0)
    few = (n_values == 0) | (n_values < MANY_VALUED * total_weight - EPS)
    size = int(min(np.ceil(total_weight) + 1, _LARGEST_TABLE))
    return Problem(
        numbers,
        codes,
        n_values,
        slot,
        members,
        pairs,
        order,
        known,
        gap,
        few if few.any() else np.ones_like(few),
        y,
        n_classes,
        min_weight,
        _table_of_xlogx(size),
    )


def _sort_numbers(
    columns: FloatArray, numeric: NDArray[np.bool_]
) -> tuple[FloatArray, Int32Array, IntArray, FloatArray]:
    """Take the numeric columns, and find their orders, known values and gaps."""
    numbers = columns if numeric.all() else columns[numeric]
    gap = np.zeros(len(columns))
    order = np.empty(numbers.shape, dtype=np.int32)
    known = np.empty(len(numbers), dtype=np.intp)
    if len(numbers):
        order[:] = np.argsort(numbers, axis=1)  # equal values may stand in any order
        known[:] = np.count_nonzero(~np.isnan(numbers), axis=1)
    for j, c, m in zip(np.flatnonzero(numeric), order, known, strict=True):
        if m:  # a column of small numbers has a small scale to be judged by
            lowest, highest = columns[j, c[0]], columns[j, c[m - 1]]
            gap[j] = 1e-5 * min(1.0, highest - lowest)
    return numbers, order, known, gap


@njit(cache=True, nogil=True)
def _read_names(
    columns: FloatArray, n_values: IntArray, n_classes: int
) -> tuple[IntArray, Int32Array, IntArray, Int32Array]:
    """Find the `slot` of every column, and the codes of the nominal ones, and pairs."""
    slot = np.empty(n_values.size, dtype=np.intp)
    n_numeric, n_nominal = 0, 0
    for j in range(n_values.size):
        if n_values[j] == 0:
            slot[j] = n_numeric
            n_numeric += 1
        else:
            slot[j] = n_nominal
            n_nominal += 1
    codes = np.empty((n_nominal, columns.shape[1]), dtype=np.int32)
    for j in range(n_values.size):
        if n_values[j] > 0:
            x, c = columns[j], codes[slot[j]]
            for i in range(x.size):
                c[i] = np.int32(x[i]) if x[i] >= 0 else np.int32(-1)
    members = _neighbours(n_values, n_classes, columns.shape[1])
    return slot, codes, members, _pair(codes, n_values, slot, members)


@njit(cache=True, nogil=True)
def pair_cells(n_one: int, n_other: int, n_classes: int) -> int:
    """Size of the table of two columns and the class, missing values included."""
    return (n_one + 1) * (n_other + 1) * n_classes


@njit(cache=True, nogil=True)
def _neighbours(n_values: IntArray, n_classes: int, n: int) -> IntArray:
    """List pairs of nominal columns whose table is small beside the cases."""
    largest = min(_LARGEST_PAIR, n // CASES_PER_CELL)
    members = np.empty((n_values.size // 2, 2), dtype=np.intp)
    size, one = 0, -1
    for j in range(n_values.size):
        if n_values[j] == 0:
            continue
        if one >= 0 and pair_cells(n_values[one], n_values[j], n_classes) <= largest:
            members[size, 0], members[size, 1] = one, j
            size += 1
            one = -1
        else:
            one = j
    return members[:size].copy()


@lru_cache(maxsize=1)
def _table_of_xlogx(size: int) -> FloatArray:
    """``x log2 x`` for the whole numbers below `size`; nobody writes to it."""
    logs = np.arange(size, dtype=np.float64)
    logs[1:] *= np.log2(logs[1:])
    return logs


@njit(cache=True, nogil=True)
def _pair(
    codes: Int32Array, n_values: IntArray, slot: IntArray, members: IntArray
) -> Int32Array:
    """Number the combinations of two names, missing values among them, from −1 on."""
    pairs = np.empty((len(members), codes.shape[1]), dtype=np.int32)
    for g in range(len(members)):
        one, other = codes[slot[members[g, 0]]], codes[slot[members[g, 1]]]
        width, joint = np.int32(n_values[members[g, 1]] + 1), pairs[g]
        for i in range(joint.size):
            joint[i] = (one[i] + np.int32(1)) * width + other[i]
    return pairs


@njit(cache=True, nogil=True)
def xlogx(x: float, table: FloatArray) -> float:
    """Look ``x log2 x`` up, or compute it; 0 where x is none."""
    if x < EPS:
        return 0.0
    whole = int(x)
    if whole == x and whole < table.size:
        return table[whole]
    return x * np.log2(x)


@njit(cache=True, nogil=True)
def is_one(weight: FloatArray) -> bool:
    """Tell whether every weight is 1."""
    result = True
    for t in range(weight.size):
        result &= weight[t] == 1.0
    return result


@njit(cache=True, nogil=True)
def ratio_of(gain: float, split: float, total: float) -> float:
    """Gain over split information; `split` is `total` times the latter."""
    return gain * total / split if split > EPS else 0.0
