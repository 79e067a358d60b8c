"""Grow a C4.5 tree on flat arrays.

Every numeric feature is sorted once, at the root. Nodes waiting to be split lie on a
stack, and so do their samples: the node on top owns the end of the arrays, and its
children's samples take the place of its own. A sample whose tested value is missing
goes down every branch with a part of its weight, so children can hold more samples
than their parent; otherwise no memory is needed beyond that of the root.

The test of a node has the best gain ratio among the tests of at least average
information gain [1]_. Sums of ``x log2 x`` take the place of entropies: those of a node
with weight n are n times its entropy in bits. Counting is where the time goes: every
sample of a node once for every feature. Where all weights are 1 the counts are whole
numbers, and two features with few categories are counted together, by the combination
of their categories; sums over the other feature are cheap.

Training table

| symbol  | meaning                                                        | shape    |
|---------|----------------------------------------------------------------|----------|
| numbers | the numeric features, one per row; NaN is missing              | (q, n)   |
| codes   | the categorical features, one per row; −1 is missing           | (p−q, n) |
| slot    | row of `numbers` or `codes` that belongs to a feature          | (p,)     |
| members | two categorical features to be counted together                | (g, 2)   |
| pairs   | the combination of their codes                                 | (g, n)   |
| order   | samples by rising value of a numeric feature, missing ones last| (q, n)   |
| known   | number of samples whose value is known                         | (q,)     |
| xlogx   | ``x log2 x`` for whole x                                       | (N + 1,) |

Nodes

| symbol  | meaning                                                     | shape      |
|---------|-------------------------------------------------------------|------------|
| value   | weight per class of each node                               | (nodes, K) |
| share   | weight of a node among its siblings, where the value tested | (nodes,)   |
|         | is known                                                    |            |
| rows    | samples of all waiting nodes, end to end                    | (≥ n,)     |
| part    | their weights                                               | (≥ n,)     |
| ordered | the same samples by rising value of each numeric feature;   | (q, ≥ n)   |
|         | −1 after the last whose value is known                      |            |
| w       | weight of each sample at the current node, 1 for the others | (n,)       |
| branch  | branch that each sample takes, −1 for all branches          | (n,)       |

CountArrays

| symbol | meaning                                                     | shape   |
|--------|-------------------------------------------------------------|---------|
| tally  | samples by code and class; the first code is "missing"      | (4, ·)  |
| counts | weight of each category by class                            | (V, K)  |
| bag    | weight of each category                                     | (V,)    |
| seen   | the categories that occur at the node                       | (V,)    |

References
----------
.. [1] J. R. Quinlan, "C4.5: Programs for machine learning", Morgan Kaufmann, 1993.
.. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of
   Artificial Intelligence Research 4, 1996.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.entropies import xlogx_table

# -- training table ------------------------------------------------------------------

Int32Array = NDArray[np.int32]

#: Bits of gain, or weight of samples; differences below it are rounding.
NEGLIGIBLE = 1e-6
#: Categories per sample. A feature with more has a large gain by chance, and is left
#: out of the average gain.
MANY_VALUED = 0.3
#: Cells of the joint table of two features; with more they are counted separately.
_LARGEST_PAIR = 1024
#: Samples of a node per cell of that table; with fewer they are counted separately.
SAMPLES_PER_CELL = 4
#: Entries of the table of x log2 x; for larger x the logarithm is computed.
_MOST_LOGARITHMS = 1 << 20

_cached_xlogx_table = lru_cache(maxsize=1)(xlogx_table)  # nobody writes to it


class GrowthProblem(NamedTuple):
    """The training table; see the notation on top of the module."""

    numbers: FloatArray
    codes: Int32Array
    n_values: (
        IntArray  # number of categories of a categorical feature, 0 for a numeric one
    )
    slot: IntArray
    members: IntArray
    pairs: Int32Array
    order: Int32Array
    known: IntArray
    resolution: FloatArray  # numbers that differ by less are equal
    in_average: NDArray[np.bool_]  # which features count in the average gain
    y: Int32Array
    n_classes: int
    widest: int  # the largest number of branches of a test
    min_weight: float
    xlogx: FloatArray


def make_problem(
    columns: FloatArray,
    n_values: IntArray,
    y: Int32Array,
    n_classes: int,
    total_weight: float,
    min_weight: float,
) -> GrowthProblem:
    """Sort the numeric features and prepare all that the search needs.

    `columns` holds one feature per row, categories as codes; NaN is missing.
    """
    slot, codes, members, pairs = _read_categories(columns, n_values, n_classes)
    numbers, order, known, resolution = _sort_numbers(columns, n_values == 0)
    few = (n_values == 0) | (n_values < MANY_VALUED * total_weight - NEGLIGIBLE)
    size = int(min(np.ceil(total_weight) + 1, _MOST_LOGARITHMS))
    return GrowthProblem(
        numbers,
        codes,
        n_values,
        slot,
        members,
        pairs,
        order,
        known,
        resolution,
        few if few.any() else np.ones_like(few),
        y,
        n_classes,
        max(2, int(n_values.max(initial=2))),
        min_weight,
        _cached_xlogx_table(size - 1),
    )


def _sort_numbers(
    columns: FloatArray, numeric: NDArray[np.bool_]
) -> tuple[FloatArray, Int32Array, IntArray, FloatArray]:
    """Take the numeric features, and find their orders, known values and gaps."""
    numbers = columns if numeric.all() else columns[numeric]
    resolution = np.zeros(len(columns))
    order = np.empty(numbers.shape, dtype=np.int32)
    known = np.empty(len(numbers), dtype=np.intp)
    if len(numbers):
        order[:] = np.argsort(numbers, axis=1)  # equal values may stand in any order
        known[:] = np.count_nonzero(~np.isnan(numbers), axis=1)
    for j, c, m in zip(np.flatnonzero(numeric), order, known, strict=True):
        if m:  # a feature with a small range has a small resolution
            lowest, highest = columns[j, c[0]], columns[j, c[m - 1]]
            resolution[j] = 1e-5 * min(1.0, highest - lowest)
    return numbers, order, known, resolution


def _read_categories(
    columns: FloatArray, n_values: IntArray, n_classes: int
) -> tuple[IntArray, Int32Array, IntArray, Int32Array]:
    """Find the slots of all features, and codes and pairs of categorical ones."""
    n = columns.shape[1]
    categorical = n_values > 0
    if not categorical.any():
        none = np.empty((0, n), dtype=np.int32)
        return np.arange(n_values.size), none, np.empty((0, 2), dtype=np.intp), none
    before = np.cumsum(categorical)
    slot = np.where(categorical, before, np.arange(1, n_values.size + 1) - before) - 1
    values = columns[categorical]
    codes = np.where(values >= 0, values, -1.0).astype(np.int32)
    members = _choose_pairs(n_values, n_classes, n)
    one, other = codes[slot[members[:, 0]]], codes[slot[members[:, 1]]]
    width = (n_values[members[:, 1:]] + 1).astype(np.int32)
    return slot, codes, members, (one + np.int32(1)) * width + other


def _pair_cells(n_one: Any, n_other: Any, n_classes: int) -> Any:
    """Return the cells of the table of two features and the class, missing included."""
    return (n_one + 1) * (n_other + 1) * n_classes


def _choose_pairs(n_values: IntArray, n_classes: int, n: int) -> IntArray:
    """List pairs of categorical features whose table is small beside the samples."""
    largest = min(_LARGEST_PAIR, n // SAMPLES_PER_CELL)
    sizes = n_values.tolist()
    members, one = [], -1
    for j in np.flatnonzero(n_values).tolist():
        if one >= 0 and _pair_cells(sizes[one], sizes[j], n_classes) <= largest:
            members.append((one, j))
            one = -1
        else:
            one = j
    return np.array(members, dtype=np.intp).reshape(-1, 2)


@njit(cache=True, nogil=True)
def xlogx(x: float, table: FloatArray) -> float:
    """Look ``x log2 x`` up, or compute it; 0 where x is 0 or nearly so."""
    if x < NEGLIGIBLE:
        return 0.0
    whole = int(x)
    if whole == x and whole < table.size:
        return table[whole]
    return x * np.log2(x)


@njit(cache=True, nogil=True)
def sum_of(values: FloatArray) -> float:
    """Sum numbers in their order; numpy's sum takes a second to compile."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def error_of(value: FloatArray) -> float:
    """Compute the weight outside the largest class."""
    largest = value[0]
    for k in range(1, value.size):
        largest = max(largest, value[k])
    return sum_of(value) - largest


