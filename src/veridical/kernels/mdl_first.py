"""Does a column deserve a cut at all? For one training set, and for many at once.

In wide data most columns do not, so this is where the time goes.

| symbol       | meaning                                              | shape  |
|--------------|------------------------------------------------------|--------|
| x, y         | a sorted column without missing values, its classes  | (n,)   |
| class_totals | cases of each class in each training set             | (K, S) |
| left         | class counts of the cases below a cut                | (K,)   |
| xlogx        | ``x log2 x`` for whole x                             | (N + 1,)|
"""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

# Indices are turned into `uintp` where it counts: numba looks whether any other kind is
# negative.

# Entropies (times the number of cases) closer than this are equal: the first cut wins.
TIE = 1e-9


@njit(cache=True, nogil=True)
def _log2_of_3_to(k: int) -> float:
    """``log2(3^k − 2)``, also where 3^k is more than a number can hold."""
    return k * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0 ** (-k))


@njit(cache=True, nogil=True)
def pays(
    n: int,
    classes: int,
    entropy: float,
    n1: int,
    classes1: int,
    entropy1: float,
    classes2: int,
    entropy2: float,
    candidates: int,
) -> bool:
    """Weigh a cut by description length; entropies are times the number of cases."""
    gain = (entropy - entropy1 - entropy2) / n
    delta = _log2_of_3_to(classes) - (
        classes * entropy / n
        - classes1 * entropy1 / n1
        - classes2 * entropy2 / (n - n1)
    )
    return gain > 1e-12 and gain > (np.log2(candidates) + delta) / n


@njit(cache=True, nogil=True)
def worth_cutting(
    x: FloatArray,
    y: IntArray,
    weight: NDArray[np.int32],
    class_total: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    left: NDArray[np.int32],
    best_left: NDArray[np.int32],
) -> bool:
    """Decide whether the first cut of a sorted column is accepted.

    In wide data most columns end here, so this pass keeps nothing but the class counts
    to the left. `x`, `y` and `weight` are sorted by value, missing values cut off.
    """
    n_classes = class_total.size
    n_left, n = 0, 0
    for k in range(n_classes):
        left[k] = 0
        n += class_total[k]
    best, n_best, n_values = np.inf, 0, 0
    last, pure = np.nan, -1
    for t in range(x.size):
        w = weight[t]
        if w == 0:
            continue
        v, k = x[t], y[t]
        if v != last:
            n_values += 1
            alone = t + 1 == x.size or x[t + 1] != v
            if n_left > 0 and not (alone and pure == k):
                entropy = xlogx[uintp(n_left)] + xlogx[uintp(n - n_left)]
                for c in range(n_classes):
                    entropy -= xlogx[uintp(left[c])]
                    entropy -= xlogx[uintp(class_total[c] - left[c])]
                if entropy < best - TIE:
                    best, n_best = entropy, n_left
                    for c in range(n_classes):
                        best_left[c] = left[c]
            last, pure = v, k
        elif pure != k:
            pure = -1
        left[uintp(k)] += w
        n_left += w
    return _first_pays(best_left, n_best, class_total, n_values, xlogx, count_cuts)


@njit(cache=True, nogil=True)
def _first_pays(
    left: NDArray[np.int32],
    n_left: int,
    class_total: NDArray[np.int32],
    n_values: int,
    xlogx: FloatArray,
    count_cuts: bool,
) -> bool:
    """Weigh the first cut of a column, given the class counts to its left."""
    if n_left == 0:
        return False
    n = 0
    present, present1, present2 = 0, 0, 0
    whole, first, second = 0.0, 0.0, 0.0
    for k in range(class_total.size):
        a, b = left[k], class_total[k] - left[k]
        n += a + b
        present += a + b > 0
        present1 += a > 0
        present2 += b > 0
        whole -= xlogx[a + b]
        first -= xlogx[a]
        second -= xlogx[b]
    whole += xlogx[n]
    first += xlogx[n_left]
    second += xlogx[n - n_left]
    candidates = n_values - 1 if count_cuts else n - 1
    return pays(
        n, present, whole, n_left, present1, first, present2, second, candidates
    )


@njit(cache=True, nogil=True)
def all_worth_cutting(
    x: FloatArray,
    y: IntArray,
    rows: IntArray,
    counts: NDArray[np.int32],
    class_totals: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    left: NDArray[np.int32],
    best_left: NDArray[np.int32],
    worth: NDArray[np.bool_],
) -> None:
    """Decide the same for many training sets in one pass over the column.

    `counts` has shape (n, S), the work arrays `left` and `best_left` (K + 3, S): class
    counts, their sum, and (in `left`) the number of values met and the place of the
    last. What is a boundary point in some rows of a column is one in all rows, or
    leaves the same cases on either side as one that is; and a point that is none
    cannot be better than the boundary points beside it.
    """
    n_classes, n_sets = class_totals.shape
    entropy, best = np.empty(n_sets), np.empty(n_sets)
    n_left, n_values, seen = left[n_classes], left[n_classes + 1], left[n_classes + 2]
    total = np.zeros(n_sets, dtype=np.int32)
    for s in range(n_sets):
        best[s] = np.inf
        for k in range(n_classes + 3):
            left[k, s] = 0
            best_left[k, s] = 0
        for k in range(n_classes):
            total[s] += class_totals[k, s]
    last, pure, value = np.nan, -1, 0
    for t in range(x.size):
        v, k = x[t], y[t]
        if v != last:
            alone = t + 1 == x.size or x[t + 1] != v
            if t > 0 and not (alone and pure == k):
                for s in range(n_sets):
                    entropy[s] = (
                        xlogx[uintp(n_left[s])] + xlogx[uintp(total[s] - n_left[s])]
                    )
                for c in range(n_classes):
                    for s in range(n_sets):
                        a, whole = left[c, s], class_totals[c, s]
                        entropy[s] -= xlogx[uintp(a)]
                        entropy[s] -= xlogx[uintp(whole - a)]
                for s in range(n_sets):
                    if entropy[s] < best[s] - TIE and 0 < n_left[s] < total[s]:
                        best[s] = entropy[s]
                        for c in range(n_classes + 1):
                            best_left[c, s] = left[c, s]
            last, pure = v, k
            value += 1
        elif pure != k:
            pure = -1
        mine, weight = left[uintp(k)], counts[uintp(rows[t])]
        for s in range(n_sets):
            w = weight[s]
            mine[s] += w
            n_left[s] += w
            new = w > 0 and seen[s] != value
            n_values[s] += new
            seen[s] = value if new else seen[s]
    for s in range(n_sets):
        worth[s] = _first_pays(
            best_left[:n_classes, s],
            best_left[n_classes, s],
            class_totals[:, s],
            n_values[s],
            xlogx,
            count_cuts,
        )
