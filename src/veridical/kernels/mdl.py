"""Fayyad and Irani's entropy discretisation of many features for many training sets.

One sort of a feature serves every training set: leaving rows out of a sorted list
leaves it sorted. In wide data most features are not cut at all, and most time is spent
to find that out: a first pass keeps nothing but class counts. Where few class counts
are possible, a table says for each by how many bits a cut there shortens the
description, and the pass looks up the place of every training set in it. For one
training set the pass bounds the entropy of the cuts of a run of samples by that of a
few class counts around them.

| symbol       | meaning                                              | shape      |
|--------------|------------------------------------------------------|------------|
| columns      | a block of features, one per row                     | (B, n)     |
| order        | rows of each feature by value, missing values last   | (B, n)     |
| counts       | how often row i occurs in training set s             | (S, n)     |
| cum          | class counts of the values before the g-th           | (n + 1, K) |
| xlogx        | ``x log2 x`` for whole x                             | (N + 1,)   |
| x, y         | a sorted feature without missing values, its classes | (n,)       |
| class_totals | samples of each class in each training set           | (K, S)     |
| left         | class counts of the samples below a cut              | (K,)       |
| saved        | bits that a cut saves, less those that name the cut, | (N,)       |
|              | for all class counts below the cut                   |            |
| start        | place in `saved` of a training set without samples   | (S,)       |
| step         | by how much sample i of set s moves that place       | (n, S)     |

References
----------
.. [1] U. M. Fayyad & K. B. Irani, "Multi-interval discretization of continuous-valued
   attributes for classification learning", IJCAI 1993.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.entropies import gain_and_uncertainty, spread_missing

# Indices are converted to `uintp` in inner loops, because numba checks signed ones for
# negative values.

# Difference of entropies times the number of samples; with a smaller one two cuts are
# equal, and the first is taken.
ENTROPY_TIE = 1e-9

# Entries of a table of bits: more do not stay in the second-level cache.
MAX_ENTRIES = 1 << 17
WIDTH = 16  # training sets whose places the widest registers hold
# Share of the number of samples; bits in single precision are that precise.
BITS_ERROR = 1e-6
# Samples of a run, as a share of the square root of their number: so many hardly change
# the entropy where classes and values are independent. Shorter runs cost more.
RUN_SHARE, MIN_RUN = 1 / 8, 16
# Classes that are counted one after the other; of more, samples are.
FEW_CLASSES = 4


@njit(cache=True, nogil=True)
def _log2_power_of_3(k: int) -> float:
    """Compute ``log2(3^k − 2)``, also where 3^k would overflow."""
    return k * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0 ** (-k))


@njit(cache=True, nogil=True)
def _added_bits(
    n: int,
    classes: int,
    entropy: float,
    n1: int,
    classes1: int,
    entropy1: float,
    classes2: int,
    entropy2: float,
) -> float:
    """Compute how many bits describe the classes of both parts, beyond the whole."""
    return _log2_power_of_3(classes) - (
        classes * entropy / n
        - classes1 * entropy1 / n1
        - classes2 * entropy2 / (n - n1)
    )


@njit(cache=True, nogil=True)
def _is_shorter(
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
    """Return whether a cut shortens the description.

    Entropies are multiplied by the number of samples.
    """
    gain = (entropy - entropy1 - entropy2) / n
    delta = _added_bits(n, classes, entropy, n1, classes1, entropy1, classes2, entropy2)
    return gain > 1e-12 and gain > (np.log2(candidates) + delta) / n


@njit(cache=True, nogil=True)
def _fill_saved(
    class_total: NDArray[np.int32], xlogx: FloatArray, saved: NDArray[np.float32]
) -> None:
    """Fill the bits for training sets with the same class counts.

    The class counts below the cut are the digits of a place in the table.
    """
    n_classes = class_total.size
    left = np.zeros(n_classes, dtype=np.int32)
    n, present = 0, 0
    whole = 0.0
    for k in range(n_classes):
        n += class_total[k]
        present += class_total[k] > 0
        whole -= xlogx[class_total[k]]
    whole += xlogx[n]
    for place in range(saved.size):
        n_left, present1, present2 = 0, 0, 0
        first, second = 0.0, 0.0
        for k in range(n_classes):
            a, b = left[k], class_total[k] - left[k]
            n_left += a
            present1 += a > 0
            present2 += b > 0
            first -= xlogx[a]
            second -= xlogx[b]
        saved[place] = -np.inf
        if 0 < n_left < n:
            first += xlogx[n_left]
            second += xlogx[n - n_left]
            saved[place] = (
                whole
                - first
                - second
                - _added_bits(
                    n, present, whole, n_left, present1, first, present2, second
                )
            )
        k = n_classes - 1
        while k >= 0:
            left[k] += 1
            if left[k] <= class_total[k]:
                break
            left[k] = 0
            k -= 1


class SavedBits(NamedTuple):
    """Bits that cuts save, as looked up for many training sets; see the notation.

    Sets without samples fill up the last `WIDTH`.
    """

    saved: NDArray[np.float32]
    start: NDArray[np.int32]
    step: NDArray[np.int16]


def _no_bits() -> SavedBits:
    return SavedBits(
        np.empty(0, np.float32), np.empty(0, np.int32), np.empty((0, 0), np.int16)
    )


def tabulate_bits(
    y: NDArray[np.int32],
    class_totals: NDArray[np.int32],
    counts: NDArray[np.int32],
    xlogx: FloatArray,
) -> SavedBits:
    """Tabulate what cuts save in these training sets; empty if that is too much."""
    n_sets, n_classes = class_totals.shape
    totals, which = np.unique(class_totals, axis=0, return_inverse=True)
    sizes = np.prod(totals + 1.0, axis=1)
    if n_sets == 1 or sizes.sum() > MAX_ENTRIES:
        return _no_bits()
    ends = np.cumsum(sizes).astype(np.int32)
    saved = np.empty(ends[-1], dtype=np.float32)
    for total, end, size in zip(totals, ends, sizes.astype(int), strict=True):
        _fill_saved(total, xlogx, saved[end - size : end])
    weight = np.ones((n_classes, len(totals)), dtype=np.int32)
    for k in range(n_classes - 1, 0, -1):
        weight[k - 1] = weight[k] * (totals[:, k] + 1)
    which = which.reshape(-1)
    width = -(-n_sets // WIDTH) * WIDTH
    start, step = np.zeros(width, np.int32), np.zeros((len(y), width), np.int16)
    start[:n_sets] = (ends - sizes)[which]
    moves = counts.T * weight[y][:, which]
    if moves.max() > np.iinfo(step.dtype).max:
        return _no_bits()
    step[:, :n_sets] = moves
    return SavedBits(saved, start, step)


@njit(cache=True, nogil=True)
def _count_values(
    x: FloatArray, rows: IntArray, step: NDArray[np.int16], n_values: NDArray[np.int32]
) -> None:
    """Count the values of a sorted feature in every training set."""
    present = np.zeros(n_values.size, dtype=np.int32)
    for s in range(n_values.size):
        n_values[s] = 0
    for t in range(x.size):
        more = step[uintp(rows[t])]
        for s in range(n_values.size):
            present[s] |= more[s]
        if t + 1 == x.size or x[t + 1] != x[t]:
            for s in range(n_values.size):
                n_values[s] += present[s] > 0
                present[s] = 0


@njit(cache=True, nogil=True, fastmath={"nnan"})
def _may_be_cut(
    x: FloatArray,
    y: NDArray[np.int32],
    rows: IntArray,
    bits: SavedBits,
    totals: IntArray,
    n_candidates: IntArray,
    count_cuts: bool,
    worth: NDArray[np.bool_],
) -> None:
    """Mark the training sets in which a sorted, complete feature may be worth cutting.

    The bits saved at the best cut are at most the largest that any boundary point
    saves; see `_are_worth_cutting` for boundary points. `totals` are the sizes of the
    sets, and `n_candidates` the numbers of values, if all rows differ.
    """
    saved, start, step = bits
    n_sets = start.size
    # Work arrays of its own: the compiler must see that `best` and `saved` are apart.
    place, n_values = start.copy(), np.empty(n_sets, dtype=np.int32)
    best = np.full(n_sets, np.float32(-np.inf))
    repeated = False
    begin = 0
    for t in range(x.size):
        more = step[uintp(rows[t])]
        for s in range(n_sets):
            place[s] += more[s]
        if t + 1 == x.size:
            break
        if x[t + 1] == x[t]:
            repeated = True
            continue
        # No boundary point: all samples of this value and of the next are of a class.
        same = y[t + 1] == y[t]
        u = begin
        while same and u < t:
            same = y[u] == y[t]
            u += 1
        u = t + 2
        while same and u < x.size and x[u] == x[t + 1]:
            same = y[u] == y[t]
            u += 1
        begin = t + 1
        if same:
            continue
        for s in range(n_sets):
            here = saved[uintp(place[s])]
            best[s] = here if here > best[s] else best[s]
    if repeated and count_cuts:
        _count_values(x, rows, step, n_values)
    else:
        for s in range(totals.size):
            n_values[s] = n_candidates[s]
    for s in range(totals.size):
        needed = np.log2(max(n_values[s] - 1, 1))
        worth[s] = best[s] > needed - BITS_ERROR * (totals[s] + 100)


@njit(cache=True, nogil=True)
def _may_be_accepted(
    left: NDArray[np.int32],
    class_total: NDArray[np.int32],
    n_candidates: int,
    xlogx: FloatArray,
) -> bool:
    """Return whether a cut shortens the description, or rounding decides."""
    n, n1, present, present1, present2 = 0, 0, 0, 0, 0
    whole, first, second = 0.0, 0.0, 0.0
    for k in range(left.size):
        a, b = left[k], class_total[k] - left[k]
        n += a + b
        n1 += a
        present += a + b > 0
        present1 += a > 0
        present2 += b > 0
        whole -= xlogx[a + b]
        first -= xlogx[a]
        second -= xlogx[b]
    if n1 == 0 or n1 == n:
        return False
    whole += xlogx[n]
    first += xlogx[n1]
    second += xlogx[n - n1]
    added = _added_bits(n, present, whole, n1, present1, first, present2, second)
    needed = np.log2(n_candidates) + added - ENTROPY_TIE * (n + 100)
    return whole - first - second > needed


@njit(cache=True, nogil=True)
def _least_entropy_after(
    left: NDArray[np.int32],
    n_left: int,
    class_total: NDArray[np.int32],
    n: int,
    more: int,
    xlogx: FloatArray,
) -> float:
    """Bound the entropy of cuts after up to `more` samples beyond some class counts.

    As a function of the class counts below the cut it is concave, so that it is least
    at a corner of a region: where all of these samples are of one class, or none is
    added. A class may have too few samples for that; then the bound is −∞.
    """
    spread = 0.0
    for k in range(left.size):
        if left[k] + more > class_total[k]:
            return -np.inf
        spread += xlogx[uintp(left[k])] + xlogx[uintp(class_total[k] - left[k])]
    least = xlogx[uintp(n_left)] + xlogx[uintp(n - n_left)] - spread
    around = xlogx[uintp(n_left + more)] + xlogx[uintp(n - n_left - more)] - spread
    for k in range(left.size):
        a, b = left[k], class_total[k] - left[k]
        change = xlogx[uintp(a)] + xlogx[uintp(b)]
        change -= xlogx[uintp(a + more)] + xlogx[uintp(b - more)]
        least = min(least, around + change)
    return least


@njit(cache=True, nogil=True)
def _add_classes(
    y: NDArray[np.int32], weight: NDArray[np.int32], left: NDArray[np.int32]
) -> None:
    """Count the samples of each class."""
    if left.size > FEW_CLASSES:
        for t in range(y.size):
            left[uintp(y[t])] += weight[t]
        return
    for k in range(left.size):
        own, wanted = np.int32(0), np.int32(k)
        for t in range(y.size):
            own += weight[t] if y[t] == wanted else np.int32(0)
        left[k] += own


@njit(cache=True, nogil=True)
def cannot_be_cut(
    y: NDArray[np.int32],
    weight: NDArray[np.int32],
    class_total: NDArray[np.int32],
    n_candidates: int,
    begin: int,
    end: int,
    xlogx: FloatArray,
    left: NDArray[np.int32],
) -> bool:
    """Decide quickly whether no cut of a sorted feature can be accepted.

    `y` and `weight` are sorted by value, and ``begin:end`` is one value. Looks at cuts
    between other equal values too: where it answers no, no cut may be accepted.
    """
    n, present, whole = 0, 0, 0.0
    for k in range(class_total.size):
        left[k] = 0
        n += class_total[k]
        present += class_total[k] > 0
        whole -= xlogx[class_total[k]]
    if present < 2 or n_candidates < 1:
        return False
    whole += xlogx[n]
    added = _log2_power_of_3(present) - present * whole / n
    floor = whole - np.log2(n_candidates) - added + ENTROPY_TIE * (n + 100)
    # A cut of a feature that is independent of the classes saves a bit for each class
    # but one. With many classes these would be looked at one by one, in vain.
    if floor > whole - (present - 1):
        return False
    run = MIN_RUN * max(1, int(RUN_SHARE * np.sqrt(n) / MIN_RUN))
    n_left = 0
    first = 0
    while first < y.size:
        last = min(first + run, y.size)
        together = first == begin and begin < end
        if together:
            last = end
        elif first < begin:
            last = min(last, begin)
        labels, weights, more = y[first:last], weight[first:last], np.int32(0)
        for w in weights:
            more += w
        first = last
        if together or (
            _least_entropy_after(left, n_left, class_total, n, more, xlogx) >= floor
        ):
            _add_classes(labels, weights, left)
            n_left += int(more)
            if together and _may_be_accepted(left, class_total, n_candidates, xlogx):
                return False
            continue
        spread = 0.0
        for c in range(left.size):
            spread += xlogx[uintp(left[c])] + xlogx[uintp(class_total[c] - left[c])]
        for t in range(labels.size):
            own = uintp(labels[t])
            a, b = left[own], class_total[own] - left[own]
            spread -= xlogx[uintp(a)] + xlogx[uintp(b)]
            a, b = a + weights[t], b - weights[t]
            spread += xlogx[uintp(a)] + xlogx[uintp(b)]
            left[own] = a
            n_left += weights[t]
            entropy = xlogx[uintp(n_left)] + xlogx[uintp(n - n_left)] - spread
            if entropy >= floor:  # its rounding errors are far below ENTROPY_TIE
                continue
            if _may_be_accepted(left, class_total, n_candidates, xlogx):
                return False
    return True


@njit(cache=True, nogil=True)
def _is_worth_cutting(
    x: FloatArray,
    y: NDArray[np.int32],
    weight: NDArray[np.int32],
    class_total: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    left: NDArray[np.int32],
    best_left: NDArray[np.int32],
) -> bool:
    """Decide whether the first cut of a sorted feature is accepted.

    `x`, `y` and `weight` are sorted by value, missing values cut off.
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
            unique = t + 1 == x.size or x[t + 1] != v
            if n_left > 0 and not (unique and pure == k):
                entropy = xlogx[uintp(n_left)] + xlogx[uintp(n - n_left)]
                for c in range(n_classes):
                    entropy -= xlogx[uintp(left[c])]
                    entropy -= xlogx[uintp(class_total[c] - left[c])]
                if entropy < best - ENTROPY_TIE:
                    best, n_best = entropy, n_left
                    for c in range(n_classes):
                        best_left[c] = left[c]
            last, pure = v, k
        elif pure != k:
            pure = -1
        left[uintp(k)] += w
        n_left += w
    return _first_cut_is_accepted(
        best_left, n_best, class_total, n_values, xlogx, count_cuts
    )