@njit(cache=True, nogil=True)
def number_rows(n: int) -> Int32Array:
    """Return the numbers of all samples."""
    rows = np.empty(n, dtype=np.int32)
    for i in range(n):
        rows[i] = i
    return rows


@njit(cache=True, nogil=True)
def is_one(weight: FloatArray) -> bool:
    """Return whether every weight is 1."""
    result = True
    for t in range(weight.size):
        result &= weight[t] == 1.0
    return result


@njit(cache=True, nogil=True)
def ratio_of(gain: float, split: float, total: float) -> float:
    """Return gain over split information; `split` is `total` times the latter."""
    return gain * total / split if split > NEGLIGIBLE else 0.0


# -- tests of categorical features ---------------------------------------------------


class CountArrays(NamedTuple):
    """Arrays to count in; all but `seen` are zero between two counts."""

    tally: Int32Array
    one: Int32Array
    other: Int32Array
    counts: FloatArray
    bag: FloatArray
    seen: IntArray


def make_counts(problem: GrowthProblem) -> CountArrays:
    """Allocate for the widest categorical feature, two branches, and all pairs."""
    n_classes, widest = problem.n_classes, problem.widest
    cells = (widest + 1) * n_classes
    if len(problem.members):
        one, other = problem.n_values[problem.members.T]
        cells = max(cells, int(_pair_cells(one, other, n_classes).max()))
    return CountArrays(
        np.zeros((4, cells), dtype=np.int32),
        np.zeros((widest + 1) * n_classes, dtype=np.int32),
        np.zeros((widest + 1) * n_classes, dtype=np.int32),
        np.zeros((widest, n_classes)),
        np.zeros(widest),
        np.empty(widest, dtype=np.intp),
    )


