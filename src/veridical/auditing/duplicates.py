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
and none is reported.

References
----------
.. [1] E. Facco, M. d'Errico, A. Rodriguez & A. Laio, "Estimating the intrinsic
   dimension of datasets by a minimal neighborhood information", Scientific Reports 7
   (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table

#: Largest r of a near-copy: four times nearer than the neighbour of this rank.
NEAR = 0.25
NEIGHBOURS = 6
#: Largest expected number of near-copies by chance; beyond it a pair is not reported.
MOST_BY_CHANCE = 0.01
#: Largest number of samples whose distances are computed; beyond it only exact copies
#: are found.
MOST_SAMPLES = 5000


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
        Expected number of exact copies if features were independent within each class.
    """

    pairs: IntArray
    exact: IntArray
    nearness: FloatArray
    expected: float


def find_copies(data: Table) -> Copies:
    """Find exact and near-copies among the rows."""
    exact = exact_pairs(data)
    near, nearness = near_pairs(data)
    known = {tuple(pair) for pair in exact.tolist()}
    new = np.array([tuple(pair) not in known for pair in near.tolist()], dtype=bool)
    near, nearness = near[new], nearness[new]
    return Copies(
        pairs=np.concatenate([exact, near]),
        exact=np.repeat([True, False], [len(exact), len(near)]),
        nearness=np.concatenate([np.zeros(len(exact)), nearness]),
        expected=_expected_copies(data) if len(exact) else 0.0,
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
    distance = _distances(data, numeric)
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
    by_chance = n / 2 * -np.expm1((k - 1) * np.log1p(-(found**dimension)))
    rare = by_chance <= MOST_BY_CHANCE
    order = np.argsort(found[rare], kind="stable")
    pairs = np.column_stack([i[rare], j[rare]])[order].astype(np.intp)
    return pairs, found[rare][order]


def _distances(data: Table, numeric: IntArray) -> FloatArray:
    """Return the distances between all rows; infinite on the diagonal."""
    if sparse.issparse(data.values):
        features = data.values[:, numeric]
        mean = np.asarray(features.mean(axis=0)).ravel()
        square = np.asarray(features.multiply(features).mean(axis=0)).ravel()
        scale = np.sqrt(np.maximum(square - mean**2, 0.0))
        scaled = features.multiply(1 / np.where(scale > 0, scale, np.inf)).tocsr()
        gram = np.asarray((scaled @ scaled.T).toarray())
    else:
        values = data.values[:, numeric]
        known = ~np.isnan(values)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, values, 0.0).sum(axis=0) / count
        values = np.where(known, values - mean, 0.0)
        scale = np.sqrt((values**2).sum(axis=0) / count)
        values = values / np.where(scale > 0, scale, np.inf)
        gram = values @ values.T
    norm = np.diag(gram)
    squared = norm[:, None] + norm[None, :] - 2 * gram
    # For equal rows the subtraction leaves only rounding error.
    squared[squared < 1e-10 * np.maximum(norm[:, None], norm[None, :])] = 0.0
    distance = np.sqrt(squared)
    np.fill_diagonal(distance, np.inf)
    return distance


def _expected_copies(data: Table) -> float:
    """Return the expected number of equal pairs if features were independent."""
    expected = 0.0
    for k in np.unique(data.y):
        rows = np.flatnonzero(data.y == k)
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
