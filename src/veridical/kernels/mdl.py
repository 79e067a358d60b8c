"""Fayyad and Irani's entropy discretisation of many columns for many training sets.

One sort of a column serves every training set: leaving rows out of a sorted list
leaves it sorted.

| symbol  | meaning                                                   | shape      |
|---------|-----------------------------------------------------------|------------|
| columns | a block of columns, one per row                           | (B, n)     |
| order   | rows of each column by rising value, missing values last  | (B, n)     |
| counts  | how often row i occurs in training set s                  | (S, n)     |
| cum     | class counts of the values before the g-th                | (n + 1, K) |
| xlogx   | ``x log2 x`` for whole x                                  | (N + 1,)   |

References
----------
.. [1] U. M. Fayyad & K. B. Irani, "Multi-interval discretization of continuous-valued
   attributes for classification learning", IJCAI 1993.
"""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.mdl_first import TIE, all_worth_cutting, pays, worth_cutting
from veridical.kernels.tables import gain_and_uncertainty, spread_unknown


def xlogx_table(n: int) -> FloatArray:
    """``x log2 x`` for x = 0..n."""
    x = np.arange(n + 1, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x


@njit(cache=True, nogil=True)
def _groups(
    x: FloatArray,
    y: IntArray,
    weight: NDArray[np.int32],
    cum: NDArray[np.int32],
    pure: IntArray,
) -> int:
    """Collect equal values of a sorted column; return how many there are.

    ``pure[g]`` is the class of all cases with the g-th value, or −1 if they differ.
    """
    n_classes = cum.shape[1]
    for k in range(n_classes):
        cum[0, k] = 0
    g = -1
    last = np.nan
    for t in range(x.size):
        if weight[t] == 0:
            continue
        if x[t] != last:
            g += 1
            last, pure[g] = x[t], y[t]
            for k in range(n_classes):
                cum[g + 1, k] = cum[g, k]
        elif pure[g] != y[t]:
            pure[g] = -1
        cum[g + 1, y[t]] += weight[t]
    return g + 1


@njit(cache=True, nogil=True)
def _best_cut(
    lo: int,
    hi: int,
    cum: NDArray[np.int32],
    pure: IntArray,
    xlogx: FloatArray,
) -> tuple[int, float]:
    """Find the cut of ``lo:hi`` with the least class entropy (times the cases).

    Only boundary points can be best: between two values whose cases are all of one
    class no cut need be looked at (Fayyad & Irani, theorem 1).
    """
    n_classes = cum.shape[1]
    best, where = np.inf, -1
    for g in range(lo + 1, hi):
        if pure[g] >= 0 and pure[g] == pure[g - 1]:
            continue
        left, right = 0, 0
        spread = 0.0
        for k in range(n_classes):
            a = cum[g, k] - cum[lo, k]
            b = cum[hi, k] - cum[g, k]
            left += a
            right += b
            spread += xlogx[uintp(a)] + xlogx[uintp(b)]
        entropy = xlogx[uintp(left)] + xlogx[uintp(right)] - spread
        if entropy < best - TIE:
            best, where = entropy, g
    return where, best


@njit(cache=True, nogil=True)
def _side(
    lo: int, hi: int, cum: NDArray[np.int32], xlogx: FloatArray
) -> tuple[int, int, float]:
    """Cases, classes present, and class entropy (times the cases) of ``lo:hi``."""
    cases, present = 0, 0
    entropy = 0.0
    for k in range(cum.shape[1]):
        c = cum[hi, k] - cum[lo, k]
        cases += c
        present += c > 0
        entropy -= xlogx[c]
    return cases, present, entropy + xlogx[cases]


@njit(cache=True, nogil=True)
def _accept(
    lo: int,
    cut: int,
    hi: int,
    cum: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
) -> bool:
    """Decide by description length whether the cut pays for itself."""
    n, classes, entropy = _side(lo, hi, cum, xlogx)
    n1, classes1, entropy1 = _side(lo, cut, cum, xlogx)
    _, classes2, entropy2 = _side(cut, hi, cum, xlogx)
    candidates = hi - lo - 1 if count_cuts else n - 1
    return pays(
        n, classes, entropy, n1, classes1, entropy1, classes2, entropy2, candidates
    )


@njit(cache=True, nogil=True)
def _cuts(
    n_groups: int,
    cum: NDArray[np.int32],
    pure: IntArray,
    xlogx: FloatArray,
    count_cuts: bool,
    stack: IntArray,
    ends: IntArray,
) -> int:
    """Fill `ends` with the first group after each accepted cut, rising."""
    n_cuts = 0
    stack[0, 0], stack[0, 1] = 0, n_groups
    depth = 1
    while depth > 0:
        depth -= 1
        lo, hi = stack[depth, 0], stack[depth, 1]
        if hi - lo < 2:
            continue
        cut, _ = _best_cut(lo, hi, cum, pure, xlogx)
        if cut < 0 or not _accept(lo, cut, hi, cum, xlogx, count_cuts):
            continue
        at = n_cuts
        while at > 0 and ends[at - 1] > cut:
            ends[at] = ends[at - 1]
            at -= 1
        ends[at] = cut
        n_cuts += 1
        stack[depth, 0], stack[depth, 1] = lo, cut
        stack[depth + 1, 0], stack[depth + 1, 1] = cut, hi
        depth += 2
    return n_cuts


@njit(cache=True, nogil=True)
def block_gains(
    columns: FloatArray,
    order: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    counts: NDArray[np.int32],
    by_row: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    gain: FloatArray,
    uncertainty: FloatArray,
) -> None:
    """Information gain and symmetrical uncertainty of discretised columns.

    `by_row` holds the counts once more, with a row of the data in a row.

    A column without an accepted cut has one bin and scores exactly 0.
    """
    n_sets, n_classes = class_totals.shape
    n = columns.shape[1]
    x, label = np.empty(n), np.empty(n, dtype=np.intp)
    weight = np.empty(n, dtype=np.int32)
    left, best = np.empty((2, n_classes + 3, n_sets), dtype=np.int32)
    known = np.empty((n_classes, n_sets), dtype=np.int32)
    unknown = np.empty(n_classes)
    worth = np.empty(n_sets, dtype=np.bool_)
    cum = np.empty((n + 1, n_classes), dtype=np.int32)
    pure, ends = np.empty((2, n + 1), dtype=np.intp)
    stack = np.empty((n + 2, 2), dtype=np.intp)
    for j in range(columns.shape[0]):
        n_known = 0
        for t in range(n):
            row = uintp(order[j, t])
            x[t], label[t] = columns[j, row], y[row]
            n_known += x[t] == x[t]
        for s in range(n_sets):
            for k in range(n_classes):
                known[k, s] = class_totals[s, k]
            for t in range(n_known, n):
                known[label[t], s] -= counts[s, order[j, t]]
        values = x[:n_known]
        if n_sets == 1:
            for t in range(n):
                weight[t] = counts[0, uintp(order[j, t])]
            worth[0] = worth_cutting(
                values,
                label,
                weight,
                known[:, 0],
                xlogx,
                count_cuts,
                left[:n_classes, 0],
                best[:n_classes, 0],
            )
        else:
            rows = order[j]
            all_worth_cutting(
                values, label, rows, by_row, known, xlogx, count_cuts, left, best, worth
            )
        for s in range(n_sets):
            gain[j, s] = 0.0
            uncertainty[j, s] = 0.0
            if not worth[s]:
                continue
            for t in range(n):
                weight[t] = counts[s, uintp(order[j, t])]
            n_groups = _groups(values, label, weight, cum, pure)
            n_cuts = _cuts(n_groups, cum, pure, xlogx, count_cuts, stack, ends)
            table = _table(n_groups, n_cuts, ends, cum)
            for k in range(n_classes):
                unknown[k] = class_totals[s, k] - known[k, s]
            spread_unknown(table, unknown)
            gain[j, s], uncertainty[j, s] = gain_and_uncertainty(table)


@njit(cache=True, nogil=True)
def _table(
    n_groups: int, n_cuts: int, ends: IntArray, cum: NDArray[np.int32]
) -> FloatArray:
    """Cases per interval and class."""
    table = np.empty((n_cuts + 1, cum.shape[1]))
    lo = 0
    for b in range(n_cuts + 1):
        hi = ends[b] if b < n_cuts else n_groups
        for k in range(cum.shape[1]):
            table[b, k] = cum[hi, k] - cum[lo, k]
        lo = hi
    return table


@njit(cache=True, nogil=True)
def column_cuts(
    x: FloatArray,
    order: IntArray,
    y: IntArray,
    n_classes: int,
    counts: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
) -> FloatArray:
    """Cut points of one column for one training set, rising.

    A cut is half-way between the two values it parts; a value equal to it goes left.
    """
    n = 0
    while n < x.size and not np.isnan(x[order[n]]):
        n += 1
    value, label = np.empty(n), np.empty(n, dtype=np.intp)
    weight = np.empty(n, dtype=np.int32)
    for t in range(n):
        value[t], label[t] = x[order[t]], y[order[t]]
        weight[t] = counts[order[t]]
    cum = np.empty((n + 1, n_classes), dtype=np.int32)
    pure, ends = np.empty((2, n + 1), dtype=np.intp)
    stack = np.empty((n + 2, 2), dtype=np.intp)
    n_groups = _groups(value, label, weight, cum, pure)
    n_cuts = _cuts(n_groups, cum, pure, xlogx, count_cuts, stack, ends)
    n_values = 0
    for t in range(n):
        if weight[t] > 0 and (n_values == 0 or value[t] != value[n_values - 1]):
            value[n_values] = value[t]
            n_values += 1
    points = np.empty(n_cuts)
    for c in range(n_cuts):
        low, high = value[ends[c] - 1], value[ends[c]]
        middle = low + (high - low) / 2
        points[c] = middle if middle < high else low
    return points


@njit(cache=True, nogil=True)
def block_nominal_gains(
    columns: FloatArray,
    n_values: IntArray,
    y: IntArray,
    n_classes: int,
    counts: NDArray[np.int32],
    gain: FloatArray,
    uncertainty: FloatArray,
) -> None:
    """The same scores for columns of codes 0..v-1, which need no cutting."""
    unknown = np.empty(n_classes)
    for j in range(columns.shape[0]):
        for s in range(counts.shape[0]):
            table = np.zeros((n_values[j], n_classes))
            for k in range(n_classes):
                unknown[k] = 0.0
            for i in range(columns.shape[1]):
                w = counts[s, i]
                if w == 0:
                    continue
                if np.isnan(columns[j, i]):
                    unknown[y[i]] += w
                else:
                    table[int(columns[j, i]), y[i]] += w
            spread_unknown(table, unknown)
            gain[j, s], uncertainty[j, s] = gain_and_uncertainty(table)