@njit(cache=True, nogil=True)
def count_categories(
    x: Int32Array, y: Int32Array, rows: Int32Array, n_classes: int, tally: Int32Array
) -> None:
    """Count each code by class: those of code v and class k at ``(v + 1) K + k``.

    Neighbours often have the same category and class, and an increment must wait for
    the one before it; four tables are used in turn, so that it need not. Missing values
    have the code −1 and are counted in front, so that no branch is needed.
    """
    K = np.int32(n_classes)
    one, two, three, four = tally[0], tally[1], tally[2], tally[3]
    n_rounds = rows.size // 4
    # Unsigned, because a signed index would be checked for counting from the end.
    for t in range(n_rounds):
        a, b = np.uint32(rows[4 * t]), np.uint32(rows[4 * t + 1])
        c, d = np.uint32(rows[4 * t + 2]), np.uint32(rows[4 * t + 3])
        one[np.uint32((x[a] + 1) * K + y[a])] += 1
        two[np.uint32((x[b] + 1) * K + y[b])] += 1
        three[np.uint32((x[c] + 1) * K + y[c])] += 1
        four[np.uint32((x[d] + 1) * K + y[d])] += 1
    for t in range(4 * n_rounds, rows.size):
        row = rows[t]
        one[(x[row] + 1) * K + y[row]] += 1


@njit(cache=True, nogil=True)
def take_count(tally: Int32Array, place: int) -> int:
    """Return the count of a cell, and set the cell to zero."""
    number = tally[0, place] + tally[1, place] + tally[2, place] + tally[3, place]
    tally[0, place] = tally[1, place] = tally[2, place] = tally[3, place] = 0
    return number


@njit(cache=True, nogil=True)
def _list_categories(
    table: Int32Array, n_values: int, n_classes: int, count: CountArrays
) -> int:
    """Turn a table into weights; list the categories seen, and return their number."""
    n_seen = 0
    for k in range(n_classes):
        table[k] = 0  # missing values
    for v in range(n_values):
        for k in range(n_classes):
            place = (v + 1) * n_classes + k
            count.counts[v, k] = table[place]
            count.bag[v] += table[place]
            table[place] = 0
        if count.bag[v] > 0.0:
            count.seen[n_seen] = v
            n_seen += 1
    return n_seen


@njit(cache=True, nogil=True)
def _sum_weights(
    x: Int32Array, y: Int32Array, rows: Int32Array, w: FloatArray, count: CountArrays
) -> int:
    """Sum the weight of each category, by class and in all; list those seen."""
    n_seen = 0
    for row in rows:
        v, weight = x[row], w[row]
        if v < 0:
            continue
        if count.bag[v] == 0.0:
            count.seen[n_seen] = v
            n_seen += 1
        count.counts[v, y[row]] += weight
        count.bag[v] += weight
    return n_seen


@njit(cache=True, nogil=True)
def _gain_and_ratio(
    problem: GrowthProblem, total: float, n_seen: int, count: CountArrays
) -> tuple[float, float]:
    """Compute gain (−1 where the test is not valid) and gain ratio from weights."""
    table, counts, bag, seen = problem.xlogx, count.counts, count.bag, count.seen
    known = 0.0
    for s in range(n_seen):
        known += bag[seen[s]]
    n_large = 0
    for s in range(n_seen):
        n_large += bag[seen[s]] >= problem.min_weight - NEGLIGIBLE
    before, after = xlogx(known, table), 0.0
    split = xlogx(total, table) - xlogx(total - known, table)
    for k in range(problem.n_classes):
        of_class = 0.0
        for s in range(n_seen):
            of_class += counts[seen[s], k]
            after -= xlogx(counts[seen[s], k], table)
            counts[seen[s], k] = 0.0
        before -= xlogx(of_class, table)
    for s in range(n_seen):
        size = xlogx(bag[seen[s]], table)
        after += size
        split -= size
        bag[seen[s]] = 0.0
    if n_large < 2:
        return -1.0, 0.0
    # Splits without gain are valid, and useless.
    gain = (
        (before - after) / total
        if abs(before - after) * known >= NEGLIGIBLE * total
        else 0
    )
    return gain, ratio_of(gain, split, total)


@njit(cache=True, nogil=True)
def categorical_split(
    problem: GrowthProblem,
    feature: int,
    rows: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    count: CountArrays,
) -> tuple[float, float]:
    """Evaluate the test that has a branch per category of a categorical feature.

    `is_unit` says that all weights at the node are 1. Where there are more categories
    than samples, the time depends on the samples only. Returns gain (−1 where the test
    is not valid) and gain ratio.
    """
    x, y = problem.codes[problem.slot[feature]], problem.y
    n_values, n_classes = problem.n_values[feature], problem.n_classes
    if is_unit and n_values <= rows.size:
        count_categories(x, y, rows, n_classes, count.tally)
        for place in range((n_values + 1) * n_classes):
            count.one[place] = take_count(count.tally, place)
        n_seen = _list_categories(count.one, n_values, n_classes, count)
    else:
        n_seen = _sum_weights(x, y, rows, w, count)
    return _gain_and_ratio(problem, total, n_seen, count)


