"""Groups of samples that belong together, found from distances.

Around a point of a smooth distribution the normalised spacings j log(d_{j+1} / d_j) of
the distances to its neighbours are exchangeable, so that each of the first J is the
largest equally often [1]_. If every sample belongs to a group of m, and the others of
its group are nearer than all samples outside it, the largest spacing is the one behind
the (m − 1)-th neighbour.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| d_ij   | distance of sample i to its j-th neighbour                           |
| f_j    | share of the samples whose largest normalised spacing is the j-th    |
| s_j    | mean share of the j-th normalised spacing in the sum of the first J  |
| a_j    | share of the samples whose j-th neighbour has the same class; of     |
|        | numbers and survival times, is in the same third of the samples      |
| z      | (f_j − 1/J) in standard errors; neighbours share samples, so the     |
|        | variance of independent samples is doubled. The same of s_j          |

Where the features say less, the classes may show it: a_j falls at once behind the
relatives, while a signal makes it fall slowly. So z of s_j, which has more power than
f_j where groups are not clearly apart, and z of the fall of a_j are added.

This holds for any smooth distance. Two are tried: that of the scaled features, and one
in which principal components with little variance, which are mostly noise of the
measurement, count less.

References
----------
.. [1] P. J. Bickel & L. Breiman, "Sums of functions of nearest neighbor distances,
   moment bounds, limit theorems and a goodness of fit test", Annals of Probability 11
   (1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.auditing.association import coarse_outcome
from veridical.auditing.duplicates import distances_from, scalar_products

#: Number of spacings that are compared, and the largest number of relatives looked for.
SPACINGS, MOST_RELATIVES = 8, 6
#: z from which samples count as grouped by their distances alone. On 1800 tables of
#: LeakBench without groups the larger of the two distances gave 3.2 or more in 2.
LEAST_Z = 3.2
#: Sum of z of s_j and of the fall of a_j from which they count as grouped by distances
#: and classes. On 1680 tables without groups 2 gave more, and it finds 87 % of tables
#: with four samples per patient and noise of 0.8.
LEAST_SUM = 5.8
#: Samples; with more of them distances are not computed.
MOST_CLUSTERED = 3000
# Variance of a component, relative to the mean, up to which it is taken for noise.
_NOISE_VARIANCE = 0.3
# Samples; with more of them the components are not computed.
_MOST_DECOMPOSED = 1000
# Samples without a copy; with fewer of them nothing can be shown.
_FEWEST_SAMPLES = 12


@dataclass(frozen=True)
class Clusters:
    """Samples that belong together.

    Parameters
    ----------
    groups : int array of shape (n_samples,)
        Number of the group of each sample.
    n_relatives : int
        Number of relatives behind which distances jump.
    share : float
        Share of the samples whose largest spacing is there.
    z : float
        That share in standard errors above chance.
    fall : float
        By how much the share of neighbours of the same class falls there.
    """

    groups: IntArray
    n_relatives: int
    share: float
    z: float
    fall: float


def find_clusters(data: Table) -> Clusters | None:
    """Find groups of samples that are nearer to each other than to all others."""
    numeric = np.flatnonzero(~data.categorical)
    n = data.n_samples
    if sparse.issparse(data.values) or numeric.size < 2 or data.categorical.any():
        return None
    if not _FEWEST_SAMPLES <= n <= MOST_CLUSTERED:
        return None
    products = scalar_products(data, numeric)
    tried = [products]
    if n <= _MOST_DECOMPOSED:
        tried.append(_without_noise(products))
    found = [_clusters_of(one, coarse_outcome(data)) for one in tried]
    return max((one for one in found if one), key=lambda one: one.z, default=None)


def _without_noise(products: FloatArray) -> FloatArray:
    """Return scalar products in which components with little variance count less."""
    variance, places = np.linalg.eigh(products)
    variance = np.maximum(variance, 0.0)
    noise = _NOISE_VARIANCE * variance[variance > 1e-9 * variance.max()].mean()
    return np.asarray((places * np.maximum(variance - noise, 0.0)) @ places.T)


def _clusters_of(products: FloatArray, codes: IntArray) -> Clusters | None:
    """Find groups by the distances that scalar products give."""
    distance = distances_from(products)
    order = np.argsort(distance, axis=1, kind="stable")[:, : SPACINGS + 1]
    near = np.take_along_axis(distance, order, axis=1)
    apart = near[:, 0] > 0
    if np.count_nonzero(apart) < _FEWEST_SAMPLES or not np.isfinite(near).all():
        return None
    spacing = _normalised_spacings(near[apart])
    largest = np.argmax(spacing, axis=1)
    share = np.bincount(largest, minlength=SPACINGS) / largest.size
    spread = np.sqrt(2 / SPACINGS * (1 - 1 / SPACINGS) / largest.size)
    z = (share - 1 / SPACINGS) / spread
    fall, fall_z = _falls(codes[order[apart]] == codes[apart][:, None])
    m = int(np.argmax(z[:MOST_RELATIVES]))
    if z[m] < LEAST_Z:
        both = _share_z(spacing)[:MOST_RELATIVES] + fall_z
        m = int(np.argmax(both))
        if both[m] < LEAST_SUM:
            return None
    groups = _link(
        order[:, : m + 1], np.flatnonzero(apart)[largest == m], len(products)
    )
    return Clusters(groups, m + 1, float(share[m]), float(z[m]), float(fall[m]))


def _normalised_spacings(near: FloatArray) -> FloatArray:
    """Return j log(d_{j+1} / d_j) of each sample."""
    rank = np.arange(1, SPACINGS + 1)
    return np.asarray(rank * np.log(near[:, 1:] / near[:, :-1]))


def _share_z(spacing: FloatArray) -> FloatArray:
    """Return z of s_j. Shares of exchangeable spacings are Dirichlet distributed."""
    total = spacing.sum(axis=1, keepdims=True)
    share = spacing[total[:, 0] > 0] / total[total[:, 0] > 0]
    if not len(share):
        return np.zeros(SPACINGS)
    variance = 2 * (SPACINGS - 1) / (SPACINGS**2 * (SPACINGS + 1)) / len(share)
    return np.asarray((share.mean(axis=0) - 1 / SPACINGS) / np.sqrt(variance))


def _falls(
    same: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
) -> tuple[FloatArray, FloatArray]:
    """Return by how much a_j is smaller beyond each number of relatives, and its z."""
    share, n = same.mean(axis=0), len(same)
    fall, z = np.zeros(MOST_RELATIVES), np.zeros(MOST_RELATIVES)
    for m in range(1, MOST_RELATIVES + 1):
        behind = share[m : m + 4]
        fall[m - 1] = share[:m].mean() - behind.mean()
        z[m - 1] = fall[m - 1] / np.sqrt(0.5 / n * (1 / m + 1 / behind.size))
    return fall, z


def _link(relatives: IntArray, members: IntArray, n: int) -> IntArray:
    """Return the numbers of the groups: samples that have each other as relatives."""
    linked = np.zeros((n, n), dtype=bool)
    linked[members[:, None], relatives[members]] = True
    graph = sparse.csr_array(linked & linked.T)
    return connected_components(graph, directed=False)[1].astype(np.intp)
