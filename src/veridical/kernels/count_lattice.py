"""Correlations of binary features as functions of counts, compared without rounding.

With I_c ones among the N_c samples of class c, and s ones among all n, the squared
correlation of a binary feature with two classes is

    COR² = (n I_1 − N_1 s)² / (N_0 N_1 s (n − s)),

a ratio of whole numbers, and 0 where s is 0 or n. Whether a feature lies below a
threshold, above it or on it is a question about integers, and is answered so. With
more classes the square of the correlation ratio takes its place, which is χ²/n; it is
compared to within a relative 1e-12.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

#: Relative difference of two values of a statistic; with a smaller one they are equal.
EQUAL_WITHIN = 1e-12

#: Share of two sums; a smaller difference of them is rounding.
_ROUNDING_OF_SUMS = 1e-14

#: Entries of a table that numbers patterns of counts; larger ones are sorted instead.
_MAX_TABLE = 1 << 24


def distinct(counts: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different rows of counts, and the index of each row among them."""
    shape = tuple(int(size) + 1 for size in sizes)
    volume = np.prod(np.array(shape, dtype=np.float64))
    if volume >= 2.0**62:
        rows, place = np.unique(counts, axis=0, return_inverse=True)
        return rows, place.ravel()
    codes = np.ravel_multi_index(tuple(counts.T), shape)
    if volume > _MAX_TABLE:
        seen, place = np.unique(codes, return_inverse=True)
    else:
        seen = np.flatnonzero(np.bincount(codes, minlength=int(volume)))
        number = np.empty(int(volume), dtype=np.intp)
        number[seen] = np.arange(seen.size)
        place = number[codes]
    rows = np.stack(np.unravel_index(seen, shape), axis=1).astype(np.intp)
    return rows, place