@njit(cache=True, nogil=True)
def categorical_pairs(
    problem: GrowthProblem,
    rows: Int32Array,
    total: float,
    count: CountArrays,
    gain: FloatArray,
    ratio: FloatArray,
) -> None:
    """Evaluate the features that can be counted in pairs; all weights must be 1.

    Sets their `gain` and `ratio`, and leaves those of the others alone.
    """
    n_classes = problem.n_classes
    for g in range(len(problem.members)):
        i, j = problem.members[g]
        n_one, n_other = problem.n_values[i], problem.n_values[j]
        cells = (n_one + 1) * (n_other + 1) * n_classes
        if SAMPLES_PER_CELL * cells > rows.size:
            continue
        count_categories(problem.pairs[g], problem.y, rows, n_classes, count.tally)
        for a in range(n_one + 1):
            for b in range(n_other + 1):
                for k in range(n_classes):
                    place = (a * (n_other + 1) + b) * n_classes + k
                    number = take_count(count.tally, place)
                    count.one[a * n_classes + k] += number
                    count.other[b * n_classes + k] += number
        n_seen = _list_categories(count.one, n_one, n_classes, count)
        gain[i], ratio[i] = _gain_and_ratio(problem, total, n_seen, count)
        n_seen = _list_categories(count.other, n_other, n_classes, count)
        gain[j], ratio[j] = _gain_and_ratio(problem, total, n_seen, count)


# -- tests of numeric features -------------------------------------------------------

#: A test may fall this far short of the average gain (bits) and still be considered.
BELOW_AVERAGE = 1e-3


@njit(cache=True, nogil=True)
def _least_branch(known: float, n_classes: int, min_weight: float) -> float:
    """Return the least weight on either side of a threshold."""
    least = 0.1 * known / n_classes
    if least <= min_weight + NEGLIGIBLE:
        return min_weight
    return min(least, 25.0)


@njit(cache=True, nogil=True)
def _scan_weights(
    problem: GrowthProblem,
    feature: int,
    order: Int32Array,
    w: FloatArray,
    total: float,
    least: float,
    side: FloatArray,
    logs: FloatArray,
) -> tuple[float, int, float, int]:
    """Try every threshold between two samples that follow one another in `order`.

    `side` holds the weight per class on the left (none) and on the right (all), `logs`
    is room for their ``x log2 x``. Returns the best reduction of the latter's sum, the
    number of thresholds tried, the weight left of the best, and its place (−1: none).
    """
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    resolution = problem.resolution[feature]
    known, in_left, in_right = 0.0, 0.0, 0.0
    for k in range(side.shape[1]):
        known += side[1, k]
        logs[0, k], logs[1, k] = 0.0, xlogx(side[1, k], table)
        in_right += logs[1, k]
    before = xlogx(known, table) - in_right
    n_left, best, best_left, n_candidates, at = 0.0, 0.0, 0.0, 0, -1
    for t in range(order.size - 1):
        row = order[t]
        k, weight = y[row], w[row]
        side[0, k] += weight
        side[1, k] -= weight
        n_left += weight
        one, other = xlogx(side[0, k], table), xlogx(side[1, k], table)
        in_left += one - logs[0, k]
        in_right += other - logs[1, k]
        logs[0, k], logs[1, k] = one, other
        if not x[row] + resolution < x[order[t + 1]]:
            continue
        n_right = known - n_left
        if n_left < least - NEGLIGIBLE or n_right < least - NEGLIGIBLE:
            continue
        n_candidates += 1
        after = xlogx(n_left, table) - in_left + xlogx(n_right, table) - in_right
        if before - after > best + NEGLIGIBLE * total:
            best, best_left, at = before - after, n_left, t
    return best, n_candidates, best_left, at


@njit(cache=True, nogil=True)
def _scan_counts(
    problem: GrowthProblem,
    feature: int,
    order: Int32Array,
    total: float,
    least: float,
    tally: IntArray,
) -> tuple[float, int, float, int]:
    """Do as `_scan_weights` with weights of 1: every logarithm is in the table."""
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    resolution, m = problem.resolution[feature], order.size
    in_left, in_right = 0.0, 0.0
    for c in range(tally.shape[1]):
        in_right += table[tally[1, c]]
    before = table[m] - in_right
    best, best_left, n_candidates, at = 0.0, 0.0, 0, -1
    for t in range(m - 1):
        row = np.uint32(order[t])
        k = np.uint32(y[row])
        left, right = tally[0, k], tally[1, k]
        in_left += table[left + 1] - table[left]
        in_right += table[right - 1] - table[right]
        tally[0, k], tally[1, k] = left + 1, right - 1
        if not x[row] + resolution < x[np.uint32(order[t + 1])]:
            continue
        n_left = t + 1
        if n_left < least - NEGLIGIBLE or m - n_left < least - NEGLIGIBLE:
            continue
        n_candidates += 1
        after = table[n_left] - in_left + table[m - n_left] - in_right
        if before - after > best + NEGLIGIBLE * total:
            best, best_left, at = before - after, n_left, t
    return best, n_candidates, best_left, at


