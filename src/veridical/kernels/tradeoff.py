"""Incremental search: who is the best next feature, asked of few and not of all.

A step wants the feature of most merit beside those already chosen. Merit falls with
similarity to the chosen, and similarity only grows: what is known of it bounds the
merit from above. So a feature is compared with the features chosen since it was last
looked at only where its bound reaches the best merit found; most never do. Where most
do, all features are compared with every choice, but in single precision, less what
rounding may have added: a better bound, which hardly anyone else reaches. Searches in
one training set share such comparisons. The answer is that of looking at all in double
precision. How features are compared is in :mod:`veridical.kernels.similarity`.

| symbol     | meaning                                                   | shape    |
|------------|-----------------------------------------------------------|----------|
| relevance  | F of each feature                                         | (p,)     |
| similarity | Σ of ``|R|`` with the first `known` chosen features; ∞    | (p,)     |
|            | for a feature that is chosen itself                       |          |
| known      | how many of the chosen `similarity` has counted           | (p,)     |
| least      | what the similarity with all chosen features is at least; | (p,)     |
|            | without a draft the same array as `similarity`            |          |
| size       | number of chosen features                                 |          |
| gathered   | Σ relevance of the chosen features                        |          |
| apart      | Σ over pairs of chosen features of ``1 − |R|``            |          |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.similarity import (
    Chosen,
    Columns,
    State,
    count_in,
    look,
    write_force,
)

TIE = 1e-10  # merits closer than this (relatively) are equal: the lower index wins
NOTHING = 1e-12
TILE = 64
WARM = 5  # steps after which to judge how many looks a step takes
PRIORITIZED, QUOTIENT, DIFFERENCE = 0, 1, 2


@njit(cache=True, nogil=True)
def _is_reached(
    kind: int, F: float, similarity: float, bar: tuple[float, float, float]
) -> bool:
    """Whether a feature whose similarity is at least this may be better.

    `bar` is ``(a, b, c)``: ``a F − b similarity ≥ c`` where merit is a sum, and
    ``a F ≥ c similarity`` where it is a quotient.
    """
    a, b, c = bar
    return a * F >= c * similarity if kind == QUOTIENT else a * F - b * similarity >= c


@njit(cache=True, nogil=True)
def _any_reaches(
    kind: int,
    relevance: FloatArray,
    similarity: FloatArray,
    known: Any,
    size: int,
    floor: float,
    bar: tuple[float, float, float],
) -> bool:
    """The same for a run of features at once, without a branch."""
    found = 0
    if floor == 0.0:
        for i in range(relevance.size):
            found += _is_reached(kind, relevance[i], similarity[i], bar)
    else:
        for i in range(relevance.size):
            least = similarity[i] + floor * (size - known[i])
            found += _is_reached(kind, relevance[i], least, bar)
    return found > 0


@njit(cache=True, nogil=True)
def _merit(
    kind: int, size: int, share: float, done: FloatArray, F: float, similarity: float
) -> tuple[float, float, float]:
    """Merit of a feature whose similarity is up to date; −∞ if it is worth nothing.

    For prioritization the logarithm of V^α U^(1−α), with V and U themselves. A copy of
    all that is chosen is worth nothing.
    """
    if kind == PRIORITIZED:
        V = done[0] + F
        U = 1.0 if share == 1.0 else done[1] + (size - similarity)
        if V <= 0.0 or NOTHING * size >= U:
            return -np.inf, V, U
        return share * np.log(V) + (1.0 - share) * np.log(U), V, U
    mean = similarity / size if size > 0 else 0.0
    if kind == DIFFERENCE:
        return F - mean, 0.0, 0.0
    if F <= 0.0 or mean >= 1.0 - NOTHING:
        return -np.inf, 0.0, 0.0
    return (F / mean if size > 0 else F), 0.0, 0.0


@njit(cache=True, nogil=True)
def _raise_bar(
    kind: int,
    size: int,
    share: float,
    done: FloatArray,
    found: tuple[float, float, float],
) -> tuple[float, float, float]:
    """What a feature must reach to be looked at, once merit `found` is known.

    For prioritization by the inequality of weighted means: ``(V/v)^α (U/u)^(1−α) ≤
    α V/v + (1−α) U/u``, which takes no logarithm.
    """
    merit, V, U = found
    if kind == PRIORITIZED:
        a, b = share / V, (1.0 - share) / U
        return a, b, 1.0 - 2.0 * TIE - a * done[0] - b * (done[1] + size)
    if kind == DIFFERENCE:
        return 1.0, 1.0 / max(size, 1), merit - 2.0 * TIE
    return float(size), 0.0, merit * (1.0 - 2.0 * TIE)


@njit(cache=True, nogil=True)
def _choose(
    kind: int,
    size: int,
    alpha: float,
    done: FloatArray,
    hint: int,
    columns: Columns,
    state: State,
    chosen: Chosen,
) -> tuple[int, int]:
    """The feature of most merit, the lowest index among equals; and the next best.

    A constant feature is uncorrelated with all others, which is no merit: constants
    come after all features that vary.
    """
    # Taken out of their records here: that is not free inside a loop.
    values, rows, start, floor = (
        columns.values, columns.rows, columns.start, columns.floor
    )  # fmt: skip
    centre, inverse, force = columns.centre, columns.inverse, chosen.force
    relevance, similarity, known = state.relevance, state.similarity, state.known
    least, drafted = state.least, columns.draft.size > 0
    left = 0.0 if drafted else floor  # in a draft, `least` has counted all
    p = relevance.size
    share = 1.0 if size == 0 else alpha
    form = DIFFERENCE if size == 0 and kind == QUOTIENT else kind
    skip = size == 0 or (kind == PRIORITIZED and share == 1.0)  # relevance decides
    best, runner, top, second = -1, -1, -np.inf, -np.inf
    bar = (0.0, 0.0, 0.0)
    # The next best of the last step goes first: the higher the bar, the fewer reach it.
    for lo in range(-TILE if hint >= 0 else 0, p, TILE):
        at, end = (hint, hint + 1) if lo < 0 else (lo, min(lo + TILE, p))
        if best >= 0 and not _any_reaches(
            form, relevance[at:end], least[at:end], known[at:end], size, left, bar
        ):
            continue
        for i in range(at, end):
            F, so_far = relevance[i], similarity[i]
            if so_far == np.inf or i == best or inverse[i] == 0.0:
                continue  # chosen, or the best so far, or constant
            bound = least[i] + left * (size - known[i])
            if best >= 0 and not _is_reached(form, F, bound, bar):
                continue
            if not skip and known[i] < size:
                so_far = look(
                    i, size, values, rows, start, centre[i], inverse[i], floor, force,
                    known[i], so_far,
                )  # fmt: skip
                done[2] += size - known[i]
                similarity[i], known[i] = so_far, size
                if drafted:
                    least[i] = so_far
                if best >= 0 and not _is_reached(form, F, so_far, bar):
                    continue
            found = _merit(kind, size, share, done, F, so_far)
            merit = found[0]
            tie = TIE * abs(top) if kind == QUOTIENT else TIE
            if merit == -np.inf:
                continue
            if best < 0 or merit > top + tie or (merit >= top - tie and i < best):
                runner, second = best, top
                best, top = i, merit
                bar = _raise_bar(form, size, share, done, found)
            elif merit > second:
                runner, second = i, merit
    if best < 0:  # none has merit: the first that is left, constants after the others
        for i in range(p):
            if similarity[i] < np.inf and (best < 0 or inverse[i] > 0.0):
                best = i
                if inverse[i] > 0.0:
                    break
    return best, runner


@njit(cache=True, nogil=True)
def advance(
    goal: int,
    size: int,
    patience: float,
    kind: int,
    alpha: float,
    hint: int,
    done: FloatArray,
    columns: Columns,
    state: State,
    chosen: Chosen,
) -> tuple[int, int]:
    """Choose more features after the first `size`, until there are `goal`.

    Stops before if, without a draft, so far each step has looked at more than this
    share of all features. Returns how many are chosen, and the next hint. `done` holds
    `gathered`, `apart` and the number of looks; it is updated like `state` and
    `chosen`.
    """
    drafted, p = columns.draft.size > 0, state.relevance.size
    room = np.empty((1 if drafted else 0, p), dtype=np.float32)
    while size < goal:
        if not drafted and size >= WARM and done[2] > patience * size * p:
            break
        j, hint = _choose(kind, size, alpha, done, hint, columns, state, chosen)
        similarity = look(
            j, size, columns.values, columns.rows, columns.start, columns.centre[j],
            columns.inverse[j], columns.floor, chosen.force, state.known[j],
            state.similarity[j],
        )  # fmt: skip
        done[0] += state.relevance[j]
        done[1] += size - similarity
        chosen.order[size] = j
        chosen.mean_relevance[size] = done[0] / (size + 1)
        chosen.antiredundancy[size] = 2.0 * done[1] / (size + 1) ** 2
        state.similarity[j] = state.least[j] = np.inf
        write_force(columns, j, chosen.force[size], chosen.sharp[size])
        if drafted:
            count_in(j, columns, chosen.sharp[size : size + 1], room, state.least)
        size += 1
    return size, hint
