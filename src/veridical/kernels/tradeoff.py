"""One step of an incremental search: who is the best next feature?

| symbol     | meaning                                                   | shape |
|------------|-----------------------------------------------------------|-------|
| relevance  | F of each feature                                         | (p,)  |
| similarity | Σ over the chosen features of ``|R|``                     | (p,)  |
| taken      | already chosen                                            | (p,)  |
| size       | number of chosen features                                 |       |
| gathered   | Σ relevance of the chosen features                        |       |
| apart      | Σ over pairs of chosen features of ``1 − |R|``            |       |
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veridical._records import FloatArray

TIE = 1e-10  # merits closer than this (relatively) are equal: the lower index wins
NOTHING = 1e-12


@njit(cache=True, nogil=True)
def best_prioritized(
    relevance: FloatArray,
    similarity: FloatArray,
    taken: NDArray[np.bool_],
    size: int,
    gathered: float,
    apart: float,
    alpha: float,
) -> int:
    """The feature with the largest ``V^α U^(1−α)``, the lowest index among equals.

    V and U are the mean relevance and the mean antiredundancy of the set with the
    feature added, up to factors common to all features. By the inequality of weighted
    means, ``(V/v)^α (U/u)^(1−α) ≤ α V/v + (1−α) U/u``: only features that pass this
    cheap test against the best so far (v, u) need logarithms.
    """
    best, v, u = -1, 0.0, 0.0
    a, b = 0.0, 0.0
    for i in range(relevance.size):
        if taken[i]:
            continue
        V = gathered + relevance[i]
        U = max(apart + (size - similarity[i]), 0.0)
        if size == 0 or alpha == 1.0:
            U = 1.0
        elif NOTHING * size >= U:
            U = 0.0
        if best < 0:
            better = True
        elif v <= 0.0 or u <= 0.0:
            better = V > 0.0 and U > 0.0
        elif V <= 0.0 or U <= 0.0 or V * a + U * b <= 1.0 + TIE:
            better = False
        else:
            better = alpha * np.log(V / v) + (1.0 - alpha) * np.log(U / u) > TIE
        if better:
            best, v, u = i, V, U
            if v > 0.0 and u > 0.0:
                a, b = alpha / v, (1.0 - alpha) / u
    return best


@njit(cache=True, nogil=True)
def best_quotient(
    relevance: FloatArray,
    similarity: FloatArray,
    taken: NDArray[np.bool_],
    size: int,
) -> int:
    """The feature with the largest relevance per mean similarity to the chosen.

    A copy of all that is chosen (mean similarity 1) is worth nothing.
    """
    best, top = -1, -1.0
    for i in range(relevance.size):
        if taken[i]:
            continue
        merit = relevance[i]
        if size > 0:
            mean = similarity[i] / size
            merit = 0.0 if mean >= 1.0 - NOTHING else merit / mean
        if best < 0 or merit > top + TIE * abs(top):
            best, top = i, merit
    return best


@njit(cache=True, nogil=True)
def best_difference(
    relevance: FloatArray,
    similarity: FloatArray,
    taken: NDArray[np.bool_],
    size: int,
) -> int:
    """The feature with the largest relevance less mean similarity to the chosen."""
    best, top = -1, -np.inf
    for i in range(relevance.size):
        if taken[i]:
            continue
        merit = relevance[i] - (similarity[i] / size if size > 0 else 0.0)
        if best < 0 or merit > top + TIE:
            best, top = i, merit
    return best
