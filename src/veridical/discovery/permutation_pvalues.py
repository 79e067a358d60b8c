"""Permutation p-values of many features, with few permutations where few are enough.

| symbol   | meaning                                                   | shape  |
|----------|-----------------------------------------------------------|--------|
| observed | score of each feature with the true outcome               | (p,)   |
| n_above  | permutations with a score at least as large, so far       | (p,)   |
| h        | permutations above after which a feature needs no more    |        |

References
----------
.. [1] B. Phipson & G. K. Smyth, "Permutation p-values should never be zero",
   Statistical Applications in Genetics and Molecular Biology 9 (2010).
.. [2] J. Besag & P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991).
.. [3] P. H. Westfall & S. S. Young, "Resampling-Based Multiple Testing", Wiley 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical.discovery.permuting import Permutations

#: Scores of some features for outcomes in other orders: ``scores(orders, columns)``.
Scores = Callable[[IntArray, IntArray], FloatArray]
#: Called with the number of permutations done and their largest number.
Tick = Callable[[int, int], object]
#: Permutations above after which the p-value of a feature is known well enough.
ENOUGH_ABOVE = 20
# Relative and absolute difference of scores that are equal in exact arithmetic.
_RTOL, _ATOL = 1e-9, 1e-11


class Tested(NamedTuple):
    """Permutation p-values.

    Parameters
    ----------
    observed : array of shape (p,)
        Score of each feature with the true outcome.
    pvalues : array of shape (p,)
        1 where a score is not defined.
    adjusted : array of shape (p,) or None
        Step-down max-T adjusted p-values, where asked for.
    n_drawn : int array of shape (p,)
        Permutations that each p-value rests on.
    """

    observed: FloatArray
    pvalues: FloatArray
    adjusted: FloatArray | None
    n_drawn: IntArray


def fixed_pvalues(
    scores: Scores,
    n_features: int,
    permutations: Permutations,
    n: int,
    tick: Tick | None = None,
) -> Tested:
    """Test every feature with the same permutations, and all of them together.

    Parameters
    ----------
    scores : callable
        As `Scores`.
    n_features : int
        Number of features.
    permutations : Permutations
        Orders of the outcome.
    n : int
        B: how many of them.
    tick : callable, optional
        As `Tick`.

    Returns
    -------
    Tested
        p-values ``(1 + #{b: T_b ≥ T}) / (1 + B)``, and those of the step-down max-T
        procedure of Westfall and Young.
    """
    columns = np.arange(n_features)
    observed = _observed(scores, permutations.n_samples, columns)
    least = _least(observed)
    # Features from the largest score to the smallest, undefined ones last.
    order = np.argsort(np.where(np.isnan(observed), np.inf, -observed), kind="stable")
    n_above = np.zeros(n_features, dtype=np.intp)
    n_largest = np.zeros(n_features, dtype=np.intp)
    done = 0
    for orders in permutations.chunks(n):
        drawn = scores(orders, columns)
        n_above += np.count_nonzero(_reaches(drawn, least), axis=0)
        sorted_scores = np.where(np.isnan(drawn), -np.inf, drawn)[:, order[::-1]]
        # Largest score of a feature and all those below it in the observed order.
        largest = np.maximum.accumulate(sorted_scores, axis=1)[:, ::-1]
        n_largest[order] += np.count_nonzero(largest >= least[order], axis=0)
        done += len(orders)
        if tick is not None:
            tick(done, n)
    undefined = np.isnan(observed)
    pvalues = np.where(undefined, 1.0, (1 + n_above) / (1 + n))
    steps = np.where(undefined, 1.0, (1 + n_largest) / (1 + n))[order]
    adjusted = np.empty(n_features)
    adjusted[order] = np.maximum.accumulate(steps)
    return Tested(observed, pvalues, adjusted, np.full(n_features, n, dtype=np.intp))


def sequential_pvalues(
    scores: Scores,
    n_features: int,
    permutations: Permutations,
    most: int,
    tick: Tick | None = None,
) -> Tested:
    """Test every feature with as many permutations as its p-value needs.

    A feature that `ENOUGH_ABOVE` permutations have reached, the last of them the l-th,
    has the p-value ``ENOUGH_ABOVE / l`` and is not tested any more; the others have
    ``(1 + #) / (1 + B)``. Both are exact: under the null hypothesis p ≤ α has a
    probability of at most α [2]_.

    Parameters
    ----------
    scores : callable
        As `Scores`; the score of a feature may not depend on the other columns asked
        for.
    n_features : int
        Number of features.
    permutations : Permutations
        Orders of the outcome.
    most : int
        B: largest number of permutations of a feature.
    tick : callable, optional
        As `Tick`.
    """
    observed = _observed(scores, permutations.n_samples, np.arange(n_features))
    least = _least(observed)
    pvalues = np.ones(n_features)
    n_drawn = np.zeros(n_features, dtype=np.intp)
    n_above = np.zeros(n_features, dtype=np.intp)
    active = np.flatnonzero(~np.isnan(observed))
    done = 0
    for orders in permutations.chunks(most):
        above = _reaches(scores(orders, active), least[active])
        total = n_above[active] + np.cumsum(above, axis=0)
        stopped = total[-1] >= ENOUGH_ABOVE
        when = done + 1 + np.argmax(total >= ENOUGH_ABOVE, axis=0)
        pvalues[active[stopped]] = ENOUGH_ABOVE / when[stopped]
        n_drawn[active[stopped]] = when[stopped]
        n_above[active] = total[-1]
        done += len(orders)
        active = active[~stopped]
        if tick is not None:
            tick(done, most)
        if not active.size:
            break
    pvalues[active] = (1 + n_above[active]) / (1 + done)
    n_drawn[active] = done
    return Tested(observed, pvalues, None, n_drawn)


def _observed(scores: Scores, n_samples: int, columns: IntArray) -> FloatArray:
    (observed,) = scores(np.arange(n_samples)[None], columns)
    return observed


def _least(observed: FloatArray) -> FloatArray:
    """Return the least score that counts as equal to the observed one."""
    with np.errstate(invalid="ignore"):
        finite = np.where(np.isfinite(observed), observed, 0.0)
    slack = _RTOL * np.abs(finite) + _ATOL
    return np.where(np.isfinite(observed), observed - slack, observed)


def _reaches(drawn: FloatArray, least: FloatArray) -> BoolArray:
    """Return whether a score is as large as the observed one; undefined ones are."""
    with np.errstate(invalid="ignore"):
        return np.isnan(drawn) | (drawn >= least)