def ratios(sizes: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Compute numerator and denominator of the squared statistic of each pattern.

    Their quotient is |COR|² times a constant for two classes (N_0 N_1: both are whole
    numbers), and the squared correlation ratio for more.
    """
    n = int(sizes.sum())
    s = counts.sum(axis=1)
    if len(sizes) == 2:
        difference = n * counts[:, 1] - int(sizes[1]) * s
        return difference.astype(np.float64) ** 2, (s * (n - s)).astype(np.float64)
    scale = np.maximum(sizes, 1).astype(np.float64)
    between = (counts.astype(np.float64) ** 2 / scale).sum(axis=1)
    whole = s.astype(np.float64) ** 2 / n
    between -= whole
    between[between < _ROUNDING_OF_SUMS * whole] = 0.0  # equal rates up to rounding
    return between * n, (s * (n - s)).astype(np.float64)


def statistics(sizes: IntArray, counts: IntArray) -> FloatArray:
    """Compute |COR| of each pattern, or its correlation ratio for more classes."""
    top, bottom = ratios(sizes, counts)
    if len(sizes) == 2:
        bottom = bottom * float(sizes[0]) * float(sizes[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, np.sqrt(np.minimum(top / bottom, 1.0)), 0.0)


def rank_patterns(sizes: IntArray, counts: IntArray) -> IntArray:
    """Rank the values of the statistic: 0 for the largest, ties alike."""
    top, bottom = ratios(sizes, counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(bottom > 0, top / bottom, 0.0)
    order = np.argsort(-value, kind="stable")
    ordered = value[order]
    gap = ordered[:-1] - ordered[1:]
    if len(sizes) == 2:
        # Equal fractions of exact whole numbers divide to equal doubles; the reverse
        # fails only for large n, where near neighbours are compared as fractions.
        new = gap > 0
        if int(sizes.sum()) > 900:
            order, new = _order_exactly(
                order, gap <= EQUAL_WITHIN * ordered[:-1], sizes, counts
            )
    else:
        new = gap > EQUAL_WITHIN * ordered[:-1]
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.concatenate([[0], np.cumsum(new)])
    return place


def _order_exactly(
    order: IntArray, near: np.ndarray, sizes: IntArray, counts: IntArray
) -> tuple[IntArray, np.ndarray]:
    """Order neighbours that doubles cannot distinguish, as fractions."""
    order = order.copy()
    new = ~near
    starts = np.flatnonzero(np.concatenate([[True], ~near]))
    for lo, hi in zip(starts, [*starts[1:], len(order)], strict=True):
        if hi - lo < 2:
            continue
        exact = {t: squared(sizes, counts[t]) for t in order[lo:hi]}
        run = sorted(order[lo:hi], key=lambda t: (-exact[t], t))
        order[lo:hi] = run
        new[lo : hi - 1] = [exact[a] != exact[b] for a, b in pairwise(run)]
    return order, new


def squared(sizes: IntArray, pattern: IntArray) -> Fraction:
    """Compute COR² of one pattern of two classes, as a fraction."""
    n0, n1 = (int(size) for size in sizes)
    n, s, ones = n0 + n1, int(pattern.sum()), int(pattern[1])
    bottom = n0 * n1 * s * (n - s)
    return Fraction((n * ones - n1 * s) ** 2, bottom) if bottom else Fraction(0)


def below(sizes: IntArray, cut: Fraction) -> tuple[IntArray, IntArray]:
    """Find where COR² < cut: for each I_0 the first and last such I_1.

    The correlation rises with I_1, so that they lie side by side; none, and the first
    after the last, where cut is 0.
    """
    n0, n1 = (int(size) for size in sizes)
    n = n0 + n1
    # Without one of the classes every correlation is 0/0, which counts as 0.
    p, q = cut.numerator * max(n0 * n1, 1), cut.denominator

    def low(i0: int, i1: int) -> bool:
        s = i0 + i1
        if s in (0, n):
            return p > 0
        return (n * i1 - n1 * s) ** 2 * q < p * s * (n - s)

    first, last = np.zeros(n0 + 1, np.intp), np.full(n0 + 1, -1, np.intp)
    if p <= 0:
        return first + 1, last + 1
    left, right = 0, -1
    for i0 in range(n0 + 1):
        while not low(i0, left) and left * n0 < i0 * n1:
            left += 1
        right = max(right, left - 1)
        while right < n1 and low(i0, right + 1):
            right += 1
        first[i0], last[i0] = left, right
    return first, last


@njit(cache=True, nogil=True)
def below_ratio(sizes: IntArray, cut: float, first: IntArray, last: IntArray) -> None:
    """Find where the squared correlation ratio is below `cut`, for several classes.

    For given counts of the other classes it is a convex function of the last count,
    relative to its bound, so that the low ones lie side by side.
    """
    n_classes = sizes.size
    n = sizes.sum()
    digits = np.zeros(n_classes - 1, np.intp)
    for t in range(first.size):
        fixed, ones = 0.0, 0
        for c in range(n_classes - 1):
            if sizes[c] > 0:
                fixed += digits[c] * digits[c] / sizes[c]
            ones += digits[c]
        first[t], last[t] = 1, 0
        found = False
        for i in range(sizes[n_classes - 1] + 1):
            s = ones + i
            low = cut > 0
            if s > 0 and s < n:
                between = fixed - s * s / n
                if sizes[n_classes - 1] > 0:
                    between += i * i / sizes[n_classes - 1]
                low = between * n < cut * s * (n - s)
            if low:
                if not found:
                    first[t] = i
                    found = True
                last[t] = i
            elif found:
                break
        for c in range(n_classes - 2, -1, -1):
            digits[c] += 1
            if digits[c] <= sizes[c]:
                break
            digits[c] = 0


def low_region(
    sizes: IntArray, gamma: float | Fraction, *, tied: bool = False
) -> tuple[IntArray, IntArray]:
    """Find the counts whose statistic lies below a threshold.

    Parameters
    ----------
    sizes : int array of shape (K,)
        Samples of each class.
    gamma : float, or Fraction
        The threshold; a Fraction is its exact square (two classes only). A float
        stands for every value that agrees with it to 12 digits.
    tied : bool, default=False
        Whether values equal to the threshold belong to the region.

    Returns
    -------
    first, last : int arrays
        As `veridical.kernels.beta_counts.sum_region` takes them.
    """
    if isinstance(gamma, Fraction):
        if not tied:
            return below(sizes, gamma)
        # No other fraction of the lattice is as near as this: its terms are bounded.
        n = int(sizes.sum())
        return below(sizes, gamma + Fraction(1, 4 * n**12 + 1))
    edge = float(gamma) * (1 + EQUAL_WITHIN if tied else 1 - EQUAL_WITHIN)
    if tied and gamma == 0:
        edge = EQUAL_WITHIN
    if len(sizes) == 2:
        return below(sizes, Fraction(edge) ** 2)
    n_tuples = int(np.prod(sizes[:-1] + 1))
    first, last = np.empty(n_tuples, np.intp), np.empty(n_tuples, np.intp)
    below_ratio(sizes, edge**2, first, last)
    return first, last