@njit(cache=True, nogil=True)
def _first_cut_is_accepted(
    left: NDArray[np.int32],
    n_left: int,
    class_total: NDArray[np.int32],
    n_values: int,
    xlogx: FloatArray,
    count_cuts: bool,
) -> bool:
    """Decide whether the best first cut is accepted, given the class counts below."""
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
    return _is_shorter(
        n, present, whole, n_left, present1, first, present2, second, candidates
    )


@njit(cache=True, nogil=True)
def _are_worth_cutting(
    x: FloatArray,
    y: NDArray[np.int32],
    rows: IntArray,
    counts: NDArray[np.int32],
    class_totals: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    left: NDArray[np.int32],
    best_left: NDArray[np.int32],
    worth: NDArray[np.bool_],
) -> None:
    """Decide the same for many training sets in one pass over the feature.

    `counts` has shape (n, S), the work arrays `left` and `best_left` (K + 3, S): class
    counts, their sum, and (in `left`) the number of values met and the place of the
    last. What is a boundary point in some rows of a feature is one in all rows, or
    leaves the same samples on either side as one that is; and a point that is none
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
            unique = t + 1 == x.size or x[t + 1] != v
            if t > 0 and not (unique and pure == k):
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
                    if entropy[s] < best[s] - ENTROPY_TIE and 0 < n_left[s] < total[s]:
                        best[s] = entropy[s]
                        for c in range(n_classes + 1):
                            best_left[c, s] = left[c, s]
            last, pure = v, k
            value += 1
        elif pure != k:
            pure = -1
        left_of_class, weight = left[uintp(k)], counts[uintp(rows[t])]
        for s in range(n_sets):
            w = weight[s]
            left_of_class[s] += w
            n_left[s] += w
            new = w > 0 and seen[s] != value
            n_values[s] += new
            seen[s] = value if new else seen[s]
    for s in range(n_sets):
        worth[s] = _first_cut_is_accepted(
            best_left[:n_classes, s],
            best_left[n_classes, s],
            class_totals[:, s],
            n_values[s],
            xlogx,
            count_cuts,
        )


@njit(cache=True, nogil=True)
def _group_equal_values(
    x: FloatArray,
    y: NDArray[np.int32],
    weight: NDArray[np.int32],
    cum: NDArray[np.int32],
    pure: IntArray,
) -> int:
    """Group equal values of a sorted feature; return the number of groups.

    ``pure[g]`` is the class of all samples with the g-th value, or −1 if they differ.
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
            last, pure[uintp(g)] = x[t], y[t]
            before, here = cum[uintp(g)], cum[uintp(g + 1)]
            for k in range(n_classes):
                here[k] = before[k]
        elif pure[uintp(g)] != y[t]:
            pure[uintp(g)] = -1
        cum[uintp(g + 1), uintp(y[t])] += weight[t]
    return g + 1


