"""Which test does C4.5 put at a node? Gain ratio among the tests of average gain.

A node holds weighted cases, because a case whose tested value is missing goes down
every branch with a part of its weight. Sums of ``x log2 x`` take the place of
entropies: those of a node with weight n are n times its entropy in bits.

The notation is that of `c45_problem`.

References
----------
.. [1] J. R. Quinlan, "C4.5: Programs for machine learning", Morgan Kaufmann, 1993.
.. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of
   Artificial Intelligence Research 4, 1996.
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.c45_problem import EPS, Int32Array, Problem, ratio_of, xlogx

#: A test may fall this far short of the average gain (bits) and still be considered.
BELOW_AVERAGE = 1e-3


@njit(cache=True, nogil=True)
def _least_branch(known: float, n_classes: int, min_weight: float) -> float:
    """Weight that either side of a threshold must have."""
    least = 0.1 * known / n_classes
    if least <= min_weight + EPS:
        return min_weight
    return min(least, 25.0)


@njit(cache=True, nogil=True)
def _scan_weights(
    problem: Problem,
    feature: int,
    order: Int32Array,
    w: FloatArray,
    total: float,
    least: float,
    side: FloatArray,
    logs: FloatArray,
) -> tuple[float, int, float, int]:
    """Try every threshold between two cases that follow one another in `order`.

    `side` holds the weight per class on the left (none) and on the right (all), `logs`
    is room for their ``x log2 x``. Returns the best reduction of the latter's sum, the
    number of thresholds tried, the weight left of the best, and its place (−1: none).
    """
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    gap = problem.gap[feature]
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
        if not x[row] + gap < x[order[t + 1]]:
            continue
        n_right = known - n_left
        if n_left < least - EPS or n_right < least - EPS:
            continue
        n_candidates += 1
        after = xlogx(n_left, table) - in_left + xlogx(n_right, table) - in_right
        if before - after > best + EPS * total:
            best, best_left, at = before - after, n_left, t
    return best, n_candidates, best_left, at


@njit(cache=True, nogil=True)
def _scan_counts(
    problem: Problem,
    feature: int,
    order: Int32Array,
    total: float,
    least: float,
    tally: IntArray,
) -> tuple[float, int, float, int]:
    """Do the same for cases of weight 1: every logarithm is in the table."""
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    gap, m = problem.gap[feature], order.size
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
        if not x[row] + gap < x[np.uint32(order[t + 1])]:
            continue
        n_left = t + 1
        if n_left < least - EPS or m - n_left < least - EPS:
            continue
        n_candidates += 1
        after = table[n_left] - in_left + table[m - n_left] - in_right
        if before - after > best + EPS * total:
            best, best_left, at = before - after, n_left, t
    return best, n_candidates, best_left, at


@njit(cache=True, nogil=True)
def numeric_split(
    problem: Problem,
    feature: int,
    order: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    side: FloatArray,
    logs: FloatArray,
    tally: IntArray,
) -> tuple[float, float, float]:
    """Find the best threshold of a numeric column.

    `order` lists the node's cases by rising value up to its end or a −1, whichever
    comes first. `side`, `logs` and `tally` are room for two numbers per class; `tally`
    comes as zeros and is left so. Returns gain (−1 where no threshold will do), gain
    ratio, threshold.
    """
    x, y, table = problem.numbers[problem.slot[feature]], problem.y, problem.xlogx
    m, known = 0, 0.0
    is_unit = is_unit and order.size < table.size
    side[:] = 0.0
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
    if known >= 2 * least - EPS:
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
    # Choosing among many thresholds has its price (Quinlan 1996).
    gain = (best - np.log2(n_candidates)) / total
    if gain < EPS:
        return -1.0, 0.0, 0.0
    split = xlogx(total, table) - xlogx(total - known, table)
    split -= xlogx(best_left, table) + xlogx(known - best_left, table)
    middle = x[order[at]] / 2 + x[order[at + 1]] / 2
    return gain, ratio_of(gain, split, total), middle


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
    slot = problem.slot[feature]
    x, order = problem.numbers[slot], problem.order[slot]
    limit = middle + problem.gap[feature] / 10  # the middle may be rounded down
    low, high = 0, problem.known[slot]
    while high - low > 1:  # x[order[low]] <= limit always holds
        half = (low + high) // 2
        if x[order[half]] <= limit:
            low = half
        else:
            high = half
    return x[order[low]]
