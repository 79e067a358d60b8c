"""Normal features whose class means scatter about a common one.

Within a class a feature is N(μ_c, w); the class means are independent N(ν, r w), with
flat ν and a scaled inverse χ² prior of w (df a, sum of squares b). Everything has a
closed form given r.

| symbol | meaning                                                  | shape     |
|--------|----------------------------------------------------------|-----------|
| sizes  | samples N_c of each class                                  | (K,)      |
| mean   | mean of a feature in a class                             | (K, k)    |
| within | sum of squares about the class means                     | (k,)      |
| u      | 1 / (r + 1/N_c), precision of a class mean about ν       | (K,)      |
| place  | location of the predictive t distribution                | (A, K, k) |
| shrunk | its inverse squared scale over its degrees of freedom    | (A, K, k) |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

#: Product of factors; beyond it its logarithm is taken, before it can overflow.
_LARGEST_PRODUCT = 1e150
#: Log of the ratio of two densities of one value; more extreme ones count as this.
_MOST_LOG_RATIO = 300.0
#: Terms of Ruben's series; then the sum so far is used.
_MAX_TERMS = 200_000


def class_sums(
    values: FloatArray, y: Any, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Compute the means of features in classes, and sums of squares within classes."""
    means = np.stack([values[y == c].mean(axis=0) for c in range(n_classes)])
    within = np.zeros(values.shape[1])
    for c in range(n_classes):
        within += ((values[y == c] - means[c]) ** 2).sum(axis=0)
    return means, within


def marginal(
    ratios: FloatArray,
    sizes: FloatArray,
    means: FloatArray,
    within: FloatArray,
    a: float,
    b: float | FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the log marginal likelihood of features, and predictive distributions.

    Returns
    -------
    log_evidence : array of shape (A, k)
        Up to a constant that r does not enter.
    place, shrunk : arrays of shape (A, K, k)
        A new value x of class c has density proportional to
        ``sqrt(shrunk) (1 + shrunk (x − place)²)^(−(a + n)/2)``.
    """
    n, n_classes = sizes.sum(), sizes.size
    shape = (len(ratios), n_classes, means.shape[1])
    place, shrunk = np.empty(shape), np.empty(shape)
    log_evidence = np.empty((len(ratios), means.shape[1]))
    column = sizes[:, None]
    for i, r in enumerate(ratios):
        u = 1.0 / (r + 1.0 / column)
        total = u.sum()
        centre = (u * means).sum(axis=0) / total
        scatter = within + (u * (means - centre) ** 2).sum(axis=0)
        log_evidence[i] = -0.5 * (
            np.log1p(r * sizes).sum()
            + np.log(total)
            + (a + n - 1) * np.log(b + scatter)
        )
        grown = 1.0 + r * column
        place[i] = (r * column * means + centre) / grown
        spread = 1.0 + r / grown + 1.0 / (grown**2 * total)
        shrunk[i] = 1.0 / ((b + scatter) * spread)
    return log_evidence, place, shrunk


@njit(cache=True, nogil=True)
def add_log_densities(
    X: FloatArray,
    place: FloatArray,
    shrunk: FloatArray,
    power: float,
    lo: int,
    hi: int,
    out: FloatArray,
) -> None:
    """Write to ``out[c, i, a]`` the log-density of row i, for class c and point a."""
    n_points, n_classes, k = place.shape
    for i in range(lo, hi):
        for a in range(n_points):
            for c in range(n_classes):
                where, scale = place[a, c], shrunk[a, c]
                total, product = 0.0, 1.0
                for j in range(k):
                    z = X[i, j] - where[j]
                    product *= 1.0 + scale[j] * z * z
                    if product > _LARGEST_PRODUCT:
                        total += np.log(product)
                        product = 1.0
                out[c, i, a] = -power * (total + np.log(product))


@njit(cache=True, nogil=True)
def add_log_mixtures(
    X: FloatArray,
    place: FloatArray,
    shrunk: FloatArray,
    null_place: FloatArray,
    null_shrunk: FloatArray,
    power: float,
    rows: IntArray,
    null: FloatArray,
    effect: FloatArray,
    lo: int,
    hi: int,
    out: FloatArray,
) -> None:
    """Write to ``out[c, i, g]`` the log-density of row i for class c and point g.

    A feature j is a null feature, whose distribution is the same in all classes, with
    probability ``null[g, j]``; else it has the distribution of class c and of the
    ``rows[g]``-th α, with probability ``effect[g, j]``. Densities are relative to that
    of null features. The indices in ``rows`` are in ascending order.
    """
    n_classes, k = place.shape[1], place.shape[2]
    base, ratio = np.empty(k), np.empty(k)
    for i in range(lo, hi):
        for j in range(k):
            z = X[i, j] - null_place[j]
            base[j] = 0.5 * np.log(null_shrunk[j])
            base[j] -= power * np.log1p(null_shrunk[j] * z * z)
        for c in range(n_classes):
            last = -1
            for g in range(rows.size):
                a = rows[g]
                if a != last:
                    for j in range(k):
                        z = X[i, j] - place[a, c, j]
                        log_ratio = 0.5 * np.log(shrunk[a, c, j]) - base[j]
                        log_ratio -= power * np.log1p(shrunk[a, c, j] * z * z)
                        log_ratio = min(log_ratio, _MOST_LOG_RATIO)
                        ratio[j] = np.exp(max(log_ratio, -_MOST_LOG_RATIO))
                    last = a
                total, product = 0.0, 1.0
                for j in range(k):
                    product *= null[g, j] + effect[g, j] * ratio[j]
                    if product > _LARGEST_PRODUCT or product < 1.0 / _LARGEST_PRODUCT:
                        total += np.log(product)
                        product = 1.0
                out[c, i, g] = total + np.log(product)


def ratio_below(
    weights: FloatArray, degrees: FloatArray, bound: float, df: float
) -> tuple[float, float]:
    """Compute P(Σ w_i χ²(d_i) ≤ bound χ²(df)) for positive weights, and 1 − P.

    A weighted sum of χ² variables is a mixture of χ² variables times the smallest
    weight, with positive shares (Ruben's series); each member's ratio to another χ²
    is a beta variable.
    """
    least = float(weights.min())
    share = 1.0 - least / weights
    half = 0.5 * float(degrees.sum())
    x = bound / (least + bound)
    if np.all(share == 0):
        return (
            float(betainc(half, 0.5 * df, x)),
            float(betainc(0.5 * df, half, 1.0 - x)),
        )
    # a_j = Σ_{r<j} g_{j−r} a_r / (2j), with g_j = Σ d_i share_i^j; summed as one
    # running sum for each weight.
    a = float(np.exp(0.5 * (degrees * np.log(least / weights)).sum()))
    running = np.zeros_like(share)
    below, above, known = 0.0, 0.0, 0.0
    for j in range(_MAX_TERMS):
        below += a * float(betainc(half + j, 0.5 * df, x))
        above += a * float(betainc(0.5 * df, half + j, 1.0 - x))
        known += a
        if 1.0 - known < 1e-15 or (a < 1e-18 and j > 10 and known > 0.5):
            break
        running = share * (running + a)
        a = float((degrees * running).sum()) / (2.0 * (j + 1))
    return below / known, above / known
