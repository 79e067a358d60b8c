"""Which test does C4.5 put at a node? Gain ratio among the tests of average gain.

A node holds weighted cases, because a case whose tested value is missing goes down
every branch with a part of its weight. Sums of ``x log2 x`` take the place of
entropies: those of a node with weight n are n times its entropy in bits.

| symbol  | meaning                                                        | shape    |
|---------|----------------------------------------------------------------|----------|
| columns | the table, one column per row; NaN is missing, names are codes | (p, n)   |
| order   | cases by rising value of a numeric column, missing ones last   | (q, n)   |
| known   | number of cases whose value is known                           | (q,)     |
| slot    | row of `order` that belongs to a numeric column                | (p,)     |
| rows    | cases at the node                                              | (m,)     |
| w       | weight of each case at the node                                | (n,)     |
| xlogx   | ``x log2 x`` for whole x                                       | (N + 1,) |

References
----------
.. [1] J. R. Quinlan, "C4.5: Programs for machine learning", Morgan Kaufmann, 1993.
.. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of
   Artificial Intelligence Research 4, 1996.
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
#: A test may fall this far short of the average gain (bits) and still be considered.
BELOW_AVERAGE = 1e-3
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
    xlogx = np.arange(size, dtype=np.float64)
    xlogx[1:] *= np.log2(xlogx[1:])
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
        xlogx,
    )


@njit(cache=True, nogil=True)
def _xlogx(x: float, table: FloatArray) -> float:
    if x < EPS:
        return 0.0
    whole = int(x)
    if whole == x and whole < table.size:
        return table[whole]
    return x * np.log2(x)


@njit(cache=True, nogil=True)
def _ratio(gain: float, split: float, total: float) -> float:
    """Gain over split information; `split` is `total` times the latter."""
    return gain * total / split if split > EPS else 0.0


@njit(cache=True, nogil=True)
def _least_branch(known: float, n_classes: int, min_weight: float) -> float:
    """Weight that either side of a threshold must have."""
    least = 0.1 * known / n_classes
    if least <= min_weight + EPS:
        return min_weight
    return min(least, 25.0)


@njit(cache=True, nogil=True)
def numeric_split(
    problem: Problem,
    feature: int,
    order: Int32Array,
    w: FloatArray,
    total: float,
    left: FloatArray,
    right: FloatArray,
) -> tuple[float, float, float]:
    """Find the best threshold of a numeric column.

    `order` lists the node's cases by rising value up to its end or a −1, whichever
    comes first. Returns gain (−1 where no threshold will do), gain ratio, threshold.
    """
    x, y, table = problem.columns[feature], problem.y, problem.xlogx
    gap = problem.gap[feature]
    left[:] = 0.0
    right[:] = 0.0
    m, known = 0, 0.0
    while m < order.size and order[m] >= 0:
        right[y[order[m]]] += w[order[m]]
        known += w[order[m]]
        m += 1
    least = _least_branch(known, problem.n_classes, problem.min_weight)
    if known < 2 * least - EPS:
        return -1.0, 0.0, 0.0
    in_left, in_right = 0.0, 0.0
    log_left, log_right = np.zeros(right.size), np.empty(right.size)
    for k in range(right.size):
        log_right[k] = _xlogx(right[k], table)
        in_right += log_right[k]
    before = _xlogx(known, table) - in_right
    n_left, best, best_left = 0.0, 0.0, 0.0
    n_candidates, at = 0, -1
    for t in range(m - 1):
        row = order[t]
        k, weight = y[row], w[row]
        left[k] += weight
        right[k] -= weight
        n_left += weight
        one, other = _xlogx(left[k], table), _xlogx(right[k], table)
        in_left += one - log_left[k]
        in_right += other - log_right[k]
        log_left[k], log_right[k] = one, other
        if not x[row] + gap < x[order[t + 1]]:
            continue
        n_right = known - n_left
        if n_left < least - EPS or n_right < least - EPS:
            continue
        n_candidates += 1
        after = _xlogx(n_left, table) - in_left + _xlogx(n_right, table) - in_right
        if before - after > best + EPS * total:
            best, best_left, at = before - after, n_left, t
    if at < 0:
        return -1.0, 0.0, 0.0
    # Choosing among many thresholds has its price (Quinlan 1996).
    gain = (best - np.log2(n_candidates)) / total
    if gain < EPS:
        return -1.0, 0.0, 0.0
    split = _xlogx(total, table) - _xlogx(total - known, table)
    split -= _xlogx(best_left, table) + _xlogx(known - best_left, table)
    middle = x[order[at]] / 2 + x[order[at + 1]] / 2
    return gain, _ratio(gain, split, total), middle


@njit(cache=True, nogil=True)
def _weigh_names(
    x: FloatArray,
    y: Int32Array,
    rows: Int32Array,
    w: FloatArray,
    counts: FloatArray,
    bag: FloatArray,
    seen: IntArray,
) -> int:
    """Sum the weight of each name by class and altogether; list the names seen."""
    n_seen = 0
    for row in rows:
        if np.isnan(x[row]):
            continue
        v, weight = int(x[row]), w[row]
        if bag[v] == 0.0:
            seen[n_seen] = v
            n_seen += 1
        counts[v, y[row]] += weight
        bag[v] += weight
    return n_seen


@njit(cache=True, nogil=True)
def _count_names(
    x: FloatArray,
    y: Int32Array,
    rows: Int32Array,
    tally: IntArray,
    n_values: int,
    counts: FloatArray,
    bag: FloatArray,
    seen: IntArray,
) -> int:
    """Do the same for cases of weight 1, by counting.

    Neighbours often have the same name and class, and an increment must wait for the
    one before it; two tallies take turns, so that it need not.
    """
    half = rows.size // 2
    for t in range(half):
        one, other = rows[2 * t], rows[2 * t + 1]
        if not np.isnan(x[one]):
            tally[0, int(x[one]), y[one]] += 1
        if not np.isnan(x[other]):
            tally[1, int(x[other]), y[other]] += 1
    if rows.size > 2 * half:
        last = rows[-1]
        if not np.isnan(x[last]):
            tally[0, int(x[last]), y[last]] += 1
    n_seen = 0
    for v in range(n_values):
        for k in range(counts.shape[1]):
            number = tally[0, v, k] + tally[1, v, k]
            tally[0, v, k] = tally[1, v, k] = 0
            counts[v, k] = number
            bag[v] += number
        if bag[v] > 0.0:
            seen[n_seen] = v
            n_seen += 1
    return n_seen


@njit(cache=True, nogil=True)
def nominal_split(
    problem: Problem,
    feature: int,
    rows: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    counts: FloatArray,
    tally: IntArray,
    bag: FloatArray,
    seen: IntArray,
) -> tuple[float, float]:
    """Judge the test that has a branch per name of a nominal column.

    `is_unit` says that all weights at the node are 1. `counts`, `tally` and `bag` come
    as zeros and are left so; only the names seen cost time.
    Returns gain (−1 where the test will not do) and gain ratio.
    """
    x, y, table = problem.columns[feature], problem.y, problem.xlogx
    n_values = problem.n_values[feature]
    if is_unit and n_values <= rows.size:
        n_seen = _count_names(x, y, rows, tally, n_values, counts, bag, seen)
    else:
        n_seen = _weigh_names(x, y, rows, w, counts, bag, seen)
    known = 0.0
    for s in range(n_seen):
        known += bag[seen[s]]
    n_large = 0
    for s in range(n_seen):
        n_large += bag[seen[s]] >= problem.min_weight - EPS
    before, after = _xlogx(known, table), 0.0
    split = _xlogx(total, table) - _xlogx(total - known, table)
    for k in range(problem.n_classes):
        of_class = 0.0
        for s in range(n_seen):
            of_class += counts[seen[s], k]
            after -= _xlogx(counts[seen[s], k], table)
            counts[seen[s], k] = 0.0
        before -= _xlogx(of_class, table)
    for s in range(n_seen):
        size = _xlogx(bag[seen[s]], table)
        after += size
        split -= size
        bag[seen[s]] = 0.0
    if n_large < 2:
        return -1.0, 0.0
    # Splits without gain are valid, and useless.
    gain = (before - after) / total if abs(before - after) * known >= EPS * total else 0
    return gain, _ratio(gain, split, total)


@njit(cache=True, nogil=True)
def choose(problem: Problem, gain: FloatArray, ratio: FloatArray) -> int:
    """Take the best ratio among the tests of at least average gain; −1 if none.

    Ties go to the first column.
    """
    n_valid, average = 0, 0.0
    for j in range(gain.size):
        if gain[j] >= 0 and problem.in_average[j]:
            n_valid += 1
            average += gain[j]
    if n_valid == 0:
        return -1
    average /= n_valid
    best, feature = 0.0, -1
    for j in range(gain.size):
        if gain[j] >= max(0.0, average - BELOW_AVERAGE) and ratio[j] > best + EPS:
            best, feature = ratio[j], j
    return feature


@njit(cache=True, nogil=True)
def training_value(problem: Problem, feature: int, middle: float) -> float:
    """Find the largest value in the whole training set up to a middle between two.

    C4.5 prints thresholds that occur in the data.
    """
    x, order = problem.columns[feature], problem.order[problem.slot[feature]]
    limit = middle + problem.gap[feature] / 10  # the middle may be rounded down
    low, high = 0, problem.known[problem.slot[feature]]
    while high - low > 1:  # x[order[low]] <= limit always holds
        half = (low + high) // 2
        if x[order[half]] <= limit:
            low = half
        else:
            high = half
    return x[order[low]]
