"""Duplicate samples: exact copies, and near-copies that chance does not explain.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| d_ij   | distance of two samples, each feature scaled to unit variance        |
| e_i    | distance of a sample to its k-th neighbour, exact copies aside       |
| r_ij   | d_ij / min(e_i, e_j)                                                 |
| D      | intrinsic dimension: log 2 / log of the median of (2nd / 1st) [1]_   |

Around a point of a D-dimensional distribution the volumes up to the neighbours are
uniform order statistics, so the nearest of k is at r or nearer with probability
``1 − (1 − r^D)^(k − 1)``. A pair is a near-copy if r is small and the expected number
of such pairs among n samples is below a limit. In few dimensions near pairs are common,
and none is reported. Two rows that are equal in all but m features, at zero say, lie in
m dimensions, if that is fewer.

Rows of rounded values are equal by chance. If N(m) pairs of different rows differ by at
most m steps (of the resolution of each feature) in every feature, and N(m) grows like
(2 m + 1)^D, as around the points of a D-dimensional distribution, then pairs with m = 0
are expected in proportion [2]_; where a feature has few values, rather too many than
too few. This needs no independence of the features: where they are correlated, D is
smaller than their number. For categorical features, where there are no steps, the
expected number follows from the pairs that differ in one and in two features, and from
independence within each class; the larger of the two counts. Where one value of a
feature repeats more often than all its others, zero say, pairs that differ in one and
in two features count too. Where the values of a row are ranks, the smallest difference
is a swap of two features, and swaps are counted.

References
----------
.. [1] E. Facco, M. d'Errico, A. Rodriguez & A. Laio, "Estimating the intrinsic
   dimension of datasets by a minimal neighborhood information", Scientific Reports 7
   (2017).
.. [2] P. Grassberger & I. Procaccia, "Characterization of strange attractors",
   Physical Review Letters 50 (1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import gammainc

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.auditing.association import coarse_outcome

#: Largest r of a near-copy: four times nearer than the neighbour of this rank.
NEAR = 0.25
NEIGHBOURS = 6
#: Largest expected number of near-copies by chance; beyond it a pair is not reported.
MOST_BY_CHANCE = 0.01
#: Largest number of samples whose distances are computed; beyond it only exact copies
#: are found.
MOST_SAMPLES = 5000
#: p-value up to which equal rows are more than chance explains, where chance may give
#: twice the expected number.
EXPLAINED = 0.01
# Largest number of rows whose pairs are counted for the expected number; of more rows,
# evenly spaced ones are taken.
_MOST_COUNTED = 1500


@dataclass(frozen=True)
class Copies:
    """Pairs of rows that are copies or near-copies.

    Parameters
    ----------
    pairs : int array of shape (n_pairs, 2)
        Row numbers, the lower one first.
    exact : bool array of shape (n_pairs,)
        Whether all features are equal.
    nearness : float array of shape (n_pairs,)
        r of each pair, 0 for exact copies.
    expected : float
        Number of pairs of equal rows that the resolution of the features explains.
    n_equal : int
        Number of pairs of equal rows, every pair of a group of equal rows counted.
    dispersion : float
        Variance of that number over its mean: more than 1 where many rows are equal to
        each other, because one more of them adds many pairs.
    """

    pairs: IntArray
    exact: IntArray
    nearness: FloatArray
    expected: float
    n_equal: int
    dispersion: float

    @property
    def explained(self) -> bool:
        """Whether chance explains the number of equal rows."""
        if not self.n_equal:
            return True
        # A Poisson distribution, of a number that need not be whole.
        number, mean = np.array([self.n_equal, 2 * self.expected]) / self.dispersion
        return bool(gammainc(number, mean) > EXPLAINED)


def find_copies(data: Table) -> Copies:
    """Find exact and near-copies among the rows."""
    exact = exact_pairs(data)
    near, nearness = near_pairs(data)
    known = {tuple(pair) for pair in exact.tolist()}
    new = np.array([tuple(pair) not in known for pair in near.tolist()], dtype=bool)
    near, nearness = near[new], nearness[new]
    n_equal, dispersion = _count_equal(exact)
    return Copies(
        pairs=np.concatenate([exact, near]),
        exact=np.repeat([True, False], [len(exact), len(near)]),
        nearness=np.concatenate([np.zeros(len(exact)), nearness]),
        expected=expected_copies(data) if len(exact) else 0.0,
        n_equal=n_equal,
        dispersion=dispersion,
    )


def exact_pairs(data: Table) -> IntArray:
    """Return pairs of equal rows; for m equal rows, the m − 1 pairs with the first."""
    if sparse.issparse(data.values):
        rows = sparse.csr_array(data.values)
        rows.sum_duplicates()
        keys = [
            (
                rows.indices[a:b].tobytes(),
                rows.data[a:b].tobytes(),
            )
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    else:
        values = np.ascontiguousarray(data.values) + 0.0  # minus zero is zero
        keys = [(row.tobytes(), b"") for row in values]
    first: dict[tuple[bytes, bytes], int] = {}
    pairs = []
    for i, key in enumerate(keys):
        if key in first:
            pairs.append((first[key], i))
        else:
            first[key] = i
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def near_pairs(data: Table) -> tuple[IntArray, FloatArray]:
    """Return pairs of rows that are far nearer than their neighbours, with r."""
    nothing = np.empty((0, 2), dtype=np.intp), np.empty(0)
    n = data.n_samples
    k = min(NEIGHBOURS, n - 2)
    numeric = np.flatnonzero(~data.categorical)
    if k < 2 or n > MOST_SAMPLES or numeric.size < 2 or data.categorical.any():
        return nothing
    if not sparse.issparse(data.values) and _are_ranks(data.values):
        return nothing  # rows that differ in one swap are near without being copies
    distance = sample_distances(data, numeric)
    ordered = np.sort(distance, axis=1)
    # Exact copies are left out: their distance of 0 would make the dimension small.
    apart = ordered[(ordered[:, 0] > 0) & np.isfinite(ordered[:, 1])]
    if len(apart) < n / 2:
        return nothing
    ratio = float(np.median(apart[:, 1] / apart[:, 0]))
    if ratio <= 1:
        return nothing
    dimension = np.log(2) / np.log(ratio)
    to_kth = ordered[:, k - 1]
    nearness = distance / np.minimum(to_kth[:, None], to_kth[None, :]).clip(1e-300)
    i, j = np.nonzero(np.triu((nearness <= NEAR) & (distance > 0), 1))
    found = nearness[i, j]
    power = np.minimum(dimension, _count_differences(data, i, j))
    by_chance = n / 2 * -np.expm1((k - 1) * np.log1p(-(found**power)))
    rare = by_chance <= MOST_BY_CHANCE
    order = np.argsort(found[rare], kind="stable")
    pairs = np.column_stack([i[rare], j[rare]])[order].astype(np.intp)
    return pairs, found[rare][order]


def _count_differences(data: Table, i: IntArray, j: IntArray) -> IntArray:
    """Count the features in which rows differ, for pairs of rows."""
    if sparse.issparse(data.values):
        rows = sparse.csr_array(data.values)
        return np.asarray((rows[i] != rows[j]).sum(axis=1)).ravel()
    a, b = data.values[i], data.values[j]
    differ: IntArray = np.count_nonzero((a != b) & ~(np.isnan(a) & np.isnan(b)), axis=1)
    return differ


def sample_distances(data: Table, numeric: IntArray) -> FloatArray:
    """Return the distances between all rows; infinite on the diagonal."""
    return distances_from(scalar_products(data, numeric))


def scalar_products(data: Table, numeric: IntArray) -> FloatArray:
    """Return the scalar products of all rows, each feature scaled to unit variance."""
    if sparse.issparse(data.values):
        features = data.values[:, numeric]
        mean = np.asarray(features.mean(axis=0)).ravel()
        square = np.asarray(features.multiply(features).mean(axis=0)).ravel()
        scale = np.sqrt(np.maximum(square - mean**2, 0.0))
        scaled = features.multiply(1 / np.where(scale > 0, scale, np.inf)).tocsr()
        return np.asarray((scaled @ scaled.T).toarray())
    values = data.values[:, numeric]
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    values = np.where(known, values - mean, 0.0)
    scale = np.sqrt((values**2).sum(axis=0) / count)
    values = values / np.where(scale > 0, scale, np.inf)
    return np.asarray(values @ values.T)


def distances_from(products: FloatArray) -> FloatArray:
    """Return distances from scalar products; infinite on the diagonal."""
    norm = np.diag(products)
    squared = norm[:, None] + norm[None, :] - 2 * products
    # For equal rows the subtraction leaves only rounding error.
    squared[squared < 1e-10 * np.maximum(norm[:, None], norm[None, :])] = 0.0
    distance = np.sqrt(squared)
    np.fill_diagonal(distance, np.inf)
    return distance


def _count_equal(pairs: IntArray) -> tuple[int, float]:
    """Count all pairs of equal rows from the pairs with the first of each group.

    The variance of the number over its mean is 1 plus the number of pairs that share a
    row with another, over the number of pairs.
    """
    _, more = np.unique(pairs[:, 0], return_counts=True)
    n_equal = int((more * (more + 1) // 2).sum())
    sharing = int((more * (more + 1) * (more - 1)).sum())
    return n_equal, 1 + sharing / max(n_equal, 1)


def expected_copies(data: Table) -> float:
    """Return how many pairs of equal rows the resolution of the features explains."""
    if sparse.issparse(data.values):
        return _if_independent(data)
    rows = np.arange(data.n_samples)
    if rows.size > _MOST_COUNTED:
        rows = np.unique(np.linspace(0, rows.size - 1, _MOST_COUNTED).astype(np.intp))
    share = (data.n_samples / rows.size) ** 2
    if data.categorical.any() or data.has_missing:
        return max(_if_independent(data), share * _from_mismatches(data.values[rows]))
    values = data.values[rows]
    expected = _from_steps(values)
    if _are_ranks(values):  # two rows cannot differ in one feature alone
        expected = max(expected, _from_mismatches(values, 2))
    if _have_atoms(values):
        expected = max(expected, _from_mismatches(values))
    return share * expected


def _from_steps(values: FloatArray) -> float:
    """Extrapolate the number of equal rows from rows that differ by few steps."""
    spread = np.ptp(values, axis=0)
    values = values[:, spread > 0]
    if not values.shape[1]:
        return float(len(values) * (len(values) - 1) / 2)
    steps = np.empty(values.shape[1])
    for j, feature in enumerate(values.T):
        gaps = np.diff(np.unique(feature))
        steps[j] = gaps[gaps > 1e-9 * np.abs(feature).max()].min(initial=np.inf)
    places = values / steps
    within = np.zeros(3)
    for i in range(len(places) - 1):
        apart = np.abs(places[i + 1 :] - places[i]).max(axis=1)
        within += [np.count_nonzero(apart < m + 0.5) for m in range(3)]
    one, two = within[1:] - within[0]
    if not one:
        return float(two / 5.0 ** min(values.shape[1], 100))
    low, high = 1e-6, float(values.shape[1])
    for _ in range(60):  # (5^D − 1) / (3^D − 1) grows with D
        middle = (low + high) / 2
        if np.expm1(middle * np.log(5)) < two / one * np.expm1(middle * np.log(3)):
            low = middle
        else:
            high = middle
    return float(min(one / np.expm1(low * np.log(3)), one))


def _have_atoms(values: FloatArray) -> bool:
    """Return whether a feature repeats one value more often than all its others."""
    for feature in values.T:
        repeats = np.unique(feature, return_counts=True)[1] - 1
        if 2 * repeats.max() > repeats.sum():
            return True
    return False


def _are_ranks(values: FloatArray) -> bool:
    """Return whether the values of every row are ranks, ties at their mean."""
    halves = np.array_equal(2 * values, np.round(2 * values))
    return halves and bool(np.ptp(values.sum(axis=1)) == 0)


def _from_mismatches(values: FloatArray, at_once: int = 1) -> float:
    """Extrapolate the number of equal rows from rows that differ in few features.

    A mismatch is one of `at_once` features.
    """
    p = values.shape[1] / at_once
    differ = np.zeros(3)
    for i in range(len(values) - 1):
        a, b = values[i], values[i + 1 :]
        unequal = ((a != b) & ~(np.isnan(a) & np.isnan(b))).sum(axis=1)
        mismatches = -(-unequal // at_once)
        differ += [np.count_nonzero(mismatches == m) for m in range(3)]
    if not differ[2]:
        return float(differ[1])
    # As for a binomial number of mismatches.
    return float(differ[1] ** 2 / differ[2] * (p - 1) / (2 * p))


def _if_independent(data: Table) -> float:
    """Return the expected number of equal pairs if features were independent."""
    expected = 0.0
    outcome = coarse_outcome(data)
    for k in np.unique(outcome):
        rows = np.flatnonzero(outcome == k)
        pairs = rows.size * (rows.size - 1) / 2
        log_share = 0.0
        for j in range(data.n_features):
            feature = data.take(rows, np.array([j]))[:, 0]
            _, counts = np.unique(feature, return_counts=True)
            equal = float((counts * (counts - 1.0)).sum()) / 2
            log_share += np.log(equal / pairs) if equal else -np.inf
            if log_share < -700:
                break
        expected += pairs * float(np.exp(log_share))
    return expected


def across_folds(pairs: IntArray, splits: object) -> IntArray:
    """Return how many splits have one row of each pair in training, one in testing."""
    n_split = np.zeros(len(pairs), dtype=np.intp)
    for train, test in splits:  # type: ignore[attr-defined]
        for a, b in (pairs.T, pairs.T[::-1]):
            n_split += np.isin(a, train) & np.isin(b, test)
    return n_split