@njit(cache=True, nogil=True)
def _best_cut(
    lo: int,
    hi: int,
    cum: NDArray[np.int32],
    pure: IntArray,
    xlogx: FloatArray,
) -> tuple[int, float]:
    """Find the cut of ``lo:hi`` with the least class entropy (times the samples).

    Only boundary points can be best: between two values whose samples are all of one
    class no cut need be looked at (Fayyad & Irani, theorem 1).
    """
    n_classes = cum.shape[1]
    below, above = cum[uintp(lo)], cum[uintp(hi)]
    best, where = np.inf, -1
    for g in range(lo + 1, hi):
        if pure[uintp(g)] >= 0 and pure[uintp(g)] == pure[uintp(g - 1)]:
            continue
        here = cum[uintp(g)]
        left, right = 0, 0
        spread = 0.0
        for k in range(n_classes):
            a = here[k] - below[k]
            b = above[k] - here[k]
            left += a
            right += b
            spread += xlogx[uintp(a)] + xlogx[uintp(b)]
        entropy = xlogx[uintp(left)] + xlogx[uintp(right)] - spread
        if entropy < best - ENTROPY_TIE:
            best, where = entropy, g
    return where, best


@njit(cache=True, nogil=True)
def _part_entropy(
    lo: int, hi: int, cum: NDArray[np.int32], xlogx: FloatArray
) -> tuple[int, int, float]:
    """Return samples, classes, and class entropy times the samples of ``lo:hi``."""
    samples, present = 0, 0
    entropy = 0.0
    for k in range(cum.shape[1]):
        c = cum[hi, k] - cum[lo, k]
        samples += c
        present += c > 0
        entropy -= xlogx[c]
    return samples, present, entropy + xlogx[samples]


