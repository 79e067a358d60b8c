"""Bounds on the expected number of false selections of stability selection.

B pairs of disjoint halves of the samples; each half selects q features on average.
Π_j is the share of the 2B halves that select feature j. Features that a half selects
with probability at most θ have a *low selection probability*. The bounds are on the
expected number of such features with Π_j ≥ τ.

| symbol | meaning                                                | value      |
|--------|--------------------------------------------------------|------------|
| θ      | selection probability of a feature that is noise       | q / p      |
| τ      | threshold on the share of halves                       | (½, 1]     |
| B      | number of pairs                                        |            |
| s      | −1/r of an r-concave distribution                      | 2 or 4     |

References
----------
.. [1] N. Meinshausen & P. Bühlmann, "Stability selection", Journal of the Royal
   Statistical Society B 72 (2010).
.. [2] R. D. Shah & R. J. Samworth, "Variable selection with error control: another look
   at stability selection", Journal of the Royal Statistical Society B 75 (2013).
"""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError

Assumption = Literal["none", "unimodal", "r-concave"]
#: Degrees of concavity: of the share of pairs of which both halves select a feature,
#: and of the share of halves.
_CONCAVITIES = (-1 / 2, -1 / 4)
# Range of the parameter of the extremal distributions.
_LEAST, _MOST = 1e-5, 1e5


def false_selections(
    threshold: float,
    n_selected: float,
    n_features: int,
    n_pairs: int = 50,
    assumption: Assumption = "unimodal",
) -> float:
    """Bound the expected number of noise features that stability selection claims.

    Parameters
    ----------
    threshold : float
        τ: a feature is claimed if at least this share of the halves selects it.
    n_selected : float
        q: how many features a half selects on average.
    n_features : int
        p: number of features.
    n_pairs : int, default=50
        B: number of complementary pairs.
    assumption : {"none", "unimodal", "r-concave"}, default="unimodal"
        What is assumed about the distribution of the share of halves that select a
        feature. "none" gives ``q² / ((2τ − 1) p)``.

    Returns
    -------
    float
        The bound; at most `n_features`.

    Examples
    --------
    The example of the R package stabs: 2 of 9 features, threshold 0.75.

    >>> round(false_selections(0.75, 2, 9, assumption="none"), 3)
    0.889
    >>> round(false_selections(0.75, 2, 9), 3)
    0.454
    """
    if assumption not in get_args(Assumption):
        raise InputError(
            f"assumption={assumption!r} is not known; use 'none', 'unimodal' or "
            "'r-concave'."
        )
    if not 0.5 < threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} must be above 0.5 and at most 1: the bounds hold "
            "for features that more than half of the samples' halves select."
        )
    theta = n_selected / n_features
    # A share of 2B halves is a multiple of 1/(2B); the bound holds up to the next one.
    place = int(np.ceil(2 * n_pairs * threshold - 1e-9))
    tau = place / (2 * n_pairs)
    share = _worst(theta, threshold)
    if assumption == "unimodal":
        share = min(share, _unimodal(theta, tau, n_pairs))
    elif assumption == "r-concave":
        share = min(share, float(_concave(theta, n_pairs)[place - 1]))
    return min(share, 1.0) * n_features


def least_threshold(
    expected: float,
    n_selected: float,
    n_features: int,
    n_pairs: int = 50,
    assumption: Assumption = "unimodal",
) -> float:
    """Find the least threshold with at most `expected` false selections.

    Parameters
    ----------
    expected : float
        Largest expected number of false selections.
    n_selected, n_features, n_pairs, assumption
        As in `false_selections`.

    Returns
    -------
    float
        A multiple of ``1 / (2 n_pairs)``; infinite where even a threshold of 1 has a
        larger bound.

    Examples
    --------
    >>> least_threshold(1, 20, 1000)
    0.61
    """
    for place in range(n_pairs + 1, 2 * n_pairs + 1):
        threshold = place / (2 * n_pairs)
        bound = false_selections(threshold, n_selected, n_features, n_pairs, assumption)
        if bound <= expected * (1 + 1e-12):
            return threshold
    return np.inf