@njit(cache=True, nogil=True)
def numeric_split(
    problem: GrowthProblem,
    feature: int,
    order: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    side: FloatArray,
    logs: FloatArray,
    tally: IntArray,
) -> tuple[float, float, float]:
    """Find the best threshold of a numeric feature.

    `order` lists the node's samples by rising value up to its end or a −1, whichever
    comes first. `side`, `logs` and `tally` hold two numbers per class; `tally` is zero
    before and after. Returns gain (−1 where no threshold is valid), gain ratio,
    threshold.
    """
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    m, known = 0, 0.0
    is_unit = is_unit and order.size < table.size
    for k in range(problem.n_classes):
        side[0, k] = side[1, k] = 0.0
    while m < order.size and order[m] >= 0:
        row = order[m]
        if is_unit:
            tally[1, y[row]] += 1
        else:
            side[1, y[row]] += w[row]
            known += w[row]
        m += 1
    if is_unit:
        known = m
    least = _least_branch(known, problem.n_classes, problem.min_weight)
    best, n_candidates, best_left, at = 0.0, 0, 0.0, -1
    if known >= 2 * least - NEGLIGIBLE:
        if is_unit:
            best, n_candidates, best_left, at = _scan_counts(
                problem, feature, order[:m], total, least, tally
            )
        else:
            best, n_candidates, best_left, at = _scan_weights(
                problem, feature, order[:m], w, total, least, side, logs
            )
    for k in range(problem.n_classes):
        tally[0, k] = tally[1, k] = 0
    if at < 0:
        return -1.0, 0.0, 0.0
    # The best of many thresholds gains by chance; this corrects for it [2]_.
    gain = (best - np.log2(n_candidates)) / total
    if gain < NEGLIGIBLE:
        return -1.0, 0.0, 0.0
    split = xlogx(total, table) - xlogx(total - known, table)
    split -= xlogx(best_left, table) + xlogx(known - best_left, table)
    middle = x[order[at]] / 2 + x[order[at + 1]] / 2
    return gain, ratio_of(gain, split, total), middle