@njit(cache=True, nogil=True)
def _accept(
    lo: int,
    cut: int,
    hi: int,
    cum: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
) -> bool:
    """Decide by description length whether a cut is accepted."""
    n, classes, entropy = _part_entropy(lo, hi, cum, xlogx)
    n1, classes1, entropy1 = _part_entropy(lo, cut, cum, xlogx)
    _, classes2, entropy2 = _part_entropy(cut, hi, cum, xlogx)
    candidates = hi - lo - 1 if count_cuts else n - 1
    return _is_shorter(
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
def write_scores(
    g: float, u: float, j: int, s: int, gain: FloatArray, uncertainty: FloatArray
) -> None:
    """Store the scores of a feature in a set; `uncertainty` may be empty."""
    gain[j, s] = g
    if uncertainty.size > 0:
        uncertainty[j, s] = u


@njit(cache=True, nogil=True)
def block_gains(
    columns: FloatArray,
    order: IntArray,
    n_values: IntArray,
    y: NDArray[np.int32],
    class_totals: NDArray[np.int32],
    counts: NDArray[np.int32],
    by_row: NDArray[np.int32],
    bits: SavedBits,
    xlogx: FloatArray,
    count_cuts: bool,
    gain: FloatArray,
    uncertainty: FloatArray,
) -> None:
    """Compute information gain and symmetrical uncertainty of discretised features.

    `n_values` are the numbers of different values of each feature (0 if it was found
    that it may be cut), `by_row` the counts transposed, and `bits` may be empty.
    `uncertainty` is empty where it is not wanted.

    A feature without an accepted cut has one bin and scores exactly 0.
    """
    n_sets, n_classes = class_totals.shape
    n = columns.shape[1]
    x = np.empty(n)
    label, weight = np.empty(n, dtype=np.int32), np.ones(n, dtype=np.int32)
    left, best = np.empty((2, n_classes + 3, n_sets), dtype=np.int32)
    below = np.empty(n_classes, dtype=np.int32)
    known = np.empty((n_classes, n_sets), dtype=np.int32)
    missing = np.empty(n_classes)
    worth = np.empty(n_sets, dtype=np.bool_)
    sizes, n_candidates = np.zeros(n_sets, np.intp), np.zeros(n_sets, np.intp)
    n_present = 0
    for s in range(n_sets):
        for k in range(n_classes):
            sizes[s] += class_totals[s, k]
        n_present = 0
        for count in counts[s]:
            n_present += count > 0
        n_candidates[s] = n_present if count_cuts else sizes[s]
    may_be_quick = n_sets == 1 and n_present == n
    repeated = sizes[0] != n
    cum = np.empty((n + 1, n_classes), dtype=np.int32)
    pure, ends = np.empty((2, n + 1), dtype=np.intp)
    stack = np.empty((n + 2, 2), dtype=np.intp)
    for j in range(columns.shape[0]):
        rows = order[j]
        for t in range(n):
            label[t] = y[uintp(rows[t])]
        last = columns[j, rows[n - 1]]
        if n_values[j] > 0 and may_be_quick and last == last:
            if repeated:
                for t in range(n):
                    weight[t] = counts[0, uintp(rows[t])]
            candidates = n_values[j] - 1 if count_cuts else sizes[0] - 1
            total = class_totals[0]
            if cannot_be_cut(label, weight, total, candidates, 0, 0, xlogx, below):
                write_scores(0.0, 0.0, j, 0, gain, uncertainty)
                continue
        n_known = 0
        for t in range(n):
            x[t] = columns[j, uintp(rows[t])]
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
            worth[0] = _is_worth_cutting(
                values,
                label,
                weight,
                known[:, 0],
                xlogx,
                count_cuts,
                left[:n_classes, 0],
                best[:n_classes, 0],
            )
        elif bits.saved.size > 0 and n_known == n:
            _may_be_cut(
                values, label, order[j], bits, sizes, n_candidates, count_cuts, worth
            )
        else:
            _are_worth_cutting(
                values, label, rows, by_row, known, xlogx, count_cuts, left, best, worth
            )
        for s in range(n_sets):
            write_scores(0.0, 0.0, j, s, gain, uncertainty)
            if not worth[s]:
                continue
            for t in range(n):
                weight[t] = counts[s, uintp(order[j, t])]
            n_groups = _group_equal_values(values, label, weight, cum, pure)
            n_cuts = _cuts(n_groups, cum, pure, xlogx, count_cuts, stack, ends)
            if n_cuts == 0:
                continue
            table = _count_table(n_groups, n_cuts, ends, cum)
            for k in range(n_classes):
                missing[k] = class_totals[s, k] - known[k, s]
            spread_missing(table, missing)
            g, u = gain_and_uncertainty(table)
            write_scores(g, u, j, s, gain, uncertainty)


@njit(cache=True, nogil=True)
def _count_table(
    n_groups: int, n_cuts: int, ends: IntArray, cum: NDArray[np.int32]
) -> FloatArray:
    """Count the samples per interval and class."""
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
    """Find the cut points of one feature for one training set, ascending.

    A cut is half-way between two values; a value equal to it belongs to the left.
    """
    n = 0
    while n < x.size and not np.isnan(x[order[n]]):
        n += 1
    value = np.empty(n)
    label, weight = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for t in range(n):
        value[t], label[t] = x[order[t]], y[order[t]]
        weight[t] = counts[order[t]]
    cum = np.empty((n + 1, n_classes), dtype=np.int32)
    pure, ends = np.empty((2, n + 1), dtype=np.intp)
    stack = np.empty((n + 2, 2), dtype=np.intp)
    n_groups = _group_equal_values(value, label, weight, cum, pure)
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
def block_categorical_gains(
    columns: FloatArray,
    n_values: IntArray,
    y: NDArray[np.int32],
    n_classes: int,
    counts: NDArray[np.int32],
    gain: FloatArray,
    uncertainty: FloatArray,
) -> None:
    """Compute the same scores for categorical features with codes 0..v-1."""
    missing = np.empty(n_classes)
    for j in range(columns.shape[0]):
        for s in range(counts.shape[0]):
            table = np.zeros((n_values[j], n_classes))
            for k in range(n_classes):
                missing[k] = 0.0
            for i in range(columns.shape[1]):
                w = counts[s, i]
                if w == 0:
                    continue
                if np.isnan(columns[j, i]):
                    missing[y[i]] += w
                else:
                    table[int(columns[j, i]), y[i]] += w
            spread_missing(table, missing)
            g, u = gain_and_uncertainty(table)
            write_scores(g, u, j, s, gain, uncertainty)