def most_selected(
    expected: float,
    threshold: float,
    n_features: int,
    n_pairs: int = 50,
    assumption: Assumption = "unimodal",
) -> int:
    """Find how many features a half may select for a threshold and a bound.

    Parameters
    ----------
    expected : float
        Largest expected number of false selections.
    threshold, n_features, n_pairs, assumption
        As in `false_selections`.

    Returns
    -------
    int
        The largest number; 0 where one feature is too many.

    Examples
    --------
    >>> most_selected(1, 0.75, 1000)
    31
    """
    low, high = 0, n_features
    while low < high:
        middle = (low + high + 1) // 2
        bound = false_selections(threshold, middle, n_features, n_pairs, assumption)
        if bound <= expected * (1 + 1e-12):
            low = middle
        else:
            high = middle - 1
    return low


def _worst(theta: float, tau: float) -> float:
    """Bound the probability that a noise feature reaches τ, without assumptions."""
    return theta**2 / (2 * tau - 1)


def _unimodal(theta: float, tau: float, n_pairs: int) -> float:
    """Bound the same for a unimodal share of pairs (theorem 2 of [2]_)."""
    step = 1 / (2 * n_pairs)
    least = min(0.5 + theta**2, 0.5 + step + 0.75 * theta**2)
    if theta > 1 / np.sqrt(3) or tau <= least:
        return 1.0
    if tau <= 0.75:
        factor = 1 / (2 * (2 * tau - 1 - step))
    else:
        factor = 4 * (1 - tau + step) / (1 + 2 * step)
    return float(factor * theta**2)


@cache
def _concave(theta: float, n_pairs: int) -> FloatArray:
    """Bound the same for r-concave shares, at τ = 1/(2B), 2/(2B), …, 1."""
    both = np.concatenate(
        [np.ones(n_pairs), bound_tails(theta**2, n_pairs, _CONCAVITIES[0])]
    )
    return np.minimum(both, bound_tails(theta, 2 * n_pairs, _CONCAVITIES[1]))


def bound_tails(mean: float, n: int, r: float) -> FloatArray:
    """Return the largest P(X ≥ t/n), t = 1 … n, of an r-concave X on 0, 1/n, …, 1.

    X has mean at most `mean`. The extremal distributions have weights ``(a + i)^(1/r)``
    up to some place k (appendix of [2]_); k and a are searched for.
    """
    first = int(np.ceil(2 * mean * n)) + 1
    tails = np.ones(n)
    if first > n:
        return tails
    power, places = 1 / r, np.arange(n + 1)

    def excess(a: float, k: int) -> float:
        weight = (a + places[: k + 1]) ** power
        return float((places[: k + 1] * weight).sum() / weight.sum() - mean * n)

    shape = np.full(n + 1, _MOST)
    for k in range(first, n + 1):
        above = shape[k - 1]
        if excess(_LEAST, k) >= 0:
            shape[k] = _LEAST
        elif excess(above, k) <= 0:
            shape[k] = above
        else:
            shape[k] = brentq(excess, _LEAST, above, args=(k,), xtol=1e-12)

    def tail(a: float, k: int, t: int) -> float:
        weight = (a + places[: k + 1]) ** power
        below = (k + 1 - mean * n) * weight[:t].sum()
        return float(1 - below / ((k + 1 - places[: k + 1]) * weight).sum())

    start = first
    for t in range(first, n + 1):
        best, where = tail(shape[n], n, t), n
        for k in range(start, n):
            found = minimize_scalar(
                lambda a, k=k, t=t: -tail(a, k, t),
                bounds=(shape[k + 1], shape[k]),
                method="bounded",
            )
            if -found.fun > best:
                best, where = -found.fun, k
        tails[t - 1] = best
        start = where
    return np.clip(tails, 0.0, 1.0)