@njit(cache=True, nogil=True)
def choose_feature(problem: GrowthProblem, gain: FloatArray, ratio: FloatArray) -> int:
    """Take the best ratio among the tests of at least average gain; −1 if none.

    Ties go to the first feature.
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
        if (
            gain[j] >= max(0.0, average - BELOW_AVERAGE)
            and ratio[j] > best + NEGLIGIBLE
        ):
            best, feature = ratio[j], j
    return feature


@njit(cache=True, nogil=True)
def training_value(problem: GrowthProblem, feature: int, middle: float) -> float:
    """Find the largest value in the whole training set up to a middle between two.

    C4.5 prints thresholds that occur in the data.
    """
    slot = problem.slot[feature]
    x, order = problem.numbers[slot], problem.order[slot]
    limit = middle + problem.resolution[feature] / 10  # the middle may be rounded down
    low, high = 0, problem.known[slot]
    while high - low > 1:  # x[order[low]] <= limit always holds
        half = (low + high) // 2
        if x[order[half]] <= limit:
            low = half
        else:
            high = half
    return x[order[low]]


# -- nodes ---------------------------------------------------------------------------


class Nodes(NamedTuple):
    """A tree; the children of a node are neighbours, and come after it.

    A leaf has feature −1 and no children. Branch 0 of a numeric test takes values up to
    the threshold; branch b of a categorical one takes the b-th category.
    """

    feature: IntArray
    threshold: FloatArray
    first: IntArray
    n_children: IntArray
    value: FloatArray
    share: FloatArray


@njit(cache=True, nogil=True)
def empty_nodes(capacity: int, n_classes: int) -> Nodes:
    """Make leaves without samples."""
    nodes = Nodes(
        np.empty(capacity, dtype=np.intp),
        np.empty(capacity),
        np.empty(capacity, dtype=np.intp),
        np.empty(capacity, dtype=np.intp),
        np.empty((capacity, n_classes)),
        np.empty(capacity),
    )
    for i in range(capacity):
        nodes.feature[i], nodes.threshold[i] = -1, np.nan
        nodes.first[i] = nodes.n_children[i] = 0
        nodes.share[i] = 1.0
        for k in range(n_classes):
            nodes.value[i, k] = 0.0
    return nodes


@njit(cache=True, nogil=True)
def copy_node(source: Nodes, i: int, target: Nodes, j: int) -> None:
    """Copy node i of one tree to node j of another."""
    target.feature[j] = source.feature[i]
    target.threshold[j] = source.threshold[i]
    target.first[j] = source.first[i]
    target.n_children[j] = source.n_children[i]
    target.share[j] = source.share[i]
    for k in range(source.value.shape[1]):
        target.value[j, k] = source.value[i, k]


@njit(cache=True, nogil=True)
def copy_nodes(source: Nodes, target: Nodes, n: int) -> None:
    """Copy the first n nodes."""
    for i in range(n):
        copy_node(source, i, target, i)


@njit(cache=True, nogil=True)
def branches_of(
    problem: GrowthProblem,
    feature: int,
    threshold: float,
    rows: Int32Array,
    room: Int32Array,
) -> Int32Array:
    """Return the branch of each sample; −1 where the tested value is missing.

    The codes of a categorical feature are its branches. The branches of a numeric one
    are written to `room`, for the given rows.
    """
    slot = problem.slot[feature]
    if problem.n_values[feature] > 0:
        return problem.codes[slot]
    x = problem.numbers[slot]
    for row in rows:
        room[row] = -1 if np.isnan(x[row]) else 0 if x[row] <= threshold else 1
    return room


@njit(cache=True, nogil=True)
def fill_children(
    problem: GrowthProblem,
    rows: Int32Array,
    part: FloatArray,
    branch: Int32Array,
    share: FloatArray,
    value: FloatArray,
    size: IntArray,
    tally: Int32Array,
) -> None:
    """Fill in the children: share of the known weight, weight per class, samples.

    Where no value is known, all shares are equal. `tally` is for `count_categories`.
    """
    y, n_classes = problem.y, problem.n_classes
    for b in range(share.size):
        share[b] = 0.0
        size[b] = 0
        for k in range(n_classes):
            value[b, k] = 0.0
    if 0 < rows.size >= share.size and is_one(part):
        count_categories(branch, y, rows, n_classes, tally)
        n_missing = 0
        for k in range(n_classes):
            n_missing += take_count(tally, k)
            for b in range(share.size):
                number = take_count(tally, (b + 1) * n_classes + k)
                value[b, k] = number
                size[b] += number
        if n_missing == 0:
            for b in range(share.size):
                share[b] = size[b] / rows.size
            return
        for b in range(share.size):
            size[b] = 0
            for k in range(n_classes):
                value[b, k] = 0.0
    known = 0.0
    for t in range(rows.size):
        b = branch[rows[t]]
        if b >= 0:
            share[b] += part[t]
            known += part[t]
    for b in range(share.size):
        share[b] = share[b] / known if known > NEGLIGIBLE else 1 / share.size
    for t in range(rows.size):
        k, b = y[rows[t]], branch[rows[t]]
        if b >= 0:
            value[b, k] += part[t]
            size[b] += 1
            continue
        for c in range(share.size):
            if share[c] > NEGLIGIBLE:
                value[c, k] += part[t] * share[c]
                size[c] += 1


@njit(cache=True, nogil=True)
def divide_samples(
    rows: Int32Array,
    part: FloatArray,
    branch: Int32Array,
    share: FloatArray,
    start: IntArray,
    new_rows: Int32Array,
    new_part: FloatArray,
) -> None:
    """Copy the samples of each branch b to ``start[b]``, in their order; skip b if < 0.

    `start` is moved to where each branch ends.
    """
    for t in range(rows.size):
        row, b = rows[t], branch[rows[t]]
        if b >= 0:
            if start[b] >= 0:
                new_rows[start[b]] = row
                new_part[start[b]] = part[t]
                start[b] += 1
            continue
        for c in range(share.size):
            if share[c] > NEGLIGIBLE and start[c] >= 0:
                new_rows[start[c]] = row
                new_part[start[c]] = part[t] * share[c]
                start[c] += 1


@njit(cache=True, nogil=True)
def enlarge(
    rows: Int32Array, part: FloatArray, size: int
) -> tuple[Int32Array, FloatArray]:
    """Copy samples to the beginning of larger arrays."""
    new_rows, new_part = np.empty(size, dtype=np.int32), np.empty(size)
    for t in range(rows.size):
        new_rows[t], new_part[t] = rows[t], part[t]
    return new_rows, new_part


@njit(cache=True, nogil=True)
def first_nodes(nodes: Nodes, n_nodes: int) -> Nodes:
    """Return a copy of the first nodes."""
    result = empty_nodes(n_nodes, nodes.value.shape[1])
    copy_nodes(nodes, result, n_nodes)
    return result


@njit(cache=True, nogil=True)
def compact(nodes: Nodes) -> Nodes:
    """Leave out nodes that the root no longer reaches; the others level by level."""
    total = nodes.feature.size
    source = np.empty(total, dtype=np.intp)
    source[0] = 0
    first = np.zeros(total, dtype=np.intp)
    n, i = 1, 0
    while i < n:
        node = source[i]
        first[i] = n
        for c in range(nodes.n_children[node]):
            source[n] = nodes.first[node] + c
            n += 1
        i += 1
    result = empty_nodes(n, nodes.value.shape[1])
    for i in range(n):
        node = source[i]
        copy_node(nodes, node, result, i)
        result.first[i] = first[i]
        if nodes.n_children[node] == 0:
            result.threshold[i] = np.nan
            result.first[i] = 0
    return result


@njit(cache=True, nogil=True)
def predict_shares(
    nodes: Nodes, probability: FloatArray, n_values: IntArray, columns: FloatArray
) -> FloatArray:
    """Average the class probabilities of the leaves each sample reaches."""
    n = columns.shape[1]
    result = np.zeros((n, probability.shape[1]))
    for i in range(n):
        waiting = [(0, 1.0)]
        while len(waiting) > 0:
            node, weight = waiting.pop()
            while nodes.n_children[node] > 0:
                feature, first = nodes.feature[node], nodes.first[node]
                value = columns[feature, i]
                if np.isnan(value):
                    for c in range(nodes.n_children[node]):
                        if nodes.share[first + c] > 0:
                            waiting.append((first + c, weight * nodes.share[first + c]))
                    weight = 0.0
                    break
                if n_values[feature] > 0:
                    node = first + int(value)
                else:
                    node = first + (0 if value <= nodes.threshold[node] else 1)
            for k in range(probability.shape[1]):
                result[i, k] += weight * probability[node, k]
        total = 0.0  # 1 up to rounding
        for k in range(probability.shape[1]):
            total += result[i, k]
        for k in range(probability.shape[1]):
            result[i, k] /= total
    return result


# -- growing -------------------------------------------------------------------------

#: Classes; up to this many, one pass per class is faster than one for all.
_FEW_CLASSES = 8


@njit(cache=True, nogil=True)
def _sum_by_class(y: Int32Array, weight: FloatArray, value: FloatArray) -> None:
    """Sum the weights of each class; of few classes, those of weight 1 are counted."""
    if value.size <= _FEW_CLASSES and is_one(weight):
        for k in range(value.size):
            count = 0
            for i in range(y.size):
                count += y[i] == k
            value[k] = count
        return
    for i in range(y.size):
        value[y[i]] += weight[i]


@njit(cache=True, nogil=True)
def _is_final(value: FloatArray, min_weight: float) -> bool:
    """Return whether a node is too small to be split, or of one class."""
    return sum_of(value) < 2 * min_weight - NEGLIGIBLE or error_of(value) < NEGLIGIBLE


@njit(cache=True, nogil=True)
def _divide_sorted(
    rows: Int32Array,
    branch: Int32Array,
    share: FloatArray,
    start: IntArray,
    end: IntArray,
    new_rows: Int32Array,
) -> None:
    """Divide one sorted list in the same way, and mark where the known samples end."""
    for row in rows:
        if row < 0:
            break
        b = branch[row]
        if b >= 0:
            if start[b] >= 0:
                new_rows[start[b]] = row
                start[b] += 1
            continue
        for c in range(share.size):
            if share[c] > NEGLIGIBLE and start[c] >= 0:
                new_rows[start[c]] = row
                start[c] += 1
    for b in range(start.size):
        if 0 <= start[b] < end[b]:
            new_rows[start[b]] = -1


@njit(cache=True, nogil=True)
def _enlarge_orders(old: Int32Array, width: int) -> Int32Array:
    new = np.empty((old.shape[0], width), dtype=np.int32)
    for s in range(old.shape[0]):
        for t in range(old.shape[1]):
            new[s, t] = old[s, t]
    return new


@njit(cache=True, nogil=True)
def _best_test(
    problem: GrowthProblem,
    rows: Int32Array,
    ordered: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    count: CountArrays,
) -> tuple[int, float]:
    """Choose the test of a node; feature −1 where none is valid."""
    p = problem.n_values.size
    gain, ratio, middle = np.empty(p), np.empty(p), np.empty(p)
    for j in range(p):
        gain[j] = np.nan
    side, logs = np.empty((2, problem.n_classes)), np.empty((2, problem.n_classes))
    two = np.zeros((2, problem.n_classes), dtype=np.intp)
    if is_unit:
        categorical_pairs(problem, rows, total, count, gain, ratio)
    for j in range(p):
        if problem.n_values[j] == 0:
            in_order = ordered[problem.slot[j]]
            gain[j], ratio[j], middle[j] = numeric_split(
                problem, j, in_order, w, is_unit, total, side, logs, two
            )
        elif np.isnan(gain[j]):
            gain[j], ratio[j] = categorical_split(
                problem, j, rows, w, is_unit, total, count
            )
    feature = choose_feature(problem, gain, ratio)
    if feature < 0 or problem.n_values[feature] > 0:
        return feature, np.nan
    return feature, training_value(problem, feature, middle[feature])


@njit(cache=True, nogil=True)
def _attach(
    nodes: Nodes, n_nodes: int, node: int, feature: int, threshold: float, n_new: int
) -> Nodes:
    """Put a test at a node, and its children behind all nodes there are."""
    if n_nodes + n_new > nodes.feature.size:
        larger = empty_nodes(2 * (n_nodes + n_new), nodes.value.shape[1])
        copy_nodes(nodes, larger, n_nodes)
        nodes = larger
    nodes.feature[node], nodes.threshold[node] = feature, threshold
    nodes.first[node], nodes.n_children[node] = n_nodes, n_new
    return nodes


@njit(cache=True, nogil=True)
def _place_children(
    value: FloatArray, size: IntArray, min_weight: float, begin: IntArray
) -> int:
    """Set where the samples of each child begin that can be split; −1 for the others.

    Returns the number of all these samples.
    """
    end = 0
    for b in range(value.shape[0]):
        begin[b] = -1
        if not _is_final(value[b], min_weight):
            begin[b] = end
            end += size[b]
    return end


@njit(cache=True, nogil=True)
def _put_children(
    rows: Int32Array,
    part: FloatArray,
    ordered: Int32Array,
    m: int,
    branch: Int32Array,
    share: FloatArray,
    begin: IntArray,
    size: IntArray,
    spare_rows: Int32Array,
    spare_part: FloatArray,
) -> None:
    """Put the children's samples, laid out as `begin` says, in place of the first m."""
    start, end = np.empty(begin.size, np.intp), np.empty(begin.size, np.intp)
    for b in range(begin.size):
        start[b], end[b] = begin[b], begin[b] + size[b]
    divide_samples(rows[:m], part[:m], branch, share, start, spare_rows, spare_part)
    for t in range(rows.size):
        rows[t], part[t] = spare_rows[t], spare_part[t]
    for s in range(ordered.shape[0]):
        for b in range(begin.size):
            start[b] = begin[b]
        column = ordered[s]
        _divide_sorted(column[:m], branch, share, start, end, spare_rows)
        for t in range(column.size):
            column[t] = spare_rows[t]


