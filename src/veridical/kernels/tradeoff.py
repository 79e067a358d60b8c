"""Forward search that compares few features with the chosen ones, instead of all.

A step chooses the feature of most merit given those already chosen. Merit falls with
similarity to the chosen features, and the sum of similarities only grows: the part of
the sum known so far bounds the merit from above. So a feature is compared with the
features chosen since its last comparison only where this bound reaches the best merit
found; most never do. Where most do, all features are compared with every chosen one in
single precision, minus a bound of the rounding error: a better bound, which few
features reach. Searches in one training set share these comparisons. The result is that
of comparing all features in double precision. Similarities are computed in
:mod:`veridical.kernels.similarity`.

| symbol     | meaning                                                   | shape    |
|------------|-----------------------------------------------------------|----------|
| relevance  | F of each feature                                         | (p,)     |
| similarity | Σ of ``|R|`` with the first `known` chosen features; ∞    | (p,)     |
|            | for a feature that is chosen itself                       |          |
| known      | how many of the chosen features `similarity` includes     | (p,)     |
| lower_     | lower bound of the similarity with all chosen features;   | (p,)     |
| bound      | without single precision the same array as `similarity`   |          |
| size       | number of chosen features                                 |          |
| totals     | Σ relevance of the chosen features, Σ of ``1 − |R|`` over | (3,)     |
|            | their pairs, number of comparisons                        |          |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.similarity import (
    Chosen,
    Columns,
    FeatureState,
    add_bounds,
    add_similarities,
    write_weighted,
)

MERIT_TIE = 1e-10  # relative difference of merits; below it the lower index is chosen
COPY_ROUNDING = 1e-12  # antiredundancy per chosen feature; below it a feature is a copy
TILE = 64  # features whose bounds are checked in one loop
MIN_STEPS = 5  # steps before the share of features compared is checked
PRIORITIZED, QUOTIENT, DIFFERENCE = 0, 1, 2


@njit(cache=True, nogil=True)
def _may_be_best(
    kind: int, F: float, similarity: float, cutoff: tuple[float, float, float]
) -> bool:
    """Return whether a feature with at least this similarity may be best.

    `cutoff` is ``(a, b, c)``: ``a F − b similarity ≥ c`` where merit is a sum, and
    ``a F ≥ c similarity`` where it is a quotient.
    """
    a, b, c = cutoff
    return a * F >= c * similarity if kind == QUOTIENT else a * F - b * similarity >= c


@njit(cache=True, nogil=True)
def _any_may_be_best(
    kind: int,
    relevance: FloatArray,
    similarity: FloatArray,
    known: Any,
    size: int,
    floor: float,
    cutoff: tuple[float, float, float],
) -> bool:
    """Return whether any of some features may be best, without a branch."""
    found = 0
    if floor == 0.0:
        for i in range(relevance.size):
            found += _may_be_best(kind, relevance[i], similarity[i], cutoff)
    else:
        for i in range(relevance.size):
            lower_bound = similarity[i] + floor * (size - known[i])
            found += _may_be_best(kind, relevance[i], lower_bound, cutoff)
    return found > 0


@njit(cache=True, nogil=True)
def _merit(
    kind: int, size: int, share: float, totals: FloatArray, F: float, similarity: float
) -> tuple[float, float, float]:
    """Compute the merit of a feature; −∞ for a copy of all chosen features.

    For prioritization it is the logarithm of V^α U^(1−α); V and U are returned too.
    """
    if kind == PRIORITIZED:
        V = totals[0] + F
        U = 1.0 if share == 1.0 else totals[1] + (size - similarity)
        if V <= 0.0 or COPY_ROUNDING * size >= U:
            return -np.inf, V, U
        return share * np.log(V) + (1.0 - share) * np.log(U), V, U
    mean = similarity / size if size > 0 else 0.0
    if kind == DIFFERENCE:
        return F - mean, 0.0, 0.0
    if F <= 0.0 or mean >= 1.0 - COPY_ROUNDING:
        return -np.inf, 0.0, 0.0
    return (F / mean if size > 0 else F), 0.0, 0.0


@njit(cache=True, nogil=True)
def _cutoff(
    kind: int,
    size: int,
    share: float,
    totals: FloatArray,
    found: tuple[float, float, float],
) -> tuple[float, float, float]:
    """Compute the cutoff of `_may_be_best`, given the best merit found.

    For prioritization by the inequality of weighted means: ``(V/v)^α (U/u)^(1−α) ≤
    α V/v + (1−α) U/u``, which takes no logarithm.
    """
    merit, V, U = found
    if kind == PRIORITIZED:
        a, b = share / V, (1.0 - share) / U
        return a, b, 1.0 - 2.0 * MERIT_TIE - a * totals[0] - b * (totals[1] + size)
    if kind == DIFFERENCE:
        return 1.0, 1.0 / max(size, 1), merit - 2.0 * MERIT_TIE
    return float(size), 0.0, merit * (1.0 - 2.0 * MERIT_TIE)


@njit(cache=True, nogil=True)
def choose_next(
    kind: int,
    size: int,
    alpha: float,
    totals: FloatArray,
    hint: int,
    columns: Columns,
    state: FeatureState,
    chosen: Chosen,
) -> tuple[int, int]:
    """Find the feature of most merit, the first of equals, and the second best.

    Constant features are chosen after all others, although they are uncorrelated with
    them.
    """
    # Fields are read here, because reading them inside a loop takes time.
    values, rows, start, floor = (
        columns.values, columns.rows, columns.start, columns.floor
    )  # fmt: skip
    centre, inverse, weighted = columns.centre, columns.inverse, chosen.weighted
    relevance, similarity, known = state.relevance, state.similarity, state.known
    lower_bound, has_single = state.lower_bound, columns.single.size > 0
    floor_per_unseen = 0.0 if has_single else floor  # else `lower_bound` includes all
    p = relevance.size
    share = 1.0 if size == 0 else alpha
    form = DIFFERENCE if size == 0 and kind == QUOTIENT else kind
    skip = size == 0 or (kind == PRIORITIZED and share == 1.0)  # relevance decides
    best, second_best, best_merit, second_merit = -1, -1, -np.inf, -np.inf
    cutoff = (0.0, 0.0, 0.0)
    # The second best of the last step first: a high cutoff excludes more features.
    for lo in range(-TILE if hint >= 0 else 0, p, TILE):
        begin, end = (hint, hint + 1) if lo < 0 else (lo, min(lo + TILE, p))
        if best >= 0 and not _any_may_be_best(
            form,
            relevance[begin:end],
            lower_bound[begin:end],
            known[begin:end],
            size,
            floor_per_unseen,
            cutoff,
        ):
            continue
        for i in range(begin, end):
            F, summed = relevance[i], similarity[i]
            if summed == np.inf or i == best or inverse[i] == 0.0:
                continue  # chosen, or the best so far, or constant
            bound = lower_bound[i] + floor_per_unseen * (size - known[i])
            if best >= 0 and not _may_be_best(form, F, bound, cutoff):
                continue
            if not skip and known[i] < size:
                summed = add_similarities(
                    i, size, values, rows, start, centre[i], inverse[i], floor,
                    weighted, known[i], summed,
                )  # fmt: skip
                totals[2] += size - known[i]
                similarity[i], known[i] = summed, size
                if has_single:
                    lower_bound[i] = summed
                if best >= 0 and not _may_be_best(form, F, summed, cutoff):
                    continue
            found = _merit(kind, size, share, totals, F, summed)
            merit = found[0]
            tie = MERIT_TIE * abs(best_merit) if kind == QUOTIENT else MERIT_TIE
            if merit == -np.inf:
                continue
            if (
                best < 0
                or merit > best_merit + tie
                or (merit >= best_merit - tie and i < best)
            ):
                second_best, second_merit = best, best_merit
                best, best_merit = i, merit
                cutoff = _cutoff(form, size, share, totals, found)
            elif merit > second_merit:
                second_best, second_merit = i, merit
    if best < 0:  # none has merit: the first not chosen, constants last
        for i in range(p):
            if similarity[i] < np.inf and (best < 0 or inverse[i] > 0.0):
                best = i
                if inverse[i] > 0.0:
                    break
    return best, second_best


@njit(cache=True, nogil=True)
def add_feature(
    j: int,
    size: int,
    totals: FloatArray,
    columns: Columns,
    state: FeatureState,
    chosen: Chosen,
    work: Any,
) -> None:
    """Add feature j to the first `size` chosen features; updates all but the last."""
    similarity = add_similarities(
        j, size, columns.values, columns.rows, columns.start, columns.centre[j],
        columns.inverse[j], columns.floor, chosen.weighted, state.known[j],
        state.similarity[j],
    )  # fmt: skip
    totals[0] += state.relevance[j]
    totals[1] += size - similarity
    chosen.order[size] = j
    chosen.mean_relevance[size] = totals[0] / (size + 1)
    chosen.antiredundancy[size] = 2.0 * totals[1] / (size + 1) ** 2
    state.similarity[j] = state.lower_bound[j] = np.inf
    write_weighted(columns, j, chosen.weighted[size], chosen.weighted_single[size])
    if columns.single.size > 0:
        add_bounds(
            j,
            columns,
            chosen.weighted_single[size : size + 1],
            work,
            state.lower_bound,
        )


@njit(cache=True, nogil=True)
def advance(
    goal: int,
    size: int,
    max_share: float,
    kind: int,
    alpha: float,
    hint: int,
    totals: FloatArray,
    columns: Columns,
    state: FeatureState,
    chosen: Chosen,
) -> tuple[int, int]:
    """Choose more features after the first `size`, until there are `goal`.

    Stops earlier if, without single precision, a step has compared more than
    `max_share` of all features on average. Returns the number of chosen features and
    the next hint. `totals`, `state` and `chosen` are updated.
    """
    has_single, p = columns.single.size > 0, state.relevance.size
    work = np.empty((1 if has_single else 0, p), dtype=np.float32)
    while size < goal:
        if not has_single and size >= MIN_STEPS and totals[2] > max_share * size * p:
            break
        j, hint = choose_next(kind, size, alpha, totals, hint, columns, state, chosen)
        add_feature(j, size, totals, columns, state, chosen, work)
        size += 1
    return size, hint
