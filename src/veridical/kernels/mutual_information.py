"""Mutual information by nearest neighbours, without cutting numbers into intervals.

======  ==================================================================  ==========
symbol  meaning                                                             shape
======  ==================================================================  ==========
x       a feature, in the order `order`                                     (n,)
w       how often each sample occurs, a whole number; a sample that occurs
        twice has a neighbour at distance 0                                 (n,)
N       Σ w
k       number of neighbours
r       distance of a sample to its k-th nearest neighbour
m       number of samples nearer than r in one variable, the sample included
ψ       digamma function; ψ(1), ψ(2), … are in a table
======  ==================================================================  ==========

Of two numbers [1]_: distances are max(|Δx| / s_x, |Δy| / s_y) with standard deviations
s, and the information is ψ(N) + ψ(k) − mean ψ(m_x) − mean ψ(m_y). Of a number and a
class [2]_: r is the distance to the k-th neighbour of the same class, and the
information is ψ(N) + mean ψ(k) − mean ψ(size of the class) − mean ψ(m); a class with
one sample is left out. Both are in nats, and 0 where they would be negative.

Distances that agree up to rounding are equal, so that no count depends on it. Where r
is 0, m counts the equal values.

References
----------
.. [1] A. Kraskov, H. Stögbauer & P. Grassberger, "Estimating mutual information",
   Physical Review E 69 (2004).
.. [2] B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS
   ONE 9 (2014).
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

#: Relative difference of two distances; below it they are equal.
_EQUAL_WITHIN = 1e-10


def digamma_table(n: int) -> FloatArray:
    """Return ψ(0), ψ(1), …, ψ(n); the first is never used."""
    table = np.zeros(n + 1)
    table[1:] = digamma(np.arange(1, n + 1))
    return table


@njit(cache=True, nogil=True)
def _standard_deviation(values: FloatArray, w: IntArray) -> float:
    total = mean = 0.0
    for i in range(values.size):
        total += w[i]
        mean += w[i] * values[i]
    mean /= total
    square = 0.0
    for i in range(values.size):
        square += w[i] * (values[i] - mean) ** 2
    return np.sqrt(square / total)


@njit(cache=True, nogil=True)
def _insert(best: FloatArray, found: int, distance: float, times: int) -> int:
    """Insert a distance several times into the sorted smallest ones; return how many.

    `best` holds the `found` smallest distances so far, ascending.
    """
    for _ in range(times):
        if found == best.size:
            if distance >= best[found - 1]:
                return found
            place = found - 1
        else:
            place = found
            found += 1
        while place > 0 and best[place - 1] > distance:
            best[place] = best[place - 1]
            place -= 1
        best[place] = distance
    return found


@njit(cache=True, nogil=True)
def _count_within(values: FloatArray, upto: IntArray, at: float, radius: float) -> int:
    """Count the samples of sorted values that are nearer than a radius, or equal."""
    near = radius * (1 - _EQUAL_WITHIN)
    # First value within, and first beyond: by bisection, as distances grow outwards.
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        if at - values[middle] >= near and values[middle] != at:
            low = middle + 1
        else:
            high = middle
    first = low
    high = values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] - at >= near and values[middle] != at:
            high = middle
        else:
            low = middle + 1
    return upto[low] - upto[first]


@njit(cache=True, nogil=True)
def _sums(w: IntArray) -> IntArray:
    upto = np.zeros(w.size + 1, dtype=np.int64)
    for i in range(w.size):
        upto[i + 1] = upto[i] + w[i]
    return upto


@njit(cache=True, nogil=True)
def information_of_numbers(
    x: FloatArray,
    y: FloatArray,
    w: IntArray,
    y_sorted: FloatArray,
    w_sorted: IntArray,
    k: int,
    psi: FloatArray,
) -> float:
    """Estimate the mutual information of two numbers, in nats.

    Parameters
    ----------
    x, y, w : arrays of shape (n,)
        A feature in ascending order, the target and how often each sample occurs, at
        least once.
    y_sorted, w_sorted : arrays of shape (n,)
        Target and occurrences in ascending order of the target.
    k : int
        Number of neighbours.
    psi : array of shape (N + 1,)
        From `digamma_table`.
    """
    n = x.size
    upto_x, upto_y = _sums(w), _sums(w_sorted)
    total = upto_x[n]
    k = min(k, total - 1)
    s_x, s_y = _standard_deviation(x, w), _standard_deviation(y, w)
    if k < 1 or x[0] == x[n - 1] or not s_x > 0 or not s_y > 0:
        return 0.0
    times = np.zeros((2, total + 1), dtype=np.int64)  # how often m_x and m_y occur
    best = np.empty(k)
    for i in range(n):
        found = _insert(best, 0, 0.0, w[i] - 1)
        left, right = i - 1, i + 1
        while left >= 0 or right < n:
            d_left = (x[i] - x[left]) / s_x if left >= 0 else np.inf
            d_right = (x[right] - x[i]) / s_x if right < n else np.inf
            j = left if d_left <= d_right else right
            distance = min(d_left, d_right)
            if found == k and distance >= best[k - 1]:
                break
            distance = max(distance, abs(y[i] - y[j]) / s_y)
            found = _insert(best, found, distance, w[j])
            if d_left <= d_right:
                left -= 1
            else:
                right += 1
        radius = best[k - 1]
        times[0, _count_within(x, upto_x, x[i], radius * s_x)] += w[i]
        times[1, _count_within(y_sorted, upto_y, y[i], radius * s_y)] += w[i]
    mean = 0.0
    for m in range(1, total + 1):
        mean += (times[0, m] + times[1, m]) * psi[m]
    return max(0.0, psi[total] + psi[k] - mean / total)


@njit(cache=True, nogil=True)
def information_of_classes(
    x: FloatArray, y: IntArray, w: IntArray, n_classes: int, k: int, psi: FloatArray
) -> float:
    """Estimate the mutual information of a number and a class, in nats.

    Parameters
    ----------
    x, y, w : arrays of shape (n,)
        A number in ascending order, the class and how often each sample occurs, at
        least once.
    n_classes : int
        Number of classes.
    k, psi
        As in `information_of_numbers`.
    """
    sizes = np.zeros(n_classes, dtype=np.int64)
    for i in range(x.size):
        sizes[y[i]] += w[i]
    used = np.zeros(x.size, dtype=np.bool_)
    for i in range(x.size):
        used[i] = sizes[y[i]] > 1
    x, y, w = x[used], y[used], w[used]
    n = x.size
    if n == 0 or x[0] == x[n - 1]:
        return 0.0
    upto = _sums(w)
    total = upto[n]
    times = np.zeros(total + 1, dtype=np.int64)  # how often m occurs
    best = np.empty(k)
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        if rows.size == 0:
            continue
        own_k = min(k, sizes[c] - 1)
        nearest = best[:own_k]
        for place in range(rows.size):
            i = rows[place]
            found = _insert(nearest, 0, 0.0, w[i] - 1)
            left, right = place - 1, place + 1
            while left >= 0 or right < rows.size:
                d_left = x[i] - x[rows[left]] if left >= 0 else np.inf
                d_right = x[rows[right]] - x[i] if right < rows.size else np.inf
                distance = min(d_left, d_right)
                if found == own_k and distance >= nearest[own_k - 1]:
                    break
                if d_left <= d_right:
                    found = _insert(nearest, found, distance, w[rows[left]])
                    left -= 1
                else:
                    found = _insert(nearest, found, distance, w[rows[right]])
                    right += 1
            times[_count_within(x, upto, x[i], nearest[own_k - 1])] += w[i]
    mean = 0.0
    for m in range(1, total + 1):
        mean += times[m] * psi[m]
    gain = 0.0
    for c in range(n_classes):
        if sizes[c] > 1:
            gain += sizes[c] * (psi[min(k, sizes[c] - 1)] - psi[sizes[c]])
    return max(0.0, psi[total] + (gain - mean) / total)