@njit(cache=True, nogil=True)
def _sorted_known(problem: GrowthProblem) -> Int32Array:
    """Copy the orders of the numeric features, and mark where missing values begin."""
    ordered = problem.order.copy()
    for s in range(ordered.shape[0]):
        if problem.known[s] < ordered.shape[1]:
            ordered[s, problem.known[s]] = -1
    return ordered


def grow(problem: GrowthProblem, weight: FloatArray) -> Nodes:
    """Grow the tree of a training table until no test gains anything."""
    return _grow(problem, weight, make_counts(problem))


@njit(cache=True, nogil=True)
def enlarge_stack(stack: IntArray, height: int, n_new: int) -> IntArray:
    """Return a stack of rows of numbers that has room for this many more."""
    if height + n_new <= len(stack):
        return stack
    larger = np.empty((2 * (height + n_new), stack.shape[1]), dtype=np.intp)
    for i in range(height):
        for j in range(stack.shape[1]):
            larger[i, j] = stack[i, j]
    return larger


@njit(cache=True, nogil=True)
def _grow(problem: GrowthProblem, weight: FloatArray, count: CountArrays) -> Nodes:
    n, widest = weight.size, problem.widest
    rows, part = number_rows(n), weight.copy()
    ordered = _sorted_known(problem)
    spare_rows, spare_part = np.empty(n, dtype=np.int32), np.empty(n)
    w, either = np.empty(n), np.empty(n, dtype=np.int32)
    for i in range(n):
        w[i] = 1.0
    size, begin = np.empty(widest, dtype=np.intp), np.empty(widest, dtype=np.intp)
    nodes = empty_nodes(64, problem.n_classes)
    _sum_by_class(problem.y, weight, nodes.value[0])
    waiting = np.empty((64, 3), dtype=np.intp)  # node, first of its samples, number
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, 0, n
    n_nodes, height = 1, 1
    if _is_final(nodes.value[0], problem.min_weight):
        height = 0
    while height > 0:
        height -= 1
        node, lo, m = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        here, weights = rows[lo : lo + m], part[lo : lo + m]
        is_unit = is_one(weights)
        if not is_unit:
            for t in range(m):
                w[here[t]] = weights[t]
        total = sum_of(nodes.value[node])
        in_order = ordered[:, lo : lo + m]
        feature, threshold = _best_test(
            problem, here, in_order, w, is_unit, total, count
        )
        if not is_unit:
            for row in here:
                w[row] = 1.0
        if feature < 0:
            continue
        n_new = max(2, problem.n_values[feature])
        nodes = _attach(nodes, n_nodes, node, feature, threshold, n_new)
        first, n_nodes = n_nodes, n_nodes + n_new
        share, value = nodes.share[first:n_nodes], nodes.value[first:n_nodes]
        branch = branches_of(problem, feature, threshold, here, either)
        fill_children(
            problem, here, weights, branch, share, value, size[:n_new], count.tally
        )
        room = _place_children(value, size, problem.min_weight, begin)
        waiting = enlarge_stack(waiting, height, n_new)
        for b in range(n_new):
            if begin[b] >= 0:
                waiting[height, 0] = first + b
                waiting[height, 1] = lo + begin[b]
                waiting[height, 2] = size[b]
                height += 1
        end = lo + max(m, room)  # missing values make children outgrow their parent
        if end > rows.size:
            rows, part = enlarge(rows, part, 2 * end)
            ordered = _enlarge_orders(ordered, 2 * end)
        if end - lo > spare_rows.size:
            spare_rows = np.empty(2 * (end - lo), dtype=np.int32)
            spare_part = np.empty(2 * (end - lo))
        if room > 0:
            _put_children(
                rows[lo:end],
                part[lo:end],
                ordered[:, lo:end],
                m,
                branch,
                share,
                begin[:n_new],
                size[:n_new],
                spare_rows,
                spare_part,
            )
    return first_nodes(nodes, n_nodes)
